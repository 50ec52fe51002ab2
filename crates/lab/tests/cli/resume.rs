//! A review that was killed goes on, and comes to what it would have come to.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fourcorners::record::{Document, Ended};
use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;

use crate::bench::{M4, folder, obeys_the_laws, refused, run, saved, start, wait_for};

/// Runs a review, killing it again and again, the first time after `pause` and then ever later. How
/// often it was killed. Nobody reads its output meanwhile, so it must not ask for much.
fn killed_until_whole(
    dir: &Path,
    args: &[&str],
    out: &str,
    pause: Duration,
    step: Duration,
) -> u32 {
    let mut kills = 0;
    loop {
        let begun = dir.join(out).join("review.resume/plan.json").exists();
        let place = if begun { ["--resume", out] } else { ["--out", out] };
        let mut review = start(dir, &[args, &place[..]].concat());
        std::thread::sleep(pause + step * kills);
        // It may have ended, and can be signalled all the same.
        review.signal(Signal::KILL);
        let ran = review.finish();
        match ran.code {
            None => kills += 1,
            Some(code) => {
                assert_eq!(code, 0, "{}", ran.stderr);
                return kills;
            }
        }
        assert!(kills < 60, "it never ends");
    }
}

fn ids(document: &Document) -> Vec<&str> {
    document.records.iter().map(|record| record.id.as_str()).collect()
}

#[test]
fn a_virtual_review_killed_anywhere_gives_the_uninterrupted_record() {
    let dir = folder();
    let args =
        ["review", M4, "--quick", "--methods", "four-corners,used-state,lba-pass,fill-level"];
    let whole = run(dir.path(), &[&args[..], &["--json"]].concat());
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    let whole = whole.document();
    let mut kills = 0;
    for round in 0..4u32 {
        let out = format!("out{round}");
        let pause = Duration::from_millis(u64::from(20 + 170 * round));
        kills += killed_until_whole(dir.path(), &args, &out, pause, Duration::from_millis(310));
        let found = saved(&dir.path().join(&out)).expect("there is a document");
        assert_eq!(ids(&found), ids(&whole), "round {round}");
        assert!(!dir.path().join(&out).join("review.resume").exists(), "nothing is left to do");
    }
    println!("killed {kills} times");
    assert!(kills > 0);
}

#[test]
fn a_file_goes_on_where_it_was() {
    let dir = folder();
    let args =
        ["review", "./k.img", "--size", "32M", "--quick", "--methods", "compressible,lba-pass"];
    let out = dir.path().join("out");
    let mut first = start(dir.path(), &[&args[..], &["--out", "out"]].concat());
    wait_for("some figures", || {
        fs::metadata(out.join("review.resume/0.json")).ok()?;
        (saved(&out)?.records.first()?.figures.len() > 1).then_some(())
    });
    first.signal(Signal::KILL);
    assert_eq!(first.finish().code, None);
    let before = saved(&out).expect("it saves every figure");
    // The kernel lets go of a killed process's file in the background.
    wait_for("a free file", || {
        let file = fs::File::open(dir.path().join("k.img")).expect("it was created");
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()
    });
    let ran = run(dir.path(), &[&args[..], &["--resume", "out"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let after = saved(&out).expect("there is a document");
    assert_eq!(after.records.len(), 2);
    for record in &after.records {
        assert_eq!(record.ended, Ended::Complete);
        obeys_the_laws(record);
    }
    assert_eq!(after.records[0].figures.len(), 22, "each step in order and at random");
    // What was measured before is what is there now, not measured again.
    let (name, kept) = before.records[0].figures.first().expect("there was one");
    assert_eq!(after.records[0].figures.get(name), Some(kept));
    assert!(!out.join("review.resume").exists());
}

#[test]
fn only_the_same_review_goes_on() {
    let dir = folder();
    let args = ["review", M4, "--quick", "--methods", "four-corners,toms"];
    let mut review = start(dir.path(), &[&args[..], &["--out", "out"]].concat());
    let files = dir.path().join("out/review.resume");
    wait_for("a place to go on from", || files.join("0.json").exists().then_some(()));
    review.signal(Signal::INT);
    let ran = review.finish();
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("--resume out"), "{}", ran.stderr);

    let resume = ["--resume", "out"];
    let other = |args: &[&str]| refused(dir.path(), &[args, &resume[..]].concat());
    for args in [
        &["review", M4, "--quick"][..],
        &["review", M4, "--quick", "--methods", "four-corners,toms", "--seed", "2"],
        &["review", M4, "--quick", "--methods", "four-corners,toms", "--set", "link.gbps=3"],
    ] {
        assert!(other(args).contains("other targets, methods or options"), "{args:?}");
    }
    let nothing = refused(dir.path(), &[&args[..], &["--resume", "nowhere"]].concat());
    assert!(nothing.contains("nothing to resume in nowhere"), "{nothing}");
    refused(dir.path(), &[&args[..], &["--resume", "out", "--out", "out"]].concat());

    let place = files.join("0.json");
    let kept = fs::read_to_string(&place).expect("it is text");
    fs::write(&place, kept.replacen("four-corners", "four-c0rners", 1)).expect("it is ours");
    assert!(other(&args).contains("0.json is damaged"));
    fs::write(&place, kept).expect("it is ours");
    let ran = run(dir.path(), &[&args[..], &resume[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}
