//! A trace that a method replays, and what the runner does with it.

use std::path::Path;

use fourcorners_drive::Nanos;
use fourcorners_record::{Card, Record, Replay};
use fourcorners_run::Observer;
use fourcorners_trace::{self as trace, Options};

use super::{Medium, Phase, Scope};
use crate::drive::Drive;
use crate::replay::{Addresses, Pace, Played, ReplayError, Script};

/// Most I/Os in flight, as `trace replay` has it.
const DEPTH: u32 = 32;

/// A trace that is to be replayed.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// Its name in the record.
    pub name: String,
    /// What a reader knows it by.
    pub title: String,
    /// The name of the figure among those of the trace.
    pub figure: &'static str,
    /// The trace, as [`trace::open`] knows it.
    pub trace: String,
    /// Of a generated one: how many I/Os.
    pub ios: Option<u64>,
    /// Its seed.
    pub seed: u64,
    /// Longest think time; [`Nanos::MAX`] cuts none.
    pub idle_cap: Nanos,
    /// Bytes at the start of the target that it may touch.
    pub space_bytes: u64,
    /// What it is expected to write, bytes, and to take on a drive of
    /// [`super::ASSUMED_BYTES_PER_SECOND`], seconds.
    pub expected: (u64, f64),
}

impl Replayed {
    /// Replays it on a drive; what the record says of it is begun if it was not yet.
    ///
    /// # Errors
    /// When nothing could be replayed.
    pub(super) fn play(
        &self,
        drive: &mut Drive,
        record: &mut Record,
        observer: &mut dyn Observer,
    ) -> Result<Played, ReplayError> {
        let options = Options { ios: self.ios, seed: self.seed, ..Options::default() };
        let trace = Path::new(&self.trace);
        let card = match record.replays.get(&self.name) {
            Some(replay) => replay.card.clone(),
            None => card_of(trace, &options)?,
        };
        // As recorded where there is room: what lies where is part of a trace.
        let addresses = match card.extent_bytes <= self.space_bytes {
            true => Addresses::AsRecorded,
            false => Addresses::Into(self.space_bytes),
        };
        let pace = Pace::Think { cap: self.idle_cap };
        let script =
            Script { trace, options: &options, card: &card, pace, depth: DEPTH, addresses };
        let played = script.play(drive, observer)?;
        let begun = record.replays.entry(self.name.clone()).or_insert_with(|| Replay {
            title: Some(self.title.clone()),
            ..script.described(drive)
        });
        begun.widened = played.widened;
        Ok(played)
    }
}

fn card_of(trace: &Path, options: &Options) -> Result<Card, ReplayError> {
    let card = trace::card(trace::open(trace, options)?, &mut || true)?;
    card.ok_or(ReplayError::Unread)
}

/// How a method brings a target into the state of a drive that is full and in use. A hard disk is
/// no different then.
pub(super) fn fill(scope: &Scope) -> Vec<Phase> {
    match scope.medium {
        Medium::HardDisk => Vec::new(),
        Medium::Ssd | Medium::Device | Medium::File => {
            vec![Phase::Purge, scope.fill("filled", scope.whole())]
        }
    }
}
