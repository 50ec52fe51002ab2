//! Methods from plan files: on virtual drives and on files, as a careful and as a clumsy user has them.

use std::fs;
use std::path::Path;

use fourcorners_record::{Ended, Outcome, Record, json_schema};
use rustix::process::Signal;

use crate::bench::{M4, folder, listing, obeys_the_laws, refused, run, start, wait_for};

const SHORT: &str = r#"
name = "short"
about = "a little of everything"
[[phase]]
do = "purge"
[[phase]]
do = "fill"
span = "4 GB"
[[phase]]
do = "measure"
pattern = "random"
read_percent = 100
block = ["4 KiB", "1 MiB"]
depth = [4, 64]
span = "50 %"
seconds = 1
[[phase]]
do = "idle"
seconds = 1
[[phase]]
do = "torture"
span = "50 %"
seconds = 1
[[phase]]
do = "measure"
pattern = "sequential"
read_percent = 0
span = "50 %"
seconds = 1
suffix = "used"
[[verdict]]
about = "reads"
of = "random_read_4k_qd4"
value = "iops"
at_least = 1
at_most = 2
[[verdict]]
of = "random_read_4k_qd4"
value = "write_amplification"
[[curve]]
name = "random_read_by_block"
x = "KiB"
points = [[4, "random_read_4k_qd4"], [1024, "random_read_1024k_qd4"]]
"#;

fn write(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), text).expect("it can be written");
}

