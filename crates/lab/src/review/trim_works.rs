//! Does TRIM bring a tortured drive back? (AnandTech's TRIM validation, with its control.)
//!
//! Purge, fill, a pass of reads and one of writes over the LBAs (clean); 4 KiB random writes over all
//! of them at queue depth 32 for 30 minutes, the passes (tortured); the same torture again, a TRIM of
//! all, the passes (trimmed).
//!
//! The tortured passes are the control: a sequential pass heals a drive by itself, so without the
//! second torture the last pass would be fast on a drive that ignores TRIM. Both begin in a tortured
//! drive that was left alone for equally long, and they differ by the TRIM alone.

use fourcorners_record::note::finished;
use fourcorners_record::{ClockName, Figure, Job, Outcome, Record, Until, Verdict};
use fourcorners_run::trim::Range;

use super::difference::{left_open, scatter, taken};
use super::lba_pass::pass;
use super::{Medium, Phase, Scope};

pub(super) const METHOD: &str = "trim";

/// What a refused TRIM is noted as, by every method that trims.
pub(super) const REFUSED: &str = "trim-refused";
/// What is noted of a TRIM that was done, with its seconds.
pub(super) const TIME: &str = "trim-time";

const CLEAN: [&str; 2] = ["sequential_read_128k_qd1_clean", "sequential_write_128k_qd1_clean"];
const TORTURED: [&str; 2] =
    ["sequential_read_128k_qd1_tortured", "sequential_write_128k_qd1_tortured"];
const TRIMMED: [&str; 2] =
    ["sequential_read_128k_qd1_trimmed", "sequential_write_128k_qd1_trimmed"];

const TORTURE_SECONDS: u64 = 30 * 60;
const QUICK_TORTURE_SECONDS: u64 = 20;
/// From the end of a torture to the passes, so that what a drive collects in idle time is in both.
const REST_SECONDS: u64 = 120;
const QUICK_REST_SECONDS: u64 = 2;

/// A torture that leaves more than this part of the clean speed leaves nothing to restore.
const MARKED: f64 = 0.8;
/// From this part of the clean speed on, TRIM works.
pub(crate) const RECOVERED: f64 = 0.95;
/// Up to this part of what the torture took, TRIM gives nothing back.
pub(crate) const NOTHING: f64 = 0.1;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    if let Some(why) = not_trimmed(scope.medium) {
        return vec![Phase::LeftOut { why }];
    }
    let whole = scope.whole();
    let seconds = scope.either(TORTURE_SECONDS, QUICK_TORTURE_SECONDS);
    let torture = || Phase::Prepare {
        state: "tortured".into(),
        job: Job { until: Until::Seconds(seconds), ..scope.random(0, 32, whole, 0) },
    };
    let seconds = scope.either(REST_SECONDS, QUICK_REST_SECONDS);
    let passes = |[read, write]: [&str; 2]| [pass(scope, read, 100), pass(scope, write, 0)];
    let mut plan = vec![Phase::Purge, scope.fill("filled", whole)];
    plan.extend(passes(CLEAN));
    plan.extend([torture(), Phase::Rest { seconds }]);
    plan.extend(passes(TORTURED));
    plan.push(torture());
    plan.push(Phase::Trim { range: Range { start_bytes: 0, bytes: whole } });
    plan.push(Phase::Rest { seconds });
    plan.extend(passes(TRIMMED));
    // A TRIM that took longer was idle time to the drive: the control has to have as much of it.
    let mut again = vec![torture(), Phase::Rest { seconds }];
    again.extend(passes(TORTURED));
    plan.push(Phase::AfterLongTrim { seconds, again });
    plan
}

/// Why there is nothing to trim.
pub(super) fn not_trimmed(medium: Medium) -> Option<String> {
    match medium {
        Medium::Ssd | Medium::Device => None,
        Medium::HardDisk => Some("TRIM was left out: a hard disk has none.".into()),
        Medium::File => Some(
            "TRIM was left out: how fast a file with holes is depends on its file system.".into(),
        ),
    }
}

