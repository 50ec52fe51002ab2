//! Traces written: fio's iolog, a table, and the compact form.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::str::FromStr;

use fourcorners_drive::{Nanos, Op};

use super::error::TraceError;
use super::formats::compact::{Encoder, Texts};
use super::formats::iolog;
use super::io::TraceIo;

/// A format that traces are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// fio's log of I/Os, version 3. Its times are whole microseconds, and it has no durations.
    Iolog,
    /// A table with a line of names.
    Csv,
    /// fourcorners' own.
    Compact,
}

impl Output {
    const ALL: [(&'static str, Output); 3] =
        [("fio-iolog", Output::Iolog), ("csv", Output::Csv), ("compact", Output::Compact)];
}

impl FromStr for Output {
    type Err = UnknownOutput;
    fn from_str(name: &str) -> Result<Output, UnknownOutput> {
        let found = Output::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, output)| output).ok_or_else(|| UnknownOutput { name: name.into() })
    }
}

/// Traces are not written in a form of this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "traces are not written as \"{name}\"; there are: {}",
    Output::ALL.map(|(name, _)| name).join(", ")
)]
pub struct UnknownOutput {
    /// The name.
    pub name: String,
}

/// What was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// I/Os.
    pub ios: u64,
    /// What of the trace was left out.
    pub lost: Lost,
}

/// What of a trace was left out because the form it was written in has no place for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lost {
    /// How long I/Os took.
    pub durations: bool,
    /// Parts of a microsecond.
    pub nanoseconds: bool,
    /// That an I/O was issued before the one that stands before it.
    pub order: bool,
    /// By how much an I/O was issued before the first one, from which times count.
    pub before_first: bool,
    /// The numbers of devices.
    pub devices: bool,
    /// Force unit access, writes of zeros, and which I/Os failed.
    pub flags: bool,
    /// How well what is written can be compressed.
    pub compressibility: bool,
    /// Text about the trace, which says where it is from; or all of it.
    pub texts: bool,
    /// Of the text at one place, what is beyond a megabyte.
    pub texts_beyond: bool,
}

impl Lost {
    /// Each thing that was lost, in words.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.durations, "durations"),
            (self.nanoseconds, "parts of a microsecond"),
            (self.order, "times that go back"),
            (self.before_first, "times before the first I/O"),
            (self.devices, "numbers of devices"),
            (self.flags, "flags (FUA, zeros, failures)"),
            (self.compressibility, "compressibility"),
            (self.texts, "text about the trace"),
            (self.texts_beyond, "text beyond 1 MiB at one place"),
        ];
        all.into_iter().filter_map(|(is_lost, words)| is_lost.then_some(words))
    }

    fn add(&mut self, io: &TraceIo, output: Output, latest: Nanos) {
        let iolog = output == Output::Iolog;
        let flags = io.flags;
        self.durations |= iolog && io.duration.is_some();
        self.nanoseconds |= iolog && !io.at.0.is_multiple_of(1000);
        self.order |= iolog && io.at < latest;
        self.flags |= output != Output::Compact && (flags.fua || flags.zeroes || flags.failed);
        self.compressibility |= flags.compressible_percent > 0;
    }
}

/// The files of an iolog, one for each device in the order they appear: `NAME`, `NAME.1`, `NAME.2`.
struct Files<'a> {
    name: &'a str,
    open: Vec<String>,
    /// Where the file of a device is among them.
    of_device: HashMap<u32, usize>,
}

impl Files<'_> {
    /// The file of a device, and which it is of them; a new one is opened at this time.
    fn of(&mut self, device: u32, at_us: u64, to: &mut impl Write) -> io::Result<(&str, usize)> {
        let new = self.open.len();
        let place = *self.of_device.entry(device).or_insert(new);
        if place == new {
            if new == iolog::MOST_FILES {
                return Err(io::Error::other(format!(
                    "the trace has more than {new} devices, and an iolog at most that many files: name one device \
                     (--device) or another format (--as csv)"
                )));
            }
            let file = match new {
                0 => self.name.to_string(),
                number => format!("{}.{number}", self.name),
            };
            write!(to, "{at_us} {file} add\n{at_us} {file} open\n")?;
            self.open.push(file);
        }
        Ok((&self.open[place], place))
    }
}

/// Why a trace could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// It could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The file could not be written.
    #[error("cannot write the trace")]
    Io(#[from] io::Error),
}

/// Writes the I/Os of a trace; texts about it are not among them, [`super::Conversion`] has both. `file` is what an iolog
/// calls the drive; the second of several it calls `file.1`.
///
/// # Errors
/// The first of either side.
pub fn write(
    trace: impl Iterator<Item = Result<TraceIo, TraceError>>,
    output: Output,
    file: &str,
    to: impl Write,
) -> Result<Written, WriteError> {
    let mut writer = Writer::begin(output, file, to)?;
    for io in trace {
        writer.put(&io?)?;
    }
    Ok(writer.finish()?)
}

