//! The one loop that runs a job on a target, whatever the target is.

use fourcorners_drive::{Clock, Done, Fault, Io, Nanos, Op, Tag, Target};

use crate::histogram::Histogram;
use crate::workload::{Job, Stream};

/// I/Os made ahead of their submission and shown to the target, [`BATCH`] at a time. A virtual drive
/// needs three hints to find where a unit is.
const LOOK_AHEAD: usize = 32;

/// I/Os of one hint.
const BATCH: usize = 4;

/// On a real drive the loop wakes up this often to notice an interrupt while nothing completes.
const WALL_TICK: Nanos = Nanos(100_000_000);

/// One second of a series.
const SECOND: Nanos = Nanos::from_secs(1);

/// What a job did.
#[derive(Clone, Debug)]
pub struct Measured {
    /// From the first submit to the last completion.
    pub elapsed: Nanos,
    /// I/Os read.
    pub reads: u64,
    /// I/Os written.
    pub writes: u64,
    /// Bytes moved either way.
    pub bytes: u64,
    /// Latency of every I/O, submit to completion.
    pub latency: Histogram,
    /// The number in flight integrated over `elapsed`, in I/O-nanoseconds, counted apart from the
    /// latencies. By Little's law it equals their sum.
    pub in_flight_ns: u128,
    /// What completed in each whole second. What came after the last of them counts in the totals
    /// only: a part of a second would look like a drive that stopped.
    pub seconds: Vec<Second>,
    /// When each whole piece of [`run_marked`] was done, from the first submit.
    pub marks: Vec<Nanos>,
    /// What the target used meanwhile, if it can tell.
    pub energy: Option<EnergyUsed>,
    /// How it ended.
    pub ended: JobEnd,
}

/// What completed in one second of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Second {
    /// I/Os.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_sum: Nanos,
    /// Longest latency.
    pub latency_max: Nanos,
}

/// The energy a target used during a job.
#[derive(Clone, PartialEq, Debug)]
pub struct EnergyUsed {
    /// Joules, from the first submit to the last completion. What the target does afterwards (it
    /// writes out what it cached) is not in it.
    pub joules: f64,
    /// Joules of each second of [`Measured::seconds`].
    pub seconds: Vec<f64>,
}

/// How a job ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobEnd {
    /// It ran as long as it was to run.
    Complete,
    /// The observer stopped it.
    Interrupted,
    /// The target failed an I/O; nothing was submitted after it.
    Failed(Fault),
}

/// Who watches a job: told how far it is, asked whether to go on.
pub trait Observer {
    /// Called every few thousand I/Os (virtual) or at least ten times a second (wall) with the
    /// part that is done, 0 to 1. `false` stops the job.
    fn go_on(&mut self, part_done: f64) -> bool;
}

/// Watches nothing and never stops a job.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn go_on(&mut self, _part_done: f64) -> bool {
        true
    }
}

/// Runs `job` on `target`: keeps `queue_depth` I/Os in flight until the job's end, then waits for
/// those in flight.
///
/// The caller has checked that the job fits the target's geometry. A job of zero bytes does
/// nothing. The I/Os in flight at the end are waited for and counted, so that every I/O lies
/// within `elapsed`.
pub fn run<T: Target>(target: &mut T, job: &Job, observer: &mut impl Observer) -> Measured {
    run_marked(target, job, u64::MAX, observer)
}

/// The same, and notes when each `mark_bytes` were done.
pub fn run_marked<T: Target>(
    target: &mut T,
    job: &Job,
    mark_bytes: u64,
    observer: &mut impl Observer,
) -> Measured {
    let mark_bytes = mark_bytes.max(1);
    let start = target.now();
    Loop {
        depth: job.queue_depth.min(target.geometry().queue_depth),
        limits: Limits {
            deadline: start.saturating_add(job.until.duration()),
            bytes: job.until.bytes(),
        },
        ahead: LookAhead::new(Stream::new(job)),
        start,
        submitted_bytes: 0,
        in_flight: Vec::new(),
        flying: 0,
        last_event: start,
        measured: Measured {
            elapsed: Nanos::ZERO,
            reads: 0,
            writes: 0,
            bytes: 0,
            latency: Histogram::new(),
            in_flight_ns: 0,
            seconds: Vec::new(),
            marks: Vec::new(),
            energy: None,
            ended: JobEnd::Complete,
        },
        mark_bytes,
        next_mark: mark_bytes,
        second: Second::default(),
        second_end: start + SECOND,
        meter: target.energy_j(start).map(Meter::new),
    }
    .run(target, observer)
}

