//! A limit on host writes while collection moves data: when it holds, what it does then, and what it leaves alone.

use crate::common::{Random, Shape, closed_loop, fill, io, make, overwrite, ssd, times};
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
    Some(WriteLimitSection { us_per_4k: 100.0, burst_kib, ..WriteLimitSection::default() })
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

/// Random writes at half the limit, as a host with pauses of its own has them.
fn paced_writes(section: WriteLimitSection) -> Vec<f64> {
    let mut drive = steady(&drive(Some(section)));
    let units = drive.geometry().sectors / 8;
    let mut random = Random(2);
    let begin = drive.now();
    let mut latencies: Vec<f64> = (1..20_000)
        .map(|number| {
            let due = begin + Nanos(200_000 * number);
            let _ = drive.reap(due.max(drive.now())).expect("nothing to fail");
            closed_loop(&mut drive, 1, times(1, |_| io(Op::Write, random.below(units), 1)))[0].0
        })
        .map(|ns| ns as f64 / 1e3)
        .collect();
    latencies.sort_by(f64::total_cmp);
    latencies
}

#[test]
fn collection_that_fell_behind_stops_the_writes_of_a_host_below_the_limit() {
    let even = WriteLimitSection { us_per_4k: 100.0, burst_kib: 64, ..Default::default() };
    let pausing =
        WriteLimitSection { pause_us: Some(20_000.0), pause_every_kib: Some(4000), ..even.clone() };
    let with = paced_writes(pausing.clone());
    assert!((with.last().expect("some") / 20_000.0 - 1.0).abs() < 0.05, "{:?}", with.last());
    assert!(quantile(&with, 0.5) < 100.0);
    // Collection itself makes some wait, shorter: of 20,000 writes a pause comes to every thousandth.
    let long = |latencies: &[f64]| latencies.iter().filter(|us| **us > 15_000.0).count();
    let without = paced_writes(even);
    assert!(long(&with) >= 15, "{} of them", long(&with));
    assert_eq!(long(&without), 0, "{:?}", without.last());
    // Of up to 200 ms from one to the next a fortieth is recovered here, of less where the host had to catch up.
    let recovering = WriteLimitSection { pause_recovers_percent: Some(2.5), ..pausing.clone() };
    let recovered = paced_writes(recovering);
    assert!(long(&recovered) >= 10, "{} of them", long(&recovered));
    assert!(
        (15_000.0..18_000.0).contains(recovered.last().expect("some")),
        "{:?}",
        recovered.last()
    );
    // At the limit there are no pauses: every write takes its turn as before.
    let (latencies, rate) = random_writes(&mut steady(&drive(Some(pausing))), 40_000);
    assert!((rate / 10_000.0 - 1.0).abs() < 0.02, "{rate} a second");
    assert!(quantile(&latencies, 0.99) < 3300.0);
}

#[test]
fn fresh_it_is_as_even_as_it_is_told() {
    let rate = |fresh_us_per_4k| {
        let section = WriteLimitSection { fresh_us_per_4k, ..Default::default() };
        random_writes(&mut make(&drive(Some(section))), 20_000)
    };
    let (latencies, spaced) = rate(Some(40.0));
    assert!((spaced / 25_000.0 - 1.0).abs() < 0.01, "{spaced} a second");
    assert!(quantile(&latencies, 0.99) / quantile(&latencies, 0.1) < 1.02);
    let (_, free) = rate(None);
    assert!(free > 30_000.0, "{free} a second");
}
