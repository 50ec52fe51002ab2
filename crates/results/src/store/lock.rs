//! The lock on the folder of a database: shared while one opens it, exclusive while one renames it.
//!
//! SQLite finds what it keeps beside a database by the name, so nobody may be opening one whose name is
//! about to be another's. The lock is on the folder and not on the file: a process that closes any handle
//! of a file loses the locks that SQLite has on it (<https://www.sqlite.org/howtocorrupt.html>, 2.2).

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::StoreError;
use super::open::PATIENCE;

/// How long until it is tried again; who has the lock needs it for milliseconds.
const PAUSE: Duration = Duration::from_millis(2);

/// What else may be done while this is held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// Others may open the database, too.
    ToOpen,
    /// Nobody else may.
    Alone,
}

/// Holds the folder that a database is in, until what is returned is dropped. None where there is no
/// folder yet, or the file system has no locks.
///
/// # Errors
///
/// [`StoreError::Busy`] if another held it all the time that was waited.
pub(super) fn hold(path: &Path, how: Hold) -> Result<Option<File>, StoreError> {
    // The database of a link is set aside where it is.
    let path_of_file = path.canonicalize();
    let file = path_of_file.as_deref().unwrap_or(path);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) else { return Ok(None) };
    let how = match how {
        Hold::ToOpen => FlockOperation::NonBlockingLockShared,
        Hold::Alone => FlockOperation::NonBlockingLockExclusive,
    };
    let began = Instant::now();
    loop {
        match flock(&folder, how) {
            Ok(()) => return Ok(Some(folder)),
            Err(Errno::WOULDBLOCK | Errno::INTR) if began.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE);
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                return Err(StoreError::Busy { path: path.into() });
            }
            Err(_) => return Ok(None),
        }
    }
}
