//! What the buffer, the queue and the edges of the disk do.

use fourcorners_drive::config::PcieLinkSection;
use fourcorners_drive::{FaultCause, Hdd, Io, Nanos, Op, Tag, Target};

use crate::hdd::support::{Random, drive, io, momentus, random_4k, run, sequential_128k};

const MS: u64 = 1_000_000;

/// Submits one I/O and waits for it.
fn latency(drive: &mut Hdd, op: Op, lba: u64, sectors: u32) -> Nanos {
    let from = drive.now();
    drive.submit(Tag(0), io(op, lba, sectors));
    drive.reap(Nanos::MAX).expect("no fault").expect("in flight").at - from
}

fn pass(drive: &mut Hdd, time: Nanos) {
    let until = drive.now() + time;
    assert_eq!(drive.reap(until), Ok(None));
    assert_eq!(drive.now(), until);
}

#[test]
fn scattered_writes_are_answered_at_once_until_the_segments_are_taken() {
    let profile = momentus();
    let segments = u64::from(profile.cache.write_segments);
    let mut drive = drive(&profile);
    let mut next = random_4k(Op::Write, profile.capacity.sectors, 5);
    let burst = run(&mut drive, 1, segments, &mut next);
    assert!(burst.latency_max < Nanos(MS), "{}", burst.latency_max);
    assert_eq!(drive.unwritten_bytes(), segments * 4096);
    // From then on one is answered when one is written, at some 11 ms over the whole disk.
    let after = run(&mut drive, 1, 2000, &mut next);
    assert!((8.0..16.0).contains(&after.mean_ms()), "{}", after.mean_ms());
}

#[test]
fn sequential_writes_are_answered_at_once_until_the_bytes_are_taken() {
    let profile = momentus();
    let fits = (profile.cache.size_kib - profile.cache.read_ahead_kib) / 128;
    let mut drive = drive(&profile);
    let mut next = sequential_128k(Op::Write, 0);
    let burst = run(&mut drive, 1, fits, &mut next);
    assert!(burst.latency_max < Nanos(MS), "{}", burst.latency_max);
    let after = run(&mut drive, 1, 2000, &mut next);
    let rate = after.mb_per_s();
    assert!((79.0..82.0).contains(&rate), "{rate}");
    // Back-pressure comes in steps of what is written out at once, 3 ms, not of the whole cache;
    // the first of them waits for its turn of the platters.
    assert!(after.latency_max < Nanos(16 * MS), "{}", after.latency_max);
}

#[test]
fn without_a_write_cache_every_write_waits_for_the_media() {
    let mut profile = momentus();
    profile.cache.write_cache = false;
    let whole = profile.capacity.sectors;
    let seen = run(&mut drive(&profile), 1, 20_000, random_4k(Op::Write, whole, 1));
    // Zones put more of the addresses outside, so that seeks are a little shorter than average.
    let expected =
        profile.mechanics.average_seek_ms + profile.mechanics.write_settle_ms + 30.0 / 5.4;
    assert!((0.95..1.01).contains(&(seen.mean_ms() / expected)), "{}", seen.mean_ms());
}

#[test]
fn a_forced_write_passes_the_cache_by() {
    let profile = momentus();
    let whole = profile.capacity.sectors;
    let mut next = random_4k(Op::Write, whole, 1);
    let mut cached = drive(&profile);
    let forced = run(&mut cached, 4, 5000, || Io { fua: true, ..next() });
    assert_eq!(cached.unwritten_bytes(), 0);
    let mut uncached = momentus();
    uncached.cache.write_cache = false;
    let plain = run(&mut drive(&uncached), 4, 5000, random_4k(Op::Write, whole, 1));
    assert_eq!(forced.latency_sum, plain.latency_sum);
}

#[test]
fn a_host_controller_stands_in_front_of_a_disk_as_well() {
    let mut profile = momentus();
    profile.host.command_us = 1.0;
    profile.host.read_command_us = Some(200.0);
    profile.host.write_command_us = Some(700.0);
    // 250 MB/s and packets of 128 bytes: slower than the 3 Gb/s behind it.
    profile.upstream = Some(PcieLinkSection {
        generation: 1,
        lanes: 1,
        max_payload_bytes: 128,
        dllp_percent: None,
    });
    let link = profile.link.command_us;
    let mut drive = drive(&profile);
    let written = latency(&mut drive, Op::Write, 0, 256);
    let crossed = 131_072.0 * 152.0 / 128.0 / 250.0;
    let expected = Nanos::from_micros(700.0 + link + crossed);
    assert!(written.0.abs_diff(expected.0) <= 2, "{written} where {expected} was expected");
    let read = latency(&mut drive, Op::Read, 0, 256);
    let expected = Nanos::from_micros(200.0 + link + crossed);
    assert!(read.0.abs_diff(expected.0) <= 2, "{read} where {expected} was expected");
}

