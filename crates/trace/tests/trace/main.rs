//! Traces in everyone's formats: that each is read as it was written, what is said of broken ones,
//! and that nothing in one makes the reader fail.

mod broken;
#[path = "../common/mod.rs"]
mod common;
mod compact;
mod formats;
mod generated;
mod hostile;
mod inapplicable;
mod lost;
mod packed;
mod real;
mod texts;
mod writers;

use fourcorners_drive::{Nanos, Op};
use fourcorners_trace::{Options, TraceError, TraceIo, from_bytes};

/// An I/O of device 0 without a duration.
fn io(at: u64, op: Op, offset_bytes: u64, bytes: u64) -> TraceIo {
    TraceIo {
        at: Nanos(at),
        op,
        offset_bytes,
        bytes,
        duration: None,
        device: 0,
        flags: Default::default(),
    }
}

/// All I/Os of a trace of these bytes.
fn read(bytes: &[u8], options: &Options) -> Result<Vec<TraceIo>, TraceError> {
    from_bytes(bytes.to_vec(), options)?.collect()
}

/// The same of one that is whole.
fn whole(bytes: &[u8]) -> Vec<TraceIo> {
    read(bytes, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Some I/Os of all kinds, for writers: times in microseconds, sectors, sizes of all kinds.
fn some() -> Vec<TraceIo> {
    let mut ios = Vec::new();
    for n in 0..300u64 {
        let op = if n % 3 == 0 { Op::Write } else { Op::Read };
        let offset = (n * 7919 % 1000) * 4096;
        ios.push(io(n * n * 1000, op, offset, 512 << (n % 10)));
    }
    ios
}
