//! The catalogue's drive against what was published about it.

use fourcorners_drive::{Hdd, Op};

use crate::hdd::support::{drive, momentus, random_4k, run};

const SECTORS_A_GB: u64 = 1_000_000_000 / 512;

fn new() -> Hdd {
    drive(&momentus())
}

/// Within `percent` of what was published.
fn near(what: &str, simulated: f64, published: f64, percent: f64) {
    let error = (simulated / published - 1.0) * 100.0;
    println!("{what}: {simulated:.3} MB/s, published {published} ({error:+.1} %)");
    assert!(error.abs() <= percent, "{what}: {simulated:.3} is {error:+.1} % off {published}");
}

#[test]
fn random_writes_over_8_gb_are_what_they_were_fitted_to() {
    let seen = run(&mut new(), 3, 30_000, random_4k(Op::Write, 8 * SECTORS_A_GB, 1));
    near("m089, random write, depth 3, 8 GB (fitted)", seen.mb_per_s(), 0.81, 3.0);
}

#[test]
fn random_writes_over_16_gb_follow() {
    // The page gives no queue depth; behind the write cache it makes no difference.
    let seen = run(&mut new(), 3, 30_000, random_4k(Op::Write, 16 * SECTORS_A_GB, 1));
    near("m037, random write, 16 GB", seen.mb_per_s(), 0.8, 10.0);
}

#[test]
fn random_reads_over_the_whole_disk_follow_and_over_8_gb_do_not() {
    // The page gives no span. At depth 3 the arm chooses between two reads; 13.7 ms for each,
    // which is 0.3 MB/s, is a seek over all of the disk. Over 8 GB, 1.3 % of the stroke, the
    // rotation alone is 5.6 ms and a read some 6 ms.
    let whole = momentus().capacity.sectors;
    let seen = run(&mut new(), 3, 30_000, random_4k(Op::Read, whole, 1));
    near("m052, random read, depth 3, whole disk", seen.mb_per_s(), 0.3, 10.0);
    let short = run(&mut new(), 3, 30_000, random_4k(Op::Read, 8 * SECTORS_A_GB, 1));
    assert!(short.mb_per_s() > 0.6, "{}", short.mb_per_s());
}

#[test]
fn depth_makes_no_difference_to_cached_writes() {
    let rate = |depth| {
        run(&mut new(), depth, 30_000, random_4k(Op::Write, 8 * SECTORS_A_GB, 1)).mb_per_s()
    };
    let (one, many) = (rate(1), rate(32));
    assert!((one / many - 1.0).abs() < 0.02, "{one} and {many}");
}

#[test]
fn one_value_is_fitted() {
    let text = include_str!("../../../../../drives/seagate-momentus-5400.6.toml");
    assert_eq!(text.matches("standing = \"fitted\"").count(), 1);
    let table: toml::Table = text.parse().expect("TOML");
    let standing = &table["cache"]["reorder_segments"]["standing"];
    assert_eq!(standing.as_str(), Some("fitted"));
}
