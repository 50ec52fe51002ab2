//! Garbage collection: when, which block, and how much at a time.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// Garbage collection, within a die.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcSection {
    /// Free blocks a die, 1 to 1024, at which collection starts; they are also its reserve. Paced
    /// collection can keep a reserve of 2 or more, with `[streams]` of 3 or more; with less it
    /// stalls like a delayed one.
    pub start_free_blocks: u32,
    /// When the work is done.
    pub pacing: Pacing,
    /// Which block is collected.
    pub policy: VictimPolicy,
    /// How much a delayed drive does at a time, `block` where it is left out; other pacings do not
    /// use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<Stall>,
    /// Blocks that `d_choices` draws, 1 to 1024; other policies do not use it.
    pub choices: u32,
    /// Where the random numbers of `d_choices` and `random` begin, any number; other policies do
    /// not use it.
    pub seed: u64,
    /// Milliseconds without a command, 0 to 10^9, after which dies with nothing to do collect until
    /// the next; absent when the drive does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<f64>,
    /// Free blocks a die that it works to then, more than `start_free_blocks`, up to 2^20; a value that leaves
    /// less than 1 % spare in the others counts as one that does. Given with `idle_ms` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_free_blocks: Option<u32>,
    /// Free blocks a die, more than `start_free_blocks`, that `delayed_until_sequential` restores while
    /// the host writes in order, up to 2^20 and limited as `idle_free_blocks` is. It needs this and the next two,
    /// which nothing else uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_free_blocks: Option<u32>,
    /// Units of space that it wins back for each that a write in order takes, until there is that
    /// much, 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_gain: Option<u32>,
    /// The latest write commands, 1 to 256, that one goes on with if it begins where it ended: more
    /// than one lets several files be written in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_commands: Option<u32>,
    /// Free blocks a die on average, more than `start_free_blocks`, with which a `batched` drive ends a
    /// batch, up to 2^20 and limited as `idle_free_blocks` is. It needs this and the next, which nothing else uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_free_blocks: Option<u32>,
    /// Units that it moves in a batch for each the host writes, 1 to 1000; more where that does not
    /// win as much as the host uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_moves: Option<u32>,
}

impl Default for GcSection {
    /// Paced and greedy, with the smallest reserve that pacing keeps.
    fn default() -> GcSection {
        GcSection {
            start_free_blocks: 2,
            pacing: Pacing::Paced,
            policy: VictimPolicy::Greedy,
            stall: None,
            choices: 2,
            seed: 1,
            idle_ms: None,
            idle_free_blocks: None,
            sequential_free_blocks: None,
            sequential_gain: None,
            sequential_commands: None,
            batch_free_blocks: None,
            batch_moves: None,
        }
    }
}

/// Which of a die's closed blocks is collected, its victim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VictimPolicy {
    /// The one with the fewest valid units: the least write amplification under uniform writes.
    Greedy,
    /// The one closed longest ago, a log that is cleaned from its tail: wears all blocks alike and
    /// copies cold data for ever.
    Fifo,
    /// The one of the greatest age x (1 - u) / 2u, u being the share of valid units (Kawaguchi,
    /// Nishioka and Motoda 1995, after Rosenblum and Ousterhout 1992): cold blocks are collected
    /// at a higher u than hot ones.
    CostBenefit,
    /// The one with the fewest valid units of `gc.choices` drawn at random, one maybe twice: what
    /// a controller does that cannot afford to look at all (Van Houdt 2013).
    DChoices,
    /// Any one, drawn at random: write amplification (1 + op) / op.
    Random,
}

/// When a block that was chosen for collection is emptied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// A little with every host write, so that the block is empty when it is needed.
    Paced,
    /// All at once when a die is about to run out: nothing until then, a long stall there.
    Delayed,
    /// The same while the host writes at random; while it writes in order, ahead of need, until
    /// there are `gc.sequential_free_blocks` (Crucial m4 and C300 as AnandTech describes them).
    DelayedUntilSequential,
    /// Nothing until a die is about to run out; then the whole drive moves as much with every write,
    /// however much space that wins, until dies have `gc.batch_free_blocks` on average.
    Batched,
}

/// How much collection a delayed drive does at a time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stall {
    /// When the host's block is full and another must be opened: as many victims as it takes to win
    /// one.
    Block,
    /// When a die's space is down to its reserve: one victim, which lasts for as many rows of host
    /// data as it wins.
    Victim,
}

impl GcSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        within("gc.start_free_blocks", self.start_free_blocks, 1..=1024)?;
        within("gc.choices", self.choices, 1..=1024)?;
        let more = self.start_free_blocks + 1;
        if let Some(idle) = self.idle_ms {
            within("gc.idle_ms", idle, 0.0..=1e9)?;
            let blocks = given("gc.idle_free_blocks", self.idle_free_blocks, "gc.idle_ms")?;
            within("gc.idle_free_blocks", blocks, more..=1 << 20)?;
        } else if let Some(blocks) = self.idle_free_blocks {
            let must = "gc.idle_ms must be given with it";
            return Err(ConfigError::new("gc.idle_free_blocks", blocks, must));
        }
        use Pacing::{Batched, DelayedUntilSequential};
        for (key, value, range, pacing) in [
            (
                "gc.sequential_free_blocks",
                self.sequential_free_blocks,
                more..=1 << 20,
                DelayedUntilSequential,
            ),
            ("gc.sequential_gain", self.sequential_gain, 1..=100, DelayedUntilSequential),
            ("gc.sequential_commands", self.sequential_commands, 1..=256, DelayedUntilSequential),
            ("gc.batch_free_blocks", self.batch_free_blocks, more..=1 << 20, Batched),
            ("gc.batch_moves", self.batch_moves, 1..=1000, Batched),
        ] {
            if self.pacing == pacing {
                let because = match pacing {
                    Batched => "gc.pacing = batched",
                    _ => "gc.pacing = delayed_until_sequential",
                };
                given(key, value, because)?;
            }
            if let Some(value) = value {
                within(key, value, range)?;
            }
        }
        Ok(())
    }
}

/// A value that must be there because of another.
fn given<T>(key: &str, value: Option<T>, because: &str) -> Result<T, ConfigError> {
    let must = format_args!("{because} needs it");
    value.ok_or_else(|| ConfigError::new(key, "absent", must))
}
