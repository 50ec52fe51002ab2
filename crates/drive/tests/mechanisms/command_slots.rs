//! Commands that a drive has in work at once: what waits behind them, and what does not.

use crate::common::{Random, Shape, fill, io, make, ssd};
use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Nanos, Op, Ssd, Tag, Target};

fn profile(command_slots: Option<u32>) -> SsdConfig {
    let mut profile =
        ssd(Shape { dies: 16, blocks_per_die: 40, pages_per_block: 64, effective_op: 0.15 });
    profile.buffer.write_kib = 1024;
    profile.controller.command_slots = command_slots;
    profile
}

/// Microseconds from when the last of `count` commands, all submitted at once, is submitted to when it is answered,
/// which is a read. The others are `op`.
fn last_read_us(drive: &mut Ssd, op: Op, count: u32) -> f64 {
    let units = drive.geometry().sectors / 8;
    let mut random = Random(5);
    let begin = drive.now();
    for number in 1..count {
        drive.submit(Tag(number), io(op, random.below(units), 1));
    }
    drive.submit(Tag(0), io(Op::Read, random.below(units), 1));
    let mut last = Nanos::ZERO;
    for _ in 0..count {
        let done = drive.reap(Nanos::MAX).expect("no fault").expect("all are answered");
        if done.tag == Tag(0) {
            last = done.at;
        }
    }
    (last - begin).as_secs() * 1e6
}

fn filled(command_slots: Option<u32>) -> Ssd {
    let mut drive = make(&profile(command_slots));
    fill(&mut drive);
    drive.settle();
    drive
}

#[test]
fn a_read_waits_behind_writes_that_are_not_taken_yet() {
    let behind = |slots| last_read_us(&mut filled(slots), Op::Write, 2000);
    let (free, many) = (behind(None), behind(Some(4000)));
    assert_eq!(free, many, "more slots than commands are no limit");
    // 2000 writes of 4 KiB are eight times what the buffer holds: the read goes after all but 32 of them.
    let limited = behind(Some(32));
    assert!(limited > 3.0 * free, "{limited} and {free} us");
}

#[test]
fn with_room_in_the_buffer_it_hardly_waits() {
    let behind = |slots| last_read_us(&mut filled(slots), Op::Write, 100);
    let (free, limited) = (behind(None), behind(Some(32)));
    assert!(limited < 1.2 * free, "{limited} and {free} us");
}

/// Random reads a second at a depth.
fn reads_a_second(command_slots: Option<u32>, depth: u32) -> f64 {
    let mut drive = filled(command_slots);
    let units = drive.geometry().sectors / 8;
    let mut random = Random(9);
    let begin = drive.now();
    let mut submit = |drive: &mut Ssd, tag| {
        drive.submit(Tag(tag), io(Op::Read, random.below(units), 1));
    };
    (0..depth).for_each(|tag| submit(&mut drive, tag));
    const COUNT: u32 = 20_000;
    for _ in 0..COUNT {
        let done = drive.reap(Nanos::MAX).expect("no fault").expect("some are in flight");
        submit(&mut drive, done.tag.0);
    }
    f64::from(COUNT) / (drive.now() - begin).as_secs()
}

#[test]
fn a_deeper_queue_than_there_are_slots_gains_nothing() {
    let at = reads_a_second;
    let (limited, shallow) = (at(Some(2), 64), at(None, 2));
    assert!((limited / shallow - 1.0).abs() < 0.05, "{limited} and {shallow} a second");
    assert!(at(None, 64) > 1.5 * shallow);
}
