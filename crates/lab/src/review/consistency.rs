//! Performance consistency (AnandTech): what happens second by second while a full drive is written
//! at random.
//!
//! Purge, fill all user LBAs in order (128 KiB, queue depth 32, incompressible), then 4 KiB random
//! writes over all of them at queue depth 32 for 2000 s. Once as the drive is sold, and once with
//! 25 % of its LBAs never written: spare area that the user gives. `--spare` asks for that share
//! alone, since it promises that the rest is left alone.

use fourcorners_record::note::{finished, note};
use fourcorners_record::{Note, Outcome, Record, Series, Steadiness, Verdict};
use fourcorners_words::{count, percent};

use super::difference::{left_open, taken};
use super::past::is_not_purged;
use super::{Phase, Scope};

pub(super) const METHOD: &str = "consistency";

const SECONDS: u64 = 2000;
/// The last part of it, where the charts look closer.
const LATE: usize = 1400;
const QUICK_SECONDS: u64 = 20;
const SPARE_PERCENT: f64 = 25.0;
const DEPTH: u32 = 32;
/// Seconds whose standard deviation is less than this part of their mean are steady.
const STEADY: f64 = 0.2;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let asked = scope.spare_percent;
    let no_spare = scope.without_flash("Consistency with spare area");
    let spares = match (asked > 0.0, &no_spare) {
        (true, _) => vec![asked],
        (false, Some(_)) => vec![0.0],
        (false, None) => vec![0.0, SPARE_PERCENT],
    };
    let mut phases: Vec<Phase> = no_spare.filter(|_| asked == 0.0).into_iter().collect();
    for spare in spares {
        // What a quick review fills is its whole drive, and the spare area is a part of that.
        let all = scope.whole() as f64 * (1.0 - (spare - asked) / 100.0);
        let span = super::scope::whole_blocks(all as u64);
        let seconds = scope.either(SECONDS, QUICK_SECONDS);
        phases.push(Phase::Purge);
        phases.push(scope.fill("filled", span));
        phases.push(scope.measure(name(spare), scope.random(0, DEPTH, span, seconds)));
    }
    if asked > 0.0 {
        phases.push(Phase::LeftOut {
            why: format!(
                "Consistency without spare area was left out: --spare {asked} leaves the spare area alone."
            ),
        });
    }
    phases
}

fn name(spare_percent: f64) -> String {
    match spare_percent {
        0.0 => "random_write_4k_qd32_incompressible_default".into(),
        percent => format!("random_write_4k_qd32_incompressible_spare{percent}"),
    }
}

/// Says how steady every finished series was: all of it, and the late part if it has one.
pub(super) fn conclude(record: &mut Record) {
    let names: Vec<String> = record.series.keys().cloned().collect();
    let mut notes = Vec::new();
    for name in names {
        let figure = finished(record, &name);
        let lost = figure.map_or(0.0, taken);
        let Some(all) = figure.and(record.series.get(&name)).map(Series::iops_of_seconds) else {
            continue;
        };
        let late = all.get(LATE..).filter(|late| late.len() > 1);
        let (Some(whole), late) = (Steadiness::of(&all), late.and_then(Steadiness::of)) else {
            continue;
        };
        // What was neither purged nor overwritten may still hold data: it is not spare area.
        let holds_data = spare_of(&name).is_some() && is_not_purged(record);
        notes.push(picture(&name, &all, (&whole, late.as_ref()), holds_data));
        let part = late.as_ref().unwrap_or(&whole);
        let verdict = steady(&name, part, late.is_some(), lost);
        let outcomes = [Outcome::Yes, Outcome::No];
        record.verdicts.push(match holds_data {
            true => left_open(
                verdict,
                &outcomes,
                "the drive was not purged, and its spare area may hold data",
            ),
            false => verdict,
        });
        record.steadiness.insert(name.clone(), whole);
        if let Some(late) = late {
            record.steadiness.insert(format!("{name}_from_{LATE}_s"), late);
        }
    }
    record.notes.extend(notes);
}

