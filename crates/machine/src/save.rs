//! A file that is either the old one or the new one, whatever happens while it is written.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags};
use tempfile::{Builder, TempPath};

/// How the names of files begin that are to be renamed, and how many letters follow: many, so that
/// none that a person gave is taken for one of them.
const PREFIX: &str = ".fourcorners-";
const RANDOM_LETTERS: usize = 24;

/// Writes `content` to `path` so that a reader, or a machine that loses power, finds the whole
/// old file or the whole new one.
///
/// The content goes to a temporary file in the same folder, without a name where that is possible,
/// is synced, takes the name by a rename, and the folder is synced. An existing file keeps its permissions, and a symbolic link
/// stays one: what it points at is replaced. A pipe, a terminal and the kernel's sinks (`/dev/stdout`,
/// `/dev/null`) are written to directly, since a rename would put a file in their place; any other
/// device is refused.
///
/// What a process that was killed between giving its file a name and renaming it has left in the
/// folder, under a name of ours, is removed first.
///
/// # Errors
///
/// Whatever the file system answers. The temporary file is removed then, and `path` is as it was
/// unless only the last sync, of the folder, failed.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    write_atomically_with(path, &|mut file| file.write_all(content))
}

/// The same by way of another folder of the same file system: a process that is killed in the moment
/// between naming a file and renaming it, which a busy disk makes long, leaves it there.
///
/// # Errors
///
/// As [`write_atomically`].
pub fn write_atomically_by(way: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    write_by(Some(way), path, &|mut file| file.write_all(content))
}

/// The same of a content that is written piece by piece: `write` is given the file, maybe a second
/// one after the first has failed.
///
/// # Errors
///
/// As [`write_atomically`], or what `write` answers.
pub fn write_atomically_with(
    path: &Path,
    write: &dyn Fn(&File) -> io::Result<()>,
) -> io::Result<()> {
    write_by(None, path, write)
}

fn write_by(
    way: Option<&Path>,
    path: &Path,
    write: &dyn Fn(&File) -> io::Result<()>,
) -> io::Result<()> {
    let existing = match path.metadata() {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let (destination, permissions) = match existing {
        Some(metadata) if metadata.is_dir() => {
            return Err(io::Error::new(
                io::ErrorKind::IsADirectory,
                format!("{} is a folder; name a file in it", path.display()),
            ));
        }
        Some(metadata) if !metadata.is_file() => {
            if !is_a_sink(&metadata) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("{} is a device; name a file", path.display()),
                ));
            }
            return write(&OpenOptions::new().write(true).open(path)?);
        }
        Some(metadata) => (path.canonicalize()?, Some(metadata.permissions())),
        None => (path.to_path_buf(), None),
    };
    let folder = folder_of(&destination);
    [Some(folder.as_path()), way].into_iter().flatten().for_each(remove_left_behind);
    let new = New { folder: way.unwrap_or(&folder), write, permissions };
    // Not every file system has files without a name; where it fails for another reason, the
    // second attempt says which.
    let (temporary, _locked) = new.named_when_whole().or_else(|_| new.named_from_the_start())?;
    temporary.persist(&destination).map_err(|error| error.error)?;
    File::open(&folder)?.sync_all()
}

/// Whether what is written there goes to somebody who reads it, or nowhere: to a disk it would destroy
/// what is on it, to a device such as `/dev/sg0` it would be a command, and some are not even to be opened.
pub fn is_a_sink(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    if !kind.is_char_device() {
        return !kind.is_block_device();
    }
    let number = metadata.rdev();
    // Documentation/admin-guide/devices.txt: null, zero and full; then terminals, consoles, serial
    // lines and those of virtual machines.
    match (rustix::fs::major(number), rustix::fs::minor(number)) {
        (1, minor) => [3, 5, 7].contains(&minor),
        (major, _) => matches!(major, 4 | 5 | 136..=143 | 204 | 229),
    }
}

/// Removes files of ours that nobody is at any more. Their writer holds a lock on them, which the
/// kernel takes from it when it is killed; where files cannot be locked they stay, hidden.
fn remove_left_behind(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let random = name.as_encoded_bytes().strip_prefix(PREFIX.as_bytes());
        let is_ours = random.is_some_and(|random| {
            random.len() == RANDOM_LETTERS && random.iter().all(u8::is_ascii_alphanumeric)
        });
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::open(entry.path(), flags, Mode::empty()) else { continue };
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Says that somebody is at the file, as long as it is open. Where that cannot be said, nobody asks
/// either.
fn lock(file: &File) {
    let _ = rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
}

/// A file that is to take another's place.
struct New<'a> {
    folder: &'a Path,
    write: &'a dyn Fn(&File) -> io::Result<()>,
    permissions: Option<Permissions>,
}

