//! What a profile of one's own may leave out, and what it may not.
//!
//! Ten values say most of what a drive is. The others are filled in from `drives/defaults`, and each says in the profile that it was
//! left out: nothing is assumed silently. The drives of the catalogue leave nothing out.

use fourcorners_drive::config::{HddConfig, SsdConfig};
use toml::{Table, Value};

use super::error::{CatalogueError, form};
use super::files::DRIVES;
use super::outline::{Missing, has_key, missing};
use super::parse::table_of;

/// The key of the source of what was left out.
const SOURCE: &str = "default";
const HDD: &str = "defaults/hdd.toml";

/// Fills in what the profile of a drive leaves out.
pub(super) fn complete(drive: &mut Table) {
    let Some(file) = file_for(drive) else { return };
    let defaults = DRIVES.get_file(file).and_then(|file| file.contents_utf8());
    let Some(defaults) = defaults.and_then(|text| table_of(text, file).ok()) else { return };
    let mut left_out = false;
    // Of which form the link of an SSD is, only itself says.
    let has_link = drive.contains_key("link") || file == HDD;
    for (section, content) in defaults.into_iter().filter(|it| has_link || it.0 != "link") {
        let Value::Table(content) = content else { continue };
        let there = drive.entry(&section).or_insert_with(|| Value::Table(Table::new()));
        // A value in place of a section is refused later, where all sections are read.
        let Value::Table(there) = there else { continue };
        for (key, entry) in content {
            let Value::Table(mut entry) = entry else { continue };
            if there.contains_key(&key) {
                continue;
            }
            entry.insert("standing".into(), "assumed".into());
            entry.insert("source".into(), SOURCE.into());
            there.insert(key, Value::Table(entry));
            left_out = true;
        }
    }
    if let Some(Value::Table(sources)) = drive.get_mut("sources").filter(|_| left_out) {
        let said = format!("left out of the profile: what is assumed then, of drives/{file}");
        sources.entry(SOURCE).or_insert(said.into());
    }
}

/// The file with what this drive may leave out, by its kind and link; none if its kind is unknown.
fn file_for(drive: &Table) -> Option<&'static str> {
    let has = |key: &str| drive.get("link")?.as_table()?.get(key).map(|_| ());
    match drive.get("kind")?.as_str()? {
        "hdd" => Some(HDD),
        "ssd" if has("generation").or(has("lanes")).is_some() => Some("defaults/ssd-nvme.toml"),
        "ssd" => Some("defaults/ssd-sata.toml"),
        _ => None,
    }
}

/// Refuses a drive that lacks values: all of them are named at once, with the line of the section that they belong to.
pub(super) fn refuse_missing(drive: &Table, text: &str, place: &str) -> Result<(), CatalogueError> {
    let kind = drive.get("kind").and_then(Value::as_str);
    let missing = match kind {
        Some("ssd") => missing::<SsdConfig>(drive),
        Some("hdd") => missing::<HddConfig>(drive),
        _ => Vec::new(),
    };
    // A key that is none is more likely a slip than another one that is missing.
    let is_known = |section: &str, key: &str| match kind {
        Some("hdd") => has_key::<HddConfig>(section, key),
        _ => has_key::<SsdConfig>(section, key) || section == "link",
    };
    let has_slip = |one: &Missing| {
        let there = drive.get(one.section).and_then(Value::as_table);
        there.is_some_and(|it| it.keys().any(|key| !is_known(one.section, key)))
    };
    if missing.is_empty() || missing.iter().any(has_slip) {
        return Ok(());
    }
    let mut sections: Vec<(&str, Vec<String>)> = Vec::new();
    for one in &missing {
        let words = match one.key {
            Some((key, takes)) => format!("{key} ({takes})"),
            None => {
                "gbps (a number) of SATA, or generation and lanes (whole numbers) of PCIe".into()
            }
        };
        match sections.last_mut().filter(|(section, _)| *section == one.section) {
            Some((_, keys)) => keys.push(words),
            None => sections.push((one.section, vec![words])),
        }
    }
    let said = sections.iter().map(|(section, keys)| {
        let line = line_of(text, section).map(|line| format!(", line {line}"));
        format!("[{section}]{}: {}", line.unwrap_or_default(), keys.join(", "))
    });
    let said: Vec<String> = said.collect();
    let count = missing.len();
    let values = if count == 1 { "a value is" } else { "values are" };
    Err(form(
        place,
        format!(
            "{}{values} missing, in {}; write each as KEY = {{ value = ..., standing = \"assumed\", source = \"model\" }}, with \
             model = \"...\" in [sources], or begin with a drive like it (`fourcorners drives new NAME --like DRIVE`)",
            if count == 1 { String::new() } else { format!("{count} ") },
            said.join("; in ")
        ),
    ))
}

