//! The storage bench: the published workloads, drawn by seed, replayed with think time on an empty
//! drive and on a full one.
//!
//! On a virtual drive they are replayed as a whole, but for what is so long that nobody would wait for
//! it; on a real one, where think times last, they are shortened, in their published proportions. What is
//! in them is on their cards.

use fourcorners_drive::Nanos;
use fourcorners_record::{Note, Record, Replay, ReplayFigure};
use fourcorners_trace::Composition;
use fourcorners_words::{count, percent, three_digits, time};

use super::replayed::fill;
use super::{ASSUMED_BYTES_PER_SECOND, Medium, Phase, Replayed, Scope};
use crate::replay::{DISK_ONCE, FILE_ONCE};

pub(super) const METHOD: &str = "storage-bench";

/// On a virtual drive a trace of more I/Os is shortened to so many: that of 2013 has 49.8 million, a
/// minute and a half of computing.
const WHOLE_IOS: u64 = 11_000_000;
const VIRTUAL_IOS: u64 = 4_000_000;
/// I/Os of each trace on a real drive.
const REAL_IOS: u64 = 200_000;
const QUICK_IOS: u64 = 2000;
/// Longest think time, as in the reviews.
const IDLE_CAP: Nanos = Nanos(25_000_000);

const EMPTY: &str = "storage_bench_empty";
const FULL: &str = "storage_bench_full";
const AS_FOUND: &str = "storage_bench_as_found";

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let (full, once) = match scope.medium {
        Medium::Ssd | Medium::Device => (FULL, None),
        Medium::HardDisk => (AS_FOUND, Some(DISK_ONCE)),
        // Blocks that were never written would be read from memory.
        Medium::File => (FULL, Some(FILE_ONCE)),
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
    let ios = ios(scope, composition.ios());
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

/// How many I/Os of a trace of so many are replayed.
fn ios(scope: &Scope, whole: u64) -> u64 {
    let most = match (scope.most_ios, scope.medium) {
        (Some(most), _) => most,
        (None, _) if scope.quick => QUICK_IOS,
        (None, Medium::Ssd | Medium::HardDisk) if whole <= WHOLE_IOS => whole,
        (None, Medium::Ssd | Medium::HardDisk) => VIRTUAL_IOS,
        (None, Medium::Device | Medium::File) => REAL_IOS,
    };
    most.min(whole)
}

pub(super) fn conclude(record: &mut Record) {
    let said: Vec<_> =
        record.replays.iter().filter_map(|(name, replay)| said(name, replay)).collect();
    record.notes.extend(said);
}

/// What a trace came to.
fn said(name: &str, replay: &Replay) -> Option<Note> {
    let figure = |name: &str| replay.figures.get(name).filter(|figure| figure.complete);
    let title = replay.title.as_deref().unwrap_or(&replay.card.trace);
    let about = |figure: &ReplayFigure| {
        let took = time(figure.all.service_us);
        format!(
            "an I/O takes {took} on average, and {} take more than 10 ms",
            percent(figure.all.over_10_ms)
        )
    };
    let full = figure(FULL).or_else(|| figure(AS_FOUND))?;
    // What is kept of the rate of the empty drive; without that, the rate is among the figures.
    let (mut text, value) = match figure(EMPTY).filter(|empty| empty.mb_per_s > 0.0) {
        Some(empty) => {
            let kept = full.mb_per_s / empty.mb_per_s;
            let text = format!(
                "{title}: {} MB/s empty, {} MB/s full ({:.0} %); {}. Full, {}.",
                three_digits(empty.mb_per_s),
                three_digits(full.mb_per_s),
                kept * 100.0,
                longer(full.elapsed_s, empty.elapsed_s),
                about(full)
            );
            (text, Some(kept))
        }
        None => {
            let mb_per_s = full.mb_per_s;
            (format!("{title}: {} MB/s; {}.", three_digits(mb_per_s), about(full)), None)
        }
    };
    let whole = Composition::all().iter().find(|known| known.name == name).map(Composition::ios);
    let ios = replay.card.reads + replay.card.writes;
    if let Some(whole) = whole.filter(|&whole| ios < whole) {
        text += &format!(
            " Shortened to {} of its {} I/Os: --ios all replays them.",
            count(ios as f64),
            count(whole as f64)
        );
    }
    Some(Note { about: METHOD.into(), text, value })
}

/// How much later a full drive is done.
fn longer(full_s: f64, empty_s: f64) -> String {
    let minutes = (full_s - empty_s) / 60.0;
    let word = if minutes < 0.0 { "shorter" } else { "longer" };
    format!(
        "full, it takes {} minutes, {} {word}",
        three_digits(full_s / 60.0),
        three_digits(minutes.abs())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_drive::Geometry;

    #[test]
    fn virtual_drives_get_whole_traces_and_real_ones_as_much_as_is_asked() {
        let geometry = Geometry { sectors: 1 << 29, logical_block_bytes: 512, queue_depth: 32 };
        let scope = Scope::whole_of(geometry, Medium::Ssd);
        let heavy = 3_952_340;
        assert_eq!(ios(&scope, heavy), heavy);
        assert_eq!(ios(&scope, 49_800_000), VIRTUAL_IOS);
        assert_eq!(ios(&Scope { most_ios: Some(u64::MAX), ..scope }, 49_800_000), 49_800_000);
        let device = Scope { medium: Medium::Device, ..scope };
        assert_eq!(ios(&device, heavy), REAL_IOS);
        assert_eq!(ios(&Scope { most_ios: Some(1000), ..device }, heavy), 1000);
        assert_eq!(ios(&Scope { quick: true, ..scope }, heavy), QUICK_IOS);
    }
}
