//! The write buffer: the memory in which rows of host data wait for their program operation.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::state::LATEST;

/// Rows that were filled and are on their way to the NAND, oldest first. Their space is given back
/// in that order, and to commands in theirs, so a die that is slow (it collects, it erases) holds up the
/// host once the buffer is full: that is where a drive's longest latencies come from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WriteBuffer {
    /// When each row's program ends.
    programs: VecDeque<Nanos>,
    /// When the last row that asked for space had it: none that asks later has it earlier.
    admitted: Nanos,
    /// Rows it holds besides those being filled.
    rows: usize,
}

impl WriteBuffer {
    /// A buffer of `bytes`, of which `open` rows are being filled; the config's check has seen to
    /// it that one more fits.
    pub(crate) fn new(bytes: u64, row_bytes: u64, open: usize) -> WriteBuffer {
        let rows = (bytes / row_bytes).max(open as u64 + 1) as usize - open;
        WriteBuffer { programs: VecDeque::with_capacity(rows), admitted: Nanos::ZERO, rows }
    }

    /// When a row whose first data is there at `at` can begin to be filled.
    #[inline]
    pub(crate) fn admit(&mut self, at: Nanos) -> Nanos {
        self.admitted = self.admitted.max(at);
        while self.programs.front().is_some_and(|&end| end <= self.admitted) {
            self.programs.pop_front();
        }
        if self.programs.len() >= self.rows
            && let Some(end) = self.programs.pop_front()
        {
            self.admitted = end;
        }
        self.admitted
    }

    /// The row that was being filled will be on the NAND at `end`.
    #[inline]
    pub(crate) fn programming_until(&mut self, end: Nanos) {
        self.programs.push_back(end);
    }

    /// When all it holds will be on the NAND, from `at`.
    pub(crate) fn drained(&self, at: Nanos) -> Nanos {
        self.programs.iter().copied().fold(at, Nanos::max)
    }

    pub(crate) fn clear(&mut self) {
        self.programs.clear();
        self.admitted = Nanos::ZERO;
    }

    /// Whether a loaded buffer is one that `made`, which is new, could have become.
    pub(crate) fn fits(&self, made: &WriteBuffer) -> bool {
        let WriteBuffer { programs, admitted, rows } = self;
        let mut times = programs.iter().chain([admitted]);
        *rows == made.rows && programs.len() <= *rows && times.all(|&time| time <= LATEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_waits_for_its_oldest_row() {
        let mut buffer = WriteBuffer::new(3 * 8192, 8192, 1);
        assert_eq!(buffer.admit(Nanos(0)), Nanos(0));
        buffer.programming_until(Nanos(100));
        assert_eq!(buffer.admit(Nanos(10)), Nanos(10));
        buffer.programming_until(Nanos(50));
        // Two rows are programming and the third is to be filled: the first must end.
        assert_eq!(buffer.admit(Nanos(20)), Nanos(100));
        buffer.programming_until(Nanos(200));
        assert_eq!(buffer.admit(Nanos(130)), Nanos(130));
        assert_eq!(buffer.drained(Nanos(0)), Nanos(200));
    }

    #[test]
    fn a_command_waits_for_the_space_that_the_one_before_waits_for() {
        let mut buffer = WriteBuffer::new(4 * 8192, 8192, 1);
        for _ in 0..3 {
            buffer.admit(Nanos(0));
            buffer.programming_until(Nanos(100));
        }
        // The first row of a command has space at 100, and the second asks for it then, when all others have left.
        for _ in 0..2 {
            assert_eq!(buffer.admit(Nanos(10)), Nanos(100));
            buffer.programming_until(Nanos(300));
        }
        // The third is not free at 20 for that.
        assert_eq!(buffer.admit(Nanos(20)), Nanos(100));
        assert_eq!(buffer.admit(Nanos(120)), Nanos(120));
    }

    #[test]
    fn a_row_that_is_on_the_nand_early_gives_space_to_no_later_command_first() {
        let mut buffer = WriteBuffer::new(3 * 8192, 8192, 1);
        for end in [300, 200] {
            buffer.admit(Nanos(0));
            buffer.programming_until(Nanos(end));
        }
        assert_eq!(buffer.admit(Nanos(10)), Nanos(300));
        buffer.programming_until(Nanos(500));
        assert_eq!(buffer.admit(Nanos(20)), Nanos(300));
    }
}
