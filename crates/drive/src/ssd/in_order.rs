//! Whether the host writes in order.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::Io;
use crate::profile::{GcSection, Pacing};

/// Where the latest write commands ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InOrder {
    ends: VecDeque<u64>,
    most: usize,
}

impl InOrder {
    /// Of a profile that has passed its check, if it matters to the drive.
    pub(super) fn new(gc: &GcSection) -> Option<InOrder> {
        let most = gc.sequential_commands.as_ref()?.value as usize;
        let matters = gc.pacing.value == Pacing::DelayedUntilSequential;
        matters.then(|| InOrder { ends: VecDeque::with_capacity(most + 1), most })
    }

    /// Whether a write begins where one of the latest ended, of which it is the next.
    pub(super) fn goes_on(&mut self, io: Io) -> bool {
        let goes_on = self.ends.contains(&io.lba.0);
        self.ends.push_back(io.end());
        if self.ends.len() > self.most {
            self.ends.pop_front();
        }
        goes_on
    }

    /// Whether a loaded one is one that `made`, which is new, could have become. Where writes ended
    /// may be anywhere: it is only compared.
    pub(super) fn fits(&self, made: &InOrder) -> bool {
        let InOrder { ends, most } = self;
        *most == made.most && ends.len() <= *most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lba, Op};

    #[test]
    fn files_written_in_turn_are_in_order_up_to_as_many_as_are_watched() {
        for (files, most, in_order) in [(1, 1, true), (3, 3, true), (3, 2, false)] {
            let mut watch = InOrder { ends: VecDeque::new(), most };
            for round in 0..5 {
                for file in 0..files {
                    let lba = Lba(file * 1000 + round * 16);
                    let io = Io { op: Op::Write, lba, sectors: 16, ..Io::FLUSH };
                    assert_eq!(watch.goes_on(io), in_order && round > 0, "{files} of {most}");
                }
            }
        }
    }
}
