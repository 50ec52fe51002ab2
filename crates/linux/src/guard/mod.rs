//! May this real target be written, and what is it?
//!
//! The promise: *no write ever reaches a device or a file that was not named for destruction.*
//! Everything that opens a real target for writing goes through [`open_for_writing`].
//!
//! Three steps, so that nothing is written before everything has been checked:
//!
//! 1. [`inspect`] says what a path is. It opens read-only, and only block devices and regular
//!    files: opening a tape rewinds it and opening a watchdog arms it.
//! 2. [`may_write`] says whether the user has allowed it, and for a file to be created
//!    [`may_create`].
//! 3. [`open_for_writing`] opens, claims, and checks all of it again on what was opened.
//!
//! What is refused, and what overrides it:
//!
//! | the target | `--destroy` names it | `--force` names it too |
//! |---|---|---|
//! | mounted, swap, below device mapper, MD, bcache, a loop device or an export | refused | refused |
//! | locked by another program, itself or the file below a loop device | refused | refused |
//! | any, where sysfs or /proc does not answer | refused | refused |
//! | read-only, host-managed zoned, unreadable where signatures are | refused | refused |
//! | partitioned, or carries a known signature | refused | allowed |
//! | any other block device or existing file | allowed | allowed |
//! | a file that `--size` created, as we left it | allowed without | |
//!
//! `--force` overrides signatures and partition tables. It never overrides being in use (mounted, swap,
//! held, below a loop device): writing under a live file system harms the running system and measures nothing.
//!
//! The checks cannot see content without a signature (plain dm-crypt, VeraCrypt, a tar on the
//! bare device); that is what naming it with `--destroy` is for.

mod create;
mod describe;
#[cfg(test)]
mod fake;
mod in_memory;
mod in_use;
mod lock;
mod loops;
mod machine_drives;
mod open;
mod permit;
mod refusal;
mod scan;
mod scratch;
mod signatures;
mod system;
mod target;

pub use create::{create_file, may_create};
pub use in_memory::InMemory;
pub use machine_drives::{DriveStanding, MachineDrive, machine_drives};
pub use open::{Lease, Opened, open_for_reading, open_for_writing};
pub use permit::{Permission, may_write};
pub use refusal::{Refusal, Usage, UsageKind};
pub use target::{Kind, LEAST_BYTES, RealTarget, inspect};
