//! `review --host` and `drives --hosts`.

use fourcorners_record::{HostTrim, Outcome, Record};
use serde_json::Value;

use crate::bench::{HDD, M4, folder, printed, refused, run};

fn quick(drive: &str, more: &[&str]) -> Record {
    let dir = folder();
    let args = [&["review", drive, "--quick", "--json"], more].concat();
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.document().records.remove(0)
}

fn mb_per_s(record: &Record, figure: &str) -> f64 {
    record.figures[figure].mb_per_s
}

const WRITE: &str = "random_write_4k_qd3_incompressible";
const READ: &str = "random_read_4k_qd3";
const SEQUENTIAL: &str = "sequential_read_128k_qd1";

#[test]
fn a_host_controller_is_recorded_and_is_what_limits_the_drive() {
    let plain = quick(M4, &[]);
    let [intel, slow, marvell] = ["intel-6gbps", "intel-ich10r-3gbps", "marvell-9128"]
        .map(|host| quick(M4, &["--host", host]));
    assert_eq!(plain.target.host_controller, None);
    assert_eq!(marvell.target.host_controller.as_deref(), Some("marvell-9128"));
    assert_ne!(plain.target.profile_hash, marvell.target.profile_hash);
    assert!(plain.id != intel.id && intel.id != marvell.id);
    // The m4's own profile has the host of the later Intel ports.
    for (name, figure) in &plain.figures {
        assert_eq!(figure.latency_us, intel.figures[name].latency_us, "{name}");
    }
    // 3 Gb/s are 300 MB/s, 290 with the handshakes of its frames; the drive alone is faster.
    let (sequential, fast) = (mb_per_s(&slow, SEQUENTIAL), mb_per_s(&plain, SEQUENTIAL));
    assert!(sequential < 290.0 && fast > 350.0, "{sequential} of {fast} MB/s");
    assert!(mb_per_s(&slow, READ) > 0.9 * mb_per_s(&plain, READ));
    // The Marvell writes with less than the slower of the Intel ports, and reads with as much.
    let (write, read) = (mb_per_s(&marvell, WRITE), mb_per_s(&marvell, READ));
    assert!(write < mb_per_s(&slow, WRITE), "{write} MB/s");
    assert!(read > 0.9 * mb_per_s(&plain, READ), "{read} MB/s");
    assert!(mb_per_s(&marvell, SEQUENTIAL) > sequential);
}

#[test]
fn a_hard_disk_has_a_host_as_well_and_it_can_be_set() {
    let record = quick(HDD, &["--host", "marvell-9128", "--set", "upstream.generation=1"]);
    assert_eq!(record.target.host_controller.as_deref(), Some("marvell-9128"));
    assert_eq!(record.target.set, ["upstream.generation=1"]);
}

