//! `fourcorners drives`.

use serde_json::Value;

use crate::bench::{HDD, M4, folder, printed, refused};

#[test]
fn the_list_has_every_drive() {
    let text = printed(&["drives"]);
    for name in [M4, HDD] {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn the_list_as_json() {
    let list: Value = serde_json::from_str(&printed(&["drives", "--json"])).expect("JSON");
    assert_eq!(list["schema"], "fourcorners.drives/1");
    let drives = list["drives"].as_array().expect("a list");
    let m4 = drives.iter().find(|drive| drive["name"] == M4).expect("it is there");
    assert_eq!((&m4["kind"], &m4["capacity_bytes"]), (&"ssd".into(), &256_060_514_304u64.into()));
}

#[test]
fn a_drive_with_the_source_of_every_value() {
    let text = printed(&["drives", HDD]);
    for part in ["mechanics.rpm", "5400", "stated", "smartctl 7.2", "1 of 28 values were fitted"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let drive: Value = serde_json::from_str(&printed(&["drives", HDD, "--json"])).expect("JSON");
    assert_eq!((&drive["name"], &drive["kind"]), (&HDD.into(), &"hdd".into()));
    let values = drive["values"].as_array().expect("a list");
    assert!(values.iter().all(|value| {
        let filled = |key: &str| value[key].as_str().is_some_and(|text| !text.is_empty());
        filled("key") && filled("standing") && filled("source") && !value["value"].is_null()
    }));
}

#[test]
fn a_drive_of_a_family_is_printed_with_what_it_shares_and_what_is_its_own() {
    let text = printed(&["drives", M4]);
    for part in ["capacity.sectors", "500118192", "nand.page_bytes", "8192"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A value that may be copied is in one piece, and the table no wider for it.
    assert!(text.contains(" \"delayed_until_sequential\" "), "{text}");
    let mut table = text.lines().skip(2).take_while(|line| !line.is_empty());
    assert!(table.all(|line| line.chars().count() <= 80), "{text}");
    let small = printed(&["drives", "crucial-m4-64gb", "--toml"]);
    for part in ["name = \"crucial-m4-64gb\"", "[sources]\n", "dies = { value = 16, standing"] {
        assert!(small.contains(part), "{part}: {small}");
    }
    let dir = folder();
    refused(dir.path(), &["drives", "--toml"]);
    refused(dir.path(), &["drives", M4, "--toml", "--json"]);
    refused(dir.path(), &["drives", "intel-6gbps", "--toml", "--hosts"]);
}

#[test]
fn an_unknown_drive_is_refused_with_the_nearest() {
    let dir = folder();
    let line = refused(dir.path(), &["drives", "crucial-m4-256"]);
    assert!(line.contains("did you mean \"crucial-m4-256gb\"?"), "{line}");
    refused(dir.path(), &["drives", "crucial-m4-256", "--json"]);
    refused(dir.path(), &["drives", "./there-is-no-such.toml"]);
    refused(dir.path(), &["drives", ""]);
}

#[test]
fn the_list_is_a_line_for_each_drive_and_can_be_searched() {
    let text = printed(&["drives", "--search", "m500", "480"]);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("crucial-")).collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(lines[0].starts_with("crucial-m500-480gb") && lines[0].contains("480 GB"), "{text}");
    assert!(lines[0].ends_with(" %") && lines[0].chars().count() <= 80, "{text}");
    let list: Value = serde_json::from_str(&printed(&["drives", "--json"])).expect("JSON");
    let m4 = list["drives"].as_array().expect("a list").iter().find(|drive| drive["name"] == M4);
    let m4 = m4.expect("it is there");
    assert!(m4["published_figures"].as_u64().is_some_and(|count| count > 10), "{m4}");
    assert!(m4["median_error"].as_f64().is_some_and(|error| (0.0..0.5).contains(&error)), "{m4}");
    let dir = folder();
    assert!(
        refused(dir.path(), &["drives", "--search", "acme"]).contains("--search acme: no drive")
    );
    assert_eq!([&m4["interface"], &m4["year"]], [&Value::from("SATA 6 Gb/s"), &Value::from(2011)]);
}

#[test]
fn the_list_can_be_limited_by_kind_interface_and_year() {
    let names = |args: &[&str]| -> Vec<String> {
        let text = printed(&[&["drives", "--json"], args].concat());
        let list: Value = serde_json::from_str(&text).expect("JSON");
        let drives = list["drives"].as_array().expect("a list").iter();
        drives.map(|drive| drive["name"].as_str().expect("a name").to_string()).collect()
    };
    let (all, disks, ssds) = (names(&[]), names(&["--kind", "hdd"]), names(&["--kind", "ssd"]));
    assert!(disks.contains(&HDD.to_string()) && !disks.contains(&M4.to_string()), "{disks:?}");
    assert_eq!(disks.len() + ssds.len(), all.len());
    let fourth = names(&["--search", "PCIe 4"]);
    assert!(fourth.iter().any(|it| it == "samsung-980-pro-1000gb") && fourth.len() < 15);
    let other = |it: &String| it == M4 || it.starts_with("samsung-970");
    assert!(!fourth.iter().any(other), "{fourth:?}: a number is not a part of another");
    // By another name of the model, and its year.
    assert!(names(&["--search", "c400", "--year", "2011"]).contains(&M4.to_string()));
    let old = names(&["--year", "2008-2009"]);
    assert!(old.iter().any(|it| it.starts_with("intel-x25-m")) && !old.contains(&M4.to_string()));
    let dir = folder();
    for (slip, named) in [
        (&["--year", "soon"][..], "2008-2012"),
        (&["--year", "2012-2008"], "2008-2012"),
        (&["--year", "1999", "--kind", "ssd"], "--kind ssd --year 1999: no drive"),
        (&["--kind", "tape"], "ssd, hdd"),
        (&["--kind", "ssd", M4], "cannot be used with"),
    ] {
        let line = refused(dir.path(), &[&["drives"], slip].concat());
        assert!(line.contains(named), "{slip:?}: {line}");
    }
}

#[test]
fn a_new_drive_is_made_from_a_sheet_and_can_be_measured() {
    let dir = folder();
    let new =
        ["drives", "new", "acme-one-120gb", "--like", "crucial-m500-120gb", "--capacity", "120GB"];
    let args =
        [&new[..], &["--read", "500MB/s", "--write-iops", "30k", "-o", "acme.toml"]].concat();
    let ran = crate::bench::run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("read: 500 MB/s in the sheet, "), "{ran:?}");
    let drive: Value = serde_json::from_str(
        &crate::bench::run(dir.path(), &["drives", "acme.toml", "--json"]).stdout,
    )
    .expect("JSON");
    let stands = |key: &str| {
        let values = drive["values"].as_array().expect("values").iter();
        let value = values.clone().find(|value| value["key"] == key).expect(key);
        value["standing"].as_str().map(String::from)
    };
    assert_eq!(stands("capacity.sectors").as_deref(), Some("datasheet"));
    assert_eq!(stands("nand.erase_us").as_deref(), Some("assumed"));
    // What it was made of can be held against it again; and the opposite: another drive's figures do not come out.
    let all = ["--read", "500MB/s", "--write-iops", "30k", "--qd1-read-us", "150"];
    let both = ["-o", "mine/acme.toml", "--figures", "mine/acme.json"];
    std::fs::create_dir(dir.path().join("mine")).expect("it can be made");
    let ran = crate::bench::run(dir.path(), &[&new[..], &all, &both].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let validate = |more: &[&str]| {
        let args = ["validate", "--figures", "mine/acme.json", "--json"];
        let ran = crate::bench::run(dir.path(), &[&args[..], more].concat());
        let rows = serde_json::from_str::<Value>(&ran.stdout).expect("JSON")["figures"].clone();
        (ran.code, rows)
    };
    let (code, rows) = validate(&["--profiles", "mine"]);
    let rows = rows.as_array().expect("a list").clone();
    assert_eq!((code, rows.len()), (Some(0), 3), "{rows:?}");
    for row in &rows {
        assert!(row["error"].as_f64().is_some_and(|error| error.abs() < 0.1), "{row}");
        // It was solved for them.
        assert_eq!(row["standing"], "fitted", "{row}");
    }
    let (code, rows) = validate(&[]);
    assert_eq!((code, &rows[0]["simulated"]), (Some(1), &Value::Null), "{rows}");
    let doubled = std::fs::read_to_string(dir.path().join("mine/acme.json")).expect("it is there");
    std::fs::write(dir.path().join("mine/acme.json"), doubled.replace("500.0", "250.0"))
        .expect("written");
    let (_, rows) = validate(&["--profiles", "mine"]);
    assert!(rows[0]["error"].as_f64().is_some_and(|error| error > 0.8), "{rows}");
    // A figure of another source is predicted, and a span larger than the drive is not run.
    for (what, by, key, told) in [
        ("\"data sheet\"", "\"a review\"", "standing", "predicted"),
        ("\"span_gb\":1", "\"span_gb\":1000", "why", "is more than the drive's 120"),
    ] {
        let changed = doubled.replace(what, by);
        assert_ne!(changed, doubled, "{what}");
        std::fs::write(dir.path().join("mine/acme.json"), changed).expect("written");
        let (_, rows) = validate(&["--profiles", "mine"]);
        assert!(rows[0][key].as_str().is_some_and(|it| it.contains(told)), "{rows}");
    }
    // Never over what is there, and what cannot be met is said.
    assert!(refused(dir.path(), &args).contains("acme.toml exists"));
    let nowhere = [&new[..], &["--read", "500MB/s", "-o", "none/acme.toml"]].concat();
    assert!(
        refused(dir.path(), &nowhere).ends_with("none: there is no such folder; make it first")
    );
    let ran = crate::bench::run(dir.path(), &[&new[..], &["--read", "7000MB/s"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("NOT MET within 10 %: read: 7000 MB/s"), "{ran:?}");
    assert!(refused(dir.path(), &new).contains("there is no figure"));
}
