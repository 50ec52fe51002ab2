//! `fourcorners validate --shapes`: the catalogue held against measured distributions.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Write, stdout};
use std::path::Path;

use anyhow::Context;
use comfy_table::{ContentArrangement, Table, presets};
use fourcorners_lab::validate::Standing;
use fourcorners_lab::validate::shapes::shown::{percent, standing};
use fourcorners_lab::validate::shapes::{
    self, Entry, KindSummary, Part, PathGroup, ShapeRow, ShapesValidation, chart, shown,
};
use fourcorners_machine::save;

use super::args::ValidateArgs;
use super::{text_of, workers};
use crate::cli::how_far::HowFar;
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::{End, Failure};
use crate::cli::replaced::{Inputs, Kind};
use crate::cli::terminal::columns;

pub(super) fn run(args: &ValidateArgs, file: Option<&Path>) -> Result<End, Failure> {
    let entries = match file {
        Some(path) => read(path).map_err(Failure::Usage)?,
        None => shapes::built_in(),
    };
    let known = |id: &String| entries.iter().any(|entry| entry.id == *id);
    if let Some(id) = args.only.iter().find(|id| !known(id)) {
        return Err(Failure::Usage(format!("--only {id}: no distribution has this id")));
    }
    let kinds: BTreeSet<&str> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    if let Some(folder) = &args.charts {
        may_draw(folder, &kinds, (file, args.overwrite)).map_err(Failure::Usage)?;
    } else if args.overwrite {
        return Err(Failure::Usage("--overwrite is for --charts: add it".into()));
    }
    let drives = super::drives(args.profiles.as_deref())?;
    let interrupt = Interrupt::listen()?;
    let progress = HowFar::new("validate --shapes");
    let watch = |done| {
        progress.part(done);
        !interrupt.asked()
    };
    let wanted = |entry: &Entry| args.only.is_empty() || args.only.contains(&entry.id);
    let validation = shapes::validate_shapes(&entries, wanted, &drives, (workers(), &watch));
    progress.clear();
    let mut charts = BTreeMap::new();
    for kind in kinds {
        if let Some(svg) = chart::svg(kind, &validation.entries) {
            charts.insert(kind.to_string(), svg);
        }
    }
    let text = match (args.json, args.markdown) {
        (true, _) => serde_json::to_string(&validation)?,
        (_, true) => shown::markdown(&validation, &charts).trim_end().to_string(),
        _ => table(&validation),
    };
    if let Some(folder) = args.charts.as_ref().filter(|_| !validation.stopped) {
        for (kind, svg) in &charts {
            let path = folder.join(format!("{kind}.svg"));
            save::write_atomically(&path, svg.as_bytes())
                .with_context(|| format!("{}: cannot write the chart", path.display()))?;
        }
    }
    writeln!(stdout().lock(), "{text}")?;
    Ok(if validation.stopped { End::Incomplete } else { End::Done })
}

/// Looks at where charts are to go before minutes of work.
fn may_draw(
    folder: &Path,
    kinds: &BTreeSet<&str>,
    (file, overwrite): (Option<&Path>, bool),
) -> Result<(), String> {
    if !folder.is_dir() {
        return Err(format!("--charts {}: this is not a folder", folder.display()));
    }
    let plain = |kind: &str| kind.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    for kind in kinds {
        if !plain(kind) {
            return Err(format!(
                "--charts: the kind {kind:?} is no name for a file: letters, digits, - and _ are"
            ));
        }
        let path = folder.join(format!("{kind}.svg"));
        Inputs::of(file).may_write(&path, Kind::Svg, overwrite)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<Entry>, String> {
    shapes::parse(&text_of(path)?).map_err(|why| format!("{}: {why}", path.display()))
}

/// Numbers that a reader looks for first, of those that an entry may have.
const SHOWN: [&str; 8] =
    ["iops", "p50", "p99", "p999", "p9999", "read.p99", "read.p999", "steady.iops"];

fn table(validation: &ShapesValidation) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table.set_header(["entry", "kind", "drive", "errors", "standing"]);
    for row in validation.entries.iter().filter(|row| row.standing != Standing::NotRun) {
        let drive = row.drive.clone().unwrap_or_default();
        let standing = standing(row).to_string();
        table.add_row([row.id.clone(), row.kind.clone(), drive, errors(row), standing]);
    }
    let mut text: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let not_run = validation.entries.iter().filter(|row| row.standing == Standing::NotRun);
    let not_run: Vec<String> = not_run
        .map(|row| {
            format!(
                "{} {}: {}",
                row.id,
                row.published_drive,
                row.why.as_deref().unwrap_or_default()
            )
        })
        .collect();
    if !not_run.is_empty() {
        text.push("\nNot run:".into());
        text.extend(not_run);
    }
    let summary = &validation.summary;
    text.push(format!(
        "\n{} of {} distributions were run. Median errors:",
        summary.run, summary.entries
    ));
    text.push(kinds(&summary.by_kind));
    text.join("\n")
}

fn errors(row: &ShapeRow) -> String {
    let shown = SHOWN.iter().filter_map(|path| {
        let error = row.compared.get(*path)?.error?;
        Some(format!("{path} {}", percent(error)))
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// A line for each kind and standing.
fn kinds(by_kind: &BTreeMap<String, KindSummary>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    let head = ["kind", "standing", "entries"].into_iter().map(String::from);
    table.set_header(head.chain(PathGroup::ALL.iter().map(|group| group.words().to_string())));
    for (kind, summary) in by_kind {
        for (name, part) in summary.parts() {
            if part.entries > 0 {
                table.add_row(line(kind, name, part));
            }
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn line(kind: &str, standing: &str, part: &Part) -> Vec<String> {
    let mut cells = vec![kind.to_string(), standing.to_string(), part.entries.to_string()];
    cells.extend(PathGroup::ALL.iter().map(|group| match part.groups.get(group) {
        Some(error) => format!("{:.0} %", error * 100.0),
        None => "-".into(),
    }));
    cells
}
