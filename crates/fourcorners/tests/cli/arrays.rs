//! Arrays as targets: reviewed, run and replayed as a drive is.

use fourcorners_record::{Record, from_json};

use crate::bench::{Ran, folder, run};

const ONE: &str = "crucial-m4-64gb";
const STRIPED: &str = "raid0:2xcrucial-m4-64gb:128k";
const DISK: &str = "wd-velociraptor-300gb";
const CACHE: &str = "cache:crucial-m4-64gb+wd-velociraptor-300gb:write-back";
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
fn a_cache_is_reviewed_run_and_replayed_and_says_what_it_did() {
    let dir = folder();
    let args = ["review", DISK, CACHE, "--methods", "four-corners", "--quick", "--no-db", "--json"];
    let [disk, cached] = &records(&run(dir.path(), &args))[..] else { panic!("two records") };
    assert_eq!(
        cached.target.title,
        "Crucial m4 64 GB as a write-back cache of WD VelociRaptor 300 GB"
    );
    assert_eq!(cached.target.capacity_bytes, disk.target.capacity_bytes);
    let writes = "random_write_4k_qd32_incompressible";
    let rate = |record: &Record| record.figures[writes].iops;
    assert!(rate(cached) > 20.0 * rate(disk), "{} against {}", rate(cached), rate(disk));
    let use_of = |record: &Record| record.figures[writes].cache.clone();
    let told = use_of(cached).expect("what the cache did");
    assert!(told.dirty_bytes > 0 && told.members[0].written_bytes > 0, "{told:?}");
    assert!(use_of(disk).is_none() && disk.notes.iter().all(|note| note.about != "cache"));
    assert!(cached.notes.iter().any(|note| note.about == "cache"));
    assert_eq!(records(&run(dir.path(), &args))[1].id, cached.id);

    let job = "[a]\nrw=randread\nbs=4k\niodepth=8\nsize=64m\nnumber_ios=30000\nioengine=libaio\n";
    std::fs::write(dir.path().join("job.fio"), job).expect("a file");
    let ran = run(dir.path(), &["run", "job.fio", CACHE]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("of the reads are hits"), "{}", ran.stderr);
    let ran = run(dir.path(), &["run", "job.fio", DISK]);
    assert!(!ran.stderr.contains("of the reads are hits"), "{}", ran.stderr);

    let args = [
        "trace",
        "replay",
        "task:boot",
        DISK,
        CACHE,
        "--drive-state",
        "twice",
        "--json",
        "--no-db",
    ];
    let [disk, cached] = &records(&run(dir.path(), &args))[..] else { panic!("two records") };
    let busy = |record: &Record| -> Vec<f64> {
        record.replay.as_ref().expect("a replay").figures.values().map(|it| it.busy_s).collect()
    };
    let (disk, cached) = (busy(disk), busy(cached));
    assert!(cached[1] < 0.2 * cached[0], "the second time it is there: {cached:?}");
    assert!((disk[1] / disk[0] - 1.0).abs() < 0.1, "a disk learns nothing: {disk:?}");
}

