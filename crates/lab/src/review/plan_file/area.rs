//! The span of a phase: sizes in bytes or in percent of the usable space.

use fourcorners_run::trim::Range;
use fourcorners_words::bytes_of;
use toml::de::DeValue;

use crate::review::Scope;
use crate::review::scope::{SEQUENTIAL_BLOCK, whole_blocks};
use crate::strict_toml::{At, Expected, LineError, Section};

/// A size or a place.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Extent {
    Bytes(u64),
    /// Of all that may be touched.
    Percent(f64),
}

impl Extent {
    fn read(value: &DeValue<'_>) -> Result<Extent, Expected> {
        let wanted = || "a size such as \"8 GB\", \"512 MiB\", \"25 %\" or \"all\"".into();
        let text = value.as_str().ok_or_else(wanted)?.trim();
        if text == "all" {
            return Ok(Extent::Percent(100.0));
        }
        if let Some(number) = text.strip_suffix('%') {
            let percent = number.trim().parse().ok();
            let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
            return percent.map(Extent::Percent).ok_or_else(|| "0 % to 100 %".into());
        }
        match bytes_of(text) {
            Some(bytes) => Ok(Extent::Bytes(bytes)),
            None if text == "0" => Ok(Extent::Bytes(0)),
            None => Err(wanted()),
        }
    }

    /// In whole 128 KiB, and no more than may be touched. Percents are of what a quick review
    /// touches where it is quick, bytes are what they are.
    fn bytes(self, scope: &Scope) -> u64 {
        match self {
            Extent::Bytes(bytes) => scope.span(bytes),
            Extent::Percent(percent) => {
                whole_blocks((scope.whole() as f64 * (percent / 100.0)) as u64)
            }
        }
    }
}

/// A part of the target: from `start` (its beginning unless given) for `span`, or up to `end`, or to
/// the end of what may be touched.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Area {
    start: Extent,
    length: Length,
    line: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Length {
    Span(Extent),
    End(Extent),
}

impl Area {
    /// By the keys `start`, `span` and `end`.
    pub(super) fn read(section: &mut Section<'_>) -> Result<Area, LineError> {
        let start = section.one("start", Extent::read)?;
        let span = section.one("span", Extent::read)?;
        let end = section.one("end", Extent::read)?;
        let line = [&start, &span, &end].into_iter().flatten().map(|it| it.line).max();
        let length = match (span, end) {
            (Some(_), Some(end)) => {
                return Err(
                    section.error_at(end.line, "span and end are both given: leave one out")
                );
            }
            (Some(At { value: Extent::Bytes(bytes), line }), None)
                if bytes < u64::from(SEQUENTIAL_BLOCK) =>
            {
                return Err(section.error_at(line, "span must be 128 KiB or more"));
            }
            (Some(span), None) => Length::Span(span.value),
            (None, Some(end)) => Length::End(end.value),
            (None, None) => Length::End(Extent::Percent(100.0)),
        };
        let start = start.map_or(Extent::Bytes(0), |start| start.value);
        Ok(Area { start, length, line: line.unwrap_or(section.line) })
    }

    /// On a target. Where there is less than is asked for, what there is.
    ///
    /// # Errors
    /// The line and what is wrong, where nothing is left.
    pub(super) fn on(&self, scope: &Scope) -> Result<Range, (usize, String)> {
        let most = scope.usable_bytes();
        let start_bytes = self.start.bytes(scope);
        let end = match self.length {
            Length::Span(span) => start_bytes.saturating_add(span.bytes(scope)).min(most),
            Length::End(end) => end.bytes(scope),
        };
        match end.checked_sub(start_bytes).filter(|&bytes| bytes > 0) {
            Some(bytes) => Ok(Range { start_bytes, bytes }),
            None => Err((
                self.line,
                format!(
                    "nothing is left between its start at {:.3} GB and its end at {:.3} GB of the \
                     {:.3} GB that may be touched",
                    start_bytes as f64 / 1e9,
                    end as f64 / 1e9,
                    most as f64 / 1e9
                ),
            )),
        }
    }
}
