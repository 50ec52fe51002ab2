//! What the messages of a virtual machine change. Their form was checked by `vhost` when they come here.

use std::fs::File;
use std::io;

use vhost::VhostUserMemoryRegionBase;
use vhost::vhost_user::message::{
    VhostTransferStateDirection, VhostTransferStatePhase, VhostUserConfigFlags, VhostUserInflight,
    VhostUserLog, VhostUserMemoryRegion, VhostUserProtocolFeatures, VhostUserShMemConfig,
    VhostUserSharedMsg, VhostUserSingleMemoryRegion, VhostUserVirtioFeatures,
    VhostUserVringAddrFlags, VhostUserVringState,
};
use vhost::vhost_user::{Error, GpuBackend, Result, VhostUserBackendReqHandlerMut};
use virtio_bindings::virtio_ring::VIRTIO_RING_F_EVENT_IDX;

use super::device::{Device, MOST_QUEUES};
use super::memory::SharedMemory;
use super::ring::Ring;

/// Bytes of the configuration space that may be asked for, in one message.
const MOST_CONFIG_BYTES: u32 = 256;

/// A device and what a virtual machine has told of itself.
pub(super) struct Backend {
    pub(super) device: Device,
    pub(super) memory: Option<SharedMemory>,
    pub(super) rings: Vec<Ring>,
}

/// Refuses a message, and says why.
fn refused<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::ReqHandlerError(io::Error::other(why.into())))
}

impl Backend {
    pub(super) fn new(device: Device) -> io::Result<Backend> {
        let rings: std::result::Result<Vec<Ring>, _> =
            (0..MOST_QUEUES).map(|_| Ring::new()).collect();
        Ok(Backend { device, memory: None, rings: rings.map_err(io::Error::other)? })
    }

    fn ring(&mut self, index: u32) -> Result<&mut Ring> {
        match self.rings.get_mut(index as usize) {
            Some(ring) => Ok(ring),
            None => refused(format!("there is no queue {index}: there are {MOST_QUEUES}")),
        }
    }

    fn memory(&self) -> Result<&SharedMemory> {
        match &self.memory {
            Some(memory) => Ok(memory),
            None => refused("a queue was set up before the memory that it is in"),
        }
    }

    fn stop(&mut self) {
        for ring in &mut self.rings {
            ring.stop();
            ring.enabled = false;
        }
    }
}

/// Why a message is refused that belongs to a feature which is not offered.
fn not_offered<T>() -> Result<T> {
    Err(Error::InvalidOperation("a feature that was not offered"))
}

impl VhostUserBackendReqHandlerMut for Backend {
    fn set_owner(&mut self) -> Result<()> {
        Ok(())
    }

    fn reset_owner(&mut self) -> Result<()> {
        self.stop();
        Ok(())
    }

    fn reset_device(&mut self) -> Result<()> {
        self.stop();
        Ok(())
    }

    fn get_features(&mut self) -> Result<u64> {
        Ok(self.device.features())
    }

    fn set_features(&mut self, features: u64) -> Result<()> {
        let unknown = features & !self.device.features();
        if unknown != 0 {
            return refused(format!("features {unknown:#x} were not offered"));
        }
        let has_protocol = features & VhostUserVirtioFeatures::PROTOCOL_FEATURES.bits() != 0;
        for ring in &mut self.rings {
            ring.set_event_idx(features & (1 << VIRTIO_RING_F_EVENT_IDX) != 0);
            // Otherwise each is enabled by a message of its own.
            ring.enabled |= !has_protocol;
        }
        Ok(())
    }

    fn set_mem_table(
        &mut self,
        regions: &[VhostUserMemoryRegion],
        files: Vec<File>,
        _: Option<bool>,
    ) -> Result<Option<Vec<VhostUserMemoryRegionBase>>> {
        let memory = SharedMemory::map(regions, files).map_err(Error::ReqHandlerError)?;
        if let Some(index) = self.rings.iter().position(|ring| !ring.fits(&memory.guest)) {
            return refused(format!("queue {index} runs and is not in the memory that is left"));
        }
        self.memory = Some(memory);
        Ok(None)
    }

    fn set_vring_num(&mut self, index: u32, entries: u32) -> Result<()> {
        match self.ring(index)?.set_size(entries) {
            Ok(()) => Ok(()),
            Err(error) => refused(format!("queue {index} of {entries} entries: {error}")),
        }
    }

