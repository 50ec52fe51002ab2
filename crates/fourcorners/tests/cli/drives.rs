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
