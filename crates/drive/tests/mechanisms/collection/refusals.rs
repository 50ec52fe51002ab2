//! What makes no drive is refused by key, value and range.

use super::*;
use fourcorners_drive::config::{LogBlocksSection, LogReplacement, StreamsSection};

#[track_caller]
fn refused(change: impl Fn(&mut SsdConfig), message: &str) {
    let mut profile = profile();
    profile.check().unwrap_or_else(|error| panic!("before the change: {error}"));
    change(&mut profile);
    let error = profile.check().expect_err("it makes no drive");
    assert_eq!(error.to_string(), message);
}

fn in_streams(change: impl Fn(&mut StreamsSection)) -> impl Fn(&mut SsdConfig) {
    move |profile| {
        let mut streams = crate::common::streams();
        change(&mut streams);
        profile.streams = Some(streams);
    }
}

#[test]
fn nonsense_in_streams() {
    let refused_in =
        |change: fn(&mut StreamsSection), message| refused(in_streams(change), message);
    refused_in(
        |streams| streams.region_kib = 0,
        "streams.region_kib = 0 is not possible: it must be 4 to 1048576",
    );
    refused_in(
        |streams| streams.region_kib = 6,
        "streams.region_kib = 6 is not possible: it must be a multiple of 4, the map's unit",
    );
    refused_in(
        |streams| streams.period_percent = 0,
        "streams.period_percent = 0 is not possible: it must be 1 to 10000",
    );
    refused_in(
        |streams| streams.hot_factor = f64::NAN,
        "streams.hot_factor = NaN is not possible: it must be 1 to 1000",
    );
    refused_in(
        |streams| streams.hot_spare_percent = Some(100),
        "streams.hot_spare_percent = 100 is not possible: it must be 0 to 99",
    );
    refused_in(
        |streams| streams.cool_turns = 0.5,
        "streams.cool_turns = 0.5 is not possible: it must be 1 to 1000000",
    );
    refused(
        |profile| {
            profile.streams = Some(crate::common::streams());
            profile.buffer.write_kib = 11;
        },
        "buffer.write_kib = 11 is not possible: it must be 12 to 4194304",
    );
    refused(
        |profile| {
            profile.streams = Some(crate::common::streams());
            profile.log_blocks = Some(LogBlocksSection {
                count: 1,
                associativity: 1,
                stripe_dies: 1,
                replacement: LogReplacement::Oldest,
                sequential: true,
            });
        },
        "streams.victims = given is not possible: streams are a page map's: leave out [streams] or \
         [log_blocks]",
    );
}

/// With streams, four blocks of a die are open and not two.
#[test]
fn streams_take_space() {
    let mut profile = profile();
    let most = |open: u64| (400 - 2 - open) * BLOCKS_OF_ALL * 4096 * 100 / 101 / 512 / 8 * 8;
    profile.capacity.sectors = most(2);
    assert_eq!(profile.check(), Ok(()));
    profile.streams = Some(crate::common::streams());
    assert!(profile.check().is_err());
    profile.capacity.sectors = most(4);
    assert_eq!(profile.check(), Ok(()));
    let usable = (400 - 2 - 2) * BLOCKS_OF_ALL;
    let op = usable as f64 / (most(4) / 8) as f64 - 1.0;
    assert_eq!(make(&profile).effective_op(), op);
}

#[test]
fn nonsense_in_collection() {
    let ahead = |profile: &mut SsdConfig| {
        profile.gc.pacing = Pacing::DelayedUntilSequential;
        profile.gc.sequential_free_blocks = Some(20);
        profile.gc.sequential_gain = Some(2);
        profile.gc.sequential_commands = Some(4);
    };
    refused(
        |profile| profile.gc.idle_ms = Some(1.0),
        "gc.idle_free_blocks = absent is not possible: gc.idle_ms needs it",
    );
    refused(
        |profile| profile.gc.idle_free_blocks = Some(9),
        "gc.idle_free_blocks = 9 is not possible: gc.idle_ms must be given with it",
    );
    refused(
        |profile| {
            profile.gc.idle_ms = Some(-1.0);
            profile.gc.idle_free_blocks = Some(9);
        },
        "gc.idle_ms = -1 is not possible: it must be 0 to 1000000000",
    );
    refused(
        |profile| {
            profile.gc.idle_ms = Some(1.0);
            profile.gc.idle_free_blocks = Some(2);
        },
        "gc.idle_free_blocks = 2 is not possible: it must be 3 to 1048576",
    );
    refused(
        |profile| {
            profile.gc.pacing = Pacing::Batched;
            profile.gc.batch_moves = Some(4);
        },
        "gc.batch_free_blocks = absent is not possible: gc.pacing = batched needs it",
    );
    refused(
        |profile| profile.gc.batch_moves = Some(0),
        "gc.batch_moves = 0 is not possible: it must be 1 to 1000",
    );
    refused(
        |profile| profile.controller.move_4k_us = Some(-0.5),
        "controller.move_4k_us = -0.5 is not possible: it must be 0 to 1000000",
    );
    refused(
        |profile| {
            ahead(profile);
            profile.gc.sequential_gain = None;
        },
        "gc.sequential_gain = absent is not possible: gc.pacing = delayed_until_sequential needs it",
    );
    refused(
        |profile| {
            ahead(profile);
            profile.gc.sequential_free_blocks = Some(1);
        },
        "gc.sequential_free_blocks = 1 is not possible: it must be 3 to 1048576",
    );
    refused(
        |profile| {
            ahead(profile);
            profile.gc.sequential_commands = Some(257);
        },
        "gc.sequential_commands = 257 is not possible: it must be 1 to 256",
    );
}
