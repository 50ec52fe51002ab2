//! `/metrics`: what the pages show, as monitoring systems read it.
//!
//! Nothing is counted here: a served drive's numbers are those of its last report, and a review's those of its events.

mod exposition;
mod reviews;
mod served;

pub(super) use exposition::Exposition;
pub(super) use reviews::{Numbered, reviews};
pub(super) use served::served;
