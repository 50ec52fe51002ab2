//! Text like fio's.

use std::fmt::Write;

use fourcorners_record::ClockName;
use fourcorners_run::streams::{BlockSizes, Direction, Samples, Stream, Tally};

use super::numbers::{binary, count, decimal, unit};
use super::summary::{Reported, group_total, reported};
use super::{DiskUtil, Report, TargetRun, bins};

/// What was run, job by job, and the totals of each group.
pub fn normal(report: &Report) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    for run in &report.runs {
        let _ = heading(&mut text, run);
        let reported = reported(run);
        for one in &reported {
            let _ = job(&mut text, run, report, one);
        }
        let groups = run.jobs.jobs.last().map_or(0, |job| job.group + 1);
        for group in 0..groups {
            let _ = group_status(&mut text, &reported, group);
        }
        if let Some(disk) = &run.disk {
            let _ = disk_stats(&mut text, disk);
        }
    }
    text.trim_end().to_string()
}

fn heading(text: &mut String, run: &TargetRun) -> std::fmt::Result {
    for (job, stream) in run.jobs.jobs.iter().zip(&run.jobs.plan.streams) {
        writeln!(
            text,
            "{}: (g={}): rw={}, bs={}, ioengine={}, iodepth={}",
            job.name,
            job.group,
            job.rw,
            sizes(stream),
            job.engine,
            stream.depth
        )?;
    }
    let (name, version) = (&run.target.name, env!("CARGO_PKG_VERSION"));
    let clock = match run.clock {
        ClockName::Virtual => "virtual time",
        ClockName::Wall => "wall time",
    };
    writeln!(text, "fourcorners-{version} on {name} ({clock})\n")
}

fn sizes(stream: &Stream) -> String {
    let size = |sizes: &BlockSizes| format!("{}B-{}B", sizes.least(), sizes.most());
    let [read, write, trim] = &stream.blocks;
    format!("(R) {}, (W) {}, (T) {}", size(read), size(write), size(trim))
}

fn job(
    text: &mut String,
    run: &TargetRun,
    report: &Report,
    one: &Reported<'_>,
) -> std::fmt::Result {
    let (errno, failed) = one.error;
    writeln!(
        text,
        "{}: (groupid={}, jobs={}): err={errno:2}: pid={}: {}",
        one.job.name,
        one.job.group,
        one.jobs,
        std::process::id(),
        report.at
    )?;
    if failed > 0 {
        writeln!(text, "  failed: {failed} I/Os, first errno {errno}")?;
    }
    let names = ["read", "write", "trim"];
    for direction in Direction::ALL {
        if one.tally(direction).latency.count() > 0 {
            side(text, one, names[direction as usize], direction)?;
        }
    }
    let flushes = &one.measure.flushes;
    if flushes.latency.count() > 0 {
        writeln!(text, "  fsync/fdatasync/sync_file_range:")?;
        latency(text, "sync", flushes)?;
    }
    if let (Some(spec), Some(back)) = (&run.jobs.plan.verify, &one.verified) {
        writeln!(
            text,
            "  verify: {}, {} of {} blocks of {} bytes wrong ({}/{}msec read back)",
            spec.kind.name(),
            one.wrong_blocks,
            back.blocks,
            spec.block_bytes,
            binary(back.bytes as f64),
            back.elapsed.0 / 1_000_000
        )?;
    }
    let tallies = one.measure.tallies.iter().map(|tally| &tally.latency);
    let coarse = bins::coarse(tallies);
    for (name, bins) in [("nsec", &coarse.ns), ("usec", &coarse.us), ("msec", &coarse.ms)] {
        let held: Vec<String> = bins
            .iter()
            .filter(|(_, percent)| **percent > 0.0)
            .map(|(end, percent)| format!("{end}={:.2}%", percent.max(0.01)))
            .collect();
        // Five to a line, as fio has it.
        for line in held.chunks(5) {
            writeln!(text, "  lat ({name})   : {}", line.join(", "))?;
        }
    }
    // As the JSON has it, and fio: of the time of all of its jobs together.
    let seconds = one.job_time.as_secs().max(1e-9);
    if run.clock == ClockName::Wall {
        writeln!(
            text,
            "  cpu          : usr={:.2}%, sys={:.2}%, ctx={}, majf={}, minf={}",
            one.cost.user_s * 100.0 / seconds,
            one.cost.system_s * 100.0 / seconds,
            one.cost.switches,
            one.cost.faults.0,
            one.cost.faults.1
        )?;
    }
    let depths = one.measure.depths;
    let all: u64 = depths.iter().sum();
    let levels: Vec<String> = ["1", "2", "4", "8", "16", "32", ">=64"]
        .iter()
        .zip(depths)
        .map(|(name, depth)| format!("{name}={:.1}%", depth as f64 * 100.0 / all.max(1) as f64))
        .collect();
    writeln!(text, "  IO depths    : {}", levels.join(", "))?;
    let [read, write, trim] = &one.measure.tallies;
    writeln!(
        text,
        "     issued rwts: total={},{},{},{} short=0,0,0,0 dropped=0,0,0,0",
        read.latency.count(),
        write.latency.count(),
        trim.latency.count(),
        flushes.latency.count()
    )?;
    let (target, window, percent) = one.searched.map_or((0, 0, 100.0), |(target, _)| {
        (target.latency.0, target.window.0 / 1000, target.percent)
    });
    writeln!(
        text,
        "     latency   : target={target}, window={window}, percentile={percent:.2}%, depth={}",
        one.depth
    )?;
    if let Some(steady) = one.job.steady.map(|place| &run.result.steady[place]) {
        let attained = if steady.attained { "yes" } else { "no" };
        writeln!(
            text,
            "  steadystate  : attained={attained}, {}, value={:.3}",
            one.job.steady_text, steady.value
        )?;
    }
    Ok(())
}

