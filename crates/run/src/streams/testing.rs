//! A stream for tests to begin from.

use fourcorners_drive::Nanos;

use super::{
    Access, BlockSizes, Direction, Distribution, Flushes, Limits, Operations, Start, Stream,
};

/// 4 KiB random reads of all of a span at depth one, without a map.
pub(super) fn stream(span_bytes: u64) -> Stream {
    Stream {
        operations: Operations::Only(Direction::Read),
        blocks: [const { BlockSizes::One(4096) }; 3],
        access: Access {
            random_percent: [100; 3],
            distribution: Distribution::Uniform,
            once: false,
            run: 1,
            identical: false,
            step_bytes: 0,
            align_bytes: [4096; 3],
            zones: None,
        },
        span_start_bytes: 0,
        span_bytes,
        depth: 1,
        limits: Limits { bytes: u64::MAX, ios: u64::MAX, time: Nanos::MAX },
        start: Start::default(),
        ramp: Nanos::ZERO,
        pace: [None; 3],
        think: None,
        flushes: Flushes::default(),
        fua: false,
        compressible_percent: 0,
        seed: 1,
        survives_errors: false,
        group: 0,
        wave: 0,
        takes_along: None,
        flow: None,
        log: None,
        latency_target: None,
        recorded: None,
    }
}
