//! Tables whose columns are in an order of their own, with commas between them: the traces of the UMass repository in the format
//! of the Storage Performance Council, of the clouds of Alibaba and Tencent, and of the Systor '17 virtual desktops. A first
//! line with the names of the columns is passed over.

use fourcorners_drive::{Nanos, Op};

use super::{Format, Since};
use crate::error::Reason;
use crate::fields;
use crate::io::TraceIo;

/// What a column is, and how it is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    /// A number of the device.
    Device,
    /// `r` or `w`, in either case.
    Letter,
    /// The same, or nothing for what is neither.
    LetterOrNothing,
    /// 0 for a read, 1 for a write.
    Bit,
    OffsetBytes,
    OffsetSectors,
    Bytes,
    Sectors,
    /// A decimal number of units of so many nanoseconds.
    Time(u64),
    /// The same, or nothing: how long it took.
    Duration(u64),
}

const SECOND_NS: u64 = 1_000_000_000;

/// A format of this kind.
#[derive(Debug)]
pub(crate) struct Layout {
    format: Format,
    columns: &'static [(&'static str, Column)],
    /// Whether a record may have further columns.
    has_more: bool,
}

/// "SPC Trace File Format Specification", revision 1.0.1; a block of an address unit is a sector.
pub(crate) const SPC: Layout = Layout {
    format: Format::Spc,
    columns: &[
        ("ASU", Column::Device),
        ("LBA", Column::OffsetSectors),
        ("size", Column::Bytes),
        ("opcode", Column::Letter),
        ("timestamp", Column::Time(SECOND_NS)),
    ],
    has_more: true,
};

/// Li and others, IISWC 2020: github.com/alibaba/block-traces.
pub(crate) const ALIBABA: Layout = Layout {
    format: Format::Alibaba,
    columns: &[
        ("device_id", Column::Device),
        ("opcode", Column::Letter),
        ("offset", Column::OffsetBytes),
        ("length", Column::Bytes),
        ("timestamp", Column::Time(1000)),
    ],
    has_more: false,
};

/// Zhang and others, ATC 2020: SNIA IOTTA 27917 and 28064.
pub(crate) const TENCENT: Layout = Layout {
    format: Format::Tencent,
    columns: &[
        ("Timestamp", Column::Time(SECOND_NS)),
        ("Offset", Column::OffsetSectors),
        ("Size", Column::Sectors),
        ("IOType", Column::Bit),
        ("VolumeID", Column::Device),
    ],
    has_more: false,
};

/// Lee and others, SYSTOR 2017: SNIA IOTTA 4964. Of some records it is not known what they are.
pub(crate) const SYSTOR: Layout = Layout {
    format: Format::Systor,
    columns: &[
        ("Timestamp", Column::Time(SECOND_NS)),
        ("Response", Column::Duration(SECOND_NS)),
        ("IOType", Column::LetterOrNothing),
        ("LUN", Column::Device),
        ("Offset", Column::OffsetBytes),
        ("Size", Column::Bytes),
    ],
    has_more: false,
};

/// All of them.
pub(crate) const ALL: [&Layout; 4] = [&SYSTOR, &ALIBABA, &SPC, &TENCENT];

impl Layout {
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Whether this line is a record, or has the names of the columns.
    pub(crate) fn begins(&'static self, line: &[u8]) -> bool {
        self.is_heading(line) || Columns::new(self).line(line).is_ok_and(|io| io.is_some())
    }

    /// Whether this line has the names of the columns.
    fn is_heading(&self, line: &[u8]) -> bool {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let mut fields = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        let names = self.columns.iter().map(|(name, _)| name.as_bytes());
        names.zip(&mut fields).filter(|(name, field)| name.eq_ignore_ascii_case(field)).count()
            == self.columns.len()
    }

    /// Of how many columns a line fits, and why it is no record. Nothing if it has another number of them, or is one.
    fn near(&'static self, line: &[u8]) -> Option<(usize, Reason)> {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
        if fields.len() != self.columns.len() {
            return None;
        }
        let why = Columns::new(self).line(line).err()?;
        let fits =
            self.columns.iter().zip(&fields).filter(|((name, column), field)| {
                Record::default().take(name, *column, field).is_ok()
            });
        Some((fits.count(), why))
    }
}

