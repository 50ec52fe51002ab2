//! The profile of a drive, or of several as one; and what makes a drive of it again, on another machine as well.

use std::path::Path;

use fourcorners_catalogue::{self as catalogue, Model, Profile};
use fourcorners_drive::Geometry;
use fourcorners_lab::array::{ArrayFile, ArrayKind, ArrayNameError, ArrayProfile};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_record::TargetInfo;
use pyo3::prelude::*;

use crate::errors;
use crate::words::set_in_keywords;

/// One drive, or several as one.
#[derive(Clone)]
pub(crate) enum DriveProfile {
    One(Box<Profile>),
    Several(Box<ArrayProfile>),
}

impl DriveProfile {
    pub(crate) fn name(&self) -> &str {
        match self {
            DriveProfile::One(profile) => &profile.name,
            DriveProfile::Several(array) => &array.name,
        }
    }

    pub(crate) fn title(&self) -> &str {
        match self {
            DriveProfile::One(profile) => &profile.title,
            DriveProfile::Several(array) => &array.title,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            DriveProfile::One(profile) => profile.model.kind(),
            DriveProfile::Several(array) => match array.kind {
                ArrayKind::Array(_) => "array",
                ArrayKind::Cache(_) => "cache",
            },
        }
    }

    pub(crate) fn geometry(&self) -> Geometry {
        match self {
            DriveProfile::One(profile) => profile.geometry(),
            DriveProfile::Several(array) => array.geometry(),
        }
    }

    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.geometry().bytes()
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        match self {
            DriveProfile::One(profile) => profile.memory_bytes(),
            DriveProfile::Several(array) => array.memory_bytes(),
        }
    }

    pub(crate) fn hash(&self) -> String {
        match self {
            DriveProfile::One(profile) => profile.hash(),
            DriveProfile::Several(array) => array.hash(),
        }
    }

    /// Whether its flash wears out, as far as that is known: of several drives each wears in its own way.
    pub(crate) fn wears(&self) -> bool {
        match self {
            DriveProfile::One(profile) => match &profile.model {
                Model::Ssd(ssd) => ssd.wear.is_some(),
                Model::Hdd(_) => false,
            },
            DriveProfile::Several(_) => false,
        }
    }

    /// What the library tests, new.
    pub(crate) fn under_test(&self) -> DeviceUnderTest {
        match self {
            DriveProfile::One(profile) => DeviceUnderTest::Virtual(profile.clone()),
            DriveProfile::Several(array) => DeviceUnderTest::Array(array.clone()),
        }
    }

    pub(crate) fn target_info(&self) -> TargetInfo {
        self.under_test().describe().expect("a model describes itself")
    }

    /// The profile of a single drive; `what` there is only of one: `"a state"`.
    ///
    /// # Errors
    /// Of several drives, with the class that the caller raises.
    pub(crate) fn single(
        &self,
        what: &str,
        raised: impl FnOnce(String) -> PyErr,
    ) -> PyResult<&Profile> {
        match self {
            DriveProfile::One(profile) => Ok(profile),
            DriveProfile::Several(array) => Err(raised(format!(
                "{}: {what} is of one drive, and this is several: name one of drive.members",
                array.name
            ))),
        }
    }
}

/// What makes the same drive again.
#[derive(Clone)]
pub(crate) struct Recipe {
    /// A name of the catalogue or of an array, or what errors call the text.
    pub(crate) name: String,
    /// A profile of one's own, or a file of several drives.
    pub(crate) text: Option<String>,
    /// Profiles that a file of several drives names: as they are written there, and what is in them.
    pub(crate) profiles: Vec<(String, String)>,
    pub(crate) host: Option<String>,
    pub(crate) set: Vec<String>,
}

impl Recipe {
    /// Of a name as it is typed, or of a path; the file of a profile is read now.
    pub(crate) fn of_path(path: &Path, host: Option<String>, set: Vec<String>) -> PyResult<Recipe> {
        let name = path.display().to_string();
        let text = match path.extension().is_some_and(|extension| extension == "toml") {
            true => Some(catalogue::read(path).map_err(errors::catalogue)?),
            false => None,
        };
        if text.is_none() && path.exists() && name.contains('/') {
            return Err(errors::CatalogueError_::new_err(format!(
                "{name} is a real target: from Python, drives are virtual ones; \
                 `fourcorners review {name}` tests it, and `fourcorners diagnose {name}` looks inside"
            )));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let profiles = profiles_named(text.as_deref(), &name, folder)?;
        Ok(Recipe { name, text, profiles, host, set })
    }

    /// Of a text; profiles that it names are relative to the working directory.
    pub(crate) fn of_text(
        text: String,
        name: &str,
        host: Option<String>,
        set: Vec<String>,
    ) -> PyResult<Recipe> {
        let profiles = profiles_named(Some(&text), name, Path::new(""))?;
        Ok(Recipe { name: name.into(), text: Some(text), profiles, host, set })
    }

    /// Of a profile as it is.
    pub(crate) fn of_profile(profile: &Profile) -> Recipe {
        let text = Some(profile.to_toml());
        let name = profile.name.clone();
        Recipe { name, text, profiles: Vec::new(), host: None, set: Vec::new() }
    }

    /// Whether it is what its name says and nothing else.
    pub(crate) fn is_as_named(&self) -> bool {
        self.text.is_none() && self.host.is_none() && self.set.is_empty()
    }

    pub(crate) fn profile(&self) -> PyResult<DriveProfile> {
        let host = self.host.as_deref().map(catalogue::host).transpose();
        let host = host.map_err(errors::catalogue)?;
        let (name, host, set) = (self.name.as_str(), host.as_ref(), &self.set[..]);
        let several = match &self.text {
            Some(text) => {
                ArrayFile::of_parts(text, name, &self.profiles).map(|file| file.profile(host, set))
            }
            None => ArrayProfile::parse(name, host, set),
        };
        if let Some(array) = several {
            let array = array.map_err(|error| self.refused(&error))?;
            return Ok(DriveProfile::Several(Box::new(array)));
        }
        let profile = match &self.text {
            Some(text) => catalogue::from_text_behind(text, name, host, set),
            None => catalogue::built_in_behind(name, host, set),
        };
        Ok(DriveProfile::One(Box::new(profile.map_err(|error| self.refused(&error))?)))
    }

    /// Why there is no such drive, with the settings as Python has them.
    fn refused(&self, error: &dyn std::fmt::Display) -> PyErr {
        errors::CatalogueError_::new_err(set_in_keywords(error.to_string(), &self.set))
    }
}

/// The profiles that a text names if it is of several drives, read from this folder.
fn profiles_named(
    text: Option<&str>,
    place: &str,
    folder: &Path,
) -> PyResult<Vec<(String, String)>> {
    let file = text.and_then(|text| ArrayFile::of_text(text.into(), place, folder));
    Ok(file.transpose().map_err(of_several)?.map(|file| file.profiles).unwrap_or_default())
}

fn of_several(error: ArrayNameError) -> PyErr {
    errors::CatalogueError_::new_err(error.to_string())
}
