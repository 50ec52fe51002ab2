//! A limit on host writes while collection moves data: when it holds, what it does then, and what it leaves alone.

mod common;

use common::{Random, Shape, closed_loop, fill, io, make, overwrite, ssd, times};
use fourcorners_drive::config::{Pacing, SlcBufferSection, SsdConfig, WriteLimitSection};
use fourcorners_drive::{Nanos, Op, Ssd, Target};

const DEPTH: u32 = 32;

/// With 15 % spare its flash has some 14,000 writes a second in the steady state, which the limit of 10,000 is below.
fn drive(limit: Option<WriteLimitSection>) -> SsdConfig {
    let mut profile =
        ssd(Shape { dies: 16, blocks_per_die: 64, pages_per_block: 64, effective_op: 0.15 });
    profile.nand.program_us = 200.0;
    profile.buffer.write_kib = 4096;
    profile.write_limit = limit;
    profile
}

fn limit(burst_kib: u32) -> Option<WriteLimitSection> {
    Some(WriteLimitSection { us_per_4k: 100.0, burst_kib })
}

/// Filled and written over three times at random.
fn steady(profile: &SsdConfig) -> Ssd {
    let mut drive = make(profile);
    fill(&mut drive);
    let units = drive.geometry().sectors / 8;
    overwrite(&mut drive, &mut Random(1), units, units * 3);
    drive.settle();
    drive
}

/// Latencies of random writes, in microseconds and in order of size, and how many a second there were.
fn random_writes(drive: &mut Ssd, count: u64) -> (Vec<f64>, f64) {
    let units = drive.geometry().sectors / 8;
    let mut random = Random(2);
    let begin = drive.now();
    let latencies =
        closed_loop(drive, DEPTH, times(count, |_| io(Op::Write, random.below(units), 1)));
    let rate = count as f64 / (drive.now() - begin).as_secs();
    let mut latencies: Vec<f64> = latencies.iter().map(|it| it.0 as f64 / 1e3).collect();
    latencies.sort_by(f64::total_cmp);
    (latencies, rate)
}

/// What a share of the latencies is below.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[(sorted.len() as f64 * share) as usize]
}

#[test]
fn in_the_steady_state_every_write_takes_its_turn() {
    let (latencies, rate) = random_writes(&mut steady(&drive(limit(0))), 40_000);
    assert!((rate / 10_000.0 - 1.0).abs() < 0.001, "{rate} a second");
    let turn = f64::from(DEPTH) * 100.0;
    for share in [0.1, 0.5, 0.9, 0.99] {
        let at = quantile(&latencies, share);
        assert!((at / turn - 1.0).abs() < 0.01, "quantile {share}: {at} us of {turn}");
    }
    // Without the limit the flash sets the rate, which is higher, and no two writes wait alike.
    let (latencies, rate) = random_writes(&mut steady(&drive(None)), 40_000);
    assert!(rate > 10_500.0, "{rate} a second");
    let spread = quantile(&latencies, 0.99) / quantile(&latencies, 0.1);
    assert!(spread > 2.0, "p99 is {spread} of p10");
}

#[test]
fn a_drive_with_space_left_and_one_written_in_order_are_not_limited() {
    let rates = |limit| {
        let mut fresh = make(&drive(limit));
        let units = fresh.geometry().sectors / 8;
        let of = |drive: &mut Ssd, first: u64| {
            let begin = drive.now();
            let writes = times(units / 32, |i| io(Op::Write, (first + i) * 32 % (units - 32), 32));
            closed_loop(drive, 4, writes);
            drive.settle();
            (drive.now() - begin).0
        };
        let new = of(&mut fresh, 0);
        // Collection begins here and moves next to nothing.
        let again: Vec<u64> = (1..4).map(|turn| of(&mut fresh, turn)).collect();
        (new, again)
    };
    assert_eq!(rates(limit(0)), rates(None));
    // At the limit a drive write would take this long.
    let at_limit = f64::from(drive(None).capacity.sectors as u32 / 8) * 100_000.0;
    let (_, again) = rates(limit(0));
    assert!(again.iter().all(|&ns| (ns as f64) < at_limit / 2.0), "{again:?} of {at_limit}");
}

#[test]
fn after_a_purge_it_holds_no_more() {
    let mut used = steady(&drive(limit(0)));
    used.purge();
    let (_, rate) = random_writes(&mut used, 20_000);
    assert!(rate > 20_000.0, "{rate} a second");
}

#[test]
fn what_was_not_used_comes_at_once_and_no_more_than_that() {
    // Of 64 KiB there are 16 besides the one that is due, and one more is due by the time the link had those.
    for (burst_kib, together) in [(0, 1), (64, 18)] {
        let mut drive = steady(&drive(limit(burst_kib)));
        let first: Vec<Nanos> = {
            // A pause long enough to be owed everything.
            let until = drive.now() + Nanos::from_secs(1);
            assert_eq!(drive.reap(until), Ok(None));
            closed_loop(&mut drive, DEPTH, times(u64::from(DEPTH), |i| io(Op::Write, i * 7, 1)))
        };
        let at_once = 1 + first.windows(2).filter(|pair| (pair[1] - pair[0]).0 < 50_000).count();
        assert_eq!(at_once, together, "{burst_kib} KiB: {first:?}");
    }
}

#[test]
fn reads_are_not_limited() {
    let reads = |limit| {
        let mut drive = steady(&drive(limit));
        closed_loop(&mut drive, 1, times(2000, |i| io(Op::Read, i * 3, 1)))
    };
    let mean = |latencies: Vec<Nanos>| {
        latencies.iter().map(|it| it.0 as f64).sum::<f64>() / latencies.len() as f64
    };
    let (with, without) = (mean(reads(limit(0))), mean(reads(None)));
    assert!((with / without - 1.0).abs() < 0.01, "{with} and {without} ns");
}

#[test]
fn what_has_no_paced_collection_has_no_limit() {
    let refusal = |change: fn(&mut SsdConfig)| {
        let mut profile = drive(limit(0));
        change(&mut profile);
        profile.check().expect_err("it is no drive").to_string()
    };
    for (told, refused) in [
        ("set gc.pacing = paced", refusal(|profile| profile.gc.pacing = Pacing::Delayed)),
        (
            "leave out [write_limit] or [slc_buffer]",
            refusal(|profile| profile.slc_buffer = Some(SlcBufferSection::default())),
        ),
        (
            "write_limit.us_per_4k = 0 is not possible: it must be 0.01 to 1000000",
            refusal(|profile| {
                profile.write_limit =
                    Some(WriteLimitSection { us_per_4k: 0.0, ..WriteLimitSection::default() });
            }),
        ),
    ] {
        assert!(refused.contains(told), "{refused}");
    }
}
