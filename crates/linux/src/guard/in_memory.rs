//! What answers in place of a drive: memory, or nothing at all, where that can be told. Devices below device mapper or MD are not looked at.

use std::fmt;
use std::fs::File;

use fourcorners_machine::file_system;

use super::system::{System, Thing, attribute, name_of};
use super::target::Kind;

/// Why a drive does not answer all I/Os of a target. It is shown as a clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InMemory {
    /// The file system keeps its files in memory.
    FileSystem,
    /// That of the file below a loop device does.
    FileSystemBelow,
    /// The file system has no direct I/O.
    PageCache,
    /// A loop device that reads and writes through the page cache.
    Loop,
    /// A disk that the kernel keeps in memory: its name.
    Disk(String),
    /// A part of a file was never written, and reads of it touch no drive.
    Holes {
        /// Bytes of that part.
        bytes: u64,
        /// Bytes of the whole file.
        of: u64,
    },
}

impl fmt::Display for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InMemory::FileSystem => f.write_str("its file system is in memory"),
            InMemory::FileSystemBelow => f.write_str("the file system below it is in memory"),
            InMemory::PageCache => {
                f.write_str("its file system has no direct I/O: the page cache answers")
            }
            InMemory::Loop => f.write_str(
                "it is a loop device without direct I/O (losetup --direct-io=on): the page cache answers",
            ),
            InMemory::Disk(name) => write!(f, "{name} is a disk that the kernel keeps in memory"),
            InMemory::Holes { bytes, of } => write!(
                f,
                "{} of its {} were holes when it was opened: nothing is on a drive there, so reads touch none until it is written",
                fourcorners_words::size(*bytes),
                fourcorners_words::size(*of)
            ),
        }
    }
}

/// Holes count from one part in so many of the file.
const LEAST_HOLES: u64 = 100;

/// What is known to answer in place of a drive; `None`: nothing that can be asked.
pub(super) fn behind(
    system: &System,
    (kind, thing): (Kind, Thing),
    file: &File,
    direct: bool,
) -> Option<InMemory> {
    if kind == Kind::File {
        if rustix::fs::fstatfs(file).is_ok_and(|on| file_system::is_in_memory(&on)) {
            return Some(InMemory::FileSystem);
        }
        if !direct {
            return Some(InMemory::PageCache);
        }
        let of = file.metadata().ok()?.len();
        let bytes =
            holes(file, of).filter(|bytes| bytes.saturating_mul(LEAST_HOLES) >= of.max(1))?;
        return Some(InMemory::Holes { bytes, of });
    }
    let Thing::Device(number) = thing else { return None };
    let mut disk = system.device_dir(number).ok()?;
    if disk.join("partition").exists() {
        disk.pop();
    }
    let name = name_of(&disk);
    let is = |kind: &str| name.strip_prefix(kind).is_some_and(|rest| rest.parse::<u32>().is_ok());
    match attribute(&disk.join("loop/dio")).as_deref() {
        Some("0") => Some(InMemory::Loop),
        Some(_) => attribute(&disk.join("loop/backing_file")).and_then(|below| {
            let on = rustix::fs::statfs(below).ok()?;
            file_system::is_in_memory(&on).then_some(InMemory::FileSystemBelow)
        }),
        _ if is("ram") || is("zram") || is("nullb") => Some(InMemory::Disk(name)),
        _ => None,
    }
}

/// Bytes of a file that are holes (lseek(2), `SEEK_HOLE`); `None` where the file system does not tell.
fn holes(file: &File, length: u64) -> Option<u64> {
    use rustix::fs::{SeekFrom, seek};
    let (mut here, mut holes) = (0, 0);
    while here < length {
        let hole = seek(file, SeekFrom::Hole(here)).ok()?;
        if hole >= length {
            break;
        }
        // No data behind it: ENXIO.
        let data = seek(file, SeekFrom::Data(hole)).unwrap_or(length).min(length);
        holes += data - hole;
        here = data.max(hole + 1);
    }
    Some(holes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::super::system::Devno;
    use super::*;

    #[test]
    fn holes_are_counted_and_a_file_that_was_written_has_none() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(3 << 20).expect("it grows");
        assert_eq!(holes(&file, 3 << 20), Some(3 << 20));
        file.write_all_at(&vec![1; 1 << 20], 1 << 20).expect("it is written");
        assert_eq!(holes(&file, 3 << 20), Some(2 << 20));
        for part in [0, 2] {
            file.write_all_at(&vec![1; 1 << 20], part << 20).expect("it is written");
        }
        assert_eq!(holes(&file, 3 << 20), Some(0));
    }

    #[test]
    fn a_disk_in_memory_a_loop_through_the_page_cache_and_a_drive_are_told_apart() {
        let sys = tempfile::tempdir().expect("a folder");
        let system = System { sys: sys.path().into(), proc: sys.path().into(), genuine: false };
        let file = tempfile::tempfile().expect("a file");
        let below = sys.path().join("below");
        let found = |name: &str, dio: Option<&str>, partition: bool| {
            let disk = sys.path().join(format!("devices/{name}"));
            let node = if partition { disk.join(format!("{name}p1")) } else { disk.clone() };
            std::fs::create_dir_all(&node).expect("a folder");
            if partition {
                std::fs::write(node.join("partition"), "1\n").expect("a file");
            }
            if let Some(dio) = dio {
                std::fs::create_dir_all(disk.join("loop")).expect("a folder");
                std::fs::write(disk.join("loop/dio"), dio).expect("a file");
                let below = below.to_str().expect("a name");
                std::fs::write(disk.join("loop/backing_file"), below).expect("a file");
            }
            let links = sys.path().join("dev/block");
            std::fs::create_dir_all(&links).expect("a folder");
            let link = links.join("7:1");
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(&node, &link).expect("a link");
            let thing = Thing::Device(Devno { major: 7, minor: 1 });
            behind(&system, (Kind::Device, thing), &file, true)
        };
        assert_eq!(found("loop0", Some("0\n"), false), Some(InMemory::Loop));
        assert_eq!(found("loop1", Some("0\n"), true), Some(InMemory::Loop));
        assert_eq!(found("loop2", Some("1\n"), true), None);
        assert_eq!(found("zram0", None, false), Some(InMemory::Disk("zram0".into())));
        assert_eq!(found("ram12", None, false), Some(InMemory::Disk("ram12".into())));
        assert_eq!(found("ramdisk", None, false), None);
        assert_eq!(found("sda", None, false), None);
    }
}
