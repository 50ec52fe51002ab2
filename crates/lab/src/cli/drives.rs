//! `fourcorners drives`: the catalogue.

use std::io::{Write, stdout};
use std::path::Path;

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, presets};
use serde_json::json;

use super::args::DrivesArgs;
use super::terminal::columns;
use super::{End, Failure};
use crate::catalogue::{self, Profile};

pub(super) fn run(args: &DrivesArgs) -> Result<End, Failure> {
    let text = match &args.name {
        Some(name) if args.toml => find(name)?.to_toml().trim_end().into(),
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
        catalogue::names().iter().map(|name| find(name)).collect::<Result<_, _>>()?;
    if json {
        let drives = profiles.iter().map(|profile| {
            json!({"name": profile.name, "title": profile.title, "kind": profile.model.kind(),
                   "capacity_bytes": profile.capacity_bytes(), "fitted": profile.fitted()})
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
            format!("{:.1} GB", profile.capacity_bytes() as f64 / 1e9),
            format!("{} of {}", profile.fitted().len(), profile.values.len()),
        ]);
    }
    keep_whole(&mut table, 0);
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
    // Many values share a source: each is written out once, below.
    let mut sources: Vec<&str> = Vec::new();
    let mut table = table();
    let mut notes: Vec<String> = Vec::new();
    table.set_header(["parameter", "value", "standing", "source"]);
    for value in &profile.values {
        let known = sources.iter().position(|source| *source == value.source);
        let number = known.unwrap_or_else(|| {
            sources.push(&value.source);
            sources.len() - 1
        });
        table.add_row([
            value.key.clone(),
            value.value.to_string(),
            format!("{:?}", value.standing).to_lowercase(),
            format!("[{}]", number + 1),
        ]);
        notes.extend(value.note.iter().map(|note| paragraph(&format!("{}: {note}", value.key))));
    }
    let sources: Vec<String> = (1..)
        .zip(&sources)
        .map(|(number, source)| paragraph(&format!("[{number}] {source}")))
        .collect();
    let fitted = profile.fitted();
    let fitted = match fitted.len() {
        0 => "Nothing in it was fitted to measurements.".into(),
        count => format!(
            "{count} of {} values were fitted: {}.",
            profile.values.len(),
            fitted.join(", ")
        ),
    };
    let heading = format!("{} ({}, {})", profile.title, profile.name, profile.model.kind());
    let (heading, fitted) = (paragraph(&heading), paragraph(&fitted));
    let (notes, sources) = (notes.join("\n"), sources.join("\n"));
    Ok(format!("{heading}\n\n{table}\n\n{notes}\n\n{sources}\n\n{fitted}"))
}

/// What is typed again is not broken over lines.
fn keep_whole(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
}

/// Text broken over lines as the tables are.
fn paragraph(text: &str) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table.add_row([text]);
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 0));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table
}
