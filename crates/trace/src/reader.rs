//! The readers of all formats behind one enum, so that which one it is is decided without a virtual
//! call for each I/O.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::detect;
use super::error::{Bad, Place, Reason};
use super::formats::Format;
use super::formats::blkparse::Blkparse;
use super::formats::blkreplay::Blkreplay;
use super::formats::blktrace::Blktrace;
use super::formats::columns::{self, Columns};
use super::formats::compact::Compact;
use super::formats::csv::Csv;
use super::formats::iolog::Iolog;
use super::formats::mqsim;
use super::formats::msr::Msr;
use super::formats::vscsi::Vscsi;
use super::generate::Generated;
use super::inapplicable::Inapplicable;
use super::input::{Input, Line, MOST_LINE_BYTES};
use super::io::TraceIo;
use super::options::Options;
use super::task::Drawn;
use super::unpack::unpacked;

/// Most files of one trace: one for each CPU of a large machine.
const MOST_FILES: usize = 4096;

/// Where I/Os come from.
pub(super) enum Reader {
    Blktrace(Box<Blktrace>),
    Blkparse(Box<Blkparse>),
    Vscsi(Box<Vscsi>),
    Compact(Box<Compact>),
    Lines(Box<Lines>),
    Generated(Box<Generated>),
    Task(Box<Drawn>),
}

impl Reader {
    #[inline]
    pub(super) fn next(&mut self) -> Option<Result<TraceIo, Bad>> {
        match self {
            Reader::Blktrace(reader) => reader.next(),
            Reader::Blkparse(reader) => reader.next(),
            Reader::Vscsi(reader) => reader.next(),
            Reader::Compact(reader) => reader.next(),
            Reader::Lines(reader) => reader.next(),
            Reader::Generated(generated) => generated.next().map(Ok),
            Reader::Task(drawn) => drawn.next().map(Ok),
        }
    }

    /// Of a trace in several files, the one that the last bad record is in.
    pub(super) fn bad_file(&self) -> Option<&Path> {
        match self {
            Reader::Blktrace(reader) => reader.bad_file(),
            _ => None,
        }
    }
}

/// A format of lines of which each is an I/O or none.
pub(super) struct Lines {
    input: Input,
    parser: Parser,
}

enum Parser {
    Iolog(Iolog),
    Msr(Msr),
    Columns(Columns),
    Blkreplay(Blkreplay),
    Mqsim,
    Csv(Csv),
}

impl Lines {
    fn next(&mut self) -> Option<Result<TraceIo, Bad>> {
        loop {
            let parsed = match self.input.line() {
                Ok(Line::Whole(line)) => match &mut self.parser {
                    Parser::Iolog(iolog) => iolog.line(line),
                    Parser::Msr(msr) => msr.line(line),
                    Parser::Columns(columns) => columns.line(line),
                    Parser::Blkreplay(blkreplay) => blkreplay.line(line),
                    Parser::Mqsim => mqsim::record(line),
                    Parser::Csv(csv) => csv.line(line),
                },
                Ok(Line::TooLong) => Err(Reason::LongLine { most: MOST_LINE_BYTES }),
                Ok(Line::End) => return None,
                Err(error) => {
                    let place = Place::Line(self.input.line_number() + 1);
                    return Some(Err(Bad::io(place, error)));
                }
            };
            match parsed {
                Ok(Some(io)) => return Some(Ok(io)),
                Ok(None) => {}
                Err(reason) => {
                    let place = Place::Line(self.input.line_number());
                    return Some(Err(Bad { place, reason, goes_on: true }));
                }
            }
        }
    }
}

/// Why there is no trace, and its format if that is known.
type Unopened = (Option<Format>, Reason);
type Opened = Result<(Format, Reader), Unopened>;

