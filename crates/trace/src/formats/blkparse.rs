//! What blkparse(1) prints in its default format: `major,minor cpu sequence seconds pid action RWBS
//! sector + sectors [process]`. The totals at the end of each of several that were put together are passed over.

use fourcorners_drive::Op;

use super::Pairing;
use super::blktrace::other_events;
use crate::error::{Bad, Place, Reason};
use crate::fields::{self, Fields, number, sectors};
use crate::input::{Input, Line, MOST_LINE_BYTES};
use crate::io::TraceIo;
use crate::options::Event;

/// The kernel's `MINORBITS`.
const MINOR_BITS: u32 = 20;

/// Whether this line is one of an event.
pub(crate) fn is_event(line: &[u8]) -> bool {
    let mut fields = Fields::new(line, b' ');
    let mut next = || fields.next("field").ok();
    let Some(true) = next().map(|text| device(text).is_ok()) else { return false };
    let numbers = [next(), next()].map(|text| text.is_some_and(|text| number("", text).is_ok()));
    let time = next().is_some_and(|text| fields::time("", text, 1_000_000_000).is_ok());
    numbers == [true, true] && time && next().is_some() && next().is_some()
}

/// A printed trace.
pub(crate) struct Blkparse {
    input: Input,
    event: Event,
    pairing: Pairing,
    in_totals: bool,
    found: bool,
    others: bool,
}

impl Blkparse {
    pub(crate) fn new(input: Input, event: Event) -> Blkparse {
        Blkparse {
            input,
            event,
            pairing: Pairing::default(),
            in_totals: false,
            found: false,
            others: false,
        }
    }

    pub(crate) fn next(&mut self) -> Option<Result<TraceIo, Bad>> {
        loop {
            if let Some(io) = self.pairing.next() {
                return Some(Ok(io));
            }
            let line = match self.input.line() {
                Ok(line) => line,
                Err(error) => {
                    let place = Place::Line(self.input.line_number() + 1);
                    return Some(Err(Bad::io(place, error)));
                }
            };
            let taken = match line {
                Line::End => {
                    self.pairing.end();
                    if let Some(io) = self.pairing.next() {
                        return Some(Ok(io));
                    }
                    if self.found || !std::mem::take(&mut self.others) {
                        return None;
                    }
                    let reason = other_events(self.event);
                    return Some(Err(Bad { place: Place::Whole, reason, goes_on: false }));
                }
                Line::TooLong => Err(Reason::LongLine { most: MOST_LINE_BYTES }),
                Line::Whole(line) => {
                    let text = line.trim_ascii();
                    // The first words of blkparse's totals.
                    self.in_totals |= text.starts_with(b"CPU") || text.starts_with(b"Total (");
                    // Behind the totals of one trace may be the events of the next.
                    self.in_totals = self.in_totals && !is_event(line);
                    if self.in_totals || text.is_empty() || text.starts_with(b"#") {
                        continue;
                    }
                    let event = self.event;
                    parse(line, event).map(|what| match what {
                        What::Issued(io) => {
                            self.found = true;
                            self.pairing.issue(io);
                        }
                        What::Completed(io) => {
                            self.pairing.complete(io.device, io.offset_bytes, io.at);
                        }
                        What::Requeued(io) => self.pairing.requeue(io.device, io.offset_bytes),
                        What::OfTheOtherKind => self.others = true,
                        What::Nothing => {}
                    })
                }
            };
            if let Err(reason) = taken {
                let place = Place::Line(self.input.line_number());
                return Some(Err(Bad { place, reason, goes_on: true }));
            }
        }
    }
}

enum What {
    Issued(TraceIo),
    Completed(TraceIo),
    Requeued(TraceIo),
    OfTheOtherKind,
    Nothing,
}

fn parse(line: &[u8], event: Event) -> Result<What, Reason> {
    let mut fields = Fields::new(line, b' ');
    let device = device(fields.next("device")?)?;
    fields.number("CPU")?;
    fields.number("sequence number")?;
    let at = fields.time("time", 1_000_000_000)?;
    fields.number("process")?;
    let action = fields.next("action")?;
    let wanted: &[u8] = match event {
        Event::Issue => b"D",
        Event::Queue => b"Q",
    };
    let of_interest = matches!(action, b"D" | b"Q" | b"C" | b"R");
    if !of_interest {
        return Ok(What::Nothing);
    }
    let rwbs = fields.next("RWBS")?;
    let first = fields.next("sector");
    // A command that is no read or write has its bytes in brackets instead of an address.
    let Ok(first) = first else { return flush_or_nothing(rwbs, at, device, action == wanted) };
    let Ok(sector) = number("sector", first) else {
        return match first.starts_with(b"(") || first.starts_with(b"[") {
            true => flush_or_nothing(rwbs, at, device, action == wanted),
            false => Err(Reason::field("sector", first, "a whole number below 2^64")),
        };
    };
    let offset_bytes = sectors("sector", sector)?;
    let io = TraceIo {
        at,
        op: Op::Read,
        offset_bytes,
        bytes: 0,
        duration: None,
        device,
        flags: Default::default(),
    };
    match action {
        b"C" => return Ok(What::Completed(io)),
        b"R" if event == Event::Issue => return Ok(What::Requeued(io)),
        action if action != wanted => return Ok(What::OfTheOtherKind),
        _ => {}
    }
    let count = match fields.next("number of sectors") {
        Ok(b"+") => fields.number("number of sectors")?,
        _ => 0,
    };
    if count == 0 {
        return flush_or_nothing(rwbs, at, device, true);
    }
    let Some(op) = operation(rwbs) else { return Ok(What::Nothing) };
    let bytes = sectors("number of sectors", count)?;
    Ok(What::Issued(TraceIo { device, ..fields::io(at, op, offset_bytes, bytes)? }))
}

fn flush_or_nothing(
    rwbs: &[u8],
    at: fourcorners_drive::Nanos,
    device: u32,
    wanted: bool,
) -> Result<What, Reason> {
    if !wanted || !rwbs.starts_with(b"F") {
        return Ok(What::Nothing);
    }
    Ok(What::Issued(TraceIo { device, ..fields::io(at, Op::Flush, 0, 0)? }))
}

/// What the letters of RWBS mean: D discards, W writes, R reads; the others say how.
fn operation(rwbs: &[u8]) -> Option<Op> {
    let has = |letter: u8| rwbs.contains(&letter);
    match () {
        () if has(b'D') => Some(Op::Trim),
        () if has(b'W') => Some(Op::Write),
        () if has(b'R') => Some(Op::Read),
        () => None,
    }
}

fn device(text: &[u8]) -> Result<u32, Reason> {
    let wrong = || Reason::field("device", text, "major,minor");
    let comma = text.iter().position(|&byte| byte == b',').ok_or_else(wrong)?;
    let major = number("device", &text[..comma]).map_err(|_| wrong())?;
    let minor = number("device", &text[comma + 1..]).map_err(|_| wrong())?;
    match major < 1 << (32 - MINOR_BITS) && minor < 1 << MINOR_BITS {
        true => Ok((major as u32) << MINOR_BITS | minor as u32),
        false => Err(wrong()),
    }
}
