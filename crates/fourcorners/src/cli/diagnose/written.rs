//! The files of a diagnosis: a page, JSON with all samples, or both in a folder.

use std::path::{Path, PathBuf};

use fourcorners_lab::campaign::ResultsFolder;
use fourcorners_lab::diagnose::Diagnosis;
use fourcorners_machine::save::write_atomically;
use fourcorners_report::diagnosis_page;

use super::super::replaced::{Inputs, Kind};
use super::args::DiagnoseArgs;

/// What is in a folder of `--out`.
const PAGE: &str = "diagnosis.html";
pub(super) const DOCUMENT: &str = "diagnosis.json";

/// A file, and what is in it.
#[derive(Clone, PartialEq, Debug)]
struct Output {
    path: PathBuf,
    is_page: bool,
}

impl Output {
    fn at(path: PathBuf) -> Output {
        let is_page = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("html"));
        Output { path, is_page }
    }
}

/// Files that are allowed, and can be written.
pub(super) struct Outputs {
    files: Vec<Output>,
    folder: Option<ResultsFolder>,
}

impl Outputs {
    /// Checks what was asked for, and makes the folder. `read` is what must not be replaced.
    ///
    /// # Errors
    /// What is there, and what to do.
    pub(super) fn check(args: &DiagnoseArgs, read: Option<&Path>) -> Result<Outputs, String> {
        let in_folder = |folder: &PathBuf| [PAGE, DOCUMENT].map(|name| folder.join(name));
        let folder = args.resume.as_ref().or(args.out.as_ref());
        let inputs = Inputs::of(read);
        if let Some(folder) = folder {
            let kinds = [(PAGE, Kind::Page), (DOCUMENT, Kind::Diagnosis)];
            inputs.may_write_into(folder, kinds, args.overwrite)?;
        }
        if let Some(output) = &args.output {
            let Output { path, is_page } = Output::at(output.clone());
            let kind = if is_page { Kind::Page } else { Kind::Diagnosis };
            inputs.may_write(&path, kind, args.overwrite)?;
        }
        let paths = folder.into_iter().flat_map(in_folder).chain(args.output.clone());
        let files: Vec<Output> = paths.map(Output::at).collect();
        let made = folder.map(|folder| {
            ResultsFolder::at(folder, &[PAGE, DOCUMENT]).map_err(|error| {
                let place = folder.display();
                format!("cannot write into {place}: {error}; choose another --out")
            })
        });
        Ok(Outputs { files, folder: made.transpose()? })
    }

    /// Removes the folder again, if it was made for what does not come.
    pub(super) fn undo(&self) {
        self.folder.iter().for_each(ResultsFolder::undo);
    }

    /// Writes all that can be written; `text` is the diagnosis as JSON.
    ///
    /// # Errors
    /// The first file that cannot be written.
    pub(super) fn write(&self, diagnosis: &Diagnosis, text: &str) -> anyhow::Result<()> {
        let write = |Output { path, is_page }: &Output| {
            let written = match is_page {
                true => write_atomically(path, diagnosis_page(diagnosis).as_bytes()),
                false => write_atomically(path, text.as_bytes()),
            };
            written.map_err(|error| anyhow::anyhow!("cannot write {}: {error}", path.display()))
        };
        // A disk that is too full for the page may still have room for the samples.
        let written: Vec<_> = self.files.iter().map(write).collect();
        written.into_iter().collect()
    }

    /// The folder, if it is one.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(ResultsFolder::path)
    }

    /// Where the page is.
    pub(super) fn page(&self) -> Option<&Path> {
        self.files.iter().find(|it| it.is_page).map(|it| it.path.as_path())
    }
}
