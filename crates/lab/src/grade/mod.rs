//! How often verdicts are right: drives whose truth is known are drawn, disturbed, reviewed as a user
//! would review them, and every verdict is held against the truth.

mod population;
mod shown;
mod tally;
mod truth;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fourcorners_catalogue::{Model, Profile};
use fourcorners_machine::workers;
use fourcorners_record::{Ended, Record};

use crate::disturbed::Disturbance;
use crate::drive::Drive;
use crate::review::{
    Bench, Checkpoint, Medium, Method, Past, Reviewed, Scope, Step, Watch, plans, review,
};
use crate::side_by_side::target_info;

pub use population::{Drawn, Trim, draw};
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

/// What is to be graded.
#[derive(Clone, Debug)]
pub struct Options {
    /// The noise.
    pub noise: NoiseLevel,
    /// How many drives are drawn.
    pub drives: usize,
    /// What they are drawn with.
    pub seed: u64,
    /// Only this one of them, from 0.
    pub only: Option<usize>,
    /// How many drives are reviewed at a time.
    pub workers: usize,
}

/// Draws the drives, reviews them and grades the verdicts. `watch` is told how many drives are done,
/// and stops it by `false`; what was graded by then is given, and said to be stopped. The result does not depend
/// on how many are reviewed at a time.
pub fn grade(options: &Options, watch: &(dyn Fn(usize) -> bool + Sync)) -> Grades {
    let all = 0..options.drives;
    let indices: Vec<usize> =
        all.filter(|it| options.only.is_none_or(|only| only == *it)).collect();
    let slots: Vec<(usize, Mutex<Option<tally::Graded>>)> =
        indices.into_iter().map(|index| (index, Mutex::default())).collect();
    let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let go_on = || {
        let go_on = watch(done.load(Ordering::Relaxed));
        stopped.fetch_or(!go_on, Ordering::Relaxed);
        go_on
    };
    let one = |(index, slot): &(usize, Mutex<Option<tally::Graded>>)| {
        let drawn = population::draw(options.seed, *index);
        let graded = if go_on() { graded(&drawn, options, &go_on) } else { None };
        *slot.lock().expect("no holder panics") = graded;
        done.fetch_add(1, Ordering::Relaxed);
        Ok::<(), std::convert::Infallible>(())
    };
    let Ok(()) = workers::each(&slots, options.workers, one);
    let all =
        slots.into_iter().filter_map(|(_, slot)| slot.into_inner().expect("no holder panics"));
    tally::tally(options, all.collect(), stopped.into_inner())
}

/// What a drive's verdicts were, and what they had to be. `None` if it was stopped.
fn graded(drawn: &Drawn, options: &Options, go_on: &dyn Fn() -> bool) -> Option<tally::Graded> {
    let mut verdicts = Vec::new();
    for &method in drawn.methods() {
        let seed = drawn.seed;
        let (seen, unseen) = options.noise.shares();
        let by = Disturbance { seen, unseen, seed: seed ^ 0x006e_6f69_7365 };
        let record = reviewed(&drawn.profile, method, seed, Some(by), go_on)?;
        // The same drive on a quiet machine, with other random numbers.
        let quiet = reviewed(&drawn.profile, method, seed.wrapping_add(1), None, go_on)?;
        for verdict in &record.verdicts {
            let truth = truth::of(drawn, &verdict.id, &quiet, options.noise.size());
            verdicts.push((verdict.clone(), truth));
        }
    }
    Some(tally::Graded { index: drawn.index, verdicts })
}

/// The record of a method on a virtual drive; `None` if it was stopped.
fn reviewed(
    profile: &Profile,
    method: Method,
    seed: u64,
    by: Option<Disturbance>,
    go_on: &dyn Fn() -> bool,
) -> Option<Record> {
    let medium = match profile.model {
        Model::Ssd(_) => Medium::Ssd,
        Model::Hdd(_) => Medium::HardDisk,
    };
    let geometry = profile.geometry();
    let scope = Scope { geometry, spare_percent: 0.0, quick: false, seed, medium };
    let plan = plans(&[method.into()], &scope).expect("our own methods fit every drive");
    let reviewed = Reviewed {
        protocol: method.into(),
        plan: plan.into_iter().next()?,
        quick: false,
        seed,
        target: target_info(profile, geometry),
        host: None,
        health: None,
        erase: None,
    };
    let mut drive = match by {
        Some(by) => Drive::disturbed(profile, by),
        None => Drive::from_profile(profile),
    };
    let past = &mut Past::default();
    let record = review(reviewed, &mut Bench::One(&mut drive, past), None, &mut Going { go_on });
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
