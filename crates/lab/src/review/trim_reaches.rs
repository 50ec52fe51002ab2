//! Does TRIM reach the drive? Data is written, trimmed and read again, past all caches: what comes
//! back, what is still allocated, and how fast reading is tell whether anybody below listened.
//!
//! A discard that is accepted and changes neither content nor allocation nor speed is not passed on.

use fourcorners_linux::UringError;
use fourcorners_record::note::{finished, note};
use fourcorners_record::{Note, Outcome, Record, Until, Verdict};
use fourcorners_run::trim::Range;

use super::difference::{is_slower, left_open};
use super::trim_works::{REFUSED, not_trimmed};
use super::{Medium, Phase, Scope};
use crate::drive::Drive;

pub(super) const METHOD: &str = "trim-reaches";

const WRITTEN: &str = "sequential_read_128k_qd1_written";
const TRIMMED: &str = "sequential_read_128k_qd1_trimmed";
const SPAN_BYTES: u64 = 1_000_000_000;
/// What is compared byte by byte, at the beginning of the span.
const COMPARED_BYTES: usize = 4 << 20;
const COMPARED_BLOCK: usize = 4096;
/// From this part of what was trimmed on, all of it is said to be forgotten; from the other on, some.
const ALL: f64 = 0.95;
const SOME: f64 = 0.02;
/// A drive that shows nothing at once is left alone for so long and looked at again.
pub(super) const REST_SECONDS: u64 = 120;
pub(super) const QUICK_REST_SECONDS: u64 = 2;
const MAPPED: &str = "trim-mapped";
const CONTENT: &str = "trim-content";
const ALLOCATION: &str = "trim-allocation";
/// Reading that became this much faster no longer fetches what was written.
const FASTER: f64 = 1.5;
/// What is noted where what was written was not there even before the TRIM, so that its absence
/// afterwards would say nothing.
const NO_CONTROL: &str = "trim-control";
/// Places of a virtual drive's map that are looked at.
const SAMPLES: u64 = 4096;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    if scope.medium == Medium::HardDisk {
        return not_trimmed(scope.medium).map(|why| Phase::LeftOut { why }).into_iter().collect();
    }
    let span = scope.span(SPAN_BYTES);
    let range = Range { start_bytes: 0, bytes: span };
    let read = || scope.sequential(100, 1, span, Until::Bytes(span));
    vec![
        Phase::Purge,
        scope.fill("written", span),
        scope.measure(WRITTEN, read()),
        Phase::ProbeTrim { range },
        scope.measure(TRIMMED, read()),
    ]
}

/// A TRIM whose effect on what is stored is looked for.
pub(super) struct Probe {
    range: Range,
    /// What was written at its beginning.
    pattern: Vec<u8>,
    /// Bytes that a file took on its file system before.
    allocated: Option<u64>,
}

/// What was found before a TRIM could be done, or that it was not.
pub(super) enum NotProbed {
    /// A finding.
    Found(Note),
    /// A real drive could not write or read what is compared.
    Failed(UringError),
}

impl Probe {
    /// Writes a pattern, sees that it is there, and trims the range.
    ///
    /// # Errors
    /// When there is nothing to look for afterwards, and why.
    pub(super) fn begin(drive: &mut Drive, range: Range, seed: u64) -> Result<Probe, NotProbed> {
        let length = COMPARED_BYTES.min(range.bytes as usize) / COMPARED_BLOCK * COMPARED_BLOCK;
        let pattern = pattern(seed, length);
        let mut allocated = None;
        if let Drive::Real(uring) = drive {
            uring.store(range.start_bytes, &pattern).map_err(NotProbed::Failed)?;
            if uring.stored(range.start_bytes, length).map_err(NotProbed::Failed)? != pattern {
                let text = "The data did not read back as written even before the TRIM.";
                return Err(NotProbed::Found(note(NO_CONTROL, text.into(), 0.0)));
            }
            allocated = uring.allocated_bytes().map_err(NotProbed::Failed)?;
        }
        if let Some(mapped) = drive.mapped_share(range, SAMPLES).filter(|mapped| *mapped < 1.0) {
            let percent = mapped * 100.0;
            let text = format!(
                "Before the TRIM, the drive mapped only {percent:.0} % of what was written."
            );
            return Err(NotProbed::Found(note(NO_CONTROL, text, mapped)));
        }
        if let Err(fault) = drive.trim(range) {
            let text = format!("The TRIM was refused: {fault}.");
            return Err(NotProbed::Found(note(REFUSED, text, 0.0)));
        }
        if let Drive::Real(uring) = drive {
            uring.sync().map_err(NotProbed::Failed)?;
        }
        Ok(Probe { range, pattern, allocated })
    }

