//! Every result that was ever measured, in one file: an SQLite database.
//!
//! A record is kept whole, as its JSON, under its id: the same result is kept once. What is listed and
//! filtered stands in columns beside it. Any number of processes may read and write at a time; each
//! call is done all the way or not at all, whenever a process is killed or a disk is full.
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

use std::path::{Path, PathBuf};

use rusqlite::Connection;

pub use check::Checked;
pub use damage::open_or_begin_anew;
pub use error::StoreError;
pub use export::csv_header;
pub use import::Imported;
pub use import::{documents, read_document};
pub use place::default_path;
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
    fn damaged(&self, id: &str, why: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), why: format!("record {id}: {why}") }
    }
}
