//! How far the virtual drives are from what was published, figure by figure, as a table that ships
//! with the program: from it, whoever shows a simulated time can say how sure it is.
//!
//! `fourcorners validate --errors figures/errors.json` makes the table. It carries the hash of the
//! catalogue that it was made with, and a test holds it against docs/FIDELITY.md.

use fourcorners_catalogue as catalogue;
use fourcorners_record::Pattern;
use fourcorners_words::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::question::Question;
use super::summary::quantile;
use super::{Row, Standing, Validation};
use crate::statistic::Statistic;

/// The table that comes with the program.
const BUILT_IN: &str = include_str!("../../figures/errors.json");

/// Tests whose errors say something of each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestKind {
    /// Rate or mean latency of random reads.
    RandomRead,
    /// Of random writes, and of random reads and writes mixed half and half.
    RandomWrite,
    /// Of sequential reads.
    SequentialRead,
    /// Of sequential writes.
    SequentialWrite,
    /// Percentiles from the 90th on and longest latencies of any test.
    LongLatency,
}

impl TestKind {
    /// Reads and writes, random and sequential.
    pub const RATES: [TestKind; 4] = [
        TestKind::RandomRead,
        TestKind::RandomWrite,
        TestKind::SequentialRead,
        TestKind::SequentialWrite,
    ];

    /// The kind of a figure; `None` of power, of ratios and of orderings.
    pub(super) fn of(question: &Question) -> Option<TestKind> {
        let Question::Value { test, statistic, .. } = question else { return None };
        match statistic {
            Statistic::MeanW | Statistic::LeastW | Statistic::MostW => None,
            Statistic::MaxMs => Some(TestKind::LongLatency),
            Statistic::PercentileMs(percent) if *percent >= 90.0 => Some(TestKind::LongLatency),
            _ => Some(match (test.job.pattern, test.job.read_percent > 50) {
                (Pattern::Random, true) => TestKind::RandomRead,
                (Pattern::Random, false) => TestKind::RandomWrite,
                (Pattern::Sequential, true) => TestKind::SequentialRead,
                (Pattern::Sequential, false) => TestKind::SequentialWrite,
            }),
        }
    }
}

/// The error of a figure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FigureError {
    /// The figure's id.
    pub id: String,
    /// The file of its drive in the catalogue.
    pub family: String,
    /// What was measured.
    pub kind: TestKind,
    /// Whether it may have been fitted to.
    pub fitted: bool,
    /// Simulated over published, less one, in whole hundredths: what the document shows.
    pub error: f64,
}

/// All errors of a catalogue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ErrorTable {
    /// [`catalogue_hash`] when it was made.
    pub catalogue: String,
    /// In the order of the published figures.
    pub figures: Vec<FigureError>,
}

impl ErrorTable {
    /// The table that comes with the program.
    ///
    /// # Panics
    /// Never: the tests read it, and it is compiled in.
    pub fn built_in() -> ErrorTable {
        serde_json::from_str(BUILT_IN).expect("the built-in table is a table of errors")
    }

    /// How many figures of a family it has, and their median error without its sign.
    pub fn of_family(&self, family: &str) -> (usize, Option<f64>) {
        let of_it = self.figures.iter().filter(|figure| figure.family == family);
        let mut errors: Vec<f64> = of_it.map(|figure| figure.error.abs()).collect();
        errors.sort_by(f64::total_cmp);
        (errors.len(), quantile(&errors, 0.5))
    }

    /// The table of a validation.
    pub fn of(validation: &Validation) -> ErrorTable {
        let error = |row: &Row| {
            let (error, kind) = (row.error?, row.kind?);
            Some(FigureError {
                id: row.id.clone(),
                family: row.family.clone(),
                kind,
                fitted: row.standing == Standing::Fitted,
                // So that the table changes only when a reader would see it; and no -0.
                error: (error * 100.0).round() / 100.0 + 0.0,
            })
        };
        ErrorTable {
            catalogue: catalogue_hash(),
            figures: validation.figures.iter().filter_map(error).collect(),
        }
    }

    /// As JSON, a figure a line.
    ///
    /// # Errors
    /// Never in practice: it has only strings and finite numbers.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let lines: Vec<String> =
            self.figures.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        let (hash, lines) = (&self.catalogue, lines.join(",\n    "));
        Ok(format!("{{\n  \"catalogue\": \"{hash}\",\n  \"figures\": [\n    {lines}\n  ]\n}}\n"))
    }
}

/// First 16 hexadecimal digits of the SHA-256 of the names and the hashes of all drives.
///
/// # Panics
/// Never: the tests read every drive of the catalogue, which is compiled in.
pub fn catalogue_hash() -> String {
    let mut digest = Sha256::new();
    for name in catalogue::names() {
        let profile = catalogue::built_in(&name, &[]).expect("it is built in");
        digest.update(format!("{name} {}\n", profile.hash()));
    }
    hex(&digest.finalize()[..8])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_error_of_a_family_is_the_median_of_its_figures_without_their_signs() {
        let figure = |family: &str, error| FigureError {
            id: String::new(),
            family: family.into(),
            kind: TestKind::RandomRead,
            fitted: false,
            error,
        };
        let of = |errors: &[f64]| {
            let of_it = errors.iter().map(|&error| figure("a", error));
            let figures = of_it.chain([figure("b", 7.0)]).collect();
            ErrorTable { catalogue: String::new(), figures }.of_family("a")
        };
        assert_eq!(of(&[]), (0, None));
        assert_eq!(of(&[0.1]), (1, Some(0.1)));
        assert_eq!(of(&[-0.75, 0.25]), (2, Some(0.5)));
        assert_eq!(of(&[9.0, 0.0, -0.25]), (3, Some(0.25)));
    }

    #[test]
    fn the_table_is_of_this_catalogue_and_says_what_the_document_says() {
        let again = "fourcorners validate --markdown --chart docs/fidelity.svg \
                     --errors figures/errors.json > docs/FIDELITY.md";
        let table = ErrorTable::built_in();
        assert_eq!(table.catalogue, catalogue_hash(), "the catalogue has changed: {again}");
        // The document is made of the same validation, and .ci/run makes it anew.
        let document = include_str!("../../../../docs/FIDELITY.md");
        let shown: BTreeMap<&str, i64> = document
            .lines()
            .filter_map(|line| {
                let cells: Vec<&str> = line.split('|').map(str::trim).collect();
                let error = cells.get(6)?.strip_suffix(" %")?.parse().ok()?;
                Some((*cells.get(1)?, error))
            })
            .collect();
        assert!(table.figures.len() > 150, "{}", table.figures.len());
        for figure in &table.figures {
            let percent = (figure.error * 100.0).round() as i64;
            let shown = shown.get(figure.id.as_str()).unwrap_or_else(|| panic!("{}", figure.id));
            // A half may be rounded either way.
            assert!((shown - percent).abs() <= 1, "{}: {shown} %: {again}", figure.id);
        }
    }
}
