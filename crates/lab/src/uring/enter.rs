//! Into the kernel and back: giving it what is queued, and waiting for what is done.

use std::time::Duration;

use fourcorners_drive::Nanos;
use io_uring::EnterFlags;
use io_uring::types::{SubmitArgs, Timespec};
use rustix::io::Errno;

use super::Uring;
use super::clock::clock;

/// How long to wait before asking again when the kernel had no memory to take an I/O and nothing
/// in flight whose end could free some.
const BACK_OFF: Duration = Duration::from_micros(100);

/// Longest wait in one piece beside a thread of the kernel.
const LONGEST_STEP: Nanos = Nanos(100_000_000);

/// Waits longer than this, 146 years, have no time limit.
const FOR_EVER: Nanos = Nanos(u64::MAX / 4);

/// How long `io_uring_enter` waits for a completion.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    /// Submits only, and leaves completions where they are.
    Never,
    /// Lets completions in that are there already.
    No,
    /// Until one is there, at most this long.
    For(Nanos),
}

impl Uring {
    /// Starts a batch of the completions in the queue, if there are any.
    ///
    /// The clock is read after the queue, so that no completion is given a time before it
    /// happened. One reading serves the whole batch: the I/Os submitted while it is handed out
    /// count from when their slots were seen to be free, so that what we take to refill the queue
    /// is in their latency and never left out.
    #[inline]
    pub(super) fn notice(&mut self) -> bool {
        self.noticed = self.ring.completion().len();
        if self.noticed == 0 {
            return false;
        }
        self.now.set(clock());
        true
    }

    /// Gives the kernel what is queued and waits for a completion, no later than `until`.
    ///
    /// Completions that are there already are taken as they are. On kernels that deliver them at
    /// any time there may always be some, so what is queued must not wait for their end.
    pub(super) fn wait(&mut self, until: Nanos) -> bool {
        if self.notice() {
            if self.queued > 0 {
                let _ = self.enter(Wait::Never);
            }
            return true;
        }
        loop {
            let began = clock();
            let left = until.since(began);
            let asleep = self.waking.asleep(left);
            // A polled ring does not look at the clock while it waits.
            let wait = match asleep == Nanos::ZERO || self.asked.polled {
                true => Wait::No,
                false => Wait::For(asleep),
            };
            let result = self.enter(wait);
            if self.notice() {
                return true;
            }
            match result {
                Err(Errno::TIME) => self.waking.woke(began.saturating_add(asleep), clock()),
                Ok(()) if asleep == Nanos::ZERO && left > Nanos::ZERO => {
                    self.waking.looked(clock().since(began));
                }
                Ok(()) | Err(Errno::INTR) => {}
                // No memory for the I/O. What is in flight will free some.
                Err(Errno::AGAIN | Errno::BUSY | Errno::NOMEM) if self.flying > self.queued => {
                    let _ = self.enter_with(0, Wait::For(left.min(Nanos(1_000_000))));
                }
                Err(Errno::AGAIN | Errno::BUSY | Errno::NOMEM) => std::thread::sleep(BACK_OFF),
                Err(errno) => {
                    self.broken = Some(errno.raw_os_error());
                    return false;
                }
            }
            if until != Nanos::MAX {
                let now = clock();
                if now >= until {
                    self.now.set(now);
                    return false;
                }
            }
        }
    }

    pub(super) fn enter(&mut self, wait: Wait) -> Result<(), Errno> {
        self.enter_with(self.queued, wait)
    }

    /// `io_uring_enter`: submits up to `submit` of the queued and waits as told.
    pub(super) fn enter_with(&mut self, submit: u32, wait: Wait) -> Result<(), Errno> {
        if self.asked.submission_thread.is_some() {
            return self.wake_and_wait(wait);
        }
        self.buffers.number();
        let limit;
        let mut arguments = SubmitArgs::new();
        let (want, mut flags) = match wait {
            Wait::Never => (0, EnterFlags::empty()),
            Wait::No => (0, EnterFlags::GETEVENTS),
            Wait::For(_) => (1, EnterFlags::GETEVENTS),
        };
        flags |= EnterFlags::EXT_ARG;
        if let Wait::For(time) = wait
            && time < FOR_EVER
        {
            limit =
                Timespec::new().sec(time.0 / 1_000_000_000).nsec((time.0 % 1_000_000_000) as u32);
            arguments = SubmitArgs::new().timespec(&limit);
        }
        // SAFETY: the arguments and the time limit live until the call returns, and EXT_ARG is
        // the flag that goes with them.
        let result =
            unsafe { self.ring.submitter().enter(submit, want, flags.bits(), Some(&arguments)) };
        match result {
            Ok(submitted) => {
                self.queued -= (submitted as u32).min(self.queued);
                Ok(())
            }
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }

    /// The same where a thread of the kernel submits: it takes what is queued by itself, unless it
    /// sleeps.
    fn wake_and_wait(&mut self, wait: Wait) -> Result<(), Errno> {
        self.queued = 0;
        let mut flags = EnterFlags::EXT_ARG;
        if self.ring.submission().need_wakeup() {
            flags |= EnterFlags::SQ_WAKEUP;
        } else if matches!(wait, Wait::Never) {
            return Ok(());
        }
        let limit;
        let mut arguments = SubmitArgs::new();
        let want = match wait {
            Wait::Never => 0,
            Wait::No => {
                flags |= EnterFlags::GETEVENTS;
                0
            }
            Wait::For(time) => {
                flags |= EnterFlags::GETEVENTS;
                // In steps, so that a thread that fell asleep meanwhile is woken.
                let time = time.min(LONGEST_STEP);
                limit = Timespec::new().sec(0).nsec(time.0 as u32);
                arguments = SubmitArgs::new().timespec(&limit);
                1
            }
        };
        // SAFETY: as in `enter_with`.
        let result =
            unsafe { self.ring.submitter().enter(0, want, flags.bits(), Some(&arguments)) };
        result.map(|_| ()).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}
