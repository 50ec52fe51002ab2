//! Curves of several sides, over the places that all of them reach.

use fourcorners_record::{Curve, Record};
use serde::Serialize;

use super::measure::Measure;

/// A curve of all sides that have it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CurveRow {
    /// The method's name.
    pub method: String,
    /// The curve's name.
    pub curve: String,
    /// What was varied, with its unit.
    pub x: String,
    /// What was measured, with its unit.
    pub y: String,
    /// From where to where all of the sides have it: what follows is of this part.
    pub over: (f64, f64),
    /// Of each side in their order; none where it was not measured.
    pub sides: Vec<Option<CurveCell>>,
}

/// A curve of one side.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CurveCell {
    /// How many results it is of.
    pub repeats: usize,
    /// Mean along the part that all have.
    pub mean: Measure,
    /// Lowest point there.
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// Where it is lowest against the first side, and highest; none of the first side itself, and where
    /// that is zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<(Against, Against)>,
}

/// A place of a curve, and how it stands there to that of the first side.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Against {
    /// The place, in the unit of what was varied.
    pub at: f64,
    /// Its value there over that of the first side.
    pub ratio: f64,
}

/// What makes curves comparable: name and units.
pub(super) type Key = [String; 3];

/// The points of a curve that are numbers, from left to right.
pub(super) type Points = Vec<(f64, f64)>;

/// The curves of a record; those of a single point are figures.
pub(super) fn curves(record: &Record) -> Vec<(Key, Points)> {
    let points = |curve: &Curve| -> Points {
        let finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
        let mut points: Points = curve.points.iter().filter(finite).copied().collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by_key(|point| point.0);
        points
    };
    let all = record
        .curves
        .iter()
        .map(|(name, curve)| ([name.clone(), curve.x.clone(), curve.y.clone()], points(curve)));
    all.filter(|(_, points)| points.len() > 1).collect()
}

/// The row of these curves; none if they have no part in common.
pub(super) fn row(method: &str, [curve, x, y]: &Key, sides: &[Vec<Points>]) -> Option<CurveRow> {
    let all = || sides.iter().flatten();
    let from = all().map(|points| points[0].0).fold(f64::MIN, f64::max);
    let to = all().map(|points| points[points.len() - 1].0).fold(f64::MAX, f64::min);
    if from >= to {
        return None;
    }
    let parts: Vec<Vec<Points>> = sides
        .iter()
        .map(|curves| curves.iter().map(|points| part(points, from, to)).collect())
        .collect();
    let means = |curves: &[Points]| curves.iter().map(mean).collect::<Vec<f64>>();
    let base = &parts[0];
    let cell = |(place, curves): (usize, &Vec<Points>)| {
        let own = curves.first()?;
        let (against, base_means) = match (place, base.first()) {
            (1.., Some(first)) => (extremes(own, first), means(base)),
            _ => (None, Vec::new()),
        };
        let values = || curves.iter().flatten().map(|point| point.1);
        Some(CurveCell {
            repeats: curves.len(),
            mean: Measure::of(&means(curves), &base_means),
            low: values().fold(f64::INFINITY, f64::min),
            high: values().fold(f64::NEG_INFINITY, f64::max),
            against,
        })
    };
    let sides = parts.iter().enumerate().map(cell).collect();
    let (method, curve, x, y) = (method.into(), curve.clone(), x.clone(), y.clone());
    Some(CurveRow { method, curve, x, y, over: (from, to), sides })
}

/// The value at a place between the ends, on the straight line between its neighbours.
fn at(points: &Points, x: f64) -> f64 {
    let after = points.partition_point(|point| point.0 < x).clamp(1, points.len() - 1);
    let ((x0, y0), (x1, y1)) = (points[after - 1], points[after]);
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}

/// The part of a curve between two places within it.
fn part(points: &Points, from: f64, to: f64) -> Points {
    let inside = points.iter().filter(|(x, _)| from < *x && *x < to).copied();
    let ends = |x| std::iter::once((x, at(points, x)));
    ends(from).chain(inside).chain(ends(to)).collect()
}

/// The mean along a curve: the area below it over its length.
fn mean(points: &Points) -> f64 {
    let area: f64 =
        points.windows(2).map(|it| (it[1].0 - it[0].0) * (it[0].1 + it[1].1) / 2.0).sum();
    area / (points[points.len() - 1].0 - points[0].0)
}

/// The lowest and the highest ratio of two curves, at the places of either.
fn extremes(own: &Points, base: &Points) -> Option<(Against, Against)> {
    let places = own.iter().chain(base).map(|point| point.0);
    let ratios = places.map(|x| Against { at: x, ratio: at(own, x) / at(base, x) });
    let ratios: Vec<Against> = ratios.filter(|it| it.ratio.is_finite()).collect();
    let by_ratio = |a: &&Against, b: &&Against| a.ratio.total_cmp(&b.ratio);
    let (low, high) = (ratios.iter().min_by(by_ratio)?, ratios.iter().max_by(by_ratio)?);
    Some((*low, *high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_compared_where_both_are() {
        // 100 falling to 50 over 0 to 100, and half of that from 20 to 120.
        let first: Points =
            (0..=10).map(|i| (f64::from(i) * 10.0, 100.0 - 5.0 * f64::from(i))).collect();
        let second: Points = vec![(20.0, 45.0), (100.0, 25.0), (120.0, 1000.0)];
        let key = ["a".to_string(), "x".into(), "y".into()];
        let found = row("m", &key, &[vec![first.clone()], vec![second]]).expect("20 to 100");
        assert_eq!(found.over, (20.0, 100.0));
        let [one, two] = &found.sides[..] else { panic!("two sides") };
        let (one, two) = (one.as_ref().expect("one"), two.as_ref().expect("two"));
        // Straight lines: the mean is half-way between the ends.
        assert!((one.mean.value - 70.0).abs() < 1e-9 && (two.mean.value - 35.0).abs() < 1e-9);
        assert_eq!((one.low, one.high, two.low, two.high), (50.0, 90.0, 25.0, 45.0));
        assert!((two.mean.ratio.expect("a ratio") - 0.5).abs() < 1e-12);
        let (low, high) = two.against.expect("the first has it");
        assert!((low.ratio - 0.5).abs() < 1e-12 && (high.ratio - 0.5).abs() < 1e-12);
        assert_eq!(one.against, None);
        assert!(row("m", &key, &[vec![first], vec![vec![(100.0, 1.0), (200.0, 1.0)]]]).is_none());
    }

    #[test]
    fn places_of_extremes_are_found() {
        let base: Points = vec![(0.0, 10.0), (10.0, 10.0)];
        let own: Points = vec![(0.0, 10.0), (4.0, 30.0), (7.0, 2.0), (10.0, 10.0)];
        let (low, high) = extremes(&own, &base).expect("numbers");
        assert_eq!((low.at, high.at), (7.0, 4.0));
        assert!((low.ratio - 0.2).abs() < 1e-12 && (high.ratio - 3.0).abs() < 1e-12);
        assert_eq!(extremes(&own, &vec![(0.0, 0.0), (10.0, 0.0)]), None);
    }
}
