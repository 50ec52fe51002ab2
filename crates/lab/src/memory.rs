//! Memory for virtual drives: how many are in it at a time, and whether their states are kept there.

use fourcorners_machine::host;
use fourcorners_words::size;

/// Of the memory that is available, what virtual drives may take.
const SHARE_OF_MEMORY: f64 = 0.9;

/// Drives that do not fit in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the virtual drives would take {} of memory, and {} is available: take fewer at a time, or smaller ones",
    size(*need),
    size(*available)
)]
pub struct MemoryError {
    /// Bytes that they would take.
    pub need: u64,
    /// Bytes that there are.
    pub available: u64,
}

/// Refuses drives that take these bytes if the `at_a_time` largest of them do not fit in available memory.
///
/// # Errors
/// [`MemoryError`]: how much they would take and how much there is.
pub fn check_memory(mut needs: Vec<u64>, at_a_time: usize) -> Result<(), MemoryError> {
    needs.sort_unstable();
    let need: u64 = needs.iter().rev().take(at_a_time).sum();
    match host::available_memory_bytes() {
        Some(available) if need > available => Err(MemoryError { need, available }),
        _ => Ok(()),
    }
}

/// How many virtual drives are in memory at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Drives that are tested at a time.
    pub workers: usize,
    /// Whether states are kept for the next that wants them.
    pub keep: bool,
}

impl Room {
    /// The room on this machine.
    pub fn here(needs: &[Need]) -> Room {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let most = host::available_memory_bytes().map(|bytes| bytes as f64 * SHARE_OF_MEMORY);
        Room::within(needs, workers, most.map_or(u64::MAX, |most| most as u64))
    }

    /// As many workers as have room; if there is none even for one and what it keeps, one.
    fn within(needs: &[Need], most_workers: usize, most_bytes: u64) -> Room {
        let fits = |workers: usize| {
            // Work is taken drive by drive, so no more drives are begun than there are workers;
            // one more may still be keeping states.
            let kept = needs.iter().map(|need| need.drive * need.kept as u64);
            let drives =
                needs.iter().flat_map(|need| std::iter::repeat_n(need.drive, need.methods));
            largest(drives, workers) + largest(kept, workers) <= most_bytes
        };
        match (1..=most_workers.max(1)).rev().find(|&workers| fits(workers)) {
            Some(workers) => Room { workers, keep: true },
            None => Room { workers: 1, keep: false },
        }
    }
}

/// What the review of one drive takes.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Bytes of a drive.
    pub drive: u64,
    /// How many states of it are kept.
    pub kept: usize,
    /// Methods it is tested by.
    pub methods: usize,
}

/// The sum of the largest `count` of these.
fn largest(values: impl Iterator<Item = u64>, count: usize) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.iter().rev().take(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_drives_as_there_is_memory_for() {
        let need = Need { drive: 5, kept: 2, methods: 3 };
        let with = |bytes| Room::within(&[need, need], 4, bytes);
        // Four drives, and two states of both of them.
        assert_eq!(with(40), Room { workers: 4, keep: true });
        assert_eq!(with(39), Room { workers: 3, keep: true });
        assert_eq!(with(15), Room { workers: 1, keep: true });
        assert_eq!(with(14), Room { workers: 1, keep: false });
    }
}
