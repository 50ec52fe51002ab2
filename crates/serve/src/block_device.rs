//! A drive as a block device of this machine.

use fourcorners_linux::ublk::{UblkDevice, UblkError, UblkSettings};

use crate::client::MOST_DISCARD_BYTES;
use crate::nbd::{Export, MOST_PAYLOAD};

/// Requests at once of a device, whatever the drive takes: the kernel keeps the others.
const MOST_DEPTH: u32 = 256;

/// A block device of what clients are offered, which takes as many requests at once as the drive does.
///
/// # Errors
/// When the kernel has no ublk, or this is not root.
pub fn block_device(export: &Export, queue_depth: u32) -> Result<UblkDevice, UblkError> {
    UblkDevice::add(&settings(export, queue_depth))
}

pub(crate) fn settings(export: &Export, queue_depth: u32) -> UblkSettings {
    UblkSettings {
        bytes: export.bytes,
        block_bytes: export.block_bytes,
        read_only: export.read_only,
        rotational: export.rotational,
        most_discard_bytes: if export.trims { MOST_DISCARD_BYTES } else { 0 },
        depth: queue_depth.min(MOST_DEPTH) as u16,
        most_zero_bytes: u64::from(MOST_PAYLOAD),
    }
}
