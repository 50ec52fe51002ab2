//! A driver's descriptors as a request. Nothing that they say is believed: it is found out, or answered with an error.

use virtio_bindings::virtio_blk::{
    VIRTIO_BLK_S_IOERR, VIRTIO_BLK_S_UNSUPP, VIRTIO_BLK_T_DISCARD, VIRTIO_BLK_T_FLUSH,
    VIRTIO_BLK_T_GET_ID, VIRTIO_BLK_T_IN, VIRTIO_BLK_T_OUT, VIRTIO_BLK_T_WRITE_ZEROES,
    VIRTIO_BLK_WRITE_ZEROES_FLAG_UNMAP,
};
use virtio_queue::DescriptorChain;
use virtio_queue::desc::split::Descriptor;
use vm_memory::GuestAddress;

use super::device::{Device, MOST_SEGMENTS, SECTOR};
use super::memory::{Guest, Segment, gather, is_there};
use crate::nbd::{Command, MOST_PAYLOAD};

/// Bytes of a request's header: type, reserved, sector.
const HEADER: u32 = 16;

/// Bytes of a range to be discarded or zeroed: sector, sectors, flags.
const RANGE: u32 = 16;

/// Descriptors of a request at most; Linux takes two beside the data, others put header and data together.
const MOST_DESCRIPTORS: usize = MOST_SEGMENTS as usize + 2;

/// Descriptors with no place for an answer. Nothing can be said to such a driver, and its ring is of no use any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum BrokenChain {
    #[error("descriptors from {head} on do not end, or lead out of their table")]
    Endless { head: u16 },
    #[error("more than {MOST_DESCRIPTORS} descriptors from {head} on; seg_max is {MOST_SEGMENTS}")]
    TooMany { head: u16 },
    #[error("descriptors from {head} on have a part that is read behind one that is written")]
    Mixed { head: u16 },
    #[error("descriptors from {head} on have no byte of memory for the status")]
    NoStatus { head: u16 },
}

/// A request with a place for its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Chain {
    pub(super) head: u16,
    /// What the driver has written, header first.
    readable: Vec<Segment>,
    /// What it wants to read, without the status.
    pub(super) writable: Vec<Segment>,
    pub(super) status: GuestAddress,
}

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// Something of the drive; with the data of a write.
    Drive { command: Command, offset: u64, length: u64, data: Vec<u8> },
    /// Its name.
    Id,
}

/// A status other than OK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// A request that makes no sense, or not here.
    IoError,
    /// A request that is not known.
    Unsupported,
}

impl Refused {
    pub(super) fn status(self) -> u8 {
        match self {
            Refused::IoError => VIRTIO_BLK_S_IOERR as u8,
            Refused::Unsupported => VIRTIO_BLK_S_UNSUPP as u8,
        }
    }
}

impl Chain {
    /// The parts of a chain of descriptors.
    ///
    /// # Errors
    /// When it has no end, no order or no place for a status.
    pub(super) fn of(descriptors: DescriptorChain<&Guest>) -> Result<Chain, BrokenChain> {
        let (head, guest) = (descriptors.head_index(), descriptors.memory());
        let mut chain =
            Chain { head, readable: Vec::new(), writable: Vec::new(), status: GuestAddress(0) };
        let mut last: Option<Descriptor> = None;
        for (number, descriptor) in descriptors.clone().enumerate() {
            if number == MOST_DESCRIPTORS {
                return Err(BrokenChain::TooMany { head });
            }
            let segment = Segment { address: descriptor.addr(), bytes: descriptor.len() };
            match (descriptor.is_write_only(), segment.bytes) {
                (_, 0) => {}
                (true, _) => chain.writable.push(segment),
                (false, _) if !chain.writable.is_empty() => {
                    return Err(BrokenChain::Mixed { head });
                }
                (false, _) => chain.readable.push(segment),
            }
            last = Some(descriptor);
        }
        // A loop is left when there were as many descriptors as the table has, and then there is a next one.
        if last.is_none_or(|last| last.has_next()) {
            return Err(BrokenChain::Endless { head });
        }
        let no_status = BrokenChain::NoStatus { head };
        let status = chain.writable.last_mut().ok_or(no_status)?;
        status.bytes -= 1;
        let end = status.address.0.checked_add(u64::from(status.bytes)).ok_or(no_status)?;
        chain.status = GuestAddress(end);
        if status.bytes == 0 {
            chain.writable.pop();
        }
        match is_there(guest, &Segment { address: chain.status, bytes: 1 }) {
            true => Ok(chain),
            false => Err(no_status),
        }
    }

