//! The kernel's own account of the machine, in sysfs and /proc, and the names things have there.
//!
//! The two roots are data, so that the checks can be tested against a tree of a machine that
//! nobody has: multipath, device mapper, a swap file.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fourcorners_machine::file_system;
use rustix::fs::{FileType, Stat, StatFs, major, minor};
use rustix::io::Errno;

/// A block device's number, `major:minor`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Devno {
    pub(super) major: u32,
    pub(super) minor: u32,
}

impl Devno {
    pub(super) fn of(dev: u64) -> Devno {
        Devno { major: major(dev), minor: minor(dev) }
    }

    /// As sysfs and mountinfo write it.
    pub(super) fn parse(text: &str) -> Option<Devno> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Devno { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for Devno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// What a path leads to, whichever of its names was used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Thing {
    /// A block device.
    Device(Devno),
    /// A regular file: its file system and inode.
    File { dev: u64, ino: u64 },
}

impl Thing {
    pub(super) fn of(stat: &Stat) -> Option<Thing> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::BlockDevice => Some(Thing::Device(Devno::of(stat.st_rdev))),
            FileType::RegularFile => Some(Thing::File { dev: stat.st_dev, ino: stat.st_ino }),
            _ => None,
        }
    }

    /// What `path` leads to, symbolic links followed; `None` for anything else or nothing.
    pub(super) fn at(path: impl AsRef<Path>) -> Option<Thing> {
        Thing::of(&rustix::fs::stat(path.as_ref()).ok()?)
    }
}

/// A file of the kernel that had to be read and could not be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Unknown {
    pub(super) path: PathBuf,
    pub(super) errno: Errno,
}

/// Where sysfs and /proc are mounted.
#[derive(Clone, Debug)]
pub(super) struct System {
    pub(super) sys: PathBuf,
    pub(super) proc: PathBuf,
    /// Whether they are the kernel's, and not a test's.
    pub(super) genuine: bool,
}

impl System {
    /// The machine this runs on.
    pub(super) fn real() -> System {
        System { sys: "/sys".into(), proc: "/proc".into(), genuine: true }
    }

    /// Finds the kernel's own file systems where they are expected: what is mounted over them says
    /// nothing of what is in use.
    pub(super) fn answers(&self) -> Result<(), Unknown> {
        if !self.genuine {
            return Ok(());
        }
        let [devices, numbers] = ["block", "dev/block"].map(|name| self.sys.join(name));
        let tables = self.proc.join("self");
        for (path, kernels) in [
            (devices, file_system::is_sysfs as fn(&StatFs) -> bool),
            (numbers, file_system::is_sysfs),
            (tables, file_system::is_proc),
        ] {
            let errno = match rustix::fs::statfs(&path) {
                Ok(found) if kernels(&found) => continue,
                Ok(_) => Errno::NOENT,
                Err(errno) => errno,
            };
            return Err(Unknown { path, errno });
        }
        Ok(())
    }

    /// The directory that describes a block device, links resolved, so that its parent is the
    /// disk of a partition.
    pub(super) fn device_dir(&self, number: Devno) -> Result<PathBuf, Unknown> {
        let link = self.sys.join(format!("dev/block/{number}"));
        fs::canonicalize(&link).map_err(|error| Unknown { path: link, errno: errno_of(&error) })
    }

    /// The whole disks that programs can open.
    pub(super) fn disks(&self) -> Vec<PathBuf> {
        // A path of an NVMe multipath device is `hidden`: it has no node, and repeats its serial.
        self.expand("block/*")
            .into_iter()
            .filter(|dir| attribute(&dir.join("hidden")).as_deref() != Some("1"))
            .collect()
    }

    /// Paths in sysfs that match a pattern in which a component may end in `*`. What cannot be
    /// listed does not match.
    pub(super) fn expand(&self, pattern: &str) -> Vec<PathBuf> {
        let mut found = vec![self.sys.clone()];
        for component in pattern.split('/') {
            found = match component.strip_suffix('*') {
                None => found.into_iter().map(|dir| dir.join(component)).collect(),
                Some(prefix) => found.iter().flat_map(|dir| children(dir, prefix)).collect(),
            };
        }
        found.retain(|path| path.exists());
        found
    }

    /// A table in /proc. `None` when the kernel has no such table.
    pub(super) fn table(&self, name: &str) -> Result<Option<String>, Unknown> {
        let path = self.proc.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Unknown { errno: errno_of(&error), path }),
        }
    }
}

/// Entries of a directory whose name begins with `prefix`, in the order of their names.
pub(super) fn children(dir: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The last component of a path, as text.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A one-line attribute without its surrounding space; `None` when it is absent or empty.
pub(super) fn attribute(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// A numeric attribute.
pub(super) fn number(path: &Path) -> Option<u64> {
    attribute(path)?.parse().ok()
}

/// Undoes the octal escapes (`\040` for a space) of mountinfo and swaps
/// (`seq_escape` in fs/seq_file.c).
pub(super) fn unescape(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes.get(at + 1..at + 4).filter(|digits| {
            bytes[at] == b'\\' && digits.iter().all(|digit| (b'0'..=b'7').contains(digit))
        });
        let value = octal.map(|digits| {
            digits.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'))
        });
        match value.and_then(|value| u8::try_from(value).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 4;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

/// The error number of a standard library error.
pub(super) fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octal_escapes_are_undone_and_all_else_is_kept() {
        assert_eq!(unescape(r"/mnt/my\040disk\134"), b"/mnt/my disk\\");
        assert_eq!(unescape(r"\04"), br"\04");
        assert_eq!(unescape(r"\777\08x"), br"\777\08x");
        assert_eq!(unescape(""), b"");
    }

    #[test]
    fn device_numbers_are_read() {
        assert_eq!(Devno::parse("8:16\n"), Some(Devno { major: 8, minor: 16 }));
        assert_eq!(Devno::parse("8"), None);
        assert_eq!(Devno::parse("8:x"), None);
    }
}
