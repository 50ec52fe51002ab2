//! The command line: arguments as typed, then checked, then run, in that direction.
//!
//! Exit codes: 0 done, 1 failed or interrupted, 2 wrong usage (an unknown drive, a target that may
//! not be tested, a bad argument: nothing was run). `run` has fio's where they differ.

mod address;
mod age;
mod among;
mod args;
mod bench;
mod choose;
mod command;
mod compare;
mod config;
mod continued;
mod crash;
mod diagnose;
mod doctor;
mod drives;
mod dry_run;
mod fio;
mod grade;
mod how_far;
mod interrupt;
mod keeper;
mod manual;
mod methods;
mod named;
mod new_drive;
mod out;
mod outcome;
mod print;
mod progress;
mod python;
mod quick;
mod replaced;
mod report;
mod results;
mod review;
mod run;
mod run_report;
mod serve;
mod served;
mod sink;
mod size;
mod sweep;
mod targets;
mod tasks;
mod terminal;
mod then_try;
mod told;
mod trace;
mod validate;
#[cfg(feature = "web")]
mod web;
#[cfg(not(feature = "web"))]
#[path = "no_web.rs"]
mod web;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use clap::error::ErrorKind;

use command::{Command, CommandLine};
use config::{Config, ConfigArgs, Taken};
use outcome::{End, Failure};
use terminal::say;

/// Runs a command line, whose first word is the program's name. What it says goes to standard output
/// and standard error; 0 is done, 1 failed or stopped, 2 not begun.
pub fn run<T: Into<OsString> + Clone>(line: impl IntoIterator<Item = T>) -> ExitCode {
    // A file that may not grow is an error of a write then, and no sudden end (setrlimit(2)).
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let mut taken = Vec::new();
    let result = match CommandLine::try_parse_from(line) {
        Ok(CommandLine { command: None, .. }) => doctor::drives(),
        Ok(CommandLine { command: Some(command), defaults }) => {
            with_defaults(command, &defaults, &mut taken)
        }
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
            say(&format!("fourcorners: {message}{}", Taken::blamed(&taken, &message)));
            ExitCode::from(2)
        }
        Err(Failure::Failed(error)) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(Failure::Failed(error)) => {
            let message = format!("{error:#}");
            say(&format!("fourcorners: {message}{}", Taken::blamed(&taken, &message)));
            ExitCode::from(1)
        }
    }
}

/// Runs a command with the user's defaults for what was not typed; `taken` are those it has.
fn with_defaults(
    mut command: Command,
    defaults: &ConfigArgs,
    taken: &mut Vec<Taken>,
) -> Result<End, Failure> {
    // They are written into the shell's start-up files, where nobody sees what goes wrong.
    let config = match command {
        Command::Completions(_) | Command::Man(_) => Config::none(),
        _ => Config::read(defaults).map_err(Failure::Usage)?,
    };
    *taken = config::fill(&mut command, &config);
    // What measures says it itself, after it was checked.
    let measures = matches!(command, Command::Review(_) | Command::Quick(_) | Command::Trace(_));
    if !measures && let Some(note) = Taken::note(taken) {
        say(&note);
    }
    dispatch(command, &config)
}

/// Runs a command whose arguments were understood.
fn dispatch(command: Command, config: &Config) -> Result<End, Failure> {
    match command {
        Command::Review(args) => review::run(args),
        Command::Quick(args) => quick::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Fio(args) => fio::run(&args),
        Command::Drives(args) => drives::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Grade(args) => grade::run(&args),
        Command::Age(args) => age::run(&args),
        Command::Results(args) => results::run(args),
        Command::Compare(args) => compare::run(&args),
        Command::Choose(args) => choose::run(&args),
        Command::Trace(args) => trace::run(args),
        Command::Tasks(args) => tasks::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Methods(args) => methods::run(&args),
        Command::Config(args) => config::run(&args, config),
        Command::Serve(args) => serve::run(&args),
        Command::Crash(args) => crash::run(&args),
        Command::Diagnose(args) => diagnose::run(&args),
        #[cfg(feature = "web")]
        Command::Web(args) => web::run(args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
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
