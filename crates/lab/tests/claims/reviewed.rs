//! Drives reviewed by a method, as `fourcorners review` does it, each once for all tests.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use fourcorners_catalogue::Profile;
use fourcorners_lab::campaign::{Session, Settings, Unwatched, measure};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::review::{Method, Phase};
use fourcorners_record::{Ended, Outcome, Record};

use super::profile;

/// What a method's record says of a drive.
#[derive(Clone)]
pub(super) struct Review(pub(super) Arc<Record>);

impl Review {
    /// Of a figure alone where one is named: what the method does for it since the drive was new, which is all that it
    /// depends on.
    pub(super) fn of(
        profile: Profile,
        method: Method,
        quick: bool,
        figure: Option<&str>,
    ) -> Review {
        let settings = Settings { quick, seed: 5, ..Settings::default() };
        let target = DeviceUnderTest::Virtual(Box::new(profile));
        let session = Session::new(target, &[method.into()], &settings);
        let mut session = session.expect("ours fit all targets");
        if let Some(figure) = figure {
            let plan = &mut session.plans[0].1;
            let measured =
                plan.iter().position(|phase| phase.measures() && phase.words() == figure);
            plan.truncate(
                1 + measured.unwrap_or_else(|| panic!("{} has no {figure}", method.name())),
            );
            let new = plan.iter().rposition(|phase| *phase == Phase::Purge);
            plan.drain(..new.expect("a plan begins with a new drive"));
        }
        let document = measure(&[session], &Unwatched).expect("a virtual drive is ready");
        let record = document.records.into_iter().next().expect("one review");
        assert_eq!(record.ended, Ended::Complete, "{}", record.target.name);
        Review(record.into())
    }

    pub(super) fn mb_per_s(&self, figure: &str) -> f64 {
        self.0.figures[figure].mb_per_s
    }

    pub(super) fn mean_ms(&self, figure: &str) -> f64 {
        self.0.figures[figure].latency_us.mean / 1e3
    }

    pub(super) fn max_ms(&self, figure: &str) -> f64 {
        self.0.figures[figure].latency_us.max / 1e3
    }

    /// MB/s of every second.
    pub(super) fn seconds_mb(&self, figure: &str) -> &[f64] {
        &self.0.series[figure].mb_per_s
    }

    /// I/Os of every second.
    pub(super) fn seconds_ios(&self, figure: &str) -> Vec<f64> {
        self.0.series[figure].iops_of_seconds()
    }

    /// Seconds that the drive had something to do in a task.
    pub(super) fn worked_s(&self, task: &str) -> f64 {
        self.0.replays[task].figures["task"].busy_s
    }

    /// What it wrote to its flash in a task, over what it was given.
    pub(super) fn amplified(&self, task: &str) -> f64 {
        self.0.replays[task].figures["task"].write_amplification.expect("a virtual SSD")
    }

    pub(super) fn outcome(&self, id: &str) -> Outcome {
        let verdict = self.0.verdicts.iter().find(|verdict| verdict.id == id);
        verdict.unwrap_or_else(|| panic!("{id}: {:?}", self.0.verdicts)).outcome
    }
}

/// A drive of the catalogue with these values changed, reviewed by a method: once for all tests.
pub(super) fn reviewed(name: &str, set: &[&str], method: Method) -> Review {
    kept(name, set, method, false, None)
}

/// The same in seconds instead of minutes.
pub(super) fn quickly_reviewed(name: &str, set: &[&str], method: Method) -> Review {
    kept(name, set, method, true, None)
}

/// A figure of such a review and no other: what it says of it is the same, in a part of the time.
pub(super) fn reviewed_for(figure: &str, name: &str, set: &[&str], method: Method) -> Review {
    kept(name, set, method, false, Some(figure))
}

fn kept(name: &str, set: &[&str], method: Method, quick: bool, figure: Option<&str>) -> Review {
    type Kept = HashMap<String, Arc<OnceLock<Review>>>;
    static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);
    let key = format!("{name} {set:?} {} {quick} {figure:?}", method.name());
    let slot = KEPT.lock().expect("no holder panics").entry(key).or_default().clone();
    let review = slot.get_or_init(|| Review::of(profile(name, set), method, quick, figure));
    review.clone()
}

#[test]
fn a_figure_alone_is_the_same_as_in_the_whole_review() {
    for figure in [super::FRESH_QD3, super::READ_QD3] {
        let (name, method) = ("crucial-m4-64gb", Method::FourCorners);
        let (whole, alone) =
            (quickly_reviewed(name, &[], method), kept(name, &[], method, true, Some(figure)));
        assert_eq!(whole.0.figures[figure], alone.0.figures[figure]);
        assert!(whole.0.figures.len() > 1 && alone.0.figures.len() == 1);
    }
}
