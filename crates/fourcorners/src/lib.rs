//! The `fourcorners` command: its arguments, its terminal, its local page.
//!
//! This crate is the edge. `cli` checks what was typed and starts what the other crates do; `web`
//! serves a page over the database of results. All that measures is in `fourcorners-lab` and below.
//!
//! ```
//! use std::process::ExitCode;
//!
//! // The same as typing `fourcorners drives intel-x25-m-g2-160gb`.
//! assert_eq!(fourcorners::run(["fourcorners", "drives", "intel-x25-m-g2-160gb"]), ExitCode::SUCCESS);
//! assert_eq!(fourcorners::run(["fourcorners", "drives", "no-such-drive"]), ExitCode::from(2));
//! ```

#![forbid(unsafe_code)]

mod cli;
mod event;
#[cfg(feature = "web")]
mod web;

pub use cli::run;
