//! Holds the catalogue against what was published: every figure's own test is run on its virtual
//! drive.
//!
//! A figure is read (`figure`, `reading`), its test filled in (`conventions`), what it asks worked out
//! (`question`), all tests run (`runs`) and the answers judged (here).
//!
//! - What a figure's words come to stands beside them as data (`reading`). A figure without that, of an older file
//!   or of one's own, is read from its words (`words`), its drive by its published name (`names`). A word that is left over makes it another drive, so a
//!   Vertex LE is never taken for a Vertex.
//! - `conventions` is one table for all figures; it fills in what a test leaves open. `articles` holds
//!   what an article says once for all of its figures.
//! - `question` turns a figure into a value, a ratio or an ordering.
//! - Tests that begin in the same used state share its preparation. Drives run on all cores; results do
//!   not depend on how many.
//! - One figure in three, by a hash of its id, is kept out of every fit (`split`). A test refuses a fitted
//!   value whose note cites one of those.
//!
//! The result is `docs/FIDELITY.md`. A test compares the rows that take a moment, `.ci/run` compares all of
//! them. Where sources disagree, `docs/SOURCES.md` has the decision and its reason.

mod articles;
pub mod chart;
mod conventions;
mod drives;
mod errors;
mod figure;
mod fit;
mod names;
mod plan;
mod question;
mod reading;
mod runs;
pub mod shapes;
pub mod shown;
mod split;
mod summary;
mod words;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

pub use drives::{Drives, ProfilesError};
pub use errors::{ErrorTable, FigureError, TestKind, catalogue_hash};
pub use figure::{Figure, PublishedTest, built_in, parse};
pub use fit::{Fit, Parameter, fit};
use fourcorners_run::Measured;
use names::Names;
pub use plan::PublishedFigure;
use question::{Asked, Bound, Place, Published, Question, ask};
use reading::By;
pub use reading::Reading;
pub use runs::Watch;
use runs::{State, Test, run_all};
use serde::Serialize;
use serde_json::Value;
pub use split::{is_kept_out, may_be_fitted};
pub(crate) use summary::quantile;
pub use summary::{FamilySummary, Group, GroupSummary, Part, Summary};

use crate::statistic::{Statistic, four_digits};

/// How near a ratio has to come, and how near about equal drives to each other.
pub const RATIO_TOLERANCE: f64 = 0.15;

/// How a figure stands to the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The drive's profile has fitted values, and this figure was among those they may be fitted
    /// to.
    Fitted,
    /// Nothing was fitted to it.
    Predicted,
    /// It could not be run; `why` says so.
    NotRun,
}

/// A figure and what became of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The figure's id.
    pub id: String,
    /// The drive as published.
    pub drive: String,
    /// The metric.
    pub metric: String,
    /// The published value.
    pub published: Value,
    /// The bound it has, if it is not the value itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// What the virtual drive gives, in the metric's unit: a number, or one for each place of an
    /// ordering.
    pub simulated: Option<Value>,
    /// Simulated over published, less one; from the nearer end of a range. Absolute figures only,
    /// and with a bound only when it does not hold.
    pub error: Option<f64>,
    /// How it stands.
    pub standing: Standing,
    /// Whether a bound, a ratio or an ordering holds.
    pub holds: Option<bool>,
    /// Why it was not run, or what has to be known of it.
    pub why: Option<String>,
    /// The drive of the catalogue that it was run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The commands that repeat it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// The group that the summary counts it in, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Group>,
    /// The test in words, as it was published.
    #[serde(skip)]
    pub test: String,
    /// The value as a reader would write it.
    #[serde(skip)]
    pub published_text: String,
    /// The file of that drive.
    #[serde(skip)]
    pub family: String,
    /// What was measured, of a figure whose error says something of others.
    #[serde(skip)]
    pub kind: Option<TestKind>,
}

/// The catalogue held against figures.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Validation {
    /// In the order of the file.
    pub figures: Vec<Row>,
    /// Over all of them.
    pub summary: Summary,
    /// Whether it was stopped before all was run.
    #[serde(skip)]
    pub stopped: bool,
}

