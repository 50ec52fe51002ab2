//! The next I/O of a stream.

use fourcorners_drive::{Io, Lba, Nanos, Op, SECTOR_BYTES};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::pace::Schedule;
use super::places::{Place, Places};
use super::random::below;
use super::recorded::{self, Tape};
use super::{BlockSizes, Direction, Operations, Stream};

/// The next I/O of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Next {
    pub(super) io: Io,
    /// `None` is a flush.
    pub(super) direction: Option<Direction>,
    /// When it is due, if its direction has a pace.
    pub(super) due: Option<Nanos>,
}

/// The endless I/Os of a stream.
#[derive(Clone, Debug)]
pub(super) struct Source {
    random: Xoshiro256PlusPlus,
    operations: Operations,
    blocks: [BlockSizes; 3],
    places: Places,
    schedules: [Option<Schedule>; 3],
    start_bytes: u64,
    compressible_percent: u8,
    fua: bool,
    /// What was trimmed and is to be written.
    trimmed: Option<Place>,
    tape: Option<Tape>,
}

impl Source {
    pub(super) fn new(stream: &Stream) -> Source {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(stream.seed);
        Source {
            places: Places::new(stream, &mut random),
            random,
            operations: stream.operations,
            blocks: stream.blocks.clone(),
            schedules: stream.pace.map(|pace| pace.map(Schedule::new)),
            start_bytes: stream.span_start_bytes,
            compressible_percent: stream.compressible_percent,
            fua: stream.fua,
            trimmed: None,
            tape: stream.recorded.clone().map(Tape::new),
        }
    }

    /// The stream's clock starts.
    pub(super) fn begin(&mut self, start: Nanos) {
        self.schedules.iter_mut().flatten().for_each(|schedule| schedule.begin(start));
        if let Some(tape) = &mut self.tape {
            tape.begin(start);
        }
    }

    /// The next I/O, as seen at `now`.
    #[inline]
    pub(super) fn next(&mut self, now: Nanos) -> Next {
        if let Some((io, due)) = self.tape.as_mut().and_then(Tape::next) {
            let writes = io.op == Op::Write;
            let compressible_percent = if writes { self.compressible_percent } else { 0 };
            let io = Io { compressible_percent, fua: writes && self.fua, ..io };
            return Next { io, direction: recorded::direction(io.op), due };
        }
        let direction = self.direction(now);
        let place = match self.trimmed.take() {
            Some(place) => place,
            None => {
                let random = &mut self.random;
                let bytes = self.blocks[direction as usize].next(|| random.next_u64());
                self.places.next(direction, bytes, random)
            }
        };
        if self.operations == Operations::TrimWrite && direction == Direction::Trim {
            self.trimmed = Some(place);
        }
        let due = self.schedules[direction as usize].as_mut().map(|schedule| {
            let due = schedule.due();
            let random = &mut self.random;
            schedule.took(u64::from(place.bytes), || random.next_u64());
            due
        });
        let writes = direction == Direction::Write;
        let io = Io {
            op: direction.op(),
            lba: Lba((self.start_bytes + place.offset) / SECTOR_BYTES),
            sectors: (u64::from(place.bytes) / SECTOR_BYTES) as u32,
            compressible_percent: if writes { self.compressible_percent } else { 0 },
            fua: writes && self.fua,
        };
        Next { io, direction: Some(direction), due }
    }

    #[inline]
    fn direction(&mut self, now: Nanos) -> Direction {
        match self.operations {
            Operations::Only(direction) => direction,
            // A recording says itself.
            Operations::Recorded { .. } => Direction::Read,
            Operations::TrimWrite if self.trimmed.is_some() => Direction::Write,
            Operations::TrimWrite => Direction::Trim,
            Operations::Mixed { read_percent } => {
                let reads = below(self.random.next_u64(), 100) < u64::from(read_percent);
                let (drawn, other) = match reads {
                    true => (Direction::Read, Direction::Write),
                    false => (Direction::Write, Direction::Read),
                };
                // As fio does: one that is ahead of its pace lets the other go first, and with
                // two paces these make the mix.
                let due = |direction: Direction| {
                    let schedule = self.schedules[direction as usize].as_ref();
                    schedule.map_or(Nanos::ZERO, Schedule::due)
                };
                let may_switch = self.operations.has(other);
                if may_switch && due(drawn) > now && due(other) < due(drawn) {
                    other
                } else {
                    drawn
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::stream;
    use super::super::{Pace, Rate};
    use super::*;

    #[test]
    fn two_paces_make_the_mix_whatever_the_shares() {
        let mut mixed = stream(4096 << 10);
        mixed.operations = Operations::Mixed { read_percent: 90 };
        let pace = |ios| Some(Pace { rate: Rate::Ios(ios), poisson: false });
        mixed.pace = [pace(100), pace(300), None];
        let mut source = Source::new(&mixed);
        source.begin(Nanos::ZERO);
        let mut now = Nanos::ZERO;
        let mut counts = [0; 3];
        loop {
            let next = source.next(now);
            now = now.max(next.due.expect("both have a pace"));
            if now >= Nanos::from_secs(10) {
                break;
            }
            counts[next.direction.expect("no flush") as usize] += 1;
        }
        assert_eq!(counts, [1000, 3000, 0]);
    }

    #[test]
    fn what_is_trimmed_is_written_next() {
        let mut trims = stream(4096 << 10);
        trims.operations = Operations::TrimWrite;
        let mut source = Source::new(&trims);
        for _ in 0..100 {
            let (trim, write) = (source.next(Nanos::ZERO), source.next(Nanos::ZERO));
            let both = (trim.direction, write.direction);
            assert_eq!(both, (Some(Direction::Trim), Some(Direction::Write)));
            assert_eq!((trim.io.lba, trim.io.sectors), (write.io.lba, write.io.sectors));
        }
    }
}
