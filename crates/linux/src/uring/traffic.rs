//! Bytes that the kernel moved to and from the drive of a target, for any process.

use std::fs;

use super::Uring;
use super::discard::block_device;

impl Uring {
    /// Bytes read and written since the machine was started, of the whole drive where the target is a
    /// part of one. `None` of a file, and of a device that is not used directly: what a cache moves,
    /// and when, is nobody's own.
    pub fn device_bytes(&self) -> Option<u64> {
        let device = self.direct.then(|| block_device(&self.file).ok().flatten()).flatten()?;
        let folder = device.folder();
        let whole = match fs::exists(format!("{folder}/partition")) {
            Ok(true) => format!("{folder}/../stat"),
            _ => format!("{folder}/stat"),
        };
        moved(&fs::read_to_string(whole).ok()?)
    }
}

/// Bytes that a `stat` of the kernel tells (Documentation/block/stat.rst): sectors read and written
/// are its third and its seventh number, of 512 bytes whatever the drive's are.
fn moved(stat: &str) -> Option<u64> {
    let sectors = |index: usize| stat.split_whitespace().nth(index)?.parse::<u64>().ok();
    Some((sectors(2)? + sectors(6)?) * 512)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_read_and_written_are_told_from_the_other_numbers() {
        let stat = "  120 3 4000 55 77 8 6000 99 0 150 160 1 2 3 4 5 6\n";
        assert_eq!(moved(stat), Some(10_000 * 512));
        assert_eq!(moved("1 2 3"), None);
        assert_eq!(moved(""), None);
    }
}
