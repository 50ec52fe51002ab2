//! A virtual drive, or several as one.

use std::path::PathBuf;
use std::sync::Mutex;

use fourcorners_drive::SECTOR_BYTES;
use fourcorners_lab::drive::{Drive as LabDrive, Purge};
use fourcorners_lab::memory::check_memory;
use fourcorners_lab::state;
use fourcorners_run::{JobEnd, trim};
use pyo3::exceptions::{PyKeyError, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyMapping};

use crate::background::finished;
use crate::errors::{self, Error};
use crate::fio::{self, FioJobs, FioResult};
use crate::job::Job;
use crate::number::{Real, Whole};
use crate::profile::{DriveProfile, Recipe};
use crate::replay::{Manner, OnOne, Replay};
use crate::run::Run;
use crate::share::Share;
use crate::trace::Trace;
use crate::virtual_drive::{Virtual, new_drive};
use crate::watch::Watched;

/// Most of a drive that may be left as spare area.
const MOST_SPARE: f64 = 0.9;
/// Spans end at these, so that random and sequential jobs share them.
const WHOLE: u64 = 128 << 10;

/// A virtual drive: what a run leaves is what the next one finds.
///
/// It is made when it is first run, so that one that is only named costs nothing.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Drive {
    pub(crate) profile: DriveProfile,
    pub(crate) spare: f64,
    pub(crate) recipe: Recipe,
    made: Mutex<Made>,
}

/// The drive as it is now.
#[derive(Default)]
struct Made {
    drive: Option<Virtual>,
    /// Whether anything was done with it.
    is_used: bool,
}

#[pymethods]
impl Drive {
    #[new]
    #[pyo3(signature = (drive, *, spare=Share(0.0), set=None, host=None))]
    pub(crate) fn new(
        drive: &Bound<'_, PyAny>,
        spare: Share,
        set: Option<&Bound<'_, PyMapping>>,
        host: Option<String>,
    ) -> PyResult<Drive> {
        let path: PathBuf = drive.extract()?;
        let recipe = Recipe::of_path(&path, host, settings(set)?)?;
        Drive::make(recipe, spare.0)
    }

    /// The drive that a profile's text makes.
    #[staticmethod]
    #[pyo3(signature = (text, *, spare=Share(0.0), set=None, host=None, name="the profile"))]
    fn from_toml(
        text: String,
        spare: Share,
        set: Option<&Bound<'_, PyMapping>>,
        host: Option<String>,
        name: &str,
    ) -> PyResult<Drive> {
        Drive::make(Recipe::of_text(text, name, host, settings(set)?)?, spare.0)
    }

    #[staticmethod]
    fn _again(
        name: String,
        text: Option<String>,
        profiles: Vec<(String, String)>,
        host: Option<String>,
        set: Vec<String>,
        spare: f64,
    ) -> PyResult<Drive> {
        Drive::make(Recipe { name, text, profiles, host, set }, spare)
    }

    /// Another drive of the same profile, new, with these changes.
    #[pyo3(signature = (*, spare=None, set=None))]
    fn with_(&self, spare: Option<Share>, set: Option<&Bound<'_, PyMapping>>) -> PyResult<Drive> {
        let mut recipe = self.recipe.clone();
        let changes = settings(set)?;
        // A value that is changed again has the last one, and only that.
        recipe.set.retain(|given| !changes.iter().any(|change| key_of(change) == key_of(given)));
        recipe.set.extend(changes);
        Drive::make(recipe, spare.map_or(self.spare, |share| share.0))
    }

    /// The name in the catalogue or the profile.
    #[getter]
    fn name(&self) -> &str {
        self.profile.name()
    }

    /// The name a reader knows it by.
    #[getter]
    fn title(&self) -> &str {
        self.profile.title()
    }

