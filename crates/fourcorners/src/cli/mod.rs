//! The command line: arguments as typed, then checked, then run, in that direction.
//!
//! Exit codes: 0 done, 1 failed or interrupted, 2 wrong usage (an unknown drive, a target that may
//! not be tested, a bad argument: nothing was run). `run` has fio's where they differ.

mod age;
mod args;
mod bench;
mod choose;
mod command;
mod compare;
mod doctor;
mod drives;
mod dry_run;
mod grade;
mod interrupt;
mod keeper;
mod manual;
mod named;
mod out;
mod outcome;
mod print;
mod progress;
mod replaced;
mod report;
mod results;
mod review;
mod run;
mod serve;
mod sink;
mod size;
mod sweep;
mod targets;
mod tasks;
mod terminal;
mod told;
mod trace;
mod validate;
#[cfg(feature = "web")]
mod web;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use clap::error::ErrorKind;

use command::{Command, CommandLine};
use outcome::{End, Failure};
use terminal::say;

/// Runs a command line, whose first word is the program's name. What it says goes to standard output
/// and standard error; 0 is done, 1 failed or stopped, 2 not begun.
pub fn run<T: Into<OsString> + Clone>(line: impl IntoIterator<Item = T>) -> ExitCode {
    // A file that may not grow is an error of a write then, and no sudden end (setrlimit(2)).
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let result = match CommandLine::try_parse_from(line).map(|line| line.command) {
        Ok(Command::Review(args)) => review::run(args),
        Ok(Command::Report(args)) => report::run(&args),
        Ok(Command::Run(args)) => run::run(&args),
        Ok(Command::Drives(args)) => drives::run(&args),
        Ok(Command::Bench(args)) => bench::run(&args),
        Ok(Command::Validate(args)) => validate::run(&args),
        Ok(Command::Grade(args)) => grade::run(&args),
        Ok(Command::Age(args)) => age::run(&args),
        Ok(Command::Results(args)) => results::run(args),
        Ok(Command::Compare(args)) => compare::run(&args),
        Ok(Command::Choose(args)) => choose::run(&args),
        Ok(Command::Trace(args)) => trace::run(args),
        Ok(Command::Tasks(args)) => tasks::run(&args),
        Ok(Command::Sweep(args)) => sweep::run(&args),
        Ok(Command::Doctor(args)) => doctor::run(&args),
        Ok(Command::Serve(args)) => serve::run(&args),
        #[cfg(feature = "web")]
        Ok(Command::Web(args)) => web::run(args),
        Ok(Command::Completions(args)) => manual::completions(&args),
        Ok(Command::Man) => manual::man(),
        Err(error) if is_help(&error) => {
            // As below: whoever does not read the help has seen enough.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
        Err(error) => Err(Failure::Usage(in_a_line(&error))),
    };
    match result {
        Ok(End::Done) => ExitCode::SUCCESS,
        Ok(End::Incomplete) => ExitCode::from(1),
        Ok(End::Code(code)) => ExitCode::from(code),
        Err(Failure::Usage(message)) => {
            say(&format!("fourcorners: {message}"));
            ExitCode::from(2)
        }
        Err(Failure::Failed(error)) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(Failure::Failed(error)) => {
            say(&format!("fourcorners: {error:#}"));
            ExitCode::from(1)
        }
    }
}

/// Whether it was asked for, or there was nothing but the command's name.
fn is_help(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// What clap says in a paragraph, as the one line that every refusal here is.
fn in_a_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut line = String::new();
    for part in text.lines().map(str::trim) {
        let known = part.starts_with("Usage:") || part.starts_with("For more information");
        if part.is_empty() || known {
            continue;
        }
        line.push_str(match line.chars().last() {
            None => "",
            Some(':') => " ",
            Some(_) => "; ",
        });
        line.push_str(part.strip_prefix("error: ").unwrap_or(part));
    }
    line + "; --help lists what there is"
}

/// Whoever reads our output has seen enough (`| head`): not an error of ours.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
