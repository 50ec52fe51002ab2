//! The fio command that runs the same job, so that anyone can repeat a figure without us.

use crate::record::{TargetInfo, TargetKind};
use crate::workload::{Data, Job, Pattern};

/// The command line for fio 3.x that does what `job` does to `target`. A virtual target's place
/// is taken by `/dev/DEVICE`.
pub(crate) fn command(name: &str, job: &Job, target: &TargetInfo) -> String {
    let file = match target.kind {
        TargetKind::Virtual => "/dev/DEVICE".to_string(),
        TargetKind::Device | TargetKind::File => quoted(&target.name),
    };
    let mut options = vec![
        format!("--name={name}"),
        format!("--filename={file}"),
        "--ioengine=io_uring --direct=1".into(),
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
        });
    }
    if job.until.bytes() < u64::MAX {
        options.push(format!("--io_size={}", job.until.bytes()));
    }
    if job.until.duration() < fourcorners_drive::Nanos::MAX {
        let seconds = job.until.duration().as_secs();
        options.push(format!("--time_based --runtime={seconds}"));
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
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        return path.into();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_quote_stays_one_word() {
        assert_eq!(quoted("/dev/nvme0n1"), "/dev/nvme0n1");
        assert_eq!(quoted("./it's mine; rm"), r"'./it'\''s mine; rm'");
    }
}
