//! The config file: a user's defaults, below what is typed and what the environment says.
//!
//! The file is looked for once, after the arguments were understood ([`Config::read`]). `fill` then gives a command the values that
//! nobody typed, so that the commands themselves know of no config file; what they take from one is said.

mod file;
mod fill;
mod show;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args as ClapArgs;

pub(super) use fill::{Taken, fill};
pub(super) use show::{ShowArgs, run};

/// Names the config file.
const FILE_VARIABLE: &str = "FOURCORNERS_CONFIG";

/// Where the user's defaults are.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Defaults")]
pub(in crate::cli) struct ConfigArgs {
    /// Take defaults from this file; `fourcorners config` shows which count
    /// [default: fourcorners/config.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "FILE", global = true)]
    pub(in crate::cli) config: Option<PathBuf>,

    /// Take defaults from no file
    #[arg(long, global = true, conflicts_with = "config")]
    pub(in crate::cli) no_config: bool,
}

/// What can be set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Key {
    /// Where results are stored.
    Database,
    /// Where `review` makes a folder for each review.
    Results,
    /// The Python of `sweep`.
    Python,
    /// Who reviews.
    Author,
    /// What `review` does.
    Methods,
    /// What a page of one drive shows it among.
    References,
}

impl Key {
    const ALL: [Key; 6] =
        [Key::Database, Key::Results, Key::Python, Key::Author, Key::Methods, Key::References];

    /// As it is written in the file: a dot parts section and key.
    fn name(self) -> &'static str {
        match self {
            Key::Database => "database",
            Key::Results => "results",
            Key::Python => "python",
            Key::Author => "author",
            Key::Methods => "review.methods",
            Key::References => "review.references",
        }
    }

    /// The variable of the environment that counts more than the file.
    fn variable(self) -> Option<&'static str> {
        match self {
            Key::Database => Some(fourcorners_results::store::DATABASE_VARIABLE),
            Key::Python => Some(super::python::VARIABLE),
            Key::Results | Key::Author | Key::Methods | Key::References => None,
        }
    }

    /// What the environment says. As everywhere, an empty variable says nothing.
    fn in_environment(self) -> Option<(&'static str, OsString)> {
        let variable = self.variable()?;
        Some((variable, env::var_os(variable).filter(|value| !value.is_empty())?))
    }
}

/// What made us look for the file where we look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NamedBy {
    /// `--config`.
    Argument,
    /// `FOURCORNERS_CONFIG`.
    Variable,
    /// Nobody: the place where programs have such files.
    Default,
}

/// Values of the file, by what they set.
type Settings = BTreeMap<Key, Setting>;

/// A value, which was checked as far as it can be without using it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Setting {
    /// One text, or those of a list. Paths are resolved.
    texts: Vec<String>,
    /// The line that it begins in, from 1.
    line: usize,
}

/// The config file, read.
#[derive(Debug)]
pub(super) struct Config {
    /// None with `--no-config`, and where there is no home folder.
    path: Option<PathBuf>,
    named_by: NamedBy,
    /// Whether there is a file.
    exists: bool,
    settings: Settings,
}

impl Config {
    /// What there is without a file.
    pub(super) fn none() -> Config {
        Config { path: None, named_by: NamedBy::Argument, exists: false, settings: Settings::new() }
    }

    /// Reads the file, if there is one.
    ///
    /// # Errors
    /// A file that was named and is not there, one that cannot be read, and anything in it that sets nothing.
    pub(super) fn read(args: &ConfigArgs) -> Result<Config, String> {
        let not_there = |path, named_by| Config { path, named_by, ..Config::none() };
        if args.no_config {
            return Ok(Config::none());
        }
        let in_environment = env::var_os(FILE_VARIABLE).filter(|value| !value.is_empty());
        let (path, named_by) = match (&args.config, in_environment) {
            (Some(path), _) => (path.clone(), NamedBy::Argument),
            (None, Some(path)) => (path.into(), NamedBy::Variable),
            (None, None) => match default_path() {
                Some(path) => (path, NamedBy::Default),
                None => return Ok(not_there(None, NamedBy::Default)),
            },
        };
        match file::read(&path) {
            Ok(Some(settings)) => Ok(Config { path: Some(path), named_by, exists: true, settings }),
            Ok(None) if named_by == NamedBy::Default => Ok(not_there(Some(path), named_by)),
            Ok(None) => {
                let by = match named_by {
                    NamedBy::Variable => FILE_VARIABLE,
                    NamedBy::Argument | NamedBy::Default => "--config",
                };
                Err(format!(
                    "{by}: there is no {}; name another file, or --no-config for none",
                    path.display()
                ))
            }
            Err(why) => Err(why),
        }
    }
}

/// `fourcorners/config.toml` in the user's folder of configuration: `$XDG_CONFIG_HOME`, or `~/.config` (XDG Base Directory
/// Specification 0.8). None without a home.
fn default_path() -> Option<PathBuf> {
    let folder = |name: &str| {
        // The specification: what is not absolute is to be ignored.
        env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
    };
    let of_user = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(of_user.join("fourcorners/config.toml"))
}
