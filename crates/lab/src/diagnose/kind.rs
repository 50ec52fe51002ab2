//! What kind of device answers: an SSD, a hard disk, memory, or one thing behind another.

use fourcorners_drive::Target;
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{median, quantile};

const READS: u64 = 1_000;
/// A read that takes less is of memory, microseconds: no link is that fast.
const MEMORY_US: f64 = 6.0;
/// The quickest reads of memory behind a file system and a kernel take up to 20 us, on a busy machine 30, and so do those of
/// a drive of very fast memory. On a machine that is slow to wake they take 70, which only its own memory says.
pub(crate) const FLASH_US: f64 = 40.0;
/// Reads of flash take longer than those of the machine's memory by this factor, as the ways to two devices differ (a file in
/// memory took 57 us where a block device of memory took 71), and as much more than that as the quickest flash, microseconds.
const WAYS_DIFFER: f64 = 1.5;
const FLASH_ALONE_US: f64 = 20.0;
/// What takes more has an arm to move or a disk to turn.
const MECHANICAL_US: f64 = 2_000.0;
/// The share of reads that are quickest: what disturbs the others, as a busy machine does, leaves them.
const QUICKEST: f64 = 0.05;
/// Where a cache lies in front of something slower, each of the two answers at least this share of the reads.
const LEAST_OF_LAYER: f64 = 0.1;
/// The slower one's median is at least this many times the cache's.
const LAYERS_DIFFER: f64 = 4.0;
/// Reads that a cache in front of something slower answers take less, microseconds.
const CACHED_US: f64 = 15.0;
/// What lies nearby may be in pages that are read faster, by a factor below this.
const PAGES_DIFFER: f64 = 1.6;
/// Bytes that lie near each other.
const NEAR: u64 = 16 << 20;
const LARGE: u64 = 64 << 10;

/// The series, in this order.
const ALL: [&str; 4] = [
    "read of 4 KiB in 16 MiB",
    "read of 4 KiB in what was written",
    "read of 4 KiB anywhere",
    "read of 64 KiB in what was written",
];
/// What a fifth is of, if a machine reads the target.
const OF_MEMORY: &str = "read of 4 KiB of the machine's memory";

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let all = probe.geometry().bytes();
    let spans = [NEAR.min(region.bytes), region.bytes, all, region.bytes];
    let sizes = [UNIT, UNIT, UNIT, LARGE];
    let empty =
        |what| Series { what: format!("place of a {what}; microseconds"), samples: Vec::new() };
    let mut series: Vec<Series> = ALL.map(empty).into();
    let mut of_memory = Vec::new();
    // In turn, so that what changes with time is not taken for a span's.
    for read in 0..READS * ALL.len() as u64 {
        let which = read as usize % ALL.len();
        let start = if which == 2 { 0 } else { region.start };
        let place = start + probe.below(spans[which] / sizes[which]) * sizes[which];
        series[which].samples.push([place as f64, probe.read_us(place, sizes[which])?]);
        if which == 0 {
            of_memory.extend(probe.read_memory()?);
        }
    }
    if !of_memory.is_empty() {
        series.push(Series { samples: of_memory, ..empty(OF_MEMORY) });
    }
    Ok(series)
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    const KEY: &str = "kind";
    let (series, memory) = match series {
        [first @ .., memory] if first.len() == ALL.len() => (first, Some(memory)),
        _ => (series, None),
    };
    let [near, region, anywhere, large] = series else {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    };
    if series.iter().chain(memory).any(|series| series.samples.is_empty()) {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    }
    let times = |series: &Series| series.samples.iter().map(|[_, us]| *us).collect::<Vec<f64>>();
    let [near, region, anywhere, large] = [near, region, anywhere, large].map(times);
    let [middle_near, middle, middle_anywhere, middle_large] =
        [&near, &region, &anywhere, &large].map(|times| median(times));
    if let Some(finding) = layered(&region) {
        return vec![finding];
    }
    if middle_anywhere > MECHANICAL_US {
        // A disk turns: what lies on one track comes within a turn, evenly spread.
        let spread = quantile(&anywhere, 0.9) - quantile(&anywhere, 0.1);
        if spread > MECHANICAL_US && middle_anywhere > 1.2 * middle_near {
            let reason = format!(
                "a read anywhere takes {:.1} ms, spread over {:.1}, and one nearby {:.1}",
                middle_anywhere / 1e3,
                spread / 1e3,
                middle_near / 1e3
            );
            return vec![Finding::class(KEY, "disk", reason)];
        }
        let reason =
            "reads take milliseconds, but near and far the same: no arm moves, no disk turns";
        return vec![Finding::undetermined(KEY, reason)];
    }
    let same = |one: f64, other: f64| (one / other - 1.0).abs() < 0.1;
    if middle < MEMORY_US {
        if same(middle_near, middle) && same(middle_anywhere, middle) {
            let reason = format!(
                "a read takes {middle:.1} us wherever it is, which is less than a link takes"
            );
            return vec![Finding::class(KEY, "memory", reason)];
        }
        let reason = "reads are as fast as memory's, but differ by place";
        return vec![Finding::undetermined(KEY, reason)];
    }
    let quickest = quantile(&region, QUICKEST);
    if quickest < FLASH_US {
        let reason = format!(
            "the quickest reads take {quickest:.1} us: memory behind something slow, or a drive of very fast memory"
        );
        return vec![Finding::undetermined(KEY, reason)];
    }
    let of_memory = memory.map(|memory| quantile(&times(memory), QUICKEST));
    if let Some(memory) = of_memory {
        let least = WAYS_DIFFER * memory + FLASH_ALONE_US;
        if quickest < least {
            let reason = format!(
                "the quickest reads take {quickest:.1} us, and those of this machine's memory {memory:.1}: on it flash is told from {least:.0} us on"
            );
            return vec![Finding::undetermined(KEY, reason)];
        }
    }
    // Pages of a cell differ by less than that, and a cache in front of something slower by more.
    if !(1.0 / PAGES_DIFFER..PAGES_DIFFER).contains(&(middle / middle_near)) {
        let reason =
            format!("reads take {middle_near:.0} us nearby and {middle:.0} us further away");
        return vec![Finding::undetermined(KEY, reason)];
    }
    if same(middle_large, middle) {
        let reason =
            "a read takes the same whatever its size and place: no drive that moves data does";
        return vec![Finding::undetermined(KEY, reason)];
    }
    let than = match of_memory {
        Some(memory) => format!("memory behind this kernel ({memory:.0} us)"),
        None => "memory behind a kernel".into(),
    };
    let reason = format!(
        "a read takes {middle:.0} us near and far, and {middle_large:.0} us of 64 KiB: longer than {than}, with nothing that moves"
    );
    vec![Finding::class(KEY, "ssd", reason)]
}

