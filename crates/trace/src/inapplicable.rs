//! Options that say nothing of a trace of its kind. They are refused: whoever gives one expects it to have an effect.

use std::fmt;

use super::formats::Format;
use super::options::{Event, Options};

/// An option that was given for a trace it has no meaning for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inapplicable {
    /// The option.
    pub option: ReadOption,
    /// What the trace is.
    pub kind: TraceKind,
}

/// An option of reading a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadOption {
    /// [`Options::ios`].
    Ios,
    /// [`Options::seed`]. Any number is a seed, so that it was given is known only to whoever took it.
    Seed,
    /// [`Options::format`].
    Format,
    /// [`Options::skip_bad`].
    SkipBad,
    /// [`Event::Queue`] as [`Options::event`].
    Event,
}

/// Where the I/Os of a trace come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceKind {
    /// From a generator.
    Generated,
    /// From a task.
    Task,
    /// From a recording in this format.
    Recording(Format),
}

impl fmt::Display for TraceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceKind::Generated => f.write_str("a generated trace"),
            TraceKind::Task => f.write_str("a task"),
            TraceKind::Recording(format) => write!(f, "a recording ({})", format.title()),
        }
    }
}

impl ReadOption {
    /// Its name in the library and in Python.
    fn keyword(self) -> &'static str {
        match self {
            ReadOption::Ios => "ios",
            ReadOption::Seed => "seed",
            ReadOption::Format => "format",
            ReadOption::SkipBad => "skip_bad",
            ReadOption::Event => "event",
        }
    }

    /// Its name on the command line.
    fn flag(self) -> &'static str {
        match self {
            ReadOption::Ios => "--ios",
            ReadOption::Seed => "--seed",
            ReadOption::Format => "--format",
            ReadOption::SkipBad => "--skip-bad",
            ReadOption::Event => "--event",
        }
    }
}

impl Inapplicable {
    /// What of the options is given in vain for a generated trace or a task.
    pub(super) fn to_made(options: &Options, kind: TraceKind) -> Option<Inapplicable> {
        let given = [
            (options.ios.is_some() && kind == TraceKind::Task, ReadOption::Ios),
            (options.format.is_some(), ReadOption::Format),
            (options.skip_bad, ReadOption::SkipBad),
            (options.event != Event::default(), ReadOption::Event),
        ];
        let found = given.into_iter().find(|(is_given, _)| *is_given);
        found.map(|(_, option)| Inapplicable { option, kind })
    }

    /// What of the options is given in vain for a recording in this format.
    pub(super) fn to_recording(options: &Options, format: Format) -> Option<Inapplicable> {
        let kind = TraceKind::Recording(format);
        match () {
            () if options.ios.is_some() => Some(Inapplicable { option: ReadOption::Ios, kind }),
            () if options.event != Event::default() && !format.has_events() => {
                Some(Inapplicable { option: ReadOption::Event, kind })
            }
            () => None,
        }
    }

    /// In the names that the command line has for options.
    pub fn on_command_line(self) -> String {
        self.words(self.option.flag(), "--from and --to")
    }

    fn words(self, option: &str, part: &str) -> String {
        let kind = self.kind;
        let is_for = match (self.option, kind) {
            (ReadOption::Ios, TraceKind::Recording(_)) => {
                return format!("{option} does not apply to a recording; {part} take a part of it");
            }
            (ReadOption::Ios, _) => {
                return format!("{option} does not apply to {kind}: leave it out");
            }
            (ReadOption::Seed, _) => "generated traces and tasks",
            (ReadOption::Format | ReadOption::SkipBad, _) => "recordings",
            (ReadOption::Event, _) => "kernel traces (blktrace and blkparse)",
        };
        format!("{option} is for {is_for}, and this is {kind}: leave it out")
    }
}

/// In the names of both, for whoever does not know where the option was given.
impl fmt::Display for Inapplicable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = format!("{} ({})", self.option.keyword(), self.option.flag());
        f.write_str(&self.words(&option, "from_s and to_s (--from and --to)"))
    }
}

impl std::error::Error for Inapplicable {}
