//! Does TRIM reach the drive? Data is written, trimmed and read again, past all caches: what comes
//! back, what is still allocated, and how fast reading is tell whether anybody below listened.
//!
//! A discard that is accepted and changes neither content nor allocation nor speed is not passed on.

use fourcorners_record::note::finished;
use fourcorners_record::{Note, Outcome, Record, Until, Verdict};
use fourcorners_run::trim::Range;

use super::trim_works::{REFUSED, not_trimmed};
use super::{Medium, Phase, Scope};
use crate::drive::Drive;

pub(super) const METHOD: &str = "trim-reaches";

const WRITTEN: &str = "sequential_read_128k_qd1_written";
const TRIMMED: &str = "sequential_read_128k_qd1_trimmed";
const SPAN_BYTES: u64 = 1_000_000_000;
/// What is compared byte by byte, at the beginning of the span.
const COMPARED_BYTES: usize = 4 << 20;
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

/// What a TRIM did to what is stored: findings, each with a number.
///
/// # Errors
/// When a real drive could not write or read what is compared.
pub(super) fn probe(drive: &mut Drive, range: Range, seed: u64) -> Result<Vec<Note>, String> {
    let said = |about: &str, text: String, value: f64| Note {
        about: about.into(),
        text,
        value: Some(value),
    };
    let length = COMPARED_BYTES.min(range.bytes as usize) / 4096 * 4096;
    let pattern = pattern(seed, length);
    let mut allocated_before = None;
    if let Drive::Real(uring) = drive {
        uring.store(range.start_bytes, &pattern).map_err(words)?;
        if uring.stored(range.start_bytes, length).map_err(words)? != pattern {
            let text = "What was written did not come back even before the TRIM.".to_string();
            return Ok(vec![said(NO_CONTROL, text, 0.0)]);
        }
        allocated_before = uring.allocated_bytes().map_err(words)?;
    }
    if let Some(mapped) = drive.mapped_share(range, SAMPLES).filter(|mapped| *mapped < 1.0) {
        let text = format!("Even before the TRIM the drive mapped {:.0} % only.", mapped * 100.0);
        return Ok(vec![said(NO_CONTROL, text, mapped)]);
    }
    if let Err(fault) = drive.trim(range) {
        return Ok(vec![said(REFUSED, format!("The TRIM was refused: {fault}."), 0.0)]);
    }
    let mut found = Vec::new();
    if let Some(mapped) = drive.mapped_share(range, SAMPLES) {
        let text = format!("Of what was trimmed the drive still maps {:.0} %.", mapped * 100.0);
        found.push(said("trim-mapped", text, mapped));
    }
    if let Drive::Real(uring) = drive {
        uring.sync().map_err(words)?;
        let now = uring.stored(range.start_bytes, length).map_err(words)?;
        let allocated = uring.allocated_bytes().map_err(words)?;
        let old = now.iter().zip(&pattern).filter(|(now, old)| now == old).count() as f64;
        let zeroes = now.iter().filter(|&&byte| byte == 0).count() as f64;
        // Random bytes are equal to old ones, and zero, once in 256 times.
        let (text, zeroes) = match (old / length as f64, zeroes / length as f64) {
            (_, 1.0) => ("zeroes, as a drive that forgot it answers", 1.0),
            (1.0, zeroes) => ("what was written", zeroes),
            (_, zeroes) => ("neither what was written nor zeroes", zeroes),
        };
        let text = format!("Read again, the first {} bytes of it are {text}.", length);
        let value = if old == length as f64 { 0.0 } else { zeroes.max(0.5) };
        found.push(said("trim-content", text, value));
        if let (Some(before), Some(after)) = (allocated_before, allocated) {
            let freed = before.saturating_sub(after) as f64 / range.bytes as f64;
            let text = format!(
                "Its file takes {:.1} MB on its file system, {:.1} before the TRIM.",
                after as f64 / 1e6,
                before as f64 / 1e6
            );
            found.push(said("trim-allocation", text, freed));
        }
    }
    Ok(found)
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Bytes that nobody else writes: SplitMix64 of the seed.
fn pattern(seed: u64, length: usize) -> Vec<u8> {
    let word = |index: u64| {
        let mut z = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..length as u64 / 8).flat_map(|index| word(index).to_le_bytes()).collect()
}

pub(super) fn conclude(record: &mut Record) {
    let value = |about: &str| {
        record.notes.iter().find(|note| note.about == about).and_then(|note| note.value)
    };
    let speed = finished(record, WRITTEN).zip(finished(record, TRIMMED));
    let faster = speed.map(|(written, trimmed)| trimmed.mb_per_s / written.mb_per_s);
    let content = value("trim-content");
    let mapped = value("trim-mapped");
    let sign = [
        ("the drive maps it no more", mapped.is_some_and(|mapped| mapped < 0.5)),
        ("its content is gone", content.is_some_and(|content| content > 0.0)),
        ("its space is freed", value("trim-allocation").is_some_and(|freed| freed > 0.5)),
        ("it is read faster than what is stored", faster.is_some_and(|faster| faster >= FASTER)),
    ];
    let sign = sign.into_iter().find_map(|(sign, seen)| seen.then_some(sign));
    let (outcome, why) = match sign {
        _ if value(REFUSED).is_some() => (Outcome::No, "the drive takes none"),
        _ if value(NO_CONTROL).is_some() => {
            (Outcome::Undetermined, "what was written was not there even before the TRIM")
        }
        Some(sign) => (Outcome::Yes, sign),
        None if content.is_some() || mapped.is_some() => {
            (Outcome::No, "it is accepted and changes neither content nor speed")
        }
        None => return,
    };
    record.verdicts.push(Verdict {
        id: METHOD.into(),
        claim: "TRIM reaches the drive".into(),
        outcome,
        figures: vec![WRITTEN.into(), TRIMMED.into()],
        threshold: format!(
            "yes where less than half is mapped, content is not what was written, more than half of the \
             space is freed, or it is read {FASTER} times as fast; no where none of these is so"
        ),
        control: "the same content, map and speed before the TRIM: what was written has to be there"
            .into(),
        value: None,
        why: Some(why.into()),
    });
}
