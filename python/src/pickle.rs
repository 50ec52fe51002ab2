//! What results are pickled as: plain values that say all of what their properties are.

use fourcorners_drive::Nanos;
use fourcorners_run::{EnergyUsed, Histogram, JobEnd, Measured, Paced, PacedPart, Second};
use pyo3::PyClass;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What `__reduce__` returns: the class's `_again`, and the text that it takes.
pub(crate) type Reduced<'py> = (Bound<'py, PyAny>, (String,));

/// A result and its state.
pub(crate) fn reduced<'py, T: PyClass>(
    result: &Bound<'py, T>,
    state: &impl Serialize,
) -> PyResult<Reduced<'py>> {
    let text = serde_json::to_string(state);
    let text = text.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((result.as_any().get_type().getattr("_again")?, (text,)))
}

/// The state that [`reduced`] wrote.
pub(crate) fn again<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| {
        PyValueError::new_err(format!("this is no pickled result of this version: {error}"))
    })
}

/// What a run or a replay did. How each I/O was answered is in buckets, as in the histogram itself.
#[derive(Serialize, Deserialize)]
pub(crate) struct MeasuredState {
    elapsed_ns: u64,
    reads: u64,
    writes: u64,
    bytes: u64,
    in_flight_ns: u128,
    latency: Buckets,
    /// I/Os, bytes, and sum and longest of their latencies.
    seconds: Vec<[u64; 4]>,
    marks_ns: Vec<u64>,
    energy: Option<(f64, Vec<f64>)>,
    paced: Option<PacedState>,
    complete: bool,
}

#[derive(Serialize, Deserialize)]
struct PacedState {
    parts: [PartState; 3],
    busy_ns: u64,
}

#[derive(Serialize, Deserialize)]
struct PartState {
    bytes: u64,
    latency: Buckets,
    service_ns: u128,
    slow: [u64; 3],
}

/// A histogram: the lowest value of each bucket that was hit with its count, and the exact ends.
#[derive(Serialize, Deserialize)]
pub(crate) struct Buckets {
    bins: Vec<(u64, u64)>,
    min: u64,
    max: u64,
}

impl Buckets {
    pub(crate) fn of(histogram: &Histogram) -> Buckets {
        Buckets { bins: histogram.bins(), min: histogram.min(), max: histogram.max() }
    }

    /// The histogram with these buckets. Its sum is not the one it had: means are kept beside it.
    pub(crate) fn histogram(&self) -> PyResult<Histogram> {
        let all = self.bins.iter().try_fold(0u64, |sum, &(_, count)| sum.checked_add(count));
        if all.is_none() {
            return Err(PyValueError::new_err(
                "this histogram has more values than can be counted",
            ));
        }
        let mut bins = self.bins.clone();
        let mut histogram = Histogram::new();
        let Some((_, count)) = bins.last_mut() else { return Ok(histogram) };
        // One of the last bucket is the longest.
        *count = count.saturating_sub(1);
        // Counts are millions: each is made of its binary digits, doubling all that is there before the next digit.
        let digits = u64::BITS - bins.iter().map(|(_, it)| it.leading_zeros()).min().unwrap_or(64);
        for digit in (0..digits).rev() {
            let so_far = histogram.clone();
            histogram.merge(&so_far);
            for (low, count) in &bins {
                if count >> digit & 1 == 1 {
                    // The lowest value of the first bucket may be below the shortest latency.
                    histogram.record((*low).max(self.min));
                }
            }
        }
        histogram.record(self.max);
        Ok(histogram)
    }
}

impl PartState {
    fn of(part: &PacedPart) -> PartState {
        let PacedPart { bytes, latency, service_ns, slow } = part;
        PartState {
            bytes: *bytes,
            latency: Buckets::of(latency),
            service_ns: *service_ns,
            slow: *slow,
        }
    }

    fn part(&self) -> PyResult<PacedPart> {
        let latency = self.latency.histogram()?;
        Ok(PacedPart { bytes: self.bytes, latency, service_ns: self.service_ns, slow: self.slow })
    }
}

impl MeasuredState {
    pub(crate) fn of(measured: &Measured) -> MeasuredState {
        let second = |it: &Second| [it.ios, it.bytes, it.latency_sum.0, it.latency_max.0];
        let paced = measured.paced.as_deref().map(|paced| PacedState {
            parts: [&paced.reads, &paced.writes, &paced.others].map(PartState::of),
            busy_ns: paced.busy.0,
        });
        MeasuredState {
            elapsed_ns: measured.elapsed.0,
            reads: measured.reads,
            writes: measured.writes,
            bytes: measured.bytes,
            in_flight_ns: measured.in_flight_ns,
            latency: Buckets::of(&measured.latency),
            seconds: measured.seconds.iter().map(second).collect(),
            marks_ns: measured.marks.iter().map(|mark| mark.0).collect(),
            energy: measured.energy.as_ref().map(|it| (it.joules, it.seconds.clone())),
            paced,
            // What a drive failed was raised, and is no result.
            complete: measured.ended == JobEnd::Complete,
        }
    }

    pub(crate) fn measured(self) -> PyResult<Measured> {
        let second = |[ios, bytes, sum, max]: [u64; 4]| Second {
            ios,
            bytes,
            latency_sum: Nanos(sum),
            latency_max: Nanos(max),
        };
        let paced = match &self.paced {
            None => None,
            Some(PacedState { parts: [reads, writes, others], busy_ns }) => Some(Box::new(Paced {
                reads: reads.part()?,
                writes: writes.part()?,
                others: others.part()?,
                busy: Nanos(*busy_ns),
            })),
        };
        Ok(Measured {
            elapsed: Nanos(self.elapsed_ns),
            reads: self.reads,
            writes: self.writes,
            bytes: self.bytes,
            latency: self.latency.histogram()?,
            in_flight_ns: self.in_flight_ns,
            seconds: self.seconds.into_iter().map(second).collect(),
            marks: self.marks_ns.into_iter().map(Nanos).collect(),
            energy: self.energy.map(|(joules, seconds)| EnergyUsed { joules, seconds }),
            paced,
            ended: if self.complete { JobEnd::Complete } else { JobEnd::Interrupted },
        })
    }
}
