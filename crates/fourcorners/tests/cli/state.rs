//! `fourcorners age`, and reviews of the drive it makes.

use std::fs;

use crate::bench::{HDD, M4, folder, listing, obeys_the_laws, refused, run};

/// A small m4, so that it is aged in no time.
const SMALL: [&str; 10] = [
    "--set",
    "nand.channels=4",
    "--set",
    "nand.dies=4",
    "--set",
    "nand.blocks_per_plane=64",
    "--set",
    "nand.pages_per_block=64",
    "--set",
    "capacity.sectors=460000",
];

pub(crate) fn with<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &SMALL].concat()
}

#[test]
fn a_used_drive_is_aged_once_and_reviewed_as_it_is() {
    let dir = folder();
    let ran = run(dir.path(), &with(&["age", M4, "-o", "used.state", "--drive-writes", "2"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.starts_with("crucial-m4-256gb: 706 MB written to 236 MB in "), "{told}");
    assert!(told.ends_with("its state is in used.state"), "{told}");
    assert_eq!(listing(dir.path()).len(), 1, "one file and nothing else");

    let review = |more: &[&str]| {
        let ran = run(dir.path(), &with(&[&["review", M4, "--quick", "--json"], more].concat()));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.document().records.remove(0)
    };
    let (fresh, used) = (review(&[]), review(&["--state", "used.state"]));
    obeys_the_laws(&used);
    assert_eq!(fresh.target.loaded_state, None);
    assert_eq!(used.target.loaded_state.as_ref().map(String::len), Some(16));
    assert_eq!(used.id, review(&["--state", "used.state"]).id, "the same again");
    // The first test meets the drive as it was loaded: it has to collect, a fresh one has not.
    let first = |record: &fourcorners_record::Record| {
        let (name, figure) = record.figures.first().expect("there are figures");
        assert_eq!(name, "random_write_4k_qd3_repeating");
        (figure.state.clone(), figure.write_amplification.expect("it wrote"))
    };
    let ((fresh_state, fresh_wa), (used_state, used_wa)) = (first(&fresh), first(&used));
    assert_eq!((fresh_state.as_str(), used_state.as_str()), ("fresh", "loaded"));
    assert!(used_wa > fresh_wa, "{used_wa} used, {fresh_wa} fresh");
    let told = used.notes.iter().find(|verdict| verdict.about == "purge").expect("it is said");
    assert!(told.text.starts_with("Not purged: the drive is tested in the state that was loaded."));

    // All of it holds data, so that it is neither filled to a level nor has spare area: a fresh one is, and has.
    let full = |more: &[&str]| {
        let methods = ["review", M4, "--quick", "--json", "--methods", "fill-level,consistency"];
        let ran = run(dir.path(), &with(&[&methods[..], more].concat()));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let records = ran.document().records;
        let said: String =
            records.iter().flat_map(|it| &it.notes).map(|it| it.text.clone()).collect();
        let why = records.iter().flat_map(|it| &it.verdicts).filter_map(|it| it.why.clone());
        (
            records[0].curves["random_write_4k_qd32_by_fill"].x.clone(),
            said + &why.collect::<String>(),
        )
    };
    let (fresh_x, fresh) = full(&[]);
    let (used_x, used) = full(&["--state", "used.state"]);
    assert!(fresh_x.contains("hold data") && !used_x.contains("hold data"), "{used_x}");
    assert!(fresh.contains("With 25 % spare area") && !fresh.contains("not purged"), "{fresh}");
    assert!(!used.contains("With 25 % spare area, the drive"), "{used}");
    assert_eq!(used.matches("was not purged").count(), 3, "{used}");
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let dir = folder();
    let ran = run(dir.path(), &with(&["age", M4, "-o", "used.state", "--drive-writes", "0"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    fs::write(dir.path().join("notes.txt"), "mine").expect("a file");
    let mut damaged = fs::read(dir.path().join("used.state")).expect("the state");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(dir.path().join("damaged.state"), damaged).expect("a file");
    for (args, told) in [
        (vec!["review", M4, "--state", "used.state"], "with other values"),
        (
            with(&["review", M4, "--state", "used.state", "--host", "marvell-9128"]),
            "with other values",
        ),
        (with(&["age", M4, "-o", "x.state", "--host", "none"]), "none"),
        (with(&["age", M4, "-o", "no/x.state"]), "no: there is no such folder; make it first"),
        (with(&["review", M4, "--state", "damaged.state"]), "is damaged"),
        (with(&["review", M4, "--state", "notes.txt"]), "is not the state of a drive"),
        (with(&["review", M4, "--state", "none.state"]), "none.state: "),
        (vec!["review", HDD, "--state", "used.state"], "there is no state to keep"),
        (vec!["review", M4, HDD, "--state", "used.state"], "as the only target"),
        (vec!["age", HDD, "-o", "x.state"], "there is no state to keep"),
        (vec!["age", "/dev/null", "-o", "x.state"], "/dev/null"),
        (vec!["age", "crucial-m4-256", "-o", "x.state"], "did you mean"),
        (with(&["age", M4, "-o", "notes.txt"]), "it is not replaced"),
        (with(&["age", M4, "-o", "no/folder/x.state"]), "no/folder"),
        (with(&["age", M4, "-o", "x.state", "--drive-writes", "-1"]), "0 to 1000"),
        (with(&["age", M4, "-o", "x.state", "--drive-writes", "NaN"]), "0 to 1000"),
        (with(&["age", M4]), "--output"),
    ] {
        let line = refused(dir.path(), &args);
        assert!(line.contains(told), "{args:?}: {line}");
    }
}
