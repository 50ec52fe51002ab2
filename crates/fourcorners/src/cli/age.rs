//! `fourcorners age`: a used drive, made once and kept.

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, anyhow};
use clap::Args as ClapArgs;
use fourcorners_catalogue::Model;
use fourcorners_drive::{Ssd, Target};
use fourcorners_lab::state;
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{JobEnd, Observer, run as run_job};
use serde_json::json;

use super::dry_run::{duration, gigabytes};
use super::how_far::HowFar;
use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::replaced::folder_is_there;
use super::targets::{self, VirtualDrive};
use super::terminal::{paragraph, say};

/// Most times a drive is written: a large one takes this machine hours then.
const MOST_DRIVE_WRITES: f64 = 1000.0;

/// Random writes come in the pieces of every method, the fill in larger ones.
const RANDOM_BLOCK: u32 = 4096;
const SEQUENTIAL_BLOCK: u32 = 131_072;

#[derive(Debug, ClapArgs)]
pub(super) struct AgeArgs {
    /// A virtual SSD of the catalogue or a profile (./mine.toml)
    #[arg(value_name = "DRIVE")]
    drive: String,

    /// File to save the state to
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Amount of 4 KiB random writes after the sequential fill, in multiples of the capacity, 0 to
    /// 1000
    #[arg(long, value_name = "N", default_value_t = 1.0, allow_negative_numbers = true)]
    drive_writes: f64,

    /// Seed of the random writes
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = crate::cli::args::seed)]
    seed: u64,

    /// Change a parameter of the drive, for example --set gc.policy=fifo
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Put the drive behind this host, for example linux-kernel or marvell-9128
    #[arg(long, value_name = "NAME")]
    host: Option<String>,

    /// Print one JSON document instead of a sentence
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &AgeArgs) -> Result<End, Failure> {
    if !(0.0..=MOST_DRIVE_WRITES).contains(&args.drive_writes) {
        let given = args.drive_writes;
        return Err(Failure::Usage(format!(
            "--drive-writes {given}: give a number from 0 to {MOST_DRIVE_WRITES}"
        )));
    }
    let (name, host) = (args.drive.as_str(), args.host.as_deref());
    let drive = VirtualDrive { name, host, set: &args.set, why: "aged" };
    let profile = targets::find_virtual(&drive).map_err(Failure::Usage)?;
    folder_is_there(&args.output).map_err(Failure::Usage)?;
    state::may_save(&profile, &args.output).map_err(|error| Failure::Usage(error.to_string()))?;
    let Model::Ssd(model) = &profile.model else {
        return Err(Failure::Usage(format!("{} is not an SSD", profile.name)));
    };
    let interrupt = Interrupt::listen()?;
    let began = Instant::now();
    let mut drive = Ssd::new(model).context("the profile has passed its check")?;
    let before = drive.counters();
    let jobs = jobs(args, drive.geometry().bytes());
    let ios = |job: &Job| match job.until {
        Until::Bytes(bytes) => bytes / u64::from(job.block_bytes),
        _ => 0,
    };
    let all: u64 = jobs.iter().map(ios).sum();
    let how_far = HowFar::new("age");
    let mut done = 0;
    for job in jobs {
        let mut watch =
            Ages { interrupt: &interrupt, how_far: &how_far, done, ios: ios(&job), all };
        let measured = run_job(&mut drive, &job, &mut watch);
        done += ios(&job);
        how_far.clear();
        match measured.ended {
            JobEnd::Complete => {}
            JobEnd::Interrupted => {
                say("fourcorners: stopped; no state was kept");
                return Ok(End::Incomplete);
            }
            JobEnd::Failed(fault) => return Err(Failure::Failed(anyhow!("{fault}"))),
        }
    }
    drive.settle();
    state::save(&drive, &profile, &args.output)?;
    let (bytes, counted) = (drive.geometry().bytes(), drive.counters());
    let written = counted.host_sectors * 512;
    let amplification = counted.write_amplification_since(&before).unwrap_or(1.0);
    let seconds = drive.now().as_secs();
    let text = match args.json {
        true => json!({
            "schema": "fourcorners.aged/1", "drive": profile.name, "capacity_bytes": bytes,
            "written_bytes": written, "seconds": seconds, "write_amplification": amplification,
            "state": args.output.display().to_string(),
        })
        .to_string(),
        false => paragraph(&format!(
            "{}: {} written to {} in {} of its time, write amplification {amplification:.2}; its state is in {}",
            profile.name,
            gigabytes(written),
            gigabytes(bytes),
            duration(seconds),
            args.output.display(),
        )),
    };
    writeln!(stdout(), "{text}")?;
    say(&format!("fourcorners: aged and saved in {:.1} s", began.elapsed().as_secs_f64()));
    Ok(End::Done)
}

/// Says how much of all I/Os is done, which take us as long as each other, and passes a Ctrl-C on.
struct Ages<'a> {
    interrupt: &'a Interrupt,
    how_far: &'a HowFar,
    /// By earlier jobs, and of this one.
    done: u64,
    ios: u64,
    all: u64,
}

impl Observer for Ages<'_> {
    fn go_on(&mut self, part_done: f64) -> bool {
        let done = self.done as f64 + part_done * self.ios as f64;
        self.how_far.part(done / self.all.max(1) as f64);
        !self.interrupt.asked()
    }
}

/// All of the drive in order, then anywhere.
fn jobs(args: &AgeArgs, bytes: u64) -> Vec<Job> {
    let job = |pattern, block_bytes: u32, amount: f64| {
        let whole = |bytes: u64| bytes - bytes % u64::from(block_bytes);
        Job {
            pattern,
            read_percent: 0,
            block_bytes,
            queue_depth: 32,
            span_start_bytes: 0,
            span_bytes: whole(bytes),
            data: Data::Incompressible,
            fua: false,
            flush: false,
            jobs: 1,
            until: Until::Bytes(whole((bytes as f64 * amount) as u64)),
            seed: args.seed,
        }
    };
    vec![
        job(Pattern::Sequential, SEQUENTIAL_BLOCK, 1.0),
        job(Pattern::Random, RANDOM_BLOCK, args.drive_writes),
    ]
}
