//! Compares drives: the figures, curves, seconds and conclusions that they have in common, their ratios,
//! confidence intervals, and which differences do not matter.
//!
//! A side is a drive set up one way on one clock; repeats differ in their seed and have the same job. All
//! ratios are to the first side that has something in common with another. Statistics are of logarithms, so
//! that a ratio is a difference. Figures,
//! curves (over the places that all sides reach), seconds and conclusions are rows of one kind (`rows.rs`).
//! Results in virtual and in wall time may stand side by side, and say so: one comes from a model, the
//! other from hardware.

mod cell;
mod conclusion;
mod course;
mod curve;
mod measure;
mod rows;
mod sides;
mod stats;

use fourcorners_record::{ClockName, Document};
use rows::gathered;
use serde::Serialize;

pub use cell::{Cell, is_repeat, same_work};
pub use conclusion::{ConclusionCell, ConclusionRow};
pub use course::{CourseCell, CourseRow};
pub use curve::{Against, CurveCell, CurveRow};
pub use measure::Measure;
pub use sides::{Side, distinct, shared, short_id, sides};
pub use stats::{CONFIDENCE, NO_MATTER};

/// The name and version of [`Comparison`] as a JSON document.
pub const SCHEMA: &str = "fourcorners.compare/1";

/// Several sides, figure by figure.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Who is compared, the one that ratios are to first.
    pub sides: Vec<About>,
    /// Whether virtual and wall time stand together.
    pub mixed_clocks: bool,
    /// How sure the intervals are, 0 to 1.
    pub confidence: f64,
    /// A factor of 1 plus this, either way, does not matter.
    pub no_matter: f64,
    /// The figures that two sides or more have, by method.
    pub figures: Vec<Row>,
    /// The curves that two sides or more have, by method, as far as they lie over one another.
    pub curves: Vec<CurveRow>,
    /// The figures that two sides or more have second by second, by method.
    pub courses: Vec<CourseRow>,
    /// What was concluded of two sides or more, by method.
    pub conclusions: Vec<ConclusionRow>,
    /// How many figures only one side has.
    pub alone: usize,
}

/// What one side is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct About {
    /// What it is called; no two are called the same.
    pub label: String,
    /// The drive's name.
    pub drive: String,
    /// Of which clock its times are.
    pub clock: ClockName,
    /// Whether it was measured with `--quick`.
    pub quick: bool,
    /// The ids of its records.
    pub ids: Vec<String>,
}

/// A figure of all sides.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The method's name.
    pub method: String,
    /// The figure's name.
    pub figure: String,
    /// Of each side in their order; none where it was not measured.
    pub sides: Vec<Option<Cell>>,
}

impl Comparison {
    /// Compares sides with the first of them that has something in common with another. A side without records is left out.
    pub fn of(sides: &[Side]) -> Comparison {
        let sides =
            with_a_base_first(sides.iter().filter(|side| !side.records.is_empty()).collect());
        let figures = gathered(&sides, |record| {
            cell::values(record).map(|value| (value.name.clone(), value))
        });
        let (figures, alone): (Vec<_>, Vec<_>) =
            figures.into_iter().partition(rows::Shared::by_several);
        let figures = figures.into_iter().map(|row| Row {
            sides: cell::row(&row.sides),
            method: row.method,
            figure: row.key.into_owned(),
        });
        let curves = gathered(&sides, curve::curves);
        let curves = curves.iter().filter(|row| row.by_several());
        let courses = gathered(&sides, course::courses);
        let courses = courses.iter().filter(|row| row.by_several());
        let conclusions = gathered(&sides, conclusion::conclusions);
        let conclusions = conclusions.iter().filter(|row| row.by_several());
        let about: Vec<About> = sides.iter().map(|side| side.about()).collect();
        Comparison {
            schema: SCHEMA,
            mixed_clocks: about.iter().any(|it| it.clock != about[0].clock),
            sides: about,
            confidence: CONFIDENCE,
            no_matter: NO_MATTER,
            figures: figures.collect(),
            curves: curves.filter_map(|it| curve::row(&it.method, &it.key, &it.sides)).collect(),
            courses: courses.map(|it| course::row(&it.method, &it.key, &it.sides)).collect(),
            conclusions: conclusions
                .map(|it| conclusion::row(&it.method, &it.key.about, &it.sides))
                .collect(),
            alone: alone.len(),
        }
    }

    /// The methods there is something of, in the order they come.
    pub fn methods(&self) -> Vec<&str> {
        let all = self.figures.iter().map(|row| &row.method);
        let all = all.chain(self.curves.iter().map(|row| &row.method));
        let all = all.chain(self.conclusions.iter().map(|row| &row.method));
        let mut methods: Vec<&str> = Vec::new();
        for method in all {
            if !methods.contains(&method.as_str()) {
                methods.push(method);
            }
        }
        methods
    }

    /// Whether there are numbers of a method, and not conclusions alone.
    pub fn has_numbers_of(&self, method: &str) -> bool {
        self.figures.iter().any(|row| row.method == method)
            || self.curves.iter().any(|row| row.method == method)
    }

    /// Whether the sides have anything in common.
    pub fn is_empty(&self) -> bool {
        self.figures.is_empty() && self.curves.is_empty()
    }
}

/// The sides with nothing but these methods; with all if none are given. A side without records is left out.
pub fn only(mut sides: Vec<Side>, methods: &[String]) -> Vec<Side> {
    for side in &mut sides {
        side.records.retain(|record| methods.is_empty() || methods.contains(&record.method));
    }
    sides.retain(|side| !side.records.is_empty());
    sides
}

/// The sides as one document for a page: of each method the record that stands for it, without its
/// repeats.
pub fn document(sides: &[Side]) -> Document {
    let mut records = Vec::new();
    for side in sides {
        let mut seen: Vec<&str> = Vec::new();
        for record in &side.records {
            if !seen.contains(&record.method.as_str()) {
                seen.push(&record.method);
                records.push(record.clone());
            }
        }
    }
    Document::new(records)
}

/// The sides in their order, but that those that have nothing in common with another come last: nothing is against them.
fn with_a_base_first(sides: Vec<&Side>) -> Vec<&Side> {
    fn shared<K, V>(rows: &[rows::Shared<K, V>], sides: usize) -> Vec<bool> {
        let several = || rows.iter().filter(|row| row.by_several());
        (0..sides).map(|place| several().any(|row| !row.sides[place].is_empty())).collect()
    }
    let figures = gathered(&sides, |record| cell::values(record).map(|value| (value.name, ())));
    let has = [
        shared(&figures, sides.len()),
        shared(&gathered(&sides, curve::curves), sides.len()),
        shared(&gathered(&sides, conclusion::conclusions), sides.len()),
    ];
    let mut places: Vec<usize> = (0..sides.len()).collect();
    places.sort_by_key(|place| !has.iter().any(|has| has[*place]));
    places.into_iter().map(|place| sides[place]).collect()
}
