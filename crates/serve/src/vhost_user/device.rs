//! The virtio block device that a virtual machine finds: section 5.2 of the virtio specification.

use vhost::vhost_user::message::VhostUserVirtioFeatures;
use virtio_bindings::virtio_blk::{
    VIRTIO_BLK_F_BLK_SIZE, VIRTIO_BLK_F_DISCARD, VIRTIO_BLK_F_FLUSH, VIRTIO_BLK_F_MQ,
    VIRTIO_BLK_F_RO, VIRTIO_BLK_F_SEG_MAX, VIRTIO_BLK_F_SIZE_MAX, VIRTIO_BLK_F_TOPOLOGY,
    VIRTIO_BLK_F_WRITE_ZEROES, VIRTIO_BLK_ID_BYTES,
};
use virtio_bindings::virtio_config::VIRTIO_F_VERSION_1;
use virtio_bindings::virtio_ring::{VIRTIO_RING_F_EVENT_IDX, VIRTIO_RING_F_INDIRECT_DESC};

use crate::client::MOST_DISCARD_BYTES;
use crate::nbd::{Export, MOST_PAYLOAD};

/// Bytes of a sector of the protocol, whatever the drive's blocks are.
pub(super) const SECTOR: u64 = 512;

/// Virtqueues at most; a machine takes one for each of its processors.
pub(super) const MOST_QUEUES: usize = 64;

/// Entries of a virtqueue at most.
pub(super) const MOST_ENTRIES: u16 = 1024;

/// Segments of data of a request at most. With header and status it fits queues of 128, QEMU's own size.
pub(super) const MOST_SEGMENTS: u32 = 126;

/// Bytes of a segment at most: so many of these are no more than may be read or written at once.
const MOST_SEGMENT_BYTES: u32 = 256 << 10;

const _: () = assert!(MOST_SEGMENTS * MOST_SEGMENT_BYTES <= MOST_PAYLOAD);

/// Bytes of the configuration space that are of this device; what is behind them reads as zero.
const CONFIG_BYTES: usize = 60;

/// Rotating or not, any drive is one of these.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) export: Export,
}

impl Device {
    pub(super) fn new(export: &Export) -> Device {
        Device { export: export.clone() }
    }

    /// The feature bits that are offered.
    pub(super) fn features(&self) -> u64 {
        let always = [
            VIRTIO_F_VERSION_1,
            VIRTIO_RING_F_INDIRECT_DESC,
            VIRTIO_RING_F_EVENT_IDX,
            VIRTIO_BLK_F_SIZE_MAX,
            VIRTIO_BLK_F_SEG_MAX,
            VIRTIO_BLK_F_BLK_SIZE,
            VIRTIO_BLK_F_TOPOLOGY,
            VIRTIO_BLK_F_FLUSH,
            VIRTIO_BLK_F_MQ,
        ];
        let writes = (!self.export.read_only).then_some(VIRTIO_BLK_F_WRITE_ZEROES);
        let trims = self.trims().then_some(VIRTIO_BLK_F_DISCARD);
        let read_only = self.export.read_only.then_some(VIRTIO_BLK_F_RO);
        let bits = always.into_iter().chain(writes).chain(trims).chain(read_only);
        bits.fold(VhostUserVirtioFeatures::PROTOCOL_FEATURES.bits(), |all, bit| all | 1 << bit)
    }

    /// Whether it takes discards.
    pub(super) fn trims(&self) -> bool {
        self.export.trims && !self.export.read_only
    }

    /// Bytes of the longest discard, or of the longest zeroes.
    pub(super) fn most_bytes(&self, discard: bool) -> u64 {
        if discard { MOST_DISCARD_BYTES } else { u64::from(MOST_PAYLOAD) }
    }

