//! A drive under test, of whichever kind, with what a review needs beyond reads and writes.

use fourcorners_array::{Array, Cache};
use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::{
    Clock, Fault, Geometry, Hdd, Lba, Nanos, SECTOR_BYTES, Ssd, SsdCounters, Target,
};
use fourcorners_linux::{Uring, UringError};
use fourcorners_machine::cpu;
use fourcorners_machine::noise::NoiseMeter;
use fourcorners_record::{
    CacheUse, ClockName, Data, FlashWear, Heat, Job, MemberUse, Noise, Pattern, Until,
};
use fourcorners_run::streams::{self, Direction, Plan, RunResult};
use fourcorners_run::trim::{Range, Trimming, trim};
use fourcorners_run::{JobEnd, Measured, Observer, Source, run, run_marked, run_source};

use crate::any_target::AnyTarget;
use crate::cache_use::CacheSnapshot;
use crate::disturbed::{Disturbance, Disturbed};
use crate::heat::HeatWatch;
use crate::members::{MembersSnapshot, flash_wear};
use crate::virtual_drive::Virtual;

mod begin;
mod idle;
#[cfg(test)]
mod mapped;
mod purge;

pub use idle::IdlePower;
pub use purge::Purge;
pub(crate) use purge::{LOADED, NO_FLASH, NOT_PURGED, PURGE};

/// Blocks in which what is new is written once before it is read.
pub const LAY_OUT_BLOCK: u32 = 128 << 10;

/// A drive that is ready to be tested.
pub enum Drive {
    /// A model of an SSD.
    Ssd(Box<Ssd>),
    /// A model of a hard disk.
    Hdd(Box<Hdd>),
    /// A model on a machine that is not quiet.
    Disturbed(Box<Disturbed>),
    /// Several models as one.
    Array(Box<Array<Virtual>>),
    /// A model of an SSD in front of another model.
    Cache(Box<Cache<Virtual>>),
    /// A block device or a file.
    Real(Box<Uring>),
}

/// A job that was run, with what it cost and what it did to the drive.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was measured.
    pub measured: Measured,
    /// CPU seconds of this process and the kernel on its behalf, but for those spent looking at the
    /// clock for when the next I/O is due.
    pub cpu_seconds: f64,
    /// What else the machine was doing (real drives, and disturbed ones).
    pub noise: Option<Noise>,
    /// NAND writes over host writes during the job (virtual SSDs that were written).
    pub write_amplification: Option<f64>,
    /// How warm it was during the job (virtual SSDs that get warm).
    pub heat: Option<Heat>,
    /// What a cache did during the job.
    pub cache: Option<CacheUse>,
    /// What each drive of an array did during the job.
    pub members: Vec<MemberUse>,
}

