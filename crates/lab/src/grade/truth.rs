//! The truth about a drive, and whether a review could find it out.
//!
//! What a drive does with a TRIM is what its profile says. Whether it is slower used, or full, or with
//! data that does not compress is what the same drive does on a quiet machine with other random
//! numbers: clearly to one side of the threshold, or so near to it that nobody has to know.

use fourcorners_catalogue::Model;
use fourcorners_drive::config::{TrimMode, VictimPolicy};
use fourcorners_record::{Figure, Outcome, Record, Verdict};

use super::population::{Drawn, Trim};
use crate::review::{HELD_US, NOTHING, RECOVERED};

/// What a verdict has to be.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Truth {
    /// What is true, in a few words.
    pub(super) label: String,
    /// The outcomes that are right; none where a review cannot find it out.
    pub(super) right: Vec<Outcome>,
    /// Whether the effect is more than three times the noise.
    pub(super) strong: bool,
    /// How far it is beyond the threshold, on the scale on which noise is a share; `None` where that is no
    /// number.
    pub(super) effect: Option<f64>,
}

/// A ratio this far on one side of its threshold is on that side: the seeds of two runs differ.
const CLEARLY: f64 = 0.05;
/// MiB of one command of the review's TRIM.
const COMMAND_MIB: f64 = 2047.0;
/// An effect so many times the noise has to be found.
const STRONG: f64 = 3.0;

pub(super) fn of(drawn: &Drawn, id: &str, quiet: &Record, noise: f64) -> Truth {
    let found = quiet.verdicts.iter().find(|verdict| verdict.id == id);
    let value = found.and_then(|verdict| verdict.value);
    match id {
        "trim-works" => trim_works(drawn, found, quiet, noise),
        "trim-reaches" => trim_reaches(drawn.trim),
        id if id.starts_with("trim-holds-up-") => holds_up(drawn, found, quiet),
        id if id.starts_with("steady-random-write") => steady(value, noise),
        "too-full" => slower(value, 0.5, noise),
        id if compression_alone(id) && !compresses(drawn) => Truth {
            label: "does not compress".into(),
            right: vec![Outcome::No],
            // It has no effect.
            strong: false,
            effect: None,
        },
        _ => slower(value, 0.9, noise),
    }
}

/// What several looks at the same drive agree on; nobody has to know what they do not. How far they are from
/// each other is noise, too: the drive's own.
pub(super) fn agreed(truths: Vec<Truth>) -> Truth {
    let mut truths = truths.into_iter();
    let first = truths.next().expect("it was looked at");
    truths.fold(first, |one, other| match one.right == other.right {
        true => {
            let beyond_its_own = match (one.effect, other.effect) {
                (Some(one), Some(other)) => one.min(other) > STRONG * (one - other).abs(),
                _ => true,
            };
            Truth { strong: one.strong && other.strong && beyond_its_own, ..one }
        }
        false => Truth {
            label: "settles in more than one way".into(),
            right: Vec::new(),
            strong: false,
            effect: None,
        },
    })
}

fn compression_alone(id: &str) -> bool {
    id.starts_with("compressible-") || id.starts_with("slower-incompressible-")
}

fn compresses(drawn: &Drawn) -> bool {
    matches!(&drawn.profile.model, Model::Ssd(ssd) if ssd.compression.is_some())
}

/// Whether collection takes blocks as they come, or the best of a few, and not first those that a TRIM has
/// emptied: it goes on moving what is valid beside them.
fn collects_at_random(drawn: &Drawn) -> bool {
    let Model::Ssd(ssd) = &drawn.profile.model else { return false };
    matches!(ssd.gc.policy, VictimPolicy::Random | VictimPolicy::DChoices)
}

