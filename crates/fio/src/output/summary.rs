//! Jobs as they are reported: one by one, or those of `group_reporting` together.

use fourcorners_drive::Nanos;
use fourcorners_run::streams::{DepthFound, LatencyTarget, Measure, StreamResult, Tally, errno};
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
    /// The longest time that one of them was measured.
    pub(super) elapsed: Nanos,
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
    /// An amount a second.
    pub(super) fn a_second(&self, amount: u64) -> f64 {
        if amount == 0 { 0.0 } else { amount as f64 / self.elapsed.as_secs().max(1e-9) }
    }

    /// The time measured in milliseconds; 0 for a direction without I/Os.
    pub(super) fn runtime_ms(&self, tally: &Tally) -> u64 {
        match tally.latency.count() {
            0 => 0,
            _ => (self.elapsed.0 / 1_000_000).max(1),
        }
    }
}

/// All reported jobs of a run, in the file's order.
pub(super) fn reported(run: &TargetRun) -> Vec<Reported<'_>> {
    let all: u64 = run.result.streams.iter().map(|stream| stream.measure.ios()).sum();
    let mut reported: Vec<Reported<'_>> = Vec::new();
    let mut last = None;
    for (place, ((job, stream), described)) in
        run.jobs.jobs.iter().zip(&run.result.streams).zip(&run.jobs.plan.streams).enumerate()
    {
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
                elapsed: stream.elapsed,
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
        self.elapsed = self.elapsed.max(stream.elapsed);
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
    pub(super) shortest_ms: u64,
    pub(super) longest_ms: u64,
}

/// The totals of a group by direction; `None` where nothing was done.
pub(super) fn group_total(
    reported: &[Reported<'_>],
    group: u32,
    direction: usize,
) -> Option<GroupTotal> {
    let mut total: Option<GroupTotal> = None;
    for one in reported.iter().filter(|one| one.job.group == group) {
        let tally = &one.measure.tallies[direction];
        if tally.latency.count() == 0 {
            continue;
        }
        let rate = one.a_second(tally.bytes);
        let ms = one.runtime_ms(tally);
        let so_far = total.get_or_insert(GroupTotal {
            slowest: f64::INFINITY,
            shortest_ms: u64::MAX,
            ..GroupTotal::default()
        });
        so_far.bytes += tally.bytes;
        so_far.slowest = so_far.slowest.min(rate);
        so_far.fastest = so_far.fastest.max(rate);
        so_far.shortest_ms = so_far.shortest_ms.min(ms);
        so_far.longest_ms = so_far.longest_ms.max(ms);
    }
    total.map(|total| GroupTotal {
        together: total.bytes as f64 * 1e3 / total.longest_ms.max(1) as f64,
        ..total
    })
}
