//! The drives that verdicts are graded on: those of the catalogue, with settings that are drawn.

use fourcorners_catalogue::{Model, Profile, built_in};

use crate::disturbed::Random;
use crate::review::Method;

/// A drive, and what is known of it.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its number, from 0.
    pub index: usize,
    /// The drive of the catalogue.
    pub base: &'static str,
    /// What was changed of it, as `--set` takes it.
    pub set: Vec<String>,
    /// What it does with a TRIM.
    pub trim: Trim,
    /// What comes of both.
    pub profile: Profile,
    /// Of its review's random numbers.
    pub seed: u64,
}

/// What a drive does with a TRIM.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Trim {
    /// Frees all at once.
    Instant,
    /// The same, in its turn among other commands.
    Queued,
    /// Keeps others out for less than 5 ms.
    Slow,
    /// Keeps others out for more than 50 ms.
    Blocking,
    /// Frees 40 to 60 %.
    Partial,
    /// Frees all after 5 to 60 s.
    Deferred,
    /// Frees what is left after hours.
    TooLate,
    /// Is answered, and nothing is done.
    Ignored,
    /// Is refused.
    Refused,
}

impl Trim {
    const ALL: [Trim; 9] = [
        Trim::Instant,
        Trim::Ignored,
        Trim::Partial,
        Trim::Blocking,
        Trim::Refused,
        Trim::Deferred,
        Trim::Slow,
        Trim::TooLate,
        Trim::Queued,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Trim::Instant => "instant",
            Trim::Queued => "queued",
            Trim::Slow => "slow",
            Trim::Blocking => "blocking",
            Trim::Partial => "partial",
            Trim::Deferred => "deferred",
            Trim::TooLate => "too late",
            Trim::Ignored => "ignored",
            Trim::Refused => "refused",
        }
    }

    /// The settings that make it.
    fn set(self, random: &mut Random) -> Vec<String> {
        let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
        match self {
            Trim::Instant => vec!["trim.mode=instant".into()],
            Trim::Queued => {
                vec!["trim.mode=queued".into(), format!("trim.range_us={:.0}", between(0.0, 60.0))]
            }
            // A command of the review's TRIM has 2047 MiB.
            Trim::Slow => vec![
                "trim.mode=blocking".into(),
                format!("trim.us_per_mib={:.2}", between(0.1, 2.0)),
            ],
            Trim::Blocking => vec![
                "trim.mode=blocking".into(),
                format!("trim.us_per_mib={:.0}", between(25.0, 1000.0)),
            ],
            Trim::Partial => vec![
                "trim.mode=instant".into(),
                format!("trim.partial_percent={:.0}", between(40.0, 60.0)),
            ],
            Trim::Deferred => vec![
                "trim.mode=instant".into(),
                format!("trim.deferred_s={:.0}", between(5.0, 60.0)),
            ],
            Trim::TooLate => vec![
                "trim.mode=instant".into(),
                format!("trim.deferred_s={:.0}", between(36_000.0, 86_000.0)),
            ],
            Trim::Ignored => vec!["trim.mode=ignored".into()],
            Trim::Refused => vec!["trim.supported=false".into()],
        }
    }
}

/// Methods that are run on the same drive, and SSDs that they take seconds of CPU time for: each drive
/// goes through one group of methods. Page maps and log blocks, drives that compress and that do not,
/// with an SLC buffer and without, collection paced, delayed and in batches.
const GROUPS: [(&[Method], &[&str]); 4] = [
    (
        &[Method::Trim, Method::TrimReaches, Method::TrimUnderLoad],
        &[
            "crucial-m4-64gb",
            "crucial-c300-64gb",
            "intel-x25-m-g2-80gb",
            "ocz-vertex-30gb",
            "crucial-m500-120gb",
            "intel-x25-m-g1-80gb",
            "ocz-vertex-3-120gb",
            "intel-x25-e-32gb",
        ],
    ),
    (
        &[Method::FourCorners, Method::UsedState],
        &[
            "crucial-m4-64gb",
            "ocz-vertex-3-120gb",
            "intel-x25-m-g2-80gb",
            "crucial-c300-64gb",
            "ocz-vertex-2-100gb",
            "intel-x25-e-32gb",
            "crucial-m500-120gb",
            "samsung-840-evo-120gb",
        ],
    ),
    (
        &[Method::Compressible, Method::FillLevel],
        &[
            "ocz-vertex-3-120gb",
            "intel-x25-m-g2-80gb",
            "crucial-m4-64gb",
            "intel-x25-e-32gb",
            "crucial-c300-64gb",
            "ocz-vertex-2-100gb",
            "crucial-m500-120gb",
        ],
    ),
    (
        &[Method::Consistency],
        &[
            "crucial-m500-120gb",
            "crucial-m4-64gb",
            "crucial-m550-128gb",
            "ocz-vertex-30gb",
            "crucial-c300-64gb",
            "intel-x25-m-g2-80gb",
        ],
    ),
];
const HARD_DISKS: [&str; 2] = ["seagate-momentus-5400.6", "wd-velociraptor-300gb"];
/// One drive in so many is a hard disk: the number has no divisor in common with that of the groups.
const HARD_DISK_EACH: usize = 25;