fn trim_works(drawn: &Drawn, found: Option<&Verdict>, quiet: &Record, noise: f64) -> Truth {
    let trim = drawn.trim;
    let rate = |name: &str| quiet.figures.get(name).map_or(0.0, |figure: &Figure| figure.mb_per_s);
    let [clean, tortured, trimmed] = ["clean", "tortured", "trimmed"]
        .map(|pass| rate(&format!("sequential_write_128k_qd1_{pass}")));
    let right = match trim {
        Trim::TooLate | Trim::Ignored | Trim::Refused => vec![Outcome::No],
        // It frees what it is given, and what that is worth to later writes is what collection makes of it.
        _ if collects_at_random(drawn) => restored(clean, tortured, trimmed),
        // It restores some, and on some drives that is enough.
        Trim::Partial => vec![Outcome::Partly, Outcome::Yes],
        Trim::Instant | Trim::Queued | Trim::Slow | Trim::Blocking | Trim::Deferred => {
            vec![Outcome::Yes]
        }
    };
    // What a torture leaves no mark on has nothing to restore.
    let marked = found.is_some_and(|verdict| verdict.outcome != Outcome::Undetermined);
    let right = if marked { right } else { Vec::new() };
    let strong = trim == Trim::Refused || 1.0 - tortured / clean > STRONG * noise;
    let strong = strong && !right.is_empty();
    let collected = if collects_at_random(drawn) { ", collected at random" } else { "" };
    let label = match marked {
        true => format!("{}{collected}", trim.name()),
        false => format!("{}, no mark", trim.name()),
    };
    Truth { label, right, strong, effect: None }
}

/// What a TRIM gave back of a rate, in a word; none where that is near to another word.
fn restored(clean: f64, tortured: f64, trimmed: f64) -> Vec<Outcome> {
    let of_clean = trimmed / clean;
    let of_lost = (trimmed - tortured) / (clean - tortured);
    let near = |value: f64, threshold: f64| (value - threshold).abs() < CLEARLY;
    if near(of_clean, RECOVERED) || near(of_lost, NOTHING) {
        return Vec::new();
    }
    vec![match of_clean {
        _ if of_clean > RECOVERED => Outcome::Yes,
        _ if of_lost < NOTHING => Outcome::No,
        _ => Outcome::Partly,
    }]
}

fn trim_reaches(trim: Trim) -> Truth {
    let right = match trim {
        Trim::Instant | Trim::Queued | Trim::Slow | Trim::Blocking | Trim::Deferred => Outcome::Yes,
        Trim::Partial => Outcome::Partly,
        Trim::TooLate | Trim::Ignored | Trim::Refused => Outcome::No,
    };
    // The map is looked at, whatever the machine does meanwhile.
    Truth { label: trim.name().into(), right: vec![right], strong: true, effect: None }
}

fn holds_up(drawn: &Drawn, found: Option<&Verdict>, quiet: &Record) -> Truth {
    let label = drawn.trim.name().to_string();
    let Model::Ssd(ssd) = &drawn.profile.model else { return unknowable(label) };
    // There is none to wait for; or what has to be fetched of the map takes its time, too.
    if drawn.trim == Trim::Refused || ssd.map.is_some() {
        return unknowable(label);
    }
    let held_us = match ssd.trim.mode {
        Some(TrimMode::Blocking) => {
            let us = |time: Option<f64>| time.unwrap_or(0.0);
            us(ssd.trim.command_us) + COMMAND_MIB * us(ssd.trim.us_per_mib)
        }
        _ => 0.0,
    };
    let label = if held_us > HELD_US { format!("{label}, held up") } else { label };
    // What waits as long without a TRIM hides it.
    let longest = |when: usize| {
        let name = found.and_then(|verdict| verdict.figures.get(when));
        let figure = name.and_then(|name| quiet.figures.get(name));
        figure.map_or(f64::INFINITY, |figure| figure.latency_us.max)
    };
    let right = held_up(held_us, longest(0).max(longest(2)), longest(1));
    // A machine here does not stand still for 50 ms.
    let strong = right.contains(&Outcome::Yes) && held_us >= 5.0 * HELD_US;
    Truth { label, strong, right, effect: None }
}

