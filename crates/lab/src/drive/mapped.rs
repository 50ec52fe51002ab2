//! What the flash inside a virtual drive still holds.

use fourcorners_run::Unobserved;
use fourcorners_run::trim::Range;

use super::*;
use crate::array::ArrayProfile;

const RANGE: Range = Range { start_bytes: 0, bytes: 96 << 20 };

/// An array or a cache, new.
pub(super) fn drive(typed: &str) -> Drive {
    let profile = ArrayProfile::find(typed, None, &[]).expect("it is of several");
    profile.expect("it can be built").drive()
}

/// Writes so many bytes from the beginning on, in order.
pub(super) fn write(drive: &mut Drive, bytes: u64) {
    let job = Job {
        pattern: Pattern::Sequential,
        read_percent: 0,
        block_bytes: 131_072,
        queue_depth: 4,
        span_start_bytes: 0,
        span_bytes: bytes,
        data: Data::Incompressible,
        until: Until::Bytes(bytes),
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    };
    drive.run(&job, &mut Unobserved);
}

#[test]
fn an_array_of_ssds_maps_what_was_written_until_it_is_trimmed() {
    for typed in [
        "concat:2xcrucial-m4-64gb",
        "raid0:2xcrucial-m4-64gb",
        "raid1:2xcrucial-m4-64gb",
        "raid1:2xcrucial-m4-64gb:failed=1",
        "raid5:3xcrucial-m4-64gb",
        "raid10:4xcrucial-m4-64gb",
    ] {
        let mut drive = drive(typed);
        let share = |drive: &Drive| drive.mapped_share(RANGE, 512);
        assert_eq!(share(&drive), Some(0.0), "{typed}");
        write(&mut drive, RANGE.bytes);
        assert_eq!(share(&drive), Some(1.0), "{typed}");
        drive.trim(RANGE).expect("it takes one");
        drive.leave_alone(Nanos::from_secs(10));
        assert_eq!(share(&drive), Some(0.0), "{typed}");
    }
}

#[test]
fn of_an_array_with_a_hard_disk_and_of_a_cache_none_is_known() {
    for typed in [
        "concat:crucial-m4-64gb+wd-velociraptor-300gb",
        "cache:crucial-m4-64gb+wd-velociraptor-300gb",
    ] {
        let mut drive = drive(typed);
        write(&mut drive, RANGE.bytes);
        assert_eq!(drive.mapped_share(RANGE, 512), None, "{typed}");
    }
}
