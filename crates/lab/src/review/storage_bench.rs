//! The storage bench: the published workloads, drawn by seed, replayed with think time on an empty
//! drive and on a full one.
//!
//! Each is shortened to the same number of I/Os in its published proportions; `trace replay
//! generated:NAME` replays the whole of one. What is in them is on their cards.

use fourcorners_drive::Nanos;
use fourcorners_record::note::note;
use fourcorners_record::{Record, Replay, ReplayFigure};
use fourcorners_trace::Composition;
use fourcorners_words::{percent, three_digits, time};

use super::replayed::fill;
use super::{ASSUMED_BYTES_PER_SECOND, Medium, Phase, Replayed, Scope};

pub(super) const METHOD: &str = "storage-bench";

/// I/Os of each trace.
const IOS: u64 = 200_000;
const QUICK_IOS: u64 = 2000;
/// Longest think time, as in the reviews.
const IDLE_CAP: Nanos = Nanos(25_000_000);

const EMPTY: &str = "storage_bench_empty";
const FULL: &str = "storage_bench_full";
const AS_FOUND: &str = "storage_bench_as_found";

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let (full, once) = match scope.medium {
        Medium::Ssd | Medium::Device => (FULL, None),
        Medium::HardDisk => {
            (AS_FOUND, Some("A hard disk is no different when it is full: replayed once."))
        }
        // Blocks that were never written would be read from memory.
        Medium::File => (FULL, Some("A file cannot be emptied: replayed once, full.")),
    };
    let mut phases = Vec::new();
    for composition in Composition::all() {
        if once.is_none() {
            phases.extend([Phase::Purge, replay(scope, composition, EMPTY)]);
        }
        phases.extend(fill(scope));
        phases.push(replay(scope, composition, full));
    }
    phases.extend(once.map(|why| Phase::LeftOut { why: why.into() }));
    phases
}

fn replay(scope: &Scope, composition: &Composition, figure: &'static str) -> Phase {
    let ios = scope.either(IOS, QUICK_IOS);
    let [read, written] = composition.expected_bytes(ios);
    let moved = (read + written) as f64 / ASSUMED_BYTES_PER_SECOND;
    Phase::Replay(Box::new(Replayed {
        name: composition.name.into(),
        title: composition.title.into(),
        figure,
        trace: format!("generated:{}", composition.name),
        ios: Some(ios),
        seed: scope.seed,
        idle_cap: IDLE_CAP,
        space_bytes: scope.whole(),
        expected: (written, composition.expected_think_s(ios, IDLE_CAP) + moved),
    }))
}

pub(super) fn conclude(record: &mut Record) {
    let said: Vec<_> = record.replays.values().filter_map(said).collect();
    record.notes.extend(said);
}

/// What a trace came to.
fn said(replay: &Replay) -> Option<fourcorners_record::Note> {
    let figure = |name: &str| replay.figures.get(name).filter(|figure| figure.complete);
    let title = replay.title.as_deref().unwrap_or(&replay.card.trace);
    let about = |figure: &ReplayFigure| {
        let took = time(figure.all.service_us);
        format!("an I/O takes {took}, and {} more than 10 ms", percent(figure.all.over_10_ms))
    };
    let full = figure(FULL).or_else(|| figure(AS_FOUND))?;
    Some(match figure(EMPTY).filter(|empty| empty.mb_per_s > 0.0) {
        Some(empty) => {
            let kept = full.mb_per_s / empty.mb_per_s;
            let text = format!(
                "{title}: {} MB/s empty and {} full, {:.0} % of it. Full, {}.",
                three_digits(empty.mb_per_s),
                three_digits(full.mb_per_s),
                kept * 100.0,
                about(full)
            );
            note(METHOD, text, kept)
        }
        None => {
            let text = format!("{title}: {} MB/s; {}.", three_digits(full.mb_per_s), about(full));
            note(METHOD, text, full.mb_per_s)
        }
    })
}
