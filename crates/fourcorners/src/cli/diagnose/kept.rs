//! What is kept of a diagnosis under way, and what `--resume` goes on from.

use std::path::{Path, PathBuf};

use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::diagnose::{Detector, Finished, Options};
use fourcorners_lab::diagnosis_folder::{self, DiagnosisFolder, DiagnosisFolderError};
use fourcorners_lab::drive::Drive;

use super::super::continued;
use super::super::terminal::say;
use super::args::DiagnoseArgs;

/// What an earlier run has left, if it is to be gone on from.
pub(super) struct Begun(Option<diagnosis_folder::Begun>);

impl Begun {
    /// What is to be gone on from, if that was asked for.
    ///
    /// # Errors
    /// What is there, and what to do; nothing was changed.
    pub(super) fn open(
        args: &DiagnoseArgs,
        device: &DeviceUnderTest,
        options: &Options,
    ) -> Result<Begun, String> {
        let place = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let folder = args.resume.as_ref().or(args.out.as_ref());
        let is_in_the_way =
            |target: PathBuf| folder.is_some_and(|it| DiagnosisFolder::holds(&place(it), &target));
        if device.place().is_some_and(is_in_the_way) {
            return Err(format!(
                "{} is where this diagnosis is kept: name another target, or another --out",
                device.name()
            ));
        }
        let opened = args.resume.as_ref().map(|it| DiagnosisFolder::open(it, device, options));
        Ok(Begun(opened.transpose().map_err(|error| error.to_string())?))
    }

    /// The drive to go on with, and what need not be run again; it is said what that is.
    pub(super) fn go_on(
        &self,
        device: &DeviceUnderTest,
        opened: Drive,
    ) -> Result<(Drive, Vec<Finished>), DiagnosisFolderError> {
        let Some(begun) = &self.0 else { return Ok((opened, Vec::new())) };
        let names =
            |all: Vec<Detector>| all.into_iter().map(Detector::name).collect::<Vec<_>>().join(", ");
        let drive = begun.drive(device, opened)?;
        if !begun.again.is_empty() {
            say(&format!(
                "fourcorners: of {} no state is kept: {} are run again, which gives the same",
                device.name(),
                names(begun.again.clone())
            ));
        } else {
            let done: Vec<Detector> =
                begun.finished.iter().filter_map(Finished::detector).collect();
            if !done.is_empty() {
                say(&format!("fourcorners: finished before: {}", names(done)));
            }
        }
        Ok((drive, begun.finished.clone()))
    }
}

/// Keeps what is finished, where there is a folder for it.
pub(super) struct Keeper {
    folder: Option<(DiagnosisFolder, PathBuf)>,
    /// Detectors that are not finished.
    missing: usize,
    /// Once something could not be kept, what comes later cannot be gone on from.
    failed: bool,
}

impl Keeper {
    /// That of a folder of results, new or begun before.
    pub(super) fn of(
        begun: &Begun,
        results: Option<&Path>,
        device: &DeviceUnderTest,
        options: &Options,
    ) -> Result<Keeper, DiagnosisFolderError> {
        let folder = |results: &Path| match &begun.0 {
            Some(begun) => Ok((begun.folder.clone(), results.to_path_buf())),
            None => DiagnosisFolder::begin(results, device, options)
                .map(|it| (it, results.to_path_buf())),
        };
        let asked = Detector::ALL.iter().filter(|it| options.detectors.contains(it)).count();
        let finished = begun.0.as_ref().map_or(0, |begun| begun.finished.len());
        Ok(Keeper {
            folder: results.map(folder).transpose()?,
            missing: asked.saturating_sub(finished),
            failed: false,
        })
    }

    pub(super) fn keep(&mut self, drive: &Drive, finished: &Finished) {
        self.missing = self.missing.saturating_sub(1);
        let Some((folder, _)) = self.folder.as_ref().filter(|_| !self.failed) else { return };
        if let Err(error) = folder.keep(drive, finished) {
            self.failed = true;
            say(&format!("fourcorners: {error}: --resume will begin before this detector"));
        }
    }

    /// Says which command writes the results once there is room: the folder of `--out` has them.
    pub(super) fn unwritten(&self) {
        if let Some((_, results)) = self.folder.as_ref().filter(|_| !self.failed) {
            say(&continued::command(results, &["--out"]));
        }
    }

    /// Removes what is kept if nothing is left to do. Otherwise says how to go on.
    pub(super) fn end(&self) {
        let Some((folder, results)) = &self.folder else { return };
        match self.missing {
            0 => folder.remove(),
            _ => say(&continued::command(results, &["--out"])),
        }
    }
}
