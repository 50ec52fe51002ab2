//! A review that was killed goes on, and comes to what it would have come to.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use fourcorners_record::{Document, Ended, Record};
use rustix::process::Signal;

use crate::bench::{M4, folder, obeys_the_laws, refused, run, saved, start, wait_for};

/// Random moments, by a seed that is printed (SplitMix64).
struct Moments(u64);

impl Moments {
    fn new() -> Moments {
        let given = std::env::var("FOURCORNERS_SEED").ok().and_then(|seed| seed.parse().ok());
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seed = given.unwrap_or_else(|| now.map_or(1, |now| now.as_nanos() as u64));
        println!("moments of FOURCORNERS_SEED={seed}");
        Moments(seed)
    }

    /// One before `most`.
    fn before(&mut self, most: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        most.mul_f64(z as f64 / u64::MAX as f64)
    }
}

/// Runs a review and kills it at a moment before `most`, again and again, until it is whole or was
/// killed often enough: then it may end. How often it was killed. Nobody reads its output meanwhile,
/// so it must not ask for much. The next begins at once, while the kernel still takes the files of the
/// killed one away.
fn killed_until_whole(
    dir: &Path,
    args: &[&str],
    out: &str,
    (moments, most): (&mut Moments, Duration),
    most_kills: u32,
) -> u32 {
    let mut kills = 0;
    loop {
        let begun = dir.join(out).join("review.resume/plan.json").exists();
        let place = if begun { ["--resume", out] } else { ["--out", out] };
        let mut review = start(dir, &[args, &place[..]].concat());
        if kills < most_kills {
            std::thread::sleep(moments.before(most));
            // It may have ended, and can be signalled all the same.
            review.signal(Signal::KILL);
        }
        let ran = review.finish();
        match ran.code {
            None => kills += 1,
            Some(code) => {
                assert_eq!(code, 0, "{}", ran.stderr);
                return kills;
            }
        }
    }
}

fn ids(document: &Document) -> Vec<&str> {
    document.records.iter().map(|record| record.id.as_str()).collect()
}

/// How often each is killed.
const KILLS: u32 = 20;

#[test]
fn a_virtual_review_killed_anywhere_gives_the_uninterrupted_record() {
    let dir = folder();
    let args = ["review", M4, "--quick", "--methods", "used-state,lba-pass,consistency"];
    let began = Instant::now();
    let whole = run(dir.path(), &[&args[..], &["--json"]].concat());
    let took = began.elapsed();
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    let whole = whole.document();
    let mut moments = Moments::new();
    let (mut kills, mut round) = (0, 0);
    while kills < KILLS {
        let out = format!("out{round}");
        kills += killed_until_whole(dir.path(), &args, &out, (&mut moments, took), KILLS - kills);
        let found = saved(&dir.path().join(&out)).expect("there is a document");
        assert_eq!(ids(&found), ids(&whole), "round {round}");
        assert!(!dir.path().join(&out).join("review.resume").exists(), "nothing is left to do");
        round += 1;
    }
    println!("killed {kills} times in {round} reviews");
}

/// Phases of a second each, so that a file comes through them while it is being killed.
const OF_A_FILE: &str = r#"
name = "killed"
[[phase]]
do = "purge"
[[phase]]
do = "fill"
[[phase]]
do = "measure"
pattern = "random"
read_percent = [100, 0]
depth = [1, 4]
seconds = 1
[[phase]]
do = "purge"
[[phase]]
do = "torture"
seconds = 1
[[phase]]
do = "measure"
pattern = "sequential"
read_percent = [100, 0]
seconds = 1
suffix = "used"
[[verdict]]
of = "sequential_read_128k_qd32_used"
over = "random_read_4k_qd1"
[[curve]]
name = "reads_by_depth"
x = "in flight"
points = [[1, "random_read_4k_qd1"], [4, "random_read_4k_qd4"]]
"#;

/// What of a record does not depend on how fast the file was.
fn planned(document: &Document) -> Vec<String> {
    let mut lines = Vec::new();
    for record in &document.records {
        let Record { method, target, ended, seed, quick, plan, .. } = record;
        let sha256 = plan.as_ref().map(|plan| &plan.sha256);
        lines.push(format!("{method} {target:?} {ended:?} {seed} {quick} {sha256:?}"));
        for (name, figure) in &record.figures {
            let (job, state, fio) = (&figure.job, &figure.state, &figure.fio);
            lines.push(format!("{name} {state} {} {job:?} {fio}", figure.complete));
        }
        let abouts: Vec<&str> = record.notes.iter().map(|it| it.about.as_str()).collect();
        let series: Vec<&String> = record.series.keys().collect();
        lines.push(format!("{abouts:?} {series:?}"));
        for (name, curve) in &record.curves {
            let along: Vec<f64> = curve.points.iter().map(|&(x, _)| x).collect();
            lines.push(format!("{name} {} {} {along:?}", curve.x, curve.y));
        }
    }
    lines
}