#[test]
fn a_host_controller_of_ones_own() {
    let dir = folder();
    let toml = include_str!("../../../../drives/hosts/marvell-9128.toml");
    let mine = toml.replace("name = \"marvell-9128\"", "name = \"mine\"");
    std::fs::write(dir.path().join("mine.toml"), mine).expect("it can be written");
    let ran = run(dir.path(), &["review", HDD, "--quick", "--json", "--host", "./mine.toml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let target = &ran.document().records[0].target;
    assert_eq!(target.host_controller.as_deref(), Some("mine"));
}

#[test]
fn a_host_controller_says_what_becomes_of_a_trim_and_the_verdict_follows() {
    let dir = folder();
    let intel = include_str!("../../../../drives/hosts/intel-6gbps.toml");
    for word in ["dropped", "refused"] {
        let mine =
            intel.replace("trim = { value = \"passed\"", &format!("trim = {{ value = \"{word}\""));
        assert_ne!(mine, intel);
        std::fs::write(dir.path().join(format!("{word}.toml")), mine).expect("it can be written");
    }
    let verdict = |host: &str, set: &str| {
        let args =
            ["review", M4, "--methods", "trim-reaches", "--json", "--host", host, "--set", set];
        let ran = run(dir.path(), &args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let record = ran.document().records.remove(0);
        let [verdict] = &record.verdicts[..] else { panic!("{:?}", record.verdicts) };
        (verdict.outcome, verdict.words(&record), record.target.host_trim)
    };
    let as_it_is = "trim.supported=true";
    assert_eq!(verdict("intel-6gbps", as_it_is).0, Outcome::Yes);
    assert_eq!(verdict("./dropped.toml", as_it_is).0, Outcome::No);
    // What is set by hand comes last, so that the drive takes what the controller would have refused.
    assert_eq!(verdict("./refused.toml", "trim.mode=instant").0, Outcome::No);
    assert_eq!(verdict("./refused.toml", as_it_is).0, Outcome::Yes);
    // Of the Marvell no source says it; but behind none does a drive take what it ignores itself.
    let (outcome, words, trim) = verdict("marvell-9128", as_it_is);
    assert_eq!((outcome, trim), (Outcome::Undetermined, Some(HostTrim::Unknown)));
    assert!(words.contains("no source says whether marvell-9128 passes TRIM"), "{words}");
    assert_eq!(verdict("marvell-9128", "trim.mode=ignored").0, Outcome::No);
}

#[test]
fn what_cannot_be_behind_a_host_controller_is_refused() {
    let dir = folder();
    let marvell = ["--host", "marvell-9128"];
    let file = ["./x.img", "--size", "64M"];
    for (args, told) in [
        (vec!["review", M4, "--host", "marvel-9128"], "did you mean \"marvell-9128\"?"),
        (vec!["review", M4, "--host", "zzz"], "`fourcorners drives --hosts` lists them"),
        (vec!["review", M4, "--host", ""], "there is no host controller \"\""),
        (vec!["review", M4, "--host", "a\nb\u{1b}[31m"], r"a\nb\u{1b}[31m"),
        (vec!["review", M4, "--host", "./none.toml"], "cannot read"),
        (vec!["review", M4, "--host", M4], "there is no host controller"),
        (vec!["review", "marvell-9128"], "there is no drive"),
        (
            [&["review"], &file[..], &marvell].concat(),
            "--host marvell-9128 is for virtual drives, and ./x.img is not one: leave it out",
        ),
        ([&["review", M4], &file[..], &marvell].concat(), "./x.img is not one"),
        (
            vec!["review", M4, "--set", "upstream.lanes=1"],
            "has no section upstream; to give it one, set upstream.generation",
        ),
        (
            [&["review", M4, "--set", "upstream.lanes=3"], &marvell[..]].concat(),
            "upstream.lanes = 3 is not possible",
        ),
        (vec!["drives", "--hosts", "intel-6gbp"], "did you mean \"intel-6gbps\"?"),
        (vec!["drives", "intel-6gbps"], "there is no drive"),
        (vec!["drives", "--hosts", M4], "there is no host controller"),
    ] {
        let line = refused(dir.path(), &args);
        assert!(line.contains(told), "{args:?}: {line}");
    }
}

#[test]
fn host_controllers_are_listed_and_printed_with_the_source_of_every_value() {
    let text = printed(&["drives", "--hosts"]);
    for part in
        ["intel-ich10r-3gbps", "intel-6gbps", "marvell-9128", "15, 50", "3 Gb/s", "unknown", "382"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!printed(&["drives"]).contains("marvell-9128"), "it is no drive");
    let list = printed(&["drives", "--hosts", "--json"]);
    let list: Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list["schema"], "fourcorners.hosts/1");
    let hosts = list["hosts"].as_array().expect("a list");
    assert!(hosts.iter().any(|host| host["name"] == "marvell-9128"));

    let text = printed(&["drives", "--hosts", "marvell-9128"]);
    for part in ["upstream.lanes", "stated", "host.write_command_us", "Nothing in it was fitted"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let host = printed(&["drives", "--hosts", "marvell-9128", "--json"]);
    let host: Value = serde_json::from_str(&host).expect("JSON");
    assert_eq!((&host["schema"], &host["kind"]), (&"fourcorners.host/1".into(), &"host".into()));
    let values = host["values"].as_array().expect("a list");
    assert!(values.iter().all(|value| {
        let filled = |key: &str| value[key].as_str().is_some_and(|text| !text.is_empty());
        filled("key") && filled("standing") && filled("source") && !value["value"].is_null()
    }));
}

#[test]
fn one_process_limits_a_fast_drive_and_not_a_slow_one() {
    let rate = |drive: &str, figure: &str, more: &[&str]| quick(drive, more).figures[figure].iops;
    let (fast, deep) = ("samsung-990-pro-1000gb", "random_write_4k_qd32_incompressible");
    let (own, linux) = (rate(fast, deep, &[]), rate(fast, deep, &["--host", "linux-kernel"]));
    let four = rate(fast, deep, &["--host", "linux-kernel", "--set", "host.processes=4"]);
    assert!(own > 1_000_000.0 && (360_000.0..382_000.0).contains(&linux), "{own}, {linux}");
    assert!(four > 0.9 * own, "{four} of {own}");
    let (own, linux) = (rate(M4, READ, &[]), rate(M4, READ, &["--host", "linux-kernel"]));
    assert!(linux >= own, "9.5 us are less than its own host's 15: {linux}, {own}");
}

#[test]
fn what_an_io_costs_this_machine_is_a_host_for_virtual_drives() {
    let dir = folder();
    std::fs::write(dir.path().join("data"), vec![9u8; 17 << 20]).expect("a folder of ours");
    let measure = ["doctor", "data", "--host-profile", "mine.toml"];
    let ran = run(dir.path(), &measure);
    if ran.stderr.contains("page cache") {
        fourcorners_testing::skipped("what an I/O costs", "this folder has no direct reads");
        return;
    }
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("--host ./mine.toml"), "{}", ran.stdout);
    let record = {
        let args = ["review", M4, "--quick", "--json", "--host", "./mine.toml"];
        let ran = run(dir.path(), &args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.document().records.remove(0)
    };
    assert_eq!(record.target.host_controller.as_deref(), Some("mine"));
    // What exists stays, and a name that --host would not take for a file is refused before anything is read.
    let kept = std::fs::read(dir.path().join("mine.toml")).expect("it is there");
    assert!(refused(dir.path(), &measure).contains("mine.toml: it exists"));
    assert_eq!(std::fs::read(dir.path().join("mine.toml")).expect("it stays"), kept);
    assert!(refused(dir.path(), &["doctor", "data", "--host-profile", "mine"]).contains(".toml"));
    assert!(refused(dir.path(), &["doctor", "--host-profile", "a.toml"]).contains("PATH"));
    assert!(refused(dir.path(), &["doctor", "none", "--host-profile", "a.toml"]).contains("none"));
    assert!(!dir.path().join("a.toml").exists());
}
