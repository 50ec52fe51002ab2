//! Holds the catalogue against measured distributions: each entry's own test is run on its virtual drive, and every number
//! of its result that the test can give is compared.
//!
//! An entry is read (`entry`), its drive found (`super::drives`), what it asks worked out (`question`), all of it run (`runs`,
//! `writes`) and the numbers compared (here).
//!
//! - A drive is run at a part of its capacity (`scale`), so that hours of writes take seconds.
//! - Several drives are behind one loop, and processes take processor time (`rig`, `host`).
//! - One entry in three of each kind is kept out of every fit (`split`).
//! - How far a second measurement is from the first stands beside the errors (`twice`).
//!
//! The result is `docs/DISTRIBUTIONS.md`, made by `scripts/evidence distributions`.

pub mod chart;
mod entry;
mod host;
mod numbers;
mod question;
mod rig;
mod runs;
pub(crate) mod scale;
pub mod shown;
mod split;
mod summary;
mod twice;
mod writes;

use std::collections::BTreeMap;

pub use super::drives::{Drives, ProfilesError};
pub use entry::{Amount, Background, Entry, EntryTest, ShapesError, parse};
use numbers::Numbers;
use question::{Question, SHARE_WITHOUT_FLASH, State};
use runs::{NoAnswer, Task, run_all};
use serde::Serialize;
pub use split::is_kept_out;
pub use summary::{KindSummary, Part, PathGroup, ShapesSummary};
use twice::measured_twice;

use super::{Standing, Watch};
use crate::statistic::four_digits;

/// The distributions that come with the tool.
const BUILT_IN: &str = include_str!("../../../figures/shapes.json");

/// A number that was published and simulated.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Compared {
    /// What was published.
    pub published: f64,
    /// What the virtual drive gives.
    pub simulated: f64,
    /// Simulated over published, less one; none where nothing was published but zero.
    pub error: Option<f64>,
}

/// An entry and what became of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ShapeRow {
    /// The entry's id.
    pub id: String,
    /// The kind of its test.
    pub kind: String,
    /// The drive of the catalogue that it was run on.
    pub drive: Option<String>,
    /// The drive as published.
    pub published_drive: String,
    /// How it stands.
    pub standing: Standing,
    /// Whether it is kept out of every fit.
    pub kept_out: bool,
    /// Whether its test measures more than the drive, a file system or a depth that is not told, so that no error is the drive's alone.
    pub reported: bool,
    /// Why it was not run, or what has to be known of it.
    pub why: Option<String>,
    /// By dotted path into the entry's result.
    pub compared: BTreeMap<String, Compared>,
}

/// The catalogue held against distributions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ShapesValidation {
    /// In the order of the file.
    pub entries: Vec<ShapeRow>,
    /// Over all of them.
    pub summary: ShapesSummary,
    /// Whether it was stopped before all was run.
    #[serde(skip)]
    pub stopped: bool,
}

/// The distributions that come with the tool.
///
/// # Panics
/// Never: the tests read them, and they are compiled in.
pub fn built_in() -> Vec<Entry> {
    parse(BUILT_IN).expect("the built-in distributions are distributions")
}

/// Whether profiles may be fitted to the entry: one of the built-in ones that is not kept out.
pub fn may_be_fitted(entry: &Entry, built_in: &[Entry]) -> bool {
    built_in.contains(entry) && !is_kept_out(entry, built_in)
}

