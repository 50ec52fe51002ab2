//! Carries out a plan on a drive, phase by phase, into a record.

use std::time::{Duration, Instant};

use fourcorners_drive::{Fault, Nanos};

use super::figure::{About, figure};
use super::phase::preparation;
use super::{
    Checkpoint, Method, Phase, Protocol, Reached, Replayed, Shelf, power, snia, trim_reaches,
};
use crate::device::{Erase, Meter, MeterReading};
use crate::drive::{Drive, Outcome, Purge};
use crate::observer;
use crate::record::{
    ClockName, Curve, Ended, Health, HealthReading, Host, Record, Series, TargetInfo, Verdict,
};
use crate::run::{JobEnd, Measured, Observer, Second};
use crate::trim::Range;
use crate::verdict::{three_digits, time, verdict};
use crate::workload::Job;

/// Who watches a review.
pub trait Watch {
    /// A phase begins.
    fn step(&mut self, step: &Step<'_>);
    /// How far the review is, 0 to 1. `false` stops it.
    fn go_on(&mut self, part_done: f64) -> bool;
    /// What the job that is running did in the whole seconds that are over, from its first on.
    fn seconds(&mut self, _so_far: &[Second]) {}
    /// A figure was measured; the record so far, sealed.
    fn measured(&mut self, so_far: &Record);
    /// A place was reached from which the review could go on.
    fn reached(&mut self, checkpoint: &Checkpoint);
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
    pub protocol: Protocol,
    /// What is done, step by step.
    pub plan: Vec<Phase>,
    /// Whether the plan is a quick one.
    pub quick: bool,
    /// The seed it was made with.
    pub seed: u64,
    /// What the record says of the target.
    pub target: TargetInfo,
    /// What the record says of the machine (wall clock only).
    pub host: Option<Host>,
    /// What the drive said of its health before (block devices).
    pub health: Option<HealthReading>,
    /// How a real drive is purged, if not by a discard.
    pub erase: Option<Erase>,
}

/// What is under test.
pub enum Bench<'a> {
    /// A virtual SSD: every purge takes a new one, in the state the phases after it ask for.
    Shelf(&'a Shelf<'a>),
    /// The one drive there is, and what was done to it since it was purged.
    One(&'a mut Drive, &'a mut Past),
}

/// The jobs that were run on a drive since it was purged, where they say all of its state.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Past(Option<Vec<Job>>);

impl Past {
    /// How many of the phases of a plan that begins with a purge are spared, because the drive is in
    /// the state they lead to or on the way there.
    pub fn spares(&self, plan: &[Phase]) -> usize {
        match (&self.0, plan) {
            (Some(jobs), [Phase::Purge, after @ ..])
                if !jobs.is_empty() && preparation(after).starts_with(jobs) =>
            {
                1 + jobs.len()
            }
            _ => 0,
        }
    }

    /// A phase was carried out.
    pub fn went_through(&mut self, phase: &Phase) {
        match (phase, &mut self.0) {
            (Phase::Purge, past) => *past = Some(Vec::new()),
            (Phase::Prepare { job, .. }, Some(jobs)) => jobs.push(job.clone()),
            (phase, _) if phase.only_reads() => {}
            _ => self.0 = None,
        }
    }
}

