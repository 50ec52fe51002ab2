//! `serve --then-try`: what was recorded is tried on other drives when serving has ended.

use std::io::{Write, stdout};
use std::path::Path;

use fourcorners_lab::choose::Candidate;
use fourcorners_serve::{Recorded, SCHEMA};
use serde_json::json;

use super::choose::print;
use super::outcome::{End, Failure};
use super::terminal::say;
use super::trace::try_recording;

/// Ranks drives by a recording: a table, or an event in a line.
pub(super) fn run(
    recording: &Path,
    recorded: &Recorded,
    candidates: Vec<Candidate>,
    as_json: bool,
) -> Result<End, Failure> {
    let why = match recorded {
        Recorded { error: Some(why), .. } => why.as_str(),
        Recorded { ios: 0, .. } => "there is nothing in it",
        Recorded { lost: 0, .. } => "",
        _ => "it is not whole",
    };
    if !why.is_empty() {
        say(&format!("fourcorners: --then-try: {}: {why}: nothing is tried", recording.display()));
        return Ok(End::Incomplete);
    }
    let Some(choice) = try_recording(recording, candidates)? else { return Ok(End::Incomplete) };
    if as_json {
        let event = json!({
            "schema": SCHEMA,
            "event": "then_try",
            "recording": recording.display().to_string(),
            "choice": choice,
        });
        // Nobody reading it is no failure.
        let _ = writeln!(stdout().lock(), "{event}");
    } else {
        writeln!(stdout().lock())?;
        print(&choice, false, None)?;
    }
    Ok(End::Done)
}
