//! A virtual drive behind a socket, for programs that know nothing of it, as long as a `with` block lasts.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::config::TrimMode;
use fourcorners_drive::{Hdd, Nanos, Ssd, Target};
use fourcorners_lab::array::Several;
use fourcorners_lab::choose::{Candidate, MadeOf};
use fourcorners_lab::memory::check_memory;
use fourcorners_lab::state;
use fourcorners_linux::guard::Permission;
use fourcorners_machine::host;
use fourcorners_serve::contents::{Contents, ContentsFile, Memory};
use fourcorners_serve::nbd::Export;
use fourcorners_serve::{
    Address, Control, DriveCounters, FaultSpec, Faults, Listener, Pace, RecordError, Recording,
    Report, Server as LabServer, Settings, Tls, Turn, TurnSettings, door,
};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::control::ControlSocket;
use crate::errors::{self, Error};
use crate::named::NamedDrive;
use crate::number::{Real, Whole};
use crate::profile::DriveProfile;

/// Of the memory that is available, contents may take so much.
const MEMORY_PERCENT: u64 = 75;
/// Longest way to a client, microseconds.
const MOST_DOOR_US: f64 = 100_000.0;

/// Serves a virtual drive to real programs over NBD, with its contents and its times, as `fourcorners serve` does: a
/// context manager, which serves from this call on until the end of its block.
///
/// `drive` is a name, a profile, an array or a Drive, of which only the profile counts: what is served is new, or in the
/// `state` that `Drive.save_state` or `fourcorners age` saved, and the host of its profile takes no time, because the real
/// host is in front of it. `at` is "unix:PATH", for this user only, or
/// "tcp:127.0.0.1:PORT" (port 0: any that is free); by default a socket in a folder of its own. `time` is "real", "xN" (N
/// times as slow) or "virtual": answers as soon as clients have nothing more to ask, times only in the report and the recording. `record` is a new file for
/// the trace of all I/Os. The contents are in memory, or in the sparse file `contents`, which is created or was made by
/// `serve`. `faults` are injected, as `--fault` has them, with `seed`. Answers go out `door_us` microseconds early for the
/// way to the client; by default that is measured, and 0 over TCP. `tls` is a folder with the server's certificate and the
/// authority of its clients', as `--tls` has it, which addresses that other machines can reach need. With `control`,
/// `Server.control` injects faults, keeps and restores snapshots and cuts the power while programs are at work.
#[pyfunction]
#[pyo3(signature = (drive, at=None, *, time="real", record=None, contents=None, read_only=false, faults=Vec::new(), seed=Whole::of(1),
    ignore_flushes=false, door_us=None, state=None, tls=None, control=false))]
