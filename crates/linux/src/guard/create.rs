//! Creating the scratch file that `--size` asks for.

use std::fs::File;
use std::path::{Path, PathBuf};

use fourcorners_machine::file_system;
use rustix::fs::{Access, FallocateFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::refusal::{Refusal, os_refusal, quoted};
use super::scratch::mark;
use super::target::{LEAST_BYTES, RealTarget, inspect};

/// Whether [`create_file`] can be expected to succeed. Changes nothing.
///
/// # Errors
/// The [`Refusal`] to show.
pub fn may_create(path: &Path, bytes: u64) -> Result<(), Refusal> {
    let shown = || quoted(path);
    let size = |why: String| Refusal::Size { path: shown(), bytes, why };
    if bytes < LEAST_BYTES {
        return Err(size(format!("give at least {}", fourcorners_words::size(LEAST_BYTES))));
    }
    match rustix::fs::lstat(path) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
            let example = quoted(&path.join("test.img"));
            return Err(Refusal::Folder { path: shown(), example });
        }
        Ok(_) => return Err(Refusal::Exists { path: shown() }),
        Err(Errno::NOENT | Errno::NOTDIR) => {}
        Err(errno) => return Err(os_refusal(shown(), "created", errno)),
    }
    let parent = parent_of(path);
    let is_directory = rustix::fs::stat(&parent)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
    if !is_directory || path.file_name().is_none() {
        return Err(Refusal::NoParent { path: shown(), parent: quoted(&parent) });
    }
    rustix::fs::access(&parent, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|errno| os_refusal(shown(), "created", errno))?;
    let os = |errno| os_refusal(shown(), "created", errno);
    if file_system::is_kernels_own(&rustix::fs::statfs(&parent).map_err(os)?) {
        return Err(Refusal::WrongKind {
            path: shown(),
            what: "in a file system of the kernel's own".into(),
            instead: "give a path on a disk".into(),
        });
    }
    let space = rustix::fs::statvfs(&parent).map_err(os)?;
    let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    if free_bytes < bytes {
        let free = fourcorners_words::size(free_bytes);
        return Err(size(format!(
            "{} has {free} free; give less or another place",
            quoted(&parent)
        )));
    }
    // Going beyond it is not an error but a signal, SIGXFSZ (setrlimit(2)).
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < bytes => Err(size(format!(
            "this shell allows files of {}; ulimit -f unlimited",
            fourcorners_words::size(limit)
        ))),
        _ => Ok(()),
    }
}

/// Creates a scratch file with its space allocated, so that a test cannot run out of it.
/// Removes it again if that fails.
///
/// The result may be written without `--destroy`, and so may the file later, as long as it is
/// plainly nothing but a scratch file.
///
/// # Errors
/// The [`Refusal`] to show; also when something is at `path` already, be it a dangling link.
pub fn create_file(path: &Path, bytes: u64) -> Result<RealTarget, Refusal> {
    may_create(path, bytes)?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    let fd =
        rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| match errno {
            Errno::EXIST => Refusal::Exists { path: quoted(path) },
            errno => os_refusal(quoted(path), "created", errno),
        })?;
    let file = File::from(fd);
    let made = allocate(&file, bytes)
        .map_err(|errno| os_refusal(quoted(path), "created", errno))
        .and_then(|()| {
            // A file system without attributes still has a good scratch file, for this run.
            let unmarked_scratch = mark(&file).is_err();
            Ok(RealTarget { unmarked_scratch, ..inspect(path)? })
        });
    if made.is_err() {
        // It is this call's own: it was created exclusively. Failing to remove it leaves a file
        // of zeros and is less worth saying than why it could not be made.
        let _ = std::fs::remove_file(path);
    }
    made
}

fn allocate(file: &File, bytes: u64) -> Result<(), Errno> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => rustix::fs::ftruncate(file, bytes),
        result => result,
    }
}

/// The directory that `path` is created in.
fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
