//! A virtqueue, with the file by which the driver says that something is in it, and the one by which it is told.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use virtio_queue::{DescriptorChain, Error, Queue, QueueOwnedT, QueueT};
use vm_memory::GuestAddress;

use super::device::MOST_ENTRIES;
use super::memory::Guest;

/// A ring. It runs from when it has a kick file until its base is asked for, while it is enabled.
#[derive(Debug)]
pub(super) struct Ring {
    queue: Queue,
    kick: Option<File>,
    call: Option<File>,
    pub(super) enabled: bool,
    /// The driver will say when it has put something in.
    awaits_kick: bool,
    /// The driver has to be told that something was answered.
    answered: bool,
}

impl Ring {
    pub(super) fn new() -> Result<Ring, Error> {
        Ok(Ring {
            queue: Queue::new(MOST_ENTRIES)?,
            kick: None,
            call: None,
            enabled: false,
            awaits_kick: false,
            answered: false,
        })
    }

    pub(super) fn set_size(&mut self, entries: u32) -> Result<(), Error> {
        self.queue.try_set_size(u16::try_from(entries).map_err(|_| Error::InvalidSize)?)
    }

    /// Where its parts are, as the guest addresses them. What the driver has been answered so far is in memory.
    pub(super) fn set_addresses(
        &mut self,
        guest: &Guest,
        [descriptors, available, used]: [GuestAddress; 3],
    ) -> Result<(), Error> {
        self.queue.try_set_desc_table_address(descriptors)?;
        self.queue.try_set_avail_ring_address(available)?;
        self.queue.try_set_used_ring_address(used)?;
        let next = self.queue.used_idx(guest, Ordering::Acquire)?;
        self.queue.set_next_used(next.0);
        Ok(())
    }

    pub(super) fn set_base(&mut self, base: u16) {
        self.queue.set_next_avail(base);
    }

    pub(super) fn set_event_idx(&mut self, on: bool) {
        self.queue.set_event_idx(on);
    }

    /// It runs from here on. Whether all of it is in memory.
    pub(super) fn start(&mut self, guest: &Guest, kick: File) -> io::Result<bool> {
        self.kick = Some(prepared(kick)?);
        self.queue.set_ready(true);
        self.awaits_kick = false;
        let is_valid = self.queue.is_valid(guest);
        self.queue.set_ready(is_valid);
        Ok(is_valid)
    }

    pub(super) fn set_call(&mut self, call: Option<File>) -> io::Result<()> {
        self.call = call.map(prepared).transpose()?;
        Ok(())
    }

    /// It no longer runs. From where on it would go on.
    pub(super) fn stop(&mut self) -> u16 {
        self.kick = None;
        self.call = None;
        self.queue.set_ready(false);
        self.answered = false;
        self.queue.next_avail()
    }

    pub(super) fn is_running(&self) -> bool {
        self.enabled && self.kick.is_some() && self.queue.ready()
    }

    /// Whether all of it is still in memory, which is another now.
    pub(super) fn fits(&self, guest: &Guest) -> bool {
        !self.queue.ready() || self.queue.is_valid(guest)
    }

    /// What the driver writes to, if it runs.
    pub(super) fn kick(&self) -> Option<BorrowedFd<'_>> {
        self.kick.as_ref().filter(|_| self.is_running()).map(AsFd::as_fd)
    }

    /// The driver has put something in; it may be here already.
    pub(super) fn kicked(&mut self) {
        if let Some(kick) = &self.kick {
            let mut count = [0; 8];
            let _ = rustix::io::read(kick, &mut count);
        }
        self.awaits_kick = false;
    }

    /// What the driver has put in next.
    ///
    /// # Errors
    /// When the ring says what cannot be.
    pub(super) fn pop<'a>(
        &mut self,
        guest: &'a Guest,
    ) -> Result<Option<DescriptorChain<&'a Guest>>, Error> {
        if !self.is_running() {
            return Ok(None);
        }
        loop {
            // Looked at before: what the driver puts in meanwhile is found the next time.
            let available = self.queue.avail_idx(guest, Ordering::Acquire)?.0;
            if let Some(chain) = self.queue.iter(guest)?.next() {
                self.awaits_kick = false;
                return Ok(Some(chain));
            }
            if self.queue.next_avail() != available {
                return Err(Error::InvalidAvailRingIndex);
            }
            if self.awaits_kick {
                return Ok(None);
            }
            self.awaits_kick = true;
            if !self.queue.enable_notification(guest)? {
                return Ok(None);
            }
        }
    }

    /// Gives descriptors back, of which the device has written so many bytes.
    ///
    /// # Errors
    /// When the ring is not in memory.
    pub(super) fn put_used(&mut self, guest: &Guest, head: u16, bytes: u32) -> Result<(), Error> {
        self.answered = true;
        self.queue.add_used(guest, head, bytes)
    }

    /// Whether the driver is to be told of answers.
    pub(super) fn wants_call(&self) -> bool {
        self.answered
    }

    /// Tells the driver of answers, if it wants to be told.
    ///
    /// # Errors
    /// When the ring is not in memory.
    pub(super) fn call(&mut self, guest: &Guest) -> Result<(), Error> {
        if std::mem::take(&mut self.answered)
            && self.queue.needs_notification(guest)?
            && let Some(call) = &self.call
        {
            // A counter that is full has told it already.
            let _ = rustix::io::write(call, &1u64.to_ne_bytes());
        }
        Ok(())
    }
}

/// Reads and writes of this file return at once.
fn prepared(file: File) -> Result<File, Errno> {
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags | OFlags::NONBLOCK)?;
    Ok(file)
}
