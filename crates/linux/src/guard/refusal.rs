//! Refusals: one line each, with the target, the reason, and what to type.

use std::fmt;
use std::path::Path;

use fourcorners_words::size;
use rustix::io::Errno;

/// Why a target may not be used.
///
/// A message is one line. `target` is the path as given, with what the device or file is.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is nothing at the path.
    #[error(
        "{path} does not exist: give a block device or a file, or add --size 2G to create a file \
         of that size there"
    )]
    Missing {
        /// The path.
        path: String,
    },
    /// The path ends with / and does not exist.
    #[error(
        "{path} does not exist, and ends as a folder does: make it first (mkdir), or leave the / out"
    )]
    MissingFolder {
        /// The path.
        path: String,
    },
    /// Neither a block device nor a regular file.
    #[error("{path} is {what}: {instead}")]
    WrongKind {
        /// The path.
        path: String,
        /// What it is.
        what: String,
        /// What to give.
        instead: String,
    },
    /// The user may not.
    #[error("{target} may not be {action} by this user ({errno}): {}", instead_of_this_user())]
    Denied {
        /// The target.
        target: String,
        /// `read`, `written`, ...
        action: &'static str,
        /// What the system said.
        errno: Errno,
    },
    /// The system said no for another reason.
    #[error("{target} cannot be {action}: {errno}")]
    Os {
        /// The target.
        target: String,
        /// `read`, `written`, ...
        action: &'static str,
        /// What the system said.
        errno: Errno,
    },
    /// Too small for any measurement to mean something, or empty.
    #[error(
        "{target} is {}: give one of at least {}, or a new path and --size 2G",
        if *bytes == 0 { "empty" } else { "too small" },
        size(*least_bytes)
    )]
    TooSmall {
        /// The target.
        target: String,
        /// Its size.
        bytes: u64,
        /// [`super::LEAST_BYTES`].
        least_bytes: u64,
    },
    /// It cannot be written at all.
    #[error("{target} is read-only: {why}")]
    ReadOnly {
        /// The target.
        target: String,
        /// What makes it so and what to do.
        why: String,
    },
    /// A host-managed zoned drive fails any write that is not at a zone's write pointer.
    #[error(
        "{target} is a host-managed zoned drive, which takes no writes at random places: give a conventional one"
    )]
    Zoned {
        /// The target.
        target: String,
    },
    /// The system is using it. No option allows this.
    #[error("{target} is in use, so it is never written: {usage}; to free it: {}", .usage.undo)]
    InUse {
        /// The target.
        target: String,
        /// By what.
        usage: Usage,
    },
    /// A loop device over a block device, which would be written under another name.
    #[error("{target} is a window onto {below}, which would be written: give {below} itself")]
    Window {
        /// The target.
        target: String,
        /// The block device below.
        below: String,
    },
    /// It was not named for destruction.
    #[error("{target} would lose {loss}: to allow it, add {options}")]
    NotNamed {
        /// The target.
        target: String,
        /// What would be lost.
        loss: String,
        /// The options to add.
        options: String,
    },
    /// It was named for destruction, but it holds something that looks valuable.
    #[error("{target} {holds}: to destroy that too, add {options}")]
    NotForced {
        /// The target.
        target: String,
        /// What it holds.
        holds: String,
        /// The options to add.
        options: String,
    },
    /// A serial number that several disks of this machine have.
    #[error(
        "{serial} is the serial number of more than one disk here ({disks}): name the one you mean by its path"
    )]
    AmbiguousSerial {
        /// The serial number.
        serial: String,
        /// The disks.
        disks: String,
    },
    /// What it holds cannot be read, so nobody can say that it is nothing.
    #[error(
        "{target} cannot be read at byte {offset} ({errno}), so what would be destroyed is \
         unknown: check the drive and its cable with smartctl -a"
    )]
    Unreadable {
        /// The target.
        target: String,
        /// Where reading failed.
        offset: u64,
        /// What the system said.
        errno: Errno,
    },
    /// The kernel's account of what is in use cannot be read.
    #[error(
        "{target} cannot be checked, because {path} cannot be read ({errno}): mount /sys and \
         /proc, and run where they can be read"
    )]
    Unknown {
        /// The target.
        target: String,
        /// The file.
        path: String,
        /// What the system said.
        errno: Errno,
    },
    /// The path leads to something else than it did, or to something of another size.
    #[error("{target} was replaced or resized since it was checked: try again")]
    Changed {
        /// The target.
        target: String,
    },
    /// `--size` was given for a path that exists.
    #[error("{path} exists already: leave out --size to use it as it is, or give a new path")]
    Exists {
        /// The path.
        path: String,
    },
    /// `--size` was given for a folder.
    #[error("{path} is a folder: name a new file in it, for example {example}")]
    Folder {
        /// The path.
        path: String,
        /// A file in it.
        example: String,
    },
    /// `--size` was given for a path in no directory.
    #[error("{path} cannot be created, because {parent} is not a directory: mkdir -p {parent}")]
    NoParent {
        /// The path.
        path: String,
        /// Its directory.
        parent: String,
    },
    /// `--size` asks for too little, or for more than there is room for.
    #[error("{path} cannot be created with {}: {why}", size(*bytes))]
    Size {
        /// The path.
        path: String,
        /// The size asked for.
        bytes: u64,
        /// The limit and what to give.
        why: String,
    },
}

