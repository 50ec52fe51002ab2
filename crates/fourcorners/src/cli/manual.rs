//! `fourcorners completions` and `fourcorners man`: what shells and man(1) read.

use std::io::{Write, stdout};

use clap::CommandFactory;

use super::args::CompletionsArgs;
use super::command::CommandLine;
use super::outcome::{End, Failure};

/// Prints the completions of a shell.
pub(super) fn completions(args: &CompletionsArgs) -> Result<End, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut CommandLine::command(), "fourcorners", &mut text);
    stdout().lock().write_all(&text)?;
    Ok(End::Done)
}

/// Prints the manual page, the commands' own pages after it.
pub(super) fn man() -> Result<End, Failure> {
    let mut command = CommandLine::command();
    // So that the commands are called by their full names.
    command.build();
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for sub in command.get_subcommands() {
        clap_mangen::Man::new(sub.clone()).render(&mut text)?;
    }
    stdout().lock().write_all(&text)?;
    Ok(End::Done)
}
