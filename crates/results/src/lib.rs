//! Results once they are measured: compared, kept and shown.
//!
//! [`report`] makes pages, pictures, tables and JSON of records, [`compare`] sets them side by side
//! with ratios and what they are worth, [`store`] keeps them in SQLite. All of it sees records and
//! nothing else: no crate of a drive, of a loop or of a trace is among the dependencies, so that an
//! old result renders wherever it is read.
//!
//! ```
//! use fourcorners_record::Document;
//! use fourcorners_results::report;
//!
//! let document = report::from_json(&report::to_json(&Document::new(Vec::new())))?;
//! assert!(report::page(&document).starts_with("<!DOCTYPE html>"));
//! # Ok::<(), report::ReadError>(())
//! ```

#![forbid(unsafe_code)]

pub mod compare;
pub mod report;
pub mod store;
