//! The energy of a hard disk: sums that can be done by hand.

use fourcorners_drive::config::{HddConfig, HddPowerSection};
use fourcorners_drive::{Hdd, HddEnergy, Nanos, Op, Tag, Target};

use crate::hdd::support::{
    drive, io, momentus, random_4k, run, seek_and_rotation_only, sequential_128k,
};

const IDLE_W: f64 = 2.0;
/// What seeking, reading and writing take beyond it.
const SEEK_W: f64 = 1.5;
const READ_W: f64 = 0.5;
const WRITE_W: f64 = 0.75;

fn metered(mut profile: HddConfig) -> HddConfig {
    profile.power = Some(HddPowerSection {
        idle_w: IDLE_W,
        seek_w: IDLE_W + SEEK_W,
        read_w: IDLE_W + READ_W,
        write_w: IDLE_W + WRITE_W,
    });
    profile
}

fn energy(drive: &Hdd) -> HddEnergy {
    drive.energy(drive.now()).expect("the profile has [power]")
}

#[track_caller]
fn within(measured: f64, expected: f64, part: f64) {
    assert!((measured / expected - 1.0).abs() <= part, "{measured}, not {expected}");
}

#[test]
fn an_idle_hour_is_idle_power_for_an_hour() {
    let mut drive = drive(&metered(momentus()));
    assert_eq!(drive.reap(Nanos::from_secs(3600)), Ok(None));
    assert_eq!(energy(&drive), HddEnergy { idle_j: 7200.0, ..HddEnergy::default() });
    let mut profile = momentus();
    profile.power = None;
    assert_eq!(Hdd::new(&profile).expect("a drive").energy_j(Nanos::ZERO), None);
}

#[test]
fn a_read_across_the_disk_is_its_seek_and_its_time_on_the_track() {
    let profile = metered(seek_and_rotation_only());
    let mut drive = drive(&profile);
    let last = profile.capacity.sectors - 8;
    let seen = run(&mut drive, 1, 1, || io(Op::Read, last, 8));
    let used = energy(&drive);
    // A full stroke takes 18 ms; then it waits for the sectors and reads them. Then 4 KiB cross
    // the link, at 600 MB/s.
    let latency = seen.elapsed.as_secs();
    within(used.seek_j, SEEK_W * 18e-3, 1e-6);
    within(used.read_j, READ_W * (latency - 18e-3 - 4096.0 / 600e6), 1e-5);
    within(used.idle_j, IDLE_W * latency, 1e-12);
    assert_eq!(used.write_j, 0.0);
    let total = used.idle_j + used.seek_j + used.read_j;
    assert_eq!(drive.energy_j(drive.now()), Some(total));
}

#[test]
fn random_reads_draw_by_the_mean_seek_and_half_a_turn() {
    let profile = metered(seek_and_rotation_only());
    let span = profile.capacity.sectors;
    let mut drive = drive(&profile);
    let seen = run(&mut drive, 1, 20_000, random_4k(Op::Read, span, 9));
    let watts = drive.energy_j(drive.now()).expect("metered") / seen.elapsed.as_secs();
    let (seek, turn) = (1.0 + 17.0 * 8.0 / 15.0, 60e3 / 7200.0 / 2.0);
    within(watts, IDLE_W + (SEEK_W * seek + READ_W * turn) / (seek + turn), 0.01);
}

