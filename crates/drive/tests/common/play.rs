//! Plays commands to a drive, and watches that what holds of any drive holds.

use fourcorners_drive::{Fault, FaultCause, Io, Nanos, Ssd, SsdCounters, Tag, Target};

/// What can be asked of a virtual SSD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    Io(Io),
    /// Nothing for so long, but for what is in flight.
    Idle(Nanos),
    /// Waits for all that is in flight, and until all full rows are on the NAND.
    Settle,
    /// Waits for all that is in flight, and erases the drive.
    Purge,
}

/// A virtual SSD, fast or plain.
pub trait Drive: Target {
    fn settle(&mut self);
    fn purge(&mut self);
    fn counters(&self) -> SsdCounters;
}

impl Drive for Ssd {
    fn settle(&mut self) {
        Ssd::settle(self);
    }

    fn purge(&mut self) {
        Ssd::purge(self);
    }

    fn counters(&self) -> SsdCounters {
        Ssd::counters(self)
    }
}

/// How an I/O was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    pub at: Nanos,
    pub latency: Nanos,
    /// How many were answered before it.
    pub order: usize,
    pub refused: bool,
}

/// Keeps up to `depth` I/Os of `commands` in flight. Returns the answers in the order of
/// submission.
///
/// # Errors
/// What no drive may do: answer a tag twice or never, let time go back, refuse what it can do, or
/// lose or find a unit in its counters.
pub fn play<D: Drive>(
    drive: &mut D,
    depth: u32,
    commands: impl IntoIterator<Item = Command>,
) -> Result<Vec<Answer>, String> {
    let mut player = Player {
        answers: Vec::new(),
        answered: 0,
        flying: vec![None; depth as usize],
        free: (0..depth).map(Tag).rev().collect(),
        purged_units: unprogrammed(drive)?,
        drive,
    };
    for command in commands {
        match command {
            Command::Io(io) => player.submit(io)?,
            Command::Idle(time) => {
                let until = player.drive.now().saturating_add(time);
                while player.reap(until)? {}
            }
            Command::Settle | Command::Purge => {
                player.drain()?;
                player.settle(command == Command::Purge)?;
            }
        }
    }
    player.drain()?;
    player.check_counters()?;
    Ok(player.answers)
}

/// One I/O in flight.
#[derive(Clone, Copy)]
struct Flying {
    io: Io,
    /// Its place among all submitted.
    index: usize,
    since: Nanos,
}

struct Player<'a, D> {
    drive: &'a mut D,
    answers: Vec<Answer>,
    answered: usize,
    flying: Vec<Option<Flying>>,
    free: Vec<Tag>,
    /// Placed, never programmed, and gone with a purge.
    purged_units: u64,
}

impl<D: Drive> Player<'_, D> {
    fn submit(&mut self, io: Io) -> Result<(), String> {
        while self.free.is_empty() {
            if !self.reap(Nanos::MAX)? {
                return Err("I/Os are in flight and none is ever answered".into());
            }
        }
        let tag = self.free.pop().expect("one is free");
        let since = self.drive.now();
        self.flying[tag.0 as usize] = Some(Flying { io, index: self.answers.len(), since });
        self.answers.push(Answer::default());
        self.drive.submit(tag, io);
        if self.drive.now() != since {
            return Err(format!("time moved while {io:?} was submitted"));
        }
        Ok(())
    }

    /// Takes one answer by `until`; false when there is none.
    fn reap(&mut self, until: Nanos) -> Result<bool, String> {
        let before = self.drive.now();
        let (tag, at, refused) = match self.drive.reap(until) {
            Ok(Some(done)) => (done.tag, done.at, false),
            Err(fault) => {
                self.check_refusal(&fault)?;
                (fault.tag, fault.at, true)
            }
            Ok(None) => {
                let now = self.drive.now();
                let expected = if until == Nanos::MAX { before } else { until.max(before) };
                return match now == expected {
                    true => Ok(false),
                    false => Err(format!("idle until {until:?} ended at {now:?}")),
                };
            }
        };
        let Some(flying) = self.flying.get_mut(tag.0 as usize).and_then(Option::take) else {
            return Err(format!("{tag:?} was answered and is not in flight"));
        };
        if !refused && (at < before || at > until || self.drive.now() != at) {
            return Err(format!("{:?} answered at {at:?}, asked at {before:?}", flying.io));
        }
        let can_be_refused = self.drive.geometry().refuses(flying.io).is_some();
        if !refused && can_be_refused {
            return Err(format!("{:?} was answered and cannot be", flying.io));
        }
        let (latency, order) = (at - flying.since, self.answered);
        self.answers[flying.index] = Answer { at, latency, order, refused };
        self.answered += 1;
        self.free.push(tag);
        Ok(true)
    }

    fn check_refusal(&self, fault: &Fault) -> Result<(), String> {
        let asked = self.flying.get(fault.tag.0 as usize).copied().flatten();
        let mine = asked.is_some_and(|flying| flying.io == fault.io);
        let right = match self.drive.geometry().refuses(fault.io) {
            Some(cause) => fault.cause == cause,
            None => matches!(fault.cause, FaultCause::Unsupported | FaultCause::WornOut),
        };
        match mine && right {
            true => Ok(()),
            false => Err(format!("refused without reason: {fault:?}")),
        }
    }

    fn drain(&mut self) -> Result<(), String> {
        while self.reap(Nanos::MAX)? {}
        match self.flying.iter().flatten().next() {
            Some(flying) => Err(format!("{:?} was never answered", flying.io)),
            None => Ok(()),
        }
    }

    fn settle(&mut self, purge: bool) -> Result<(), String> {
        self.check_counters()?;
        let before = self.drive.now();
        match purge {
            true => self.drive.purge(),
            false => self.drive.settle(),
        }
        if purge {
            self.purged_units = unprogrammed(self.drive)?;
        }
        match self.drive.now() >= before {
            true => self.check_counters(),
            false => Err(format!("settling went back from {before:?}")),
        }
    }

    /// Every unit that got a place is programmed, waits to be, or went with a purge.
    /// What was written for the host is what it wrote and what that had to be written with.
    fn check_counters(&self) -> Result<(), String> {
        let count = self.drive.counters();
        // What is stored of it may be more or less.
        let host = count.unit_bytes < 4096
            || count.host_units * 8 == count.host_sectors + count.rmw_sectors;
        match host && unprogrammed(self.drive)? == self.purged_units {
            true => Ok(()),
            false => Err(format!(
                "{:?} and {} units purged do not add up",
                self.drive.counters(),
                self.purged_units
            )),
        }
    }
}

/// Units that got a place, are not programmed and do not wait to be either.
fn unprogrammed(drive: &impl Drive) -> Result<u64, String> {
    let count = drive.counters();
    let placed = count.host_units - count.absorbed_units
        + count.moved_units
        + count.padded_units
        + count.parity_units
        + count.map_units;
    placed
        .checked_sub(count.programmed_units + count.pending_units)
        .ok_or_else(|| format!("{count:?}: more programmed and pending than placed"))
}
