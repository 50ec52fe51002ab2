//! `fourcorners diagnose`: what is found of a virtual drive, of a file and of memory, and what is refused.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use fourcorners_lab::diagnose::Detector;
use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{
    HDD, M4, Ran, Started, command, folder, listing, refused, run, start, wait_for,
};

fn diagnosis(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn finding<'a>(diagnosis: &'a Value, key: &str) -> &'a Value {
    let findings = diagnosis["findings"].as_array().expect("a list");
    findings.iter().find(|finding| finding["key"] == key).unwrap_or(&Value::Null)
}

/// The keys that are not determined; each says why.
fn undetermined(diagnosis: &Value) -> Vec<&str> {
    let findings = diagnosis["findings"].as_array().expect("a list");
    let left = findings.iter().filter(|finding| finding["standing"] == "undetermined");
    let reasoned = left.inspect(|it| assert_ne!(it["reason"], "", "{it}"));
    reasoned.filter_map(|finding| finding["key"].as_str()).collect()
}

#[test]
fn page_row_and_buffer_of_the_m4_are_found_and_judged_again() {
    let dir = folder();
    let ran = run(dir.path(), &["diagnose", M4, "--json", "-o", "found.json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // What it writes and takes is said first.
    assert!(
        ran.stderr.contains("kind, row, dies, page-kinds, read-ahead, write-buffer; writes up to"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains(" min on its own clock"), "{}", ran.stderr);
    // And at the end which others there are, where none was chosen.
    assert!(ran.stderr.contains("not run: map-unit, suspension, slc-cache, "), "{}", ran.stderr);
    for (only, trims) in
        [("trim", "trim; trims 50 % of it, "), ("slc-cache", "slc-cache; trims all of it, ")]
    {
        let ran = run(dir.path(), &["diagnose", "crucial-m4-64gb", "--only", only]);
        assert!(ran.stderr.contains(trims), "{}", ran.stderr);
        assert!(!ran.stderr.contains("not run:"), "{}", ran.stderr);
    }
    let found = diagnosis(&ran);
    assert_eq!(found["schema"], "fourcorners.diagnose/1");
    assert_eq!(finding(&found, "kind")["value"], "ssd");
    assert_eq!(finding(&found, "page_bytes")["value"], 8192.0);
    assert_eq!(finding(&found, "row_bytes")["value"], 16384.0);
    assert_eq!(finding(&found, "dies")["value"], 32.0);
    assert_eq!(finding(&found, "stripe_bytes")["value"], 524_288.0);
    assert_eq!(finding(&found, "page_kinds")["value"], 2.0);
    assert_eq!(finding(&found, "read_ahead")["value"], "yes");
    // The profile's 512 KiB, without the row that is being filled.
    let buffer = finding(&found, "write_buffer_kib");
    assert_eq!((&buffer["value"], &buffer["unit"]), (&496.0.into(), &"KiB".into()));
    for key in ["interval", "level", "standing", "reason", "evidence", "cost"] {
        assert!(!buffer[key].is_null(), "{key}: {buffer}");
    }
    let written: f64 = found["evidence"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|evidence| evidence["cost"]["gb"].as_f64())
        .sum();
    assert!(written < 256.0 / 20.0, "{written} GB");

    let again = run(dir.path(), &["diagnose", "--again", "found.json", "--json"]);
    assert_eq!(diagnosis(&again)["findings"], found["findings"]);
    let table = run(dir.path(), &["diagnose", "--again", "found.json"]);
    assert!(table.stdout.contains("8192 bytes") && table.stdout.contains("496 KiB"), "{table:?}");
}

#[test]
fn a_page_is_written_by_its_name_and_a_folder_has_both() {
    let dir = folder();
    let small = "crucial-m4-64gb";
    let at = |name: &str| fs::read_to_string(dir.path().join(name)).expect("it was written");
    let ran = run(dir.path(), &["diagnose", small, "-o", "page.html"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("page: page.html"), "{}", ran.stderr);
    let page = at("page.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    assert!(page.contains("<h1>What is inside crucial-m4-64gb</h1>"));
    // What the times tell is in it, and what nobody looked for is not known.
    for said in ["kind: ssd", "row: 8192 bytes, exactly", "SLC cache: not known, not looked for"] {
        assert!(page.contains(said), "{said}");
    }
    let ran = run(dir.path(), &["diagnose", small, "--out", "both/found"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let in_it = listing(&dir.path().join("both/found"));
    let names: Vec<_> = in_it.keys().filter_map(|path| path.file_name()).collect();
    assert_eq!(names, ["diagnosis.html", "diagnosis.json"]);
    // The page of stored samples is the same, and takes the place of an earlier one.
    let stored = "both/found/diagnosis.json";
    let ran = run(dir.path(), &["diagnose", "--again", stored, "-o", "page.html", "--json"]);
    assert_eq!(diagnosis(&ran)["findings"].as_array().map(Vec::len), Some(9));
    assert_eq!([at("page.html"), at("both/found/diagnosis.html")], [page.clone(), page]);
    let ran = run(dir.path(), &["diagnose", small, "--out", "both/found"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_is_not_an_earlier_output_is_not_replaced_by_one() {
    let dir = folder();
    let small = "crucial-m4-64gb";
    let notes = |name: &str| fs::write(dir.path().join(name), "notes").expect("it is ours");
    fs::create_dir(dir.path().join("there")).expect("it is ours");
    ["notes.html", "notes.json", "there/diagnosis.html"].into_iter().for_each(notes);
    for output in [["-o", "notes.html"], ["-o", "notes.json"], ["--out", "there"]] {
        let line = refused(dir.path(), &[&["diagnose", small][..], &output].concat());
        assert!(line.contains("--overwrite"), "{output:?}: {line}");
    }
    assert_eq!(fs::read(dir.path().join("notes.html")).expect("it is there"), b"notes");
    let ran = run(dir.path(), &["diagnose", small, "--out", "there", "--overwrite"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // Nor what it is judged from, nor by a page what is a diagnosis.
    let stored = "there/diagnosis.json";
    let again = ["diagnose", "--again", stored];
    for output in [["--out", "there"], ["-o", stored]] {
        let line = refused(dir.path(), &[&again[..], &output].concat());
        assert!(line.contains("read for it"), "{output:?}: {line}");
    }
    for (slip, named) in [
        (&["--out", "a", "-o", "b.html"][..], "cannot be used with"),
        (&["--overwrite"], "--output"),
        (&["-o", "none/page.html"], "no such folder"),
        (&["--out", "notes.json"], "choose another --out"),
    ] {
        let line = refused(dir.path(), &[&["diagnose", small], slip].concat());
        assert!(line.contains(named), "{slip:?}: {line}");
    }
    // A folder that was made in vain is gone again.
    refused(dir.path(), &["diagnose", "none.bin", "--out", "vain"]);
    refused(dir.path(), &["diagnose", small, "--budget", "1M", "--out", "vain"]);
    assert!(!dir.path().join("vain").exists());
}

#[test]
fn through_noise_and_with_another_page_the_other_page_is_found() {
    let dir = folder();
    let args =
        ["diagnose", M4, "--set", "nand.page_bytes=16384", "--set", "nand.blocks_per_plane=1024"];
    for noise in ["lab", "host"] {
        let more = ["--noise", noise, "--only", "kind,row", "--json"];
        let found = diagnosis(&run(dir.path(), &[&args[..], &more].concat()));
        assert_eq!(finding(&found, "page_bytes")["value"], 16384.0, "{noise}");
        assert_eq!(finding(&found, "row_bytes")["value"], 32768.0, "{noise}");
        assert_eq!(finding(&found, "write_buffer_kib"), &Value::Null, "{noise}");
    }
}

#[test]
fn of_an_optane_only_its_dies_and_of_a_hard_disk_nothing_of_flash_is_said() {
    let dir = folder();
    let optane = diagnosis(&run(dir.path(), &["diagnose", "intel-optane-900p-280gb", "--json"]));
    let unknown = [
        "kind",
        "page_bytes",
        "row_bytes",
        "channels",
        "page_kinds",
        "read_ahead",
        "write_buffer_kib",
    ];
    assert_eq!(undetermined(&optane), unknown, "{}", optane["findings"]);
    // They read by themselves whatever they are made of.
    assert_eq!(finding(&optane, "dies")["value"], 21.0);
    let disk = diagnosis(&run(dir.path(), &["diagnose", HDD, "--json"]));
    assert_eq!(finding(&disk, "kind")["value"], "disk");
    let of_flash = [
        "page_bytes",
        "row_bytes",
        "dies",
        "channels",
        "stripe_bytes",
        "page_kinds",
        "read_ahead",
        "write_buffer_kib",
    ];
    assert_eq!(undetermined(&disk), of_flash, "{}", disk["findings"]);
    let reason = finding(&disk, "page_bytes")["reason"].as_str().expect("a reason");
    assert!(reason.contains("hard disk"), "{reason}");
}

#[test]
fn the_help_tells_of_each_detector_and_which_are_run_without_options() {
    let dir = folder();
    let help = run(dir.path(), &["diagnose", "--help"]).stdout;
    for detector in Detector::ALL {
        let name = detector.name();
        assert!(
            help.lines().any(|line| line.trim_start().starts_with(&format!("{name} "))),
            "{name}"
        );
    }
    let usual = Detector::USUAL.map(Detector::name).join(", ");
    assert!(help.contains(&format!("Without --only and --budget: {usual}.")), "{usual}");
}

#[test]
fn a_budget_chooses_the_detectors_and_what_it_allows_not_is_refused() {
    let dir = folder();
    let small = "crucial-m4-64gb";
    let ran = run(dir.path(), &["diagnose", small, "--budget", "2G", "--json"]);
    let names = |ran: &Ran| -> Vec<String> {
        let evidence = diagnosis(ran)["evidence"].as_array().expect("a list").clone();
        evidence.iter().filter_map(|it| Some(it["detector"].as_str()?.into())).collect()
    };
    assert_eq!(
        names(&ran),
        ["kind", "row", "dies", "page-kinds", "read-ahead", "map-unit", "suspension"],
        "{ran:?}"
    );
    assert!(!ran.stderr.contains("not run:"), "{}", ran.stderr);
    let ran = run(dir.path(), &["diagnose", small, "--budget", "1m", "--json"]);
    let in_a_minute =
        ["kind", "row", "dies", "page-kinds", "read-ahead", "write-buffer", "map-unit"];
    assert_eq!(names(&ran), in_a_minute, "{ran:?}");
    for (slip, named) in [
        (&["--budget", "1M"][..], "no detector costs so little"),
        (&["--budget", "soon"], "20G"),
        (&["--only", "map-reach", "--budget", "2G"], "--budget"),
        (&["--only", "soul"], "choose from: kind, row"),
        (&["--noise", "loud"], "host"),
        (&["--again", "none.json"], "cannot be used with"),
    ] {
        let line = refused(dir.path(), &[&["diagnose", small], slip].concat());
        assert!(line.contains(named), "{slip:?}: {line}");
    }
    let line = refused(dir.path(), &["diagnose", "--again", "none.json"]);
    assert!(line.contains("none.json"), "{line}");
    // Nothing is measured again, so nothing that is for measuring is taken.
    for option in
        ["--seed=2", "--set=link.gbps=3", "--host=linux-kernel", "--size=1G", "--destroy=x"]
    {
        let line = refused(dir.path(), &["diagnose", "--again", "none.json", option]);
        assert!(line.contains("cannot be used with"), "{option}: {line}");
    }
    fs::write(dir.path().join("other.json"), "{}").expect("it is ours");
    let line = refused(dir.path(), &["diagnose", "--again", "other.json"]);
    assert!(line.contains("is no diagnosis"), "{line}");
}

#[test]
fn evidence_that_makes_no_sense_is_read_without_a_panic() {
    let dir = folder();
    let made =
        run(dir.path(), &["diagnose", "crucial-m4-64gb", "-o", "found.json", "--budget", "40G"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let text = fs::read_to_string(dir.path().join("found.json")).expect("it was written");
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    let spoiled: [fn(&mut Value); 4] = [
        |samples| *samples = Value::Array(Vec::new()),
        |samples| samples.as_array_mut().expect("a list").truncate(1),
        |samples| {
            samples
                .as_array_mut()
                .expect("a list")
                .iter_mut()
                .for_each(|it| *it = [0.0, 0.0].into())
        },
        |samples| {
            samples
                .as_array_mut()
                .expect("a list")
                .iter_mut()
                .for_each(|it| *it = [-1e300, 1e300].into())
        },
    ];
    for (number, spoil) in spoiled.into_iter().enumerate() {
        let mut other = whole.clone();
        for evidence in other["evidence"].as_array_mut().expect("a list") {
            for series in evidence["series"].as_array_mut().expect("a list") {
                spoil(&mut series["samples"]);
            }
        }
        fs::write(dir.path().join("spoiled.json"), other.to_string()).expect("it is ours");
        let ran = run(dir.path(), &["diagnose", "--again", "spoiled.json", "--json"]);
        assert_eq!(ran.code, Some(0), "{number}: {ran:?}");
        let again = diagnosis(&ran);
        let determined = again["findings"].as_array().expect("a list").iter();
        let determined: Vec<&Value> =
            determined.filter(|it| it["standing"] == "determined" && it["key"] != "kind").collect();
        assert!(determined.is_empty(), "{number}: {determined:?}");
    }
}

fn file(dir: &Path, bytes: u64) -> String {
    let path = dir.join("target.bin");
    File::create(&path).and_then(|file| file.set_len(bytes)).expect("it can be made");
    path.to_string_lossy().into_owned()
}

#[test]
fn of_a_file_it_says_what_it_can_and_why_not_the_rest() {
    let dir = folder();
    let target = file(dir.path(), 700 << 20);
    let before = fs::metadata(&target).expect("it is there").len();
    let line = refused(dir.path(), &["diagnose", &target]);
    assert!(line.contains("--destroy"), "{line}");
    let ran = run(dir.path(), &["diagnose", &target, "--destroy", &target, "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found = diagnosis(&ran);
    assert_eq!(found["findings"].as_array().map(Vec::len), Some(9));
    undetermined(&found);
    assert_eq!(fs::metadata(&target).expect("it is there").len(), before);
    let line = refused(dir.path(), &["diagnose", &target, "--destroy", &target, "--noise", "lab"]);
    assert!(line.contains("virtual"), "{line}");
    let line =
        refused(dir.path(), &["diagnose", &target, "--destroy", &target, "--only", "map-reach"]);
    assert!(line.contains("--budget"), "{line}");
}

#[test]
fn a_target_that_is_too_small_is_refused_before_it_is_to_be_named() {
    let dir = folder();
    let target = file(dir.path(), 64 << 20);
    for args in [&["diagnose", &target][..], &["diagnose", &target, "--destroy", &target]] {
        let line = refused(dir.path(), args);
        assert!(line.contains("too small with 67.1 MB") && line.contains("640 MiB"), "{line}");
        assert!(!line.contains("--destroy"), "{line}");
    }
    let line = refused(dir.path(), &["diagnose", "./new.bin", "--size", "64M"]);
    assert!(line.contains("640 MiB"), "{line}");
    assert!(fs::read(&target).expect("it is there").iter().all(|byte| *byte == 0));
}

#[test]
fn what_is_found_is_shown_even_where_it_cannot_be_written() {
    let dir = folder();
    let plain =
        command(dir.path(), &["diagnose", "crucial-m4-64gb", "--only", "kind", "-o", "f.json"]);
    // Files may not grow beyond 5 KiB.
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 10 && exec \"$0\" \"$@\""]).arg(plain.get_program());
    shell.args(plain.get_args()).current_dir(dir.path());
    let ran = Started::of(shell.stdout(Stdio::piped()).stderr(Stdio::piped())).finish();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("ssd") && ran.stdout.contains("The detectors wrote"), "{ran:?}");
    assert!(ran.stderr.contains("cannot write f.json: File too large"), "{}", ran.stderr);
}

#[test]
fn an_interrupted_diagnosis_says_what_it_has() {
    let dir = folder();
    let args = ["diagnose", M4, "--only", "kind,row,map-reach", "--json", "-o", "found.json"];
    let beside = folder();
    let told = beside.path().join("stderr");
    let stderr = fs::File::create(&told).expect("a file of ours");
    let mut started = Started::of(command(dir.path(), &args).stdout(Stdio::piped()).stderr(stderr));
    // The last fills 256 GB, so that there is time to be interrupted in.
    wait_for("the second detector", || {
        fs::read_to_string(&told).ok()?.lines().any(|line| line == "fourcorners: row").then_some(())
    });
    started.signal(Signal::INT);
    let ran = started.finish();
    assert_eq!(ran.code, Some(1));
    let found = diagnosis(&ran);
    assert_eq!(finding(&found, "kind")["value"], "ssd");
    let reason = finding(&found, "map_reach_gib")["reason"].as_str().expect("a reason");
    assert!(reason.contains("interrupted"), "{reason}");
    assert!(dir.path().join("found.json").exists());
    assert_eq!(listing(dir.path()).len(), 1, "nothing else is left");
}

/// Signals a diagnosis as soon as `finished` detectors are kept in its folder.
fn ended_after(dir: &Path, args: &[&str], finished: usize, by: Signal) -> Ran {
    let mut started = start(dir, args);
    wait_for("so many finished detectors", || {
        let there = fs::read_dir(dir.join("found/diagnosis.resume")).ok()?.flatten();
        let evidence = there.filter(|it| {
            let name = it.file_name();
            let name = name.to_string_lossy();
            name.ends_with(".json") && !name.starts_with('.') && name != "plan.json"
        });
        (evidence.count() >= finished).then_some(())
    });
    assert!(started.is_running(), "what is missing takes longer");
    started.signal(by);
    started.finish()
}

#[test]
fn a_diagnosis_that_was_ended_goes_on_and_finds_the_same() {
    // The last writes all of the drive, so that there is time to be ended in.
    let args = ["diagnose", M4, "--only", "kind,row,read-ahead,map-reach", "--noise", "lab"];
    let dir = folder();
    let (out, resume) = (&["--out", "found"][..], &["--resume", "found"][..]);
    let first = ended_after(dir.path(), &[&args[..], out].concat(), 1, Signal::INT);
    assert_eq!(first.code, Some(1), "{first:?}");
    assert!(
        first.stderr.contains("fourcorners diagnose ") && first.stderr.contains(" --resume=found"),
        "{}",
        first.stderr
    );
    let second = ended_after(dir.path(), &[&args[..], resume].concat(), 2, Signal::KILL);
    assert_eq!(second.code, None, "{second:?}");
    let last = run(dir.path(), &[&args[..], resume, &["--json"]].concat());
    assert_eq!(last.code, Some(0), "{last:?}");
    assert!(last.stderr.contains("finished before: kind, row"), "{}", last.stderr);
    let names: Vec<_> = listing(&dir.path().join("found")).into_keys().collect();
    assert_eq!(names.len(), 2, "nothing is left to do: {names:?}");

    let whole = folder();
    let ran = run(whole.path(), &[&args[..], &["--json"]].concat());
    assert_eq!(ran.stdout, last.stdout);
    let kept = fs::read_to_string(dir.path().join("found/diagnosis.json")).expect("it was written");
    assert_eq!(kept, ran.stdout.trim_end());
}

#[test]
fn what_cannot_go_on_is_refused() {
    let dir = folder();
    let args = ["diagnose", M4, "--only", "kind,map-reach"];
    let line = refused(dir.path(), &[&args[..], &["--resume", "found"]].concat());
    assert!(line.contains("nothing to resume in found"), "{line}");
    let ended = ended_after(dir.path(), &[&args[..], &["--out", "found"]].concat(), 1, Signal::INT);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let resume = ["--resume", "found"];
    for other in [
        &["diagnose", "crucial-m4-64gb", "--only", "kind,map-reach"][..],
        &["diagnose", M4, "--only", "kind"],
        &["diagnose", M4, "--only", "kind,map-reach", "--seed", "2"],
        &["diagnose", M4, "--only", "kind,map-reach", "--set", "link.gbps=3"],
    ] {
        let line = refused(dir.path(), &[other, &resume].concat());
        assert!(line.contains("give the same arguments"), "{other:?}: {line}");
    }
    for twice in [&["--out", "b"][..], &["-o", "b.html"]] {
        let line = refused(dir.path(), &[&args[..], &resume, twice].concat());
        assert!(line.contains("cannot be used with"), "{line}");
    }
    let kind = dir.path().join("found/diagnosis.resume/kind.json");
    fs::write(&kind, "half").expect("it is ours");
    let line = refused(dir.path(), &[&args[..], &resume].concat());
    assert!(line.contains("kind.json is damaged") && line.contains("--out"), "{line}");
}

#[test]
fn a_twin_is_looked_for_by_the_python_package_once_all_is_written() {
    let dir = folder();
    let at = dir.path();
    let python = at.join("python");
    // The package is there, and says what it was asked for.
    let says = "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\n\
                case \"$*\" in *--check*--diagnosed=crucial-m4-64gb*) echo 'fourcorners: bad: of another' >&2; exit 2;; *--check*bad*) echo 'fourcorners: bad: no record' >&2; exit 2;; *--check*) exit 0;; esac\nls found/diagnosis.json && printf '%s|' \"$@\"\nexit 1\n";
    fs::write(&python, says).expect("it can be written");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let asked = |args: &[&str]| {
        let mut asked = command(at, &[&["diagnose", M4, "--only", "row"], args].concat());
        asked.env("FOURCORNERS_PYTHON", &python).stdout(Stdio::piped()).stderr(Stdio::piped());
        Started::of(&mut asked).finish()
    };
    fs::create_dir(at.join("reviewed")).expect("it can be made");
    let ran = asked(&["--out", "found", "--twin", "reviewed", "--like", M4]);
    let handed_on = "found/diagnosis.json\n-m|fourcorners|twin|--findings=found/diagnosis.json|\
                     --output=found/twin.toml|--like=crucial-m4-256gb|--|reviewed|";
    // It is asked of the drive that is to be diagnosed, too, before anything is measured.
    let another = ["diagnose", "crucial-m4-64gb", "--out", "not", "--twin", "reviewed"];
    let mut another = command(at, &another);
    another.env("FOURCORNERS_PYTHON", &python).stdout(Stdio::piped()).stderr(Stdio::piped());
    let another = Started::of(&mut another).finish();
    assert!(another.code == Some(2) && another.stderr.contains("of another"), "{another:?}");
    // The package ends with 1 where the records are not met, and so does the command.
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.ends_with(handed_on), "{ran:?}");
    // What cannot come to a twin is refused before anything is measured.
    fs::write(at.join("mine.txt"), "mine\n").expect("it can be written");
    fs::create_dir(at.join("kept")).expect("it can be made");
    fs::write(at.join("kept/twin.toml"), "name = \"mine\"\n").expect("it can be written");
    fs::create_dir(at.join("bad")).expect("it can be made");
    for (args, why) in [
        (&["--twin", "reviewed"][..], "add --out DIR"),
        (&["--twin", "bad", "--out", "new"], "--twin: bad: no record"),
        (&["--twin", "none", "--out", "new"], "--twin none: No such file"),
        (&["--like", M4, "--out", "new"], "--twin <REVIEW>"),
        (
            &["--twin", "reviewed", "--out", "new", "--like", "none"],
            "--like none: there is no drive",
        ),
        (&["--twin", "reviewed", "--out", "new", "--like", HDD], "it is a hard disk"),
        (&["--twin", "reviewed", "--out", "kept"], "kept/twin.toml exists and is not a twin"),
    ] {
        let ran = asked(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(why) && !at.join("new").exists(), "{args:?}: {ran:?}");
    }
    fs::write(&python, "#!/bin/sh\nexit 1\n").expect("it can be written");
    let bare = asked(&["--twin", "reviewed", "--out", "new"]);
    assert_eq!(bare.code, Some(2), "{bare:?}");
    assert!(bare.stderr.contains("a twin runs in Python") && !at.join("new").exists(), "{bare:?}");
}
