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
use fourcorners_record::{Data, Job, Note, Record, Until};
use fourcorners_words::time;

use super::difference::{MATTERS, Slower};
use super::used_state::used_state;
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
    if let Some(left_out) = scope.without_flash("The used state") {
        phases.push(left_out);
    } else if scope.quick {
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
    let used = [3, 32].map(|depth| {
        let fresh = format!("random_write_4k_qd{depth}_incompressible");
        let used = format!("{fresh}_used");
        used_state(record, &format!("slower-when-used-qd{depth}"), depth, [&fresh, &used])
    });
    let compressible = [
        ("slower-incompressible-random-write", "Random writes", "random_write_4k_qd3"),
        (
            "slower-incompressible-sequential-write",
            "Sequential writes",
            "sequential_write_128k_qd1",
        ),
    ]
    .map(|(id, what, prefix)| {
        let slower = Slower {
            id,
            claim: format!("{what} are slower with incompressible than with repeating data"),
            control: "the same job with data that repeats one byte",
            figures: [&format!("{prefix}_incompressible"), &format!("{prefix}_repeating")],
            of: "the rate with repeating data",
            threshold: MATTERS,
            open: None,
        };
        slower.verdict(record)
    });
    record.verdicts.extend(used.into_iter().chain(compressible).flatten());
    let finished = |name: &str| finished(record, name);
    let mut notes = Vec::new();
    if let Some(write) = finished("random_write_4k_qd3_incompressible") {
        let latency = write.latency_us;
        notes.push(Note {
            about: "latency".into(),
            text: format!(
                "Random writes at QD 3 took {} on average, {} at the 99.99th percentile and {} at most ({}, incompressible).",
                time(latency.mean),
                time(latency.p9999),
                time(latency.max),
                write.state
            ),
            value: Some(latency.max),
        });
    }
    record.notes.extend(notes);
}
