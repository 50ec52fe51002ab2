//! Results shown again: `fourcorners report`, and what `review` says when it is to be quiet.

use std::fs;

use crate::bench::{HDD, M4, folder, refused, run};

#[test]
fn results_are_shown_again_without_their_drives() {
    let dir = folder();
    for (drive, out) in [(M4, "one"), (HDD, "two")] {
        let ran = run(dir.path(), &["review", drive, "--quick", "--quiet", "--out", out]);
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (Some(0), "", ""),
            "--quiet says nothing"
        );
    }
    let args = ["report", "one", "two/review.json", "one", "-o", "both.html"];
    let ran = run(dir.path(), &[&args[..], &["--svg", "a/svg", "--png", "a/png"]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.stderr);
    let page = fs::read_to_string(dir.path().join("both.html")).expect("a page");
    for title in ["Crucial m4 256 GB", "Seagate Momentus 5400.6"] {
        assert!(page.contains(title), "{title} is not on the page");
    }
    let files = |folder: &str, beginning: &[u8]| {
        let files: Vec<_> = fs::read_dir(dir.path().join(folder)).expect("a folder").collect();
        for file in &files {
            let path = file.as_ref().expect("an entry").path();
            assert!(fs::read(&path).expect("a file").starts_with(beginning), "{}", path.display());
        }
        files.len()
    };
    let charts = page.matches("class=\"chart ").count();
    assert!(charts > 10);
    assert_eq!((files("a/svg", b"<?xml"), files("a/png", b"\x89PNG")), (charts, charts));

    // One alone is the page that the review has written.
    let again = run(dir.path(), &["report", "one", "-o", "one.html"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let read = |path: &str| fs::read_to_string(dir.path().join(path)).expect("a page");
    assert!(read("one.html") == read("one/review.html"), "the page is another one");

    let text = run(dir.path(), &["report", "one", "two"]);
    assert!(text.stdout.contains("Momentus") && text.stdout.contains("MB/s"), "{}", text.stdout);
    let json = run(dir.path(), &["report", "one", "two", "--json"]).document();
    assert_eq!(json.records.len(), 2);
}

#[test]
fn a_replay_is_shown_again() {
    let dir = folder();
    let replay = ["trace", "replay", "generated:light", M4, HDD, "--ios", "2000"];
    let replay = [&replay[..], &["--rescale-address", "--out", "r"]].concat();
    let ran = run(dir.path(), &replay);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = run(dir.path(), &["report", "r", "-o", "r.html", "--svg", "r"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = fs::read_to_string(dir.path().join("r.html")).expect("a page");
    assert!(page.contains("Storage bench</h2>"), "a chapter of its own");
    // Data rate and service time, each of an SSD empty and full and of a hard disk as it was found; access sizes once.
    let names: Vec<String> = fs::read_dir(dir.path().join("r"))
        .expect("a folder")
        .map(|file| file.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".svg"))
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let sizes = names.iter().filter(|name| name.contains("access-sizes"));
    assert_eq!(sizes.count(), 1, "{names:?}");
}

#[test]
fn results_that_are_none_are_refused_in_a_line() {
    let dir = folder();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("empty")).expect("it can be made");
    fs::write(path("text"), "no JSON").expect("it can be written");
    fs::write(path("cut.json"), "{\"schema\":\"fourcorners.review/2\",\"rec").expect("written");
    let newer = "{\"schema\":\"fourcorners.review/9\",\"records\":[]}";
    fs::write(path("newer.json"), newer).expect("it can be written");
    let none = "{\"schema\":\"fourcorners.review/2\",\"records\":[]}";
    fs::write(path("none.json"), none).expect("it can be written");
    for (args, told) in [
        (&["report"][..], "<RESULT>"),
        (&["report", "nowhere"], "there are no results of \"nowhere\""),
        (&["report", "empty"], "it has no review.json or replay.json"),
        (&["report", "text"], "text: it is not a \"fourcorners.review/2\" document"),
        (&["report", "cut.json"], "line 1 column"),
        (&["report", "newer.json"], "this version reads \"fourcorners.review/2\""),
        (&["report", "none.json"], "none.json: no records in there"),
        (&["report", "/dev/zero"], "/dev/zero: this is not a file"),
        (&["report", "none.json", "--svg"], "--svg"),
    ] {
        let line = refused(dir.path(), args);
        assert!(line.contains(told), "{args:?}: {line}");
    }
    let ran = run(dir.path(), &["review", M4, "--quick", "--out", "one"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let line = refused(dir.path(), &["report", "one", "--png", "text"]);
    assert!(line.contains("cannot write into text"), "{line}");
}

#[test]
fn tables_are_pasted_and_one_picture_is_posted() {
    let dir = folder();
    let ran = run(dir.path(), &["review", M4, HDD, "--quick", "--quiet", "--out", "both"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let markdown = run(dir.path(), &["report", "both", "--markdown"]).stdout;
    assert!(
        markdown.contains("| --- | ---: |") && markdown.contains("| 4 KiB random read, QD"),
        "{markdown}"
    );
    assert!(
        markdown.contains("Fastest: Crucial m4 256 GB") && !markdown.contains('\u{2500}'),
        "{markdown}"
    );
    let bbcode = run(dir.path(), &["report", "both", "--bbcode"]).stdout;
    assert_eq!(bbcode.matches("[table]").count(), bbcode.matches("[/table]").count());
    assert_eq!(bbcode.matches("[table]").count(), markdown.matches("| ---: |\n").count());
    let said = refused(dir.path(), &["report", "both", "--bbcode", "--markdown"]);
    assert!(said.contains("cannot be used with"), "{said}");

    let ran = run(dir.path(), &["report", "both", "--card", "card.png"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.stderr);
    let png = fs::read(dir.path().join("card.png")).expect("a card");
    assert!(png.starts_with(b"\x89PNG") && png[16..20] == 2400_u32.to_be_bytes());
    let said = refused(dir.path(), &["report", "both", "--card", "card.jpg"]);
    assert!(said.contains(".png or .svg"), "{said}");
}

#[test]
fn of_outputs_that_cannot_all_be_written_none_is() {
    let dir = folder();
    let args = ["review", M4, "--quick", "--quiet", "--methods", "lba-pass", "--out", "pass"];
    assert_eq!(run(dir.path(), &args).code, Some(0));
    let said = refused(dir.path(), &["report", "pass", "-o", "p.svg", "--card", "./p.svg"]);
    assert!(said.contains("--output and --card are both ./p.svg"), "{said}");
    let said = refused(dir.path(), &["report", "pass", "-o", "p.html", "--card", "p.png"]);
    assert!(said.contains("nothing here can be ranked"), "{said}");
    let said = refused(dir.path(), &["report", "pass", "--references", "mine", "--db", "no.db"]);
    assert!(said.contains("--references mine: there is no database yet"), "{said}");
    for file in ["p.svg", "p.html", "p.png"] {
        assert!(!dir.path().join(file).exists(), "{file}");
    }
    // Control: without the card there is a page.
    assert_eq!(run(dir.path(), &["report", "pass", "-o", "p.html"]).code, Some(0));
    assert!(dir.path().join("p.html").exists());
}

#[test]
fn a_drive_stands_among_the_catalogue_or_ones_own_drives_or_alone() {
    let dir = folder();
    for drive in [M4, HDD] {
        let ran = run(
            dir.path(),
            &["review", drive, "--quick", "--quiet", "--db", "mine.db", "--out", drive],
        );
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    let page = |more: &[&str]| {
        let args = [&["report", M4, "--db", "mine.db", "-o", "page.html"][..], more].concat();
        let ran = run(dir.path(), &args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        fs::read_to_string(dir.path().join("page.html")).expect("a page")
    };
    let (catalogue, mine, none) =
        (page(&[]), page(&["--references", "mine"]), page(&["--references", "none"]));
    assert!(
        catalogue.contains("id=\"placing\"") && catalogue.contains("Intel Optane"),
        "the default"
    );
    assert!(mine.contains("drives of the database") && mine.contains("Seagate Momentus 5400.6"));
    assert!(!mine.contains("Intel Optane"), "only mine");
    assert!(!none.contains("id=\"placing\"") && !none.contains("class=\"row reference\""));
    // Pictures and the card are of the same drives as the page.
    let pictures = |references: &str| {
        let args =
            ["report", M4, "--db", "mine.db", "--svg", references, "--references", references];
        assert_eq!(run(dir.path(), &args).code, Some(0));
        let files = fs::read_dir(dir.path().join(references)).expect("a folder");
        let texts = files.map(|file| fs::read_to_string(file.expect("a file").path()));
        texts.collect::<Result<String, _>>().expect("they are text")
    };
    assert!(pictures("catalogue").contains("Intel Optane"));
    assert!(pictures("mine").contains("Seagate Momentus 5400.6"));
    assert!(!pictures("none").contains("Intel Optane"));
    let card = ["report", M4, "--db", "mine.db", "--card", "card.svg", "--references"];
    let said = refused(dir.path(), &[&card[..], &["none"]].concat());
    assert!(said.contains("no place among none"), "{said}");
    assert_eq!(run(dir.path(), &[&card[..], &["mine"]].concat()).code, Some(0));
    let mine = fs::read_to_string(dir.path().join("card.svg")).expect("a card");
    assert!(mine.contains("Place among 2 drives"), "{mine}");
}

/// Strips that show where a drive stands, as the page names them.
const USED_STRIP: &str = "Random write, used, 4 KiB, QD 3";
const FLUSH_STRIP: &str = "Write and flush, 4 KiB, QD 1";

#[test]
fn a_hard_disk_is_placed_among_hard_disks_and_a_used_drive_among_used_ones() {
    let dir = folder();
    let page = |drive: &str, more: &[&str]| {
        let args = [&["review", drive, "--quiet", "--no-db", "-o", drive][..], more].concat();
        let ran = run(dir.path(), &args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        fs::read_to_string(dir.path().join(drive).join("review.html")).expect("a page")
    };
    let disk = page(HDD, &["--quick"]);
    assert!(disk.contains("Among 2 hard disks: place 2 in random read"), "of the catalogue's two");
    assert!(disk.contains("In random read the slowest SSD, ") && !disk.contains("does best in"));
    // An SSD is placed among all, and seconds do not show its used state.
    let quick = page(M4, &["--quick"]);
    assert!(quick.contains("It does best in ") && !quick.contains("hard disks: place"));
    assert!(!quick.contains(FLUSH_STRIP) && !quick.contains(USED_STRIP), "neither was measured");
    fs::remove_dir_all(dir.path().join(M4)).expect("the page");
    let whole = page(M4, &["--methods", "four-corners,used-state,sync-writes"]);
    assert!(whole.contains(USED_STRIP) && whole.contains(FLUSH_STRIP), "at full length");
    // Seconds of the used state, asked for by name, are held against nothing.
    fs::remove_dir_all(dir.path().join(M4)).expect("the page");
    let seconds = page(M4, &["--quick", "--methods", "four-corners,used-state"]);
    assert!(seconds.contains("id=\"placing\"") && !seconds.contains(USED_STRIP), "in seconds");
}
