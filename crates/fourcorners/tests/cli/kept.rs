//! What is kept of a review, and that it is whole whatever happens.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fourcorners_record::{Document, Ended};
use fourcorners_testing::skipped;
use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;

use crate::bench::{HDD, M4, folder, listing, refused, run, saved, start, wait_for};
use crate::media::{Undo, is_root, run as tool};

fn page_is_whole(folder: &Path) {
    let page = fs::read_to_string(folder.join("review.html")).expect("there is a page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
}

/// The folders of results below the working folder.
fn results(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join("fourcorners-results")).expect("it was made");
    entries.map(|entry| entry.expect("it can be listed").path()).collect()
}

#[test]
fn every_review_gets_a_new_folder() {
    let dir = folder();
    // Within one second: some of the three at the same time, one right after.
    let runs = [HDD; 3].map(|drive| start(dir.path(), &["review", drive, "--quick"]));
    let mut ran: Vec<_> = runs.into_iter().map(crate::bench::Started::finish).collect();
    ran.push(run(dir.path(), &["review", HDD, "--quick"]));
    let mut told: Vec<PathBuf> = Vec::new();
    for ran in ran {
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let page = ran.stdout.lines().find_map(|line| line.strip_prefix("page: "));
        let page = dir.path().join(page.expect("it says where the page is"));
        told.push(page.parent().expect("it is in a folder").to_path_buf());
    }
    for folder in &told {
        page_is_whole(folder);
        let document = saved(folder).expect("there is a document");
        assert_eq!(document.records[0].target.name, HDD);
    }
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 4);
    let mut found = results(dir.path());
    found.sort();
    assert_eq!(found, told);
}

#[test]
fn a_long_path_makes_no_long_folder_name() {
    let dir = folder();
    let long = "deep/".repeat(60);
    fs::create_dir_all(dir.path().join(&long)).expect("it can be made");
    let toml = include_str!("../../../../drives/seagate-momentus-5400.6.toml");
    let named = toml.replace("\"seagate-momentus-5400.6\"", &format!("\"{}é\"", "n".repeat(400)));
    fs::write(dir.path().join("long.toml"), named).expect("it can be written");
    let ran = run(dir.path(), &["review", "long.toml", "--quick"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let path = format!("{long}x.img");
    let mut review = start(dir.path(), &["review", &path, "--size", "17M", "--quick"]);
    wait_for("a second folder", || (results(dir.path()).len() == 2).then_some(()));
    // It listens for this before it makes the folder.
    review.signal(Signal::INT);
    assert_eq!(review.finish().code, Some(1));
}

#[test]
fn in_out_old_files_are_replaced_and_others_left_alone() {
    let dir = folder();
    let out = dir.path().join("out");
    fs::create_dir(&out).expect("it can be made");
    for name in ["review.html", "review.json", "notes.txt"] {
        fs::write(out.join(name), "x".repeat(10 << 20)).expect("it can be written");
    }
    let review = ["review", HDD, "--quick", "--json", "--out", "out"];
    assert!(refused(dir.path(), &review).contains("add --overwrite"));
    let ran = run(dir.path(), &[&review[..], &["--overwrite"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    page_is_whole(&out);
    assert_eq!(saved(&out), Some(ran.document()));
    assert_eq!(fs::metadata(out.join("notes.txt")).expect("it is there").len(), 10 << 20);
    assert_eq!(listing(dir.path()).len(), 4, "the folder and the three files");

    let ran = run(dir.path(), &["review", HDD, "--quick", "--out", "far/away"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    page_is_whole(&dir.path().join("far/away"));
}

#[test]
fn what_cannot_be_saved_is_still_printed() {
    if !is_root() {
        return skipped("root", "mounting needs root");
    }
    let dir = folder();
    let at = dir.path().join("small");
    fs::create_dir(&at).expect("it can be made");
    let at = at.to_str().expect("temporary paths are text");
    // Enough for the figures, not for the page.
    if let Err(error) = tool(&["mount", "-t", "tmpfs", "-o", "size=128k", "none", at]) {
        return skipped("mount", error);
    }
    let _mounted = Undo::with(&["umount", at]);
    let ran = run(dir.path(), &["review", HDD, "--quick", "--json", "--out", at]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot write") && ran.stderr.contains("No space left"));
    assert!(!ran.stderr.contains("page: "), "{}", ran.stderr);
    let document = ran.document();
    assert_eq!(document.records[0].ended, Ended::Complete);
    assert_eq!(saved(Path::new(at)), Some(document));
    assert_eq!(listing(Path::new(at)).len(), 1, "no half page and no temporary file");
}

/// A review of a file that is stopped and then killed while it saves. What it leaves in `out`
/// is checked to be the old results or the new ones.
fn killed_while_saving(dir: &Path, out: &Path, old: &Document, pause: Duration) -> bool {
    let args = ["review", "./k.img", "--size", "17M", "--quick", "--json", "--out", "out"];
    // The one that was killed before is given up.
    let mut review = start(dir, &[&args[..], &["--overwrite"]].concat());
    review.wait_until_it_listens();
    std::thread::sleep(Duration::from_millis(100));
    review.signal(Signal::INT);
    std::thread::sleep(pause);
    review.signal(Signal::KILL);
    let ran = review.finish();
    assert!(matches!(ran.code, None | Some(1)), "{ran:?}");
    let killed = ran.code.is_none();
    // The kernel takes the ring of a killed process apart in the background and lets go of the
    // file only then; until that the next review would be told that somebody has it.
    wait_for("a free file", || {
        let file = fs::File::open(dir.join("k.img")).expect("it was created");
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()
    });
    let found = saved(out).expect("the old document or a new one");
    assert!(found == *old || found.records.len() < 2, "{found:?}");
    page_is_whole(out);
    killed
}

#[test]
fn killed_at_any_moment_it_leaves_whole_files_and_nothing_that_the_next_review_keeps() {
    let dir = folder();
    let out = dir.path().join("out");
    // Two records, which tell it from what the killed ones write.
    let ran = run(dir.path(), &["review", M4, HDD, "--quick", "--json", "--out", "out"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let old = saved(&out).expect("a document");
    let killed = (0..20)
        .filter(|&n| killed_while_saving(dir.path(), &out, &old, Duration::from_millis(8 * n)))
        .count();
    println!("killed {killed} of 20 before their end");
    assert!(killed > 0);
    let others = || -> Vec<String> {
        let names = fs::read_dir(&out).expect("it can be listed").map(|entry| {
            entry.expect("it can be listed").file_name().to_string_lossy().into_owned()
        });
        names
            .filter(|name| {
                !["review.html", "review.json", "review.resume"].contains(&name.as_str())
            })
            .collect()
    };
    // There is a moment between the name of its own that a new file has and that of the old one,
    // and nobody can tidy up after a SIGKILL: a hidden file may be there, and each save removes
    // those of the ones before.
    let left = others();
    assert!(
        left.len() <= 1 && left.iter().all(|name| name.starts_with(".fourcorners-")),
        "{left:?}"
    );
    let args = ["review", HDD, "--quick", "--json", "--out", "out", "--overwrite"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(others().is_empty(), "left behind: {:?}", others());
}
