//! Errors of a database of results: where, why, and what to do.

use std::io;
use std::path::{Path, PathBuf};

use fourcorners_record::ReadError;
use rusqlite::ErrorCode;
use thiserror::Error;

use super::place::default_path;

/// What a log and the file that is shared for it begin with, and some.
const LEAST_BYTES: u64 = 128 << 10;

/// Why something was not read from or written to a database. Nothing of a call that ends in one of
/// these has been written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no file.
    #[error("there are no results in {}: it does not exist", path.display())]
    Missing {
        /// The database.
        path: PathBuf,
    },
    /// It cannot be opened or made.
    #[error("cannot open the database {}: {why}", path.display())]
    Unreachable {
        /// The database.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A file that is no database of results, and may be anything.
    #[error("{} is not a database of results ({why}) and was not changed: name another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        why: String,
    },
    /// Written by a later version.
    #[error(
        "the database {} has form {found}, and this version knows those up to {known}: use the \
         fourcorners that wrote it, or name another file",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its form.
        found: i64,
        /// The last we know.
        known: i64,
    },
    /// It is one of ours, and part of it is not what was written.
    #[error("the database {} is damaged: {why}", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// Nothing is left of a damaged one that was to be imported.
    #[error(
        "nothing of the database {} can be taken over, it is damaged ({why}): import a copy of it from before, or the \
         folders of its reviews",
        path.display()
    )]
    Lost {
        /// The database.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// Somebody else has been writing all the time we waited.
    #[error("the database {} is in use by another process; try again", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// A read or write failed for another reason: no space, no permission, a failing disk.
    #[error("the database {}: {why}", path.display())]
    Failed {
        /// The database.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// No record has this id.
    #[error("there is no record {id:?} in {}: `{}` lists them", path.display(), list_of(path))]
    Unknown {
        /// The database.
        path: PathBuf,
        /// As given.
        id: String,
    },
    /// Several records' ids begin like this.
    #[error("the id {id:?} is ambiguous, it may be {}: give more characters", found.join(" or "))]
    Ambiguous {
        /// As given.
        id: String,
        /// Some of those it may be.
        found: Vec<String>,
    },
    /// A record that cannot be kept.
    #[error("{}the record {id:?} of {drive}, {method}, cannot be kept: {why}", place(from.as_deref()))]
    Refused {
        /// The file that it is in, if it is in one.
        from: Option<PathBuf>,
        /// Its id.
        id: String,
        /// Of which drive.
        drive: String,
        /// By which method.
        method: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file that was to be imported.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file that was to be imported is no document of records.
    #[error("{}: {error}", path.display())]
    NoDocument {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: ReadError,
    },
    /// A record of a file has times that are none.
    #[error("{}: the record {id:?}: {why}", path.display())]
    NoTime {
        /// The file.
        path: PathBuf,
        /// The record's id.
        id: String,
        /// What is wrong with them.
        why: String,
    },
    /// Where an export goes to does not take it.
    #[error("cannot write the records: {0}")]
    Export(#[from] io::Error),
}

impl StoreError {
    /// Whether the database is one of ours that is to be set aside.
    pub fn is_damage(&self) -> bool {
        matches!(self, StoreError::Damaged { .. })
    }

    /// Of a record that is read from a file.
    pub(super) fn of_file(self, file: &Path) -> StoreError {
        match self {
            StoreError::Refused { id, drive, method, why, .. } => {
                StoreError::Refused { from: Some(file.into()), id, drive, method, why }
            }
            other => other,
        }
    }

    /// Of a database that is read for an import: nothing sets that one aside.
    pub(super) fn of_source(self) -> StoreError {
        match self {
            StoreError::Damaged { path, why } => StoreError::Lost { path, why },
            other => other,
        }
    }

    /// What SQLite says of a database, told apart by what is to be done about it.
    pub(super) fn of(path: &Path, error: &rusqlite::Error) -> StoreError {
        let path = path.to_path_buf();
        let why = match error {
            // The code's own words, without "Error code 10:" in front.
            rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
            other => other.to_string(),
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                StoreError::Damaged { path, why }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            Some(ErrorCode::DiskFull) => {
                StoreError::Failed { path, why: "there is no space left".into() }
            }
            // Where the file that readers and writers share does not fit, SQLite does not say so.
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if is_full(&path) => {
                StoreError::Failed { path, why: format!("there is no space left ({why})") }
            }
            Some(ErrorCode::CannotOpen) => StoreError::Unreachable { path, why },
            Some(ErrorCode::ReadOnly) => {
                StoreError::Failed { path, why: "it cannot be written to".into() }
            }
            _ => StoreError::Failed { path, why },
        }
    }
}

/// The command that lists a database, which is to be named unless it is the one that is taken anyway.
fn list_of(path: &Path) -> String {
    if default_path().is_some_and(|default| default == path) {
        return "fourcorners results list".into();
    }
    let name = path.to_string_lossy();
    // Within these quotes a shell minds nothing but the quote.
    match name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c)) {
        true => format!("fourcorners results list --db {name}"),
        false => format!("fourcorners results list --db '{}'", name.replace('\'', r"'\''")),
    }
}

fn place(file: Option<&Path>) -> String {
    file.map_or_else(String::new, |file| format!("{}: ", file.display()))
}

/// Whether the file system of a database has no room for what SQLite needs beside it.
fn is_full(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let system = rustix::fs::statvfs(folder.unwrap_or(Path::new(".")));
    // One without blocks, such as /proc, has no space to run out of.
    system.is_ok_and(|it| it.f_blocks > 0 && it.f_bavail.saturating_mul(it.f_frsize) < LEAST_BYTES)
}
