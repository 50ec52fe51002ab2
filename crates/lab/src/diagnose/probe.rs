//! What a detector may do to a target: reads, writes, flushes and waiting; and what it has cost so far.

use fourcorners_drive::{
    Fault, FaultCause, Geometry, Io, Lba, Nanos, Op, SECTOR_BYTES, Tag, Target,
};
use fourcorners_record::diagnosis::Cost;
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{JobEnd, Measured, Observer, run_marked};

use super::machine::MachineMemory;
use crate::disturbed::Random;

/// Bytes of the smallest I/O of the detectors.
pub(super) const UNIT: u64 = 4096;

/// Bytes of the blocks that a target is filled by.
const FILL_BLOCK: u64 = 128 << 10;

/// Bytes that are written when a target is filled: all of its whole blocks.
pub(super) fn bytes_of_a_fill(geometry: Geometry) -> u64 {
    geometry.bytes() / FILL_BLOCK * FILL_BLOCK
}

/// Bytes of one of so many equal parts of a target, in whole units.
pub(super) fn part(geometry: Geometry, parts: u64) -> u64 {
    geometry.bytes() / parts / UNIT * UNIT
}

/// Bytes of a TRIM at most.
const MOST_OF_A_TRIM: u64 = 1 << 30;

/// I/Os between two looks at whoever watches.
const LOOK_AFTER: u32 = 512;

/// Why a detector came to no end.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Stopped {
    /// Whoever watches wanted no more.
    #[error("interrupted")]
    Interrupted,
    /// The target failed an I/O.
    #[error("{0}")]
    Failed(Fault),
    /// What the detector needs is not there; what.
    #[error("{0}")]
    Lacks(String),
}

/// A target in the hands of a detector.
pub(super) struct Probe<'a, T> {
    target: &'a mut T,
    watch: &'a mut dyn FnMut() -> bool,
    random: Random,
    since_looked: u32,
    written: u64,
    read: u64,
    began: Nanos,
    /// Of the machine that reads the target, if it is a real one.
    memory: Option<&'a mut MachineMemory>,
}

/// One I/O on a target that has none in flight; how long it took.
pub(super) fn alone<T: Target>(target: &mut T, io: Io) -> Result<Nanos, Stopped> {
    let submitted = target.now();
    target.submit(Tag(0), io);
    loop {
        match target.reap(Nanos::MAX) {
            Ok(Some(done)) => return Ok(done.at - submitted),
            Ok(None) => {}
            Err(fault) => return Err(Stopped::Failed(fault)),
        }
    }
}