#[allow(clippy::too_many_arguments)] // They are Python's keywords.
pub(crate) fn serve(
    py: Python<'_>,
    drive: &Bound<'_, PyAny>,
    at: Option<&str>,
    time: &str,
    record: Option<PathBuf>,
    contents: Option<PathBuf>,
    read_only: bool,
    faults: Vec<String>,
    seed: Whole,
    ignore_flushes: bool,
    door_us: Option<Real>,
    state: Option<PathBuf>,
    tls: Option<PathBuf>,
    control: bool,
) -> PyResult<Server> {
    let wrong = |message: String| PyValueError::new_err(message);
    let failed = |error: &dyn std::fmt::Display| Error::new_err(error.to_string());
    let seed = seed.within("seed", 0..=u64::MAX)?;
    let door_us = door_us.map(|Real(us)| us);
    let named = NamedDrive::whole(drive, "a served drive")?;
    let pace: Pace = time.parse().map_err(|error| wrong(format!("time: {error}")))?;
    let faults: Result<Vec<FaultSpec>, _> = faults.iter().map(|fault| fault.parse()).collect();
    let faults = faults.map_err(|error| wrong(format!("faults: {error}")))?;
    if let Some(us) = door_us.filter(|us| !(0.0..=MOST_DOOR_US).contains(us)) {
        return Err(wrong(format!("door_us={us}: give microseconds from 0 to {MOST_DOOR_US}")));
    }
    if let (Pace::Virtual { .. }, Some(us)) = (pace, door_us.filter(|us| *us > 0.0)) {
        return Err(wrong(format!(
            "door_us={us}: with time=\"virtual\" no answer has a time to be early for: leave it out"
        )));
    }
    // Before anything is made.
    if let Some(path) = record.as_ref().filter(|path| path.symlink_metadata().is_ok()) {
        return Err(failed(&RecordError::Exists(path.clone())));
    }
    if record.is_some() && record == contents {
        return Err(wrong("record and contents are one file: give each a file of its own".into()));
    }
    let folder = match at {
        Some(_) if !control => None,
        _ => Some(tempfile::tempdir().map_err(|error| failed(&error))?),
    };
    let address: Address = match (at, &folder) {
        (Some(at), _) => at.parse().map_err(|error| wrong(format!("at: {error}")))?,
        (None, folder) => {
            let folder = folder.as_ref().map(tempfile::TempDir::path).unwrap_or("".as_ref());
            Address::Unix(folder.join("drive.sock"))
        }
    };
    let tls = tls.map(|folder| Tls::open(&folder)).transpose().map_err(|error| failed(&error))?;
    let in_state = state.map(|path| InState::of(&named.profile, path)).transpose()?;
    let bare = without_host(named)?;
    let (geometry, about) = (bare.geometry(), about(&bare, pace, in_state.as_ref()));
    if let Some(why) = faults.iter().find_map(|fault| fault.beyond(geometry.bytes())) {
        return Err(wrong(format!("faults: {why}")));
    }
    check_memory(vec![bare.memory_bytes()], 1)
        .map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    let mut made = MadeInVain::default();
    let contents = match &contents {
        None => {
            let available = host::available_memory_bytes().unwrap_or(u64::MAX / 100);
            Contents::Memory(Memory::new(available / 100 * MEMORY_PERCENT))
        }
        Some(path) => {
            let is_new = path.symlink_metadata().is_err();
            let file = match read_only {
                true => ContentsFile::open_to_read(path, geometry.bytes()),
                // Nothing is named to be overwritten: a file that serve did not make is refused.
                false => ContentsFile::open(path, geometry.bytes(), &Permission::default()),
            };
            let file = file.map_err(|error| failed(&error))?;
            made.0.extend(is_new.then(|| path.clone()));
            Contents::File(file)
        }
    };
    let door = match (pace, door_us) {
        (Pace::Virtual { .. }, _) => Nanos::ZERO,
        (_, Some(us)) => Nanos::from_micros(us),
        (_, None) if matches!(address, Address::Tcp(_)) => Nanos::ZERO,
        (_, None) => py.detach(door::measure).map_err(|error| failed(&error))?,
    };
    let listener = Listener::open(&address, tls).map_err(|error| failed(&error))?;
    let (control, steered) = match folder.as_ref().filter(|_| control) {
        Some(folder) => {
            ControlSocket::open(folder.path()).map(|(ours, its)| (Some(ours), Some(its)))?
        }
        None => (None, None),
    };
    let recording = record.as_ref().map(|path| Recording::create(path, &about)).transpose();
    let recording = recording.map_err(|error| failed(&error))?;
    made.0.extend(record.clone());
    let uri = listener.uri();
    let (stop, stopped) = UnixStream::pair().map_err(|error| failed(&error))?;
    let name = bare.name().to_string();
    let latest = Arc::new(Mutex::new(None));
    let work = Work {
        export: Export {
            name: name.clone(),
            description: bare.title().into(),
            bytes: geometry.bytes(),
            block_bytes: geometry.logical_block_bytes,
            read_only,
            trims: bare.takes_trim(),
            rotational: is_rotational(&bare),
        },
        pace,
        door,
        contents,
        faults: (!faults.is_empty() || control.is_some()).then(|| Faults::new(&faults, seed)),
        control: steered,
        in_state,
        turn: TurnSettings {
            trims: bare.takes_trim(),
            records: recording.is_some(),
            ignores_flushes: ignore_flushes,
            ..TurnSettings::default()
        },
        recording,
        listener,
        stop: stopped,
        latest: Arc::clone(&latest),
    };
    let thread = std::thread::Builder::new().name("serve".into());
    let thread = thread.spawn(move || work.serve(&bare)).map_err(|error| failed(&error))?;
    made.0.clear();
    let running = Running { stop, thread, folder };
    Ok(Server { name, uri, recording: record, control, latest, running: Mutex::new(Some(running)) })
}

