//! Errors of setting up or purging a real drive.

use std::io;

/// What stops a [`Uring`](super::Uring) from being made, purged or flushed.
#[derive(Debug, thiserror::Error)]
pub enum UringError {
    /// No ring has such a queue depth.
    #[error(
        "queue depth {queue_depth} is not possible: io_uring takes 1 to {}",
        super::setup::MAX_QUEUE_DEPTH
    )]
    QueueDepth {
        /// The queue depth asked for.
        queue_depth: u32,
    },
    /// The kernel does not know the system call, or a filter hides it.
    #[error(
        "this kernel offers no io_uring (io_uring_setup: ENOSYS): use Linux 5.11 or newer built \
         with CONFIG_IO_URING; inside a container, allow io_uring in its seccomp profile"
    )]
    Absent,
    /// The kernel knows it and does not let this process use it.
    #[error(
        "io_uring is switched off for this process (io_uring_setup: EPERM): set the sysctl \
         kernel.io_uring_disabled to 0, or run as root when it is 1; inside a container, allow \
         io_uring in its seccomp profile"
    )]
    Forbidden,
    /// A ring was made, but the kernel is older than the waits with a time limit.
    #[error("this kernel's io_uring has no {missing}: use Linux 5.11 or newer")]
    TooOld {
        /// The feature that is not there.
        missing: &'static str,
    },
    /// The driver has no queues that can be polled.
    #[error(
        "its driver has no queues to poll (io_poll is 0 or the kernel says EOPNOTSUPP): load it with \
         some (nvme.poll_queues=2, virtio_blk.poll_queues=2), name the device rather than a file on \
         it, or leave hipri out"
    )]
    NoPolling,
    /// The ring could not be made for another reason.
    #[error(
        "cannot make an io_uring of queue depth {queue_depth}: {source}; ask for a lower queue \
         depth, and before Linux 5.12 raise the limit on locked memory (ulimit -l)"
    )]
    Setup {
        /// The queue depth asked for.
        queue_depth: u32,
        /// What the kernel said.
        source: io::Error,
    },
    /// No memory for buffers.
    #[error(
        "cannot map {bytes} bytes of I/O buffers: {source}; use a lower queue depth or smaller \
         blocks"
    )]
    Memory {
        /// The size asked for.
        bytes: u64,
        /// What the kernel said.
        source: io::Error,
    },
    /// The file could not be used with the ring.
    #[error("cannot {doing} the file or device: {source}")]
    File {
        /// What was tried.
        doing: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// There is nothing to discard with.
    #[error("cannot purge: {reason}")]
    PurgeUnsupported {
        /// Why, and what to do instead.
        reason: &'static str,
    },
}
