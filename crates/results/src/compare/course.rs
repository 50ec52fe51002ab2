//! Figures of several sides second by second: how they begin, how they end, how steady they are.

use fourcorners_record::{Record, Steadiness};
use serde::Serialize;

use super::measure::Measure;
use super::stats::NO_MATTER;

/// Fewest seconds that have a course: a tenth of them is a second then.
const FEWEST_SECONDS: usize = 10;

/// The course of a figure of all sides that have it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CourseRow {
    /// The method's name.
    pub method: String,
    /// The figure's name.
    pub figure: String,
    /// Of each side in their order; none where it was not measured.
    pub sides: Vec<Option<CourseCell>>,
}

/// The course of a figure on one side, I/Os per second.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CourseCell {
    /// How many results it is of.
    pub repeats: usize,
    /// How long it is, seconds; of repeats the shortest.
    pub seconds: usize,
    /// Mean of the first tenth.
    pub begin: Measure,
    /// Mean of the last tenth.
    pub end: Measure,
    /// 1st percentile of all seconds.
    pub p1: Measure,
    /// Coefficient of variation; of repeats the mean.
    pub variation: f64,
    /// Share of the seconds with less than half of their mean, 0 to 1; of repeats the mean.
    pub share_below_half: f64,
}

impl CourseRow {
    /// Whether there is nothing to see in it that the figure does not say.
    pub fn is_flat(&self) -> bool {
        let changes = |it: &CourseCell| (it.end.value / it.begin.value - 1.0).abs() > NO_MATTER;
        self.sides.iter().flatten().all(|it| it.variation <= NO_MATTER && !changes(it))
    }
}

/// What is compared of the seconds of one record.
pub(super) struct Course {
    begin: f64,
    end: f64,
    steadiness: Steadiness,
}

impl Course {
    /// Of these seconds; none of too few, and where nothing was done.
    fn of(iops: &[f64]) -> Option<Course> {
        let tenth = iops.len() / 10;
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let steadiness = Steadiness::of(iops).filter(|_| iops.len() >= FEWEST_SECONDS)?;
        let (begin, end) = (mean(&iops[..tenth]), mean(&iops[iops.len() - tenth..]));
        Some(Course { begin, end, steadiness })
    }
}

/// The courses of a record.
pub(super) fn courses(record: &Record) -> Vec<(String, Course)> {
    let all = record.series.iter();
    all.filter_map(|(name, series)| Some((name.clone(), Course::of(&series.iops_of_seconds())?)))
        .collect()
}

/// The row of these courses.
pub(super) fn row(method: &str, figure: &str, sides: &[Vec<Course>]) -> CourseRow {
    let cell = |(place, courses): (usize, &Vec<Course>)| {
        let against = if place > 0 { &sides[0][..] } else { &[] };
        let measure = |of: &dyn Fn(&Course) -> f64| {
            let all = |courses: &[Course]| courses.iter().map(of).collect::<Vec<f64>>();
            Measure::of(&all(courses), &all(against))
        };
        let mean = |of: &dyn Fn(&Steadiness) -> f64| {
            courses.iter().map(|it| of(&it.steadiness)).sum::<f64>() / courses.len() as f64
        };
        let seconds = courses.iter().map(|it| it.steadiness.seconds).min()?;
        Some(CourseCell {
            repeats: courses.len(),
            seconds: seconds as usize,
            begin: measure(&|it| it.begin),
            end: measure(&|it| it.end),
            p1: measure(&|it| it.steadiness.p1_iops),
            variation: mean(&|it| it.variation),
            share_below_half: mean(&|it| it.share_below_half),
        })
    };
    let sides = sides.iter().enumerate().map(cell).collect();
    CourseRow { method: method.into(), figure: figure.into(), sides }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(iops: &[f64]) -> Course {
        Course::of(iops).expect("it does something")
    }

    #[test]
    fn what_changes_from_second_to_second_is_not_flat() {
        let flat = || course(&[100.0; 50]);
        assert!(row("m", "f", &[vec![flat()], vec![flat()]]).is_flat());
        let falls = |low: f64| {
            let iops: Vec<f64> =
                (0..50).map(|second| if second < 25 { 100.0 } else { low }).collect();
            course(&iops)
        };
        assert!(row("m", "f", &[vec![flat()], vec![falls(97.0)]]).is_flat());
        let found = row("m", "f", &[vec![flat()], vec![falls(40.0), falls(40.0)]]);
        assert!(!found.is_flat());
        let second = found.sides[1].as_ref().expect("it is there");
        assert_eq!((second.repeats, second.seconds), (2, 50));
        let ratios = [&second.begin, &second.end, &second.p1].map(|it| it.ratio.expect("a ratio"));
        assert!(
            (ratios[0] - 1.0).abs() < 1e-12
                && ratios[1..].iter().all(|it| (it - 0.4).abs() < 1e-12)
        );
        assert_eq!((second.begin.matters, second.end.matters), (Some(false), Some(true)));
        assert_eq!(found.sides[0].as_ref().and_then(|it| it.end.ratio), None);
    }
}
