//! Carries out a plan on a drive, phase by phase, into a record.

use indexmap::IndexMap;
use jiff::Timestamp;

use super::{Method, Phase, Scope};
use crate::drive::{Drive, Outcome, Purge};
use crate::fio;
use crate::record::{
    ClockName, Ended, Figure, FlashWear, Host, Latency, Record, Series, TargetInfo, Verdict,
};
use crate::run::{JobEnd, Measured, Observer, Second};
use crate::workload::Job;

/// Who watches a review.
pub trait Watch {
    /// A phase begins.
    fn step(&mut self, step: &Step<'_>);
    /// How far the review is, 0 to 1. `false` stops it.
    fn go_on(&mut self, part_done: f64) -> bool;
    /// A figure was measured; the record so far, sealed.
    fn measured(&mut self, so_far: &Record);
}

/// A phase that begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// What it is.
    pub phase: &'a Phase,
}

/// What is to be reviewed, and how.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// The method.
    pub method: Method,
    /// Its scope.
    pub scope: Scope,
    /// What the record says of the target.
    pub target: TargetInfo,
    /// What the record says of the machine (wall clock only).
    pub host: Option<Host>,
}

/// Runs a method on a drive. A record always comes back: of all that was planned, or of what was
/// measured before it was stopped or failed.
pub fn review(reviewed: Reviewed, drive: &mut Drive, watch: &mut impl Watch) -> Record {
    let method = reviewed.method;
    let phases = method.plan(&reviewed.scope);
    let mut review = Review::new(reviewed, drive.clock().into());
    let total: f64 = phases.iter().map(Phase::weight).sum();
    let mut before = 0.0;
    for (index, phase) in phases.iter().enumerate() {
        watch.step(&Step { number: index + 1, of: phases.len(), phase });
        let part = Part { from: before / total, share: phase.weight() / total };
        review.carry_out(phase, drive, &mut Scaled { watch, part });
        before += phase.weight();
        if matches!(phase, Phase::Measure { .. }) {
            review.seal();
            watch.measured(&review.record);
        }
        if review.record.ended != Ended::Complete {
            break;
        }
    }
    let verdicts = method.verdicts(&review.record);
    review.record.verdicts.extend(verdicts);
    review.seal();
    review.record
}

/// The record of a real target that could not be opened, where others were measured.
pub fn not_begun(reviewed: Reviewed, why: String) -> Record {
    let mut review = Review::new(reviewed, ClockName::Wall);
    review.record.ended = Ended::Failed(why);
    review.seal();
    review.record
}

/// The part of the whole that a phase is.
#[derive(Clone, Copy, Debug)]
struct Part {
    from: f64,
    share: f64,
}

/// Tells a watch of the whole what a job tells of itself.
struct Scaled<'a, W> {
    watch: &'a mut W,
    part: Part,
}

impl<W: Watch> Observer for Scaled<'_, W> {
    fn go_on(&mut self, part_done: f64) -> bool {
        self.watch.go_on(self.part.from + self.part.share * part_done)
    }
}

struct Review {
    record: Record,
    /// The state the target is in.
    state: String,
    purge_refusal_told: bool,
}

impl Review {
    fn new(reviewed: Reviewed, clock: ClockName) -> Review {
        let record = Record {
            id: String::new(),
            target: reviewed.target,
            clock,
            method: reviewed.method.name().into(),
            quick: reviewed.scope.quick,
            figures: IndexMap::new(),
            series: IndexMap::new(),
            replay: None,
            verdicts: Vec::new(),
            ended: Ended::Complete,
            seed: reviewed.scope.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            host: reviewed.host,
            started_at: now(),
            finished_at: now(),
        };
        let buffered = record.target.direct == Some(false);
        let loaded = record.target.loaded_state.is_some();
        let state = if loaded { "loaded" } else { "as found" };
        let mut review = Review { record, state: state.into(), purge_refusal_told: false };
        if buffered {
            let text = "The file system has no direct I/O: the figures are those of the page cache, \
                        not of the drive.";
            review.say("page-cache", text.into());
        }
        review
    }

    fn seal(&mut self) {
        self.record.finished_at = now();
        self.record.seal();
    }