    fn set_vring_addr(
        &mut self,
        index: u32,
        _: VhostUserVringAddrFlags,
        descriptors: u64,
        used: u64,
        available: u64,
        _: u64,
    ) -> Result<()> {
        self.ring(index)?;
        let memory = self.memory()?;
        let places = [descriptors, available, used].map(|address| memory.guest_address(address));
        let [Some(descriptors), Some(available), Some(used)] = places else {
            return refused(format!("queue {index} is outside of the memory"));
        };
        let guest = memory.guest.clone();
        match self.ring(index)?.set_addresses(&guest, [descriptors, available, used]) {
            Ok(()) => Ok(()),
            Err(error) => refused(format!("queue {index}: {error}")),
        }
    }

    fn set_vring_base(&mut self, index: u32, base: u32) -> Result<()> {
        match u16::try_from(base) {
            Ok(base) => self.ring(index)?.set_base(base),
            Err(_) => return refused(format!("queue {index} from {base} on: it has 16 bits")),
        }
        Ok(())
    }

    fn get_vring_base(&mut self, index: u32) -> Result<VhostUserVringState> {
        let base = self.ring(index)?.stop();
        Ok(VhostUserVringState::new(index, base.into()))
    }

    fn set_vring_kick(&mut self, index: u8, file: Option<File>) -> Result<()> {
        let Some(file) = file else {
            return refused(format!("queue {index} without a kick file: it is not polled for"));
        };
        let guest = self.memory()?.guest.clone();
        match self.ring(index.into())?.start(&guest, file).map_err(Error::ReqHandlerError)? {
            true => Ok(()),
            false => refused(format!("queue {index} is not all in the memory")),
        }
    }

    fn set_vring_call(&mut self, index: u8, file: Option<File>) -> Result<()> {
        self.ring(index.into())?.set_call(file).map_err(Error::ReqHandlerError)
    }

    fn set_vring_err(&mut self, index: u8, _: Option<File>) -> Result<()> {
        self.ring(index.into()).map(|_| ())
    }

    fn get_protocol_features(&mut self) -> Result<VhostUserProtocolFeatures> {
        Ok(VhostUserProtocolFeatures::CONFIG | VhostUserProtocolFeatures::MQ)
    }

    fn set_protocol_features(&mut self, _: u64) -> Result<()> {
        Ok(())
    }

    fn get_queue_num(&mut self) -> Result<u64> {
        Ok(MOST_QUEUES as u64)
    }

    fn set_vring_enable(&mut self, index: u32, enable: bool) -> Result<()> {
        self.ring(index)?.enabled = enable;
        Ok(())
    }

    fn get_config(&mut self, offset: u32, bytes: u32, _: VhostUserConfigFlags) -> Result<Vec<u8>> {
        match offset.checked_add(bytes).is_some_and(|end| end <= MOST_CONFIG_BYTES) {
            true => Ok(self.device.config(offset as usize, bytes as usize)),
            false => refused(format!("configuration of {bytes} bytes at {offset}")),
        }
    }

    fn set_config(&mut self, _: u32, _: &[u8], _: VhostUserConfigFlags) -> Result<()> {
        refused("nothing of the configuration can be changed")
    }

    fn set_gpu_socket(&mut self, _: GpuBackend) -> Result<()> {
        not_offered()
    }

    fn get_shared_object(&mut self, _: VhostUserSharedMsg) -> Result<File> {
        not_offered()
    }

    fn get_inflight_fd(&mut self, _: &VhostUserInflight) -> Result<(VhostUserInflight, File)> {
        not_offered()
    }

    fn set_inflight_fd(&mut self, _: &VhostUserInflight, _: File) -> Result<()> {
        not_offered()
    }

    fn get_max_mem_slots(&mut self) -> Result<u64> {
        not_offered()
    }

    fn add_mem_region(
        &mut self,
        _: &VhostUserSingleMemoryRegion,
        _: File,
        _: Option<bool>,
    ) -> Result<Option<VhostUserMemoryRegionBase>> {
        not_offered()
    }

    fn remove_mem_region(&mut self, _: &VhostUserSingleMemoryRegion) -> Result<()> {
        not_offered()
    }

    fn set_device_state_fd(
        &mut self,
        _: VhostTransferStateDirection,
        _: VhostTransferStatePhase,
        _: File,
    ) -> Result<Option<File>> {
        not_offered()
    }

    fn check_device_state(&mut self) -> Result<()> {
        not_offered()
    }

    fn get_shmem_config(&mut self) -> Result<VhostUserShMemConfig> {
        not_offered()
    }

    fn set_log_base(&mut self, _: &VhostUserLog, _: File) -> Result<()> {
        not_offered()
    }
}
