//! Measures every target with every method: virtual drives side by side, real ones one at a time.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fourcorners_linux::device;
use fourcorners_machine::{host, workers};
use fourcorners_record::{Document, Ended, Record, TargetInfo};
use fourcorners_run::Second;

use super::resume_folder::SavedProgress;
use super::{ResultsFolder, ResumeFolder, Session, Sink, Warning};
use crate::device_under_test::{DeviceError, Ready};
use crate::memory::Room;
use crate::review::{
    Checkpoint, DriveSource, Foreseen, Past, Reviewed, StateCache, Step, Watch, longest_first,
    not_begun, review,
};

/// Where what was measured goes, besides the sink.
#[derive(Clone, Copy, Default)]
pub(super) struct Outputs<'a> {
    pub(super) results: Option<&'a ResultsFolder>,
    /// How far it is, for `--resume`.
    pub(super) resume: Option<&'a ResumeFolder>,
}

/// Measures all sessions: a record for each session and method, in that order, whatever the order they are
/// finished in and however many run at a time. Virtual drives run side by side, as many as there are CPUs and
/// memory; real ones after that and one at a time, since they would disturb each other. Once the sink has
/// stopped it, no other is begun; those have no record.
///
/// # Errors
/// [`DeviceError`] where a target that is the first to be measured cannot be opened; a virtual drive that is
/// new always can.
pub fn measure(sessions: &[Session], sink: &dyn Sink) -> Result<Document, DeviceError> {
    measure_into(sessions, Outputs::default(), Vec::new(), sink)
}

/// Measures what is left of all sessions, and saves on the way.
pub(super) fn measure_into(
    sessions: &[Session],
    outputs: Outputs<'_>,
    mut begun: Vec<Option<SavedProgress>>,
    sink: &dyn Sink,
) -> Result<Document, DeviceError> {
    // The first record of each session, and what each record's target is called.
    let mut names = Vec::new();
    let mut first_slots = Vec::new();
    for (session, name) in sessions.iter().zip(session_names(sessions)) {
        first_slots.push(names.len());
        let mut past = Past::default();
        for (method, plan) in &session.plans {
            // Each has a new virtual drive.
            if !session.target.is_real() {
                past = Past::default();
            }
            let seconds = past.foresee(plan).iter().map(Foreseen::estimated_seconds).sum();
            sink.planned(&name, method.name(), seconds);
            names.push(name.clone());
        }
    }
    let count = names.len();
    let records = Records(Mutex::new(vec![None; count]));
    begun.resize(count, None);
    for (slot, begun) in begun.iter().enumerate() {
        if let Some(SavedProgress::Done(record)) = begun {
            sink.ended(&names[slot], record);
            // Maybe it was killed between the two.
            sink.keep(record);
            records.put(slot, (**record).clone());
        }
    }
    let run = Run { sink, outputs, names, records: &records, begun };
    let room = Room::here(&sessions.iter().map(Session::need).collect::<Vec<_>>());
    let states: Vec<Option<(StateCache<'_>, TargetInfo)>> = sessions
        .iter()
        .map(|session| session.states(room.keep).zip(session.target.describe()))
        .collect();
    // A drive's methods one after the other, so that its states are wanted at the same time.
    let mut work: Vec<Work<'_>> = Vec::new();
    for ((session, &first), states) in sessions.iter().zip(&first_slots).zip(&states) {
        if !session.target.is_real() {
            let order = longest_first(session.plans.iter().map(|(_, plan)| plan));
            let states = states.as_ref();
            let order = order.into_iter();
            work.extend(order.map(|method| Work { slot: first + method, session, states, method }));
        }
    }
    workers::each(&work, room.workers, |work| match sink.stopped() {
        false => run.virtual_drive(work),
        true => Ok(()),
    })?;
    for (session, &first) in sessions.iter().zip(&first_slots) {
        if session.target.is_real() {
            run.real(session, first)?;
        }
    }
    Ok(records.document())
}

/// What the target of each session is called: by the session's seed, too, where several have the same target.
fn session_names(sessions: &[Session]) -> impl Iterator<Item = String> {
    let names: Vec<String> = sessions.iter().map(|session| session.target.name()).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for name in &names {
        *counts.entry(name.clone()).or_default() += 1;
    }
    names.into_iter().zip(sessions).map(move |(name, session)| match counts[&name] {
        1 => name,
        _ => format!("{name}, seed {}", session.scope.seed),
    })
}

/// A method of a virtual drive.
struct Work<'a> {
    slot: usize,
    session: &'a Session,
    states: Option<&'a (StateCache<'a>, TargetInfo)>,
    method: usize,
}

/// Nothing is left of a record to be measured.
struct Whole;

/// What all reviews of a run share.
struct Run<'a> {
    sink: &'a dyn Sink,
    outputs: Outputs<'a>,
    /// What the target of each record is called.
    names: Vec<String>,
    records: &'a Records,
    /// How far each record was when the campaign was ended before.
    begun: Vec<Option<SavedProgress>>,
}

