//! Measures every target with every method: virtual drives side by side, real ones one at a time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use fourcorners_lab::drive::Drive;
use fourcorners_lab::review::{
    Bench, Checkpoint, Past, Phase, Protocol, Reviewed, Shelf, Step, Watch, longest_first,
    not_begun, review,
};
use fourcorners_lab::side_by_side::{Need, Room, shelf};
use fourcorners_linux::device::{self, Erase};
use fourcorners_machine::{host, workers};
use fourcorners_record::{Document, Ended, Host, Record, TargetInfo};
use fourcorners_run::Second;

use super::Failure;
use super::interrupt::Interrupt;
use super::keeper::Keeper;
use super::out::Out;
use super::planned::{Planned, Ready};
use super::progress::{Progress, ReviewProgress};
use super::resume::{Begun, Kept};
use super::terminal::say;

/// What is to be done to a target.
pub(super) struct Session {
    pub(super) target: Planned,
    /// The plan of each method, in the order they are carried out.
    pub(super) plans: Vec<(Protocol, Vec<Phase>)>,
    pub(super) quick: bool,
    pub(super) seed: u64,
    /// How a real target is purged, if not by a discard.
    pub(super) erase: Option<Erase>,
}

impl Session {
    /// The states of a virtual SSD, if a purge makes it new.
    fn shelf(&self, keep: bool) -> Option<Shelf<'_>> {
        let Planned::Virtual(profile) = &self.target else { return None };
        let plans: Vec<Vec<Phase>> = self.plans.iter().map(|(_, plan)| plan.clone()).collect();
        shelf(profile, &plans, keep, || Drive::from_profile(profile))
    }

    /// The memory it takes.
    fn need(&self) -> Need {
        Need {
            drive: self.target.memory_bytes(),
            kept: self.shelf(true).map_or(0, |shelf| shelf.most_kept()),
            methods: self.plans.len(),
        }
    }

    /// The target, ready for all of its plans.
    fn open(&self) -> Result<Ready, String> {
        self.target.open(self.plans.iter().flat_map(|(_, plan)| plan))
    }

    fn reviewed(&self, method: usize, target: TargetInfo, host: Option<Host>) -> Reviewed {
        let (protocol, plan) = self.plans[method].clone();
        let (quick, seed, erase) = (self.quick, self.seed, self.erase.clone());
        Reviewed { protocol, plan, quick, seed, target, host, health: None, erase }
    }
}

/// Where what was measured goes.
#[derive(Clone, Copy)]
pub(super) struct Keep<'a> {
    pub(super) out: &'a Out,
    /// How far it is, for `--resume`.
    pub(super) kept: Option<&'a Kept>,
    pub(super) keeper: &'a Keeper,
}

/// Measures all sessions. Virtual drives run side by side, as many as there are CPUs and memory;
/// real ones after that and one at a time, since they would disturb each other.
pub(super) fn measure(
    sessions: &[Session],
    keep: Keep<'_>,
    begun: Vec<Option<Begun>>,
    progress: Progress,
) -> Result<Document, Failure> {
    let methods = sessions.first().map_or(0, |session| session.plans.len());
    let records = Records::new(sessions.len() * methods, keep.out);
    let interrupt = &progress.interrupt().clone();
    for session in sessions {
        for (method, plan) in &session.plans {
            let seconds = plan.iter().map(Phase::estimated_seconds).sum();
            progress.planned(&session.target.name(), method.name(), seconds);
        }
    }
    let mut begun = begun;
    begun.resize(records.count(), None);
    for (slot, begun) in begun.iter().enumerate() {
        if let Some(Begun::Done(record)) = begun {
            // Maybe it was killed between the two.
            keep.keeper.add(record);
            records.put(slot, (**record).clone());
        }
    }
    let Keep { kept, keeper, .. } = keep;
    let run = Run { progress, interrupt, records: &records, kept, keeper, begun };
    let room = Room::here(&sessions.iter().map(Session::need).collect::<Vec<_>>());
    let shelves: Vec<Option<(Shelf<'_>, TargetInfo)>> = sessions
        .iter()
        .map(|session| session.shelf(room.keep).zip(session.target.describe()))
        .collect();
    // A drive's methods one after the other, so that its states are wanted at the same time.
    let mut work: Vec<Work<'_>> = Vec::new();
    for (place, (session, shelf)) in sessions.iter().zip(&shelves).enumerate() {
        if !session.target.is_real() {
            let order = longest_first(session.plans.iter().map(|(_, plan)| plan));
            work.extend(order.into_iter().map(|method| Work {
                slot: place * methods + method,
                session,
                shelf: shelf.as_ref(),
                method,
            }));
        }
    }
    workers::each(&work, room.workers, |work| match interrupt.asked() {
        false => run.virtual_drive(work),
        true => Ok(()),
    })?;
    for (place, session) in sessions.iter().enumerate() {
        if session.target.is_real() {
            run.real(session, place * methods)?;
        }
    }
    Ok(records.document())
}

/// A method of a virtual drive.
struct Work<'a> {
    slot: usize,
    session: &'a Session,
    shelf: Option<&'a (Shelf<'a>, TargetInfo)>,
    method: usize,
}

/// Nothing is left of a record to be measured.
struct Whole;

/// What all reviews of a run share.
struct Run<'a> {
    progress: Progress,
    interrupt: &'a Interrupt,
    records: &'a Records<'a>,
    kept: Option<&'a Kept>,
    keeper: &'a Keeper,
    /// How far each record was when the review was ended before.
    begun: Vec<Option<Begun>>,
}