/// The target that a drive is: the models that are simulated most and a real drive by themselves, other models behind a pointer.
enum View<'a> {
    Ssd(&'a mut Ssd),
    Hdd(&'a mut Hdd),
    Model(AnyTarget<'a, false>),
    Real(&'a mut Uring),
}

/// Something to be done with a target of whichever kind.
pub(crate) trait OnTarget {
    /// What comes of it.
    type Output;

    /// Does it.
    fn on<const WALL: bool>(self, target: AnyTarget<'_, WALL>) -> Self::Output;
}

impl Drive {
    /// Does something with the target that it is.
    pub(crate) fn on<W: OnTarget>(&mut self, what: W) -> W::Output {
        match self.view() {
            View::Ssd(ssd) => what.on(AnyTarget::<false>::of(ssd)),
            View::Hdd(hdd) => what.on(AnyTarget::<false>::of(hdd)),
            View::Model(model) => what.on(model),
            View::Real(uring) => what.on(AnyTarget::<true>::of(uring)),
        }
    }

    fn view(&mut self) -> View<'_> {
        match self {
            Drive::Ssd(ssd) => View::Ssd(ssd),
            Drive::Hdd(hdd) => View::Hdd(hdd),
            Drive::Disturbed(disturbed) => View::Model(AnyTarget::of(&mut **disturbed)),
            Drive::Array(array) => View::Model(AnyTarget::of(&mut **array)),
            Drive::Cache(cache) => View::Model(AnyTarget::of(&mut **cache)),
            Drive::Real(uring) => View::Real(uring),
        }
    }

    /// The virtual drive of a profile.
    ///
    /// # Panics
    /// Never: a [`Profile`] has passed its check.
    pub fn from_profile(profile: &Profile) -> Drive {
        let checked = "a parsed profile has passed its check";
        match &profile.model {
            Model::Ssd(ssd) => Drive::Ssd(Box::new(Ssd::new(ssd).expect(checked))),
            Model::Hdd(hdd) => Drive::Hdd(Box::new(Hdd::new(hdd).expect(checked))),
        }
    }

    /// The same on a machine that disturbs it.
    pub fn disturbed(profile: &Profile, by: Disturbance) -> Drive {
        let drive = match Drive::from_profile(profile) {
            Drive::Ssd(ssd) => Virtual::Ssd(ssd),
            Drive::Hdd(hdd) => Virtual::Hdd(hdd),
            other => return other,
        };
        Drive::Disturbed(Box::new(Disturbed::new(drive, by)))
    }

    /// The model of an SSD, if it is one.
    pub(crate) fn ssd(&self) -> Option<&Ssd> {
        match self {
            Drive::Ssd(ssd) => Some(ssd),
            Drive::Disturbed(disturbed) => disturbed.drive().ssd(),
            Drive::Hdd(_) | Drive::Array(_) | Drive::Cache(_) | Drive::Real(_) => None,
        }
    }

    /// The model of an SSD, for a change of it.
    pub(crate) fn ssd_mut(&mut self) -> Option<&mut Ssd> {
        match self {
            Drive::Ssd(ssd) => Some(ssd),
            Drive::Disturbed(disturbed) => match disturbed.drive_mut() {
                Virtual::Ssd(ssd) => Some(ssd),
                Virtual::Hdd(_) => None,
            },
            Drive::Hdd(_) | Drive::Array(_) | Drive::Cache(_) | Drive::Real(_) => None,
        }
    }

    /// What it can hold and take.
    pub fn geometry(&self) -> Geometry {
        match self {
            Drive::Ssd(ssd) => ssd.geometry(),
            Drive::Hdd(hdd) => hdd.geometry(),
            Drive::Disturbed(disturbed) => disturbed.geometry(),
            Drive::Array(array) => array.geometry(),
            Drive::Cache(cache) => cache.geometry(),
            Drive::Real(uring) => uring.geometry(),
        }
    }

    /// The clock its results are of.
    pub fn clock(&self) -> ClockName {
        let clock = match self {
            Drive::Ssd(_) => Ssd::CLOCK,
            Drive::Hdd(_) => Hdd::CLOCK,
            Drive::Disturbed(_) => Disturbed::CLOCK,
            Drive::Array(_) => Array::<Virtual>::CLOCK,
            Drive::Cache(_) => Cache::<Virtual>::CLOCK,
            Drive::Real(_) => Uring::CLOCK,
        };
        match clock {
            Clock::Virtual => ClockName::Virtual,
            Clock::Wall => ClockName::Wall,
        }
    }

    /// Nameplate and effective over-provisioning of a virtual SSD.
    pub fn over_provisioning(&self) -> Option<(f64, f64)> {
        self.ssd().map(|ssd| (ssd.nameplate_op(), ssd.effective_op()))
    }

    /// How worn a virtual SSD is; `None` of one that does not wear out: what it was erased says
    /// nothing then.
    pub fn wear(&self) -> Option<FlashWear> {
        flash_wear(self.ssd()?)
    }

    /// Waits until what was written is on the medium, so that one test's writes are not paid for
    /// by the next.
    ///
    /// # Errors
    /// When a real device could not write it.
    pub fn settle(&mut self) -> Result<(), UringError> {
        match self {
            Drive::Ssd(ssd) => ssd.settle(),
            Drive::Hdd(hdd) => hdd.settle(),
            Drive::Disturbed(disturbed) => disturbed.drive_mut().settle(),
            Drive::Array(array) => {
                array.members_mut().for_each(Virtual::settle);
                array.meet();
            }
            Drive::Cache(cache) => {
                cache.clean();
                cache.members_mut().into_iter().for_each(Virtual::settle);
                cache.meet();
            }
            Drive::Real(uring) => uring.sync()?,
        }
        Ok(())
    }

    /// Runs a job on it.
    pub fn run(&mut self, job: &Job, observer: &mut dyn Observer) -> Outcome {
        self.run_marked(job, u64::MAX, observer)
    }

    /// The same, and notes when each `mark_bytes` were done.
    pub fn run_marked(
        &mut self,
        job: &Job,
        mark_bytes: u64,
        observer: &mut dyn Observer,
    ) -> Outcome {
        self.account(|drive| match drive.view() {
            View::Ssd(ssd) => run_marked(ssd, job, mark_bytes, observer),
            View::Hdd(hdd) => run_marked(hdd, job, mark_bytes, observer),
            View::Model(mut model) => run_marked(&mut model, job, mark_bytes, observer),
            View::Real(uring) => run_marked(uring, job, mark_bytes, observer),
        })
    }

    /// Runs a job on it that begins together with a TRIM of `range`. How long the TRIM took.
    pub fn run_beside_trim(
        &mut self,
        job: &Job,
        range: Range,
        observer: &mut dyn Observer,
    ) -> (Outcome, Result<Nanos, Fault>) {
        fn both<T: Target>(
            target: &mut T,
            job: &Job,
            range: Range,
            observer: &mut dyn Observer,
        ) -> (Measured, Result<Nanos, Fault>) {
            let mut trimming = Trimming::begin(target, range);
            let measured = run(&mut trimming, job, observer);
            (measured, trimming.finish())
        }
        let mut trimmed = Ok(Nanos::ZERO);
        let outcome = self.account(|drive| {
            let (measured, end) = match drive.view() {
                View::Ssd(ssd) => both(ssd, job, range, observer),
                View::Hdd(hdd) => both(hdd, job, range, observer),
                View::Model(mut model) => both(&mut model, job, range, observer),
                View::Real(uring) => both(uring, job, range, observer),
            };
            trimmed = end;
            measured
        });
        (outcome, trimmed)
    }

    /// Trims a range of it. How long it took.
    ///
    /// # Errors
    /// When it takes no TRIM, or failed it.
    pub fn trim(&mut self, range: Range) -> Result<Nanos, Fault> {
        match self.view() {
            View::Ssd(ssd) => trim(ssd, range),
            View::Hdd(hdd) => trim(hdd, range),
            View::Model(mut model) => trim(&mut model, range),
            View::Real(uring) => trim(uring, range),
        }
    }

    /// What its clock says.
    pub fn now(&self) -> Nanos {
        match self {
            Drive::Ssd(ssd) => ssd.now(),
            Drive::Hdd(hdd) => hdd.now(),
            Drive::Disturbed(disturbed) => disturbed.now(),
            Drive::Array(array) => array.now(),
            Drive::Cache(cache) => cache.now(),
            Drive::Real(uring) => uring.now(),
        }
    }

    /// Of `samples` places spread evenly over a range, the share that a virtual SSD has data of. Of an array of SSDs,
    /// that of all drives that hold one of these places; of an array with a hard disk, and of a cache, none is known.
    pub fn mapped_share(&self, range: Range, samples: u64) -> Option<f64> {
        let place =
            |index: u64| Lba((range.start_bytes + range.bytes / samples * index) / SECTOR_BYTES);
        let is_mapped: Vec<bool> = match self {
            Drive::Array(array) => {
                if array.members().any(|member| member.ssd().is_none()) {
                    return None;
                }
                let held = (0..samples).flat_map(|index| array.holders(place(index)));
                held.filter_map(|(member, lba)| Some(member.ssd()?.is_mapped(lba))).collect()
            }
            _ => {
                let ssd = self.ssd()?;
                (0..samples).map(|index| ssd.is_mapped(place(index))).collect()
            }
        };
        let mapped = is_mapped.iter().filter(|&&it| it).count();
        // No drive may be there that holds any of it.
        (!is_mapped.is_empty()).then(|| mapped as f64 / is_mapped.len() as f64)
    }

    /// Runs what a source has on it: `size` is the most I/Os at a time, and how many there will be.
    pub fn run_source(
        &mut self,
        source: &mut impl Source,
        size: (u32, u64),
        observer: &mut dyn Observer,
    ) -> Outcome {
        self.account(|drive| match drive.view() {
            View::Ssd(ssd) => run_source(ssd, source, size, observer),
            View::Hdd(hdd) => run_source(hdd, source, size, observer),
            View::Model(mut model) => run_source(&mut model, source, size, observer),
            View::Real(uring) => run_source(uring, source, size, observer),
        })
    }

    /// What running something cost and did.
    fn account(&mut self, run: impl FnOnce(&mut Drive) -> Measured) -> Outcome {
        let (counters, cached) = (self.all_counters(), CacheSnapshot::of(self));
        let members = matches!(self, Drive::Array(_)).then(|| MembersSnapshot::of(self));
        let warmed = HeatWatch::begin(self);
        let work = |drive: &Drive| cpu::process_seconds() - drive.looked_at_the_clock().as_secs();
        let meter = matches!(self, Drive::Real(_)).then(NoiseMeter::begin).flatten();
        let device = |drive: &Drive| match drive {
            Drive::Real(uring) => uring.device_bytes(),
            Drive::Ssd(_)
            | Drive::Hdd(_)
            | Drive::Disturbed(_)
            | Drive::Array(_)
            | Drive::Cache(_) => None,
        };
        let moved = device(self);
        let disturbance = match self {
            Drive::Disturbed(disturbed) => Some(disturbed.begin()),
            Drive::Ssd(_) | Drive::Hdd(_) | Drive::Array(_) | Drive::Cache(_) | Drive::Real(_) => {
                None
            }
        };
        let (before, began) = (work(self), self.now());
        let measured = run(self);
        let mut noise = meter.and_then(|meter| meter.end((self.now() - began).as_secs()));
        if let (Some(noise), Some(before), Some(after)) = (&mut noise, moved, device(self)) {
            let all = after.saturating_sub(before).max(1) as f64;
            noise.other_io_share = Some((1.0 - measured.bytes as f64 / all).max(0.0));
        }
        if let (Drive::Disturbed(disturbed), Some(waited)) = (&*self, disturbance) {
            noise = Some(disturbed.noise(began, waited));
        }
        let cpu_seconds = (work(self) - before).max(0.0);
        let write_amplification = write_amplification(&counters, &self.all_counters());
        let cache = cached.and_then(|cached| cached.until_now(self));
        let heat = warmed.and_then(|watch| watch.until_now(self));
        let members = members.map(|members| members.until_now(self)).unwrap_or_default();
        Outcome { measured, cpu_seconds, noise, write_amplification, heat, cache, members }
    }

    /// How long its loop looked at the clock so far so that I/Os were not late, which takes CPU time
    /// and is no work.
    pub fn looked_at_the_clock(&self) -> Nanos {
        match self {
            Drive::Ssd(_)
            | Drive::Hdd(_)
            | Drive::Disturbed(_)
            | Drive::Array(_)
            | Drive::Cache(_) => Nanos::ZERO,
            Drive::Real(uring) => uring.looked_at_the_clock(),
        }
    }

    /// Runs several streams at once on it.
    ///
    /// # Errors
    /// When memory for what a real drive is to be written is short; nothing was run then.
    pub fn run_streams(
        &mut self,
        plan: &Plan,
        observer: &mut dyn Observer,
    ) -> Result<RunResult, UringError> {
        Ok(match self.view() {
            View::Ssd(ssd) => streams::run(ssd, plan, observer),
            View::Hdd(hdd) => streams::run(hdd, plan, observer),
            View::Model(mut model) => streams::run(&mut model, plan, observer),
            View::Real(uring) => {
                for stream in plan.streams.iter().filter(|stream| stream.writes()) {
                    uring.prepare(stream.compressible_percent)?;
                }
                match &plan.verify {
                    None => streams::run(uring, plan, observer),
                    Some(spec) => streams::run_verified(uring, plan, spec, observer),
                }
            }
        })
    }

    /// Writes what the streams read once, in order, as fio lays out a file: what never was written
    /// would be answered without the medium. How that ended.
    ///
    /// # Errors
    /// When a real device could not write it.
    pub fn lay_out(
        &mut self,
        plan: &Plan,
        observer: &mut dyn Observer,
    ) -> Result<JobEnd, UringError> {
        let read = || plan.streams.iter().filter(|stream| stream.operations.has(Direction::Read));
        let start = read().map(|stream| stream.span_start_bytes).min().unwrap_or(0);
        let end = read().map(|stream| stream.span_start_bytes + stream.span_bytes).max();
        let geometry = self.geometry();
        let (block, whole) = (u64::from(LAY_OUT_BLOCK), geometry.bytes());
        let start = start / block * block;
        let end = end.unwrap_or(0).next_multiple_of(block).min(whole / block * block);
        if end <= start {
            return Ok(JobEnd::Complete);
        }
        let job = Job {
            pattern: Pattern::Sequential,
            read_percent: 0,
            block_bytes: LAY_OUT_BLOCK,
            queue_depth: geometry.queue_depth.min(32),
            span_start_bytes: start,
            span_bytes: end - start,
            data: Data::Incompressible,
            until: Until::Bytes(end - start),
            seed: 1,
            fua: false,
            flush: false,
            jobs: 1,
        };
        let ended = self.run(&job, observer).measured.ended;
        if !matches!(ended, JobEnd::Failed(_)) {
            self.settle()?;
        }
        Ok(ended)
    }

    pub(crate) fn counters(&self) -> Option<SsdCounters> {
        self.ssd().map(Ssd::counters)
    }

    /// Those of every SSD in it; none where something else is in it, too.
    pub(crate) fn all_counters(&self) -> Vec<SsdCounters> {
        let Drive::Array(array) = self else { return self.counters().into_iter().collect() };
        let of_each = array.members().map(|member| member.ssd().map(Ssd::counters));
        of_each.collect::<Option<_>>().unwrap_or_default()
    }
}

/// NAND writes over what the SSDs were written, of all of them together.
pub(crate) fn write_amplification(before: &[SsdCounters], after: &[SsdCounters]) -> Option<f64> {
    let (mut nand, mut host) = (0.0, 0.0);
    for (before, after) in before.iter().zip(after) {
        if let Some(amplification) = after.write_amplification_since(before) {
            let sectors = (after.host_sectors - before.host_sectors) as f64;
            (nand, host) = (nand + amplification * sectors, host + sectors);
        }
    }
    // Of one drive it is that drive's, to the last digit.
    match (before, after) {
        ([before], [after]) => after.write_amplification_since(before),
        _ => (host > 0.0).then_some(nand / host),
    }
}
