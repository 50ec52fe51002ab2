//! What was asked and how late it was answered: the closing report, and the events of `--progress json`.

use std::collections::BTreeMap;

use fourcorners_drive::{Nanos, SECTOR_BYTES, Ssd, SsdCounters, Target};
use fourcorners_run::Histogram;
use fourcorners_words::counted;
use serde::Serialize;

use crate::distribution::Distribution;
use crate::nbd::Command;

/// The form of events.
pub const SCHEMA: &str = "fourcorners.serve/1";

/// A run is paced if this percentile of lateness ...
const LATE_PERCENTILE: f64 = 99.0;
/// ... is at most this share of the median latency that the drive asked for ...
const MOST_LATE_SHARE: f64 = 0.1;
/// ... and at most this share of answers could not be had as early as the drive had them.
const MOST_BELOW_FLOOR: f64 = 0.01;

/// Operations as they are counted.
const OPERATIONS: [&str; 5] = ["read", "write", "flush", "trim", "write_zeroes"];

/// Everything that is counted while a drive is served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// By [`OPERATIONS`]: latencies in virtual time, and bytes.
    asked: [(Histogram, u64); OPERATIONS.len()],
    all: Histogram,
    failed: u64,
    lateness: Histogram,
    below_floor: u64,
    pub(crate) connections: u64,
    pub(crate) refused_connections: u64,
    /// Connections that ended before a certificate was shown, where one is asked for.
    pub(crate) untrusted_connections: u64,
    /// Connections that ended with a breach of the protocol.
    pub(crate) broken_connections: u64,
    pub(crate) power_cuts: u64,
}

impl Tally {
    /// A request was answered, so long after it came in virtual time; `None` if it takes no time.
    pub(crate) fn answered(
        &mut self,
        command: Command,
        bytes: u64,
        asked: Option<Nanos>,
        failed: bool,
    ) {
        self.failed += u64::from(failed);
        let Some(asked) = asked else { return };
        let operation = match command {
            Command::Read { .. } => 0,
            Command::Write { .. } => 1,
            Command::Flush => 2,
            Command::Trim { .. } => 3,
            Command::WriteZeroes { .. } => 4,
            Command::BlockStatus { .. } | Command::Cache => return,
        };
        let (latency, moved) = &mut self.asked[operation];
        latency.record(asked.0);
        *moved += bytes;
        self.all.record(asked.0);
    }

    /// An answer was sent so late. `below_floor`: it was due before it could have been sent.
    pub(crate) fn sent(&mut self, late: Nanos, below_floor: bool) {
        self.lateness.record(late.0);
        self.below_floor += u64::from(below_floor);
    }
}

/// What was done so far, or in all.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// `second` or `end`.
    pub event: &'static str,
    /// Since it is served.
    pub seconds: f64,
    /// `real`, `xN` or `virtual`.
    pub time: String,
    /// By how much answers go out earlier than they are due, for the way to the client and back, microseconds.
    pub door_us: f64,
    /// Whether wall times are the drive's.
    pub pacing: Pacing,
    /// By operation.
    pub operations: Vec<Operation>,
    /// Requests that the drive failed.
    pub failed: u64,
    /// From when an answer was due to after it was written; nothing in virtual time.
    pub lateness_us: Option<Late>,
    /// How that is spread, for monitoring systems.
    #[serde(skip)]
    pub lateness: Distribution,
    /// Share of answers that were due before they could have been sent.
    pub below_floor: Option<f64>,
    /// Most requests that waited for a place in the drive's queue.
    pub backlog_most: u64,
    /// Connections so far, now, refused because there were too many or the power was off, ended for breaking the protocol, and without a
    /// certificate where one is asked for.
    pub connections: Connections,
    /// How often the power was cut.
    pub power_cuts: u64,
    /// Bytes of contents that are stored; 0 of a real drive, which does not tell.
    pub stored_bytes: u64,
    /// What the NAND wrote over what the host wrote; of a virtual SSD that was written.
    pub write_amplification: Option<f64>,
    /// What a power cut now might take; null where that is not known.
    pub ledger: Option<InLedger>,
    /// What an SSD tells of itself.
    pub drive: Option<DriveCounters>,
    /// Of a recording.
    pub recorded: Option<Recorded>,
    /// What the log of written data has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_data: Option<RecordedData>,
    /// Each fault that is injected, and how many requests it has struck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub injected: Option<BTreeMap<String, u64>>,
}

