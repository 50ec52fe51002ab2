//! A section of a job file with its options read, and what errors about it name.

use fourcorners_drive::Geometry;
use fourcorners_run::streams::Operations;

use super::error::{JobFileError, Location};
use super::iolog::Tapes;
use super::known::{self, Engine, Known};
use super::options::Options;
use super::sections::{Section, Setting};

/// Where jobs are put.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// What the target is like.
    pub geometry: Geometry,
    /// Whether it is a model.
    pub is_virtual: bool,
    /// Where the random numbers of jobs with `randrepeat=0` begin.
    pub seed: u64,
    /// Jobs of other targets before these; logs carry the number of their job.
    pub first_job: usize,
}

/// A section's options, and where each stands.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Described {
    pub(super) options: Options,
    pub(super) name: String,
    at: Location,
    pub(super) settings: Vec<Setting>,
    pub(super) own: Vec<(String, String)>,
    pub(super) tapes: Tapes,
}

impl Described {
    pub(super) fn new(section: &Section) -> Result<Described, JobFileError> {
        let settings: Vec<Setting> = section.globals.iter().chain(&section.own).cloned().collect();
        // An engine that is refused may have options that nobody else knows.
        for setting in settings.iter().filter(|setting| setting.key == "ioengine") {
            let name = setting.value.as_deref().unwrap_or_default();
            if let Engine::Refused(why) = known::engine(name) {
                let what = format!("ioengine={name} does no block I/O: {why}");
                return Err(JobFileError::new(&setting.at, what));
            }
        }
        // What has no effect needs no value.
        let matters = |setting: &&Setting| {
            !matches!(known::option(&setting.key), Known::Silent | Known::NoEffect)
        };
        for setting in settings.iter().filter(matters) {
            if let Some(lacks) = &setting.lacks {
                return Err(JobFileError::new(&setting.at, lacks));
            }
        }
        let mut options = Options::default();
        // What a k is counts for all others of its section, wherever it stands.
        let kb_first = |settings: &[Setting]| -> Vec<Setting> {
            let is_kb = |setting: &&Setting| setting.key.eq_ignore_ascii_case("kb_base");
            let (first, then): (Vec<&Setting>, Vec<&Setting>) = settings.iter().partition(is_kb);
            first.into_iter().chain(then).cloned().collect()
        };
        for setting in [&section.globals, &section.own].into_iter().flat_map(|all| kb_first(all)) {
            options.set(&setting.key, setting.value.as_deref()).map_err(|why| {
                let value = setting.value.as_ref().map(|value| format!("={value}"));
                let shown = format!("{}{}", setting.key, value.unwrap_or_default());
                JobFileError::new(&setting.at, format!("{shown}: {why}"))
            })?;
        }
        let pair = |setting: &Setting| {
            (setting.key.clone(), setting.value.clone().unwrap_or_else(|| "1".into()))
        };
        let tapes = Tapes::read(&options.replay).map_err(|why| {
            let given = settings.iter().rfind(|setting| setting.key == "read_iolog");
            let at = given.map_or(&section.at, |setting| &setting.at);
            JobFileError::new(at, format!("read_iolog: {why}"))
        })?;
        Ok(Described {
            tapes,
            name: options.name.clone().unwrap_or_else(|| section.name.clone()),
            at: section.at.clone(),
            own: section.own.iter().map(pair).collect(),
            options,
            settings,
        })
    }

    /// What it does, also where that was recorded.
    pub(super) fn operations(&self) -> Operations {
        self.tapes.operations().unwrap_or_else(|| self.options.operations())
    }

    /// An error about the last of `keys` that is given, or the section.
    pub(super) fn wrong(&self, keys: &[&str], what: impl Into<String>) -> JobFileError {
        let given = self.settings.iter().rfind(|setting| keys.contains(&setting.key.as_str()));
        JobFileError::new(given.map_or(&self.at, |setting| &setting.at), what)
    }
}
