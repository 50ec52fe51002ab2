//! What an output may take the place of: nothing that is read for it, and of what else exists only an
//! earlier output of the same kind, unless the user asks for more.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fourcorners_results::store::kept_beside;
use fourcorners_words::MADE_BY;

/// By so many bytes at its beginning a file is recognised.
const BEGINNING: u64 = 64 << 10;

/// What a chart in a file of its own begins with.
const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// What is to be written.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A page of a review, a comparison, a choice or a diagnosis.
    Page,
    /// Records as JSON.
    Json,
    /// What was found inside a drive, as JSON.
    Diagnosis,
    /// Records as CSV.
    Csv,
    /// A chart.
    Svg,
    /// A chart or a card as a PNG.
    Png,
    /// Drives that were ranked, as JSON.
    Choice,
    /// What `run` reports. In fio's terse form alone nobody can tell whose it is.
    Report,
    /// The errors of the published figures.
    Errors,
    /// What single drives are shown among.
    Reference,
    /// A manual page.
    Manual,
    /// A profile that was found for a drive.
    Twin,
    /// A trace; nobody can tell whose one is.
    Trace,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Page => "a page of fourcorners",
            Kind::Json => "JSON of fourcorners",
            Kind::Diagnosis => "a diagnosis of fourcorners",
            Kind::Csv => "CSV of fourcorners",
            Kind::Svg => "an SVG picture of fourcorners",
            Kind::Png => "a PNG picture of fourcorners",
            Kind::Choice => "a choice of fourcorners",
            Kind::Report => "a report of run",
            Kind::Errors => "a table of errors of fourcorners",
            Kind::Reference => "reference results of fourcorners",
            Kind::Manual => "a manual page of fourcorners",
            Kind::Twin => "a twin of fourcorners",
            Kind::Trace => "known to be ours",
        }
    }

    /// Whether a file that begins so is one of ours.
    fn begins(self, text: &str) -> bool {
        match self {
            Kind::Page => {
                let titles = [
                    " – drive review</title>",
                    " – which drive</title>",
                    " – drive diagnosis</title>",
                ];
                text.starts_with("<!DOCTYPE html>") && titles.iter().any(|it| text.contains(it))
            }
            Kind::Json => text.starts_with("{\"schema\":\"fourcorners.review/"),
            Kind::Diagnosis => text.starts_with("{\"schema\":\"fourcorners.diagnose/"),
            Kind::Csv => text.starts_with(&fourcorners_results::store::csv_header()),
            Kind::Svg => {
                let text = text.strip_prefix(XML).unwrap_or(text);
                text.starts_with("<svg ") && text.contains(MADE_BY)
            }
            // Reports of fio itself are left alone: ours have a line with our name.
            Kind::Report => {
                let first = text.lines().next().unwrap_or_default();
                let says =
                    |line: &str| line.starts_with("fourcorners-") && line.ends_with(" time)");
                let begins = first.contains(": (g=") || first.starts_with("3;fio-");
                begins && text.lines().any(says)
                    || text.starts_with('{') && text.contains("\"fourcorners version\":")
            }
            Kind::Errors => text.starts_with("{\n  \"catalogue\": \""),
            Kind::Reference => {
                text.contains("\"schema\": \"fourcorners.reference/")
                    || text.contains("\"schema\":\"fourcorners.reference/")
            }
            Kind::Png => text.contains("PNG\r\n") && text.contains("tEXtSoftware\0fourcorners"),
            Kind::Choice => text.starts_with("{\"schema\":\"fourcorners.choose/"),
            Kind::Manual => text.contains(".TH fourcorners"),
            Kind::Twin => text.contains("\ntwin = \"fourcorners twin, "),
            Kind::Trace => false,
        }
    }
}

/// Files that are read, so that nothing may be written over them.
pub(super) struct Inputs {
    files: Vec<PathBuf>,
    /// What SQLite keeps beside a database, or might, and the database.
    beside: Vec<(PathBuf, PathBuf)>,
}