/// Some reads are of memory and the others of something slower: two groups, and not one with a few that are late.
fn layered(us: &[f64]) -> Option<Finding> {
    let (quick, slow): (Vec<f64>, Vec<f64>) = us.iter().partition(|us| **us < CACHED_US);
    let share = quick.len() as f64 / us.len() as f64;
    if !(LEAST_OF_LAYER..=1.0 - LEAST_OF_LAYER).contains(&share) {
        return None;
    }
    let [quick, slow] = [quick, slow].map(|us| median(&us));
    let differ = slow > LAYERS_DIFFER * quick.max(CACHED_US);
    differ.then(|| {
        let reason = format!(
            "{:.0} % of the reads of what was written take {quick:.1} us and the others {slow:.0}: memory in front of something slower",
            100.0 * share
        );
        Finding::class("kind", "layered", reason)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disturbed::Random;

    /// What is said if a read takes as long as `us` says of a number by chance between 0 and 1, and one of 64 KiB half as long
    /// again.
    fn kind(seed: u64, us: impl Fn(f64) -> f64) -> Option<String> {
        estimate(&series(seed, us))[0].as_class().map(String::from)
    }

    fn series(seed: u64, us: impl Fn(f64) -> f64) -> Vec<Series> {
        let mut random = Random(seed);
        let of = |what: &str| {
            let longer = if what.contains("64 KiB") { 1.5 } else { 1.0 };
            let mut one = || us(random.next() as f64 / u64::MAX as f64) * longer;
            let samples = (0..READS).map(|place| [place as f64, one()]).collect();
            Series { what: what.into(), samples }
        };
        ALL.map(of).into()
    }

    /// The same on a machine whose memory is read in `memory` microseconds and up to 10 % more.
    fn kind_beside(memory: f64, us: f64) -> Option<String> {
        let all = series(1, |chance| us * (1.0 + 0.1 * chance));
        let memory = series(2, |chance| memory * (1.0 + 0.1 * chance)).into_iter().take(1);
        estimate(&all.into_iter().chain(memory).collect::<Vec<_>>())[0].as_class().map(String::from)
    }

    #[test]
    fn what_reads_of_the_machines_own_memory_take_is_no_ssds() {
        // As measured of a file in memory and a block device of memory on a virtual machine that is slow to wake.
        for (memory, us) in [(57.0, 57.0), (57.0, 71.0), (60.0, 66.0), (150.0, 200.0)] {
            assert_eq!(kind_beside(memory, us), None, "{us} us beside {memory}");
        }
        for (memory, us) in [(3.0, 60.0), (15.0, 60.0), (57.0, 117.0), (150.0, 300.0)] {
            assert_eq!(kind_beside(memory, us).as_deref(), Some("ssd"), "{us} us beside {memory}");
        }
        // Without a machine's memory the same times are an SSD's: those of a model, which no machine reads.
        assert_eq!(kind(1, |chance| 57.0 + chance).as_deref(), Some("ssd"));
    }

    #[test]
    fn memory_behind_a_kernel_is_no_ssd_however_busy_the_machine() {
        for seed in 1..=20 {
            // As measured of a file in memory: from 17 us on, and from 25 on with a busy machine's tail of milliseconds.
            assert_eq!(kind(seed, |chance| 17.0 + 4.0 * chance), None, "seed {seed}");
            let busy = |chance: f64| 25.0 + 8.0 * chance + if chance > 0.9 { 3e3 } else { 0.0 };
            assert_eq!(kind(seed, busy), None, "seed {seed}");
            // Some quicker than 15 us, and the others late.
            let near = |chance: f64| 13.0 + 5.0 * chance + if chance > 0.93 { 3e3 } else { 0.0 };
            assert_eq!(kind(seed, near), None, "seed {seed}");
            let flash = |chance: f64| 60.0 + 10.0 * chance;
            assert_eq!(kind(seed, flash).as_deref(), Some("ssd"), "seed {seed}");
        }
    }

    #[test]
    fn memory_in_front_of_something_slower_is_told_by_two_groups() {
        let of = |cached: f64| kind(1, |chance| if chance < cached { 9.0 } else { 90.0 });
        assert_eq!(of(0.5).as_deref(), Some("layered"));
        assert_eq!(of(0.2).as_deref(), Some("layered"));
        assert_ne!(of(0.01).as_deref(), Some("layered"));
        assert_ne!(of(0.97).as_deref(), Some("layered"));
    }
}