/// Of several formats of this kind, the one that most columns of a line are of, and why it is no record of it; nothing where
/// none has as many columns, or fewer than all but one fit.
pub(crate) fn nearest(line: &[u8]) -> Option<(Format, Reason)> {
    let near = ALL.into_iter().filter_map(|layout| Some((layout, layout.near(line)?)));
    let (layout, (fits, why)) = near.max_by_key(|(_, (fits, _))| *fits)?;
    (fits + 1 >= layout.columns.len()).then_some((layout.format, why))
}

/// A reader of the lines of one of them.
#[derive(Debug)]
pub(crate) struct Columns {
    layout: &'static Layout,
    since: Since,
    begun: bool,
}

/// What the columns of a line say.
#[derive(Debug, Default)]
struct Record {
    device: u32,
    op: Option<Op>,
    offset: u64,
    bytes: u64,
    time: Nanos,
    duration: Option<Nanos>,
}

impl Columns {
    pub(crate) fn new(layout: &'static Layout) -> Columns {
        Columns { layout, since: Since::default(), begun: false }
    }

    pub(crate) fn line(&mut self, line: &[u8]) -> Result<Option<TraceIo>, Reason> {
        if line.is_empty() || line.starts_with(b"#") {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.begun, true) && self.layout.is_heading(line) {
            return Ok(None);
        }
        let mut record = Record::default();
        let mut rest = fields::Fields::new(line, b',');
        for (name, column) in self.layout.columns {
            record.take(name, *column, rest.next(name)?)?;
        }
        if !self.layout.has_more && rest.has_more() {
            return Err(Reason::Other(format!(
                "a line of {} has {} columns, and this has more",
                self.layout.format.title(),
                self.layout.columns.len()
            )));
        }
        let Record { device, op, offset, bytes, time, duration } = record;
        let Some(op) = op else { return Ok(None) };
        let io = fields::io(Nanos::ZERO, op, offset, bytes)?;
        // Only a record that is an I/O says when the trace began.
        let io = fields::at(Nanos(self.since.first(time.0)), io)?;
        Ok(Some(TraceIo { device, duration, ..io }))
    }
}