/// What keeps a target in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// The kind of use.
    pub kind: UsageKind,
    /// In words: `/dev/sdb1 is mounted at /mnt/x`.
    pub how: String,
    /// What to type to end it.
    pub undo: String,
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.how)
    }
}

/// The ways in which a target can be in use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum UsageKind {
    /// A mounted file system is on it.
    Mounted,
    /// Active swap.
    Swap,
    /// Device mapper, MD or bcache is built on it.
    Held,
    /// A loop device, zram or an exported target is built on it.
    Backing,
    /// Somebody has it open exclusively.
    Claimed,
    /// Somebody has locked it.
    Locked,
}

/// Sorts what the system said about `target` into the refusals.
pub(super) fn os_refusal(target: String, action: &'static str, errno: Errno) -> Refusal {
    match errno {
        Errno::ACCESS | Errno::PERM => Refusal::Denied { target, action, errno },
        Errno::ROFS => Refusal::ReadOnly {
            target,
            why: "its file system is mounted read-only; give a path on another one".into(),
        },
        _ => Refusal::Os { target, action, errno },
    }
}

/// A path as a shell would take it, on one line whatever bytes it has.
pub(super) fn quoted(path: &Path) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%=,".contains(c);
    match path.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        Some(text) if !text.chars().any(|c| c.is_control() || c == '\'') => format!("'{text}'"),
        _ => format!("$'{}'", path.as_os_str().as_encoded_bytes().escape_ascii()),
    }
}

/// Text from a device, without what would break the line.
pub(super) fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.trim().to_owned()
}

/// Who could, where this user may not.
fn instead_of_this_user() -> &'static str {
    match rustix::process::geteuid().is_root() {
        false => "try again as root",
        true => {
            "not even root may here, as of a file that is immutable (lsattr), of a medium that is read-only, \
             or in a container without that right"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn paths_are_quoted_for_a_shell_and_never_break_the_line() {
        assert_eq!(quoted(Path::new("/dev/disk/by-id/ata-X_1")), "/dev/disk/by-id/ata-X_1");
        assert_eq!(quoted(Path::new("/tmp/my disk")), "'/tmp/my disk'");
        assert_eq!(quoted(Path::new("a\nb")), r"$'a\nb'");
        assert_eq!(quoted(Path::new("it's")), r"$'it\'s'");
        assert_eq!(quoted(Path::new(OsStr::from_bytes(b"\xff"))), r"$'\xff'");
        assert_eq!(quoted(Path::new("")), "''");
    }

    #[test]
    fn messages_say_what_why_and_what_to_type() {
        let target = || "/dev/sdb (Samsung SSD 840, serial S1D, 120.0 GB)".to_owned();
        let usage = Usage {
            kind: UsageKind::Mounted,
            how: "/dev/sdb1 is mounted at /mnt/x".into(),
            undo: "umount /mnt/x".into(),
        };
        let messages = [
            (
                Refusal::InUse { target: target(), usage },
                "/dev/sdb (Samsung SSD 840, serial S1D, 120.0 GB) is in use, so it is never \
                 written: /dev/sdb1 is mounted at /mnt/x; to free it: umount /mnt/x",
            ),
            (
                Refusal::NotNamed {
                    target: target(),
                    loss: "all its data".into(),
                    options: "--destroy /dev/sdb".into(),
                },
                "/dev/sdb (Samsung SSD 840, serial S1D, 120.0 GB) would lose all its data: to \
                 allow it, add --destroy /dev/sdb",
            ),
            (
                Refusal::TooSmall { target: "x".into(), bytes: 0, least_bytes: 16 << 20 },
                "x is empty: give one of at least 16.8 MB, or a new path and --size 2G",
            ),
            (
                Refusal::Missing { path: "x".into() },
                "x does not exist: give a block device or a file, or add --size 2G to create a \
                 file of that size there",
            ),
        ];
        for (refusal, message) in messages {
            assert_eq!(refusal.to_string(), message);
        }
    }
}
