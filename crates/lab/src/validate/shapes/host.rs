//! The host of an entry: what its engine costs a command and a process.

use fourcorners_drive::Nanos;
use fourcorners_drive::config::{HostSection, SsdConfig};

use super::entry::Entry;

/// A host with one way to submit I/Os.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Host {
    /// Microseconds of a command from the job's submit to its completion that are not the drive's: part of the
    /// latency.
    pub(super) command_us: f64,
    /// Those of them for which a process is busy and submits nothing else: a process reaches one over this.
    pub(super) process_us: f64,
    /// Processors that processes share in turn.
    pub(super) cpus: usize,
}

/// By the source's key (all where it is empty) and the engine; the first that fits.
///
/// One 980 PRO of `icpe24` gives one process 383,000 reads a second through the kernel (980pro-rr4k-j1-q64) and
/// 783,000 through SPDK, which is what the drive can do; at depth 1 its reads take 8.3 us more through the kernel
/// (980pro-rr4k-j1-q1 and its like through SPDK). The authors' own tool of `ssdiq` answers some writes within 7 us
/// (i1-init07-seq-uni-uniform), drive and all. A P4800X of `budisc` gives one process 388,000 and four 507,000
/// (optane-4k-r-j1, optane-4k-r-j4); the P5800X of `delab` gives one thread 556,000.
const HOSTS: [(&str, &str, Host); 8] = [
    ("", "spdk", Host { command_us: 1.2, process_us: 0.9, cpus: 10 }),
    ("", "spdk_fio", Host { command_us: 1.2, process_us: 0.9, cpus: 10 }),
    ("ssdiq", "io_uring", Host { command_us: 5.0, process_us: 1.5, cpus: 64 }),
    ("icpe24", "io_uring", Host { command_us: 9.5, process_us: 2.61, cpus: 10 }),
    ("delab", "libaio", Host { command_us: 9.5, process_us: 1.8, cpus: 64 }),
    ("", "sync", Host { command_us: 9.5, process_us: 0.0, cpus: 64 }),
    ("", "psync", Host { command_us: 9.5, process_us: 0.0, cpus: 64 }),
    // The kernel's queues by whichever interface.
    ("", "", Host { command_us: 9.5, process_us: 2.55, cpus: 40 }),
];

impl Host {
    /// The host of an entry: what its source and its engine say.
    pub(super) fn of(entry: &Entry) -> Host {
        let (source, engine) = (entry.source_key(), entry.test.engine.as_str());
        let fits = |of: &str, is: &str| of.is_empty() || of == is;
        let found = HOSTS.iter().find(|(of, by, _)| fits(of, source) && fits(by, engine));
        found.map_or(HOSTS[HOSTS.len() - 1].2, |(_, _, host)| *host)
    }

    /// Puts a drive behind it. With `processes_apart` the loop has what a process takes, and the drive's host has
    /// the rest.
    pub(super) fn in_front_of(self, config: &mut SsdConfig, processes_apart: bool) {
        let apart = if processes_apart { self.process_us } else { 0.0 };
        let command_us = self.command_us - apart;
        config.host = HostSection { command_us, read_command_us: None, write_command_us: None };
    }

    /// For how long a process is busy with a command.
    pub(super) fn process(self) -> Nanos {
        Nanos::from_micros(self.process_us)
    }
}
