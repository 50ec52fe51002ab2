//! The commands of the control socket.

use std::str::FromStr;

use fourcorners_drive::Nanos;

use crate::crash::Class;
use crate::faults::FaultSpec;

/// What may be asked for.
#[derive(Clone, PartialEq, Debug)]
pub enum ControlCommand {
    /// `status`: what was done so far, as the events of `--progress json` have it, and the drive's counters.
    Status,
    /// `fault KIND@WHEN[,FROM-TO]`: one more fault from now on.
    Fault(FaultSpec),
    /// `clear [FAULT]`: a fault, as it was written, is no more, or all.
    Clear(Option<String>),
    /// `snapshot NAME [--with-state]`: what is stored, and with it how the drive is.
    Snapshot {
        /// What it is called from then on.
        name: String,
        /// The drive's model, too.
        with_state: bool,
    },
    /// `rollback NAME [--with-state]`: what was stored, and with it how the drive was.
    Rollback {
        /// Which snapshot.
        name: String,
        /// The drive's model, too.
        with_state: bool,
    },
    /// `drop NAME`: a snapshot is not needed any more.
    Drop(String),
    /// `commit`: no snapshot is needed any more; what was written over a file is stored in it.
    Commit,
    /// `snapshots`: which there are.
    Snapshots,
    /// `cut [CLASS] [SEED] [--off SECONDS]`: the power is cut, and is back after a time.
    Cut {
        /// How the drive loses data; honest, if nothing is said.
        class: Class,
        /// What is drawn is drawn by it; 1, if nothing is said.
        seed: u64,
        /// How long the power is off, from 0 to a day; a second, if nothing is said.
        off: Nanos,
    },
}

/// A line that is no command.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownCommand {
    /// None begins so.
    #[error(
        "{0}: give status, fault FAULT, clear [FAULT], snapshot NAME [--with-state], rollback NAME [--with-state], \
         drop NAME, commit, snapshots or cut [CLASS] [SEED] [--off SECONDS]"
    )]
    Word(String),
    /// What follows a word is not what it takes.
    #[error("{line}: {why}")]
    Rest {
        /// The line.
        line: String,
        /// What is wrong, and what to give.
        why: String,
    },
}

/// Longest name of a snapshot.
const MOST_NAME: usize = 64;

/// How long the power is off, if nothing is said, and at most: seconds.
const OFF_SECONDS: f64 = 1.0;
const MOST_OFF_SECONDS: f64 = 86_400.0;

/// What follows `cut`, or why it cannot.
fn cut_of(words: &[&str]) -> Result<ControlCommand, String> {
    let (words, off) = match words {
        [words @ .., "--off", seconds] => {
            let off = seconds.parse().ok().filter(|off| (0.0..=MOST_OFF_SECONDS).contains(off));
            (words, off.ok_or_else(|| format!("--off {seconds}: give seconds from 0 to 86400"))?)
        }
        words => (words, OFF_SECONDS),
    };
    let seed_of = |text: &str| {
        text.parse::<u64>().map_err(|_| format!("{text} is no seed: give a whole number from 0 on"))
    };
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let class_of = |text: &str| text.parse::<Class>().map_err(|error| error.to_string());
    let (class, seed) = match words {
        [] => (Class::Honest, 1),
        [seed] if is_number(seed) => (Class::Honest, seed_of(seed)?),
        [class] => (class_of(class)?, 1),
        [class, seed] => (class_of(class)?, seed_of(seed)?),
        _ => return Err("give a class, a seed, and --off SECONDS behind them, or nothing".into()),
    };
    Ok(ControlCommand::Cut { class, seed, off: Nanos::from_micros(off * 1e6) })
}

impl FromStr for ControlCommand {
    type Err = UnknownCommand;

