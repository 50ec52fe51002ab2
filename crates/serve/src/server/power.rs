//! The power of a served drive is cut while clients are there, and comes back.

use fourcorners_drive::{Nanos, SECTOR_BYTES, Target};
use fourcorners_linux::clock;
use serde_json::{Value, json};

use super::Server;
use crate::crash::Class;
use crate::time::Pace;

/// The fault of a drive that answers nothing after a cut.
const DEAD: &str = "dead@n=1";

impl<T: Target> Server<T> {
    /// Whether the power is off.
    pub(super) fn is_off(&self) -> bool {
        self.off_until.is_some()
    }

    /// Cuts the power now. Connections end without a word; what is stored is what the drive would have kept, and nobody
    /// can connect until the power is back. What it took, for whoever asked.
    pub(super) fn cut_power(
        &mut self,
        class: Class,
        seed: u64,
        off: Nanos,
    ) -> Result<Value, String> {
        if self.is_off() {
            return Err("the power is off: wait until it is back".into());
        }
        if self.recording.is_some() || self.data.is_some() {
            return Err("what is recorded would no longer be what the drive did: leave --record out, or end serve and cut \
                        the recording (fourcorners crash)"
                .into());
        }
        self.turn.can_cut(class).map_err(|error| error.to_string())?;
        self.pass_to_now();
        self.clients.clear();
        self.off_until = Some(clock().saturating_add(off));
        self.anchor = None;
        self.left = None;
        self.tally.power_cuts += 1;
        // Not of the moment: the same I/Os, class and seed are the same cut, whatever the clock shows.
        let drawn_by = seed ^ (class as u64).rotate_left(60);
        let cut = self.turn.cut(class, drawn_by).map_err(|error| error.to_string())?;
        if class == Class::Dead
            && let (Some(faults), Ok(dead)) = (self.turn.faults_mut(), DEAD.parse())
        {
            faults.add(dead);
        }
        Ok(json!({ "cut": {
            "class": class.to_string(),
            "seed": seed,
            "drive_s": cut.at.as_secs(),
            "off_s": off.as_secs(),
            "unanswered": cut.unanswered,
            "promised_lost": cut.promised_lost,
            "promised_lost_bytes": cut.promised_lost_sectors * SECTOR_BYTES,
            "answered_lost_bytes": cut.answered_lost_sectors * SECTOR_BYTES,
        }}))
    }

    /// Lets virtual time go on to this moment; what is due by then is still sent.
    fn pass_to_now(&mut self) {
        let now = self.virtual_now();
        let mut answers = std::mem::take(&mut self.answers);
        self.turn.pass_until(now, &mut answers);
        self.hand_out(&mut answers);
        self.answers = answers;
        self.send_all();
    }

    /// The moment up to which answers were given, were there any. In virtual time that of the last one.
    pub(super) fn virtual_now(&self) -> Nanos {
        match (self.settings.pace, &self.anchor) {
            (Pace::Dilated(_), Some(anchor)) => {
                anchor.drive_at(clock().saturating_add(self.settings.door))
            }
            _ => self.turn.now(),
        }
    }

    /// Opens the door again once it is time.
    pub(super) fn power_on(&mut self) {
        if self.off_until.is_some_and(|until| clock() >= until) {
            self.off_until = None;
        }
    }
}
