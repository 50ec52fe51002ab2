//! The files of the catalogue, which are compiled in, and those that users bring.

use std::path::Path;

use include_dir::{Dir, File, include_dir};

use super::error::{CatalogueError, form};

/// The folder `drives/`.
pub(super) static DRIVES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/drives");

/// A profile larger than this is no profile.
const MOST_PROFILE_BYTES: u64 = 1 << 20;

/// A file's name without its ending, if it is a profile's.
pub(super) fn name_of<'a>(file: &File<'a>) -> Option<&'a str> {
    file.path().file_name()?.to_str()?.strip_suffix(".toml")
}

/// The text of a profile's file.
///
/// # Errors
/// When it is no file, too long for a profile, or no text.
pub fn read(path: &Path) -> Result<String, CatalogueError> {
    let place = path.display().to_string();
    let read = |cause| CatalogueError::Read { place: place.clone(), cause };
    let form = |message: String| form(&place, message);
    let metadata = std::fs::metadata(path).map_err(read)?;
    // A pipe would be waited for and a device read without end.
    if !metadata.is_file() {
        return Err(form("this is not a file; a profile is one".into()));
    }
    if metadata.len() > MOST_PROFILE_BYTES {
        return Err(form(format!(
            "{} bytes is too long for a profile; is it one?",
            metadata.len()
        )));
    }
    std::fs::read_to_string(path).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::InvalidData => form("this is not text; a profile is TOML".into()),
        _ => read(cause),
    })
}