    /// `"ssd"`, `"hdd"`, or of several drives `"array"` or `"cache"`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.profile.kind()
    }

    /// Share of the drive, at its end, that is never touched, 0 to 0.9.
    #[getter]
    fn spare(&self) -> f64 {
        self.spare
    }

    /// Addressable bytes.
    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.profile.capacity_bytes()
    }

    /// Bytes that jobs may touch: without the spare area, in whole 128 KiB.
    #[getter]
    fn usable_bytes(&self) -> u64 {
        let usable = (self.profile.capacity_bytes() as f64 * (1.0 - self.spare)) as u64;
        usable - usable % WHOLE
    }

    /// Commands it takes at once.
    #[getter]
    fn queue_depth(&self) -> u32 {
        self.profile.geometry().queue_depth
    }

    /// First 16 hexadecimal digits of the SHA-256 of all keys and values.
    #[getter]
    fn profile_hash(&self) -> String {
        self.profile.hash()
    }

    /// The drives that it is made of, new, each a Drive; none of a single drive.
    #[getter]
    fn members(&self) -> PyResult<Vec<Drive>> {
        match &self.profile {
            DriveProfile::One(_) => Ok(Vec::new()),
            DriveProfile::Several(array) => {
                let members = array.members.iter();
                members.map(|member| Drive::make(Recipe::of_profile(member), 0.0)).collect()
            }
        }
    }

    /// Every value with its key, unit in it, standing and source. Several drives have none: their
    /// members have.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let profile = self.profile.single("a value", Error::new_err)?;
        Ok(pythonize::pythonize(py, &profile.values)?)
    }

    /// The value of a parameter: `drive["nand.dies"]`.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        let profile = self.profile.single("a parameter", PyKeyError::new_err)?;
        match profile.values.iter().find(|value| value.key == key) {
            Some(value) => Ok(pythonize::pythonize(py, &value.value)?),
            None => Err(PyKeyError::new_err(format!("{} has no parameter {key:?}", profile.name))),
        }
    }

    /// The profile as a file of one drive.
    fn to_toml(&self) -> PyResult<String> {
        Ok(self.profile.single("a profile", Error::new_err)?.to_toml())
    }

    /// Nameplate and effective over-provisioning of an SSD as its profile has it: raw flash over user space, less one, and
    /// the same of the flash that collection has to work with. `spare` is in neither; it is in `Run.total_op`.
    #[getter]
    fn over_provisioning(&self, py: Python<'_>) -> PyResult<Option<(f64, f64)>> {
        self.with_drive(py, false, |drive| drive.over_provisioning())
    }

    /// Runs a job on the drive as it is, or those of a fio job file, given as `Job.from_fio` made them or as its text.
    #[pyo3(signature = (job, *, progress=None))]
    fn run<'py>(
        slf: &Bound<'py, Drive>,
        job: &Bound<'py, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if let Ok(job) = job.cast::<Job>() {
            let run = this.run_job(py, job.get(), progress.as_ref())?;
            return Ok(Bound::new(py, run)?.into_any());
        }
        if let Ok(jobs) = job.cast::<FioJobs>() {
            let result = this.run_jobs(py, jobs.get(), true, progress.as_ref())?;
            return Ok(Bound::new(py, result)?.into_any());
        }
        if let Ok(text) = job.extract::<String>() {
            let result =
                this.run_jobs(py, &FioJobs::new(text, fio::NAME.into())?, true, progress.as_ref())?;
            return Ok(Bound::new(py, result)?.into_any());
        }
        let kind = job.get_type().name()?;
        let message = format!("a drive runs a Job, or the text of a job file, no {kind}");
        Err(PyValueError::new_err(message))
    }

    /// What a notebook shows: what the drive is, and its values with their sources.
    fn _repr_html_<'py>(slf: &Bound<'py, Drive>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._html")?.call_method1("drive", (slf,))
    }

    /// Runs a fio job file's text, as `fourcorners run` does. A drive that is new is written once
    /// where the jobs read, unless `as_is`.
    #[pyo3(signature = (text, *, as_is=false, progress=None))]
    fn run_fio(
        &self,
        py: Python<'_>,
        text: String,
        as_is: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<FioResult> {
        self.run_jobs(py, &FioJobs::new(text, fio::NAME.into())?, !as_is, progress.as_ref())
    }

    /// Replays a trace on the drive as it is: a Trace or what one is made of. The keywords are those of `replay`.
    #[pyo3(signature = (trace, *, pace="think", idle_cap_ms=None, depth=Whole::of(32), addresses="as_recorded", progress=None))]
    #[allow(clippy::too_many_arguments)] // They are Python's keywords.
    fn replay(
        &self,
        py: Python<'_>,
        trace: &Bound<'_, PyAny>,
        pace: &str,
        idle_cap_ms: Option<Real>,
        depth: Whole,
        addresses: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Replay> {
        let trace = Trace::of(trace)?;
        let manner = Manner::of(trace.get(), pace, idle_cap_ms, depth, addresses)?;
        let space = match self.spare > 0.0 {
            true => (self.capacity_bytes(), self.usable_bytes()),
            false => (self.capacity_bytes(), self.capacity_bytes()),
        };
        let on_one = OnOne::new(py, trace.get(), manner, space)?;
        let mut watched = Watched::new(progress.as_ref());
        let replayed = self.with_made(py, |drive| on_one.play(drive, &mut watched))?;
        if let Some(raised) = watched.raised {
            return Err(raised);
        }
        let replayed = replayed?;
        finished(py, progress.as_ref())?;
        Ok(replayed)
    }

    /// Writes all that may be touched once, in order: from new to full.
    #[pyo3(signature = (*, progress=None))]
    fn fill(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<Run> {
        let job = fourcorners_record::Job {
            pattern: fourcorners_record::Pattern::Sequential,
            read_percent: 0,
            block_bytes: WHOLE as u32,
            queue_depth: self.queue_depth().min(32),
            span_start_bytes: 0,
            span_bytes: self.usable_bytes(),
            data: fourcorners_record::Data::Incompressible,
            until: fourcorners_record::Until::Bytes(self.usable_bytes()),
            seed: 1,
            fua: false,
            flush: false,
            jobs: 1,
        };
        let run = self.run_lab_job(py, job, progress.as_ref())?;
        self.settle(py)?;
        Ok(run)
    }

    /// Makes an SSD forget everything.
    fn purge(&self, py: Python<'_>) -> PyResult<()> {
        match self.with_made(py, |drive| drive.purge())? {
            Ok(Purge::Done) => Ok(()),
            Ok(Purge::NotPossible(why)) => Err(Error::new_err(why)),
            Err(error) => Err(Error::new_err(error.to_string())),
        }
    }

    /// Lets the drive do what it put off; writes of one run are then not paid for by the next.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        let settled = self.with_made(py, |drive| drive.settle())?;
        settled.map_err(|error| Error::new_err(error.to_string()))
    }

    /// Trims a range, by default all that may be touched; seconds it took.
    #[pyo3(signature = (start_bytes=Whole::of(0), bytes=None))]
    fn trim(&self, py: Python<'_>, start_bytes: Whole, bytes: Option<Whole>) -> PyResult<f64> {
        let start_bytes = start_bytes.within("start_bytes", 0..=u64::MAX)?;
        let bytes = bytes.map(|bytes| bytes.within("bytes", 0..=u64::MAX)).transpose()?;
        let usable = self.usable_bytes();
        let bytes = bytes.unwrap_or(usable.saturating_sub(start_bytes));
        let block = u64::from(self.profile.geometry().logical_block_bytes);
        let fits = start_bytes.checked_add(bytes).is_some_and(|end| end <= usable);
        if !fits || !start_bytes.is_multiple_of(block) || !bytes.is_multiple_of(block) {
            return Err(errors::JobError::new_err(format!(
                "a TRIM of {bytes} bytes from {start_bytes}: it must lie in the first {usable} bytes, \
                 in multiples of {block}"
            )));
        }
        let trimmed = self.with_made(py, |drive| drive.trim(trim::Range { start_bytes, bytes }))?;
        Ok(trimmed.map_err(errors::fault)?.as_secs())
    }

    /// Saves what the drive remembers, as `fourcorners age` does: `fourcorners review --state`, `load_state` and others begin with
    /// it. What the drive put off is done before.
    fn save_state(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let profile = self.profile.single("a state", errors::StateError::new_err)?;
        state::may_save(profile, &path).map_err(errors::state)?;
        self.settle(py)?;
        let saved = self.with_made(py, |drive| match drive {
            LabDrive::Ssd(ssd) => Some(state::save(ssd, profile, &path)),
            // `may_save` refuses all others.
            _ => None,
        })?;
        saved.unwrap_or(Ok(())).map_err(errors::state)
    }

    /// Puts the drive into the state that was saved in a file, whatever was done with it before.
    fn load_state(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let profile = self.profile.single("a state", errors::StateError::new_err)?;
        let loaded = py.detach(|| state::load(&path, profile)).map_err(errors::state)?;
        self.with_made(py, |drive| *drive = LabDrive::Ssd(Box::new(loaded.ssd)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Drive>) -> PyResult<(Bound<'py, PyAny>, Again)> {
        let this = slf.get();
        if this.made.try_lock().map_or(true, |made| made.is_used) {
            let message = "a drive that was run has a past, which is not pickled: pickle a new one, \
                           Drive(...) or drive.with_()";
            return Err(PyValueError::new_err(message));
        }
        let Recipe { name, text, profiles, host, set } = this.recipe.clone();
        Ok((slf.get_type().getattr("_again")?, (name, text, profiles, host, set, this.spare)))
    }

    fn __repr__(&self) -> String {
        let mut shown = format!("Drive({:?}", self.recipe.name);
        if self.spare > 0.0 {
            shown += &format!(", spare={}", self.spare);
        }
        if !self.recipe.set.is_empty() {
            shown += &format!(", set={:?}", self.recipe.set);
        }
        shown + ")"
    }
}

/// What `_again` takes.
type Again = (String, Option<String>, Vec<(String, String)>, Option<String>, Vec<String>, f64);

impl Drive {
    fn make(recipe: Recipe, spare: f64) -> PyResult<Drive> {
        if !(0.0..=MOST_SPARE).contains(&spare) {
            let message = format!(
                "spare={spare}: give a share of the drive from 0 to {MOST_SPARE}, or a text with a per \
                     cent sign, \"25%\""
            );
            return Err(PyValueError::new_err(message));
        }
        Ok(Drive { profile: recipe.profile()?, spare, recipe, made: Mutex::default() })
    }

    /// Does something with the drive while Python goes on.
    fn with_made<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Send + FnOnce(&mut LabDrive) -> T,
    ) -> PyResult<T> {
        self.with_drive(py, true, work)
    }

    fn with_drive<T: Send>(
        &self,
        py: Python<'_>,
        uses_it: bool,
        work: impl Send + FnOnce(&mut LabDrive) -> T,
    ) -> PyResult<T> {
        let mut made = self.made.try_lock().map_err(|_| {
            PyRuntimeError::new_err("the drive is at work in another thread: give each its own")
        })?;
        if made.drive.is_none() {
            check_memory(vec![self.profile.memory_bytes()], 1)
                .map_err(|error| PyMemoryError::new_err(error.to_string()))?;
        }
        made.is_used |= uses_it;
        let place = &mut made.drive;
        Ok(py.detach(move || {
            let drive = place.take().map(Virtual::into_lab);
            let mut drive = drive.unwrap_or_else(|| new_drive(&self.profile));
            let worked = work(&mut drive);
            *place = Virtual::from_lab(drive);
            worked
        }))
    }

    fn run_job(&self, py: Python<'_>, job: &Job, progress: Option<&Py<PyAny>>) -> PyResult<Run> {
        let job = job.on(self.profile.geometry(), self.usable_bytes())?;
        self.run_lab_job(py, job, progress)
    }

    fn run_lab_job(
        &self,
        py: Python<'_>,
        job: fourcorners_record::Job,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<Run> {
        let mut watched = Watched::new(progress);
        let of_profile = (self.profile.wears(), self.usable_bytes());
        let run = self.with_made(py, |drive| {
            let outcome = drive.run(&job, &mut watched);
            Run::of(outcome, drive, job, of_profile)
        })?;
        if let Some(raised) = watched.raised {
            return Err(raised);
        }
        if let JobEnd::Failed(fault) = run.measured.ended {
            return Err(errors::fault(fault));
        }
        finished(py, progress)?;
        Ok(run)
    }

    fn run_jobs(
        &self,
        py: Python<'_>,
        jobs: &FioJobs,
        lay_out: bool,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<FioResult> {
        let mut geometry = self.profile.geometry();
        if self.spare > 0.0 {
            geometry.sectors = self.usable_bytes() / SECTOR_BYTES;
        }
        let placed = jobs.on(geometry)?;
        let is_new = self.made.try_lock().is_ok_and(|made| !made.is_used);
        let is_flash = self.profile.under_test().is_new_flash();
        let mut watched = Watched::new(progress);
        let result = self.with_made(py, |drive| {
            if lay_out && is_new && is_flash {
                match drive.lay_out(&placed.plan, &mut watched) {
                    Ok(JobEnd::Failed(fault)) => return Err(errors::fault(fault)),
                    Ok(JobEnd::Complete | JobEnd::Interrupted) => {}
                    Err(error) => return Err(Error::new_err(error.to_string())),
                }
            }
            let ran = drive.run_streams(&placed.plan, &mut watched);
            ran.map_err(|error| Error::new_err(error.to_string()))
        })?;
        if let Some(raised) = watched.raised {
            return Err(raised);
        }
        let result = result?;
        finished(py, progress)?;
        let target = self.profile.target_info();
        Ok(FioResult::of(jobs, placed, target, result))
    }
}

/// Changed values as the library takes them.
fn settings(set: Option<&Bound<'_, PyMapping>>) -> PyResult<Vec<String>> {
    let Some(set) = set else { return Ok(Vec::new()) };
    let items = set.items()?;
    let pairs = items.iter().map(|pair| pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>());
    pairs.map(|pair| pair.and_then(|(key, value)| setting(&key, &value))).collect()
}

/// What stands before the first `=`.
fn key_of(setting: &str) -> &str {
    setting.split_once('=').map_or(setting, |(key, _)| key).trim()
}

/// `key=value`.
fn setting(key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let key: String = key.extract()?;
    let value = match value.cast::<PyBool>() {
        Ok(truth) => truth.is_true().to_string(),
        Err(_) => value.str()?.to_string(),
    };
    Ok(format!("{key}={value}"))
}