    fn from_str(line: &str) -> Result<ControlCommand, UnknownCommand> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let rest = |why: &str| UnknownCommand::Rest { line: line.trim().into(), why: why.into() };
        let name = |name: &str| match name.len() <= MOST_NAME && !name.starts_with('-') {
            true => Ok(name.to_string()),
            false => Err(rest("a name has 1 to 64 bytes and does not begin with -")),
        };
        match words[..] {
            ["status"] => Ok(ControlCommand::Status),
            ["fault", spec] => {
                let spec = spec.parse::<FaultSpec>().map_err(|error| rest(&error.to_string()))?;
                Ok(ControlCommand::Fault(spec))
            }
            ["clear"] => Ok(ControlCommand::Clear(None)),
            ["clear", fault] => Ok(ControlCommand::Clear(Some(fault.into()))),
            ["snapshot", of] => Ok(ControlCommand::Snapshot { name: name(of)?, with_state: false }),
            ["snapshot", of, "--with-state"] => {
                Ok(ControlCommand::Snapshot { name: name(of)?, with_state: true })
            }
            ["rollback", of] => Ok(ControlCommand::Rollback { name: name(of)?, with_state: false }),
            ["rollback", of, "--with-state"] => {
                Ok(ControlCommand::Rollback { name: name(of)?, with_state: true })
            }
            ["drop", of] => Ok(ControlCommand::Drop(name(of)?)),
            ["commit"] => Ok(ControlCommand::Commit),
            ["snapshots"] => Ok(ControlCommand::Snapshots),
            ["cut", ref words @ ..] => cut_of(words).map_err(|why| rest(&why)),
            ["fault", ..] => Err(rest("give one fault, for example fault eio-write@n=1")),
            ["clear", ..] => Err(rest("give one fault as it was written, or none for all")),
            ["snapshot" | "rollback", ..] => Err(rest("give a name, and --with-state behind it")),
            ["drop", ..] => Err(rest("give a name")),
            ["status" | "commit" | "snapshots", ..] => Err(rest("give nothing behind it")),
            _ => Err(UnknownCommand::Word(line.trim().into())),
        }
    }
}

impl ControlCommand {
    /// Whether it is carried out only when nothing is in flight: between two requests of the clients.
    pub(crate) fn is_between_requests(&self) -> bool {
        !matches!(
            self,
            ControlCommand::Status
                | ControlCommand::Fault(_)
                | ControlCommand::Clear(_)
                | ControlCommand::Snapshots
                | ControlCommand::Cut { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commands_or_are_told_what_to_give() {
        let command = |line: &str| line.parse::<ControlCommand>();
        assert_eq!(command(" status\r"), Ok(ControlCommand::Status));
        assert_eq!(command("clear"), Ok(ControlCommand::Clear(None)));
        let snapshot = ControlCommand::Snapshot { name: "a b".replace(' ', ""), with_state: true };
        assert_eq!(command("snapshot ab --with-state"), Ok(snapshot));
        assert!(matches!(command("fault dead@n=1"), Ok(ControlCommand::Fault(_))));
        for (line, told) in [
            ("", "give status"),
            ("stop", "stop: give status"),
            ("status now", "give nothing behind it"),
            ("fault", "give one fault"),
            ("fault fire@n=1", "give KIND@WHEN"),
            ("snapshot", "give a name"),
            ("snapshot a b", "give a name"),
            ("snapshot --with-state", "does not begin with -"),
            ("drop", "give a name"),
            ("clear a b", "as it was written"),
            ("cut nicely", "cut nicely: nicely is no way to lose data: give honest, legal"),
            ("cut legal x", "x is no seed"),
            ("cut legal -1", "-1 is no seed"),
            ("cut legal 1 2", "give a class, a seed"),
            ("cut --off", "--off is no way"),
            ("cut --off -1", "give seconds from 0 to 86400"),
            ("cut legal 7 --off NaN", "give seconds from 0 to 86400"),
        ] {
            let error = command(line).expect_err(line).to_string();
            assert!(error.contains(told), "{line}: {error}");
        }
        let cut = |class, seed, off| Ok(ControlCommand::Cut { class, seed, off: Nanos(off) });
        assert_eq!(command("cut"), cut(Class::Honest, 1, 1_000_000_000));
        assert_eq!(command("cut 9"), cut(Class::Honest, 9, 1_000_000_000));
        assert_eq!(command("cut lost-flush"), cut(Class::LostFlush, 1, 1_000_000_000));
        assert_eq!(command("cut legal 7 --off 0.5"), cut(Class::Legal, 7, 500_000_000));
        assert_eq!(command("cut --off 0"), cut(Class::Honest, 1, 0));
        assert!(command(&format!("drop {}", "x".repeat(65))).is_err());
    }
}
