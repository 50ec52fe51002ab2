//! Making the ring: the best one that this kernel has.

use std::io;

use io_uring::IoUring;

use super::error::UringError;

/// `IORING_MAX_ENTRIES` in the kernel's io_uring/io_uring.h.
pub(super) const MAX_QUEUE_DEPTH: u32 = 32768;

/// What a real drive is set up for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Most I/Os in flight, 1 to 32768. Each has a read buffer of the largest block.
    pub queue_depth: u32,
    /// Largest block that will be read or written; longer I/Os are refused with EINVAL. A TRIM
    /// may be of any length.
    pub max_block_bytes: u32,
}

/// Ways to run a ring that are not the best in general and are asked for by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modes {
    /// Ask the device for completions instead of waiting for its interrupt (`IORING_SETUP_IOPOLL`,
    /// fio's `hipri`). It takes a driver with queues for that, and reads and writes are all that
    /// such a ring does.
    pub polled: bool,
    /// A thread of the kernel fetches what is submitted (`IORING_SETUP_SQPOLL`, fio's
    /// `sqthread_poll`).
    pub submission_thread: Option<SubmissionThread>,
}

/// The kernel's thread that fetches submissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SubmissionThread {
    /// The CPU it stays on; any if none is named.
    pub cpu: Option<u32>,
}

/// After so long without work the kernel's thread sleeps until it is woken, milliseconds. fio's.
const THREAD_IDLE_MS: u32 = 1000;

/// What the kernel granted, for reports: without some of it the same I/Os cost more CPU time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Granted {
    /// Completions are delivered only while we wait for them (`IORING_SETUP_DEFER_TASKRUN`,
    /// Linux 6.1).
    pub deferred_completions: bool,
    /// The read buffers are registered (Linux 5.19, and `RLIMIT_MEMLOCK`).
    pub registered_reads: bool,
    /// The buffers written from are registered.
    pub registered_writes: bool,
    /// The file was opened with `O_DIRECT`: I/O bypasses the page cache.
    pub direct: bool,
}

/// How completions get from the interrupt into the completion queue, best first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Completions {
    /// While we wait for them and at no other time (Linux 6.1): no interrupt of our own code, and
    /// one thread only may use the ring.
    Deferred,
    /// At our next system call (Linux 5.19): no inter-processor interrupt.
    Cooperative,
    /// Whenever they come, by interrupting us.
    Interrupting,
}

/// What is tried, in this order.
pub(super) const BEST_FIRST: [Completions; 3] =
    [Completions::Deferred, Completions::Cooperative, Completions::Interrupting];

/// A ring for `queue_depth` I/Os in flight, by the first of `modes` that the kernel takes.
///
/// The completion queue is twice as long as the submission queue, so it cannot overflow.
pub(super) fn ring(
    queue_depth: u32,
    modes: &[Completions],
    asked: Modes,
) -> Result<(IoUring, Completions), UringError> {
    if !(1..=MAX_QUEUE_DEPTH).contains(&queue_depth) {
        return Err(UringError::QueueDepth { queue_depth });
    }
    // Their modes of delivery are for rings that we enter to submit.
    let modes =
        if asked.submission_thread.is_some() { &[Completions::Interrupting] } else { modes };
    let (ring, mode) = first_taken(queue_depth, modes, |mode| {
        let mut builder = IoUring::builder();
        if asked.polled {
            builder.setup_iopoll();
        }
        if let Some(SubmissionThread { cpu }) = asked.submission_thread {
            builder.setup_sqpoll(THREAD_IDLE_MS).setup_submit_all();
            if let Some(cpu) = cpu {
                builder.setup_sqpoll_cpu(cpu);
            }
            // An I/O may be done before the thread says that its place is free again.
            return builder.build((2 * queue_depth).min(MAX_QUEUE_DEPTH));
        }
        match mode {
            Completions::Deferred => builder.setup_single_issuer().setup_defer_taskrun(),
            Completions::Cooperative => builder.setup_coop_taskrun(),
            Completions::Interrupting => return builder.build(queue_depth),
        };
        // Where a completion waits for us, a flag is to say so.
        builder.setup_submit_all().setup_taskrun_flag();
        builder.build(queue_depth)
    })?;
    if !ring.params().is_feature_ext_arg() {
        return Err(UringError::TooOld { missing: "time limit on waiting (EXT_ARG)" });
    }
    Ok((ring, mode))
}

/// The first mode that `build` does not answer with EINVAL, which is how a kernel says that it
/// does not know a flag.
fn first_taken<R>(
    queue_depth: u32,
    modes: &[Completions],
    mut build: impl FnMut(Completions) -> io::Result<R>,
) -> Result<(R, Completions), UringError> {
    let mut refusal = io::Error::from(io::ErrorKind::InvalidInput);
    for &mode in modes {
        match build(mode) {
            Ok(ring) => return Ok((ring, mode)),
            Err(error) => refusal = error,
        }
        match rustix::io::Errno::from_io_error(&refusal) {
            Some(rustix::io::Errno::INVAL) => {}
            Some(rustix::io::Errno::NOSYS) => return Err(UringError::Absent),
            Some(rustix::io::Errno::PERM | rustix::io::Errno::ACCESS) => {
                return Err(UringError::Forbidden);
            }
            _ => break,
        }
    }
    Err(UringError::Setup { queue_depth, source: refusal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    /// A kernel that refuses the modes in front of `knows` as unknown.
    fn kernel(knows: Completions) -> impl FnMut(Completions) -> io::Result<()> {
        move |mode| if mode == knows { Ok(()) } else { Err(Errno::INVAL.into()) }
    }

    #[test]
    fn an_older_kernel_gets_the_best_mode_it_knows() {
        for knows in BEST_FIRST {
            let taken = first_taken(8, &BEST_FIRST, kernel(knows)).expect("it knows one");
            assert_eq!(taken.1, knows);
        }
    }

    #[test]
    fn a_kernel_without_io_uring_is_told_from_one_that_forbids_it() {
        let answer = |errno: Errno| {
            first_taken::<()>(8, &BEST_FIRST, |_| Err(errno.into())).expect_err("refused")
        };
        assert!(matches!(answer(Errno::NOSYS), UringError::Absent));
        assert!(answer(Errno::PERM).to_string().contains("kernel.io_uring_disabled"));
        assert!(answer(Errno::NOMEM).to_string().contains("lower queue depth"));
    }

    #[test]
    fn queue_depths_out_of_range_are_named() {
        for depth in [0, MAX_QUEUE_DEPTH + 1, u32::MAX] {
            let error =
                ring(depth, &BEST_FIRST, Modes::default()).err().expect("refused").to_string();
            assert!(error.contains(&depth.to_string()), "{error}");
        }
    }
}
