//! A damaged database is set aside under another name, never written over.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};

use super::lock::{Hold, hold};
use super::open::{beside, file_at};
use super::{Store, StoreError};

/// What SQLite may keep beside a database; it finds it by the name.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Databases up to this size are looked through before a review begins to write to them, which takes
/// some hundredths of a second; a larger one shows its damage where it is read.
const LOOKED_THROUGH_BYTES: u64 = 64 << 20;

/// The files that SQLite may keep beside a database; it writes over them, and removes them.
pub fn kept_beside(path: &Path) -> [PathBuf; 3] {
    BESIDE.map(|suffix| beside(path, suffix))
}

/// Opens a database to write to it. One that is damaged is set aside, and a new one begun; the second
/// of the two is where the damaged one is then.
///
/// # Errors
///
/// As [`Store::open`], and where it cannot be set aside.
pub fn open_or_begin_anew(path: &Path) -> Result<(Store, Option<PathBuf>), StoreError> {
    match Store::open(path).and_then(Store::looked_through) {
        Err(damage) if damage.is_damage() => {}
        other => return other.map(|store| (store, None)),
    }
    let _alone = hold(path, Hold::Alone)?;
    // Another may have set it aside meanwhile, so it is looked at again.
    match Store::open_held(path).and_then(Store::looked_through) {
        Err(damage) if damage.is_damage() => begin_anew(path, &damage),
        other => other.map(|store| (store, None)),
    }
}

impl Store {
    /// Sets this database aside, which turned out to be damaged while it was in use, and opens a new one
    /// in its place; the second of the two is where it is then. If another has done so before, that
    /// one's new database is opened.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], and where it cannot be set aside; everything is as it was then.
    pub fn begin_anew(self, damage: &StoreError) -> Result<(Store, Option<PathBuf>), StoreError> {
        let Store { connection, path, file } = self;
        let _alone = hold(&path, Hold::Alone)?;
        // As long as it is open, SQLite may write to what is beside it.
        drop(connection);
        if file_at(&path) == file {
            return begin_anew(&path, damage);
        }
        Store::open_held(&path).map(|store| (store, None))
    }
}

/// Renames a damaged database, and begins a new one. The folder is held.
fn begin_anew(path: &Path, damage: &StoreError) -> Result<(Store, Option<PathBuf>), StoreError> {
    let aside = rename_all(path).map_err(|error| StoreError::Failed {
        path: path.into(),
        why: format!("{damage}; it cannot be set aside: {error}"),
    })?;
    Ok((Store::open_held(path)?, aside))
}

/// Renames a database, with what SQLite keeps beside it, to the first free name like
/// `results.db.damaged-1`, and says which. `None` if it is not there any more.
fn rename_all(path: &Path) -> io::Result<Option<PathBuf>> {
    // A link stays, and what it points at is set aside.
    let path = match path.canonicalize() {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    for number in 1.. {
        let aside = beside(&path, &format!(".damaged-{number}"));
        // The log first: beside a new database it would be taken for its own.
        if BESIDE.iter().any(|suffix| beside(&aside, suffix).exists()) || aside.exists() {
            continue;
        }
        for suffix in BESIDE {
            match std::fs::rename(beside(&path, suffix), beside(&aside, suffix)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        return match rustix::fs::renameat_with(CWD, &path, CWD, &aside, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(Some(aside)),
            Err(rustix::io::Errno::EXIST) => continue,
            Err(error) => Err(error.into()),
        };
    }
    unreachable!("there are always more numbers")
}

impl Store {
    /// Finds damage in a database of moderate size.
    fn looked_through(self) -> Result<Store, StoreError> {
        let is_small = self.path.metadata().is_ok_and(|it| it.len() <= LOOKED_THROUGH_BYTES);
        match is_small.then(|| self.structure()).transpose()?.flatten() {
            Some(why) => Err(StoreError::Damaged { path: self.path.clone(), why }),
            None => Ok(self),
        }
    }

    /// What is wrong with how the database is built, if anything is.
    pub(super) fn structure(&self) -> Result<Option<String>, StoreError> {
        let found = self.rows("PRAGMA quick_check(1)", Vec::new(), |row| row.get(0))?;
        Ok(found.into_iter().find(|line: &String| line != "ok"))
    }
}
