//! A trace: which of its I/Os are taken, what is in it, and its I/Os as arrays or in another format.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fourcorners_drive::{Nanos, Op};
use fourcorners_machine::host;
use fourcorners_record::Card;
use fourcorners_trace::{
    self as trace, AddressMap, Event, Filter, Format, MOST_FACTOR, MOST_GENERATED, MOST_TIME,
    OpSet, Options, Output, TraceIo,
};
use numpy::PyArray1;
use pyo3::exceptions::{PyFileExistsError, PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::background::{Told, in_background};
use crate::convert::{Destination, convert};
use crate::errors::TraceError;
use crate::number::{Real, Whole};
use crate::words::names_of;

/// Bytes that an I/O takes in arrays.
const IO_BYTES: u64 = 41;
/// Python is asked after so many I/Os.
const ASK_AFTER: u32 = 1 << 16;
/// Seed of what is drawn unless a caller gives one.
const SEED: u64 = 1;
/// What a fio-iolog calls the drive unless a caller names it.
const DRIVE: &str = "/dev/DEVICE";
/// What stands before the names of what is made here, a generated trace and a task.
const GENERATED: &str = "generated:";
const TASK: &str = "task:";

/// A trace in any format, `generated:NAME` or `task:NAME`, and which of its I/Os are taken.
///
/// It is read when something of it is asked for, and each time anew, but for its card.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Trace {
    pub(crate) path: PathBuf,
    pub(crate) options: Options,
    /// What it was opened with, which opens it again where a pickle goes.
    keywords: Py<PyDict>,
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
    #[pyo3(signature = (trace, *, format=None, event="issue", from_s=Real(0.0), to_s=None, operations=None, range_bytes=None,
        device=None, time_scale=Real(1.0), address_scale=None, ios=None, seed=None, skip_bad=false))]
    #[allow(clippy::too_many_arguments)] // They are Python's keywords.
    fn new(
        py: Python<'_>,
        trace: PathBuf,
        format: Option<&str>,
        event: &str,
        from_s: Real,
        to_s: Option<Real>,
        operations: Option<&Bound<'_, PyAny>>,
        range_bytes: Option<(Option<Whole>, Option<Whole>)>,
        device: Option<Whole>,
        time_scale: Real,
        address_scale: Option<Real>,
        ios: Option<Whole>,
        seed: Option<Whole>,
        skip_bad: bool,
    ) -> PyResult<Trace> {
        let wrong = |message: String| PyValueError::new_err(message);
        let keywords = PyDict::new(py);
        keywords.set_item("format", format)?;
        keywords.set_item("event", event)?;
        let format = format.map(str::parse::<Format>).transpose();
        let format = format.map_err(|why| wrong(format!("format: {why}")))?;
        let event = match event {
            "issue" => Event::Issue,
            "queue" => Event::Queue,
            other => {
                return Err(wrong(format!("event={other:?}: it is \"issue\" or \"queue\"")));
            }
        };
        let ios = ios.map(|ios| ios.within("ios", 1..=MOST_GENERATED)).transpose()?;
        let seed = seed.map(|seed| seed.within("seed", 0..=u64::MAX)).transpose()?;
        keywords.set_item("ios", ios)?;
        keywords.set_item("seed", seed)?;
        keywords.set_item("skip_bad", skip_bad)?;
        let (Real(from_s), to_s) = (from_s, to_s.map(|Real(to)| to));
        keywords.set_item("from_s", from_s)?;
        keywords.set_item("to_s", to_s)?;
        let mut filter = Filter { from: seconds("from_s", from_s)?, ..Filter::default() };
        if let Some(to) = to_s {
            filter.to = seconds("to_s", to)?;
            if filter.to <= filter.from {
                return Err(wrong(format!("from_s={from_s}, to_s={to}: this range is empty")));
            }
        }
        if let Some(operations) = operations {
            let names = names_of("operations", operations)?;
            filter.ops = operations_of(&names)?;
            keywords.set_item("operations", names)?;
        }
        if let Some((start, end)) = range_bytes {
            let of = |byte: Option<Whole>| {
                byte.map(|byte| byte.within("range_bytes", 0..=u64::MAX)).transpose()
            };
            let (start, end) = (of(start)?, of(end)?);
            keywords.set_item("range_bytes", (start, end))?;
            (filter.range_start, filter.range_end) = (start.unwrap_or(0), end.unwrap_or(u64::MAX));
            if filter.range_start >= filter.range_end {
                let (start, end) = (filter.range_start, filter.range_end);
                return Err(wrong(format!("range_bytes=({start}, {end}): this range is empty")));
            }
        }
        if let Some(device) = device {
            // The range is a u32's.
            let device = device.within("device", 0..=u32::MAX.into())? as u32;
            keywords.set_item("device", device)?;
            filter.device = Some(device);
        }
        filter.time_scale = factor("time_scale", time_scale.0)?;
        keywords.set_item("time_scale", time_scale.0)?;
        if let Some(Real(scale)) = address_scale {
            keywords.set_item("address_scale", scale)?;
            let factor = factor("address_scale", scale)?;
            filter.addresses = AddressMap::Stretched { factor, limit_bytes: None };
        }
        let asked = Options { format, skip_bad, event, filter, ios, seed: seed.unwrap_or(SEED) };
        let options = checked(&trace, asked, seed)?;
        Ok(Trace { path: trace, options, keywords: keywords.unbind(), card: OnceLock::new() })
    }

    /// The trace that was pickled: its file is opened where this is called.
    #[staticmethod]
    fn _again<'py>(
        py: Python<'py>,
        trace: OsString,
        keywords: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<Trace>().call((trace,), Some(keywords))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Trace>) -> PyResult<Again<'py>> {
        let this = slf.get();
        let keywords = this.keywords.bind(slf.py()).copy()?;
        // Not a path of Python's, which makes task:./x of task:/x.
        Ok((slf.get_type().getattr("_again")?, (this.path.clone().into_os_string(), keywords)))
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
    /// 2 TRIM, 3 flush), `offset_bytes`, `length_bytes`, `duration_ns`, 0 where the trace does not tell, and `device`, the
    /// number of its device. Of flags `fua` (force unit access), `zeroes` (a write of zeros) and `failed` are true or not, and
    /// `compressible_percent` is how far compression shrinks what a task writes.
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
        let Columns { times, operations, offsets, lengths, durations, devices, flags } =
            columns.map_err(unreadable)?;
        let Flags { fua, zeroes, failed, compressible } = flags;
        let arrays = PyDict::new(py);
        arrays.set_item("time_ns", PyArray1::from_vec(py, times))?;
        arrays.set_item("operation", PyArray1::from_vec(py, operations))?;
        arrays.set_item("offset_bytes", PyArray1::from_vec(py, offsets))?;
        arrays.set_item("length_bytes", PyArray1::from_vec(py, lengths))?;
        arrays.set_item("duration_ns", PyArray1::from_vec(py, durations))?;
        arrays.set_item("device", PyArray1::from_vec(py, devices))?;
        arrays.set_item("fua", PyArray1::from_vec(py, fua))?;
        arrays.set_item("zeroes", PyArray1::from_vec(py, zeroes))?;
        arrays.set_item("failed", PyArray1::from_vec(py, failed))?;
        arrays.set_item("compressible_percent", PyArray1::from_vec(py, compressible))?;
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
    /// is what a fio-iolog calls the drive, "/dev/DEVICE". The file is whole or not there; another one is replaced only with
    /// `overwrite`, and the trace itself never. What the format has no place for, and records that `skip_bad` leaves out, are
    /// told as a `TraceWarning`.
    #[pyo3(signature = (file, format="compact", *, drive=None, overwrite=false))]
    fn convert(
        &self,
        py: Python<'_>,
        file: PathBuf,
        format: &str,
        drive: Option<&str>,
        overwrite: bool,
    ) -> PyResult<u64> {
        let output: Output =
            format.parse().map_err(|why| PyValueError::new_err(format!("format: {why}")))?;
        if let Some(drive) = drive.filter(|_| output != Output::Iolog) {
            return Err(PyValueError::new_err(format!(
                "drive={drive:?}: only a fio-iolog names the drive, and {format} does not: leave it out"
            )));
        }
        let drive = drive.unwrap_or(DRIVE);
        if drive.is_empty() || drive.contains(char::is_whitespace) || drive.len() > 255 {
            return Err(PyValueError::new_err(format!(
                "drive={drive:?}: fio takes a path of 1 to 255 bytes without blanks"
            )));
        }
        self.may_replace(&file, overwrite)?;
        let destination = Destination { to: file.clone(), output, drive: drive.to_string() };
        let (path, options) = (self.path.clone(), self.options.clone());
        let converted =
            in_background(py, None, 1, move |told| convert(&path, &options, &destination, told))??;
        converted.warn(py, (&self.name(), &file, format), output)?;
        Ok(converted.written.ios)
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

/// What `_again` takes.
type Again<'py> = (Bound<'py, PyAny>, (OsString, Bound<'py, PyDict>));

/// The options of a trace that can be opened, none of which is given in vain: what is no trace is said now. `seed` is one that a
/// caller gave.
fn checked(path: &Path, asked: Options, seed: Option<u64>) -> PyResult<Options> {
    let name = path.display().to_string();
    let (is_generated, is_task) = (name.starts_with(GENERATED), name.starts_with(TASK));
    let is_made = is_generated || is_task;
    // A file that is not there is the first thing to say, whatever was asked of it.
    let alone = Options {
        format: asked.format.filter(|_| !is_made),
        ios: asked.ios.filter(|_| is_generated),
        ..Options::default()
    };
    let format = trace::open(path, &alone).map_err(unreadable)?.format();
    let has_events = format.is_some_and(Format::has_events);
    let in_vain = |what: String, is_for: &str| {
        let kind = match format {
            Some(format) => format!("a recording ({})", format.name()),
            None if is_task => "a task".to_string(),
            None => "a generated trace".to_string(),
        };
        Err(PyValueError::new_err(format!(
            "{what} is for {is_for}, and {name} is {kind}: leave it out"
        )))
    };
    match (asked.ios, seed, asked.format) {
        (Some(ios), ..) if !is_generated => in_vain(format!("ios={ios}"), "generated traces"),
        (_, Some(seed), _) if !is_made => {
            in_vain(format!("seed={seed}"), "generated traces and tasks")
        }
        (.., Some(given)) if is_made => in_vain(format!("format={:?}", given.name()), "recordings"),
        _ if asked.skip_bad && is_made => in_vain("skip_bad=True".into(), "recordings"),
        _ if asked.event == Event::Queue && !has_events => {
            in_vain("event=\"queue\"".into(), "traces of the kernel (blktrace, blkparse)")
        }
        _ => Ok(asked),
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
        false => Err(PyValueError::new_err(format!(
            "{name}={seconds}: give seconds from 0 to {}",
            MOST_TIME.as_secs()
        ))),
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

fn operations_of(names: &[String]) -> PyResult<OpSet> {
    let mut set = OpSet::NONE;
    for name in names {
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
    devices: Vec<u32>,
    flags: Flags,
}

/// What only some forms tell.
#[derive(Default)]
struct Flags {
    fua: Vec<bool>,
    zeroes: Vec<bool>,
    failed: Vec<bool>,
    compressible: Vec<u8>,
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
        self.devices.push(io.device);
        self.flags.fua.push(io.flags.fua);
        self.flags.zeroes.push(io.flags.zeroes);
        self.flags.failed.push(io.flags.failed);
        self.flags.compressible.push(io.flags.compressible_percent);
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
