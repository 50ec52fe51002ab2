//! The machine: kernel, io_uring, limits, clocks.

use std::collections::BTreeSet;
use std::fs;

use fourcorners_drive::{Geometry, SECTOR_BYTES};
use fourcorners_machine::host;
use rustix::process::{Resource, getrlimit};

use super::{Finding, Roots, attribute};
use crate::uring::{Setup, Uring};

/// What a review sets up: its deepest queue and its largest block.
pub(super) const SETUP: Setup = Setup { queue_depth: 32, max_block_bytes: 128 << 10 };

/// What the machine can measure.
pub fn machine(roots: &Roots) -> Vec<Finding> {
    let mut findings = vec![kernel(roots), virtualised(roots)];
    findings.extend(io_uring());
    findings.extend([locked_memory(), memory(), governor(roots), user()]);
    findings
}

fn kernel(roots: &Roots) -> Finding {
    match attribute(&roots.proc.join("sys/kernel/osrelease")) {
        Ok(release) => Finding::fine("kernel", release),
        Err(why) => Finding::not_known("kernel", why),
    }
}

fn virtualised(roots: &Roots) -> Finding {
    let what = "virtual machine";
    match attribute(&roots.proc.join("cpuinfo")) {
        Err(why) => Finding::not_known(what, why),
        Ok(info) => {
            let flags = info.lines().find(|line| line.starts_with("flags"));
            match flags.map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor")) {
                Some(true) => Finding::limits(
                    what,
                    "yes",
                    "latencies include the host's own storage and the times when other guests ran",
                ),
                Some(false) => Finding::fine(what, "no"),
                None => Finding::not_known(what, "this kind of CPU does not say"),
            }
        }
    }
}

/// Sets a ring up as a review does, on a file of our own.
fn io_uring() -> Vec<Finding> {
    let what = "io_uring";
    let file = match tempfile::tempfile().and_then(|file| file.set_len(1 << 20).map(|()| file)) {
        Ok(file) => file,
        Err(error) => {
            let folder = std::env::temp_dir();
            let why = format!("no file can be made in {} to try it: {error}", folder.display());
            return vec![Finding::not_known(what, why)];
        }
    };
    let geometry = Geometry {
        sectors: (1 << 20) / SECTOR_BYTES,
        logical_block_bytes: SECTOR_BYTES as u32,
        queue_depth: SETUP.queue_depth,
    };
    let granted = match Uring::new(file, geometry, SETUP) {
        Ok(ring) => ring.granted(),
        Err(error) => {
            let means = "no real drive can be measured; virtual ones can";
            return vec![Finding::prevents(what, error.to_string(), means)];
        }
    };
    let deferred = "deferred completions";
    let registered = "registered buffers";
    vec![
        Finding::fine(what, "a ring can be set up"),
        match granted.deferred_completions {
            true => Finding::fine(deferred, "granted"),
            false => Finding::limits(
                deferred,
                "not granted (Linux 6.1)",
                "completions interrupt the loop: more CPU time an I/O, the same I/Os",
            ),
        },
        match granted.registered_reads && granted.registered_writes {
            true => Finding::fine(registered, "granted"),
            false => Finding::limits(
                registered,
                "not granted (Linux 5.19, and a limit on locked memory, ulimit -l)",
                "every I/O looks its pages up: more CPU time an I/O, the same I/Os",
            ),
        },
    ]
}

fn locked_memory() -> Finding {
    let what = "locked memory";
    match getrlimit(Resource::Memlock).current {
        None => Finding::fine(what, "no limit"),
        Some(bytes) => {
            let need = u64::from(SETUP.queue_depth) * u64::from(SETUP.max_block_bytes);
            let found = format!("{} KiB", bytes / 1024);
            match bytes >= need {
                true => Finding::fine(what, found),
                // Since Linux 5.12 the memory of a root's rings is not counted; what was granted is
                // in the row above.
                false => Finding::fine(what, found).meaning(format!(
                    "a ring of {} I/Os of {} KiB has {} KiB of buffers; root's are not counted",
                    SETUP.queue_depth,
                    SETUP.max_block_bytes / 1024,
                    need / 1024
                )),
            }
        }
    }
}

fn memory() -> Finding {
    let what = "available memory";
    match host::available_memory_bytes() {
        Some(bytes) => Finding::fine(what, format!("{:.1} GB", bytes as f64 / 1e9))
            .meaning("a virtual SSD takes up to a few GB, by its capacity"),
        None => Finding::not_known(what, "/proc/meminfo does not say"),
    }
}

/// The governors of all CPUs.
fn governor(roots: &Roots) -> Finding {
    let what = "CPU frequency";
    let folder = roots.sys.join("devices/system/cpu");
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) => return Finding::not_known(what, format!("{}: {error}", folder.display())),
    };
    let governors: BTreeSet<String> = entries
        .flatten()
        .filter_map(|entry| attribute(&entry.path().join("cpufreq/scaling_governor")).ok())
        .collect();
    let found = governors.iter().cloned().collect::<Vec<_>>().join(", ");
    match governors.len() {
        0 => Finding::not_known(
            what,
            "no CPU has cpufreq/scaling_governor, as in a virtual machine as a rule",
        ),
        1 if found == "performance" => Finding::fine(what, found),
        _ => Finding::limits(
            what,
            found,
            "CPUs that clock down between I/Os make short latencies longer: cpupower \
             frequency-set -g performance",
        ),
    }
}

fn user() -> Finding {
    let what = "user";
    match rustix::process::geteuid().is_root() {
        true => Finding::fine(what, "root"),
        false => Finding::fine(what, "not root")
            .meaning("devices can be measured that this user may open, files in its folders"),
    }
}
