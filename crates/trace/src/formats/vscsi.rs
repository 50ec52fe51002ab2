//! VMware's vSCSI trace, version 1: 32 bytes a command, little-endian: serial number, length in
//! bytes, scatter-gather entries (u32 each), operation code, version (u16), sector, microseconds (u64).

use fourcorners_drive::{Nanos, Op};

use super::Since;
use crate::error::{Bad, Place, Reason};
use crate::fields::{self, sectors};
use crate::input::Input;
use crate::io::TraceIo;

const RECORD: usize = 32;
/// What stands in the field of the version.
const VERSION: u16 = 0x0100;
const MICRO_NS: u64 = 1000;

/// Whether a trace of this format begins like this: two records of the version, or one and the end.
pub(crate) fn begins(head: &[u8]) -> bool {
    let mut records = head.chunks(RECORD).take(2).peekable();
    records.peek().is_some()
        && records.all(|record| {
            record.len() == RECORD
                && read_u16(record, 14) == VERSION
                && read_u16(record, 12) <= 0xff
        })
}

fn read_u16(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

pub(crate) struct Vscsi {
    input: Input,
    since: Since,
    ended: bool,
}

impl Vscsi {
    pub(crate) fn new(input: Input) -> Vscsi {
        Vscsi { input, since: Since::default(), ended: false }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<Result<TraceIo, Bad>> {
        while !self.ended {
            let place = Place::Byte(self.input.offset());
            let head = match self.input.look(RECORD) {
                Ok(head) => head,
                Err(error) => return Some(Err(Bad::io(place, error))),
            };
            let Some(record) = head.first_chunk::<RECORD>().copied() else {
                let found = head.len();
                self.ended = true;
                let reason = Reason::Truncated { expected: RECORD, found };
                return (found > 0).then_some(Err(Bad { place, reason, goes_on: true }));
            };
            self.input.pass(RECORD);
            match self.io(&record) {
                Ok(Some(io)) => return Some(Ok(io)),
                Ok(None) => {}
                Err(reason) => return Some(Err(Bad { place, reason, goes_on: true })),
            }
        }
        None
    }

    #[inline]
    fn io(&mut self, record: &[u8; RECORD]) -> Result<Option<TraceIo>, Reason> {
        let version = read_u16(record, 14);
        if version != VERSION {
            return Err(Reason::Other(format!(
                "a record of version {version:#06x}, not of version 1 ({VERSION:#06x})"
            )));
        }
        let long =
            |at: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| record[at + byte]));
        // SCSI block commands: 6, 10, 12 and 16 bytes long.
        let op = match read_u16(record, 12) {
            0x08 | 0x28 | 0xa8 | 0x88 => Op::Read,
            0x0a | 0x2a | 0xaa | 0x8a => Op::Write,
            0x35 | 0x91 => Op::Flush,
            // Anything else (inquiries, reservations) moves no data of the medium.
            _ => return Ok(None),
        };
        let bytes = u32::from_le_bytes([4, 5, 6, 7].map(|byte| record[byte]));
        let offset = sectors("sector", long(16))?;
        let io = fields::io(Nanos::ZERO, op, offset, u64::from(bytes))?;
        // Only a record that is an I/O says when the trace began.
        let at = self.since.first(long(24)).saturating_mul(MICRO_NS);
        fields::at(Nanos(at), io).map(Some)
    }
}
