//! Locks that others have on a target, and ours.
//!
//! The kernel takes the files of a killed program away a moment after it has gone, tens of
//! milliseconds later where it had a ring. So a lock whose holder is not known to live is waited for.

use std::fs::File;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{Flock, FlockType, fcntl_getlk, test_kill_process};

/// How long what is in use is waited for, unless its user is known to live.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(10);

/// Tries again as long as it is worth it: what `attempt` gave last.
pub(super) fn patiently<T, E>(
    mut attempt: impl FnMut() -> Result<T, E>,
    worth_it: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(error) if worth_it(&error) && began.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE);
            }
            outcome => return outcome,
        }
    }
}

/// Who has locked what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Holder {
    /// A process of this number, which lives.
    Process(i32),
    /// Somebody: who has a lock with an open file, or is in another name space, has no number.
    Unnamed,
}

impl Holder {
    /// `process 123 has locked it`.
    pub(super) fn words(&self) -> String {
        match self {
            Holder::Process(number) => format!("process {number} has locked it"),
            Holder::Unnamed => "another program has locked it".into(),
        }
    }
}

/// Finds no lock on any byte of it, be it of a running virtual machine, which locks the image or
/// device it uses (QEMU docs/devel/ "image locking": shared locks on bytes from 100).
///
/// # Errors
/// Who has one.
pub(super) fn unlocked(file: &File) -> Result<(), Holder> {
    let held = || match fcntl_getlk(file, &Flock::from(FlockType::WriteLock)) {
        Ok(Some(lock)) => {
            // A lock of an open file has process -1.
            let process = lock.pid.filter(|pid| pid.as_raw_nonzero().get() > 0);
            let lives = |pid: &_| test_kill_process(*pid) != Err(Errno::SRCH);
            Err(process
                .filter(lives)
                .map_or(Holder::Unnamed, |pid| Holder::Process(pid.as_raw_nonzero().get())))
        }
        // A file system without locks has nobody who holds one.
        Ok(None) | Err(_) => Ok(()),
    };
    patiently(held, |holder| *holder == Holder::Unnamed)
}

/// Whether others may hold the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Share {
    /// Nobody.
    No,
    /// Who writes another part of it.
    OtherParts,
}

/// Locks a file until it is closed, so that a second run keeps off.
///
/// # Errors
/// Somebody has a lock.
pub(super) fn lock(file: &File, share: Share) -> Result<(), Holder> {
    let how = match share {
        Share::No => FlockOperation::NonBlockingLockExclusive,
        Share::OtherParts => FlockOperation::NonBlockingLockShared,
    };
    // A file system without locks has nobody who holds one.
    let attempt = || match flock(file, how) {
        Err(Errno::WOULDBLOCK) => Err(Holder::Unnamed),
        _ => Ok(()),
    };
    patiently(attempt, |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_after_a_while_is_waited_for_and_what_stays_is_not_for_ever() {
        let mut tries = 0;
        let third = patiently(
            || {
                tries += 1;
                if tries < 3 { Err("busy") } else { Ok(tries) }
            },
            |_| true,
        );
        assert_eq!(third, Ok(3));
        let began = Instant::now();
        assert_eq!(patiently(|| Err::<(), _>("busy"), |_| false), Err("busy"));
        assert!(began.elapsed() < PATIENCE);
        assert_eq!(patiently(|| Err::<(), _>("busy"), |_| true), Err("busy"));
        assert!(began.elapsed() >= PATIENCE);
    }

    #[test]
    fn a_file_is_locked_by_one_and_its_parts_by_several() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let open = || File::open(file.path()).expect("it is there");
        let (one, two, three) = (open(), open(), open());
        lock(&one, Share::OtherParts).expect("it is free");
        lock(&two, Share::OtherParts).expect("others have other parts");
        assert_eq!(lock(&three, Share::No), Err(Holder::Unnamed));
        drop((one, two));
        assert_eq!(lock(&three, Share::No), Ok(()));
    }
}
