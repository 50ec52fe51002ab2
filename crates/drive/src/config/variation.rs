//! What makes no two commands of a real drive take the same time.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// Variation: of the flash from page to page, of the host from command to command, and of all of it from
/// second to second.
///
/// Every part keeps the mean of the time it varies, but for retries, ticks and delays of the host, which add
/// what they say. Nothing is drawn from a clock: each number follows from the seed and from how many commands
/// or operations there were before, so equal jobs give equal times. Absent, or with the mode `off`, every
/// operation of a kind takes the same time.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariationSection {
    /// Whether anything varies.
    pub mode: VariationMode,
    /// Which drive of its model it is: other seeds give other times of the same distribution.
    pub seed: u32,
    /// Read time of an upper page over that of a lower one, 0.5 to 2. The rows of a block are lower, middle (if
    /// there is a ratio of them) and upper pages in turn; their mean is `nand.read_us`. Absent where the kinds of
    /// `[nand_cells]` say it, or where all pages read alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_read_ratio: Option<f64>,
    /// The same of a middle page, of flash with three bits a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub middle_read_ratio: Option<f64>,
    /// Standard deviation of a read of the flash over its mean, beside the kinds, 0 to 0.25.
    pub read_spread: f64,
    /// Reads in a million that the drive has to repeat, 0 to 10^5: as long again, half of them twice as
    /// long again, a quarter three times, and so on.
    pub retries_per_million: f64,
    /// Reads in a million more for each thousand erases of every block, 0 to 10^6.
    pub retries_per_million_worn: f64,
    /// Standard deviation of a program over its mean, 0 to 0.25.
    pub program_spread: f64,
    /// The same of what a die erases and collects at a time.
    pub collection_spread: f64,
    /// Share of what a read waits for a program or an erase to be suspended that varies, 0 to 1: it is distributed
    /// exponentially, the rest is fixed. 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_spread: Option<f64>,
    /// Share of the host's time for a command that varies, 0 to 0.5: it is distributed exponentially, the rest
    /// is fixed.
    pub host_spread: f64,
    /// Commands in a million that the host notices late, because it does something else, 0 to 10^5.
    pub host_delays_per_million: f64,
    /// By how many microseconds, on average, 0 to 10^5: four fifths of it fixed, the rest exponential.
    pub host_delay_us: f64,
    /// Milliseconds from one tick of the firmware to the next, on average, 0 to 10^6; 0 for none. It does what it
    /// has to do by itself: refresh, map, wear levelling.
    pub tick_ms: f64,
    /// Microseconds for which the controller takes no command at a tick, on average, 0 to 10^6: half of them to
    /// half as many again.
    pub tick_us: f64,
    /// Standard deviation of the slow part over the mean, 0 to 0.05: by it the times of flash and host are all
    /// longer or shorter for some tenths of a second to some seconds.
    pub drift: f64,
    /// The same of programs and of what a die erases and collects, which then have a slow part of their own, 0 to
    /// 0.05; absent where `drift` is also theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_drift: Option<f64>,
}

/// Whether times vary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariationMode {
    /// As the section says.
    #[default]
    On,
    /// Not at all, whatever else the section says.
    Off,
}

impl VariationSection {
    /// Read times of the kinds of pages over that of a lower one, in the order of the rows of a block.
    pub(crate) fn read_kinds(&self) -> Vec<f64> {
        [Some(1.0), self.middle_read_ratio, self.upper_read_ratio].into_iter().flatten().collect()
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (key, ratio) in [
            ("variation.upper_read_ratio", self.upper_read_ratio),
            ("variation.middle_read_ratio", self.middle_read_ratio),
        ] {
            if let Some(ratio) = ratio {
                within(key, ratio, 0.5..=2.0)?;
            }
        }
        for (key, value, most) in [
            ("variation.read_spread", self.read_spread, 0.25),
            ("variation.retries_per_million", self.retries_per_million, 1e5),
            ("variation.retries_per_million_worn", self.retries_per_million_worn, 1e6),
            ("variation.program_spread", self.program_spread, 0.25),
            ("variation.collection_spread", self.collection_spread, 0.25),
            ("variation.host_spread", self.host_spread, 0.5),
            ("variation.host_delays_per_million", self.host_delays_per_million, 1e5),
            ("variation.host_delay_us", self.host_delay_us, 1e5),
            ("variation.tick_ms", self.tick_ms, 1e6),
            ("variation.tick_us", self.tick_us, 1e6),
            ("variation.drift", self.drift, 0.05),
        ] {
            within(key, value, 0.0..=most)?;
        }
        if let Some(spread) = self.suspend_spread {
            within("variation.suspend_spread", spread, 0.0..=1.0)?;
        }
        if let Some(drift) = self.write_drift {
            within("variation.write_drift", drift, 0.0..=0.05)?;
        }
        if self.tick_ms > 0.0 {
            within("variation.tick_ms", self.tick_ms, 0.01..=1e6)?;
        }
        // A controller that ticks more than it works would never come to an end.
        if self.tick_us > 0.0 && self.tick_ms > 0.0 && self.tick_us > self.tick_ms * 500.0 {
            let most = self.tick_ms * 500.0;
            let must = format!("it must be at most {most}, half of variation.tick_ms");
            return Err(ConfigError::new("variation.tick_us", self.tick_us, must));
        }
        Ok(())
    }
}
