//! A damaged database is set aside under another name, never written over.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, RenameFlags};

use super::open::beside;
use super::{Store, StoreError};

/// What SQLite may keep beside a database; it finds it by the name.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Databases up to this size are looked through before a review begins to write to them, which takes
/// some hundredths of a second; a larger one shows its damage where it is read.
const LOOKED_THROUGH_BYTES: u64 = 64 << 20;

/// Opens a database to write to it. One that is damaged is set aside, and a new one begun; the second
/// of the two is where the damaged one is then.
///
/// # Errors
///
/// As [`Store::open`], and where it cannot be set aside.
pub fn open_or_begin_anew(path: &Path) -> Result<(Store, Option<PathBuf>), StoreError> {
    {
        let _opening = lock(path, FlockOperation::LockShared);
        match Store::open(path).and_then(Store::looked_through) {
            Err(damage) if damage.is_damage() => {}
            other => return other.map(|store| (store, None)),
        }
    }
    // Nobody opens it while it is set aside: a file beside it that SQLite had just made would be
    // taken for one of the new database. Another may have done so meanwhile, so it is looked at again.
    let _alone = lock(path, FlockOperation::LockExclusive);
    match Store::open(path).and_then(Store::looked_through) {
        Err(damage) if damage.is_damage() => {
            let aside = set_aside(path, &damage)?;
            Ok((Store::open(path)?, aside))
        }
        other => other.map(|store| (store, None)),
    }
}

/// A lock on the folder that a database is in. None where the file system has no locks, or there is no
/// folder yet: then there is nothing to be set aside either.
fn lock(path: &Path, how: FlockOperation) -> Option<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new("."))).ok()?;
    rustix::fs::flock(&folder, how).ok()?;
    Some(folder)
}

/// Renames a damaged database, with what SQLite keeps beside it, to the first free name like
/// `results.db.damaged-1`, and says which. `None` if somebody else has done so meanwhile.
///
/// # Errors
///
/// [`StoreError::Failed`] if the file system does not let us; everything is as it was then.
pub fn set_aside(path: &Path, damage: &StoreError) -> Result<Option<PathBuf>, StoreError> {
    rename_all(path).map_err(|error| StoreError::Failed {
        path: path.into(),
        why: format!("{damage}; it cannot be set aside: {error}"),
    })
}

fn rename_all(path: &Path) -> io::Result<Option<PathBuf>> {
    // A link stays, and what it points at is set aside.
    let opened = path.canonicalize().and_then(|path| Ok((File::open(&path)?, path)));
    let (file, path) = match opened {
        Ok(opened) => opened,
        // Another has set it aside, and has not begun the new one yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // Of two that found the damage, the second would set aside the new database of the first.
    rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
    let is_still_there = path.metadata().is_ok_and(|now| {
        file.metadata().is_ok_and(|then| (now.dev(), now.ino()) == (then.dev(), then.ino()))
    });
    if !is_still_there {
        return Ok(None);
    }
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
