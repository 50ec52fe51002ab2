//! The command line as typed: one command, with arguments of its own.

use clap::{Parser, Subcommand};

use super::args::{BenchArgs, CompletionsArgs, DoctorArgs, DrivesArgs, ReportArgs, TasksArgs};
use super::review::args::ReviewArgs;
use super::run::args::RunArgs;
use super::validate::args::ValidateArgs;

/// A drive lab: the tests of storage reviews, on real and on virtual drives.
#[derive(Debug, Parser)]
#[command(name = "fourcorners", version, about, max_term_width = 100)]
#[command(after_help = "Examples:
  fourcorners quick ./
  fourcorners review crucial-m4-256gb
  fourcorners review crucial-m4-256gb seagate-momentus-5400.6 --json
  fourcorners review ./test.img --size 2G --quick
  fourcorners review /dev/sdX --destroy /dev/sdX
  fourcorners report fourcorners-results/* -o all.html
  fourcorners run job.fio crucial-m4-256gb --output-format json+
  fourcorners fio --name=a --rw=randread --size=1g crucial-m4-256gb
  fourcorners drives crucial-m4-256gb
  fourcorners age crucial-m4-256gb -o used.state
  fourcorners review crucial-m4-256gb --state used.state
  fourcorners results list --drive m4
  fourcorners compare crucial-m4-256gb intel-x25-m-g2-160gb
  fourcorners choose task:boot --have intel-x25-m-g2-160gb --gb-per-day 20
  fourcorners diagnose crucial-m4-256gb
  fourcorners trace info web.load.gz
  fourcorners trace replay generated:light crucial-m4-256gb

Environment and files:
  FOURCORNERS_DATABASE   database of results (--db)
  FOURCORNERS_PYTHON     Python of `sweep`
  FOURCORNERS_CONFIG     config file (--config): `fourcorners config --help`
  NO_COLOR               no colours on the terminal
  $XDG_CONFIG_HOME/fourcorners/config.toml, or in ~/.config: the config file
  $XDG_DATA_HOME/fourcorners/results.db, or in ~/.local/share: the database

Exit codes: 0 done; 1 failed or interrupted; 2 wrong usage, nothing was run")]
pub(super) struct CommandLine {
    #[command(flatten)]
    pub(super) defaults: super::config::ConfigArgs,

    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Test drives, print the figures, and write a page
    Review(ReviewArgs),
    // Described at its arguments.
    Quick(super::quick::QuickArgs),
    /// Show earlier results without their drives: as a page, pictures or tables
    Report(ReportArgs),
    // Described at its arguments: a comment here would take the place of that.
    Run(RunArgs),
    // The same.
    Fio(super::fio::FioArgs),
    /// List the virtual drives, or print one with the source of every value
    Drives(DrivesArgs),
    /// Measure the speed of the simulation on this machine
    Bench(BenchArgs),
    /// Compare the virtual drives with published figures, each in its own test
    Validate(ValidateArgs),
    /// Grade verdicts on virtual drives for which the truth is known
    Grade(super::grade::GradeArgs),
    /// Precondition a virtual SSD (fill, then overwrite) and save its state for later reviews
    Age(super::age::AgeArgs),
    /// List, show, export, import and remove results in the database
    Results(super::results::ResultsArgs),
    /// Compare results side by side, with ratios; differences within noise are marked
    Compare(super::compare::CompareArgs),
    // Described at its arguments.
    Choose(super::choose::ChooseArgs),
    /// Describe an I/O trace, convert it, record one, or replay it on drives
    Trace(super::trace::TraceArgs),
    /// List the tasks that reviews measure in seconds, print one, or run three of them on a file system
    Tasks(TasksArgs),
    // Described at its arguments, as Run is.
    Methods(super::methods::MethodsArgs),
    // The same.
    Config(super::config::ShowArgs),
    /// Run jobs on a grid of drives, on this machine or on a Dask cluster (needs Python)
    Sweep(super::sweep::SweepArgs),
    /// Check what this machine and a target can measure, and why not; writes to no target
    Doctor(DoctorArgs),
    // Described at its arguments, as Run is.
    Serve(super::serve::ServeArgs),
    // Described at its arguments, as Run is.
    Crash(super::crash::CrashArgs),
    // The same.
    Diagnose(super::diagnose::DiagnoseArgs),
    /// Serve a local page to browse results and review virtual drives
    #[cfg(feature = "web")]
    Web(super::web::WebArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the manual page: fourcorners man | man -l -; or write a page for each command into a folder
    Man(super::args::ManArgs),
}