pub(super) fn conclude(record: &mut Record) {
    let rate = |name: &str| finished(record, name).map(|figure| Rate::of(record, name, figure));
    let refused = record.notes.iter().any(|note| note.about == REFUSED);
    let [clean, tortured, trimmed] = [CLEAN[1], TORTURED[1], TRIMMED[1]].map(rate);
    let judged = match (clean, tortured, trimmed) {
        _ if refused => (Outcome::No, None, Some("the TRIM was refused".into())),
        (Some(clean), Some(tortured), Some(trimmed)) => weigh([clean, tortured, trimmed]),
        // It was stopped, failed or left out, which the record says.
        _ => return,
    };
    let (outcome, value, why) = judged;
    let figures = [CLEAN[1], TORTURED[1], TRIMMED[1]].map(String::from).into();
    let verdict = Verdict {
        id: "trim-works".into(),
        claim: "TRIM restores a tortured drive to its clean speed".into(),
        outcome,
        figures,
        threshold: format!(
            "yes from {RECOVERED} of the clean rate on; no where at most {NOTHING} of the rate lost to the torture is recovered, or \
             where the TRIM is refused; partly between; undetermined where the tortured rate is over {MARKED} of \
             the clean one, or where the time lost to interference, or on a real drive the variation from second to second, \
             leaves more than one outcome open"
        ),
        control:
            "the tortured passes: the same torture and idle time without a TRIM, since a sequential \
                  pass alone restores some drives"
                .into(),
        value,
        why,
    };
    // A TRIM that takes effect later, or restores all in a longer rest, looks like that in seconds.
    let too_short = "a quick review is too short to tell a TRIM with a delayed effect from one with \
                     a partial effect or none";
    let open = record.quick && !refused;
    record.verdicts.push(match open {
        true => left_open(verdict, &[Outcome::No, Outcome::Partly], too_short),
        false => verdict,
    });
}

/// A write rate, the part of its pass's time that the machine took, and what its seconds leave open of it to either side.
#[derive(Clone, Copy)]
struct Rate {
    measured: f64,
    taken: f64,
    scatter: f64,
}

impl Rate {
    fn of(record: &Record, name: &str, figure: &Figure) -> Rate {
        // A virtual drive does the same whenever it is asked.
        let scatter = match record.clock {
            ClockName::Virtual => 0.0,
            ClockName::Wall => record.series.get(name).and_then(scatter).unwrap_or(1.0),
        };
        Rate { measured: figure.mb_per_s, taken: taken(figure), scatter }
    }

    /// What it would have been, had the machine taken nothing and the drive worked on for this part
    /// of what was taken, and at this end of what the seconds leave open.
    fn undisturbed(self, worked: f64, end: f64) -> f64 {
        let rate = self.measured * (1.0 - worked * self.taken) / (1.0 - self.taken);
        rate * (1.0 + end * self.scatter).max(0.0)
    }
}

/// Of the time that a machine takes, the part in which the drive works on: none, as when it waits for
/// the next read, or all, as when it empties its buffer. It is the same in passes of the same kind.
const WORKED: [f64; 2] = [0.0, 1.0];

type Judged = (Outcome, Option<f64>, Option<String>);

/// The outcome of three write rates, if what the machine took of their time, and what their seconds leave open, leave only one.
fn weigh(rates: [Rate; 3]) -> Judged {
    let at = |worked: f64, ends: [f64; 3]| {
        let [clean, tortured, trimmed] =
            [0, 1, 2].map(|which| rates[which].undisturbed(worked, ends[which]));
        judge(clean, tortured, trimmed)
    };
    let judged = WORKED.map(|worked| at(worked, [0.0; 3]));
    let [one, other] = [judged[0].0, judged[1].0];
    if one == other {
        let [judged, _] = judged;
        // Each rate as low or as high as it may be.
        let ends = (0..8).map(|bits| [1, 2, 4].map(|bit| if bits & bit == 0 { -1.0 } else { 1.0 }));
        let mut open = ends.flat_map(|ends| WORKED.map(|worked| at(worked, ends).0));
        return match open.find(|outcome| *outcome != one) {
            None => judged,
            Some(other) => {
                let why = format!(
                    "the seconds are too few or too unlike each other: {} and {} are open",
                    one.word(),
                    other.word()
                );
                (Outcome::Undetermined, None, Some(why))
            }
        };
    }
    let taken = rates.map(|rate| rate.taken).into_iter().fold(0.0, f64::max);
    let why = format!(
        "up to {:.0} % of a pass's time was lost to interference, which leaves {} and {} open",
        taken * 100.0,
        one.word(),
        other.word()
    );
    (Outcome::Undetermined, None, Some(why))
}

