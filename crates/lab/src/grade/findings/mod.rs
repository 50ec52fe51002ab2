//! How often the findings of [`diagnose`](mod@crate::diagnose) are right: drives are drawn, diagnosed through noise, and what is
//! found is held against what they are. Nothing of the drive is told to the detectors.

mod catalogue;
mod population;
mod rates;
mod shown;
mod truth;
mod used;
mod writes;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fourcorners_machine::workers;
use serde::Serialize;

use crate::diagnose::{Detector, Evidence, Finding, Noise, judge};

pub use catalogue::{CatalogueRow, grade_catalogue};
pub use population::{Drawn, draw};
pub use shown::{Document, document, table};
pub use truth::Grade;
use truth::{Counted, Told};
pub use used::{State, of_used};

/// Mistakes that are shown of each property.
const SHOWN: usize = 5;

/// What is graded.
#[derive(Clone, Debug)]
pub struct Graded {
    /// The detectors.
    pub detectors: Vec<Detector>,
    /// How many drives are drawn.
    pub drives: usize,
    /// Of the draw.
    pub seed: u64,
    /// How inexact the times are.
    pub noise: Noise,
    /// Only the drive of this number.
    pub only: Option<usize>,
    /// How many drives are diagnosed at a time.
    pub workers: usize,
}

/// The grades of one property.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OfProperty {
    /// Drives on which it was looked for.
    pub drives: usize,
    /// Of them, drives whose times can tell it, by closed forms.
    pub identifiable: usize,
    /// Of these, determined and right.
    pub right: usize,
    /// Of these, not determined.
    pub undetermined: usize,
    /// Of all, determined or bounded, and not so; or determined where times cannot tell.
    pub wrong: usize,
    /// Of the wrong ones, those that are so and could not be known.
    pub lucky: usize,
    /// Intervals that were given.
    pub intervals: usize,
    /// Of them, those that hold the truth.
    pub covering: usize,
    /// What repeats the first mistakes, with what was found and what is so.
    pub worst: Vec<String>,
    /// The same of those that could be told and were not, with the reason.
    pub missed: Vec<String>,
}

/// The grades of all properties through one noise.
#[derive(Clone, Debug, Serialize)]
pub struct Tally {
    /// Name of the noise.
    pub noise: &'static str,
    /// By key of the finding; of drives that were used before, by [`of_used`].
    pub findings: BTreeMap<String, OfProperty>,
}

/// What was measured of a drawn drive: findings are made of it and of nothing else, so that other readings of it can be
/// graded without measuring again.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The drive.
    pub drawn: Drawn,
    /// How it was diagnosed.
    pub state: State,
    /// What the detectors measured.
    pub evidence: Vec<Evidence>,
    /// How much it writes once it is used, where that is looked for.
    counted: Option<Counted>,
}

/// Draws, diagnoses and grades. `watch` is told how many drives are done, and stops it by `false`.
pub fn grade_findings(what: &Graded, watch: &(dyn Fn(usize) -> bool + Sync)) -> Tally {
    tally(what.noise, &sample(what, watch), &judge)
}

/// Draws and measures. `watch` is told how many drives are done, and stops it by `false`.
pub fn sample(what: &Graded, watch: &(dyn Fn(usize) -> bool + Sync)) -> Vec<Sampled> {
    let slots: Vec<(usize, Mutex<Vec<Sampled>>)> = (0..what.drives)
        .filter(|index| what.only.is_none_or(|only| only == *index))
        .map(|index| (index, Mutex::default()))
        .collect();
    let done = AtomicUsize::new(0);
    let one = |(index, slot): &(usize, Mutex<Vec<Sampled>>)| {
        if watch(done.load(Ordering::Relaxed)) {
            let drawn = draw(what.seed, *index);
            let in_state = |state| {
                let (drawn, evidence) = used::evidence(&drawn, what, state)?;
                let counted =
                    (state == State::Amplifies).then(|| truth::count(&drawn.profile)).flatten();
                Some(Sampled { drawn, state, evidence, counted })
            };
            let all = State::ALL.into_iter().filter_map(in_state);
            *slot.lock().expect("no holder panics") = all.collect();
        }
        done.fetch_add(1, Ordering::Relaxed);
        Ok::<(), std::convert::Infallible>(())
    };
    let Ok(()) = workers::each(&slots, what.workers, one);
    slots.into_iter().flat_map(|(_, slot)| slot.into_inner().expect("no holder panics")).collect()
}

/// Grades what `reading` finds in the evidence; [`judge`] is how detectors read it.
pub fn tally(
    noise: Noise,
    sampled: &[Sampled],
    reading: &dyn Fn(&[Evidence]) -> Vec<Finding>,
) -> Tally {
    let mut tally = Tally { noise: noise.name(), findings: BTreeMap::new() };
    for Sampled { drawn, state, evidence, counted } in sampled {
        for finding in reading(evidence) {
            let Some(name) = used::name(&finding.key, *state) else { continue };
            let used = *state == State::Used;
            let of = tally.findings.entry(name).or_default();
            of.add((drawn, used), evidence, (&finding, *counted), noise);
        }
    }
    tally
}

impl OfProperty {
    fn add(
        &mut self,
        (drawn, used): (&Drawn, bool),
        ran: &[Evidence],
        (finding, counted): (&Finding, Option<Counted>),
        noise: Noise,
    ) {
        let (truth, told) = truth::of(&drawn.profile, &finding.key, used, counted);
        let (grade, inside) = truth::grade(finding, &truth);
        self.drives += 1;
        self.identifiable += usize::from(told == Told::Yes);
        self.intervals += usize::from(inside.is_some());
        self.covering += usize::from(inside == Some(true));
        match (grade, told) {
            (Grade::Right, Told::Yes) => self.right += 1,
            (Grade::Undetermined, Told::Yes) => {
                self.undetermined += 1;
                if self.missed.len() < SHOWN {
                    self.missed.push(shown::mistake((drawn, used), ran, finding, &truth, noise));
                }
            }
            (Grade::Undetermined, _) | (Grade::Right, Told::Perhaps) => {}
            // What times cannot tell is a guess, also where it is right.
            (Grade::Wrong, _) | (Grade::Right, Told::No) => {
                self.wrong += 1;
                self.lucky += usize::from(grade == Grade::Right);
                if self.worst.len() < SHOWN {
                    self.worst.push(shown::mistake((drawn, used), ran, finding, &truth, noise));
                }
            }
        }
    }
}
