//! A target as synchronous writers see it: each write is followed by a flush and done when that is
//! answered, and several jobs write in order, each from the start of the span.

use fourcorners_drive::{
    Clock, Done, Fault, Geometry, Io, Lba, Nanos, Op, SECTOR_BYTES, Tag, Target,
};
use fourcorners_record::{Job, Pattern};

/// To whoever runs a job on it, it is the target.
#[derive(Debug)]
pub(crate) struct SyncWriters<'a, T> {
    target: &'a mut T,
    /// By tag: whether the write under it is still to be flushed. Empty where nothing is flushed.
    to_flush: Vec<bool>,
    /// Of several jobs in order, where each is.
    in_order: Option<InOrder>,
}

/// The places of several sequential jobs on one span. Job `n` has the tags from `n` times its depth on.
#[derive(Debug)]
struct InOrder {
    depth: u32,
    start_sector: u64,
    blocks: u64,
    /// By job: the block it writes next.
    next: Vec<u64>,
}

impl InOrder {
    fn of(job: &Job) -> InOrder {
        InOrder {
            depth: job.queue_depth.max(1),
            start_sector: job.span_start_bytes / SECTOR_BYTES,
            blocks: (job.span_bytes / u64::from(job.block_bytes)).max(1),
            next: vec![0; job.jobs as usize],
        }
    }

    /// The I/O at its own job's place.
    fn placed(&mut self, tag: Tag, io: Io) -> Io {
        let Some(next) = self.next.get_mut((tag.0 / self.depth) as usize) else { return io };
        let block = *next;
        *next = if block + 1 == self.blocks { 0 } else { block + 1 };
        Io { lba: Lba(self.start_sector + block * u64::from(io.sectors)), ..io }
    }
}

impl<'a, T: Target> SyncWriters<'a, T> {
    /// Whether a job needs one: without it it is run as it is.
    pub(crate) fn are_in(job: &Job) -> bool {
        job.flush || job.jobs > 1
    }

    /// For this job. Random ones draw from one stream together: where each of them goes is as uniform.
    pub(crate) fn new(target: &'a mut T, job: &Job) -> SyncWriters<'a, T> {
        let tags = job.in_flight().min(target.geometry().queue_depth) as usize;
        let in_order = job.jobs > 1 && job.pattern == Pattern::Sequential;
        SyncWriters {
            target,
            to_flush: if job.flush { vec![false; tags] } else { Vec::new() },
            in_order: in_order.then(|| InOrder::of(job)),
        }
    }
}

impl<T: Target> Target for SyncWriters<'_, T> {
    const CLOCK: Clock = T::CLOCK;

    fn geometry(&self) -> Geometry {
        self.target.geometry()
    }

    fn now(&self) -> Nanos {
        self.target.now()
    }

    fn hint(&mut self, ahead: &[Io]) {
        // Which job's turn it will be is not known yet.
        if self.in_order.is_none() {
            self.target.hint(ahead);
        }
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        let io = match &mut self.in_order {
            Some(jobs) => jobs.placed(tag, io),
            None => io,
        };
        if let Some(to_flush) = self.to_flush.get_mut(tag.0 as usize) {
            *to_flush = io.op == Op::Write;
        }
        self.target.submit(tag, io);
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        loop {
            let done = self.target.reap(until)?;
            let Some(Done { tag, .. }) = done else { return Ok(None) };
            match self.to_flush.get_mut(tag.0 as usize) {
                Some(to_flush) if *to_flush => {
                    *to_flush = false;
                    self.target.submit(tag, Io::FLUSH);
                }
                _ => return Ok(done),
            }
        }
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        self.target.energy_j(at)
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::Null;
    use fourcorners_record::{Data, Until};

    use super::*;
    use crate::observer::Unobserved;
    use crate::run::run;

    const ANSWER: Nanos = Nanos(1000);

    fn job(flush: bool, jobs: u32) -> Job {
        Job {
            pattern: Pattern::Sequential,
            read_percent: 0,
            block_bytes: 4096,
            queue_depth: 1,
            span_start_bytes: 8192,
            span_bytes: 3 * 4096,
            data: Data::Incompressible,
            until: Until::Seconds(1),
            seed: 7,
            fua: false,
            flush,
            jobs,
        }
    }

    /// A drive that notes what it is asked.
    struct Noting {
        drive: Null,
        asked: Vec<(Tag, Op, u64)>,
    }

    impl Target for Noting {
        const CLOCK: Clock = Clock::Virtual;
        fn geometry(&self) -> Geometry {
            self.drive.geometry()
        }
        fn now(&self) -> Nanos {
            self.drive.now()
        }
        fn submit(&mut self, tag: Tag, io: Io) {
            self.asked.push((tag, io.op, io.lba.bytes()));
            self.drive.submit(tag, io);
        }
        fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
            self.drive.reap(until)
        }
    }

