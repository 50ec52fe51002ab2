//! A job, whose span may be left to the drive.

use fourcorners_drive::Geometry;
use fourcorners_record::{Data, Job as LabJob, Pattern, Until};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};

use crate::errors::JobError;
use crate::fio;
use crate::number::{Real, Whole};

/// What is done to a drive, and for how long.
///
/// Without `span_bytes` it covers all that the drive's spare area leaves; `drive_writes` is a
/// length in multiples of that span.
#[pyclass(frozen, eq, module = "fourcorners", from_py_object)]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    pattern: Pattern,
    #[pyo3(get)]
    read_percent: u8,
    #[pyo3(get)]
    block_bytes: u32,
    #[pyo3(get)]
    queue_depth: u32,
    #[pyo3(get)]
    span_start_bytes: u64,
    #[pyo3(get)]
    span_bytes: Option<u64>,
    data: Data,
    #[pyo3(get)]
    seconds: Option<u64>,
    #[pyo3(get)]
    bytes: Option<u64>,
    #[pyo3(get)]
    drive_writes: Option<f64>,
    #[pyo3(get)]
    seed: u64,
    #[pyo3(get)]
    fua: bool,
}

#[pymethods]
impl Job {
    #[new]
    #[pyo3(signature = (pattern="random", *, read_percent=Whole::of(0), block_bytes=Whole::of(4096),
        queue_depth=Whole::of(32), span_start_bytes=Whole::of(0), span_bytes=None, data=None, seconds=None,
        bytes=None, drive_writes=None, seed=Whole::of(1), fua=false))]
    #[allow(clippy::too_many_arguments)] // They are Python's keywords.
    fn new(
        pattern: &str,
        read_percent: Whole,
        block_bytes: Whole,
        queue_depth: Whole,
        span_start_bytes: Whole,
        span_bytes: Option<Whole>,
        data: Option<&Bound<'_, PyAny>>,
        seconds: Option<Whole>,
        bytes: Option<Whole>,
        drive_writes: Option<Real>,
        seed: Whole,
        fua: bool,
    ) -> PyResult<Job> {
        let pattern = match pattern {
            "random" => Pattern::Random,
            "sequential" => Pattern::Sequential,
            other => {
                let message = format!("pattern={other:?}: it is \"random\" or \"sequential\"");
                return Err(PyValueError::new_err(message));
            }
        };
        let wrong = |message: String| Err(PyValueError::new_err(message));
        let read_percent = read_percent.within("read_percent", 0..=100)?;
        let queue_depth = queue_depth.within("queue_depth", 1..=u32::MAX.into())?;
        let Some(block_bytes) = block_bytes.inside(1..=u32::MAX.into()) else {
            return wrong(format!(
                "block_bytes={}: it is a multiple of the drive's logical block, below 4 GiB",
                block_bytes.shown()
            ));
        };
        let of = |name, value: Option<Whole>, least: u64| {
            value.map(|value| value.within(name, least..=u64::MAX)).transpose()
        };
        let span_bytes = of("span_bytes", span_bytes, 0)?;
        // Of nothing there are no rates and no percentiles.
        let (seconds, bytes) = (of("seconds", seconds, 1)?, of("bytes", bytes, 1)?);
        let drive_writes = drive_writes.map(|Real(writes)| writes);
        if let Some(writes) = drive_writes.filter(|writes| !(*writes > 0.0 && *writes <= 1e6)) {
            return wrong(format!("drive_writes={writes}: it is more than 0 and up to 1000000"));
        }
        if drive_writes.is_some() && bytes.is_some() {
            return wrong("bytes and drive_writes are both given: a job has one length".into());
        }
        if seconds.is_none() && bytes.is_none() && drive_writes.is_none() {
            return wrong("a job needs an end: give seconds, bytes or drive_writes".into());
        }
        let data = data.map_or(Ok(Data::Incompressible), data_of)?;
        Ok(Job {
            pattern,
            // They were looked at above.
            read_percent: read_percent as u8,
            block_bytes: block_bytes as u32,
            queue_depth: queue_depth as u32,
            span_start_bytes: span_start_bytes.within("span_start_bytes", 0..=u64::MAX)?,
            span_bytes,
            data,
            seconds,
            bytes,
            drive_writes,
            seed: seed.within("seed", 0..=u64::MAX)?,
            fua,
        })
    }

    /// Jobs of a fio job file's text, which a drive runs like any job. `name` is what errors call it; what it includes is looked
    /// for beside that.
    #[staticmethod]
    #[pyo3(signature = (text, *, name=fio::NAME.to_string()))]
    fn from_fio(text: String, name: String) -> PyResult<fio::FioJobs> {
        fio::FioJobs::new(text, name)
    }

    /// The job that `to_json` wrote.
    #[staticmethod]
    fn from_json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let read: Job =
            serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        // A text may say what no job can be: it is made, and looked at, as any other.
        py.get_type::<Job>().call((), Some(&read.keywords(py)?))
    }

    /// All of it as JSON, keys in one order: equal jobs have equal texts.
    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a job has text keys and finite numbers")
    }

    /// The same job with some of its values changed.
    #[pyo3(signature = (**changes))]
    fn replace<'py>(
        slf: &Bound<'py, Job>,
        changes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let all = slf.get().keywords(slf.py())?;
        if let Some(changes) = changes {
            all.update(changes.as_mapping())?;
        }
        slf.get_type().call((), Some(&all))
    }

    /// `"random"` or `"sequential"`.
    #[getter]
    fn pattern(&self) -> &'static str {
        match self.pattern {
            Pattern::Random => "random",
            Pattern::Sequential => "sequential",
        }
    }

    /// `"repeating"`, `"incompressible"`, or the per cent that compression removes.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self.data {
            Data::Repeating => "repeating".into_pyobject(py)?.into_any(),
            Data::Incompressible => "incompressible".into_pyobject(py)?.into_any(),
            Data::Compressible(percent) => percent.into_pyobject(py)?.into_any(),
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Job>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json(),)))
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.to_json().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let keywords = self.keywords(py)?;
        let mut shown = Vec::new();
        for (key, value) in keywords.iter() {
            if !value.is_none() {
                shown.push(format!("{key}={}", value.repr()?));
            }
        }
        Ok(format!("Job({})", shown.join(", ")))
    }
}

