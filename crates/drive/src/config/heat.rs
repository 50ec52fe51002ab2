//! How warm a drive gets, and what it does then: the optional section `[heat]`.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// A drive that gets warm by the power it draws, and works more slowly while it is too warm.
///
/// Its sensor shows the temperature of the air, and above that two parts that follow the drive's power, each as a
/// low pass of the first order: the package over its board, which takes seconds, and the board (with a heat sink or
/// without) over the air, which takes minutes. From `throttle_c` on the drive works only `throttled_percent` of
/// the time, until it is below `resume_c`: after each stretch of work commands wait for a rest, a duty cycle.
/// Absent: a drive has no temperature. Needs `[power]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeatSection {
    /// Whether heat slows the drive; off, it only has a temperature.
    pub throttle: HeatThrottle,
    /// Whether a heat sink is fitted.
    pub sink: HeatSink,
    /// Degrees Celsius of the air around the drive, -40 to 85.
    pub ambient_c: f64,
    /// Degrees for each watt by which the package is warmer than its board, 0 to 100.
    pub package_c_per_w: f64,
    /// Seconds in which that difference makes 63 % of its way, 0.1 to 1000.
    pub package_s: f64,
    /// Degrees for each watt by which the board is warmer than the air, without a heat sink, 0 to 100.
    pub board_c_per_w: f64,
    /// Seconds in which that difference makes 63 % of its way, 1 to 10^5.
    pub board_s: f64,
    /// The same with a heat sink, 0 to 100; absent for a drive that none is known of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_c_per_w: Option<f64>,
    /// The same with a heat sink, 1 to 10^5; needed with `sink_c_per_w`, and only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_s: Option<f64>,
    /// Degrees Celsius from which on it is slowed, above `ambient_c` and up to 150.
    pub throttle_c: f64,
    /// Degrees Celsius below which it is slowed no more, from `ambient_c` to `throttle_c`.
    pub resume_c: f64,
    /// Percent of the time for which it works while it is slowed, 1 to 100.
    pub throttled_percent: f64,
    /// Milliseconds for which it works then before it rests, 0.01 to 1000; what it has begun it ends first.
    pub work_ms: f64,
}

/// Whether heat slows a drive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeatThrottle {
    /// As the section says.
    #[default]
    On,
    /// Never: it gets as warm as it gets.
    Off,
}

/// Whether a heat sink is fitted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeatSink {
    /// The drive as it is: `board_c_per_w` and `board_s`.
    #[default]
    None,
    /// With one: `sink_c_per_w` and `sink_s`.
    Fitted,
}

impl Default for HeatSection {
    /// A drive for an M.2 slot in still air, slowed to half from 80 degrees on.
    fn default() -> HeatSection {
        HeatSection {
            throttle: HeatThrottle::On,
            sink: HeatSink::None,
            ambient_c: 25.0,
            package_c_per_w: 2.0,
            package_s: 5.0,
            board_c_per_w: 8.0,
            board_s: 200.0,
            sink_c_per_w: Some(4.0),
            sink_s: Some(400.0),
            throttle_c: 80.0,
            resume_c: 78.0,
            throttled_percent: 50.0,
            work_ms: 1.0,
        }
    }
}

/// Least and most seconds of the slow part.
const BOARD_S: std::ops::RangeInclusive<f64> = 1.0..=1e5;

impl HeatSection {
    /// Degrees for each watt and seconds of the slow part as it is fitted.
    pub(crate) fn board(&self) -> (f64, f64) {
        match (self.sink, self.sink_c_per_w, self.sink_s) {
            (HeatSink::Fitted, Some(c_per_w), Some(s)) => (c_per_w, s),
            _ => (self.board_c_per_w, self.board_s),
        }
    }

    /// Refuses values that no drive has; `has_power` says whether the drive has `[power]`, which heat comes from.
    pub(super) fn check(&self, has_power: bool) -> Result<(), ConfigError> {
        if !has_power {
            return Err(ConfigError::new(
                "heat.ambient_c",
                self.ambient_c,
                "heat comes of power, of which there is none: give [power], or leave out [heat]",
            ));
        }
        within("heat.ambient_c", self.ambient_c, -40.0..=85.0)?;
        within("heat.package_c_per_w", self.package_c_per_w, 0.0..=100.0)?;
        within("heat.package_s", self.package_s, 0.1..=1000.0)?;
        within("heat.board_c_per_w", self.board_c_per_w, 0.0..=100.0)?;
        within("heat.board_s", self.board_s, BOARD_S)?;
        self.check_sink()?;
        if !(self.throttle_c > self.ambient_c && self.throttle_c <= 150.0) {
            let must =
                format!("it must be above heat.ambient_c ({}) and up to 150", self.ambient_c);
            return Err(ConfigError::new("heat.throttle_c", self.throttle_c, must));
        }
        within("heat.resume_c", self.resume_c, self.ambient_c..=self.throttle_c)?;
        within("heat.throttled_percent", self.throttled_percent, 1.0..=100.0)?;
        within("heat.work_ms", self.work_ms, 0.01..=1000.0)
    }

    fn check_sink(&self) -> Result<(), ConfigError> {
        if let Some(c_per_w) = self.sink_c_per_w {
            within("heat.sink_c_per_w", c_per_w, 0.0..=100.0)?;
        }
        if let Some(s) = self.sink_s {
            within("heat.sink_s", s, BOARD_S)?;
        }
        let both_or_neither = |key, value: f64, other| {
            let must = format!("it needs heat.{other}: give it, or leave both out");
            Err(ConfigError::new(key, value, must))
        };
        match (self.sink_c_per_w, self.sink_s) {
            (Some(c_per_w), None) => both_or_neither("heat.sink_c_per_w", c_per_w, "sink_s"),
            (None, Some(s)) => both_or_neither("heat.sink_s", s, "sink_c_per_w"),
            (None, None) if self.sink == HeatSink::Fitted => Err(ConfigError::new(
                "heat.sink",
                "fitted",
                "no heat sink of this drive is known: give heat.sink_c_per_w and heat.sink_s, or set heat.sink \
                 = none",
            )),
            _ => Ok(()),
        }
    }
}
