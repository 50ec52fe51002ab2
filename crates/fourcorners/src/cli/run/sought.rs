//! The targets that jobs run on, and which of them is whose.

use std::collections::BTreeSet;
use std::path::Path;

use fourcorners_fio::jobfile::JobFile;

use super::args::RunArgs;

/// The targets as typed, or as the job file names them.
pub(super) struct Sought {
    pub(super) targets: Vec<String>,
    /// From the command line; then jobs that name no target of it run on all.
    pub(super) given: bool,
}

impl Sought {
    /// # Errors
    /// A job without a target, or with several.
    pub(super) fn new(args: &RunArgs, file: &JobFile) -> Result<Sought, String> {
        if !args.targets.is_empty() {
            return Ok(Sought { targets: args.targets.clone(), given: true });
        }
        if let Some(name) = file.several_files() {
            return Err(format!(
                "filename={name}: a job has one file here: give each file a job of its own, or write \\: for a colon in its name"
            ));
        }
        let mut targets: Vec<String> = Vec::new();
        for name in file.filenames() {
            let name = name.ok_or(
                "a job names no filename: give a TARGET (`fourcorners drives` lists virtual ones)",
            )?;
            if !targets.iter().any(|target| target == name) {
                targets.push(name.into());
            }
        }
        Ok(Sought { targets, given: false })
    }

    /// Whether a job with this `filename` runs on the target of this place.
    pub(super) fn belongs(&self, place: usize, filename: Option<&str>) -> bool {
        let Some(filename) = filename else { return true };
        match self.targets.iter().position(|target| is_same_name(target, filename)) {
            Some(named) => named == place,
            None => self.given,
        }
    }

    pub(super) fn with_changes(&self, file: &JobFile) -> Vec<(String, bool)> {
        let changes = |place| file.changes(|filename| self.belongs(place, filename));
        (0..self.targets.len()).map(|place| (self.targets[place].clone(), changes(place))).collect()
    }

    /// A warning about files that jobs name and that are not used.
    pub(super) fn elsewhere(&self, file: &JobFile) -> Option<String> {
        let names: BTreeSet<&str> = file
            .filenames()
            .flatten()
            .filter(|name| !self.targets.iter().any(|target| is_same_name(target, name)))
            .collect();
        let names: Vec<&str> = names.into_iter().collect();
        (!names.is_empty()).then(|| {
            format!("filename={} is not used: the jobs run on the target given", names.join(", "))
        })
    }
}

fn is_same_name(one: &str, other: &str) -> bool {
    let place = |name: &str| Path::new(name).canonicalize().ok();
    one == other || place(one).is_some_and(|path| place(other) == Some(path))
}
