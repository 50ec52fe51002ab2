//! What the kernel counted at the disk below a device or a file (Documentation/block/stat.rst).

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

/// The counters of a disk since the machine was started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskCounters {
    /// Its name, without `/dev/`.
    pub name: String,
    /// Reads completed, and writes.
    pub ios: [u64; 2],
    /// Those that were merged into others.
    pub merges: [u64; 2],
    /// Milliseconds that they took together.
    pub ticks_ms: [u64; 2],
    /// Milliseconds in which anything was in flight.
    pub busy_ms: u64,
    /// Milliseconds of all that was in flight, together.
    pub in_queue_ms: u64,
}

impl DiskCounters {
    /// Those of the whole disk that `path` is, is a partition of, or has its file system on; `None` where that is
    /// no single block device (tmpfs, overlay, Btrfs, a network).
    pub fn of(path: &Path) -> Option<DiskCounters> {
        let metadata = path.metadata().ok()?;
        let number = match metadata.file_type().is_block_device() {
            true => metadata.rdev(),
            false => metadata.dev(),
        };
        DiskCounters::below(Path::new("/sys"), (major(number), minor(number)))
    }

    fn below(sys: &Path, (major, minor): (u32, u32)) -> Option<DiskCounters> {
        let dir = sys.join(format!("dev/block/{major}:{minor}")).canonicalize().ok()?;
        let dir: PathBuf = match dir.join("partition").exists() {
            true => dir.parent()?.to_path_buf(),
            false => dir,
        };
        let stat = fs::read_to_string(dir.join("stat")).ok()?;
        let numbers: Vec<u64> =
            stat.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let at = |place: usize| numbers.get(place).copied();
        Some(DiskCounters {
            name: dir.file_name()?.to_string_lossy().into_owned(),
            ios: [at(0)?, at(4)?],
            merges: [at(1)?, at(5)?],
            ticks_ms: [at(3)?, at(7)?],
            busy_ms: at(9)?,
            in_queue_ms: at(10)?,
        })
    }

    /// What came to them since.
    pub fn since(&self, earlier: &DiskCounters) -> DiskCounters {
        let less = |now: [u64; 2], then: [u64; 2]| {
            [now[0].saturating_sub(then[0]), now[1].saturating_sub(then[1])]
        };
        DiskCounters {
            name: self.name.clone(),
            ios: less(self.ios, earlier.ios),
            merges: less(self.merges, earlier.merges),
            ticks_ms: less(self.ticks_ms, earlier.ticks_ms),
            busy_ms: self.busy_ms.saturating_sub(earlier.busy_ms),
            in_queue_ms: self.in_queue_ms.saturating_sub(earlier.in_queue_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_has_the_counters_of_its_disk() {
        let sys = tempfile::tempdir().expect("a directory");
        let part = sys.path().join("block/sda/sda1");
        fs::create_dir_all(&part).expect("it can be made");
        fs::create_dir_all(sys.path().join("dev/block")).expect("it can be made");
        fs::write(part.join("partition"), "1\n").expect("it can be written");
        fs::write(sys.path().join("block/sda/stat"), " 1 2 3 4 5 6 7 8 9 10 11 12\n")
            .expect("it can be written");
        std::os::unix::fs::symlink(&part, sys.path().join("dev/block/8:1")).expect("a link");
        let found = DiskCounters::below(sys.path(), (8, 1)).expect("it is there");
        assert_eq!((found.name.as_str(), found.ios, found.merges), ("sda", [1, 5], [2, 6]));
        assert_eq!((found.ticks_ms, found.busy_ms, found.in_queue_ms), ([4, 8], 10, 11));
        assert_eq!(found.since(&found).ios, [0, 0]);
        assert_eq!(DiskCounters::below(sys.path(), (8, 2)), None);
        fs::write(sys.path().join("block/sda/stat"), "1 2 3\n").expect("it can be written");
        assert_eq!(DiskCounters::below(sys.path(), (8, 1)), None);
    }
}
