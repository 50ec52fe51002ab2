//! Seek, rotation and shortest access time first against closed forms and a published table.

use fourcorners_drive::Op;

use crate::hdd::support::{
    drive, momentus, random_4k, run, seek_and_rotation_only, sequential_128k,
};

fn within_percent(measured: f64, expected: f64, percent: f64) {
    let off = (measured / expected - 1.0) * 100.0;
    assert!(off.abs() <= percent, "{measured:.4} is {off:+.2} % off {expected:.4}");
}

#[test]
fn random_reads_at_depth_1_take_seek_plus_half_a_turn() {
    let profile = seek_and_rotation_only();
    let mut drive = drive(&profile);
    let seen = run(&mut drive, 1, 100_000, random_4k(Op::Read, profile.capacity.sectors, 1));
    // T = E[seek] + T_rot / 2 = (1 + 17 * 8/15) + 30 / 7.2 ms; density 2 (1 - x), E[sqrt x] = 8/15.
    within_percent(seen.mean_ms(), 1.0 + 17.0 * 8.0 / 15.0 + 30.0 / 7.2, 0.5);
    within_percent(seen.iops(), 70.2, 0.5);
}

#[test]
fn a_short_stroke_scales_the_root() {
    // Over a part p of the stroke, E[sqrt x] = 8/15 sqrt p.
    let profile = seek_and_rotation_only();
    let span = profile.capacity.sectors / 20;
    let seen = run(&mut drive(&profile), 1, 100_000, random_4k(Op::Read, span, 1));
    within_percent(seen.mean_ms(), 1.0 + 17.0 * 8.0 / 15.0 * 0.05f64.sqrt() + 30.0 / 7.2, 0.5);
}

#[test]
fn shortest_access_time_first_gains_as_published() {
    // Writes without a cache, because theirs is the only answer that comes at the very moment the
    // arm is free: the table has the new command in the queue when the arm chooses, while behind
    // a link a drive chooses among one fewer.
    let profile = seek_and_rotation_only();
    let whole = profile.capacity.sectors;
    for (depth, iops) in [(1, 70.2), (2, 84.2), (4, 100.2), (8, 118.8), (16, 141.2), (32, 168.7)] {
        let seen = run(&mut drive(&profile), depth, 40_000, random_4k(Op::Write, whole, 2));
        println!("whole disk, depth {depth}: {:.1} of {iops}", seen.iops());
        within_percent(seen.iops(), iops, 2.0);
    }
    for (depth, iops) in [(1, 139.3), (32, 359.4)] {
        let seen = run(&mut drive(&profile), depth, 40_000, random_4k(Op::Write, whole / 20, 3));
        println!("5 %, depth {depth}: {:.1} of {iops}", seen.iops());
        within_percent(seen.iops(), iops, 2.0);
    }
}

#[test]
fn every_part_of_a_real_drives_read_is_accounted_for() {
    // One zone, so that addresses are uniform over the cylinders; everything else as it is.
    let mut profile = momentus();
    profile.media.zones = 1;
    profile.media.inner_mb_per_s = profile.media.outer_mb_per_s;
    let seen =
        run(&mut drive(&profile), 1, 100_000, random_4k(Op::Read, profile.capacity.sectors, 4));
    let transfer_ms = 4096.0 / (profile.media.outer_mb_per_s * 1e3);
    let link_ms = profile.link.command_us / 1e3 + profile.link.frame_us / 1e3 + 4096.0 / 300e3;
    let host_ms = profile.host.command_us / 1e3;
    let expected = profile.mechanics.average_seek_ms
        + 30.0 / (profile.mechanics.rpm / 1e3)
        + transfer_ms
        + link_ms
        + host_ms;
    within_percent(seen.mean_ms(), expected, 1.0);
}

#[test]
fn sequential_transfers_run_at_the_zones_rate_less_switches() {
    let profile = momentus();
    let heads = f64::from(profile.mechanics.heads);
    let turn_ms = 60e3 / profile.mechanics.rpm;
    let settle_ms = profile.mechanics.write_settle_ms;
    let switches_ms = (heads - 1.0) * (profile.mechanics.head_switch_ms + settle_ms)
        + profile.mechanics.track_to_track_ms
        + settle_ms;
    let share = heads * turn_ms / (heads * turn_ms + switches_ms);
    let inner = profile.capacity.sectors / 256 * 256 - 6000 * 256;
    for op in [Op::Read, Op::Write] {
        for (start, media) in
            [(0, profile.media.outer_mb_per_s), (inner, profile.media.inner_mb_per_s)]
        {
            let mut drive = drive(&profile);
            // Fills the cache, so that writes run at the rate at which they reach the media.
            run(&mut drive, 1, 500, sequential_128k(op, start));
            let seen = run(&mut drive, 1, 5000, sequential_128k(op, start + 500 * 256));
            println!("{op:?} from {start}: {:.1} MB/s", seen.mb_per_s());
            within_percent(seen.mb_per_s(), media * share, 1.0);
        }
    }
}

#[test]
fn a_full_turn_is_lost_between_reads_without_read_ahead() {
    // Each sequential read begins after the head has passed its first sector by host and link
    // time: a whole revolution a read on top of its transfer at the sequential 80.5 MB/s.
    let mut profile = momentus();
    profile.cache.read_ahead_kib = 0;
    let seen = run(&mut drive(&profile), 1, 2000, sequential_128k(Op::Read, 0));
    let turn_ms = 60e3 / profile.mechanics.rpm;
    let transfer_ms = 131_072.0 / 80.5e3;
    within_percent(seen.mean_ms(), turn_ms + transfer_ms, 1.0);
}

#[test]
fn a_queue_of_sequential_reads_streams_without_read_ahead() {
    let mut profile = momentus();
    profile.cache.read_ahead_kib = 0;
    let seen = run(&mut drive(&profile), 4, 5000, sequential_128k(Op::Read, 0));
    assert!(seen.mb_per_s() > 78.0, "{}", seen.mb_per_s());
}

#[test]
fn time_is_the_sum_of_its_parts_for_a_single_read() {
    // From rest at cylinder 0 the first read of LBA 0 needs neither seek nor turn.
    let profile = seek_and_rotation_only();
    let seen = run(&mut drive(&profile), 1, 1, sequential_128k(Op::Read, 0));
    // The link is slower than the head here: 131,072 bytes at 600 MB/s.
    assert!(seen.latency_max.0.abs_diff(218_453) < 1000, "{}", seen.latency_max);
}
