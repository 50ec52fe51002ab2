//! A review under way: its record so far, the state its target is in, and what a phase does to both.

use std::time::{Duration, Instant};

use fourcorners_drive::{Fault, Nanos};
use fourcorners_linux::device::{Erase, Meter, MeterReading};
use fourcorners_record::note::note;
use fourcorners_record::{ClockName, Curve, Ended, Figure, Health, Job, Note, Record, Series};
use fourcorners_run::trim::Range;
use fourcorners_run::{JobEnd, Observer, PartObserver};
use fourcorners_words::{figure_words, three_digits, time};

use super::figure::{About, figure};
use super::phase::preparation;
use super::runner::Reviewed;
use super::trim_reaches::{NotProbed, Probe};
use super::trim_works::{REFUSED, TIME};
use super::{
    Method, Phase, Reached, Replayed, StateCache, irregular, lba_pass, power, quick, snia,
    trim_reaches,
};
use crate::drive::{Drive, LOADED, NOT_PURGED, Outcome, PURGE, Purge};
use crate::heat;

/// A review whose plan is being carried out.
pub(super) struct Review {
    pub(super) record: Record,
    /// The state the target is in.
    state: String,
    purge_refusal_told: bool,
    /// When the last preparation ended, on the target's clock.
    prepared_at: Option<Nanos>,
    erase: Option<Erase>,
    /// Of the machine, for the method that asks for it on a real drive.
    meter: Option<Meter>,
}

impl Review {
    pub(super) fn new(reviewed: Reviewed, clock: ClockName) -> Review {
        let (target, protocol) = (reviewed.target, &reviewed.protocol);
        let begun =
            Record::begun(target, clock, protocol.name(), reviewed.scope.seed, reviewed.host);
        let plan = protocol.file().map(|(_, info)| info);
        let health = reviewed.health.map(|before| Health { before, after: None, heat: None });
        let (quick, author) = (reviewed.scope.quick, reviewed.author);
        let record = Record { quick, author, plan, health, ..begun };
        let loaded = record.target.loaded_state.is_some();
        let state = if loaded { "loaded" } else { "as found" };
        let asked = reviewed.protocol == Method::Power.into() && clock == ClockName::Wall;
        let meter = asked.then(Meter::find).and_then(Result::ok);
        let erase = reviewed.erase;
        let (state, purge_refusal_told) = (state.into(), false);
        Review { record, state, purge_refusal_told, prepared_at: None, erase, meter }
    }

    pub(super) fn reached(&self, next: usize) -> Reached {
        Reached {
            next,
            state: self.state.clone(),
            purge_refusal_told: self.purge_refusal_told,
            record: self.record.clone(),
        }
    }

    pub(super) fn go_on(&mut self, reached: Reached) {
        self.state = reached.state;
        self.purge_refusal_told = reached.purge_refusal_told;
        self.record = reached.record;
    }

