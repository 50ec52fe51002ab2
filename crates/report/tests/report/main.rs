//! Pages and tables of records, read as a reader would.

#[path = "../../../results/tests/fixture/mod.rs"]
mod fixture;

mod lengths;
mod page;
mod record;
mod standings;
mod told;
mod verdicts;
