//! A time at which the ring itself ends our waiting.
//!
//! A time limit on a wait is a timer that the kernel sets and takes back for every one of them, and a
//! job waits some hundred thousand times a second only to look up every tenth of one. So a time that is
//! far is given to the ring as an entry of its own (`IORING_OP_TIMEOUT`), once, and the waits before it
//! have no limit. It may ring before a later time that was asked for meanwhile; then it is set anew.

use fourcorners_drive::Nanos;
use io_uring::opcode;
use io_uring::squeue::{self, SubmissionQueue};
use io_uring::types::{TimeoutFlags, Timespec};
use rustix::io::Errno;

/// Nearer times are waited for with a limit: an I/O that is due has to be so to the microsecond.
pub(super) const FAR: Nanos = Nanos(10_000_000);

/// What its completion is known by. No tag is that large.
const USER_DATA: u64 = u64::MAX;

/// An alarm, set or not.
pub(super) struct Alarm {
    /// When it rings; `None` if it is not set.
    at: Option<Nanos>,
    /// What the kernel reads when it takes the entry, wherever the drive has moved by then.
    time: Box<Timespec>,
    /// How many I/Os are queued in front of its entry, while that is queued.
    behind: Option<u32>,
}

impl Alarm {
    pub(super) fn new() -> Alarm {
        Alarm { at: None, time: Box::new(Timespec::new()), behind: None }
    }

    /// Whether a wait without a limit ends at `until` or before.
    #[inline]
    pub(super) fn is_set_for(&self, until: Nanos) -> bool {
        self.at.is_some_and(|rings| rings <= until)
    }

    /// Queues its entry behind so many I/Os, unless it is set or there is no room.
    #[cold]
    pub(super) fn set(&mut self, at: Nanos, line: &mut SubmissionQueue<'_>, behind: u32) -> bool {
        if self.at.is_some() || line.is_full() {
            return false;
        }
        let entry = self.entry(at, behind);
        // SAFETY: the time that the entry points to stays where it is as long as the ring is entered, and
        // is written to only when no alarm is set.
        unsafe { line.push(&entry) }.is_ok()
    }

    /// Its entry, to be queued behind so many I/Os.
    fn entry(&mut self, at: Nanos, behind: u32) -> squeue::Entry {
        (self.at, self.behind) = (Some(at), Some(behind));
        *self.time = Timespec::new().sec(at.0 / 1_000_000_000).nsec((at.0 % 1_000_000_000) as u32);
        let entry = opcode::Timeout::new(&raw const *self.time).flags(TimeoutFlags::ABS);
        entry.build().user_data(USER_DATA)
    }

    /// Whether its entry is queued and not with the kernel yet.
    #[inline]
    pub(super) fn is_queued(&self) -> bool {
        self.behind.is_some()
    }

    /// The kernel took so many entries; how many of them were I/Os.
    #[inline]
    pub(super) fn ios_of(&mut self, taken: u32) -> u32 {
        match &mut self.behind {
            None => taken,
            Some(ahead) if taken > *ahead => {
                self.behind = None;
                taken - 1
            }
            Some(ahead) => {
                *ahead -= taken;
                taken
            }
        }
    }

    /// Whether a completion is an alarm's.
    #[inline]
    pub(super) fn is_its(user_data: u64) -> bool {
        user_data == USER_DATA
    }

    /// What is left of it when it is answered: it is not set any more. A kernel that refuses it would do so for ever.
    #[inline]
    pub(super) fn answered(mut self, result: i32) -> Option<Alarm> {
        self.at = None;
        (result == -Errno::TIME.raw_os_error()).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_queued_beside_an_alarm_is_counted_without_it() {
        for (ahead, taken, ios) in [(0, 1, 0), (3, 2, 2), (3, 3, 3), (3, 4, 3), (3, 7, 6)] {
            let mut alarm = Alarm::new();
            let _entry = alarm.entry(Nanos(5), ahead);
            assert_eq!(alarm.ios_of(taken), ios);
            assert_eq!(alarm.behind.is_none(), taken > ahead);
            // One by one it comes to the same.
            let mut alarm = Alarm::new();
            let _entry = alarm.entry(Nanos(5), ahead);
            assert_eq!((0..taken).map(|_| alarm.ios_of(1)).sum::<u32>(), ios);
        }
    }
}
