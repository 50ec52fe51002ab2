//! What kind of device answers: an SSD, a hard disk, memory, or one thing behind another.

use fourcorners_drive::Target;
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{median, quantile};

const READS: u64 = 1_000;
/// A read that takes less is of memory, microseconds: no link is that fast. One that takes less than the second may be of a
/// drive of very fast memory, and one that takes more than the last has an arm to move or a disk to turn.
const MEMORY_US: f64 = 6.0;
const FLASH_US: f64 = 15.0;
const MECHANICAL_US: f64 = 2_000.0;
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

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let all = probe.geometry().bytes();
    let spans = [NEAR.min(region.bytes), region.bytes, all, region.bytes];
    let sizes = [UNIT, UNIT, UNIT, LARGE];
    let mut series = ALL.map(|what| Series {
        what: format!("place of a {what}; microseconds"),
        samples: Vec::new(),
    });
    // In turn, so that what changes with time is not taken for a span's.
    for read in 0..READS * ALL.len() as u64 {
        let which = read as usize % ALL.len();
        let start = if which == 2 { 0 } else { region.start };
        let place = start + probe.below(spans[which] / sizes[which]) * sizes[which];
        series[which].samples.push([place as f64, probe.read_us(place, sizes[which])?]);
    }
    Ok(series.into())
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    const KEY: &str = "kind";
    let [near, region, anywhere, large] = series else {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    };
    if [near, region, anywhere, large].iter().any(|series| series.samples.is_empty()) {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    }
    let times = |series: &Series| series.samples.iter().map(|[_, us]| *us).collect::<Vec<f64>>();
    let [near, region, anywhere, large] = [near, region, anywhere, large].map(times);
    let [middle_near, middle, middle_anywhere, middle_large] =
        [&near, &region, &anywhere, &large].map(|times| median(times));
    let fast = region.iter().filter(|us| **us < FLASH_US).count() as f64 / region.len() as f64;
    if (0.05..0.95).contains(&fast) && quantile(&region, 0.95) > 4.0 * FLASH_US {
        let reason = format!(
            "{:.0} % of the reads of what was written take less than {FLASH_US} us and others {:.0}: memory in front of something slower",
            100.0 * fast,
            quantile(&region, 0.95)
        );
        return vec![Finding::class(KEY, "layered", reason)];
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
    if middle < FLASH_US {
        let reason = format!(
            "a read takes {middle:.1} us: memory behind something slow, or a drive of very fast memory"
        );
        return vec![Finding::undetermined(KEY, reason)];
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
    let reason = format!(
        "a read takes {middle:.0} us near and far, and {middle_large:.0} us of 64 KiB: longer than memory, with nothing that moves"
    );
    vec![Finding::class(KEY, "ssd", reason)]
}
