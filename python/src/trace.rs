//! A trace: which of its I/Os are taken, what is in it, and its I/Os as arrays or in another format.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fourcorners_drive::{Nanos, Op};
use fourcorners_machine::host;
use fourcorners_machine::save::write_atomically_with;
use fourcorners_record::Card;
use fourcorners_trace::{
    self as trace, AddressMap, Event, Filter, Format, MOST_FACTOR, MOST_GENERATED, MOST_TIME,
    OpSet, Options, Output, TraceIo, WriteError,
};
use numpy::PyArray1;
use pyo3::exceptions::{PyFileExistsError, PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::background::{Told, in_background};
use crate::errors::{Error, TraceError};

/// Python is asked after so many I/Os.
const ASK_AFTER: u32 = 1 << 16;
/// Bytes that an I/O takes in arrays.
const IO_BYTES: u64 = 33;

/// A trace in any format, `generated:NAME` or `task:NAME`, and which of its I/Os are taken.
///
/// It is read when something of it is asked for, and each time anew, but for its card.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Trace {
    pub(crate) path: PathBuf,
    pub(crate) options: Options,
    card: OnceLock<Card>,
}

#[pymethods]
impl Trace {
    /// `format` is recognised by content; `event` of a kernel trace is "issue" or "queue". Of all I/Os those are taken
    /// from the second `from_s` on and before `to_s`, of `operations` ("read", "write", "trim", "flush"), within
    /// `range_bytes` (first byte and end, either `None`) and of `device`. `time_scale` and `address_scale` multiply times and
    /// addresses. `ios` and `seed` are of a generated trace, `seed` of a task as well. With `skip_bad` records that cannot
    /// be read are left out and counted.
    #[new]
    #[pyo3(signature = (trace, *, format=None, event="issue", from_s=0.0, to_s=None, operations=None, range_bytes=None,
        device=None, time_scale=1.0, address_scale=None, ios=None, seed=1, skip_bad=false))]
    #[allow(clippy::too_many_arguments)] // They are Python's keywords.
    fn new(
        trace: PathBuf,
        format: Option<&str>,
        event: &str,
        from_s: f64,
        to_s: Option<f64>,
        operations: Option<&Bound<'_, PyAny>>,
        range_bytes: Option<(Option<u64>, Option<u64>)>,
        device: Option<u32>,
        time_scale: f64,
        address_scale: Option<f64>,
        ios: Option<u64>,
        seed: u64,
        skip_bad: bool,
    ) -> PyResult<Trace> {
        let wrong = |message: String| PyValueError::new_err(message);
        let format = format.map(str::parse::<Format>).transpose();
        let format = format.map_err(|why| wrong(format!("format: {why}")))?;
        let event = match event {
            "issue" => Event::Issue,
            "queue" => Event::Queue,
            other => {
                return Err(wrong(format!("event={other:?}: it is \"issue\" or \"queue\"")));
            }
        };
        if let Some(ios) = ios.filter(|ios| !(1..=MOST_GENERATED).contains(ios)) {
            return Err(wrong(format!("ios={ios}: give a number from 1 to {MOST_GENERATED}")));
        }
        let mut filter = Filter { from: seconds("from_s", from_s)?, ..Filter::default() };
        if let Some(to) = to_s {
            filter.to = seconds("to_s", to)?;
            if filter.to <= filter.from {
                return Err(wrong(format!("from_s={from_s}, to_s={to}: this range is empty")));
            }
        }
        if let Some(operations) = operations {
            filter.ops = operations_of(operations)?;
        }
        if let Some((start, end)) = range_bytes {
            (filter.range_start, filter.range_end) = (start.unwrap_or(0), end.unwrap_or(u64::MAX));
            if filter.range_start >= filter.range_end {
                let (start, end) = (filter.range_start, filter.range_end);
                return Err(wrong(format!("range_bytes=({start}, {end}): this range is empty")));
            }
        }
        filter.device = device;
        filter.time_scale = factor("time_scale", time_scale)?;
        if let Some(scale) = address_scale {
            let factor = factor("address_scale", scale)?;
            filter.addresses = AddressMap::Stretched { factor, limit_bytes: None };
        }
        let options = Options { format, skip_bad, event, filter, ios, seed };
        // What is no trace is said now.
        trace::open(&trace, &options).map_err(unreadable)?;
        Ok(Trace { path: trace, options, card: OnceLock::new() })
    }

    /// The trace as it was named.
    #[getter]
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// What is in it, as a dictionary: `fourcorners trace info --json`. The trace is read to its end, once.
    #[getter]
    fn card<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, self.read_card(py)?)?)
    }

    /// Its I/Os as a dictionary of arrays, an element each: `time_ns` (from the first I/O), `operation` (0 read, 1 write,
    /// 2 TRIM, 3 flush), `offset_bytes`, `length_bytes`, and `duration_ns`, 0 where the trace does not tell.
    fn to_arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        // Before anything is read: a trace may be longer than memory.
        let card = self.read_card(py)?;
        let bytes = card.ios.saturating_mul(IO_BYTES);
        if let Some(available) = host::available_memory_bytes().filter(|&it| bytes > it) {
            return Err(PyMemoryError::new_err(format!(
                "{}: the arrays of {} I/Os take {bytes} bytes, and {available} are available: take a part of it, \
                 to_s or range_bytes",
                card.trace, card.ios
            )));
        }
        let (path, options) = (self.path.clone(), self.options.clone());
        let columns = in_background(py, None, 1, move |told| {
            let mut columns = Columns::default();
            for io in Stoppable::open(&path, &options, told)? {
                columns.push(&io?);
            }
            Ok(columns)
        })?;
        let Columns { times, operations, offsets, lengths, durations } =
            columns.map_err(unreadable)?;
        let arrays = PyDict::new(py);
        arrays.set_item("time_ns", PyArray1::from_vec(py, times))?;
        arrays.set_item("operation", PyArray1::from_vec(py, operations))?;
        arrays.set_item("offset_bytes", PyArray1::from_vec(py, offsets))?;
        arrays.set_item("length_bytes", PyArray1::from_vec(py, lengths))?;
        arrays.set_item("duration_ns", PyArray1::from_vec(py, durations))?;
        Ok(arrays)
    }

    /// The same as a pandas DataFrame, with the operation as a word.
    fn to_pandas<'py>(slf: &Bound<'py, Trace>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._frames")?.call_method1("trace_to_pandas", (slf,))
    }

    /// The same as a table of Arrow; the numbers are not copied.
    fn to_arrow<'py>(slf: &Bound<'py, Trace>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._frames")?.call_method1("trace_to_arrow", (slf,))
    }

    /// Writes it to a file as "compact", "csv" or "fio-iolog", as `fourcorners trace convert` does; how many I/Os. `drive`
    /// is what a fio-iolog calls the drive. The file is whole or not there; another one is replaced only with `overwrite`,
    /// and the trace itself never.
    #[pyo3(signature = (file, format="compact", *, drive="/dev/DEVICE", overwrite=false))]
    fn convert(
        &self,
        py: Python<'_>,
        file: PathBuf,
        format: &str,
        drive: &str,
        overwrite: bool,
    ) -> PyResult<u64> {
        let output: Output =
            format.parse().map_err(|why| PyValueError::new_err(format!("format: {why}")))?;
        if drive.is_empty() || drive.contains(char::is_whitespace) || drive.len() > 255 {
            return Err(PyValueError::new_err(format!(
                "drive={drive:?}: fio takes a path of 1 to 255 bytes without blanks"
            )));
        }
        self.may_replace(&file, overwrite)?;
        let (path, options, drive) = (self.path.clone(), self.options.clone(), drive.to_string());
        let to = file.clone();
        in_background(py, None, 1, move |told| {
            let written: RefCell<Option<Result<u64, WriteError>>> = RefCell::new(None);
            let write = |mut file: &File| {
                // What failed once for a reason of the trace's does so again.
                if !matches!(&*written.borrow(), Some(Err(_))) {
                    let ios = Stoppable::open(&path, &options, told);
                    let result = ios.map_err(WriteError::from).and_then(|mut ios| {
                        let ios_written = trace::write(&mut ios, output, &drive, &mut file)?.ios;
                        match ios.stopped {
                            false => Ok(ios_written),
                            true => Err(WriteError::Io(io::ErrorKind::Interrupted.into())),
                        }
                    });
                    *written.borrow_mut() = Some(result);
                }
                match &*written.borrow() {
                    Some(Ok(_)) => Ok(()),
                    _ => Err(io::Error::other("the trace was not written")),
                }
            };
            let saved = write_atomically_with(&to, &write);
            match (written.into_inner(), saved) {
                (Some(Ok(ios)), Ok(())) => Ok(ios),
                (Some(Err(WriteError::Trace(error))), _) => Err(unreadable(error)),
                (Some(Err(WriteError::Io(error))), _) | (_, Err(error)) => {
                    Err(TraceError::new_err(format!("cannot write {}: {error}", to.display())))
                }
                (None, Ok(())) => Err(Error::new_err("nothing was written")),
            }
        })?
    }

    fn __repr__(&self) -> String {
        match self.card.get() {
            None => format!("<Trace {}>", self.name()),
            Some(card) => format!(
                "<Trace {}: {} I/Os, {:.3} GB read, {:.3} GB written in {:.1} s>",
                card.trace,
                card.ios,
                card.read_bytes as f64 / 1e9,
                card.write_bytes as f64 / 1e9,
                card.duration_s
            ),
        }
    }
}

