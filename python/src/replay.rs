//! Replays of traces: on one drive as it is, and on several in given states.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use fourcorners_drive::{Fault, FaultCause, Nanos, Op};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::drive::Drive as LabDrive;
use fourcorners_lab::memory::check_memory;
use fourcorners_lab::replay::{
    Addresses, Before, MOST_DEPTH, MOST_IDLE_MS, Pace, Plan, Played, ReplayError, Script,
    replay as lab_replay,
};
use fourcorners_linux::Setup;
use fourcorners_machine::workers;
use fourcorners_record::{Record as LabRecord, ReplayFigure, Series as LabSeries};
use fourcorners_run::{JobEnd, Measured};
use fourcorners_trace::Options;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};

use crate::background::{Piece, finished, in_background};
use crate::errors::{self, Error, TraceError};
use crate::figure::Latency;
use crate::histogram::{Histogram, Latencies};
use crate::named::NamedDrive;
use crate::number::{Real, Whole};
use crate::pickle::{MeasuredState, Reduced, again, reduced};
use crate::record::optional;
use crate::review::{as_list, one_or_several};
use crate::series::Series;
use crate::trace::Trace;
use crate::watch::Watched;

/// What a record says of virtual drives needs no buffers.
const SETUP: Setup = Setup { queue_depth: MOST_DEPTH, max_block_bytes: 131_072 };

/// Longest think time unless a caller says another one, milliseconds.
const IDLE_CAP_MS: f64 = 25.0;

/// How a trace is replayed, as a caller says it.
pub(crate) struct Manner {
    pace: Pace,
    depth: u32,
    addresses: Addresses,
}

impl Manner {
    pub(crate) fn of(
        trace: &Trace,
        pace: &str,
        idle_cap_ms: Option<Real>,
        depth: Whole,
        addresses: &str,
    ) -> PyResult<Manner> {
        let wrong = |message: String| Err(PyValueError::new_err(message));
        if let Some(Real(cap)) = idle_cap_ms {
            if !(0.0..=MOST_IDLE_MS).contains(&cap) {
                return wrong(format!(
                    "idle_cap_ms={cap}: give milliseconds from 0 to {MOST_IDLE_MS}"
                ));
            }
            if matches!(pace, "recorded" | "fast") {
                return wrong(format!(
                    "idle_cap_ms={cap}: with pace={pace:?} there is no think time to cut: leave it out"
                ));
            }
        }
        let idle_cap_ms = idle_cap_ms.map_or(IDLE_CAP_MS, |Real(cap)| cap);
        let depth = depth.within("depth", 1..=MOST_DEPTH.into())? as u32;
        let pace = match pace {
            "think" => Pace::Think { cap: Nanos::from_micros(idle_cap_ms * 1e3) },
            "recorded" => Pace::Recorded,
            "fast" => Pace::Fast,
            other => return wrong(format!("pace={other:?}: there are think, recorded and fast")),
        };
        let scaled =
            !matches!(trace.options.filter.addresses, fourcorners_trace::AddressMap::AsRecorded);
        let addresses = match addresses {
            "as_recorded" if scaled => Addresses::Scaled,
            "as_recorded" => Addresses::AsRecorded,
            "rescaled" | "wrapped" if scaled => {
                return wrong(format!(
                    "addresses={addresses:?} and the trace's address_scale: give one of them"
                ));
            }
            "rescaled" => Addresses::Rescaled,
            "wrapped" => Addresses::Wrapped,
            other => {
                return wrong(format!(
                    "addresses={other:?}: there are as_recorded, rescaled and wrapped"
                ));
            }
        };
        Ok(Manner { pace, depth, addresses })
    }

    /// The same on a drive of which only so many bytes may be touched.
    fn within(self, usable: u64, extent: u64) -> PyResult<Manner> {
        let addresses = match self.addresses {
            Addresses::Rescaled => Addresses::Into(usable),
            Addresses::Wrapped => {
                return Err(PyValueError::new_err(
                    "addresses=\"wrapped\" would reach the spare area: give \"rescaled\"",
                ));
            }
            other if extent <= usable => other,
            _ => {
                return Err(TraceError::new_err(format!(
                    "the trace reaches to byte {extent}, and the first {usable} of the drive may be touched: \
                     addresses=\"rescaled\" shrinks its addresses"
                )));
            }
        };
        Ok(Manner { addresses, ..self })
    }
}