/// The outcome of three write rates, with what part of what the torture took the TRIM gave back.
fn judge(clean: f64, tortured: f64, trimmed: f64) -> Judged {
    if tortured > MARKED * clean {
        let why = format!(
            "the torture slowed writes too little: the tortured rate is {:.0} % of the clean rate",
            tortured / clean * 100.0
        );
        return (Outcome::Undetermined, None, Some(why));
    }
    let restored = (trimmed - tortured) / (clean - tortured);
    let outcome = match restored {
        _ if trimmed >= RECOVERED * clean => Outcome::Yes,
        ..=NOTHING => Outcome::No,
        _ => Outcome::Partly,
    };
    let why = match restored {
        ..=0.0 => "TRIM recovers none of the rate lost to the torture".to_string(),
        restored => {
            format!("TRIM recovers {:.0} % of the rate lost to the torture", restored * 100.0)
        }
    };
    (outcome, Some(restored), Some(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_took_is_given_back_or_left_open() {
        let rate = |measured: f64, taken: f64| Rate { measured, taken, scatter: 0.0 };
        let weighed = |taken, trimmed| weigh([rate(100.0, taken), rate(20.0, taken), trimmed]);
        assert_eq!(weighed(0.0, rate(90.0, 0.0)).0, Outcome::Partly);
        // The same of all three: whatever it did meanwhile, they stay as they are to each other.
        assert_eq!(weighed(0.3, rate(97.0, 0.3)).0, Outcome::Yes);
        // Of the last alone: it may have been as fast as the first, or not.
        let (outcome, _, why) = weighed(0.0, rate(90.0, 0.1));
        assert_eq!(outcome, Outcome::Undetermined);
        let open =
            "10 % of a pass's time was lost to interference, which leaves yes and partly open";
        assert!(why.as_ref().is_some_and(|why| why.contains(open)), "{why:?}");
    }

    #[test]
    fn what_the_seconds_leave_open_is_left_open() {
        let weighed = |[clean, tortured, trimmed]: [f64; 3], scatter: f64| {
            let rate = |measured: f64| Rate { measured, taken: 0.0, scatter };
            weigh([rate(clean), rate(tortured), rate(trimmed)])
        };
        // A loop device, whose seconds are from 49 to 3017 MB/s.
        assert_eq!(weighed([416.0, 263.0, 730.0], 0.0).0, Outcome::Yes);
        let (outcome, _, why) = weighed([416.0, 263.0, 730.0], 0.8);
        assert_eq!(outcome, Outcome::Undetermined);
        let varies = "the seconds are too few or too unlike each other: yes and ";
        assert!(why.as_ref().is_some_and(|why| why.starts_with(varies)), "{why:?}");
        // A drive that the torture halved and the TRIM brought back, and one that it did not.
        assert_eq!(weighed([500.0, 200.0, 520.0], 0.03).0, Outcome::Yes);
        assert_eq!(weighed([500.0, 200.0, 202.0], 0.03).0, Outcome::No);
        assert_eq!(weighed([500.0, 200.0, 350.0], 0.03).0, Outcome::Partly);
    }

    #[test]
    fn every_outcome_is_given_on_its_side_of_the_threshold() {
        for (clean, tortured, trimmed, expected) in [
            (100.0, 20.0, 95.0, Outcome::Yes),
            (100.0, 20.0, 110.0, Outcome::Yes),
            (100.0, 20.0, 94.9, Outcome::Partly),
            (100.0, 20.0, 28.1, Outcome::Partly),
            (100.0, 20.0, 28.0, Outcome::No),
            (100.0, 20.0, 20.0, Outcome::No),
            (100.0, 20.0, 10.0, Outcome::No),
            (100.0, 80.1, 100.0, Outcome::Undetermined),
            (100.0, 80.1, 50.0, Outcome::Undetermined),
            (100.0, 80.0, 100.0, Outcome::Yes),
        ] {
            let (outcome, value, why) = judge(clean, tortured, trimmed);
            assert_eq!(outcome, expected, "{clean} {tortured} {trimmed}");
            assert_eq!(value.is_none(), outcome == Outcome::Undetermined);
            assert!(why.is_some());
        }
    }
}
