//! Measurements as data: the JSON document `fourcorners.review/2`.
//!
//! A [`Record`] is what one method measured on one target: figures by name, one-second series,
//! curves, verdicts. Everything that shows, stores or compares results sees records and nothing
//! else, so this crate knows no drive, and an old record renders without its own. A [`Job`] and
//! the [`Card`] of a trace are data of a record, too: the request beside its result.
//!
//! - **Verdicts** (`verdict.rs`) are a claim with its outcome, the figures it rests on, its threshold and
//!   its control; whoever shows one makes the words from that. A note states a fact and claims nothing.
//! - **Figures** are named
//!   `{random|sequential}_{read|write}_{4k|128k}_qd{N}[_repeating|_incompressible][_used]`.
//! - **Ids**: a record's `id` is a hash of its content without the times of day, so equal results have
//!   equal ids.
//! - **Clocks**: a record names its clock; nothing averages or compares across clocks silently.
//! - **Earlier forms**: `first_form.rs` reads records of `/1`, in which verdicts were sentences. These
//!   become notes, and keep their ids.
//!
//! It needs no Linux: it compiles for Windows and macOS, too (`scripts/other-systems`).
//!
//! ```
//! use fourcorners_record::{Document, from_json, to_json};
//!
//! let empty = Document::new(Vec::new());
//! assert_eq!(to_json(&empty), r#"{"schema":"fourcorners.review/2","records":[]}"#);
//! assert_eq!(from_json(&to_json(&empty))?, empty);
//! # Ok::<(), fourcorners_record::ReadError>(())
//! ```

#![forbid(unsafe_code)]

use std::borrow::Cow;

use fourcorners_words::hex;
use indexmap::IndexMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

mod agreement;
mod cache_use;
mod card;
mod choice;
pub mod diagnosis;
mod figure;
mod first_form;
mod health;
mod job;
mod json;
mod member_use;
pub mod note;
mod plan;
mod replay;
mod steadiness;
mod target;
mod verdict;

use first_form::FirstRecord;

pub use agreement::{Disagreement, disagreements};
pub use cache_use::CacheUse;
pub use card::{Bin, Card, LAST_DEPTH_ABOVE, LAST_SIZE_ABOVE, Share, Spread};
pub use choice::{CHOICE_SCHEMA, Choice, ChosenReplay, ChosenWork, LeftOut, RankedDrive};
pub use figure::{Curve, Figure, FlashWear, Latency, Noise, Series};
pub use health::{Health, HealthReading, Heat};
pub use job::{Data, Job, Pattern, Until};
pub use json::{ReadError, from_json, json_schema, record_from_json, to_json};
pub use member_use::MemberUse;
pub use note::Note;
pub use plan::{PlanInfo, Threshold};
pub use replay::{Replay, ReplayFigure, ReplayPart};
pub use steadiness::Steadiness;
pub use target::{FlashRating, HostTrim, Retention, TargetInfo, TargetKind, Variation};
pub use verdict::{Outcome, Verdict};

/// The name and version of the document's form.
pub const SCHEMA: &str = "fourcorners.review/2";

/// The document that `review --json` prints.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// One record for each target and method, in the order they were run.
    pub records: Vec<Record>,
}

impl Document {
    /// The document of these records.
    pub fn new(records: Vec<Record>) -> Document {
        Document { schema: SCHEMA.into(), records }
    }
}

/// What one method measured on one target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// First 16 hexadecimal digits of the SHA-256 of everything else but the author and the times of day: equal
    /// results have equal ids.
    pub id: String,
    /// What it was measured on.
    pub target: TargetInfo,
    /// The clock all its times are of.
    pub clock: ClockName,
    /// The method's name, as given to `--methods`, or as its plan file has it.
    pub method: String,
    /// The plan file that the method is from, if it is not one of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanInfo>,
    /// Whether durations and spans were cut by `--quick`.
    pub quick: bool,
    /// Figures by name, in the order they were measured.
    pub figures: IndexMap<String, Figure>,
    /// One-second series by the name of their figure.
    pub series: IndexMap<String, Series>,
    /// What a trace was replayed to (`trace replay`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// What several were replayed to, by their names (methods `storage-bench` and `tasks`).
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub replays: IndexMap<String, Replay>,
    /// How steady a figure was from second to second, by its name; of a part of it, by its name and
    /// from when on.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub steadiness: IndexMap<String, Steadiness>,
    /// What was measured against something else than time, by its name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub curves: IndexMap<String, Curve>,
    /// What the method concludes: claims, each with its control.
    pub verdicts: Vec<Verdict>,
    /// What else the figures say, and what could not be measured and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// What the drive said of its own health (block devices), and how warm it was (virtual SSDs that get warm).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Whether all of it was measured.
    pub ended: Ended,
    /// Seed of the whole review; each job's own is in its figure.
    pub seed: u64,
    /// Version of fourcorners.
    pub version: String,
    /// Who reviewed it, if that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The machine, for results in wall time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// Time of day at the start, RFC 3339 in UTC.
    pub started_at: String,
    /// Time of day at the end.
    pub finished_at: String,
}

