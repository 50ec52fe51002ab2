//! A target: what it is, whether direct I/O works on it, and the queue in front of it.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fourcorners_drive::{Io, Lba, Nanos, Tag, Target};

use super::machine::SETUP;
use super::{Finding, Roots, attribute};
use crate::guard::{self, Kind, Permission, RealTarget};
use crate::uring::Uring;

/// How long a read may take before it counts as not answered.
const PATIENCE: Nanos = Nanos::from_secs(10);

/// What can be measured of a target. It is read from, and never written to.
///
/// # Errors
/// When nothing is there.
pub fn target(roots: &Roots, path: &Path) -> Result<Vec<Finding>, String> {
    let metadata = path.metadata().map_err(|error| {
        format!("{}: {error}; give a block device or a file that is there", path.display())
    })?;
    let mut findings = Vec::new();
    match guard::inspect(path) {
        Ok(found) => {
            findings.push(Finding::fine("target", found.to_string()));
            findings.push(reads(&found));
            findings.push(writes(&found));
            findings.push(discards(&found));
        }
        Err(refusal) => {
            let means = "it cannot be measured";
            findings.push(Finding::prevents("target", refusal.to_string(), means));
        }
    }
    match queue(roots, &metadata) {
        Ok(queue) => findings.extend(settings(&queue)),
        Err(why) => findings.push(Finding::not_known("queue", why)),
    }
    Ok(findings)
}

/// Reads a block as a review would.
fn reads(target: &RealTarget) -> Finding {
    let what = "direct reads";
    let opened = match guard::open_for_reading(target) {
        Ok(opened) => opened,
        Err(refusal) => {
            return Finding::prevents(what, refusal.to_string(), "it cannot be measured");
        }
    };
    let in_memory = opened.in_memory(target);
    let mut ring = match Uring::new(opened.file, target.geometry, SETUP) {
        Ok(ring) => ring,
        Err(error) => {
            return Finding::prevents(what, error.to_string(), "it cannot be measured");
        }
    };
    let bytes = target.geometry.logical_block_bytes.max(4096);
    let read = Io::read(Lba(0), bytes / 512);
    ring.submit(Tag(0), read);
    let until = ring.now().saturating_add(PATIENCE);
    match (ring.reap(until), in_memory) {
        (Ok(Some(_)), None) => Finding::fine(what, "a block was read past the page cache"),
        (Ok(Some(_)), Some(found)) => {
            Finding::limits(what, found.to_string(), "memory is measured there, not the drive")
        }
        (Ok(None), _) => Finding::limits(
            what,
            format!("no answer in {} s", PATIENCE.as_secs()),
            "something is wrong with the drive",
        ),
        (Err(fault), _) => {
            Finding::limits(what, fault.to_string(), "something is wrong with the drive")
        }
    }
}

/// Whether the guard would let it be written, were it named.
fn writes(target: &RealTarget) -> Finding {
    let what = "writes";
    let named = vec![target.path.display().to_string()];
    let tried = |destroy: &[String], force: &[String]| {
        guard::may_write(target, &Permission { destroy: destroy.to_vec(), force: force.to_vec() })
    };
    if tried(&[], &[]).is_ok() {
        return Finding::fine(what, "allowed: it is a scratch file of ours");
    }
    if tried(&named, &[]).is_ok() {
        return Finding::fine(what, "allowed with --destroy").meaning("ALL ITS DATA IS LOST then");
    }
    match tried(&named, &named) {
        Ok(()) => Finding::limits(
            what,
            "allowed with --destroy and --force",
            "it carries a file system or a partition table: ALL ITS DATA IS LOST then",
        ),
        Err(refusal) => Finding::limits(what, refusal.to_string(), "only reads can be measured"),
    }
}

fn discards(target: &RealTarget) -> Finding {
    let what = "discards (TRIM)";
    match (target.kind, target.discard) {
        (Kind::Device, true) if target.read_only => Finding::limits(
            what,
            "the device takes them, and is read-only",
            "it cannot be emptied before a test",
        ),
        (Kind::Device, true) => Finding::fine(what, "the device takes them"),
        (Kind::Device, false) => Finding::limits(
            what,
            "the device takes none",
            "it cannot be emptied before a test: an SSD is measured as used as it is",
        ),
        (Kind::File, _) => {
            Finding::not_known(what, "punching a hole would change the file; it is not tried")
                .meaning("a file is laid out instead of emptied")
        }
    }
}

/// The queue of the disk that a device is or is part of, or a file's file system is on.
fn queue(roots: &Roots, metadata: &Metadata) -> Result<PathBuf, String> {
    let number = match metadata.file_type().is_block_device() {
        true => metadata.rdev(),
        false => metadata.dev(),
    };
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    if major == 0 {
        return Err("its file system is on no single block device (tmpfs, overlay, btrfs, a \
                    network)"
            .into());
    }
    let link = roots.sys.join(format!("dev/block/{major}:{minor}"));
    let dir = link.canonicalize().map_err(|error| format!("{}: {error}", link.display()))?;
    let disk = match (dir.join("partition").exists(), dir.parent()) {
        (true, Some(disk)) => disk.to_path_buf(),
        _ => dir,
    };
    Ok(disk.join("queue"))
}

