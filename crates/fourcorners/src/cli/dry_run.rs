//! `fourcorners review --dry-run`: what would be done, and nothing done.

use std::io::{Write, stdout};

use fourcorners_lab::campaign::Session;
use fourcorners_lab::review::{ASSUMED_BYTES_PER_SECOND, Foreseen, Past, Phase, Protocol};
use fourcorners_report::wrapped;
use fourcorners_words::count;
use serde::Serialize;

use super::terminal::columns;

/// Before a phase: its number.
const INDENT: usize = 8;
/// What it does, in letters that fit beside its amounts.
const WHAT: usize = 53;

/// Prints every phase of every session, line by line or as one JSON document; all are to be carried out `times` times.
pub(super) fn print(sessions: &[Session], times: u32, json: bool) -> anyhow::Result<()> {
    let planned: Vec<Planned> = sessions.iter().map(Planned::of).collect();
    let mut out = stdout().lock();
    if json {
        let document = Document {
            schema: "fourcorners.dry-run/1",
            times,
            assumed_bytes_per_second: ASSUMED_BYTES_PER_SECOND,
            sessions: planned,
        };
        writeln!(out, "{}", serde_json::to_string(&document)?)?;
        return Ok(());
    }
    for session in &planned {
        write!(out, "{}", session.words())?;
    }
    if let (Some(session), 2..) = (sessions.first(), times) {
        let last = session.scope.seed + u64::from(times - 1);
        writeln!(out, "Everything {times} times, with seeds {} to {last}.", session.scope.seed)?;
    }
    let rate = ASSUMED_BYTES_PER_SECOND / 1e6;
    writeln!(
        out,
        "Nothing was written. ~ marks estimates for a drive of {rate:.0} MB/s. A virtual drive\n\
         takes that time on its own clock: a few seconds of CPU time for an hour."
    )?;
    Ok(())
}

/// What `--dry-run --json` prints.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    /// How often everything is done, the next time with the next seed.
    times: u32,
    /// What estimates are of.
    assumed_bytes_per_second: f64,
    sessions: Vec<Planned>,
}

/// What would be done with one target.
#[derive(Serialize)]
struct Planned {
    target: String,
    seed: u64,
    /// What purges it, if that is no TRIM.
    #[serde(skip_serializing_if = "Option::is_none")]
    purged_by: Option<String>,
    methods: Vec<PlannedMethod>,
    /// Of all phases together.
    writes_bytes: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct PlannedMethod {
    name: String,
    /// Of a user's own method.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<File>,
    phases: Vec<Step>,
}

/// Where a user's method is from.
#[derive(Serialize)]
struct File {
    place: String,
    sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<String>,
}

/// A phase of a method.
#[derive(Serialize)]
struct Step {
    /// Of several that are spared, the number of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<usize>,
    /// Its number; of several that are spared, that of the last.
    number: usize,
    what: String,
    /// Why it is not carried out, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
    writes_bytes: u64,
    /// Whether that is known, or estimated.
    writes_exact: bool,
    seconds: f64,
    seconds_exact: bool,
}

impl Planned {
    fn of(session: &Session) -> Planned {
        let mut past = Past::default();
        let never_purged = match session.erase {
            Some(_) => None,
            None => session.target.never_purged(),
        };
        let methods: Vec<PlannedMethod> = session
            .plans
            .iter()
            .map(|(method, plan)| PlannedMethod {
                name: method.name().to_string(),
                file: File::of(method),
                phases: Step::all(plan, &mut past, never_purged),
            })
            .collect();
        let steps = || methods.iter().flat_map(|method| &method.phases);
        Planned {
            target: session.target.name(),
            seed: session.scope.seed,
            purged_by: session.erase.as_ref().map(|erase| erase.with().to_string()),
            writes_bytes: steps().map(|step| step.writes_bytes).sum(),
            seconds: steps().map(|step| step.seconds).sum(),
            methods,
        }
    }

