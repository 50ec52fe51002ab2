//! What a cache did between two moments, for a record and in a sentence.

use fourcorners_array::CacheCounts;
use fourcorners_record::note::note;
use fourcorners_record::{CacheUse, Note, Record};
use fourcorners_words::{percent, size};

use crate::drive::Drive;
use crate::members::MembersSnapshot;

/// What notes about a cache are about.
const ABOUT: &str = "cache";

/// What a cache had done until a moment.
pub struct CacheSnapshot {
    counts: CacheCounts,
    members: MembersSnapshot,
}

impl CacheSnapshot {
    /// What it has done so far; `None` of a drive that is none.
    pub fn of(drive: &Drive) -> Option<CacheSnapshot> {
        let Drive::Cache(cache) = drive else { return None };
        Some(CacheSnapshot { counts: cache.counts(), members: MembersSnapshot::of(drive) })
    }

    /// What it did from then on.
    pub fn until_now(&self, drive: &Drive) -> Option<CacheUse> {
        let after = CacheSnapshot::of(drive)?;
        let (from, to) = (&self.counts, &after.counts);
        Some(CacheUse {
            reads: to.reads - from.reads,
            read_hits: to.read_hits - from.read_hits,
            read_bytes: to.read_bytes - from.read_bytes,
            read_hit_bytes: to.read_hit_bytes - from.read_hit_bytes,
            bypassed_bytes: to.bypassed_bytes - from.bypassed_bytes,
            filled_bytes: to.filled_bytes - from.filled_bytes,
            written_back_bytes: to.written_back_bytes - from.written_back_bytes,
            dirty_bytes: to.dirty_bytes,
            // A purge begins to count again.
            evictions: to.evictions.saturating_sub(from.evictions),
            members: self.members.until_now(drive),
        })
    }
}

/// What it did, in a sentence: "62 % of the reads (1.2 of 2.0 GB) came from the SSD; ...".
pub fn sentence(it: &CacheUse) -> String {
    let mut told = Vec::new();
    if it.reads > 0 {
        let hits = it.read_hits as f64 / it.reads as f64;
        let (hit, all) = (size(it.read_hit_bytes), size(it.read_bytes));
        told.push(format!("{} of the reads are hits ({hit} of {all})", percent(hits)));
    }
    for (bytes, what) in [
        (it.bypassed_bytes, "went past the cache"),
        (it.written_back_bytes, "were written back"),
        (it.dirty_bytes, "are newer on the SSD than on the disk"),
    ] {
        if bytes > 0 {
            told.push(format!("{} {what}", size(bytes)));
        }
    }
    for member in &it.members {
        let joules = member.joules.map(|joules| format!(", {joules:.1} J")).unwrap_or_default();
        let (read, written) = (size(member.read_bytes), size(member.written_bytes));
        let role = if member.role == "ssd" { "SSD" } else { &member.role };
        told.push(format!("the {role} read {read} and wrote {written}{joules}"));
    }
    told.join("; ")
}

/// A sentence for a figure.
pub(crate) fn said(figure: &str, it: &CacheUse) -> Note {
    let hits = it.read_hits as f64 / it.reads.max(1) as f64;
    note(ABOUT, format!("{figure}: {}.", sentence(it)), hits)
}

/// Says of each figure of a review what the cache did for it.
pub(crate) fn conclude(record: &mut Record) {
    let of_jobs = record.figures.iter().map(|(name, figure)| (name.as_str(), &figure.cache));
    let of_replays = record.replays.iter().flat_map(|(name, replay)| {
        replay.figures.values().map(move |figure| (name.as_str(), &figure.cache))
    });
    let all = of_jobs.chain(of_replays);
    let notes: Vec<Note> =
        all.filter_map(|(name, cache)| Some(said(name, cache.as_ref()?))).collect();
    record.notes.extend(notes);
}
