//! The virtual drives, a mechanism a file: closed forms, hand-computed times and laws, and what is refused. One program,
//! so that it is linked once and its tests share the processors.

#[path = "../common/catalogue.rs"]
mod catalogue;
#[path = "../theory/closed_forms.rs"]
#[allow(dead_code)]
mod closed_forms;
#[path = "../common/mod.rs"]
mod common;

mod checkpoint;
mod coalescing;
mod collection;
mod command_slots;
mod compression;
mod config;
mod due;
mod energy;
mod hdd;
mod heat;
mod host;
mod host_processes;
mod log_block;
mod map;
mod nand;
mod persistence;
mod read_ahead;
mod slc_buffer;
mod small_and_large;
mod ssd;
mod state;
mod variation;
mod wear;
mod write_limit;