impl Record {
    /// One of a target of which nothing is measured yet, and which is whole so far.
    pub fn begun(
        target: TargetInfo,
        clock: ClockName,
        method: &str,
        seed: u64,
        host: Option<Host>,
    ) -> Record {
        let not_the_drive = target.in_memory.as_ref().map(|why| Note {
            about: "in-memory".into(),
            text: format!(
                "Memory was measured, at least in part, and not a drive: of {}, {why}.",
                target.name
            ),
            value: None,
        });
        Record {
            id: String::new(),
            target,
            clock,
            method: method.into(),
            plan: None,
            quick: false,
            figures: IndexMap::new(),
            series: IndexMap::new(),
            replay: None,
            replays: IndexMap::new(),
            steadiness: IndexMap::new(),
            curves: IndexMap::new(),
            verdicts: Vec::new(),
            notes: not_the_drive.into_iter().collect(),
            health: None,
            ended: Ended::Complete,
            seed,
            version: env!("CARGO_PKG_VERSION").into(),
            author: None,
            host,
            started_at: now(),
            finished_at: now(),
        }
    }

    /// How much was measured of it: figures, and replays of traces.
    pub fn figure_count(&self) -> usize {
        let replays = self.replay.iter().chain(self.replays.values());
        self.figures.len() + replays.map(|replay| replay.figures.len()).sum::<usize>()
    }

    /// All figures of replays, each by a name that no other of the record has: that of its figure, and
    /// before it that of what was replayed where a record has several.
    pub fn replayed(&self) -> impl Iterator<Item = (Cow<'_, str>, &Replay, &ReplayFigure)> {
        let alone = self.replay.iter().flat_map(|replay| {
            replay.figures.iter().map(move |(name, figure)| (name.into(), replay, figure))
        });
        let several = self.replays.iter().flat_map(|(of, replay)| {
            let named = move |name: &String| Cow::Owned(format!("{of}_{name}"));
            replay.figures.iter().map(move |(name, figure)| (named(name), replay, figure))
        });
        alone.chain(several)
    }

    /// What each drive of an array or a cache did for all figures together, in their order; empty of a single drive.
    /// What was done between the figures (a fill, a torture) is not in it, but in how worn they are.
    pub fn members(&self) -> Vec<MemberUse> {
        fn of<'m>(cache: &'m Option<CacheUse>, members: &'m [MemberUse]) -> &'m [MemberUse] {
            cache.as_ref().map_or(members, |cache| &cache.members)
        }
        let of_jobs = self.figures.values().map(|it| of(&it.cache, &it.members));
        let of_replays = self.replay.iter().chain(self.replays.values());
        let of_replays = of_replays.flat_map(|replay| replay.figures.values());
        MemberUse::sum(of_jobs.chain(of_replays.map(|it| of(&it.cache, &it.members))))
    }

    /// Notes that this is all so far, and seals it.
    pub fn finish(&mut self) {
        self.finished_at = now();
        self.seal();
    }

    /// Gives the record the id its content has.
    pub fn seal(&mut self) {
        self.id = id_of(&self.timeless());
    }

    /// Whether its id is that of its content, in today's form or in the first: whether it is what was
    /// measured.
    pub fn is_as_sealed(&self) -> bool {
        let timeless = self.timeless();
        let first = || FirstRecord::of(&timeless).map(|first| id_of(&first));
        self.id == id_of(&timeless) || first().is_some_and(|id| id == self.id)
    }

    /// Whether both are the same result, whenever and by whom each was measured.
    pub fn is_same_result(&self, other: &Record) -> bool {
        // Without a copy of the seconds of results that cannot be the same.
        let may_be = (&self.method, self.seed) == (&other.method, other.seed);
        may_be && self.timeless() == other.timeless()
    }

    /// It without what differs between equal results.
    fn timeless(&self) -> Record {
        Record {
            id: String::new(),
            author: None,
            started_at: String::new(),
            finished_at: String::new(),
            ..self.clone()
        }
    }

    /// All that was concluded, in words and in the order a reader wants it: verdicts first, each with
    /// its id and its number, then notes.
    pub fn conclusions(&self) -> Vec<Note> {
        let verdict = |verdict: &Verdict| Note {
            about: verdict.id.clone(),
            text: verdict.words(self),
            value: verdict.value,
        };
        self.verdicts.iter().map(verdict).chain(self.notes.iter().cloned()).collect()
    }
}

/// First 16 hexadecimal digits of the SHA-256 of a record's JSON.
fn id_of(record: &impl Serialize) -> String {
    let json = serde_json::to_vec(record).expect("a record has only string keys");
    hex(&Sha256::digest(json)[..8])
}

/// The time of day, UTC, to the second.
fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The clock of a target, as a record spells it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockName {
    /// The model's own time.
    Virtual,
    /// `CLOCK_MONOTONIC`.
    Wall,
}

/// The machine a result in wall time was measured on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Kernel release.
    pub kernel: String,
    /// CPU model.
    pub cpu: String,
    /// Logical CPUs.
    pub cpus: u32,
    /// What our own loop takes for an I/O, nanoseconds, measured before the first test: 4 KiB random
    /// reads at queue depth 32 on a target that answers at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead_ns_per_io: Option<u64>,
}

/// Whether a record is whole.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Everything planned was measured.
    Complete,
    /// It was stopped by the user.
    Interrupted,
    /// It failed; the reason.
    Failed(String),
}
