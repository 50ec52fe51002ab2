//! `fourcorners sweep`: many drives on many machines. The engines for that are Python's, and so is
//! the sweep; this becomes it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args as ClapArgs;

use super::outcome::{End, Failure};
use super::python::{self, option};

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "A plan is TOML: [grid] maps drive, spare, host, seed and profile parameters \
to values; [[job]], fio or [review] names what runs on every combination. \
Results are written to a folder as Parquet while they arrive; the same command continues a stopped \
sweep. It needs Python and the package: pip install './python[sweep]'

For example, spare.toml:
  [grid]
  drive = [\"crucial-m4-256gb\", \"intel-320-300gb\"]
  spare = [0.0, 0.07, 0.25]
  [[job]]
  pattern = \"sequential\"
  block_bytes = 131072
  drive_writes = 1
  [[job]]
  pattern = \"random\"
  seconds = 30"
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
    let mut sweep = python::package(args.python.as_ref(), "a sweep")?;
    sweep.arg("sweep");
    // After the options: a plan's name may begin with a dash.
    if let Some(scheduler) = &args.scheduler {
        sweep.arg(format!("--scheduler={scheduler}"));
    }
    if let Some(workers) = args.workers {
        sweep.arg(format!("--workers={workers}"));
    }
    if let Some(output) = &args.output {
        sweep.arg(option("output", output));
    }
    if args.json {
        sweep.arg("--json");
    }
    let error = sweep.arg("--").arg(&args.plan).exec();
    Err(Failure::Failed(anyhow!("Python cannot be run: {error}")))
}
