//! `fourcorners diagnose`: what is inside a drive, from its times.

mod args;
mod kept;
mod twin;
mod written;

use std::io::{Write, stdout};
use std::path::Path;

use comfy_table::{ContentArrangement, Table, presets};
use fourcorners_drive::Geometry;
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::diagnose::{
    Budget, BudgetError, Detector, Diagnosis, Finished, Options, SCHEMA, go_on, judge,
};
use fourcorners_lab::drive::Drive;
use fourcorners_linux::Setup;
use fourcorners_record::diagnosis::LEAST_BYTES;
use fourcorners_report::{finding_words, property_words};

use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::print;
use super::targets::{self, Asked};
use super::terminal::{columns, say};
pub(in crate::cli) use args::DiagnoseArgs;
use args::NoiseArg;
use kept::{Begun, Keeper};
use twin::Twin;
use written::Outputs;

/// I/Os in flight and bytes of one, at most, of all detectors.
const SETUP: Setup = Setup { queue_depth: 8, max_block_bytes: 128 << 10 };

pub(super) fn run(args: &DiagnoseArgs) -> Result<End, Failure> {
    let twin = Twin::check(args)?;
    match (diagnosed(args)?, twin) {
        (End::Done, Some(twin)) => Err(twin.look_for()),
        (end, _) => Ok(end),
    }
}

fn diagnosed(args: &DiagnoseArgs) -> Result<End, Failure> {
    if let Some(stored) = &args.again {
        let mut diagnosis = stored_diagnosis(stored).map_err(Failure::Usage)?;
        let outputs = Outputs::check(args, Some(stored)).map_err(Failure::Usage)?;
        diagnosis.findings = judge(&diagnosis.evidence);
        return tell(args, &diagnosis, &outputs);
    }
    let typed = args.target.clone().unwrap_or_default();
    // Before it is asked for that a real one may be overwritten: it would be for nothing.
    if let Some(real) = targets::find_real(&typed) {
        large_enough(&typed, real.geometry.bytes()).map_err(Failure::Usage)?;
    }
    let asked = Asked { targets: std::slice::from_ref(&typed), on: &args.on, writes: true };
    let device = targets::plan_asked(&asked).map_err(Failure::Usage)?.pop();
    let device = device.ok_or_else(|| Failure::Usage(format!("{typed}: there is no target")))?;
    large_enough(&typed, device.geometry().bytes()).map_err(Failure::Usage)?;
    if device.is_real() && args.noise != NoiseArg::None {
        return Err(Failure::Usage(format!(
            "--noise is for virtual drives, and {typed} is not one: leave it out"
        )));
    }
    let options = options(args, &device).map_err(Failure::Usage)?;
    // Before anything is created: what cannot go on is refused.
    let begun = Begun::open(args, &device, &options).map_err(Failure::Usage)?;
    let interrupt = Interrupt::listen()?;
    let outputs = Outputs::check(args, device.place().as_deref()).map_err(Failure::Usage)?;
    say(&statement(&typed, &device, &options));
    let usage = |error: &dyn std::fmt::Display| {
        outputs.undo();
        Failure::Usage(error.to_string())
    };
    let device = device.create().map_err(|error| usage(&error))?;
    let ready = device.open_for(SETUP).map_err(|error| usage(&error))?;
    let (mut drive, finished) = begun.go_on(&device, ready.drive).map_err(|error| usage(&error))?;
    let mut keeper =
        Keeper::of(&begun, outputs.folder(), &device, &options).map_err(|error| usage(&error))?;
    let mut running = String::new();
    let mut watch = |what: &str| {
        if running != what {
            running = what.to_string();
            say(&format!("fourcorners: {what}"));
        }
        !interrupt.asked()
    };
    let mut keep = |drive: &Drive, finished: &Finished| keeper.keep(drive, finished);
    let diagnosis = go_on(&mut drive, &typed, &options, finished, &mut watch, &mut keep);
    let end = tell(args, &diagnosis, &outputs).inspect_err(|_| keeper.unwritten())?;
    if let Some(others) = others(args, &options) {
        say(&others);
    }
    // Once the results are written: until then it can be had again.
    keeper.end();
    Ok(end)
}

/// Refuses a target that is too small for any detector.
fn large_enough(typed: &str, bytes: u64) -> Result<(), String> {
    match bytes < LEAST_BYTES {
        true => Err(format!(
            "{typed} is too small with {}: a target has to have {} MiB for anything to be measured",
            size(bytes),
            LEAST_BYTES >> 20
        )),
        false => Ok(()),
    }
}

