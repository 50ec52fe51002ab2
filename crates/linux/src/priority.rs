//! Which thread runs first when there are more than processors.

#![allow(unsafe_code)]

use std::io;

/// The lowest of the real-time priorities: before all that is not real-time, after all else that is.
const PRIORITY: libc::c_int = 1;

/// From now on this thread runs before all that is not real-time (`SCHED_FIFO`). What it starts does not.
///
/// The kernel still leaves others 5 % of each second (`sched_rt_runtime_us`).
///
/// # Errors
///
/// The kernel's: mostly that neither `CAP_SYS_NICE` nor `RLIMIT_RTPRIO` (`ulimit -r`) allows it.
pub fn make_realtime() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: the call reads `parameters`, which outlives it, and changes nothing of this process's memory.
    let set = unsafe {
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &parameters)
    };
    match set {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The policy of the thread that asks.
    fn policy() -> libc::c_int {
        // SAFETY: only reads.
        unsafe { libc::sched_getscheduler(0) }
    }

    #[test]
    fn realtime_is_for_one_thread_and_not_for_those_that_it_starts() {
        let outside = policy();
        let thread = std::thread::spawn(|| {
            make_realtime().map(|()| (policy(), std::thread::spawn(policy).join()))
        });
        match thread.join().expect("does not panic") {
            Ok((inside, started)) => {
                assert_eq!(inside, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK);
                assert_eq!(started.expect("does not panic"), libc::SCHED_OTHER);
            }
            // Not root, or in a container: refused, and nothing else.
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EPERM), "{error}"),
        }
        assert_eq!(policy(), outside);
    }
}
