//! The write buffer: the memory in which rows of host data wait for their program operation.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::state::LATEST;

/// Rows that were filled and are on their way to the NAND, oldest first. Their space is given back
/// in that order, so a die that is slow (it collects, it erases) holds up the host once the
/// buffer is full: that is where a drive's longest latencies come from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WriteBuffer {
    /// When each row's program ends.
    programs: VecDeque<Nanos>,
    /// Rows it holds besides those being filled.
    rows: usize,
}

impl WriteBuffer {
    /// A buffer of `bytes`, of which `open` rows are being filled; the config's check has seen to
    /// it that one more fits.
    pub(crate) fn new(bytes: u64, row_bytes: u64, open: usize) -> WriteBuffer {
        let rows = (bytes / row_bytes).max(open as u64 + 1) as usize - open;
        WriteBuffer { programs: VecDeque::with_capacity(rows), rows }
    }

    /// When a row whose first data is there at `at` can begin to be filled.
    #[inline]
    pub(crate) fn admit(&mut self, at: Nanos) -> Nanos {
        while self.programs.front().is_some_and(|&end| end <= at) {
            self.programs.pop_front();
        }
        if self.programs.len() < self.rows {
            return at;
        }
        self.programs.pop_front().map_or(at, |end| end.max(at))
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
    }

    /// Whether a loaded buffer is one that `made`, which is new, could have become.
    pub(crate) fn fits(&self, made: &WriteBuffer) -> bool {
        let WriteBuffer { programs, rows } = self;
        *rows == made.rows && programs.len() <= *rows && programs.iter().all(|&end| end <= LATEST)
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
}