/// The line of a section's head.
fn line_of(text: &str, section: &str) -> Option<usize> {
    let head = format!("[{section}]");
    text.lines().position(|line| line.trim_start().starts_with(&head)).map(|line| line + 1)
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::config::LinkSection;

    use super::*;
    use crate::{Model, Profile, Standing, from_text_behind, names};

    const HEAD: &str = "name = \"a\"\ntitle = \"A\"\n[sources]\nmodel = \"made up\"\n";

    /// A profile of these values, `section.key=value`.
    fn text(kind: &str, values: &[&str]) -> String {
        let mut text = format!("kind = \"{kind}\"\n{HEAD}");
        let mut before = "";
        for value in values {
            let (path, value) = value.split_once('=').expect("key=value");
            let (section, key) = path.split_once('.').expect("section.key");
            if section != before {
                text.push_str(&format!("[{section}]\n"));
                before = section;
            }
            let entry =
                format!("{{ value = {value}, standing = \"assumed\", source = \"model\" }}");
            text.push_str(&format!("{key} = {entry}\n"));
        }
        text
    }

    fn read(text: &str) -> Result<Profile, String> {
        from_text_behind(text, "mine.toml", None, &[]).map_err(|error| error.to_string())
    }

    const SSD: [&str; 10] = [
        "link.gbps=6.0",
        "capacity.sectors=500118192",
        "buffer.write_kib=512",
        "nand.channels=8",
        "nand.dies=32",
        "nand.page_bytes=8192",
        "nand.pages_per_block=256",
        "nand.blocks_per_plane=2048",
        "nand.read_us=50.0",
        "nand.program_us=1300.0",
    ];
    const HDD: [&str; 9] = [
        "capacity.sectors=586072368",
        "mechanics.rpm=7200.0",
        "mechanics.heads=4",
        "mechanics.track_to_track_ms=1.0",
        "mechanics.average_seek_ms=8.5",
        "mechanics.full_stroke_ms=17.0",
        "media.outer_mb_per_s=120.0",
        "media.inner_mb_per_s=60.0",
        "cache.size_kib=16384",
    ];

    #[test]
    fn ten_values_are_a_drive_and_all_others_say_that_they_were_left_out() {
        let sata = read(&text("ssd", &SSD)).unwrap_or_else(|error| panic!("{error}"));
        let assumed = sata.values.iter().filter(|it| it.source_key == SOURCE);
        assert!(assumed.clone().all(|it| it.standing == Standing::Assumed && it.note.is_some()));
        assert!(assumed.clone().count() > 10);
        assert_eq!(sata.values.len() - assumed.count(), SSD.len());
        let nvme = ["link.generation=4", "link.lanes=4"].iter().chain(&SSD[1..]).copied();
        let nvme = read(&text("ssd", &nvme.collect::<Vec<_>>())).unwrap_or_else(|e| panic!("{e}"));
        let Model::Ssd(ssd) = &nvme.model else { panic!("an SSD") };
        assert!(matches!(ssd.link, LinkSection::Pcie(_)) && ssd.capacity.queue_depth == 65535);
        read(&text("hdd", &HDD)).unwrap_or_else(|error| panic!("{error}"));
        // Written out, the file has them, and is the same drive.
        assert_eq!(read(&sata.to_toml()).as_ref(), Ok(&sata));
        // A value that is there stays.
        let own = ["nand.planes=4"].iter().chain(&SSD).copied().collect::<Vec<_>>();
        let own = own.iter().skip(1).chain(&own[..1]).copied().collect::<Vec<_>>();
        let Model::Ssd(ssd) = read(&text("ssd", &own)).unwrap_or_else(|e| panic!("{e}")).model
        else {
            panic!("an SSD")
        };
        assert_eq!(ssd.nand.planes, 4);
    }

    #[test]
    fn what_is_missing_is_said_at_once_with_the_line_of_its_section() {
        let all = text("ssd", &SSD);
        let without = |keys: &[&str]| {
            let kept = SSD.iter().filter(|it| !keys.iter().any(|key| it.starts_with(key)));
            let all = text("ssd", &kept.copied().collect::<Vec<_>>());
            (read(&all).expect_err("it lacks some"), all)
        };
        let (error, text_of) = without(&["nand.dies", "nand.read_us", "buffer."]);
        let line = text_of.lines().position(|line| line == "[nand]").expect("there") + 1;
        for part in [
            "mine.toml: 3 values are missing, in [buffer]: write_kib (a whole number); in [nand], "
                .into(),
            format!("line {line}: dies (a whole number), read_us (a number); write each as KEY"),
        ] {
            assert!(error.contains(&part), "{part}: {error}");
        }
        let (error, _) = without(&["nand.dies"]);
        assert!(
            error.contains("a value is missing, in [nand]") && !error.contains('\n'),
            "{error}"
        );
        let (error, _) = without(&["link."]);
        assert!(error.contains("generation and lanes"), "{error}");
        // A slip is named as one, whatever else is missing by it.
        let slip = read(&all.replace("\ndies = ", "\ndeis = ")).expect_err("it is none");
        assert!(slip.contains("unknown field `deis`"), "{slip}");
        // What is set is not missing.
        let lacking: Vec<&str> = SSD[..9].to_vec();
        let set = ["nand.program_us=900".to_string()];
        assert!(from_text_behind(&text("ssd", &lacking), "mine.toml", None, &set).is_ok());
    }

    #[test]
    fn the_drives_of_the_catalogue_leave_nothing_out() {
        for name in names() {
            let profile = crate::built_in(&name, &[]).expect("built in");
            let left_out = profile.values.iter().find(|it| it.source_key == SOURCE);
            assert_eq!(left_out.map(|it| &it.key), None, "{name}");
        }
    }
}
