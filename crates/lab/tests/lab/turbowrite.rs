//! What the pages say of the Samsung 840 EVO's SLC buffer: writes are fast until it is full, and some
//! 15 to 30 s of idle time later they are again.

use fourcorners_catalogue::{self as catalogue, Model};
use fourcorners_drive::{Io, Lba, Nanos, Ssd, Tag, Target};
use fourcorners_lab::drive::Drive;
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{JobEnd, Unobserved};

const MB: u64 = 1_000_000;
const BLOCK_SECTORS: u32 = 256;

fn drive(name: &str, set: &[&str]) -> Ssd {
    let set: Vec<String> = set.iter().map(|set| set.to_string()).collect();
    let profile = catalogue::built_in(name, &set).unwrap_or_else(|error| panic!("{error}"));
    match profile.model {
        Model::Ssd(profile) => Ssd::new(&profile).expect("it has been checked"),
        Model::Hdd(_) => panic!("{name} is a hard disk"),
    }
}

/// Writes in order from `first` on, 128 KiB at a time. Returns 10^6 bytes a second.
fn write(drive: &mut Ssd, first: u64, bytes: u64) -> f64 {
    let began = drive.now();
    let block = u64::from(BLOCK_SECTORS) * 512;
    for lba in (first / block..(first + bytes) / block).map(|n| n * u64::from(BLOCK_SECTORS)) {
        let io = Io::write(Lba(lba), BLOCK_SECTORS);
        drive.submit(Tag(0), io);
        drive.reap(Nanos::MAX).expect("no fault");
    }
    bytes as f64 / MB as f64 / (drive.now() - began).as_secs()
}

fn idle(drive: &mut Ssd, seconds: u64) {
    let until = drive.now() + Nanos(seconds * 1_000_000_000);
    assert_eq!(drive.reap(until), Ok(None));
}

/// For each capacity that shows it: rates inside the buffer and behind it, in MB/s. The larger ones
/// program three bits a cell as fast as SATA takes data.
const SEEN: [(&str, f64, f64); 2] =
    [("samsung-840-evo-120gb", 410.0, 140.0), ("samsung-840-evo-250gb", 520.0, 270.0)];

#[test]
fn the_840_evo_drops_after_its_slc_buffer_and_recovers_in_15_to_30_s_of_idle() {
    let about = |rate: f64, published: f64| (rate / published - 1.0).abs() < 0.12;
    for (name, inside, behind) in SEEN {
        let mut drive = drive(name, &[]);
        let burst = write(&mut drive, 0, 2900 * MB);
        assert!(about(burst, inside), "{name}: {burst} MB/s in the buffer");
        write(&mut drive, 2900 * MB, 300 * MB);
        let direct = write(&mut drive, 3200 * MB, 1000 * MB);
        assert!(about(direct, behind), "{name}: {direct} MB/s behind it");
        // How much of a burst is fast again after so long.
        let burst_after = |seconds| {
            let mut drive = drive.clone();
            idle(&mut drive, seconds);
            write(&mut drive, 4200 * MB, 2900 * MB)
        };
        assert!(about(burst_after(30), inside), "{name}: {} MB/s after 30 s", burst_after(30));
        let early = burst_after(15);
        assert!(early > 1.2 * direct && !about(early, inside), "{name}: {early} MB/s after 15 s");
        let at_once = burst_after(0);
        assert!(about(at_once, direct), "{name}: {at_once} MB/s at once");
    }
}

#[test]
fn without_the_buffer_an_840_evo_is_as_slow_from_the_start() {
    for (name, _, behind) in SEEN {
        let mut drive = drive(name, &["slc_buffer.fixed_mib=0"]);
        for first in [0, 3000 * MB] {
            let rate = write(&mut drive, first, 2900 * MB);
            assert!((rate / behind - 1.0).abs() < 0.07, "{name}: {rate} MB/s from {first} on");
            idle(&mut drive, 60);
        }
    }
}

/// The second of those with these settings, in a lab.
fn in_a_lab(set: &[&str]) -> Drive {
    let set: Vec<String> = set.iter().map(|set| set.to_string()).collect();
    let profile = catalogue::built_in(SEEN[1].0, &set).unwrap_or_else(|error| panic!("{error}"));
    Drive::from_profile(&profile)
}

/// Reads or writes as much as the buffer takes, in order; the joules of it.
fn joules(drive: &mut Drive, read_percent: u8) -> f64 {
    let job = Job {
        pattern: Pattern::Sequential,
        read_percent,
        block_bytes: BLOCK_SECTORS * 512,
        queue_depth: 1,
        span_start_bytes: 0,
        span_bytes: 2_900 << 20,
        data: Data::Incompressible,
        until: Until::Bytes(2_900 << 20),
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    };
    let measured = drive.run(&job, &mut Unobserved).measured;
    assert_eq!(measured.ended, JobEnd::Complete);
    measured.energy.expect("its power is known").joules
}

#[test]
fn what_is_folded_while_a_drive_is_idle_is_not_drawn_by_the_next_read() {
    let drawn = |set: &[&str]| {
        let mut drive = in_a_lab(set);
        let mut run = |read_percent| {
            let joules = joules(&mut drive, read_percent);
            (joules, drive.idle(Nanos::from_secs(60)).expect("its power is known"))
        };
        let ((_, idle), (first, _), (second, _)) = (run(0), run(100), run(100));
        (idle.mean_w / idle.settled_w.expect("it was done"), first / second)
    };
    let (idle, read) = drawn(&[]);
    assert!(idle > 1.5, "it draws {idle} of what it draws when nothing is left to fold");
    assert!((read - 1.0).abs() < 0.01, "the first read draws {read} of what the second does");
    let (idle, read) = drawn(&["slc_buffer.fixed_mib=0"]);
    assert!((idle - 1.0).abs() < 1e-9, "{idle}");
    assert!((read - 1.0).abs() < 0.01, "{read}");
}

#[test]
fn a_drive_that_folds_to_the_end_of_a_pause_was_not_seen_idle() {
    let settled = |set: &[&str]| {
        let mut drive = in_a_lab(set);
        joules(&mut drive, 0);
        drive.idle(Nanos::from_secs(10)).expect("its power is known").settled_w
    };
    assert_eq!(settled(&[]), None);
    assert!(settled(&["slc_buffer.fixed_mib=0"]).is_some());
}
