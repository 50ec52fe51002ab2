//! `fourcorners grade --findings`: how often what `diagnose` finds is right.

use std::io::{Write, stdout};

use fourcorners_lab::diagnose::{Detector, Noise};
use fourcorners_lab::grade::findings::{
    Document, Graded, Tally, document, draw, grade_catalogue, grade_findings, table,
};

use super::super::how_far::HowFar;
use super::super::interrupt::Interrupt;
use super::super::outcome::{End, Failure};
use super::super::validate::workers;
use super::{GradeArgs, NoiseArg};

pub(super) fn run(args: &GradeArgs) -> Result<End, Failure> {
    let noises = match args.noise {
        Some(noise) => vec![noise_of(noise)],
        None if args.markdown => Noise::ALL.to_vec(),
        None => vec![Noise::None],
    };
    let interrupt = Interrupt::listen()?;
    let how_far = HowFar::new("grade --findings");
    let watched = |drives: usize| {
        let (how_far, interrupt) = (&how_far, &interrupt);
        move |done: usize| {
            how_far.drives(done, drives);
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
    how_far.clear();
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
