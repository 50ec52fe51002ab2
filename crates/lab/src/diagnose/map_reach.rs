//! How much of the drive the map in its memory reaches: from which span on random reads become slower.

use fourcorners_drive::{Geometry, Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped, bytes_of_a_fill};
use super::region::UNIT;
use super::statistics::{capped_mean, quantile};

/// Spans between one and its double.
const STEPS: i32 = 4;
const SMALLEST: u64 = 16 << 20;
/// Reads of a span before it is measured at most, and measured.
const WARM: u64 = 20_000;
const READS: u64 = 3_000;
/// A read counts as this many times the slowest tenth of those anywhere at most: what is later is the host's.
const LATEST: f64 = 2.0;
/// What was written last is moved to where it stays meanwhile.
const REST: Nanos = Nanos(60_000_000_000);
/// A read of the map costs so much of a read at least.
const LEAST_COST: f64 = 0.03;
/// The logarithm of the likelihood falls by half of this at the ends of an interval of 95 %.
const CHI_SQUARED: f64 = 3.84;

/// Between one reach that is tried and the next, a factor.
const GRID: f64 = 1.005;
/// A map is held by the page, whose last one is read less often: a quarter of what one of 16 KiB maps, bytes.
const PART_OF_A_PAGE: f64 = 4.0 * 1024.0 * 1024.0;

/// Bytes that are written: all of it.
pub(super) fn bytes(geometry: Geometry) -> u64 {
    bytes_of_a_fill(geometry)
}

fn spans(geometry: Geometry) -> Vec<u64> {
    let all = bytes(geometry);
    let mut spans: Vec<u64> = (0..)
        .map(|step| (SMALLEST as f64 * 2_f64.powf(f64::from(step) / f64::from(STEPS))) as u64)
        .take_while(|span| *span < all)
        .collect();
    spans.push(all);
    spans
}

pub(super) fn measure<T: Target>(probe: &mut Probe<'_, T>) -> Result<Vec<Series>, Stopped> {
    let geometry = probe.geometry();
    probe.flush()?;
    let all = probe.fill()?;
    probe.flush()?;
    probe.idle(REST)?;
    // What a read takes at most: leaving the latest out would leave out the rarest reads of the map.
    let units = all / UNIT;
    let mut anywhere = Vec::with_capacity(READS as usize);
    for _ in 0..READS {
        let unit = probe.below(units);
        anywhere.push(probe.read_us(unit * UNIT, UNIT)?);
    }
    let most = LATEST * quantile(&anywhere, 0.9);
    // Twice, in an order by chance: what changes with time is not taken for a span's.
    let mut spans = spans(geometry).repeat(2);
    probe.shuffle(&mut spans);
    let mut samples = Vec::new();
    let mut errors = Vec::new();
    for span in spans {
        let units = span / UNIT;
        for _ in 0..WARM.min(3 * units) {
            let unit = probe.below(units);
            probe.read_us(unit * UNIT, UNIT)?;
        }
        let mut times = Vec::with_capacity(READS as usize);
        for _ in 0..READS {
            let unit = probe.below(units);
            times.push(probe.read_us(unit * UNIT, UNIT)?);
        }
        let (mean, error) = capped_mean(&times, most);
        samples.push([span as f64, mean]);
        errors.push([span as f64, error]);
    }
    Ok(vec![
        Series {
            what: "bytes of the span; microseconds of a random read of 4 KiB in it".into(),
            samples,
        },
        Series {
            what: "bytes of the span; standard error of the microseconds".into(),
            samples: errors,
        },
    ])
}

