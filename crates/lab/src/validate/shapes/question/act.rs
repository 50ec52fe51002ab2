//! Aerospike's ACT, the reads and writes of a database: records are read one by one at a constant pace, and written in
//! large blocks. A block in which half is left of value is read and written again with others of its kind, so that twice as
//! much is written as the records are, and as many large blocks are read.

use fourcorners_drive::Nanos;

use super::super::entry::Entry;
use super::{RAMP_BESIDE_WRITERS, State, StreamSpec, Streams, Work};

/// Threads, each with one I/O at a time, where it is not told.
const THREADS: u64 = 64;
/// Blocks are defragmented when half of them is left.
const WRITTEN_FOR_EACH: f64 = 2.0;
/// Reads to measure: a hundred lie beyond the 99.99th percentile.
const READS: f64 = 1e6;
/// The shortest and the longest run, seconds.
const SECONDS: [f64; 2] = [20.0, 120.0];
/// Drive sizes that are written at random before, at most: the hours that are published wrote more.
const MOST_DRIVE_WRITES: f64 = 3.0;

/// What is run, and the state that the hours before led to.
pub(super) fn act(entry: &Entry) -> Result<(State, Work), String> {
    let test = &entry.test;
    let told = |what: &str| format!("{what} are not told");
    let record = test.record_bytes.ok_or_else(|| told("the bytes of a record"))?;
    let reads = test.reads_per_s.ok_or_else(|| told("the records read a second"))?;
    let writes = test.writes_per_s.ok_or_else(|| told("the records written a second"))?;
    let block = test.large_block_kib.ok_or_else(|| told("the KiB of a large block"))? * 1024;
    let pace = |iops: f64| Some((iops.ceil().max(1.0) as u64, false));
    let blocks = writes * record as f64 / block as f64 * WRITTEN_FOR_EACH;
    let read = StreamSpec {
        read_percent: 100,
        sequential: false,
        block_bytes: record as u32,
        depth: test.threads.unwrap_or(THREADS) as u32,
        pace: pace(reads),
        delay: Nanos::ZERO,
        span_bytes: None,
    };
    let large = StreamSpec { block_bytes: block as u32, pace: pace(blocks), ..read };
    // Between two reads of blocks.
    let delay = Nanos((5e8 / blocks) as u64);
    let written = StreamSpec { read_percent: 0, delay, ..large };
    let longest = test.duration_s.unwrap_or(f64::MAX);
    let hours_bytes = blocks * block as f64 * test.duration_s.unwrap_or(0.0);
    let drive_bytes = entry.capacity_gb.map_or(f64::MAX, |gb| gb * 1e9);
    let drive_writes = (hours_bytes / drive_bytes).round().clamp(1.0, MOST_DRIVE_WRITES) as u32;
    let state = State::Written { block_bytes: block as u32, drive_writes };
    let seconds = (READS / reads).clamp(SECONDS[0], SECONDS[1]).min(longest);
    let work = Work::Streams(Streams {
        streams: vec![read, large, written],
        probes: 1,
        seconds,
        ramp: RAMP_BESIDE_WRITERS,
        by_direction: false,
        alike: false,
    });
    Ok((state, work))
}
