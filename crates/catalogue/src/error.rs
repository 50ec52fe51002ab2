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

/// The one of `names` whose parts begin as those of `name` do ("m4-256" of "crucial-m4-256gb"), of several the one
/// that has least else.
pub(super) fn part_of(names: impl IntoIterator<Item = String>, name: &str) -> Option<String> {
    let typed = name.to_lowercase();
    let of = |name: &str| -> Vec<String> {
        name.split(['-', '_', ' ']).filter(|part| !part.is_empty()).map(String::from).collect()
    };
    let parts = of(&typed);
    if parts.concat().len() < LEAST_LETTERS {
        return None;
    }
    let has = |known: &String| {
        let known = of(known);
        parts.iter().all(|part| known.iter().any(|other| other.starts_with(part.as_str())))
    };
    names.into_iter().filter(has).min_by_key(String::len)
}

/// Fewer letters are a part of too many names.
const LEAST_LETTERS: usize = 3;

/// The one of `names` that is most like `name`, if one is like it at all.
pub(super) fn nearest_of(
    names: impl IntoIterator<Item = impl AsRef<str>>,
    name: &str,
) -> Option<String> {
    let alike = names.into_iter().map(|known| {
        let likeness = strsim::jaro_winkler(name, known.as_ref());
        (likeness, known)
    });
    let (likeness, best) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness > 0.7).then(|| best.as_ref().to_string())
}