/// Whether the seconds are alike. What the machine took of the time makes them differ more, never
/// less, and not by more than all of it.
fn steady(name: &str, part: &Steadiness, late: bool, taken: f64) -> Verdict {
    let vary = || {
        let around = count(part.mean_iops);
        format!(
            "the standard deviation of the per-second rates is {} of their mean, {around} IOPS",
            percent(part.variation)
        )
    };
    let (outcome, why) = match part.variation {
        _ if !late => {
            let why = format!(
                "the test ended before {LATE} s and shows how the drive starts, not where it settles"
            );
            (Outcome::Undetermined, why)
        }
        variation if variation < STEADY => (Outcome::Yes, vary()),
        variation if variation - taken > STEADY => (Outcome::No, vary()),
        _ => (
            Outcome::Undetermined,
            format!("{}, and {} of the time was lost to interference", vary(), percent(taken)),
        ),
    };
    Verdict {
        id: match spare_of(name) {
            Some(spare) => format!("steady-random-write-spare{spare}"),
            None => "steady-random-write".into(),
        },
        claim: match spare_of(name) {
            Some(spare) => {
                format!("With {spare} % spare area, random writes run at a steady rate")
            }
            None => "Random writes to the full drive run at a steady rate".into(),
        },
        outcome,
        figures: vec![name.into()],
        threshold: format!(
            "yes where the standard deviation of the per-second rates from {LATE} s on is below {STEADY} of their mean, \
             no where it is above by more than the share of the time lost to interference"
        ),
        control: "the rate of each second, and the share of the time that was lost to interference"
            .into(),
        value: Some(part.variation),
        why: Some(why),
    }
}

/// What a figure's name says of its spare area.
fn spare_of(name: &str) -> Option<&str> {
    name.rsplit_once("_spare").map(|(_, percent)| percent)
}

/// What the picture shows, in a sentence or two.
fn picture(
    name: &str,
    iops: &[f64],
    (whole, late): (&Steadiness, Option<&Steadiness>),
    holds_data: bool,
) -> Note {
    let about = match spare_of(name) {
        Some(percent) if holds_data => format!(
            "With {percent} % of its LBAs left alone, which may hold data since it was not purged, the drive"
        ),
        Some(percent) => format!("With {percent} % spare area, the drive"),
        None => "At default spare area, the drive".into(),
    };
    // The first 10 seconds whose mean is below half of that of the first six.
    let begin = iops.iter().take(6).sum::<f64>() / iops.len().min(6) as f64;
    let falls = iops.windows(10).position(|part| part.iter().sum::<f64>() / 10.0 < begin / 2.0);
    let fall = match falls {
        Some(second) => {
            format!("starts at {} IOPS, drops below half of that after {second} s", count(begin))
        }
        None => {
            format!("starts at {} IOPS, averages at least half of that over any 10 s", count(begin))
        }
    };
    let part = late.unwrap_or(whole);
    let from = if late.is_some() { format!(" from {LATE} s on") } else { String::new() };
    let shape = match part.variation {
        ..0.05 => "is flat",
        ..0.2 if late.is_some() => "settles in a band",
        ..0.2 => "varies in a band",
        ..0.5 => "swings",
        _ => "fluctuates widely",
    };
    let text = format!(
        "{about} {fall}, and {shape}{from}: mean {} IOPS, standard deviation {} ({}), 1st percentile {}, \
         {} of the seconds below half of the mean.",
        count(part.mean_iops),
        count(part.deviation_iops),
        percent(part.variation),
        count(part.p1_iops),
        percent(part.share_below_half),
    );
    note("consistency", text, part.variation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_steady_unsteady_or_the_machine_leaves_it_open() {
        let judged = |iops: &[f64], taken| {
            let part = Steadiness::of(iops).expect("there is something");
            steady("random_write_4k_qd32_incompressible_default", &part, true, taken).outcome
        };
        let swings = [1000.0, 2000.0].repeat(50);
        assert_eq!(judged(&[1000.0; 100], 0.0), Outcome::Yes);
        assert_eq!(judged(&[1000.0; 100], 0.5), Outcome::Yes, "noise makes nothing steady");
        assert_eq!(judged(&swings, 0.0), Outcome::No);
        assert_eq!(judged(&swings, 0.3), Outcome::Undetermined);
        let early = Steadiness::of(&[1000.0; 100]).expect("there is something");
        assert_eq!(steady("early", &early, false, 0.0).outcome, Outcome::Undetermined);
    }

    #[test]
    fn the_sentence_says_what_the_picture_shows() {
        let text = |iops: &[f64]| {
            let whole = Steadiness::of(iops).expect("there is something");
            picture("random_write_4k_qd32_incompressible_spare25", iops, (&whole, None), false).text
        };
        let flat = text(&[50_000.0; 100]);
        assert!(
            flat.starts_with("With 25 % spare area, the drive starts at 50,000 IOPS, averages"),
            "{flat}"
        );
        assert!(
            flat.contains("is flat: mean 50,000")
                && flat.contains(", 0 % of the seconds below half"),
            "{flat}"
        );
        let mut falls = vec![50_000.0; 30];
        falls.extend([1000.0, 15_000.0].repeat(100));
        let falls = text(&falls);
        assert!(falls.contains("drops below half of that after 2"), "{falls}");
        assert!(falls.contains("fluctuates"), "{falls}");
    }
}
