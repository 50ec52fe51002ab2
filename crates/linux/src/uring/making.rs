//! Making a drive of an opened file: its ring, its buffers, and what is found out about it before.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;

use fourcorners_drive::{Geometry, SECTOR_BYTES};
use rustix::fs::{MemfdFlags, OFlags, fcntl_getfl, memfd_create};

use super::alarm::Alarm;
use super::brief::Brief;
use super::buffers::{Buffers, Shape};
use super::clock::{Waking, clock};
use super::discard::Discard;
use super::discard_thread::DiscardThread;
use super::enter::FIRST_REFILL;
use super::here::Here;
use super::setup::{self, BEST_FIRST, Completions, Modes, Setup};
use super::{Uring, UringError, polled};
use crate::guard::Lease;

/// File offsets are signed 64-bit numbers; no sector lies beyond them.
const MAX_SECTORS: u64 = i64::MAX as u64 / SECTOR_BYTES;

/// How the ring is to be set up, for trying what older kernels make of it.
pub(super) struct Plan<'a> {
    pub(super) modes: &'a [Completions],
    pub(super) register: bool,
    pub(super) asked: Modes,
}

impl Uring {
    /// Makes a drive of `file`, opened read-only or for writing, with or without `O_DIRECT`.
    ///
    /// The geometry is that of the file or device, except for the queue depth, which is that of
    /// the setup.
    ///
    /// # Errors
    /// When the queue depth is out of range, the kernel has no io_uring or forbids it, or memory
    /// is short. Each says what to do.
    pub fn new(file: File, geometry: Geometry, setup: Setup) -> Result<Uring, UringError> {
        Uring::with_modes(file, geometry, setup, Modes::default())
    }

    /// The same, by ways that are not the best in general.
    ///
    /// # Errors
    /// As [`Uring::new`]; and [`UringError::NoPolling`].
    pub fn with_modes(
        file: File,
        geometry: Geometry,
        setup: Setup,
        asked: Modes,
    ) -> Result<Uring, UringError> {
        if asked.polled && !polled::may_be(&file)? {
            return Err(UringError::NoPolling);
        }
        let plan = Plan { modes: &BEST_FIRST, register: true, asked };
        let mut uring = Uring::with(file, geometry, setup, plan)?;
        if asked.polled {
            polled::try_one(&mut uring)?;
        }
        Ok(uring)
    }

    /// A drive that answers everything at once and moves nothing, by a ring like any other: what is
    /// measured on it is what we and the kernel's ring take ourselves.
    ///
    /// # Errors
    /// As [`Uring::new`].
    pub fn null(setup: Setup, asked: Modes) -> Result<Uring, UringError> {
        let file = File::open("/dev/null")
            .map_err(|source| UringError::File { doing: "open /dev/null as", source })?;
        let geometry = Geometry {
            sectors: MAX_SECTORS,
            logical_block_bytes: SECTOR_BYTES as u32,
            queue_depth: setup.queue_depth,
        };
        // It has nothing that could be polled.
        let asked = Modes { polled: false, ..asked };
        let plan = Plan { modes: &BEST_FIRST, register: true, asked };
        let mut uring = Uring::with(file, geometry, setup, plan)?;
        uring.null = true;
        Ok(uring)
    }

    /// A drive of memory, read by the ring as a real drive is. Nothing of it is done by this thread itself: that would leave out how
    /// long the machine takes to wake whoever waits.
    ///
    /// # Errors
    /// As [`Uring::new`]; and when there is no such memory.
    pub fn memory(bytes: u64, setup: Setup) -> Result<Uring, UringError> {
        let failed = |source| UringError::File { doing: "make memory of", source };
        let fd = memfd_create("fourcorners", MemfdFlags::CLOEXEC)
            .map_err(|errno| failed(errno.into()))?;
        let mut file = File::from(fd);
        // What was never written is read without touching memory.
        let piece = vec![0xa5; 1 << 20];
        let mut left = bytes;
        while left > 0 {
            let length = left.min(piece.len() as u64);
            file.write_all(&piece[..length as usize]).map_err(failed)?;
            left -= length;
        }
        let geometry = Geometry {
            sectors: bytes / SECTOR_BYTES,
            logical_block_bytes: SECTOR_BYTES as u32,
            queue_depth: setup.queue_depth,
        };
        let mut uring = Uring::new(file, geometry, setup)?;
        uring.here = Here::nothing();
        Ok(uring)
    }

    pub(super) fn with(
        file: File,
        geometry: Geometry,
        setup: Setup,
        plan: Plan<'_>,
    ) -> Result<Uring, UringError> {
        // Otherwise the kernel wakes us up to 50 us after an I/O is due (prctl(2)). Where it
        // refuses, that is in the latencies.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let (ring, completions) = setup::ring(setup.queue_depth, plan.modes, plan.asked)?;
        let flags = fcntl_getfl(&file)
            .map_err(|errno| UringError::File { doing: "look at", source: errno.into() })?;
        let discard = Discard::of(&file)?;
        ring.submitter()
            .register_files(&[file.as_raw_fd()])
            .map_err(|source| UringError::File { doing: "register", source })?;
        let shape = Shape {
            queue_depth: setup.queue_depth,
            max_block_bytes: setup.max_block_bytes,
            writes: flags.intersects(OFlags::WRONLY | OFlags::RDWR),
            register: plan.register,
        };
        let buffers = Buffers::new(shape, &ring.submitter())?;
        let direct = flags.contains(OFlags::DIRECT);
        let here = Here::new(&file, direct, setup.queue_depth)?;
        Ok(Uring {
            ring,
            file,
            geometry: Geometry {
                queue_depth: setup.queue_depth,
                sectors: geometry.sectors.min(MAX_SECTORS),
                ..geometry
            },
            max_block_bytes: setup.max_block_bytes,
            completions,
            asked: plan.asked,
            null: false,
            direct,
            discard,
            discards: DiscardThread::new(setup.queue_depth),
            buffers: ManuallyDrop::new(buffers),
            in_flight: vec![None; setup.queue_depth as usize].into_boxed_slice(),
            flying: 0,
            queued: 0,
            at_once: false,
            takes_its_time: false,
            noticed: 0,
            refill_at: FIRST_REFILL,
            refused: VecDeque::with_capacity(setup.queue_depth as usize),
            here,
            waking: Waking::new(),
            brief: Brief::new(),
            alarm: (plan.asked == Modes::default()).then(Alarm::new),
            broken: None,
            now: Cell::new(clock()),
            lease: Lease::default(),
        })
    }
}
