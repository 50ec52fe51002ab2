//! The default place of the database.

use std::env;
use std::path::PathBuf;

/// Names another database than the built-in one.
pub const DATABASE_VARIABLE: &str = "FOURCORNERS_DATABASE";

/// What the environment names in [`DATABASE_VARIABLE`], or else [`built_in_path`].
pub fn default_path() -> Option<PathBuf> {
    let named = env::var_os(DATABASE_VARIABLE).filter(|path| !path.is_empty());
    named.map(PathBuf::from).or_else(built_in_path)
}

/// `fourcorners/results.db` in the user's folder of data: `$XDG_DATA_HOME`, or `~/.local/share`
/// (XDG Base Directory Specification 0.8). None without a home.
pub fn built_in_path() -> Option<PathBuf> {
    let folder = |name: &str| {
        // The specification: what is not absolute is to be ignored.
        env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
    };
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")))?;
    Some(data.join("fourcorners/results.db"))
}