/// Whether a run kept the drive's times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// Clients saw the drive's times: p99 of lateness is at most a tenth of the median latency, and at most 1 % of answers
    /// were below the floor.
    Paced,
    /// They did not; wall times of this run are not the drive's. Recorded times are.
    Behind,
    /// Virtual time, or nothing was asked: there are no wall times to judge.
    NotPaced,
    /// A real drive: clients saw its own times, and the way to it besides.
    Real,
}

/// One kind of request.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Operation {
    /// Which.
    pub name: &'static str,
    /// Requests.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// What the drive took, in virtual time, waiting for a place in its queue included.
    pub latency_us: Latencies,
    /// How that is spread, for monitoring systems.
    #[serde(skip)]
    pub latency: Distribution,
}

/// Latencies in microseconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Latencies {
    /// Median.
    pub p50: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

/// Lateness in microseconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Late {
    /// Median.
    pub p50: f64,
    /// 99 of 100 were no later.
    pub p99: f64,
    /// 999 of 1,000 were no later.
    pub p999: f64,
    /// The latest.
    pub max: f64,
}

/// What a drive tells of itself, as SMART does.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct DriveCounters {
    /// Bytes that the host has written since it is served.
    pub host_bytes: u64,
    /// Bytes that the NAND was programmed with since then, collection and all.
    pub nand_bytes: u64,
    /// Blocks erased since then, one of each plane together.
    pub blocks_erased: u64,
    /// Blocks that have failed, in its life.
    pub blocks_retired: u32,
    /// The mean block's erases over those it is rated for, in its life, percent; null of a drive whose flash does not wear
    /// out here (`[wear]`).
    pub percentage_used: Option<f64>,
    /// Whether so many blocks have failed that it takes no more writes.
    pub read_only: bool,
    /// The drive's time, seconds.
    pub power_on_s: f64,
    /// What its sensor says, degrees Celsius; only of a drive whose profile has `[heat]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
    /// What the NAND wrote over what the host wrote since it is served; it is in the report itself.
    #[serde(skip)]
    pub write_amplification: Option<f64>,
}

/// What is not safe yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct InLedger {
    /// Writes and TRIMs that were not promised, or are not on the NAND.
    pub writes: u64,
    /// Bytes of those writes.
    pub bytes: u64,
}

/// Connections.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Connections {
    /// So far.
    pub all: u64,
    /// Now.
    pub open: u64,
    /// Refused because there were too many, or the power was off.
    pub refused: u64,
    /// Ended because they broke the protocol.
    pub broken: u64,
    /// Ended without a certificate that is good, where one is asked for.
    pub untrusted: u64,
}

/// What became of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Recorded {
    /// I/Os that were given to the recorder.
    pub ios: u64,
    /// I/Os that were not, because it had no room or had failed.
    pub lost: u64,
    /// Why it could not be written, if it could not.
    pub error: Option<String>,
}

/// What became of what was written.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RecordedData {
    /// Writes, discards and flushes that were given to the log.
    pub entries: u64,
    /// Bytes of data.
    pub bytes: u64,
    /// Entries that were not, because it had no room or had failed; all after the first.
    pub lost: u64,
    /// Why it could not be written, if it could not.
    pub error: Option<String>,
}

/// What a report needs to know beyond what is counted.
pub(crate) struct Beside {
    pub(crate) event: &'static str,
    pub(crate) elapsed: Nanos,
    pub(crate) time: String,
    /// A real drive was passed on.
    pub(crate) real: bool,
    /// 0 in virtual time.
    pub(crate) factor: f64,
    pub(crate) door: Nanos,
    pub(crate) backlog_most: u64,
    pub(crate) open: u64,
    pub(crate) stored_bytes: u64,
    pub(crate) ledger: Option<InLedger>,
    pub(crate) drive: Option<DriveCounters>,
    pub(crate) recorded: Option<Recorded>,
    pub(crate) recorded_data: Option<RecordedData>,
    pub(crate) injected: Option<BTreeMap<String, u64>>,
}

fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

impl Tally {
    pub(crate) fn report(&self, beside: Beside) -> Report {
        let operations =
            OPERATIONS.iter().zip(&self.asked).filter(|(_, asked)| asked.0.count() > 0);
        let operations = operations.map(|(name, (latency, bytes))| Operation {
            name,
            ios: latency.count(),
            bytes: *bytes,
            latency_us: Latencies {
                p50: micros(latency.percentile(50.0)),
                p99: micros(latency.percentile(99.0)),
                max: micros(latency.max()),
            },
            latency: latency.into(),
        });
        let late = &self.lateness;
        let lateness_us = (late.count() > 0).then(|| Late {
            p50: micros(late.percentile(50.0)),
            p99: micros(late.percentile(99.0)),
            p999: micros(late.percentile(99.9)),
            max: micros(late.max()),
        });
        let below_floor = (late.count() > 0).then(|| self.below_floor as f64 / late.count() as f64);
        Report {
            schema: SCHEMA,
            event: beside.event,
            seconds: beside.elapsed.as_secs(),
            time: beside.time,
            door_us: beside.door.as_micros(),
            pacing: match beside.real {
                true => Pacing::Real,
                false => self.pacing(beside.factor),
            },
            operations: operations.collect(),
            failed: self.failed,
            lateness_us,
            lateness: late.into(),
            below_floor,
            backlog_most: beside.backlog_most,
            connections: Connections {
                all: self.connections,
                open: beside.open,
                refused: self.refused_connections,
                broken: self.broken_connections,
                untrusted: self.untrusted_connections,
            },
            power_cuts: self.power_cuts,
            stored_bytes: beside.stored_bytes,
            write_amplification: beside.drive.and_then(|drive| drive.write_amplification),
            ledger: beside.ledger,
            drive: beside.drive,
            recorded: beside.recorded,
            recorded_data: beside.recorded_data,
            injected: beside.injected,
        }
    }

    fn pacing(&self, factor: f64) -> Pacing {
        let count = self.lateness.count();
        if count == 0 {
            return Pacing::NotPaced;
        }
        let median = self.all.percentile(50.0) as f64 * factor;
        let late = self.lateness.percentile(LATE_PERCENTILE) as f64;
        let below = self.below_floor as f64 / count as f64;
        match late <= MOST_LATE_SHARE * median && below <= MOST_BELOW_FLOOR {
            true => Pacing::Paced,
            false => Pacing::Behind,
        }
    }
}

impl DriveCounters {
    /// What an SSD has done since its counters were `before`.
    pub fn since(ssd: &Ssd, before: &SsdCounters) -> DriveCounters {
        let (now, wear) = (ssd.counters(), ssd.wear());
        let units = now.programmed_units.saturating_sub(before.programmed_units);
        DriveCounters {
            host_bytes: now.host_sectors.saturating_sub(before.host_sectors) * SECTOR_BYTES,
            nand_bytes: units * u64::from(now.unit_bytes),
            blocks_erased: now.blocks_erased.saturating_sub(before.blocks_erased),
            blocks_retired: wear.blocks_retired,
            percentage_used: wear.endurance_used.map(|used| used * 100.0),
            read_only: wear.read_only,
            power_on_s: ssd.now().as_secs(),
            temperature_c: ssd.heat().map(|heat| heat.temperature_c),
            write_amplification: now.write_amplification_since(before),
        }
    }
}

