//! The storage bench: a trace replayed on a drive, empty and full.

mod battery;
mod figure;
mod once;
mod schedule;

use std::io;
use std::path::PathBuf;

use fourcorners_drive::Geometry;
use fourcorners_record::{
    Card, Data, Ended, Host, Job, Note, Pattern, Record, Replay, Series, TargetInfo, TargetKind,
    Until,
};
use fourcorners_run::{JobEnd, Observer, PartObserver};
use fourcorners_trace::{AddressMap, Options, TraceError};
use fourcorners_words::size;

use crate::cache_use;
use crate::drive::{Drive, NOT_PURGED, PURGE, Purge};

pub use once::{Played, Script};
pub use schedule::Pace;

/// The method's name in records.
pub const METHOD: &str = "storage-bench";

/// Why a hard disk is replayed on once.
pub(crate) const DISK_ONCE: &str =
    "Replayed once: a hard disk overwrites in place, so filling it first changes nothing.";
/// Why a file is.
pub(crate) const FILE_ONCE: &str = "Replayed once, full: a file cannot be emptied.";

/// Longest idle cap, an hour in milliseconds: with more nothing is cut.
pub const MOST_IDLE_MS: f64 = 3_600_000.0;
/// Most I/Os in flight. Each has a buffer of the largest block on a real target.
pub const MOST_DEPTH: u32 = 4096;

/// Block and depth of the fill.
const FILL_BLOCK: u32 = 131_072;
const FILL_DEPTH: u32 = 32;

/// State a drive is brought into before a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Before {
    /// Purged.
    Empty,
    /// Purged, then all of it written in order.
    Full,
    /// Left as it is.
    AsFound,
    /// Left as the replay before it left it.
    Again,
}

impl Before {
    fn figure(self) -> &'static str {
        match self {
            Before::Empty => "storage_bench_empty",
            Before::Full => "storage_bench_full",
            Before::AsFound => "storage_bench_as_found",
            Before::Again => "storage_bench_again",
        }
    }
}

/// What is done about addresses beyond the end of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addresses {
    /// They are refused.
    AsRecorded,
    /// As recorded, but multiplied by `--address-scale`; refused as well.
    Scaled,
    /// All are stretched or shrunk, so that the trace covers the target.
    Rescaled,
    /// The same for so many bytes at the start of the target.
    Into(u64),
    /// They begin again at its start.
    Wrapped,
}

/// Why a trace cannot be replayed on a target.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// One I/O is larger than the target.
    #[error("{trace} has an I/O of {largest} bytes, more than the target's {bytes}")]
    TooLarge {
        /// The trace.
        trace: String,
        /// Bytes of its largest I/O.
        largest: u64,
        /// Bytes of the target.
        bytes: u64,
    },
    /// It reaches beyond the target.
    #[error(
        "{trace} reaches to {} and the target has {}: add --rescale-address to shrink its addresses, or \
         --wrap-address to begin again at the start",
        apart(*extent, *bytes),
        apart(*bytes, *extent)
    )]
    Beyond {
        /// The trace.
        trace: String,
        /// The first byte that it does not touch.
        extent: u64,
        /// Bytes of the target.
        bytes: u64,
    },
    /// It has TRIMs, and the target takes none.
    #[error("{trace} has TRIMs and the target takes none: --ops read,write,flush leaves them out")]
    NoTrim {
        /// The trace.
        trace: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Its end was not seen.
    #[error("the trace was not read to its end")]
    Unread,
    /// It is read on a thread of its own, and there is none.
    #[error("no thread for the trace: {0}")]
    Thread(io::Error),
}

/// A size, in bytes where it would look like the other.
fn apart(bytes: u64, other: u64) -> String {
    match size(bytes) == size(other) {
        true => format!("{bytes} bytes"),
        false => size(bytes),
    }
}

