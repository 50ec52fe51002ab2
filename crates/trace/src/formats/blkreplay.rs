//! The load files of blkreplay: lines of explanation, a line of names, then `seconds ; sector ;
//! sectors ; R|W|RA ; delay ; duration`. A duration of 0 was not recorded.

use fourcorners_drive::{Nanos, Op};

use crate::error::Reason;
use crate::fields::{self, Fields, sectors};
use crate::io::TraceIo;

const SECOND_NS: u64 = 1_000_000_000;

/// Whether this is the line of names.
pub(crate) fn is_heading(line: &[u8]) -> bool {
    let mut fields = Fields::new(line, b';');
    ["start", "sector", "length", "op"]
        .iter()
        .all(|name| fields.next("name").is_ok_and(|text| text == name.as_bytes()))
}

#[derive(Debug, Default)]
pub(crate) struct Blkreplay {
    headed: bool,
}

impl Blkreplay {
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<Option<TraceIo>, Reason> {
        // Files without a line of names begin with records.
        if !self.headed {
            self.headed = is_heading(line);
            let is_record = line.contains(&b';')
                && line.trim_ascii_start().first().is_some_and(u8::is_ascii_digit);
            if self.headed || !is_record {
                return Ok(None);
            }
            self.headed = true;
        }
        record(line)
    }
}

fn record(line: &[u8]) -> Result<Option<TraceIo>, Reason> {
    // Files that were put together have their explanations and names in between.
    let text = line.trim_ascii();
    let is_words = !text.contains(&b';') && !text.first().is_some_and(u8::is_ascii_digit);
    if is_words || is_heading(line) {
        return Ok(None);
    }
    let mut fields = Fields::new(line, b';');
    let at = fields.time("start", SECOND_NS)?;
    let offset = sectors("sector", fields.number("sector")?)?;
    let bytes = sectors("length", fields.number("length")?)?;
    let op = match fields.next("op")? {
        b"R" | b"RA" | b"RS" | b"RM" => Op::Read,
        b"W" | b"WS" | b"WM" => Op::Write,
        b"D" => Op::Trim,
        other => return Err(Reason::field("op", other, "R, RA, W or D")),
    };
    let io = fields::io(at, op, offset, bytes)?;
    // Both columns may be left out.
    let duration = match (fields.next("delay"), fields.next("duration")) {
        (Ok(_), Ok(text)) => Some(fields::time("duration", text, SECOND_NS)?),
        _ => None,
    };
    Ok(Some(TraceIo { duration: duration.filter(|&time| time > Nanos::ZERO), ..io }))
}