/// Replays a trace on virtual drives, each new: a record for each, as `fourcorners trace replay` makes them.
///
/// `trace` is a Trace or what one is made of: a file, `generated:NAME` or `task:NAME`. `drives` are names, profiles, arrays or
/// Drives, one or a list. `pace` is "think" (after the recorded think time, at most `idle_cap_ms` milliseconds, 25), "recorded" (at
/// the recorded times; latencies count from when each was due) or "fast". `depth` is the most I/Os in flight, 1 to 4096.
/// `drive_state` is "empty", "full", "both", one after the other, or "twice": empty, and again as the first left it.
/// `addresses` beyond the end of a drive are refused ("as_recorded"), or all are "rescaled" to it, or those are "wrapped".
/// `progress` is called with how far it is, 0 to 1.
#[pyfunction]
#[pyo3(signature = (trace, drives, *, pace="think", idle_cap_ms=None, depth=Whole::of(32), drive_state="both",
    addresses="as_recorded", progress=None))]
#[allow(clippy::too_many_arguments)] // They are Python's keywords.
pub(crate) fn replay<'py>(
    py: Python<'py>,
    trace: &Bound<'py, PyAny>,
    drives: &Bound<'py, PyAny>,
    pace: &str,
    idle_cap_ms: Option<Real>,
    depth: Whole,
    drive_state: &str,
    addresses: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let trace = Trace::of(trace)?;
    let trace = trace.get();
    let Manner { pace, depth, addresses } = Manner::of(trace, pace, idle_cap_ms, depth, addresses)?;
    let states = match drive_state {
        "empty" => vec![Before::Empty],
        "full" => vec![Before::Full],
        "both" => vec![Before::Empty, Before::Full],
        "twice" => vec![Before::Empty, Before::Again],
        other => {
            return Err(PyValueError::new_err(format!(
                "drive_state={other:?}: there are empty, full, both and twice"
            )));
        }
    };
    let mut devices: Vec<DeviceUnderTest> = Vec::new();
    for drive in one_or_several(drives) {
        devices.push(NamedDrive::whole(&drive, "a replay of new drives")?.profile.under_test());
    }
    if devices.is_empty() {
        return Err(PyValueError::new_err("drives is empty: name one"));
    }
    let card = something_in(trace, py)?.clone();
    let (path, options) = (trace.path.clone(), trace.options.clone());
    let plan = Plan { trace: path, options, card, pace, depth, addresses, states };
    for device in &devices {
        if let Some(why) = plan.refuses(device.geometry()) {
            return Err(TraceError::new_err(format!("{}: {}", device.name(), in_python(&why))));
        }
    }
    let at_a_time = std::thread::available_parallelism().map_or(1, usize::from);
    check_memory(devices.iter().map(DeviceUnderTest::memory_bytes).collect(), at_a_time)
        .map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    let count = devices.len();
    let records = in_background(py, progress.as_ref(), count, move |told| {
        let records: Mutex<Vec<Option<LabRecord>>> = Mutex::new(vec![None; count]);
        let one = |&slot: &usize| -> Result<(), String> {
            let mut ready = devices[slot].open_for(SETUP).map_err(|error| error.to_string())?;
            let mut piece = Piece::new(told);
            let record =
                lab_replay(&plan, &mut ready.drive, (ready.target, ready.host), &mut piece);
            records.lock().expect("no holder panics")[slot] = Some(record);
            Ok(())
        };
        workers::each(&(0..count).collect::<Vec<_>>(), at_a_time, one)?;
        let records = records.into_inner().expect("no holder panics");
        Ok::<_, String>(records.into_iter().flatten().collect())
    })?;
    let records = records.map_err(Error::new_err)?;
    finished(py, progress.as_ref())?;
    as_list(py, records)
}

/// The card of a trace that has I/Os.
fn something_in<'a>(trace: &'a Trace, py: Python<'_>) -> PyResult<&'a fourcorners_record::Card> {
    let card = trace.read_card(py)?;
    match card.ios {
        0 => Err(TraceError::new_err(format!("{}: there is nothing to replay in it", card.trace))),
        _ => Ok(card),
    }
}

/// Why a trace is refused, with what to do in Python.
fn in_python(why: &ReplayError) -> String {
    let hint = "add --rescale-address to shrink its addresses, or --wrap-address to begin again at the start";
    why.to_string().replace(
        hint,
        "addresses=\"rescaled\" shrinks its addresses, and \"wrapped\" begins again at the start",
    )
}