impl Inputs {
    pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a Path>) -> Inputs {
        Inputs { files: files.into_iter().map(Path::to_path_buf).collect(), beside: Vec::new() }
    }

    /// These, and a database with what SQLite keeps beside it.
    pub(super) fn and_database(mut self, database: Option<&Path>) -> Inputs {
        self.files.extend(database.map(Path::to_path_buf));
        // A link's are beside what it leads to.
        let real = database.map(|path| (path.canonicalize().unwrap_or_else(|_| path.into()), path));
        self.beside.extend(real.into_iter().flat_map(|(real, path)| {
            kept_beside(&real).map(|beside| (place(&beside), path.to_path_buf()))
        }));
        self
    }

    /// What is read for the trace of this name.
    pub(super) fn of_trace(trace: &Path) -> Inputs {
        Inputs { files: fourcorners_trace::files(trace), beside: Vec::new() }
    }

    /// Which of them is this file, be it by another name.
    pub(super) fn same_as(&self, path: &Path) -> Option<&Path> {
        let there = path.metadata().ok()?;
        let same = |input: &&PathBuf| {
            let input = input.metadata();
            input.is_ok_and(|input| (input.dev(), input.ino()) == (there.dev(), there.ino()))
        };
        self.files.iter().find(same).map(PathBuf::as_path)
    }

    /// What results are named by, where those are files or folders, and the database.
    pub(super) fn of_results(names: &[String], database: Option<PathBuf>) -> Inputs {
        let documents = |name: &String| {
            let found = fourcorners_results::store::documents(Path::new(name));
            found.unwrap_or_default()
        };
        let named = names.iter().filter(|name| Path::new(name).exists()).flat_map(documents);
        Inputs { files: named.collect(), beside: Vec::new() }.and_database(database.as_deref())
    }

    /// Whether a file of this `kind` may be written to `path`.
    ///
    /// # Errors
    /// What is there, and what to do.
    pub(super) fn may_write(&self, path: &Path, kind: Kind, overwrite: bool) -> Result<(), String> {
        folder_is_there(path)?;
        self.may_replace(path, kind, overwrite)
    }

    fn may_replace(&self, path: &Path, kind: Kind, overwrite: bool) -> Result<(), String> {
        if let Some((_, database)) = self.beside.iter().find(|(beside, _)| *beside == place(path)) {
            let (path, database) = (path.display(), database.display());
            return Err(format!(
                "{path}: SQLite keeps its own file of that name beside {database}; name another file"
            ));
        }
        // What cannot be looked at cannot be written either, which is told by who writes.
        let Ok(there) = path.metadata() else { return Ok(()) };
        let place = path.display();
        if let Some(input) = self.same_as(path).filter(|_| there.is_file()) {
            return Err(format!(
                "{place}: this would replace {}, which is read for it; name another file",
                input.display()
            ));
        }
        if !there.is_file() || there.len() == 0 || overwrite || kind.begins(&beginning(path)) {
            return Ok(());
        }
        Err(format!(
            "{place} exists and is not {}: name another file, or add --overwrite",
            kind.name()
        ))
    }

    /// The same of files in a folder, which is made where it is not there.
    pub(super) fn may_write_into<'a>(
        &self,
        folder: &Path,
        files: impl IntoIterator<Item = (&'a str, Kind)>,
        overwrite: bool,
    ) -> Result<(), String> {
        let mut files = files.into_iter();
        files.try_for_each(|(name, kind)| self.may_replace(&folder.join(name), kind, overwrite))
    }
}

/// Refuses outputs of one command, each with its option, of which two would be one file: the later would replace the earlier.
pub(super) fn are_apart(outputs: &[(&str, &Path)]) -> Result<(), String> {
    for (at, (option, path)) in outputs.iter().enumerate() {
        let is_same = |(_, other): &&(&str, &Path)| {
            let file = |path: &Path| path.metadata().map(|it| (it.dev(), it.ino())).ok();
            place(path) == place(other) || file(path).is_some_and(|one| file(other) == Some(one))
        };
        if let Some((other, _)) = outputs[..at].iter().find(is_same) {
            let path = path.display();
            return Err(format!("{other} and {option} are both {path}: name two files"));
        }
    }
    Ok(())
}

/// Where a file is, or would be, however its folder is spelled.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match (folder.unwrap_or(Path::new(".")).canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.into(),
    }
}

/// Whether there is a folder for a file.
///
/// # Errors
/// There is none.
pub(super) fn folder_is_there(path: &Path) -> Result<(), String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            Err(format!("{}: there is no such folder; make it first", folder.display()))
        }
        _ => Ok(()),
    }
}

fn beginning(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    read.map_or(String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
}
