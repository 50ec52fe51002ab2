//! fio's log of I/Os (`write_iolog`, `read_iolog`): version 2, `file action [offset length]` with
//! `wait` actions between, and version 3, `microseconds file action [offset length]`.

use fourcorners_drive::{Nanos, Op};

use crate::error::Reason;
use crate::fields::{self, Fields};
use crate::io::{MOST_TIME, TraceIo};

/// Most files of a log: their names are kept.
pub(crate) const MOST_FILES: usize = 4096;
/// `wait` and the times of version 3 are in microseconds.
const MICRO_NS: u64 = 1000;

/// Whether a trace of this format begins with this line.
pub(crate) fn begins(line: &[u8]) -> bool {
    version(line).is_ok()
}

fn version(line: &[u8]) -> Result<u8, Reason> {
    match line.trim_ascii() {
        b"fio version 2 iolog" => Ok(2),
        b"fio version 3 iolog" => Ok(3),
        other => {
            Err(Reason::field("first line", other, "fio version 2 iolog or fio version 3 iolog"))
        }
    }
}

/// What the lines before this one have told.
#[derive(Debug, Default)]
pub(crate) struct Iolog {
    version: Option<u8>,
    files: Vec<Box<[u8]>>,
    /// Version 2: the sum of all that was waited.
    waited: Nanos,
}

impl Iolog {
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<Option<TraceIo>, Reason> {
        let Some(version) = self.version else {
            let text = line.trim_ascii();
            if text.is_empty() || text.starts_with(b"#") {
                return Ok(None);
            }
            self.version = Some(version(line)?);
            return Ok(None);
        };
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let mut fields = Fields::new(line, b' ');
        let mut at = self.waited;
        if version == 3 {
            at = fields.time("time", MICRO_NS)?;
        }
        let file = fields.next("file")?;
        let action = fields.next("action")?;
        let op = match action {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" => Op::Flush,
            b"add" => {
                self.device(file)?;
                return Ok(None);
            }
            b"open" | b"close" => return Ok(None),
            b"wait" if version == 2 => {
                let wait = fields.time("wait", MICRO_NS)?;
                let sum = self.waited.saturating_add(wait);
                if sum > MOST_TIME {
                    return Err(Reason::Other("all waits together are more than 73 years".into()));
                }
                self.waited = sum;
                return Ok(None);
            }
            other => {
                let expected = match version {
                    2 => "read, write, trim, sync, datasync, add, open, close or wait",
                    _ => "read, write, trim, sync, datasync, add, open or close",
                };
                return Err(Reason::field("action", other, expected));
            }
        };
        let (offset, bytes) = match op {
            Op::Flush => (0, 0),
            _ => (fields.number("offset")?, fields.number("length")?),
        };
        let device = self.device(file)?;
        Ok(Some(TraceIo { device, ..fields::io(at, op, offset, bytes)? }))
    }

    fn device(&mut self, file: &[u8]) -> Result<u32, Reason> {
        if let Some(known) = self.files.iter().position(|name| **name == *file) {
            return Ok(known as u32);
        }
        if self.files.len() == MOST_FILES {
            return Err(Reason::Other(format!("more than {MOST_FILES} files")));
        }
        self.files.push(file.into());
        Ok(self.files.len() as u32 - 1)
    }
}