    /// A part of the configuration space (`struct virtio_blk_config`).
    pub(super) fn config(&self, offset: usize, bytes: usize) -> Vec<u8> {
        let mut config = Vec::with_capacity(offset + bytes);
        let export = &self.export;
        // Blocks of 4 KiB are what a drive stores, however small those are that it takes.
        let physical_block_exp = (4096 / export.block_bytes).max(1).ilog2() as u8;
        config.extend_from_slice(&(export.bytes / SECTOR).to_le_bytes());
        config.extend_from_slice(&MOST_SEGMENT_BYTES.to_le_bytes());
        config.extend_from_slice(&MOST_SEGMENTS.to_le_bytes());
        // Cylinders, heads and sectors, which are not offered.
        config.extend_from_slice(&[0; 4]);
        config.extend_from_slice(&export.block_bytes.to_le_bytes());
        config.extend_from_slice(&[physical_block_exp, 0]);
        // The smallest and the best I/O, in blocks.
        config.extend_from_slice(&(1u16 << physical_block_exp).to_le_bytes());
        config.extend_from_slice(&0u32.to_le_bytes());
        // The mode of the cache, which is not offered, and a byte that is not used.
        config.extend_from_slice(&[0; 2]);
        config.extend_from_slice(&(MOST_QUEUES as u16).to_le_bytes());
        let block_sectors = export.block_bytes / SECTOR as u32;
        let most = |discard| (self.most_bytes(discard) / SECTOR) as u32;
        for number in [most(true), 1, block_sectors, most(false), 1] {
            config.extend_from_slice(&number.to_le_bytes());
        }
        config.extend_from_slice(&[u8::from(self.trims()), 0, 0, 0]);
        debug_assert_eq!(config.len(), CONFIG_BYTES);
        config.resize(CONFIG_BYTES.max(offset + bytes), 0);
        config[offset..offset + bytes].to_vec()
    }

    /// What is answered to who asks for its name: text, filled with zeros.
    pub(super) fn id(&self) -> [u8; VIRTIO_BLK_ID_BYTES as usize] {
        let mut id = [0; VIRTIO_BLK_ID_BYTES as usize];
        for (to, from) in id.iter_mut().zip(self.export.name.bytes()) {
            *to = from;
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(read_only: bool, trims: bool, block_bytes: u32) -> Device {
        let export = Export {
            name: "crucial-m4-256gb-and-more".into(),
            description: String::new(),
            bytes: 1 << 30,
            block_bytes,
            read_only,
            trims,
            rotational: false,
        };
        Device::new(&export)
    }

    fn number(config: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(config[at..at + 4].try_into().expect("four bytes"))
    }

    #[test]
    fn the_configuration_space_has_the_drives_numbers_where_the_specification_has_them() {
        let config = device(false, true, 512).config(0, 96);
        assert_eq!(config.len(), 96);
        assert_eq!(config[..8], (2u64 << 20).to_le_bytes());
        assert_eq!([8, 12, 20].map(|at| number(&config, at)), [256 << 10, 126, 512]);
        assert_eq!(config[24..28], [3, 0, 8, 0], "4 KiB are stored");
        assert_eq!(config[34..36], [64, 0]);
        let limits = [36, 40, 44, 48, 52].map(|at| number(&config, at));
        assert_eq!(limits, [4 << 20, 1, 1, 64 << 10, 1]);
        assert_eq!(config[56], 1, "zeroes may unmap");
        let of_4k = device(false, false, 4096).config(0, 60);
        assert_eq!([number(&of_4k, 20), number(&of_4k, 44)], [4096, 8]);
        assert_eq!((of_4k[24], of_4k[56]), (0, 0));
        assert_eq!(device(false, true, 512).config(20, 4), 512u32.to_le_bytes());
    }

    #[test]
    fn a_feature_is_offered_where_the_drive_has_it() {
        let has = |device: Device, bit: u32| device.features() & (1 << bit) != 0;
        for (read_only, trims, expected) in [
            (false, true, [false, true, true]),
            (false, false, [false, false, true]),
            (true, true, [true, false, false]),
        ] {
            let bits = [VIRTIO_BLK_F_RO, VIRTIO_BLK_F_DISCARD, VIRTIO_BLK_F_WRITE_ZEROES];
            let found = bits.map(|bit| has(device(read_only, trims, 512), bit));
            assert_eq!(found, expected);
        }
        assert!(has(device(true, true, 512), VIRTIO_BLK_F_FLUSH));
    }

    #[test]
    fn the_name_is_twenty_bytes() {
        assert_eq!(&device(false, true, 512).id(), b"crucial-m4-256gb-and");
    }
}
