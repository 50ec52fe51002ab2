//! Services of the machine for any program: atomic file writes, CPU time, memory, threads.
//!
//! Nothing in here knows of drives. What a drive needs of the machine (io_uring, block devices,
//! their health) is in `fourcorners-linux`.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let page = folder.path().join("page.html");
//! // A reader, or a machine that loses power, finds the whole file or none.
//! fourcorners_machine::save::write_atomically(&page, b"<!doctype html>")?;
//! assert_eq!(std::fs::read(&page)?, b"<!doctype html>");
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod cpu;
pub mod file_system;
pub mod host;
pub mod noise;
pub mod save;
pub mod workers;
