//! Results once they are measured: compared with each other, and kept.
//!
//! [`compare`] sets records side by side, with ratios and how far they are to be trusted; [`store`]
//! keeps them in SQLite. Both see records and nothing else: no crate of a drive, a loop or a trace is
//! among the dependencies, so that an old result is found and compared without its drive. How results
//! look is in `fourcorners-report`.
//!
//! ```
//! use fourcorners_results::store::{Filter, Store};
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(&folder.path().join("results.db"))?;
//! assert!(store.list(&Filter::default())?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod compare;
pub mod store;
