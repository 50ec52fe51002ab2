//! What `diagnose --resume` goes on from: a folder `diagnosis.resume` beside the results, with a file that says of which
//! diagnosis it is, one for each detector that is finished, and the state of a virtual SSD behind the last of them. The folder
//! is removed when the diagnosis is whole.
//!
//! The finished detectors are those without a gap from the first on. A drive that cannot be had again as they left it
//! (a virtual one whose state is not kept or is gone) is diagnosed anew, which gives the same.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::device_under_test::DeviceUnderTest;
use crate::diagnose::{Detector, Finished, Options};
use crate::drive::Drive;
use crate::kept_folder::KeptFolder;
use crate::sealed::{self, Unread};
use crate::state::{self, StateFileError};
use fourcorners_catalogue::Profile;
use fourcorners_words::hex;

/// Its name.
const NAME: &str = "diagnosis.resume";
/// What the names of a detector's files end with.
const EVIDENCE: &str = "json";
const STATE: &str = "state";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Of which diagnosis the files are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Plan {
    /// What a detector measured means something to the version that ran it only.
    version: String,
    /// SHA-256 of the target and the options.
    digest: String,
}

impl Plan {
    fn of(device: &DeviceUnderTest, options: &Options) -> Plan {
        let all = format!("{}\n{options:?}\n", device.identity());
        Plan { version: VERSION.into(), digest: hex(&Sha256::digest(all)) }
    }
}

/// Why there is nothing to go on from.
#[derive(Debug, thiserror::Error)]
pub enum DiagnosisFolderError {
    /// There is something of its name that is no folder, or it cannot be made.
    #[error("{}: {error}; choose another --out", place.display())]
    Folder {
        /// The folder.
        place: PathBuf,
        /// What the file system answered.
        error: io::Error,
    },
    /// No folder, or none that a diagnosis has left.
    #[error("there is nothing to resume in {}: its diagnosis is whole, or there is none", place.display())]
    Nothing {
        /// The folder of the results.
        place: PathBuf,
    },
    /// What a detector measured means something to the version that ran it only.
    #[error(
        "the diagnosis in {} was begun by fourcorners {version}, this is {VERSION}: begin anew with --out",
        place.display()
    )]
    Version {
        /// The folder of the results.
        place: PathBuf,
        /// Which began it.
        version: String,
    },
    /// It is of another diagnosis.
    #[error(
        "the diagnosis in {} has another target, other detectors or options: give the same arguments, or begin anew \
         with --out",
        place.display()
    )]
    Other {
        /// The folder of the results.
        place: PathBuf,
    },
    /// A file of it cannot be read or written.
    #[error("{}: {error}", place.display())]
    Io {
        /// The file.
        place: PathBuf,
        /// What the file system answered.
        error: io::Error,
    },
    /// A file of it is not what was written.
    #[error("{} is damaged: remove it to measure that part anew, or begin anew with --out", place.display())]
    Damaged {
        /// The file.
        place: PathBuf,
    },
    /// The state cannot be kept.
    #[error(transparent)]
    State(#[from] StateFileError),
}

/// A diagnosis that was ended before it was whole.
#[derive(Debug)]
pub struct Begun {
    /// Its folder.
    pub folder: DiagnosisFolder,
    /// The detectors that need not be run again.
    pub finished: Vec<Finished>,
    /// Those that were finished and are run again, as the drive cannot be had as they left it.
    pub again: Vec<Detector>,
    /// The state of a virtual SSD behind them.
    state: Option<PathBuf>,
}

impl Begun {
    /// The drive as the finished detectors left it.
    ///
    /// # Errors
    /// When its state cannot be loaded.
    pub fn drive(
        &self,
        device: &DeviceUnderTest,
        opened: Drive,
    ) -> Result<Drive, DiagnosisFolderError> {
        match (&self.state, profile(device)) {
            (Some(path), Some(profile)) => {
                let loaded = state::load(path, profile).map_err(|why| unloaded(path, why))?;
                Ok(Drive::Ssd(Box::new(loaded.ssd)))
            }
            _ => Ok(opened),
        }
    }
}

/// The folder of a diagnosis.
#[derive(Clone, Debug)]
pub struct DiagnosisFolder {
    folder: KeptFolder,
    /// Of a virtual drive, whose state is kept if it has one.
    profile: Option<Box<Profile>>,
}

