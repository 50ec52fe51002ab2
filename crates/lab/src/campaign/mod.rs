//! Campaigns: every target reviewed by every method, and what comes of it kept.
//!
//! The one place that orchestrates reviews. `fourcorners review` (one drive or several, and the page that
//! starts it) and Python's `review` give it their [`Sink`]; everything else is here:
//!
//! - `methods.rs`: names, plan files and published figures -> methods;
//! - `session.rs`: a target with the plan of each method, its memory and its cached states;
//! - `measure.rs`: the list of work, virtual drives side by side, real ones one after the other;
//! - `results_folder.rs`, `resume_folder.rs`: the document, and what `--resume` goes on from.
//!
//! A method itself is in [`review`](crate::review), which knows one drive and one plan.

mod author;
mod error;
mod measure;
mod methods;
mod results_folder;
mod resume_folder;
mod session;
mod sink;

use std::path::{Path, PathBuf};

use fourcorners_record::{Document, Ended};

pub use author::{NoAuthorName, author_name};
pub use error::CampaignError;
pub use measure::measure;
pub use methods::{ChoiceError, ChosenMethod};
pub use results_folder::{ResultsFolder, SaveError};
pub use resume_folder::{BeginError, ResumeError, ResumeFolder, Resumed};
pub use session::{Session, Settings};
pub use sink::{Sink, Unwatched, Warning};

use crate::device_under_test::{DeviceError, DeviceUnderTest};
use measure::{Outputs, measure_into};

/// What is to be reviewed, and how.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The methods, in the order they are carried out.
    pub methods: Vec<ChosenMethod>,
    /// The targets, in the order of their records.
    pub targets: Vec<DeviceUnderTest>,
    /// The same for all.
    pub settings: Settings,
    /// How many times each target is reviewed, each time with the next seed.
    pub repeat: u32,
    /// Who reviews them, if their records are to say so.
    pub author: Option<String>,
}

/// What a campaign came to.
#[derive(Debug)]
pub struct Outcome {
    /// The records, by target, seed and method; those that were not begun are not among them.
    pub document: Document,
    /// Whether everything was measured to its end.
    pub whole: bool,
    /// Whether the document is in the folder of results; also where there is none.
    pub saved: Result<(), SaveError>,
}

impl Campaign {
    /// How many records it has when it is whole.
    pub fn reviews(&self) -> usize {
        self.targets.len() * self.methods.len() * self.repeat as usize
    }

    /// What is to be done to each target, all repeats of one before the next.
    ///
    /// # Errors
    /// [`CampaignError`] where a method does not fit a target, or a target cannot be purged as asked for.
    pub fn sessions(&self) -> Result<Vec<Session>, CampaignError> {
        let mut sessions = Vec::new();
        for target in &self.targets {
            for more in 0..self.repeat {
                let seed = self.settings.seed.wrapping_add(more.into());
                let settings = Settings { seed, ..self.settings };
                let session = Session::new(target.clone(), &self.methods, &settings)?;
                sessions.push(Session { author: self.author.clone(), ..session });
            }
        }
        Ok(sessions)
    }

    /// Creates the files that are to be created, measures everything, or what is left of it, and saves the
    /// document. What was measured comes back even if it cannot be saved: there may be no second chance.
    ///
    /// # Errors
    /// [`CampaignError`] if nothing was measured; then the files and folders made for it are removed.
    pub fn carry_out(
        self,
        resumed: Option<Resumed>,
        results: Option<&ResultsFolder>,
        sink: &dyn Sink,
    ) -> Result<Outcome, CampaignError> {
        let reviews = self.reviews();
        let mut created = CreatedFiles::default();
        let measured = self.measure(&mut created, resumed, results, sink).inspect_err(|_| {
            created.remove();
            if let Some(results) = results {
                results.undo();
            }
        });
        let (document, resume) = measured?;
        let complete = document.records.iter().all(|record| record.ended == Ended::Complete);
        let whole = document.records.len() == reviews && complete;
        let saved = results.map_or(Ok(()), |results| results.save_document(&document));
        if let (Some(resume), true) = (&resume, whole && saved.is_ok()) {
            resume.remove();
        }
        Ok(Outcome { document, whole, saved })
    }

    fn measure(
        self,
        created: &mut CreatedFiles,
        resumed: Option<Resumed>,
        results: Option<&ResultsFolder>,
        sink: &dyn Sink,
    ) -> Result<(Document, Option<ResumeFolder>), CampaignError> {
        let sessions = self.create(created)?.sessions()?;
        let is_new = resumed.is_none();
        let (resume, begun) = match (resumed, results) {
            (Some(Resumed { folder, progress }), _) => (Some(folder), progress),
            (None, Some(results)) => {
                let folder = ResumeFolder::begin(results.path(), results.replaces, &sessions)?;
                (Some(folder), Vec::new())
            }
            (None, None) => (None, Vec::new()),
        };
        let outputs = Outputs { results, resume: resume.as_ref() };
        match measure_into(&sessions, outputs, begun, sink) {
            Ok(document) => Ok((document, resume)),
            Err(error) => {
                // What an earlier run has left is kept for the next.
                if let Some(resume) = resume.filter(|_| is_new) {
                    resume.remove();
                }
                Err(error.into())
            }
        }
    }

    /// Creates the files that are to be created, now that nothing is refused.
    fn create(self, created: &mut CreatedFiles) -> Result<Campaign, DeviceError> {
        let mut targets = Vec::new();
        for target in self.targets {
            let path = target.to_create().map(Path::to_path_buf);
            targets.push(target.create()?);
            created.0.extend(path);
        }
        Ok(Campaign { targets, ..self })
    }
}

/// The files that a campaign has created, to be removed if nothing comes of it.
#[derive(Default)]
struct CreatedFiles(Vec<PathBuf>);

impl CreatedFiles {
    fn remove(&mut self) {
        for path in self.0.drain(..) {
            // Ours, and of no use to anybody. Why the campaign failed is worth more than that it
            // could not be removed.
            let _ = std::fs::remove_file(path);
        }
    }
}