/// Opens a file, or those of all CPUs.
///
/// # Errors
/// With the file that it is about.
pub(super) fn open(
    path: &Path,
    options: &Options,
) -> Result<(Format, Reader), (PathBuf, Unopened)> {
    let about = |path: &Path, format| {
        let path = path.to_path_buf();
        move |error: io::Error| (path, (format, Reason::Io(error)))
    };
    // Whoever names the file of a CPU that there is not gets none of the others.
    path.metadata().map_err(about(path, None))?;
    let others = siblings(path);
    let holding = that_holds_any(path, &others);
    let file = regular(holding).map_err(about(holding, None))?;
    let (format, reader) = of(file, options).map_err(|why| (holding.to_path_buf(), why))?;
    if format != Format::Blktrace || others.len() < 2 {
        return Ok((format, reader));
    }
    let mut inputs = Vec::new();
    for path in others {
        let about = about(&path, Some(format));
        let open = || {
            let mut input = Input::new(unpacked(regular(&path)?)?);
            // A CPU that had nothing to do leaves an empty file.
            let is_empty = input.look(1)?.is_empty();
            io::Result::Ok((!is_empty).then_some(input))
        };
        if let Some(input) = open().map_err(about)? {
            inputs.push((path, input));
        }
    }
    Ok((format, Reader::Blktrace(Box::new(Blktrace::of_cpus(inputs, options.event)))))
}

/// The file of this name and those that are read with it.
pub(super) fn files(path: &Path) -> Vec<PathBuf> {
    let mut files = siblings(path);
    if !files.iter().any(|file| file == path) {
        files.push(path.to_path_buf());
    }
    files
}

/// The file that was named, or where its CPU had nothing to do, the first of the others that holds anything: by it the
/// format is known.
fn that_holds_any<'a>(path: &'a Path, others: &'a [PathBuf]) -> &'a Path {
    let holds = |path: &&Path| path.metadata().is_ok_and(|it| it.len() > 0);
    let mut all = std::iter::once(path).chain(others.iter().map(PathBuf::as_path));
    all.find(holds).unwrap_or(path)
}

/// What is not a file to be read is not opened: a trace may be named by a slip of the hand.
fn regular(path: &Path) -> io::Result<File> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a trace"));
    }
    File::open(path)
}

/// The files of all CPUs of a trace of which one is named, `sda.blktrace.0`, by their numbers.
fn siblings(path: &Path) -> Vec<PathBuf> {
    let Some(stem) = of_a_cpu(path) else { return Vec::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|other| of_a_cpu(other).is_some_and(|other| other == stem))
        .take(MOST_FILES)
        .collect();
    files.sort();
    files
}

/// `sda.blktrace` of `sda.blktrace.3`.
fn of_a_cpu(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let (stem, cpu) = name.rsplit_once('.')?;
    let is_number = !cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && stem.ends_with(".blktrace")).then_some(stem)
}

/// A reader of what `source` holds.
pub(super) fn of(source: impl Read + Send + 'static, options: &Options) -> Opened {
    let io = |error| (options.format, Reason::Io(error));
    let mut input = Input::new(unpacked(source).map_err(io)?);
    let head = input.head(detect::LOOKED_AT);
    let Some(format) = options.format.or_else(|| detect::format(head)) else {
        if head.is_empty() {
            // Not even its beginning could be unpacked, or there is nothing.
            input.look(1).map_err(io)?;
            return Err((None, Reason::Other("it is empty".into())));
        }
        return Err((
            None,
            match detect::nearest(head) {
                Some((format, line, why)) => Reason::Near { format, line, why: Box::new(why) },
                None => Reason::UnknownFormat,
            },
        ));
    };
    if let Some(why) = Inapplicable::to_recording(options, format) {
        return Err((None, why.into()));
    }
    let lines = |input, parser| Reader::Lines(Box::new(Lines { input, parser }));
    let reader = match format {
        Format::Blktrace => Reader::Blktrace(Box::new(Blktrace::new(input, options.event))),
        Format::Blkparse => Reader::Blkparse(Box::new(Blkparse::new(input, options.event))),
        Format::Vscsi => Reader::Vscsi(Box::new(Vscsi::new(input))),
        Format::Compact => Reader::Compact(Box::new(Compact::new(input))),
        Format::FioIolog => lines(input, Parser::Iolog(Iolog::default())),
        Format::Msr => lines(input, Parser::Msr(Msr::default())),
        Format::Spc => lines(input, Parser::Columns(Columns::new(&columns::SPC))),
        Format::Alibaba => lines(input, Parser::Columns(Columns::new(&columns::ALIBABA))),
        Format::Tencent => lines(input, Parser::Columns(Columns::new(&columns::TENCENT))),
        Format::Systor => lines(input, Parser::Columns(Columns::new(&columns::SYSTOR))),
        Format::Blkreplay => lines(input, Parser::Blkreplay(Blkreplay::default())),
        Format::Mqsim => lines(input, Parser::Mqsim),
        Format::Csv => lines(input, Parser::Csv(Csv::default())),
    };
    Ok((format, reader))
}