    /// A drive in the state these phases lead to: a purge and what follows it.
    pub(super) fn take(
        &mut self,
        states: &StateCache<'_>,
        phases: &[Phase],
        observer: &mut dyn Observer,
    ) -> Option<Drive> {
        let jobs = preparation(phases.get(1..).unwrap_or_default());
        self.state = "fresh".into();
        match states.take(&jobs, observer) {
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
    pub(super) fn is_in_state(&mut self, phase: &Phase) {
        if let Phase::Prepare { state, .. } = phase {
            self.state.clone_from(state);
        }
    }

    pub(super) fn carry_out(
        &mut self,
        phase: &Phase,
        drive: &mut Drive,
        observer: &mut dyn Observer,
    ) {
        match phase {
            Phase::Purge => self.purge(drive),
            Phase::Prepare { state, job } => {
                let outcome = drive.run(job, observer);
                self.state.clone_from(state);
                self.note_end(outcome.measured.ended, &format!("before \"{state}\""));
                if self.record.method == quick::METHOD {
                    let note = quick::short_span(job, outcome.measured.bytes);
                    self.record.notes.extend(note);
                }
                self.settle(drive);
                self.prepared_at = Some(drive.now());
            }
            Phase::Measure { figure, job } => {
                let before = self.meter_now();
                let outcome = drive.run(job, observer);
                self.metered(figure, before);
                self.measured(figure, job, &outcome, drive);
            }
            Phase::Pass { figure, job, points } => {
                let points = lba_pass::pieces(job, *points);
                let outcome = drive.run_marked(job, job.span_bytes / points, observer);
                let curve = lba_pass::curve(&outcome.measured, job, points);
                self.record.curves.insert(figure.clone(), curve);
                self.measured(figure, job, &outcome, drive);
            }
            Phase::Runs { times, figure, job } => {
                let job = quick::within_written(job, &self.record.notes);
                self.runs(*times, figure, &job, drive, observer);
            }
            Phase::Rounds { most, tracked, tests } => {
                self.rounds(*most, tracked, tests, drive, observer);
            }
            Phase::Replay(replayed) => self.replay(replayed, drive, observer),
            Phase::BesideTrim { figure, job, range } => {
                let (outcome, trimmed) = drive.run_beside_trim(job, *range, observer);
                self.measured(figure, job, &outcome, drive);
                self.trimmed(*range, Some(figure), trimmed);
            }
            Phase::Trim { range } => {
                let trimmed = drive.trim(*range);
                if trimmed.is_ok() {
                    self.state = "trimmed".into();
                }
                self.trimmed(*range, None, trimmed);
                self.settle(drive);
            }
            Phase::ProbeTrim { range } => {
                match self.probe_trim(*range, drive, observer) {
                    Ok(()) => {}
                    Err(NotProbed::Found(note)) => self.record.notes.push(note),
                    Err(NotProbed::Failed(error)) => {
                        self.record.ended = Ended::Failed(error.to_string());
                    }
                }
                self.state = "trimmed".into();
                self.settle(drive);
            }
            Phase::Idle { seconds } => self.idle(*seconds, drive, observer),
            Phase::Rest { seconds } => {
                let end = self.prepared_at.unwrap_or(drive.now()) + Nanos::from_secs(*seconds);
                let now = drive.now();
                if end > now {
                    self.leave_alone(end - now, drive, observer);
                }
            }
            // The runner has put what it means in its place.
            Phase::AfterLongTrim { .. } => {}
            Phase::LeftOut { why } => self.say("not-run", why.clone()),
        }
    }

    /// Trims a range and looks for what that did: at once, and where nothing is seen once more after
    /// a rest, since a drive may do it later.
    fn probe_trim(
        &mut self,
        range: Range,
        drive: &mut Drive,
        observer: &mut dyn Observer,
    ) -> Result<(), NotProbed> {
        let probe = Probe::begin(drive, range, self.record.seed)?;
        let mut found = probe.look(drive).map_err(NotProbed::Failed)?;
        if !trim_reaches::is_seen(&found) {
            let (full, quick) = (trim_reaches::REST_SECONDS, trim_reaches::QUICK_REST_SECONDS);
            let rest = if self.record.quick { quick } else { full };
            self.leave_alone(Nanos::from_secs(rest), drive, observer);
            if self.record.ended != Ended::Complete {
                return Ok(());
            }
            found = probe.look(drive).map_err(NotProbed::Failed)?;
            if trim_reaches::is_seen(&found) {
                let text = format!("The TRIM had no effect at once, and had one {rest} s later.");
                self.record.notes.push(note("trim-later", text, rest as f64));
            }
        }
        self.record.notes.extend(found);
        Ok(())
    }

    fn idle(&mut self, seconds: u64, drive: &mut Drive, observer: &mut dyn Observer) {
        let before = self.meter_now();
        let time = Nanos::from_secs(seconds);
        if matches!(drive, Drive::Real(_)) {
            self.leave_alone(time, drive, observer);
            if self.record.ended == Ended::Complete {
                self.metered("idle", before);
            }
        } else if let Some(drawn) = drive.idle(time) {
            self.record.notes.extend(power::idle(drawn, seconds));
        }
    }

    /// A virtual drive's clock goes on at once; a real one is waited for.
    fn leave_alone(&mut self, time: Nanos, drive: &mut Drive, observer: &mut dyn Observer) {
        if !matches!(drive, Drive::Real(_)) {
            drive.leave_alone(time);
            return;
        }
        const STEP: Duration = Duration::from_millis(100);
        let (began, whole) = (Instant::now(), Duration::from_nanos(time.0));
        while let Some(left) = whole.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) {
            if !observer.go_on(1.0 - left.as_secs_f64() / whole.as_secs_f64()) {
                self.record.ended = Ended::Interrupted;
                break;
            }
            std::thread::sleep(left.min(STEP));
        }
    }

    /// The phases that are carried out again because the last TRIM took longer than the rest they
    /// had, with rests as long as it took; none where it did not.
    pub(super) fn after_long_trim(&self, seconds: u64, again: &[Phase]) -> Vec<Phase> {
        let took = self.record.notes.iter().rfind(|note| note.about == TIME);
        let took = took.and_then(|note| note.value).unwrap_or(0.0).ceil() as u64;
        let rested = |phase: &Phase| match phase {
            Phase::Rest { .. } => Phase::Rest { seconds: took },
            phase => phase.clone(),
        };
        let again = again.iter().filter(|_| took > seconds);
        again.map(rested).collect()
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
            "The machine's processors drew {} W ({what}); the drive's own power is not known.",
            three_digits(watts)
        );
        self.record.notes.push(note(power::MACHINE, text, watts));
    }

