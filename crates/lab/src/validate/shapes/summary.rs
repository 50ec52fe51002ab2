//! Errors in sum: by kind of test, by path and by group of paths.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Compared, ShapeRow};
use crate::validate::{Standing, quantile};

/// Numbers whose errors say the same of a drive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathGroup {
    /// Rates, means and medians.
    RatesAndMedians,
    /// 90th to 99th percentiles.
    P90ToP99,
    /// 99.9th and 99.99th percentiles.
    P999AndP9999,
    /// Variation of a rate from one window to the next, and deviations.
    Variation,
    /// What is below the median, and the shortest and longest.
    Others,
}

impl PathGroup {
    /// In the order of a table.
    pub const ALL: [PathGroup; 5] = [
        PathGroup::RatesAndMedians,
        PathGroup::P90ToP99,
        PathGroup::P999AndP9999,
        PathGroup::Variation,
        PathGroup::Others,
    ];

    /// The group of a dotted path.
    pub fn of(path: &str) -> PathGroup {
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_string();
        if path.starts_with("iops_at_") {
            return PathGroup::RatesAndMedians;
        }
        match last(path).as_str() {
            "p50" | "mean_us" | "lat_mean_us" | "p50_second" => PathGroup::RatesAndMedians,
            "p90" | "p95" | "p99" => PathGroup::P90ToP99,
            "p999" | "p9999" => PathGroup::P999AndP9999,
            name if name.contains("cv_") => PathGroup::Variation,
            name if name.contains("iops") && !name.contains("min") && !name.contains("max") => {
                PathGroup::RatesAndMedians
            }
            "mb_per_s" | "gib_per_s" | "seqread_mb_per_s" | "seqwrite_mb_per_s" => {
                PathGroup::RatesAndMedians
            }
            _ => PathGroup::Others,
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            PathGroup::RatesAndMedians => "rates, means, medians",
            PathGroup::P90ToP99 => "p90 to p99",
            PathGroup::P999AndP9999 => "p99.9, p99.99",
            PathGroup::Variation => "variation",
            PathGroup::Others => "others",
        }
    }
}

/// Errors of the entries of one standing.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Part {
    /// Entries.
    pub entries: usize,
    /// Half of the absolute errors of a path are below it.
    pub median_abs_error: BTreeMap<String, f64>,
    /// The same of all numbers of a group.
    pub groups: BTreeMap<PathGroup, f64>,
    /// Numbers of a group that are within a factor of two of what was published, as a share.
    pub within_factor_two: BTreeMap<PathGroup, f64>,
}

/// A kind of test.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct KindSummary {
    /// Entries in the file.
    pub entries: usize,
    /// Those that were not run.
    pub not_run: usize,
    /// Those that the drive may have been fitted to.
    pub fitted: Part,
    /// Those of the drive alone that it may not have been fitted to.
    pub predicted: Part,
    /// Those that measure more than the drive, and are held to no bound.
    pub reported: Part,
}

impl KindSummary {
    /// Its entries by how they stand, and the word for that.
    pub fn parts(&self) -> [(&'static str, &Part); 3] {
        [("fitted", &self.fitted), ("predicted", &self.predicted), ("reported", &self.reported)]
    }
}

/// All kinds.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct ShapesSummary {
    /// By kind.
    pub by_kind: BTreeMap<String, KindSummary>,
    /// Entries in the file.
    pub entries: usize,
    /// Those that were run.
    pub run: usize,
    /// Of tests that were measured twice on drives of one model, by kind: how far the second is from the first, which no
    /// model can be asked to be nearer than. Their entries are pairs.
    pub measured_twice: BTreeMap<String, Part>,
}

impl ShapesSummary {
    pub(super) fn of(rows: &[ShapeRow]) -> ShapesSummary {
        let mut summary = ShapesSummary { entries: rows.len(), ..ShapesSummary::default() };
        let kinds: std::collections::BTreeSet<&String> = rows.iter().map(|row| &row.kind).collect();
        for kind in kinds {
            let of_kind: Vec<&ShapeRow> = rows.iter().filter(|row| row.kind == *kind).collect();
            let part = |standing: Standing, reported: bool| {
                let rows = of_kind.iter().copied();
                let rows = rows.filter(|row| (row.standing, row.reported) == (standing, reported));
                Part::of(rows.map(|row| &row.compared))
            };
            let not_run = of_kind.iter().filter(|row| row.standing == Standing::NotRun).count();
            summary.run += of_kind.len() - not_run;
            let of = KindSummary {
                entries: of_kind.len(),
                not_run,
                fitted: part(Standing::Fitted, false),
                predicted: part(Standing::Predicted, false),
                reported: part(Standing::Predicted, true),
            };
            summary.by_kind.insert(kind.clone(), of);
        }
        summary
    }
}

impl Part {
    pub(super) fn of<'a>(rows: impl Iterator<Item = &'a BTreeMap<String, Compared>>) -> Part {
        let mut part = Part::default();
        let mut by_path: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut by_group: BTreeMap<PathGroup, Vec<f64>> = BTreeMap::new();
        let mut near: BTreeMap<PathGroup, (usize, usize)> = BTreeMap::new();
        for row in rows {
            part.entries += 1;
            for (path, compared) in row {
                let Some(error) = compared.error else { continue };
                let group = PathGroup::of(path);
                by_path.entry(path.clone()).or_default().push(error.abs());
                by_group.entry(group).or_default().push(error.abs());
                let (inside, all) = near.entry(group).or_default();
                *inside += usize::from((-0.5..=1.0).contains(&error));
                *all += 1;
            }
        }
        let median = |mut errors: Vec<f64>| {
            errors.sort_by(f64::total_cmp);
            quantile(&errors, 0.5)
        };
        let of_path = by_path.into_iter().filter_map(|(path, e)| Some((path, median(e)?)));
        part.median_abs_error = of_path.collect();
        let of_group = by_group.into_iter().filter_map(|(group, e)| Some((group, median(e)?)));
        part.groups = of_group.collect();
        let share = |(group, (inside, all)): (PathGroup, (usize, usize))| {
            (group, inside as f64 / all as f64)
        };
        part.within_factor_two = near.into_iter().map(share).collect();
        part
    }
}