    /// What of it can be seen now: findings, each with a number.
    ///
    /// # Errors
    /// When a real drive could not read.
    pub(super) fn look(&self, drive: &mut Drive) -> Result<Vec<Note>, UringError> {
        let mut found = Vec::new();
        if let Some(mapped) = drive.mapped_share(self.range, SAMPLES) {
            let percent = mapped * 100.0;
            let text = format!("The drive still maps {percent:.0} % of the trimmed range.");
            found.push(note(MAPPED, text, mapped));
        }
        let Drive::Real(uring) = drive else { return Ok(found) };
        let now = uring.stored(self.range.start_bytes, self.pattern.len())?;
        let blocks = || now.chunks(COMPARED_BLOCK).zip(self.pattern.chunks(COMPARED_BLOCK));
        let all = blocks().count().max(1) as f64;
        let gone = blocks().filter(|(now, old)| now != old).count() as f64 / all;
        let zeroes = blocks().filter(|(now, _)| now.iter().all(|&byte| byte == 0)).count() as f64;
        let text = match (gone, zeroes / all) {
            (_, 1.0) => "as zeroes".to_string(),
            (0.0, _) => "as written".to_string(),
            (gone, zeroes) => format!(
                "changed in {:.0} % of the blocks, as zeroes in {:.0} %",
                gone * 100.0,
                zeroes * 100.0
            ),
        };
        let text = format!("The first {} bytes of the trimmed range read back {text}.", now.len());
        found.push(note(CONTENT, text, gone));
        if let Some(before) = self.allocated
            && let Some(after) = uring.allocated_bytes()?
        {
            let freed = before.saturating_sub(after) as f64 / self.range.bytes as f64;
            let text = format!(
                "The file occupies {:.1} MB of its file system, {:.1} MB before the TRIM.",
                after as f64 / 1e6,
                before as f64 / 1e6
            );
            found.push(note(ALLOCATION, text, freed));
        }
        Ok(found)
    }
}

/// What part of a range was seen to be forgotten, by each way of looking that found any of it.
fn forgotten(found: &[Note]) -> impl Iterator<Item = (&'static str, f64)> {
    let share = |about: &str, of: fn(f64) -> f64| {
        let note = found.iter().find(|note| note.about == about);
        note.and_then(|note| note.value).map_or(0.0, of)
    };
    [
        (MAPPED, share(MAPPED, |mapped| 1.0 - mapped)),
        (CONTENT, share(CONTENT, |gone| gone)),
        (ALLOCATION, share(ALLOCATION, |freed| freed)),
    ]
    .into_iter()
    .filter(|(_, share)| *share >= SOME)
}

/// Whether anything of a TRIM was seen.
pub(super) fn is_seen(found: &[Note]) -> bool {
    forgotten(found).next().is_some()
}

