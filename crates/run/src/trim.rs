//! TRIM of a range, alone or beside a job.

use fourcorners_drive::{Clock, Done, Fault, Geometry, Io, Lba, Nanos, SECTOR_BYTES, Tag, Target};

/// Sectors of one command, 2.1 GB: 64 ranges, as many as a data block of the ATA command has, each
/// of the most whole 16 KiB that its 16 bits can count.
const PIECE_SECTORS: u32 = 64 * 65_504;

/// Bytes of a target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    /// The first.
    pub start_bytes: u64,
    /// How many; whole sectors.
    pub bytes: u64,
}

/// The commands that trim a range, the last first.
fn pieces(range: Range) -> Vec<Io> {
    let (mut next, end) =
        (range.start_bytes / SECTOR_BYTES, (range.start_bytes + range.bytes) / SECTOR_BYTES);
    let mut pieces = Vec::new();
    while next < end {
        let sectors = (end - next).min(u64::from(PIECE_SECTORS)) as u32;
        pieces.push(Io::trim(Lba(next), sectors));
        next += u64::from(sectors);
    }
    pieces.reverse();
    pieces
}

/// Trims a range, a command after the other, and waits for it. Nothing may be in flight. How long
/// it took.
///
/// # Errors
/// The first fault: the target takes no TRIM, or failed it.
pub fn trim<T: Target>(target: &mut T, range: Range) -> Result<Nanos, Fault> {
    Trimming::begin(target, range).finish()
}

/// A target that is being trimmed: to whoever runs a job on it, it is the target, with one command
/// less to take at once.
#[derive(Debug)]
pub struct Trimming<'a, T> {
    target: &'a mut T,
    tag: Tag,
    left: Vec<Io>,
    began: Nanos,
    end: Option<Result<Nanos, Fault>>,
}

impl<'a, T: Target> Trimming<'a, T> {
    /// Submits the first command. Nothing may be in flight.
    pub fn begin(target: &'a mut T, range: Range) -> Trimming<'a, T> {
        let tag = Tag(target.geometry().queue_depth - 1);
        let began = target.now();
        let mut trimming = Trimming { target, tag, left: pieces(range), began, end: None };
        trimming.next(began);
        trimming
    }

    fn next(&mut self, now: Nanos) {
        match self.left.pop() {
            Some(io) => self.target.submit(self.tag, io),
            None => self.end = Some(Ok(now - self.began)),
        }
    }

    /// Waits for the rest of it. How long all of it took.
    ///
    /// # Errors
    /// The first fault; nothing is trimmed after it.
    pub fn finish(mut self) -> Result<Nanos, Fault> {
        loop {
            if let Some(end) = self.end {
                return end;
            }
            // Only its own commands are in flight; what else is answered is none of ours.
            self.reap(Nanos::MAX)?;
        }
    }
}

impl<T: Target> Target for Trimming<'_, T> {
    const CLOCK: Clock = T::CLOCK;

    fn geometry(&self) -> Geometry {
        Geometry { queue_depth: self.tag.0.max(1), ..self.target.geometry() }
    }

    fn now(&self) -> Nanos {
        self.target.now()
    }

    fn hint(&mut self, ahead: &[Io]) {
        self.target.hint(ahead);
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        self.target.submit(tag, io);
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        loop {
            match self.target.reap(until) {
                Ok(Some(done)) if self.end.is_none() && done.tag == self.tag => {
                    self.next(done.at);
                    if self.end.is_some() && until == Nanos::MAX {
                        return Ok(None);
                    }
                }
                Err(fault) if self.end.is_none() && fault.tag == self.tag => {
                    self.end = Some(Err(fault));
                    if until == Nanos::MAX {
                        return Ok(None);
                    }
                }
                other => return other,
            }
        }
    }

    fn due(&mut self) -> Option<Nanos> {
        self.target.due()
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        self.target.energy_j(at)
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_catalogue::{self as catalogue, Model};
    use fourcorners_drive::Ssd;
    use fourcorners_record::{Data, Job, Pattern, Until};

    use super::*;
    use crate::observer::Unobserved;
    use crate::run::run;

    fn m4() -> Ssd {
        let profile = catalogue::built_in("crucial-m4-256gb", &[]).expect("it is in the catalogue");
        match &profile.model {
            Model::Ssd(model) => Ssd::new(model).expect("it was checked"),
            Model::Hdd(_) => unreachable!("it is an SSD"),
        }
    }

    fn job(read_percent: u8, bytes: u64) -> Job {
        Job {
            pattern: Pattern::Sequential,
            read_percent,
            block_bytes: 131_072,
            queue_depth: 32,
            span_start_bytes: 0,
            span_bytes: bytes,
            data: Data::Incompressible,
            until: Until::Bytes(bytes),
            seed: 1,
            fua: false,
            flush: false,
            jobs: 1,
        }
    }

    #[test]
    fn a_range_is_cut_into_commands_and_nothing_else_is_forgotten() {
        let range = Range { start_bytes: 1 << 20, bytes: 5_000_000_000 / 4096 * 4096 };
        let covered: u64 = pieces(range).iter().map(|io| io.bytes()).sum();
        assert_eq!((pieces(range).len(), covered), (3, range.bytes));
        let mut ssd = m4();
        run(&mut ssd, &job(0, 6 << 30), &mut Unobserved);
        trim(&mut ssd, range).expect("an m4 takes TRIM");
        let mapped = |bytes: u64| ssd.is_mapped(Lba(bytes / 512));
        assert!(mapped((1 << 20) - 4096) && !mapped(1 << 20));
        let end = range.start_bytes + range.bytes;
        assert!(!mapped(end - 4096) && mapped(end));
    }

    #[test]
    fn a_job_beside_it_is_measured_as_ever() {
        let mut ssd = m4();
        run(&mut ssd, &job(0, 4 << 30), &mut Unobserved);
        let range = Range { start_bytes: 2 << 30, bytes: 2 << 30 };
        let mut trimming = Trimming::begin(&mut ssd, range);
        let measured = run(&mut trimming, &job(100, 1 << 30), &mut Unobserved);
        assert!(trimming.finish().expect("an m4 takes TRIM") > Nanos::ZERO);
        assert_eq!(measured.bytes, 1 << 30);
        assert_eq!(measured.in_flight_ns, measured.latency.sum());
        assert!(!ssd.is_mapped(Lba((3 << 30) / 512)) && ssd.is_mapped(Lba((1 << 30) / 512)));
    }
}