#[test]
fn cached_writes_reach_the_media_when_the_drive_idles() {
    let mut drive = drive(&momentus());
    run(&mut drive, 1, 50, random_4k(Op::Write, 1 << 28, 1));
    assert_eq!(drive.unwritten_bytes(), 50 * 4096);
    pass(&mut drive, Nanos(10 * MS));
    assert_eq!(drive.unwritten_bytes(), 50 * 4096);
    // 50 writes of some 11 ms: an eighth of a second writes some of them, an hour all.
    pass(&mut drive, Nanos(125 * MS));
    assert!((1..50 * 4096).contains(&drive.unwritten_bytes()));
    pass(&mut drive, Nanos::from_secs(3600));
    assert_eq!(drive.unwritten_bytes(), 0);
}

#[test]
fn the_time_used_before_a_command_is_used_whether_it_is_asked_for_or_not() {
    // Idling in one step or in a thousand leaves the same drive.
    let after = |steps: u64| {
        let mut drive = drive(&momentus());
        run(&mut drive, 4, 60, random_4k(Op::Write, 1 << 28, 1));
        for _ in 0..steps {
            pass(&mut drive, Nanos(600 * MS / steps));
        }
        (drive.unwritten_bytes(), latency(&mut drive, Op::Read, 1 << 27, 8))
    };
    assert_eq!(after(1), after(1000));
}

#[test]
fn a_flush_waits_for_what_came_before_it_and_only_that() {
    let mut drive = drive(&momentus());
    assert!(latency(&mut drive, Op::Flush, 0, 0) < Nanos(MS), "nothing to write");
    run(&mut drive, 1, 20, random_4k(Op::Write, 1 << 28, 1));
    // It would take the drive 20 ms of idling to begin by itself, and 20 writes take longer.
    assert!(latency(&mut drive, Op::Flush, 0, 0) > Nanos(50 * MS));
    assert_eq!(drive.unwritten_bytes(), 0);

    // An endless stream of writes does not keep it from ending.
    drive.submit(Tag(0), io(Op::Write, 0, 256));
    drive.submit(Tag(1), io(Op::Flush, 0, 0));
    let (mut next, begun) = (256, drive.now());
    loop {
        let done = drive.reap(Nanos::MAX).expect("no fault").expect("in flight");
        if done.tag == Tag(1) {
            break;
        }
        drive.submit(Tag(0), io(Op::Write, next, 256));
        next += 256;
        assert!(drive.now() - begun < Nanos(500 * MS));
    }
    assert!(drive.unwritten_bytes() > 0, "later writes still wait");
}

#[test]
fn a_flush_without_a_write_cache_has_nothing_to_do() {
    let mut profile = momentus();
    profile.cache.write_cache = false;
    let mut drive = drive(&profile);
    latency(&mut drive, Op::Write, 1 << 20, 8);
    assert!(latency(&mut drive, Op::Flush, 0, 0) < Nanos(MS));
}

#[test]
fn reads_of_cached_writes_need_no_media() {
    let mut drive = drive(&momentus());
    latency(&mut drive, Op::Write, 1 << 28, 64);
    assert!(latency(&mut drive, Op::Read, (1 << 28) + 8, 16) < Nanos(MS));
    // Half of it is elsewhere.
    assert!(latency(&mut drive, Op::Read, (1 << 28) + 32, 64) > Nanos(MS));
}

#[test]
fn rewriting_cached_sectors_takes_no_more_room() {
    let mut drive = drive(&momentus());
    for _ in 0..1000 {
        assert!(latency(&mut drive, Op::Write, 4096, 8) < Nanos(MS));
    }
    assert_eq!(drive.unwritten_bytes(), 4096);
}

#[test]
fn read_ahead_has_the_next_sectors_ready() {
    let mut drive = drive(&momentus());
    latency(&mut drive, Op::Read, 1 << 20, 256);
    pass(&mut drive, Nanos(50 * MS));
    // Half of the buffer at once, at the link's rate.
    assert!(latency(&mut drive, Op::Read, (1 << 20) + 256, 1024) < Nanos(3 * MS));
    // Elsewhere it is no help, and afterwards what was read stays.
    assert!(latency(&mut drive, Op::Read, 1 << 28, 8) > Nanos(MS));
    // What is written over it is not read from it.
    latency(&mut drive, Op::Write, (1 << 28) + 64, 8);
    latency(&mut drive, Op::Flush, 0, 0);
    assert!(latency(&mut drive, Op::Read, (1 << 28) + 32, 64) > Nanos(MS));
}

#[test]
fn a_host_slower_than_the_media_never_waits_for_them() {
    let mut drive = drive(&momentus());
    latency(&mut drive, Op::Read, 0, 256);
    for i in 1..500 {
        pass(&mut drive, Nanos(3 * MS));
        let took = latency(&mut drive, Op::Read, i * 256, 256);
        assert!(took < Nanos(2 * MS), "read {i}: {took}");
    }
}