impl Report {
    /// The report for people.
    pub fn words(&self) -> String {
        let mut text = format!("served for {:.1} s, time {}", self.seconds, self.time);
        let connections = &self.connections;
        text += &format!(", {}", counted(connections.all, "connection"));
        if connections.refused + connections.broken > 0 {
            text += &format!(
                " ({} refused, {} broke the protocol)",
                connections.refused, connections.broken
            );
        }
        if connections.untrusted > 0 {
            text += &format!(" ({} without a good certificate)", connections.untrusted);
        }
        text += "\n";
        if self.power_cuts > 0 {
            let times = if self.power_cuts == 1 {
                "once".into()
            } else {
                format!("{} times", self.power_cuts)
            };
            text += &format!("the power was cut {times}\n");
        }
        for operation in &self.operations {
            let Operation { name, ios, bytes, latency_us: latency, .. } = operation;
            text += &format!(
                "{name:>12}: {}, {}, drive's latency p50 {:.1}, p99 {:.1}, max {:.1} us\n",
                counted(*ios, "request"),
                fourcorners_words::size(*bytes),
                latency.p50,
                latency.p99,
                latency.max
            );
        }
        if self.failed > 0 {
            text += &format!("{} failed\n", counted(self.failed, "request"));
        }
        if let (Some(late), Some(below)) = (&self.lateness_us, self.below_floor) {
            text += &format!(
                "answers were late by p50 {:.1}, p99 {:.1}, p99.9 {:.1}, max {:.1} us; door {:.1} us; below the floor {}\n",
                late.p50,
                late.p99,
                late.p999,
                late.max,
                self.door_us,
                fourcorners_words::percent(below),
            );
        }
        text += match self.pacing {
            Pacing::Paced => "paced: clients saw this drive's times\n",
            Pacing::Behind => {
                "behind: wall times of this run are not the drive's (the latencies above and in a recording are)\n"
            }
            Pacing::NotPaced => "",
            Pacing::Real if self.operations.is_empty() => {
                "a real drive, of which nothing was asked\n"
            }
            Pacing::Real => {
                "a real drive: clients saw the latencies above, and the way here besides\n"
            }
        };
        if let Some(recorded) = &self.recorded {
            text += &format!("recorded {}, {} lost", counted(recorded.ios, "I/O"), recorded.lost);
            text += &recorded.error.as_ref().map_or("\n".into(), |why| format!(": {why}\n"));
        }
        for (fault, struck) in self.injected.iter().flatten() {
            text += &format!("injected {fault}: {}\n", counted(*struck, "request"));
        }
        if let Some(data) = &self.recorded_data {
            let size = fourcorners_words::size(data.bytes);
            text +=
                &format!("logged {} entries with {size} of data, {} lost", data.entries, data.lost);
            text += &data.error.as_ref().map_or("\n".into(), |why| format!(": {why}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(latency: u64, late: impl Iterator<Item = (u64, bool)>) -> Report {
        let mut tally = Tally::default();
        for (late, below) in late {
            tally.answered(Command::Flush, 0, Some(Nanos(latency)), false);
            tally.sent(Nanos(late), below);
        }
        tally.report(Beside {
            event: "end",
            elapsed: Nanos::from_secs(1),
            time: "real".into(),
            real: false,
            factor: 1.0,
            door: Nanos::ZERO,
            backlog_most: 0,
            open: 0,
            stored_bytes: 0,
            ledger: None,
            drive: None,
            recorded: None,
            recorded_data: None,
            injected: None,
        })
    }

    #[test]
    fn of_a_real_drive_latencies_are_named_where_there_are_some() {
        let words = |late: &[(u64, bool)]| {
            Report { pacing: Pacing::Real, ..report(1_000, late.iter().copied()) }.words()
        };
        assert!(words(&[]).contains("nothing was asked") && !words(&[]).contains("clients saw"));
        assert!(words(&[(10, false)]).contains("clients saw the latencies above"));
    }

    #[test]
    fn accurate_is_earned() {
        let on_time = (0..1000).map(|_| (9_000, false));
        assert_eq!(report(100_000, on_time).pacing, Pacing::Paced);
        let two_percent_late = (0..1000).map(|n| (if n % 50 == 0 { 20_000 } else { 10 }, false));
        assert_eq!(report(100_000, two_percent_late).pacing, Pacing::Behind);
        let below = (0..1000).map(|n| (10, n % 50 == 0));
        assert_eq!(report(100_000, below).pacing, Pacing::Behind);
        assert_eq!(report(0, std::iter::empty()).pacing, Pacing::NotPaced);
    }
}
