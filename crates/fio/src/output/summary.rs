//! Jobs as they are reported: one by one, or those of `group_reporting` together.

use fourcorners_drive::Nanos;
use fourcorners_run::streams::{
    DepthFound, Direction, LatencyTarget, Measure, StreamResult, Tally, errno,
};
use fourcorners_run::verify::ReadBack;

use super::{Cost, TargetRun};
use crate::jobfile::Job;

/// Jobs that are reported as one.
pub(super) struct Reported<'a> {
    /// The first of them, by which they go.
    pub(super) job: &'a Job,
    /// How many there are.
    pub(super) jobs: usize,
    pub(super) measure: Measure,
    /// By direction, the longest time that one of them was measured that did I/Os there. One that
    /// only reads says nothing about how fast the others wrote.
    elapsed: [Nanos; 3],
    /// The times of all of them together, by which fio divides CPU time.
    pub(super) job_time: Nanos,
    /// From the run's beginning to the end of the last.
    pub(super) end: Nanos,
    /// The first error number, 0 for none, and how many I/Os failed.
    pub(super) error: (i32, u64),
    /// I/Os in flight: of a search for that, as many as were found.
    pub(super) depth: u32,
    /// What was searched, and what it came to of the first of them.
    pub(super) searched: Option<(LatencyTarget, DepthFound)>,
    pub(super) cost: Cost,
    /// What reading back came to, if it was done.
    pub(super) verified: Option<ReadBack>,
    /// Blocks that were wrong.
    pub(super) wrong_blocks: u64,
}

impl Reported<'_> {
    /// What was done in a direction.
    pub(super) fn tally(&self, direction: Direction) -> &Tally {
        &self.measure.tallies[direction as usize]
    }

    /// Bytes a second in a direction.
    pub(super) fn bytes_a_second(&self, direction: Direction) -> f64 {
        a_second(self.tally(direction).bytes, self.elapsed[direction as usize])
    }

    /// I/Os a second in a direction.
    pub(super) fn ios_a_second(&self, direction: Direction) -> f64 {
        a_second(self.tally(direction).latency.count(), self.elapsed[direction as usize])
    }

    /// The time measured in milliseconds; 0 for a direction without I/Os.
    pub(super) fn runtime_ms(&self, direction: Direction) -> u64 {
        match self.tally(direction).latency.count() {
            0 => 0,
            _ => whole_ms(self.elapsed[direction as usize]),
        }
    }
}

fn a_second(amount: u64, elapsed: Nanos) -> f64 {
    if amount == 0 { 0.0 } else { amount as f64 / elapsed.as_secs().max(1e-9) }
}

/// No time with I/Os is 0.
fn whole_ms(elapsed: Nanos) -> u64 {
    (elapsed.0 / 1_000_000).max(1)
}

/// A stream's time, in the directions in which it did something.
fn elapsed(stream: &StreamResult) -> [Nanos; 3] {
    Direction::ALL.map(|direction| {
        match stream.measure.tallies[direction as usize].latency.count() {
            0 => Nanos::ZERO,
            _ => stream.elapsed,
        }
    })
}

/// All reported jobs of a run, in the file's order.
pub(super) fn reported(run: &TargetRun) -> Vec<Reported<'_>> {
    let all: u64 = run.result.streams.iter().map(|stream| stream.measure.ios()).sum();
    let mut reported: Vec<Reported<'_>> = Vec::new();
    let mut last = None;
    for (place, ((job, stream), described)) in
        run.jobs.jobs.iter().zip(&run.result.streams).zip(&run.jobs.plan.streams).enumerate()
    {
        // As in fio it is nowhere in the report, also not in a group's totals.
        if !job.is_reported {
            continue;
        }
        let blocks = run.result.findings.as_ref().map(|findings| &findings.blocks);
        let wrong_blocks = blocks.and_then(|blocks| blocks.get(&place)).copied().unwrap_or(0);
        let joins = last == Some(job.reported_as);
        last = Some(job.reported_as);
        match reported.last_mut().filter(|_| joins) {
            Some(before) => before.join(stream, wrong_blocks),
            None => reported.push(Reported {
                job,
                jobs: 1,
                measure: stream.measure.clone(),
                elapsed: elapsed(stream),
                job_time: stream.elapsed,
                end: stream.ended,
                error: error(stream),
                depth: stream.depth_found.map_or(described.depth, |found| found.depth),
                searched: described.latency_target.zip(stream.depth_found),
                cost: Cost::default(),
                verified: stream.verified.clone(),
                wrong_blocks,
            }),
        }
    }
    for one in &mut reported {
        let share = one.measure.ios() as f64 / all.max(1) as f64;
        one.cost = run.cost.share(share);
    }
    reported
}

impl Reported<'_> {
    fn join(&mut self, stream: &StreamResult, wrong_blocks: u64) {
        self.jobs += 1;
        self.wrong_blocks += wrong_blocks;
        if let Some(other) = &stream.verified {
            self.verified.get_or_insert_default().merge(other);
        }
        self.measure.merge(&stream.measure);
        for (mine, other) in self.elapsed.iter_mut().zip(elapsed(stream)) {
            *mine = (*mine).max(other);
        }
        self.job_time = self.job_time.saturating_add(stream.elapsed);
        self.end = self.end.max(stream.ended);
        let (errno, count) = error(stream);
        self.error = (if self.error.0 == 0 { errno } else { self.error.0 }, self.error.1 + count);
    }
}

fn error(stream: &StreamResult) -> (i32, u64) {
    stream.failed.map_or((0, 0), |(fault, count)| (errno(fault.cause), count))
}

/// What all reported jobs of a group did in one direction.
#[derive(Clone, Copy, Default)]
pub(super) struct GroupTotal {
    pub(super) bytes: u64,
    /// Bytes a second of all together, of the slowest and of the fastest.
    pub(super) together: f64,
    pub(super) slowest: f64,
    pub(super) fastest: f64,
    shortest: Nanos,
    longest: Nanos,
}

impl GroupTotal {
    /// The shortest and the longest time in milliseconds.
    pub(super) fn run_ms(&self) -> [u64; 2] {
        [self.shortest, self.longest].map(whole_ms)
    }
}

/// The totals of a group by direction; `None` where nothing was done.
pub(super) fn group_total(
    reported: &[Reported<'_>],
    group: u32,
    direction: Direction,
) -> Option<GroupTotal> {
    let mut total: Option<GroupTotal> = None;
    for one in reported.iter().filter(|one| one.job.group == group) {
        let tally = one.tally(direction);
        if tally.latency.count() == 0 {
            continue;
        }
        let rate = one.bytes_a_second(direction);
        let elapsed = one.elapsed[direction as usize];
        let so_far = total.get_or_insert(GroupTotal {
            slowest: f64::INFINITY,
            shortest: Nanos::MAX,
            ..GroupTotal::default()
        });
        so_far.bytes += tally.bytes;
        so_far.slowest = so_far.slowest.min(rate);
        so_far.fastest = so_far.fastest.max(rate);
        so_far.shortest = so_far.shortest.min(elapsed);
        so_far.longest = so_far.longest.max(elapsed);
    }
    // By the same time as the rates of each: cut to whole milliseconds it was more than theirs.
    total.map(|total| GroupTotal { together: a_second(total.bytes, total.longest), ..total })
}
