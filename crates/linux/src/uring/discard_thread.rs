//! TRIMs of a block device where io_uring has none, before Linux 6.12: `BLKDISCARD`, by a thread of
//! their own.
//!
//! That call returns when the device is done, so the loop cannot make it. The thread takes the ranges in
//! the order of their submission. What the ring has in flight under the tag is a read of the tag's
//! eventfd, which the thread writes when it is done: the completion is noticed, counted and timed as any
//! other's. The kernel does one `BLKDISCARD` of a device at a time (`blk_ioctl_discard` locks its page
//! cache, Linux 5.16), so more threads would have to wait there.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use fourcorners_drive::{FaultCause, Io, Tag};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use super::discard::discard;
use super::request::{Outcome, Request};

/// Where the thread says that a tag's range was discarded.
struct Event {
    /// Its count is 1 from then until the ring has read it.
    count: OwnedFd,
    /// What the device answered: 0, or an error number.
    errno: AtomicI32,
}

/// A range to discard.
struct Order {
    event: Arc<Event>,
    /// Its first byte and its length.
    range: [u64; 2],
}

/// The thread, once it was needed.
struct Running {
    /// Has room for every tag.
    line: SyncSender<Order>,
    thread: JoinHandle<()>,
}

/// Discards by a thread, which is made with the first of them.
pub(super) struct DiscardThread {
    running: Option<Running>,
    /// By tag.
    events: Vec<Option<Arc<Event>>>,
}

impl DiscardThread {
    /// For as many I/Os in flight.
    pub(super) fn new(queue_depth: u32) -> DiscardThread {
        DiscardThread { running: None, events: vec![None; queue_depth as usize] }
    }

    /// Begins to discard what `io` is about, on the block device `file`; returns the eventfd that tells
    /// of its end.
    ///
    /// # Errors
    /// When there are not as many files or threads to be had.
    pub(super) fn begin(&mut self, file: &File, tag: Tag, io: Io) -> Result<RawFd, Errno> {
        let running = match &mut self.running {
            Some(running) => running,
            none => none.insert(
                start(file, self.events.len())
                    .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NOMEM))?,
            ),
        };
        let event = match &mut self.events[tag.0 as usize] {
            Some(event) => event,
            none => none.insert(Arc::new(Event {
                count: eventfd(0, EventfdFlags::CLOEXEC)?,
                errno: AtomicI32::new(0),
            })),
        };
        let order = Order { event: Arc::clone(event), range: [io.lba.bytes(), io.bytes()] };
        match running.line.try_send(order) {
            Ok(()) => Ok(event.count.as_raw_fd()),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Err(Errno::BUSY),
        }
    }

    /// Takes in the ring's `result` of reading the eventfd of `tag`.
    #[cold]
    pub(super) fn answered(&mut self, tag: Tag, request: &mut Request, result: i32) -> Outcome {
        let event = &mut self.events[tag.0 as usize];
        if result < 0 {
            let outcome = request.answered(result, 1);
            if outcome != Outcome::Again {
                // Its count is not known: the next range gets another.
                *event = None;
            }
            return outcome;
        }
        match event.as_ref().map_or(0, |event| event.errno.load(Ordering::Acquire)) {
            0 => Outcome::Done,
            errno if errno == Errno::OPNOTSUPP.raw_os_error() => {
                Outcome::Failed(FaultCause::Unsupported)
            }
            errno => Outcome::Failed(FaultCause::Os { errno }),
        }
    }
}

impl Drop for DiscardThread {
    /// Waits for what was begun. Until then the thread has the device open.
    fn drop(&mut self) {
        if let Some(Running { line, thread }) = self.running.take() {
            drop(line);
            let _ = thread.join();
        }
    }
}

fn start(file: &File, depth: usize) -> io::Result<Running> {
    let file = file.try_clone()?;
    let (line, orders) = sync_channel(depth);
    let builder = std::thread::Builder::new().name("discard".into());
    Ok(Running { line, thread: builder.spawn(move || carry_out(&file, &orders))? })
}

fn carry_out(file: &File, orders: &Receiver<Order>) {
    for Order { event, range } in orders {
        let errno = loop {
            match discard(file, range) {
                Err(Errno::INTR) => {}
                result => break result.map_or_else(Errno::raw_os_error, |()| 0),
            }
        };
        event.errno.store(errno, Ordering::Release);
        // Its count was 0, so it neither waits nor fails.
        let _ = rustix::io::write(&event.count, &1u64.to_ne_bytes());
    }
}
