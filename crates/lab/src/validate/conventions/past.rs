//! The state of a drive before its test, from the words of a publication.

use super::super::articles::{self, Article};
use super::super::figure::PublishedTest;
use super::super::names::Found;
use super::super::runs::State;
use super::slc_bytes;

/// How long a drive is written at random until it is used.
pub(super) const TORTURE_SECONDS: u64 = 20 * 60;

/// What pages say of a drive's past that the list of figures does not: part of a source, and what
/// was done to the drive before.
const PASTS: [(&str, &str); 1] = [
    // One sentence about drives that PC Perspective had used for months gives both speeds.
    ("17441-intel-x25-m-ssd", "months of desktop use"),
];

/// A pattern that is a state, too.
pub(super) const AFTER_CACHE: &str = "sequential write after cache";

/// The state a drive is in when its test begins: `usable` bytes of it may be written, `span_bytes` of them are
/// by the test.
///
/// # Errors
/// What was done to it that is not modelled.
pub(super) fn state(
    source: &str,
    test: &PublishedTest,
    found: Found<'_>,
    article: Article,
    [usable, span_bytes]: [u64; 2],
) -> Result<State, String> {
    let past = PASTS.iter().find(|(part, _)| source.contains(part));
    let words = test.precondition.as_deref().or(past.map(|(_, past)| *past)).unwrap_or_default();
    let tortured = State::Used { seconds: TORTURE_SECONDS, once: false };
    if test.pattern == AFTER_CACHE || test.state.as_deref() == Some("SLC cache exhausted") {
        let held = slc_bytes(found).ok_or("the drive's profile has no [slc_buffer]")?;
        // Free blocks are not all of the drive, and what is left of it is measured.
        let most = usable / 2;
        return Ok(State::BufferFull {
            bytes: held.next_multiple_of(1 << 20).min(most - most % (1 << 20)),
        });
    }
    Ok(match test.state.as_deref() {
        None if article.written_seconds.is_some() => swept(test, found, article, span_bytes),
        None | Some("fresh" | "new" | "empty" | "clean") => State::Fresh,
        Some("steady") if test.pattern == "random write" => State::Steady,
        Some("used" | "trimmed") if words.contains("idle") => {
            return Err("what the drive does while idle is not modelled".into());
        }
        Some("used" | "trimmed") if words.contains("months") => {
            return Err("months of desktop use cannot be repeated".into());
        }
        Some(state @ ("used" | "trimmed")) => {
            let once = words.is_empty() && test.tool.is_none() && state == "used";
            let used = match seconds_in(words) {
                Some(seconds) => State::Used { seconds, once: false },
                None if once => State::Used { seconds: TORTURE_SECONDS, once },
                None => tortured,
            };
            match (state, used) {
                ("trimmed", State::Used { seconds, .. }) => State::Trimmed { seconds },
                _ => used,
            }
        }
        Some(other) => return Err(format!("the state \"{other}\" is not modelled")),
    })
}

/// A drive that its article has as written before.
fn swept(test: &PublishedTest, found: Found<'_>, article: Article, span_bytes: u64) -> State {
    let reads = test.pattern.ends_with("read");
    let large = |begun: &articles::Begun| found.profile.capacity_bytes() >= begun.capacity_bytes;
    match article.begun.filter(|begun| reads && large(begun)) {
        Some(begun) => State::Begun { bytes: begun.written_bytes },
        None => State::Swept {
            seconds: article.written_seconds.unwrap_or_default(),
            span_bytes: article.random_span_bytes.map_or(span_bytes, |span| span.min(span_bytes)),
        },
    }
}

/// The duration in `fill drive, then 4KB random write all LBAs QD32 for 20 min`.
fn seconds_in(words: &str) -> Option<u64> {
    let words: Vec<&str> = words.split([' ', ',', '(', ')']).collect();
    words.windows(2).find_map(|pair| {
        let number: u64 = pair[0].parse().ok()?;
        match pair[1] {
            "min" | "minutes" => Some(number * 60),
            "h" | "hours" => Some(number * 3600),
            _ => None,
        }
    })
}
