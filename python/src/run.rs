//! The result of one job.

use std::sync::Arc;
use std::sync::OnceLock;

use fourcorners_lab::drive::{Drive as LabDrive, Outcome};
use fourcorners_record::{FlashWear, Job as LabJob, Latency as LabLatency, Series as LabSeries};
use fourcorners_run::{JobEnd, Measured, Unobserved};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};

use crate::figure::Latency;
use crate::histogram::{Histogram, Latencies};
use crate::pickle::{MeasuredState, Reduced, again, reduced};
use crate::series::Series;

/// What a job did on a drive. Figures are worked out when they are asked for.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Run {
    pub(crate) measured: Arc<Measured>,
    job: LabJob,
    write_amplification: Option<f64>,
    over_provisioning: Option<(f64, f64)>,
    /// All of the drive over what jobs may touch: 1 without a spare area.
    all_over_usable: f64,
    wear: Option<FlashWear>,
    latency: OnceLock<LabLatency>,
    series: OnceLock<Arc<LabSeries>>,
}

/// A run as it is pickled.
#[derive(Serialize, Deserialize)]
struct RunState {
    measured: MeasuredState,
    job: LabJob,
    write_amplification: Option<f64>,
    over_provisioning: Option<(f64, f64)>,
    all_over_usable: f64,
    wear: Option<FlashWear>,
    latency: LabLatency,
}

impl Run {
    /// `wears`: whether the drive's flash wears out; what it was erased is not added up otherwise.
    /// `usable_bytes` are those that its jobs may touch.
    pub(crate) fn of(
        outcome: Outcome,
        drive: &LabDrive,
        job: LabJob,
        (wears, usable_bytes): (bool, u64),
    ) -> Run {
        Run {
            measured: Arc::new(outcome.measured),
            job,
            write_amplification: outcome.write_amplification,
            over_provisioning: drive.over_provisioning(),
            all_over_usable: drive.geometry().bytes() as f64 / usable_bytes.max(1) as f64,
            wear: wears.then(|| drive.wear()).flatten(),
            latency: OnceLock::new(),
            series: OnceLock::new(),
        }
    }

    fn latencies(&self) -> &LabLatency {
        self.latency.get_or_init(|| LabLatency::from(&self.measured.latency))
    }
}

