//! TRIM under load: what a host that reads 4 KiB at a time sees of a large TRIM. Latency of the reads
//! for ten seconds before it, for ten that begin with it, and for ten after it.

use fourcorners_record::note::{finished, note};
use fourcorners_record::{Job, Record};
use fourcorners_run::trim::Range;
use fourcorners_words::time;

use super::trim_works::not_trimmed;
use super::{Phase, Scope};

pub(super) const METHOD: &str = "trim-under-load";

const BEFORE: &str = "random_read_4k_qd1_before_trim";
const DURING: &str = "random_read_4k_qd1_during_trim";
const AFTER: &str = "random_read_4k_qd1_after_trim";
const SECONDS: u64 = 10;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    if let Some(why) = not_trimmed(scope.medium) {
        return vec![Phase::LeftOut { why }];
    }
    let whole = scope.whole();
    // The first half is read, the second is trimmed.
    let half = super::scope::whole_blocks(whole / 2);
    let job = |figure: &str| -> Job { scope.seeded(figure, scope.random(100, 1, half, SECONDS)) };
    let measure = |figure: &str| Phase::Measure { figure: figure.into(), job: job(figure) };
    vec![
        Phase::Purge,
        scope.fill("filled", whole),
        measure(BEFORE),
        Phase::BesideTrim {
            figure: DURING.into(),
            job: job(DURING),
            range: Range { start_bytes: half, bytes: whole - half },
        },
        measure(AFTER),
    ]
}

pub(super) fn conclude(record: &mut Record) {
    let of = |name: &str| finished(record, name).map(|figure| figure.latency_us);
    let (Some(before), Some(during), Some(after)) = (of(BEFORE), of(DURING), of(AFTER)) else {
        return;
    };
    let words = |latency: fourcorners_record::Latency| {
        format!(
            "{} on average, {} at 99.9 %, {} at most",
            time(latency.mean),
            time(latency.p999),
            time(latency.max)
        )
    };
    let text = format!(
        "A 4 KiB read takes {} before a large TRIM, {} in the {SECONDS} s that begin with it, and {} \
         after it.",
        words(before),
        words(during),
        words(after)
    );
    record.notes.push(note("trim-under-load", text, during.max / before.max));
}
