//! Errors in a trace: format, place and reason.

use std::fmt;
use std::io;

use super::formats::Format;
use super::generate::UnknownGenerated;
use super::inapplicable::Inapplicable;
use super::task::TaskError;

/// A trace that cannot be read on, or a record of it that is no I/O.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {}{place}{reason}", format_words(.format))]
pub struct TraceError {
    /// The file, as it was named.
    pub name: String,
    /// Its format, where that is known.
    pub format: Option<Format>,
    /// Where in it.
    pub place: Place,
    /// Why.
    pub reason: Reason,
}

impl TraceError {
    /// Without the name of the trace, for a sentence that has named it.
    pub fn without_name(&self) -> String {
        format!("{}{}{}", format_words(&self.format), self.place, self.reason)
    }
}

fn format_words(format: &Option<Format>) -> String {
    format.map_or_else(String::new, |format| format!("{}, ", format.title()))
}

/// Where in a trace. Bytes count from the beginning of what a compressed trace unpacks to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The trace as a whole.
    Whole,
    /// A line, from 1.
    Line(u64),
    /// A byte offset, from 0.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Line(line) => write!(f, "line {line}: "),
            Place::Byte(byte) => write!(f, "byte {byte}: "),
        }
    }
}

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// A field that is to be a number and is none, or is beyond what is possible.
    #[error("the {field} is \"{text}\", not {expected}")]
    Field {
        /// What it is called.
        field: &'static str,
        /// The text, or the beginning of it.
        text: String,
        /// What it is to be.
        expected: &'static str,
    },
    /// A line or record that ends too early.
    #[error("there is no {field}")]
    Missing {
        /// What is missing.
        field: &'static str,
    },
    /// A line that has no end.
    #[error("a line of more than {most} bytes")]
    LongLine {
        /// The most that a line may have.
        most: usize,
    },
    /// A record that ends in the middle.
    #[error("the trace ends after {found} of the {expected} bytes of a record")]
    Truncated {
        /// Its bytes.
        expected: usize,
        /// Those that are there.
        found: usize,
    },
    /// A block that is not what was written.
    #[error("the block's checksum is {found:08x}, not {expected:08x}: it was damaged")]
    Checksum {
        /// As written.
        expected: u32,
        /// Of what is there.
        found: u32,
    },
    /// A format that was not recognised.
    #[error(
        "its content is none of {}; name its format (--format) if it is one of them",
        Format::names()
    )]
    UnknownFormat,
    /// A format that was not recognised, and the one that is nearest.
    #[error(
        "it is of no format; nearest is {}, format (--format) {}, but in line {line} {why}; docs/TRACES.md has what its lines \
         look like",
        format.title(),
        format.name()
    )]
    Near {
        /// The nearest.
        format: Format,
        /// The line that keeps it from being of it, from 1.
        line: u64,
        /// Why.
        why: Box<Reason>,
    },
    /// A generated trace that there is not.
    #[error(transparent)]
    Generated(#[from] UnknownGenerated),
    /// A task that there is not, or that is none.
    #[error(transparent)]
    Task(#[from] Box<TaskError>),
    /// An option that would be given in vain.
    #[error(transparent)]
    Inapplicable(#[from] Inapplicable),
    /// A version of the format that cannot be read, so that no record of it is understood.
    #[error("it is of version {found}; this fourcorners reads versions 1 to {newest}")]
    Version {
        /// Its version.
        found: u32,
        /// The newest that is read.
        newest: u32,
    },
    /// A name that is that of no file, but one of a task or of a generated trace but for what stands
    /// before it.
    #[error("there is no such file; did you mean {0}?")]
    Meant(String),
    /// Something particular to one format.
    #[error("{0}")]
    Other(String),
    /// The file cannot be read or unpacked.
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
}

impl Reason {
    /// A field with what stands in it, cut to what fits into a message.
    #[cold]
    pub(super) fn field(field: &'static str, text: &[u8], expected: &'static str) -> Reason {
        const MOST: usize = 40;
        let shown = String::from_utf8_lossy(&text[..text.len().min(MOST)]);
        let mut shown: String = shown.chars().flat_map(|c| c.escape_debug()).collect();
        if text.len() > MOST {
            shown.push('…');
        }
        Reason::Field { field, text: shown, expected }
    }
}

/// A record that cannot be used, before it is known which file it is in.
#[derive(Debug)]
pub(super) struct Bad {
    pub(super) place: Place,
    pub(super) reason: Reason,
    /// Whether the rest of the trace can be read all the same.
    pub(super) goes_on: bool,
}

impl Bad {
    /// A trace that was cut off or whose packing is damaged has an end there; everything else that
    /// the system answers says nothing about the trace.
    pub(super) fn io(place: Place, error: io::Error) -> Bad {
        Bad { place, reason: Reason::Io(error), goes_on: false }
    }

    /// Whether leaving it out leaves a trace, be it one that ends here.
    pub(super) fn may_be_skipped(&self) -> bool {
        match &self.reason {
            Reason::Io(error) => match error.kind() {
                io::ErrorKind::InvalidData
                | io::ErrorKind::UnexpectedEof
                | io::ErrorKind::Other => true,
                // Of flate2 it is a wrong checksum at the end of a gzip stream; of the system (EINVAL) it says nothing
                // about the trace.
                io::ErrorKind::InvalidInput => error.raw_os_error().is_none(),
                _ => false,
            },
            Reason::Version { .. } => false,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EINVAL on Linux.
    const EINVAL: i32 = 22;

    #[test]
    fn a_damaged_packing_may_be_skipped_and_an_error_of_the_system_may_not() {
        let skipped = |error| Bad::io(Place::Whole, error).may_be_skipped();
        assert!(skipped(io::Error::new(io::ErrorKind::InvalidInput, "a wrong checksum")));
        assert!(skipped(io::Error::new(io::ErrorKind::InvalidData, "damage")));
        assert!(!skipped(io::Error::from_raw_os_error(EINVAL)));
        assert!(!skipped(io::ErrorKind::PermissionDenied.into()));
    }
}