    fn carry_out(&mut self, phase: &Phase, drive: &mut Drive, observer: &mut impl Observer) {
        match phase {
            Phase::Purge => self.purge(drive),
            Phase::Prepare { state, job } => {
                let outcome = drive.run(job, observer);
                self.state = (*state).into();
                self.note_end(outcome.measured.ended, &format!("before \"{state}\""));
                self.settle(drive);
            }
            Phase::Measure { figure, job } => {
                let outcome = drive.run(job, observer);
                self.note_end(outcome.measured.ended, &format!("in {figure}"));
                if outcome.measured.latency.count() > 0 {
                    self.keep(figure, job, &outcome, drive);
                }
                // A used drive stays one.
                if outcome.measured.writes > 0 && self.state != "used" {
                    self.state = "overwritten".into();
                }
                self.settle(drive);
            }
            Phase::LeftOut { why } => self.say("not-run", why.clone()),
        }
    }

    fn purge(&mut self, drive: &mut Drive) {
        let purged = match self.record.target.loaded_state {
            // Its past is what it was loaded for.
            Some(_) => Ok(Purge::NotPossible("the drive is tested as it was loaded".into())),
            None => drive.purge(),
        };
        match purged {
            Ok(Purge::Done) => self.state = "fresh".into(),
            Ok(Purge::NotPossible(why)) => {
                if !self.purge_refusal_told {
                    self.purge_refusal_told = true;
                    self.say(
                        "purge",
                        format!("Not purged: {why}. States are what the tests before left."),
                    );
                }
            }
            Err(error) => self.record.ended = Ended::Failed(format!("the purge failed: {error}")),
        }
    }

    fn settle(&mut self, drive: &mut Drive) {
        if let Err(error) = drive.settle()
            && self.record.ended == Ended::Complete
        {
            self.record.ended = Ended::Failed(error.to_string());
        }
    }

    fn say(&mut self, about: &str, text: String) {
        self.record.verdicts.push(Verdict { about: about.into(), text, value: None });
    }

    fn note_end(&mut self, end: JobEnd, place: &str) {
        match end {
            JobEnd::Complete => {}
            JobEnd::Interrupted => self.record.ended = Ended::Interrupted,
            JobEnd::Failed(fault) => self.record.ended = Ended::Failed(format!("{place}: {fault}")),
        }
    }

    fn keep(&mut self, name: &str, job: &Job, outcome: &Outcome, drive: &Drive) {
        let measured = &outcome.measured;
        let target = &self.record.target;
        let seconds = measured.elapsed.as_secs().max(1e-9);
        let over_provisioning = drive.over_provisioning();
        let energy = measured.energy.as_ref();
        let figure = Figure {
            mb_per_s: measured.bytes as f64 / 1e6 / seconds,
            iops: measured.latency.count() as f64 / seconds,
            latency_us: Latency::from(&measured.latency),
            ios: measured.latency.count(),
            bytes: measured.bytes,
            duration_s: seconds,
            mean_queue_depth: measured.in_flight_ns as f64 / measured.elapsed.0.max(1) as f64,
            state: self.state.clone(),
            write_amplification: outcome.write_amplification,
            nameplate_op: over_provisioning.map(|(nameplate, _)| nameplate),
            effective_op: over_provisioning.map(|(_, effective)| effective),
            wear: drive.wear().and_then(FlashWear::of),
            mean_power_w: energy.map(|energy| energy.joules / seconds),
            joules_per_gb: energy.map(|energy| energy.joules / (measured.bytes as f64 / 1e9)),
            cpu_us_per_io: (target.kind != crate::record::TargetKind::Virtual)
                .then(|| outcome.cpu_seconds * 1e6 / measured.latency.count() as f64),
            complete: measured.ended == JobEnd::Complete,
            job: job.clone(),
            fio: fio::command(name, job, target),
            latency_bins_ns: measured.latency.bins(),
        };
        self.record.series.insert(name.into(), series(measured));
        self.record.figures.insert(name.into(), figure);
    }
}

fn series(measured: &Measured) -> Series {
    let seconds = &measured.seconds;
    let micros_each = |second: &Second| second.latency_sum.as_micros() / second.ios.max(1) as f64;
    Series {
        iops: seconds.iter().map(|second| second.ios).collect(),
        mb_per_s: seconds.iter().map(|second| second.bytes as f64 / 1e6).collect(),
        latency_mean_us: seconds.iter().map(micros_each).collect(),
        latency_max_us: seconds.iter().map(|second| second.latency_max.as_micros()).collect(),
        energy_j: measured.energy.as_ref().map_or_else(Vec::new, |energy| energy.seconds.clone()),
    }
}

/// The time of day, to the second.
fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