/// Runs a plan, or what is left of it after a checkpoint of an earlier run. A record always comes
/// back: of all that was planned, or of what was measured before it was stopped or failed.
pub fn review(
    reviewed: Reviewed,
    bench: &mut Bench<'_>,
    from: Option<Checkpoint>,
    watch: &mut impl Watch,
) -> Record {
    let protocol = reviewed.protocol.clone();
    let phases = reviewed.plan.clone();
    let clock = match bench {
        Bench::Shelf(_) => ClockName::Virtual,
        Bench::One(drive, _) => drive.clock().into(),
    };
    let mut review = Review::new(reviewed, clock);
    let total: f64 = phases.iter().map(Phase::estimated_seconds).sum::<f64>().max(1e-9);
    let mut taken = None;
    let mut next = 0;
    if let Some(reached) = from.and_then(|from| from.into_next(&phases)) {
        next = reached.next;
        review.go_on(reached);
    }
    let mut before: f64 = phases[..next].iter().map(Phase::estimated_seconds).sum();
    let mut purged = review.reached(next);
    while let Some(phase) = phases.get(next) {
        // The longest that begins here: of a purge and what follows it, the last is the one to name.
        let at_once = match bench {
            Bench::Shelf(_) if *phase == Phase::Purge => 1 + preparation(&phases[next + 1..]).len(),
            Bench::One(_, past) => past.spares(&phases[next..]),
            Bench::Shelf(_) => 0,
        };
        if *phase == Phase::Purge {
            purged = review.reached(next);
        }
        // A virtual drive that is not made anew by a purge goes through all of it again: it is fast.
        let can_go_on = match bench {
            Bench::Shelf(_) => *phase == Phase::Purge,
            Bench::One(drive, _) => matches!(drive, Drive::Real(_)),
        };
        if can_go_on && next > 0 {
            let reached = review.reached(next);
            watch.reached(&Checkpoint { purged: purged.clone(), reached });
        }
        let now = &phases[next..next + at_once.max(1)];
        let shown = now.last().unwrap_or(phase);
        watch.step(&Step { number: next + now.len(), of: phases.len(), phase: shown });
        let weight: f64 = now.iter().map(Phase::estimated_seconds).sum();
        let part = Part { from: before / total, share: weight / total };
        let observer = &mut Scaled { watch, part };
        match bench {
            Bench::Shelf(shelf) if at_once > 0 => {
                // The one before is gone before the next is made: two would take twice the memory.
                drop(taken.take());
                taken = review.take(shelf, now, observer);
            }
            Bench::Shelf(shelf) => {
                let mut drive = taken.take().unwrap_or_else(|| shelf.new_drive());
                review.carry_out(phase, &mut drive, observer);
                taken = Some(drive);
            }
            Bench::One(..) if at_once > 0 => review.is_in_state(shown),
            Bench::One(drive, past) => {
                review.carry_out(phase, drive, observer);
                past.went_through(phase);
                if review.record.ended != Ended::Complete {
                    **past = Past::default();
                }
            }
        }
        next += now.len();
        before += weight;
        if phase.measures() {
            review.record.finish();
            watch.measured(&review.record);
        }
        if review.record.ended != Ended::Complete {
            break;
        }
    }
    protocol.conclude(&mut review.record);
    review.record.finish();
    review.record
}

/// The record of a real target that could not be opened, where others were measured.
pub fn not_begun(reviewed: Reviewed, why: String) -> Record {
    let mut review = Review::new(reviewed, ClockName::Wall);
    review.record.ended = Ended::Failed(why);
    review.record.finish();
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

    fn seconds(&mut self, so_far: &[Second]) {
        self.watch.seconds(so_far);
    }
}

struct Review {
    record: Record,
    /// The state the target is in.
    state: String,
    purge_refusal_told: bool,
    erase: Option<Erase>,
    /// Of the machine, for the method that asks for it on a real drive.
    meter: Option<Meter>,
}

impl Review {
    fn new(reviewed: Reviewed, clock: ClockName) -> Review {
        let (target, protocol) = (reviewed.target, &reviewed.protocol);
        let begun = Record::begun(target, clock, protocol.name(), reviewed.seed, reviewed.host);
        let plan = protocol.file().map(|(_, info)| info);
        let health = reviewed.health.map(|before| Health { before, after: None });
        let record = Record { quick: reviewed.quick, plan, health, ..begun };
        let loaded = record.target.loaded_state.is_some();
        let state = if loaded { "loaded" } else { "as found" };
        let asked = reviewed.protocol == Method::Power.into() && clock == ClockName::Wall;
        let meter = asked.then(Meter::find).and_then(Result::ok);
        let erase = reviewed.erase;
        Review { record, state: state.into(), purge_refusal_told: false, erase, meter }
    }

    fn reached(&self, next: usize) -> Reached {
        Reached {
            next,
            state: self.state.clone(),
            purge_refusal_told: self.purge_refusal_told,
            record: self.record.clone(),
        }
    }

    fn go_on(&mut self, reached: Reached) {
        self.state = reached.state;
        self.purge_refusal_told = reached.purge_refusal_told;
        self.record = reached.record;
    }

    /// A drive in the state these phases lead to: a purge and what follows it.
    fn take(
        &mut self,
        shelf: &Shelf<'_>,
        phases: &[Phase],
        observer: &mut impl Observer,
    ) -> Option<Drive> {
        let jobs = preparation(phases.get(1..).unwrap_or_default());
        self.state = "fresh".into();
        match shelf.take(&jobs, observer) {
            Ok(drive) => {
                phases.iter().for_each(|phase| self.is_in_state(phase));
                Some(drive)
            }
            Err((drive, end)) => {
                self.note_end(end, "in preparation");
                Some(drive)
            }
        }
    }

