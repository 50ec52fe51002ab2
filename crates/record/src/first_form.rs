//! Records of the first form, `fourcorners.review/1`, as version 0.1.0 wrote them. It does not change
//! any more, and is read for as long as there are databases that hold it.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{
    ClockName, Curve, Ended, Figure, Health, Host, Note, PlanInfo, Record, Replay, Series,
    Steadiness, TargetInfo,
};

/// The name of the form.
pub(crate) const SCHEMA: &str = "fourcorners.review/1";

/// A record in which a verdict was a sentence about something: today's notes. The order of its fields
/// and what is left out of its JSON are part of its id.
#[derive(Serialize, Deserialize)]
pub(crate) struct FirstRecord {
    id: String,
    target: TargetInfo,
    clock: ClockName,
    method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<PlanInfo>,
    quick: bool,
    figures: IndexMap<String, Figure>,
    series: IndexMap<String, Series>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replay: Option<Replay>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    replays: IndexMap<String, Replay>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    steadiness: IndexMap<String, Steadiness>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    curves: IndexMap<String, Curve>,
    verdicts: Vec<Note>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    health: Option<Health>,
    ended: Ended,
    seed: u64,
    version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<Host>,
    started_at: String,
    finished_at: String,
}

/// A document of such records.
#[derive(Deserialize)]
pub(crate) struct FirstDocument {
    pub(crate) records: Vec<FirstRecord>,
}

impl FirstRecord {
    /// The record as it was in that form; `None` of one that has what the form cannot say.
    pub(crate) fn of(record: &Record) -> Option<FirstRecord> {
        let record = record.clone();
        record.verdicts.is_empty().then(|| FirstRecord {
            verdicts: record.notes,
            id: record.id,
            target: record.target,
            clock: record.clock,
            method: record.method,
            plan: record.plan,
            quick: record.quick,
            figures: record.figures,
            series: record.series,
            replay: record.replay,
            replays: record.replays,
            steadiness: record.steadiness,
            curves: record.curves,
            health: record.health,
            ended: record.ended,
            seed: record.seed,
            version: record.version,
            host: record.host,
            started_at: record.started_at,
            finished_at: record.finished_at,
        })
    }
}

impl From<FirstRecord> for Record {
    fn from(first: FirstRecord) -> Record {
        Record {
            verdicts: Vec::new(),
            notes: first.verdicts,
            id: first.id,
            target: first.target,
            clock: first.clock,
            method: first.method,
            plan: first.plan,
            quick: first.quick,
            figures: first.figures,
            series: first.series,
            replay: first.replay,
            replays: first.replays,
            steadiness: first.steadiness,
            curves: first.curves,
            health: first.health,
            ended: first.ended,
            seed: first.seed,
            version: first.version,
            author: None,
            host: first.host,
            started_at: first.started_at,
            finished_at: first.finished_at,
        }
    }
}