impl New<'_> {
    /// Gives the file a name once it is whole (open(2), `O_TMPFILE`), so that being killed while
    /// it is written leaves nothing behind. There is no call that gives it the name of a file that
    /// is there, so for a moment, until it is renamed, it has one of its own.
    fn named_when_whole(&self) -> io::Result<(TempPath, File)> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(self.folder, flags, Mode::from_raw_mode(0o666))?);
        lock(&file);
        self.fill(&file)?;
        let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
        let named = builder().make_in(self.folder, |path| {
            Ok(rustix::fs::linkat(CWD, &itself, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
        })?;
        Ok((named.into_temp_path(), file))
    }

    fn named_from_the_start(&self) -> io::Result<(TempPath, File)> {
        // A temporary file is private by default; a report is made like any other file, the umask
        // deciding.
        let file = builder().permissions(Permissions::from_mode(0o666)).tempfile_in(self.folder)?;
        lock(file.as_file());
        self.fill(file.as_file())?;
        let (file, path) = file.into_parts();
        Ok((path, file))
    }

    fn fill(&self, file: &File) -> io::Result<()> {
        (self.write)(file)?;
        if let Some(permissions) = &self.permissions {
            file.set_permissions(permissions.clone())?;
        }
        file.sync_all()
    }
}

fn builder<'a>() -> Builder<'a, 'a> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM_LETTERS);
    builder
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn replaces_a_file_and_leaves_nothing_else() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("page.html");
        write_atomically(&path, b"one")?;
        fs::set_permissions(&path, Permissions::from_mode(0o640))?;
        write_atomically(&path, b"two")?;
        assert_eq!(fs::read(&path)?, b"two");
        assert_eq!(path.metadata()?.permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path())?.count(), 1);
        Ok(())
    }

    #[test]
    fn a_file_system_without_unnamed_files_does_as_well() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("page.html");
        let permissions = Some(Permissions::from_mode(0o604));
        let write = |mut file: &File| file.write_all(b"new");
        let new = New { folder: folder.path(), write: &write, permissions };
        for (temporary, _locked) in [new.named_from_the_start()?, new.named_when_whole()?] {
            assert_eq!(temporary.metadata()?.permissions().mode() & 0o777, 0o604);
            temporary.persist(&path)?;
            assert_eq!(fs::read(&path)?, b"new");
        }
        assert_eq!(fs::read_dir(folder.path())?.count(), 1);
        Ok(())
    }

    #[test]
    fn follows_a_link_and_never_replaces_a_device() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old")?;
        std::os::unix::fs::symlink("file", &link)?;
        write_atomically(&link, b"new")?;
        assert!(link.symlink_metadata()?.is_symlink());
        assert_eq!(fs::read(&file)?, b"new");

        let device = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &device)?;
        write_atomically(&device, b"gone")?;
        assert!(!device.metadata()?.is_file());
        Ok(())
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_another_is_at_stays() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let left = format!("{PREFIX}{}", "x".repeat(RANDOM_LETTERS));
        let others =
            [".fourcorners-notes", ".fourcorners-", &left[1..], &format!("{left}.txt"), "page"];
        for name in others.into_iter().chain([left.as_str()]) {
            fs::write(at(name), "something")?;
        }
        let write = |mut file: &File| file.write_all(b"new");
        let new = New { folder: folder.path(), write: &write, permissions: None };
        let (when_whole, from_the_start) = (new.named_when_whole()?, new.named_from_the_start()?);
        write_atomically(&at("page"), b"one")?;
        assert!(!at(&left).exists() && others.iter().all(|name| at(name).exists()));
        assert!(when_whole.0.exists() && from_the_start.0.exists());

        // A process that is killed closes its files and removes nothing.
        let paths = [when_whole.0.keep()?, from_the_start.0.keep()?];
        drop((when_whole.1, from_the_start.1));
        write_atomically(&at("page"), b"two")?;
        assert!(paths.iter().all(|path| !path.exists()));
        assert_eq!(fs::read_dir(folder.path())?.count(), others.len());
        Ok(())
    }

    #[test]
    fn only_sinks_are_written_to_directly() -> io::Result<()> {
        for sink in ["/dev/null", "/dev/zero", "/dev/tty"] {
            assert!(is_a_sink(&fs::metadata(sink)?), "{sink}");
        }
        let refused = write_atomically(Path::new("/dev/urandom"), b"x").expect_err("a device");
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        Ok(())
    }

    #[test]
    fn refuses_a_folder_and_reports_a_missing_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let refused = write_atomically(folder.path(), b"").expect_err("a folder");
        assert_eq!(refused.kind(), io::ErrorKind::IsADirectory);
        let missing = folder.path().join("no/such/file");
        assert!(write_atomically(&missing, b"").is_err());
    }
}
