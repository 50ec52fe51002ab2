//! `fourcorners drives new`: a profile from a data sheet.

pub(super) mod args;

use std::io::{Write, stdout};
use std::path::Path;

use fourcorners_lab::new_drive::{DataSheet, NEAR, SheetFigure, SheetResult, new_drive};
use fourcorners_machine::save::write_atomically;

use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::replaced::folder_is_there;
use super::size::bytes_of;
use super::targets::typed_profile;
use super::terminal::say;
use args::NewDriveArgs;

pub(super) fn run(args: &NewDriveArgs) -> Result<End, Failure> {
    let sheet = sheet(args).map_err(Failure::Usage)?;
    let outputs = [args.output.as_deref(), args.figures.as_deref()];
    for output in outputs.into_iter().flatten() {
        folder_is_there(output).map_err(Failure::Usage)?;
        if !args.overwrite && output.symlink_metadata().is_ok() {
            let output = output.display();
            let why = format!("{output} exists: name another file, or add --overwrite");
            return Err(Failure::Usage(why));
        }
    }
    if args.overwrite && outputs == [None, None] {
        return Err(Failure::Usage("--overwrite is for -o and --figures: add one".into()));
    }
    if let [Some(profile), Some(figures)] = outputs
        && profile == figures
    {
        let file = figures.display();
        let why = format!("--figures {file}: this is where the profile goes; name another file");
        return Err(Failure::Usage(why));
    }
    let interrupt = Interrupt::listen()?;
    let new = new_drive(&sheet, &args.like, &mut |_| !interrupt.asked());
    let new = new.map_err(|error| Failure::Usage(error.to_string()))?;
    let text = new.profile.to_toml();
    let write = |output: &Path, text: &str| {
        write_atomically(output, text.as_bytes())
            .map_err(|error| anyhow::anyhow!("cannot write {}: {error}", output.display()))
    };
    if let Some(figures) = &args.figures {
        write(figures, &sheet.figures(&new.profile))?;
    }
    match &args.output {
        Some(output) => write(output, &text)?,
        None => write!(stdout().lock(), "{text}")?,
    }
    for result in &new.results {
        say(&told(result));
    }
    let values = new.profile.values.len();
    let (solved, like) = (new.solved.len(), &args.like);
    say(&format!(
        "{solved} of {values} values are from the sheet; the others stand as assumed, taken from {like}"
    ));
    if let Some(output) = &args.output {
        say(&format!("fourcorners quick {}", typed_profile(output).display()));
    }
    if interrupt.asked() {
        say("fourcorners: stopped; the figures are those of what was found so far");
        return Ok(End::Incomplete);
    }
    Ok(match new.results.iter().all(SheetResult::is_met) {
        true => End::Done,
        false => End::Incomplete,
    })
}

fn sheet(args: &NewDriveArgs) -> Result<DataSheet, String> {
    let number = |option: &str, text: &Option<String>, unit: f64| {
        let Some(text) = text else { return Ok(None) };
        let plain = text.trim().trim_end_matches("/s").trim_end_matches("IOPS");
        let value = bytes_of(plain).map(|value| value as f64 / unit);
        // A rate without a unit is in MB/s, as sheets have it.
        let value = match (plain.parse::<f64>(), unit > 1.0) {
            (Ok(megabytes), true) => Some(megabytes),
            _ => value,
        };
        let example = if unit > 1.0 { "560MB/s" } else { "95k" };
        value.map(Some).ok_or_else(|| format!("{option} {text}: give a number such as {example}"))
    };
    let capacity_bytes = bytes_of(&args.capacity)
        .ok_or_else(|| format!("--capacity {}: give a size such as 500GB", args.capacity))?;
    let figures = [
        (SheetFigure::Read, number("--read", &args.read, 1e6)?),
        (SheetFigure::Write, number("--write", &args.write, 1e6)?),
        (SheetFigure::ReadIops, number("--read-iops", &args.read_iops, 1.0)?),
        (SheetFigure::WriteIops, number("--write-iops", &args.write_iops, 1.0)?),
        (SheetFigure::ReadLatency, args.qd1_read_us),
    ];
    let wanted = figures.into_iter().filter_map(|(figure, value)| Some((figure, value?)));
    let wanted: Vec<(SheetFigure, f64)> = wanted.collect();
    if wanted.is_empty() {
        return Err(
            "there is no figure to solve: give --read, --write, --read-iops, --write-iops or \
                    --qd1-read-us"
                .into(),
        );
    }
    Ok(DataSheet {
        name: args.name.clone(),
        title: args.title.clone().unwrap_or_else(|| args.name.clone()),
        source: args.sheet.clone(),
        capacity_bytes,
        wanted,
    })
}

fn told(result: &SheetResult) -> String {
    let SheetResult { figure, wanted, simulated } = *result;
    let (name, unit, percent) = (figure.name(), figure.unit(), result.error() * 100.0);
    let line = format!(
        "{name}: {wanted:.0} {unit} in the sheet, {simulated:.0} simulated ({percent:+.1} %)"
    );
    match result.is_met() {
        true => line,
        false => {
            let near = NEAR * 100.0;
            format!(
                "NOT MET within {near:.0} %: {line}; the link or the flash of another --like may do"
            )
        }
    }
}
