//! Drawn drives that were used before somebody wants to know what is inside: the usual case.
//!
//! What a detector finds must not depend on it, where it empties the drive first. Those that write all of a drive at random
//! are run once more, on the same drive after it was filled and written at random by once to twice its size.

use fourcorners_drive::{Nanos, Target};
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{Observer, run};

use crate::diagnose::{Detector, Evidence, Options, diagnose};
use crate::disturbed::Random;
use crate::drive::{Drive, OnTarget};

use super::{Drawn, Graded};

/// What is looked for on used drives, with what it needs.
const DETECTORS: [Detector; 2] = [Detector::Kind, Detector::Spare];
/// What of that is graded.
const KEY: &str = "spare_percent";
/// One drive in so many is used, besides.
const ONE_IN: usize = 4;
/// After its use a drive rests.
const REST: Nanos = Nanos(60_000_000_000);

/// What grades call a property of drives that were used before.
pub fn of_used(key: &str) -> String {
    format!("{key}, used")
}

/// What a property is called among the grades; nothing of what is not graded in this state.
pub(super) fn name(key: &str, used: bool) -> Option<String> {
    match used {
        false => Some(key.into()),
        true => (key == KEY).then(|| of_used(key)),
    }
}

/// What is measured of a drive, new or used; nothing if nothing is looked for in this state.
pub(super) fn evidence(drawn: &Drawn, what: &Graded, used: bool) -> Option<Vec<Evidence>> {
    let mut detectors = what.detectors.clone();
    let mut drive = Drive::from_profile(&drawn.profile);
    if used {
        detectors.retain(|it| DETECTORS.contains(it));
        if !detectors.contains(&Detector::Spare) || !drawn.index.is_multiple_of(ONE_IN) {
            return None;
        }
        drive.on(Use { seed: drawn.seed });
    }
    let options = Options { detectors, seed: drawn.seed, noise: what.noise };
    Some(diagnose(&mut drive, drawn.base, &options, &mut |_| true).evidence)
}

/// Fills a target and writes it at random.
struct Use {
    seed: u64,
}

impl OnTarget for Use {
    type Output = ();

    fn on<T: Target>(self, target: &mut T) {
        let all = target.geometry().bytes() / (128 << 10) * (128 << 10);
        let percent = 100 + Random(self.seed).next() % 101;
        let fill = Job {
            pattern: Pattern::Sequential,
            read_percent: 0,
            block_bytes: 128 << 10,
            queue_depth: target.geometry().queue_depth.min(8),
            span_start_bytes: 0,
            span_bytes: all,
            data: Data::Incompressible,
            until: Until::Bytes(all),
            seed: self.seed,
            fua: false,
            flush: false,
            jobs: 1,
        };
        let at_random = Job {
            pattern: Pattern::Random,
            block_bytes: 4096,
            until: Until::Bytes(all / 100 * percent),
            ..fill.clone()
        };
        for job in [fill, at_random] {
            run(target, &job, &mut Unwatched);
        }
        let end = target.now() + REST;
        while target.now() < end {
            // A model has nothing in flight, and cannot fail what was not asked.
            let _ = target.reap(end);
        }
    }
}

/// Nobody stops it.
struct Unwatched;

impl Observer for Unwatched {
    fn go_on(&mut self, _part_done: f64) -> bool {
        true
    }
}
