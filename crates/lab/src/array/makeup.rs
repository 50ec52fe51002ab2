//! What an array or a cache is made of, as a name or a file says it, before its drives are looked up.

use fourcorners_catalogue::{self as catalogue, CatalogueError, HostController, Model, Profile};

use super::{ArrayKind, ArrayNameError, ArrayProfile, cache_name, name};

/// Drives, and how they make one.
#[derive(Clone, Debug)]
pub(super) struct Makeup {
    /// What errors call it: the name as it was typed, or the file.
    pub(super) place: String,
    /// What results go by.
    pub(super) name: String,
    /// What a reader knows it by, where that is not what is inside.
    pub(super) title: Option<String>,
    pub(super) kind: ArrayKind,
    pub(super) drives: Vec<Drives>,
}

/// Some drives of one model.
#[derive(Clone, Debug)]
pub(super) struct Drives {
    pub(super) number: usize,
    pub(super) source: Source,
    /// The line of the file that names them.
    pub(super) line: Option<usize>,
}

/// Where the values of a drive are.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// In the catalogue, under this name.
    Catalogue(String),
    /// In this text of a profile.
    Profile { place: String, text: String },
}

impl Makeup {
    /// The drives as one, behind this host controller and with these values changed.
    pub(super) fn profile(
        &self,
        host: Option<&HostController>,
        set: &[String],
    ) -> Result<ArrayProfile, ArrayNameError> {
        let mut members = Vec::new();
        for drives in &self.drives {
            for _ in 0..drives.number {
                members.push(self.member(drives, members.len() + 1, host, set)?);
            }
        }
        if let (ArrayKind::Cache(_), [first, ..], [drives, ..]) =
            (&self.kind, &members[..], &self.drives[..])
            && matches!(first.model, Model::Hdd(_))
        {
            let must = "is a hard disk: the first drive is the cache, an SSD";
            return Err(self.wrong(drives, &format!("{:?} {must}", first.name)));
        }
        let title = self.title.clone().unwrap_or_else(|| match &self.kind {
            ArrayKind::Array(config) => name::title(config, &members),
            ArrayKind::Cache(config) => cache_name::title(config, &members),
        });
        let made = ArrayProfile {
            name: self.name.clone(),
            title,
            kind: self.kind.clone(),
            members,
            set: set.to_vec(),
            makeup: self.clone(),
        };
        // What makes none is said now: an array that is asked for is one.
        match made.geometry_of_nothing() {
            Ok(_) => Ok(made),
            Err(error) => Err(ArrayNameError::Array { name: self.place.clone(), error }),
        }
    }

    /// A member, which varies in its own way where drives of its kind vary.
    fn member(
        &self,
        drives: &Drives,
        number: usize,
        host: Option<&HostController>,
        set: &[String],
    ) -> Result<Profile, ArrayNameError> {
        let of = |set: &[String]| match &drives.source {
            Source::Catalogue(name) => catalogue::built_in_behind(name, host, set),
            Source::Profile { place, text } => catalogue::from_text_behind(text, place, host, set),
        };
        let of = |set: &[String]| {
            of(set).map_err(|error| match (&error, drives.line) {
                (CatalogueError::Unknown { .. }, Some(_)) => self.wrong(drives, &error.to_string()),
                _ => ArrayNameError::Drive(error),
            })
        };
        let profile = of(set)?;
        match &profile.model {
            Model::Ssd(ssd) if ssd.variation.is_some() => {
                let own = [format!("variation.seed={number}")];
                let set: Vec<String> = own.into_iter().chain(set.iter().cloned()).collect();
                of(&set)
            }
            _ => Ok(profile),
        }
    }

    /// These drives do not go there.
    fn wrong(&self, drives: &Drives, what: &str) -> ArrayNameError {
        let place = self.place.clone();
        match drives.line {
            Some(line) => ArrayNameError::Line { place, line, what: what.into() },
            None => ArrayNameError::Array { name: place, error: what.into() },
        }
    }
}
