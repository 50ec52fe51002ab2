//! Bytes in a sparse file.
//!
//! A file that is not there is created, readable by its owner only, and marked as ours with an extended attribute that
//! names its inode and size, so that a copy is not taken for it. A marked file may be served again; any other file has to
//! be named for destruction as for every test here. Whether it is in use is the guard's question in each case.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use fourcorners_linux::guard::{self, Lease, Permission, Refusal};
use rustix::fs::{FallocateFlags, Mode, OFlags, SeekFrom, XattrFlags};
use rustix::io::Errno;

/// The attribute of contents that were created here.
const MARK: &str = "user.fourcorners.contents";

/// More than a mark has.
const MOST_MARK_BYTES: usize = 128;

/// Contents in a file, locked as long as it is open.
#[derive(Debug)]
pub struct ContentsFile {
    file: File,
    bytes: u64,
    _lease: Option<Lease>,
}

/// Why a file cannot hold the contents.
#[derive(Debug, thiserror::Error)]
pub enum ContentsError {
    /// The guard says no.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// A file of another size.
    #[error(
        "{path} has {found} bytes and the drive has {expected}: contents are as large as their drive; give another file, \
         or one that is not there yet"
    )]
    Size {
        /// The file.
        path: String,
        /// Its size.
        found: u64,
        /// The drive's.
        expected: u64,
    },
    /// It cannot be created, opened or read.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
}

impl ContentsFile {
    /// The contents in the file at `path`, which is created if it is not there.
    ///
    /// # Errors
    /// When it is another's and not named in `permission`, in use, of another size, or cannot be had.
    pub fn open(
        path: &Path,
        bytes: u64,
        permission: &Permission,
    ) -> Result<ContentsFile, ContentsError> {
        let ours = Permission {
            destroy: vec![path.display().to_string()],
            force: vec![path.display().to_string()],
        };
        if path.symlink_metadata().is_err() {
            create(path, bytes).map_err(|error| at(path, error))?;
            return claim(path, bytes, &ours).inspect_err(|_| {
                // It is this call's own: it was created exclusively, and holds nothing.
                let _ = std::fs::remove_file(path);
            });
        }
        let permission = if is_marked(path) { &ours } else { permission };
        claim(path, bytes, permission)
    }

    /// The same to be read only; nothing is claimed and nothing created.
    ///
    /// # Errors
    /// When it is of another size or cannot be read.
    pub fn open_to_read(path: &Path, bytes: u64) -> Result<ContentsFile, ContentsError> {
        let target = guard::inspect(path)?;
        let file = guard::open_for_reading(&target)?.file;
        Ok(ContentsFile { file: through_the_cache(path, file, bytes)?, bytes, _lease: None })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<bool> {
        self.file.read_exact_at(data, offset).map(|()| true)
    }

    pub(super) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_all_at(data, offset)
    }

    pub(super) fn discard(&self, offset: u64, length: u64) -> io::Result<()> {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match rustix::fs::fallocate(&self.file, hole, offset, length) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                let zeros = vec![0; (1 << 20).min(length) as usize];
                let (mut at, end) = (offset, offset + length);
                while at < end {
                    let part = (zeros.len() as u64).min(end - at);
                    self.file.write_all_at(&zeros[..part as usize], at)?;
                    at += part;
                }
                Ok(())
            }
            result => Ok(result?),
        }
    }

    /// Whether `at` is a hole, and until where all is like it.
    pub(super) fn alike(&self, at: u64, end: u64) -> io::Result<(bool, u64)> {
        match rustix::fs::seek(&self.file, SeekFrom::Data(at)) {
            Ok(data) if data > at => Ok((true, data.min(end))),
            // Nothing but a hole to the end (lseek(2)).
            Err(Errno::NXIO) => Ok((true, end)),
            Ok(_) => {
                let hole = rustix::fs::seek(&self.file, SeekFrom::Hole(at))?;
                // A file that changes behind us must not stop us.
                Ok((false, if hole > at { hole.min(end) } else { end }))
            }
            // A file system that cannot tell.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok((false, end)),
            Err(errno) => Err(errno.into()),
        }
    }

    pub(super) fn stored_bytes(&self) -> u64 {
        rustix::fs::fstat(&self.file).map_or(0, |stat| stat.st_blocks as u64 * 512).min(self.bytes)
    }

    /// Everything that was written is on its disk.
    ///
    /// # Errors
    /// What the file system says.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

fn at(path: &Path, error: impl Into<io::Error>) -> ContentsError {
    ContentsError::Io { path: path.display().to_string(), error: error.into() }
}

