//! A folder beside results in which work that may be ended is kept: a plan that says of which work it is, and a file for
//! each part of it, all sealed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::sealed;

const PLAN: &str = "plan.json";
/// What the names of files begin with that there was no time to finish.
const UNFINISHED: &str = ".fourcorners-";

/// Such a folder. It need not be there yet.
#[derive(Clone, Debug)]
pub(crate) struct KeptFolder {
    path: PathBuf,
    /// The folder, locked, where others are kept out of it.
    _held: Option<Arc<File>>,
}

/// Why a folder is not ours alone.
#[derive(Debug)]
pub(crate) enum Unheld {
    /// Another process has it.
    ByAnother,
    /// What the file system answered.
    Io(io::Error),
}

impl KeptFolder {
    /// The folder of a name beside `results`.
    ///
    /// # Errors
    /// Its place, if what has that name is no folder: a file, or a link, whatever it leads to.
    pub(crate) fn at(results: &Path, name: &str) -> Result<KeptFolder, PathBuf> {
        let path = results.join(name);
        match path.symlink_metadata() {
            Ok(there) if !there.is_dir() => Err(path),
            _ => Ok(KeptFolder { path, _held: None }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn plan(&self) -> PathBuf {
        self.path.join(PLAN)
    }

    /// Makes the folder unless it is there, and keeps others out of it until the last copy of this is dropped. A file
    /// system without locks keeps nobody out.
    pub(crate) fn hold(&mut self) -> Result<(), Unheld> {
        loop {
            self.make().map_err(Unheld::Io)?;
            match self.hold_what_is_there() {
                // Who had it has removed it.
                Err(Unheld::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
                held => return held,
            }
        }
    }

    /// The same of a folder that has to be there.
    pub(crate) fn hold_what_is_there(&mut self) -> Result<(), Unheld> {
        let folder = File::open(&self.path).map_err(Unheld::Io)?;
        match folder.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(Unheld::ByAnother),
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let number = |of: fs::Metadata| (of.dev(), of.ino());
        let opened = folder.metadata().map(number).map_err(Unheld::Io)?;
        match self.path.metadata().map(number).map_err(Unheld::Io)? == opened {
            true => self._held = Some(Arc::new(folder)),
            false => return Err(Unheld::Io(io::ErrorKind::NotFound.into())),
        }
        Ok(())
    }

    fn make(&self) -> io::Result<()> {
        match fs::create_dir(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Begins anew: the files of earlier work are removed, by the names that such files have, and the plan is written.
    pub(crate) fn begin(
        &self,
        plan: &impl Serialize,
        is_part: impl Fn(&str) -> bool,
    ) -> io::Result<()> {
        self.remove_files(&is_part);
        self.make()?;
        // Without its plan it is of no use, as on a full disk.
        sealed::write(&self.plan(), plan).inspect_err(|_| self.remove(&is_part))
    }

    /// Removes the plan, the parts, and what there was no time to finish of them; and the folder if nothing else is in it.
    pub(crate) fn remove(&self, is_part: impl Fn(&str) -> bool) {
        self.remove_files(is_part);
        let _ = fs::remove_dir(&self.path);
    }

    fn remove_files(&self, is_part: impl Fn(&str) -> bool) {
        let is_ours = |name: &str| name == PLAN || name.starts_with(UNFINISHED) || is_part(name);
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(is_ours) {
                // What cannot be removed is in nobody's way.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_part(name: &str) -> bool {
        name.ends_with(".part")
    }

    #[test]
    fn one_keeps_others_out_until_it_is_gone() {
        let results = tempfile::tempdir().expect("a folder");
        let at = || KeptFolder::at(results.path(), "kept").expect("no file has its name");
        let mut first = at();
        first.hold().expect("nobody has it");
        assert!(matches!(at().hold(), Err(Unheld::ByAnother)));
        let copy = first.clone();
        drop(first);
        assert!(matches!(at().hold_what_is_there(), Err(Unheld::ByAnother)));
        // Removed, it is another one.
        copy.remove(is_part);
        assert!(matches!(at().hold_what_is_there(), Err(Unheld::Io(_))));
        at().hold().expect("it is made anew");
        drop(copy);
        at().hold_what_is_there().expect("nobody has it");
    }

    #[test]
    fn without_its_plan_nothing_is_left() {
        let results = tempfile::tempdir().expect("a folder");
        let kept = KeptFolder::at(results.path(), "kept").expect("no file has its name");
        // What JSON cannot tell cannot be written, as on a full disk.
        let untold = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(kept.begin(&untold, is_part).is_err() && !kept.path().exists());
        kept.begin(&"plan", is_part).expect("it can be written");
        assert!(kept.plan().exists());
    }
}
