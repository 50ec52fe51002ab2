//! Which stream each block of a die belongs to, and how old the data in it is.

use super::blocks::{Block, DieBlocks};
use super::stream::{STREAMS, Stream};

/// The labels of a die's blocks.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    /// By block; of a block that is free, what it was.
    labels: Vec<Label>,
    /// Units that the host has written to the die: the time in which data ages.
    now: u64,
    /// By stream: the sum of the times at which the units were written that are in the block
    /// collection fills.
    moved: [u64; STREAMS],
}

#[derive(Clone, Copy, Debug)]
struct Label {
    stream: Stream,
    /// When its data was written, on average.
    written_at: u64,
}

impl Labels {
    pub(super) fn new(blocks: u32) -> Labels {
        let label = Label { stream: Stream::Cold, written_at: 0 };
        Labels { labels: vec![label; blocks as usize], now: 0, moved: [0; STREAMS] }
    }

    pub(super) fn stream(&self, block: Block) -> Stream {
        self.labels[block as usize].stream
    }

    /// The host has written so many units to the die.
    pub(super) fn host_wrote(&mut self, units: u32) {
        self.now += u64::from(units);
    }

    /// The host's block of a stream is full, and was written just now.
    pub(super) fn close_host(&mut self, block: Block, stream: Stream) {
        self.labels[block as usize] = Label { stream, written_at: self.now };
    }

    /// The block of `units` that collection filled for a stream is full.
    pub(super) fn close_moves(&mut self, block: Block, stream: Stream, units: u32) {
        let sum = std::mem::take(&mut self.moved[stream.index()]);
        self.labels[block as usize] = Label { stream, written_at: sum / u64::from(units) };
    }

    /// `units` were moved out of a block, into the block that collection fills for its stream.
    pub(super) fn moved(&mut self, from: Block, units: u32) {
        let Label { stream, written_at } = self.labels[from as usize];
        self.moved[stream.index()] += written_at * u64::from(units);
    }

    /// The same units were moved into `to`, a block of their own.
    pub(super) fn moved_alone(&mut self, from: Block, to: Block, units: u32) {
        let Label { stream, written_at } = self.labels[from as usize];
        self.moved[stream.index()] -= written_at * u64::from(units);
        self.labels[to as usize] = self.labels[from as usize];
    }

    /// Closed blocks of the hot stream whose data is older than `age` belong to the cold one from
    /// now on. Returns whether there were any.
    pub(super) fn cool(&mut self, blocks: &DieBlocks, age: f64) -> bool {
        let mut some = false;
        for block in blocks.closed() {
            let label = &mut self.labels[block as usize];
            if label.stream == Stream::Hot && (self.now - label.written_at) as f64 > age {
                label.stream = Stream::Cold;
                some = true;
            }
        }
        some
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::wear::DieWear;

    #[test]
    fn moved_data_keeps_its_age_and_cools_in_place() {
        let mut blocks = DieBlocks::all_free(DieWear::lasting(4));
        let mut labels = Labels::new(4);
        let opened = [(); 3].map(|()| blocks.open().expect("four are free"));
        let [old, young, moves] = opened;
        labels.host_wrote(10);
        labels.close_host(old, Stream::Hot);
        labels.host_wrote(10);
        labels.close_host(young, Stream::Hot);
        // Three quarters written at 10 and one at 20.
        labels.moved(old, 6);
        labels.moved(young, 2);
        labels.close_moves(moves, Stream::Hot, 8);
        opened.iter().for_each(|&block| blocks.close(block));
        assert_eq!(labels.labels[moves as usize].written_at, 12);
        assert!(labels.cool(&blocks, 8.0));
        assert_eq!(
            opened.map(|block| labels.stream(block)),
            [Stream::Cold, Stream::Hot, Stream::Hot]
        );
        labels.host_wrote(1);
        assert!(labels.cool(&blocks, 8.0) && !labels.cool(&blocks, 8.0));
        assert_eq!(labels.stream(moves), Stream::Cold);
        // Alone in a block of its own it leaves no trace in the sums.
        labels.moved(young, 3);
        labels.moved_alone(young, 3, 3);
        assert_eq!((labels.moved, labels.stream(3)), ([0, 0], Stream::Hot));
    }
}
