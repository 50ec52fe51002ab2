//! `fourcorners validate`: the catalogue held against what was published.

use std::io::{Write, stdout};
use std::path::Path;

use anyhow::Context;
use comfy_table::{ContentArrangement, Table, presets};
use fourcorners_lab::validate::{
    self, Drives, ErrorTable, Figure, Fit, Parameter, Row, Standing, Validation, chart, shown,
};
use fourcorners_machine::{host, save};

pub(super) mod args;
mod distributions;
mod reference;

use self::args::ValidateArgs;
use super::how_far::HowFar;
use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::replaced::{Inputs, Kind};
use super::terminal::{columns, paragraph};

/// A file larger than this is no list of figures.
const MOST_FIGURES_BYTES: u64 = 64 << 20;
/// Memory of the largest drive of the catalogue and of a copy of it.
const MOST_DRIVE_BYTES: u64 = 5 << 30;

pub(super) fn run(args: &ValidateArgs) -> Result<End, Failure> {
    if let Some(file) = &args.shapes {
        return distributions::run(args, file.as_deref());
    }
    if let Some(path) = &args.reference {
        return reference::run(path, args.overwrite);
    }
    let outputs = [("--chart", &args.chart, Kind::Svg), ("--errors", &args.errors, Kind::Errors)];
    for (option, path, kind) in outputs {
        if let Some(path) = path {
            checked(option, path).map_err(Failure::Usage)?;
            let inputs = Inputs::of(args.figures.as_deref());
            inputs.may_write(path, kind, args.overwrite).map_err(Failure::Usage)?;
        }
    }
    if args.overwrite && args.chart.is_none() && args.errors.is_none() {
        return Err(Failure::Usage("--overwrite is for --chart and --errors: add one".into()));
    }
    let mut figures = match &args.figures {
        Some(path) => read(path).map_err(Failure::Usage)?,
        None => validate::built_in(),
    };
    if !args.only.is_empty() {
        if let Some(id) = args.only.iter().find(|id| !figures.iter().any(|f| f.id == **id)) {
            return Err(Failure::Usage(format!("--only {id}: no figure has this id")));
        }
        figures.retain(|figure| args.only.contains(&figure.id));
    }
    let drives = drives(args.profiles.as_deref())?;
    let interrupt = Interrupt::listen()?;
    let progress = HowFar::new("validate");
    let watch = |done| {
        progress.part(done);
        !interrupt.asked()
    };
    if let Some(family) = &args.fit {
        let fit = validate::fit(family, &figures, &drives, (workers(), &watch));
        progress.clear();
        let Some(fit) = fit.map_err(Failure::Usage)? else { return Ok(End::Incomplete) };
        writeln!(stdout().lock(), "{}", fitted(&fit))?;
        return Ok(End::Done);
    }
    let validation = validate::validate(&figures, &drives, (workers(), &watch));
    progress.clear();
    let text = match (args.json, args.markdown) {
        (true, _) => serde_json::to_string(&validation)?,
        (_, true) => shown::markdown(&validation).trim_end().to_string(),
        _ => table(&validation),
    };
    if let Some(path) = args.chart.as_ref().filter(|_| !validation.stopped) {
        let svg = chart::svg(&validation);
        save::write_atomically(path, svg.as_bytes())
            .with_context(|| format!("{}: cannot write the chart", path.display()))?;
    }
    if let Some(path) = args.errors.as_ref().filter(|_| !validation.stopped) {
        let table = ErrorTable::of(&validation).to_json()?;
        save::write_atomically(path, table.as_bytes())
            .with_context(|| format!("{}: cannot write the errors", path.display()))?;
    }
    writeln!(stdout().lock(), "{text}")?;
    let none_was_run = !validation.figures.is_empty()
        && validation.figures.iter().all(|row| row.standing == Standing::NotRun);
    Ok(if validation.stopped || none_was_run { End::Incomplete } else { End::Done })
}

/// Those of the catalogue, and of a folder of profiles if one is given.
fn drives(folder: Option<&Path>) -> Result<Drives, Failure> {
    let with = folder.map(Drives::with_folder).transpose();
    let with = with.map_err(|why| Failure::Usage(why.to_string()))?;
    Ok(with.unwrap_or_else(Drives::of_catalogue))
}

/// Looks at where an output is to go before minutes of work.
pub(super) fn checked(option: &str, path: &Path) -> Result<(), String> {
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return Err(format!("{option} {}: this is no file name", path.display())),
    };
    match folder.is_dir() {
        _ if path.is_dir() => Err(format!("{option} {}: this is a folder", path.display())),
        true => Ok(()),
        false => {
            Err(format!("{option} {}: there is no folder {}", path.display(), folder.display()))
        }
    }
}

/// As many drives at a time as there are cores, and memory for.
pub(super) fn workers() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let room = host::available_memory_bytes().map_or(usize::MAX, |bytes| {
        usize::try_from(bytes / MOST_DRIVE_BYTES).unwrap_or(usize::MAX)
    });
    cores.min(room).max(1)
}

fn read(path: &Path) -> Result<Vec<Figure>, String> {
    let text = text_of(path)?;
    validate::parse(&text).map_err(|why| format!("{}: {why}", path.display()))
}

/// The text of a file of figures.
fn text_of(path: &Path) -> Result<String, String> {
    let place = path.display();
    let cannot = |cause| format!("{place}: cannot read the figures: {cause}");
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        return Err(format!("{place}: this is not a file; a list of figures is one"));
    }
    if metadata.len() > MOST_FIGURES_BYTES {
        return Err(format!("{place}: {} bytes is too long for figures", metadata.len()));
    }
    std::fs::read_to_string(path).map_err(cannot)
}

fn table(validation: &Validation) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table.set_header(["figure", "drive", "test", "published", "simulated", "error", "standing"]);
    for row in validation.figures.iter().filter(|row| row.standing != Standing::NotRun) {
        table.add_row([
            row.id.clone(),
            row.drive.clone(),
            row.test.clone(),
            format!("{} {}", row.published_text, shown::unit(row)),
            shown::simulated(row),
            shown::verdict(row),
            shown::standing(row).into(),
        ]);
    }
    let not_run = validation.figures.iter().filter(|row| row.standing == Standing::NotRun);
    let not_run: Vec<String> = not_run.map(reason).collect();
    let mut text = table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    if !not_run.is_empty() {
        text.push("\nNot run:".into());
        text.extend(not_run);
    }
    text.push(String::new());
    text.extend(shown::sum(&validation.summary).iter().map(|line| paragraph(line)));
    text.join("\n")
}

/// The values to put into the file, and what they do to the figures.
fn fitted(fit: &Fit) -> String {
    let parameter = |p: &Parameter| {
        format!("{} = {} (was {}): {}", p.key, p.after, p.before, p.drives.join(", "))
    };
    let figure = |(id, before, after): &(String, f64, f64)| {
        // What rounds to nothing has no sign.
        let percent = |share: f64| (share * 1000.0).round() / 10.0 + 0.0;
        format!("{id}: {:+.1} % (was {:+.1} %)", percent(*after), percent(*before))
    };
    let parameters = fit.parameters.iter().map(parameter);
    parameters.chain(fit.figures.iter().map(figure)).collect::<Vec<_>>().join("\n")
}

fn reason(row: &Row) -> String {
    format!("{} {}: {}", row.id, row.drive, row.why.as_deref().unwrap_or_default())
}
