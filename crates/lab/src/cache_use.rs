//! What a cache did between two moments, for a record and in a sentence.

use fourcorners_array::{Cache, CacheCounts, MemberBytes};
use fourcorners_drive::{SsdCounters, Target};
use fourcorners_record::note::note;
use fourcorners_record::{CacheUse, MemberUse, Note, Record};
use fourcorners_words::{percent, size};

use crate::drive::Drive;
use crate::virtual_drive::Virtual;

/// What notes about a cache are about.
const ABOUT: &str = "cache";

/// What a cache had done until a moment.
pub struct CacheSnapshot {
    counts: CacheCounts,
    joules: [Option<f64>; 2],
    ssd: Option<SsdCounters>,
}

impl CacheSnapshot {
    /// What it has done so far; `None` of a drive that is none.
    pub fn of(drive: &Drive) -> Option<CacheSnapshot> {
        let Drive::Cache(cache) = drive else { return None };
        Some(CacheSnapshot::of_cache(cache))
    }

    fn of_cache(cache: &Cache<Virtual>) -> CacheSnapshot {
        let members = cache.members();
        CacheSnapshot {
            counts: cache.counts(),
            joules: members.map(|member| member.energy_j(cache.now())),
            ssd: match members[0] {
                Virtual::Ssd(ssd) => Some(ssd.counters()),
                Virtual::Hdd(_) => None,
            },
        }
    }

    /// What it did from then on.
    pub fn until_now(&self, drive: &Drive) -> Option<CacheUse> {
        let after = CacheSnapshot::of(drive)?;
        let (from, to) = (&self.counts, &after.counts);
        let amplified = self.ssd.as_ref().zip(after.ssd.as_ref());
        let amplified = amplified.and_then(|(from, to)| to.write_amplification_since(from));
        let member = |at: usize, role: &str, from: MemberBytes, to: MemberBytes| MemberUse {
            role: role.into(),
            read_bytes: to.read - from.read,
            written_bytes: to.written - from.written,
            joules: self.joules[at].zip(after.joules[at]).map(|(from, to)| to - from),
            write_amplification: amplified.filter(|_| at == 0),
        };
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
            members: vec![
                member(0, "ssd", from.ssd, to.ssd),
                member(1, "disk", from.disk, to.disk),
            ],
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
