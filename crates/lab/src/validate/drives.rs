//! The drives that figures and distributions are run on: of the catalogue, and of files beside it.

use std::path::{Path, PathBuf};

use fourcorners_catalogue::{self as catalogue, CatalogueError, Model, Profile};

use super::names::Names;

/// The drives that figures and entries are run on.
pub struct Drives {
    names: Names,
}

/// Why a folder of profiles cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfilesError {
    /// It cannot be read.
    #[error("{}: cannot read the folder of profiles: {cause}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// It has no file of drives.
    #[error("{}: there is no file *.toml in this folder", .folder.display())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// One of its files is none of drives.
    #[error(transparent)]
    Profile(#[from] CatalogueError),
}

impl Drives {
    /// Those of the catalogue.
    pub fn of_catalogue() -> Drives {
        Drives { names: Names::new() }
    }

    /// Those of the catalogue and of the files `*.toml` of a folder, in the form of `drives/`; a file takes the
    /// place of the catalogue's of that name.
    ///
    /// # Errors
    /// When the folder cannot be read, has no such file, or one of them is none of drives.
    pub fn with_folder(folder: &Path) -> Result<Drives, ProfilesError> {
        let cannot = |cause| ProfilesError::Folder { folder: folder.into(), cause };
        let mut files = Vec::new();
        for file in std::fs::read_dir(folder).map_err(cannot)? {
            let path = file.map_err(cannot)?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                files.push(path);
            }
        }
        if files.is_empty() {
            return Err(ProfilesError::Empty { folder: folder.into() });
        }
        // Which file is meant does not depend on the order of the folder.
        files.sort();
        let mut names = Names::new();
        for path in &files {
            let (family, drives) = catalogue::family_from_file(path)?;
            names.replace(family, drives, path);
        }
        Ok(Drives { names })
    }

    /// What publications call them.
    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// The solid-state drive that `name` names; `gb` is its capacity.
    ///
    /// # Errors
    /// Why there is none, in a few words.
    pub(super) fn find(&self, name: &str, gb: Option<f64>) -> Result<&Profile, String> {
        let found = self.names.find(name, gb)?.profile;
        match &found.model {
            Model::Ssd(_) => Ok(found),
            Model::Hdd(_) => Err(format!("{} is a hard disk", found.name)),
        }
    }
}
