//! fio's job files: text -> sections -> typed options -> jobs on a target.
//!
//! The format is fio's (its HOWTO, "Job file format"). What cannot be done is refused with file,
//! line and a reason, so that nothing else than what was asked for is measured; what has no effect
//! is named in one warning.

mod assign;
mod depths;
mod described;
mod error;
mod iolog;
mod jobs;
mod known;
mod options;
mod place;
mod sections;
mod show;
#[cfg(test)]
mod tests;
mod units;
mod value_error;
mod values;
mod verify;
mod ways;

use std::path::{Path, PathBuf};

pub use described::Placed;
pub use error::{JobFileError, Location};
pub use jobs::{Job, Jobs, LogFiles, Percentiles};
pub use sections::{Environment, JobSource};
pub use show::show_command;
pub use value_error::ValueError;
pub use ways::{Ways, cpu_list};

use described::Described;
use fourcorners_run::streams::Direction;
use sections::Section;

/// What a command line asks for: the options of jobs on it, the job files, and which of their sections.
#[derive(Clone, Copy, Debug)]
pub struct JobRequest<'a> {
    /// Options with their values; `name` begins a job, and those before the first are for all jobs.
    pub options: &'a [(String, Option<String>)],
    /// Job files.
    pub sources: &'a [JobSource],
    /// Only the jobs of these names; of none, all.
    pub sections: &'a [String],
}

impl JobRequest<'_> {
    fn read(&self, environment: Environment<'_>) -> Result<sections::Read, JobFileError> {
        let mut read = sections::read_all(self.options, self.sources, environment)?;
        if self.sections.is_empty() {
            return Ok(read);
        }
        let names: Vec<String> = read.sections.iter().map(|section| section.name.clone()).collect();
        if let Some(missing) = self.sections.iter().find(|name| !names.contains(name)) {
            let file = read.sections.first().map(|section| section.at.file.clone());
            let what = format!("there is no section [{missing}]; there are: {}", names.join(", "));
            return Err(JobFileError::whole(&file.unwrap_or_default(), what));
        }
        read.sections.retain(|section| self.sections.contains(&section.name));
        Ok(read)
    }
}

/// A job file that was understood.
#[derive(Clone, PartialEq, Debug)]
pub struct JobFile {
    jobs: Vec<Described>,
    /// The options of its `[global]` sections, as written.
    pub globals: Vec<(String, String)>,
    /// It, those that it includes, and the recordings that its jobs replay.
    pub files: Vec<PathBuf>,
}

impl JobFile {
    /// Reads a job file and those it includes; `${VARIABLES}` are asked of `environment`.
    ///
    /// # Errors
    /// For the first line that cannot be understood or done.
    pub fn read(path: &Path, environment: Environment<'_>) -> Result<JobFile, JobFileError> {
        JobFile::understood(sections::read(path, environment)?)
    }

    /// The same of a text; errors name it `name`, and what it includes is looked for beside that.
    ///
    /// # Errors
    /// For the first line that cannot be understood or done.
    pub fn from_text(
        text: &str,
        name: &Path,
        environment: Environment<'_>,
    ) -> Result<JobFile, JobFileError> {
        JobFile::understood(sections::read_text(text, name, environment)?)
    }

    /// The jobs that a command line asks for.
    ///
    /// # Errors
    /// For the first option that cannot be understood or done, or a section that is not there.
    pub fn requested(
        request: &JobRequest<'_>,
        environment: Environment<'_>,
    ) -> Result<JobFile, JobFileError> {
        JobFile::understood(request.read(environment)?)
    }

    /// The bytes that a target needs for the jobs whose `filename` `belongs` to it; `None` where they do not say.
    pub fn needed_bytes(&self, belongs: impl Fn(Option<&str>) -> bool) -> Option<u64> {
        let end = |job: &Described| match (job.options.offset, job.options.size) {
            (units::Size::Bytes(offset), Some(units::Size::Bytes(size))) => {
                let copies = u64::from(job.options.jobs - 1);
                let more = match job.options.offset_increment {
                    units::Size::Bytes(bytes) => bytes.saturating_mul(copies),
                    _ => 0,
                };
                Some(offset.saturating_add(size).saturating_add(more))
            }
            _ => None,
        };
        let jobs = self.jobs.iter().filter(|job| belongs(job.options.filename.as_deref()));
        jobs.map(end).collect::<Option<Vec<u64>>>()?.into_iter().max()
    }

    fn understood(read: sections::Read) -> Result<JobFile, JobFileError> {
        let sections::Read { sections, files } = read;
        let pair = |setting: &sections::Setting| {
            (setting.key.clone(), setting.value.clone().unwrap_or_else(|| "1".into()))
        };
        let globals =
            sections.last().map_or_else(Vec::new, |last| last.globals.iter().map(pair).collect());
        let described = |section: &Section| Described::new(section);
        let jobs: Vec<Described> = sections.iter().map(described).collect::<Result<_, _>>()?;
        // What is replayed may be written over no more than the job file.
        let recordings = jobs.iter().flat_map(|job| job.options.replay.paths.iter().cloned());
        let files = files.into_iter().chain(recordings).collect();
        Ok(JobFile { jobs, globals, files })
    }

    /// The `filename` of each job, if it has one.
    pub fn filenames(&self) -> impl Iterator<Item = Option<&str>> {
        self.jobs.iter().map(|job| job.options.filename.as_deref())
    }

    /// The first `filename` that names more than one file.
    pub fn several_files(&self) -> Option<&str> {
        let several = |job: &&Described| job.options.several_files;
        self.jobs.iter().find(several)?.options.filename.as_deref()
    }

    /// Whether any job whose `filename` `belongs` here writes or trims.
    pub fn changes(&self, belongs: impl Fn(Option<&str>) -> bool) -> bool {
        let changes = |job: &Described| {
            let operations = job.operations();
            let verify = &job.options.verify;
            let runs = !(verify.only && verify.kind.is_some());
            runs && (operations.has(Direction::Write) || operations.has(Direction::Trim))
        };
        self.jobs.iter().any(|job| belongs(job.options.filename.as_deref()) && changes(job))
    }
}
