//! Bytes -> a drive and commands of every kind; see `attempt` for what is checked. Says how many drives and commands
//! there were, a line a million.
#![no_main]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[path = "../../crates/drive/tests/common/mod.rs"]
mod common;

static DRIVES: AtomicU64 = AtomicU64::new(0);
static COMMANDS: AtomicU64 = AtomicU64::new(0);

/// Commands between two lines.
const A_LINE: u64 = 1_000_000;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match common::attempt::attempt(bytes) {
        Err(error) => panic!("{error}"),
        Ok(None) => {}
        Ok(Some(answered)) => {
            let drives = DRIVES.fetch_add(1, Relaxed) + 1;
            let before = COMMANDS.fetch_add(answered as u64, Relaxed);
            let commands = before + answered as u64;
            if commands / A_LINE > before / A_LINE {
                eprintln!("{commands} commands on {drives} drives, and nothing wrong");
            }
        }
    }
});
