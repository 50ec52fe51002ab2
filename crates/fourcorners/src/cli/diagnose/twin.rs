//! `diagnose --twin`: a profile that explains the records of a drive and what was found in it. The search is Python's.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::anyhow;
use fourcorners_catalogue::Model;

use super::super::outcome::Failure;
use super::super::python::{self, option};
use super::super::replaced::{Inputs, Kind};
use super::super::targets::{self, VirtualDrive};
use super::args::DiagnoseArgs;
use super::written::DOCUMENT;

/// The profile, in the folder of the diagnosis.
const PROFILE: &str = "twin.toml";

/// A search that can begin as soon as the diagnosis is there.
pub(super) struct Twin {
    command: Command,
}

impl Twin {
    /// Checks what was asked for, before anything is measured; `None` if no twin was.
    ///
    /// # Errors
    /// What is missing, and what to do.
    pub(super) fn check(args: &DiagnoseArgs) -> Result<Option<Twin>, Failure> {
        let Some(review) = &args.twin else { return Ok(None) };
        let usage = |why: String| Failure::Usage(why);
        let Some(folder) = args.resume.as_ref().or(args.out.as_ref()) else {
            return Err(usage(
                "--twin writes twin.toml beside the diagnosis: add --out DIR".into(),
            ));
        };
        if let Err(error) = review.metadata() {
            let review = review.display();
            return Err(usage(format!(
                "--twin {review}: {error}; give the folder that `review -o DIR` wrote of the drive"
            )));
        }
        let profile = folder.join(PROFILE);
        Inputs::of([review.as_path()])
            .may_write_into(folder, [(PROFILE, Kind::Twin)], args.overwrite)
            .map_err(usage)?;
        let mut check = python::package(args.python.as_ref(), "a twin")?;
        let mut command = Command::new(check.get_program());
        command.args(check.get_args());
        command.arg("twin").arg(option("findings", folder.join(DOCUMENT)));
        command.arg(option("output", &profile));
        check.args(["twin", "--check"]);
        if let Some(like) = &args.like {
            let drive = VirtualDrive { name: like, host: None, set: &[], why: "varied" };
            let profile = targets::find_virtual(&drive);
            let profile = profile.map_err(|why| usage(format!("--like {like}: {why}")))?;
            if !matches!(profile.model, Model::Ssd(_)) {
                let why = format!("--like {like}: it is a hard disk, and twins are of SSDs");
                return Err(usage(why));
            }
            command.arg(option("like", like));
            check.arg(option("like", like));
        }
        if let Some(target) = &args.target {
            check.arg(option("diagnosed", target));
        }
        if args.json {
            command.arg("--json");
        }
        command.arg("--").arg(review);
        // Records that no twin can be found for are known before anything is measured. Python says why, in our form.
        let checked = check.arg("--").arg(review).output();
        let checked = checked.map_err(|error| Failure::Failed(anyhow!("a twin: {error}")))?;
        if !checked.status.success() {
            let said = String::from_utf8_lossy(&checked.stderr);
            let why = said.trim().lines().last().unwrap_or("the records cannot be read");
            return Err(usage(format!("--twin: {}", why.trim_start_matches("fourcorners: "))));
        }
        Ok(Some(Twin { command }))
    }

    /// Looks for it; the diagnosis is written. Does not come back but for an error.
    pub(super) fn look_for(mut self) -> Failure {
        let error = self.command.exec();
        Failure::Failed(anyhow!("Python cannot be run: {error}"))
    }
}
