//! A folder beside results in which work that may be ended is kept: a plan that says of which work it is, and a file for
//! each part of it, all sealed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::sealed;

const PLAN: &str = "plan.json";
/// What the names of files begin with that there was no time to finish.
const UNFINISHED: &str = ".fourcorners-";

/// Such a folder. It need not be there yet.
#[derive(Clone, Debug)]
pub(crate) struct KeptFolder {
    path: PathBuf,
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
            _ => Ok(KeptFolder { path }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn plan(&self) -> PathBuf {
        self.path.join(PLAN)
    }

    /// Begins anew: the files of earlier work are removed, by the names that such files have, and the plan is written.
    pub(crate) fn begin(
        &self,
        plan: &impl Serialize,
        is_part: impl Fn(&str) -> bool,
    ) -> io::Result<()> {
        self.remove(is_part);
        match fs::create_dir(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        sealed::write(&self.plan(), plan)
    }

    /// Removes the plan, the parts, and what there was no time to finish of them; and the folder if nothing else is in it.
    pub(crate) fn remove(&self, is_part: impl Fn(&str) -> bool) {
        let is_ours = |name: &str| name == PLAN || name.starts_with(UNFINISHED) || is_part(name);
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(is_ours) {
                // What cannot be removed is in nobody's way.
                let _ = fs::remove_file(entry.path());
            }
        }
        let _ = fs::remove_dir(&self.path);
    }
}
