//! Opening a database: made when it is not there, refused when it is somebody else's.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::lock::{Hold, hold};
use super::place::built_in_path;
use super::schema::{self, APPLICATION_ID};
use super::{Store, StoreError};

/// How long a writer waits for another. One takes milliseconds; a machine under load may stop it
/// for seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// How every SQLite file begins (<https://www.sqlite.org/fileformat.html#the_database_header>).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER_BYTES: usize = 100;
const APPLICATION_ID_AT: usize = 68;

/// What becomes of a database whose end, or whose list of tables, is damaged.
#[derive(Clone, Copy)]
enum Damage {
    Refused,
    /// What is left of it is read: SQLite refuses a file that is shorter than it was, and a table whose first page is
    /// gone, unless its list of tables may be written to. Nothing is.
    ReadPast,
}

impl Store {
    /// Opens a database to read and write, and makes it, and the folders above it, if it is not there.
    /// One of an older form is brought to that of today.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`], after which [`open_or_begin_anew`](super::open_or_begin_anew) may be called;
    /// [`StoreError::Foreign`] of a file that is something else, which is left as it is;
    /// [`StoreError::Newer`]; [`StoreError::Unreachable`] and [`StoreError::Failed`] where the file
    /// system does not let us.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            // Private, as the XDG specification has it; a folder that is there stays as it is.
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| unreachable(path, &error))?;
        }
        let _opening = hold(path, Hold::ToOpen)?;
        Store::open_held(path)
    }

    /// [`open`](Store::open) while the folder is held.
    pub(super) fn open_held(path: &Path) -> Result<Store, StoreError> {
        look(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let store = Store::connect(path, path.as_os_str(), flags, Damage::Refused)?;
        store.knows_its_form()?;
        // SQLite opens what may only be read all the same, and says so when it is too late.
        if store.connection.is_readonly("main").map_err(|error| store.error(&error))? {
            let why = "it cannot be written to".into();
            return Err(StoreError::Unreachable { path: path.into(), why });
        }
        let made = schema::migrate(&store.connection).and_then(|()| write_ahead(&store.connection));
        made.map_err(|error| store.error(&error))?;
        Ok(store)
    }

    /// Opens a database that is there, to read it, also on a read-only file system; no result is
    /// changed.
    ///
    /// # Errors
    ///
    /// As [`open`](Store::open), and [`StoreError::Missing`].
    pub fn open_read_only(path: &Path) -> Result<Store, StoreError> {
        Store::open_to_read(path, Damage::Refused)
    }

    /// Opens a damaged database to read what is left of it.
    ///
    /// # Errors
    ///
    /// As [`open_read_only`](Store::open_read_only); [`StoreError::Damaged`] where its first page is.
    pub(super) fn open_damaged(path: &Path) -> Result<Store, StoreError> {
        Store::open_to_read(path, Damage::ReadPast)
    }

    fn open_to_read(path: &Path, damage: Damage) -> Result<Store, StoreError> {
        let _opening = hold(path, Hold::ToOpen)?;
        match path.metadata() {
            // What was never written to is nothing yet.
            Ok(metadata) if metadata.is_file() && metadata.len() == 0 => {
                return Err(StoreError::Missing { path: path.into() });
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::Missing { path: path.into() });
            }
            Err(error) => return Err(unreachable(path, &error)),
        }
        look(path)?;
        // Who may write cleans up behind itself: a log that is left is taken in, and what SQLite keeps
        // beside the database while it is open is removed. Where that may not be, SQLite only reads.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let opened = Store::connect(path, path.as_os_str(), flags, damage).and_then(|store| {
            store.knows_its_form()?;
            // Whoever began it was killed before its first commit, which opening it has undone.
            if schema::is_empty(&store.connection).map_err(|error| store.error(&error))? {
                return Err(StoreError::Missing { path: path.into() });
            }
            let reads = store.connection.pragma_update(None, "query_only", true);
            reads.map_err(|error| store.error(&error)).map(|()| store)
        });
        match opened {
            // A write-ahead log needs files beside the database, which cannot be made there. If nothing
            // is in one, nobody is writing, and nobody can.
            Err(StoreError::Unreachable { .. } | StoreError::Failed { .. }) if !has_log(path) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                let store = Store::connect(path, &immutable(path), flags, damage)?;
                store.knows_its_form().map(|()| store)
            }
            opened => opened,
        }
    }

    fn connect(
        path: &Path,
        name: &OsStr,
        flags: OpenFlags,
        damage: Damage,
    ) -> Result<Store, StoreError> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(Path::new(name), flags)
            .map_err(|error| StoreError::of(path, &error))?;
        let ready = connection.busy_timeout(PATIENCE).and_then(|()| {
            // First: what follows looks at the list of tables.
            if let Damage::ReadPast = damage {
                connection.execute_batch("PRAGMA writable_schema = ON")?;
            }
            // FULL: what is there when a review ends is there after a loss of power, too.
            connection.execute_batch(
                "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON;
                 PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;",
            )
        });
        ready.map_err(|error| StoreError::of(path, &error))?;
        Ok(Store { connection, path: path.into(), file: file_at(path) })
    }

    /// Refuses a form of a later version; an empty file has none yet.
    fn knows_its_form(&self) -> Result<(), StoreError> {
        let found = schema::form(&self.connection).map_err(|error| self.error(&error))?;
        let known = schema::FORM;
        if found > known || found < 0 {
            return Err(StoreError::Newer { path: self.path.clone(), found, known });
        }
        Ok(())
    }
}

