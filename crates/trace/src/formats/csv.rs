//! A plain table: a line of names, then a line an I/O. The columns are described in docs/TRACES.md.

use fourcorners_drive::{Nanos, Op};

use crate::error::Reason;
use crate::fields::{self, Fields, sectors};
use crate::io::TraceIo;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    Time(u64),
    Op,
    Offset,
    Sector,
    Length,
    Sectors,
    Duration(u64),
    Device,
    /// Something of no use here.
    Other,
}

/// Columns by name; times with the nanoseconds of their unit.
const NAMES: &[(&str, Column)] = &[
    ("time_ns", Column::Time(1)),
    ("time_us", Column::Time(1000)),
    ("time_ms", Column::Time(1_000_000)),
    ("time_s", Column::Time(1_000_000_000)),
    ("op", Column::Op),
    ("offset_bytes", Column::Offset),
    ("sector", Column::Sector),
    ("length_bytes", Column::Length),
    ("sectors", Column::Sectors),
    ("duration_ns", Column::Duration(1)),
    ("duration_us", Column::Duration(1000)),
    ("duration_ms", Column::Duration(1_000_000)),
    ("duration_s", Column::Duration(1_000_000_000)),
    ("device", Column::Device),
];

/// Most columns that are looked at.
const MOST_COLUMNS: usize = 64;

/// Whether this is a line of names.
pub(crate) fn is_heading(line: &[u8]) -> bool {
    columns(line).is_ok()
}

/// What keeps this from being a line of names; `None` where it is one.
pub(crate) fn is_not_a_heading(line: &[u8]) -> Option<Reason> {
    columns(line).err()
}

#[derive(Debug, Default)]
pub(crate) struct Csv {
    columns: Option<Vec<Column>>,
}

impl Csv {
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<Option<TraceIo>, Reason> {
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
            return Ok(None);
        }
        match &self.columns {
            Some(columns) => record(line, columns).map(Some),
            None => {
                self.columns = Some(columns(line)?);
                Ok(None)
            }
        }
    }
}

fn columns(line: &[u8]) -> Result<Vec<Column>, Reason> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let mut names = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let columns: Vec<Column> = names
        .by_ref()
        .take(MOST_COLUMNS)
        .map(|name| {
            let known = NAMES.iter().find(|(known, _)| known.as_bytes() == name);
            known.map_or(Column::Other, |&(_, column)| column)
        })
        .collect();
    let has_more = names.next().is_some();
    let has = |wanted: fn(&Column) -> bool| columns.iter().filter(|column| wanted(column)).count();
    for (field, count) in [
        ("column time_ns, time_us, time_ms or time_s", has(|it| matches!(it, Column::Time(_)))),
        ("column op", has(|it| *it == Column::Op)),
        ("column offset_bytes or sector", has(|it| matches!(it, Column::Offset | Column::Sector))),
        (
            "column length_bytes or sectors",
            has(|it| matches!(it, Column::Length | Column::Sectors)),
        ),
    ] {
        match count {
            1 => {}
            0 if has_more => {
                return Err(Reason::Other(format!(
                    "there is no {field} among the first {MOST_COLUMNS} columns, and no more are looked at"
                )));
            }
            0 => return Err(Reason::Missing { field }),
            _ => return Err(more_than_one(field)),
        }
    }
    for (field, count) in [
        (
            "column duration_ns, duration_us, duration_ms or duration_s",
            has(|it| matches!(it, Column::Duration(_))),
        ),
        ("column device", has(|it| *it == Column::Device)),
    ] {
        if count > 1 {
            return Err(more_than_one(field));
        }
    }
    Ok(columns)
}

fn more_than_one(field: &str) -> Reason {
    Reason::Other(format!("there is more than one {field}: leave one"))
}

fn record(line: &[u8], columns: &[Column]) -> Result<TraceIo, Reason> {
    let mut texts = Fields::new(line, b',');
    let (mut at, mut op, mut offset, mut bytes) = (Nanos::ZERO, Op::Read, None, None);
    let (mut duration, mut device) = (None, 0);
    for column in columns {
        let text = texts.next("field in each of the columns")?;
        match *column {
            Column::Time(unit) => at = fields::time("time", text, unit)?,
            Column::Op => op = operation(text)?,
            Column::Offset | Column::Sector => offset = Some((column, text)),
            Column::Length | Column::Sectors => bytes = Some((column, text)),
            Column::Duration(_) if text.is_empty() => {}
            Column::Duration(unit) => duration = Some(fields::time("duration", text, unit)?),
            Column::Device => {
                device = u32::try_from(fields::number("device", text)?)
                    .map_err(|_| Reason::field("device", text, "a number below 2^32"))?;
            }
            Column::Other => {}
        }
    }
    // A flush has no address, whatever stands there, and its column may come before the one that says it is a flush.
    let amount = |given: Option<(&Column, &[u8])>| match given {
        None => Ok(0),
        Some((_, text)) if text.is_empty() && op == Op::Flush => Ok(0),
        Some((Column::Sector, text)) => sectors("sector", fields::number("sector", text)?),
        Some((Column::Sectors, text)) => {
            sectors("number of sectors", fields::number("number of sectors", text)?)
        }
        Some((Column::Length, text)) => fields::number("length", text),
        Some((_, text)) => fields::number("offset", text),
    };
    Ok(TraceIo { duration, device, ..fields::io(at, op, amount(offset)?, amount(bytes)?)? })
}

fn operation(text: &[u8]) -> Result<Op, Reason> {
    let is = |names: &[&str]| names.iter().any(|name| text.eq_ignore_ascii_case(name.as_bytes()));
    match () {
        () if is(&["read", "r"]) => Ok(Op::Read),
        () if is(&["write", "w"]) => Ok(Op::Write),
        () if is(&["trim", "discard", "t", "d"]) => Ok(Op::Trim),
        () if is(&["flush", "f"]) => Ok(Op::Flush),
        () => Err(Reason::field("op", text, "read, write, trim or flush")),
    }
}