/// Runs every figure's test on its virtual drive, on `workers` threads.
pub fn validate(
    figures: &[Figure],
    drives: &Drives,
    (workers, watch): (usize, &Watch<'_>),
) -> Validation {
    let names = drives.names();
    let asked: Vec<Result<Asked, String>> =
        figures.iter().map(|figure| ask(figure, names)).collect();
    let mut tests: Vec<Test> = Vec::new();
    for asked in asked.iter().flatten() {
        for test in asked.question.tests() {
            if !tests.contains(test) {
                tests.push(test.clone());
            }
        }
    }
    let stopped = AtomicBool::new(false);
    let measured = run_all(&tests, names, workers, &|done| {
        let go_on = watch(done);
        stopped.fetch_or(!go_on, Ordering::Relaxed);
        go_on
    });
    let known = Known { figures: built_in(), reasons: figure::reasons() };
    let results = Results { tests: &tests, measured: &measured, names };
    let rows: Vec<Row> = figures
        .iter()
        .zip(asked)
        .map(|(figure, asked)| row(figure, asked, &results, &known))
        .collect();
    let summary = Summary::of(&rows, figures);
    Validation { figures: rows, summary, stopped: stopped.into_inner() }
}

/// What was measured, by test.
struct Results<'a> {
    tests: &'a [Test],
    measured: &'a [Option<Measured>],
    names: &'a Names,
}

impl Results<'_> {
    fn of(&self, test: &Test) -> Option<&Measured> {
        let place = self.tests.iter().position(|other| other == test)?;
        self.measured.get(place)?.as_ref()
    }

    /// What ratios and orderings are by: MB/s, of a steady state from second 1400 on.
    fn mb_per_s(&self, test: &Test) -> Option<f64> {
        let measured = self.of(test)?;
        match test.state {
            State::Steady => {
                let iops = Statistic::SteadyIops.take(measured)?;
                Some(iops * f64::from(test.job.block_bytes) / 1e6)
            }
            _ => Statistic::MbPerS.take(measured),
        }
    }
}

/// What we know of the built-in figures.
struct Known {
    figures: Vec<Figure>,
    reasons: BTreeMap<String, String>,
}

/// An error that asks for a reason.
fn is_large(error: f64) -> bool {
    error.abs() > RATIO_TOLERANCE
}

fn row(figure: &Figure, asked: Result<Asked, String>, results: &Results<'_>, known: &Known) -> Row {
    let mut row = Row {
        id: figure.id.clone(),
        drive: figure.drive_name(),
        metric: figure.metric.clone(),
        published: figure.value.clone(),
        bound: figure.bound.clone(),
        simulated: None,
        error: None,
        standing: Standing::NotRun,
        holds: None,
        why: None,
        model: None,
        commands: Vec::new(),
        group: None,
        test: figure.test.words(),
        published_text: figure.published(),
        family: String::new(),
        kind: None,
    };
    let asked = match asked {
        Ok(asked) => asked,
        Err(why) => {
            row.why = Some(why);
            return row;
        }
    };
    let Some(answer) = judge(&asked.question, results) else {
        row.why =
            Some("the run was stopped, too short, or the drive cannot be brought there".into());
        return row;
    };
    // A figure of somebody's file was fitted if it is of the sheet that the profile was solved for. Which of ours were is a rule.
    let is_known = known.figures.iter().any(|ours| ours.is_published_as(figure));
    let fitted = results.names.profile(&asked.drive, None, &[]).is_ok_and(|it| match is_known {
        true => may_be_fitted(figure) && !it.fitted().is_empty(),
        false => figure.kind == "spec" && it.is_fitted_to(&figure.source),
    });
    row.standing = if fitted { Standing::Fitted } else { Standing::Predicted };
    row.simulated = Some(answer.simulated);
    row.error = answer.error;
    row.holds = answer.holds;
    let misses = answer.holds.map_or(answer.error.is_some_and(is_large), |holds| !holds);
    let reason = known.reasons.get(&figure.id).filter(|_| is_known && misses);
    let mut notes = asked.notes;
    notes.extend(reason.map(|reason| format!("likely: {reason}")));
    row.why = (!notes.is_empty()).then(|| notes.join("; "));
    // A review of the figure's name is of the catalogue's drives.
    if results.names.path_of(&asked.drive).is_none() {
        row.commands = plan::commands(&figure.id, &asked.question);
    }
    row.group = match &asked.question {
        Question::Value { test, statistic, .. } => Group::of(test, *statistic),
        Question::Ratio { .. } | Question::Ordering { .. } => None,
    };
    row.kind = TestKind::of(&asked.question);
    row.model = Some(asked.drive);
    row.family = asked.family;
    row
}