impl Run<'_> {
    /// Where a record goes on; an error if there is nothing left of it.
    fn from(&self, slot: usize) -> Result<Option<Checkpoint>, Whole> {
        match &self.begun[slot] {
            None => Ok(None),
            Some(SavedProgress::At(checkpoint)) => Ok(Some((**checkpoint).clone())),
            Some(SavedProgress::Done(_)) => Err(Whole),
        }
    }

    /// A record is as whole as it gets in this run.
    fn put(&self, slot: usize, record: Record) {
        if let (Some(resume), Ended::Complete) = (self.outputs.resume, &record.ended) {
            let done = SavedProgress::Done(Box::new(record.clone()));
            if let Err(error) = resume.save(slot, &done) {
                self.sink.warn(&Warning::Record(error));
            }
        }
        self.sink.keep(&record);
        self.records.put(slot, record);
    }

    fn virtual_drive(&self, work: &Work<'_>) -> Result<(), DeviceError> {
        let Work { slot, session, states, method } = *work;
        let Ok(from) = self.from(slot) else { return Ok(()) };
        let watch = &mut self.watch(session, method, slot);
        let record = match states {
            Some((states, target)) => {
                let reviewed = session.reviewed(method, target.clone(), None);
                review(reviewed, &mut DriveSource::Cached(states), from, watch)
            }
            None => {
                let Ready { mut drive, target, host, .. } = session.open()?;
                let reviewed = session.reviewed(method, target, host);
                let past = &mut Past::default();
                review(reviewed, &mut DriveSource::One(&mut drive, past), None, watch)
            }
        };
        self.sink.ended(&self.names[slot], &record);
        self.put(slot, record);
        Ok(())
    }

    /// All methods of a real target, on the one drive there is.
    fn real(&self, session: &Session, first: usize) -> Result<(), DeviceError> {
        let mut past = Past::default();
        for method in 0..session.plans.len() {
            if self.sink.stopped() {
                return Ok(());
            }
            let slot = first + method;
            let Ok(from) = self.from(slot) else { continue };
            let record = match session.open() {
                Ok(Ready { mut drive, target, host, .. }) => {
                    let watch = &mut self.watch(session, method, slot);
                    let health = session.target.health();
                    let reviewed = Reviewed { health, ..session.reviewed(method, target, host) };
                    let source = &mut DriveSource::One(&mut drive, &mut past);
                    let mut record = review(reviewed, source, from, watch);
                    if let Some(health) = &mut record.health {
                        health.after = session.target.health();
                        record.notes.extend(device::notes(health));
                        record.seal();
                    }
                    record
                }
                // Free when it was checked and taken since; the others are not to be lost for that.
                Err(why) => match session.target.unopened().filter(|_| !self.records.is_empty()) {
                    Some(target) => {
                        let host = Some(host::describe());
                        not_begun(session.reviewed(method, target, host), why.to_string())
                    }
                    None => return Err(why),
                },
            };
            self.sink.ended(&self.names[slot], &record);
            self.put(slot, record);
        }
        Ok(())
    }

    fn watch(&self, session: &Session, method: usize, slot: usize) -> Saving<'_> {
        let watch = self.sink.watch(&self.names[slot], session.plans[method].0.name());
        let is_real = session.target.is_real();
        Saving { run: self, watch, slot, is_real, saved: None }
    }
}

/// The records of a run, each in its place whatever the order they are finished in.
struct Records(Mutex<Vec<Option<Record>>>);

impl Records {
    fn put(&self, slot: usize, record: Record) {
        self.0.lock().expect("no holder panics")[slot] = Some(record);
    }

    fn is_empty(&self) -> bool {
        self.0.lock().expect("no holder panics").iter().all(Option::is_none)
    }

    fn document(&self) -> Document {
        let slots = self.0.lock().expect("no holder panics");
        Document::new(slots.iter().flatten().cloned().collect())
    }
}

/// Shows progress, and saves after each figure of a real drive: the next one may fail, and
/// measuring again costs hours there.
struct Saving<'a> {
    run: &'a Run<'a>,
    watch: Box<dyn Watch + 'a>,
    slot: usize,
    is_real: bool,
    /// When a place to go on from was saved.
    saved: Option<Instant>,
}

/// Places to go on from are a second apart on virtual drives: what is lost is made again sooner than
/// a disk has written all of them.
const BETWEEN_SAVES: Duration = Duration::from_secs(1);

impl Watch for Saving<'_> {
    fn step(&mut self, step: &Step<'_>) {
        self.watch.step(step);
    }

    fn go_on(&mut self, part_done: f64) -> bool {
        self.watch.go_on(part_done)
    }

    fn seconds(&mut self, so_far: &[Second]) {
        self.watch.seconds(so_far);
    }

    fn measured(&mut self, so_far: &Record) {
        self.watch.measured(so_far);
        if so_far.host.is_none() {
            return;
        }
        let Run { sink, outputs, records, .. } = self.run;
        records.put(self.slot, so_far.clone());
        if let Some(results) = outputs.results
            && let Err(error) = results.save_document(&records.document())
        {
            sink.warn(&Warning::Document(error));
        }
    }

    fn reached(&mut self, checkpoint: &Checkpoint) {
        self.watch.reached(checkpoint);
        let Some(resume) = self.run.outputs.resume else { return };
        if !self.is_real && self.saved.is_some_and(|saved| saved.elapsed() < BETWEEN_SAVES) {
            return;
        }
        self.saved = Some(Instant::now());
        let at = SavedProgress::At(Box::new(checkpoint.clone()));
        if let Err(error) = resume.save(self.slot, &at) {
            self.run.sink.warn(&Warning::Checkpoint(error));
        }
    }
}