fn example(name: &str) -> String {
    format!("{}/../../plans/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn verdict<'r>(record: &'r Record, about: &str) -> &'r str {
    let found = record.notes.iter().find(|verdict| verdict.about == about);
    &found.unwrap_or_else(|| panic!("no {about}: {:#?}", record.notes)).text
}

#[test]
fn an_example_gives_what_the_method_it_repeats_gives() {
    let dir = folder();
    let (file, sweep) = (example("new-and-used.toml"), example("queue-depth.toml"));
    let ran_of = |more: &[&str]| {
        let ran = run(dir.path(), &[&["review", "--json"], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    };
    let used = format!("used-state,{file}");
    let (ran, swept) = (
        ran_of(&["intel-x25-e-32gb", "--methods", &used]),
        ran_of(&[M4, "--quick", "--methods", &format!("toms,{sweep}")]),
    );
    let mut document = ran.document();
    document.records.extend(swept.document().records);
    let names: Vec<&str> = document.records.iter().map(|record| record.method.as_str()).collect();
    assert_eq!(names, ["used-state", "new-and-used", "toms", "queue-depth"]);
    for pair in document.records.chunks(2) {
        let [ours, theirs] = pair else { panic!("there are four") };
        assert_eq!(ours.figures, theirs.figures);
        assert_eq!(ours.series, theirs.series);
        // Ours is a verdict with its control, theirs a check of the same number.
        let number = |record: &Record| record.conclusions().first().and_then(|it| it.value);
        assert_eq!(number(ours), number(theirs), "{}", ours.method);
        assert_eq!(ours.plan, None);
        let plan = theirs.plan.as_ref().expect("it says where it is from");
        assert_eq!((plan.name == theirs.method, plan.sha256.len()), (true, 64));
    }
    let sum = std::process::Command::new("sha256sum").arg(&file).output();
    if let Ok(sum) = sum {
        let sum = String::from_utf8(sum.stdout).expect("it is text");
        let plan = document.records[1].plan.as_ref().expect("seen above");
        assert!(sum.starts_with(&plan.sha256), "{sum} {}", plan.sha256);
    }
    // In a quick review neither says what it did not bring about.
    let quick = ran_of(&[M4, "--quick", "--methods", &used]).document();
    assert_eq!(quick.records[0].verdicts[0].outcome, Outcome::Undetermined);
    assert_eq!(
        verdict(&quick.records[1], "not-run"),
        "Nothing is said about \"used-state\": in a quick review the preparation \"filled\" is shortened to 8.0 GB \
         of 256.1 GB, so random_write_4k_qd3_incompressible_used is not of the state that the plan asks for."
    );
    assert!(quick.records[1].plan.as_ref().is_some_and(|plan| plan.thresholds.is_empty()));
    let schema = serde_json::from_str(&json_schema()).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let value = serde_json::from_str(&ran.stdout).expect("it is JSON");
    assert!(validator.is_valid(&value));
}

#[test]
fn a_plan_of_ones_own_on_a_virtual_drive_and_on_a_file() {
    let dir = folder();
    write(dir.path(), "short.toml", SHORT);
    let args = ["review", M4, "--methods", "./short.toml", "--quick", "--json"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = ran.document();
    let record = &document.records[0];
    // SATA has 32 commands: what wants more of them is left out, and says so.
    assert_eq!(record.figures.len(), 3, "{:?}", record.figures.keys());
    assert!(verdict(record, "not-run").contains("64"), "{:?}", record.notes);
    assert_eq!(record.figures["random_read_4k_qd4"].state, "filled");
    assert_eq!(record.figures["sequential_write_128k_qd32_incompressible_used"].state, "used");
    assert!(verdict(record, "reads").ends_with("(not met)."), "{:?}", record.notes);
    assert!(!verdict(record, "reads").contains("A quick review"), "it took its second");
    // One that did not says so.
    let longer = SHORT.replacen("span = \"50 %\"\nseconds = 1", "span = \"50 %\"\nseconds = 60", 1);
    write(dir.path(), "longer.toml", &longer);
    let ran = run(dir.path(), &["review", M4, "--methods", "./longer.toml", "--quick", "--json"]);
    let told = verdict(&ran.document().records[0], "reads").to_string();
    assert!(told.contains(" A quick review measured 5 of 60 s. Limit: "), "{told}");
    let limit = &record.plan.as_ref().expect("it is from a plan").thresholds[0];
    assert_eq!((limit.at_least, limit.at_most, limit.met), (Some(1.0), Some(2.0), false));
    assert_eq!(limit.value, record.figures["random_read_4k_qd4"].iops);
    assert!(record.notes.iter().any(|it| it.text.contains("has no write_amplification here")));
    assert_eq!(record.curves["random_read_by_block"].points.len(), 2);
    let again = run(dir.path(), &args).document();
    assert_eq!(again.records[0].id, record.id);

    // A real target has room for what a plan wants.
    let args = ["review", "./f.img", "--size", "64M", "--methods", "./short.toml", "--json"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let record = &ran.document().records[0];
    assert_eq!((record.figures.len(), &record.ended), (5, &Ended::Complete));
    assert_eq!(record.figures["random_read_1024k_qd64"].job.queue_depth, 64);
    obeys_the_laws(record);
}

#[test]
fn a_dry_run_shows_its_phases_and_does_nothing() {
    let dir = folder();
    write(dir.path(), "short.toml", SHORT);
    let args =
        ["review", M4, "./f.img", "--size", "1G", "--methods", "./short.toml,toms", "--dry-run"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for told in [
        "short (./short.toml, SHA-256 ",
        "a little of everything",
        "random_read_1024k_qd4",
        "prepare: used",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    assert_eq!(listing(dir.path()).len(), 1, "the plan only");
}

#[test]
fn a_plan_that_is_wrong_is_refused_before_anything_is_made() {
    let dir = folder();
    write(dir.path(), "short.toml", SHORT);
    write(dir.path(), "other.toml", &SHORT.replace("seconds = 1", "seconds = 2"));
    write(dir.path(), "slip.toml", &SHORT.replace("suffix", "sufix"));
    write(dir.path(), "far.toml", &SHORT.replace("span = \"50 %\"", "start = \"40 GB\""));
    fs::write(dir.path().join("binary.toml"), [0xff, 0xfe, 0]).expect("it can be written");
    fs::create_dir(dir.path().join("folder.toml")).expect("it can be made");
    let target = ["review", "./f.img", "--size", "64M", "--methods"];
    for (methods, told) in [
        ("./missing.toml", "cannot read the plan ./missing.toml: No such file"),
        ("./binary.toml", "./binary.toml, line 1: this is not text"),
        ("./folder.toml", "this is not a file"),
        ("/dev/zero", "this is not a file"),
        (
            "./slip.toml",
            "./slip.toml, line 30: a [[phase]] has no key \"sufix\"; did you mean suffix?",
        ),
        ("./short.toml,./other.toml", "two plan files are called \"short\""),
        ("./far.toml", "./f.img: ./far.toml, line 15: nothing is left"),
        ("short", "there is no method \"short\""),
    ] {
        let line = refused(dir.path(), &[&target[..], &[methods]].concat());
        assert!(line.contains(told), "{methods}: {line}");
    }
    // The same twice is once.
    let twice = ["review", M4, "--methods", "./short.toml,./short.toml", "--dry-run"];
    assert_eq!(run(dir.path(), &twice).stdout.matches("prepare: used").count(), 1);
    assert!(!dir.path().join("f.img").exists());
}

#[test]
fn a_review_goes_on_with_the_plan_it_began_with_only() {
    let dir = folder();
    write(dir.path(), "short.toml", SHORT);
    let args = ["review", "./f.img", "--size", "32M", "--methods", "./short.toml"];
    let mut review = start(dir.path(), &[&args[..], &["--out", "out"]].concat());
    let kept = dir.path().join("out/review.resume/0.json");
    wait_for("a place to go on from", || kept.exists().then_some(()));
    review.signal(Signal::INT);
    assert_eq!(review.finish().code, Some(1));
    let resume = [&args[..], &["--resume", "out"]].concat();
    write(dir.path(), "short.toml", &SHORT.replace("at_most = 2", "at_most = 3"));
    let line = refused(dir.path(), &resume);
    assert!(line.contains("other targets, methods or options"), "{line}");
    write(dir.path(), "short.toml", SHORT);
    let ran = run(dir.path(), &resume);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}
