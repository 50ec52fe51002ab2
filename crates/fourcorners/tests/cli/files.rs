//! Real files: created, tested, tested again, taken away, and disks that are full.

use std::fs::{self, File};

use fourcorners_record::{ClockName, Ended, Record, TargetKind};
use fourcorners_testing::skipped;
use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;

use crate::bench::{HDD, folder, listing, obeys_the_laws, refused, run, saved, start, wait_for};
use crate::media::{Undo, is_root, run as tool};

/// A whole quick review of something real, done well.
pub(crate) fn is_a_good_quick_review(record: &Record, kind: TargetKind) {
    assert_eq!((record.target.kind, record.clock), (kind, ClockName::Wall));
    assert_eq!((&record.ended, record.quick), (&Ended::Complete, true));
    assert!(record.host.is_some());
    assert_eq!(record.figures.len(), 8);
    for (name, figure) in &record.figures {
        assert!(figure.mb_per_s > 0.0 && figure.ios > 0, "{name}");
        assert!((4.9..8.0).contains(&figure.duration_s), "{name}: {} s", figure.duration_s);
        assert!(figure.cpu_us_per_io.is_some_and(|micros| micros > 0.0), "{name}");
        assert_eq!(figure.write_amplification, None, "{name}: nobody can know");
        assert!(figure.fio.contains(&record.target.name), "{name}: {}", figure.fio);
    }
    obeys_the_laws(record);
}

