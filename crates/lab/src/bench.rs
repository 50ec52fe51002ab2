//! How fast the virtual drives are: I/Os a second of CPU time, with the full model, the histogram
//! and the one-second series on.
//!
//! The drive is the catalogue's Crucial m4 256 GB, whose effective spare is 7 %. Random writes in
//! the steady state are measured after four drive writes: just after a fill its order still helps
//! the caches of the machine and flatters us. Every part of a case is run on the drive as it is and on one whose
//! times do not vary, in turn, so that the ratio of the two is what variation costs.

use fourcorners_catalogue::{self as catalogue, CatalogueError, Model};
use fourcorners_drive::{Ssd, Target};
use fourcorners_machine::cpu;
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{JobEnd, Observer, run};
use serde::Serialize;

/// The drive all cases run on.
pub const DRIVE: &str = "crucial-m4-256gb";

/// What is changed of it: collection with every write, as the cases have had it since there are any.
/// The drive's own, in order and else as late as can be, also looks for order in every write.
pub const SET: &str = "gc.pacing=paced";

/// A case is measured in so many parts, one after the other, of which the median counts: some seconds in
/// which a neighbour of this machine takes the memory's bandwidth are not our speed.
const PARTS: u64 = 15;

/// Drive writes before a steady state is measured.
const WARM_UP_DRIVE_WRITES: u64 = 4;

/// What one case measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Host I/Os a second of this thread's CPU time, the median of 15 parts. Of `fill_256gb`: 4 KiB units.
    pub ios_per_cpu_second: f64,
    /// The same of a drive with `variation.mode=off`, measured in turn with it.
    pub ios_per_cpu_second_without_variation: f64,
    /// Memory of the process that the drive took, over the user's 4 KiB pages.
    pub bytes_per_page: f64,
    /// NAND writes over host writes while it was measured; `None` when nothing was written.
    pub write_amplification: Option<f64>,
}

/// Runs all cases one after the other, telling `report` of each; three minutes or four. Stops early, with
/// what there is, when `observer` says so.
///
/// # Errors
/// When the catalogue has no such drive.
pub fn run_all(
    observer: &mut dyn Observer,
    mut report: impl FnMut(&Case),
) -> Result<Vec<Case>, CatalogueError> {
    let resident = resident_bytes();
    let drives = [drive("variation.mode=on")?, drive("variation.mode=off")?];
    let user = drives[0].geometry().bytes();
    let effective_op = drives[0].effective_op();
    let mut bench = Bench { drives, resident, observer, cases: Vec::new(), stopped: false };
    let fill = job(Pattern::Sequential, 0, user, user);
    let random = |read_percent, bytes| job(Pattern::Random, read_percent, user, bytes);

    bench.measure("fill_256gb", &fill, &mut report);
    // Some seconds here, too; a mix of so many would come to collect.
    bench.measure("random_read_qd32_256gb", &random(100, user / 2 * 3), &mut report);
    bench.measure("mixed_70_30_256gb", &random(70, user / 4), &mut report);
    bench.purge();
    bench.measure("random_write_fresh_256gb", &random(0, user / 2), &mut report);
    bench.purge();
    bench.prepare(&fill);
    bench.prepare(&random(0, WARM_UP_DRIVE_WRITES * user));
    // One and a half drive writes, some seconds: it is what noise is in.
    bench.measure("random_write_steady_256gb", &random(0, user / 2 * 3), &mut report);
    // The same drive with spare area: so much of its end is never written that the rest has 28 %.
    let usable = (1.0 + effective_op) * user as f64;
    let span = (usable / 1.28 / 131_072.0) as u64 * 131_072;
    bench.purge();
    bench.prepare(&job(Pattern::Sequential, 0, span, span));
    bench.prepare(&job(Pattern::Random, 0, span, WARM_UP_DRIVE_WRITES * span));
    let spare = job(Pattern::Random, 0, span, span / 2 * 3);
    bench.measure("random_write_steady_256gb_spare28", &spare, &mut report);
    Ok(bench.cases)
}

/// The drive of all cases, with one thing more that is set.
fn drive(set: &str) -> Result<Ssd, CatalogueError> {
    let profile = catalogue::built_in(DRIVE, &[SET.to_string(), set.to_string()])?;
    let Model::Ssd(ssd) = &profile.model else {
        unreachable!("the catalogue's tests hold it to be an SSD");
    };
    Ssd::new(ssd).map_err(|cause| CatalogueError::Value { place: DRIVE.into(), cause })
}

