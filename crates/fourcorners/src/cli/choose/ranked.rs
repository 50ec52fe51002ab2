//! A ranking made and printed: for `choose`, and for a replay on every drive.

use std::io::{Write, stdout};
use std::time::Instant;

use fourcorners_lab::choose::{ChooseError, Request, choose};
use fourcorners_machine::cpu;
use fourcorners_record::Choice;
use fourcorners_report::{self as report, Pasted};
use fourcorners_words::counted;

use crate::cli::how_far::HowFar;
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::Failure;
use crate::cli::terminal::{columns, say};

/// Has every drive do the work, and says how far it is, after `name`. `None` when it was stopped.
pub(in crate::cli) fn ranked(
    request: &Request,
    name: &str,
    interrupt: &Interrupt,
) -> Result<Option<Choice>, Failure> {
    let all = request.candidates.len();
    let (began, cpu_before) = (Instant::now(), cpu::process_seconds());
    let how_far = HowFar::new(name);
    let watch = |done: usize| {
        how_far.drives(done, all);
        !interrupt.asked()
    };
    let chosen = choose(request, &watch);
    how_far.clear();
    match chosen {
        Ok(choice) => {
            say(&format!(
                "{} in {:.1} s, {:.1} s of CPU time",
                counted(all as u64, "drive"),
                began.elapsed().as_secs_f64(),
                cpu::process_seconds() - cpu_before
            ));
            Ok(Some(choice))
        }
        Err(ChooseError::Stopped) => {
            say("fourcorners: stopped; nothing was ranked");
            Ok(None)
        }
        Err(error @ ChooseError::NoDrive { .. }) => Err(Failure::Usage(error.to_string())),
        Err(error @ ChooseError::TooFewIos { .. }) => Err(Failure::Usage(format!("--{error}"))),
    }
}

/// Prints a ranking as a table, as text to paste or as one JSON document.
pub(in crate::cli) fn print(
    choice: &Choice,
    as_json: bool,
    pasted: Option<Pasted>,
) -> Result<(), Failure> {
    let text = match (as_json, pasted) {
        (true, _) => serde_json::to_string(choice)?,
        (false, Some(form)) => report::choice_pasted(choice, form),
        (false, None) => report::choice_table(choice, columns()),
    };
    writeln!(stdout().lock(), "{}", text.trim_end())?;
    Ok(())
}