impl Trace {
    /// The trace of a caller: one that was opened, or a name.
    pub(crate) fn of<'py>(trace: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Trace>> {
        if let Ok(trace) = trace.cast::<Trace>() {
            return Ok(trace.clone());
        }
        let opened = trace.py().get_type::<Trace>().call1((trace,))?;
        Ok(opened.cast_into::<Trace>()?)
    }

    /// Its card, read once.
    pub(crate) fn read_card(&self, py: Python<'_>) -> PyResult<&Card> {
        if let Some(card) = self.card.get() {
            return Ok(card);
        }
        let (path, options) = (self.path.clone(), self.options.clone());
        let card = in_background(py, None, 1, move |told| {
            trace::card(trace::open(&path, &options)?, &mut || !told.stopped())
        })?;
        // Whoever stops it raises, and that is the end of the call before this.
        let card = card.map_err(unreadable)?.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
        Ok(self.card.get_or_init(|| card))
    }

    /// Whether it may be written to this file.
    fn may_replace(&self, file: &Path, overwrite: bool) -> PyResult<()> {
        let shown = file.display();
        if file.is_dir() {
            return Err(TraceError::new_err(format!("{shown} is a folder: name a file in it")));
        }
        let real = |path: &Path| path.canonicalize().ok();
        // The files of a kernel trace, one for each CPU, are read together.
        let stem = |path: &Path| {
            let name = path.file_name()?.to_str()?;
            let (stem, cpu) = name.rsplit_once('.')?;
            let is_one = stem.ends_with(".blktrace") && cpu.bytes().all(|it| it.is_ascii_digit());
            is_one.then(|| path.with_file_name(stem))
        };
        if let (Some(own), Some(other)) = (real(&self.path), real(file)) {
            let is_sibling = stem(&own).is_some() && stem(&own) == stem(&other);
            if own == other || is_sibling {
                return Err(TraceError::new_err(format!(
                    "{shown} is what is read: name another file"
                )));
            }
        }
        match file.symlink_metadata().is_ok() && !overwrite {
            true => Err(PyFileExistsError::new_err(format!(
                "{shown} is there: overwrite=True replaces it"
            ))),
            false => Ok(()),
        }
    }
}

