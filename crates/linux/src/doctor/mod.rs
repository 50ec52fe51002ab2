//! What this machine and a target can and cannot measure, and why. Each finding was tried or is what
//! the kernel says; what cannot be known is said with the reason, and is no error.

mod machine;
mod target;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use machine::machine;
pub use target::target;

/// What a finding comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing stands in the way.
    Fine,
    /// It limits or changes what is measured.
    Limits,
    /// Nothing real can be measured.
    Prevents,
    /// Nothing can be said.
    NotKnown,
}

/// One thing that was looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// The thing.
    pub what: &'static str,
    /// What was found, or why it is not known.
    pub found: String,
    /// What it comes to.
    pub verdict: Verdict,
    /// What that means for a measurement; empty where it goes without saying.
    pub means: String,
}

impl Finding {
    fn fine(what: &'static str, found: impl Into<String>) -> Finding {
        Finding { what, found: found.into(), verdict: Verdict::Fine, means: String::new() }
    }

    fn limits(what: &'static str, found: impl Into<String>, means: impl Into<String>) -> Finding {
        Finding { what, found: found.into(), verdict: Verdict::Limits, means: means.into() }
    }

    fn prevents(what: &'static str, found: impl Into<String>, means: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Prevents, ..Finding::limits(what, found, means) }
    }

    fn not_known(what: &'static str, why: impl std::fmt::Display) -> Finding {
        let found = format!("not known: {why}");
        Finding { what, found, verdict: Verdict::NotKnown, means: String::new() }
    }

    fn meaning(self, means: impl Into<String>) -> Finding {
        Finding { means: means.into(), ..self }
    }
}

/// Where the kernel's own account of the machine is; data, so that it can be tested on machines that
/// nobody has.
#[derive(Clone, Debug)]
pub struct Roots {
    /// sysfs.
    pub sys: PathBuf,
    /// proc(5).
    pub proc: PathBuf,
}

impl Roots {
    /// Those of this machine.
    pub fn real() -> Roots {
        Roots { sys: "/sys".into(), proc: "/proc".into() }
    }
}

/// What an attribute says, or why it does not.
fn attribute(path: &Path) -> Result<String, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.trim().to_string()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}
