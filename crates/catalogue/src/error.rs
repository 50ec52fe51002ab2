//! Errors of the catalogue.

use fourcorners_drive::config::ConfigError;

/// Why there is no such profile.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// No drive of that name.
    #[error(
        "there is no drive \"{name}\" in the catalogue{} `fourcorners drives` lists them",
        suggestion(nearest)
    )]
    Unknown {
        /// The name as typed.
        name: String,
        /// The most similar one there is, if one is similar.
        nearest: Option<String>,
    },
    /// No host controller of that name.
    #[error(
        "there is no host controller \"{name}\"{} `fourcorners drives --hosts` lists them",
        suggestion(nearest)
    )]
    UnknownHost {
        /// The name as typed.
        name: String,
        /// The most similar one there is, if one is similar.
        nearest: Option<String>,
    },
    /// The file cannot be read.
    #[error("{place}: cannot read the profile: {cause}")]
    Read {
        /// The file.
        place: String,
        /// Why.
        cause: std::io::Error,
    },
    /// Not TOML, or not a profile.
    #[error("{place}: {message}")]
    Form {
        /// The file or the drive.
        place: String,
        /// What is wrong and where.
        message: String,
    },
    /// A value that makes no drive.
    #[error("{place}: {cause}")]
    Value {
        /// The file or the drive.
        place: String,
        /// Which, and what it must be.
        cause: ConfigError,
    },
    /// A `--set` that changes nothing there is.
    #[error("--set {given}: {message}")]
    Set {
        /// As typed.
        given: String,
        /// What is wrong with it.
        message: String,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(";".into(), |near| format!("; did you mean \"{near}\"?"))
}

pub(super) fn form(place: &str, message: String) -> CatalogueError {
    CatalogueError::Form { place: place.into(), message }
}

/// The one of `names` that `name` is a part of ("m4-256" of "crucial-m4-256gb"); of several, and where there
/// is none, the one that is most like it, if one is like it at all.
pub(super) fn nearest_of(
    names: impl IntoIterator<Item = impl AsRef<str>>,
    name: &str,
) -> Option<String> {
    let typed = name.to_lowercase();
    let parts = || typed.split(['-', '_', ' ']);
    let alike = names.into_iter().map(|known| {
        let is_part = parts().all(|part| !part.is_empty() && known.as_ref().contains(part));
        // Of those it is a part of, the one that has least else.
        let likeness = match is_part {
            true => 1.0 / known.as_ref().len() as f64,
            false => strsim::jaro_winkler(&typed, known.as_ref()),
        };
        (is_part, likeness, known)
    });
    let (is_part, likeness, best) = alike.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
    (is_part || likeness > 0.7).then(|| best.as_ref().to_string())
}
