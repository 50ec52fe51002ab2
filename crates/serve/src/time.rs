//! From the clock on the wall to a drive's virtual time, and back.

use std::fmt;
use std::str::FromStr;

use fourcorners_drive::Nanos;

/// How virtual time goes by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pace {
    /// A virtual second takes so many seconds: 1 is real time; 10 lets a program see every time ten times as long, so
    /// that drives faster than the way to them can be had.
    Dilated(f64),
    /// Answers come at once. Time goes by with the wall's while nothing is in flight; with something in flight it
    /// stands still until clients have been silent for this long, and then jumps to the next answer.
    Virtual {
        /// How long clients have to be silent.
        grace: Nanos,
    },
}

/// How long clients have to be silent, if nothing else is said: a client that wants to send more has sent it by then.
pub const GRACE: Nanos = Nanos(200_000);

/// Factors beyond this make times that no program waits for.
const MOST_FACTOR: f64 = 10_000.0;

/// Text that is no pace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text}: give real, virtual, or x and a number from 1 to 10000 (x10)")]
pub struct PaceError {
    /// What is there.
    pub text: String,
}

impl FromStr for Pace {
    type Err = PaceError;

    fn from_str(text: &str) -> Result<Pace, PaceError> {
        let factor = match text {
            "real" => Some(1.0),
            "virtual" => return Ok(Pace::Virtual { grace: GRACE }),
            _ => text.strip_prefix('x').and_then(|factor| factor.parse().ok()),
        };
        factor
            .filter(|factor: &f64| (1.0..=MOST_FACTOR).contains(factor))
            .map(Pace::Dilated)
            .ok_or_else(|| PaceError { text: text.into() })
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Dilated(1.0) => f.write_str("real"),
            Pace::Dilated(factor) => write!(f, "x{factor}"),
            Pace::Virtual { .. } => f.write_str("virtual"),
        }
    }
}

/// A moment that is known in both times, from which virtual time goes on by a factor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anchor {
    wall: Nanos,
    drive: Nanos,
    factor: f64,
}

impl Anchor {
    pub(crate) fn new(wall: Nanos, drive: Nanos, factor: f64) -> Anchor {
        Anchor { wall, drive, factor }
    }

    /// Virtual time at `wall`, which may be a little before the anchor.
    pub(crate) fn drive_at(&self, wall: Nanos) -> Nanos {
        self.drive.saturating_add(divided(wall.since(self.wall), self.factor))
    }

    /// When the wall's clock shows what is `drive` in virtual time.
    pub(crate) fn wall_at(&self, drive: Nanos) -> Nanos {
        self.wall.saturating_add(times(drive.since(self.drive), self.factor))
    }
}

/// A duration of virtual time on the wall.
pub(crate) fn times(time: Nanos, factor: f64) -> Nanos {
    // 1 is the usual factor and needs no rounding.
    if factor == 1.0 { time } else { Nanos((time.0 as f64 * factor).round() as u64) }
}

fn divided(time: Nanos, factor: f64) -> Nanos {
    if factor == 1.0 { time } else { Nanos((time.0 as f64 / factor).round() as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_are_read_as_they_are_written() {
        for text in ["real", "x10", "x2.5", "virtual"] {
            assert_eq!(text.parse::<Pace>().map(|pace| pace.to_string()), Ok(text.to_string()));
        }
        for wrong in ["", "x", "x0", "x0.5", "xNaN", "x1e9", "10", "fast"] {
            assert!(wrong.parse::<Pace>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn time_goes_there_and_back() {
        let anchor = Anchor::new(Nanos(1_000_000), Nanos(500), 10.0);
        assert_eq!(anchor.drive_at(Nanos(1_001_000)), Nanos(600));
        assert_eq!(anchor.wall_at(Nanos(600)), Nanos(1_001_000));
        assert_eq!(anchor.drive_at(Nanos(0)), Nanos(500));
        assert_eq!(anchor.wall_at(Nanos::MAX), Nanos::MAX);
    }
}
