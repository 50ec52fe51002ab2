//! Traces of block I/O: recorded ones in everyone's formats, and generated ones.
//!
//! [`open`] makes a stream of [`TraceIo`] of any of them. A trace is read once from front to back
//! through windows of fixed size, so that one of 100 GB takes no more memory than one of a
//! kilobyte; what it was packed with (gzip, zstd, LZ4) and its format are seen by its content.
//!
//! Times count from the first I/O that is kept. A record that is no I/O (a message, a queue event,
//! an inquiry) is passed over; one that cannot be one is an error with its place, or counted when
//! [`Options::skip_bad`] is set. What has to be remembered (issues without completion, file names) is
//! bounded. A replay reads a trace twice: for its card, which decides what is refused, and then on a thread of
//! its own (`ahead.rs`). The formats are in `docs/TRACES.md`.
//!
//! It needs no Linux: it compiles for Windows and macOS, too (`scripts/other-systems`).
//!
//! ```
//! use std::io::Write;
//! let mut file = tempfile::NamedTempFile::new()?;
//! writeln!(file, "time_ns,op,offset_bytes,length_bytes\n0,read,8192,4096\n150,write,0,512")?;
//! let trace = fourcorners_trace::open(file.path(), &Default::default())?;
//! let ios: Vec<_> = trace.collect::<Result<_, _>>()?;
//! assert_eq!((ios.len(), ios[1].at.0, ios[1].bytes), (2, 150, 512));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod ahead;
mod card;
mod convert;
mod detect;
mod error;
mod fields;
mod filter;
mod formats;
mod generate;
mod inapplicable;
mod input;
mod io;
mod options;
mod reader;
mod task;
mod unpack;
mod write;

use std::path::{Path, PathBuf};

use fourcorners_drive::Nanos;

pub use ahead::Ahead;
pub use card::card;
pub use convert::Conversion;
pub use error::{Place, Reason, TraceError};
pub use filter::{AddressMap, Filter, OpSet};
pub use formats::{Format, UnknownFormat};
pub use generate::{Composition, Generated, UnknownGenerated};
pub use inapplicable::{Inapplicable, ReadOption, TraceKind};
pub use io::{IoFlags, MOST_BYTES, MOST_OFFSET, MOST_TIME, TraceIo};
pub use options::{Event, MOST_FACTOR, MOST_GENERATED, Options};
pub use task::{MORE_TASK_NAMES, Step, StepError, TASK_NAMES, Task, TaskError, task_names};
pub use write::{Lost, Output, Recorder, UnknownOutput, WriteError, Written, write};

use formats::compact::Texts;
use reader::Reader;

/// What stands before the name of a generated trace.
const GENERATED: &str = "generated:";
/// What stands before the name or the file of a task.
const TASK: &str = "task:";

/// A trace that is being read.
pub struct Trace {
    name: String,
    format: Option<Format>,
    reader: Reader,
    skip_bad: bool,
    filter: Filter,
    /// When the first I/O was recorded.
    first: Option<Nanos>,
    /// The first that the filter kept: when it was recorded, and its time after the filter, from which all others count.
    kept: Option<[Nanos; 2]>,
    skipped: u64,
    /// Why the first of those was left out.
    first_skipped: Option<Box<TraceError>>,
    /// The latest time that was given.
    latest: Nanos,
    before_first: u64,
    /// Whether any I/O was recorded before the first, and got its time.
    clamped: bool,
    ended: bool,
}

/// Opens the trace at `path`, the generated one called `generated:NAME`, or the task called
/// `task:NAME` or in the file of `task:./FILE.toml`.
///
/// Of a trace of blktrace with a file for each CPU (`sda.blktrace.0` and so on) any of the files may
/// be named; they are read together.
///
/// # Errors
/// When it cannot be opened, or is in no format that is known here.
pub fn open(path: &Path, options: &Options) -> Result<Trace, TraceError> {
    let name = path.display().to_string();
    let wrong = |format, place, reason| TraceError { name: name.clone(), format, place, reason };
    if let Some(task) = name.strip_prefix(TASK) {
        let reader = task_reader(task, options).map_err(|why| wrong(None, Place::Whole, why))?;
        return Ok(Trace::new(name, None, reader, options));
    }
    let (format, reader) = match name.strip_prefix(GENERATED) {
        Some(generated) => {
            let composition = Composition::named(generated)
                .map_err(|why| wrong(None, Place::Whole, why.into()))?;
            if let Some(why) = Inapplicable::to_made(options, TraceKind::Generated) {
                return Err(wrong(None, Place::Whole, why.into()));
            }
            let ios = options.ios.unwrap_or(composition.ios());
            (None, Reader::Generated(Box::new(Generated::new(composition, ios, options.seed))))
        }
        None => {
            let meant = meant(&name).filter(|_| !path.exists()).map(Reason::Meant);
            if let Some(reason) = meant {
                return Err(wrong(None, Place::Whole, reason));
            }
            let (format, reader) =
                reader::open(path, options).map_err(|(file, (format, reason))| TraceError {
                    name: file.display().to_string(),
                    format,
                    place: Place::Whole,
                    reason,
                })?;
            (Some(format), reader)
        }
    };
    Ok(Trace::new(name, format, reader, options))
}

/// The files that are read for the trace called so, those of all CPUs among them; none of what is generated.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let name = path.display().to_string();
    match (name.strip_prefix(TASK), name.starts_with(GENERATED)) {
        (Some(task), _) => Task::file(task).into_iter().collect(),
        (None, true) => Vec::new(),
        (None, false) => reader::files(path),
    }
}

