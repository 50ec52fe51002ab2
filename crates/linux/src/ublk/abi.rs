//! The driver's structures and numbers (include/uapi/linux/ublk_cmd.h), as Linux has them since 6.4: commands by the
//! numbers of ioctls.

use std::mem::size_of;

/// Bytes of a sector of the driver, whatever the device's blocks are.
pub(super) const SECTOR: u64 = 512;

/// Commands at once of a queue, at most.
pub(super) const MOST_DEPTH: u16 = 4096;

/// No queue is meant.
pub(super) const NO_QUEUE: u16 = u16::MAX;

/// The number of a device that the driver is to choose.
pub(super) const ANY_DEVICE: u32 = u32::MAX;

const READS: u32 = 2;
const READS_AND_WRITES: u32 = 3;

/// The number of an ioctl of this driver: direction, bytes of its argument, number.
const fn ioctl(direction: u32, bytes: usize, number: u32) -> u32 {
    direction << 30 | (bytes as u32) << 16 | (b'u' as u32) << 8 | number
}

const fn control(direction: u32, number: u32) -> u32 {
    ioctl(direction, size_of::<ControlCommand>(), number)
}

pub(super) const GET_DEV_INFO: u32 = control(READS, 0x02);
pub(super) const ADD_DEV: u32 = control(READS_AND_WRITES, 0x04);
pub(super) const DEL_DEV: u32 = control(READS_AND_WRITES, 0x05);
pub(super) const START_DEV: u32 = control(READS_AND_WRITES, 0x06);
pub(super) const STOP_DEV: u32 = control(READS_AND_WRITES, 0x07);
pub(super) const SET_PARAMS: u32 = control(READS_AND_WRITES, 0x08);
/// The same as [`DEL_DEV`], not waiting for whoever still has the device open (Linux 6.9).
pub(super) const DEL_DEV_ASYNC: u32 = control(READS, 0x14);

pub(super) const FETCH: u32 = ioctl(READS_AND_WRITES, size_of::<IoCommand>(), 0x20);
pub(super) const COMMIT_AND_FETCH: u32 = ioctl(READS_AND_WRITES, size_of::<IoCommand>(), 0x21);

/// `UBLK_S_DEV_DEAD`.
pub(super) const DEAD: u16 = 0;

/// `struct ublksrv_ctrl_cmd`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct ControlCommand {
    pub(super) device: u32,
    pub(super) queue: u16,
    /// Bytes at `address`.
    pub(super) bytes: u16,
    pub(super) address: u64,
    pub(super) data: u64,
    pub(super) path_bytes: u16,
    pub(super) unused: u16,
    pub(super) reserved: u32,
}

/// `struct ublksrv_ctrl_dev_info`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct DeviceInfo {
    pub(super) queues: u16,
    pub(super) depth: u16,
    pub(super) state: u16,
    pub(super) unused: u16,
    pub(super) most_bytes: u32,
    pub(super) device: u32,
    pub(super) server_pid: i32,
    pub(super) unused_too: u32,
    pub(super) flags: u64,
    /// For servers: the driver only keeps it.
    pub(super) server_flags: u64,
    pub(super) owner: [u32; 2],
    pub(super) reserved: [u64; 2],
}

pub(super) const ATTRIBUTE_READ_ONLY: u32 = 1;
pub(super) const ATTRIBUTE_ROTATIONAL: u32 = 1 << 1;
pub(super) const ATTRIBUTE_VOLATILE_CACHE: u32 = 1 << 2;
pub(super) const ATTRIBUTE_FUA: u32 = 1 << 3;

pub(super) const HAS_BASIC: u32 = 1;
pub(super) const HAS_DISCARD: u32 = 1 << 1;

/// `struct ublk_params`, as far as it is used.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Parameters {
    /// Of all this.
    pub(super) bytes: u32,
    pub(super) has: u32,
    pub(super) attributes: u32,
    pub(super) logical_block_shift: u8,
    pub(super) physical_block_shift: u8,
    pub(super) best_io_shift: u8,
    pub(super) least_io_shift: u8,
    pub(super) most_sectors: u32,
    pub(super) chunk_sectors: u32,
    pub(super) sectors: u64,
    pub(super) virtual_boundary_mask: u64,
    pub(super) discard_alignment: u32,
    pub(super) discard_granularity: u32,
    pub(super) most_discard_sectors: u32,
    pub(super) most_zero_sectors: u32,
    pub(super) most_discard_segments: u16,
    pub(super) unused: u16,
}

