//! The guard against the real thing: loop devices, files, and the tools that put content on
//! them. Tests that need root, a tool or a kernel feature that is not there say so and pass.

#[path = "guard/bench.rs"]
mod bench;
#[path = "guard/in_use.rs"]
mod in_use;
#[path = "guard/signatures.rs"]
mod signatures;
#[path = "guard/targets.rs"]
mod targets;
