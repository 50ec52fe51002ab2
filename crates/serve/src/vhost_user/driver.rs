//! The other side in this process: a front end of vhost-user and a driver of one virtqueue, in memory of its own. The way
//! to a virtual machine is measured with it, and tests ask with it what no driver would.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{Ordering, fence};

use fourcorners_drive::Nanos;
use rustix::fs::{MemfdFlags, memfd_create};
use vhost::vhost_user::message::VhostUserProtocolFeatures;
use vhost::vhost_user::{Frontend, VhostUserFrontend, VhostUserVirtioFeatures};
use vhost::{VhostBackend, VhostUserMemoryRegionInfo, VringConfigData};
use virtio_bindings::virtio_blk::VIRTIO_BLK_T_IN;
use virtio_queue::desc::RawDescriptor;
use virtio_queue::desc::split::Descriptor;
use vm_memory::{Bytes, FileOffset, GuestAddress, GuestRegionMmap, MmapRegion};
use vmm_sys_util::epoll::{ControlOperation, Epoll, EpollEvent, EventSet};
use vmm_sys_util::eventfd::{EFD_NONBLOCK, EventFd};

use super::memory::Guest;

/// Bytes of the memory.
pub(super) const MEMORY_BYTES: u64 = 4 << 20;

/// Entries of the virtqueue.
pub(super) const ENTRIES: u16 = 128;

/// Where the parts of the virtqueue are, and where memory for data begins.
pub(super) const DESCRIPTORS: u64 = 0x1000;
pub(super) const AVAILABLE: u64 = 0x2000;
pub(super) const USED: u64 = 0x3000;
pub(super) const DATA: u64 = 0x10000;

/// What the front end calls the address of the first byte.
const USER_ADDRESS: u64 = 1 << 40;

/// How long an answer is waited for.
const MOST_WAIT_MS: i32 = 10_000;

/// Descriptors as they are given to a device: where, how long, and whether it may write there.
pub(super) type Parts<'a> = &'a [(u64, u32, bool)];

/// A driver.
pub(crate) struct Driver {
    pub(super) frontend: Frontend,
    pub(super) guest: Guest,
    kick: EventFd,
    call: EventFd,
    /// Waits for `call`.
    calls: Epoll,
    /// Chains given to the device, and taken back from it.
    available: u16,
    used: u16,
}

