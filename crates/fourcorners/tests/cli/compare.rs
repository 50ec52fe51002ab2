//! Drives side by side, as a user compares them.

use std::fs;
use std::path::Path;

use fourcorners_record::{Document, Record, from_json, to_json};
use serde_json::Value;

use crate::bench::{HDD, M4, command, folder, refused};
use crate::fixture;

/// What a command printed that succeeded, with a database of its own.
fn printed(dir: &Path, args: &[&str]) -> String {
    let ran = command(dir, args).env("XDG_DATA_HOME", dir).output().expect("the binary is there");
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(ran.stdout).expect("text")
}

#[test]
fn drives_that_were_reviewed_are_compared_by_their_names() {
    let dir = folder();
    let at = dir.path();
    printed(at, &["review", M4, HDD, "--quick", "--repeat", "3", "--json"]);
    let json: Value =
        serde_json::from_str(&printed(at, &["compare", M4, HDD, "--json"])).expect("JSON");
    assert_eq!(json["schema"], "fourcorners.compare/1");
    assert_eq!(
        (json["sides"][0]["drive"].as_str(), json["mixed_clocks"].as_bool()),
        (Some(M4), Some(false))
    );
    let rows = json["figures"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["figure"] == "random_write_4k_qd3_incompressible");
    let disk = &row.expect("both have it")["sides"][1];
    assert_eq!(disk["repeats"], 3);
    let ratio = disk["mb_per_s"]["ratio"].as_f64().expect("a ratio");
    assert!(ratio < 0.01 && disk["mb_per_s"]["matters"] == true, "{disk}");
    let interval = disk["mb_per_s"]["ratio_interval"].as_array().expect("there are repeats");
    assert!(interval[0].as_f64() < Some(ratio) && Some(ratio) < interval[1].as_f64(), "{disk}");

    let text = printed(at, &["compare", M4, HDD]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("Four corners") && text.contains("3 times"), "{text}");
    assert!(text.contains("Ratios are to Crucial m4 256 GB."), "{text}");

    let text = printed(at, &["compare", M4, HDD, "--markdown"]);
    let row = text.lines().find(|line| line.starts_with("| 4 KiB random write"));
    let cells: Vec<&str> = row.expect("a row of it").split(" | ").collect();
    assert_eq!(cells.len(), 3, "{text}");
    assert!(cells[2].contains(" (1/") && !cells[1].contains('('), "{row:?}");
    assert!(text.contains("|  | Crucial m4 256 GB | "), "{text}");
    // Three times each: an interval, and what it is; nothing here makes no difference, so no mark of that is explained.
    assert!(cells[1].contains('±') && text.contains("±: confidence interval"), "{text}");
    assert!(text.contains("Ratios are to Crucial m4 256 GB.") && !text.contains('≈'), "{text}");
    let text = printed(at, &["compare", M4, HDD, "--bbcode"]);
    assert!(text.contains("[table]") && !text.contains("---"), "{text}");

    // What if: the same drive set up otherwise, by the file of its review.
    printed(at, &["review", M4, "--quick", "--set", "link.gbps=3", "--out", "slow", "--no-db"]);
    let text = printed(at, &["compare", M4, "slow", "--markdown"]);
    assert!(text.contains("(≈ ") && text.contains("≈: the difference does not matter"), "{text}");
    let text = printed(at, &["compare", M4, "slow", "-o", "page.html"]);
    assert!(text.contains("link.gbps=3") && text.contains('≈'), "{text}");
    let page = fs::read_to_string(at.join("page.html")).expect("it was written");
    assert!(page.contains("link.gbps=3") && page.trim_end().ends_with("</html>"));

    // A result is not compared with itself, whichever two names it has.
    let id = &from_json(&fs::read_to_string(at.join("slow/review.json")).expect("it is there"));
    let id = &id.as_ref().expect("a document").records[0].id;
    printed(at, &["results", "import", "slow"]);
    let twice = command(at, &["compare", "slow", id]).env("XDG_DATA_HOME", at).output();
    let twice = twice.expect("the binary is there");
    let told = String::from_utf8_lossy(&twice.stderr);
    let is_told = told.contains("is named twice, and taken once") && told.contains("there is only");
    assert!(twice.status.code() == Some(2) && is_told, "{told}");
    // Nor is one that was measured at another time with the same outcome, nor a part of what is named before.
    printed(at, &["review", M4, "--quick", "--set", "link.gbps=3", "--out", "later", "--no-db"]);
    let later = command(at, &["compare", "slow", "later"]).output().expect("the binary is there");
    assert_eq!(later.status.code(), Some(2), "{}", String::from_utf8_lossy(&later.stderr));
    let part = command(at, &["compare", M4, "slow"]).env("XDG_DATA_HOME", at).output();
    assert_eq!(part.expect("the binary is there").status.code(), Some(0));
    // Beside others it is left out, and one that was changed since is another.
    let text = printed(at, &["compare", "slow", HDD, id, "--markdown"]);
    assert!(text.contains("link.gbps=3") && text.contains("Seagate"), "{text}");
    let changed = fs::read_to_string(at.join("slow/review.json")).expect("it is there");
    let changed = changed.replacen("\"complete\":true", "\"complete\":false", 1);
    fs::write(at.join("changed.json"), changed).expect("it can be written");
    let text = printed(at, &["compare", "slow", "changed.json", "--as-is"]);
    assert!(text.contains("changed since it was measured"), "{text}");
}