#[pymethods]
impl Run {
    /// What a notebook shows: its figures, and the seconds as a chart.
    fn _repr_html_<'py>(slf: &Bound<'py, Run>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._html")?.call_method1("run", (slf,))
    }

    /// I/Os completed.
    #[getter]
    fn ios(&self) -> u64 {
        self.measured.latency.count()
    }

    /// I/Os read.
    #[getter]
    fn reads(&self) -> u64 {
        self.measured.reads
    }

    /// I/Os written.
    #[getter]
    fn writes(&self) -> u64 {
        self.measured.writes
    }

    /// Bytes moved.
    #[getter]
    fn bytes(&self) -> u64 {
        self.measured.bytes
    }

    /// From the first submit to the last completion, seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.measured.elapsed.as_secs().max(1e-9)
    }

    /// I/Os a second.
    #[getter]
    fn iops(&self) -> f64 {
        self.ios() as f64 / self.duration_s()
    }

    /// 10^6 bytes a second.
    #[getter]
    fn mb_per_s(&self) -> f64 {
        self.measured.bytes as f64 / 1e6 / self.duration_s()
    }

    /// Mean number of I/Os in flight.
    #[getter]
    fn mean_queue_depth(&self) -> f64 {
        self.measured.in_flight_ns as f64 / self.measured.elapsed.0.max(1) as f64
    }

    /// Latency, microseconds.
    #[getter]
    fn latency_us(&self) -> Latency {
        Latency::from(*self.latencies())
    }

    /// NAND writes over host writes during the job (SSDs that were written).
    #[getter]
    fn write_amplification(&self) -> Option<f64> {
        self.write_amplification
    }

    /// Over-provisioning of the drive as its profile has it: flash that collection has to work with over user space, less
    /// one. The spare area of the Drive is not in it, but in `total_op` (SSDs).
    #[getter]
    fn effective_op(&self) -> Option<f64> {
        self.over_provisioning.map(|(_, effective)| effective)
    }

    /// The same over the space that jobs may touch: with the Drive's spare area. Of a drive without one it is
    /// `effective_op` (SSDs).
    #[getter]
    fn total_op(&self) -> Option<f64> {
        match self.all_over_usable {
            // Not to the last bit otherwise.
            1.0 => self.effective_op(),
            all => self.effective_op().map(|effective| (1.0 + effective) * all - 1.0),
        }
    }

    /// Raw space beyond user space over user space (SSDs).
    #[getter]
    fn nameplate_op(&self) -> Option<f64> {
        self.over_provisioning.map(|(nameplate, _)| nameplate)
    }

    /// Joules the drive used (drives of which it is known).
    #[getter]
    fn joules(&self) -> Option<f64> {
        self.measured.energy.as_ref().map(|energy| energy.joules)
    }

    /// How worn the flash was after the job (SSDs whose flash wears out).
    #[getter]
    fn wear<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let wear = self.wear.as_ref().map(|wear| pythonize::pythonize(py, wear));
        Ok(wear.transpose()?)
    }

    /// False when the job was cut short.
    #[getter]
    fn complete(&self) -> bool {
        self.measured.ended == JobEnd::Complete
    }

    /// What was run, with its span and length in bytes.
    #[getter]
    fn job<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.job)?)
    }

    /// Latencies of all I/Os.
    #[getter]
    fn histogram(slf: Bound<'_, Run>) -> Histogram {
        let measured = Arc::clone(&slf.get().measured);
        Histogram::new(slf.into_any(), &measured, Latencies::All)
    }

    /// Second by second.
    #[getter]
    fn series(&self) -> Series {
        let series = self.series.get_or_init(|| Arc::new(LabSeries::from(&*self.measured)));
        Series::of(Arc::clone(series))
    }

    /// All figures as one flat dictionary: a row of a table.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        row.set_item("iops", self.iops())?;
        row.set_item("mb_per_s", self.mb_per_s())?;
        row.set_item("ios", self.ios())?;
        row.set_item("bytes", self.bytes())?;
        row.set_item("duration_s", self.duration_s())?;
        // All rates of a job are over its duration.
        row.set_item("busy_s", self.duration_s())?;
        row.set_item("mean_queue_depth", self.mean_queue_depth())?;
        Latency::from(*self.latencies()).into_row(&row, self.ios())?;
        row.set_item("write_amplification", self.write_amplification)?;
        row.set_item("effective_op", self.effective_op())?;
        row.set_item("total_op", self.total_op())?;
        row.set_item("nameplate_op", self.nameplate_op())?;
        row.set_item("joules", self.joules())?;
        row.set_item("complete", self.complete())?;
        Ok(row)
    }

    /// The same as a pandas Series.
    fn to_pandas<'py>(slf: &Bound<'py, Run>) -> PyResult<Bound<'py, PyAny>> {
        let row = slf.get().to_dict(slf.py())?;
        slf.py().import("pandas")?.getattr("Series")?.call1((row,))
    }

    /// The run that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Run> {
        let RunState {
            measured,
            job,
            write_amplification,
            over_provisioning,
            all_over_usable,
            wear,
            latency,
        } = again(text)?;
        Ok(Run {
            measured: Arc::new(measured.measured()?),
            job,
            write_amplification,
            over_provisioning,
            all_over_usable,
            wear,
            latency: OnceLock::from(latency),
            series: OnceLock::new(),
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Run>) -> PyResult<Reduced<'py>> {
        let this = slf.get();
        let state = RunState {
            measured: MeasuredState::of(&this.measured),
            job: this.job.clone(),
            write_amplification: this.write_amplification,
            over_provisioning: this.over_provisioning,
            all_over_usable: this.all_over_usable,
            wear: this.wear,
            latency: *this.latencies(),
        };
        reduced(slf, &state)
    }

    fn __repr__(&self) -> String {
        format!(
            "<Run: {} I/Os in {:.3} s, {:.0} IOPS, {:.1} MB/s, mean {:.1} us>",
            self.ios(),
            self.duration_s(),
            self.iops(),
            self.mb_per_s(),
            self.latencies().mean
        )
    }
}

/// The library's part of a call alone, for measuring what a call from Python costs: seconds that
/// `calls` runs of a job of one I/O took without Python, each with the histogram of its own that a
/// run has.
#[pyfunction]
pub(crate) fn empty_run(py: Python<'_>, drive: &crate::drive::Drive, calls: u32) -> PyResult<f64> {
    let profile = &drive.profile;
    let job = crate::job::Job::one_io().on(profile.geometry(), 1 << 20)?;
    Ok(py.detach(|| {
        let mut drive = crate::virtual_drive::new_drive(profile);
        let began = std::time::Instant::now();
        for _ in 0..calls {
            std::hint::black_box(drive.run(&job, &mut Unobserved));
        }
        began.elapsed().as_secs_f64()
    }))
}
