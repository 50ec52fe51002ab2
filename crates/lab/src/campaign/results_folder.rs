//! The folder that results go into, made before hours of work and unmade if nothing comes of them.

use std::io;
use std::path::{Path, PathBuf};

use fourcorners_machine::save;
use fourcorners_record::{Document, to_json};

use super::resume_folder;

/// Why a file of the results was not written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}", path.display())]
pub struct SaveError {
    /// The file.
    pub path: PathBuf,
    /// What the file system answered.
    pub error: io::Error,
}

/// A folder that the results of a campaign go into.
#[derive(Debug)]
pub struct ResultsFolder {
    path: PathBuf,
    /// The folders that were made for it, the innermost last.
    made: Vec<PathBuf>,
    /// Whether a review there that is not whole may be given up.
    pub(super) replaces: bool,
}

impl ResultsFolder {
    /// The name of the document in it.
    pub const DOCUMENT: &str = "review.json";

    /// Makes a folder, with those above it that are missing, unless it is there, and tries whether the
    /// document and these `files` can be written there.
    ///
    /// # Errors
    /// Whatever the file system answers; then the folders that were made are removed.
    pub fn at(path: &Path, files: &[&str]) -> io::Result<ResultsFolder> {
        let mut made = Vec::new();
        let ready = make_all(path, &mut made).map(|()| path.to_path_buf());
        ResultsFolder::ready(ready, made, files)
    }

    /// Makes a folder of this name that was not there before, in `parent`: with a number behind its name if need
    /// be. Making it is what claims its name, so that two that begin within a second get two.
    ///
    /// # Errors
    /// As [`ResultsFolder::at`].
    pub fn new_in(parent: &Path, name: &str, files: &[&str]) -> io::Result<ResultsFolder> {
        let mut made = Vec::new();
        let ready = make_all(parent, &mut made).and_then(|()| {
            let folder = make_new(&parent.join(name))?;
            made.push(folder.clone());
            Ok(folder)
        });
        ResultsFolder::ready(ready, made, files)
    }

    fn ready(
        folder: io::Result<PathBuf>,
        made: Vec<PathBuf>,
        files: &[&str],
    ) -> io::Result<ResultsFolder> {
        match folder.and_then(|path| check_writable(&path, files).map(|()| path)) {
            Ok(path) => Ok(ResultsFolder { path, made, replaces: false }),
            Err(error) => {
                undo(&made);
                Err(error)
            }
        }
    }

    /// The same, where a review that is not whole is given up if `replaces` says so.
    pub fn replacing(self, replaces: bool) -> ResultsFolder {
        ResultsFolder { replaces, ..self }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folders again that were made for results that do not come.
    pub fn undo(&self) {
        undo(&self.made);
    }

    /// Saves the figures.
    ///
    /// # Errors
    /// [`SaveError`]; an earlier document is as it was.
    pub fn save_document(&self, document: &Document) -> Result<(), SaveError> {
        self.save(ResultsFolder::DOCUMENT, to_json(document).as_bytes())
    }

    /// Saves a file in it.
    ///
    /// # Errors
    /// [`SaveError`]; an earlier file of that name is as it was.
    pub fn save(&self, name: &str, content: &[u8]) -> Result<(), SaveError> {
        let path = self.path.join(name);
        // While there is a folder for what `--resume` needs, that is where an unfinished file is ours.
        let way = self.path.join(resume_folder::NAME);
        let written = match way.is_dir() {
            true => save::write_atomically_by(&way, &path, content),
            false => save::write_atomically(&path, content),
        };
        written.map_err(|error| SaveError { path, error })
    }
}

/// Makes `folder` and those above it that are missing, and remembers which.
fn make_all(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<&Path> = folder
        .ancestors()
        .filter(|above| !above.as_os_str().is_empty())
        .take_while(|above| !above.exists())
        .collect();
    for above in missing.into_iter().rev() {
        match std::fs::create_dir(above) {
            Ok(()) => made.push(above.to_path_buf()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && above.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    if folder.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

fn make_new(base: &Path) -> io::Result<PathBuf> {
    let mut folder = base.to_path_buf();
    let mut number = 1;
    loop {
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        number += 1;
        folder = PathBuf::from(format!("{}-{number}", base.display()));
    }
}

/// Whether all files can be written there in the end.
fn check_writable(folder: &Path, files: &[&str]) -> io::Result<()> {
    tempfile::tempfile_in(folder)?;
    for name in [&[ResultsFolder::DOCUMENT], files].concat() {
        if folder.join(name).is_dir() {
            let message = format!("its {name} is a folder");
            return Err(io::Error::new(io::ErrorKind::IsADirectory, message));
        }
    }
    Ok(())
}

fn undo(made: &[PathBuf]) {
    for folder in made.iter().rev() {
        // Only empty ones go: what somebody else put there meanwhile is theirs.
        let _ = std::fs::remove_dir(folder);
    }
}
