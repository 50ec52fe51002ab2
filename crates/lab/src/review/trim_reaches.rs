//! Does TRIM reach the drive? Data is written, trimmed and read again, past all caches: what comes
//! back, what is still allocated, and how fast reading is tell whether anybody below listened.
//!
//! A discard that is accepted and changes neither content nor allocation nor speed is not passed on.
//!
//! An SSD reads the span in a second or two. Those are too few to be compared with each other, so that the latencies of its
//! thousands of I/Os are.

use fourcorners_linux::UringError;
use fourcorners_record::note::{finished, note};
use fourcorners_record::{ClockName, Figure, Note, Outcome, Record, Until, Verdict};
use fourcorners_run::trim::Range;
use fourcorners_words::time;

use super::difference::{LEAST_SECONDS, MOST_TAKEN, is_slower, left_open, taken, whole_seconds};
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
/// Two short reads of the same drive may differ by this factor, whatever their own latencies say: a second is one look at it.
const CHANCE: f64 = 1.1;
/// Fewer I/Os than this have no deciles worth comparing.
const LEAST_IOS: u64 = 1000;
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
    let most = forgotten(&record.notes).max_by(|a, b| a.1.total_cmp(&b.1));
    let (outcome, value, why) = if has(REFUSED) {
        (Outcome::No, None, "TRIM is refused".to_string())
    } else if has(NO_CONTROL) {
        let why = "not all of the written data was there before the TRIM";
        (Outcome::Undetermined, None, why.into())
    } else if let Some((seen, share)) = most {
        let outcome = if share >= ALL { Outcome::Yes } else { Outcome::Partly };
        (outcome, Some(share), said(seen, share))
    } else if let Some((outcome, why)) = by_speed(record, has(MAPPED) || has(CONTENT)) {
        (outcome, (outcome == Outcome::No).then_some(0.0), why)
    } else {
        return;
    };
    let by_latencies = match record.clock {
        ClockName::Virtual => String::new(),
        ClockName::Wall => format!(
            "; where a read took fewer than {LEAST_SECONDS} whole seconds, by the deciles of their latencies: yes where each was at least \
             {:.2} times as long before, no where each was less than {:.2} times as long",
            FASTER * CHANCE,
            FASTER / CHANCE
        ),
    };
    let verdict = Verdict {
        id: METHOD.into(),
        claim: "TRIM reaches the drive".into(),
        outcome,
        // Where a part was seen to be forgotten, no rate decided.
        figures: match most {
            Some(_) => Vec::new(),
            None => vec![WRITTEN.into(), TRIMMED.into()],
        },
        threshold: format!(
            "the share of the trimmed range that the drive has unmapped or the file system has freed, or of the \
             compared blocks that read back changed, at once or {REST_SECONDS} s later: yes from {ALL} on, partly from \
             {SOME} on; below, yes where the range reads at least {FASTER} times as fast as before, beyond what the seconds \
             and the time lost to interference leave open, and no where it does not and would not without that time{by_latencies}"
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

/// What the speed of the two reads says where nothing else of a TRIM was seen. None where one of them was not measured to its end; and,
/// unless the content or the map was `looked` at, none where the second is not faster.
fn by_speed(record: &Record, looked: bool) -> Option<(Outcome, String)> {
    let figures = [WRITTEN, TRIMMED];
    let [written, trimmed] = figures.map(|name| finished(record, name));
    let (written, trimmed) = (written?, trimmed?);
    let rates = is_slower(record, figures, 1.0 / FASTER, "the rate after the TRIM")?;
    let times = 1.0 / rates.ratio;
    let faster = format!("the trimmed range reads {times:.1} times as fast as before");
    let is_exact = record.clock == ClockName::Virtual;
    let (outcome, why) = match (whole_seconds(record, figures), rates.outcome) {
        (None, _) if !is_exact => by_latency(written, trimmed),
        (_, Outcome::Yes) => (Outcome::Yes, faster.clone()),
        (_, outcome) => (outcome, rates.why.unwrap_or_default()),
    };
    let denied = || (Outcome::No, "TRIM is accepted, and no effect of it was seen".to_string());
    Some(match outcome {
        Outcome::Yes => (Outcome::Yes, why),
        _ if times >= FASTER => {
            (Outcome::Undetermined, format!("{faster}, and nothing else of it was seen: {why}"))
        }
        _ if !looked => return None,
        // A virtual drive does the same whenever it is asked: only its machine can hide an effect.
        _ if is_exact => hidden(written, trimmed).unwrap_or_else(denied),
        Outcome::No => denied(),
        _ => {
            let why = format!("no other effect of it was seen, and the speed does not tell: {why}");
            (Outcome::Undetermined, why)
        }
    })
}

/// Whether reads that are too short to be compared second by second became faster, by the deciles of their latencies.
/// What slows some of the I/Os, as a drive does that is still busy with what was written, moves some deciles and not all.
fn by_latency(written: &Figure, trimmed: &Figure) -> (Outcome, String) {
    let taken = [taken(written), taken(trimmed)];
    let machine = taken[0].max(taken[1]);
    let ios = written.ios.min(trimmed.ios);
    if machine > MOST_TAKEN {
        let why = format!("{:.0} % of the time was lost to interference", machine * 100.0);
        return (Outcome::Undetermined, why);
    }
    if ios < LEAST_IOS {
        let why = format!("{ios} I/Os in fewer than {LEAST_SECONDS} whole seconds are too few");
        return (Outcome::Undetermined, why);
    }
    let (before, after) = (deciles(written), deciles(trimmed));
    let times = || before.iter().zip(after).map(|(before, after)| before / after.max(1.0));
    // Of each the machine may have taken its part, or none.
    let least = times().fold(f64::INFINITY, f64::min) * (1.0 - taken[0]);
    let most = times().fold(0.0, f64::max) / (1.0 - taken[1]);
    let medians = [before, after].map(|deciles| time(deciles[4] / 1e3));
    let medians = format!("the median read takes {}, {} before the TRIM", medians[1], medians[0]);
    if least >= FASTER * CHANCE {
        return (Outcome::Yes, medians);
    }
    if most < FASTER / CHANCE {
        return (Outcome::No, medians);
    }
    let lost = match machine {
        0.005.. => format!(", with {:.0} % of the time lost to interference", machine * 100.0),
        _ => String::new(),
    };
    let why =
        format!("{medians}, and the deciles are {least:.2} to {most:.2} times as short{lost}");
    (Outcome::Undetermined, why)
}

/// The nine latencies between the tenths of a figure's I/Os, nanoseconds.
fn deciles(figure: &Figure) -> [f64; 9] {
    let ios: u64 = figure.latency_bins_ns.iter().map(|(_, count)| count).sum();
    std::array::from_fn(|index| {
        let rank = ios * (index as u64 + 1) / 10;
        let mut below = 0;
        let bin = figure.latency_bins_ns.iter().find(|(_, count)| {
            below += count;
            below > rank
        });
        bin.map_or(0.0, |&(ns, _)| ns as f64)
    })
}

/// That the machine took so much of the read after the TRIM that without that the range could have been read so much faster as
/// to say that TRIM reaches the drive, if it did.
fn hidden(written: &Figure, trimmed: &Figure) -> Option<(Outcome, String)> {
    let taken = taken(trimmed);
    let why = || {
        format!(
            "no effect of it was seen, but {:.0} % of the time of the read after it was lost to interference: without that it could have \
             been {FASTER} times as fast as before",
            taken * 100.0
        )
    };
    let is_hidden = trimmed.mb_per_s / (1.0 - taken) >= FASTER * written.mb_per_s;
    is_hidden.then(|| (Outcome::Undetermined, why()))
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
    use std::collections::BTreeMap;

    use fourcorners_record::{ClockName, Figure, Noise, Series, TargetInfo, TargetKind};

    use super::super::figure;
    use super::*;

    /// A device whose content is as written after the TRIM.
    fn device() -> Record {
        let target = TargetInfo::new("a".into(), TargetKind::Device, 1 << 30, 512);
        let mut record = Record::begun(target, ClockName::Wall, METHOD, 1, None);
        let text = "The first 4194304 bytes of the trimmed range read back as written.";
        record.notes.push(note(CONTENT, text.into(), 0.0));
        record
    }

    fn noise(others: f64) -> Option<Noise> {
        Some(Noise {
            cpu_wait_share: 0.0,
            cpu_steal_share: 0.0,
            load: 1.0,
            other_io_share: Some(others),
            stopped_share: 0.0,
        })
    }

    /// The verdict of a device whose content is as written, from the rates of ten seconds before the TRIM and after it, and
    /// the shares of others in what it moved before it and after it.
    fn judged(rates: [fn(usize) -> f64; 2], others: [f64; 2]) -> Verdict {
        let mut record = device();
        for ((name, rate), others) in [WRITTEN, TRIMMED].into_iter().zip(rates).zip(others) {
            let mb_per_s: Vec<f64> = (0..10).map(rate).collect();
            let mean = mb_per_s.iter().sum::<f64>() / 10.0;
            let figure = Figure { mb_per_s: mean, noise: noise(others), ..figure::example() };
            record.figures.insert(name.into(), figure);
            record.series.insert(name.into(), Series { mb_per_s, ..Series::default() });
        }
        conclude(&mut record);
        record.verdicts.remove(0)
    }

    /// A read of the plan's span, from the latency of each I/O in microseconds.
    struct Read {
        latency_us: fn(u64) -> u64,
        ios: u64,
        others: f64,
    }

    impl Read {
        /// As the plan has it: 1 GB by 128 KiB.
        fn of(latency_us: fn(u64) -> u64) -> Read {
            Read { latency_us, ios: SPAN_BYTES / 131_072, others: 0.0 }
        }

        fn insert(&self, name: &str, record: &mut Record) {
            let (mut bins, mut mb_per_s, mut us) = (BTreeMap::new(), vec![0.0], 0);
            for latency in (0..self.ios).map(self.latency_us) {
                *bins.entry(latency * 1000).or_insert(0) += 1;
                us += latency;
                mb_per_s.resize(us as usize / 1_000_000 + 1, 0.0);
                *mb_per_s.last_mut().expect("one at least") += 0.131_072;
            }
            // Of the last second there is a part.
            mb_per_s.pop();
            let figure = Figure {
                mb_per_s: self.ios as f64 * 131_072.0 / us as f64,
                ios: self.ios,
                duration_s: us as f64 / 1e6,
                latency_bins_ns: bins.into_iter().collect(),
                noise: noise(self.others),
                ..figure::example()
            };
            record.figures.insert(name.into(), figure);
            record.series.insert(name.into(), Series { mb_per_s, ..Series::default() });
        }
    }

    /// The verdict of a device whose content is as written, from a read before the TRIM and one after it.
    fn of_reads(written: Read, trimmed: Read) -> Verdict {
        let mut record = device();
        written.insert(WRITTEN, &mut record);
        trimmed.insert(TRIMMED, &mut record);
        conclude(&mut record);
        record.verdicts.remove(0)
    }

    #[test]
    fn a_range_that_reads_faster_was_trimmed_unless_others_or_chance_slowed_it_before() {
        assert_eq!(judged([|_| 300.0, |_| 900.0], [0.0; 2]).outcome, Outcome::Yes);
        assert_eq!(judged([|_| 300.0, |_| 310.0], [0.0; 2]).outcome, Outcome::No);
        // Six readers beside it before, of a device that takes no notice of TRIMs.
        let others = judged([|_| 24.0, |_| 282.0], [0.974, 0.0]);
        assert_eq!(others.outcome, Outcome::Undetermined);
        let why = others.why.expect("it says why");
        assert!(why.contains("11.8 times as fast") && why.contains("interference"), "{why}");
        let chance =
            judged([|second| if second % 3 == 0 { 900.0 } else { 20.0 }, |_| 900.0], [0.0; 2]);
        assert_eq!(chance.outcome, Outcome::Undetermined, "{chance:?}");
    }

    #[test]
    fn others_beside_the_read_after_it_may_have_hidden_an_effect_and_a_few_have_not() {
        let many = judged([|_| 300.0, |_| 150.0], [0.0, 0.7]);
        assert_eq!(many.outcome, Outcome::Undetermined);
        assert!(many.why.expect("it says why").contains("70 % of the time"));
        assert_eq!(judged([|_| 300.0, |_| 280.0], [0.0, 0.1]).outcome, Outcome::No);
    }

    #[test]
    fn seconds_that_vary_leave_open_what_even_seconds_deny() {
        let even = judged([|_| 300.0, |_| 420.0], [0.0; 2]);
        assert_eq!((even.outcome, even.value), (Outcome::No, Some(0.0)), "{even:?}");
        let varied =
            judged([|_| 300.0, |second| [120.0, 720.0][usize::from(second % 2 == 0)]], [0.0; 2]);
        assert_eq!((varied.outcome, varied.value), (Outcome::Undetermined, None), "{varied:?}");
        let why = varied.why.expect("it says why");
        assert!(why.contains("no other effect") && why.contains("variation"), "{why}");
    }

    /// An SSD at 500 MB/s reads the span of the plan in 2 s, which is too few seconds to compare.
    #[test]
    fn reads_of_a_second_or_two_are_told_apart_by_their_latencies() {
        let flash = |io: u64| 240 + io * 7 % 40;
        let nothing = |io: u64| 60 + io * 7 % 10;
        let faster = of_reads(Read::of(flash), Read::of(nothing));
        assert_eq!(faster.outcome, Outcome::Yes, "{faster:?}");
        assert!(faster.why.expect("it says why").contains("before the TRIM"));
        let as_fast = of_reads(Read::of(flash), Read::of(flash));
        assert_eq!((as_fast.outcome, as_fast.value), (Outcome::No, Some(0.0)), "{as_fast:?}");
        assert_eq!(of_reads(Read::of(nothing), Read::of(flash)).outcome, Outcome::No);
        // Where reads ahead answer some at once, they do in both.
        let ahead = |io: u64| if io.is_multiple_of(3) { 400 } else { 50 };
        assert_eq!(of_reads(Read::of(ahead), Read::of(ahead)).outcome, Outcome::No);
        // A drive that is not yet done with what was written is slower for a part of the first read.
        let busy = |io: u64| if io < 4000 { 900 } else { 240 };
        let busy = of_reads(Read::of(busy), Read::of(flash));
        assert_eq!(busy.outcome, Outcome::Undetermined, "{busy:?}");
        // At the threshold the next read may be on the other side of it.
        let near = of_reads(Read::of(|_| 302), Read::of(|_| 200));
        assert_eq!(near.outcome, Outcome::Undetermined, "{near:?}");
        let near = of_reads(Read::of(|_| 298), Read::of(|_| 200));
        assert_eq!(near.outcome, Outcome::Undetermined, "{near:?}");
    }

    #[test]
    fn latencies_decide_only_of_many_reads_that_were_not_disturbed() {
        let [flash, nothing]: [fn(u64) -> u64; 2] = [|_| 240, |_| 60];
        let few = of_reads(Read { ios: 999, ..Read::of(flash) }, Read::of(nothing));
        assert_eq!(few.outcome, Outcome::Undetermined);
        assert!(few.why.is_some_and(|why| why.contains("999")));
        let others = |written, trimmed| {
            let written = Read { others: written, ..Read::of(flash) };
            of_reads(written, Read { others: trimmed, ..Read::of(nothing) }).outcome
        };
        assert_eq!(others(0.1, 0.1), Outcome::Yes);
        assert_eq!(others(0.7, 0.0), Outcome::Undetermined, "others may have slowed the first");
        let denied = |trimmed| {
            let trimmed = Read { others: trimmed, ..Read::of(flash) };
            of_reads(Read::of(flash), trimmed).outcome
        };
        assert_eq!(denied(0.1), Outcome::No);
        assert_eq!(denied(0.4), Outcome::Undetermined, "others may have slowed the second");
        // A virtual drive's map has decided, and its clock is exact: nothing of it is by latencies.
        let mut record = device();
        record.clock = ClockName::Virtual;
        Read::of(flash).insert(WRITTEN, &mut record);
        Read::of(nothing).insert(TRIMMED, &mut record);
        conclude(&mut record);
        assert_eq!(record.verdicts[0].outcome, Outcome::Undetermined);
    }

    #[test]
    fn without_both_reads_only_an_effect_that_was_seen_or_a_refusal_decides() {
        let stopped = |about: &str, value: f64, clock: ClockName| {
            let mut record = device();
            record.clock = clock;
            record.notes = vec![note(about, "It was seen.".into(), value)];
            Read::of(|_| 240).insert(WRITTEN, &mut record);
            // Stopped with Ctrl-C.
            Read::of(|_| 240).insert(TRIMMED, &mut record);
            record.figures.get_mut(TRIMMED).expect("it is there").complete = false;
            conclude(&mut record);
            record.verdicts.first().map(|verdict| verdict.outcome)
        };
        assert_eq!(stopped(CONTENT, 0.0, ClockName::Wall), None);
        assert_eq!(stopped(MAPPED, 1.0, ClockName::Virtual), None);
        assert_eq!(stopped(CONTENT, 1.0, ClockName::Wall), Some(Outcome::Yes));
        assert_eq!(stopped(ALLOCATION, 0.5, ClockName::Wall), Some(Outcome::Partly));
        assert_eq!(stopped(MAPPED, 0.0, ClockName::Virtual), Some(Outcome::Yes));
        assert_eq!(stopped(REFUSED, 0.0, ClockName::Wall), Some(Outcome::No));
    }

    #[test]
    fn the_map_of_a_virtual_drive_denies_it_once_both_reads_were_made() {
        let mut record = device();
        record.clock = ClockName::Virtual;
        record.notes = vec![note(MAPPED, "It still maps all of it.".into(), 1.0)];
        Read::of(|_| 240).insert(WRITTEN, &mut record);
        Read::of(|_| 165).insert(TRIMMED, &mut record);
        conclude(&mut record);
        let verdict = &record.verdicts[0];
        assert_eq!((verdict.outcome, verdict.value), (Outcome::No, Some(0.0)), "{verdict:?}");
        // Its records stay as they are, the words of the threshold with them.
        assert!(verdict.threshold.ends_with("and would not without that time"));
        assert!(verdict.words(&record).contains("MB/s"));
        // Where the map says that it forgot, no rate stands beside that as if it had decided.
        record.notes = vec![note(MAPPED, "It maps nothing of it.".into(), 0.0)];
        conclude(&mut record);
        let verdict = &record.verdicts[1];
        assert_eq!((verdict.outcome, verdict.figures.len()), (Outcome::Yes, 0), "{verdict:?}");
        assert!(!verdict.words(&record).contains("MB/s"));
    }
}
