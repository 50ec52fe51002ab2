//! TRIM under load: what a host that works sees of a large TRIM. Latency for ten seconds before it,
//! for ten that begin with it, and for ten after it: of 4 KiB reads one at a time, of 4 KiB writes one
//! at a time, and of 128 KiB reads and writes in turn, as a file that is copied makes them.
//!
//! Each time the drive is purged and filled anew, so that there is as much to forget.

use fourcorners_record::note::{finished, note};
use fourcorners_record::{Job, Latency, Outcome, Record, Until, Verdict};
use fourcorners_run::trim::Range;
use fourcorners_words::time;

use super::difference::taken;
use super::trim_works::{REFUSED, not_trimmed};
use super::{Phase, Scope};

pub(super) const METHOD: &str = "trim-under-load";

const SECONDS: u64 = 10;
const QUICK_SECONDS: u64 = 2;
/// A command that waits this much longer than without a TRIM is held up by it, microseconds.
pub(crate) const HELD_US: f64 = 10_000.0;
/// As long as this, times the longest without a TRIM, is no chance.
const TIMES: f64 = 3.0;

/// What runs beside the TRIM.
struct Foreground {
    /// How its figures' names begin.
    prefix: &'static str,
    /// Of its verdict.
    id: &'static str,
    /// One of its commands.
    command: &'static str,
    /// What a TRIM may delay.
    commands: &'static str,
}

const FOREGROUNDS: [Foreground; 3] = [
    Foreground {
        prefix: "random_read_4k_qd1",
        id: "trim-holds-up-reads",
        command: "4 KiB read",
        commands: "concurrent reads",
    },
    Foreground {
        prefix: "random_write_4k_qd1",
        id: "trim-holds-up-writes",
        command: "4 KiB write",
        commands: "concurrent writes",
    },
    Foreground {
        prefix: "sequential_mixed50_128k_qd1",
        id: "trim-holds-up-copy",
        command: "128 KiB read or write of a file copy",
        commands: "a concurrent copy",
    },
];

const WHEN: [&str; 3] = ["before", "during", "after"];

impl Foreground {
    fn figure(&self, when: &str) -> String {
        format!("{}_{when}_trim", self.prefix)
    }

    fn job(&self, scope: &Scope, span: u64) -> Job {
        let seconds = scope.either(SECONDS, QUICK_SECONDS);
        match self.prefix {
            "random_read_4k_qd1" => scope.random(100, 1, span, seconds),
            "random_write_4k_qd1" => scope.random(0, 1, span, seconds),
            _ => scope.sequential(50, 1, span, Until::Seconds(seconds)),
        }
    }
}

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    if let Some(why) = not_trimmed(scope.medium) {
        return vec![Phase::LeftOut { why }];
    }
    let whole = scope.whole();
    // The first half is worked on, the second is trimmed.
    let half = super::scope::whole_blocks(whole / 2);
    let range = Range { start_bytes: half, bytes: whole - half };
    let mut phases = Vec::new();
    for foreground in &FOREGROUNDS {
        phases.extend([Phase::Purge, scope.fill("filled", whole)]);
        phases.extend(WHEN.map(|when| {
            let figure = foreground.figure(when);
            let job = scope.seeded(&figure, foreground.job(scope, half));
            match when {
                "during" => Phase::BesideTrim { figure, job, range },
                _ => Phase::Measure { figure, job },
            }
        }));
    }
    phases
}

pub(super) fn conclude(record: &mut Record) {
    let refused = record.notes.iter().any(|note| note.about == REFUSED);
    for foreground in &FOREGROUNDS {
        let of = |when: &str| finished(record, &foreground.figure(when));
        let [Some(before), Some(during), Some(after)] = WHEN.map(of) else { continue };
        let lost_us = taken(during) * during.duration_s * 1e6;
        let [before, during, after] = [before, during, after].map(|it| it.latency_us);
        let words = |latency: Latency| {
            format!(
                "{} on average, {} at 99.9 % and {} at most",
                time(latency.mean),
                time(latency.p999),
                time(latency.max)
            )
        };
        let text = format!(
            "A {} takes {} before a large TRIM; {} in the time that begins with it; {} in the time after that.",
            foreground.command,
            words(before),
            words(during),
            words(after)
        );
        let longest = [before, during, after].map(|latency| latency.max);
        let (outcome, why) = judge(longest, lost_us, refused);
        if !refused {
            record.notes.push(note(METHOD, text, during.max / before.max));
        }
        record.verdicts.push(Verdict {
            id: foreground.id.into(),
            claim: format!("A large TRIM delays {}", foreground.commands),
            outcome,
            figures: WHEN.map(|when| foreground.figure(when)).into(),
            threshold: format!(
                "yes where the longest latency during the TRIM is at least {} and {TIMES} times the longest \
                 without it; no where it is less than {} longer than the shorter of the longest before and after, \
                 and both are shorter than that; else, or where that much was lost to interference, undetermined",
                time(HELD_US),
                time(HELD_US)
            ),
            control: "the same job before and after the TRIM, equally long".into(),
            value: Some(during.max / before.max.max(after.max)).filter(|times| times.is_finite()),
            why: Some(why),
        });
    }
}

/// The outcome of the longest latencies before, beside and after a TRIM, and of the time beside it that was lost to interference, all
/// in microseconds.
fn judge([before, during, after]: [f64; 3], lost: f64, refused: bool) -> (Outcome, String) {
    let without = before.max(after);
    let longest = format!("at most {} during the TRIM, {} without it", time(during), time(without));
    if refused {
        return (Outcome::Undetermined, "the TRIM was refused".into());
    }
    let is_held_up = |during: f64| during >= HELD_US && during >= TIMES * without;
    match during {
        // All that was lost may have been lost at once.
        during if is_held_up(during - lost) => (Outcome::Yes, longest),
        during if is_held_up(during) => {
            let why =
                format!("{longest}, and {} of that time were lost to interference", time(lost));
            (Outcome::Undetermined, why)
        }
        // Of what is as long without a TRIM nothing can be said: it may hide a shorter wait.
        during if during < HELD_US + before.min(after) && without < HELD_US => {
            (Outcome::No, longest)
        }
        _ => (
            Outcome::Undetermined,
            format!("{longest}: beside delays as long as those, its own cannot be told"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trim_holds_up_does_not_or_cannot_be_told() {
        let judged = |before, during, after| judge([before, during, after], 0.0, false).0;
        assert_eq!(judged(200.0, 600_000.0, 210.0), Outcome::Yes);
        assert_eq!(judged(200.0, 210.0, 200.0), Outcome::No);
        assert_eq!(judged(200.0, 9_000.0, 200.0), Outcome::No);
        // It waits as long for its own collection.
        assert_eq!(judged(400_000.0, 600_000.0, 300.0), Outcome::Undetermined);
        assert_eq!(judged(400_000.0, 500.0, 300.0), Outcome::Undetermined);
        assert_eq!(judge([200.0, 210.0, 200.0], 0.0, true).0, Outcome::Undetermined);
        // The program was stopped for three seconds, or waited for a processor for some milliseconds in all.
        let lost = |us: f64| judge([200.0, 3_000_000.0, 210.0], us, false).0;
        assert_eq!(lost(2_995_000.0), Outcome::Undetermined);
        assert_eq!(lost(8_000.0), Outcome::Yes);
        assert_eq!(judge([200.0, 210.0, 200.0], 8_000.0, false).0, Outcome::No);
    }
}
