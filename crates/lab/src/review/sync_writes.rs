//! Synchronous writes, as databases and journals do them: 4 KiB in order, one at a time in each job, each
//! durable before the next.
//!
//! | figure | how each write becomes durable | jobs |
//! |---|---|---|
//! | `sequential_write_4k_qd1` | not at all: the control | 1 |
//! | `..._flush`, `..._flush_jobs5`, `..._flush_jobs10` | a flush follows it, and is in its latency | 1, 5, 10 |
//! | `..._fua`, `..._fua_jobs5`, `..._fua_jobs10` | force unit access | 1, 5, 10 |
//!
//! The span is the first 8 GB, written once before, as a journal's is. Jobs begin at its start, each by
//! itself, as those of `fio --numjobs` do.

use fourcorners_record::note::{finished, note};
use fourcorners_record::{Figure, Job, Note, Record, Until};
use fourcorners_words::{count, three_digits, time};

use super::scope::RANDOM_BLOCK;
use super::{Phase, Scope};

pub(super) const METHOD: &str = "sync-writes";

const SPAN_BYTES: u64 = 8_000_000_000;
const SECONDS: u64 = 60;
const QUICK_SECONDS: u64 = 5;
const JOBS: [u32; 3] = [1, 5, 10];

/// The writes that nothing makes durable.
const CONTROL: &str = "sequential_write_4k_qd1";

/// What makes a write durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Durable {
    Flush,
    Fua,
}

const DURABLE: [Durable; 2] = [Durable::Flush, Durable::Fua];

impl Durable {
    fn figure(self, jobs: u32) -> String {
        let how = match self {
            Durable::Flush => "flush",
            Durable::Fua => "fua",
        };
        match jobs {
            1 => format!("{CONTROL}_{how}"),
            jobs => format!("{CONTROL}_{how}_jobs{jobs}"),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Durable::Flush => "A 4 KiB write followed by a flush",
            Durable::Fua => "A 4 KiB write with FUA",
        }
    }
}

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let span = scope.span(SPAN_BYTES);
    let until = Until::Seconds(scope.either(SECONDS, QUICK_SECONDS));
    let plain = Job { block_bytes: RANDOM_BLOCK, ..scope.sequential(0, 1, span, until) };
    let mut phases = vec![Phase::Purge, scope.fill("span written", span)];
    phases.push(scope.measure(CONTROL, plain.clone()));
    for durable in DURABLE {
        let (flush, fua) = (durable == Durable::Flush, durable == Durable::Fua);
        for jobs in JOBS {
            let job = Job { flush, fua, jobs, ..plain.clone() };
            phases.push(scope.measure(durable.figure(jobs), job));
        }
    }
    phases
}

/// What a write costs that has to be durable, beside one that has not.
pub(super) fn conclude(record: &mut Record) {
    let notes: Vec<Note> =
        DURABLE.into_iter().filter_map(|durable| cost(record, durable)).collect();
    record.notes.extend(notes);
}

fn cost(record: &Record, durable: Durable) -> Option<Note> {
    let plain = finished(record, CONTROL)?;
    let one = finished(record, &durable.figure(1))?;
    let times = one.latency_us.mean / plain.latency_us.mean;
    let several = JOBS[1..].iter().filter_map(|&jobs| {
        let figure: &Figure = finished(record, &durable.figure(jobs))?;
        Some(format!("with {jobs} jobs {}", rate(figure.iops)))
    });
    let several: Vec<String> = several.collect();
    let together = match several.as_slice() {
        [] => String::new(),
        several => format!("; {}", several.join(", ")),
    };
    let text = format!(
        "{} takes {}, {} times as long as one that may stay in a cache: {} IOPS{together}.",
        durable.words(),
        time(one.latency_us.mean),
        three_digits(times),
        rate(one.iops)
    );
    Some(note(METHOD, text, times))
}

/// IOPS, of a disk's few with their digits.
fn rate(iops: f64) -> String {
    if iops < 100.0 { three_digits(iops) } else { count(iops) }
}