#[test]
fn repeats_spread_where_times_vary_and_the_first_is_the_one_alone() {
    let dir = folder();
    let at = dir.path();
    let of = |drive: &str, args: &[&str]| -> Vec<f64> {
        let args =
            [&["review", drive, "--quick", "--no-db", "--json", "--methods", "four-corners"], args];
        let json: Value = serde_json::from_str(&printed(at, &args.concat())).expect("JSON");
        let records = json["records"].as_array().expect("a list").iter();
        let figure = "sequential_write_128k_qd1_incompressible";
        records.map(|it| it["figures"][figure]["mb_per_s"].as_f64().expect("a rate")).collect()
    };
    let rates = |args: &[&str]| of(M4, args);
    let repeated = rates(&["--repeat", "4"]);
    assert_eq!(repeated[..1], rates(&[]), "what is published of a drive is what one review says");
    // What a program waits for is the same in every repeat, and how long it takes differs as on a real drive.
    let (least, most) =
        repeated.iter().fold((f64::MAX, 0.0_f64), |(a, b), &r| (a.min(r), b.max(r)));
    assert!(most / least > 1.001 && most / least < 1.03, "{repeated:?}");
    // Two drives are not longer and shorter together.
    let others = of("crucial-c300-64gb", &["--repeat", "4"]);
    let ratios: Vec<f64> = repeated.iter().zip(&others).map(|(one, other)| one / other).collect();
    let range = ratios.iter().fold((f64::MAX, 0.0_f64), |(a, b), &r| (a.min(r), b.max(r)));
    assert!(range.1 / range.0 > 1.001, "{ratios:?}");
    for still in ["variation.mode=off", "variation.seed=1"] {
        let still = rates(&["--repeat", "4", "--set", still]);
        assert!(still.iter().all(|rate| *rate == still[0]), "{still:?}");
    }
}

#[test]
fn a_document_without_anything_to_compare_is_refused_by_its_name() {
    let dir = folder();
    let at = dir.path();
    let write = |name: &str, records: Vec<Record>| {
        fs::write(at.join(name), to_json(&Document::new(records))).expect("it can be written");
    };
    write("empty.json", Vec::new());
    let mut bare = fixture::m4();
    (bare.figures, bare.series, bare.curves) = Default::default();
    bare.seal();
    write("bare.json", vec![bare]);
    let mut late = fixture::momentus();
    late.started_at = "yesterday".into();
    write("late.json", vec![late]);
    write("m4.json", vec![fixture::m4()]);
    write("disk.json", vec![fixture::momentus()]);
    for (other, told) in [
        ("empty.json", "empty.json: no records in there"),
        ("bare.json", "bare.json: no figures and no curves in there"),
        ("late.json", "late.json: the record"),
    ] {
        let line = refused(at, &["compare", "m4.json", "disk.json", other]);
        assert!(line.contains(told), "{other}: {line}");
    }
    assert!(refused(at, &["report", "late.json"]).contains("\"yesterday\" is no time"));
    printed(at, &["compare", "m4.json", "disk.json"]);
}