impl<'a, T: Target> Probe<'a, T> {
    /// `watch` is asked whether to go on, `seed` is of the places.
    pub(super) fn new(
        target: &'a mut T,
        seed: u64,
        watch: &'a mut dyn FnMut() -> bool,
    ) -> Probe<'a, T> {
        let began = target.now();
        let random = Random(seed);
        Probe { target, watch, random, since_looked: 0, written: 0, read: 0, began, memory: None }
    }

    /// The target is read by a machine whose memory this is.
    pub(super) fn beside(&mut self, memory: &'a mut MachineMemory) {
        self.memory = Some(memory);
    }

    /// A read of some unit of the machine's memory: its place, bytes, and how long it took, microseconds. `None` where no machine
    /// reads the target.
    pub(super) fn read_memory(&mut self) -> Result<Option<[f64; 2]>, Stopped> {
        let Some(memory) = &mut self.memory else { return Ok(None) };
        let chance = self.random.next();
        memory.read(chance).map(Some)
    }

    /// What the target can hold and take.
    pub(super) fn geometry(&self) -> Geometry {
        self.target.geometry()
    }

    /// What the target's clock says.
    pub(super) fn now(&self) -> Nanos {
        self.target.now()
    }

    /// What all so far has cost.
    pub(super) fn cost(&self) -> Cost {
        Cost {
            gb: self.written as f64 / 1e9,
            read_gb: self.read as f64 / 1e9,
            minutes: (self.target.now() - self.began).as_secs() / 60.0,
        }
    }

    /// A number below `bound`, which is at least 1.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.random.next() % bound
    }

    /// Puts them in an order by chance.
    pub(super) fn shuffle<E>(&mut self, all: &mut [E]) {
        for last in (1..all.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            all.swap(last, other);
        }
    }

    /// One I/O, alone; how long it took.
    pub(super) fn one(&mut self, io: Io) -> Result<Nanos, Stopped> {
        self.looks()?;
        match io.op {
            Op::Read => self.read += io.bytes(),
            Op::Write => self.written += io.bytes(),
            Op::Trim | Op::Flush => {}
        }
        alone(self.target, io)
    }

    /// A read of so many bytes; how long it took, microseconds.
    pub(super) fn read_us(&mut self, start: u64, bytes: u64) -> Result<f64, Stopped> {
        let io = Io::read(Lba(start / SECTOR_BYTES), (bytes / SECTOR_BYTES) as u32);
        Ok(self.one(io)?.as_micros())
    }

    /// A write of so many bytes; how long it took, microseconds.
    pub(super) fn write_us(&mut self, start: u64, bytes: u64) -> Result<f64, Stopped> {
        let io = Io::write(Lba(start / SECTOR_BYTES), (bytes / SECTOR_BYTES) as u32);
        Ok(self.one(io)?.as_micros())
    }

    /// Everything written so far is made durable; how long that took.
    pub(super) fn flush(&mut self) -> Result<Nanos, Stopped> {
        self.one(Io::FLUSH)
    }

    /// Nothing is done for so long.
    pub(super) fn idle(&mut self, time: Nanos) -> Result<(), Stopped> {
        let end = self.target.now() + time;
        while self.target.now() < end {
            if !(self.watch)() {
                return Err(Stopped::Interrupted);
            }
            // A real target waits a second at most until somebody is asked again.
            let until = end.min(self.target.now() + Nanos::from_secs(1));
            if let Err(fault) = self.target.reap(until) {
                return Err(Stopped::Failed(fault));
            }
        }
        Ok(())
    }

    /// Writes a range in order, so many writes in flight, until `ends` says so, which is given after each write how many
    /// bytes are written and the microseconds since the one before. Those in flight then are still waited for.
    pub(super) fn write_until(
        &mut self,
        (start, bytes): (u64, u64),
        (block, depth): (u64, u32),
        ends: &mut dyn FnMut(u64, f64) -> bool,
    ) -> Result<(), Stopped> {
        let depth = u64::from(depth.min(self.geometry().queue_depth));
        let (count, mut submitted, mut done) = (bytes / block, 0, 0);
        let mut free: Vec<Tag> = (0..depth as u32).map(Tag).collect();
        let (mut goes_on, mut before) = ((self.watch)(), self.target.now());
        while done < submitted || goes_on && submitted < count {
            if goes_on
                && submitted < count
                && let Some(tag) = free.pop()
            {
                let lba = Lba((start + submitted * block) / SECTOR_BYTES);
                self.target.submit(tag, Io::write(lba, (block / SECTOR_BYTES) as u32));
                submitted += 1;
                self.written += block;
                continue;
            }
            match self.target.reap(Nanos::MAX) {
                Ok(Some(answer)) => {
                    done += 1;
                    free.push(answer.tag);
                    if goes_on && ends(done * block, (answer.at - before).as_micros()) {
                        goes_on = false;
                    }
                    before = answer.at;
                }
                Ok(None) => {}
                Err(fault) => return Err(Stopped::Failed(fault)),
            }
        }
        Ok(())
    }

    /// Writes a range in order, in blocks of `block`; how long each `mark` took, microseconds.
    pub(super) fn write_in_order(
        &mut self,
        start: u64,
        bytes: u64,
        (block, depth): (u32, u32),
        mark: u64,
    ) -> Result<Vec<f64>, Stopped> {
        let bytes = bytes / u64::from(block) * u64::from(block);
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let job = self.job_in_order(start, bytes, (block, depth), Data::Incompressible);
        Ok(each_mark(&self.run(&job, mark)?))
    }

    /// Writes all of the target in order, in whole blocks of 128 KiB; how many bytes that are.
    pub(super) fn fill(&mut self) -> Result<u64, Stopped> {
        let bytes = bytes_of_a_fill(self.geometry());
        self.write_in_order(0, bytes, (FILL_BLOCK as u32, 8), u64::MAX)?;
        Ok(bytes)
    }

    /// Writes a range in order, of whose data so many percent can be removed; how long that took, microseconds.
    pub(super) fn write_compressible(
        &mut self,
        start: u64,
        bytes: u64,
        percent: u8,
    ) -> Result<f64, Stopped> {
        let job = self.job_in_order(start, bytes, (128 << 10, 8), Data::Compressible(percent));
        let began = self.target.now();
        self.run(&job, u64::MAX)?;
        Ok((self.target.now() - began).as_micros())
    }

    /// Writes so many bytes at random in the first `span` bytes, 4 KiB a write; how long each `mark` took, microseconds.
    pub(super) fn write_at_random(
        &mut self,
        span: u64,
        bytes: u64,
        mark: u64,
    ) -> Result<Vec<f64>, Stopped> {
        let job = Job {
            pattern: Pattern::Random,
            block_bytes: UNIT as u32,
            until: Until::Bytes(bytes),
            ..self.job_in_order(0, span, (128 << 10, 8), Data::Incompressible)
        };
        Ok(each_mark(&self.run(&job, mark)?))
    }

    /// Whether the target takes a TRIM of a range, which is done if it does.
    pub(super) fn trim(&mut self, start: u64, bytes: u64) -> Result<bool, Stopped> {
        match self.one(trim_of(start, bytes)) {
            Ok(_) => Ok(true),
            Err(Stopped::Failed(fault)) if fault.cause == FaultCause::Unsupported => Ok(false),
            Err(stopped) => Err(stopped),
        }
    }

    /// Whether the target takes TRIMs of a range of any size, which are done until it does not.
    pub(super) fn trim_all(&mut self, start: u64, bytes: u64) -> Result<bool, Stopped> {
        let mut done = 0;
        while done < bytes {
            let some = MOST_OF_A_TRIM.min(bytes - done);
            if !self.trim(start + done, some)? {
                return Ok(false);
            }
            done += some;
        }
        Ok(true)
    }

    /// Reads of a unit each at two places that are sent at the same time; how long it took until both were done,
    /// microseconds.
    pub(super) fn read_both_us(&mut self, places: [u64; 2]) -> Result<f64, Stopped> {
        self.looks()?;
        let [first, second] = places.map(unit_at);
        self.read += 2 * UNIT;
        self.both(first, second).map(|took| took[0].max(took[1]))
    }

    /// A read of a unit that is sent right after a TRIM of a range, both of which are waited for; how long the read took,
    /// microseconds.
    pub(super) fn read_beside_trim(
        &mut self,
        place: u64,
        (start, bytes): (u64, u64),
    ) -> Result<f64, Stopped> {
        if !(self.watch)() {
            return Err(Stopped::Interrupted);
        }
        self.read += UNIT;
        self.both(trim_of(start, bytes), unit_at(place)).map(|[_, read]| read)
    }

    /// A flush, and a read of a unit `after` it was sent: microseconds from the read to the end of the flush, and to its own. `None`
    /// if the flush was over before, and nothing was read.
    pub(super) fn read_beside_flush(
        &mut self,
        place: u64,
        after: Nanos,
    ) -> Result<Option<[f64; 2]>, Stopped> {
        self.takes_two()?;
        self.looks()?;
        let at = self.target.now() + after;
        self.target.submit(Tag(0), Io::FLUSH);
        while self.target.now() < at {
            if self.target.reap(at).map_err(Stopped::Failed)?.is_some() {
                return Ok(None);
            }
        }
        self.read += UNIT;
        let submitted = self.target.now();
        self.target.submit(Tag(1), unit_at(place));
        self.both_of(submitted).map(Some)
    }

    /// Two I/Os, one sent right after the other; how long each took, microseconds.
    fn both(&mut self, first: Io, second: Io) -> Result<[f64; 2], Stopped> {
        self.takes_two()?;
        let submitted = self.target.now();
        self.target.submit(Tag(0), first);
        self.target.submit(Tag(1), second);
        self.both_of(submitted)
    }

    /// Refuses a target that takes one I/O at a time.
    fn takes_two(&self) -> Result<(), Stopped> {
        match self.geometry().queue_depth {
            0 | 1 => Err(Stopped::Lacks("the target takes one I/O at a time".into())),
            _ => Ok(()),
        }
    }

    /// Waits for two I/Os in flight; how long each took from then on, microseconds.
    fn both_of(&mut self, submitted: Nanos) -> Result<[f64; 2], Stopped> {
        let (mut took, mut left, mut failed) = ([0.0; 2], 2, None);
        while left > 0 {
            match self.target.reap(Nanos::MAX) {
                Ok(Some(done)) => {
                    took[usize::from(done.tag == Tag(1))] = (done.at - submitted).as_micros();
                    left -= 1;
                }
                Ok(None) => {}
                // The other one is still in flight, and has to be waited for.
                Err(fault) => {
                    failed = Some(fault);
                    left -= 1;
                }
            }
        }
        match failed {
            Some(fault) => Err(Stopped::Failed(fault)),
            None => Ok(took),
        }
    }

    /// Now and then asks whoever watches whether to go on.
    fn looks(&mut self) -> Result<(), Stopped> {
        self.since_looked += 1;
        if self.since_looked < LOOK_AFTER {
            return Ok(());
        }
        self.since_looked = 0;
        match (self.watch)() {
            true => Ok(()),
            false => Err(Stopped::Interrupted),
        }
    }

    fn job_in_order(
        &mut self,
        start: u64,
        bytes: u64,
        (block, depth): (u32, u32),
        data: Data,
    ) -> Job {
        Job {
            pattern: Pattern::Sequential,
            read_percent: 0,
            block_bytes: block,
            queue_depth: depth.min(self.geometry().queue_depth),
            span_start_bytes: start,
            span_bytes: bytes,
            data,
            until: Until::Bytes(bytes),
            seed: self.random.next(),
            fua: false,
            flush: false,
            jobs: 1,
        }
    }

    /// Runs a job of writes to its end.
    fn run(&mut self, job: &Job, mark: u64) -> Result<Measured, Stopped> {
        let measured = run_marked(self.target, job, mark, &mut Asks(self.watch));
        self.written += measured.bytes;
        match measured.ended {
            JobEnd::Complete => Ok(measured),
            JobEnd::Interrupted => Err(Stopped::Interrupted),
            JobEnd::Failed(fault) => Err(Stopped::Failed(fault)),
        }
    }
}

/// How long each mark took, microseconds.
fn each_mark(measured: &Measured) -> Vec<f64> {
    let mut before = Nanos::ZERO;
    let each = measured.marks.iter().map(|&at| {
        let took = at - before;
        before = at;
        took.as_micros()
    });
    each.collect()
}

fn unit_at(place: u64) -> Io {
    Io::read(Lba(place / SECTOR_BYTES), (UNIT / SECTOR_BYTES) as u32)
}

fn trim_of(start: u64, bytes: u64) -> Io {
    Io::trim(Lba(start / SECTOR_BYTES), (bytes / SECTOR_BYTES) as u32)
}

/// Asks a function whether to go on.
struct Asks<'a>(&'a mut dyn FnMut() -> bool);

impl Observer for Asks<'_> {
    fn go_on(&mut self, _part_done: f64) -> bool {
        (self.0)()
    }
}
