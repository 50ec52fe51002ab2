//! The figures in sum: medians, the 90th percentile, what holds.

use std::collections::BTreeMap;

use fourcorners_record::Pattern;
use serde::Serialize;

use super::figure::Figure;
use super::runs::Test;
use super::{Row, Standing};
use crate::statistic::Statistic;

/// How many figures are named as the worst.
const WORST: usize = 10;

/// The figures in sum. Errors are absolute and of absolute figures only.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Figures in the file.
    pub figures: usize,
    /// Those that were run.
    pub run: usize,
    /// Half of the errors are below it.
    pub median_abs_error: Option<f64>,
    /// Nine in ten are below it.
    pub p90_abs_error: Option<f64>,
    /// Orderings that hold.
    pub orderings_held: usize,
    /// Orderings that were run.
    pub orderings: usize,
    /// Ratios that hold.
    pub ratios_held: usize,
    /// Ratios that were run.
    pub ratios: usize,
    /// Bounds that hold.
    pub bounds_held: usize,
    /// Bounds that were run.
    pub bounds: usize,
    /// Of the figures that profiles were fitted to.
    pub fitted: Part,
    /// Of all others.
    pub predicted: Part,
    /// Tests that say more of a drive's latency than of its throughput; a figure may be in none.
    pub groups: Vec<GroupSummary>,
    /// By file of the catalogue.
    pub families: Vec<FamilySummary>,
    /// Ids of the figures with the largest errors, the largest first.
    pub worst: Vec<String>,
}

/// The errors of a part of the figures.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Part {
    /// Figures with an error.
    pub figures: usize,
    /// Half of them are below it.
    pub median_abs_error: Option<f64>,
    /// Nine in ten are below it.
    pub p90_abs_error: Option<f64>,
}

/// What kind of test a figure is of, as far as the summary tells it apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Random, one command at a time: a rate or a mean latency, which say the same.
    RandomQd1,
    /// Writes that are durable one by one.
    Sync,
}

impl Group {
    const ALL: [Group; 2] = [Group::RandomQd1, Group::Sync];

    /// That of an absolute figure.
    pub(super) fn of(test: &Test, statistic: Statistic) -> Option<Group> {
        let job = &test.job;
        let of_the_mean = matches!(
            statistic,
            Statistic::Iops | Statistic::MbPerS | Statistic::MibPerS | Statistic::MeanMs
        );
        if job.fua || job.flush {
            return Some(Group::Sync);
        }
        let one = job.pattern == Pattern::Random && job.in_flight() == 1;
        (one && of_the_mean).then_some(Group::RandomQd1)
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Group::RandomQd1 => "Random QD 1",
            Group::Sync => "Synchronous writes",
        }
    }
}

/// The errors of a group.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GroupSummary {
    /// Which.
    pub group: Group,
    /// Its errors.
    #[serde(flatten)]
    pub errors: Part,
}

/// The errors of the drives of one file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FamilySummary {
    /// The file.
    pub family: String,
    /// Its errors.
    #[serde(flatten)]
    pub errors: Part,
}

impl Part {
    fn of<'a>(rows: impl Iterator<Item = &'a Row>) -> Part {
        let mut errors: Vec<f64> = rows.filter_map(|row| row.error).map(f64::abs).collect();
        errors.sort_by(f64::total_cmp);
        Part {
            figures: errors.len(),
            median_abs_error: quantile(&errors, 0.5),
            p90_abs_error: quantile(&errors, 0.9),
        }
    }
}

impl Summary {
    pub(super) fn of(rows: &[Row], figures: &[Figure]) -> Summary {
        let all = Part::of(rows.iter());
        let standing = |standing| Part::of(rows.iter().filter(move |row| row.standing == standing));
        let held = |of: &dyn Fn(&Figure) -> bool| {
            let judged = rows.iter().zip(figures).filter(|(_, figure)| of(figure));
            let judged: Vec<bool> = judged.filter_map(|(row, _)| row.holds).collect();
            (judged.iter().filter(|holds| **holds).count(), judged.len())
        };
        let (orderings_held, orderings) = held(&|figure| figure.metric == "ordering");
        let (ratios_held, ratios) = held(&|figure| figure.metric == "ratio");
        let (bounds_held, bounds) =
            held(&|figure| !matches!(figure.metric.as_str(), "ordering" | "ratio"));
        let groups = Group::ALL.map(|group| GroupSummary {
            group,
            errors: Part::of(rows.iter().filter(|row| row.group == Some(group))),
        });
        let mut families: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.error.is_some()) {
            families.entry(&row.family).or_default().push(row);
        }
        let families = families.into_iter().map(|(family, rows)| FamilySummary {
            family: family.into(),
            errors: Part::of(rows.into_iter()),
        });
        let mut worst: Vec<&Row> = rows.iter().filter(|row| row.error.is_some()).collect();
        let size = |row: &Row| row.error.unwrap_or_default().abs();
        worst.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.id.cmp(&b.id)));
        Summary {
            figures: rows.len(),
            run: rows.iter().filter(|row| row.standing != Standing::NotRun).count(),
            median_abs_error: all.median_abs_error,
            p90_abs_error: all.p90_abs_error,
            orderings_held,
            orderings,
            ratios_held,
            ratios,
            bounds_held,
            bounds,
            fitted: standing(Standing::Fitted),
            predicted: standing(Standing::Predicted),
            groups: groups.into(),
            families: families.collect(),
            worst: worst.iter().take(WORST).map(|row| row.id.clone()).collect(),
        }
    }
}

/// The value that `share` of the sorted ones do not exceed, between two in proportion.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::super::figure::built_in;
    use super::super::names::Names;
    use super::super::question::{Question, ask};
    use super::{Group, quantile};

    #[test]
    fn groups_are_told_by_the_test_that_is_run() {
        let names = Names::new();
        let group = |id: &str| {
            let figure = built_in().into_iter().find(|it| it.id == id).expect("it is a figure");
            let Ok(Question::Value { test, statistic, .. }) =
                ask(&figure, &names).map(|asked| asked.question)
            else {
                panic!("{id} has no value")
            };
            Group::of(&test, statistic)
        };
        // At QD 1: a rate, a mean latency; a percentile, which is none of the mean; at QD 2, at QD 32.
        assert_eq!(group("n002"), Some(Group::RandomQd1));
        assert_eq!(group("n053"), Some(Group::RandomQd1));
        for id in ["n058", "n012", "n018", "n009"] {
            assert_eq!(group(id), None, "{id}");
        }
        assert_eq!(group("y001"), Some(Group::Sync));
    }

    #[test]
    fn a_quantile_lies_between_its_neighbours() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[3.0], 0.9), Some(3.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), Some(3.0));
        let nine: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!(quantile(&nine, 0.9), Some(9.0));
    }
}
