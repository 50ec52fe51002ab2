//! The states in which drawn drives are diagnosed: new, used, with collection drawn, with the map's unit drawn,
//! with suspension drawn, and with the class of the map drawn.
//!
//! Drives that were used before somebody wants to know what is inside are the usual case. What a detector finds must not
//! depend on it, where it empties the drive first. The detectors that do are run once more, on the same drive after it was
//! filled and written at random by once to twice its size.
//!
//! When a drive collects, what it maps by and how, and whether its programs make way are drawn apart (`population.rs`): of drives
//! that stall, that write 16 KiB for 4, or that merge blocks, what other detectors find is another matter.

use fourcorners_drive::{Nanos, Target};
use fourcorners_record::Pattern;

use crate::any_target::AnyTarget;
use crate::diagnose::{Detector, Evidence, Options, diagnose};
use crate::disturbed::Random;
use crate::drive::{Drive, OnTarget};

use super::writes::write;
use super::{Drawn, Graded};

/// What is looked for on used drives and graded.
const LOOKED_FOR: [Detector; 2] = [Detector::SlcCache, Detector::Spare];
/// One drive in so many is used, besides.
const ONE_IN: usize = 4;
/// After its use a drive rests.
const REST: Nanos = Nanos(60_000_000_000);

/// How a drawn drive is diagnosed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum State {
    /// As it is drawn, and new.
    New,
    /// The same after it was used.
    Used,
    /// New, and when it collects is drawn, too.
    Collects,
    /// New, and the unit of its map is drawn, too.
    Unit,
    /// New, and whether its programs make way for reads is drawn, too.
    Suspends,
    /// New, and whether it maps by pages or by blocks with a log is drawn, too.
    Maps,
    /// New, and which blocks it collects is drawn, too.
    Amplifies,
}

impl State {
    pub(super) const ALL: [State; 7] = [
        State::New,
        State::Used,
        State::Collects,
        State::Unit,
        State::Suspends,
        State::Maps,
        State::Amplifies,
    ];

    /// What is looked for in it alone.
    fn alone(self) -> Option<Detector> {
        match self {
            State::New | State::Used => None,
            State::Collects => Some(Detector::Collection),
            State::Unit => Some(Detector::MapUnit),
            State::Suspends => Some(Detector::Suspension),
            State::Maps => Some(Detector::Mapping),
            State::Amplifies => Some(Detector::Amplification),
        }
    }
}

/// What grades call a property of drives that were used before.
pub fn of_used(key: &str) -> String {
    format!("{key}, used")
}

/// What a property is called among the grades; nothing of what is not graded in this state.
pub(super) fn name(key: &str, state: State) -> Option<String> {
    let is_of = |detector: Detector| detector.keys().contains(&key);
    let has_its_own = State::ALL.into_iter().filter_map(State::alone).any(is_of);
    match state {
        State::New => (!has_its_own).then(|| key.into()),
        State::Used => LOOKED_FOR.into_iter().any(is_of).then(|| of_used(key)),
        State::Collects | State::Unit | State::Suspends | State::Maps | State::Amplifies => {
            state.alone().is_some_and(is_of).then(|| key.into())
        }
    }
}

/// What is measured of a drive in a state, and of which; nothing if nothing is looked for in it.
pub(super) fn evidence(
    drawn: &Drawn,
    what: &Graded,
    state: State,
) -> Option<(Drawn, Vec<Evidence>)> {
    let mut detectors = what.detectors.clone();
    let looks_for = |it: Detector| what.detectors.contains(&it);
    match (state, state.alone()) {
        (_, Some(alone)) => {
            detectors.retain(|it| [Detector::Kind, alone].contains(it));
            if !looks_for(alone) {
                return None;
            }
        }
        (State::Used, _) => {
            detectors.retain(|it| *it == Detector::Kind || LOOKED_FOR.contains(it));
            let is_any = LOOKED_FOR.into_iter().any(looks_for);
            if !is_any || !drawn.index.is_multiple_of(ONE_IN) {
                return None;
            }
        }
        _ => {
            detectors.retain(|it| !State::ALL.iter().any(|state| state.alone() == Some(*it)));
        }
    }
    let drawn = match state {
        State::New | State::Used => drawn.clone(),
        State::Collects => drawn.collecting(),
        State::Unit => drawn.with_another_unit(),
        State::Suspends => drawn.suspending(),
        State::Maps => drawn.mapped(),
        State::Amplifies => drawn.amplifying(),
    };
    let mut drive = Drive::from_profile(&drawn.profile);
    if state == State::Used {
        drive.on(Use { seed: drawn.seed });
    }
    let options = Options { detectors, seed: drawn.seed, noise: what.noise };
    let evidence = diagnose(&mut drive, drawn.base, &options, &mut |_| true).evidence;
    Some((drawn, evidence))
}

/// Fills a target and writes it at random.
struct Use {
    seed: u64,
}

impl OnTarget for Use {
    type Output = ();

    fn on<const WALL: bool>(self, mut target: AnyTarget<'_, WALL>) {
        let target = &mut target;
        let all = target.geometry().bytes() / (128 << 10) * (128 << 10);
        let percent = 100 + Random(self.seed).next() % 101;
        write(target, Pattern::Sequential, all, all, self.seed);
        write(target, Pattern::Random, all, all / 100 * percent, self.seed);
        let end = target.now() + REST;
        while target.now() < end {
            // A model has nothing in flight, and cannot fail what was not asked.
            let _ = target.reap(end);
        }
    }
}