impl DiagnosisFolder {
    fn at(
        results: &Path,
        device: &DeviceUnderTest,
    ) -> Result<DiagnosisFolder, DiagnosisFolderError> {
        let folder = KeptFolder::at(results, NAME).map_err(|place| {
            let error = io::Error::other("it is no folder of a diagnosis: remove it");
            DiagnosisFolderError::Folder { place, error }
        })?;
        Ok(DiagnosisFolder { folder, profile: profile(device).cloned().map(Box::new) })
    }

    /// A new folder for a diagnosis that begins; what an earlier one left is replaced.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn begin(
        results: &Path,
        device: &DeviceUnderTest,
        options: &Options,
    ) -> Result<DiagnosisFolder, DiagnosisFolderError> {
        let this = DiagnosisFolder::at(results, device)?;
        this.folder.begin(&Plan::of(device, options), is_part).map_err(|error| {
            DiagnosisFolderError::Folder { place: this.folder.path().to_path_buf(), error }
        })?;
        Ok(this)
    }

    /// The folder beside `results` of a diagnosis that was ended, if it is the one of this device by these options.
    ///
    /// # Errors
    /// [`DiagnosisFolderError`]; nothing was changed.
    pub fn open(
        results: &Path,
        device: &DeviceUnderTest,
        options: &Options,
    ) -> Result<Begun, DiagnosisFolderError> {
        let folder = DiagnosisFolder::at(results, device)?;
        let place = || results.to_path_buf();
        let Some(found) = read::<Plan>(&folder.folder.plan())? else {
            return Err(DiagnosisFolderError::Nothing { place: place() });
        };
        let wanted = Plan::of(device, options);
        if found.version != wanted.version {
            return Err(DiagnosisFolderError::Version { place: place(), version: found.version });
        }
        if found != wanted {
            return Err(DiagnosisFolderError::Other { place: place() });
        }
        let mut finished = Vec::new();
        for detector in Detector::ALL.into_iter().filter(|it| options.detectors.contains(it)) {
            let path = folder.evidence(detector);
            match read::<Finished>(&path)? {
                Some(it) if it.detector() == Some(detector) => finished.push(it),
                Some(_) => return Err(DiagnosisFolderError::Damaged { place: path }),
                None => break,
            }
        }
        let last = finished.last().and_then(Finished::detector);
        let state = last.map(|last| folder.state(last)).filter(|path| path.exists());
        if let (Some(path), Some(profile)) = (&state, &folder.profile) {
            state::check(path, profile).map_err(|why| unloaded(path, why))?;
        }
        let mut again = Vec::new();
        if state.is_none() && !device.is_real() {
            again = finished.drain(..).filter_map(|it| it.detector()).collect();
        }
        Ok(Begun { folder, finished, again, state })
    }

    /// Whether a target would be in the way of one of its files.
    pub fn holds(results: &Path, path: &Path) -> bool {
        path.starts_with(results.join(NAME))
    }

    /// Keeps a detector that is finished, and the state of a drive that has one.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn keep(&self, drive: &Drive, finished: &Finished) -> Result<(), DiagnosisFolderError> {
        let Some(detector) = finished.detector() else { return Ok(()) };
        // Before what counts on it.
        if let (Some(profile), Drive::Ssd(ssd)) = (&self.profile, drive) {
            match state::save(ssd, profile, &self.state(detector)) {
                // There is none: it is diagnosed anew.
                Ok(()) | Err(StateFileError::None { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let path = self.evidence(detector);
        sealed::write(&path, finished)
            .map_err(|error| DiagnosisFolderError::Io { place: path, error })?;
        for earlier in Detector::ALL.into_iter().take_while(|it| *it != detector) {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_file(self.state(earlier));
        }
        Ok(())
    }

    /// Removes the files, and the folder if nothing else is in it.
    pub fn remove(&self) {
        self.folder.remove(is_part);
    }

    fn evidence(&self, detector: Detector) -> PathBuf {
        self.folder.path().join(format!("{}.{EVIDENCE}", detector.name()))
    }

    fn state(&self, detector: Detector) -> PathBuf {
        self.folder.path().join(format!("{}.{STATE}", detector.name()))
    }
}

/// Whether a file of this name is one of a detector's.
fn is_part(name: &str) -> bool {
    let named = |stem: &str| Detector::named(stem).is_some();
    name.rsplit_once('.')
        .is_some_and(|(stem, kind)| [EVIDENCE, STATE].contains(&kind) && named(stem))
}

/// That of a virtual drive which is one.
fn profile(device: &DeviceUnderTest) -> Option<&Profile> {
    match device {
        DeviceUnderTest::Virtual(profile) | DeviceUnderTest::Used(profile, _) => Some(profile),
        _ => None,
    }
}

/// A state that cannot be loaded is no reason to age a drive.
fn unloaded(path: &Path, why: StateFileError) -> DiagnosisFolderError {
    match why {
        StateFileError::Io { cause, .. } => {
            DiagnosisFolderError::Io { place: path.to_path_buf(), error: cause }
        }
        _ => DiagnosisFolderError::Damaged { place: path.to_path_buf() },
    }
}

/// The content of a file; none if there is no file.
fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, DiagnosisFolderError> {
    let place = path.to_path_buf();
    sealed::read(path).map_err(|unread| match unread {
        Unread::Io(error) => DiagnosisFolderError::Io { place, error },
        Unread::Damaged => DiagnosisFolderError::Damaged { place },
    })
}

#[cfg(test)]
mod tests {
    use fourcorners_catalogue::built_in;

    use super::*;
    use crate::diagnose::{Diagnosis, Noise, go_on};

    /// A drive whose state can be kept, and two whose state cannot.
    const KEPT: &[&str] = &["nand.blocks_per_plane=128", "capacity.sectors=1845248"];
    const LIMITED_MAP: &[&str] =
        &["nand.blocks_per_plane=144", "capacity.sectors=1845248", "map.memory_kib=256"];

    fn device(name: &str, set: &[&str]) -> DeviceUnderTest {
        let set: Vec<String> = set.iter().map(|it| (*it).to_string()).collect();
        DeviceUnderTest::Virtual(Box::new(built_in(name, &set).expect("a drive")))
    }

    fn options(noise: Noise) -> Options {
        Options {
            detectors: vec![
                Detector::Kind,
                Detector::Row,
                Detector::ReadAhead,
                Detector::WriteBuffer,
                Detector::SlcCache,
            ],
            seed: 7,
            noise,
        }
    }

    /// Begins a diagnosis, or goes on with it, until a detector is to begin; all of it if there is none of that name.
    fn until(
        device: &DeviceUnderTest,
        options: &Options,
        place: &Path,
        (resume, ends): (bool, &str),
    ) -> (Diagnosis, usize, usize) {
        let opened = Drive::from_profile(profile(device).expect("a model"));
        let (mut drive, folder, finished, again) = match resume {
            true => {
                let begun = DiagnosisFolder::open(place, device, options).expect("it was begun");
                let drive = begun.drive(device, opened).expect("its state is whole");
                (drive, begun.folder, begun.finished, begun.again.len())
            }
            false => {
                let begun = DiagnosisFolder::begin(place, device, options).expect("it is ours");
                (opened, begun, Vec::new(), 0)
            }
        };
        let before = finished.len();
        let mut watch = |what: &str| what != ends;
        let mut keep =
            |drive: &Drive, it: &Finished| folder.keep(drive, it).expect("there is room");
        let found = go_on(&mut drive, "a", options, finished, &mut watch, &mut keep);
        (found, before, again)
    }

    fn place() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    #[test]
    fn a_diagnosis_that_was_ended_anywhere_comes_to_what_it_would_have_come_to() {
        for (noise, ends) in [
            (Noise::None, ["row", "read-ahead"]),
            (Noise::Host, ["read-ahead", "write-buffer"]),
            (Noise::Lab, ["write-buffer", "slc-cache"]),
        ] {
            let (device, options) = (device("crucial-m4-64gb", KEPT), options(noise));
            let whole = until(&device, &options, place().path(), (false, "")).0;
            let dir = place();
            let (first, ..) = until(&device, &options, dir.path(), (false, ends[0]));
            assert_ne!(first, whole);
            let (second, done, again) = until(&device, &options, dir.path(), (true, ends[1]));
            assert_ne!(second, whole);
            assert!(done > 0 && again == 0, "{ends:?}");
            let (last, more, _) = until(&device, &options, dir.path(), (true, ""));
            assert_eq!(more, done + 1, "{ends:?}");
            assert_eq!(last, whole, "{ends:?}");
            // One state is enough.
            let states = fs::read_dir(dir.path().join(NAME)).expect("it is there").flatten();
            let states = states.filter(|it| it.path().extension().is_some_and(|it| it == "state"));
            assert_eq!(states.count(), 1);
        }
    }

    #[test]
    fn a_drive_without_a_state_is_diagnosed_anew_and_comes_to_the_same() {
        let disk = device("wd-velociraptor-300gb", &[]);
        for device in [device("crucial-m4-64gb", LIMITED_MAP), disk] {
            let (options, dir) = (options(Noise::Lab), place());
            let whole = until(&device, &options, place().path(), (false, "")).0;
            until(&device, &options, dir.path(), (false, "read-ahead"));
            let (last, done, again) = until(&device, &options, dir.path(), (true, ""));
            assert!(done == 0 && again >= 2, "{}: {done} {again}", device.name());
            assert_eq!(last, whole, "{}", device.name());
        }
    }

    #[test]
    fn a_state_or_a_piece_that_is_gone_is_measured_again_and_one_that_is_damaged_is_named() {
        let (device, options, dir) =
            (device("crucial-m4-64gb", KEPT), options(Noise::None), place());
        let whole = until(&device, &options, place().path(), (false, "")).0;
        until(&device, &options, dir.path(), (false, "write-buffer"));
        let there = |name: &str| dir.path().join(NAME).join(name);
        let said = || DiagnosisFolder::open(dir.path(), &device, &options).expect_err("damaged");
        for name in ["row.json", "read-ahead.state", "plan.json"] {
            let content = fs::read(there(name)).expect("it was kept");
            let mut other = content.clone();
            let middle = other.len() / 2;
            other[middle] ^= 1;
            for spoiled in [&other[..], &content[..middle], &[]] {
                fs::write(there(name), spoiled).expect("it is ours");
                let line = said().to_string();
                assert!(line.contains(name) && line.contains("remove it"), "{line}");
            }
            fs::write(there(name), content).expect("it is ours");
        }
        // That of another detector is none of this one.
        let row = fs::read(there("row.json")).expect("it was kept");
        fs::copy(there("kind.json"), there("row.json")).expect("it is ours");
        assert!(said().to_string().contains("row.json"));
        fs::write(there("row.json"), row).expect("it is ours");
        for name in ["read-ahead.state", "row.json"] {
            fs::remove_file(there(name)).expect("it is ours");
            let (last, done, again) = until(&device, &options, dir.path(), (true, ""));
            assert_eq!(done, 0);
            assert!(again > 0, "{name}");
            assert_eq!(last, whole, "{name}");
            until(&device, &options, dir.path(), (false, "write-buffer"));
        }
    }

    #[test]
    fn a_folder_of_another_diagnosis_is_not_gone_on_from() {
        let (mine, options, dir) = (device("crucial-m4-64gb", KEPT), options(Noise::None), place());
        let said = |device: &DeviceUnderTest, options: &Options| {
            DiagnosisFolder::open(dir.path(), device, options).expect_err("no").to_string()
        };
        assert!(said(&mine, &options).contains("nothing to resume"));
        until(&mine, &options, dir.path(), (false, "row"));
        let other = device("crucial-m4-64gb", LIMITED_MAP);
        assert!(said(&other, &options).contains("another target"));
        for other in [
            Options { seed: 8, ..options.clone() },
            Options { noise: Noise::Lab, ..options.clone() },
            Options { detectors: vec![Detector::Kind], ..options.clone() },
        ] {
            assert!(said(&mine, &other).contains("the same arguments"), "{other:?}");
        }
        let plan = dir.path().join(NAME).join("plan.json");
        let of_old = Plan { version: "0.0.1".into(), ..Plan::of(&mine, &options) };
        sealed::write(&plan, &of_old).expect("it is ours");
        assert!(said(&mine, &options).contains("0.0.1"));
        // Nobody's file is taken away with it.
        fs::write(dir.path().join(NAME).join("notes.txt"), "notes").expect("it is ours");
        DiagnosisFolder::at(dir.path(), &mine).expect("a folder").remove();
        assert_eq!(fs::read_dir(dir.path().join(NAME)).expect("it is there").count(), 1);
    }
}
