//! The target behind a path.

use std::fmt;
use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use fourcorners_drive::{Geometry, SECTOR_BYTES};
use fourcorners_machine::file_system;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, SeekFrom, Stat, StatxFlags};
use rustix::io::Errno;

use super::describe::{DEFAULT_QUEUE_DEPTH, Disk, node_path};
use super::lock::patiently;
use super::refusal::{Refusal, os_refusal, quoted};
use super::system::{Devno, System, Thing, Unknown, children, name_of};

/// Smallest target, 16 MiB. Below it the places of signatures at both ends are most of the
/// medium, and all of it fits in any drive's buffer, so that nothing measured would mean
/// anything.
pub const LEAST_BYTES: u64 = 16 << 20;

/// Device or file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A block device: a whole disk or a partition.
    Device,
    /// A regular file.
    File,
}

/// A block device or a file, as it was when it was inspected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RealTarget {
    /// The path as it was given.
    pub path: PathBuf,
    /// The path with all links resolved.
    pub canonical: PathBuf,
    /// Device or file.
    pub kind: Kind,
    /// Capacity rounded down to the logical block; of a file, the alignment that its file system
    /// asks of direct I/O. The queue depth is what the block layer queues before it makes the
    /// submitter wait.
    pub geometry: Geometry,
    /// Model as the device tells it.
    pub model: Option<String>,
    /// Serial number as the device tells it.
    pub serial: Option<String>,
    /// Firmware revision as the device tells it.
    pub firmware: Option<String>,
    /// Whether it is a disk that turns; of a file, the disk its file system is on, where known.
    pub rotational: Option<bool>,
    /// Whether the device takes discards (TRIM). False for a file.
    pub discard: bool,
    /// Whether writing is impossible for anybody, or for this user.
    pub read_only: bool,
    /// The node of the disk that this is a partition of.
    pub partition_of: Option<String>,
    /// What is behind a loop device.
    pub backing: Option<String>,
    pub(super) thing: Thing,
    pub(super) sequence: Option<u64>,
    pub(super) bytes: u64,
    /// Created by this process where files cannot be marked as scratch files.
    pub(super) unmarked_scratch: bool,
}

impl RealTarget {
    /// Whether both are the same device or the same file, by whatever path or link.
    pub fn is_same(&self, other: &RealTarget) -> bool {
        self.thing == other.thing
    }

    /// Whether a write to one of them may change the other: they are the same by whatever path or link, a
    /// disk and its partition, or a loop device and its file.
    pub fn overlaps(&self, other: &RealTarget) -> bool {
        let within = |part: &RealTarget, whole: &RealTarget| {
            [&part.partition_of, &part.backing]
                .into_iter()
                .flatten()
                .any(|path| Thing::at(path) == Some(whole.thing))
        };
        self.is_same(other) || within(self, other) || within(other, self)
    }
}

impl fmt::Display for RealTarget {
    /// On one line: `/dev/sdb (Samsung SSD 840, serial S1D5, 120.0 GB)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut facts = Vec::new();
        if self.path != self.canonical && self.path.is_absolute() {
            facts.push(quoted(&self.canonical));
        }
        if let Some(disk) = &self.partition_of {
            facts.push(format!("partition of {disk}"));
        }
        if let Some(backing) = &self.backing {
            facts.push(format!("loop device over {}", quoted(Path::new(backing))));
        }
        facts.extend(self.model.clone());
        facts.extend(self.serial.as_ref().map(|serial| format!("serial {serial}")));
        if self.kind == Kind::File {
            facts.push("file".into());
        }
        facts.push(fourcorners_words::size(self.bytes));
        write!(f, "{} ({})", quoted(&self.path), facts.join(", "))
    }
}

/// What a path is. Opens it read-only, and only if it is a block device or a regular file.
///
/// # Errors
/// A [`Refusal`] when there is nothing, something else, or something that is too small or may
/// not be read.
pub fn inspect(path: &Path) -> Result<RealTarget, Refusal> {
    let handle = Handle::get(path)?;
    match Thing::of(&handle.stat) {
        Some(Thing::Device(number)) => device(path, &handle, number),
        Some(thing @ Thing::File { .. }) => file(path, &handle, thing),
        None => Err(wrong_kind(&System::real(), path, &handle.stat)),
    }
}

