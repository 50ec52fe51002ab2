//! fio's job files, fio's output, and fio's command for what we ran.
//!
//! A [`jobfile`] is read as fio reads it, into the streams that `fourcorners-run` runs; [`output`]
//! says what they did in fio's text, JSON and logs; [`command`] is the fio command that repeats a job
//! of a review. What fio itself would say of an option, and what we refuse, is in docs/FIO.md.
//!
//! An option is typed (`options.rs`), known to have no effect or refused (`known.rs`), or unknown. To
//! add one, add a line to `set` and to `TYPED` (`assign.rs`), from which a property test draws.
//!
//! ```
//! use std::path::Path;
//!
//! use fourcorners_fio::jobfile::JobFile;
//!
//! let text = "[reads]\nrw=randread\niodpeth=4\n";
//! let wrong = JobFile::from_text(text, Path::new("job.fio"), &|_| None);
//! let error = wrong.expect_err("a slip is an error with its line and the nearest name").to_string();
//! assert!(error.contains("iodepth"), "{error}");
//! ```

#![forbid(unsafe_code)]

mod command;
pub mod command_line;
pub mod jobfile;
pub mod output;

pub use command::command;
