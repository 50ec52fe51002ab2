//! Streams of reads with several in flight.

use fourcorners_drive::Op;

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
