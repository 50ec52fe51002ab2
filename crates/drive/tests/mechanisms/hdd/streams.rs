//! Streams of reads with several in flight.

use fourcorners_drive::{Io, Nanos, Op, Tag, Target};

use crate::hdd::support::{drive, io, momentus, random_4k, run};

#[test]
fn a_stream_is_as_fast_at_any_depth_and_none_of_its_reads_is_passed_over() {
    for sectors in [1u32, 3, 8, 64, 256, 2048] {
        let count = (40_000_000 / (u64::from(sectors) * 512)).clamp(200, 20_000);
        let of = |depth| {
            let mut next = 0;
            let stream = || {
                next += u64::from(sectors);
                io(Op::Read, next - u64::from(sectors), sectors)
            };
            run(&mut drive(&momentus()), depth, count, stream)
        };
        let alone = of(1);
        let mut before = alone.mb_per_s();
        for depth in [2, 3, 4, 5, 6, 7, 8, 11, 16, 23, 32] {
            let seen = of(depth);
            let rate = seen.mb_per_s();
            assert!(
                rate > 0.97 * before,
                "{sectors} sectors, depth {depth}: {rate} after {before}"
            );
            before = before.max(rate);
            // Two turns, the way to the first one, and what is ahead of it in the queue.
            let queue_ms = f64::from(depth * sectors) * 512.0 / 80e6 * 1e3;
            let most = 40.0 + 1.1 * queue_ms;
            assert!(
                seen.latency_max.as_secs() * 1e3 < most,
                "{sectors} sectors, depth {depth}: {} waited, {most} ms at most",
                seen.latency_max
            );
        }
    }
}

#[test]
fn reads_that_follow_no_other_wait_for_the_arm() {
    let whole = momentus().capacity.sectors;
    let seen = run(&mut drive(&momentus()), 8, 2000, random_4k(Op::Read, whole, 3));
    assert!(
        seen.mb_per_s() < 1.0 && seen.mean_ms() > 30.0,
        "{} {}",
        seen.mb_per_s(),
        seen.mean_ms()
    );
}

#[test]
fn what_waits_beside_a_stream_has_its_turn() {
    let mut drive = drive(&momentus());
    let far = momentus().capacity.sectors / 2;
    let mut next = 0;
    let mut stream = || {
        next += 128;
        io(Op::Read, next - 128, 128)
    };
    for tag in 0..4 {
        drive.submit(Tag(tag), stream());
    }
    drive.submit(Tag(4), io(Op::Read, far, 8));
    // Were it left to the longest wait, it would be two seconds; alone it takes a seek and a turn.
    let answered = loop {
        let done = drive.reap(Nanos::MAX).expect("no fault").expect("some are in flight");
        if done.tag == Tag(4) {
            break done.at;
        }
        drive.submit(done.tag, stream());
    };
    assert!((5..200).contains(&(answered.0 / 1_000_000)), "{answered}");
}

#[test]
fn what_a_write_replaces_is_not_read_out_of_the_buffer() {
    let again = |bypasses: bool| {
        let mut drive = drive(&momentus());
        for (tag, read) in [(0, io(Op::Read, 0, 128)), (1, io(Op::Read, 128, 128))] {
            drive.submit(Tag(tag), read);
        }
        if bypasses {
            drive.submit(Tag(2), Io { fua: true, ..io(Op::Write, 192, 8) });
        }
        while drive.reap(Nanos(1_000_000_000)).expect("no fault").is_some() {}
        let from = drive.now();
        drive.submit(Tag(3), io(Op::Read, 192, 8));
        drive.reap(Nanos::MAX).expect("no fault").expect("it is in flight").at - from
    };
    assert!(again(false) < Nanos(500_000), "it was read: {}", again(false));
    assert!(again(true) > Nanos(1_000_000), "it was replaced: {}", again(true));
}
