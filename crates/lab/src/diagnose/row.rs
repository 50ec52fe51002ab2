//! Page and row of the flash: where in data written in order a read of two units takes longer.
//!
//! Data that is written in order fills a row of pages, one page on each plane of a die, then a row of the next die. A read
//! that lies in two pages of one row has both brought over the same wires; one that lies in two rows has two dies at work
//! for it. Where the borders inside of a row are tells the page, and where one is missing tells the row.

use fourcorners_drive::Target;

use super::finding::{Finding, Series};
use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{quantile, trimmed_mean};

/// Reads of two units each.
const READS: usize = 12_000;
/// The longest row, in units, and most pages in it.
const LONGEST: u64 = 64;
const MOST_PAGES: u64 = 8;
/// A pattern explains more than chance by so much: the F statistic, of some 200 patterns tried.
const LEAST_F: f64 = 40.0;
/// Another pattern counts that explains so much of what the best one does.
const LEAST_SHARE: f64 = 0.1;

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let mut samples = Vec::with_capacity(READS);
    for _ in 0..READS {
        let unit = probe.below(region.units() - 1);
        let us = probe.read_us(region.start + unit * UNIT, 2 * UNIT)?;
        samples.push([unit as f64, us]);
    }
    Ok(vec![Series { what: "first unit of 4 KiB of a read of two; microseconds".into(), samples }])
}

/// Which borders of units a pattern says are slow.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pattern {
    /// Units in a page.
    page: u64,
    /// Pages in a row; `None`: all borders of pages are slow, those of rows as well.
    pages: Option<u64>,
}

impl Pattern {
    fn all() -> impl Iterator<Item = Pattern> {
        let inner = (1..=LONGEST / 2).flat_map(|page| {
            let most = (LONGEST / page).min(MOST_PAGES);
            (2..=most).map(move |pages| Pattern { page, pages: Some(pages) })
        });
        inner.chain((2..=LONGEST).map(|page| Pattern { page, pages: None }))
    }

    /// Whether a read of two units from `unit` on crosses a slow border.
    fn is_slow(self, unit: u64) -> bool {
        let border = unit + 1;
        border.is_multiple_of(self.page)
            && self.pages.is_none_or(|pages| !border.is_multiple_of(self.page * pages))
    }
}

/// How a pattern fits: the levels, and the squares that it leaves.
#[derive(Clone, Copy, Debug)]
struct Fit {
    pattern: Pattern,
    fast: f64,
    slow: f64,
    rest: f64,
}

fn fit(pattern: Pattern, samples: &[[f64; 2]]) -> Option<Fit> {
    let mut of = [(0.0, 0.0, 0.0); 2];
    for &[unit, us] in samples {
        let (count, sum, squares) = &mut of[usize::from(pattern.is_slow(unit as u64))];
        (*count, *sum, *squares) = (*count + 1.0, *sum + us, *squares + us * us);
    }
    let rest = |(count, sum, squares): (f64, f64, f64)| (squares - sum * sum / count).max(0.0);
    let [fast, slow] = of;
    let enough = fast.0 >= 30.0 && slow.0 >= 30.0;
    enough.then(|| Fit {
        pattern,
        fast: fast.1 / fast.0,
        slow: slow.1 / slow.0,
        rest: rest(fast) + rest(slow),
    })
}

/// The best pattern of slow borders, and by how much it beats the best of those that say something else: both as F.
fn best(samples: &[[f64; 2]]) -> Option<(Fit, f64, f64)> {
    let fits: Vec<Fit> = Pattern::all()
        .filter_map(|pattern| fit(pattern, samples))
        .filter(|fit| fit.slow > fit.fast)
        .collect();
    let best = *fits.iter().min_by(|one, other| one.rest.total_cmp(&other.rest))?;
    let count = samples.len() as f64;
    let mean = samples.iter().map(|[_, us]| us).sum::<f64>() / count;
    let whole: f64 = samples.iter().map(|[_, us]| (us - mean).powi(2)).sum();
    // Times without any noise vary by a nanosecond.
    let variance = (best.rest / (count - 2.0)).max(1e-6);
    let second = fits
        .iter()
        .filter(|fit| fit.pattern != best.pattern)
        .map(|fit| fit.rest)
        .fold(f64::INFINITY, f64::min);
    Some((best, (whole - best.rest) / variance, (second - best.rest) / variance))
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let undetermined = |reason: &str| {
        ["page_bytes", "row_bytes"].map(|key| Finding::undetermined(key, reason)).to_vec()
    };
    let Some(series) = series.first() else { return undetermined("nothing was measured") };
    let times: Vec<f64> = series.samples.iter().map(|[_, us]| *us).collect();
    // What is very late is late for another reason.
    let (low, high) = (quantile(&times, 0.005), quantile(&times, 0.99));
    let samples: Vec<[f64; 2]> =
        series.samples.iter().map(|[unit, us]| [*unit, us.clamp(low, high)]).collect();
    let Some((found, gain, lead)) = best(&samples) else {
        return undetermined("no border of pages is seen: reads take the same wherever they begin");
    };
    let difference = found.slow - found.fast;
    if gain < LEAST_F || difference < 0.01 * found.fast {
        return undetermined("no border of pages is seen: reads take the same wherever they begin");
    }
    if lead < LEAST_F / 2.0 {
        return undetermined("more than one size of page fits the times");
    }
    // What is left must not follow another pattern of borders: the flash is not laid out as was thought then.
    let left: Vec<[f64; 2]> = samples
        .iter()
        .map(|[unit, us]| {
            let slow = found.pattern.is_slow(*unit as u64);
            [*unit, us - if slow { found.slow } else { found.fast }]
        })
        .collect();
    if let Some((_, other, _)) = best(&left)
        && other > LEAST_F
        && other > LEAST_SHARE * gain
    {
        return undetermined(
            "borders are slow in more than one way: data does not lie in rows as it was written",
        );
    }
    let (_, error) = trimmed_mean(&times, 0.01);
    let page = (found.pattern.page * UNIT) as f64;
    let reason = format!(
        "a read across a border every {} KiB takes {:.1} us instead of {:.1} (standard error {error:.2})",
        page / 1024.0,
        found.slow,
        found.fast,
    );
    let exactly = |key: &str, bytes: f64, reason: String| {
        Finding::number(key, bytes, "bytes", [bytes, bytes]).because(reason)
    };
    let row = match found.pattern.pages {
        Some(pages) => {
            let why =
                format!("every {pages}. border is as fast as none: there the next die begins");
            exactly("row_bytes", page * pages as f64, why)
        }
        None => Finding::undetermined(
            "row_bytes",
            "all borders of pages are alike: rows of one page, or dies that share their wires",
        ),
    };
    vec![exactly("page_bytes", page, reason), row]
}