impl Addresses {
    fn name(self) -> &'static str {
        match self {
            Addresses::AsRecorded => "as_recorded",
            Addresses::Scaled => "scaled",
            Addresses::Rescaled | Addresses::Into(_) => "rescaled",
            Addresses::Wrapped => "wrapped",
        }
    }

    /// The map of a trace of this card, with its TRIMs or without, onto a target, or why there is none.
    pub(crate) fn map(
        self,
        card: &Card,
        trims: bool,
        geometry: Geometry,
    ) -> Result<Option<AddressMap>, ReplayError> {
        let (extent, bytes) = (card.extent_bytes, geometry.bytes());
        let largest_trim = card.largest_trim_bytes.filter(|_| trims).unwrap_or(0);
        let largest = card.largest_bytes.max(largest_trim);
        if largest > bytes {
            let trace = card.trace.clone();
            return Err(ReplayError::TooLarge { trace, largest, bytes });
        }
        let into = |bytes: u64| AddressMap::Stretched {
            factor: bytes as f64 / extent.max(1) as f64,
            limit_bytes: Some(bytes),
        };
        match self {
            Addresses::Rescaled => Ok(Some(into(bytes))),
            Addresses::Into(limit) => Ok(Some(into(limit.min(bytes)))),
            Addresses::Wrapped => Ok(Some(AddressMap::Wrapped { bytes })),
            _ if extent > bytes => {
                Err(ReplayError::Beyond { trace: card.trace.clone(), extent, bytes })
            }
            _ => Ok(None),
        }
    }
}

/// A replay that is to be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The trace.
    pub trace: PathBuf,
    /// How it is read.
    pub options: Options,
    /// What is in it.
    pub card: Card,
    /// When I/Os are issued.
    pub pace: Pace,
    /// Most I/Os in flight, at least 1.
    pub depth: u32,
    /// What is done about addresses.
    pub addresses: Addresses,
    /// The states to replay it in.
    pub states: Vec<Before>,
}

impl Plan {
    /// The replay of each state.
    fn script(&self) -> Script<'_> {
        let Plan { trace, options, card, pace, depth, addresses, .. } = self;
        let (pace, depth, addresses) = (*pace, *depth, *addresses);
        Script { trace, options, card, pace, depth, addresses }
    }

    /// Why the trace cannot be replayed on a target of this geometry, if it cannot.
    pub fn refuses(&self, geometry: Geometry) -> Option<ReplayError> {
        let trims = self.options.filter.ops.trim;
        self.addresses.map(&self.card, trims, geometry).err()
    }

    /// Why the trace cannot be replayed on a target that takes TRIMs or takes none, if it cannot.
    pub fn refuses_trims(&self, taken: bool) -> Option<ReplayError> {
        let is_refused = !taken && self.card.trims > 0;
        is_refused.then(|| ReplayError::NoTrim { trace: self.card.trace.clone() })
    }

    /// Whether anything of it writes.
    pub fn writes(&self) -> bool {
        self.card.writes + self.card.trims > 0
            || self.states.iter().any(|it| *it != Before::AsFound)
    }
}

/// Replays a trace on a drive. A record always comes back: of all, or of what was measured before
/// it was stopped or failed.
pub fn replay(
    plan: &Plan,
    drive: &mut Drive,
    (target, host): (TargetInfo, Option<Host>),
    observer: &mut dyn Observer,
) -> Record {
    let mut bench = Bench::new(plan, drive, target, host);
    let total = plan.states.len().max(1) as f64;
    for (index, &before) in plan.states.iter().enumerate() {
        let mut part = PartObserver { observer, from: index as f64 / total, share: 1.0 / total };
        let Some(before) = bench.prepare(before, drive, &mut part) else { continue };
        if bench.record.ended != Ended::Complete {
            break;
        }
        bench.measure(before, drive, &mut part);
        if bench.record.ended != Ended::Complete {
            break;
        }
    }
    bench.conclude();
    bench.record.finish();
    bench.record
}

/// Preparation counts for nothing: it is only asked whether to go on.
struct Silent<'a>(&'a mut dyn Observer);

impl Observer for Silent<'_> {
    fn go_on(&mut self, _part_done: f64) -> bool {
        self.0.go_on(0.0)
    }
}

struct Bench<'a> {
    plan: &'a Plan,
    record: Record,
    replay: Replay,
    state: String,
}