#[test]
fn reading_on_draws_while_it_lasts_and_no_longer() {
    let mut drive = drive(&metered(momentus()));
    let seen = run(&mut drive, 1, 4000, sequential_128k(Op::Read, 0));
    // The head is on its track and reads all of the time.
    let used = energy(&drive);
    within(used.read_j, READ_W * seen.elapsed.as_secs(), 0.01);
    assert!(used.seek_j < used.read_j / 100.0, "{used:?}");
    // Nobody asks any more: it reads on until the buffer has what it keeps ahead, at most 1.5 MiB
    // at 80.5 MB/s with its switches, and then no more however long it waits.
    let stopped = drive.now();
    assert_eq!(drive.reap(stopped + Nanos::from_secs(1)), Ok(None));
    let after_a_second = energy(&drive).read_j;
    let read_on = (after_a_second - used.read_j) / READ_W;
    assert!(read_on > 0.0 && read_on < 1.5 * 1024.0 * 1024.0 / 80.5e6 * 1.05, "{read_on} s");
    assert_eq!(drive.reap(stopped + Nanos::from_secs(3600)), Ok(None));
    assert_eq!(energy(&drive).read_j, after_a_second);
}

#[test]
fn a_reader_that_pauses_pays_for_the_way_back() {
    let mut drive = drive(&metered(momentus()));
    let mut next = sequential_128k(Op::Read, 0);
    let mut busy = 0.0;
    for _ in 0..50 {
        let before = energy(&drive);
        run(&mut drive, 1, 1, &mut next);
        let pause = drive.now() + Nanos::from_secs(1);
        assert_eq!(drive.reap(pause), Ok(None));
        let used = energy(&drive);
        busy += (used.read_j - before.read_j) / READ_W + (used.seek_j - before.seek_j) / SEEK_W;
    }
    // 50 times 128 KiB, and what was read ahead at the end; for each but the first, which the
    // buffer answered, up to a turn (11.1 ms) until the head has its sector again.
    let transfer = (50.0 * 131_072.0 + 1.5 * 1_048_576.0) / 80.5e6;
    let way_back = (busy - transfer) / 49.0;
    assert!((3e-3..11.2e-3).contains(&way_back), "{way_back} s for each way back");
}

#[test]
fn cached_writes_cost_when_they_are_written_out() {
    let mut drive = drive(&metered(momentus()));
    run(&mut drive, 1, 20, random_4k(Op::Write, 900_000_000, 2));
    let answered = energy(&drive);
    drive.settle();
    let settled = energy(&drive);
    assert!(settled.write_j > answered.write_j && settled.seek_j > answered.seek_j);
    // On the track each of them waits for half a turn on average, and never for more than one.
    let on_track = settled.write_j / WRITE_W;
    assert!(on_track < 20.0 * 11.2e-3, "{on_track} s");
    let arm = on_track + settled.seek_j / SEEK_W;
    assert!(arm <= drive.now().as_secs(), "{arm} s of {}", drive.now());
    assert_eq!(settled.read_j, 0.0);
}

#[test]
fn the_arm_is_never_busy_for_longer_than_there_was_time() {
    for seed in 0..10 {
        let profile = metered(momentus());
        let span = profile.capacity.sectors;
        let mut drive = drive(&profile);
        let mut random = crate::hdd::support::Random(seed);
        let mut last = 0.0;
        for _ in 0..300 {
            let op = [Op::Read, Op::Write, Op::Flush][random.below(3) as usize];
            let near = random.below(2) == 0;
            let lba = random.below(if near { 1 << 16 } else { span - 1024 });
            let sectors = if op == Op::Flush { 0 } else { 1 + random.below(1024) as u32 };
            drive.submit(Tag(0), io(op, lba, sectors));
            while let Ok(Some(_)) = drive.reap(Nanos::MAX) {}
            let pause = drive.now() + Nanos(random.below(40_000_000));
            assert_eq!(drive.reap(pause), Ok(None), "seed {seed}");
            let used = energy(&drive);
            assert!(used.total_j() >= last, "seed {seed}: {last} J, then {}", used.total_j());
            last = used.total_j();
        }
        drive.settle();
        let used = energy(&drive);
        let arm = used.seek_j / SEEK_W + used.read_j / READ_W + used.write_j / WRITE_W;
        assert!(arm <= drive.now().as_secs() * (1.0 + 1e-9), "seed {seed}: {arm} s");
    }
}
