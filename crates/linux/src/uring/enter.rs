//! Into the kernel and back: giving it what is queued, and waiting for what is done.

use std::time::Duration;

use fourcorners_drive::Nanos;
use io_uring::EnterFlags;
use io_uring::types::{SubmitArgs, Timespec};
use rustix::io::Errno;

use super::Uring;
use super::alarm::{Alarm, FAR};
use super::clock::clock;
use super::setup::Modes;
use super::wait::Wait;

/// When this many I/Os are queued after a wait, they go to the kernel before more completions are handed
/// out; then when twice as many are, and so on.
///
/// Refilling a whole batch at once leaves a disk without work meanwhile, and each call takes CPU time. With the
/// first it has work again, so the next may be longer in coming. On a file with `O_DIRECT` at queue depth 32 random
/// reads took 2.34, 2.14 and 2.01 us of CPU time an I/O in steps of 2, of 4, and of 1, 2, 4 and so on, and
/// random writes 2.22, 1.87 and 1.84 us, at rates within 3 % (medians of 7, virtio disk, Linux 6.18). A target that
/// answers at once, such as the page cache, has nothing to wait for: there a whole batch is one call.
pub(super) const FIRST_REFILL: u32 = 1;

/// The last of a batch, and a batch no longer than this, go to the kernel by the call that waits for more,
/// which comes as soon. On a loop device batches are that short, and each call is a tenth of an I/O's CPU time.
const REFILL_LAST: usize = 4;

/// A target that we wait for longer than this for each I/O in flight is not busy with the processor's work but with
/// its own. There a call costs little beside what is waited for, and what is handed to it together ends together,
/// round after round: each then waits for the others to be handed out, too.
const OWN_TIME: Nanos = Nanos(10_000);

/// How long to wait before asking again when the kernel had no memory to take an I/O and nothing
/// in flight whose end could free some.
const BACK_OFF: Duration = Duration::from_micros(100);

/// Longest wait in one piece beside a thread of the kernel.
const LONGEST_STEP: Nanos = Nanos(100_000_000);

/// Waits longer than this, 146 years, have no time limit.
const FOR_EVER: Nanos = Nanos(u64::MAX / 4);

/// One way into the kernel, to wait.
struct Step {
    wait: Wait,
    /// When it began, and how long it is to be asleep at most, if it has a limit.
    began: Nanos,
    asleep: Nanos,
    /// Whether it looks at the clock, because something is due too soon to sleep.
    looks: bool,
}