/// What the block layer says of the disk.
fn settings(queue: &Path) -> Vec<Finding> {
    let of = |what: &'static str, name: &str, judge: &dyn Fn(String) -> Finding| match attribute(
        &queue.join(name),
    ) {
        Ok(value) => judge(value),
        Err(why) => Finding::not_known(what, why),
    };
    vec![
        of("scheduler", "scheduler", &|value| {
            let chosen = value.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            let chosen = chosen.map_or(value.as_str(), |(chosen, _)| chosen).to_string();
            match chosen.as_str() {
                "none" => Finding::fine("scheduler", chosen),
                _ => Finding::limits(
                    "scheduler",
                    chosen,
                    "it may hold back, merge and reorder I/Os: echo none > queue/scheduler",
                ),
            }
        }),
        of("rotational", "rotational", &|value| match value.as_str() {
            "0" => Finding::fine("rotational", "no"),
            "1" => Finding::fine("rotational", "yes")
                .meaning("a disk that turns, or a virtual one that says so"),
            _ => Finding::not_known("rotational", format!("the kernel says \"{value}\"")),
        }),
        of("queue depth", "nr_requests", &|value| {
            let means = "more I/Os in flight wait in the kernel, and that is in their latencies";
            Finding::fine("queue depth", value).meaning(means)
        }),
        of("largest request", "max_sectors_kb", &|value| {
            let found = format!("{value} KiB");
            match value.parse::<u64>() {
                Ok(kib) if kib < u64::from(SETUP.max_block_bytes) / 1024 => Finding::limits(
                    "largest request",
                    found,
                    "longer blocks are split by the kernel",
                ),
                _ => Finding::fine("largest request", found),
            }
        }),
        of("write cache", "write_cache", &|value| {
            let finding = Finding::fine("write cache", value.as_str());
            match value.as_str() {
                "write back" => finding.meaning("a write is answered before it is on the medium"),
                _ => finding,
            }
        }),
        of("polling", "io_poll", &|value| match value.as_str() {
            "1" => Finding::fine("polling", "the queue can be polled")
                .meaning("it is not used: completions come by interrupt"),
            _ => Finding::fine("polling", "off").meaning("completions come by interrupt"),
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use std::fs;

    fn verdicts(findings: &[Finding]) -> Vec<(&str, &str, Verdict)> {
        findings.iter().map(|one| (one.what, one.found.as_str(), one.verdict)).collect()
    }

    #[test]
    fn the_queue_is_told_and_what_is_not_there_is_not_known() {
        let queue = tempfile::tempdir().expect("a folder");
        for (name, value) in [
            ("scheduler", "none [mq-deadline] bfq\n"),
            ("rotational", "0\n"),
            ("max_sectors_kb", "64\n"),
            ("write_cache", "write back\n"),
        ] {
            fs::write(queue.path().join(name), value).expect("a file");
        }
        let findings = settings(queue.path());
        let found = verdicts(&findings);
        assert_eq!(found[0], ("scheduler", "mq-deadline", Verdict::Limits));
        assert_eq!(found[1], ("rotational", "no", Verdict::Fine));
        assert!(found[2].1.starts_with("not known: ") && found[2].1.contains("nr_requests"));
        assert_eq!(found[3], ("largest request", "64 KiB", Verdict::Limits));
        assert_eq!(found[4], ("write cache", "write back", Verdict::Fine));
        assert_eq!(found[5].2, Verdict::NotKnown);
        // As large as the kernel may say: no limit, and no number that is too large to be looked at.
        for kib in ["128", "4194304", "4294967295"] {
            fs::write(queue.path().join("max_sectors_kb"), format!("{kib}\n")).expect("a file");
            assert_eq!(settings(queue.path())[3].verdict, Verdict::Fine, "{kib}");
        }
    }

    #[test]
    fn a_file_is_read_and_not_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data");
        fs::write(&path, vec![7; 17 << 20]).expect("a file");
        // No sysfs at all: what is in it is not known, and the rest is.
        let roots = Roots { sys: folder.path().into(), proc: folder.path().into() };
        let findings = target(&roots, &path).expect("it is there");
        let found = verdicts(&findings);
        assert_eq!((found[0].0, found[0].2), ("target", Verdict::Fine));
        assert_eq!((found[2].0, found[2].1), ("writes", "allowed with --destroy"));
        assert_eq!((found[4].0, found[4].2), ("queue", Verdict::NotKnown));
        assert!(fs::read(&path).expect("it stays").iter().all(|&byte| byte == 7));
        assert!(target(&roots, &folder.path().join("nothing")).is_err());
        let small = folder.path().join("small");
        fs::write(&small, "x").expect("a file");
        assert_eq!(target(&roots, &small).expect("it is there")[0].verdict, Verdict::Prevents);
    }

    #[test]
    fn a_machine_that_says_nothing_is_no_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let roots = Roots { sys: folder.path().into(), proc: folder.path().into() };
        let findings = super::super::machine(&roots);
        for what in ["kernel", "virtual machine", "CPU frequency"] {
            let one = findings.iter().find(|one| one.what == what).expect("it was looked at");
            assert!(one.found.starts_with("not known: "), "{one:?}");
        }
        fs::create_dir_all(folder.path().join("devices/system/cpu/cpu0/cpufreq")).expect("ours");
        let governor = folder.path().join("devices/system/cpu/cpu0/cpufreq/scaling_governor");
        for (value, verdict) in [("powersave\n", Verdict::Limits), ("performance\n", Verdict::Fine)]
        {
            fs::write(&governor, value).expect("ours");
            let findings = super::super::machine(&roots);
            let one = findings.iter().find(|one| one.what == "CPU frequency").expect("looked at");
            assert_eq!((one.found.as_str(), one.verdict), (value.trim(), verdict));
        }
    }
}