impl Bench<'_> {
    fn new<'a>(plan: &'a Plan, drive: &Drive, target: TargetInfo, host: Option<Host>) -> Bench<'a> {
        let record = Record::begun(target, drive.clock(), METHOD, plan.options.seed, host);
        let replay = plan.script().described(drive);
        let mut bench = Bench { plan, record, replay, state: "as found".into() };
        if matches!(plan.pace, Pace::Think { .. }) && !plan.card.has_durations() {
            let text = "The trace has no durations: the time from issue to issue, with idle times \
                        cut, is taken as think time.";
            bench.say("think-time", text.into(), None);
        }
        bench
    }

    /// Brings the drive into a state, as far as it can be: the state it is in. `None` when a replay
    /// in it would be one that was done.
    fn prepare(
        &mut self,
        before: Before,
        drive: &mut Drive,
        part: &mut dyn Observer,
    ) -> Option<Before> {
        if matches!(before, Before::AsFound | Before::Again) {
            return Some(before);
        }
        let is_first = self.replay.figures.is_empty();
        let mut reached = before;
        match drive.purge() {
            Ok(Purge::Done) => {
                self.state = "fresh".into();
                if before == Before::Full && matches!(drive, Drive::Cache(_)) {
                    if !is_first {
                        let text = "Replayed once: a cache is as fast with a full disk behind it as with an empty one. \
                                    --drive-state twice replays a second time, with what is cached then.";
                        self.say("not-run", text.into(), None);
                    }
                    return is_first.then_some(Before::Empty);
                }
            }
            Ok(Purge::NotPossible(why)) => {
                if !self.record.notes.iter().any(|note| note.about == PURGE) {
                    self.say(PURGE, format!("{NOT_PURGED}: {why}."), None);
                }
                if matches!(drive, Drive::Hdd(_)) {
                    if !is_first {
                        self.say("not-run", DISK_ONCE.into(), None);
                    }
                    return is_first.then_some(Before::AsFound);
                }
                if before == Before::Empty && self.record.target.kind == TargetKind::File {
                    // Blocks that were never written would be read from memory.
                    if self.plan.states.contains(&Before::Full) {
                        self.say("not-run", FILE_ONCE.into(), None);
                        return None;
                    }
                    reached = Before::Full;
                } else if before == Before::Empty {
                    reached = Before::AsFound;
                }
            }
            Err(error) => {
                self.record.ended = Ended::Failed(format!("the purge failed: {error}"));
                return Some(before);
            }
        }
        if reached == Before::Full {
            let job = fill(drive.geometry());
            let ended = drive.run(&job, &mut Silent(part)).measured.ended;
            self.note(ended, "while it was filled");
            self.state = "filled".into();
            self.settle(drive);
        }
        Some(reached)
    }

    fn measure(&mut self, before: Before, drive: &mut Drive, part: &mut dyn Observer) {
        let played = match self.plan.script().play(drive, part) {
            Ok(played) => played,
            Err(error) => return self.record.ended = Ended::Failed(error.to_string()),
        };
        self.note(played.outcome.measured.ended, &format!("in {}", before.figure()));
        if let Some(error) = &played.broken
            && self.record.ended == Ended::Complete
        {
            // It was read once before, so it has changed since or its file cannot be read any more.
            self.record.ended = Ended::Failed(error.clone());
        }
        self.replay.widened = played.widened;
        if played.outcome.measured.latency.count() > 0 {
            self.keep(before, &played, drive);
        }
        self.settle(drive);
        self.state = "replayed on".into();
    }

    fn keep(&mut self, before: Before, played: &Played, drive: &Drive) {
        let name = before.figure().to_string();
        let complete = self.record.ended == Ended::Complete;
        let figure = played.figure(&self.state, drive, complete);
        self.record.series.insert(name.clone(), Series::from(&played.outcome.measured));
        self.replay.figures.insert(name, figure);
    }

    fn settle(&mut self, drive: &mut Drive) {
        if let Err(error) = drive.settle()
            && self.record.ended == Ended::Complete
        {
            self.record.ended = Ended::Failed(error.to_string());
        }
    }

    fn note(&mut self, end: JobEnd, place: &str) {
        self.record.ended = match end {
            JobEnd::Complete => return,
            JobEnd::Interrupted => Ended::Interrupted,
            JobEnd::Failed(fault) => {
                let is_trim = fault.io.op == fourcorners_drive::Op::Trim
                    && fault.cause == fourcorners_drive::FaultCause::Unsupported;
                let hint = if is_trim { "; --ops read,write,flush leaves TRIMs out" } else { "" };
                Ended::Failed(format!("{place}: {fault}{hint}"))
            }
        };
    }

    fn say(&mut self, about: &str, text: String, value: Option<f64>) {
        self.record.notes.push(Note { about: about.into(), text, value });
    }

    /// Says what the figures mean.
    fn conclude(&mut self) {
        let complete = |name: &str| {
            self.replay.figures.get(name).filter(|figure| figure.complete).map(|it| it.mb_per_s)
        };
        let second = complete("storage_bench_again");
        let both = complete("storage_bench_empty").zip(complete("storage_bench_full"));
        if let Some((empty, full)) = both.filter(|&(empty, _)| empty > 0.0) {
            let share = full / empty;
            let text = format!(
                "Full, the drive runs at {:.0} % of its rate when empty: {empty:.1} MB/s empty, {full:.1} full.",
                share * 100.0
            );
            self.say("full-drive", text, Some(share));
        }
        let first = self.replay.figures.values().next().map(|first| first.mb_per_s);
        if let Some((first, second)) = first.zip(second).filter(|&(first, _)| first > 0.0) {
            let text = format!(
                "The second replay runs at {:.2} times the rate of the first: {first:.1} MB/s, then {second:.1}.",
                second / first
            );
            self.say("second-time", text, Some(second / first));
        }
        let cached = self.replay.figures.iter();
        let cached: Vec<Note> = cached
            .filter_map(|(name, it)| Some(cache_use::said(name, it.cache.as_ref()?)))
            .collect();
        self.record.notes.extend(cached);
        // With pauses cut the mean power is of nothing that anybody does.
        let as_long = self.plan.options.filter.time_scale == 1.0;
        let has_pauses = match self.plan.pace {
            _ if !as_long => false,
            // What is recorded is longer than that only where somebody was away.
            Pace::Think { cap } => {
                cap >= battery::ALL_PAUSES && cap.as_micros() >= self.replay.card.think_us.max
            }
            Pace::Recorded => true,
            Pace::Fast => false,
        };
        let figures = self.replay.figures.iter().filter(|_| has_pauses);
        let energy: Vec<Note> = figures.filter_map(|(name, it)| battery::said(name, it)).collect();
        self.record.notes.extend(energy);
        if let Some(text) = several_devices(&self.replay.card, "--device K replays one of them") {
            self.say("devices", text, Some(self.replay.card.devices as f64));
        }
        if self.replay.widened > 0 {
            let (count, block) = (self.replay.widened, self.record.target.logical_block_bytes);
            self.say("alignment", format!("{}.", widened(count, block)), Some(count as f64));
        }
        self.record.replay = Some(self.replay.clone());
    }
}

/// Says that the devices of a recording lie one over the other, where there are several, and how one of them is replayed.
pub(crate) fn several_devices(card: &Card, advice: &str) -> Option<String> {
    (card.devices > 1).then(|| {
        format!(
            "The {} devices of {} lie one over the other: all begin at the target's first byte. {advice}.",
            card.devices, card.trace
        )
    })
}

/// How many I/Os were widened to whole blocks of so many bytes, without the full stop.
pub(crate) fn widened(ios: u64, block_bytes: u32) -> String {
    let were = if ios == 1 { "I/O was" } else { "I/Os were" };
    format!("{ios} {were} widened to whole blocks of {block_bytes} bytes")
}

/// All of a target in order.
pub(crate) fn fill(geometry: Geometry) -> Job {
    let whole = geometry.bytes() - geometry.bytes() % u64::from(FILL_BLOCK);
    Job {
        pattern: Pattern::Sequential,
        read_percent: 0,
        block_bytes: FILL_BLOCK,
        queue_depth: FILL_DEPTH,
        span_start_bytes: 0,
        span_bytes: whole,
        data: Data::Incompressible,
        until: Until::Bytes(whole),
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    }
}
