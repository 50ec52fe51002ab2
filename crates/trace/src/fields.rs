//! Fields of a line, and the numbers in them.

use fourcorners_drive::{Nanos, Op, SECTOR_BYTES};

use super::error::Reason;
use super::io::{MOST_BYTES, MOST_OFFSET, MOST_TIME, TraceIo};

/// Fields one after the other.
pub(super) struct Fields<'a> {
    rest: Option<&'a [u8]>,
    /// What stands between two; a space stands for any number of blanks.
    separator: u8,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a [u8], separator: u8) -> Fields<'a> {
        Fields { rest: Some(line), separator }
    }

    /// The next field, without blanks around it.
    #[inline]
    pub(super) fn next(&mut self, field: &'static str) -> Result<&'a [u8], Reason> {
        let rest = self.rest.ok_or(Reason::Missing { field })?;
        if self.separator == b' ' {
            let rest = rest.trim_ascii_start();
            if rest.is_empty() {
                return Err(Reason::Missing { field });
            }
            let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            self.rest = Some(&rest[end..]);
            return Ok(&rest[..end]);
        }
        match rest.iter().position(|&byte| byte == self.separator) {
            Some(end) => {
                self.rest = Some(&rest[end + 1..]);
                Ok(rest[..end].trim_ascii())
            }
            None => {
                self.rest = None;
                Ok(rest.trim_ascii())
            }
        }
    }

    /// Whether there is another field.
    pub(super) fn has_more(&self) -> bool {
        self.rest.is_some()
    }

    /// The next field as a number.
    #[inline]
    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, Reason> {
        let text = self.next(field)?;
        number(field, text)
    }

    /// The next field, a decimal number of units of `unit_ns` nanoseconds, as a time.
    #[inline]
    pub(super) fn time(&mut self, field: &'static str, unit_ns: u64) -> Result<Nanos, Reason> {
        let text = self.next(field)?;
        time(field, text, unit_ns)
    }
}

/// A whole number in decimal digits.
#[inline]
pub(super) fn number(field: &'static str, text: &[u8]) -> Result<u64, Reason> {
    let mut value = 0u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        match value.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit))) {
            Some(next) if digit < 10 => value = next,
            _ => return Err(Reason::field(field, text, "a whole number below 2^64")),
        }
    }
    match text.is_empty() {
        true => Err(Reason::field(field, text, "a whole number")),
        false => Ok(value),
    }
}

/// A decimal number of units of `unit_ns` nanoseconds, to the nanosecond; more digits are cut off.
#[inline]
pub(super) fn time(field: &'static str, text: &[u8], unit_ns: u64) -> Result<Nanos, Reason> {
    let wrong = || Reason::field(field, text, "a time from 0 to 73 years");
    let point = text.iter().position(|&byte| byte == b'.');
    let (whole, fraction) = match point {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &[][..]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(wrong());
    }
    let units = match whole.is_empty() {
        true => 0,
        false => number(field, whole).map_err(|_| wrong())?,
    };
    let mut ns = units.checked_mul(unit_ns).ok_or_else(wrong)?;
    let mut unit = unit_ns;
    let mut part = 0u64;
    for &byte in fraction {
        let digit = byte.wrapping_sub(b'0');
        if digit >= 10 {
            return Err(wrong());
        }
        // Digits below a nanosecond count only as digits.
        if unit.is_multiple_of(10) {
            unit /= 10;
            part += u64::from(digit) * unit;
        }
    }
    ns = ns.checked_add(part).filter(|&ns| ns <= MOST_TIME.0).ok_or_else(wrong)?;
    Ok(Nanos(ns))
}

/// An I/O whose numbers are possible.
#[inline]
pub(super) fn io(at: Nanos, op: Op, offset_bytes: u64, bytes: u64) -> Result<TraceIo, Reason> {
    possible(at)?;
    if op == Op::Flush {
        return Ok(TraceIo {
            at,
            op,
            offset_bytes: 0,
            bytes: 0,
            duration: None,
            device: 0,
            flags: Default::default(),
        });
    }
    if bytes == 0 {
        return Err(Reason::Other("an I/O of no bytes".into()));
    }
    if bytes > MOST_BYTES {
        return Err(beyond("length", bytes, "at most 2^32 - 1 sectors"));
    }
    if offset_bytes > MOST_OFFSET {
        return Err(beyond("offset", offset_bytes, "below 2^62 bytes"));
    }
    Ok(TraceIo {
        at,
        op,
        offset_bytes,
        bytes,
        duration: None,
        device: 0,
        flags: Default::default(),
    })
}

/// The same I/O at another time.
#[inline]
pub(super) fn at(at: Nanos, io: TraceIo) -> Result<TraceIo, Reason> {
    possible(at)?;
    Ok(TraceIo { at, ..io })
}

#[inline]
fn possible(at: Nanos) -> Result<(), Reason> {
    match at > MOST_TIME {
        true => Err(beyond("time", at.0, "at most 73 years in nanoseconds")),
        false => Ok(()),
    }
}

#[cold]
fn beyond(field: &'static str, value: u64, expected: &'static str) -> Reason {
    Reason::field(field, value.to_string().as_bytes(), expected)
}

/// Bytes of so many sectors of 512.
#[inline]
pub(super) fn sectors(field: &'static str, sectors: u64) -> Result<u64, Reason> {
    match sectors.checked_mul(SECTOR_BYTES).filter(|&bytes| bytes <= MOST_OFFSET) {
        Some(bytes) => Ok(bytes),
        None => Err(beyond(field, sectors, "a number of sectors below 2^53")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_to_the_nanosecond() {
        let seconds = |text: &str| time("time", text.as_bytes(), 1_000_000_000).ok().map(|t| t.0);
        assert_eq!(seconds("3600.714306389"), Some(3_600_714_306_389));
        assert_eq!(seconds("0"), Some(0));
        assert_eq!(seconds(".5"), Some(500_000_000));
        assert_eq!(seconds("7."), Some(7_000_000_000));
        assert_eq!(seconds("0.0000000019"), Some(1));
        for wrong in ["", ".", "-1", "1e3", "1.2.3", "0x1", "99999999999999", "1.5x"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        let micros = time("time", b"12.3456", 1000).ok().map(|t| t.0);
        assert_eq!(micros, Some(12_345));
    }

    #[test]
    fn numbers_do_not_wrap() {
        let read = |text: &str| number("n", text.as_bytes()).ok();
        assert_eq!(read("18446744073709551615"), Some(u64::MAX));
        for wrong in ["18446744073709551616", "", "-1", "+1", "1 ", "0x1"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert!(sectors("sector", 1 << 55).is_err());
    }
}
