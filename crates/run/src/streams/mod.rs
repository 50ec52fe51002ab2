//! Several streams of I/O at once on one target, as fio's job files describe them.
//!
//! A [`Stream`] is data, as a [`fourcorners_record::Job`] is, with all that a job file can ask for:
//! mixed block sizes, distributions, a pace, think time, flushes, an order of starting. [`run`]
//! carries a [`Plan`] of them out in one loop, interleaved by the target's clock, so that on a
//! virtual drive the result is the same every time and on a real one no thread waits for another.
//!
//! A job's latency runs from when its I/O was due or submitted, and includes the wait in front of a drive
//! that takes fewer commands than all jobs together have in flight. fio's random map is a keyed permutation
//! where I/Os are one unit, and a bit table with a tree over it, filled as fio fills it, where they are
//! several. All streams are examined only when one has ended or the earliest of their times (`wake`) has
//! come, so a thousand idle jobs cost nothing per I/O.

mod blocks;
mod depth_search;
mod distribution;
mod free_map;
mod log;
mod measure;
mod pace;
mod permutation;
mod places;
mod random;
mod recorded;
mod run;
mod running;
mod source;
mod steady;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod verified;

use std::sync::Arc;

use fourcorners_drive::{Fault, FaultCause, Nanos, Op};

pub use blocks::{BlockSizes, PARTS};
pub use depth_search::{DepthFound, LatencyTarget};
pub use distribution::Distribution;
pub use log::{Log, LogSpec, MOST_ROWS, Row};
pub use measure::{Measure, Samples, Tally};
pub use pace::{Pace, Rate, Think};
pub use recorded::Recorded;
pub use run::{run, run_told};
pub use steady::{Criterion, SteadyResult, SteadySpec, Watched};
pub use verified::run_verified;

use crate::verify::{Findings, ReadBack, Spec};

/// What an I/O that moves or drops data does, in fio's order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Reads.
    Read = 0,
    /// Writes.
    Write = 1,
    /// Trims.
    Trim = 2,
}

impl Direction {
    /// In fio's order.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    fn op(self) -> Op {
        match self {
            Direction::Read => Op::Read,
            Direction::Write => Op::Write,
            Direction::Trim => Op::Trim,
        }
    }
}

/// Which directions a stream has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operations {
    /// One only.
    Only(Direction),
    /// Reads and writes, so many per cent reads.
    Mixed {
        /// 0 to 100.
        read_percent: u8,
    },
    /// Each place is trimmed and then written.
    TrimWrite,
    /// Those of a recording.
    Recorded {
        /// Whether it reads.
        reads: bool,
        /// Whether it writes.
        writes: bool,
        /// Whether it trims.
        trims: bool,
    },
}

impl Operations {
    /// Whether it has this direction.
    pub fn has(self, direction: Direction) -> bool {
        match self {
            Operations::Only(only) => only == direction,
            Operations::Mixed { read_percent } => match direction {
                Direction::Read => read_percent > 0,
                Direction::Write => read_percent < 100,
                Direction::Trim => false,
            },
            Operations::TrimWrite => direction != Direction::Read,
            Operations::Recorded { reads, writes, trims } => match direction {
                Direction::Read => reads,
                Direction::Write => writes,
                Direction::Trim => trims,
            },
        }
    }
}

/// Where a stream's I/Os go within its span.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// How many per cent of a direction's I/Os go to a random place; the others follow the last.
    pub random_percent: [u8; 3],
    /// Of the random ones.
    pub distribution: Distribution,
    /// Random I/Os cover every block once before any is covered again (uniform ones only).
    pub once: bool,
    /// I/Os at or after one place before the next is drawn, at least 1.
    pub run: u32,
    /// Those I/Os all go to that very place.
    pub identical: bool,
    /// Added to the place of each sequential I/O after the first.
    pub step_bytes: i64,
    /// Random places are multiples of this, bytes, by direction. Where directions differ, each keeps an account of its
    /// own of the blocks that it has covered.
    pub align_bytes: [u32; 3],
    /// The span is gone through zone by zone.
    pub zones: Option<Zones>,
}