impl Run<'_> {
    /// Where a record goes on; an error if there is nothing left of it.
    fn from(&self, slot: usize) -> Result<Option<Checkpoint>, Whole> {
        match &self.begun[slot] {
            None => Ok(None),
            Some(Begun::At(checkpoint)) => Ok(Some((**checkpoint).clone())),
            Some(Begun::Done(_)) => Err(Whole),
        }
    }

    /// A record is as whole as it gets in this run.
    fn put(&self, slot: usize, record: Record) {
        if let (Some(kept), Ended::Complete) = (self.kept, &record.ended) {
            let done = Begun::Done(Box::new(record.clone()));
            if let Err(error) = kept.save(slot, &done) {
                say(&format!("fourcorners: --resume will measure this again: {error}"));
            }
        }
        self.keeper.add(&record);
        self.records.put(slot, record);
    }

    fn virtual_drive(&self, work: &Work<'_>) -> Result<(), Failure> {
        let Work { slot, session, shelf, method } = *work;
        let Ok(from) = self.from(slot) else { return Ok(()) };
        let watch = &mut self.watch(session, method, slot);
        let record = match shelf {
            Some((shelf, target)) => {
                let reviewed = session.reviewed(method, target.clone(), None);
                review(reviewed, &mut Bench::Shelf(shelf), from, watch)
            }
            None => {
                let Ready { mut drive, target, host } = session.open().map_err(Failure::Usage)?;
                let reviewed = session.reviewed(method, target, host);
                let past = &mut Past::default();
                review(reviewed, &mut Bench::One(&mut drive, past), None, watch)
            }
        };
        self.progress.ended(&session.target.name(), &record);
        self.put(slot, record);
        Ok(())
    }

    /// All methods of a real target, on the one drive there is.
    fn real(&self, session: &Session, first: usize) -> Result<(), Failure> {
        let mut past = Past::default();
        for method in 0..session.plans.len() {
            if self.interrupt.asked() {
                return Ok(());
            }
            let slot = first + method;
            let Ok(from) = self.from(slot) else { continue };
            let record = match session.open() {
                Ok(Ready { mut drive, target, host }) => {
                    let watch = &mut self.watch(session, method, slot);
                    let health = session.target.health();
                    let reviewed = Reviewed { health, ..session.reviewed(method, target, host) };
                    let bench = &mut Bench::One(&mut drive, &mut past);
                    let mut record = review(reviewed, bench, from, watch);
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
                        not_begun(session.reviewed(method, target, host), why)
                    }
                    None => return Err(Failure::Usage(why)),
                },
            };
            self.progress.ended(&session.target.name(), &record);
            self.put(slot, record);
        }
        Ok(())
    }

    fn watch(&self, session: &Session, method: usize, slot: usize) -> Saving<'_> {
        let bar = self.progress.of_method(&session.target.name(), session.plans[method].0.name());
        let is_real = session.target.is_real();
        Saving { bar, slot, records: self.records, kept: self.kept, is_real, saved: None }
    }
}

/// The records of a run, each in its place whatever the order they are finished in.
struct Records<'a> {
    slots: Mutex<Vec<Option<Record>>>,
    out: &'a Out,
}

impl Records<'_> {
    fn new(count: usize, out: &Out) -> Records<'_> {
        Records { slots: Mutex::new(vec![None; count]), out }
    }

    fn count(&self) -> usize {
        self.slots.lock().expect("no holder panics").len()
    }

    fn put(&self, slot: usize, record: Record) {
        self.slots.lock().expect("no holder panics")[slot] = Some(record);
    }

    fn is_empty(&self) -> bool {
        self.slots.lock().expect("no holder panics").iter().all(Option::is_none)
    }

    fn document(&self) -> Document {
        let slots = self.slots.lock().expect("no holder panics");
        Document::new(slots.iter().flatten().cloned().collect())
    }
}

/// Shows progress, and saves after each figure of a real drive: the next one may fail, and
/// measuring again costs hours there.
struct Saving<'a> {
    bar: ReviewProgress,
    slot: usize,
    records: &'a Records<'a>,
    kept: Option<&'a Kept>,
    is_real: bool,
    /// When a place to go on from was saved.
    saved: Option<Instant>,
}

/// Places to go on from are a second apart on virtual drives: what is lost is made again sooner than
/// a disk has written all of them.
const BETWEEN_SAVES: Duration = Duration::from_secs(1);

impl Watch for Saving<'_> {
    fn step(&mut self, step: &Step<'_>) {
        self.bar.step(step);
    }

    fn go_on(&mut self, part_done: f64) -> bool {
        self.bar.go_on(part_done)
    }

    fn seconds(&mut self, so_far: &[Second]) {
        self.bar.seconds(so_far);
    }

    fn measured(&mut self, so_far: &Record) {
        self.bar.measured(so_far);
        if so_far.host.is_none() {
            return;
        }
        self.records.put(self.slot, so_far.clone());
        if let Err(error) = self.records.out.save_json(&self.records.document()) {
            self.bar.warn(&format!("not saved yet, the measurement goes on: {error:#}"));
        }
    }

    fn reached(&mut self, checkpoint: &Checkpoint) {
        let Some(kept) = self.kept else { return };
        if !self.is_real && self.saved.is_some_and(|saved| saved.elapsed() < BETWEEN_SAVES) {
            return;
        }
        self.saved = Some(Instant::now());
        if let Err(error) = kept.save(self.slot, &Begun::At(Box::new(checkpoint.clone()))) {
            self.bar.warn(&format!("--resume could not go on from here: {error}"));
        }
    }
}
