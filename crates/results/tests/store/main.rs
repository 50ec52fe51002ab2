//! The database of results: what is kept, found and refused, and what survives.

#[path = "../fixture/mod.rs"]
mod fixture;

mod damage;
mod golden;
mod kept;
mod latest;
