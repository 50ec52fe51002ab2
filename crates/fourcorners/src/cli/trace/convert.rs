//! `fourcorners trace convert`.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write, stdout};
use std::path::Path;

use fourcorners_machine::save::write_atomically_with;
use fourcorners_report::plain;
use fourcorners_trace::{self as trace, Conversion, Options, Output, WriteError, Written};
use fourcorners_words::counted;
use serde_json::json;

use super::args::{ConvertArgs, DRIVE};
use super::reading::{is_a_file, opened, options, tell_skipped, why_empty};
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::{End, Failure};
use crate::cli::replaced::{Inputs, Kind};
use crate::cli::terminal::say;

pub(super) fn run(args: &ConvertArgs) -> Result<End, Failure> {
    let options = options(&args.taken).map_err(Failure::Usage)?;
    let output: Output =
        args.output_format.parse().map_err(|why| Failure::Usage(format!("--as: {why}")))?;
    if args.drive.is_some() && output != Output::Iolog {
        return Err(Failure::Usage(
            "--drive is for --as fio-iolog: add that, or leave it out".into(),
        ));
    }
    let drive = args.drive.as_deref().unwrap_or(DRIVE);
    if drive.is_empty() || drive.contains(char::is_whitespace) || drive.len() > 255 {
        return Err(Failure::Usage(format!(
            "--drive {drive:?}: fio takes a path of 1 to 255 bytes without blanks"
        )));
    }
    if args.json && args.output == Path::new("-") {
        return Err(Failure::Usage(
            "--json: the new trace is on standard output; name a file with -o".into(),
        ));
    }
    is_a_file(&args.trace).map_err(Failure::Usage)?;
    if args.output != Path::new("-") {
        let inputs = Inputs::of_trace(&args.trace);
        inputs.may_write(&args.output, Kind::Trace, args.overwrite).map_err(Failure::Usage)?;
    }
    // Before anything is made: a trace that is none is not worth a file.
    opened(&args.trace, &args.taken, &options)?;
    let conversion = Conversion { output, drive };
    let work = Work { args, options, conversion, interrupt: Interrupt::listen()? };
    let converted = match args.output == Path::new("-") {
        true => work.write(&mut stdout().lock())?,
        false => to_file(&work, &args.output)?,
    };
    let Some(Converted { written, skipped }) = converted else {
        say("fourcorners: stopped; the new trace was not finished");
        return Ok(End::Incomplete);
    };
    if args.output != Path::new("-") {
        let format = &args.output_format;
        let text = match args.json {
            true => json!({
                "schema": "fourcorners.converted/1", "trace": args.output.display().to_string(), "format": format,
                "ios": written.ios, "skipped": skipped, "lost": written.lost.words().collect::<Vec<_>>(),
            })
            .to_string(),
            false => {
                let name = args.output.display().to_string();
                format!("{}: {} as {format}", plain(&name), counted(written.ios, "I/O"))
            }
        };
        writeln!(stdout(), "{text}")?;
    }
    let lost: Vec<&str> = written.lost.words().collect();
    if !lost.is_empty() {
        say(&format!(
            "fourcorners: {} has no place for {}: left out",
            args.output_format,
            lost.join(", ")
        ));
    }
    tell_skipped(skipped);
    Ok(End::Done)
}

/// A conversion.
struct Work<'a> {
    args: &'a ConvertArgs,
    options: Options,
    conversion: Conversion<'a>,
    interrupt: Interrupt,
}

struct Converted {
    written: Written,
    skipped: u64,
}

impl Work<'_> {
    /// `None` when it was stopped: what was written is then no whole trace.
    fn write(&self, to: &mut dyn Write) -> Result<Option<Converted>, Failure> {
        let mut trace = trace::open(&self.args.trace, &self.options)?;
        let written = match self.conversion.write(&mut trace, to, &mut || !self.interrupt.asked()) {
            // As it is, so that a reader that has seen enough is known as one.
            Err(WriteError::Io(error)) if self.args.output == Path::new("-") => {
                return Err(Failure::Failed(error.into()));
            }
            Err(WriteError::Io(error)) => {
                let place = format!("cannot write {}", self.args.output.display());
                return Err(Failure::Failed(anyhow::Error::from(error).context(place)));
            }
            written => written?,
        };
        let Some(written) = written else { return Ok(None) };
        if written.ios == 0 {
            let name = self.args.trace.display().to_string();
            return Err(Failure::Usage(why_empty(&name, &trace, &self.args.taken)));
        }
        Ok(Some(Converted { written, skipped: trace.skipped() }))
    }
}

/// Writes to a file that is whole or not there.
fn to_file(work: &Work<'_>, path: &Path) -> Result<Option<Converted>, Failure> {
    if path.is_dir() {
        return Err(Failure::Usage(format!("{} is a folder: name a file in it", path.display())));
    }
    let outcome: RefCell<Option<Result<Option<Converted>, Failure>>> = RefCell::new(None);
    let write = |mut file: &File| {
        // What failed once for a reason of the trace's does so again.
        let failed = |outcome: &Option<_>| !matches!(outcome, None | Some(Ok(Some(_))));
        if !failed(&outcome.borrow()) {
            *outcome.borrow_mut() = Some(work.write(&mut file));
        }
        match failed(&outcome.borrow()) {
            true => Err(io::Error::other("the trace was not written")),
            false => Ok(()),
        }
    };
    let saved = write_atomically_with(path, &write);
    match (outcome.into_inner(), saved) {
        (Some(Ok(Some(converted))), Ok(())) => Ok(Some(converted)),
        (Some(Ok(None)), _) => Ok(None),
        (Some(Err(failure)), _) => Err(failure),
        (_, Err(error)) => {
            let path = path.display();
            Err(Failure::Failed(anyhow::anyhow!("cannot write {path}: {error}")))
        }
        (None, Ok(())) => Ok(None),
    }
}
