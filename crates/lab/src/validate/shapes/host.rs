//! The host of an entry: what its engine costs a command and a process.

use fourcorners_drive::Nanos;
use fourcorners_drive::config::{HostSection, LinkSection, PcieLinkSection, SsdConfig};

use super::entry::Entry;

/// A host with one way to submit I/Os.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Host {
    /// Microseconds of a command from the job's submit to its completion that are not the drive's: part of the
    /// latency.
    pub(super) command_us: f64,
    /// Those of them for which a process is busy and submits nothing else: a process reaches one over this.
    pub(super) process_us: f64,
    /// The same when every processor has a process.
    pub(super) crowded_process_us: f64,
    /// Processors that processes share in turn.
    pub(super) cpus: usize,
    /// How much of the slow variation of a drive's profile is left behind it.
    pub(super) drift: f64,
}

/// The catalogue has a drive's slow variation as it was measured through the kernel, where half-seconds of one 980 PRO differ by
/// 0.2 to 0.4 % (980pro-rr4k-j1-q1, 980pro-jobs1-q128, 980pro-rep2-rr4k-q4). Past the kernel most differ by less: the rest was the
/// host's. Fitted to 980pro-spdk-rr4k-j1-q1 (0.17 %), which needs 0.57 of it, and 980pro-spdk-rr4k-j1-q16 (0.12 %), which needs 0.32:
/// their geometric mean. Of the other two that may be fitted to, 980pro-spdk-rr4k-j1-q256 varies by 0.14 % where the link is the limit
/// and nothing here drifts, and 980pro-spdk-rr4k-j1-q64 by 1.2 %, which is left alone. That other drives' hosts do the same is assumed.
const DRIFT_PAST_THE_KERNEL: f64 = 0.43;

/// By the source's key (all where it is empty) and the engine; the first that fits.
///
/// One 980 PRO of `icpe24` gives one process 381,000 reads a second through the kernel (980pro-jobs1-q128) and 783,000
/// through SPDK (980pro-spdk-rr4k-j1-q256), which is what the drive can do; at depth 1 its reads take 8.3 us more through the
/// kernel (980pro-rr4k-j1-q1, 980pro-spdk-rr4k-j1-q1). The authors' own tool of `ssdiq` answers some writes within 7 us, drive and
/// all (i1-init07-seq-uni-uniform). A P4800X of `budisc` gives one process 388,000 (optane-4k-r-j1). With a process on each of the
/// ten processors of `icpe24`, all give 3.31 million (980pro-x8-fig11a-n16).
const HOSTS: [(&str, &str, Host); 7] = [
    ("", "spdk", SPDK),
    ("", "spdk_fio", SPDK),
    ("ssdiq", "io_uring", OWN_TOOL),
    ("icpe24", "io_uring", TEN_PROCESSORS),
    ("", "sync", SYNCHRONOUS),
    ("", "psync", SYNCHRONOUS),
    // The kernel's queues by whichever interface.
    ("", "", KERNEL),
];
const KERNEL: Host =
    Host { command_us: 9.5, process_us: 2.58, crowded_process_us: 2.58, cpus: 40, drift: 1.0 };
const TEN_PROCESSORS: Host =
    Host { process_us: 2.62, crowded_process_us: 3.02, cpus: 10, ..KERNEL };
const OWN_TOOL: Host =
    Host { command_us: 5.0, process_us: 1.5, crowded_process_us: 1.5, cpus: 64, ..KERNEL };
const SYNCHRONOUS: Host = Host { process_us: 0.0, crowded_process_us: 0.0, cpus: 64, ..KERNEL };
const SPDK: Host = Host {
    command_us: 1.2,
    process_us: 0.9,
    crowded_process_us: 0.9,
    cpus: 10,
    drift: DRIFT_PAST_THE_KERNEL,
};

/// The last of eight drives of `icpe24` has a slow link, as reads of 64 KiB tell: whatever the
/// depth, all eight together give 15.4 GB/s, one in eight reads of a program beside them waits for about all
/// that is in flight over 1.9 GB/s, and the others for next to nothing (980pro-x8-fig11b-n1, 980pro-x8-fig11b-n16,
/// 980pro-x8-fig12a-n4). A program uses the drives in turn, so that its I/Os gather at the slowest. One to four of them
/// give what so many drives do (980pro-x3-jobs10-q128).
const SLOW_LINK: PcieLinkSection =
    PcieLinkSection { generation: 2, lanes: 4, max_payload_bytes: 512, dllp_percent: None };
const DRIVES_WITH_A_SLOW_ONE: (&str, usize) = ("icpe24", 8);

/// The link of the last of an entry's drives, if that is slower than what the drive can have.
pub(super) fn link_of_the_last(entry: &Entry, drives: usize) -> Option<LinkSection> {
    let there = (entry.source_key(), drives) == DRIVES_WITH_A_SLOW_ONE;
    there.then_some(LinkSection::Pcie(SLOW_LINK))
}

/// By how much the controller of the slowest of several drives of one model is slower than that of the fastest, the others
/// evenly between: fitted to three and four drives of `icpe24` behind ten processes (980pro-x3-jobs10-q128,
/// 980pro-x4-jobs10-q128). Their I/Os gather at the slowest, so that half of all are answered within 54 and 74 % of the mean
/// and one in ten takes twice as long; between equal drives they would be spread more evenly.
const SPREAD_OF_DRIVES: f64 = 0.007;