/// What is true of a drive that does nothing else for `held_us` while it trims, and whose commands took up to
/// `without` µs before and after and up to `with` µs beside a TRIM.
fn held_up(held_us: f64, without: f64, with: f64) -> Vec<Outcome> {
    match held_us {
        _ if held_us > 2.0 * HELD_US && with >= 10.0 * without => vec![Outcome::Yes],
        _ if held_us < HELD_US / 2.0 && without <= HELD_US / 10.0 => vec![Outcome::No],
        _ => Vec::new(),
    }
}

fn unknowable(label: String) -> Truth {
    Truth { label, right: Vec::new(), strong: false, effect: None }
}

/// A ratio that is claimed to be below a threshold.
fn slower(ratio: Option<f64>, threshold: f64, noise: f64) -> Truth {
    let beyond = ratio.map_or(0.0, |ratio| (threshold / ratio).ln());
    let (label, right) = match beyond {
        beyond if beyond > CLEARLY => ("slower", vec![Outcome::Yes]),
        beyond if beyond < -CLEARLY => ("as fast", vec![Outcome::No]),
        _ => ("near the threshold", Vec::new()),
    };
    Truth { label: label.into(), right, strong: beyond > STRONG * noise, effect: Some(beyond) }
}

/// How much seconds vary, that are claimed to vary by less than a fifth.
fn steady(variation: Option<f64>, noise: f64) -> Truth {
    let (label, right) = match variation {
        Some(variation) if variation < 0.15 => ("steady", vec![Outcome::Yes]),
        Some(variation) if variation > 0.25 => ("unsteady", vec![Outcome::No]),
        _ => ("near the threshold", Vec::new()),
    };
    let effect = variation.map_or(0.0, |variation| (variation - 0.2).abs());
    let strong = !right.is_empty() && effect > STRONG * noise;
    Truth { label: label.into(), strong, right, effect: Some(effect) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_that_stands_still_for_a_trim_holds_others_up_by_whatever_name_it_was_drawn() {
        // As a Crucial C300, whose every TRIM command takes 0.1 s: drawn as a slow one it is a blocking one.
        assert_eq!(held_up(103_000.0, 900.0, 104_000.0), [Outcome::Yes]);
        assert_eq!(held_up(2_000.0, 900.0, 3_000.0), [Outcome::No]);
        // Near the threshold, hidden by a drive that stands still anyway, and not to be told from it.
        assert!(held_up(11_000.0, 900.0, 12_000.0).is_empty());
        assert!(held_up(103_000.0, 60_000.0, 110_000.0).is_empty());
        assert!(held_up(2_000.0, 60_000.0, 60_000.0).is_empty());
    }

    #[test]
    fn what_a_trim_restores_goes_by_what_comes_back() {
        assert_eq!(restored(100.0, 20.0, 23.0), [Outcome::No], "3 of the 80 that were lost");
        assert_eq!(restored(100.0, 20.0, 60.0), [Outcome::Partly]);
        assert_eq!(restored(100.0, 20.0, 105.0), [Outcome::Yes]);
        assert!(restored(100.0, 20.0, 30.0).is_empty());
        assert!(restored(100.0, 20.0, 93.0).is_empty());
    }

    #[test]
    fn what_two_looks_do_not_agree_on_nobody_has_to_know() {
        let look = |variation| steady(Some(variation), 0.0);
        assert_eq!(agreed(vec![look(0.05), look(0.06)]).right, [Outcome::Yes]);
        assert!(agreed(vec![look(0.05), look(0.40)]).right.is_empty());
        assert!(agreed(vec![look(0.05), look(0.19)]).right.is_empty());
    }

    #[test]
    fn what_two_looks_differ_by_is_the_drives_own_noise() {
        let look = |ratio| slower(Some(ratio), 0.5, 0.01);
        assert!(look(0.28).strong && look(0.45).strong);
        assert!(agreed(vec![look(0.28), look(0.285)]).strong);
        assert!(!agreed(vec![look(0.28), look(0.45)]).strong, "it is either, by chance");
        assert_eq!(agreed(vec![look(0.28), look(0.45)]).right, [Outcome::Yes]);
    }
}