/// When to stop submitting.
struct Limits {
    deadline: Nanos,
    bytes: u64,
}

struct Loop {
    depth: u32,
    limits: Limits,
    ahead: LookAhead,
    start: Nanos,
    submitted_bytes: u64,
    /// By tag: the I/O and when it was submitted.
    in_flight: Vec<(Io, Nanos)>,
    flying: u32,
    /// When `flying` last changed.
    last_event: Nanos,
    measured: Measured,
    mark_bytes: u64,
    /// Bytes that are done at the next mark.
    next_mark: u64,
    second: Second,
    second_end: Nanos,
    meter: Option<Meter>,
}

/// Readings of a target's energy, in joules since some time of its own.
struct Meter {
    at_start: f64,
    /// At the end of each whole second.
    at_seconds: Vec<f64>,
}

impl Meter {
    fn new(at_start: f64) -> Meter {
        Meter { at_start, at_seconds: Vec::new() }
    }

    /// What was used, with the reading at the end.
    fn used(&self, at_end: f64) -> EnergyUsed {
        let befores = std::iter::once(&self.at_start).chain(&self.at_seconds);
        let seconds = self.at_seconds.iter().zip(befores).map(|(after, before)| after - before);
        EnergyUsed { joules: at_end - self.at_start, seconds: seconds.collect() }
    }
}

impl Loop {
    fn run<T: Target>(mut self, target: &mut T, observer: &mut impl Observer) -> Measured {
        self.in_flight = vec![(Io::FLUSH, self.start); self.depth as usize];
        let tick = match T::CLOCK {
            Clock::Wall => WALL_TICK,
            Clock::Virtual => Nanos::MAX,
        };
        let mut next_tick = self.start.saturating_add(tick);
        let mut since_observed = 0u32;
        self.ahead.begin(target);
        for tag in 0..self.depth {
            self.submit_next(target, Tag(tag));
        }
        while self.flying > 0 {
            match target.reap(next_tick) {
                Ok(Some(done)) => {
                    self.complete(target, done);
                    if self.measured.ended == JobEnd::Complete {
                        self.submit_next(target, done.tag);
                    }
                    since_observed += 1;
                    if since_observed < 8192 && target.now() < next_tick {
                        continue;
                    }
                }
                Ok(None) => {}
                Err(fault) => {
                    self.fail(fault);
                    self.stop(JobEnd::Failed(fault));
                }
            }
            since_observed = 0;
            next_tick = target.now().saturating_add(tick);
            if !observer.go_on(self.part_done(target.now())) {
                self.stop(JobEnd::Interrupted);
            }
        }
        self.finish(target)
    }

    /// The first reason to stop stands.
    fn stop(&mut self, reason: JobEnd) {
        if self.measured.ended == JobEnd::Complete {
            self.measured.ended = reason;
        }
    }

    #[inline]
    fn submit_next<T: Target>(&mut self, target: &mut T, tag: Tag) {
        let now = target.now();
        if now >= self.limits.deadline || self.submitted_bytes >= self.limits.bytes {
            return;
        }
        let io = self.ahead.next(target);
        self.count_in_flight(now);
        self.flying += 1;
        self.submitted_bytes += io.bytes();
        self.in_flight[tag.0 as usize] = (io, now);
        target.submit(tag, io);
    }

    #[inline]
    fn complete<T: Target>(&mut self, target: &T, done: Done) {
        let (io, submitted) = self.in_flight[done.tag.0 as usize];
        let latency = done.at - submitted;
        self.settle(done.at);
        self.measured.latency.record(latency.0);
        match io.op {
            Op::Read => self.measured.reads += 1,
            _ => self.measured.writes += 1,
        }
        self.measured.bytes += io.bytes();
        if self.measured.bytes >= self.next_mark {
            self.mark(done.at);
        }
        while done.at >= self.second_end {
            self.end_second(target);
        }
        self.second.ios += 1;
        self.second.bytes += io.bytes();
        self.second.latency_sum += latency;
        self.second.latency_max = self.second.latency_max.max(latency);
    }

    /// A failed I/O has no latency, so its time in the queue does not count either: Little's law
    /// is one of the I/Os that were measured.
    fn fail(&mut self, fault: Fault) {
        let at = fault.at.max(self.last_event);
        let (_, submitted) = self.in_flight[fault.tag.0 as usize];
        self.settle(at);
        self.measured.in_flight_ns -= u128::from((at - submitted).0);
    }

