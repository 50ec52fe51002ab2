//! The `fourcorners` binary from end to end, as a careful, a clumsy and a hostile user run it.
//!
//! Tests that need root, a tool or a kernel feature that is not there say so and pass.

mod bench;
mod devices;
mod document;
mod drives;
mod files;
mod hostile;
mod hosts;
mod interrupt;
mod jobs;
mod kept;
// Loop devices and mounts are made and taken apart as in the guard's tests, which use all of it.
#[allow(dead_code, unused_imports, unused_macros)]
#[path = "../guard/bench.rs"]
mod media;
mod methods;
mod output;
mod profiles;
mod resume;
mod state;
mod sweep;
mod trace;
mod usage;
mod validate;
