//! How far a command is that says it in a word: on a terminal always, in a pipe every so often.

use std::io::{IsTerminal, Write, stderr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::terminal::say;

/// Between two lines in a pipe, and before the first one: what is done by then needs none.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// How far a command is.
pub(super) struct HowFar {
    command: String,
    terminal: bool,
    /// What a terminal shows, and when the next line in a pipe is due.
    shown: Mutex<(String, Instant)>,
}

impl HowFar {
    pub(super) fn new(command: &str) -> HowFar {
        HowFar {
            command: command.into(),
            terminal: stderr().is_terminal(),
            shown: Mutex::new((String::new(), Instant::now() + BETWEEN_LINES)),
        }
    }

    /// So much is done, of 1.
    pub(super) fn part(&self, done: f64) {
        self.say(|| format!("{} %", (done * 100.0) as u32));
    }

    /// So many of all drives are done.
    pub(super) fn drives(&self, done: usize, all: usize) {
        self.say(|| format!("{done} of {all} drives"));
    }

    fn say(&self, words: impl Fn() -> String) {
        // Progress that cannot be shown is no reason to stop.
        let Ok(mut shown) = self.shown.lock() else { return };
        if !self.terminal {
            if Instant::now() >= shown.1 {
                shown.1 = Instant::now() + BETWEEN_LINES;
                say(&format!("fourcorners: {}: {}", self.command, words()));
            }
            return;
        }
        let words = words();
        if shown.0 != words {
            let _ = write!(stderr(), "\r{}: {words}", self.command);
            shown.0 = words;
        }
    }

    /// A line above what a terminal shows.
    pub(super) fn line(&self, line: &str) {
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        let _ = writeln!(stderr(), "{clear}{}: {line}", self.command);
    }

    /// What a terminal shows is taken away.
    pub(super) fn clear(&self) {
        if self.terminal {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