/// Files that were made for a server: they are removed where none comes about.
#[derive(Default)]
struct MadeInVain(Vec<PathBuf>);

impl Drop for MadeInVain {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A state that a drive is served in.
struct InState {
    path: PathBuf,
    /// Whose state it is: with its host.
    as_sold: Profile,
}

impl InState {
    fn of(drive: &DriveProfile, path: PathBuf) -> PyResult<InState> {
        let as_sold = drive.single("a state", errors::StateError::new_err)?;
        state::check(&path, as_sold).map_err(errors::state)?;
        Ok(InState { path, as_sold: as_sold.clone() })
    }
}

/// The drive behind a host that takes no time.
fn without_host(named: NamedDrive) -> PyResult<Candidate> {
    if named.has_host {
        return Err(PyValueError::new_err(format!(
            "{}: the real host is in front of a drive that is served: give it without host",
            named.profile.name()
        )));
    }
    let candidate = match named.profile {
        DriveProfile::One(profile) => Candidate::of(*profile),
        DriveProfile::Several(array) => Candidate::of_array(*array),
    };
    candidate.without_host(&[]).map_err(|error| Error::new_err(error.to_string()))
}

fn is_rotational(drive: &Candidate) -> bool {
    match &drive.made_of {
        MadeOf::Drive(profile) => matches!(profile.model, Model::Hdd(_)),
        MadeOf::Array(array) => !array.is_flash(),
    }
}

/// What a recording says of where it is from.
fn about(drive: &Candidate, pace: Pace, in_state: Option<&InState>) -> String {
    let hash = match &drive.made_of {
        MadeOf::Drive(profile) => profile.hash(),
        MadeOf::Array(array) => array.hash(),
    };
    serde_json::json!({
        "recorded_by": format!("fourcorners {}", env!("CARGO_PKG_VERSION")),
        "drive": drive.name(),
        "profile": hash,
        "state": in_state.map(|state| state.path.display().to_string()),
        "time": pace.to_string(),
    })
    .to_string()
}

/// All that the thread of a server begins with.
struct Work {
    export: Export,
    pace: Pace,
    door: Nanos,
    contents: Contents,
    faults: Option<Faults>,
    control: Option<Control>,
    in_state: Option<InState>,
    turn: TurnSettings,
    recording: Option<Recording>,
    listener: Listener,
    stop: UnixStream,
    latest: Arc<Mutex<Option<Report>>>,
}

impl Work {
    fn serve(self, drive: &Candidate) -> Result<(), String> {
        let checked = |error: &dyn std::fmt::Display| error.to_string();
        match &drive.made_of {
            MadeOf::Drive(profile) => match &profile.model {
                Model::Ssd(model) => {
                    let ssd = match &self.in_state {
                        None => Ssd::new(model).map_err(|error| checked(&error))?,
                        Some(InState { path, as_sold }) => {
                            let loaded = state::load_as(path, as_sold, model);
                            loaded.map_err(|error| checked(&error))?.ssd
                        }
                    };
                    let before = ssd.counters();
                    let compresses = model.compression.is_some();
                    let ignores_trims = model.trim.mode == Some(TrimMode::Ignored);
                    let turn = TurnSettings { compresses, ignores_trims, ..self.turn };
                    let counters = move |ssd: &Ssd| Some(DriveCounters::since(ssd, &before));
                    let work = Work { turn, ..self };
                    work.run(ssd, counters, Some(Turn::expect_power_cuts))
                }
                Model::Hdd(model) => {
                    let hdd = Hdd::new(model).map_err(|error| checked(&error))?;
                    self.run(hdd, |_| None, None)
                }
            },
            MadeOf::Array(array) => match array.several() {
                Several::Array(array) => self.run(*array, |_| None, None),
                Several::Cache(cache) => self.run(*cache, |_| None, None),
            },
        }
    }