    /// An I/O left the queue at `at`.
    #[inline]
    fn settle(&mut self, at: Nanos) {
        self.count_in_flight(at);
        self.flying -= 1;
    }

    /// Brings the integral of the number in flight up to `at`.
    #[inline]
    fn count_in_flight(&mut self, at: Nanos) {
        self.measured.in_flight_ns +=
            u128::from((at - self.last_event).0) * u128::from(self.flying);
        self.last_event = at;
    }

    #[cold]
    fn mark(&mut self, now: Nanos) {
        while self.measured.bytes >= self.next_mark {
            self.measured.marks.push(now - self.start);
            self.next_mark = self.next_mark.saturating_add(self.mark_bytes);
        }
    }

    fn end_second<T: Target>(&mut self, target: &T) {
        self.measured.seconds.push(std::mem::take(&mut self.second));
        if let (Some(meter), Some(joules)) = (&mut self.meter, target.energy_j(self.second_end)) {
            meter.at_seconds.push(joules);
        }
        self.second_end += SECOND;
    }

    fn part_done(&self, now: Nanos) -> f64 {
        let by_time =
            now.since(self.start).0 as f64 / self.limits.deadline.since(self.start).0.max(1) as f64;
        let by_bytes = self.submitted_bytes as f64 / self.limits.bytes.max(1) as f64;
        by_time.max(by_bytes).min(1.0)
    }

    fn finish<T: Target>(mut self, target: &T) -> Measured {
        self.measured.elapsed = self.last_event - self.start;
        let at_end = target.energy_j(self.last_event);
        self.measured.energy = self.meter.zip(at_end).map(|(meter, at_end)| meter.used(at_end));
        self.measured
    }
}

/// The next I/Os of a stream, made in batches that the target is shown some batches before they
/// are due.
struct LookAhead {
    stream: Stream,
    ios: [Io; LOOK_AHEAD],
    /// How many have been taken. Those of the last [`LOOK_AHEAD`] positions are in `ios`, in a ring.
    taken: usize,
}

impl LookAhead {
    fn new(stream: Stream) -> LookAhead {
        LookAhead { stream, ios: [Io::FLUSH; LOOK_AHEAD], taken: 0 }
    }

    /// Makes the first I/Os.
    fn begin<T: Target>(&mut self, target: &mut T) {
        (0..LOOK_AHEAD / BATCH).for_each(|batch| self.make(target, batch));
    }

    #[inline]
    fn next<T: Target>(&mut self, target: &mut T) -> Io {
        let io = self.ios[self.taken % LOOK_AHEAD];
        self.taken += 1;
        if self.taken.is_multiple_of(BATCH) {
            self.make(target, (self.taken / BATCH - 1) % (LOOK_AHEAD / BATCH));
        }
        io
    }

    fn make<T: Target>(&mut self, target: &mut T, batch: usize) {
        let ios = &mut self.ios[batch * BATCH..][..BATCH];
        ios.fill_with(|| self.stream.next_io());
        target.hint(ios);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Data, Pattern, Until};
    use fourcorners_drive::Null;
    use proptest::prelude::*;

    fn job(queue_depth: u32, until: Until) -> Job {
        Job {
            pattern: Pattern::Random,
            read_percent: 50,
            block_bytes: 4096,
            queue_depth,
            span_start_bytes: 0,
            span_bytes: 1 << 30,
            data: Data::Incompressible,
            until,
            seed: 1,
            fua: false,
        }
    }

    #[test]
    fn a_second_at_depth_four_and_100_us_is_40_000_ios() {
        let mut drive = Null::new(1 << 21, Nanos::from_micros(100.0));
        let measured = run(&mut drive, &job(4, Until::Seconds(3)), &mut Unobserved);
        assert_eq!(measured.latency.count(), 120_000);
        assert_eq!(measured.elapsed, Nanos::from_secs(3));
        // The completions of the very last instant belong to the second that begins there, which
        // is not whole.
        let ios: Vec<u64> = measured.seconds.iter().map(|second| second.ios).collect();
        assert_eq!(ios, [39_996, 40_000, 40_000]);
        assert_eq!(measured.ended, JobEnd::Complete);
    }

    #[test]
    fn marks_are_when_each_piece_was_done() {
        let mut drive = Null::new(1 << 21, Nanos::from_micros(10.0));
        let job = job(1, Until::Bytes(10 * 4096));
        let measured = run_marked(&mut drive, &job, 3 * 4096, &mut Unobserved);
        assert_eq!(measured.marks, [30.0, 60.0, 90.0].map(Nanos::from_micros));
        assert!(run(&mut drive, &job, &mut Unobserved).marks.is_empty());
    }

