//! What a run of cuts came to: a document, and its words.

use comfy_table::{ContentArrangement, Table, presets};
use fourcorners_drive::{Nanos, SECTOR_BYTES};
use fourcorners_serve::crash::{Class, Cut};
use fourcorners_words::{count, counted, size};
use serde::Serialize;

/// The form of the document.
pub(super) const SCHEMA: &str = "fourcorners.crash/1";

/// Cuts that are named one by one under the table, at most.
const MOST_NAMED: usize = 10;

/// What a run of cuts came to.
#[derive(Debug, Serialize)]
pub(super) struct Crash {
    pub(super) schema: &'static str,
    pub(super) recording: String,
    pub(super) drive: String,
    pub(super) profile: String,
    pub(super) state: Option<String>,
    pub(super) seed: u64,
    /// Whether capacitors keep what was answered.
    pub(super) power_loss_protected: bool,
    pub(super) ios: usize,
    pub(super) flushes: usize,
    /// From the first I/O to the last answer, in the drive's time.
    pub(super) seconds: f64,
    /// Whether it was stopped before the last cut.
    pub(super) stopped: bool,
    pub(super) cuts: Vec<CutReport>,
    /// What makes a cut again, but for its class and moment.
    #[serde(skip)]
    pub(super) again: String,
}

/// A cut.
#[derive(Debug, Serialize)]
pub(super) struct CutReport {
    pub(super) class: String,
    /// In the drive's time, from the first I/O.
    pub(super) at_us: f64,
    /// I/Os that were asked for by then.
    pub(super) ios: usize,
    pub(super) promised_writes_lost: u64,
    pub(super) promised_bytes_lost: u64,
    /// Answered, not promised, and lost.
    pub(super) answered_bytes_lost: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) image_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) check: Option<Check>,
    #[serde(skip)]
    pub(super) of: Class,
}

/// How a check of an image ended.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    /// Its exit status; none if a signal ended it.
    pub(super) status: Option<i32>,
    /// The last line it said.
    pub(super) said: String,
}

impl CutReport {
    /// A cut of a history that began at a time.
    pub(super) fn new(cut: &Cut, began: Nanos) -> CutReport {
        CutReport {
            class: cut.class.to_string(),
            at_us: cut.at.since(began).as_micros(),
            ios: cut.asked,
            promised_writes_lost: cut.promised_lost,
            promised_bytes_lost: cut.promised_lost_sectors * SECTOR_BYTES,
            answered_bytes_lost: cut.answered_lost_sectors * SECTOR_BYTES,
            image_sha256: None,
            image: None,
            check: None,
            of: cut.class,
        }
    }

    fn failed(&self) -> bool {
        self.check.as_ref().is_some_and(|check| check.status != Some(0))
    }

    /// Whether a drive that keeps its promises has lost one.
    fn is_broken(&self) -> bool {
        matches!(self.of, Class::Honest | Class::Legal) && self.promised_writes_lost > 0
    }
}

impl Crash {
    /// Whether nothing failed that ought not to.
    pub(super) fn is_well(&self) -> bool {
        !self.stopped && !self.cuts.iter().any(|cut| cut.failed() || cut.is_broken())
    }

    pub(super) fn words(&self, columns: u16) -> String {
        let Crash { recording, drive, ios, flushes, seconds, seed, .. } = self;
        let mut text = format!(
            "{recording} on {drive}: {} with {} in {seconds:.3} s of the drive's time; seed {seed}\n",
            counted(*ios as u64, "I/O"),
            match flushes {
                1 => "1 flush".into(),
                _ => format!("{} flushes", count(*flushes as f64)),
            }
        );
        if self.power_loss_protected {
            text += "Its capacitors keep what was answered.\n";
        }
        let checked = self.cuts.iter().any(|cut| cut.check.is_some());
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
        let mut head = vec!["drive", "cuts", "promise broken", "answered and lost, median", "most"];
        head.extend(checked.then_some("check failed"));
        table.set_header(head);
        for class in Class::all() {
            let cuts: Vec<&CutReport> = self.cuts.iter().filter(|cut| cut.of == class).collect();
            if cuts.is_empty() {
                continue;
            }
            let mut lost: Vec<u64> = cuts.iter().map(|cut| cut.answered_bytes_lost).collect();
            lost.sort_unstable();
            let broken = cuts.iter().filter(|cut| cut.promised_writes_lost > 0).count();
            let mut row = vec![
                class.to_string(),
                cuts.len().to_string(),
                broken.to_string(),
                size(median(&lost)),
                size(lost[lost.len() - 1]),
            ];
            let failed = cuts.iter().filter(|cut| cut.failed()).count();
            row.extend(checked.then(|| failed.to_string()));
            table.add_row(row);
        }
        text += &format!("\n{table}\n");
        let notable: Vec<&CutReport> = self
            .cuts
            .iter()
            .filter(|cut| if checked { cut.failed() } else { cut.promised_writes_lost > 0 })
            .collect();
        if !notable.is_empty() {
            let (what, n) =
                (if checked { "failed its check" } else { "broke a promise" }, notable.len());
            text += &format!("\n{n} cut{} {what}", if n == 1 { "" } else { "s" });
            text += if n > MOST_NAMED { ", among them\n" } else { "\n" };
        }
        for cut in notable.into_iter().take(MOST_NAMED) {
            let why = match &cut.check {
                Some(Check { status, said }) => {
                    let status =
                        status.map_or("a signal".into(), |status| format!("exit {status}"));
                    format!("{status}: {said}")
                }
                None => {
                    let writes = cut.promised_writes_lost;
                    let s = if writes == 1 { "" } else { "s" };
                    format!("{writes} promised write{s}, {} lost", size(cut.promised_bytes_lost))
                }
            };
            text += &format!(
                "  {why}\n    {} --fault {} --at {}us\n",
                self.again, cut.class, cut.at_us
            );
        }
        text
    }
}

/// Of sorted numbers, at least one: the one in the middle, or the mean of the two there.
fn median(sorted: &[u64]) -> u64 {
    let last = sorted.len() - 1;
    u64::midpoint(sorted[last / 2], sorted[last.div_ceil(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_two_lies_between_them() {
        assert_eq!([&[7][..], &[0, 10], &[1, 2, 9]].map(median), [7, 5, 2]);
    }

    #[test]
    fn one_is_not_called_several() {
        let said = |ios, flushes| {
            let crash = Crash {
                schema: SCHEMA,
                recording: "t".into(),
                drive: "m4".into(),
                profile: String::new(),
                state: None,
                seed: 1,
                power_loss_protected: false,
                ios,
                flushes,
                seconds: 1.0,
                stopped: false,
                cuts: Vec::new(),
                again: String::new(),
            };
            crash.words(80)
        };
        assert!(said(351, 1).starts_with("t on m4: 351 I/Os with 1 flush in 1.000 s"));
        assert!(said(1, 2).starts_with("t on m4: 1 I/O with 2 flushes in"));
    }
}
