//! The CSV of the MSR Cambridge traces (Narayanan, Donnelly, Rowstron 2008):
//! `timestamp,host,disk,Read|Write,offset,size,response time`, times in units of 100 ns. A first line with the names
//! of these columns is passed over: those who cut the traces to pieces put one there.

use fourcorners_drive::{Nanos, Op};

use super::Since;
use crate::error::Reason;
use crate::fields::{self, Fields};
use crate::io::{MOST_TIME, TraceIo};

/// A filetime counts these.
const UNIT_NS: u64 = 100;

/// Whether this line is a record.
pub(crate) fn is_record(line: &[u8]) -> bool {
    has_its_fields(line) && Msr::default().line(line).is_ok()
}

/// Whether this line has as many fields as a record.
pub(crate) fn has_its_fields(line: &[u8]) -> bool {
    line.iter().filter(|&&byte| byte == b',').count() == 6
}

/// Why this is no record, if one more field would make it one.
pub(crate) fn lacks_its_last_field(line: &[u8]) -> Option<Reason> {
    let why = Msr::default().line(line).err()?;
    is_record(&[line, b",0"].concat()).then_some(why)
}

/// Whether this is a line with the names of the columns.
pub(crate) fn is_heading(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let mut names = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let first = names.next().is_some_and(|name| name.eq_ignore_ascii_case(b"timestamp"));
    let is_name = |name: &[u8]| name.first().is_some_and(u8::is_ascii_alphabetic);
    has_its_fields(line) && first && names.all(is_name)
}

#[derive(Debug, Default)]
pub(crate) struct Msr {
    since: Since,
    begun: bool,
}

impl Msr {
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<Option<TraceIo>, Reason> {
        if line.is_empty() || line.starts_with(b"#") {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.begun, true) && is_heading(line) {
            return Ok(None);
        }
        let mut fields = Fields::new(line, b',');
        let time = fields.number("timestamp")?;
        fields.next("host")?;
        let disk = fields.next("disk number")?;
        let device = fields::number("disk number", disk)?;
        let device = u32::try_from(device)
            .map_err(|_| Reason::field("disk number", disk, "a number below 2^32"))?;
        let op = match fields.next("type")? {
            kind if kind.eq_ignore_ascii_case(b"read") => Op::Read,
            kind if kind.eq_ignore_ascii_case(b"write") => Op::Write,
            other => return Err(Reason::field("type", other, "Read or Write")),
        };
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
        let response = fields.next("response time")?;
        let duration = fields::number("response time", response)?.checked_mul(UNIT_NS).map(Nanos);
        let expected = "at most 73 years in units of 100 ns";
        if duration.is_none_or(|duration| duration > MOST_TIME) {
            return Err(Reason::field("response time", response, expected));
        }
        let io = fields::io(Nanos::ZERO, op, offset, bytes)?;
        // Only a record that is an I/O says when the trace began.
        let at = self.since.first(time).saturating_mul(UNIT_NS);
        Ok(Some(TraceIo { device, duration, ..fields::at(Nanos(at), io)? }))
    }
}
