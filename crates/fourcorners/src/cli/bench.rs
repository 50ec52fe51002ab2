//! `fourcorners bench`: our own speed.

use std::io::{Write, stdout};

use fourcorners_lab::bench::{self, Case, DRIVE, SET};
use fourcorners_run::Observer;
use serde_json::json;

use super::args::BenchArgs;
use super::interrupt::Interrupt;
use super::outcome::{End, Failure};

pub(super) fn run(args: &BenchArgs) -> Result<End, Failure> {
    let mut interrupt = Interrupt::listen()?;
    let mut out = stdout().lock();
    if !args.json {
        writeln!(out, "{DRIVE}, {SET}, full model, one core; I/Os a second of CPU time\n")?;
    }
    let mut written = Ok(());
    let cases = bench::run_all(&mut interrupt, |case| {
        if !args.json && written.is_ok() {
            written = writeln!(out, "{}", line(case));
        }
    })?;
    written?;
    if args.json {
        writeln!(out, "{}", json!({"schema": "fourcorners.bench/1", "cases": cases}))?;
    }
    Ok(if interrupt.asked() { End::Incomplete } else { End::Done })
}

fn line(case: &Case) -> String {
    let amplification = case
        .write_amplification
        .map(|wa| format!(", write amplification {wa:.2}"))
        .unwrap_or_default();
    format!(
        "{:<34} {:>7.1} M/s, {:.2} of that without variation, {:.1} bytes a page{amplification}",
        case.name,
        case.ios_per_cpu_second / 1e6,
        case.ios_per_cpu_second / case.ios_per_cpu_second_without_variation,
        case.bytes_per_page,
    )
}

impl Observer for Interrupt {
    fn go_on(&mut self, _part_done: f64) -> bool {
        !self.asked()
    }
}