    /// The phase would only lead to where the target is.
    fn is_in_state(&mut self, phase: &Phase) {
        if let Phase::Prepare { state, .. } = phase {
            self.state.clone_from(state);
        }
    }

    fn carry_out(&mut self, phase: &Phase, drive: &mut Drive, observer: &mut impl Observer) {
        match phase {
            Phase::Purge => self.purge(drive),
            Phase::Prepare { state, job } => {
                let outcome = drive.run(job, observer);
                self.state.clone_from(state);
                self.note_end(outcome.measured.ended, &format!("before \"{state}\""));
                self.settle(drive);
            }
            Phase::Measure { figure, job } => {
                let before = self.meter_now();
                let outcome = drive.run(job, observer);
                self.metered(figure, before);
                self.measured(figure, job, &outcome, drive);
            }
            Phase::Pass { figure, job, points } => {
                let outcome = drive.run_marked(job, job.span_bytes / points, observer);
                self.record.curves.insert(figure.clone(), pass(&outcome.measured, job, *points));
                self.measured(figure, job, &outcome, drive);
            }
            Phase::Rounds { most, tracked, tests } => {
                self.rounds(*most, tracked, tests, drive, observer);
            }
            Phase::Replay(replayed) => self.replay(replayed, drive, observer),
            Phase::BesideTrim { figure, job, range } => {
                let (outcome, trimmed) = drive.run_beside_trim(job, *range, observer);
                self.measured(figure, job, &outcome, drive);
                self.trimmed(*range, trimmed);
            }
            Phase::Trim { range } => {
                let trimmed = drive.trim(*range);
                if trimmed.is_ok() {
                    self.state = "trimmed".into();
                }
                self.trimmed(*range, trimmed);
                self.settle(drive);
            }
            Phase::ProbeTrim { range } => {
                match trim_reaches::probe(drive, *range, self.record.seed) {
                    Ok(found) => self.record.verdicts.extend(found),
                    Err(why) => self.record.ended = Ended::Failed(why),
                }
                self.state = "trimmed".into();
                self.settle(drive);
            }
            Phase::Idle { seconds } => self.idle(*seconds, drive, observer),
            Phase::LeftOut { why } => self.say("not-run", why.clone()),
        }
    }

