//! The commands of the control socket.

use std::str::FromStr;

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
}

/// A line that is no command.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownCommand {
    /// None begins so.
    #[error(
        "{0}: give status, fault FAULT, clear [FAULT], snapshot NAME [--with-state], rollback NAME [--with-state], \
         drop NAME, commit or snapshots"
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
        ] {
            let error = command(line).expect_err(line).to_string();
            assert!(error.contains(told), "{line}: {error}");
        }
        assert!(command(&format!("drop {}", "x".repeat(65))).is_err());
    }
}