#[test]
fn a_nearer_command_that_comes_later_goes_first() {
    let mut profile = momentus();
    profile.cache.read_ahead_kib = 0;
    let mut drive = drive(&profile);
    let far = profile.capacity.sectors - 8;
    drive.submit(Tag(0), io(Op::Read, 1 << 22, 8));
    // The arm is on its way to the first when the others come.
    assert_eq!(drive.reap(Nanos(100_000)), Ok(None));
    drive.submit(Tag(1), io(Op::Read, far, 8));
    assert_eq!(drive.reap(Nanos(200_000)), Ok(None));
    drive.submit(Tag(2), io(Op::Read, (1 << 22) + 2000, 8));
    let order: Vec<u32> =
        std::iter::from_fn(|| drive.reap(Nanos::MAX).expect("no fault")).map(|d| d.tag.0).collect();
    assert_eq!(order, [0, 2, 1]);
}

#[test]
fn a_far_command_does_not_starve() {
    let wait = |max_wait_ms: f64| {
        let mut profile = momentus();
        profile.ncq.max_wait_ms = max_wait_ms;
        let mut drive = drive(&profile);
        let far = profile.capacity.sectors - 8;
        let mut random = Random(1);
        let mut near = || io(Op::Read, random.below(20_000) * 8, 8);
        for tag in 0..31 {
            drive.submit(Tag(tag), near());
        }
        drive.submit(Tag(31), io(Op::Read, far, 8));
        loop {
            let done = drive.reap(Nanos::MAX).expect("no fault").expect("in flight");
            if done.tag == Tag(31) || done.at > Nanos::from_secs(60) {
                return done.at;
            }
            drive.submit(done.tag, near());
        }
    };
    // At most its patience, then whatever is older and itself: 32 accesses of under 40 ms.
    assert!(wait(2000.0) < Nanos::from_secs(2) + Nanos(32 * 40 * MS), "{}", wait(2000.0));
    assert!(wait(200.0) < Nanos(200 * MS + 32 * 40 * MS), "{}", wait(200.0));
    // The stream is one that would starve it.
    assert!(wait(600_000.0) > Nanos::from_secs(10), "{}", wait(600_000.0));
}

#[test]
fn trim_is_no_command_of_it() {
    let mut drive = drive(&momentus());
    drive.submit(Tag(0), io(Op::Trim, 0, 8));
    let fault = drive.reap(Nanos::MAX).expect_err("unsupported");
    assert_eq!((fault.tag, fault.cause), (Tag(0), FaultCause::Unsupported));
    assert_eq!(drive.reap(Nanos::MAX), Ok(None));
}

#[test]
fn every_size_at_both_ends_of_the_disk() {
    for write_cache in [false, true] {
        let mut profile = momentus();
        profile.cache.write_cache = write_cache;
        let sectors = profile.capacity.sectors;
        let mut drive = drive(&profile);
        let whole = u32::try_from(sectors).expect("500 GB");
        for op in [Op::Read, Op::Write, Op::Flush, Op::Read] {
            for size in [1, 3, 7, 256, 65_535, 1 << 20, whole] {
                latency(&mut drive, op, 0, size);
                latency(&mut drive, op, sectors - u64::from(size), size);
                if u64::from(size) < sectors {
                    latency(&mut drive, op, 1, size);
                }
            }
        }
        // All of the disk takes 500 GB at 61 MB/s on average.
        let hours = latency(&mut drive, Op::Read, 0, whole).as_secs() / 3600.0;
        assert!((2.1..2.5).contains(&hours), "{hours}");
        drive.submit(Tag(0), io(Op::Read, sectors, 1));
        assert!(drive.reap(Nanos::MAX).is_err());
    }
}

#[test]
fn a_disk_of_one_sector() {
    let mut profile = momentus();
    profile.capacity.sectors = 1;
    profile.mechanics.heads = 1;
    let mut drive = drive(&profile);
    for op in [Op::Write, Op::Read, Op::Flush, Op::Read] {
        latency(&mut drive, op, 0, 1);
    }
}

#[test]
fn the_end_of_time() {
    let mut drive = drive(&momentus());
    assert_eq!(drive.reap(Nanos(u64::MAX - 1)), Ok(None));
    for op in [Op::Read, Op::Write, Op::Flush, Op::Read] {
        drive.submit(Tag(0), io(op, 1 << 28, 256));
        assert!(drive.reap(Nanos::MAX).expect("no fault").is_some());
    }
}

#[test]
fn waiting_without_end_for_nothing_leaves_the_clock() {
    let mut drive = drive(&momentus());
    latency(&mut drive, Op::Write, 0, 8);
    let now = drive.now();
    assert_eq!(drive.reap(Nanos::MAX), Ok(None));
    assert_eq!((drive.now(), drive.unwritten_bytes()), (now, 4096));
}