fn other(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

impl Driver {
    /// A driver at this socket, ready to ask; the device takes `features` of those that it offers.
    ///
    /// # Errors
    /// When memory cannot be had, or the other side refuses.
    pub(crate) fn connect(stream: UnixStream, features: u64) -> io::Result<Driver> {
        let mut driver = Driver::unconnected(stream)?;
        driver.negotiate(features)?;
        driver.start(0)?;
        Ok(driver)
    }

    pub(super) fn unconnected(stream: UnixStream) -> io::Result<Driver> {
        let memory = File::from(memfd_create("driver", MemfdFlags::CLOEXEC)?);
        memory.set_len(MEMORY_BYTES)?;
        let mapped = MmapRegion::from_file(FileOffset::new(memory, 0), MEMORY_BYTES as usize);
        let region = GuestRegionMmap::new(mapped.map_err(other)?, GuestAddress(0));
        let region = region.ok_or_else(|| other("no memory"))?;
        let (call, calls) = (EventFd::new(EFD_NONBLOCK)?, Epoll::new()?);
        calls.ctl(ControlOperation::Add, call.as_raw_fd(), EpollEvent::new(EventSet::IN, 0))?;
        Ok(Driver {
            frontend: Frontend::from_stream(stream, 64),
            guest: Guest::from_regions(vec![region]).map_err(other)?,
            kick: EventFd::new(EFD_NONBLOCK)?,
            call,
            calls,
            available: 0,
            used: 0,
        })
    }

    /// Agrees on features, and shares the memory.
    pub(super) fn negotiate(&mut self, features: u64) -> io::Result<()> {
        let frontend = &mut self.frontend;
        frontend.set_owner().map_err(other)?;
        let offered = frontend.get_features().map_err(other)?;
        let protocol = VhostUserVirtioFeatures::PROTOCOL_FEATURES.bits();
        frontend.set_features(offered & features | protocol).map_err(other)?;
        let offered = frontend.get_protocol_features().map_err(other)?;
        let wanted = VhostUserProtocolFeatures::CONFIG | VhostUserProtocolFeatures::MQ;
        frontend.set_protocol_features(offered & wanted).map_err(other)?;
        let region = vm_memory::GuestMemoryBackend::find_region(&self.guest, GuestAddress(0));
        let file = region.and_then(vm_memory::GuestMemoryRegion::file_offset);
        let region = VhostUserMemoryRegionInfo {
            guest_phys_addr: 0,
            memory_size: MEMORY_BYTES,
            userspace_addr: USER_ADDRESS,
            mmap_offset: 0,
            mmap_handle: file.ok_or_else(|| other("no file"))?.file().as_raw_fd(),
        };
        self.frontend.set_mem_table(&[region]).map(|_| ()).map_err(other)
    }

    /// Sets up a queue, which is the one that this driver uses.
    pub(super) fn start(&mut self, queue: usize) -> io::Result<()> {
        let frontend = &mut self.frontend;
        frontend.set_vring_num(queue, ENTRIES).map_err(other)?;
        let addresses = VringConfigData {
            queue_max_size: ENTRIES,
            queue_size: ENTRIES,
            flags: 0,
            desc_table_addr: USER_ADDRESS + DESCRIPTORS,
            used_ring_addr: USER_ADDRESS + USED,
            avail_ring_addr: USER_ADDRESS + AVAILABLE,
            log_addr: None,
        };
        frontend.set_vring_addr(queue, &addresses).map_err(other)?;
        frontend.set_vring_base(queue, self.available).map_err(other)?;
        frontend.set_vring_call(queue, &self.call).map_err(other)?;
        frontend.set_vring_kick(queue, &self.kick).map_err(other)?;
        frontend.set_vring_enable(queue, true).map_err(other)
    }

    /// Writes descriptors from number `head` on, each followed by the next.
    pub(super) fn describe(&self, head: u16, parts: Parts<'_>) -> io::Result<()> {
        const NEXT: u16 = 1;
        const WRITE: u16 = 2;
        for (number, &(address, bytes, writes)) in (head..).zip(parts) {
            let is_last = usize::from(number - head) + 1 == parts.len();
            let flags = if is_last { 0 } else { NEXT } | if writes { WRITE } else { 0 };
            self.put_descriptor(number, Descriptor::new(address, bytes, flags, number + 1))?;
        }
        Ok(())
    }

    pub(super) fn put_descriptor(&self, number: u16, descriptor: Descriptor) -> io::Result<()> {
        let place = GuestAddress(DESCRIPTORS + 16 * u64::from(number));
        self.guest.write_obj(RawDescriptor::from(descriptor), place).map_err(other)
    }

    /// Gives the device the chain that begins with `head`, whatever that is.
    pub(super) fn give(&mut self, head: u16) -> io::Result<()> {
        let place = AVAILABLE + 4 + 2 * u64::from(self.available % ENTRIES);
        self.guest.write_obj(head.to_le(), GuestAddress(place)).map_err(other)?;
        self.available = self.available.wrapping_add(1);
        let index = GuestAddress(AVAILABLE + 2);
        self.guest.store(self.available.to_le(), index, Ordering::SeqCst).map_err(other)?;
        self.kick()
    }

    /// Says that something was given.
    pub(super) fn kick(&self) -> io::Result<()> {
        self.kick.write(1)
    }

    /// Waits for a chain to come back: its head, and how many bytes the device has written.
    pub(super) fn take(&mut self) -> io::Result<(u32, u32)> {
        // With EVENT_IDX the device only tells of what comes behind this; it may have come already.
        let event = GuestAddress(AVAILABLE + 4 + 2 * u64::from(ENTRIES));
        self.guest.store(self.used.to_le(), event, Ordering::SeqCst).map_err(other)?;
        fence(Ordering::SeqCst);
        while self.used_index()? == self.used {
            if self.calls.wait(MOST_WAIT_MS, &mut [EpollEvent::default()])? == 0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let _ = self.call.read();
        }
        let place = USED + 4 + 8 * u64::from(self.used % ENTRIES);
        self.used = self.used.wrapping_add(1);
        let [head, bytes]: [u32; 2] = self.guest.read_obj(GuestAddress(place)).map_err(other)?;
        Ok((head, bytes))
    }

    pub(super) fn used_index(&self) -> io::Result<u16> {
        let index = self.guest.load(GuestAddress(USED + 2), Ordering::SeqCst).map_err(other)?;
        Ok(u16::from_le(index))
    }

    /// Writes a request's header at the beginning of the data.
    pub(super) fn put_header(&self, kind: u32, sector: u64) -> io::Result<()> {
        let header = [u64::from(kind).to_le(), sector.to_le()];
        self.guest.write_obj(header, GuestAddress(DATA)).map_err(other)
    }

    /// Reads so many bytes, at most 1 MiB, into the data from 4 KiB on. How long that took by a clock.
    ///
    /// # Errors
    /// When it is not answered, or with an error.
    pub(crate) fn read(
        &mut self,
        sector: u64,
        bytes: u32,
        clock: fn() -> Nanos,
    ) -> io::Result<Nanos> {
        let status = DATA + 16;
        self.put_header(VIRTIO_BLK_T_IN, sector)?;
        self.describe(0, &[(DATA, 16, false), (DATA + 4096, bytes, true), (status, 1, true)])?;
        let began = clock();
        self.give(0)?;
        self.take()?;
        let took = clock().since(began);
        match self.guest.read_obj::<u8>(GuestAddress(status)).map_err(other)? {
            0 => Ok(took),
            status => Err(other(format!("status {status}"))),
        }
    }
}
