//! The default place of the database.

use std::env;
use std::path::PathBuf;

/// `fourcorners/results.db` in the user's folder of data: `$XDG_DATA_HOME`, or `~/.local/share`
/// (XDG Base Directory Specification 0.8). None without a home.
pub fn default_path() -> Option<PathBuf> {
    let folder = |name: &str| {
        // The specification: what is not absolute is to be ignored.
        env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
    };
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")))?;
    Some(data.join("fourcorners/results.db"))
}