    fn run<T: Target + Clone + 'static>(
        self,
        target: T,
        counters: impl Fn(&T) -> Option<DriveCounters> + 'static,
        expect_power_cuts: Option<fn(&mut Turn<T>)>,
    ) -> Result<(), String> {
        let Work { export, pace, door, contents, turn, latest, .. } = self;
        let mut turn = Turn::new(target, contents, turn);
        if let Some(faults) = self.faults {
            turn.inject(faults);
        }
        if let (Some(_), Some(expect_power_cuts)) = (&self.control, expect_power_cuts) {
            expect_power_cuts(&mut turn);
        }
        let every = Some(Nanos::from_secs(1));
        let settings = Settings { export, pace, door, until_last_disconnect: None, every };
        let mut server = LabServer::new(turn, settings);
        server.tell_counters(Box::new(counters));
        if let Some(control) = self.control {
            let available = host::available_memory_bytes().unwrap_or(u64::MAX / 100);
            server.steer(control, available / 100 * MEMORY_PERCENT);
        }
        if let Some(recording) = self.recording {
            server.record(recording);
        }
        server.stop_at(self.stop.into());
        server.listen(self.listener);
        let observe = |report: &Report| *locked(&latest) = Some(report.clone());
        server.run(observe).map(drop).map_err(|error| error.to_string())
    }
}

/// Whoever held it before may have panicked: a report is whole, or there is none.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A drive that is served, or was.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Server {
    name: String,
    /// Where clients find it.
    #[pyo3(get)]
    uri: String,
    /// The trace of all I/Os, whole once it is closed.
    #[pyo3(get)]
    recording: Option<PathBuf>,
    control: Option<ControlSocket>,
    latest: Arc<Mutex<Option<Report>>>,
    running: Mutex<Option<Running>>,
}

/// The thread of a server.
struct Running {
    /// Closed, it ends the server.
    stop: UnixStream,
    thread: JoinHandle<Result<(), String>>,
    /// Where the socket is, if nobody named one.
    folder: Option<tempfile::TempDir>,
}

impl Running {
    fn end(self) -> Result<(), String> {
        drop(self.stop);
        let ended = self.thread.join();
        drop(self.folder);
        ended.unwrap_or_else(|_| Err("the server panicked: please report it".into()))
    }
}

#[pymethods]
impl Server {
    /// What was done so far, as of the last whole second, and in all once it is closed: a dictionary, the event of
    /// `fourcorners serve --progress json`. `None` before the first second.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let latest = locked(&self.latest);
        Ok(latest.as_ref().map(|report| pythonize::pythonize(py, report)).transpose()?)
    }

    /// The same in the command's words.
    #[getter]
    fn text(&self) -> Option<String> {
        locked(&self.latest).as_ref().map(Report::words)
    }

    /// Carries a command out while it serves, a line as `fourcorners serve --control` takes it: "status", "fault
    /// eio-write@n=1", "snapshot NAME", "rollback NAME", "cut legal 7" and the others of docs/SERVE.md. The answer as a
    /// dictionary; what is refused is an error. It needs `serve(..., control=True)`.
    fn control<'py>(&self, py: Python<'py>, command: &str) -> PyResult<Bound<'py, PyAny>> {
        let none = || {
            PyValueError::new_err("this server takes no commands: serve(..., control=True) does")
        };
        let socket = self.control.as_ref().ok_or_else(none)?;
        if !self.is_running() {
            return Err(Error::new_err(format!("{} is not served any more", self.name)));
        }
        socket.ask(py, command)
    }

    /// Whether it takes clients.
    #[getter]
    fn is_running(&self) -> bool {
        locked(&self.running).as_ref().is_some_and(|running| !running.thread.is_finished())
    }

    /// Ends it; clients get the answers that are due. Does nothing if it has ended.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let running = locked(&self.running).take();
        let ended = running.map_or(Ok(()), |running| py.detach(|| running.end()));
        ended.map_err(Error::new_err)
    }

    fn __enter__(slf: Py<Server>) -> Py<Server> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _class: &Bound<'_, PyAny>,
        _raised: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        let state = if self.is_running() { "at" } else { "was at" };
        format!("<Server of {} {state} {}>", self.name, self.uri)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(running) = locked(&self.running).take() {
            // There is nobody to tell.
            let _ = running.end();
        }
    }
}
