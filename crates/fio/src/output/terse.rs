//! fio's terse form, version 3: a line of values for each job.

use fourcorners_run::streams::{Direction, Tally};

use super::json::FORM_OF;
use super::summary::{Reported, group_total, reported};
use super::{Report, TargetRun, bins};

/// The percentiles that a line has room for.
const PERCENTILES: usize = 20;

/// The lines of all jobs.
pub fn terse(report: &Report) -> String {
    let mut lines = Vec::new();
    let mut first_group = 0;
    for run in &report.runs {
        let reported = reported(run);
        lines.extend(reported.iter().map(|one| line(report, run, &reported, first_group, one)));
        first_group += run.jobs.jobs.last().map_or(0, |job| job.group + 1);
    }
    lines.join("\n")
}

fn line(
    report: &Report,
    run: &TargetRun,
    reported: &[Reported<'_>],
    first_group: u32,
    one: &Reported<'_>,
) -> String {
    let job = one.job;
    let error = if job.survives_errors { 0 } else { one.error.0 };
    let mut fields: Vec<String> =
        vec!["3".into(), FORM_OF.into(), job.name.clone(), (first_group + job.group).to_string()];
    fields.push(error.to_string());
    for side in [Direction::Read, Direction::Write] {
        direction(&mut fields, reported, one, side);
    }
    let seconds = one.job_time.as_secs().max(1e-9);
    let percent = |value: f64| format!("{:.6}%", if value.is_finite() { value } else { 0.0 });
    fields.push(percent(one.cost.user_s * 100.0 / seconds));
    fields.push(percent(one.cost.system_s * 100.0 / seconds));
    fields
        .extend([one.cost.switches, one.cost.faults.0, one.cost.faults.1].map(|it| it.to_string()));
    let measure = &one.measure;
    let all: u64 = measure.depths.iter().sum();
    let share = |count: u64| format!("{:.1}%", count as f64 * 100.0 / all.max(1) as f64);
    fields.extend(measure.depths.map(share));
    let coarse = bins::coarse(measure.tallies.iter().map(|tally| &tally.latency));
    // What took less than a microsecond is among the first of them.
    let below: f64 = coarse.ns.values().sum();
    let micros = coarse.us.values().enumerate();
    let micros = micros.map(|(place, value)| if place == 0 { value + below } else { *value });
    fields.extend(micros.chain(coarse.ms.values().copied()).map(|value| format!("{value:.2}%")));
    if let Some(disk) = &run.disk {
        fields.push(disk.name.clone());
        let counts = [
            disk.read_ios,
            disk.write_ios,
            disk.read_merges,
            disk.write_merges,
            disk.read_ticks,
            disk.write_ticks,
            disk.in_queue,
        ];
        fields.extend(counts.map(|count| count.to_string()));
        fields.push(format!("{:.2}%", disk.util));
    }
    if job.survives_errors {
        fields.extend([one.error.1.to_string(), one.error.0.to_string()]);
    }
    let described = |options: &[(String, String)]| {
        options.iter().rfind(|(key, _)| key == "description").map(|(_, text)| text.clone())
    };
    fields.extend(described(&job.options).or_else(|| described(&report.globals)));
    fields.join(";")
}

/// One direction's values.
fn direction(
    fields: &mut Vec<String>,
    reported: &[Reported<'_>],
    one: &Reported<'_>,
    direction: Direction,
) {
    let tally = one.tally(direction);
    let rate = one.bytes_a_second(direction);
    let numbers = [
        tally.bytes / 1024,
        (rate / 1024.0) as u64,
        one.ios_a_second(direction) as u64,
        one.runtime_ms(direction),
    ];
    fields.extend(numbers.map(|number| number.to_string()));
    // fio tells submission apart; here it is in the latency.
    fields.extend(["0", "0", "0.000000", "0.000000"].map(String::from));
    latency(fields, tally);
    let list = one.job.percentiles.list.iter().take(PERCENTILES);
    let told = list.map(|&percent| {
        let micros = match tally.latency.count() {
            0 => 0,
            _ => tally.latency.percentile(percent) / 1000,
        };
        format!("{percent:.6}%={micros}")
    });
    let told: Vec<String> = told.collect();
    let missing = PERCENTILES - told.len();
    fields.extend(told);
    fields.extend(std::iter::repeat_n("0%=0".to_string(), missing));
    latency(fields, tally);
    let bw = &tally.kib_per_s;
    let total = group_total(reported, one.job.group, direction);
    let together = total.map_or(0.0, |total| total.together / 1024.0);
    let share = match bw.count {
        0 => 0.0,
        _ => (bw.mean() * 100.0 / together.max(f64::MIN_POSITIVE)).min(100.0),
    };
    fields.push(format!("{:.0}", bw.min));
    fields.push(format!("{:.0}", bw.max));
    fields.push(format!("{share:.6}%"));
    fields.extend([bw.mean(), bw.deviation()].map(|value| format!("{value:.6}")));
}

/// Minimum, maximum, mean and deviation in microseconds.
fn latency(fields: &mut Vec<String>, tally: &Tally) {
    let latency = &tally.latency;
    fields.extend([latency.min() / 1000, latency.max() / 1000].map(|it| it.to_string()));
    let parts = [latency.mean() / 1000.0, tally.latency_deviation() / 1000.0];
    fields.extend(parts.map(|value| format!("{:.6}", if value.is_finite() { value } else { 0.0 })));
}
