//! A method that a user has written: phases, figures and what is said of them, in a file of TOML.
//!
//! It is read strictly and wholly before anything is touched, and becomes the same phases as a method
//! of ours, so that purges, shared states, `--dry-run` and `--resume` are the same for both. What it
//! may hold is in `docs/PLANS.md`.

mod area;
mod conclusions;
mod cut;
mod error;
mod job;
mod steps;

use std::path::Path;

use fourcorners_record::{PlanInfo, Record};
use fourcorners_words::hex;
use sha2::{Digest, Sha256};

pub use self::error::PlanError;

use self::conclusions::{CurveOf, Judgement};
use self::steps::{MOST_FIGURES, Step};
use super::{Method, Phase, Scope};
use crate::strict_toml::{LineError, Text};

/// Longest file that is taken for a plan.
const MOST_BYTES: u64 = 1 << 20;
/// Most phases of a plan.
const MOST_PHASES: usize = 1000;
/// Longest name of a plan: it heads tables and pages.
const MOST_NAME: usize = 40;
/// Names of records that are not ours to give.
const TAKEN: [&str; 3] = ["all", "storage-bench", "validate"];

/// A method from a file.
#[derive(Clone, PartialEq, Debug)]
pub struct PlanFile {
    /// Its name in records.
    name: String,
    /// What it is for, in a sentence.
    about: Option<String>,
    /// The path it was read from.
    place: String,
    /// SHA-256 of the file.
    sha256: String,
    steps: Vec<Step>,
    judgements: Vec<Judgement>,
    curves: Vec<CurveOf>,
}

impl PlanFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`PlanError`], which names the file, the line and the key.
    pub fn read(path: &Path) -> Result<PlanFile, PlanError> {
        let place = path.display().to_string();
        let read = |cause| PlanError::Read { place: place.clone(), cause };
        let form = |what: String| PlanError::Form { place: place.clone(), line: 1, what };
        let metadata = std::fs::metadata(path).map_err(read)?;
        // A pipe would be waited for and a device read without end.
        if !metadata.is_file() {
            return Err(form("this is not a file; a plan is one".into()));
        }
        if metadata.len() > MOST_BYTES {
            let bytes = metadata.len();
            return Err(form(format!("{bytes} bytes is too long for a plan; is it one?")));
        }
        let text = std::fs::read_to_string(path).map_err(|cause| match cause.kind() {
            std::io::ErrorKind::InvalidData => form("this is not text; a plan is TOML".into()),
            _ => read(cause),
        })?;
        PlanFile::parse(&place, &text)
    }

    /// Reads the text of a file; `place` names it in errors.
    ///
    /// # Errors
    /// As [`PlanFile::read`].
    pub fn parse(place: &str, text: &str) -> Result<PlanFile, PlanError> {
        let mut plan = Text { place, text }.parse("a plan")?;
        let name = plan.needed("name", "my-method")?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let begins = name.value.starts_with(|c: char| c.is_ascii_lowercase());
        if !begins || !name.value.chars().all(plain) || name.value.len() > MOST_NAME {
            let what = format!(
                "name = {:?} must be a small letter and then small letters, digits and -, at most \
                 {MOST_NAME} of them",
                name.value
            );
            return Err(plan.error_at(name.line, what).into());
        }
        let ours = Method::ALL.map(Method::name);
        if ours.contains(&name.value.as_str()) || TAKEN.contains(&name.value.as_str()) {
            let what =
                format!("name = {:?} is a method of fourcorners: choose another", name.value);
            return Err(plan.error_at(name.line, what).into());
        }
        let about = plan.text("about")?.map(|it| it.value);
        let steps = plan.sections("phase", "a [[phase]]")?;
        let steps: Vec<Step> =
            steps.into_iter().map(Step::read).collect::<Result<_, LineError>>()?;
        if !steps.iter().any(Step::finds) {
            let what = "nothing is measured: a plan has a [[phase]] with do = \"measure\"";
            return Err(plan.error(what).into());
        }
        if steps.len() > MOST_PHASES {
            return Err(plan.error(format!("more than {MOST_PHASES} phases are too many")).into());
        }
        let mut figures: Vec<&str> = Vec::new();
        for step in &steps {
            for figure in step.figures() {
                if figures.contains(&figure) || figures.len() == MOST_FIGURES {
                    let what = format!(
                        "{figure} is measured twice, or it is more than the {MOST_FIGURES}th figure: \
                         give it a suffix = \"...\" or a figure = \"...\" of its own"
                    );
                    return Err(plan.error_at(step.line, what).into());
                }
                figures.push(figure);
            }
        }
        // The first form's word for a check.
        let earlier = plan.sections("verdict", "a [[verdict]]")?;
        let judgements = plan.sections("check", "a [[check]]")?;
        let judgements = earlier
            .into_iter()
            .chain(judgements)
            .map(|section| Judgement::read(section, &figures, &name.value))
            .collect::<Result<_, LineError>>()?;
        let curves = plan.sections("curve", "a [[curve]]")?;
        let curves = curves
            .into_iter()
            .map(|section| CurveOf::read(section, &figures))
            .collect::<Result<Vec<CurveOf>, LineError>>()?;
        if let Some(curve) = curves.iter().find(|curve| {
            figures.contains(&curve.name.as_str())
                || curves.iter().filter(|other| other.name == curve.name).count() > 1
        }) {
            let what = format!("the curve {} has the name of something else", curve.name);
            return Err(plan.error(what).into());
        }
        plan.finish()?;
        let sha256 = hex(&Sha256::digest(text));
        let place = place.to_string();
        Ok(PlanFile { name: name.value, about, place, sha256, steps, judgements, curves })
    }

    /// Its name in records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path it was read from.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Most I/Os it keeps in flight.
    pub fn depth(&self) -> u32 {
        self.steps.iter().map(Step::depth).max().unwrap_or(1)
    }

    /// What a record says of it.
    pub fn info(&self) -> PlanInfo {
        PlanInfo {
            name: self.name.clone(),
            about: self.about.clone(),
            sha256: self.sha256.clone(),
            thresholds: Vec::new(),
        }
    }

    /// What it does to a target of this scope, step by step.
    ///
    /// # Errors
    /// The line of a phase that does not fit the target, and why.
    pub(super) fn phases(&self, scope: &Scope) -> Result<Vec<Phase>, PlanError> {
        let mut phases = Vec::new();
        for step in &self.steps {
            let of_step = step.on(scope).map_err(|(line, what)| PlanError::Form {
                place: self.place.clone(),
                line,
                what,
            })?;
            phases.extend(of_step);
        }
        Ok(phases)
    }

    /// Adds to a record what its figures mean.
    pub(super) fn conclude(&self, record: &mut Record, scope: &Scope) {
        for curve in &self.curves {
            curve.conclude(record);
        }
        let (cuts, mut thresholds) = (cut::cuts(&self.steps, scope), Vec::new());
        for judgement in &self.judgements {
            thresholds.extend(judgement.conclude(record, &cuts));
        }
        record.plan = Some(PlanInfo { thresholds, ..self.info() });
    }
}

#[cfg(test)]
mod tests;