#[test]
fn a_file_makes_the_record_of_its_name_and_says_what_each_drive_did() {
    let dir = folder();
    let text =
        "kind = \"raid5\"\nchunk = \"64 KiB\"\n[[drive]]\nname = \"crucial-m4-64gb\"\nnumber = 3\n";
    std::fs::write(dir.path().join("nas.toml"), text).expect("a file");
    let review = |target: &str| {
        ["review", target, "--methods", "four-corners", "--quick", "--no-db"].map(String::from)
    };
    let json = |target: &str| {
        let args: Vec<String> = review(target).into_iter().chain(["--json".into()]).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        records(&run(dir.path(), &args)).remove(0)
    };
    let (of_file, of_name) = (json("./nas.toml"), json("raid5:3xcrucial-m4-64gb:64k"));
    assert_eq!(of_file.id, of_name.id);
    // Control: another chunk is another record.
    assert_ne!(json("raid5:3xcrucial-m4-64gb:128k").id, of_name.id);
    assert_eq!(of_file.target.drives, ["Crucial m4 64 GB"; 3]);
    let members = of_file.members();
    let of_figures = of_file.figures.values().map(|figure| &figure.members);
    let first: u64 = of_figures.map(|members| members[0].written_bytes).sum();
    assert_eq!((members.len(), members[0].written_bytes), (3, first));
    assert!(members.iter().all(|it| it.joules > Some(0.0) && it.nand_bytes > Some(0)));

    // The text and the page have a row a drive; a drive alone has none.
    let shown = |target: &str| {
        let out = if target == ONE { "one" } else { "several" };
        let args: Vec<String> =
            review(target).into_iter().chain(["--out", out].map(String::from)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = run(dir.path(), &args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let page = dir.path().join(out).join("review.html");
        let page = std::fs::read_to_string(page).expect("a page");
        (ran.stdout, page)
    };
    let row = "Drive 3: Crucial m4 64 GB";
    let (text, page) = shown("./nas.toml");
    assert!(text.contains("Its drives"), "{text}");
    assert!(page.contains(row) && page.contains("3 x Crucial m4 64 GB"));
    let (text, page) = shown(ONE);
    assert!(!text.contains("Its drives") && !page.contains("Its drives"));

    std::fs::write(
        dir.path().join("job.fio"),
        "[a]\nrw=write\nbs=64k\nsize=48m\nioengine=libaio\n",
    )
    .expect("a file");
    let ran = run(dir.path(), &["run", "job.fio", "./nas.toml"]);
    // Half of it is parity, and every drive has a third of all.
    assert!(
        ran.stderr.contains("; drive 3 read ") && ran.stderr.contains("and wrote 33.6 MB"),
        "{ran:?}"
    );
    let ran = run(dir.path(), &["run", "job.fio", ONE]);
    assert!(!ran.stderr.contains("drive 1 "), "{ran:?}");
}

#[test]
fn a_file_of_several_goes_where_a_name_does_and_is_refused_where_one_drive_is_meant() {
    let dir = folder();
    let write = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), text).expect("a file");
    };
    let stripe =
        "name = \"pair\"\nkind = \"raid0\"\n[[drive]]\nname = \"crucial-m4-64gb\"\nnumber = 2\n";
    write("pair.toml", stripe);
    write("wrong.toml", &stripe.replace("number = 2", "number = 200"));
    let args = ["trace", "replay", "task:install", "./pair.toml", STRIPED, "--json", "--no-db"];
    let [of_file, of_name] = &records(&run(dir.path(), &args))[..] else { panic!("two records") };
    assert_eq!(of_file.target.name, "pair");
    assert_eq!(of_file.target.profile_hash, of_name.target.profile_hash);
    let args =
        ["choose", "task:install", "--also", "./pair.toml", "--capacity", "64-150GB", "--json"];
    let ran = run(dir.path(), &args);
    assert!(ran.code == Some(0) && ran.stdout.contains("\"pair\""), "{ran:?}");
    for (args, said) in [
        (
            &["review", "./wrong.toml"][..],
            "wrong.toml, line 5: number = 200 must be a whole number",
        ),
        (&["review", "./pair.toml", "pair.toml"], "second drive called pair"),
        (&["age", "./pair.toml", "-o", "a.state"], "is an array: only single drives are aged"),
        (&["drives", "./pair.toml"], "is several drives (RAID 0 of 2 x Crucial m4 64 GB"),
        (&["serve", "./wrong.toml", "--at", "unix:a.sock"], "line 5: number = 200"),
    ] {
        let ran = run(dir.path(), args);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(said) && ran.stderr.lines().count() == 1, "{ran:?}");
    }
}

#[test]
fn what_is_no_array_is_said_in_a_line() {
    let dir = folder();
    for (name, said) in [
        ("raid5:2xcrucial-m4-64gb", "it takes 3 to 64"),
        ("raid0:2xcrucial-m4-46gb", "did you mean"),
        ("raid0:2xcrucial-m4-64gb:fast", "is not known there"),
        ("raid0:2xcrucial-m4-64gb:failed=1", "has lost its data"),
        ("cache:crucial-m4-64gb", "joined by +"),
        ("cache:crucial-m4-64gb+wd-velociraptor-300gb:writeback", "is not known there"),
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