fn device(path: &Path, handle: &Handle, number: Devno) -> Result<RealTarget, Refusal> {
    let shown = || quoted(path);
    let disk = Disk::describe(&System::real(), number).map_err(|error| unknown(shown(), error))?;
    let file = handle.reopen(OFlags::RDONLY).map_err(|errno| match errno {
        Errno::NOMEDIUM => {
            Refusal::TooSmall { target: shown(), bytes: 0, least_bytes: LEAST_BYTES }
        }
        errno => os_refusal(shown(), "read", errno),
    })?;
    let bytes = device_bytes(&file, disk.logical_block_bytes)
        .map_err(|errno| os_refusal(shown(), "read", errno))?;
    large_enough(RealTarget {
        path: path.to_owned(),
        canonical: handle.canonical.clone(),
        kind: Kind::Device,
        geometry: geometry(bytes, disk.logical_block_bytes, disk.queue_depth),
        backing: disk.backing(),
        partition_of: disk.whole.as_ref().map(|whole| whole.path.clone()),
        read_only: disk.read_only || handle.may_write().is_err(),
        model: disk.model,
        serial: disk.serial,
        firmware: disk.firmware,
        rotational: disk.rotational,
        discard: disk.discard,
        thing: Thing::Device(number),
        sequence: disk.sequence,
        bytes,
        unmarked_scratch: false,
    })
}

fn file(path: &Path, handle: &Handle, thing: Thing) -> Result<RealTarget, Refusal> {
    let file =
        handle.reopen(OFlags::RDONLY).map_err(|errno| os_refusal(quoted(path), "read", errno))?;
    let kernels_own = rustix::fs::fstatfs(&file).is_ok_and(|fs| file_system::is_kernels_own(&fs));
    if kernels_own {
        return Err(Refusal::WrongKind {
            path: quoted(path),
            what: "a file of the kernel's own".into(),
            instead: "give a block device or a file on a disk".into(),
        });
    }
    let bytes = u64::try_from(handle.stat.st_size).unwrap_or(0);
    // The disk below, where the file system is on one; Btrfs, overlays and networks are not.
    let disk = Disk::describe(&System::real(), Devno::of(handle.stat.st_dev)).ok();
    let depth = disk.as_ref().map_or(DEFAULT_QUEUE_DEPTH, |disk| disk.queue_depth);
    large_enough(RealTarget {
        path: path.to_owned(),
        canonical: handle.canonical.clone(),
        kind: Kind::File,
        geometry: geometry(bytes, direct_alignment(&file), depth),
        model: None,
        serial: None,
        firmware: None,
        rotational: disk.and_then(|disk| disk.rotational),
        discard: false,
        read_only: handle.may_write().is_err(),
        partition_of: None,
        backing: None,
        thing,
        sequence: None,
        bytes,
        unmarked_scratch: false,
    })
}

/// The size of an open device in whole blocks: a loop device over a file that is not a multiple
/// has a rest that cannot be read.
pub(super) fn device_bytes(file: &File, logical_block_bytes: u32) -> Result<u64, Errno> {
    let bytes = rustix::fs::seek(file, SeekFrom::End(0))?;
    Ok(bytes - bytes % u64::from(logical_block_bytes))
}

fn geometry(bytes: u64, logical_block_bytes: u32, queue_depth: u32) -> Geometry {
    let block = u64::from(logical_block_bytes);
    Geometry { sectors: bytes / block * block / SECTOR_BYTES, logical_block_bytes, queue_depth }
}

fn large_enough(target: RealTarget) -> Result<RealTarget, Refusal> {
    if target.bytes >= LEAST_BYTES {
        return Ok(target);
    }
    let shown = target.to_string();
    Err(Refusal::TooSmall { target: shown, bytes: target.bytes, least_bytes: LEAST_BYTES })
}

/// What direct I/O on this file must be aligned to: statx(2) says since Linux 6.1. Where it does
/// not, a page is right on every file system.
fn direct_alignment(file: &File) -> u32 {
    const STATX_DIOALIGN: u32 = 0x2000;
    const PAGE_BYTES: u32 = 4096;
    let wanted = StatxFlags::from_bits_retain(STATX_DIOALIGN);
    match rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, wanted) {
        Ok(statx)
            if statx.stx_mask & STATX_DIOALIGN != 0
                && statx.stx_dio_offset_align.is_power_of_two() =>
        {
            statx.stx_dio_offset_align.max(SECTOR_BYTES as u32)
        }
        _ => PAGE_BYTES,
    }
}

fn wrong_kind(system: &System, path: &Path, stat: &Stat) -> Refusal {
    let none = || "give a block device (lsblk lists them) or a file".to_owned();
    let (what, instead) = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            let file = quoted(&path.join("scratch.bin"));
            ("a directory", format!("give a file in it, such as {file} --size 2G"))
        }
        FileType::CharacterDevice => {
            let block = block_device_of(system, Devno::of(stat.st_rdev));
            let instead = block.map(|node| format!("give the block device, {node}"));
            ("a character device", instead.unwrap_or_else(none))
        }
        FileType::Fifo => ("a FIFO", none()),
        FileType::Socket => ("a socket", none()),
        _ => ("neither a block device nor a file", none()),
    };
    Refusal::WrongKind { path: quoted(path), what: what.into(), instead }
}