/// Bytes that nobody else writes: SplitMix64 of the seed, known as ours.
fn pattern(seed: u64, length: usize) -> Vec<u8> {
    let word = |index: u64| {
        let mut z = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut bytes: Vec<u8> =
        (0..length as u64 / 8).flat_map(|index| word(index).to_le_bytes()).collect();
    fourcorners_linux::sign(&mut bytes);
    bytes
}

pub(super) fn conclude(record: &mut Record) {
    let has = |about: &str| record.notes.iter().any(|note| note.about == about);
    let speed = finished(record, WRITTEN).zip(finished(record, TRIMMED));
    let faster = speed.map(|(written, trimmed)| trimmed.mb_per_s / written.mb_per_s);
    let most = forgotten(&record.notes).max_by(|a, b| a.1.total_cmp(&b.1));
    let looked = has(MAPPED) || has(CONTENT);
    let (outcome, value, why) = if has(REFUSED) {
        (Outcome::No, None, "TRIM is refused".to_string())
    } else if has(NO_CONTROL) {
        let why = "not all of the written data was there before the TRIM";
        (Outcome::Undetermined, None, why.into())
    } else if let Some((seen, share)) = most {
        let outcome = if share >= ALL { Outcome::Yes } else { Outcome::Partly };
        (outcome, Some(share), said(seen, share))
    } else if let Some(times) = faster.filter(|times| *times >= FASTER) {
        let times = format!("the trimmed range reads {times:.1} times as fast as before");
        match is_slower(record, [WRITTEN, TRIMMED], 1.0 / FASTER, "the rate after the TRIM") {
            Some((Outcome::Yes, _)) => (Outcome::Yes, None, times),
            judged => {
                let why = judged.and_then(|(_, why)| why).unwrap_or_default();
                (
                    Outcome::Undetermined,
                    None,
                    format!("{times}, and nothing else of it was seen: {why}"),
                )
            }
        }
    } else if looked {
        let why = "TRIM is accepted, and no effect of it was seen";
        (Outcome::No, Some(0.0), why.into())
    } else {
        return;
    };
    let verdict = Verdict {
        id: METHOD.into(),
        claim: "TRIM reaches the drive".into(),
        outcome,
        figures: vec![WRITTEN.into(), TRIMMED.into()],
        threshold: format!(
            "the share of the trimmed range that the drive has unmapped or the file system has freed, or of the \
             compared blocks that read back changed, at once or {REST_SECONDS} s later: yes from {ALL} on, partly from \
             {SOME} on; below, yes where the range reads at least {FASTER} times as fast as before, beyond what the seconds \
             and the time lost to interference leave open, and no where it does not"
        ),
        control: "content, map and speed before the TRIM: the written data has to be there".into(),
        value,
        why: Some(why),
    };
    let once = format!(
        "a quick review looks for an effect for {QUICK_REST_SECONDS} s at most, and the TRIM may have more of one later"
    );
    let open = record.quick && !has(REFUSED);
    record.verdicts.push(match open {
        true => left_open(verdict, &[Outcome::No, Outcome::Partly], &once),
        false => verdict,
    });
}

/// What was seen, and of how much.
fn said(seen: &str, share: f64) -> String {
    match seen {
        MAPPED if share >= ALL => "the drive has unmapped the trimmed range".into(),
        MAPPED => {
            format!("the drive still maps {:.0} % of the trimmed range", (1.0 - share) * 100.0)
        }
        CONTENT => format!("{:.0} % of the compared blocks read back changed", share * 100.0),
        _ => format!("the file system has freed {:.0} % of the trimmed range", share * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_record::{ClockName, Figure, Noise, Series, TargetInfo, TargetKind};

    use super::super::figure;
    use super::*;

    /// The verdict of a device whose content is as written after the TRIM, from the rates of ten seconds before it and after it, and
    /// the share of others in what it moved before.
    fn judged([written, trimmed]: [fn(usize) -> f64; 2], others: f64) -> Verdict {
        let target = TargetInfo::new("a".into(), TargetKind::Device, 1 << 30, 512);
        let mut record = Record::begun(target, ClockName::Wall, METHOD, 1, None);
        let text = "The first 4194304 bytes of the trimmed range read back as written.";
        record.notes.push(note(CONTENT, text.into(), 0.0));
        for (name, rate, others) in [(WRITTEN, written, others), (TRIMMED, trimmed, 0.0)] {
            let mb_per_s: Vec<f64> = (0..10).map(rate).collect();
            let mean = mb_per_s.iter().sum::<f64>() / 10.0;
            let noise = Noise {
                cpu_wait_share: 0.0,
                cpu_steal_share: 0.0,
                load: 1.0,
                other_io_share: Some(others),
                stopped_share: 0.0,
            };
            let figure = Figure { mb_per_s: mean, noise: Some(noise), ..figure::example() };
            record.figures.insert(name.into(), figure);
            record.series.insert(name.into(), Series { mb_per_s, ..Series::default() });
        }
        conclude(&mut record);
        record.verdicts.remove(0)
    }

    #[test]
    fn a_range_that_reads_faster_was_trimmed_unless_others_or_chance_slowed_it_before() {
        assert_eq!(judged([|_| 300.0, |_| 900.0], 0.0).outcome, Outcome::Yes);
        assert_eq!(judged([|_| 300.0, |_| 310.0], 0.0).outcome, Outcome::No);
        // Six readers beside it before, of a device that takes no notice of TRIMs.
        let others = judged([|_| 24.0, |_| 282.0], 0.974);
        assert_eq!(others.outcome, Outcome::Undetermined);
        let why = others.why.expect("it says why");
        assert!(why.contains("11.8 times as fast") && why.contains("interference"), "{why}");
        let chance = judged([|second| if second % 3 == 0 { 900.0 } else { 20.0 }, |_| 900.0], 0.0);
        assert_eq!(chance.outcome, Outcome::Undetermined, "{chance:?}");
    }
}
