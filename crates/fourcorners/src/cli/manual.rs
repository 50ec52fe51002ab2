//! `fourcorners completions` and `fourcorners man`: what shells and man(1) read.

use std::io::{Write, stdout};

use anyhow::Context;
use clap::{Command, CommandFactory};
use fourcorners_machine::save;

use super::args::{CompletionsArgs, ManArgs};
use super::command::CommandLine;
use super::out::make_writable;
use super::outcome::{End, Failure};
use super::replaced::{Inputs, Kind};
use super::terminal::say;

/// Prints the completions of a shell.
pub(super) fn completions(args: &CompletionsArgs) -> Result<End, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut CommandLine::command(), "fourcorners", &mut text);
    stdout().lock().write_all(&text)?;
    Ok(End::Done)
}

/// Prints the manual page, the commands' own pages after it, or writes a page a command into a folder.
pub(super) fn man(args: &ManArgs) -> Result<End, Failure> {
    let mut command = CommandLine::command();
    // So that the commands are called by their full names.
    command.build();
    let pages = pages(&command)?;
    let Some(folder) = &args.output else {
        // Those of commands within commands are in the page of these.
        let above = pages.iter().filter(|page| page.depth < 2);
        let text: Vec<u8> = above.flat_map(|page| page.text.iter().copied()).collect();
        stdout().lock().write_all(&text)?;
        return Ok(End::Done);
    };
    make_writable(folder, "folder").map_err(Failure::Usage)?;
    let nothing_read = Inputs::of([]);
    for page in &pages {
        let path = folder.join(&page.name);
        nothing_read.may_write(&path, Kind::Manual, args.overwrite).map_err(Failure::Usage)?;
    }
    for page in &pages {
        let path = folder.join(&page.name);
        save::write_atomically(&path, &page.text)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    say(&format!("{} pages in {}", pages.len(), folder.display()));
    Ok(End::Done)
}

/// A page of a command.
struct ManualPage {
    /// `fourcorners-trace-replay.1`.
    name: String,
    /// How many commands it is within.
    depth: usize,
    text: Vec<u8>,
}

/// The page of a command, then those of the commands within it.
fn pages(command: &Command) -> std::io::Result<Vec<ManualPage>> {
    fn add(command: &Command, depth: usize, pages: &mut Vec<ManualPage>) -> std::io::Result<()> {
        let man = clap_mangen::Man::new(command.clone());
        let mut text = Vec::new();
        man.render(&mut text)?;
        pages.push(ManualPage { name: man.get_filename(), depth, text });
        // `help` says what --help does.
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            add(sub, depth + 1, pages)?;
        }
        Ok(())
    }
    let mut pages = Vec::new();
    add(command, 0, &mut pages)?;
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a text that are too long for 80 columns, or are broken by hand where a narrower terminal
    /// would break them again.
    fn ill_broken(text: &str) -> Vec<&str> {
        let lines: Vec<&str> = text.lines().collect();
        let is_prose =
            |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
        let is_long = |line: &&&str| line.starts_with(' ') && line.chars().count() > 80;
        let broken = lines.windows(2).filter(|pair| pair.iter().all(|line| is_prose(line)));
        broken.map(|pair| pair[0]).chain(lines.iter().filter(is_long).copied()).collect()
    }

    #[test]
    fn help_is_broken_once_at_any_width() {
        fn of(command: &Command) -> Vec<String> {
            let texts = [command.get_after_help(), command.get_after_long_help()];
            let texts = texts.into_iter().flatten().map(ToString::to_string);
            let named = |line: &str| format!("{}: {line}", command.get_name());
            let ill = |text: String| ill_broken(&text).into_iter().map(named).collect::<Vec<_>>();
            texts.flat_map(ill).chain(command.get_subcommands().flat_map(of)).collect()
        }
        assert_eq!(of(&CommandLine::command()), [""; 0]);
        assert_eq!(ill_broken("Examples:\n  fourcorners a\n\nOne paragraph.\n\nAnother."), [""; 0]);
        assert_eq!(ill_broken("A line that is broken\nby hand."), ["A line that is broken"]);
        let long = format!("  {}", "x".repeat(79));
        assert_eq!(ill_broken(&long), [long.as_str()]);
    }
}