/// Zones that a stream goes through one after the other, each somewhat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Zones {
    /// What is moved in a zone before the next one begins, bytes.
    pub moved_bytes: u64,
    /// Length of a zone.
    pub bytes: u64,
    /// What is left out after it.
    pub skip_bytes: u64,
}

/// When a stream ends by itself: whichever comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes submitted.
    pub bytes: u64,
    /// I/Os submitted.
    pub ios: u64,
    /// Time since it began, its ramp not counted.
    pub time: Nanos,
}

/// When a stream begins.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Start {
    /// Not before this time after the run began.
    pub delay: Nanos,
    /// Not before these streams, by their place in the plan, have ended.
    pub after: Vec<usize>,
}

/// Whom a stream takes along when it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TakesAlong {
    /// Those of its reporting group.
    Group,
    /// Those between the same two stone walls.
    Wave,
    /// All there are.
    All,
}

/// Flushes within a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flushes {
    /// One after so many writes; 0 means none.
    pub every: u64,
    /// One when it ends.
    pub at_end: bool,
}

/// One stream of I/Os.
#[derive(Clone, PartialEq, Debug)]
pub struct Stream {
    /// What it does.
    pub operations: Operations,
    /// How large its I/Os are, by direction.
    pub blocks: [BlockSizes; 3],
    /// Where they go.
    pub access: Access,
    /// First byte of its span.
    pub span_start_bytes: u64,
    /// Length of its span, at least its largest block.
    pub span_bytes: u64,
    /// I/Os kept in flight.
    pub depth: u32,
    /// As many of those as meet this are searched for.
    pub latency_target: Option<LatencyTarget>,
    /// When it ends.
    pub limits: Limits,
    /// When it begins.
    pub start: Start,
    /// What is done this long is not measured.
    pub ramp: Nanos,
    /// Paces, by direction.
    pub pace: [Option<Pace>; 3],
    /// Pauses.
    pub think: Option<Think>,
    /// Flushes.
    pub flushes: Flushes,
    /// Every write is answered only when it is durable.
    pub fua: bool,
    /// How much of what it writes compression would remove, per cent.
    pub compressible_percent: u8,
    /// Seed of its random numbers.
    pub seed: u64,
    /// An I/O that fails is counted and does not end it.
    pub survives_errors: bool,
    /// Its reporting group.
    pub group: u32,
    /// How many stone walls are before it.
    pub wave: u32,
    /// Who ends when it does.
    pub takes_along: Option<TakesAlong>,
    /// Its share among the streams that share this number.
    pub flow: Option<(u32, u32)>,
    /// What is logged.
    pub log: Option<LogSpec>,
    /// What it does instead of drawing I/Os.
    pub recorded: Option<Arc<Recorded>>,
}

impl Stream {
    /// The sizes of all directions that it has.
    pub fn sizes_of_blocks(&self) -> impl Iterator<Item = &BlockSizes> {
        self.directions().map(|direction| &self.blocks[direction as usize])
    }

    /// Whether it writes data.
    pub fn writes(&self) -> bool {
        self.operations.has(Direction::Write)
    }

    /// Whether its I/Os are due at times that do not depend on the target.
    pub(crate) fn is_timed(&self) -> bool {
        let recorded = self.recorded.as_ref().is_some_and(|recorded| recorded.timed);
        recorded || self.pace.iter().any(Option::is_some)
    }

    /// What random places of its directions are multiples of, bytes, each once; there is one at least.
    pub fn units(&self) -> Vec<u32> {
        let mut units: Vec<u32> = Vec::with_capacity(1);
        for unit in self.directions().map(|own| self.access.align_bytes[own as usize]) {
            if !units.contains(&unit) {
                units.push(unit);
            }
        }
        if units.is_empty() {
            units.push(self.access.align_bytes[0]);
        }
        units
    }

