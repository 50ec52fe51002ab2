//! `fourcorners grade --findings`: how often what `diagnose` finds is right.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::atomic::AtomicUsize;

use fourcorners_lab::diagnose::{Detector, Noise};
use fourcorners_lab::grade::findings::{
    Document, Graded, Tally, document, draw, grade_catalogue, grade_findings, table,
};

use super::super::interrupt::Interrupt;
use super::super::outcome::{End, Failure};
use super::super::validate::workers;
use super::{GradeArgs, NoiseArg, say_how_far};

pub(super) fn run(args: &GradeArgs) -> Result<End, Failure> {
    let noises = match args.noise {
        Some(noise) => vec![noise_of(noise)],
        None if args.markdown => Noise::ALL.to_vec(),
        None => vec![Noise::None],
    };
    let interrupt = Interrupt::listen()?;
    let watched = |drives: usize| {
        let (said, interrupt) = (AtomicUsize::new(0), interrupt.clone());
        move |done: usize| {
            say_how_far(done, drives, &said);
            !interrupt.asked()
        }
    };
    let tally = |noise: &Noise| {
        let graded = Graded {
            detectors: Detector::ALL.to_vec(),
            drives: args.drives,
            seed: args.seed,
            noise: *noise,
            only: args.only,
            workers: workers(),
        };
        grade_findings(&graded, &watched(args.drives))
    };
    let tallies: Vec<Tally> = noises.iter().map(tally).collect();
    // Of one drive the catalogue tells nothing.
    let catalogue = match args.markdown && args.only.is_none() && !interrupt.asked() {
        true => {
            let drives = fourcorners_catalogue::names().len();
            grade_catalogue(Noise::None, workers(), &watched(drives))
        }
        false => Vec::new(),
    };
    if stderr().is_terminal() {
        let _ = write!(stderr(), "\r\x1b[K");
    }
    if let Some(only) = args.only.filter(|_| !args.json && !args.markdown) {
        let drawn = draw(args.seed, only).arguments();
        writeln!(stdout().lock(), "fourcorners diagnose {drawn}\n")?;
    }
    let command = format!(
        "fourcorners grade --findings --markdown --drives {} --seed {}",
        args.drives, args.seed
    );
    let of = Document { command: &command, tallies: &tallies, catalogue: &catalogue };
    let text = match &tallies[..] {
        [one] if args.json => serde_json::to_string(one)?,
        _ if args.markdown => document(&of).trim_end().to_string(),
        all => {
            let worst =
                all.iter().flat_map(|tally| tally.findings.values()).flat_map(|it| &it.worst);
            let worst: Vec<String> = worst.map(|line| format!("\n{line}")).collect();
            table(all).trim_end().to_string() + &worst.concat()
        }
    };
    writeln!(stdout().lock(), "{text}")?;
    Ok(if interrupt.asked() { End::Incomplete } else { End::Done })
}

fn noise_of(noise: NoiseArg) -> Noise {
    match noise {
        NoiseArg::None => Noise::None,
        NoiseArg::Lab => Noise::Lab,
        NoiseArg::Host => Noise::Host,
    }
}