    fn asked(job: &Job) -> Vec<(Tag, Op, u64)> {
        let mut target = Noting { drive: Null::new(1 << 30, ANSWER), asked: Vec::new() };
        let job = Job { until: Until::Bytes(4096 * 4 * u64::from(job.jobs)), ..job.clone() };
        run(&mut target, &job, &mut Unobserved);
        target.asked
    }

    #[test]
    fn a_write_is_done_when_its_flush_is_answered_and_a_read_has_none() {
        let ran = |job: &Job| run(&mut Null::new(1 << 30, ANSWER), job, &mut Unobserved);
        let (plain, flushed) = (ran(&job(false, 1)), ran(&job(true, 1)));
        assert_eq!((plain.writes, plain.latency.max()), (1_000_000, ANSWER.0));
        assert_eq!((flushed.writes, flushed.latency.max()), (500_000, 2 * ANSWER.0));
        assert_eq!(flushed.bytes, 500_000 * 4096);
        assert_eq!(flushed.in_flight_ns, flushed.latency.sum());
        let reads = ran(&Job { read_percent: 100, ..job(true, 1) });
        assert_eq!((reads.reads, reads.latency.max()), (1_000_000, ANSWER.0));
    }

    #[test]
    fn every_job_goes_through_the_span_from_its_start_by_itself() {
        for jobs in [1, 2, 5] {
            let asked = asked(&job(true, jobs));
            for tag in 0..jobs {
                let of_tag = asked.iter().filter(|(of, ..)| *of == Tag(tag));
                let offsets: Vec<u64> = of_tag
                    .clone()
                    .filter(|(_, op, _)| *op == Op::Write)
                    .map(|&(_, _, offset)| offset)
                    .collect();
                assert_eq!(offsets, [8192, 12288, 16384, 8192], "job {tag} of {jobs}");
                let ops: Vec<Op> = of_tag.map(|&(_, op, _)| op).collect();
                assert_eq!(ops, [Op::Write, Op::Flush].repeat(4), "job {tag} of {jobs}");
            }
        }
    }

    #[test]
    fn jobs_are_in_flight_together() {
        let ran = |jobs| run(&mut Null::new(1 << 30, ANSWER), &job(true, jobs), &mut Unobserved);
        assert_eq!(ran(5).writes, 5 * ran(1).writes);
    }

    #[test]
    fn a_flush_that_fails_ends_the_job() {
        struct NoFlush(Null);
        impl Target for NoFlush {
            const CLOCK: Clock = Clock::Virtual;
            fn geometry(&self) -> Geometry {
                self.0.geometry()
            }
            fn now(&self) -> Nanos {
                self.0.now()
            }
            fn submit(&mut self, tag: Tag, io: Io) {
                // A null drive refuses what is beyond its end.
                let beyond = Io::read(Lba(u64::MAX), 1);
                self.0.submit(tag, if io.op == Op::Flush { beyond } else { io });
            }
            fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
                self.0.reap(until)
            }
        }
        let failed = run(&mut NoFlush(Null::new(1 << 30, ANSWER)), &job(true, 2), &mut Unobserved);
        assert!(matches!(failed.ended, crate::JobEnd::Failed(_)), "{:?}", failed.ended);
        assert_eq!(failed.latency.count(), 0);
    }
}
