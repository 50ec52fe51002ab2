//! `fourcorners sweep`: many drives on many machines. The engines for that are Python's, and so is
//! the sweep; this finds the package and becomes it.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::anyhow;
use clap::Args as ClapArgs;

use super::outcome::{End, Failure};

/// The Python that is used unless another is named.
pub(super) const PYTHON: &str = "python3";
/// Names the Python to use.
pub(super) const VARIABLE: &str = "FOURCORNERS_PYTHON";

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "A plan is TOML: [grid] maps drive, spare, host, seed and profile parameters \
to values; [[job]], fio or [review] names what runs on every combination.
Results are written to a folder as Parquet while they arrive; the same command continues a stopped
sweep. It needs Python and the package: pip install './python[sweep]'"
)]
pub(super) struct SweepArgs {
    /// The plan
    #[arg(value_name = "PLAN.toml")]
    plan: PathBuf,

    /// A Dask scheduler, for example tcp://10.0.0.1:8786 [default: processes on this machine]
    #[arg(long, value_name = "ADDR", conflicts_with = "workers")]
    scheduler: Option<String>,

    /// Number of processes on this machine [default: one per CPU]
    #[arg(long, value_name = "N")]
    workers: Option<u32>,

    /// Folder for the results [default: the plan's own, or its name without .toml]
    #[arg(long, short, visible_alias = "into", value_name = "DIR")]
    output: Option<PathBuf>,

    /// Print one JSON document instead of a sentence
    #[arg(long)]
    json: bool,

    /// The Python that runs it.
    #[arg(skip)]
    pub(super) python: Option<OsString>,
}

pub(super) fn run(args: &SweepArgs) -> Result<End, Failure> {
    let python = args.python.clone().unwrap_or_else(|| OsString::from(PYTHON));
    let shown = python.to_string_lossy();
    let asked = Command::new(&python)
        .args(["-c", "import fourcorners.__main__"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let install = format!(
        "`pip install './python[sweep]'` in this project's source installs it, and {VARIABLE} names \
         another Python"
    );
    match asked {
        Ok(status) if status.success() => {}
        Ok(_) => {
            let why = format!(
                "a sweep runs in Python, and {shown} has no package fourcorners: {install}"
            );
            return Err(Failure::Usage(why));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Failure::Usage(format!(
                "a sweep runs in Python, and there is no {shown}: {install}"
            )));
        }
        Err(error) => return Err(Failure::Usage(format!("{shown} cannot be run: {error}"))),
    }
    let mut sweep = Command::new(&python);
    sweep.args(["-m", "fourcorners", "sweep"]);
    // After the options: a plan's name may begin with a dash.
    if let Some(scheduler) = &args.scheduler {
        sweep.arg(format!("--scheduler={scheduler}"));
    }
    if let Some(workers) = args.workers {
        sweep.arg(format!("--workers={workers}"));
    }
    if let Some(output) = &args.output {
        let mut option = OsString::from("--output=");
        option.push(output);
        sweep.arg(option);
    }
    if args.json {
        sweep.arg("--json");
    }
    let error = sweep.arg("--").arg(&args.plan).exec();
    Err(Failure::Failed(anyhow!("{shown} cannot be run: {error}")))
}