struct Bench<'a> {
    /// With variation and without.
    drives: [Ssd; 2],
    /// Memory of the process before there was a drive.
    resident: u64,
    observer: &'a mut dyn Observer,
    cases: Vec<Case>,
    stopped: bool,
}

impl Bench<'_> {
    fn purge(&mut self) {
        self.drives.iter_mut().for_each(Ssd::purge);
    }

    fn prepare(&mut self, job: &Job) {
        for drive in &mut self.drives {
            if !self.stopped {
                self.stopped = run(drive, job, self.observer).ended != JobEnd::Complete;
            }
        }
    }

    fn measure(&mut self, name: &'static str, job: &Job, report: &mut impl FnMut(&Case)) {
        if self.stopped {
            return;
        }
        let before = self.drives[0].counters();
        let mut rates = [Vec::new(), Vec::new()];
        for part in parts_of(job) {
            for (drive, rates) in self.drives.iter_mut().zip(&mut rates) {
                let cpu = cpu::thread_seconds();
                let measured = run(drive, &part, self.observer);
                let cpu = cpu::thread_seconds() - cpu;
                if measured.ended != JobEnd::Complete {
                    self.stopped = true;
                    return;
                }
                rates.push((measured.bytes / 4096) as f64 / cpu.max(1e-9));
            }
        }
        let [with, without] = rates.map(|mut rates| {
            rates.sort_by(f64::total_cmp);
            rates[rates.len() / 2]
        });
        let pages = 2 * (self.drives[0].geometry().bytes() / 4096);
        let case = Case {
            name,
            ios_per_cpu_second: with,
            ios_per_cpu_second_without_variation: without,
            bytes_per_page: resident_bytes().saturating_sub(self.resident) as f64 / pages as f64,
            write_amplification: self.drives[0].counters().write_amplification_since(&before),
        };
        report(&case);
        self.cases.push(case);
    }
}

/// A job that ends by bytes as several: of one in order each goes on where the last has ended, of one at
/// random each has places of its own.
fn parts_of(job: &Job) -> Vec<Job> {
    let Until::Bytes(bytes) = job.until else {
        unreachable!("every case ends by bytes");
    };
    let ends: Vec<u64> = (0..=PARTS).map(|part| bytes * part / PARTS / 131_072 * 131_072).collect();
    let part = |(number, ends): (usize, &[u64])| {
        let until = Until::Bytes(ends[1] - ends[0]);
        match job.pattern {
            Pattern::Random => Job { until, seed: job.seed + number as u64, ..job.clone() },
            Pattern::Sequential => Job {
                until,
                span_start_bytes: job.span_start_bytes + ends[0],
                span_bytes: ends[1] - ends[0],
                ..job.clone()
            },
        }
    };
    ends.windows(2).enumerate().map(part).collect()
}

/// A job of `bytes` over the first `span_bytes`, at depth 32: 4 KiB at random or 128 KiB in order.
pub fn job(pattern: Pattern, read_percent: u8, span_bytes: u64, bytes: u64) -> Job {
    let block_bytes = match pattern {
        Pattern::Random => 4096,
        Pattern::Sequential => 131_072,
    };
    Job {
        pattern,
        read_percent,
        block_bytes,
        queue_depth: 32,
        span_start_bytes: 0,
        span_bytes,
        data: Data::Incompressible,
        until: Until::Bytes(bytes),
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    }
}

/// Memory of this process that is in use (proc(5), statm), bytes; 0 where it is not told.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_case_are_the_case() {
        let bytes = 256_060_514_304 / 131_072 * 131_072;
        let ends = |job: &Job| match job.until {
            Until::Bytes(bytes) => bytes,
            Until::Seconds(_) | Until::SecondsOrBytes(..) => 0,
        };
        for pattern in [Pattern::Random, Pattern::Sequential] {
            let parts = parts_of(&job(pattern, 0, bytes, bytes));
            assert_eq!(parts.len() as u64, PARTS);
            assert_eq!(parts.iter().map(ends).sum::<u64>(), bytes);
        }
        let in_order = parts_of(&job(Pattern::Sequential, 0, bytes, bytes));
        let mut end = 0;
        for part in &in_order {
            assert_eq!((part.span_start_bytes, part.span_bytes), (end, ends(part)));
            end += part.span_bytes;
        }
        let mut seeds: Vec<u64> =
            parts_of(&job(Pattern::Random, 0, bytes, bytes)).iter().map(|part| part.seed).collect();
        seeds.dedup();
        assert_eq!(seeds.len() as u64, PARTS);
    }
}