impl Job {
    fn keywords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        all.set_item("pattern", self.pattern())?;
        all.set_item("read_percent", self.read_percent)?;
        all.set_item("block_bytes", self.block_bytes)?;
        all.set_item("queue_depth", self.queue_depth)?;
        all.set_item("span_start_bytes", self.span_start_bytes)?;
        all.set_item("span_bytes", self.span_bytes)?;
        all.set_item("data", self.data(py)?)?;
        all.set_item("seconds", self.seconds)?;
        all.set_item("bytes", self.bytes)?;
        all.set_item("drive_writes", self.drive_writes)?;
        all.set_item("seed", self.seed)?;
        all.set_item("fua", self.fua)?;
        Ok(all)
    }

    /// A read of one block.
    pub(crate) fn one_io() -> Job {
        Job {
            pattern: Pattern::Random,
            read_percent: 100,
            block_bytes: 4096,
            queue_depth: 1,
            span_start_bytes: 0,
            span_bytes: None,
            data: Data::Incompressible,
            seconds: None,
            bytes: Some(4096),
            drive_writes: None,
            seed: 1,
            fua: false,
        }
    }

    /// The job on a drive of which the first `usable` bytes may be touched.
    pub(crate) fn on(&self, geometry: Geometry, usable: u64) -> PyResult<LabJob> {
        let wrong = |message: String| Err(JobError::new_err(message));
        let (block, logical) = (self.block_bytes, geometry.logical_block_bytes);
        if !block.is_multiple_of(logical) {
            return wrong(format!(
                "block_bytes={block}: it must be a multiple of the drive's logical block, {logical}"
            ));
        }
        let (depth, most) = (self.queue_depth, geometry.queue_depth);
        if depth > most {
            return wrong(format!("queue_depth={depth}: the drive takes {most} commands at once"));
        }
        let start = self.span_start_bytes;
        if !start.is_multiple_of(u64::from(logical)) {
            return wrong(format!("span_start_bytes={start}: it must be a multiple of {logical}"));
        }
        let room = usable.saturating_sub(start);
        let span = self.span_bytes.unwrap_or(room);
        if span > room || span < u64::from(block) {
            return wrong(format!(
                "span_bytes={span} from byte {start}: it must be {block} to {room}; a job may touch \
                 the first {usable} bytes of this drive"
            ));
        }
        let bytes = match self.drive_writes {
            Some(writes) => Some((span as f64 * writes) as u64),
            None => self.bytes,
        };
        if let (Some(0), Some(writes)) = (bytes, self.drive_writes) {
            return wrong(format!(
                "drive_writes={writes}: of a span of {span} bytes that is none; a block of {block} is {}",
                f64::from(block) / span as f64
            ));
        }
        let until = match (self.seconds, bytes) {
            (Some(seconds), Some(bytes)) => Until::SecondsOrBytes(seconds, bytes),
            (Some(seconds), None) => Until::Seconds(seconds),
            (None, bytes) => Until::Bytes(bytes.unwrap_or(0)),
        };
        Ok(LabJob {
            pattern: self.pattern,
            read_percent: self.read_percent,
            block_bytes: block,
            queue_depth: depth,
            span_start_bytes: start,
            span_bytes: span,
            data: self.data,
            until,
            seed: self.seed,
            fua: self.fua,
            flush: false,
            jobs: 1,
        })
    }
}

fn data_of(data: &Bound<'_, PyAny>) -> PyResult<Data> {
    if let Ok(percent) = data.extract::<u8>()
        && percent <= 100
    {
        return Ok(Data::Compressible(percent));
    }
    match data.extract::<String>().as_deref() {
        Ok("repeating") => Ok(Data::Repeating),
        Ok("incompressible") => Ok(Data::Incompressible),
        _ => Err(PyValueError::new_err(format!(
            "data={}: it is \"repeating\", \"incompressible\" or a percentage from 0 to 100",
            data.repr()?
        ))),
    }
}
