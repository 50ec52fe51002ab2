//! Spindle and arm: where the platters stand at a time, and how long the arm takes.

use crate::Nanos;
use crate::config::HddMechanicsSection;

use super::layout::Place;

/// A part of a revolution in units of 2^-64, so that adding angles wraps by itself.
pub(super) type Turn = u64;

/// The head may be this much late for a sector and still read it, nanoseconds. Times are whole
/// nanoseconds and angles are not; without it a transfer that continues where the last one ended
/// would now and then miss its sector by a rounding and wait a whole revolution. The shortest
/// sector that is allowed (10 GB/s) takes 51 ns.
const LATE_NS: u64 = 32;

/// The spindle: it never stops, so that its angle is a function of the time alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spindle {
    turn_per_ns: u64,
    revolution_ns: u64,
}

impl Spindle {
    pub(super) fn new(rpm: f64) -> Spindle {
        let revolution_ns = 60e9 / rpm;
        Spindle {
            turn_per_ns: (2f64.powi(64) / revolution_ns).round() as u64,
            revolution_ns: revolution_ns.round() as u64,
        }
    }

    /// How far the platters have turned at `at`, whole revolutions dropped.
    #[inline]
    pub(super) fn turned(self, at: Nanos) -> Turn {
        at.0.wrapping_mul(self.turn_per_ns)
    }

    /// The time from `at` until `angle` is under the head.
    #[inline]
    pub(super) fn wait(self, at: Nanos, angle: Turn) -> u64 {
        let late = LATE_NS * self.turn_per_ns;
        let turn = angle.wrapping_sub(self.turned(at)).wrapping_add(late);
        // 32 bits of the turn are 0.01 ns at 1000 rpm.
        (((turn >> 32) * self.revolution_ns) >> 32).saturating_sub(LATE_NS)
    }

    /// The angle that passes in `ns`.
    pub(super) fn turn_of(self, ns: f64) -> Turn {
        (ns.round() as u64).wrapping_mul(self.turn_per_ns)
    }
}

/// The time of a seek over `d` of `D` cylinders,
/// `track + root * sqrt(x) + linear * x` with `x = (d - 1) / (D - 1)`.
///
/// It rises as a root for short seeks, which accelerate all the way, and almost linearly for long
/// ones, which coast (Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994). The
/// form and its fit to the three times of a datasheet are Lee and Katz, "An analytic performance
/// model of disk arrays", SIGMETRICS 1993: over all pairs of cylinders `E[sqrt x] = 8/15` and
/// `E[x] = 1/3`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeekCurve {
    track_ns: f64,
    root_ns: f64,
    linear_ns: f64,
    per_cylinder: f64,
}

impl SeekCurve {
    fn new(mechanics: &HddMechanicsSection, cylinders: u64) -> SeekCurve {
        let track = mechanics.track_to_track_ms * 1e6;
        let average = mechanics.average_seek_ms * 1e6;
        let full = mechanics.full_stroke_ms * 1e6;
        let root = 5.0 * (average - track - (full - track) / 3.0);
        SeekCurve {
            track_ns: track,
            root_ns: root,
            linear_ns: full - track - root,
            // The longest seek is over cylinders - 1.
            per_cylinder: 1.0 / cylinders.saturating_sub(2).max(1) as f64,
        }
    }

    /// The time of a seek over `distance` cylinders, at least 1.
    #[inline]
    fn seek(&self, distance: u32) -> u64 {
        let x = f64::from(distance - 1) * self.per_cylinder;
        // A checked config makes it positive; the conversion saturates in any case.
        (self.track_ns + self.root_ns * x.sqrt() + self.linear_ns * x) as i64 as u64
    }
}

/// Where the heads are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Track {
    pub(super) cylinder: u32,
    pub(super) head: u32,
}

/// What the arm has to reach, and when it may begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    /// The track and the angle of the first sector.
    pub(super) track: Track,
    pub(super) angle: Turn,
    /// A write needs the arm to settle more.
    pub(super) write: bool,
    /// The transfer cannot begin earlier: the command, or a write's data, has not arrived.
    pub(super) ready: Nanos,
    /// Since when it waits.
    pub(super) since: Nanos,
}

impl Aim {
    /// Aims at another sector instead.
    pub(super) fn head_for(&mut self, place: &Place) {
        self.track = place.track;
        self.angle = place.angle;
    }
}

/// Spindle and arm with all their times.
#[derive(Clone, Debug)]
pub(super) struct Mechanism {
    pub(super) spindle: Spindle,
    curve: SeekCurve,
    head_switch_ns: u64,
    write_settle_ns: u64,
    /// Where the heads are, or will be when the current transfer ends.
    pub(super) at: Track,
}