    #[test]
    fn a_job_of_bytes_submits_no_more() {
        let mut drive = Null::new(1 << 21, Nanos::from_micros(1.0));
        let measured = run(&mut drive, &job(8, Until::Bytes(100 * 4096)), &mut Unobserved);
        assert_eq!((measured.bytes, measured.reads + measured.writes), (100 * 4096, 100));
    }

    #[test]
    fn a_fault_ends_the_job_and_keeps_what_was_measured() {
        // The drive is half as large as the span: one of the first I/Os lands outside.
        let mut drive = Null::new(1 << 20, Nanos::from_micros(1.0));
        let measured = run(&mut drive, &job(8, Until::Bytes(1 << 20)), &mut Unobserved);
        assert!(matches!(measured.ended, JobEnd::Failed(fault) if fault.io.end() > 1 << 20));
        assert!(measured.latency.count() > 0);
        assert_eq!(measured.in_flight_ns, measured.latency.sum());
    }

    #[test]
    fn an_observer_can_stop_it() {
        struct StopAt(f64);
        impl Observer for StopAt {
            fn go_on(&mut self, part_done: f64) -> bool {
                part_done < self.0
            }
        }
        let mut drive = Null::new(1 << 21, Nanos::from_micros(100.0));
        let measured = run(&mut drive, &job(4, Until::Seconds(100)), &mut StopAt(0.5));
        assert_eq!(measured.ended, JobEnd::Interrupted);
        assert!((measured.elapsed.as_secs() - 50.0).abs() < 1.0);
    }

    /// A drive that draws 2 W and a joule an I/O.
    struct Metered(Null, f64);

    impl Target for Metered {
        const CLOCK: Clock = Clock::Virtual;
        fn geometry(&self) -> fourcorners_drive::Geometry {
            self.0.geometry()
        }
        fn now(&self) -> Nanos {
            self.0.now()
        }
        fn submit(&mut self, tag: Tag, io: Io) {
            self.1 += 1.0;
            self.0.submit(tag, io);
        }
        fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
            self.0.reap(until)
        }
        fn energy_j(&self, at: Nanos) -> Option<f64> {
            Some(2.0 * at.as_secs() + self.1)
        }
    }

    #[test]
    fn energy_is_read_at_the_end_of_every_second() {
        // An I/O takes 0.6 s: submitted at 0, 0.6, 1.2, 1.8, 2.4 and 3.0 s.
        let mut drive = Metered(Null::new(1 << 21, Nanos::from_micros(600_000.0)), 1000.0);
        drive.reap(Nanos::from_secs(10)).expect("no fault");
        let measured = run(&mut drive, &job(1, Until::Bytes(6 * 4096)), &mut Unobserved);
        let energy = measured.energy.expect("the drive can tell");
        assert_eq!(measured.elapsed, Nanos::from_micros(3_600_000.0));
        assert!((energy.joules - (2.0 * 3.6 + 6.0)).abs() < 1e-9, "{energy:?}");
        let expected = [2.0 + 2.0, 2.0 + 2.0, 2.0 + 1.0];
        assert_eq!(energy.seconds.len(), expected.len());
        for (second, expected) in energy.seconds.iter().zip(expected) {
            assert!((second - expected).abs() < 1e-9, "{energy:?}");
        }
    }

    #[test]
    fn a_stall_of_seconds_draws_in_each_of_them() {
        let mut drive = Metered(Null::new(1 << 21, Nanos::from_secs(5)), 0.0);
        let measured = run(&mut drive, &job(1, Until::Bytes(4096)), &mut Unobserved);
        let seconds = measured.energy.expect("the drive can tell").seconds;
        assert_eq!(seconds, [3.0, 2.0, 2.0, 2.0, 2.0]);
        let mut unmetered = Null::new(1 << 21, Nanos::from_secs(5));
        let measured = run(&mut unmetered, &job(1, Until::Bytes(4096)), &mut Unobserved);
        assert_eq!(measured.energy, None);
    }

    proptest! {
        #[test]
        fn littles_law_holds_exactly(
            queue_depth in 1u32..64, latency in 1u64..1_000_000, blocks in 1u64..5000,
        ) {
            let mut drive = Null::new(1 << 21, Nanos(latency));
            let measured =
                run(&mut drive, &job(queue_depth, Until::Bytes(blocks * 4096)), &mut Unobserved);
            prop_assert_eq!(measured.in_flight_ns, measured.latency.sum());
        }
    }
}