/// What the driver has of [`Parameters`]; the structure is rounded up to whole u64.
pub(super) const PARAMETER_BYTES: u32 = 60;

/// `struct ublksrv_io_desc`: a request, as the driver writes it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Descriptor {
    /// The operation in the lowest eight bits, flags above.
    pub(super) operation: u32,
    pub(super) sectors: u32,
    pub(super) start_sector: u64,
    pub(super) address: u64,
}

pub(super) const READ: u32 = 0;
pub(super) const WRITE: u32 = 1;
pub(super) const FLUSH: u32 = 2;
pub(super) const DISCARD: u32 = 3;
pub(super) const WRITE_ZEROES: u32 = 5;

pub(super) const FLAG_FUA: u32 = 1 << 13;
pub(super) const FLAG_NO_UNMAP: u32 = 1 << 15;

/// `struct ublksrv_io_cmd`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct IoCommand {
    pub(super) queue: u16,
    pub(super) tag: u16,
    pub(super) result: i32,
    /// Where the data of the tag's requests are.
    pub(super) address: u64,
}

const _: () = assert!(size_of::<ControlCommand>() == 32, "the layout that the kernel has");
const _: () = assert!(size_of::<DeviceInfo>() == 64, "the layout that the kernel has");
const _: () = assert!(size_of::<Parameters>() == 64, "60 bytes, and padding");
const _: () = assert!(size_of::<Descriptor>() == 24, "the layout that the kernel has");
const _: () = assert!(size_of::<IoCommand>() == 16, "the layout that the kernel has");

/// A command as bytes of an entry.
pub(super) fn control_bytes(command: ControlCommand) -> [u8; 80] {
    let ControlCommand { device, queue, bytes, address, data, path_bytes, unused, reserved } =
        command;
    let mut all = [0; 80];
    all[..4].copy_from_slice(&device.to_ne_bytes());
    all[4..6].copy_from_slice(&queue.to_ne_bytes());
    all[6..8].copy_from_slice(&bytes.to_ne_bytes());
    all[8..16].copy_from_slice(&address.to_ne_bytes());
    all[16..24].copy_from_slice(&data.to_ne_bytes());
    all[24..26].copy_from_slice(&path_bytes.to_ne_bytes());
    all[26..28].copy_from_slice(&unused.to_ne_bytes());
    all[28..32].copy_from_slice(&reserved.to_ne_bytes());
    all
}

/// The same of a command of a queue.
pub(super) fn io_bytes(command: IoCommand) -> [u8; 16] {
    let IoCommand { queue, tag, result, address } = command;
    let mut all = [0; 16];
    all[..2].copy_from_slice(&queue.to_ne_bytes());
    all[2..4].copy_from_slice(&tag.to_ne_bytes());
    all[4..8].copy_from_slice(&result.to_ne_bytes());
    all[8..].copy_from_slice(&address.to_ne_bytes());
    all
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn commands_have_the_numbers_of_the_kernels_ioctls() {
        // _IOWR('u', 0x04, struct ublksrv_ctrl_cmd), _IOWR('u', 0x20, struct ublksrv_io_cmd), as a C compiler has them.
        assert_eq!([ADD_DEV, FETCH], [0xc020_7504, 0xc010_7520]);
        assert_eq!([GET_DEV_INFO, DEL_DEV_ASYNC], [0x8020_7502, 0x8020_7514]);
    }

    #[test]
    fn fields_are_where_the_kernel_has_them() {
        let info = [offset_of!(DeviceInfo, device), offset_of!(DeviceInfo, server_flags)];
        assert_eq!(info, [12, 32]);
        let parameters = [
            offset_of!(Parameters, sectors),
            offset_of!(Parameters, discard_alignment),
            offset_of!(Parameters, most_discard_segments),
        ];
        assert_eq!(parameters, [24, 40, 56]);
        let command =
            ControlCommand { device: 7, queue: NO_QUEUE, bytes: 64, ..Default::default() };
        assert_eq!(control_bytes(command)[..8], [7, 0, 0, 0, 255, 255, 64, 0]);
        let io = IoCommand { queue: 0, tag: 3, result: -5, address: 1 };
        assert_eq!(io_bytes(io)[..8], [0, 0, 3, 0, 251, 255, 255, 255]);
    }
}
