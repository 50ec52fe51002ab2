//! One drive does the work: brought into a state, then measured.

use fourcorners_run::{JobEnd, Observer};

use super::amplification::{self, Amplification};
use super::band::Shares;
use super::candidate::Candidate;
use super::footprint::Footprint;
use super::obstacle::Obstacle;
use super::state::State;
use crate::drive::Drive;
use crate::replay::fill;
use crate::review::wear_in;

/// Most I/Os in flight in preparation.
const DEPTH: u32 = 32;

/// What a drive needed for a work.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Measured {
    /// Time with at least one I/O in the drive, seconds.
    pub(super) waited_s: f64,
    /// 99th percentile of the latency of all I/Os, microseconds.
    pub(super) p99_us: f64,
    /// NAND writes over host writes.
    pub(super) amplification: Amplification,
    /// Energy, joules.
    pub(super) joules: Option<f64>,
    /// How long each kind of I/O took.
    pub(super) shares: Shares,
    /// I/Os, TRIMs and flushes included.
    pub(super) ios: u64,
    /// Bytes read and written.
    pub(super) bytes: [u64; 2],
    /// Whether the addresses were changed to fit the drive.
    pub(super) rescaled: bool,
    /// How many I/Os were widened to whole blocks, and the size of a block, bytes.
    pub(super) widened: (u64, u32),
}

/// A new drive in the state that the work finds it in. A hard disk is the same in all, and so is a cache, which
/// begins cold unless its name says otherwise.
///
/// # Errors
/// Why it cannot be brought there.
pub(super) fn prepared(
    candidate: &Candidate,
    state: State,
    footprint: &Footprint,
    observer: &mut dyn Observer,
) -> Result<Drive, Obstacle> {
    let mut drive = candidate.drive();
    if !candidate.has_a_state() {
        return Ok(drive);
    }
    match state {
        State::Empty => {}
        State::Full => {
            let ended = drive.run(&fill(drive.geometry()), observer).measured.ended;
            complete(ended, "while it was filled before")?;
        }
        State::Written => {
            let mut writes = footprint.writes(drive.geometry().bytes());
            let depth = DEPTH.min(drive.geometry().queue_depth);
            let ended = drive.run_source(&mut writes, (depth, 1), observer).measured.ended;
            complete(ended, "while its data was written before")?;
        }
        State::Used => {
            for job in wear_in(drive.geometry()) {
                complete(drive.run(&job, observer).measured.ended, "while it was used before")?;
            }
        }
    }
    drive.settle()?;
    amplification::rest(&mut drive, candidate, state);
    Ok(drive)
}

/// Whether it came to its end.
pub(super) fn complete(ended: JobEnd, part: &'static str) -> Result<(), Obstacle> {
    match ended {
        JobEnd::Complete => Ok(()),
        JobEnd::Interrupted => Err(Obstacle::Stopped),
        JobEnd::Failed(fault) => Err(Obstacle::Failed { part, fault }),
    }
}
