//! Whether the host writes in order.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::Io;
use crate::config::{GcSection, Pacing};

/// Where the latest write commands ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InOrder {
    ends: VecDeque<u64>,
    most: usize,
    /// By class of ends: how many of them are in it. Mostly none is in that of where a random write
    /// begins, so that the ends themselves need not be looked at. Empty in a loaded one.
    #[serde(skip)]
    in_class: Vec<u32>,
}

/// Classes of ends, a power of two.
const CLASSES: usize = 1024;

/// The class of an end: the upper bits of a product that depends on all of it (Knuth, The Art of
/// Computer Programming, volume 3, 6.4, with the golden ratio of 2^64).
#[inline]
fn class_of(end: u64) -> usize {
    (end.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - CLASSES.trailing_zeros())) as usize
}

impl InOrder {
    /// Of a config that has passed its check, if it matters to the drive.
    pub(super) fn new(gc: &GcSection) -> Option<InOrder> {
        let most = gc.sequential_commands? as usize;
        let matters = gc.pacing == Pacing::DelayedUntilSequential;
        matters.then(|| InOrder::watching(most))
    }

    /// Of so many commands.
    fn watching(most: usize) -> InOrder {
        InOrder { ends: VecDeque::with_capacity(most + 1), most, in_class: Vec::new() }
    }

    /// Whether a write begins where one of the latest ended, of which it is the next.
    pub(super) fn goes_on(&mut self, io: Io) -> bool {
        if self.in_class.is_empty() {
            self.in_class = vec![0; CLASSES];
            self.ends.iter().for_each(|&end| self.in_class[class_of(end)] += 1);
        }
        let begin = io.lba.0;
        let goes_on = self.in_class[class_of(begin)] > 0 && self.ends.contains(&begin);
        self.ends.push_back(io.end());
        self.in_class[class_of(io.end())] += 1;
        if self.ends.len() > self.most
            && let Some(oldest) = self.ends.pop_front()
        {
            self.in_class[class_of(oldest)] -= 1;
        }
        goes_on
    }

    /// Whether a loaded one is one that `made`, which is new, could have become. Where writes ended
    /// may be anywhere: it is only compared.
    pub(super) fn fits(&self, made: &InOrder) -> bool {
        // What is skipped follows from the ends.
        let InOrder { ends, most, in_class: _ } = self;
        *most == made.most && ends.len() <= *most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lba;
    use proptest::prelude::*;

    #[test]
    fn files_written_in_turn_are_in_order_up_to_as_many_as_are_watched() {
        for (files, most, in_order) in [(1, 1, true), (3, 3, true), (3, 2, false)] {
            let mut watch = InOrder::watching(most);
            for round in 0..5 {
                for file in 0..files {
                    let lba = Lba(file * 1000 + round * 16);
                    let io = Io::write(lba, 16);
                    assert_eq!(watch.goes_on(io), in_order && round > 0, "{files} of {most}");
                }
            }
        }
    }

    proptest! {
        /// Against the list of ends alone, also after loading half-way.
        #[test]
        fn it_answers_like_a_list(
            writes in proptest::collection::vec((0u64..40, 1u32..4), 1..300), most in 1usize..9,
        ) {
            let mut watch = InOrder::watching(most);
            let mut ends: Vec<u64> = Vec::new();
            for (number, &(lba, sectors)) in writes.iter().enumerate() {
                if number == writes.len() / 2 {
                    watch.in_class.clear();
                }
                let io = Io::write(Lba(lba), sectors);
                let latest = &ends[ends.len().saturating_sub(most)..];
                prop_assert_eq!(watch.goes_on(io), latest.contains(&lba));
                ends.push(io.end());
            }
        }
    }
}
