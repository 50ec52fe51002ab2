//! What `review --resume` goes on from: a folder `review.resume` beside the results, with a file that
//! says of which review it is and one for each record that was begun. A file is a line with the
//! SHA-256 of the rest, and JSON. The folder is removed when the review is whole.

use std::io;
use std::path::{Path, PathBuf};

use fourcorners_record::Record;
use fourcorners_words::hex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Session;
use crate::kept_folder::{KeptFolder, Unheld};
use crate::review::Checkpoint;
use crate::sealed::{self, Unread};

/// Its name.
pub(super) const NAME: &str = "review.resume";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Of which review the files are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Plan {
    /// A place in a plan means something to the version that made the plan only.
    version: String,
    /// SHA-256 of the targets, their methods, and every phase of them.
    digest: String,
    /// How many records it has.
    records: usize,
}

/// Why a review cannot begin beside its results.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// Another process is at it.
    #[error("another review writes into {}: choose another --output, or wait until that one has ended", place.display())]
    InUse {
        /// The folder of the results.
        place: PathBuf,
    },
    /// One was ended there before it was whole.
    #[error(
        "{} has a review that is not whole: go on with it with --resume, give it up with --overwrite, or choose \
         another --output",
        place.display()
    )]
    Unfinished {
        /// The folder of the results.
        place: PathBuf,
    },
    /// There is something of its name that is no folder, or it cannot be made.
    #[error("{0}")]
    Folder(#[from] io::Error),
}

/// Why there is nothing to go on from.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// There is something of its name that is no folder.
    #[error("{0}")]
    NoFolder(io::Error),
    /// Another process is at it.
    #[error("another review writes into {}: wait until that one has ended", place.display())]
    InUse {
        /// The folder of the results.
        place: PathBuf,
    },
    /// No folder, or none that a review has left.
    #[error("there is nothing to resume in {}: its review is whole, or there is none", place.display())]
    Nothing {
        /// The folder of the results.
        place: PathBuf,
    },
    /// A place in a plan means something to the version that made the plan only.
    #[error(
        "the review in {} was begun by fourcorners {version}, this is {VERSION}: begin anew with --output and \
         --overwrite",
        place.display()
    )]
    Version {
        /// The folder of the results.
        place: PathBuf,
        /// Which began it.
        version: String,
    },
    /// It is of another review.
    #[error(
        "the review in {} has other targets, methods or options: give the same arguments, or begin anew with \
         --output and --overwrite",
        place.display()
    )]
    Other {
        /// The folder of the results.
        place: PathBuf,
    },
    /// A file of it cannot be read.
    #[error("cannot read {}: {error}", place.display())]
    Read {
        /// The file.
        place: PathBuf,
        /// What the file system answered.
        error: io::Error,
    },
    /// A file of it is not what was written.
    #[error(
        "{} is damaged: remove it to measure that part anew, or begin anew with --output and --overwrite",
        place.display()
    )]
    Damaged {
        /// The file.
        place: PathBuf,
    },
}

/// How far a record is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SavedProgress {
    /// Measured to its end.
    Done(Box<Record>),
    /// In the middle.
    At(Box<Checkpoint>),
}

/// The folder of a review that was ended, and how far each of its records is.
#[derive(Debug)]
pub struct Resumed {
    pub(super) folder: ResumeFolder,
    pub(super) progress: Vec<Option<SavedProgress>>,
}

/// The folder of a review.
#[derive(Clone, Debug)]
pub struct ResumeFolder {
    folder: KeptFolder,
}

impl ResumeFolder {
    fn at(results: &Path) -> io::Result<ResumeFolder> {
        let folder = KeptFolder::at(results, NAME).map_err(|place| {
            io::Error::other(format!(
                "{} is no folder of a review: remove it, or choose another folder for the results",
                place.display()
            ))
        })?;
        Ok(ResumeFolder { folder })
    }

    /// A new folder for a review that begins; what an earlier one left is replaced if `replaces` says so.
    pub(super) fn begin(
        results: &Path,
        replaces: bool,
        sessions: &[Session],
    ) -> Result<ResumeFolder, BeginError> {
        let mut this = ResumeFolder::at(results)?;
        this.folder.hold().map_err(|why| ResumeFolder::unheld(results, why))?;
        this.is_over(results, replaces)?;
        this.folder.begin(&plan(sessions), is_part)?;
        Ok(this)
    }