fn unreachable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unreachable { path: path.into(), why: error.to_string() }
}

/// Looks at the first bytes of a file before SQLite does: a file that is not ours is not touched.
fn look(path: &Path) -> Result<(), StoreError> {
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreachable(path, &error)),
    };
    let foreign = |why: &str| StoreError::Foreign { path: path.into(), why: why.into() };
    if !metadata.is_file() {
        return Err(foreign(if metadata.is_dir() { "it is a folder" } else { "it is no file" }));
    }
    if metadata.len() == 0 {
        return Ok(());
    }
    let mut header = Vec::with_capacity(HEADER_BYTES);
    let read =
        File::open(path).and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut header));
    read.map_err(|error| unreachable(path, &error))?;
    if header.len() < HEADER_BYTES || !header.starts_with(MAGIC) {
        let why = "it does not begin as a database does";
        // Nobody else has files at this place: it was one of ours.
        return match built_in_path().is_some_and(|ours| ours == path) {
            true => Err(StoreError::Damaged { path: path.into(), why: why.into() }),
            false => Err(foreign(why)),
        };
    }
    let id = &header[APPLICATION_ID_AT..APPLICATION_ID_AT + 4];
    if id != APPLICATION_ID.to_be_bytes() {
        return Err(foreign("it is an SQLite database of another program"));
    }
    Ok(())
}

/// Has what is written go into a log beside the database first, so that readers do not wait for
/// writers. Where the file system has no shared memory (NFS), the database goes on without.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let began = std::time::Instant::now();
    loop {
        let mode: rusqlite::Result<String> =
            connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match mode {
            Ok(_) => return Ok(()),
            // The one lock that SQLite does not wait for by itself: that of another that changes this.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && began.elapsed() < PATIENCE =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Which file is at a path, by its device and number; none if there is none.
pub(super) fn file_at(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|it| (it.dev(), it.ino()))
}

/// The file beside a database whose name ends in this.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}

fn has_log(path: &Path) -> bool {
    beside(path, "-wal").metadata().is_ok_and(|log| log.len() > 0)
}

/// The address of a database that nobody changes (<https://www.sqlite.org/uri.html>).
fn immutable(path: &Path) -> OsString {
    let mut address = b"file:".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                address.push(byte);
            }
            other => address.extend(format!("%{other:02X}").bytes()),
        }
    }
    address.extend(b"?immutable=1");
    OsString::from_vec(address)
}