/// The disk of a character device: `/dev/sg1` has it in `device/block`, the controller
/// `/dev/nvme0` has its name spaces below it, `/dev/ng0n1` is one by another name.
fn block_device_of(system: &System, number: Devno) -> Option<String> {
    let dir = fs::canonicalize(system.sys.join(format!("dev/char/{number}"))).ok()?;
    let name = name_of(&dir);
    let below = children(&dir.join("device/block"), "");
    let spaces = children(&dir, &format!("{name}n"));
    let twin = name.strip_prefix("ng").map(|rest| system.sys.join(format!("block/nvme{rest}")));
    below.into_iter().chain(spaces).chain(twin).find(|dir| dir.exists()).map(|dir| node_path(&dir))
}

pub(super) fn unknown(target: String, error: Unknown) -> Refusal {
    Refusal::Unknown { target, path: quoted(&error.path), errno: error.errno }
}

/// A place in the file system that stays the same whatever happens to its names, held without
/// opening what is there.
pub(super) struct Handle {
    fd: OwnedFd,
    pub(super) stat: Stat,
    pub(super) canonical: PathBuf,
}

impl Handle {
    /// Follows links. Has no effect on what it leads to (`O_PATH` in open(2)).
    pub(super) fn get(path: &Path) -> Result<Handle, Refusal> {
        let shown = || quoted(path);
        let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(
            |errno| match errno {
                Errno::NOENT if path.as_os_str().as_encoded_bytes().ends_with(b"/") => {
                    Refusal::MissingFolder { path: shown() }
                }
                Errno::NOENT => Refusal::Missing { path: shown() },
                errno => os_refusal(shown(), "reached", errno),
            },
        )?;
        let stat = rustix::fs::fstat(&fd).map_err(|errno| os_refusal(shown(), "reached", errno))?;
        let link = link_of(fd.as_fd());
        let canonical = fs::read_link(&link).map_err(|error| {
            unknown(shown(), Unknown { path: link, errno: super::system::errno_of(&error) })
        })?;
        Ok(Handle { fd, stat, canonical })
    }

    /// Opens what is there.
    pub(super) fn reopen(&self, flags: OFlags) -> Result<File, Errno> {
        // The link leads to the inode, not to the path (proc(5), /proc/pid/fd).
        let link = link_of(self.fd.as_fd());
        rustix::fs::open(link, flags | OFlags::CLOEXEC, Mode::empty()).map(File::from)
    }

    /// Opens a device for this program alone. Another program that looks at every disk may have
    /// it for a moment, so that busy is taken for an answer only when it lasts.
    pub(super) fn claim(&self, flags: OFlags) -> Result<File, Errno> {
        patiently(|| self.reopen(flags | OFlags::EXCL), |errno| *errno == Errno::BUSY)
    }

    /// Whether this user may write it, by mode, mount and attributes.
    pub(super) fn may_write(&self) -> Result<(), Errno> {
        rustix::fs::access(link_of(self.fd.as_fd()), rustix::fs::Access::WRITE_OK)
    }
}

fn link_of(fd: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::super::fake::Machine;
    use super::*;

    #[test]
    fn a_character_device_leads_to_its_disk() {
        let machine = Machine::new();
        let number = Devno { major: 21, minor: 1 };
        machine.write("class/scsi_generic/sg1/device/block/sdb/dev", "8:16\n");
        machine.link("dev/char/21:1", "class/scsi_generic/sg1");
        assert_eq!(block_device_of(&machine.system(), number).as_deref(), Some("/dev/sdb"));

        machine.write("class/nvme/nvme0/nvme0n1/dev", "259:0\n");
        machine.link("dev/char/21:2", "class/nvme/nvme0");
        let number = Devno { major: 21, minor: 2 };
        assert_eq!(block_device_of(&machine.system(), number).as_deref(), Some("/dev/nvme0n1"));

        machine.write("class/nvme-generic/ng0n1/dev", "21:3\n");
        machine.link("dev/char/21:3", "class/nvme-generic/ng0n1");
        let number = Devno { major: 21, minor: 3 };
        assert_eq!(block_device_of(&machine.system(), number), None);
        machine.disk("nvme0n1", Devno { major: 259, minor: 0 });
        assert_eq!(block_device_of(&machine.system(), number).as_deref(), Some("/dev/nvme0n1"));
    }

    #[test]
    fn capacity_is_rounded_down_to_the_block() {
        assert_eq!(geometry(4096 * 10 + 4095, 4096, 32).sectors, 80);
        assert_eq!(geometry(4095, 4096, 32).sectors, 0);
        assert_eq!(geometry(513, 512, 32).sectors, 1);
    }
}
