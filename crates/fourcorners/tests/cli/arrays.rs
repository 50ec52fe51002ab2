//! Arrays as targets: reviewed, run and replayed as a drive is.

use fourcorners_record::{Record, from_json};

use crate::bench::{Ran, folder, run};

const ONE: &str = "crucial-m4-64gb";
const STRIPED: &str = "raid0:2xcrucial-m4-64gb:128k";
const PARITY: &str = "raid5:3xcrucial-m4-64gb";

fn records(ran: &Ran) -> Vec<Record> {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    from_json(&ran.stdout).expect("a document").records
}

#[test]
fn an_array_is_reviewed_as_its_drives_are_and_twice_alike() {
    let dir = folder();
    let args = [
        "review",
        ONE,
        STRIPED,
        PARITY,
        "--methods",
        "four-corners",
        "--quick",
        "--no-db",
        "--json",
    ];
    let [one, striped, parity] = &records(&run(dir.path(), &args))[..] else {
        panic!("three records")
    };
    assert_eq!(striped.target.name, STRIPED);
    assert_eq!(striped.target.title, "RAID 0 of 2 x Crucial m4 64 GB, chunks of 128 KiB");
    assert_eq!(
        striped.target.capacity_bytes / (1 << 20),
        2 * one.target.capacity_bytes / (1 << 20)
    );
    let rate = |record: &Record, figure: &str| record.figures[figure].mb_per_s;
    let random = "random_write_4k_qd32_incompressible";
    let twice = rate(striped, random) / rate(one, random);
    assert!((twice - 2.0).abs() < 0.1, "{twice} times one drive");
    // Each write is one of data and one of parity, on two of three drives; what it reads was never written.
    let with_parity = rate(parity, random) / rate(one, random);
    assert!((with_parity - 1.5).abs() < 0.1, "{with_parity} times one drive");
    let again = records(&run(dir.path(), &args));
    assert_eq!([&again[1].id, &again[2].id], [&striped.id, &parity.id]);
}

#[test]
fn job_files_and_replays_run_on_arrays() {
    let dir = folder();
    let job = dir.path().join("job.fio");
    std::fs::write(&job, "[a]\nrw=randrw\nbs=4k\niodepth=8\nsize=64m\nioengine=libaio\n")
        .expect("a file");
    let ran = run(dir.path(), &["run", "job.fio", PARITY]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let args =
        ["trace", "replay", "task:install", ONE, "raid1:2xcrucial-m4-64gb", "--json", "--no-db"];
    let [one, mirror] = &records(&run(dir.path(), &args))[..] else { panic!("two records") };
    let busy = |record: &Record| record.replay.as_ref().expect("a replay").figures[0].busy_s;
    // What is flushed waits for the slower of two drives.
    assert!(busy(mirror) > busy(one) * 0.95, "{} against {}", busy(mirror), busy(one));
}

#[test]
fn what_is_no_array_is_said_in_a_line() {
    let dir = folder();
    for (name, said) in [
        ("raid5:2xcrucial-m4-64gb", "it takes 3 to 64"),
        ("raid0:2xcrucial-m4-46gb", "did you mean"),
        ("raid0:2xcrucial-m4-64gb:fast", "is not known there"),
        ("raid0:2xcrucial-m4-64gb:failed=1", "has lost its data"),
    ] {
        let ran = run(dir.path(), &["review", name]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(said) && ran.stderr.lines().count() == 1, "{ran:?}");
    }
    // What takes one drive only says so.
    for args in
        [["age", STRIPED, "-o", "a.state"].as_slice(), &["review", STRIPED, "--state", "x.state"]]
    {
        let ran = run(dir.path(), args);
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
    }
}