/// A trace that is to be replayed on one drive, as it is.
pub(crate) struct OnOne {
    path: PathBuf,
    options: Options,
    card: fourcorners_record::Card,
    manner: Manner,
}

impl OnOne {
    /// On a drive with so many bytes, of which the first `usable` may be touched.
    pub(crate) fn new(
        py: Python<'_>,
        trace: &Trace,
        manner: Manner,
        (bytes, usable): (u64, u64),
    ) -> PyResult<OnOne> {
        let card = something_in(trace, py)?.clone();
        let manner = match usable < bytes {
            true => manner.within(usable, card.extent_bytes)?,
            false => manner,
        };
        Ok(OnOne { path: trace.path.clone(), options: trace.options.clone(), card, manner })
    }

    pub(crate) fn play(
        &self,
        drive: &mut LabDrive,
        watched: &mut Watched<'_>,
    ) -> Result<Replay, PyErr> {
        let OnOne { path, options, card, manner } = self;
        let Manner { pace, depth, addresses } = *manner;
        let script = Script { trace: path, options, card, pace, depth, addresses };
        let played = script.play(drive, watched);
        let played = played.map_err(|why| TraceError::new_err(in_python(&why)))?;
        Replay::of(played, drive)
    }
}

/// Whether a drive that takes no TRIM was sent one.
fn is_refused_trim(fault: &Fault) -> bool {
    fault.io.op == Op::Trim && fault.cause == FaultCause::Unsupported
}

/// What a drive did while a trace was replayed on it.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Replay {
    measured: Arc<Measured>,
    figure: ReplayFigure,
    widened: u64,
    series: OnceLock<Arc<LabSeries>>,
}

/// A replay as it is pickled.
#[derive(Serialize, Deserialize)]
struct ReplayState {
    measured: MeasuredState,
    figure: ReplayFigure,
    widened: u64,
}

impl Replay {
    fn of(played: Played, drive: &LabDrive) -> Result<Replay, PyErr> {
        let complete = match played.outcome.measured.ended {
            JobEnd::Failed(fault) if is_refused_trim(&fault) => {
                return Err(errors::DriveFault::new_err(format!(
                    "{fault}; operations=\"read,write,flush\" of the Trace leaves TRIMs out"
                )));
            }
            JobEnd::Failed(fault) => return Err(errors::fault(fault)),
            JobEnd::Complete => true,
            JobEnd::Interrupted => false,
        };
        if let Some(why) = played.broken {
            // It was read to its end before, so it has changed since.
            return Err(TraceError::new_err(why));
        }
        let figure = played.figure("as found", drive, complete);
        let (measured, widened) = (Arc::new(played.outcome.measured), played.widened);
        Ok(Replay { measured, figure, widened, series: OnceLock::new() })
    }
}

#[pymethods]
impl Replay {
    /// I/Os completed, TRIMs and flushes included.
    #[getter]
    fn ios(&self) -> u64 {
        self.figure.all.ios
    }

    /// Bytes read and written.
    #[getter]
    fn bytes(&self) -> u64 {
        self.figure.all.bytes
    }

    /// These bytes over the time that the drive was busy, 10^6 bytes a second.
    #[getter]
    fn mb_per_s(&self) -> f64 {
        self.figure.mb_per_s
    }

    /// Time with at least one I/O in the drive, seconds.
    #[getter]
    fn busy_s(&self) -> f64 {
        self.figure.busy_s
    }

    /// From the first submission to the last completion, seconds.
    #[getter]
    fn elapsed_s(&self) -> f64 {
        self.figure.elapsed_s
    }

    /// Time that I/Os waited for a place in the queue after they were due, all together, seconds.
    #[getter]
    fn waited_s(&self) -> f64 {
        self.figure.waited_s
    }

    /// Mean number of I/Os in the drive while it was busy.
    #[getter]
    fn mean_queue_depth(&self) -> f64 {
        self.figure.mean_queue_depth
    }

    /// Latency of all I/Os, microseconds; with pace "recorded" from when each was due.
    #[getter]
    fn latency_us(&self) -> Latency {
        Latency::from(self.figure.all.latency_us)
    }

