//! What the reviews say of the drives, each a test on its virtual drive, and each with the mechanism
//! that produces it turned off. Where the page's test is a method, the drive is reviewed by it, as a user
//! would; jobs of their own have what no method does.

mod crucial_m4;
mod crucial_others;
mod disks;
mod indilinx;
mod intel;
mod nvme;
mod power;
mod reviewed;
mod samsung;
mod sandforce;
mod sandisk;
mod small;

use fourcorners_catalogue::{Model, Profile, built_in};
use fourcorners_drive::{Ssd, Target};
use fourcorners_lab::review::Method;
use fourcorners_record::{Data, Job, Outcome, Pattern, Until};
use fourcorners_run::{JobEnd, Measured, Unobserved, run};

use reviewed::{Review, quickly_reviewed, reviewed, reviewed_for};

const FRESH_QD3: &str = "random_write_4k_qd3_incompressible";
const READ_QD3: &str = "random_read_4k_qd3";
const ALL_OVER: &str = "random_write_4k_qd32_incompressible_default";
const WITH_SPARE: &str = "random_write_4k_qd32_incompressible_spare25";
const CLEAN: &str = "sequential_write_128k_qd1_clean";
const TORTURED: &str = "sequential_write_128k_qd1_tortured";
const TRIMMED: &str = "sequential_write_128k_qd1_trimmed";

fn profile(name: &str, set: &[&str]) -> Profile {
    let set: Vec<String> = set.iter().map(|set| set.to_string()).collect();
    built_in(name, &set).unwrap_or_else(|error| panic!("{error}"))
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A drive of the catalogue, with these values changed as by `--set`.
fn drive(name: &str, set: &[&str]) -> Ssd {
    match profile(name, set).model {
        Model::Ssd(profile) => Ssd::new(&profile).expect("it was checked"),
        Model::Hdd(_) => panic!("a hard disk"),
    }
}

/// 4 KiB at random over the first `span_bytes`.
fn random(read_percent: u8, queue_depth: u32, span_bytes: u64, until: Until) -> Job {
    Job {
        pattern: Pattern::Random,
        read_percent,
        block_bytes: 4096,
        queue_depth,
        span_start_bytes: 0,
        span_bytes: span_bytes / 4096 * 4096,
        data: Data::Incompressible,
        until,
        seed: 2,
        fua: false,
        flush: false,
        jobs: 1,
    }
}

/// 128 KiB in order over the first `span_bytes`, once.
fn pass(read_percent: u8, queue_depth: u32, span_bytes: u64) -> Job {
    let span_bytes = span_bytes / 131_072 * 131_072;
    let until = Until::Bytes(span_bytes);
    Job {
        pattern: Pattern::Sequential,
        block_bytes: 131_072,
        span_bytes,
        seed: 1,
        ..random(read_percent, queue_depth, span_bytes, until)
    }
}

fn measure(ssd: &mut Ssd, job: &Job) -> Measured {
    ssd.settle();
    let measured = run(ssd, job, &mut Unobserved);
    assert_eq!(measured.ended, JobEnd::Complete);
    measured
}

/// Filled, then written at random all over, 4 KiB at depth 32, for 20 minutes.
fn torture(ssd: &mut Ssd) -> Measured {
    let bytes = ssd.geometry().bytes();
    measure(ssd, &pass(0, 32, bytes));
    measure(ssd, &Job { seed: 3, ..random(0, 32, bytes, Until::Seconds(20 * 60)) })
}

/// MB/s of random writes to a fresh and to a used drive.
fn fresh_and_used(review: &Review) -> (f64, f64) {
    let used = format!("{FRESH_QD3}_used");
    (review.mb_per_s(FRESH_QD3), review.mb_per_s(&used))
}

fn mb_per_s(measured: &Measured) -> f64 {
    measured.bytes as f64 / 1e6 / measured.elapsed.as_secs()
}

/// MB/s of every second.
fn seconds_mb(measured: &Measured) -> Vec<f64> {
    measured.seconds.iter().map(|second| second.bytes as f64 / 1e6).collect()
}

/// Random reads of a span that was written before, MB/s.
fn random_read(ssd: &mut Ssd, queue_depth: u32, span_bytes: u64) -> f64 {
    measure(ssd, &pass(0, 32, span_bytes));
    mb_per_s(&measure(ssd, &random(100, queue_depth, span_bytes, Until::Seconds(2))))
}

const GB: u64 = 1_000_000_000;
