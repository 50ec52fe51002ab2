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
use fourcorners_record::{ClockName, Job, Outcome, Record, Until, Verdict};
use fourcorners_run::trim::Range;

use super::difference::{LEAST_SECONDS, left_open, open, taken, whole_seconds};
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
/// A drive that is this much faster than when it was clean was not clean then, or others slowed it.
const MOST_OVER: f64 = 1.25;
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
    let rate = |name: &str| {
        finished(record, name).map(|it| Rate { measured: it.mb_per_s, taken: taken(it) })
    };
    let refused = record.notes.iter().any(|note| note.about == REFUSED);
    let [clean, tortured, trimmed] = [CLEAN[1], TORTURED[1], TRIMMED[1]].map(rate);
    let judged = match (clean, tortured, trimmed) {
        _ if refused => (Outcome::No, None, Some("the TRIM was refused".into())),
        (Some(clean), Some(tortured), Some(trimmed)) => {
            let judged = weigh([clean, tortured, trimmed], Open::of(record));
            against_a_clean(judged, clean.measured, trimmed.measured)
        }
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
             leaves more than one outcome open, or the trimmed rate is over {MOST_OVER} times the clean one"
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

/// A write rate, and the part of its pass's time that the machine took.
#[derive(Clone, Copy)]
struct Rate {
    measured: f64,
    taken: f64,
}

impl Rate {
    /// What it would have been, had the machine taken nothing and the drive worked on for this part
    /// of what was taken.
    fn undisturbed(self, worked: f64) -> f64 {
        self.measured * (1.0 - worked * self.taken) / (1.0 - self.taken)
    }
}

/// Between which parts of them the ratios of the passes' rates are left open.
#[derive(Clone, Copy, PartialEq)]
struct Open {
    /// The tortured rate over the clean one.
    tortured: [f64; 2],
    /// The trimmed rate over the clean one.
    trimmed: [f64; 2],
    /// The trimmed rate over the tortured one.
    gained: [f64; 2],
}

impl Open {
    const NOTHING: Open = Open { tortured: [1.0; 2], trimmed: [1.0; 2], gained: [1.0; 2] };

    /// What the passes leave open, held against each other place by place: a buffer that fills slows all of them at the same place, and
    /// that is no chance. None if a pass took fewer than four whole seconds.
    fn of(record: &Record) -> Option<Open> {
        // A virtual drive does the same whenever it is asked.
        if record.clock == ClockName::Virtual {
            return Some(Open::NOTHING);
        }
        let names = [CLEAN[1], TORTURED[1], TRIMMED[1]];
        let seconds = whole_seconds(record, names)?;
        let [clean, tortured, trimmed] = names.map(|name| times(record, name, seconds));
        let (clean, tortured, trimmed) = (clean?, tortured?, trimmed?);
        // Rates are to each other as the times of the other pass.
        Some(Open {
            tortured: open(&clean, &tortured)?,
            trimmed: open(&clean, &trimmed)?,
            gained: open(&tortured, &trimmed)?,
        })
    }
}

/// The times a MB takes along a pass, microseconds. Pieces that a pass wrote in less than a second are taken together: a disturbance
/// that outlasts them would look like many.
fn times(record: &Record, name: &str, seconds: usize) -> Option<Vec<f64>> {
    let points = &record.curves.get(name)?.points;
    let times: Vec<f64> = points.iter().map(|(_, rate)| 1e6 / rate).collect();
    let together = times.len().div_ceil(seconds).max(1);
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    Some(times.chunks(together).map(mean).collect())
}

/// Of the time that a machine takes, the part in which the drive works on: none, as when it waits for
/// the next read, or all, as when it empties its buffer. It is the same in passes of the same kind.
const WORKED: [f64; 2] = [0.0, 1.0];

type Judged = (Outcome, Option<f64>, Option<String>);

/// A yes, left open where the clean rate was none to hold the trimmed one against.
fn against_a_clean(judged: Judged, clean: f64, trimmed: f64) -> Judged {
    match judged.0 == Outcome::Yes && trimmed > MOST_OVER * clean {
        false => judged,
        true => {
            let why = format!(
                "the trimmed drive writes at {:.0} % of the clean rate, so that one was not the drive's clean speed",
                trimmed / clean * 100.0
            );
            (Outcome::Undetermined, None, Some(why))
        }
    }
}

/// The outcome of three write rates, if what the machine took of their time, and what their seconds leave open, leave only one.
fn weigh(rates: [Rate; 3], open: Option<Open>) -> Judged {
    let undisturbed = |worked: f64| rates.map(|rate| rate.undisturbed(worked));
    let judged = WORKED.map(|worked| {
        let [clean, tortured, trimmed] = undisturbed(worked);
        judge(clean, tortured, trimmed)
    });
    let undetermined = |why: String| (Outcome::Undetermined, None, Some(why));
    let [one, other] = [judged[0].0, judged[1].0];
    if one != other {
        let taken = rates.map(|rate| rate.taken).into_iter().fold(0.0, f64::max);
        return undetermined(format!(
            "up to {:.0} % of a pass's time was lost to interference, which leaves {}",
            taken * 100.0,
            left(one, other)
        ));
    }
    let [judged, _] = judged;
    // What it lacks is a mark of the torture, whatever else is open.
    if one == Outcome::Undetermined {
        return judged;
    }
    let Some(open) = open else {
        return undetermined(format!("a pass took fewer than {LEAST_SECONDS} whole seconds"));
    };
    // Not even what rounding would make of a ratio.
    if open == Open::NOTHING {
        return judged;
    }
    match WORKED.into_iter().find_map(|worked| other_than(one, undisturbed(worked), open)) {
        None => judged,
        Some(other) => {
            let left = left(one, other);
            undetermined(format!("the seconds are too unlike each other, which leaves {left}"))
        }
    }
}

/// What two outcomes that are both possible leave, in words.
fn left(one: Outcome, other: Outcome) -> String {
    match [one, other].contains(&Outcome::Undetermined) {
        true => "open whether the torture slowed writes enough".into(),
        false => format!("{} and {} open", one.word(), other.word()),
    }
}

/// An outcome besides this one that is possible within what is open of three rates.
fn other_than(one: Outcome, [clean, tortured, trimmed]: [f64; 3], open: Open) -> Option<Outcome> {
    let ends = |[least, most]: [f64; 2], ratio: f64| [ratio * least, ratio * most];
    let (tortured, trimmed, gained) = (
        ends(open.tortured, tortured / clean),
        ends(open.trimmed, trimmed / clean),
        ends(open.gained, trimmed / tortured),
    );
    // Whether TRIM gave anything back is known best beside the tortured pass, and whether all beside the clean one: what is possible
    // is what both allow.
    let corners = |ends: [f64; 2], rate: fn(f64, f64) -> f64| {
        let of = |tortured: f64| ends.map(|end| judge(1.0, tortured, rate(tortured, end)).0);
        tortured.map(of).concat()
    };
    let ways = [
        corners(trimmed, |_, trimmed| trimmed),
        corners(gained, |tortured, gained| tortured * gained),
    ];
    let is_possible = |outcome: Outcome| {
        ways.iter().all(|corners| {
            let has = |outcome: Outcome| corners.contains(&outcome);
            let between = has(Outcome::Yes) && has(Outcome::No);
            has(outcome) || (outcome == Outcome::Partly && between)
        })
    };
    let all = [Outcome::Undetermined, Outcome::Partly, Outcome::Yes, Outcome::No];
    all.into_iter().find(|outcome| *outcome != one && is_possible(*outcome))
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
    use fourcorners_record::{Curve, Figure, Series, TargetInfo, TargetKind};

    use super::super::figure;
    use super::*;

    #[test]
    fn what_the_machine_took_is_given_back_or_left_open() {
        let rate = |measured: f64, taken: f64| Rate { measured, taken };
        let weighed = |taken, trimmed| {
            weigh([rate(100.0, taken), rate(20.0, taken), trimmed], Some(Open::NOTHING))
        };
        assert_eq!(weighed(0.0, rate(90.0, 0.0)).0, Outcome::Partly);
        // The same of all three: whatever it did meanwhile, they stay as they are to each other.
        assert_eq!(weighed(0.3, rate(97.0, 0.3)).0, Outcome::Yes);
        // Of the last alone: it may have been as fast as the first, or not.
        let (outcome, _, why) = weighed(0.0, rate(90.0, 0.1));
        assert_eq!(outcome, Outcome::Undetermined);
        let open =
            "10 % of a pass's time was lost to interference, which leaves yes and partly open";
        assert!(why.as_ref().is_some_and(|why| why.contains(open)), "{why:?}");
        // Of the tortured one alone: it may not have been slow.
        let rates = [rate(100.0, 0.0), rate(75.0, 0.1), rate(100.0, 0.0)];
        let (outcome, _, why) = weigh(rates, Some(Open::NOTHING));
        assert_eq!(outcome, Outcome::Undetermined);
        let open = "interference, which leaves open whether the torture slowed writes enough";
        assert!(why.as_ref().is_some_and(|why| why.contains(open)), "{why:?}");
    }

    #[test]
    fn what_the_seconds_leave_open_is_left_open() {
        let weighed = |rates: [f64; 3], scatter: f64| {
            let ends = [1.0 - scatter, 1.0 + scatter];
            let open = Open { tortured: ends, trimmed: ends, gained: ends };
            weigh(rates.map(|measured| Rate { measured, taken: 0.0 }), Some(open))
        };
        // A loop device, whose seconds are from 49 to 3017 MB/s.
        assert_eq!(weighed([416.0, 263.0, 730.0], 0.0).0, Outcome::Yes);
        let (outcome, _, why) = weighed([416.0, 263.0, 730.0], 0.8);
        assert_eq!(outcome, Outcome::Undetermined);
        // The torture may not even have slowed it.
        let varies =
            "the seconds are too unlike each other, which leaves open whether the torture ";
        assert!(why.as_ref().is_some_and(|why| why.starts_with(varies)), "{why:?}");
        let (_, _, why) = weighed([416.0, 63.0, 380.0], 0.3);
        let varies = "the seconds are too unlike each other, which leaves partly and yes open";
        assert!(why.as_ref().is_some_and(|why| why.starts_with(varies)), "{why:?}");
        // A drive that the torture halved and the TRIM brought back, and one that it did not.
        assert_eq!(weighed([500.0, 200.0, 520.0], 0.03).0, Outcome::Yes);
        assert_eq!(weighed([500.0, 200.0, 202.0], 0.03).0, Outcome::No);
        assert_eq!(weighed([500.0, 200.0, 350.0], 0.03).0, Outcome::Partly);
    }

    /// Adds a pass over `mb` to the record of a device. `rate` gives MB/s from the second and the MB written so far.
    fn pass_of(record: &mut Record, name: &str, mb: f64, rate: impl Fn(usize, f64) -> f64) {
        const STEPS: usize = 16;
        let (mut done, mut seconds, mut marks) = (0.0, vec![0.0], Vec::new());
        let mut step = 0;
        while marks.len() < 200 {
            let moved = rate(step / STEPS, done) / STEPS as f64;
            *seconds.last_mut().expect("one at least") += moved;
            while marks.len() < 200 && done + moved >= mb / 200.0 * (marks.len() + 1) as f64 {
                let part = (mb / 200.0 * (marks.len() + 1) as f64 - done) / moved;
                marks.push((step as f64 + part) / STEPS as f64);
            }
            (done, step) = (done + moved, step + 1);
            if step.is_multiple_of(STEPS) {
                seconds.push(0.0);
            }
        }
        // Of the last second there is a part.
        seconds.pop();
        let mut before = 0.0;
        let points = marks.iter().enumerate().map(|(index, &mark)| {
            let took = mark - before;
            before = mark;
            (index as f64 + 0.5, mb / 200.0 / took)
        });
        let points = points.collect();
        let mb_per_s = mb / before;
        record.curves.insert(name.into(), Curve { x: "GB".into(), y: "MB/s".into(), points });
        record.series.insert(name.into(), Series { mb_per_s: seconds, ..Series::default() });
        record.figures.insert(name.into(), Figure { mb_per_s, ..figure::example() });
    }

    type Pass<'a> = &'a dyn Fn(usize, f64) -> f64;

    /// The verdict of a device, from the rates of its write passes over `mb`.
    fn concluded(mb: f64, passes: [Pass<'_>; 3]) -> Verdict {
        let target = TargetInfo::new("a".into(), TargetKind::Device, 1 << 30, 512);
        let mut record = Record::begun(target, ClockName::Wall, METHOD, 1, None);
        for (name, rate) in [CLEAN[1], TORTURED[1], TRIMMED[1]].into_iter().zip(passes) {
            pass_of(&mut record, name, mb, rate);
        }
        conclude(&mut record);
        record.verdicts.remove(0)
    }

    /// A number from 0 to 1 for a second of a pass: that of SplitMix64.
    fn uniform(pass: u64, second: usize) -> f64 {
        let state = pass * 1_000_003 + second as u64 + 1;
        let mut z = state.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }

    /// White noise around 1, of this standard deviation.
    fn around(deviation: f64, pass: u64, second: usize) -> f64 {
        let sum: f64 = (0..12).map(|index| uniform(pass * 12 + index, second)).sum();
        1.0 + deviation * (sum - 6.0)
    }

    #[test]
    fn what_all_passes_do_at_the_same_place_is_no_chance() {
        // A buffer takes the first 120 GB, and is full from there on.
        let buffered = |fast: f64, slow: f64| move |_, done| if done < 120e3 { fast } else { slow };
        let (clean, flat): (_, Pass<'_>) = (buffered(2000.0, 600.0), &|_, _| 250.0);
        let outcome = |trimmed: Pass<'_>| concluded(780e3, [&clean, flat, trimmed]);
        let restored = outcome(&clean);
        assert_eq!(restored.outcome, Outcome::Yes, "{restored:?}");
        assert!(restored.why.is_some_and(|why| why.contains("recovers 100 %")));
        let half = outcome(&buffered(1200.0, 360.0));
        assert_eq!(half.outcome, Outcome::Partly, "{half:?}");
        assert_eq!(outcome(flat).outcome, Outcome::No);
        // As fast on average, but fast in another place: the passes cannot be paired.
        let late = |_: usize, done: f64| if done > 660e3 { 2000.0 } else { 600.0 };
        let late = outcome(&late);
        assert_eq!(late.outcome, Outcome::Undetermined, "{late:?}");
        assert!(late.why.is_some_and(|why| why.ends_with(" open")));
    }

    #[test]
    fn the_ordinary_noise_of_minutes_is_averaged_and_that_of_a_loop_device_is_not() {
        let mut decided = 0;
        for run in 0..20 {
            let noisy = |rate: f64, deviation: f64, pass: u64| {
                move |second, _| rate * around(deviation, run * 3 + pass, second)
            };
            for (deviation, seconds) in [(0.05, 180.0), (0.1, 400.0)] {
                let of = |tortured: f64, trimmed: f64| {
                    let clean = noisy(500.0, deviation, 0);
                    let tortured = noisy(tortured, deviation, 1);
                    let trimmed = noisy(trimmed, deviation, 2);
                    concluded(500.0 * seconds, [&clean, &tortured, &trimmed])
                };
                assert_eq!(of(200.0, 500.0).outcome, Outcome::Yes, "{run} {deviation}");
                assert_eq!(of(200.0, 200.0).outcome, Outcome::No, "{run} {deviation}");
                assert_eq!(of(200.0, 350.0).outcome, Outcome::Partly, "{run} {deviation}");
                // At the threshold itself chance would decide.
                decided += usize::from(of(200.0, 475.0).outcome != Outcome::Undetermined);
            }
            // Its seconds are from 49 to 3017 MB/s.
            let wild = |power: f64, pass: u64| {
                move |second, _| 49.0 * 61.6_f64.powf(uniform(run * 3 + pass, second).powf(power))
            };
            let passes: [Pass<'_>; 3] = [&wild(1.6, 0), &wild(2.5, 1), &wild(1.0, 2)];
            let wild = concluded(8000.0, passes);
            assert_eq!(wild.outcome, Outcome::Undetermined, "{run} {wild:?}");
        }
        assert!(decided < 4, "{decided} of 40");
    }

    #[test]
    fn a_torture_that_left_no_mark_is_the_reason_that_is_given() {
        let why = |tortured: f64, deviation: f64| {
            let noisy =
                |rate: f64, pass: u64| move |second, _| rate * around(deviation, pass, second);
            let (clean, trimmed) = (noisy(500.0, 0), noisy(500.0, 2));
            let verdict = concluded(60e3, [&clean, &noisy(tortured, 1), &trimmed]);
            assert_eq!(verdict.outcome, Outcome::Undetermined, "{verdict:?}");
            verdict.why.expect("it says why")
        };
        let slight = why(440.0, 0.2);
        assert!(slight.starts_with("the torture slowed writes too little: "), "{slight}");
        let perhaps = why(405.0, 0.1);
        assert!(perhaps.contains("whether the torture slowed writes enough"), "{perhaps}");
        assert!(!perhaps.contains("undetermined"), "{perhaps}");
    }

    #[test]
    fn a_pass_of_a_few_seconds_says_nothing() {
        let of = |mb: f64| concluded(mb, [&|_, _| 500.0, &|_, _| 200.0, &|_, _| 500.0]);
        assert_eq!(of(2600.0).outcome, Outcome::Yes);
        let short = of(1600.0);
        assert_eq!(short.outcome, Outcome::Undetermined);
        assert!(short.why.is_some_and(|why| why.contains("seconds")));
    }

    #[test]
    fn a_trimmed_drive_much_faster_than_a_clean_one_had_no_clean_speed_to_come_back_to() {
        // A RAID 5 whose first pass was slow itself.
        let slow = concluded(3000.0, [&|_, _| 15.0, &|_, _| 11.0, &|_, _| 38.0]);
        assert_eq!((slow.outcome, slow.value), (Outcome::Undetermined, None));
        assert!(slow.why.is_some_and(|why| why.contains("253 % of the clean rate")));
        let faster = concluded(3000.0, [&|_, _| 15.0, &|_, _| 11.0, &|_, _| 18.0]);
        assert_eq!(faster.outcome, Outcome::Yes);
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
