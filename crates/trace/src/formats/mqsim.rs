//! The ASCII traces of MQSim: `nanoseconds device sector sectors type`, type 0 a write and 1 a read.

use fourcorners_drive::Op;

use crate::error::Reason;
use crate::fields::{self, Fields, sectors};
use crate::io::TraceIo;

/// Whether this line is a record.
pub(crate) fn is_record(line: &[u8]) -> bool {
    let fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    fields.count() == 5 && matches!(record(line), Ok(Some(_)))
}

pub(crate) fn record(line: &[u8]) -> Result<Option<TraceIo>, Reason> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut fields = Fields::new(line, b' ');
    let at = fields.time("time", 1)?;
    let device = fields.next("device")?;
    let device = u32::try_from(fields::number("device", device)?)
        .map_err(|_| Reason::field("device", device, "a number below 2^32"))?;
    let offset = sectors("sector", fields.number("sector")?)?;
    let bytes = sectors("number of sectors", fields.number("number of sectors")?)?;
    let op = match fields.next("type")? {
        b"0" => Op::Write,
        b"1" => Op::Read,
        other => return Err(Reason::field("type", other, "0 (write) or 1 (read)")),
    };
    Ok(Some(TraceIo { device, ..fields::io(at, op, offset, bytes)? }))
}
