//! `fourcorners grade`: how often verdicts are right.

use std::io::{IsTerminal, Write, stderr, stdout};

use comfy_table::{ContentArrangement, Table, presets};
use fourcorners_lab::grade::{Grades, NoiseLevel, Options, draw, grade, markdown};

use super::args::{GradeArgs, NoiseArg};
use super::interrupt::Interrupt;
use super::terminal::columns;
use super::validate::workers;
use super::{End, Failure};

pub(super) fn run(args: &GradeArgs) -> Result<End, Failure> {
    if let Some(only) = args.only.filter(|only| *only >= args.drives) {
        return Err(Failure::Usage(format!(
            "--only {only}: drives are counted from 0, and --drives {} has none of that number",
            args.drives
        )));
    }
    let noise = args.noise;
    let levels: Vec<NoiseLevel> = NoiseLevel::ALL
        .into_iter()
        .filter(|level| {
            args.markdown && noise.is_none() || *level == noise.map_or(NoiseLevel::None, level_of)
        })
        .collect();
    let interrupt = Interrupt::listen()?;
    let mut all = Vec::new();
    for level in levels {
        let options = Options {
            noise: level,
            drives: args.drives,
            seed: args.seed,
            only: args.only,
            workers: workers(),
        };
        let terminal = stderr().is_terminal();
        let watch = |done: usize| {
            if terminal {
                // Progress that cannot be shown is no reason to stop.
                let _ = write!(
                    stderr(),
                    "\rgrade, noise {}: {done} of {} drives",
                    level.name(),
                    args.drives
                );
            }
            !interrupt.asked()
        };
        all.push(grade(&options, &watch));
        if terminal {
            let _ = write!(stderr(), "\r\x1b[K");
        }
        if interrupt.asked() {
            break;
        }
    }
    if let Some(only) = args.only.filter(|_| !args.json && !args.markdown) {
        let drawn = draw(args.seed, only).arguments();
        writeln!(stdout().lock(), "On a quiet machine: fourcorners review {drawn}\n")?;
    }
    let text = match &all[..] {
        [one] if args.json => serde_json::to_string(one)?,
        [one] if !args.markdown => table(one),
        all => markdown(all).trim_end().to_string(),
    };
    writeln!(stdout().lock(), "{text}")?;
    Ok(if interrupt.asked() { End::Incomplete } else { End::Done })
}

fn level_of(noise: NoiseArg) -> NoiseLevel {
    match noise {
        NoiseArg::None => NoiseLevel::None,
        NoiseArg::Lab => NoiseLevel::Lab,
        NoiseArg::Host => NoiseLevel::Host,
    }
}

fn table(grades: &Grades) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    let head = ["verdict", "drives", "identifiable", "right", "wrong", "undetermined"];
    table.set_header(head);
    for grade in &grades.verdicts {
        let counts =
            [grade.drives, grade.identifiable, grade.right, grade.wrong, grade.undetermined];
        table.add_row([grade.id.clone()].into_iter().chain(counts.map(|it| it.to_string())));
    }
    let mut text = table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    let worst: Vec<&String> = grades.verdicts.iter().flat_map(|grade| &grade.worst).collect();
    if !worst.is_empty() {
        text.push("\nWrong, by the command that shows it again:".into());
        text.extend(worst.into_iter().cloned());
    }
    text.join("\n")
}
