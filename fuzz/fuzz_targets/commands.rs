//! Bytes -> a drive and commands of every kind; see `attempt` for what is checked.
#![no_main]

#[path = "../../crates/drive/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = common::attempt::attempt(bytes) {
        panic!("{error}");
    }
});
