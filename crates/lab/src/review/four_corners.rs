//! The four corners (AnandTech, Iometer): 4 KiB random and 128 KiB sequential, read and write.
//!
//! | test | block | queue depth | span | length | data |
//! |---|---|---|---|---|---|
//! | random write | 4 KiB | 3 and 32 | 8 GB | 180 s | repeating, incompressible |
//! | random read | 4 KiB | 3 | 8 GB, written first | 180 s | incompressible |
//! | sequential write | 128 KiB | 1 | whole drive | 60 s | repeating, incompressible |
//! | sequential read | 128 KiB | 1 | whole drive, written first | 60 s | incompressible |
//!
//! Every write test starts from a purged drive. Last come the random writes of a used drive: all
//! user LBAs written, then 4 KiB random writes over all of them at queue depth 32 for 20 minutes
//! or until the user's space was written once more, whichever is first.

use fourcorners_record::note::finished;
use fourcorners_record::{Data, Job, Note, Record, TargetKind, Until};
use fourcorners_words::{capitalised, three_digits, time};

use super::{Phase, Scope};

const SPAN_BYTES: u64 = 8_000_000_000;
const RANDOM_SECONDS: u64 = 180;
const SEQUENTIAL_SECONDS: u64 = 60;
const QUICK_SECONDS: u64 = 5;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let span = scope.span(SPAN_BYTES);
    let seconds = |full| if scope.quick { QUICK_SECONDS } else { full };
    // A quick review cannot fill a drive, and must not read what was never written.
    let sequential_span = if scope.quick { span } else { scope.usable_bytes() };
    let random =
        |read_percent, depth| scope.random(read_percent, depth, span, seconds(RANDOM_SECONDS));
    let sequential = |read_percent| {
        let until = Until::Seconds(seconds(SEQUENTIAL_SECONDS));
        scope.sequential(read_percent, 1, sequential_span, until)
    };

    let mut phases = Vec::new();
    for depth in [3, 32] {
        for data in [Data::Repeating, Data::Incompressible] {
            phases.push(Phase::Purge);
            let figure = format!("random_write_4k_qd{depth}_{}", suffix(data));
            phases.push(scope.measure(figure, Job { data, ..random(0, depth) }));
        }
    }
    phases.push(Phase::Purge);
    phases.push(scope.fill("span written", span));
    phases.push(scope.measure("random_read_4k_qd3", random(100, 3)));
    for data in [Data::Repeating, Data::Incompressible] {
        phases.push(Phase::Purge);
        let figure = format!("sequential_write_128k_qd1_{}", suffix(data));
        phases.push(scope.measure(figure, Job { data, ..sequential(0) }));
    }
    phases.push(Phase::Purge);
    phases.push(scope.fill("filled", sequential_span));
    phases.push(scope.measure("sequential_read_128k_qd1", sequential(100)));
    if scope.quick {
        phases.push(Phase::LeftOut {
            why: "The used state was left out by --quick: it takes a full drive write and 20 minutes \
                  of random writes."
                .into(),
        });
    } else {
        phases.push(Phase::Purge);
        phases.push(scope.fill("filled", sequential_span));
        phases.push(scope.torture(sequential_span));
        for depth in [3, 32] {
            let figure = format!("random_write_4k_qd{depth}_incompressible_used");
            phases.push(scope.measure(figure, random(0, depth)));
        }
    }
    phases
}

fn suffix(data: Data) -> &'static str {
    match data {
        Data::Repeating => "repeating",
        Data::Incompressible | Data::Compressible(_) => "incompressible",
    }
}

/// What the figures of the four corners say together. Only finished figures count.
pub(super) fn conclude(record: &mut Record) {
    let finished = |name: &str| finished(record, name);
    let mut notes = Vec::new();
    for depth in [3, 32] {
        let fresh = finished(&format!("random_write_4k_qd{depth}_incompressible"));
        let used = finished(&format!("random_write_4k_qd{depth}_incompressible_used"));
        if let (Some(fresh), Some(used)) = (fresh, used) {
            let kept = used.mb_per_s / fresh.mb_per_s;
            notes.push(Note {
                about: "used-state".into(),
                text: format!(
                    "Used, it keeps {:.0} % of its random write at QD {depth}: {} MB/s {}, {} used.",
                    kept * 100.0,
                    three_digits(fresh.mb_per_s),
                    // A target that cannot be purged was never fresh.
                    fresh.state,
                    three_digits(used.mb_per_s),
                ),
                value: Some(kept),
            });
        }
    }
    let compressible = [
        ("random write at QD 3", "random_write_4k_qd3"),
        ("sequential write", "sequential_write_128k_qd1"),
    ];
    // Of a virtual drive that does not compress, the two figures differ by their seeds only.
    let least = match record.target.kind {
        TargetKind::Virtual => 0.02,
        TargetKind::Device | TargetKind::File => 0.0,
    };
    for (what, prefix) in compressible {
        let repeating = finished(&format!("{prefix}_repeating"));
        let incompressible = finished(&format!("{prefix}_incompressible"));
        if let (Some(repeating), Some(incompressible)) = (repeating, incompressible) {
            let ratio = incompressible.mb_per_s / repeating.mb_per_s;
            if (ratio - 1.0).abs() < least {
                continue;
            }
            notes.push(Note {
                about: "compressible-data".into(),
                text: format!(
                    "{} with incompressible data is {:.0} % of that with repeating data: {} and {} MB/s.",
                    capitalised(what),
                    ratio * 100.0,
                    three_digits(incompressible.mb_per_s),
                    three_digits(repeating.mb_per_s),
                ),
                value: Some(ratio),
            });
        }
    }
    if let Some(write) = finished("random_write_4k_qd3_incompressible") {
        let latency = write.latency_us;
        notes.push(Note {
            about: "latency".into(),
            text: format!(
                "Random write at QD 3 took {} on average, {} at the 99.99th percentile and {} at most.",
                time(latency.mean),
                time(latency.p9999),
                time(latency.max)
            ),
            value: Some(latency.max),
        });
    }
    record.notes.extend(notes);
}