/// The squares that are left, in standard errors, and the time of a read of the map, if `reach` bytes are mapped in memory.
fn fit(samples: &[[f64; 2]], weights: &[f64], reach: f64) -> (f64, f64, f64) {
    let missed = |span: f64| (1.0 - reach / span).max(0.0);
    let (mut w, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (&[span, us], &weight) in samples.iter().zip(weights) {
        let miss = missed(span);
        w += weight;
        x += weight * miss;
        y += weight * us;
        xx += weight * miss * miss;
        xy += weight * miss * us;
    }
    let spread = w * xx - x * x;
    let slope = if spread > 0.0 { (w * xy - x * y) / spread } else { 0.0 };
    let level = (y - slope * x) / w;
    let left = samples
        .iter()
        .zip(weights)
        .map(|(&[span, us], &weight)| weight * (us - level - slope * missed(span)).powi(2));
    (left.sum(), level, slope)
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    const KEY: &str = "map_reach_gib";
    let [samples, errors] = series else {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    };
    let gib = |bytes: f64| bytes / f64::from(1 << 30);
    let samples = &samples.samples;
    let all = samples.iter().map(|[span, _]| *span).fold(0.0, f64::max);
    let least = samples.iter().map(|[span, _]| *span).fold(f64::INFINITY, f64::min);
    if least < 1.0 {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    }
    // Of times without noise a thousandth counts as noise: a line is no more exact than that.
    let weights: Vec<f64> = samples
        .iter()
        .zip(&errors.samples)
        .map(|([_, us], [_, error])| 1.0 / (error.powi(2) + (1e-3 * us).powi(2)).max(1e-12))
        .collect();
    let count = samples.len() as f64;
    let (flat, level, _) = fit(samples, &weights, f64::INFINITY);
    let grid: Vec<f64> =
        (0..).map(|step| least * GRID.powi(step)).take_while(|reach| *reach < all).collect();
    let fits: Vec<(f64, f64, f64)> =
        grid.iter().map(|reach| fit(samples, &weights, *reach)).collect();
    let best = (0..grid.len()).min_by(|one, other| fits[*one].0.total_cmp(&fits[*other].0));
    let Some(best) = best else {
        return vec![Finding::undetermined(KEY, "the target is too small")];
    };
    let (left, fast, cost) = fits[best];
    // How much larger than their errors the differences from the best line are.
    let scale = (left / (count - 3.0)).max(1.0);
    if (flat - left) / scale < 25.0 || cost < LEAST_COST * fast {
        let reason = format!(
            "random reads take {level:.1} us in any span: all of the map is at hand, or reading it costs nothing"
        );
        return vec![Finding::at_least(KEY, gib(all), "GiB", reason)];
    }
    if scale > 9.0 {
        let reason =
            "reads become slower with the span, but not as they do beyond the end of a map";
        return vec![Finding::undetermined(KEY, reason)];
    }
    let inside: Vec<f64> = grid
        .iter()
        .zip(&fits)
        .filter(|(_, fit)| (fit.0 - left) / scale < CHI_SQUARED)
        .map(|(reach, _)| *reach)
        .collect();
    let (low, high) = (inside[0], inside[inside.len() - 1]);
    if best < 2 || low <= grid[1] || high >= 0.98 * all {
        let reason = "the end of the map lies at the end of what was read";
        return vec![Finding::undetermined(KEY, reason)];
    }
    let reason = format!(
        "random reads take {fast:.1} us up to that span and {:.1} us in the largest: a read of the map takes {cost:.1} us",
        fast + cost * (1.0 - grid[best] / all)
    );
    let interval = [gib(low / GRID - PART_OF_A_PAGE), gib(high * GRID + PART_OF_A_PAGE)];
    vec![Finding::number(KEY, gib(grid[best]), "GiB", interval).because(reason)]
}

#[cfg(test)]
mod tests {
    use fourcorners_record::diagnosis::{Standing, Value};

    use super::*;
    use crate::disturbed::Random;

    const GIB: f64 = (1 << 30) as f64;

    /// What is found where a read in a span takes as long as `us` says, and a thousandth more or less.
    fn found(us: impl Fn(f64) -> f64) -> Finding {
        let mut random = Random(7);
        let mut chance = || random.next() as f64 / u64::MAX as f64 - 0.5;
        let spans = (0..).map(|step| SMALLEST as f64 * 2_f64.powf(f64::from(step) / 4.0));
        let spans: Vec<f64> = spans.take_while(|span| *span <= 16.0 * GIB).collect();
        let twice = spans.repeat(2);
        let of = |samples: Vec<[f64; 2]>| Series { what: String::new(), samples };
        let times = twice.iter().map(|span| [*span, us(*span) * (1.0 + 2e-3 * chance())]).collect();
        let errors = twice.iter().map(|span| [*span, 1e-3 * us(*span)]).collect();
        estimate(&[of(times), of(errors)]).remove(0)
    }

    /// Times of a drive that maps `reach` bytes in memory: further on, some reads need a read of the map.
    fn of_reach(reach: f64, cost: f64) -> impl Fn(f64) -> f64 {
        move |span| 80.0 + cost * (1.0 - reach / span).max(0.0)
    }

    #[test]
    fn the_reach_is_where_reads_begin_to_need_the_map() {
        for reach in [0.1, 0.5, 2.0, 8.0] {
            let finding = found(of_reach(reach * GIB, 60.0));
            let [low, high] = finding.interval.unwrap_or_else(|| panic!("{reach}: {finding:?}"));
            assert_eq!(finding.standing, Standing::Determined, "{reach}");
            assert!(
                (low..=high).contains(&reach) && high - low < 0.1 * reach + 0.01,
                "{finding:?}"
            );
        }
    }

    #[test]
    fn where_all_is_mapped_or_a_read_of_it_costs_nothing_there_is_a_bound() {
        for finding in
            [found(|_| 80.0), found(of_reach(GIB, 1.0)), found(of_reach(64.0 * GIB, 60.0))]
        {
            assert_eq!(finding.standing, Standing::Bound, "{finding:?}");
            assert!(matches!(finding.value, Some(Value::Number(gib)) if gib > 13.0), "{finding:?}");
        }
    }

    #[test]
    fn what_grows_with_the_span_in_another_way_has_no_reach() {
        // As of an arm that moves further, of a cache of many sizes, and of a step.
        let step = |span: f64| if span > GIB { 140.0 } else { 80.0 };
        let others: [&dyn Fn(f64) -> f64; 3] = [
            &|span| 80.0 + 60.0 * (span / (16.0 * GIB)).sqrt(),
            &|span| 80.0 + 10.0 * (span / SMALLEST as f64).log2(),
            &step,
        ];
        for other in others {
            let finding = found(other);
            assert_eq!(finding.standing, Standing::Undetermined, "{finding:?}");
        }
        assert_eq!(estimate(&[])[0].standing, Standing::Undetermined);
    }
}
