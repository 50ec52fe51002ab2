//! The command line: arguments as typed, then checked, then run, in that direction.
//!
//! Exit codes: 0 done, 1 failed or interrupted, 2 wrong usage (an unknown drive, a target that may
//! not be tested, a bad argument: nothing was run).

mod args;
mod bench;
mod drives;
mod interrupt;
mod progress;
mod review;
mod size;
mod targets;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// What a command ended with.
enum End {
    Done,
    /// Something was measured, but not all of it.
    Incomplete,
}

/// Why a command did not end well.
enum Failure {
    /// Nothing was run; the message says what to type instead.
    Usage(String),
    /// It was begun and failed.
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Failed(error.into())
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Review(args) => review::run(args),
        Command::Drives(args) => drives::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match result {
        Ok(End::Done) => ExitCode::SUCCESS,
        Ok(End::Incomplete) => ExitCode::from(1),
        Err(Failure::Usage(message)) => {
            eprintln!("fourcorners: {message}");
            ExitCode::from(2)
        }
        Err(Failure::Failed(error)) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(Failure::Failed(error)) => {
            eprintln!("fourcorners: {error:#}");
            ExitCode::from(1)
        }
    }
}

/// Whoever reads our output has seen enough (`| head`): not an error of ours.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
