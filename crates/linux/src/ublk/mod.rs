//! A block device of this machine whose requests are answered here: the kernel's driver ublk.
//!
//! A [`UblkDevice`] is added, started, served, stopped and removed. Requests come at [`UblkDevice::fds`] and are answered
//! under their tags, in any order; the driver copies data from and to memory of this process. All of it happens on the
//! thread that made it, and nothing waits but adding and removing: while a device starts or stops, the kernel reads and writes it.

#![allow(unsafe_code)]

mod abi;
mod control;
mod error;
mod queue;

use std::fs::{File, OpenOptions};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use abi::Parameters;
use control::Control;
pub use error::UblkError;
use queue::Queue;

/// Bytes of a read or write at most.
const MOST_BYTES: u32 = 512 << 10;

/// How long the file of a device that was added may take to come.
const MOST_WAIT: Duration = Duration::from_secs(5);

/// What a block device is like.
#[derive(Clone, Copy, Debug)]
pub struct UblkSettings {
    /// Its size.
    pub bytes: u64,
    /// Its smallest request, a power of two from 512 to 4096.
    pub block_bytes: u32,
    /// No writes.
    pub read_only: bool,
    /// It has moving parts.
    pub rotational: bool,
    /// Bytes of a discard at most; 0: it takes none.
    pub most_discard_bytes: u64,
    /// Requests at once, at most 4096.
    pub depth: u16,
    /// Bytes of zeroes at once at most.
    pub most_zero_bytes: u64,
}

/// What the kernel asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Data.
    Read,
    /// Takes data.
    Write {
        /// Answered when it is durable.
        fua: bool,
    },
    /// Makes durable what was answered.
    Flush,
    /// The range holds nothing of value.
    Discard,
    /// The range reads as zero.
    WriteZeroes {
        /// Answered when it is durable.
        fua: bool,
        /// The space has to stay taken.
        no_unmap: bool,
    },
}

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UblkRequest {
    /// Under which it is answered.
    pub tag: u16,
    /// What is asked.
    pub asked: Asked,
    /// First byte; 0 for a flush.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub bytes: u64,
}

/// How far a device is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Added,
    Starting,
    Live,
    Stopping,
    Stopped,
}

/// A block device of this machine. It is removed on drop.
pub struct UblkDevice {
    control: Control,
    /// None once it has stopped.
    queue: Option<Queue>,
    number: u32,
    stage: Stage,
    /// It is to be stopped once it has started.
    stops: bool,
}

impl UblkDevice {
    /// Adds a device; devices of ours whose servers were killed are removed.
    ///
    /// # Errors
    /// When the kernel has no ublk, this is not root, or the driver refuses.
    pub fn add(settings: &UblkSettings) -> Result<UblkDevice, UblkError> {
        let depth = settings.depth.clamp(1, abi::MOST_DEPTH);
        let mut control = Control::open()?;
        control.clean_up();
        let number = control.add(depth, MOST_BYTES)?;
        let mut device =
            UblkDevice { control, queue: None, number, stage: Stage::Added, stops: false };
        device.control.describe(number, parameters(settings))?;
        device.queue = Some(Queue::open(opened(number)?, depth, MOST_BYTES)?);
        Ok(device)
    }

    /// The file that programs open, which is there once the device has started.
    pub fn path(&self) -> PathBuf {
        format!("/dev/ublkb{}", self.number).into()
    }

    /// Begins to start it: requests come from now on.
    ///
    /// # Errors
    /// When the driver cannot be told.
    pub fn start(&mut self) -> Result<(), UblkError> {
        self.stage = Stage::Starting;
        self.control.begin_start(self.number)
    }

    /// Begins to take it away from whoever uses it. The kernel first writes what it has kept back, which is served as anything else.
    /// Nothing else happens to one that was stopped before.
    ///
    /// # Errors
    /// When the driver cannot be told.
    pub fn stop(&mut self) -> Result<(), UblkError> {
        match self.stage {
            Stage::Starting => self.stops = true,
            Stage::Live => {
                self.stage = Stage::Stopping;
                self.control.begin_stop(self.number)?;
            }
            Stage::Added => self.stage = Stage::Stopped,
            Stage::Stopping | Stage::Stopped => {}
        }
        Ok(())
    }

    /// Goes on with starting or stopping. Whether a step was done.
    ///
    /// # Errors
    /// When it could not be started or stopped.
    pub fn go_on(&mut self) -> Result<bool, UblkError> {
        let Some(ended) = self.control.ended() else { return Ok(false) };
        let starts = self.stage == Stage::Starting;
        self.stage = if starts { Stage::Live } else { Stage::Stopped };
        match ended {
            Ok(()) if starts && self.stops => self.stop().map(|()| true),
            Ok(()) => Ok(true),
            Err(errno) => {
                self.stage = Stage::Stopped;
                let doing = if starts { "start the device with" } else { "stop the device with" };
                Err(UblkError::os(doing, errno.into()))
            }
        }
    }

    /// Whether nobody can use it any more.
    pub fn is_stopped(&self) -> bool {
        self.stage == Stage::Stopped
    }

