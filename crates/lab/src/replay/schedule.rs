//! The due time of each I/O of a trace, and its address on a target.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fourcorners_drive::{Io, Lba, Nanos, Op, SECTOR_BYTES};
use fourcorners_run::{Due, Source};
use fourcorners_trace::TraceIo;

/// I/Os of the recording that are remembered as in flight: a trace may claim that none completed.
const MOST_IN_FLIGHT: usize = 1 << 16;

/// When the I/Os of a trace are issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Closed loop: after the think time that the recording has, no longer than the cap.
    ///
    /// With recorded durations an I/O waits until no more are in flight than were when it was
    /// recorded, and then for the time that passed, in the recording, since the last issue or
    /// completion. Without them what was in flight is not known: an I/O comes as long after the one
    /// before it as in the recording, as soon as there is a place in the queue.
    Think {
        /// Longest think time.
        cap: Nanos,
    },
    /// Open loop: at the recorded times, whatever the drive does.
    Recorded,
    /// As soon as there is a place in the queue.
    Fast,
}

impl Pace {
    /// The name in records and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Pace::Think { .. } => "think",
            Pace::Recorded => "recorded",
            Pace::Fast => "fast",
        }
    }
}

/// The I/Os of a trace as a target is to get them.
pub(super) struct Schedule<I> {
    ios: I,
    pace: Pace,
    /// Whether the trace has durations.
    timed: bool,
    /// Most in flight on the target.
    depth: u32,
    /// The target's logical block.
    block_bytes: u64,
    last: Option<Nanos>,
    /// Ends of what was in flight in the recording.
    in_flight: BinaryHeap<Reverse<Nanos>>,
    last_completion: Nanos,
    given: u64,
    widened: u64,
}

impl<I> Schedule<I> {
    pub(super) fn new(ios: I, pace: Pace, timed: bool, depth: u32, block_bytes: u32) -> Self {
        Schedule {
            ios,
            pace,
            timed,
            depth,
            block_bytes: u64::from(block_bytes),
            last: None,
            in_flight: BinaryHeap::with_capacity(1024),
            last_completion: Nanos::ZERO,
            given: 0,
            widened: 0,
        }
    }

    /// How many I/Os the trace has given so far.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// The trace, and how many of its I/Os were widened to whole blocks.
    pub(super) fn end(self) -> (I, u64) {
        (self.ios, self.widened)
    }

    /// When an I/O that was issued at `at` in the recording is due.
    fn due(&mut self, io: &TraceIo) -> Due {
        let last = self.last.unwrap_or(io.at);
        // An I/O that is recorded late counts as issued with the one before it.
        let at = io.at.max(last);
        self.last = Some(at);
        match self.pace {
            Pace::Fast => Due::Now,
            Pace::Recorded => Due::At(at),
            Pace::Think { cap } if !self.timed => Due::AfterSubmit(at.since(last).min(cap)),
            Pace::Think { cap } => {
                while let Some(&Reverse(end)) = self.in_flight.peek()
                    && end <= at
                {
                    self.last_completion = self.last_completion.max(end);
                    self.in_flight.pop();
                }
                let think = at.since(last.max(self.last_completion)).min(cap);
                let in_flight = (self.in_flight.len() as u32).min(self.depth - 1);
                if self.in_flight.len() == MOST_IN_FLIGHT {
                    self.in_flight.pop();
                }
                let end = at.saturating_add(io.duration.unwrap_or_default());
                self.in_flight.push(Reverse(end));
                Due::After { think, in_flight }
            }
        }
    }

    fn placed(&mut self, io: &TraceIo) -> Io {
        if io.op == Op::Flush {
            return Io::FLUSH;
        }
        let block = self.block_bytes;
        let start = io.offset_bytes - io.offset_bytes % block;
        let end = io.end_bytes().next_multiple_of(block);
        self.widened += u64::from(end - start != io.bytes);
        let sectors = u32::try_from((end - start) / SECTOR_BYTES).unwrap_or(u32::MAX);
        Io {
            op: io.op,
            lba: Lba(start / SECTOR_BYTES),
            sectors,
            compressible_percent: if io.flags.zeroes { 100 } else { io.flags.compressible_percent },
            fua: io.flags.fua,
        }
    }
}

impl<I: Iterator<Item = TraceIo>> Source for Schedule<I> {
    const PACED: bool = true;

    #[inline]
    fn next(&mut self) -> Option<(Io, Due)> {
        let io = self.ios.next()?;
        self.given += 1;
        let due = self.due(&io);
        Some((self.placed(&io), due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(at: u64, duration: Option<u64>) -> TraceIo {
        let duration = duration.map(Nanos);
        TraceIo {
            at: Nanos(at),
            op: Op::Read,
            offset_bytes: 700,
            bytes: 100,
            duration,
            device: 0,
            flags: Default::default(),
        }
    }

    fn dues(pace: Pace, ios: Vec<TraceIo>) -> Vec<Due> {
        let timed = ios.iter().any(|io| io.duration.is_some());
        let mut schedule = Schedule::new(ios.into_iter(), pace, timed, 4, 512);
        std::iter::from_fn(|| schedule.next()).map(|(_, due)| due).collect()
    }

    #[test]
    fn think_time_is_what_passed_since_the_last_event() {
        let after = |think, in_flight| Due::After { think: Nanos(think), in_flight };
        // Two together, one 10 after the first of them ended, one 300 after all had.
        let ios = vec![io(0, Some(100)), io(5, Some(200)), io(110, Some(50)), io(505, Some(1))];
        let think = |cap| Pace::Think { cap: Nanos(cap) };
        let expected = [after(0, 0), after(5, 1), after(10, 1), after(300, 0)];
        assert_eq!(dues(think(1000), ios.clone()), expected);
        assert_eq!(dues(think(250), ios)[3], after(250, 0));
    }

    #[test]
    fn without_durations_gaps_are_kept() {
        let ios = vec![io(0, None), io(70, None), io(60, None), io(170, None)];
        let gaps = [0, 70, 0, 80].map(|gap| Due::AfterSubmit(Nanos(gap)));
        assert_eq!(dues(Pace::Think { cap: Nanos(80) }, ios.clone()), gaps);
        let times = [0, 70, 70, 170].map(|at| Due::At(Nanos(at)));
        assert_eq!(dues(Pace::Recorded, ios), times);
    }

    #[test]
    fn parts_of_blocks_become_whole_ones() {
        let mut schedule = Schedule::new([io(0, None)].into_iter(), Pace::Fast, false, 1, 4096);
        let (io, _) = schedule.next().expect("there is one");
        assert_eq!((io.lba, io.sectors), (Lba(0), 8));
        assert_eq!(schedule.end().1, 1);
    }
}