#[test]
fn a_result_that_two_of_them_have_is_told() {
    let dir = folder();
    let at = dir.path();
    let repeats: Vec<Record> = [42, 43, 44].map(fixture::m4_of_seed).to_vec();
    let one = vec![repeats[0].clone(), Record { method: "toms".into(), ..fixture::m4() }];
    let sealed = |mut record: Record| {
        record.seal();
        record
    };
    let one: Vec<Record> = one.into_iter().map(sealed).collect();
    for (name, records) in [("three.json", &repeats), ("one.json", &one)] {
        let document = to_json(&Document::new(records.clone()));
        fs::write(at.join(name), document).expect("it can be written");
    }
    let compared = |args: &[&str]| command(at, args).output().expect("the binary is there");
    let ran = compared(&["compare", "three.json", "one.json"]);
    let said = String::from_utf8_lossy(&ran.stderr);
    let told = format!(
        "have 1 result in common, which there is compared with itself: {}",
        &one[0].id[..7]
    );
    assert!(ran.status.success() && said.contains(&told), "{said}");
    let text = String::from_utf8_lossy(&ran.stdout);
    for own in [&repeats[1], &one[1]] {
        assert!(text.contains(&own.id[..7]), "{}: {text}", own.id);
    }
    let ran = compared(&["compare", "three.json", "one.json", "--methods", "toms"]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(!said.contains("in common, which"), "nothing of that method is in both: {said}");
}

#[test]
fn virtual_and_wall_time_are_told_apart() {
    let dir = folder();
    let at = dir.path();
    fs::write(at.join("all.json"), to_json(&fixture::review())).expect("it can be written");
    let text = printed(at, &["compare", "all.json"]);
    assert!(text.contains(", virtual time") && text.contains(", wall time"), "{text}");
    assert!(text.contains("Virtual time comes from a model, wall time from hardware."), "{text}");
    assert!(text.contains("incomplete"), "{text}");
    let text = printed(at, &["compare", "all.json", "--markdown"]);
    assert!(text.contains(", virtual time |") && text.contains(", wall time |"), "{text}");
    assert!(text.contains("(incomplete)"), "{text}");
    let json: Value =
        serde_json::from_str(&printed(at, &["compare", "all.json", "--json"])).expect("JSON");
    assert_eq!(json["mixed_clocks"], true);
    assert_eq!(json["sides"].as_array().map(Vec::len), Some(3));
    let one = Document::new(vec![fixture::m4(), fixture::momentus()]);
    fs::write(at.join("one.json"), to_json(&one)).expect("it can be written");
    for form in [&["compare", "one.json"][..], &["compare", "one.json", "--markdown"]] {
        assert!(!printed(at, form).contains("virtual time"));
    }
}

#[test]
fn curves_seconds_and_conclusions_stand_beneath_the_figures() {
    let dir = folder();
    let at = dir.path();
    fs::write(at.join("all.json"), to_json(&fixture::everything())).expect("it can be written");
    let text = printed(at, &["compare", "all.json", "-o", "page.html"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for needle in [
        "along it",
        "over 3 to 256 GB from the first LBA",
        "ratio from",
        "IOPS by second",
        "begins",
        "used state",
        "Random write at QD 3 keeps 29.9 %",
    ] {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(needle) || flat.contains(needle), "no {needle}: {text}");
    }
    let page = fs::read_to_string(at.join("page.html")).expect("it was written");
    for needle in
        ["Side by side", "Ratios are to <strong>Crucial m4 256 GB</strong>", "≈ ", "mean along it"]
    {
        assert!(page.contains(needle), "no {needle:?} on the page");
    }
    // Drives that have curves alone have something to compare, too.
    let mut curves = fixture::everything();
    curves.records.retain(|record| record.method == "fill-level");
    fs::write(at.join("curves.json"), to_json(&curves)).expect("it can be written");
    let text = printed(at, &["compare", "curves.json"]);
    assert!(text.contains("by fill") && text.contains("0.30"), "{text}");
}
