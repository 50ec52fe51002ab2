//! What a shell does not allow, and targets that are something else as well: one line, and nothing lost.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use fourcorners_testing::skipped;

use crate::bench::{M4, Started, command, folder, listing, refused, run};
use crate::media::{Image, Loop, MIB, run as tool, run_with};

/// A review in a shell with a limit set.
fn within(limit: &str, dir: &std::path::Path, args: &[&str]) -> (Option<i32>, String) {
    let plain = command(dir, args);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit {limit} && exec \"$0\" \"$@\"")).arg(plain.get_program());
    shell.args(plain.get_args()).current_dir(dir).stdin(Stdio::null());
    shell.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Started::of(shell.stdout(Stdio::piped()).stderr(Stdio::piped())).finish();
    (ran.code, ran.stderr)
}

#[test]
fn a_limit_of_the_shell_is_one_line_and_no_signal() {
    let dir = folder();
    let quick = ["review", M4, "--quick", "--methods", "four-corners", "--no-db"];
    // Files may not grow beyond 5 KiB.
    let (code, said) = within("-f 10", dir.path(), &[&quick[..], &["--out", "small"]].concat());
    assert!(code == Some(1) && said.contains("File too large"), "{code:?} {said}");
    let (code, said) = within("-v 600000", dir.path(), &[&quick[..], &["--out", "v"]].concat());
    assert!(code == Some(2) && said.contains("the virtual drives would take 6"), "{code:?} {said}");
    for files in 4..12 {
        let out = format!("out{files}");
        let args = [&quick[..], &["--out", &out]].concat();
        let (code, said) = within(&format!("-n {files}"), dir.path(), &args);
        assert!(matches!(code, Some(0..=2)), "{files} files: {code:?} {said}");
        assert!(!said.contains("panicked"), "{said}");
        let file = ["review", "./f.img", "--size", "32M", "--quick", "--methods", "lba-pass"];
        let (code, said) = within(&format!("-n {files}"), dir.path(), &file);
        assert!(matches!(code, Some(0..=2)), "{files} files: {code:?} {said}");
        let _ = fs::remove_file(dir.path().join("f.img"));
    }
}

#[test]
fn what_a_link_called_review_resume_leads_to_is_left_alone() {
    let dir = folder();
    let precious = dir.path().join("precious");
    fs::create_dir(&precious).expect("a folder");
    fs::write(precious.join("0.json"), "a letter").expect("a file");
    fs::create_dir(dir.path().join("out")).expect("a folder");
    symlink("../precious", dir.path().join("out/review.resume")).expect("a link");
    let args = ["review", M4, "--quick", "--methods", "lba-pass", "--out", "out"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("out/review.resume is no folder of a review"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(precious.join("0.json")).expect("it is there"), "a letter");
    assert_eq!(listing(&precious).len(), 1);
    let resume = ["review", M4, "--quick", "--methods", "lba-pass", "--resume", "out"];
    assert!(refused(dir.path(), &resume).contains("is no folder of a review"));
}

#[test]
fn what_a_review_reads_or_writes_is_no_target() {
    let dir = folder();
    fs::create_dir(dir.path().join("out")).expect("a folder");
    for name in ["results.db", "results.db-wal", "out/review.json", "free"] {
        let file = fs::File::create(dir.path().join(name)).expect("a file");
        file.set_len(32 * MIB).expect("it can be sized");
    }
    let review = |target: &str| {
        let args = ["review", target, "--destroy", target, "--quick", "--methods", "lba-pass"];
        [&args[..], &["--db", "results.db", "--out", "out"]].concat().join(" ")
    };
    for target in ["./results.db", "./results.db-wal", "./out/review.json"] {
        let args = review(target);
        let line = refused(dir.path(), &args.split(' ').collect::<Vec<_>>());
        assert!(line.contains("is what this review reads, or writes its results to"), "{line}");
    }
    let free = review("./free").replace("--db results.db", "--db other.db");
    let ran =
        run(dir.path(), &free.replace("--out out", "--out new").split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn a_drive_and_a_part_of_it_are_not_two_targets() {
    let image = Image::new(64 * MIB);
    let made = run_with(&["sfdisk", "-q", "--no-reread", image.text()], "label: dos\n,24M\n,24M\n");
    if let Err(error) = made {
        return skipped("sfdisk", error);
    }
    let Some(device) = Loop::over(image, &["--partscan"]) else { return };
    if let Err(error) = tool(&["partx", "--update", &device.node]) {
        return skipped("partitions", error);
    }
    let dir = folder();
    let (disk, part, other) =
        (&device.node, format!("{}p1", device.node), format!("{}p2", device.node));
    let review = |one: &str, two: &str| {
        let named = ["--destroy", one, "--destroy", two, "--force", one, "--force", two];
        let args = ["review", one, two, "--quick", "--methods", "lba-pass"];
        run(dir.path(), &[&args[..], &named].concat())
    };
    for (one, two) in [(disk, &part), (&part, disk)] {
        let ran = review(one, two);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("are the same drive or parts of it"), "{}", ran.stderr);
    }
    assert_eq!(review(&part, &other).code, Some(0), "two partitions share nothing");
}

#[test]
fn a_dry_run_needs_no_permission_and_touches_nothing() {
    let image = Image::new(32 * MIB);
    let before = image.sha256();
    let dir = folder();
    let args = ["review", image.text(), "--dry-run", "--quick", "--methods", "lba-pass"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("Nothing was written."), "{}", ran.stdout);
    assert!(image.sha256() == before && listing(dir.path()).is_empty());
    // It is refused as soon as it would be done, and the dry run says so.
    let refusal =
        refused(dir.path(), &["review", image.text(), "--quick", "--methods", "lba-pass"]);
    assert!(refusal.contains("to allow it, add --destroy"), "{refusal}");
    let said = "without --dry-run this is refused";
    assert!(ran.stderr.contains(said) && ran.stderr.contains("add --destroy"), "{}", ran.stderr);
    let named = run(dir.path(), &[&args[..], &["--destroy", image.text()]].concat());
    assert!(named.code == Some(0) && !named.stderr.contains(said), "{}", named.stderr);
    assert!(image.sha256() == before);
}
