//! One job on one real target, and what it measured as a line of JSON: the smallest use of the
//! library, and what `scripts/against-fio` holds against fio.
//!
//! ```console
//! $ cargo run --release --example one_job -- /dev/sdX randread 32 5
//! ```
//! The target is opened for writing: ALL ITS DATA IS LOST in a `randwrite` job. With `buffered` as the
//! last argument it goes through the page cache.

use std::path::Path;

use fourcorners_lab::drive::Drive;
use fourcorners_linux::guard::{self, Permission};
use fourcorners_linux::{Setup, Uring};
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::Unobserved;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

const USAGE: &str = "usage: one_job TARGET randread|randwrite QUEUE_DEPTH SECONDS [buffered]";

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (target, rw, queue_depth, seconds, buffered) = match args.as_slice() {
        [target, rw, depth, seconds] => (target, rw, depth, seconds, false),
        [target, rw, depth, seconds, how] if how == "buffered" => {
            (target, rw, depth, seconds, true)
        }
        _ => anyhow::bail!(USAGE),
    };
    let read_percent = match rw.as_str() {
        "randread" => 100,
        "randwrite" => 0,
        _ => anyhow::bail!(USAGE),
    };
    let queue_depth = queue_depth.parse()?;

    let found = guard::inspect(Path::new(target))?;
    let permission = Permission { destroy: vec![target.clone()], force: Vec::new() };
    let opened = guard::open_for_writing(&found, &permission)?;
    if buffered {
        let flags = fcntl_getfl(&opened.file)?;
        fcntl_setfl(&opened.file, flags - OFlags::DIRECT)?;
    }
    let job = Job {
        pattern: Pattern::Random,
        read_percent,
        block_bytes: 4096,
        queue_depth,
        span_start_bytes: 0,
        span_bytes: found.geometry.bytes() / 4096 * 4096,
        data: Data::Incompressible,
        until: Until::Seconds(seconds.parse()?),
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    };
    let setup = Setup { queue_depth, max_block_bytes: job.block_bytes };
    let mut drive = Drive::Real(Box::new(Uring::new(opened.file, found.geometry, setup)?));
    let outcome = drive.run(&job, &mut Unobserved);
    let ios = outcome.measured.latency.count();
    println!(
        "{}",
        serde_json::json!({
            "iops": ios as f64 / outcome.measured.elapsed.as_secs(),
            "latency_mean_us": outcome.measured.latency.mean() / 1e3,
            "cpu_us_per_io": outcome.cpu_seconds * 1e6 / ios as f64,
        })
    );
    Ok(())
}
