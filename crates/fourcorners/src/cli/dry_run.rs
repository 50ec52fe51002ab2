//! `fourcorners review --dry-run`: what would be done, and nothing done.

use std::io::{Write, stdout};

use fourcorners_lab::campaign::Session;
use fourcorners_lab::review::{ASSUMED_BYTES_PER_SECOND, Past, Phase, Protocol};

/// Prints every phase of every session, all of which are to be carried out so many times.
pub(super) fn print(sessions: &[Session], times: u32) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    for session in sessions {
        write!(out, "{}", words(session))?;
    }
    if let (Some(session), 2..) = (sessions.first(), times) {
        let last = session.seed + u64::from(times - 1);
        writeln!(out, "Everything {times} times, with seeds {} to {last}.", session.seed)?;
    }
    let rate = ASSUMED_BYTES_PER_SECOND / 1e6;
    writeln!(
        out,
        "Nothing was written. ~ marks estimates for a drive of {rate:.0} MB/s. A virtual drive takes \
         that time on its own clock: a few seconds of CPU time for an hour."
    )?;
    Ok(())
}

/// What a session does, line by line.
fn words(session: &Session) -> String {
    let purged = session.erase.as_ref().map(|erase| format!(", purged by {}", erase.with()));
    let mut text = format!("{}{}\n", session.target.name(), purged.unwrap_or_default());
    let mut past = Past::default();
    let (mut bytes, mut seconds) = (0, 0.0);
    for (method, plan) in &session.plans {
        text += &format!("  {}{}\n", method.name(), file(method));
        let mut next = 0;
        while let Some(phase) = plan.get(next) {
            let spared = past.spares(&plan[next..]);
            if spared > 0 {
                let to = plan[next + spared - 1].words();
                text += &line(next + spared, &to, "", "already in this state");
                next += spared;
                continue;
            }
            next += 1;
            text += &phase_line(next, phase);
            bytes += phase.estimated_writes().bytes;
            seconds += phase.estimated_seconds();
            past.went_through(phase);
        }
    }
    text + &format!("  all: ~{} written, ~{}\n\n", gigabytes(bytes), duration(seconds))
}

/// Where a user's method is from, with as much of its hash as tells it from another.
fn file(protocol: &Protocol) -> String {
    let file = protocol.file();
    file.map_or_else(String::new, |(place, info)| {
        let about = info.about.map_or_else(String::new, |about| format!(": {about}"));
        format!(" ({place}, SHA-256 {}){about}", &info.sha256[..16])
    })
}

fn phase_line(number: usize, phase: &Phase) -> String {
    let writes = phase.estimated_writes();
    let about = |known: bool| if known { "" } else { "~" };
    let written = match writes.bytes {
        0 => String::new(),
        bytes => format!("writes {}{}", about(writes.exact), gigabytes(bytes)),
    };
    let time = match (phase, phase.estimated_seconds()) {
        (Phase::LeftOut { why }, _) => why.clone(),
        (_, 0.0) => String::new(),
        (phase, seconds) => format!("{}{}", about(phase.is_timed()), duration(seconds)),
    };
    line(number, &phase.words(), &written, &time)
}

fn line(number: usize, what: &str, written: &str, time: &str) -> String {
    let line = format!("  {number:4}  {what:<52} {written:<17} {time}");
    format!("{}\n", line.trim_end())
}

pub(super) fn gigabytes(bytes: u64) -> String {
    let gb = bytes as f64 / 1e9;
    format!("{gb:.0$} GB", usize::from(gb < 99.95))
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
        assert_eq!([8_000_000_000, 256_060_514_304].map(gigabytes), ["8.0 GB", "256 GB"]);
    }
}
