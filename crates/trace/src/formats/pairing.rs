//! Kernel traces tell when an I/O was issued and when it was completed, in two records. They are
//! brought together here, in the order of issue.

use std::collections::{HashMap, VecDeque};

use fourcorners_drive::Nanos;

use crate::io::TraceIo;

/// Most I/Os that wait for their completion. Where completions are missing (events that were
/// dropped, devices that record none) the I/Os come out without a duration, this many later.
const WINDOW: usize = 1 << 16;

/// I/Os that were issued, until they can be handed on.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    /// In the order of issue; `None` was taken back.
    issued: VecDeque<(Option<TraceIo>, bool)>,
    /// How many were handed on before the first of `issued`.
    passed: u64,
    /// By device and first byte: the number of the I/O that waits for its completion.
    open: HashMap<(u32, u64), u64>,
    ended: bool,
}

impl Pairing {
    /// An I/O was issued.
    #[inline]
    pub(super) fn issue(&mut self, io: TraceIo) {
        let number = self.passed + self.issued.len() as u64;
        self.issued.push_back((Some(io), false));
        if let Some(older) = self.open.insert((io.device, io.offset_bytes), number) {
            // Its completion was lost, or two of the same place are on their way, which is one
            // duration less.
            self.settle(older);
        }
    }

    /// What began at `offset_bytes` was completed.
    #[inline]
    pub(super) fn complete(&mut self, device: u32, offset_bytes: u64, at: Nanos) {
        if let Some(number) = self.open.remove(&(device, offset_bytes)) {
            let (io, done) = &mut self.issued[(number - self.passed) as usize];
            if let Some(io) = io {
                io.duration = Some(at.since(io.at));
            }
            *done = true;
        }
    }

    /// What began there goes back to the queue, and will be issued again.
    pub(super) fn requeue(&mut self, device: u32, offset_bytes: u64) {
        if let Some(number) = self.open.remove(&(device, offset_bytes)) {
            self.issued[(number - self.passed) as usize] = (None, true);
        }
    }

    /// No more events: what is open stays without a duration.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    fn settle(&mut self, number: u64) {
        if let Some((_, done)) =
            number.checked_sub(self.passed).and_then(|place| self.issued.get_mut(place as usize))
        {
            *done = true;
        }
    }

    /// The next I/O, in the order of issue, if it can be handed on.
    #[inline]
    pub(super) fn next(&mut self) -> Option<TraceIo> {
        loop {
            let &(io, done) = self.issued.front()?;
            if !done && !self.ended && self.issued.len() <= WINDOW {
                return None;
            }
            self.issued.pop_front();
            let number = self.passed;
            self.passed += 1;
            if let Some(io) = io {
                let key = (io.device, io.offset_bytes);
                if !done && self.open.get(&key) == Some(&number) {
                    self.open.remove(&key);
                }
                return Some(io);
            }
        }
    }
}