impl Record {
    fn take(&mut self, name: &'static str, column: Column, text: &[u8]) -> Result<(), Reason> {
        match column {
            Column::Device => {
                let number = fields::number(name, text)?;
                let below = |_| Reason::field(name, text, "a number below 2^32");
                self.device = u32::try_from(number).map_err(below)?;
            }
            Column::LetterOrNothing if text.is_empty() => {}
            Column::Letter | Column::LetterOrNothing => {
                self.op = Some(match text {
                    b"r" | b"R" => Op::Read,
                    b"w" | b"W" => Op::Write,
                    other => return Err(Reason::field(name, other, "R or W")),
                });
            }
            Column::Bit => {
                self.op = Some(match text {
                    b"0" => Op::Read,
                    b"1" => Op::Write,
                    other => return Err(Reason::field(name, other, "0 (read) or 1 (write)")),
                });
            }
            Column::OffsetBytes => self.offset = fields::number(name, text)?,
            Column::Bytes => self.bytes = fields::number(name, text)?,
            Column::OffsetSectors => {
                self.offset = fields::sectors(name, fields::number(name, text)?)?;
            }
            Column::Sectors => self.bytes = fields::sectors(name, fields::number(name, text)?)?,
            Column::Time(unit_ns) => self.time = fields::time(name, text, unit_ns)?,
            Column::Duration(_) if text.is_empty() => {}
            Column::Duration(unit_ns) => {
                self.duration = Some(fields::time(name, text, unit_ns)?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(layout: &'static Layout, text: &str) -> Result<Vec<TraceIo>, Reason> {
        let mut columns = Columns::new(layout);
        let lines = text.lines().map(|line| columns.line(line.as_bytes()));
        let mut ios: Vec<TraceIo> =
            lines.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        let first = ios.first().map_or(Nanos::ZERO, |io| io.at);
        ios.iter_mut().for_each(|io| io.at = io.at.since(first));
        Ok(ios)
    }

    fn io(at: u64, op: Op, [device, offset, bytes]: [u64; 3]) -> TraceIo {
        let io = fields::io(Nanos(at), op, offset, bytes).expect("it is possible");
        TraceIo { device: device as u32, ..io }
    }

    #[test]
    fn each_is_read_as_its_publisher_says() {
        // With further columns, which the SPC's format allows.
        let spc = read(&SPC, "0,303567,3584,w,0.000000\n1,55590,3072,R,0.026214,x,y\n");
        let expected = [
            io(0, Op::Write, [0, 303_567 * 512, 3584]),
            io(26_214_000, Op::Read, [1, 55_590 * 512, 3072]),
        ];
        assert_eq!(spc.expect("two records"), expected);
        let alibaba = "device_id,opcode,offset,length,timestamp\n\
                       419,W,8792731648,16384,1577808144360767\n\
                       725,R,4096,4096,1577808144360813\n";
        let expected = [
            io(0, Op::Write, [419, 8_792_731_648, 16_384]),
            io(46_000, Op::Read, [725, 4096, 4096]),
        ];
        assert_eq!(read(&ALIBABA, alibaba).expect("two records"), expected);
        let tencent = read(&TENCENT, "1538323200,12910952,128,0,1063\n1538323201,8,8,1,1064\n");
        let expected = [
            io(0, Op::Read, [1063, 12_910_952 * 512, 65_536]),
            io(1_000_000_000, Op::Write, [1064, 4096, 4096]),
        ];
        assert_eq!(tencent.expect("two records"), expected);
        let systor = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                      1456095145.133076000,0.000806000,R,0,899056122368,131072\n\
                      1456095145.133080000,,,0,0,0\n\
                      1456095145.134076000,,W,2,512,4096\n";
        let first = io(0, Op::Read, [0, 899_056_122_368, 131_072]);
        let expected = [
            TraceIo { duration: Some(Nanos(806_000)), ..first },
            io(1_000_000, Op::Write, [2, 512, 4096]),
        ];
        assert_eq!(read(&SYSTOR, systor).expect("two records, and one that is none"), expected);
    }

    #[test]
    fn a_line_is_of_one_of_them_or_of_none() {
        let of = |line: &str| -> Vec<Format> {
            let all = ALL.into_iter().filter(|layout| layout.begins(line.as_bytes()));
            all.map(Layout::format).collect()
        };
        assert_eq!(of("0,303567,3584,w,0.5"), [Format::Spc]);
        assert_eq!(of("7,W,4096,512,1577808000000046"), [Format::Alibaba]);
        assert_eq!(of("1538323200,12910952,128,0,1063"), [Format::Tencent]);
        assert_eq!(of("1.5,0.1,R,0,4096,512"), [Format::Systor]);
        for none in
            ["1538323200,12910952,128,2,1063", "7,W,4096,512", "7,W,4096,512,1,2", "a,b,c,d,e"]
        {
            assert_eq!(of(none), [], "{none}");
        }
    }

    #[test]
    fn of_what_is_near_to_one_it_is_said_what_keeps_it() {
        let why = |line: &str| {
            let (format, why) = nearest(line.as_bytes())?;
            Some((format, why.to_string()))
        };
        let (format, reason) = why("7,X,4096,512,1577808000000046").expect("near");
        assert_eq!((format, &*reason), (Format::Alibaba, "the opcode is \"X\", not R or W"));
        let (format, reason) = why("0,303567,3584,w,soon").expect("near");
        assert_eq!(format, Format::Spc);
        assert!(reason.contains("timestamp is \"soon\""), "{reason}");
        // An I/O of nothing has all columns of one, and is none.
        assert!(why("1538323200,8,0,1,1063").is_some_and(|(format, _)| format == Format::Tencent));
        for far in ["1,2,3", "a,b,c,d,e", "1,2,3,4,5,6,7", "x,y,R,z,0,0"] {
            assert_eq!(why(far), None, "{far}");
        }
    }
}