    /// What becomes readable when there is something to do: for requests, and for starting and stopping.
    pub fn fds(&self) -> [BorrowedFd<'_>; 2] {
        let control = self.control.fd();
        [self.queue.as_ref().map_or(control, Queue::fd), control]
    }

    /// Whether there are requests that were not taken.
    pub fn has_more(&mut self) -> bool {
        self.queue.as_mut().is_some_and(Queue::has_more)
    }

    /// The next request.
    pub fn request(&mut self) -> Option<UblkRequest> {
        self.queue.as_mut()?.next()
    }

    /// The data of a request that was not answered yet: of a write what is to be written, for a read what it is to be given.
    pub fn data(&mut self, request: &UblkRequest) -> &mut [u8] {
        let Some(queue) = &mut self.queue else { return &mut [] };
        let all = queue.data(request.tag);
        let bytes = all.len().min(request.bytes as usize);
        &mut all[..bytes]
    }

    /// Answers a request, at the next [`UblkDevice::send`].
    pub fn answer(&mut self, request: &UblkRequest, result: Result<(), Errno>) {
        if let Some(queue) = &mut self.queue {
            queue.answer(request.tag, result.map(|()| request.bytes as u32));
        }
    }

    /// Whether answers have not been sent yet.
    pub fn wants_send(&self) -> bool {
        self.queue.as_ref().is_some_and(Queue::wants_send)
    }

    /// Sends answers. Whether there were any.
    ///
    /// # Errors
    /// When the kernel does not take them.
    pub fn send(&mut self) -> Result<bool, UblkError> {
        let Some(queue) = &mut self.queue else { return Ok(false) };
        queue.send().map_err(|error| UblkError::os("answer", error))
    }
}

impl Drop for UblkDevice {
    fn drop(&mut self) {
        // The driver waits for the file of the queue before it lets go of the number.
        self.queue = None;
        let _ = self.control.remove(self.number);
    }
}

/// Opens the driver's side of a device; its file may still be on its way.
fn opened(number: u32) -> Result<File, UblkError> {
    let path = format!("/dev/ublkc{number}");
    let began = Instant::now();
    loop {
        match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => return Ok(file),
            Err(_) if began.elapsed() < MOST_WAIT => std::thread::sleep(Duration::from_millis(1)),
            Err(source) => return Err(UblkError::NoFile { path, source }),
        }
    }
}

fn parameters(settings: &UblkSettings) -> Parameters {
    let block = settings.block_bytes.clamp(512, 4096);
    // Blocks of 4 KiB are what a drive stores, however small those are that it takes.
    let (logical, physical) = (block.ilog2() as u8, 12);
    let on = |attribute: u32, on: bool| if on { attribute } else { 0 };
    let sectors = |bytes: u64| (bytes / abi::SECTOR) as u32;
    Parameters {
        has: abi::HAS_BASIC | on(abi::HAS_DISCARD, !settings.read_only),
        attributes: abi::ATTRIBUTE_VOLATILE_CACHE
            | abi::ATTRIBUTE_FUA
            | on(abi::ATTRIBUTE_READ_ONLY, settings.read_only)
            | on(abi::ATTRIBUTE_ROTATIONAL, settings.rotational),
        logical_block_shift: logical,
        physical_block_shift: physical,
        best_io_shift: physical,
        least_io_shift: logical,
        most_sectors: sectors(u64::from(MOST_BYTES)),
        sectors: settings.bytes / abi::SECTOR,
        discard_granularity: block,
        most_discard_sectors: sectors(settings.most_discard_bytes),
        most_zero_sectors: sectors(settings.most_zero_bytes),
        most_discard_segments: 1,
        ..Parameters::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SSD: UblkSettings = UblkSettings {
        bytes: 1 << 30,
        block_bytes: 512,
        read_only: false,
        rotational: false,
        most_discard_bytes: 2 << 30,
        depth: 32,
        most_zero_bytes: 32 << 20,
    };

    #[test]
    fn a_device_is_described_as_the_drive_is() {
        let writes = parameters(&SSD);
        assert_eq!(
            (writes.sectors, writes.logical_block_shift, writes.physical_block_shift),
            (2 << 20, 9, 12)
        );
        assert_eq!((writes.most_discard_sectors, writes.most_zero_sectors), (4 << 20, 64 << 10));
        assert_eq!(writes.attributes, 0b1100);
        let disk = parameters(&UblkSettings { rotational: true, most_discard_bytes: 0, ..SSD });
        assert_eq!((disk.most_discard_sectors, disk.attributes), (0, 0b1110));
        let reads = parameters(&UblkSettings { read_only: true, block_bytes: 4096, ..SSD });
        assert_eq!((reads.has, reads.attributes, reads.logical_block_shift), (1, 0b1101, 12));
    }

    #[test]
    fn without_the_driver_it_is_said_what_is_missing() {
        if std::path::Path::new("/dev/ublk-control").exists() {
            return;
        }
        let Err(error) = UblkDevice::add(&SSD) else { panic!("there is no driver") };
        assert!(error.to_string().contains("modprobe ublk_drv"), "{error}");
    }
}
