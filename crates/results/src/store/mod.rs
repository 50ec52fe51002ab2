//! Every result that was ever measured, in one file: an SQLite database.
//!
//! A record is kept whole, as its JSON, under its id: the same result is kept once. What is listed and
//! filtered stands in columns beside it. Any number of processes may read and write at a time; each
//! call is done all the way or not at all, whenever a process is killed or a disk is full.
//!
//! - **Tables**: `records` has the columns to list and filter by, `contents` the JSON packed by zlib,
//!   `figures` a row per figure; a record's number links the three, and its id is unique. `user_version` counts the steps of `schema.rs`, which
//!   never change once released; a later form is refused.
//! - **Durability**: one transaction per call, a write-ahead log, `synchronous = FULL`. A call that returned
//!   is on the disk.
//! - **Damage** is found by the header, by `quick_check` (up to 64 MB, before a review writes), by SQLite
//!   while reading, and by zlib's checksum and the id of each record; `results check` reads everything,
//!   hashes included. A database is set aside only if it is proven ours: it has our application id, or is at
//!   our default path. To open one takes a shared lock on its folder, to set one aside an
//!   exclusive lock (`lock.rs`); the file that was open is renamed, or none.
//!
//! The command never lets a database stop a review (`cli/keeper.rs`). `tests/golden/` has what 0.1.0 wrote.
//!
//! ```
//! use fourcorners_results::store::{Filter, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("results.db");
//! let store = Store::open(&path)?;
//! for kept in store.list(&Filter { drive: Some("m4".into()), ..Filter::default() })? {
//!     println!("{} {} {}", kept.id, kept.drive, kept.method);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod damage;
pub mod dates;
mod error;
mod export;
mod import;
mod latest;
mod lock;
mod open;
mod packed;
mod place;
mod query;
mod schema;
mod write;

use std::fmt::Display;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

pub use check::Checked;
pub use damage::{kept_beside, open_or_begin_anew};
pub use error::StoreError;
pub use export::{csv_header, inert};
pub use import::Imported;
pub use import::{documents, read_document};
pub use place::{DATABASE_VARIABLE, built_in_path, default_path};
pub use query::{FigureRow, Filter, Summary};
pub use write::Added;

/// A database of results.
///
/// It may be sent to another thread, and is for one thread at a time.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The file that was opened: another may be at the path by now.
    file: Option<(u64, u64)>,
}

impl Store {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What went wrong with this database.
    fn error(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::of(&self.path, error)
    }

    /// A record that is there and is not what was written.
    fn damaged(&self, id: &str, why: impl Display) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), why: format!("record {id}: {why}") }
    }
}
