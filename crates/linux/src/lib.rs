//! Real drives: Linux block devices and files, in wall time.
//!
//! [`guard`] decides whether a target may be written and opens it; [`Uring`] is that target to the
//! loops of `fourcorners-run`, through io_uring; [`device`] asks a drive for its health and its own
//! erasing commands; [`doctor`] says what can be measured here; [`block_trace`] records what others
//! do to a device; [`ublk`] is a block device that this process answers for. All code that is `unsafe`, but for a prefetch in `fourcorners-drive`, is in here.
//!
//! ```no_run
//! use fourcorners_linux::{Setup, Uring, guard};
//!
//! // Nothing is opened for writing that was not named for destruction.
//! let target = guard::inspect(std::path::Path::new("/dev/sdb"))?;
//! println!("{} bytes", target.geometry.bytes());
//! # Ok::<(), guard::Refusal>(())
//! ```

pub mod block_trace;
pub mod device;
pub mod doctor;
pub mod guard;
mod huge_pages;
mod memory;
mod ours;
pub mod overhead;
mod priority;
pub mod ublk;
mod uring;

pub use huge_pages::HugePages;
pub use ours::sign;
pub use priority::make_realtime;
pub use uring::{
    Granted, Modes, ONLY_DEVICES_ARE_PURGED, Purged, Setup, SubmissionThread, Uring, UringError,
    Waking, clock,
};
