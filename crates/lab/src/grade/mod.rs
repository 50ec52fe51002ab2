//! How often verdicts are right: drives whose truth is known are drawn, disturbed, reviewed as a user
//! would review them, and every verdict is held against the truth.

pub mod findings;
mod population;
mod shown;
mod tally;
mod truth;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fourcorners_catalogue::{Model, Profile};
use fourcorners_machine::workers;
use fourcorners_record::{Ended, Outcome, Record};

use crate::disturbed::Disturbance;
use crate::drive::Drive;
use crate::review::{
    Checkpoint, DriveSource, Medium, Method, Past, Reviewed, Scope, Step, Watch, plans, review,
};
use crate::target_info::target_info;

pub use population::{Drawn, Trim, draw, method_list, methods};
pub use shown::markdown;
pub use tally::{Grade, Grades};

/// How much the machine disturbs the drives that are graded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NoiseLevel {
    /// Not at all.
    None,
    /// As a machine that has nothing else to do: 1 % of the time is waited for a processor, 0.5 % is
    /// lost and not seen.
    Lab,
    /// As a machine that is shared: 10 % is waited for, 2 % is lost and not seen.
    Host,
}

impl NoiseLevel {
    /// All of them.
    pub const ALL: [NoiseLevel; 3] = [NoiseLevel::None, NoiseLevel::Lab, NoiseLevel::Host];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            NoiseLevel::None => "none",
            NoiseLevel::Lab => "lab",
            NoiseLevel::Host => "host",
        }
    }

    /// Mean shares of the time that are lost and seen, and lost and not seen.
    pub fn shares(self) -> (f64, f64) {
        match self {
            NoiseLevel::None => (0.0, 0.0),
            NoiseLevel::Lab => (0.01, 0.005),
            NoiseLevel::Host => (0.1, 0.02),
        }
    }

    /// Its size: the mean share of a rate that is lost.
    pub fn size(self) -> f64 {
        let (seen, unseen) = self.shares();
        seen + unseen
    }
}

/// How a review is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Condition {
    /// The noise.
    pub noise: NoiseLevel,
    /// Whether it is a quick one.
    pub quick: bool,
}

/// What is to be graded.
#[derive(Clone, Debug)]
pub struct Options {
    /// Each drive is reviewed once in each of these.
    pub conditions: Vec<Condition>,
    /// How many drives are drawn.
    pub drives: usize,
    /// What they are drawn with.
    pub seed: u64,
    /// Only this one of them, from 0.
    pub only: Option<usize>,
    /// Only these methods; all that are graded where there is none.
    pub methods: Vec<Method>,
    /// How many drives are reviewed at a time.
    pub workers: usize,
}

/// The outcomes that a verdict which is graded may have.
pub fn declared(id: &str) -> &'static [Outcome] {
    match id {
        "trim-works" | "trim-reaches" => {
            &[Outcome::Yes, Outcome::No, Outcome::Partly, Outcome::Undetermined]
        }
        _ => &[Outcome::Yes, Outcome::No, Outcome::Undetermined],
    }
}

/// Draws the drives, reviews them and grades the verdicts: the grades of each condition. `watch` is told how
/// many drives are done, and stops it by `false`; what was graded by then is given, and said to be stopped.
/// `mistaken` is told of each wrong verdict as soon as its drive is done: which, and the command that repeats it.
/// The result does not depend on how many are reviewed at a time.
pub fn grade(
    options: &Options,
    watch: &(dyn Fn(usize) -> bool + Sync),
    mistaken: &(dyn Fn(&str) + Sync),
) -> Vec<Grades> {
    let all = 0..options.drives;
    let indices: Vec<usize> =
        all.filter(|it| options.only.is_none_or(|only| only == *it)).collect();
    let slots: Vec<(usize, Mutex<Option<Vec<tally::Graded>>>)> =
        indices.into_iter().map(|index| (index, Mutex::default())).collect();
    let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let go_on = || {
        let go_on = watch(done.load(Ordering::Relaxed));
        stopped.fetch_or(!go_on, Ordering::Relaxed);
        go_on
    };
    let one = |(index, slot): &(usize, Mutex<Option<Vec<tally::Graded>>>)| {
        let drawn = population::draw(options.seed, *index);
        let graded = if go_on() { graded(&drawn, options, &go_on) } else { None };
        for (&condition, graded) in options.conditions.iter().zip(graded.iter().flatten()) {
            tally::mistakes(options, condition, graded).for_each(|line| mistaken(&line));
        }
        *slot.lock().expect("no holder panics") = graded;
        done.fetch_add(1, Ordering::Relaxed);
        Ok::<(), std::convert::Infallible>(())
    };
    let Ok(()) = workers::each(&slots, options.workers, one);
    let mut by_condition: Vec<Vec<tally::Graded>> = vec![Vec::new(); options.conditions.len()];
    for (_, slot) in slots {
        let graded = slot.into_inner().expect("no holder panics").unwrap_or_default();
        by_condition.iter_mut().zip(graded).for_each(|(all, graded)| all.push(graded));
    }
    let stopped = stopped.into_inner();
    let conditions = options.conditions.iter().zip(by_condition);
    conditions.map(|(&condition, all)| tally::tally(options, condition, all, stopped)).collect()
}

