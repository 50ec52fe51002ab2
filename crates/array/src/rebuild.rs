//! A member that is new gets its data back, at a stated rate.

use fourcorners_drive::{Io, Lba, Nanos, SECTOR_BYTES};

use crate::layout::{Layout, Level};
use crate::work::{Job, Part};

/// How far a rebuild has come.
#[derive(Clone)]
pub(crate) struct Rebuild {
    member: usize,
    /// Sectors of the member that are as they should be.
    position: u64,
    /// Sectors there are, and those of a step: a chunk.
    sectors: u64,
    step: u64,
    every: Nanos,
    next: Nanos,
    running: bool,
}

impl Rebuild {
    pub(crate) fn new(member: usize, mb_per_s: f64, layout: &Layout) -> Rebuild {
        let step = layout.chunk();
        let sectors = match layout.level() {
            Level::Raid1 => layout.sectors(),
            _ => layout.stripes() * step,
        };
        let every = Nanos::from_micros((step * SECTOR_BYTES) as f64 / mb_per_s);
        Rebuild { member, position: 0, sectors, step, every, next: Nanos::ZERO, running: false }
    }

    /// Whether what a member has at this sector is not there yet.
    pub(crate) fn is_missing(&self, member: usize, lba: u64) -> bool {
        member == self.member && lba >= self.position
    }

    /// When it goes on; `None` while a step is under way.
    pub(crate) fn due(&self) -> Option<Nanos> {
        (!self.running).then_some(self.next)
    }

    /// The next step, if it is time for it.
    pub(crate) fn begin(&mut self, now: Nanos, layout: &Layout) -> Option<Job> {
        if self.running || now < self.next {
            return None;
        }
        self.running = true;
        // A step that took too long is not made up for.
        self.next = now + self.every;
        let sources: Vec<usize> = match layout.level() {
            Level::Raid5 => (0..layout.members()).filter(|&it| it != self.member).collect(),
            Level::Raid10 => vec![self.member ^ 1],
            _ => (0..layout.members()).filter(|&it| it != self.member).take(1).collect(),
        };
        let sectors = self.step.min(self.sectors - self.position) as u32;
        let read = Io::read(Lba(self.position), sectors);
        let write = Io::write(Lba(self.position), sectors);
        Some(Job {
            first: sources.into_iter().map(|member| Part { member, io: read }).collect(),
            then: vec![Part { member: self.member, io: write }],
            // Nobody writes the stripe meanwhile.
            stripe: (layout.level() == Level::Raid5).then_some(self.position / self.step),
        })
    }

    /// A step is done; the bytes that it brought.
    pub(crate) fn advance(&mut self) -> u64 {
        let before = self.position;
        self.running = false;
        self.position = (self.position + self.step).min(self.sectors);
        (self.position - before) * SECTOR_BYTES
    }

    pub(crate) fn is_done(&self) -> bool {
        self.position >= self.sectors
    }
}
