//! The `fourcorners` binary from end to end, as a careful, a clumsy and a hostile user run it.
//!
//! Tests that need root, a tool or a kernel feature that is not there say so and pass; in CI they fail
//! (`fourcorners_testing`).

mod arrays;
mod bench;
mod choose;
mod compare;
mod compressing;
mod config;
mod crash;
mod devices;
mod diagnose;
mod document;
mod drive_health;
mod drives;
mod files;
mod fio;
#[path = "../../../results/tests/fixture/mod.rs"]
mod fixture;
mod grade;
mod heat;
mod hostile;
mod hosts;
mod interrupt;
mod jobs;
mod json;
mod kept;
mod limits;
// Loop devices and mounts are made and taken apart as in the guard's tests, which use all of it.
#[allow(dead_code, unused_imports, unused_macros)]
#[path = "../../../linux/tests/guard/bench.rs"]
mod media;
mod methods;
mod metrics;
mod no_effect;
#[path = "../openmetrics/mod.rs"]
mod openmetrics;
mod output;
mod plans;
mod profiles;
mod quick;
mod reference;
mod replaced;
mod report;
mod results;
mod resume;
mod serve;
mod state;
mod sweep;
mod tasks;
mod trace;
mod trace_all;
mod usage;
mod validate;
mod verify;
