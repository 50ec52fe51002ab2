//! The ASCII traces of MQSim: `nanoseconds device sector sectors type`, type 0 a write and 1 a read.

use fourcorners_drive::Op;

use crate::error::Reason;
use crate::fields::{self, Fields, sectors};
use crate::io::TraceIo;

/// The ASCII traces of DiskSim have the same five columns, with times in milliseconds and a fraction.
const NO_FRACTION: &str = "the whole nanoseconds that MQSim counts: this may be a trace of DiskSim, in milliseconds, of \
                           which the times have to be multiplied by 1000000 first";

/// Whether this line is a record, be it one of DiskSim's, which its reader refuses with the reason.
pub(crate) fn is_record(line: &[u8]) -> bool {
    let fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    fields.count() == 5 && any_record(line).is_ok()
}

pub(crate) fn record(line: &[u8]) -> Result<Option<TraceIo>, Reason> {
    let text = line.trim_ascii();
    if text.is_empty() || text.starts_with(b"#") {
        return Ok(None);
    }
    let time = Fields::new(line, b' ').next("time")?;
    if time.contains(&b'.') {
        return Err(Reason::field("time", time, NO_FRACTION));
    }
    any_record(line).map(Some)
}

/// A record, also of DiskSim.
fn any_record(line: &[u8]) -> Result<TraceIo, Reason> {
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
    Ok(TraceIo { device, ..fields::io(at, op, offset, bytes)? })
}
