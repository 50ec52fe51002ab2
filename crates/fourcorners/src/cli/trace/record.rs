//! `fourcorners trace record`.

use std::io::{Write, stdout};
use std::time::{Duration, Instant};

use fourcorners_linux::block_trace::{RecordError, record};
use fourcorners_words::counted;
use serde_json::json;

use super::super::replaced::folder_is_there;
use super::args::RecordArgs;
use super::reading::short;
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::{End, Failure};
use crate::cli::terminal::say;

/// Longest recording, a year.
const MOST_SECONDS: f64 = 31_536_000.0;

pub(super) fn run(args: &RecordArgs) -> Result<End, Failure> {
    let limit = args.seconds.map(|seconds| match (0.01..=MOST_SECONDS).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => {
            let seconds = short(seconds);
            Err(Failure::Usage(format!("--seconds {seconds}: give 0.01 to {MOST_SECONDS}")))
        }
    });
    let limit = limit.transpose()?;
    folder_is_there(&args.output).map_err(Failure::Usage)?;
    let interrupt = Interrupt::listen()?;
    let began = Instant::now();
    let go_on = || !interrupt.asked() && limit.is_none_or(|limit| began.elapsed() < limit);
    let recorded = record(&args.device, &args.output, go_on).map_err(|error| match error {
        RecordError::Other { .. } => Failure::Failed(error.into()),
        _ => Failure::Usage(error.to_string()),
    })?;
    if recorded.dropped > 0 {
        say(&format!(
            "fourcorners: the kernel lost {} events: this machine was too busy to take them",
            recorded.dropped
        ));
    }
    let Some(first) = recorded.files.first() else {
        return Err(Failure::Failed(anyhow::anyhow!("the kernel gave no buffers")));
    };
    let seconds = began.elapsed().as_secs_f64();
    let files: Vec<String> = recorded.files.iter().map(|it| it.display().to_string()).collect();
    let text = match args.json {
        true => json!({
            "schema": "fourcorners.recorded/1", "device": args.device.display().to_string(), "files": files,
            "bytes": recorded.bytes, "seconds": seconds, "lost_events": recorded.dropped,
        })
        .to_string(),
        false => format!(
            "{0}: {seconds:.1} s of {1}, {2} in {3}; `fourcorners trace info {0}` says what is in it",
            first.display(),
            args.device.display(),
            counted(recorded.bytes, "byte"),
            counted(recorded.files.len() as u64, "file"),
        ),
    };
    writeln!(stdout(), "{text}")?;
    Ok(End::Done)
}