fn side(
    text: &mut String,
    one: &Reported<'_>,
    name: &str,
    direction: Direction,
) -> std::fmt::Result {
    let tally = one.tally(direction);
    let (iops, rate) = (one.ios_a_second(direction), one.bytes_a_second(direction));
    writeln!(
        text,
        "  {name}: IOPS={}, BW={}/s ({}/s)({}/{}msec)",
        count(iops),
        binary(rate),
        decimal(rate),
        binary(tally.bytes as f64),
        one.runtime_ms(direction)
    )?;
    latency(text, "lat", tally)?;
    let percentiles = &one.job.percentiles;
    if percentiles.completion || percentiles.total {
        let (name, factor) = unit(tally.latency.min(), tally.latency.max());
        writeln!(text, "    lat percentiles ({name}):")?;
        let shown: Vec<String> = percentiles
            .list
            .iter()
            .map(|&percent| {
                let value = tally.latency.percentile(percent) as f64 / factor;
                format!("{percent:5.2}th=[{value:5.0}]")
            })
            .collect();
        for line in shown.chunks(4) {
            writeln!(text, "     | {}", line.join(", "))?;
        }
    }
    samples(text, "bw (  KiB/s)", &tally.kib_per_s)?;
    samples(text, "iops        ", &tally.iops)
}

fn latency(text: &mut String, name: &str, tally: &Tally) -> std::fmt::Result {
    let latency = &tally.latency;
    let (unit, factor) = unit(latency.min(), latency.max());
    writeln!(
        text,
        "    {name} ({unit}): min={:.0}, max={:.0}, avg={:.2}, stdev={:.2}",
        latency.min() as f64 / factor,
        latency.max() as f64 / factor,
        latency.mean() / factor,
        tally.latency_deviation() / factor
    )
}

fn samples(text: &mut String, name: &str, samples: &Samples) -> std::fmt::Result {
    if samples.count == 0 {
        return Ok(());
    }
    writeln!(
        text,
        "   {name}: min={:.0}, max={:.0}, avg={:.2}, stdev={:.2}, samples={}",
        samples.min,
        samples.max,
        samples.mean(),
        samples.deviation(),
        samples.count
    )
}

fn disk_stats(text: &mut String, disk: &DiskUtil) -> std::fmt::Result {
    writeln!(
        text,
        "\nDisk stats (read/write):\n  {}: ios={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:.2}%",
        disk.name,
        disk.read_ios,
        disk.write_ios,
        disk.read_merges,
        disk.write_merges,
        disk.read_ticks,
        disk.write_ticks,
        disk.in_queue,
        disk.util
    )
}

fn group_status(text: &mut String, reported: &[Reported<'_>], group: u32) -> std::fmt::Result {
    writeln!(text, "\nRun status group {group} (all jobs):")?;
    for (direction, name) in Direction::ALL.into_iter().zip(["READ", "WRITE", "TRIM"]) {
        let Some(total) = group_total(reported, group, direction) else { continue };
        let [shortest_ms, longest_ms] = total.run_ms();
        writeln!(
            text,
            "{name:>7}: bw={}/s ({}/s), {}/s-{}/s ({}/s-{}/s), io={} ({}), run={}-{}msec",
            binary(total.together),
            decimal(total.together),
            binary(total.slowest),
            binary(total.fastest),
            decimal(total.slowest),
            decimal(total.fastest),
            binary(total.bytes as f64),
            decimal(total.bytes as f64),
            shortest_ms,
            longest_ms
        )?;
    }
    Ok(())
}