    /// What it asks of a device.
    ///
    /// # Errors
    /// The status that it is answered with instead.
    pub(super) fn asked(&self, guest: &Guest, device: &Device) -> Result<Asked, Refused> {
        let to_read =
            bytes(&self.readable).checked_sub(u64::from(HEADER)).ok_or(Refused::IoError)?;
        let to_write = bytes(&self.writable);
        if !self.readable.iter().chain(&self.writable).all(|segment| is_there(guest, segment)) {
            return Err(Refused::IoError);
        }
        let header = self.read(guest, 0, u64::from(HEADER))?;
        let kind = u32::from_le_bytes(first(&header));
        let sector = u64::from_le_bytes(first(&header[8..]));
        let gives = to_write > 0;
        let writes = |command, offset, length, data| match device.export.read_only || gives {
            true => Err(Refused::IoError),
            false => in_device(device, command, offset, length, data),
        };
        match kind {
            VIRTIO_BLK_T_IN => {
                let command = Command::Read { one_chunk: false };
                in_device(device, command, sector_bytes(sector)?, to_write, Vec::new())
            }
            VIRTIO_BLK_T_OUT if to_read > u64::from(MOST_PAYLOAD) => Err(Refused::IoError),
            VIRTIO_BLK_T_OUT => {
                let data = self.read(guest, HEADER.into(), to_read)?;
                writes(Command::Write { fua: false }, sector_bytes(sector)?, to_read, data)
            }
            VIRTIO_BLK_T_FLUSH => {
                let command = Command::Flush;
                Ok(Asked::Drive { command, offset: 0, length: 0, data: Vec::new() })
            }
            VIRTIO_BLK_T_GET_ID if gives => Ok(Asked::Id),
            VIRTIO_BLK_T_GET_ID => Err(Refused::IoError),
            VIRTIO_BLK_T_DISCARD if !device.trims() => Err(Refused::Unsupported),
            VIRTIO_BLK_T_DISCARD | VIRTIO_BLK_T_WRITE_ZEROES => {
                // One range at a time, as the configuration space says.
                if to_read != u64::from(RANGE) {
                    return Err(Refused::IoError);
                }
                let range = self.read(guest, HEADER.into(), to_read)?;
                let sectors = u64::from(u32::from_le_bytes(first(&range[8..])));
                let flags = u32::from_le_bytes(first(&range[12..]));
                let (unmap, discards) =
                    (VIRTIO_BLK_WRITE_ZEROES_FLAG_UNMAP, kind == VIRTIO_BLK_T_DISCARD);
                if flags & !unmap != 0 || (discards && flags != 0) {
                    return Err(Refused::Unsupported);
                }
                let length = sectors * SECTOR;
                if length > device.most_bytes(discards) {
                    return Err(Refused::IoError);
                }
                let no_hole = flags & unmap == 0;
                let command = match discards {
                    true => Command::Trim { fua: false },
                    false => Command::WriteZeroes { fua: false, no_hole, fast: false },
                };
                let offset = sector_bytes(u64::from_le_bytes(first(&range)))?;
                writes(command, offset, length, Vec::new())
            }
            _ => Err(Refused::Unsupported),
        }
    }

    /// What the driver has written, from a byte on.
    fn read(&self, guest: &Guest, from: u64, bytes: u64) -> Result<Vec<u8>, Refused> {
        gather(guest, &self.readable, from, bytes).map_err(|_| Refused::IoError)
    }
}

/// What is asked of a range, if the device has it.
fn in_device(
    device: &Device,
    command: Command,
    offset: u64,
    length: u64,
    data: Vec<u8>,
) -> Result<Asked, Refused> {
    let export = &device.export;
    let end = offset.checked_add(length).filter(|end| *end <= export.bytes);
    let is_whole = (offset | length) & u64::from(export.block_bytes - 1) == 0;
    let payload = matches!(command, Command::Read { .. }) && length > u64::from(MOST_PAYLOAD);
    match end.is_some() && is_whole && length > 0 && !payload {
        true => Ok(Asked::Drive { command, offset, length, data }),
        false => Err(Refused::IoError),
    }
}

fn bytes(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| u64::from(segment.bytes)).sum()
}

fn sector_bytes(sector: u64) -> Result<u64, Refused> {
    sector.checked_mul(SECTOR).ok_or(Refused::IoError)
}

/// The first bytes of as many or more; zeros where there are fewer.
fn first<const N: usize>(data: &[u8]) -> [u8; N] {
    data.first_chunk().copied().unwrap_or([0; N])
}
