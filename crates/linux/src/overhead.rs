//! The overhead of our loop, measured on a target that does nothing.

use std::sync::OnceLock;

use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{Unobserved, run};

use crate::uring::{Modes, Setup, Uring};

/// I/Os of a measurement: some milliseconds.
const IOS: u64 = 30_000;

/// The fastest of so many counts: everything else is other programs' work.
const TIMES: u32 = 3;

/// Nanoseconds that the loop of reviews takes for an I/O, its workload, submission, completion and
/// histogram, with everything between the kernel's ring and a drive left out: 4 KiB random reads at
/// queue depth 32 on a target that answers at once. Measured once; `None` where there is no io_uring.
pub fn ns_per_io() -> Option<u64> {
    static MEASURED: OnceLock<Option<u64>> = OnceLock::new();
    *MEASURED.get_or_init(measure)
}

fn measure() -> Option<u64> {
    let setup = Setup { queue_depth: 32, max_block_bytes: 4096 };
    let job = Job {
        pattern: Pattern::Random,
        read_percent: 100,
        block_bytes: 4096,
        queue_depth: setup.queue_depth,
        span_start_bytes: 0,
        span_bytes: 1 << 37,
        data: Data::Incompressible,
        until: Until::Bytes(IOS * 4096),
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    };
    let mut null = Uring::null(setup, Modes::default()).ok()?;
    let each = (0..TIMES).map(|_| run(&mut null, &job, &mut Unobserved).elapsed.0 / IOS);
    each.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_work_is_measured_and_is_little() {
        let ns = ns_per_io().expect("tests need io_uring");
        // A kernel entry for some I/Os at a time cannot take less, and no machine takes as long.
        assert!((10..100_000).contains(&ns), "{ns}");
        assert_eq!(ns_per_io(), Some(ns));
    }
}