/// The task or the generated trace of this name.
fn meant(name: &str) -> Option<String> {
    let is_task = task_names().any(|task| task == name);
    let is_generated = || Composition::named(name).is_ok();
    match is_task {
        true => Some(format!("{TASK}{name}")),
        false => is_generated().then(|| format!("{GENERATED}{name}")),
    }
}

fn task_reader(name: &str, options: &Options) -> Result<Reader, Reason> {
    let task = Task::named(name).map_err(Box::new)?;
    if let Some(why) = Inapplicable::to_made(options, TraceKind::Task) {
        return Err(why.into());
    }
    Ok(Reader::Task(Box::new(task::Drawn::new(&task, options.seed))))
}

/// A trace of these bytes, packed or not, as [`open`] would read a file of them.
///
/// # Errors
/// When they are in no format that is known here.
pub fn from_bytes(bytes: Vec<u8>, options: &Options) -> Result<Trace, TraceError> {
    let (format, reader) =
        reader::of(std::io::Cursor::new(bytes), options).map_err(|(format, reason)| {
            TraceError { name: "bytes".into(), format, place: Place::Whole, reason }
        })?;
    Ok(Trace::new("bytes".into(), Some(format), reader, options))
}

impl Trace {
    fn new(name: String, format: Option<Format>, reader: Reader, options: &Options) -> Trace {
        Trace {
            name,
            format,
            reader,
            skip_bad: options.skip_bad,
            filter: options.filter,
            first: None,
            kept: None,
            skipped: 0,
            first_skipped: None,
            latest: Nanos::ZERO,
            before_first: 0,
            clamped: false,
            ended: false,
        }
    }

    /// The next I/O, or nothing in place of one that is left out: all of a long trace may be, and whoever reads it wants
    /// to be asked in between whether to go on.
    #[inline]
    pub fn next_or_left_out(&mut self) -> Option<Result<Option<TraceIo>, TraceError>> {
        if self.ended {
            return None;
        }
        let bad = match self.reader.next() {
            None => {
                self.ended = true;
                return None;
            }
            Some(Ok(recorded)) => {
                let first = *self.first.get_or_insert(recorded.at);
                match self.filter.apply(recorded, first) {
                    Ok(Some(io)) => {
                        let [kept, base] = *self.kept.get_or_insert([recorded.at, io.at]);
                        let at = io.at.since(base);
                        let is_before = recorded.at < kept;
                        self.clamped |= is_before;
                        // After one that has a later time it is seen to be out of order.
                        self.before_first += u64::from(is_before && self.latest == Nanos::ZERO);
                        self.latest = self.latest.max(at);
                        return Some(Ok(Some(TraceIo { at, ..io })));
                    }
                    Ok(None) => return Some(Ok(None)),
                    Err(reason) => error::Bad { place: Place::Whole, reason, goes_on: true },
                }
            }
            Some(Err(bad)) => bad,
        };
        Some(self.leave_out(bad).map(|()| None))
    }

    /// Leaves a record out that cannot be used, if that is allowed.
    #[cold]
    fn leave_out(&mut self, bad: error::Bad) -> Result<(), TraceError> {
        self.ended = !bad.goes_on;
        let is_skipped = self.skip_bad && bad.may_be_skipped();
        if is_skipped && self.first_skipped.is_some() {
            self.skipped += 1;
            return Ok(());
        }
        let error::Bad { place, reason, .. } = bad;
        // Of several files, the one in which it is.
        let file = self.reader.bad_file().filter(|_| place != Place::Whole);
        let name = file.map_or_else(|| self.name.clone(), |file| file.display().to_string());
        let error = TraceError { name, format: self.format, place, reason };
        if is_skipped {
            self.skipped = 1;
            self.first_skipped = Some(Box::new(error));
            return Ok(());
        }
        self.ended = true;
        Err(error)
    }

    /// Its format; `None` of a generated one and of a task.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The name of its format, `generated` or `task`.
    fn origin(&self) -> &'static str {
        match self.kind() {
            TraceKind::Recording(format) => format.name(),
            TraceKind::Task => "task",
            TraceKind::Generated => "generated",
        }
    }

    /// Records that were left out so far because they could not be read.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Why the first of those could not be read.
    pub fn first_skipped(&self) -> Option<&TraceError> {
        self.first_skipped.as_deref()
    }

    /// Whether an I/O was read so far, be it one that the filter left out.
    pub fn has_ios(&self) -> bool {
        self.first.is_some()
    }

    /// What it is: a recording, a task or generated.
    pub fn kind(&self) -> TraceKind {
        match (self.format, &self.reader) {
            (Some(format), _) => TraceKind::Recording(format),
            (None, Reader::Task(_)) => TraceKind::Task,
            (None, _) => TraceKind::Generated,
        }
    }

    /// Keeps texts about the trace from here on, until they are taken.
    fn keep_texts(&mut self) {
        if let Reader::Compact(compact) = &mut self.reader {
            compact.keep_texts();
        }
    }

    /// The texts about the trace since they were taken last.
    #[inline]
    fn take_texts(&mut self) -> Texts {
        match &mut self.reader {
            Reader::Compact(compact) => compact.take_texts(),
            _ => Texts::default(),
        }
    }

    /// How many I/Os so far were recorded before the first one, and got its time, so that their times do not show it.
    fn before_first(&self) -> u64 {
        self.before_first
    }

    /// Whether any I/O was recorded before the first one, so that its own time is not known.
    fn has_clamped(&self) -> bool {
        self.clamped
    }

    /// The I/Os of a generated trace.
    pub fn composition(&self) -> Option<&'static Composition> {
        match &self.reader {
            Reader::Generated(generated) => Some(generated.composition()),
            _ => None,
        }
    }
}

impl Iterator for Trace {
    type Item = Result<TraceIo, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_or_left_out()? {
                Ok(None) => {}
                Ok(Some(io)) => return Some(Ok(io)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