impl Mechanism {
    pub(super) fn new(mechanics: &HddMechanicsSection, cylinders: u64) -> Mechanism {
        Mechanism {
            spindle: Spindle::new(mechanics.rpm),
            curve: SeekCurve::new(mechanics, cylinders),
            head_switch_ns: (mechanics.head_switch_ms * 1e6).round() as u64,
            write_settle_ns: (mechanics.write_settle_ms * 1e6).round() as u64,
            at: Track::default(),
        }
    }

    /// The time until the arm is on the track of `aim`.
    #[inline]
    pub(super) fn moves(&self, aim: &Aim) -> Nanos {
        let settle = if aim.write { self.write_settle_ns } else { 0 };
        let distance = aim.track.cylinder.abs_diff(self.at.cylinder);
        Nanos(if distance > 0 {
            self.curve.seek(distance) + settle
        } else if aim.track.head != self.at.head {
            self.head_switch_ns + settle
        } else {
            0
        })
    }

    /// When the transfer at `aim` begins if the arm sets out at `from`.
    #[inline]
    pub(super) fn reaches(&self, aim: &Aim, from: Nanos) -> Nanos {
        let arrived = from.saturating_add(self.moves(aim)).max(aim.ready);
        arrived.saturating_add(Nanos(self.spindle.wait(arrived, aim.angle)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mechanics(track: f64, average: f64, full: f64) -> HddMechanicsSection {
        HddMechanicsSection {
            rpm: 7200.0,
            heads: 2,
            track_to_track_ms: track,
            average_seek_ms: average,
            full_stroke_ms: full,
            head_switch_ms: 0.8,
            write_settle_ms: 0.5,
        }
    }

    #[test]
    fn the_curve_meets_its_three_times() {
        let cylinders = 20_000u32;
        // Datasheet of a class of 2.5-inch drives: 1, 12 and 20 ms (Hitachi 5K320, 4.4.2).
        let curve = SeekCurve::new(&mechanics(1.0, 12.0, 20.0), u64::from(cylinders));
        assert_eq!(curve.seek(1), 1_000_000);
        assert!(curve.seek(cylinders - 1).abs_diff(20_000_000) <= 1);
        // The datasheet's own definition of the average: n from 1, weighted by max + 1 - n.
        let longest = u64::from(cylinders) - 1;
        let (mut sum, mut weights) = (0.0, 0.0);
        for n in 1..=longest {
            let weight = (longest + 1 - n) as f64;
            sum += weight * curve.seek(n as u32) as f64;
            weights += weight;
        }
        let average_ms = sum / weights / 1e6;
        assert!((average_ms - 12.0).abs() < 0.001, "{average_ms}");
    }

    #[test]
    fn the_mean_of_the_root_over_all_pairs_is_8_15() {
        // 1 + 17 sqrt(x) has an average of 1 + 17 * 8/15; fitting that back gives no linear part.
        let curve = SeekCurve::new(&mechanics(1.0, 1.0 + 17.0 * 8.0 / 15.0, 18.0), 1 << 20);
        assert!((curve.root_ns / 17e6 - 1.0).abs() < 1e-9);
        assert!(curve.linear_ns.abs() < 1.0);
    }

    #[test]
    fn the_curve_never_falls() {
        for average in [1.0 + 19.0 / 3.0, 9.0, 11.0, 1.0 + 19.0 * 11.0 / 15.0] {
            let curve = SeekCurve::new(&mechanics(1.0, average, 20.0), 5000);
            assert!((1..4999).all(|d| curve.seek(d) <= curve.seek(d + 1)), "{average}");
        }
    }

    #[test]
    fn a_revolution_is_what_the_rpm_say() {
        let spindle = Spindle::new(7200.0);
        // 10^6 revolutions and a quarter later, a quarter turn: the rounding has not added up.
        let later = Nanos((1_000_000.25 * 60e9 / 7200.0) as u64);
        let quarter = spindle.turned(later) as f64 / 2f64.powi(64);
        assert!((quarter - 0.25).abs() < 1e-5, "{quarter}");
    }

    #[test]
    fn the_mean_wait_is_half_a_revolution() {
        let spindle = Spindle::new(5400.0);
        let n = 100_000u64;
        let sum: u64 = (0..n).map(|i| spindle.wait(Nanos(i * 7_853_981_633), u64::MAX / 3)).sum();
        let mean_ms = sum as f64 / n as f64 / 1e6;
        assert!((mean_ms - 30.0 / 5.4).abs() < 0.01, "{mean_ms}");
    }

    #[test]
    fn a_rounding_late_is_not_a_revolution_late() {
        let spindle = Spindle::new(5400.0);
        let at = Nanos(123_456_789);
        let angle = spindle.turned(at);
        assert_eq!(spindle.wait(Nanos(at.0 + 1), angle), 0);
        assert!(spindle.wait(Nanos(at.0 + 1000), angle) > 11_000_000);
        assert!(spindle.wait(Nanos(at.0 - 1000), angle).abs_diff(1000) <= 1);
    }
}
