//! Reading a trace: the options of the command line, and messages about records that were left out.

use std::path::{Path, PathBuf};

use fourcorners_drive::Nanos;
use fourcorners_trace::{
    self as trace, AddressMap, Event, Filter, Format, Inapplicable, MOST_FACTOR, MOST_GENERATED,
    MOST_TIME, OpSet, Options, ReadOption, Reason, Trace, TraceKind,
};
use fourcorners_words::counted;

use super::super::outcome::Failure;
use super::super::size::bytes_of;
use super::super::terminal::say;
use super::args::{SEED, Taken};

/// The kernel's `MINORBITS`, by which it numbers devices.
const MINOR_BITS: u32 = 20;

/// Opens a trace for a command. One that is not there or is none is a slip in the command, as is an option that says nothing of
/// it.
pub(super) fn opened(path: &Path, taken: &Taken, options: &Options) -> Result<Trace, Failure> {
    let in_vain = |why: Inapplicable| {
        Failure::Usage(format!("{}: {}", path.display(), why.on_command_line()))
    };
    let trace = trace::open(path, options).map_err(|error| match error.reason {
        Reason::Inapplicable(why) => in_vain(why),
        _ => Failure::Usage(error.to_string()),
    })?;
    match trace.kind() {
        kind @ TraceKind::Recording(_) if taken.seed.is_some() => {
            Err(in_vain(Inapplicable { option: ReadOption::Seed, kind }))
        }
        _ => Ok(trace),
    }
}

/// Whether a trace can be read once more after it was opened: a pipe would be empty then, or wait for ever, and a device
/// has no end.
///
/// # Errors
/// It cannot.
pub(super) fn is_a_file(path: &Path) -> Result<(), String> {
    let is_other =
        |file: &PathBuf| file.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir());
    match trace::files(path).iter().find(|file| is_other(file)) {
        None => Ok(()),
        Some(other) => Err(format!(
            "{}: this is not a file, and the trace is read more than once: write it to a file first; `fourcorners trace \
             record` records what is done to a device",
            other.display()
        )),
    }
}

/// Says how many records of a trace were left out, if any were.
pub(super) fn tell_skipped(skipped: u64) {
    if skipped > 0 {
        say(&format!("fourcorners: {}", left_out(skipped)));
    }
}

fn left_out(skipped: u64) -> String {
    let verb = if skipped == 1 { "was" } else { "were" };
    format!("{} could not be read and {verb} left out", counted(skipped, "record"))
}

/// Why nothing is left of a trace that was read to its end.
pub(super) fn why_empty(name: &str, trace: &Trace, taken: &Taken) -> String {
    let by_filters = || format!("none is left by {}", taken.filters().join(" and "));
    match (trace.first_skipped(), trace.has_ios()) {
        (None, false) => format!("{name}: there is no I/O in it"),
        (None, true) => format!("{name}: of its I/Os {}", by_filters()),
        (Some(first), has_ios) => {
            let others = match has_ios && !taken.filters().is_empty() {
                true => format!("of its I/Os {}", by_filters()),
                false => "no I/O is left".into(),
            };
            let records = left_out(trace.skipped());
            format!("{name}: {records}, and {others}; the first: {}", first.without_name())
        }
    }
}

/// How a trace is to be read.
pub(super) fn options(taken: &Taken) -> Result<Options, String> {
    let format = taken.format.as_deref().map(str::parse::<Format>).transpose();
    let event = match taken.event.as_str() {
        "issue" => Event::Issue,
        "queue" => Event::Queue,
        other => return Err(format!("--event {other}: give issue or queue")),
    };
    if taken.ios.is_some_and(|ios| ios == 0 || ios > MOST_GENERATED) {
        return Err(format!("--ios: give a number from 1 to {MOST_GENERATED}"));
    }
    let filter = filter(taken)?;
    let (skip_bad, ios, seed) = (taken.skip_bad, taken.ios, taken.seed.unwrap_or(SEED));
    let format = format.map_err(|why| format!("--format: {why}"))?;
    Ok(Options { format, skip_bad, event, filter, ios, seed })
}

fn filter(taken: &Taken) -> Result<Filter, String> {
    let mut filter = Filter { from: seconds("--from", taken.from)?, ..Filter::default() };
    if let Some(to) = taken.to {
        filter.to = seconds("--to", to)?;
        if filter.to <= filter.from {
            let (from, to) = (short(taken.from), short(to));
            return Err(format!("--from {from} --to {to}: this range is empty"));
        }
    }
    if !taken.ops.is_empty() {
        filter.ops = OpSet::NONE;
    }
    for op in &taken.ops {
        match op.trim() {
            "read" => filter.ops.read = true,
            "write" => filter.ops.write = true,
            "trim" => filter.ops.trim = true,
            "flush" => filter.ops.flush = true,
            other => return Err(format!("--ops {other}: there are read, write, trim and flush")),
        }
    }
    if let Some(range) = &taken.range {
        (filter.range_start, filter.range_end) = byte_range(range)?;
    }
    filter.device = taken.device.as_deref().map(device).transpose()?;
    filter.time_scale = factor("--time-scale", taken.time_scale)?;
    if let Some(scale) = taken.address_scale {
        let factor = factor("--address-scale", scale)?;
        filter.addresses = AddressMap::Stretched { factor, limit_bytes: None };
    }
    Ok(filter)
}

fn seconds(name: &str, seconds: f64) -> Result<Nanos, String> {
    let ns = seconds * 1e9;
    match (0.0..=MOST_TIME.0 as f64).contains(&ns) {
        true => Ok(Nanos(ns.round() as u64)),
        false => {
            let most = MOST_TIME.as_secs().floor();
            Err(format!("{name} {}: give seconds from 0 to {most} (73 years)", short(seconds)))
        }
    }
}

fn factor(name: &str, factor: f64) -> Result<f64, String> {
    match (0.0..=MOST_FACTOR).contains(&factor) {
        true => Ok(factor),
        false => Err(format!("{name} {}: give a factor from 0 to {MOST_FACTOR}", short(factor))),
    }
}

/// A number that was typed, in few digits: one such as 1e300 has 301 without an exponent.
pub(super) fn short(number: f64) -> String {
    match number.abs() {
        0.0 | 1e-6..1e15 => number.to_string(),
        _ => format!("{number:e}"),
    }
}

fn byte_range(range: &str) -> Result<(u64, u64), String> {
    let wrong =
        || format!("--range {range}: give the first byte and the end, such as 0-10G or 1GiB-");
    let (start, end) = range.split_once('-').ok_or_else(wrong)?;
    let bytes = |text: &str, empty: u64| match text.trim() {
        "" => Ok(empty),
        "0" => Ok(0),
        text => bytes_of(text).ok_or_else(wrong),
    };
    let (start, end) = (bytes(start, 0)?, bytes(end, u64::MAX)?);
    if start < end { Ok((start, end)) } else { Err(wrong()) }
}

fn device(text: &str) -> Result<u32, String> {
    let wrong = || format!("--device {text}: give a number, or major,minor of a kernel trace");
    match text.split_once(',') {
        None => text.parse().map_err(|_| wrong()),
        Some((major, minor)) => {
            let major: u32 = major.trim().parse().map_err(|_| wrong())?;
            let minor: u32 = minor.trim().parse().map_err(|_| wrong())?;
            let fits = major < 1 << (32 - MINOR_BITS) && minor < 1 << MINOR_BITS;
            fits.then_some(major << MINOR_BITS | minor).ok_or_else(wrong)
        }
    }
}