fn create(path: &Path, bytes: u64) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?;
    let made = rustix::fs::ftruncate(&file, bytes).and_then(|()| {
        let mark = mark_of(&rustix::fs::fstat(&file)?);
        // Where files have no attributes it has to be named the next time.
        let _ = rustix::fs::fsetxattr(&file, MARK, mark.as_bytes(), XattrFlags::empty());
        Ok(())
    });
    if made.is_err() {
        let _ = std::fs::remove_file(path);
    }
    made
}

fn mark_of(stat: &rustix::fs::Stat) -> String {
    format!("1 inode {} bytes {}", stat.st_ino, stat.st_size)
}

/// Whether it was created here, is where and as large as it was then, and has no second name.
fn is_marked(path: &Path) -> bool {
    let mut mark = [0; MOST_MARK_BYTES];
    let Ok(stat) = rustix::fs::stat(path) else { return false };
    let Ok(length) = rustix::fs::getxattr(path, MARK, &mut mark[..]) else { return false };
    stat.st_nlink == 1 && mark[..length] == *mark_of(&stat).as_bytes()
}

/// Opens it for writing by the guard's rules, and takes a lock on it.
fn claim(path: &Path, bytes: u64, permission: &Permission) -> Result<ContentsFile, ContentsError> {
    let target = guard::inspect(path)?;
    if target.kind != guard::Kind::File {
        let what = "a device: contents are kept in memory or in a file";
        return Err(at(path, io::Error::new(io::ErrorKind::InvalidInput, what)));
    }
    // Before the guard: what it says of the wrong file would not help.
    size_fits(path, std::fs::metadata(path).map_err(|error| at(path, error))?.len(), bytes)?;
    let opened = guard::open_for_writing(&target, permission)?;
    let file = through_the_cache(path, opened.file, bytes)?;
    Ok(ContentsFile { file, bytes, _lease: Some(opened.lease) })
}

fn size_fits(path: &Path, found: u64, expected: u64) -> Result<(), ContentsError> {
    let path = path.display().to_string();
    (found == expected).then_some(()).ok_or(ContentsError::Size { path, found, expected })
}

/// The guard opens for direct I/O; here the page cache is wanted, and requests are of any alignment.
fn through_the_cache(path: &Path, file: File, bytes: u64) -> Result<File, ContentsError> {
    size_fits(path, file.metadata().map_err(|error| at(path, error))?.len(), bytes)?;
    rustix::fs::fcntl_setfl(&file, OFlags::empty()).map_err(|errno| at(path, errno))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u64 = 16 << 20;

    fn refused(path: &Path, permission: &Permission) -> String {
        match ContentsFile::open(path, BYTES, permission) {
            Ok(_) => "it was opened".into(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_was_created_here_is_opened_again_and_what_is_in_use_is_not() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("contents");
        let nothing = Permission::default();
        let first = ContentsFile::open(&path, BYTES, &nothing).expect("it is created");
        first.write(4096, &[7; 512]).expect("it can be written");
        assert!(first.stored_bytes() <= 1 << 16, "it is sparse");
        assert!(refused(&path, &nothing).contains("locked"), "{}", refused(&path, &nothing));
        drop(first);
        if rustix::fs::getxattr(&path, MARK, &mut [0u8; MOST_MARK_BYTES][..]).is_err() {
            let why = "the file system has no extended attributes";
            return fourcorners_testing::skipped("extended-attributes", why);
        }
        let again = ContentsFile::open(&path, BYTES, &nothing).expect("it is ours");
        let mut data = [0; 512];
        again.read(4096, &mut data).expect("it can be read");
        assert_eq!(data, [7; 512]);
        drop(again);
        std::fs::hard_link(&path, dir.path().join("second")).expect("it can be linked");
        assert!(refused(&path, &nothing).contains("--destroy"));
    }

    #[test]
    fn anothers_file_has_to_be_named_and_one_of_another_size_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("letters");
        std::fs::write(&path, vec![b'x'; BYTES as usize]).expect("it can be written");
        let nothing = Permission::default();
        assert!(refused(&path, &nothing).contains("--destroy"), "{}", refused(&path, &nothing));
        assert_eq!(std::fs::read(&path).expect("it is there"), vec![b'x'; BYTES as usize]);
        let named = Permission { destroy: vec![path.display().to_string()], force: Vec::new() };
        assert!(ContentsFile::open(&path, BYTES, &named).is_ok());
        let error = ContentsFile::open(&path, BYTES * 2, &named).expect_err("it is too small");
        assert!(matches!(error, ContentsError::Size { found: BYTES, .. }), "{error}");
        let read = ContentsFile::open_to_read(&path, BYTES).expect("reading asks for nothing");
        let mut data = [0; 3];
        read.read(1, &mut data).expect("it can be read at any byte");
        assert_eq!(data, *b"xxx");
    }
}
