//! Drives against each other: the figures they have in common, their ratios, how sure these are, and
//! which of them make no difference.
//!
//! All ratios are to the first side. Results in virtual and in wall time may stand side by side, and
//! say so: one comes from a model, the other from hardware.

mod cell;
mod sides;
mod stats;

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Serialize;

use crate::record::{ClockName, Document, Record};

pub use cell::{Cell, Measure};
pub use sides::{Side, sides};
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
    /// Ratios up to this share from 1 do not matter.
    pub no_matter: f64,
    /// The figures that two sides or more have, by method.
    pub figures: Vec<Row>,
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
    /// Compares sides with the first of them, in these methods; in all if none are given. A side without
    /// records is left out.
    pub fn of(sides: &[Side], methods: &[String]) -> Comparison {
        let sides: Vec<&Side> = sides.iter().filter(|side| !side.records.is_empty()).collect();
        let wanted = |record: &&Record| methods.is_empty() || methods.contains(&record.method);
        let mut names: Vec<(&str, Cow<'_, str>)> = Vec::new();
        let mut places: HashMap<(&str, Cow<'_, str>), usize> = HashMap::new();
        let mut table: Vec<Vec<Vec<cell::Value<'_>>>> = Vec::new();
        for (place, side) in sides.iter().enumerate() {
            for record in side.records.iter().filter(wanted) {
                for value in cell::values(record) {
                    let key = (record.method.as_str(), value.name.clone());
                    let row = *places.entry(key.clone()).or_insert_with(|| {
                        names.push(key);
                        table.push(vec![Vec::new(); sides.len()]);
                        names.len() - 1
                    });
                    table[row][place].push(value);
                }
            }
        }
        let rows = names.iter().zip(&table).map(|((method, figure), values)| Row {
            method: (*method).into(),
            figure: figure.to_string(),
            sides: cell::row(values),
        });
        let several = |row: &Row| row.sides.iter().flatten().count() > 1;
        let (mut figures, alone): (Vec<Row>, Vec<Row>) = rows.partition(several);
        // Methods in the order they first come, and the figures of each together.
        let first = |method: &str| names.iter().position(|(name, _)| *name == method);
        figures.sort_by_key(|row| first(&row.method));
        let about: Vec<About> = sides.iter().map(|side| side.about()).collect();
        Comparison {
            schema: SCHEMA,
            mixed_clocks: about.iter().any(|it| it.clock != about[0].clock),
            sides: about,
            confidence: CONFIDENCE,
            no_matter: NO_MATTER,
            figures,
            alone: alone.len(),
        }
    }
}

/// The sides as one document for a page: of each method the record that stands for it, without its
/// repeats.
pub fn document(sides: &[Side], methods: &[String]) -> Document {
    let mut records = Vec::new();
    for side in sides {
        let mut seen: Vec<&str> = Vec::new();
        for record in &side.records {
            let wanted = methods.is_empty() || methods.contains(&record.method);
            if wanted && !seen.contains(&record.method.as_str()) {
                seen.push(&record.method);
                records.push(record.clone());
            }
        }
    }
    Document::new(records)
}
