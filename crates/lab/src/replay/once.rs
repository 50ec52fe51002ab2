//! A trace replayed once on a drive in whatever state it is: what `trace replay` and the methods of a
//! review have in common.

use fourcorners_record::{Card, Replay, ReplayFigure};
use fourcorners_run::{JobEnd, Observer};
use fourcorners_trace::{self as trace, Ahead, Format, Options};
use fourcorners_words::counted;
use indexmap::IndexMap;

use super::schedule::Schedule;
use super::{Addresses, Pace, ReplayError, figure};
use crate::drive::{Drive, Outcome};

/// A trace and how it is replayed.
#[derive(Clone, Debug)]
pub struct Script<'a> {
    /// The trace, as it is opened.
    pub trace: &'a std::path::Path,
    /// How it is read.
    pub options: &'a Options,
    /// What is in it.
    pub card: &'a Card,
    /// When I/Os are issued.
    pub pace: Pace,
    /// Most I/Os in flight, at least 1.
    pub depth: u32,
    /// What is done about addresses.
    pub addresses: Addresses,
}

/// What came of it.
#[derive(Debug)]
pub struct Played {
    /// What was measured.
    pub outcome: Outcome,
    /// I/Os that were widened to whole blocks.
    pub widened: u64,
    /// Why the trace ended before its end, or was another, if it did or was.
    pub broken: Option<String>,
}

impl Script<'_> {
    /// What a record says of it, without figures yet.
    pub fn described(&self, drive: &Drive) -> Replay {
        Replay {
            title: None,
            card: self.card.clone(),
            pace: self.pace.name().into(),
            idle_cap_ms: match self.pace {
                Pace::Think { cap } if cap != fourcorners_drive::Nanos::MAX => {
                    Some(cap.0 as f64 / 1e6)
                }
                Pace::Think { .. } | Pace::Recorded | Pace::Fast => None,
            },
            queue_depth: self.depth_on(drive),
            addresses: self.addresses.name().into(),
            widened: 0,
            figures: IndexMap::new(),
        }
    }

    /// Replays it.
    ///
    /// # Errors
    /// When nothing could be replayed: the trace does not fit, or cannot be opened.
    pub fn play(
        &self,
        drive: &mut Drive,
        observer: &mut dyn Observer,
    ) -> Result<Played, ReplayError> {
        let geometry = drive.geometry();
        let mut options = self.options.clone();
        let trims = options.filter.ops.trim;
        if let Some(map) = self.addresses.map(self.card, trims, geometry)? {
            options.filter.addresses = map;
        }
        let trace = trace::open(self.trace, &options)?;
        let ahead = Ahead::of(trace).map_err(ReplayError::Thread)?;
        let (timed, depth) = (self.card.has_durations(), self.depth_on(drive));
        let block = geometry.logical_block_bytes;
        let mut schedule = Schedule::new(ahead, self.pace, timed, depth, block);
        let outcome = drive.run_source(&mut schedule, (depth, self.card.ios), observer);
        let given = schedule.given();
        let (mut ahead, widened) = schedule.end();
        let broken = ahead.error().map(|error| error.to_string());
        let whole = outcome.measured.ended == JobEnd::Complete;
        let broken = broken.or_else(|| self.changed(given, trims).filter(|_| whole));
        Ok(Played { outcome, widened, broken })
    }

    /// What is to be said where a recording gave another number of I/Os than it has by its card.
    fn changed(&self, given: u64, trims: bool) -> Option<String> {
        let Card { trace, ios, .. } = self.card;
        let expected = if trims { *ios } else { ios - self.card.trims };
        // What is drawn is not in a file that somebody could write to.
        let is_recorded = self.card.format.parse::<Format>().is_ok();
        (is_recorded && given != expected).then(|| {
            format!(
                "{trace} gave {} in the replay and {expected} when it was read before: it was written in between; replay a \
                 copy that nobody writes",
                counted(given, "I/O")
            )
        })
    }

    fn depth_on(&self, drive: &Drive) -> u32 {
        self.depth.min(drive.geometry().queue_depth)
    }
}

impl Played {
    /// The figures, of a drive that was in this state.
    pub fn figure(&self, state: &str, drive: &Drive, complete: bool) -> ReplayFigure {
        figure::of(&self.outcome, state.into(), matches!(drive, Drive::Real(_)), complete)
    }
}
