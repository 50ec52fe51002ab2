//! Why a drive cannot do a work.

use fourcorners_drive::Fault;
use fourcorners_fio::jobfile::JobFileError;
use fourcorners_linux::UringError;
use fourcorners_trace::TraceError;
use fourcorners_words::size;

use crate::replay::ReplayError;

/// Why a drive is left out of a choice.
#[derive(Debug, thiserror::Error)]
pub(super) enum Obstacle {
    #[error("it was stopped")]
    Stopped,
    /// Bytes of its model, and those that there are.
    #[error("its model takes {} of memory, and {} is available", size(*need), size(*available))]
    Memory { need: u64, available: u64 },
    /// Bytes of the work, and of the drive.
    #[error("the work touches {}, and the drive has {}", size(*touched), size(*capacity))]
    NoRoom { touched: u64, capacity: u64 },
    #[error(transparent)]
    Jobs(#[from] JobFileError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// It was read to its end before.
    #[error("the trace has changed since it was read: {0}")]
    Changed(String),
    /// An I/O failed: in which part, and how.
    #[error("{part}: {fault}")]
    Failed { part: &'static str, fault: Fault },
    #[error(transparent)]
    Settle(#[from] UringError),
    #[error("its jobs did no I/O")]
    NoIo,
    #[error("it is no virtual drive")]
    NotVirtual,
    #[error("there is no plan for it")]
    NoPlan,
}
