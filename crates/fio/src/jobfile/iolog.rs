//! `read_iolog`: jobs whose I/Os were recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fourcorners_drive::{Geometry, Io, Lba, Nanos, Op, SECTOR_BYTES};
use fourcorners_run::streams::{Operations, Recorded};
use fourcorners_trace::{self as trace, TraceError, TraceIo};

/// Most I/Os of a recording that a job file replays: they are kept in memory, as fio keeps them.
const MOST_IOS: usize = 1 << 24;

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub(super) enum IologError {
    /// It cannot be read, or is no recording.
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(
        "{} has more than {MOST_IOS} I/Os: replay it with `fourcorners trace replay`",
        path.display()
    )]
    TooLong { path: PathBuf },
    #[error("{}: there is nothing to replay in it", path.display())]
    Empty { path: PathBuf },
    /// On a target of so many bytes.
    #[error(
        "an I/O ends at byte {end}, and the target has {bytes}: set replay_scale, or use \
         `fourcorners trace replay --rescale-address`"
    )]
    Beyond { end: u64, bytes: u64 },
}

/// What is asked of a replay.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Replay {
    /// The recordings, one for each copy of a job in turn.
    pub(super) paths: Vec<PathBuf>,
    pub(super) no_stall: bool,
    /// Per cent of the recorded rate.
    pub(super) time_scale: u64,
    /// Offsets are divided by it.
    pub(super) scale: u64,
    /// Offsets are multiples of it.
    pub(super) align: u64,
}

impl Default for Replay {
    fn default() -> Replay {
        Replay { paths: Vec::new(), no_stall: false, time_scale: 100, scale: 1, align: 1 }
    }
}

/// Recordings that were read.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Tapes(Vec<Arc<Vec<TraceIo>>>);

impl Tapes {
    /// Reads what a job names.
    pub(super) fn read(replay: &Replay) -> Result<Tapes, IologError> {
        replay
            .paths
            .iter()
            .map(|path| read(path).map(Arc::new))
            .collect::<Result<_, _>>()
            .map(Tapes)
    }

    fn ios(&self) -> impl Iterator<Item = &TraceIo> {
        self.0.iter().flat_map(|tape| tape.iter())
    }

    /// The operations that they have, if there are any.
    pub(super) fn operations(&self) -> Option<Operations> {
        let has = |op: Op| self.ios().any(|io| io.op == op);
        (!self.0.is_empty()).then(|| Operations::Recorded {
            reads: has(Op::Read),
            writes: has(Op::Write),
            trims: has(Op::Trim),
        })
    }

    /// The recording of a job's copy as a target of this geometry gets it.
    pub(super) fn placed(
        &self,
        copy: u32,
        replay: &Replay,
        geometry: Geometry,
    ) -> Result<Option<Arc<Recorded>>, IologError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tape = &self.0[copy as usize % self.0.len()];
        let ios = tape.iter().map(|io| place(io, replay, geometry)).collect::<Result<_, _>>()?;
        Ok(Some(Arc::new(Recorded { ios, timed: !replay.no_stall })))
    }
}

fn read(path: &Path) -> Result<Vec<TraceIo>, IologError> {
    let trace = trace::open(path, &trace::Options::default())?;
    let mut ios = Vec::new();
    let mut last = Nanos::ZERO;
    for io in trace {
        let io = io?;
        if ios.len() == MOST_IOS {
            return Err(IologError::TooLong { path: path.into() });
        }
        // One that is recorded late counts as issued with the one before it.
        last = last.max(io.at);
        ios.push(TraceIo { at: last, ..io });
    }
    match ios.is_empty() {
        true => Err(IologError::Empty { path: path.into() }),
        false => Ok(ios),
    }
}

fn place(io: &TraceIo, replay: &Replay, geometry: Geometry) -> Result<(Nanos, Io), IologError> {
    let at = u128::from(io.at.0) * 100 / u128::from(replay.time_scale);
    let at = Nanos(u64::try_from(at).unwrap_or(u64::MAX));
    if io.op == Op::Flush {
        return Ok((at, Io::FLUSH));
    }
    let block = u64::from(geometry.logical_block_bytes);
    let scaled = io.offset_bytes / replay.scale;
    let start = scaled - scaled % replay.align;
    let start_block = start - start % block;
    let end = start.saturating_add(io.bytes).checked_next_multiple_of(block).unwrap_or(u64::MAX);
    if end > geometry.bytes() {
        return Err(IologError::Beyond { end, bytes: geometry.bytes() });
    }
    let sectors = u32::try_from((end - start_block) / SECTOR_BYTES).unwrap_or(u32::MAX);
    Ok((at, Io { op: io.op, lba: Lba(start_block / SECTOR_BYTES), sectors, ..Io::FLUSH }))
}