/// The methods whose verdicts are graded.
pub fn methods() -> impl Iterator<Item = Method> {
    GROUPS.iter().flat_map(|(methods, _)| *methods).copied()
}

/// Methods as `--methods` takes them.
pub fn method_list(methods: &[Method]) -> String {
    let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
    names.join(",")
}

impl Drawn {
    /// The methods it is reviewed by.
    pub fn methods(&self) -> &'static [Method] {
        GROUPS[self.index % GROUPS.len()].0
    }

    /// What `fourcorners review` is given for it.
    pub fn arguments(&self) -> String {
        let set: Vec<String> = self.set.iter().map(|set| format!(" --set {set}")).collect();
        // Its own course of the slow drift, whatever the seed of the review.
        let course = match &self.profile.model {
            Model::Ssd(ssd) => ssd.variation.as_ref(),
            Model::Hdd(_) => None,
        };
        let course = course.map(|variation| format!(" --set variation.seed={}", variation.seed));
        format!(
            "{}{}{} --methods {} --seed {}",
            self.base,
            set.concat(),
            course.unwrap_or_default(),
            method_list(self.methods()),
            self.seed
        )
    }
}

/// The drive of this number. Which kinds there are goes by the number, so that few drives have all of
/// them; the rest is drawn.
pub fn draw(seed: u64, index: usize) -> Drawn {
    let mut random = Random(seed ^ (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    // By turns of the groups, so that each group has all kinds.
    let turn = index / GROUPS.len();
    let drive_seed = random.next() >> 1;
    if index % HARD_DISK_EACH == HARD_DISK_EACH - 1 {
        let base = HARD_DISKS[index / HARD_DISK_EACH % HARD_DISKS.len()];
        let profile = built(base, &[]);
        return Drawn {
            index,
            base,
            set: Vec::new(),
            trim: Trim::Refused,
            profile,
            seed: drive_seed,
        };
    }
    let trim = Trim::ALL[turn % Trim::ALL.len()];
    let (methods, bases) = GROUPS[index % GROUPS.len()];
    let base = bases[(random.next() % bases.len() as u64) as usize];
    let mut set = trim.set(&mut random);
    if trim != Trim::Refused {
        set.push("trim.supported=true".into());
    }
    let profile = built(base, &[]);
    let Model::Ssd(ssd) = &profile.model else { unreachable!("those are SSDs") };
    // Log blocks pair with what the user has: such a drive keeps its capacity.
    if ssd.log_blocks.is_none() {
        // Less for the user is more spare.
        let least = if methods.contains(&Method::Trim) { 0.5 } else { 0.75 };
        let kept = [1.0, 1.0, 0.9, least][(random.next() % 4) as usize];
        let sectors = (ssd.capacity.sectors as f64 * kept) as u64 / 4096 * 4096;
        if kept < 1.0 {
            set.push(format!("capacity.sectors={sectors}"));
        }
        let choices = 1 + random.next() % 4;
        set.push(format!("gc.choices={choices}"));
        if random.unit() < 0.3 {
            set.push(format!("gc.idle_ms={}", 50 + random.next() % 1000));
            set.push("gc.idle_free_blocks=8".into());
        }
        if random.unit() < 0.3 {
            set.push("gc.policy=d_choices".into());
        }
    }
    let profile = built(base, &set);
    Drawn { index, base, set, trim, profile, seed: drive_seed }
}

fn built(base: &str, set: &[String]) -> Profile {
    built_in(base, set).unwrap_or_else(|error| unreachable!("{base} {set:?}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_seed_draws_drives_that_pass_their_check_and_all_kinds_of_trim_are_drawn() {
        for seed in 0..20 {
            let drawn: Vec<Drawn> = (0..100).map(|index| draw(seed, index)).collect();
            for group in 0..GROUPS.len() {
                let mut trims: Vec<Trim> =
                    drawn.iter().filter(|it| it.index % 4 == group).map(|it| it.trim).collect();
                trims.sort();
                trims.dedup();
                assert_eq!(trims.len(), Trim::ALL.len());
            }
            assert!(drawn.iter().any(|it| matches!(it.profile.model, Model::Hdd(_))));
        }
        assert_ne!(draw(1, 0).set, draw(2, 0).set);
    }
}