    /// The reads, as a dictionary: `ios`, `bytes`, `mb_per_s`, `service_us`, `latency_us` and the shares over 1, 10 and 100 ms.
    #[getter]
    fn reads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.figure.reads)?)
    }

    /// The same of the writes.
    #[getter]
    fn writes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.figure.writes)?)
    }

    /// NAND writes over host writes (SSDs that were written).
    #[getter]
    fn write_amplification(&self) -> Option<f64> {
        self.figure.write_amplification
    }

    /// Joules the drive used (drives of which it is known).
    #[getter]
    fn joules(&self) -> Option<f64> {
        self.figure.joules
    }

    /// What a cache did meanwhile (an SSD in front of another drive), as a dictionary.
    #[getter]
    fn cache<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        optional(py, self.figure.cache.as_ref())
    }

    /// What each drive of an array did meanwhile, as dictionaries; empty of a single drive.
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.figure.members)?)
    }

    /// I/Os that were widened to whole logical blocks of the drive.
    #[getter]
    fn widened(&self) -> u64 {
        self.widened
    }

    /// Latencies of all I/Os.
    #[getter]
    fn histogram(slf: Bound<'_, Replay>) -> Histogram {
        Replay::latencies(slf, Latencies::All)
    }

    /// Latencies of the reads.
    #[getter]
    fn read_histogram(slf: Bound<'_, Replay>) -> Histogram {
        Replay::latencies(slf, Latencies::Reads)
    }

    /// Latencies of the writes.
    #[getter]
    fn write_histogram(slf: Bound<'_, Replay>) -> Histogram {
        Replay::latencies(slf, Latencies::Writes)
    }

    /// Second by second.
    #[getter]
    fn series(&self) -> Series {
        let series = self.series.get_or_init(|| Arc::new(LabSeries::from(&*self.measured)));
        Series::of(Arc::clone(series))
    }

    /// All figures as one flat dictionary: a row of a table.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ReplayFigure { all, reads, writes, .. } = &self.figure;
        let row = PyDict::new(py);
        row.set_item("ios", all.ios)?;
        row.set_item("bytes", all.bytes)?;
        row.set_item("mb_per_s", self.figure.mb_per_s)?;
        row.set_item("busy_s", self.figure.busy_s)?;
        row.set_item("elapsed_s", self.figure.elapsed_s)?;
        row.set_item("waited_s", self.figure.waited_s)?;
        row.set_item("mean_queue_depth", self.figure.mean_queue_depth)?;
        Latency::from(all.latency_us).into_row(&row, all.ios)?;
        for (name, part) in [("read", reads), ("write", writes)] {
            let some = part.ios > 0;
            row.set_item(format!("{name}s"), part.ios)?;
            row.set_item(format!("{name}_service_us"), some.then_some(part.service_us))?;
            row.set_item(format!("{name}_p99_us"), some.then_some(part.latency_us.p99))?;
        }
        row.set_item("write_amplification", self.figure.write_amplification)?;
        row.set_item("joules", self.figure.joules)?;
        Ok(row)
    }

    /// The same as a pandas Series.
    fn to_pandas<'py>(slf: &Bound<'py, Replay>) -> PyResult<Bound<'py, PyAny>> {
        let row = slf.get().to_dict(slf.py())?;
        slf.py().import("pandas")?.getattr("Series")?.call1((row,))
    }

    /// The replay that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Replay> {
        let ReplayState { measured, figure, widened } = again(text)?;
        let measured = Arc::new(measured.measured()?);
        Ok(Replay { measured, figure, widened, series: OnceLock::new() })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Replay>) -> PyResult<Reduced<'py>> {
        let Replay { measured, figure, widened, .. } = slf.get();
        let measured = MeasuredState::of(measured);
        reduced(slf, &ReplayState { measured, figure: figure.clone(), widened: *widened })
    }

    fn __repr__(&self) -> String {
        let ReplayFigure { all, busy_s, mb_per_s, .. } = &self.figure;
        format!(
            "<Replay: {} I/Os, busy for {busy_s:.3} s, {mb_per_s:.1} MB/s, p99 {:.1} us>",
            all.ios, all.latency_us.p99
        )
    }
}

impl Replay {
    fn latencies(slf: Bound<'_, Replay>, of: Latencies) -> Histogram {
        let measured = Arc::clone(&slf.get().measured);
        Histogram::new(slf.into_any(), &measured, of)
    }
}