/// What a drive's verdicts were in each condition, and what they had to be. `None` if it was stopped.
fn graded(
    drawn: &Drawn,
    options: &Options,
    go_on: &dyn Fn() -> bool,
) -> Option<Vec<tally::Graded>> {
    let none = |_: &Condition| tally::Graded { index: drawn.index, verdicts: Vec::new() };
    let mut graded: Vec<tally::Graded> = options.conditions.iter().map(none).collect();
    let asked = |method: &&Method| options.methods.is_empty() || options.methods.contains(method);
    for &method in drawn.methods().iter().filter(asked) {
        let seed = drawn.seed;
        // The same drive on a quiet machine at full length, with other random numbers: of what may settle in
        // more than one way, and of what goes up and down by itself, twice.
        let looks = if matches!(method, Method::Consistency | Method::FillLevel) { 2 } else { 1 };
        let quiet = (1..=looks).map(|look| {
            reviewed(&drawn.profile, method, seed.wrapping_add(look), false, None, go_on)
        });
        let quiet: Vec<Record> = quiet.collect::<Option<_>>()?;
        for (condition, graded) in options.conditions.iter().zip(&mut graded) {
            let (seen, unseen) = condition.noise.shares();
            let by = Disturbance { seen, unseen, seed: seed ^ 0x006e_6f69_7365 };
            let quick = condition.quick;
            let record = reviewed(&drawn.profile, method, seed, quick, Some(by), go_on)?;
            for verdict in &record.verdicts {
                let noise = condition.noise.size();
                let truths = quiet.iter().map(|quiet| truth::of(drawn, &verdict.id, quiet, noise));
                graded.verdicts.push((verdict.clone(), truth::agreed(truths.collect())));
            }
        }
    }
    Some(graded)
}

/// The record of a method on a virtual drive; `None` if it was stopped.
fn reviewed(
    profile: &Profile,
    method: Method,
    seed: u64,
    quick: bool,
    by: Option<Disturbance>,
    go_on: &dyn Fn() -> bool,
) -> Option<Record> {
    let medium = match profile.model {
        Model::Ssd(_) => Medium::Ssd,
        Model::Hdd(_) => Medium::HardDisk,
    };
    let geometry = profile.geometry();
    let scope = Scope { quick, seed, ..Scope::whole_of(geometry, medium) };
    let plan = plans(&[method.into()], &scope).expect("our own methods fit every drive");
    let reviewed = Reviewed {
        protocol: method.into(),
        plan: plan.into_iter().next()?,
        scope,
        target: target_info(profile, geometry),
        host: None,
        author: None,
        health: None,
        erase: None,
    };
    let mut drive = match by {
        Some(by) => Drive::disturbed(profile, by),
        None => Drive::from_profile(profile),
    };
    let past = &mut Past::default();
    let record =
        review(reviewed, &mut DriveSource::One(&mut drive, past), None, &mut Going { go_on });
    (record.ended != Ended::Interrupted).then_some(record)
}

/// Asks whether to go on, and listens to nothing else.
struct Going<'a> {
    go_on: &'a dyn Fn() -> bool,
}

impl Watch for Going<'_> {
    fn step(&mut self, _: &Step<'_>) {}

    fn go_on(&mut self, _part_done: f64) -> bool {
        (self.go_on)()
    }

    fn measured(&mut self, _: &Record) {}

    fn reached(&mut self, _: &Checkpoint) {}
}