    /// The same, line by line.
    fn words(&self) -> String {
        let purged = self.purged_by.as_ref().map(|with| format!(", purged by {with}"));
        let mut text = format!("{}{}\n", self.target, purged.unwrap_or_default());
        text += &format!("{:INDENT$}{:<WHAT$} {:>8} {:>8}\n", "", "", "writes", "takes");
        for method in &self.methods {
            text += &format!(
                "  {}{}\n",
                method.name,
                method.file.as_ref().map_or_else(String::new, File::words)
            );
            text.extend(method.phases.iter().map(Step::words));
        }
        let (bytes, seconds) = (gigabytes(self.writes_bytes), duration(self.seconds));
        text + &format!("  all: ~{bytes} written, ~{seconds}\n\n")
    }
}

impl File {
    fn of(protocol: &Protocol) -> Option<File> {
        let (place, info) = protocol.file()?;
        Some(File { place: place.into(), sha256: info.sha256, about: info.about })
    }

    /// With as much of its hash as tells it from another.
    fn words(&self) -> String {
        let about = self.about.as_ref().map_or_else(String::new, |about| format!(": {about}"));
        format!(" ({}, SHA-256 {}){about}", self.place, &self.sha256[..16])
    }
}

impl Step {
    /// All phases of a plan on a drive with such a past.
    fn all(plan: &[Phase], past: &mut Past, never_purged: Option<&str>) -> Vec<Step> {
        past.foresee(plan).iter().map(|foreseen| Step::of(foreseen, never_purged)).collect()
    }

    fn of(foreseen: &Foreseen, never_purged: Option<&str>) -> Step {
        let writes = foreseen.estimated_writes();
        let left_out = match foreseen.phase {
            _ if foreseen.spared => Some("already in this state".into()),
            Phase::LeftOut { why } => Some(why.clone()),
            Phase::Purge => never_purged.map(String::from),
            _ => None,
        };
        Step {
            first: (foreseen.first < foreseen.last).then_some(foreseen.first),
            number: foreseen.last,
            what: foreseen.phase.words(),
            left_out,
            writes_bytes: writes.bytes,
            writes_exact: writes.exact,
            seconds: foreseen.estimated_seconds(),
            seconds_exact: foreseen.spared || foreseen.phase.is_timed(),
        }
    }

    fn words(&self) -> String {
        let about = |known: bool| if known { "" } else { "~" };
        let written = match self.writes_bytes {
            0 => String::new(),
            bytes => format!("{}{}", about(self.writes_exact), gigabytes(bytes)),
        };
        let time = match self.seconds {
            0.0 => String::new(),
            seconds => format!("{}{}", about(self.seconds_exact), duration(seconds)),
        };
        let number = match self.first {
            Some(first) => format!("{first}-{}", self.number),
            None => self.number.to_string(),
        };
        let Some(why) = &self.left_out else {
            let what = match self.what.chars().count() {
                0..=WHAT => self.what.clone(),
                // Its amounts stand in a line of their own.
                _ => format!("{}\n{:INDENT$}{:WHAT$}", self.what, "", ""),
            };
            let line = format!("{number:>6}  {what:<WHAT$} {written:>8} {time:>8}");
            return format!("{}\n", line.trim_end());
        };
        let text = match self.what.as_str() {
            "left out" => why.clone(),
            what => format!("{what}: {why}"),
        };
        let lines = wrapped(&text, usize::from(columns()).saturating_sub(INDENT));
        let numbered = lines.iter().enumerate().map(|(at, line)| {
            let number = if at == 0 { number.as_str() } else { "" };
            format!("{number:>6}  {line}\n")
        });
        numbered.collect()
    }
}

pub(super) fn gigabytes(bytes: u64) -> String {
    match bytes as f64 / 1e9 {
        ..0.9995 => format!("{} MB", count(bytes as f64 / 1e6)),
        gb @ ..99.95 => format!("{gb:.1} GB"),
        gb => format!("{} GB", count(gb)),
    }
}

pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        7200.0.. => format!("{:.1} h", seconds / 3600.0),
        120.0.. => format!("{:.0} min", seconds / 60.0),
        _ => format!("{seconds:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_the_units_a_reader_wants() {
        assert_eq!([5.0, 600.0, 7200.0].map(duration), ["5 s", "10 min", "2.0 h"]);
        assert_eq!([24_600_000, 8_000_000_000].map(gigabytes), ["25 MB", "8.0 GB"]);
        assert_eq!([256_060_514_304, 16_769 << 30].map(gigabytes), ["256 GB", "18,006 GB"]);
    }
}
