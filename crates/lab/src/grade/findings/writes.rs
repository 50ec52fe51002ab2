//! Writes to a drive that is graded: in order or at random, to their end.

use fourcorners_drive::Target;
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{Observer, run};

/// Writes this many bytes within the first `span` bytes: in order in blocks of 128 KiB, at random in units of 4 KiB.
pub(super) fn write(target: &mut impl Target, pattern: Pattern, span: u64, bytes: u64, seed: u64) {
    let job = Job {
        pattern,
        read_percent: 0,
        block_bytes: if pattern == Pattern::Random { 4096 } else { 128 << 10 },
        queue_depth: target.geometry().queue_depth.min(8),
        span_start_bytes: 0,
        span_bytes: span,
        data: Data::Incompressible,
        until: Until::Bytes(bytes),
        seed,
        fua: false,
        flush: false,
        jobs: 1,
    };
    run(target, &job, &mut Unwatched);
}

/// Nobody stops it.
struct Unwatched;

impl Observer for Unwatched {
    fn go_on(&mut self, _part_done: f64) -> bool {
        true
    }
}
