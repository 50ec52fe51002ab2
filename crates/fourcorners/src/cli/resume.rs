//! What `review --resume` goes on from: a folder `review.resume` beside the results, with a file that
//! says of which review it is and one for each record that was begun. A file is a line with the
//! SHA-256 of the rest, and JSON. The folder is removed when the review is whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fourcorners_lab::review::Checkpoint;
use fourcorners_machine::save::write_atomically;
use fourcorners_record::Record;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::session::Session;

/// Its name.
pub(super) const FOLDER: &str = "review.resume";
const PLAN: &str = "plan.json";
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

/// How far a record is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Begun {
    /// Measured to its end.
    Done(Box<Record>),
    /// In the middle.
    At(Box<Checkpoint>),
}

/// The folder of a review.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    folder: PathBuf,
}

impl Kept {
    /// The folder beside `results`, which need not be there; not what a link of its name leads to.
    fn at(results: &Path) -> io::Result<Kept> {
        let folder = results.join(FOLDER);
        match folder.symlink_metadata() {
            Ok(there) if !there.is_dir() => Err(io::Error::other(format!(
                "{} is no folder of a review: remove it, or choose another folder for the results",
                folder.display()
            ))),
            _ => Ok(Kept { folder }),
        }
    }

    /// A new folder for a review that begins; what an earlier one left is replaced.
    pub(super) fn begin(results: &Path, sessions: &[Session]) -> io::Result<Kept> {
        let kept = Kept::at(results)?;
        kept.remove();
        match fs::create_dir(&kept.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        write(&kept.folder.join(PLAN), &plan(sessions))?;
        Ok(kept)
    }

    /// The folder of a review that was ended, if it is the review of these sessions, and how far each
    /// of its records is.
    pub(super) fn open(
        results: &Path,
        sessions: &[Session],
    ) -> Result<(Kept, Vec<Option<Begun>>), String> {
        let kept = Kept::at(results).map_err(|error| error.to_string())?;
        let place = results.display();
        let Some(found) = read::<Plan>(&kept.folder.join(PLAN))? else {
            return Err(format!(
                "there is nothing to resume in {place}: its review is whole, or there is none"
            ));
        };
        let wanted = plan(sessions);
        if found.version != wanted.version {
            return Err(format!(
                "the review in {place} was begun by fourcorners {}, this is {VERSION}: begin anew \
                 without --resume",
                found.version
            ));
        }
        if found != wanted {
            return Err(format!(
                "the review in {place} has other targets, methods or options: give the same \
                 arguments, or begin anew without --resume"
            ));
        }
        let begun = (0..found.records).map(|slot| read(&kept.place(slot)));
        Ok((kept.clone(), begun.collect::<Result<_, _>>()?))
    }

    /// Keeps how far a record is.
    pub(super) fn save(&self, slot: usize, begun: &Begun) -> io::Result<()> {
        write(&self.place(slot), begun)
    }

    /// Removes the files, and the folder if nothing else is in it.
    pub(super) fn remove(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()).filter(|path| is_ours(path)) {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_file(path);
        }
        let _ = fs::remove_dir(&self.folder);
    }

    fn place(&self, slot: usize) -> PathBuf {
        self.folder.join(format!("{slot}.json"))
    }
}

/// Whether a file in the folder is one of ours, or one that we had no time to finish.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.starts_with(".fourcorners-") {
        return true;
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let numbered = !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_digit());
    path.extension().is_some_and(|it| it == "json") && (numbered || path.ends_with(PLAN))
}

fn plan(sessions: &[Session]) -> Plan {
    let mut digest = Sha256::new();
    for session in sessions {
        // Everything that a record depends on but the drive itself is in these two.
        digest.update(session.target.identity());
        let Session { plans, quick, seed, erase, .. } = session;
        digest.update(format!("{plans:?} {quick} {seed} {erase:?}\n"));
    }
    Plan {
        version: VERSION.into(),
        digest: hex(&digest.finalize()),
        records: sessions.iter().map(|session| session.plans.len()).sum(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write(path: &Path, content: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_string(content)?;
    write_atomically(path, format!("{}\n{json}", hex(&Sha256::digest(&json))).as_bytes())
}

/// The content of a file; none if there is no file.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let place = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {place}: {error}")),
    };
    let whole = text.split_once('\n').filter(|(sum, json)| *sum == hex(&Sha256::digest(json)));
    let content = whole.and_then(|(_, json)| serde_json::from_str(json).ok());
    content.map(Some).ok_or_else(|| {
        format!(
            "{place} is damaged: remove it to measure that part anew, or begin without --resume"
        )
    })
}
