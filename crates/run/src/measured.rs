//! The result of running a job or a trace.

use fourcorners_drive::{Fault, Nanos};
use fourcorners_record::Series;

use crate::histogram::Histogram;
use crate::paced::Paced;

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
    /// Latency of every I/O, submit to completion; of those of [`Due::At`](crate::paced::Due::At) from when it was due.
    pub latency: Histogram,
    /// The number in flight integrated over `elapsed`, in I/O-nanoseconds, counted apart from the
    /// latencies. By Little's law it equals their sum.
    pub in_flight_ns: u128,
    /// What completed in each whole second. What came after the last of them counts in the totals
    /// only: a part of a second would look like a drive that stopped.
    pub seconds: Vec<Second>,
    /// When each whole piece of [`run_marked`](crate::run_marked) was done, from the first submit.
    pub marks: Vec<Nanos>,
    /// What the target used meanwhile, if it can tell.
    pub energy: Option<EnergyUsed>,
    /// What only paced I/Os have.
    pub paced: Option<Box<Paced>>,
    /// How it ended.
    pub ended: JobEnd,
}

impl Measured {
    /// These latencies, and nothing else that was measured.
    pub fn of_latencies(latency: Histogram) -> Measured {
        Measured {
            elapsed: Nanos::ZERO,
            reads: 0,
            writes: 0,
            bytes: 0,
            latency,
            in_flight_ns: 0,
            seconds: Vec::new(),
            marks: Vec::new(),
            energy: None,
            paced: None,
            ended: JobEnd::Complete,
        }
    }
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

impl From<&Measured> for Series {
    /// Second by second.
    fn from(measured: &Measured) -> Series {
        let seconds = &measured.seconds;
        let mean_us = |second: &Second| second.latency_sum.as_micros() / second.ios.max(1) as f64;
        let energy = measured.energy.as_ref();
        Series {
            iops: seconds.iter().map(|second| second.ios).collect(),
            mb_per_s: seconds.iter().map(|second| second.bytes as f64 / 1e6).collect(),
            latency_mean_us: seconds.iter().map(mean_us).collect(),
            latency_max_us: seconds.iter().map(|second| second.latency_max.as_micros()).collect(),
            energy_j: energy.map_or_else(Vec::new, |energy| energy.seconds.clone()),
        }
    }
}