impl Step {
    const UNLIMITED: Step =
        Step { wait: Wait::For(Nanos::MAX), began: Nanos::ZERO, asleep: Nanos::ZERO, looks: false };
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
        self.refill_at = FIRST_REFILL;
        if self.noticed == 0 {
            return false;
        }
        self.now.set(clock());
        true
    }

    /// Gives the kernel what is queued, if that is to be before the next completion is handed out.
    #[inline]
    pub(super) fn refill(&mut self) {
        let in_batches = self.noticed >= REFILL_LAST || self.takes_its_time;
        if self.queued >= self.refill_at && in_batches && !self.at_once {
            // If it fails, the call that waits will meet the failure again.
            let _ = self.enter(Wait::Never);
            self.refill_at *= 2;
        }
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
            let answers = self.ring.completion().len();
            self.note_answers(answers);
            return true;
        }
        // A thread of the kernel and a polled device are asked in ways of their own.
        let began = (self.asked == Modes::default()).then(clock);
        let flying = self.flying;
        if let Some(began) = began
            && let Some(time) = self.brief.look_for(flying, began)
            && until.since(began) > time
            && self.look_for(time, began)
        {
            self.note_wait(flying, Some(began));
            return true;
        }
        loop {
            let step = self.next_step(until);
            let result = self.enter(step.wait);
            if self.notice() {
                self.note_wait(flying, began);
                return true;
            }
            match result {
                Err(Errno::TIME) => {
                    self.waking.woke(step.began.saturating_add(step.asleep), clock());
                }
                Ok(()) if step.looks => self.waking.looked(clock().since(step.began)),
                Ok(()) | Err(Errno::INTR) => {}
                // No memory for the I/O. What is in flight will free some.
                Err(Errno::AGAIN | Errno::BUSY | Errno::NOMEM) if self.flying > self.queued => {
                    let left = until.since(clock());
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

    /// Gives the kernel what is queued and looks for a completion, from `began` on for so long.
    fn look_for(&mut self, time: Nanos, began: Nanos) -> bool {
        // If it fails, the call that waits will meet the failure again.
        if self.queued > 0 && self.enter(Wait::Never).is_err() {
            return false;
        }
        let submitted = clock();
        let mut in_vain = submitted;
        loop {
            if self.ring.submission().taskrun() {
                let _ = self.enter_with(0, Wait::No);
            }
            let found = self.notice();
            let now = if found { self.now.get() } else { clock() };
            if found || now.since(began) > time {
                self.waking.looked(now.since(began));
                // To submit and to fetch what was found are no looking: they would have to be anyway.
                self.brief.looked(self.flying, in_vain.since(submitted));
                return found;
            }
            in_vain = now;
            std::hint::spin_loop();
        }
    }

    /// Completions were noticed after a wait, which began then with so many in flight.
    #[inline]
    fn note_wait(&mut self, flying: u32, began: Option<Nanos>) {
        if let Some(began) = began {
            let waited = self.now.get() - began;
            self.takes_its_time = waited.0 > OWN_TIME.0 * u64::from(flying);
            self.brief.waited(flying, waited);
        }
        self.note_answers(self.noticed);
    }

    /// A target that has answered all it was given before we were back, without taking time of its own, has no
    /// work to run out of.
    #[inline]
    fn note_answers(&mut self, answers: usize) {
        self.at_once = answers == self.flying as usize && !self.takes_its_time;
    }

    /// How to wait next for what comes no later than `until`.
    #[inline]
    fn next_step(&mut self, until: Nanos) -> Step {
        if self.is_woken_by(until) {
            return Step::UNLIMITED;
        }
        let began = clock();
        let left = until.since(began);
        if left >= FAR && self.set_alarm(until) {
            return Step::UNLIMITED;
        }
        let asleep = self.waking.asleep(left);
        // A polled ring does not look at the clock while it waits.
        let wait = match asleep == Nanos::ZERO || self.asked.polled {
            true => Wait::No,
            false => Wait::For(asleep),
        };
        Step { wait, began, asleep, looks: asleep == Nanos::ZERO && left > Nanos::ZERO }
    }

    pub(super) fn enter(&mut self, wait: Wait) -> Result<(), Errno> {
        self.enter_with(self.queued_entries(), wait)
    }

    /// `io_uring_enter`: submits up to `submit` of the queued entries and waits as told.
    pub(super) fn enter_with(&mut self, submit: u32, wait: Wait) -> Result<(), Errno> {
        if self.asked.submission_thread.is_some() {
            return self.wake_and_wait(wait);
        }
        self.buffers.number();
        let (want, mut flags) = match wait {
            Wait::Never => (0, EnterFlags::empty()),
            Wait::No => (0, EnterFlags::GETEVENTS),
            Wait::For(_) => (1, EnterFlags::GETEVENTS),
        };
        let limit;
        let mut arguments = None;
        if let Wait::For(time) = wait
            && time < FOR_EVER
        {
            flags |= EnterFlags::EXT_ARG;
            limit =
                Timespec::new().sec(time.0 / 1_000_000_000).nsec((time.0 % 1_000_000_000) as u32);
            arguments = Some(SubmitArgs::new().timespec(&limit));
        }
        // SAFETY: the arguments and the time limit live until the call returns, and EXT_ARG is
        // the flag that goes with them.
        let result =
            unsafe { self.ring.submitter().enter(submit, want, flags.bits(), arguments.as_ref()) };
        match result {
            Ok(submitted) => {
                self.taken(submitted as u32);
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

    /// Whether a wait without a limit ends at `until` or before: it does not have to, or an alarm sees
    /// to it.
    #[inline]
    fn is_woken_by(&self, until: Nanos) -> bool {
        self.alarm.as_ref().is_some_and(|alarm| until == Nanos::MAX || alarm.is_set_for(until))
    }

    /// Queues an alarm, unless one is set or there is no room for it.
    fn set_alarm(&mut self, at: Nanos) -> bool {
        let Some(alarm) = &mut self.alarm else { return false };
        alarm.set(at, &mut self.ring.submission(), self.queued)
    }

    /// How many entries are queued.
    #[inline]
    fn queued_entries(&self) -> u32 {
        self.queued + u32::from(self.alarm.as_ref().is_some_and(Alarm::is_queued))
    }

    /// The kernel took so many of them.
    #[inline]
    fn taken(&mut self, entries: u32) {
        let ios = self.alarm.as_mut().map_or(entries, |alarm| alarm.ios_of(entries));
        self.queued -= ios.min(self.queued);
    }

    /// Whether a completion is that of the alarm, which is not set any more then.
    #[inline]
    pub(super) fn rang(&mut self, user_data: u64, result: i32) -> bool {
        let its = Alarm::is_its(user_data);
        if its {
            self.alarm = self.alarm.take().and_then(|alarm| alarm.answered(result));
        }
        its
    }
}
