//! Sequences: I/Os that begin where another ended.

use std::collections::VecDeque;

use fourcorners_drive::Io;

/// Ends that are remembered: as many as bcache remembers of a device (`RECENT_IO` in drivers/md/bcache/bcache.h).
const REMEMBERED: usize = 128;

/// The sequences that an I/O may go on.
#[derive(Clone, Default)]
pub(super) struct Streams {
    /// Where each ended, in sectors, and its bytes so far; the last one used at the end.
    ends: VecDeque<(u64, u64)>,
}

impl Streams {
    /// Bytes of the sequence that this I/O is the last of.
    pub(super) fn bytes(&mut self, io: Io) -> u64 {
        // Most go on what was used last.
        let before = self.ends.iter().rposition(|&(end, _)| end == io.lba.0);
        let bytes = before.and_then(|at| self.ends.remove(at)).map_or(0, |(_, bytes)| bytes);
        if self.ends.len() == REMEMBERED {
            self.ends.pop_front();
        }
        let bytes = bytes.saturating_add(io.bytes());
        self.ends.push_back((io.end(), bytes));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::Lba;

    use super::*;

    #[test]
    fn sequences_are_followed_side_by_side_and_what_is_random_is_none() {
        let mut streams = Streams::default();
        for step in 0..10 {
            for start in [0, 100_000] {
                let bytes = streams.bytes(Io::read(Lba(start + step * 8), 8));
                assert_eq!(bytes, (step + 1) * 4096);
            }
        }
        for at in 0..1000 {
            assert_eq!(streams.bytes(Io::read(Lba(1_000_000 + at * 64), 8)), 4096);
        }
        // Both are forgotten by now.
        assert_eq!(streams.bytes(Io::read(Lba(80), 8)), 4096);
    }
}