/// What a figure's tests gave.
struct Answer {
    simulated: Value,
    error: Option<f64>,
    holds: Option<bool>,
}

fn judge(question: &Question, results: &Results<'_>) -> Option<Answer> {
    match question {
        Question::Value { test, statistic, published } => {
            let simulated = statistic.take(results.of(test)?)?;
            Some(published.judge(simulated))
        }
        Question::Ratio { test, others, published } => {
            let one = results.mb_per_s(test)?;
            let others: Vec<f64> =
                others.iter().map(|test| results.mb_per_s(test)).collect::<Option<_>>()?;
            let simulated = one / (others.iter().sum::<f64>() / others.len() as f64);
            let judged = published.judge(simulated);
            let near = judged.error.is_none_or(|error| error.abs() <= RATIO_TOLERANCE);
            let holds = judged.holds.unwrap_or(near);
            Some(Answer { simulated: judged.simulated, error: None, holds: Some(holds) })
        }
        Question::Ordering { places, by } => ordering(places, *by, results),
    }
}

impl Published {
    /// Simulated over published, less one; from the nearer end of a range.
    fn error(&self, simulated: f64) -> f64 {
        match simulated {
            low if low < self.low => low / self.low - 1.0,
            high if high > self.high => high / self.high - 1.0,
            _ => 0.0,
        }
    }

    fn judge(&self, simulated: f64) -> Answer {
        let error = self.error(simulated);
        let holds = match self.bound {
            Bound::None => None,
            Bound::Above => Some(simulated >= self.low),
            Bound::Below => Some(simulated <= self.high),
        };
        let error = (holds != Some(true)).then_some(error);
        Answer { simulated: rounded(simulated), error, holds }
    }
}

fn ordering(places: &[Place], by: By, results: &Results<'_>) -> Option<Answer> {
    let mut values: Vec<Vec<f64>> = Vec::new();
    for place in places {
        let mut of_place = Vec::new();
        let tests = match by {
            By::Kept => &place.tests[..place.tests.len() / 2],
            By::Rate | By::MaxLatency => &place.tests,
        };
        for (index, test) in tests.iter().enumerate() {
            of_place.push(match by {
                By::Rate => results.mb_per_s(test)?,
                // Better is more in what follows.
                By::MaxLatency => -Statistic::MaxMs.take(results.of(test)?)?,
                By::Kept => {
                    let fresh = &place.tests[tests.len() + index];
                    results.mb_per_s(test)? / results.mb_per_s(fresh)?
                }
            });
        }
        values.push(of_place);
    }
    let least = |values: &Vec<f64>| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &Vec<f64>| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let near = |values: &Vec<f64>| {
        let ends = [least(values).abs(), most(values).abs()];
        ends[0].min(ends[1]) >= ends[0].max(ends[1]) * (1.0 - RATIO_TOLERANCE)
    };
    let falls = values.windows(2).zip(&places[1..]).all(|(pair, place)| match place.level {
        true => near(&pair.concat()),
        false => least(&pair[0]) > most(&pair[1]),
    });
    let equal = places.iter().zip(&values).all(|(place, values)| !place.equal || near(values));
    let shown = values.iter().map(|values| match values.as_slice() {
        [value] => rounded(value.abs()),
        several => several.iter().map(|value| rounded(value.abs())).collect(),
    });
    Some(Answer { simulated: shown.collect(), error: None, holds: Some(falls && equal) })
}

fn rounded(value: f64) -> Value {
    Value::from(four_digits(value))
}
