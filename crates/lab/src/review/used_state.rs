//! New against used: the random write of a purged drive and of one whose every LBA was written and
//! then randomly overwritten, as a pair and as the percentage that is kept (AnandTech 2009).

use fourcorners_drive::Geometry;
use fourcorners_record::{Job, Outcome, Record, Verdict};

use super::difference::{MATTERS, Slower, left_open};
use super::phase::preparation;
use super::{Medium, Phase, Scope};

pub(super) const METHOD: &str = "used-state";

const FRESH: &str = "random_write_4k_qd3_incompressible";
const USED: &str = "random_write_4k_qd3_incompressible_used";
const SPAN_BYTES: u64 = 8_000_000_000;
const SECONDS: u64 = 180;
const QUICK_SECONDS: u64 = 5;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    if let Some(left_out) = scope.without_flash("The used state") {
        return vec![left_out];
    }
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

/// The jobs that bring a new solid-state drive into the used state: filled, then overwritten at random.
pub(crate) fn wear_in(geometry: Geometry) -> Vec<Job> {
    let scope = Scope::whole_of(geometry, Medium::Ssd);
    let whole = scope.whole();
    preparation(&[scope.fill("filled", whole), scope.torture(whole)])
}

pub(super) fn conclude(record: &mut Record) {
    record.verdicts.extend(used_state(record, "slower-when-used", 3, [FRESH, USED]));
}

/// Whether a drive is slower when it is used, by two figures at this queue depth.
pub(super) fn used_state(
    record: &Record,
    id: &str,
    depth: u32,
    [fresh, used]: [&str; 2],
) -> Option<Verdict> {
    // What cannot be purged was never fresh.
    let open = record.figures.get(fresh).filter(|figure| figure.state != "fresh").map(|figure| {
        format!("the drive could not be purged: its state was \"{}\", not fresh", figure.state)
    });
    let slower = Slower {
        id,
        claim: format!(
            "Random writes at QD {depth} are slower in the used state than in the fresh state"
        ),
        control: "the same job on the purged drive",
        figures: [used, fresh],
        of: "the fresh rate",
        threshold: MATTERS,
        open,
    };
    let verdict = slower.verdict(record)?;
    let too_little = "a quick review writes too little to bring a drive into its used state";
    Some(if record.quick { left_open(verdict, &[Outcome::No], too_little) } else { verdict })
}