    /// Whether a review may begin beside these results, `replaces` being as when it begins; nothing is changed.
    ///
    /// # Errors
    /// [`BeginError::InUse`] and [`BeginError::Unfinished`].
    pub fn may_begin(results: &Path, replaces: bool) -> Result<(), BeginError> {
        // What is in the way otherwise is told by what begins.
        let Ok(mut this) = ResumeFolder::at(results) else { return Ok(()) };
        match this.folder.hold_what_is_there() {
            Err(why @ Unheld::ByAnother) => Err(ResumeFolder::unheld(results, why)),
            Err(Unheld::Io(_)) => Ok(()),
            Ok(()) => this.is_over(results, replaces),
        }
    }

    /// Refuses what would be lost: days of a real drive, maybe.
    fn is_over(&self, results: &Path, replaces: bool) -> Result<(), BeginError> {
        match self.folder.plan().exists() && !replaces {
            true => Err(BeginError::Unfinished { place: results.into() }),
            false => Ok(()),
        }
    }

    fn unheld(results: &Path, why: Unheld) -> BeginError {
        match why {
            Unheld::ByAnother => BeginError::InUse { place: results.into() },
            Unheld::Io(error) => BeginError::Folder(error),
        }
    }

    /// The folder beside `results` of a review that was ended, if it is the review of these sessions.
    ///
    /// # Errors
    /// [`ResumeError`]; nothing was changed.
    pub fn open(results: &Path, sessions: &[Session]) -> Result<Resumed, ResumeError> {
        let mut folder = ResumeFolder::at(results).map_err(ResumeError::NoFolder)?;
        let place = || results.to_path_buf();
        // Where there is nothing, that is told below.
        if let Err(Unheld::ByAnother) = folder.folder.hold_what_is_there() {
            return Err(ResumeError::InUse { place: place() });
        }
        let Some(found) = read::<Plan>(&folder.folder.plan())? else {
            return Err(ResumeError::Nothing { place: place() });
        };
        let wanted = plan(sessions);
        if found.version != wanted.version {
            return Err(ResumeError::Version { place: place(), version: found.version });
        }
        if found != wanted {
            return Err(ResumeError::Other { place: place() });
        }
        let progress = (0..found.records).map(|slot| read(&folder.place(slot)));
        let progress = progress.collect::<Result<_, _>>()?;
        Ok(Resumed { folder, progress })
    }

    /// Whether a file that is kept beside `results` would be in the way of one of its own.
    pub fn holds(results: &Path, path: &Path) -> bool {
        path.starts_with(results.join(NAME))
    }

    /// Keeps how far a record is.
    pub(super) fn save(&self, slot: usize, begun: &SavedProgress) -> io::Result<()> {
        sealed::write(&self.place(slot), begun)
    }

    /// Removes the files, and the folder if nothing else is in it.
    pub(super) fn remove(&self) {
        self.folder.remove(is_part);
    }

    fn place(&self, slot: usize) -> PathBuf {
        self.folder.path().join(format!("{slot}.json"))
    }
}

/// Whether a file of this name is that of a record.
fn is_part(name: &str) -> bool {
    let slot = name.strip_suffix(".json").unwrap_or_default();
    !slot.is_empty() && slot.bytes().all(|byte| byte.is_ascii_digit())
}

fn plan(sessions: &[Session]) -> Plan {
    let mut digest = Sha256::new();
    for session in sessions {
        // Everything that a record depends on but the drive itself is in these two.
        digest.update(session.target.identity());
        let Session { plans, scope, erase, .. } = session;
        digest.update(format!("{plans:?} {scope:?} {erase:?}\n"));
    }
    Plan {
        version: VERSION.into(),
        digest: hex(&digest.finalize()),
        records: sessions.iter().map(|session| session.plans.len()).sum(),
    }
}

/// The content of a file; none if there is no file.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ResumeError> {
    let place = path.to_path_buf();
    sealed::read(path).map_err(|unread| match unread {
        Unread::Io(error) => ResumeError::Read { place, error },
        Unread::Damaged => ResumeError::Damaged { place },
    })
}
