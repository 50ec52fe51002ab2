//! The driver's commands for whole devices, at `/dev/ublk-control`.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process};

use super::abi::{self, ControlCommand, DeviceInfo, Parameters};
use super::error::UblkError;

const PATH: &str = "/dev/ublk-control";

/// Of `server_flags`: the device is one of ours ("fc").
const OURS: u64 = 0x6663;

/// Devices whose numbers are looked at for what a killed server has left.
const MOST_DEVICES: u32 = 256;

/// How long the number of a device that was removed is waited for.
const MOST_WAIT: Duration = Duration::from_millis(500);

/// The driver.
pub(super) struct Control {
    ring: IoUring<squeue::Entry128, cqueue::Entry>,
    file: File,
}

impl Control {
    /// Opens the driver.
    pub(super) fn open() -> Result<Control, UblkError> {
        let file =
            OpenOptions::new().read(true).write(true).open(PATH).map_err(|error| {
                match error.kind() {
                    io::ErrorKind::NotFound => UblkError::Absent,
                    io::ErrorKind::PermissionDenied => UblkError::NotRoot,
                    _ => UblkError::os("open", error),
                }
            })?;
        let ring =
            IoUring::builder().build(8).map_err(|error| UblkError::os("make a ring for", error))?;
        Ok(Control { ring, file })
    }

    /// Adds a device with one queue: its number.
    pub(super) fn add(&mut self, depth: u16, most_bytes: u32) -> Result<u32, UblkError> {
        let mut info = DeviceInfo {
            queues: 1,
            depth,
            most_bytes,
            device: abi::ANY_DEVICE,
            server_pid: getpid().as_raw_nonzero().get(),
            server_flags: OURS,
            ..DeviceInfo::default()
        };
        self.with(abi::ADD_DEV, abi::ANY_DEVICE, &mut info)
            .map_err(|errno| match errno {
                Errno::PERM | Errno::ACCESS => UblkError::NotRoot,
                Errno::OPNOTSUPP | Errno::INVAL => UblkError::TooOld(errno.into()),
                errno => UblkError::os("add a device to", errno.into()),
            })
            .map(|()| info.device)
    }

    /// Says what a device is like that is not started.
    pub(super) fn describe(&mut self, device: u32, mut like: Parameters) -> Result<(), UblkError> {
        like.bytes = abi::PARAMETER_BYTES;
        self.with(abi::SET_PARAMS, device, &mut like)
            .map_err(|errno| UblkError::os("describe the device to", errno.into()))
    }

    /// Begins to start it: the driver waits until each tag has been asked for, and then reads what partitions it has.
    pub(super) fn begin_start(&mut self, device: u32) -> Result<(), UblkError> {
        let data = getpid().as_raw_nonzero().get() as u64;
        self.begin(abi::START_DEV, ControlCommand { data, ..command(device) })
            .map_err(|errno| UblkError::os("start the device with", errno.into()))
    }

    /// Begins to take it away from whoever uses it; what they wrote is asked for first.
    pub(super) fn begin_stop(&mut self, device: u32) -> Result<(), UblkError> {
        self.begin(abi::STOP_DEV, command(device))
            .map_err(|errno| UblkError::os("stop the device with", errno.into()))
    }

    /// How what was begun has ended, once it has.
    pub(super) fn ended(&mut self) -> Option<Result<(), Errno>> {
        let end = self.ring.completion().next()?;
        Some(outcome(end.result()))
    }

    /// What becomes readable when what was begun has ended.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the ring is open as long as it is borrowed.
        unsafe { BorrowedFd::borrow_raw(self.ring.as_raw_fd()) }
    }

    /// Removes a device that has stopped, or that nobody serves.
    pub(super) fn remove(&mut self, device: u32) -> Result<(), UblkError> {
        let removed = self.at_once(abi::DEL_DEV_ASYNC, command(device));
        let removed = match removed {
            // Before Linux 6.9.
            Err(Errno::OPNOTSUPP | Errno::INVAL) => self.at_once(abi::DEL_DEV, command(device)),
            Ok(()) => {
                self.await_removal(device);
                Ok(())
            }
            removed => removed,
        };
        removed.map_err(|errno| UblkError::os("remove the device from", errno.into()))
    }

    /// Waits a moment for the driver to let go of a device, so that its number is free. It does not while a program has it open.
    fn await_removal(&mut self, device: u32) {
        let began = Instant::now();
        let mut info = DeviceInfo::default();
        while self.with(abi::GET_DEV_INFO, device, &mut info).is_ok() && began.elapsed() < MOST_WAIT
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Removes what servers of ours have left that were killed.
    pub(super) fn clean_up(&mut self) {
        for device in 0..MOST_DEVICES {
            let mut info = DeviceInfo::default();
            let known = self.with(abi::GET_DEV_INFO, device, &mut info).is_ok();
            if known && info.server_flags == OURS && info.state == abi::DEAD && is_gone(info) {
                let _ = self.remove(device);
            }
        }
    }

    /// A command with a structure that the driver reads, writes, or both.
    fn with<T: Copy>(&mut self, number: u32, device: u32, it: &mut T) -> Result<(), Errno> {
        let (bytes, address) = (size_of::<T>() as u16, std::ptr::from_mut(it) as u64);
        // The structure outlives the command, which has ended when this returns.
        self.at_once(number, ControlCommand { bytes, address, ..command(device) })
    }

    fn at_once(&mut self, number: u32, command: ControlCommand) -> Result<(), Errno> {
        self.begin(number, command)?;
        loop {
            if let Some(ended) = self.ended() {
                return ended;
            }
            match self.ring.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
            }
        }
    }

    fn begin(&mut self, number: u32, command: ControlCommand) -> Result<(), Errno> {
        let fd = types::Fd(self.file.as_raw_fd());
        let entry = opcode::UringCmd80::new(fd, number).cmd(abi::control_bytes(command)).build();
        // SAFETY: the file is open as long as the ring is, and what a command points to lives until it has ended
        // (`with`); the others point to nothing.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| Errno::BUSY)?;
        self.ring.submit().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Ok(())
    }
}

/// Whether nobody serves it. The driver forgets who did once they have ended.
fn is_gone(info: DeviceInfo) -> bool {
    let pid = Some(info.server_pid).filter(|pid| *pid > 0).and_then(Pid::from_raw);
    pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

fn command(device: u32) -> ControlCommand {
    ControlCommand { device, queue: abi::NO_QUEUE, ..ControlCommand::default() }
}

fn outcome(result: i32) -> Result<(), Errno> {
    match result {
        0.. => Ok(()),
        failed => Err(Errno::from_raw_os_error(-failed)),
    }
}
