//! Hot and cold data kept apart.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// Two streams of data, hot and cold, each with write fronts of its own in every die, for the host
/// and for collection, with its own blocks and its own share of the spare.
///
/// A unit goes to the stream of its region when it is written; what collection moves stays in its
/// stream. Which region is hot is told anew every `period_percent`: a drive knows nothing of its
/// user in the first period and takes all for cold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamsSection {
    /// KiB of the user's space that share a write counter and a temperature: a multiple of 4, 4 to
    /// 2^20.
    pub region_kib: u32,
    /// Written by the host, in percent of the user's space, before temperatures are told anew and
    /// the counters halved, 1 to 10,000.
    pub period_percent: u32,
    /// How many times the mean counter a hot region's is above, 1 to 1000.
    pub hot_factor: f64,
    /// The hot stream's share of the spare in percent, 0 to 99. 0 or absent: near the optimum,
    /// spares in proportion to the root of size x writes of a stream, both as measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_spare_percent: Option<u32>,
    /// When data that lies in the hot stream and is not overwritten counts as cold: after so many
    /// times as long as the stream takes on average to be overwritten, 1 to 10^6. A block whose data
    /// is that old, on average, is from then on a block of the cold stream; nothing is moved for
    /// that. Of data that is written at random a share exp(-this) is as old. Below 5 or so blocks of
    /// survivors that are still hot are let go (1.5 costs a third more writes at 80/20 and 12 % spare),
    /// above 10 what is hot no more keeps its spare for many drive writes.
    pub cool_turns: f64,
    /// Where victims are looked for.
    pub victims: StreamVictims,
}

impl Default for StreamsSection {
    /// Told by 256 KiB and every drive write, with spares near the optimum.
    fn default() -> StreamsSection {
        StreamsSection {
            region_kib: 256,
            period_percent: 100,
            hot_factor: 2.0,
            hot_spare_percent: None,
            cool_turns: 6.0,
            victims: StreamVictims::OverShare,
        }
    }
}

/// In which stream of a die a victim is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamVictims {
    /// In the one that has more than its share of the spare: what makes streams worth while.
    OverShare,
    /// In both, by `gc.policy` alone. Greedy then leaves the streams equally full, and nothing is
    /// gained by having them.
    Any,
}

impl StreamsSection {
    /// Checks the section for a map of units of so many KiB, by page or not.
    pub(super) fn check(&self, unit_kib: u32, maps_by_page: bool) -> Result<(), ConfigError> {
        within("streams.region_kib", self.region_kib, 4..=1 << 20)?;
        if !self.region_kib.is_multiple_of(unit_kib) {
            let must = format_args!("it must be a multiple of {unit_kib}, the map's unit");
            return Err(ConfigError::new("streams.region_kib", self.region_kib, must));
        }
        within("streams.period_percent", self.period_percent, 1..=10_000)?;
        within("streams.hot_factor", self.hot_factor, 1.0..=1000.0)?;
        if let Some(percent) = self.hot_spare_percent {
            within("streams.hot_spare_percent", percent, 0..=99)?;
        }
        within("streams.cool_turns", self.cool_turns, 1.0..=1e6)?;
        if !maps_by_page {
            let must = "streams are a page map's: leave out [streams] or [log_blocks]";
            return Err(ConfigError::new("streams.victims", "given", must));
        }
        Ok(())
    }
}
