//! The fio command that runs the same job, so that anyone can repeat a figure without us.

use fourcorners_record::{Data, Job, Pattern, TargetInfo, TargetKind};

/// The command line for fio 3.x that does what `job` does to `target`. A virtual target's place
/// is taken by `/dev/DEVICE`.
pub fn command(name: &str, job: &Job, target: &TargetInfo) -> String {
    let file = match target.kind {
        TargetKind::Virtual => "/dev/DEVICE".to_string(),
        // fio takes a colon as the end of one file name and the beginning of another.
        TargetKind::Device | TargetKind::File => quoted(&target.name.replace(':', r"\:")),
    };
    let mut options = vec![
        format!("--name={name}"),
        format!("--filename={file}"),
        format!("--ioengine=io_uring --direct={}", u8::from(target.direct != Some(false))),
        format!("--rw={}", rw(job)),
        format!("--bs={}", job.block_bytes),
        format!("--iodepth={}", job.queue_depth),
        format!("--offset={} --size={}", job.span_start_bytes, job.span_bytes),
    ];
    if job.read_percent > 0 && job.read_percent < 100 {
        options.push(format!("--rwmixread={}", job.read_percent));
    }
    if job.pattern == Pattern::Random {
        // Uniform with replacement, as Iometer does it; fio alone would visit each block once.
        options.push(format!("--norandommap --randrepeat=0 --randseed={}", job.seed));
    }
    if job.read_percent < 100 {
        options.push(match job.data {
            Data::Repeating => "--buffer_pattern=0x46".into(),
            Data::Incompressible => "--refill_buffers".into(),
            Data::Compressible(percent) => {
                format!("--refill_buffers --buffer_compress_percentage={percent}")
            }
        });
    }
    if job.fua {
        // Every write with RWF_DSYNC, as O_DSYNC has it.
        options.push("--sync=dsync".into());
    }
    if job.flush {
        options.push("--fdatasync=1".into());
    }
    let jobs = u64::from(job.jobs.max(1));
    if jobs > 1 {
        options.push(format!("--numjobs={jobs} --group_reporting"));
    }
    let ends_by_bytes = job.until.bytes() < u64::MAX;
    if ends_by_bytes {
        // Of each job.
        options.push(format!("--io_size={}", job.until.bytes() / jobs));
    }
    if let Some(seconds) = job.until.seconds() {
        // With time_based fio goes on for that long, whatever it has written by then.
        let whole = if ends_by_bytes { "" } else { "--time_based " };
        options.push(format!("{whole}--runtime={seconds}"));
    }
    // Total latency, submit to completion; fio's default leaves the submission out.
    options.push("--lat_percentiles=1 --clat_percentiles=0".into());
    format!("fio {}", options.join(" "))
}

fn rw(job: &Job) -> &'static str {
    match (job.pattern, job.read_percent) {
        (Pattern::Random, 100) => "randread",
        (Pattern::Random, 0) => "randwrite",
        (Pattern::Random, _) => "randrw",
        (Pattern::Sequential, 100) => "read",
        (Pattern::Sequential, 0) => "write",
        (Pattern::Sequential, _) => "rw",
    }
}

/// A path as a POSIX shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        return path.into();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_record::Until;

    #[test]
    fn a_colon_is_part_of_the_name() {
        assert_eq!(quoted("pci-0000\\:00"), r"'pci-0000\:00'");
    }

    #[test]
    fn fio_takes_the_command_and_touches_no_other_file() {
        if std::process::Command::new("fio").arg("--version").output().is_err() {
            fourcorners_testing::skipped("fio", "fio is not installed");
            return;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("pci-0000:00 it's mine.img");
        std::fs::write(&path, vec![0; 1 << 20]).expect("a small file");
        let target = TargetInfo {
            direct: Some(false),
            ..TargetInfo::new(path.display().to_string(), TargetKind::File, 1 << 20, 512)
        };
        let job = Job {
            pattern: Pattern::Random,
            read_percent: 30,
            block_bytes: 4096,
            queue_depth: 3,
            span_start_bytes: 0,
            span_bytes: 1 << 20,
            data: Data::Incompressible,
            until: Until::Bytes(1 << 18),
            // The largest seed a review gives a figure.
            seed: u64::MAX >> 1,
            fua: true,
            flush: false,
            jobs: 1,
        };
        let flushed =
            Job { pattern: Pattern::Sequential, fua: false, flush: true, jobs: 2, ..job.clone() };
        // Whichever of the two comes first: not after a minute, then.
        let either = Job { until: Until::SecondsOrBytes(60, 1 << 18), ..job.clone() };
        let begun = std::time::Instant::now();
        for job in [&job, &flushed, &either] {
            let command = command("a_job", job, &target).replace("io_uring", "psync");
            let ran = std::process::Command::new("sh")
                .args(["-c", &format!("{command} --output-format=terse")])
                .current_dir(folder.path())
                .output()
                .expect("a shell");
            assert!(ran.status.success(), "{command}: {ran:?}");
            // One line of results for a group of jobs; fio has notes beside it.
            let printed = String::from_utf8_lossy(&ran.stdout);
            assert_eq!(printed.lines().filter(|line| line.starts_with("3;")).count(), 1, "{ran:?}");
            let durable = ["--sync=dsync", "--fdatasync=1"].map(|option| command.contains(option));
            assert_eq!(durable, [job.fua, job.flush], "{command}");
            assert_eq!(command.contains("--numjobs=2 --group_reporting"), job.jobs == 2);
        }
        assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
        let files = std::fs::read_dir(folder.path()).expect("the folder");
        let files: Vec<_> = files.map(|file| file.expect("an entry").path()).collect();
        assert_eq!(files, [path]);
    }

    #[test]
    fn a_path_with_a_quote_stays_one_word() {
        assert_eq!(quoted("/dev/nvme0n1"), "/dev/nvme0n1");
        assert_eq!(quoted("./it's mine; rm"), r"'./it'\''s mine; rm'");
    }
}
