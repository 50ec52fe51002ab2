//! `fourcorners validate --shapes`: the catalogue held against measured distributions.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Write, stdout};
use std::path::Path;

use anyhow::Context;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
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
    let run = validation.entries.iter().filter(|row| row.standing != Standing::NotRun);
    let rows = run.map(|row| {
        let drive = row.drive.clone().unwrap_or_default();
        let standing = standing(row).to_string();
        vec![row.id.clone(), row.kind.clone(), drive, errors(row), standing]
    });
    let head = ["entry", "kind", "drive", "errors", "standing"].map(String::from);
    let mut text = table_lines(columns(), &head, &rows.collect::<Vec<_>>(), 3);
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
    let head = ["kind", "standing", "entries"].into_iter();
    let groups = PathGroup::ALL.iter().map(|group| group.words());
    let head: Vec<String> = head.chain(groups).map(String::from).collect();
    let mut rows = Vec::new();
    for (kind, summary) in by_kind {
        let parts = summary.parts().into_iter().filter(|(_, part)| part.entries > 0);
        rows.extend(parts.map(|(name, part)| line(kind, name, part)));
    }
    table_lines(columns(), &head, &rows, 1).join("\n")
}

/// Where a name may be broken over lines: a space of no width behind each hyphen, which is taken out again.
const BREAK: char = '\u{200b}';

/// The lines of a table of `width` columns, in which words are broken nowhere but in the first `names` columns,
/// and there behind a hyphen.
fn table_lines(width: u16, head: &[String], rows: &[Vec<String>], names: usize) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(head);
    for row in rows {
        let (broken, others) = row.split_at(names);
        let broken = broken.iter().map(|name| name.replace('-', &format!("-{BREAK}")));
        table.add_row(broken.chain(others.iter().cloned()));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        let is_end = |c: char| c == ' ' || index < names && c == '-';
        let lines = rows.iter().map(Vec::as_slice).chain([head]);
        let words = lines.flat_map(|line| line[index].split_inclusive(is_end));
        let longest = words.map(|word| word.trim_end().chars().count()).max().unwrap_or_default();
        // A column's width counts the space on either side.
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(longest as u16 + 2)));
        if index < names {
            column.set_delimiter(BREAK);
        }
    }
    table.lines().map(|line| line.trim_end().replace(BREAK, "")).collect()
}

fn line(kind: &str, standing: &str, part: &Part) -> Vec<String> {
    let mut cells = vec![kind.to_string(), standing.to_string(), part.entries.to_string()];
    cells.extend(PathGroup::ALL.iter().map(|group| match part.groups.get(group) {
        Some(error) => format!("{:.0} %", error * 100.0),
        None => "-".into(),
    }));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_broken_behind_hyphens_and_other_words_nowhere() {
        let head = ["entry", "errors"].map(String::from);
        let row = ["980pro-x8-fig11a-n16", "read.p99 +7 %, read.p999 -10 %"].map(String::from);
        let lines = |width| table_lines(width, &head, &[row.to_vec()], 1);
        let wide = lines(80);
        assert!(wide[1].contains("980pro-x8-fig11a-n16"), "{wide:?}");
        let narrow = lines(30);
        assert!(narrow.len() > 3, "{narrow:?}");
        let (whole, parts) = (row.join(" "), narrow[1..].join(" "));
        for word in parts.split_whitespace() {
            let ends = whole.split_inclusive([' ', '-']).map(str::trim_end);
            let is_made_of_whole_words = ends.clone().any(|end| word.ends_with(end));
            assert!(is_made_of_whole_words, "{word}: {narrow:?}");
        }
    }
}