/// Runs the entries' tests on their virtual drives, on `workers` threads. `wanted` says which are run: the others are what
/// those may be relative to.
pub fn validate_shapes(
    entries: &[Entry],
    wanted: impl Fn(&Entry) -> bool,
    drives: &Drives,
    (workers, watch): (usize, &Watch<'_>),
) -> ShapesValidation {
    let is_base = |entry: &Entry, questions: &[(usize, Result<Question, String>)]| {
        questions.iter().any(|(_, question)| {
            question.as_ref().is_ok_and(|question| question.base.as_ref() == Some(&entry.id))
        })
    };
    let mut questions: Vec<(usize, Result<Question, String>)> = Vec::new();
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| wanted(entry)) {
        let question = Question::of(entry, entries);
        let question =
            question.map(|question| match drives.find(&entry.drive, entry.capacity_gb) {
                Ok(profile) => {
                    let base = question.base.as_ref();
                    let base = base.and_then(|id| entries.iter().find(|entry| entry.id == *id));
                    question.of_drive(&profile.model, base)
                }
                Err(_) => question,
            });
        questions.push((index, question));
    }
    // What the others are relative to is run, too, and compared with nothing.
    let bases: Vec<usize> =
        (0..entries.len()).filter(|&index| is_base(&entries[index], &questions)).collect();
    let mut tasks: Vec<(usize, Task<'_>)> = Vec::new();
    let base_questions: Vec<(usize, Question)> = bases
        .iter()
        .filter_map(|&index| {
            let entry = &entries[index];
            let profile = drives.find(&entry.drive, entry.capacity_gb).ok()?;
            Some((index, Question::of_base(entry)?.of_drive(&profile.model, None)))
        })
        .collect();
    let asked =
        questions.iter().filter_map(|(index, question)| Some((*index, question.as_ref().ok()?)));
    let asked = asked.chain(base_questions.iter().map(|(index, question)| (*index, question)));
    for (index, question) in asked {
        let entry = &entries[index];
        if let Ok(profile) = drives.find(&entry.drive, entry.capacity_gb) {
            let wanted = entry.numbers().into_iter().map(|(path, _)| path).collect();
            tasks.push((index, Task { profile, question, wanted }));
        }
    }
    let (places, tasks): (Vec<usize>, Vec<Task<'_>>) = tasks.into_iter().unzip();
    let answers = run_all(&tasks, workers, watch);
    let answer_of = |index: usize| {
        let place = places.iter().position(|&other| other == index)?;
        answers.get(place)
    };
    let by_id = |id: &String| entries.iter().position(|entry| entry.id == *id);
    let known = built_in();
    let rows: Vec<ShapeRow> = questions
        .iter()
        .map(|(index, question)| {
            let base = question.as_ref().ok().and_then(|question| by_id(question.base.as_ref()?));
            let base =
                base.and_then(|base| Some((&entries[base], answer_of(base)?.as_ref().ok()?)));
            let answer = answer_of(*index);
            row(&entries[*index], (question, answer, base), drives, &known)
        })
        .collect();
    let stopped = answers.contains(&Err(NoAnswer::Stopped));
    // What is relative to others is of another state of the drive, and what is reported is of more than the drive: two of
    // those were not measured in the same test, whatever they say.
    let alone = questions.iter().zip(&rows).filter(|((_, question), row)| {
        let relative = question.as_ref().is_ok_and(|question| question.base.is_some());
        row.standing != Standing::NotRun && !row.reported && !relative
    });
    let alone: Vec<_> = alone.map(|((index, _), row)| (&entries[*index], &row.compared)).collect();
    let summary =
        ShapesSummary { measured_twice: measured_twice(&alone), ..ShapesSummary::of(&rows) };
    ShapesValidation { entries: rows, summary, stopped }
}

type Answered<'a> = (
    &'a Result<Question, String>,
    Option<&'a Result<Numbers, NoAnswer>>,
    Option<(&'a Entry, &'a Numbers)>,
);

fn row(
    entry: &Entry,
    (question, answer, base): Answered<'_>,
    drives: &Drives,
    known: &[Entry],
) -> ShapeRow {
    let kept_out = known.contains(entry) && is_kept_out(entry, known);
    let mut row = ShapeRow {
        id: entry.id.clone(),
        kind: entry.kind.clone(),
        drive: None,
        published_drive: entry.drive.clone(),
        standing: Standing::NotRun,
        kept_out,
        reported: false,
        why: None,
        compared: BTreeMap::new(),
    };
    let profile = match drives.find(&entry.drive, entry.capacity_gb) {
        Ok(profile) => profile,
        Err(why) => {
            row.why = Some(why);
            return row;
        }
    };
    row.drive = Some(profile.name.clone());
    let (question, numbers) = match (question, answer) {
        (Err(why), _) => {
            row.why = Some(why.clone());
            return row;
        }
        (Ok(question), Some(Ok(numbers))) => (question, numbers),
        (Ok(_), Some(Err(NoAnswer::Impossible(why)))) => {
            row.why = Some(why.clone());
            return row;
        }
        (Ok(_), Some(Err(NoAnswer::Stopped)) | None) => {
            row.why = Some("the run was stopped".into());
            return row;
        }
    };
    for (path, published) in entry.numbers() {
        let Some(&own) = numbers.get(&path) else { continue };
        // That was put in.
        if path == SHARE_WITHOUT_FLASH && matches!(question.state, State::FilledInPart { .. }) {
            continue;
        }
        // By how much more it is than the base's; of two variations that says nothing.
        let simulated = match &question.base {
            Some(_) if !path.starts_with("iops_cv_") => base.and_then(|(base, simulated)| {
                let of_base = simulated.get(&path).filter(|&&of_base| of_base > 0.0)?;
                Some(base.number(&path)? * own / of_base)
            }),
            _ => Some(own),
        };
        let Some(simulated) = simulated else { continue };
        let error = numbers::error(&path, published, simulated).map(four_digits);
        let compared = Compared { published, simulated: four_digits(simulated), error };
        row.compared.insert(path, compared);
    }
    if row.compared.is_empty() {
        row.why = Some("its result has no number that the test gives".into());
        return row;
    }
    let may = may_be_fitted(entry, known) && !question.reported && question.base.is_none();
    row.standing = match may && is_fitted(profile) {
        true => Standing::Fitted,
        false => Standing::Predicted,
    };
    row.reported = question.reported;
    row.why = (!question.notes.is_empty()).then(|| question.notes.join("; "));
    row
}

/// Whether a profile has values of its variation or its latencies that were fitted.
fn is_fitted(profile: &fourcorners_catalogue::Profile) -> bool {
    let shapes = |key: &str| {
        key.starts_with("variation.") || key.starts_with("nand_suspend.") || key.ends_with("_us")
    };
    profile.values.iter().any(|value| {
        value.standing == fourcorners_catalogue::Standing::Fitted && shapes(&value.key)
    })
}