/// Makes a drive one of several of its model, number `number` of `drives`.
pub(super) fn differ(config: &mut SsdConfig, number: usize, drives: usize) {
    if drives > 1 {
        let slower = 1.0 + SPREAD_OF_DRIVES * number as f64 / (drives - 1) as f64;
        let controller = &mut config.controller;
        for time in [
            &mut controller.read_command_us,
            &mut controller.read_4k_us,
            &mut controller.write_command_us,
            &mut controller.write_4k_us,
        ] {
            *time *= slower;
        }
    }
}

impl Host {
    /// The host of an entry: what its source and its engine say.
    pub(super) fn of(entry: &Entry) -> Host {
        let (source, engine) = (entry.source_key(), entry.test.engine.as_str());
        let fits = |of: &str, is: &str| of.is_empty() || of == is;
        let found = HOSTS.iter().find(|(of, by, _)| fits(of, source) && fits(by, engine));
        found.map_or(KERNEL, |(_, _, host)| *host)
    }

    /// Puts a drive behind it. With `processes_apart` the loop has what a process takes, and the drive's host has
    /// the rest.
    pub(super) fn in_front_of(self, config: &mut SsdConfig, processes_apart: bool) {
        let apart = if processes_apart { self.process_us } else { 0.0 };
        let command_us = self.command_us - apart;
        config.host = HostSection { command_us, ..HostSection::default() };
        if let Some(variation) = &mut config.variation {
            variation.drift *= self.drift;
        }
    }

    /// For how long each of so many processes is busy with a command.
    pub(super) fn process(self, processes: usize) -> Nanos {
        let crowded = processes >= self.cpus;
        Nanos::from_micros(if crowded { self.crowded_process_us } else { self.process_us })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::shapes::{built_in, is_kept_out};

    #[test]
    fn an_engine_is_a_host_and_a_source_may_have_its_own() {
        let entries = built_in();
        let of = |id: &str| Host::of(entries.iter().find(|entry| entry.id == id).expect(id));
        assert_eq!(of("980pro-spdk-rr4k-j1-q1"), SPDK);
        assert_eq!(of("optane-4k-r-j1"), KERNEL);
        assert_eq!(of("980pro-rr4k-j1-q1").process_us, 2.62);
        assert_eq!(of("s0-lat-10k").command_us, 5.0);
    }

    #[test]
    fn the_hosts_of_the_catalogue_are_those_of_the_measurements() {
        let entries = built_in();
        for (name, id) in
            [("linux-kernel", "980pro-rr4k-j1-q1"), ("spdk", "980pro-spdk-rr4k-j1-q1")]
        {
            let host = fourcorners_catalogue::host(name).expect("built in").model.host;
            let of = Host::of(entries.iter().find(|entry| entry.id == id).expect(id));
            assert_eq!((host.command_us, host.process_us), (of.command_us, Some(of.process_us)));
        }
    }

    #[test]
    fn a_process_takes_longer_where_every_processor_has_one() {
        let entries = built_in();
        let of = |id: &str| Host::of(entries.iter().find(|entry| entry.id == id).expect(id));
        let host = of("980pro-rr4k-j1-q1");
        assert_eq!([1, 9, 10, 17].map(|n| host.process(n).0), [2620, 2620, 3020, 3020]);
        assert_eq!(SPDK.process(1), SPDK.process(10));
    }

    #[test]
    fn past_the_kernel_a_drive_varies_slowly_by_less_and_through_it_as_its_profile_says() {
        let profile =
            fourcorners_catalogue::built_in("samsung-980-pro-1000gb", &[]).expect("it is");
        let fourcorners_catalogue::Model::Ssd(config) = profile.model else {
            panic!("a hard disk")
        };
        let drift = |host: Host| {
            let mut config = config.clone();
            host.in_front_of(&mut config, false);
            config.variation.expect("it has one").drift
        };
        let own = config.variation.as_ref().expect("it has one").drift;
        assert_eq!([drift(KERNEL), drift(SPDK)], [own, own * DRIFT_PAST_THE_KERNEL]);
    }

    #[test]
    fn the_last_of_eight_drives_of_one_source_has_a_slow_link() {
        let entries = built_in();
        let slow = |id: &str, drives| {
            let entry = entries.iter().find(|entry| entry.id == id).expect(id);
            link_of_the_last(entry, drives).is_some()
        };
        assert!(slow("980pro-x8-fig11b-n1", 8));
        assert!(!slow("980pro-x3-jobs10-q128", 3));
        assert!(!slow("s0-lat-10k", 8));
    }

    #[test]
    fn one_drive_is_its_profile_and_of_several_each_is_a_little_slower_than_the_one_before() {
        let read_us = |number, drives| {
            let mut config = SsdConfig::default();
            config.controller.read_4k_us = 2.0;
            differ(&mut config, number, drives);
            config.controller.read_4k_us
        };
        assert_eq!([read_us(0, 1), read_us(0, 3)], [2.0; 2]);
        assert!((read_us(1, 3) - 2.007).abs() < 1e-9);
        assert!((read_us(2, 3) - 2.014).abs() < 1e-9);
    }

    #[test]
    fn no_entry_that_is_kept_out_is_cited_for_a_host() {
        let entries = built_in();
        let text = include_str!("host.rs").split("#[cfg(test)]").next().unwrap_or_default();
        let words: Vec<&str> =
            text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '.')).collect();
        let cited = entries.iter().filter(|entry| words.contains(&entry.id.as_str()));
        let cited: Vec<(&str, bool)> =
            cited.map(|entry| (entry.id.as_str(), is_kept_out(entry, &entries))).collect();
        assert!(cited.len() > 4, "{cited:?}");
        assert!(cited.iter().all(|(_, kept_out)| !kept_out), "{cited:?}");
    }
}