#[test]
fn a_review_of_a_file_killed_anywhere_does_all_that_was_planned() {
    let dir = folder();
    fs::write(dir.path().join("killed.toml"), OF_A_FILE).expect("it can be written");
    let args = ["review", "./k.img", "--size", "32M", "--methods", "./killed.toml"];
    let whole = run(dir.path(), &[&args[..], &["--out", "whole"]].concat());
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    let whole = saved(&dir.path().join("whole")).expect("there is a document");
    let mut moments = Moments::new();
    let (mut kills, mut round) = (0, 0);
    while kills < KILLS {
        let out = format!("out{round}");
        // Some moments are later than a phase takes, or it would never come through one.
        let most = (&mut moments, Duration::from_millis(2500));
        kills += killed_until_whole(dir.path(), &args, &out, most, KILLS - kills);
        let found = saved(&dir.path().join(&out)).expect("there is a document");
        assert_eq!(planned(&found), planned(&whole), "round {round}");
        found.records.iter().for_each(obeys_the_laws);
        assert!(!dir.path().join(&out).join("review.resume").exists(), "nothing is left to do");
        round += 1;
    }
    println!("killed {kills} times in {round} reviews");
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
    // The last line counts what this run measured, and no figure of the one before.
    let seconds = |document: &Document| -> f64 {
        document.records.iter().flat_map(|it| it.figures.values()).map(|it| it.duration_s).sum()
    };
    let line = ran.stderr.lines().find(|line| line.contains(" of measurements")).expect("a line");
    let said = line.split(' ').next().and_then(|said| said.parse::<f64>().ok()).expect(line);
    assert!(seconds(&after) < 120.0, "told in seconds");
    assert!(said <= seconds(&after) - kept.duration_s + 1.0, "{line}: {}", seconds(&after));
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
    // What it says to type, which the end of this test types.
    let program = concat!("to continue: ", env!("CARGO_BIN_EXE_fourcorners"), " ");
    let typed = ran.stderr.lines().find_map(|line| line.strip_prefix(program));
    let typed = typed.unwrap_or_else(|| panic!("{}", ran.stderr)).to_string();
    assert_eq!(typed, format!("{} --resume=out", args.join(" ")));

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
    let ran = run(dir.path(), &typed.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stderr.contains("to continue"), "{}", ran.stderr);
}

#[test]
fn a_review_takes_the_place_of_no_other_that_is_not_whole() {
    let dir = folder();
    let args = ["review", M4, "--methods", "four-corners", "--quiet", "--no-db"];
    let with = |more: &[&'static str]| [&args[..], more].concat();
    let mut review = start(dir.path(), &with(&["--out", "out"]));
    let files = dir.path().join("out/review.resume");
    wait_for("a place to go on from", || files.join("0.json").exists().then_some(()));
    review.signal(Signal::STOP);
    for more in [&["--out", "out"][..], &["--out", "out", "--overwrite"], &["--resume", "out"]] {
        let said = refused(dir.path(), &with(more));
        assert!(said.contains("another review writes into out"), "{more:?}: {said}");
    }
    let dry = run(dir.path(), &with(&["--out", "out", "--dry-run"]));
    assert!(dry.stderr.contains("this is refused: another review writes into out"), "{dry:?}");
    review.signal(Signal::KILL);
    review.finish();
    let kept = fs::read(files.join("0.json")).expect("it is kept");
    let said = refused(dir.path(), &with(&["--out", "out"]));
    assert!(said.contains("out has a review that is not whole"), "{said}");
    assert_eq!(fs::read(files.join("0.json")).expect("it is there"), kept);
    // Control: given up when that is said, and beside what is whole the next begins.
    let quick = |more: &[&'static str]| [&["review", M4, "--quick", "--no-db"], more].concat();
    for more in [&["--out", "out", "--overwrite"][..], &["--out", "out"]] {
        let ran = run(dir.path(), &quick(more));
        assert_eq!(ran.code, Some(0), "{more:?}: {}", ran.stderr);
        assert!(!files.exists());
    }
}
