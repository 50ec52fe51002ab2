//! Times as a person types them, for a [`Filter`](super::Filter).

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Text that is no time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text:?}: give a day (2026-03-01), a time (2026-03-01T10:00:00Z), or 12h or 30d")]
pub struct DateError {
    /// What is there.
    pub text: String,
}

/// From when on: the beginning of a day, a time, or so long before now. Seconds since 1970.
///
/// # Errors
///
/// [`DateError`], which says what such a text may be.
pub fn since(text: &str) -> Result<i64, DateError> {
    time(text, 0).ok_or_else(|| wrong(text))
}

/// Until when: the end of a day, a time, or so long before now.
///
/// # Errors
///
/// [`DateError`], which says what such a text may be.
pub fn until(text: &str) -> Result<i64, DateError> {
    time(text, 1).ok_or_else(|| wrong(text))
}

fn wrong(text: &str) -> DateError {
    DateError { text: text.into() }
}

/// A day is counted from its beginning, `days` later.
fn time(text: &str, days: i32) -> Option<i64> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_second());
    }
    for (unit, seconds) in [("h", 3600), ("d", 86_400)] {
        let count = text.strip_suffix(unit).and_then(|count| count.parse::<u32>().ok());
        if let Some(count) = count {
            return Some(Timestamp::now().as_second() - i64::from(count) * seconds);
        }
    }
    let is_a_day = text.len() == 10 && text.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    let day =
        is_a_day.then(|| text.parse::<Date>().ok()).flatten()?.checked_add(days.days()).ok()?;
    Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_a_time_and_a_while_ago() {
        assert_eq!(since("2026-03-01"), Ok(1_772_323_200));
        assert_eq!(until("2026-03-01"), Ok(1_772_323_200 + 86_400));
        assert_eq!(since("2026-03-01T10:00:00Z"), Ok(1_772_323_200 + 36_000));
        assert_eq!(until("2026-03-01T12:00:00+02:00"), Ok(1_772_323_200 + 36_000));
        assert!(since("2d").expect("a while") < since("47h").expect("a while"));
        for wrong in
            ["", "yesterday", "2026-02-30", "2026-3-1", "d", "-1d", "99999999999d", "9999-99-99"]
        {
            let error = since(wrong).expect_err(wrong).to_string();
            assert!(error.starts_with(&format!("{wrong:?}: give")), "{error}");
        }
        assert!(until("9999-12-31").is_err(), "there is no day after it");
    }
}
