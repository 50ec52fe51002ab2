//! The state of a drive before its test.

use super::super::articles::{self, Rules};
use super::super::figure::PublishedTest;
use super::super::names::Found;
use super::super::reading::Before;
use super::super::runs::State;
use super::slc_bytes;

/// How long a drive is written at random until it is used.
pub(super) const TORTURE_SECONDS: u64 = 20 * 60;

/// A pattern that is a state, too.
pub(super) const AFTER_CACHE: &str = "sequential write after cache";

/// The state a drive is in when its test begins: `usable` bytes of it may be written, `span_bytes` of them are
/// by the test.
///
/// # Errors
/// What was done to it that is not modelled.
pub(super) fn state(
    test: &PublishedTest,
    before: Option<Before>,
    found: Found<'_>,
    article: Rules,
    [usable, span_bytes]: [u64; 2],
) -> Result<State, String> {
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
        Some("used" | "trimmed") if before == Some(Before::Idle) => {
            return Err("what the drive does while idle is not modelled".into());
        }
        Some("used" | "trimmed") if before == Some(Before::MonthsOfUse) => {
            return Err("months of desktop use cannot be repeated".into());
        }
        Some(state @ ("used" | "trimmed")) => {
            let once = before.is_none() && test.tool.is_none() && state == "used";
            let used = match before {
                Some(Before::WrittenSeconds(seconds)) => State::Used { seconds, once: false },
                _ if once => State::Used { seconds: TORTURE_SECONDS, once },
                _ => tortured,
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
fn swept(test: &PublishedTest, found: Found<'_>, article: Rules, span_bytes: u64) -> State {
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