    /// A figure was measured, if anything was.
    fn measured(&mut self, name: &str, job: &Job, outcome: &Outcome, drive: &mut Drive) {
        heat::add(&mut self.record, outcome);
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
    fn replay(&mut self, replayed: &Replayed, drive: &mut Drive, observer: &mut dyn Observer) {
        let played = match replayed.play(drive, &mut self.record, observer) {
            Ok(played) => played,
            Err(error) => return self.record.ended = Ended::Failed(error.to_string()),
        };
        let place = format!("in {} of {}", replayed.figure, replayed.trace);
        self.note_end(played.outcome.measured.ended, &place);
        heat::add(&mut self.record, &played.outcome);
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

    /// The fastest of several runs is the figure. A run that was cut short counts only where no other was
    /// finished.
    fn runs(
        &mut self,
        times: usize,
        name: &str,
        job: &Job,
        drive: &mut Drive,
        observer: &mut dyn Observer,
    ) {
        let mut rates: Vec<(f64, f64)> = Vec::new();
        let mut best: Option<(Job, Outcome)> = None;
        let state = self.state.clone();
        for run in 0..times {
            // fio takes a seed as a signed number.
            let seed = job.seed.wrapping_add(run as u64) & (u64::MAX >> 1);
            let job = Job { seed, ..job.clone() };
            let (from, share) = (run as f64 / times as f64, 1.0 / times as f64);
            let outcome = drive.run(&job, &mut PartObserver { observer, from, share });
            heat::add(&mut self.record, &outcome);
            let measured = &outcome.measured;
            self.note_end(measured.ended, &format!("in {name}"));
            if measured.writes > 0 && self.state != "used" {
                self.state = "overwritten".into();
            }
            if measured.latency.count() > 0 && (measured.ended == JobEnd::Complete || run == 0) {
                let rate = |of: &Outcome| {
                    of.measured.bytes as f64 / 1e6 / of.measured.elapsed.as_secs().max(1e-9)
                };
                rates.push((run as f64 + 1.0, rate(&outcome)));
                if best.as_ref().is_none_or(|(_, best)| rate(&outcome) > rate(best)) {
                    best = Some((job, outcome));
                }
            }
            self.settle(drive);
            if self.record.ended != Ended::Complete {
                break;
            }
        }
        let Some((job, outcome)) = best else { return };
        self.record.notes.extend(quick::read_share(&job, &outcome.measured));
        let curve = Curve { x: "run".into(), y: "MB/s".into(), points: rates };
        self.record.curves.insert(quick::runs_of(name), curve);
        let after = std::mem::replace(&mut self.state, state);
        self.keep(name, &job, &outcome, drive);
        self.state = after;
    }

    /// The figures of a round take the place of those of the one before.
    fn rounds(
        &mut self,
        most: usize,
        tracked: &str,
        tests: &[(String, Job)],
        drive: &mut Drive,
        observer: &mut dyn Observer,
    ) {
        let mut by_round: Vec<f64> = Vec::new();
        for round in 0..most {
            for (index, (name, job)) in tests.iter().enumerate() {
                let from = (round * tests.len() + index) as f64 / (most * tests.len()) as f64;
                let share = 1.0 / (most * tests.len()) as f64;
                let outcome = drive.run(job, &mut PartObserver { observer, from, share });
                if round > 0 && outcome.measured.ended != JobEnd::Complete {
                    // A whole figure of the round before is worth more than a part of one.
                    heat::add(&mut self.record, &outcome);
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

    /// A TRIM was done, beside the job of a figure or alone, or refused: that is a finding and no failure.
    fn trimmed(&mut self, range: Range, beside: Option<&str>, trimmed: Result<Nanos, Fault>) {
        let gb = range.bytes as f64 / 1e9;
        match trimmed {
            Ok(took) => {
                let beside = beside.map(figure_words);
                let beside = beside.map_or(String::new(), |figure| format!(" beside \"{figure}\""));
                let text = format!("A TRIM of {gb:.1} GB{beside} took {}.", time(took.as_micros()));
                let said = note(TIME, text, took.as_secs());
                // Of several that took as long it is said once.
                if self.record.notes.last() != Some(&said) {
                    self.record.notes.push(said);
                }
            }
            Err(fault) => self.say(REFUSED, format!("The TRIM was refused: {fault}.")),
        }
    }

    fn purge(&mut self, drive: &mut Drive) {
        let purged = match self.record.target.loaded_state {
            // Its past is what it was loaded for.
            Some(_) => Ok(Purge::NotPossible(LOADED.into())),
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
                        PURGE,
                        format!("{NOT_PURGED}: {why}. Each test starts from the state that the one before left."),
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
                    self.say(PURGE, format!("Purged by {}.", erase.with()));
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
        self.record.notes.push(Note { about: about.into(), text, value: None });
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
        let series = Series::from(&outcome.measured);
        // A virtual drive's seconds are all its own.
        if matches!(drive, Drive::Real(_)) {
            note_irregular(&mut self.record, name, &figure, &series);
        }
        self.record.series.insert(name.into(), series);
        self.record.figures.insert(name.into(), figure);
    }
}

/// Notes what is irregular in a figure that is about to be kept. What was noted of the one whose place it takes, in a later round or
/// after a longer rest, goes with that one.
fn note_irregular(record: &mut Record, name: &str, figure: &Figure, series: &Series) {
    let of = |figure, series| {
        let said = irregular::said(name, series).into_iter();
        said.chain(irregular::interference(name, figure))
    };
    if let (Some(figure), Some(series)) = (record.figures.get(name), record.series.get(name)) {
        // By their words: the numbers of a record that was resumed went through JSON.
        let gone: Vec<Note> = of(figure, series).collect();
        let is_gone =
            |note: &Note| gone.iter().any(|it| it.about == note.about && it.text == note.text);
        record.notes.retain(|note| !is_gone(note));
    }
    record.notes.extend(of(figure, series));
}

#[cfg(test)]
mod tests {
    use fourcorners_record::{Noise, TargetInfo, TargetKind};

    use super::super::figure;
    use super::*;

    /// What is noted after these rounds of a figure, each from the one second that is unlike the others and the share of others.
    fn noted(rounds: &[(Option<usize>, f64)]) -> Vec<String> {
        let target = TargetInfo::new("a".into(), TargetKind::Device, 1 << 30, 512);
        let mut record = Record::begun(target, ClockName::Wall, snia::METHOD, 1, None);
        let others = "random_write_4k_qd32_steady: outliers in 1 of 60 seconds".to_string();
        let others = Note { about: "outliers".into(), text: others, value: Some(1.0) };
        record.notes.push(others.clone());
        let name = "random_write_4k_qd3_steady";
        for &(unlike, other_io_share) in rounds {
            let rate = |second| if Some(second) == unlike { 9.0 } else { 100.0 };
            let series = Series { mb_per_s: (0..60).map(rate).collect(), ..Series::default() };
            let noise = Noise {
                cpu_wait_share: 0.0,
                cpu_steal_share: 0.0,
                load: 1.0,
                other_io_share: Some(other_io_share),
                stopped_share: 0.0,
            };
            let figure = Figure { noise: Some(noise), ..figure::example() };
            note_irregular(&mut record, name, &figure, &series);
            record.series.insert(name.into(), series);
            record.figures.insert(name.into(), figure);
        }
        assert_eq!(record.notes.remove(0), others, "that of another figure stays");
        record.notes.into_iter().map(|note| note.about).collect()
    }

    #[test]
    fn what_was_noted_of_a_figure_goes_with_it() {
        let all = ["outliers", "other-io"];
        assert_eq!(noted(&[(Some(20), 0.5)]), all);
        assert!(noted(&[(Some(20), 0.5), (None, 0.0)]).is_empty());
        assert_eq!(noted(&[(Some(20), 0.5), (Some(30), 0.7), (Some(40), 0.7)]), all);
        assert_eq!(noted(&[(None, 0.0), (Some(30), 0.0)]), ["outliers"]);
    }
}
