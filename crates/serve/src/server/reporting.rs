//! What a server reports: each second, when it is asked, and in the end.

use fourcorners_drive::Target;
use fourcorners_linux::clock;

use super::Server;
use crate::tally::{Beside, DriveCounters, InLedger, Report};
use crate::time::Pace;

/// What a drive tells of itself, if it does.
pub(super) type Counters<T> = dyn Fn(&T) -> Option<DriveCounters>;

impl<T: Target> Server<T> {
    /// Reports say what this says of the drive.
    pub fn tell_counters(&mut self, tell: impl Fn(&T) -> Option<DriveCounters> + 'static) {
        self.counters = Box::new(tell);
    }

    /// What was done so far; `end` also ends recordings.
    pub(super) fn report(&mut self, event: &'static str) -> Report {
        let recorded = match (event, &mut self.recording) {
            ("end", Some(recording)) => Some(recording.finish()),
            (_, Some(recording)) => Some(recording.counted()),
            (_, None) => None,
        };
        let recorded_data = match (event, &mut self.data) {
            ("end", Some(data)) => Some(data.finish()),
            (_, Some(data)) => Some(data.counted()),
            (_, None) => None,
        };
        self.tally.report(Beside {
            event,
            elapsed: clock().since(self.began),
            time: self.settings.pace.to_string(),
            real: Self::IS_REAL,
            factor: match self.settings.pace {
                Pace::Dilated(factor) => factor,
                Pace::Virtual { .. } => 0.0,
            },
            door: self.settings.door,
            backlog_most: self.turn.backlog_most() as u64,
            open: self.clients.len() as u64,
            stored_bytes: self.turn.contents().stored_bytes(),
            ledger: self
                .turn
                .at_risk(self.virtual_now())
                .map(|(writes, bytes)| InLedger { writes, bytes }),
            drive: (self.counters)(self.turn.target()),
            recorded,
            recorded_data,
            injected: self.turn.faults().map(|faults| faults.struck().collect()),
        })
    }
}
