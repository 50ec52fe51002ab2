//! Messages to the person at the terminal, or to a program that reads in their place.

use std::io::{Write, stderr, stdout};
use std::os::fd::AsFd;

use fourcorners_report::wrapped_between_words;
use fourcorners_words::steers_a_terminal;

/// Width of tables where no terminal says its own.
const COLUMNS: u16 = 80;

/// Says one line on stderr. Whoever closed stderr does not want to hear it, and a review of hours
/// must not end for that: `eprintln!` would panic.
pub(super) fn say(message: &str) {
    let _ = writeln!(stderr(), "{}", one_line(message));
}

/// A message on one line that cannot steer the terminal, whatever a target or a profile is called.
fn one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for c in message.chars() {
        if steers_a_terminal(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Whether a terminal is to be written to in colours: not where `NO_COLOR` is set and not empty, nor
/// where the terminal says that it has none (<https://no-color.org>).
pub(super) fn colours() -> bool {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// How wide a table on stdout may be.
pub(super) fn columns() -> u16 {
    columns_of(stdout())
}

/// The same of another place that is written to.
pub(super) fn columns_of(place: impl AsFd) -> u16 {
    rustix::termios::tcgetwinsize(place)
        .map(|size| size.ws_col)
        .ok()
        .filter(|&columns| columns > 0)
        .unwrap_or(COLUMNS)
}

/// Text broken between words over lines as wide as the tables are. An address that is longer stays whole, to be clicked
/// on or pasted.
pub(super) fn paragraph(text: &str) -> String {
    filled(text, usize::from(columns()))
}

fn filled(text: &str, width: usize) -> String {
    let lines = text.split('\n').flat_map(|line| wrapped_between_words(line, width));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words_and_an_address_nowhere() {
        assert_eq!(filled("one two three", 7), "one two\nthree");
        assert_eq!(filled("one two three", 6), "one\ntwo\nthree");
        assert_eq!(filled("at https://a.example/long now", 9), "at\nhttps://a.example/long\nnow");
        assert_eq!(filled("one\n\ntwo", 80), "one\n\ntwo");
        assert_eq!(filled("\u{b5}s \u{b5}s", 5), "\u{b5}s \u{b5}s");
    }

    #[test]
    fn a_message_stays_on_its_line() {
        assert_eq!(one_line("no drive \"a\nb\u{1b}[31m\""), "no drive \"a\\nb\\u{1b}[31m\"");
        assert_eq!(one_line("Größe: 2 µs"), "Größe: 2 µs");
    }
}
