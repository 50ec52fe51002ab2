//! New against used: the random write of a purged drive and of one whose every LBA was written and
//! then randomly overwritten, as a pair and as the percentage that is kept (AnandTech 2009).

use fourcorners_record::Record;
use fourcorners_record::note::{finished, note};
use fourcorners_words::three_digits;

use super::{Phase, Scope};

pub(super) const METHOD: &str = "used-state";

const FRESH: &str = "random_write_4k_qd3_incompressible";
const USED: &str = "random_write_4k_qd3_incompressible_used";
const SPAN_BYTES: u64 = 8_000_000_000;
const SECONDS: u64 = 180;
const QUICK_SECONDS: u64 = 5;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let whole = scope.whole();
    let seconds = scope.either(SECONDS, QUICK_SECONDS);
    let job = || scope.random(0, 3, scope.span(SPAN_BYTES), seconds);
    vec![
        Phase::Purge,
        scope.measure(FRESH, job()),
        Phase::Purge,
        scope.fill("filled", whole),
        scope.torture(whole),
        scope.measure(USED, job()),
    ]
}

pub(super) fn conclude(record: &mut Record) {
    let (Some(fresh), Some(used)) = (finished(record, FRESH), finished(record, USED)) else {
        return;
    };
    let kept = used.mb_per_s / fresh.mb_per_s;
    let text = format!(
        "{} -> {}: it keeps {:.0} % of its random write at QD 3 when it is used ({} MB/s {}, {} used).",
        three_digits(fresh.mb_per_s),
        three_digits(used.mb_per_s),
        kept * 100.0,
        three_digits(fresh.mb_per_s),
        // A target that cannot be purged was never fresh.
        fresh.state,
        three_digits(used.mb_per_s),
    );
    record.notes.push(note("used-state", text, kept));
}