    fn directions(&self) -> impl Iterator<Item = Direction> {
        Direction::ALL.into_iter().filter(|direction| self.operations.has(*direction))
    }

    /// Whether it knows which blocks it has covered.
    pub fn maps(&self) -> bool {
        let access = &self.access;
        let is_random = access.random_percent.iter().any(|&percent| percent > 0);
        let uniform = access.distribution == Distribution::Uniform;
        access.once && access.zones.is_none() && uniform && is_random
    }

    /// The largest I/O of the directions whose random places are multiples of this, bytes.
    fn largest_block_in(&self, align_bytes: u32) -> u32 {
        let own =
            |direction: &Direction| self.access.align_bytes[*direction as usize] == align_bytes;
        let sizes =
            self.directions().filter(own).map(|direction| self.blocks[direction as usize].most());
        sizes.max().unwrap_or(0)
    }

    /// Memory in which it keeps which blocks it has covered, bytes.
    pub fn map_bytes(&self) -> u64 {
        let tables = self
            .units()
            .into_iter()
            .filter(|unit| self.maps() && self.largest_block_in(*unit) != *unit);
        tables.map(|unit| self.span_bytes / u64::from(unit.max(1)) / 8).sum()
    }

    /// The largest I/O it may ask for, bytes.
    pub fn largest_block(&self) -> u32 {
        match &self.recorded {
            // Longer ones than can be are refused one by one.
            Some(recorded) => u32::try_from(recorded.largest()).unwrap_or(u32::MAX),
            None => self.sizes_of_blocks().map(BlockSizes::most).max().unwrap_or(0),
        }
    }
}

/// Streams that belong together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Plan {
    /// The streams.
    pub streams: Vec<Stream>,
    /// Streams that end when they have become steady.
    pub steady: Vec<SteadySpec>,
    /// How what is written is verified, on a target whose bytes can be reached.
    pub verify: Option<Spec>,
}

impl Plan {
    /// The most I/Os that it can have in flight.
    pub fn depth(&self) -> u64 {
        self.streams.iter().map(|stream| u64::from(stream.depth)).sum()
    }

    /// Whether anything in it changes what is on the target.
    pub fn changes(&self) -> bool {
        let changes = |stream: &Stream| {
            stream.operations.has(Direction::Write) || stream.operations.has(Direction::Trim)
        };
        self.streams.iter().any(changes)
    }
}

/// What a stream did.
#[derive(Clone, Debug)]
pub struct StreamResult {
    /// What was measured, after the ramp.
    pub measure: Measure,
    /// From the run's beginning to the stream's.
    pub began: Nanos,
    /// From the run's beginning to the stream's end, its ramp included.
    pub ended: Nanos,
    /// How long it was measured.
    pub elapsed: Nanos,
    /// The first I/O that failed, and how many did.
    pub failed: Option<(Fault, u64)>,
    /// What the search for a depth came to, if there was one.
    pub depth_found: Option<DepthFound>,
    /// What reading back what it wrote came to.
    pub verified: Option<ReadBack>,
}

/// What a plan did.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// By the plan's order.
    pub streams: Vec<StreamResult>,
    /// By the plan's order.
    pub steady: Vec<SteadyResult>,
    /// Whether the observer stopped it.
    pub interrupted: bool,
    /// What was found wrong, if it was verified.
    pub findings: Option<Findings>,
}

/// The error number that says most nearly why an I/O failed.
pub fn errno(cause: FaultCause) -> i32 {
    const EIO: i32 = 5;
    const EINVAL: i32 = 22;
    const EROFS: i32 = 30;
    const EOPNOTSUPP: i32 = 95;
    match cause {
        FaultCause::Os { errno } => errno,
        FaultCause::Short { .. } => EIO,
        FaultCause::OutOfRange { .. } | FaultCause::Unaligned { .. } => EINVAL,
        FaultCause::WornOut => EROFS,
        FaultCause::Unsupported => EOPNOTSUPP,
    }
}
