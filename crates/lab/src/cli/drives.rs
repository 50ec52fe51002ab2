//! `fourcorners drives`: the catalogue.

use std::io::{Write, stdout};
use std::path::Path;

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::json;

use super::args::DrivesArgs;
use super::{End, Failure};
use crate::catalogue::{self, Model, Profile};

pub(super) fn run(args: &DrivesArgs) -> Result<End, Failure> {
    let text = match &args.name {
        Some(name) => one(&find(name)?, args.json)?,
        None => all(args.json)?,
    };
    writeln!(stdout().lock(), "{text}")?;
    Ok(End::Done)
}

fn find(name: &str) -> Result<Profile, Failure> {
    let profile = match name.ends_with(".toml") {
        true => catalogue::from_file(Path::new(name), &[]),
        false => catalogue::built_in(name, &[]),
    };
    profile.map_err(|error| Failure::Usage(error.to_string()))
}

fn all(json: bool) -> Result<String, Failure> {
    let profiles: Vec<Profile> =
        catalogue::names().into_iter().map(find).collect::<Result<_, _>>()?;
    if json {
        let drives = profiles.iter().map(|profile| {
            json!({"name": profile.name, "title": profile.title, "kind": profile.model.kind(),
                   "capacity_bytes": capacity_bytes(profile), "fitted": profile.fitted()})
        });
        let document =
            json!({"schema": "fourcorners.drives/1", "drives": drives.collect::<Vec<_>>()});
        return Ok(serde_json::to_string_pretty(&document)?);
    }
    let mut table = table();
    table.set_header(["name", "drive", "kind", "capacity", "fitted values"]);
    for profile in &profiles {
        table.add_row([
            profile.name.clone(),
            profile.title.clone(),
            profile.model.kind().into(),
            format!("{:.1} GB", capacity_bytes(profile) as f64 / 1e9),
            format!("{} of {}", profile.fitted().len(), profile.values.len()),
        ]);
    }
    Ok(format!("{table}\n`fourcorners drives NAME` prints a drive with the source of every value."))
}

fn one(profile: &Profile, json: bool) -> Result<String, Failure> {
    if json {
        let document = json!({
            "schema": "fourcorners.drive/1", "name": profile.name, "title": profile.title,
            "kind": profile.model.kind(), "hash": profile.hash(), "values": profile.values,
        });
        return Ok(serde_json::to_string_pretty(&document)?);
    }
    let mut table = table();
    table.set_header(["parameter", "value", "standing", "source and note"]);
    for value in &profile.values {
        let standing = format!("{:?}", value.standing).to_lowercase();
        let note = value.note.as_ref().map(|note| format!("\n({note})")).unwrap_or_default();
        table.add_row([
            value.key.clone(),
            value.value.to_string(),
            standing,
            format!("{}{note}", value.source),
        ]);
    }
    let fitted = profile.fitted();
    let fitted = match fitted.len() {
        0 => "Nothing in it was fitted to measurements.".into(),
        count => format!(
            "{count} of {} values were fitted: {}.",
            profile.values.len(),
            fitted.join(", ")
        ),
    };
    Ok(format!("{} ({}, {})\n{table}\n{fitted}", profile.title, profile.name, profile.model.kind()))
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table
}

fn capacity_bytes(profile: &Profile) -> u64 {
    match &profile.model {
        Model::Ssd(ssd) => ssd.capacity.sectors.value * 512,
        Model::Hdd(hdd) => hdd.capacity.sectors.value * 512,
    }
}