pub(crate) fn unreadable(error: trace::TraceError) -> PyErr {
    TraceError::new_err(error.to_string())
}

fn seconds(name: &str, seconds: f64) -> PyResult<Nanos> {
    let ns = seconds * 1e9;
    match (0.0..=MOST_TIME.0 as f64).contains(&ns) {
        true => Ok(Nanos(ns.round() as u64)),
        false => Err(PyValueError::new_err(format!("{name}={seconds}: give seconds from 0 on"))),
    }
}

fn factor(name: &str, factor: f64) -> PyResult<f64> {
    match (0.0..=MOST_FACTOR).contains(&factor) {
        true => Ok(factor),
        false => Err(PyValueError::new_err(format!(
            "{name}={factor}: give a factor from 0 to {MOST_FACTOR}"
        ))),
    }
}

fn operations_of(given: &Bound<'_, PyAny>) -> PyResult<OpSet> {
    let names: Vec<String> = match given.extract::<String>() {
        Ok(list) => list.split(',').map(|name| name.trim().to_string()).collect(),
        Err(_) => given.extract()?,
    };
    let mut set = OpSet::NONE;
    for name in &names {
        match name.as_str() {
            "read" => set.read = true,
            "write" => set.write = true,
            "trim" => set.trim = true,
            "flush" => set.flush = true,
            other => {
                return Err(PyValueError::new_err(format!(
                    "operations={other:?}: there are read, write, trim and flush"
                )));
            }
        }
    }
    match set == OpSet::NONE {
        true => Err(PyValueError::new_err("operations is empty: name one, or leave it out")),
        false => Ok(set),
    }
}

/// The I/Os of a trace in columns.
#[derive(Default)]
struct Columns {
    times: Vec<u64>,
    operations: Vec<u8>,
    offsets: Vec<u64>,
    lengths: Vec<u64>,
    durations: Vec<u64>,
}

impl Columns {
    fn push(&mut self, io: &TraceIo) {
        self.times.push(io.at.0);
        self.operations.push(match io.op {
            Op::Read => 0,
            Op::Write => 1,
            Op::Trim => 2,
            Op::Flush => 3,
        });
        self.offsets.push(io.offset_bytes);
        self.lengths.push(io.bytes);
        self.durations.push(io.duration.map_or(0, |duration| duration.0));
    }
}

/// A trace that asks from time to time whether to go on.
struct Stoppable<'a> {
    trace: trace::Trace,
    told: &'a Arc<Told>,
    since_asked: u32,
    stopped: bool,
}

impl<'a> Stoppable<'a> {
    fn open(
        path: &Path,
        options: &Options,
        told: &'a Arc<Told>,
    ) -> Result<Stoppable<'a>, trace::TraceError> {
        let trace = trace::open(path, options)?;
        Ok(Stoppable { trace, told, since_asked: 0, stopped: false })
    }
}

impl Iterator for Stoppable<'_> {
    type Item = Result<TraceIo, trace::TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.since_asked += 1;
        if self.since_asked >= ASK_AFTER {
            self.since_asked = 0;
            self.stopped |= self.told.stopped();
        }
        if self.stopped { None } else { self.trace.next() }
    }
}
