//! Anything as a job file, put on a virtual and on a real target: jobs or an error, never a panic.
#![no_main]

use std::path::Path;

use fourcorners_drive::Geometry;
use fourcorners_fio::jobfile::{JobFile, Placed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // Includes and recordings are looked for where nothing is.
    let name = Path::new("/nonexistent/job.fio");
    let environment = |name: &str| (name.len() < 8).then(|| name.to_ascii_lowercase());
    let Ok(file) = JobFile::from_text(text, name, &environment) else { return };
    for (sectors, logical_block_bytes, is_virtual) in [(1 << 21, 512, true), (1 << 29, 4096, false)]
    {
        let geometry = Geometry { sectors, logical_block_bytes, queue_depth: 32 };
        let placed = Placed { geometry, is_virtual, seed: 1, first_job: 0 };
        let Ok(jobs) = file.on(placed, |_| true) else { continue };
        assert_eq!(jobs.jobs.len(), jobs.plan.streams.len());
        for stream in &jobs.plan.streams {
            let end = stream.span_start_bytes.checked_add(stream.span_bytes);
            assert!(end.is_some_and(|end| end <= geometry.bytes()), "{stream:?}");
        }
    }
});