#[test]
fn a_new_file_is_tested_and_then_tested_again_until_ctrl_c() {
    let dir = folder();
    let args = ["review", "./test.img", "--size", "64M", "--quick", "--json", "--out", "out"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    is_a_good_quick_review(&ran.document().records[0], TargetKind::File);
    let bytes = || fs::metadata(dir.path().join("test.img")).expect("it stays").len();
    assert_eq!(bytes(), 64_000_000);
    assert_eq!(saved(&dir.path().join("out")), Some(ran.document()));

    fs::remove_dir_all(dir.path().join("out")).expect("it is ours");
    let mut again = start(dir.path(), &args);
    let first = wait_for("a figure", || saved(&dir.path().join("out")));
    assert_eq!(first.records[0].figures.len(), 1, "saved after each figure");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    again.signal(Signal::INT);
    let ran = again.finish();
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let document = ran.document();
    assert_eq!(saved(&dir.path().join("out")), Some(document.clone()));
    let record = &document.records[0];
    assert_eq!((&record.ended, record.figures.len()), (&Ended::Interrupted, 2));
    let (name, figure) = record.figures.first().expect("there are two");
    assert_eq!(Some(figure), first.records[0].figures.get(name), "what was finished is kept");
    let (_, cut) = record.figures.last().expect("there are two");
    assert!(!cut.complete && (0.5..4.0).contains(&cut.duration_s), "{} s", cut.duration_s);
    obeys_the_laws(record);
    assert_eq!(bytes(), 64_000_000);
}

#[test]
fn a_size_that_is_no_multiple_of_anything_is_that_of_the_same_file_later() {
    let dir = folder();
    let args = ["review", "odd.img", "--size", "17000001", "--quick", "--json"];
    for _ in 0..2 {
        let mut review = start(dir.path(), &args);
        wait_for("a file that is locked", || {
            let file = File::open(dir.path().join("odd.img")).ok()?;
            flock(&file, FlockOperation::NonBlockingLockExclusive).err()
        });
        review.signal(Signal::INT);
        let ran = review.finish();
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert_eq!(ran.document().records[0].ended, Ended::Interrupted);
    }
    assert_eq!(fs::metadata(dir.path().join("odd.img")).expect("it stays").len(), 17_000_001);
}

/// A file system in memory of `size`.
pub(crate) fn small_disk(size: &str) -> Result<(tempfile::TempDir, Undo), String> {
    if !is_root() {
        return Err("mounting needs root".into());
    }
    let at = folder();
    let path = at.path().to_str().expect("temporary paths are text");
    tool(&["mount", "-t", "tmpfs", "-o", &format!("size={size}"), "none", path])?;
    let undo = Undo::with(&["umount", path]);
    Ok((at, undo))
}

#[test]
fn a_full_disk_is_said_before_anything_is_made() {
    let (disk, _mounted) = match small_disk("40M") {
        Ok(disk) => disk,
        Err(reason) => return skipped("mount", reason),
    };
    let line = refused(disk.path(), &["review", "./big.img", "--size", "64M", "--quick"]);
    assert!(line.contains("big.img cannot be created with 64.0 MB"), "{line}");
    assert!(line.contains("has 41.9 MB free"), "{line}");
    // Each would fit, but not both: neither is left, nor a folder for the results.
    let two = ["review", "./a.img", "./b.img", "--size", "24M", "--quick"];
    let line = refused(disk.path(), &two);
    assert!(line.contains("b.img cannot be created"), "{line}");
    refused(disk.path(), &[&two[..], &["--out", "results/today"]].concat());
    assert!(listing(disk.path()).is_empty());
}

#[test]
fn a_file_that_another_program_takes_costs_only_its_own_figures() {
    let dir = folder();
    let path = dir.path().join("taken.img");
    let file = File::create(&path).expect("it can be made");
    file.set_len(32 << 20).expect("it can be sized");
    flock(&file, FlockOperation::LockExclusive).expect("it is ours");
    let taken = ["taken.img", "--destroy", "taken.img", "--quick"];

    // Alone, it is refused like any other target, and nothing is left behind.
    let line = refused(dir.path(), &[&["review"][..], &taken].concat());
    assert!(line.contains("another program has locked it"), "{line}");

    let ran = run(dir.path(), &[&["review", HDD, "--json"][..], &taken].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let records = ran.document().records;
    assert_eq!((&records[0].ended, records[0].figures.len()), (&Ended::Complete, 8));
    assert!(matches!(&records[1].ended, Ended::Failed(why) if why.contains("locked it")));
    assert_eq!((records[1].target.kind, records[1].figures.len()), (TargetKind::File, 0));
    assert!(ran.stderr.contains("taken.img: "), "{}", ran.stderr);
    assert!(fs::read(&path).expect("it is there").iter().all(|&byte| byte == 0));
}

#[test]
fn reads_of_what_was_never_written_are_said_to_touch_no_drive() {
    let dir = folder();
    let job = "[read]\nrw=randread\nbs=4k\nruntime=1\ntime_based=1\n";
    fs::write(dir.path().join("job.fio"), job).expect("it can be written");
    let holes = File::create(dir.path().join("holes")).expect("it is new");
    holes.set_len(32 << 20).expect("it grows");
    fs::write(dir.path().join("written"), vec![7; 32 << 20]).expect("it can be written");
    let told = |target: &str| {
        let ran = run(dir.path(), &["run", "job.fio", target]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stderr
    };
    let of_holes = told("./holes");
    if of_holes.contains("its file system is in memory") {
        return skipped("drive-for-files", "files are in memory here");
    }
    assert!(of_holes.contains("33.6 MB of its 33.6 MB were holes"), "{of_holes}");
    assert!(!told("./written").contains("holes"));
    let doctor = |target: &str| run(dir.path(), &["doctor", target, "--json"]).stdout;
    assert!(doctor("./holes").contains("were holes"), "{}", doctor("./holes"));
    assert!(doctor("./written").contains("past the page cache"), "{}", doctor("./written"));
    // A record says so of a file that is only read; one that may be written is written once before it is measured.
    let notes = |more: &[&str]| {
        let args = [&["quick", "./holes", "--no-db", "--json"], more].concat();
        let mut card = start(dir.path(), &args);
        card.wait_until_it_listens();
        std::thread::sleep(std::time::Duration::from_secs(2));
        card.signal(Signal::INT);
        let ran = card.finish();
        let card: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a card");
        card["notes"].to_string()
    };
    let only_read = notes(&[]);
    assert!(only_read.contains("Memory was measured") && only_read.contains("were holes"));
    assert!(!notes(&["--destroy", "./holes"]).contains("Memory was measured"));
    holes.set_len(0).and_then(|()| holes.set_len(32 << 20)).expect("it has holes again");
    // Named, and not laid out, because it is there.
    let ran = run(dir.path(), &["run", "job.fio", "./holes", "--destroy", "./holes"]);
    assert!(ran.stderr.contains("were holes"), "{ran:?}");
}

#[test]
fn a_report_that_cannot_be_written_is_printed() {
    let dir = folder();
    fs::write(dir.path().join("job.fio"), "[a]\nrw=randread\nsize=1m\n").expect("it can be");
    let args = ["run", "job.fio", "crucial-m4-64gb", "-o"];
    let (disk, _mounted) = match small_disk("64k") {
        Ok(disk) => disk,
        Err(reason) => return skipped("mount", reason),
    };
    let take = fs::write(disk.path().join("full"), vec![0; 1 << 20]);
    assert!(take.is_err(), "the disk is full");
    let report = disk.path().join("report");
    let path = report.to_str().expect("a name");
    let ran = run(dir.path(), &[&args[..], &[path]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("the report is printed instead"), "{ran:?}");
    assert!(ran.stdout.contains("READ: bw="), "{ran:?}");
}
