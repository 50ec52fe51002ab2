//! Reading back what was written, in order of place.

use fourcorners_drive::{Clock, Fault, Io, Lba, Nanos, SECTOR_BYTES, Tag, Target};

use super::stamp::{SECTOR, Tag as StampTag};
use super::{Contents, Findings, Verifying};
use crate::histogram::Histogram;
use crate::observer::Observer;

/// On a real drive an interrupt is noticed this often while nothing completes.
const WALL_TICK: Nanos = Nanos(100_000_000);

/// Blocks that are asked which run wrote them.
const ASKED: u64 = 64;

/// What is read back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Whose writes, by its place in the plan.
    pub stream: usize,
    /// From here...
    pub start_bytes: u64,
    /// ...to here.
    pub end_bytes: u64,
    /// I/Os in flight, at least 1.
    pub depth: u32,
    /// Largest read, bytes.
    pub most_bytes: u64,
}

/// What reading back came to.
#[derive(Clone, Debug, Default)]
pub struct ReadBack {
    /// Blocks that were looked at.
    pub blocks: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// How long it took.
    pub elapsed: Nanos,
    /// Latency of each read.
    pub latency: Histogram,
    /// The first read that failed, or that found wrong data where that is fatal; and how many.
    pub failed: Option<(Fault, u64)>,
    /// Whether the observer stopped it.
    pub interrupted: bool,
}

impl ReadBack {
    /// Adds what another stream's came to.
    pub fn merge(&mut self, other: &ReadBack) {
        self.blocks += other.blocks;
        self.bytes += other.bytes;
        self.elapsed = self.elapsed.saturating_add(other.elapsed);
        self.latency.merge(&other.latency);
    }
}

impl<T: Contents> Verifying<'_, T> {
    /// Reads back all blocks of a span that a stream wrote last, and holds them to that.
    pub fn read_back(&mut self, wanted: Wanted, observer: &mut dyn Observer) -> ReadBack {
        let depth = wanted.depth.min(self.geometry().queue_depth).max(1);
        let mut back = ReadBack::default();
        self.is_of(wanted.stream as u32);
        let start = self.now();
        let mut submitted = vec![(start, 0u64); depth as usize];
        let mut free: Vec<Tag> = (0..depth).rev().map(Tag).collect();
        let mut next_bytes = wanted.start_bytes;
        let mut go_on = true;
        let mut last = start;
        loop {
            while go_on && let Some(&tag) = free.last() {
                let mine = |sequence: super::Sequence| sequence.stream() == wanted.stream;
                let run =
                    self.ledger.next_run(next_bytes, wanted.end_bytes, wanted.most_bytes, mine);
                let Some((offset, bytes)) = run else {
                    next_bytes = wanted.end_bytes;
                    break;
                };
                free.pop();
                next_bytes = offset + bytes;
                submitted[tag.0 as usize] = (self.now(), bytes);
                let lba = Lba(offset / SECTOR_BYTES);
                let sectors = (bytes / SECTOR_BYTES) as u32;
                self.submit(tag, Io::read(lba, sectors));
            }
            if free.len() == depth as usize {
                break;
            }
            let until = match T::CLOCK {
                Clock::Wall => self.now().saturating_add(WALL_TICK),
                Clock::Virtual => Nanos::MAX,
            };
            match self.reap(until) {
                Ok(Some(done)) => {
                    let (at, bytes) = submitted[done.tag.0 as usize];
                    back.latency.record((done.at - at).0);
                    back.bytes += bytes;
                    back.blocks += bytes / u64::from(self.spec.block_bytes);
                    last = done.at;
                    free.push(done.tag);
                }
                Ok(None) => {}
                Err(fault) => {
                    back.failed.get_or_insert((fault, 0)).1 += 1;
                    last = fault.at;
                    free.push(fault.tag);
                    go_on &= !self.spec.fatal;
                }
            }
            let all = (wanted.end_bytes - wanted.start_bytes).max(1) as f64;
            let part = next_bytes.saturating_sub(wanted.start_bytes) as f64 / all;
            if go_on && !observer.go_on(part.min(1.0)) {
                (go_on, back.interrupted) = (false, true);
            }
        }
        back.elapsed = last.since(start);
        back
    }

    /// Takes what is there for that of the run that wrote most of it: asks some blocks, spread over
    /// the span, whose they are.
    pub fn adopt_run(&mut self) {
        let (start, end) = (self.spec.start_bytes, self.spec.start_bytes + self.spec.bytes);
        let block = u64::from(self.spec.block_bytes);
        let step = (self.spec.bytes / ASKED / block).max(1) * block;
        let mut runs: Vec<(u64, u32)> = Vec::new();
        let mut from = start;
        while let Some((offset, _)) = self.ledger.next_run(from, end, block, |_| true) {
            from = offset + step;
            let io = Io::read(Lba(offset / SECTOR_BYTES), (block / SECTOR_BYTES) as u32);
            self.target.submit(Tag(0), io);
            if !matches!(self.target.reap(Nanos::MAX), Ok(Some(_))) {
                continue;
            }
            let content = self.target.content(Tag(0), block as usize);
            let sectors = content.chunks_exact(SECTOR).zip(io.lba.0..);
            let own = sectors
                .filter_map(|(sector, number)| Some((StampTag::of(sector)?, number)))
                .find(|(tag, number)| tag.sector == *number);
            if let Some((tag, _)) = own {
                match runs.iter_mut().find(|(run, _)| *run == tag.run) {
                    Some((_, count)) => *count += 1,
                    None => runs.push((tag.run, 1)),
                }
            }
        }
        if let Some(&(run, _)) = runs.iter().max_by_key(|(_, count)| *count) {
            self.spec.run = run;
        }
    }

    /// The first thing found wrong of a stream, as a fault, and how many blocks were.
    pub fn failed(&self, stream: usize) -> Option<(Fault, u64)> {
        let Findings { list, blocks, .. } = &self.findings;
        let count = *blocks.get(&stream)?;
        let first = list.iter().find(|finding| finding.stream == stream).or(list.first())?;
        Some((super::target::wrong_data(first, self.now()), count))
    }
}