/// Which detectors are run: those that were named, or those that the budget is enough for.
fn options(args: &DiagnoseArgs, device: &DeviceUnderTest) -> Result<Options, String> {
    let geometry = device.geometry();
    let budget = args.budget.as_deref().map(Budget::parse).transpose();
    let budget = budget.map_err(|error| format!("--budget {error}"))?;
    let with = |detectors: Vec<Detector>| Options {
        detectors,
        seed: args.seed,
        noise: args.noise.noise(),
    };
    if !args.only.is_empty() {
        // Each once, in the order they are named.
        let mut only: Vec<Detector> = Vec::new();
        for detector in &args.only {
            if !only.contains(detector) {
                only.push(*detector);
            }
        }
        let options = with(only);
        // Of a model, what is written costs nothing.
        let usual = device.is_real().then_some(Budget::Bytes(geometry.bytes() / 20));
        let allowed = budget.or(usual).map_or(Ok(()), |it| it.allow(&options, geometry));
        return allowed.map(|()| options).map_err(|error| match error {
            BudgetError::TooLittle { bytes, .. } => {
                format!("{error}: --budget {} allows it", in_gigabytes(bytes))
            }
            error => error.to_string(),
        });
    }
    let usual = with(Detector::USUAL.to_vec());
    let Some(budget) = budget else { return Ok(usual) };
    let typed = args.budget.as_deref().unwrap_or_default();
    budget.spend(usual, geometry).map_err(|error| format!("--budget {typed}: {error}"))
}

/// Which detectors there are besides the usual ones, where those were run for want of a choice.
fn others(args: &DiagnoseArgs, options: &Options) -> Option<String> {
    let chosen = !args.only.is_empty() || args.budget.is_some();
    let is_other = |detector: &&Detector| !options.detectors.contains(detector);
    let others: Vec<&str> = Detector::ALL.iter().filter(is_other).map(|it| it.name()).collect();
    (!chosen && !others.is_empty()).then(|| {
        format!(
            "fourcorners: not run: {}; --only NAMES runs them (--help says what each writes)",
            others.join(", ")
        )
    })
}

fn size(bytes: u64) -> String {
    fourcorners_words::size(bytes)
}

/// A size that is enough, as it is typed.
fn in_gigabytes(bytes: u64) -> String {
    format!("{:.1}G", (bytes as f64 / 1e8).ceil() / 10.0)
}

/// What will be done, before anything is written.
fn statement(typed: &str, device: &DeviceUnderTest, options: &Options) -> String {
    let geometry: Geometry = device.geometry();
    let bytes = options.bytes_written(geometry);
    let share = bytes as f64 / geometry.bytes() as f64 * 100.0;
    let names: Vec<&str> = options.detectors.iter().map(|detector| detector.name()).collect();
    let clock = if device.is_real() { "" } else { " on its own clock" };
    let minutes = options.minutes(geometry);
    let trims = match options.share_trimmed() {
        0.0 => String::new(),
        1.0 => "trims all of it, ".into(),
        share => format!("trims {:.0} % of it, ", share * 100.0),
    };
    format!(
        "fourcorners: {typed}: {}; {trims}writes up to {} ({share:.0} % of it), about {:.0} min{clock} at 200 MB/s",
        names.join(", "),
        size(bytes),
        minutes.ceil()
    )
}

fn stored_diagnosis(path: &Path) -> Result<Diagnosis, String> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let stored: Diagnosis = serde_json::from_str(&text)
        .map_err(|error| format!("{name} is no diagnosis of `diagnose -o`: {error}"))?;
    match stored.schema == SCHEMA {
        true => Ok(stored),
        false => Err(format!("{name} is of the form {}, and this is {SCHEMA}", stored.schema)),
    }
}

fn tell(args: &DiagnoseArgs, diagnosis: &Diagnosis, outputs: &Outputs) -> Result<End, Failure> {
    let text = serde_json::to_string(diagnosis).map_err(anyhow::Error::from)?;
    let written = outputs.write(diagnosis, &text);
    let shown = if args.json { text } else { table(diagnosis) };
    // What was measured is shown even where it cannot be written: of a real drive there may be no second chance.
    let printed = print::done(writeln!(stdout().lock(), "{shown}"));
    written?;
    printed?;
    if let Some(page) = outputs.page() {
        say(&format!("page: {}", page.display()));
    }
    let whole = diagnosis.evidence.iter().all(|evidence| evidence.stopped.is_none());
    Ok(if whole { End::Done } else { End::Incomplete })
}

fn table(diagnosis: &Diagnosis) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(columns());
    table.set_header(["", "found", "95 %", "why"]);
    for finding in &diagnosis.findings {
        let (found, interval) = finding_words(finding);
        table.add_row([property_words(&finding.key), found, interval, finding.reason.clone()]);
    }
    let cost = diagnosis.cost();
    let region = if diagnosis.has_a_region() { ", and before them a region in order" } else { "" };
    format!(
        "{}\n{table}\nThe detectors wrote {:.2} GB in {:.1} min{region}.",
        diagnosis.target, cost.gb, cost.minutes
    )
}