/// A trace that is being written.
pub(super) struct Writer<'a, W: Write> {
    output: Output,
    to: BufWriter<W>,
    encoder: Encoder,
    files: Files<'a>,
    latest: Nanos,
    written: Written,
}

impl<'a, W: Write> Writer<'a, W> {
    /// Writes what stands before the first I/O.
    pub(super) fn begin(output: Output, file: &'a str, to: W) -> io::Result<Writer<'a, W>> {
        let mut to = BufWriter::with_capacity(256 << 10, to);
        match output {
            Output::Iolog => writeln!(to, "fio version 3 iolog")?,
            Output::Csv => writeln!(to, "time_ns,op,offset_bytes,length_bytes,duration_ns,device")?,
            Output::Compact => to.write_all(&Encoder::head())?,
        }
        Ok(Writer {
            output,
            to,
            encoder: Encoder::default(),
            files: Files { name: file, open: Vec::new(), of_device: HashMap::new() },
            latest: Nanos::ZERO,
            written: Written::default(),
        })
    }

    /// Writes an I/O.
    pub(super) fn put(&mut self, io: &TraceIo) -> io::Result<()> {
        self.written.ios += 1;
        self.written.lost.add(io, self.output, self.latest);
        self.latest = self.latest.max(io.at);
        let to = &mut self.to;
        let (at, op, offset, bytes) = (io.at.0, op_name(io.op), io.offset_bytes, io.bytes);
        match self.output {
            Output::Iolog => {
                // fio's own times never go back.
                let at_us = self.latest.0 / 1000;
                let (file, place) = self.files.of(io.device, at_us, to)?;
                // Whoever reads it numbers its files from 0.
                self.written.lost.devices |= place as u64 != u64::from(io.device);
                match io.op {
                    Op::Flush => writeln!(to, "{at_us} {file} sync 0 0"),
                    _ => writeln!(to, "{at_us} {file} {op} {offset} {bytes}"),
                }
            }
            Output::Csv => {
                write!(to, "{at},{op},{offset},{bytes},")?;
                if let Some(duration) = io.duration {
                    write!(to, "{}", duration.0)?;
                }
                writeln!(to, ",{}", io.device)
            }
            Output::Compact => match self.encoder.put(io) {
                Some(block) => to.write_all(&block),
                None => Ok(()),
            },
        }
    }

    /// Writes texts about the trace, where the form has a place for them.
    pub(super) fn texts(&mut self, texts: &Texts) -> io::Result<()> {
        match self.output {
            // A comment of a table would stand in the way of those who read it as a table.
            Output::Iolog | Output::Csv => {
                self.written.lost.texts |= texts.too_many || !texts.blocks.is_empty();
            }
            Output::Compact => {
                self.written.lost.texts_beyond |= texts.too_many;
                for text in &texts.blocks {
                    self.to.write_all(&Encoder::text_block(text))?;
                }
            }
        }
        Ok(())
    }

    /// Notes that I/Os were issued before the first, at times that were lost as it was read.
    pub(super) fn lose_times_before_first(&mut self) {
        self.written.lost.before_first = true;
    }

    /// Writes what is left, and the end.
    pub(super) fn finish(mut self) -> io::Result<Written> {
        match self.output {
            Output::Iolog => {
                for file in &self.files.open {
                    writeln!(self.to, "{} {file} close", self.latest.0 / 1000)?;
                }
            }
            Output::Csv => {}
            Output::Compact => self.to.write_all(&self.encoder.finish())?,
        }
        self.to.flush()?;
        Ok(self.written)
    }
}

/// Writes a compact trace as it happens: what was written so far can be read if it ends without [`Recorder::finish`].
#[derive(Debug)]
pub struct Recorder<W: Write> {
    to: W,
    encoder: Encoder,
}

impl<W: Write> Recorder<W> {
    /// Begins one. `about` says where it is from; it is kept in the file for people and passed over by readers.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(mut to: W, about: &str) -> io::Result<Recorder<W>> {
        to.write_all(&Encoder::head())?;
        to.write_all(&Encoder::text(about))?;
        Ok(Recorder { to, encoder: Encoder::default() })
    }

    /// Adds an I/O; they come in the order they were issued in.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&mut self, io: &TraceIo) -> io::Result<()> {
        self.encoder.put(io).map_or(Ok(()), |block| self.to.write_all(&block))
    }

    /// Writes what is left, and the end; returns what it was written to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.write_all(&self.encoder.finish())?;
        self.to.flush()?;
        Ok(self.to)
    }
}

fn op_name(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "flush",
    }
}