    /// A virtual drive's clock goes on at once; a real one is left alone.
    fn idle(&mut self, seconds: u64, drive: &mut Drive, observer: &mut impl Observer) {
        if let Some(watts) = drive.idle_power(seconds) {
            let text = format!("Idle, it draws {} W.", three_digits(watts));
            self.record.verdicts.push(verdict(power::IDLE, text, watts));
        }
        if !matches!(drive, Drive::Real(_)) {
            return;
        }
        const STEP: Duration = Duration::from_millis(100);
        let before = self.meter_now();
        let (began, whole) = (Instant::now(), Duration::from_secs(seconds));
        while let Some(left) = whole.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) {
            if !observer.go_on(1.0 - left.as_secs_f64() / whole.as_secs_f64()) {
                self.record.ended = Ended::Interrupted;
                return;
            }
            std::thread::sleep(left.min(STEP));
        }
        self.metered("idle", before);
    }

    fn meter_now(&self) -> Option<MeterReading> {
        self.meter.as_ref()?.read().ok()
    }

    /// Says what the processors drew since.
    fn metered(&mut self, what: &str, before: Option<MeterReading>) {
        let (Some(meter), Some(before), Some(now)) = (&self.meter, before, self.meter_now()) else {
            return;
        };
        let watts = meter.watts(&before, &now);
        let text = format!(
            "The machine's processors drew {} W ({what}); the drive's share is not known.",
            three_digits(watts)
        );
        self.record.verdicts.push(verdict(power::MACHINE, text, watts));
    }

    /// A figure was measured, if anything was.
    fn measured(&mut self, name: &str, job: &Job, outcome: &Outcome, drive: &mut Drive) {
        self.note_end(outcome.measured.ended, &format!("in {name}"));
        if outcome.measured.latency.count() > 0 {
            self.keep(name, job, outcome, drive);
        }
        // A used drive stays one.
        if outcome.measured.writes > 0 && self.state != "used" {
            self.state = "overwritten".into();
        }
        self.settle(drive);
    }

    /// A trace is replayed; each figure has its name beside those of the other states.
    fn replay(&mut self, replayed: &Replayed, drive: &mut Drive, observer: &mut impl Observer) {
        let played = match replayed.play(drive, &mut self.record, observer) {
            Ok(played) => played,
            Err(why) => return self.record.ended = Ended::Failed(why),
        };
        let place = format!("in {} of {}", replayed.figure, replayed.trace);
        self.note_end(played.outcome.measured.ended, &place);
        if let (Some(why), Ended::Complete) = (&played.broken, &self.record.ended) {
            self.record.ended = Ended::Failed(why.clone());
        }
        let complete = self.record.ended == Ended::Complete;
        let measured = played.outcome.measured.latency.count() > 0;
        if let (true, Some(of)) = (measured, self.record.replays.get_mut(&replayed.name)) {
            let figure = played.figure(&self.state, drive, complete);
            of.figures.insert(replayed.figure.into(), figure);
        }
        self.state = "replayed on".into();
        self.settle(drive);
    }

    /// The figures of a round take the place of those of the one before.
    fn rounds(
        &mut self,
        most: usize,
        tracked: &str,
        tests: &[(String, Job)],
        drive: &mut Drive,
        observer: &mut impl Observer,
    ) {
        let mut by_round: Vec<f64> = Vec::new();
        for round in 0..most {
            for (index, (name, job)) in tests.iter().enumerate() {
                let from = (round * tests.len() + index) as f64 / (most * tests.len()) as f64;
                let share = 1.0 / (most * tests.len()) as f64;
                let outcome = drive.run(job, &mut observer::Part { observer, from, share });
                if round > 0 && outcome.measured.ended != JobEnd::Complete {
                    // A whole figure of the round before is worth more than a part of one.
                    self.note_end(outcome.measured.ended, &format!("in {name}"));
                } else {
                    self.measured(name, job, &outcome, drive);
                }
                if self.record.ended != Ended::Complete {
                    return;
                }
            }
            by_round.extend(self.record.figures.get(tracked).map(|figure| figure.iops));
            if snia::steady(&by_round).is_some_and(snia::is_steady) {
                break;
            }
        }
        let points = by_round.iter().enumerate().map(|(index, &iops)| (index as f64 + 1.0, iops));
        let curve = Curve { x: "round".into(), y: "IOPS".into(), points: points.collect() };
        self.record.curves.insert(snia::rounds_of(tracked), curve);
    }

    /// A TRIM was done, or refused: that is a finding and no failure.
    fn trimmed(&mut self, range: Range, trimmed: Result<Nanos, Fault>) {
        let gb = range.bytes as f64 / 1e9;
        match trimmed {
            Ok(took) => {
                let text = format!("A TRIM of {gb:.1} GB took {}.", time(took.as_micros()));
                self.record.verdicts.push(verdict("trim-time", text, took.as_secs()));
            }
            Err(fault) => self.say("trim-refused", format!("The TRIM was refused: {fault}.")),
        }
    }

    fn purge(&mut self, drive: &mut Drive) {
        let purged = match self.record.target.loaded_state {
            // Its past is what it was loaded for.
            Some(_) => Ok(Purge::NotPossible("the drive is tested as it was loaded".into())),
            None => match &self.erase {
                Some(erase) => return self.erased(&erase.clone()),
                None => drive.purge(),
            },
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

    /// Purges by the drive's own command, and says so once.
    fn erased(&mut self, erase: &Erase) {
        match erase.run() {
            Ok(()) => {
                self.state = "fresh".into();
                if !self.purge_refusal_told {
                    self.purge_refusal_told = true;
                    self.say("purge", format!("Purged by {}.", erase.with()));
                }
            }
            Err(why) => self.record.ended = Ended::Failed(format!("the purge failed: {why}")),
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
        let about = About { name, job, state: &self.state, target: &self.record.target };
        let figure = figure(&about, outcome, drive);
        self.record.series.insert(name.into(), Series::from(&outcome.measured));
        self.record.figures.insert(name.into(), figure);
    }
}

/// Data rate against the place, from when each piece was done.
fn pass(measured: &Measured, job: &Job, points: u64) -> Curve {
    let piece = (job.span_bytes / points) as f64;
    let mut before = Nanos::ZERO;
    let point = |(index, &mark): (usize, &Nanos)| {
        let seconds = (mark - before).as_secs().max(1e-9);
        before = mark;
        let middle = job.span_start_bytes as f64 + (index as f64 + 0.5) * piece;
        (middle / 1e9, piece / 1e6 / seconds)
    };
    let points = measured.marks.iter().take(points as usize).enumerate().map(point).collect();
    Curve { x: "GB from the first LBA".into(), y: "MB/s".into(), points }
}
