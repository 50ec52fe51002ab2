//! The names of arrays: a level, its drives and what differs from the usual.

use fourcorners_array::{ArrayConfig, CHUNK_BYTES, Level};
use fourcorners_catalogue::{CatalogueError, HostController, Profile};
use fourcorners_words::{bytes_of, nearest};

use super::makeup::{Drives, Makeup, Source};
use super::{ArrayKind, ArrayProfile, cache_name};
use crate::strict_toml::LineError;

/// Why a name or a file is not that of an array.
#[derive(Debug, thiserror::Error)]
pub enum ArrayNameError {
    /// There is no such drive.
    #[error(transparent)]
    Drive(#[from] CatalogueError),
    /// A part of the name that means nothing.
    #[error("{name}: \"{part}\" {must}")]
    Part {
        /// The whole name.
        name: String,
        /// The part.
        part: String,
        /// What has to be there.
        must: String,
    },
    /// What is wrong in a line of its file, and what to do.
    #[error("{place}, line {line}: {what}")]
    Line {
        /// The file.
        place: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The drives do not make one.
    #[error("{name}: {error}")]
    Array {
        /// The whole name, or the file.
        name: String,
        /// Why.
        error: String,
    },
}

impl ArrayNameError {
    /// A part of this name means nothing: what has to be there.
    pub(super) fn of_part(name: &str, part: &str, must: &str) -> ArrayNameError {
        ArrayNameError::Part { name: name.into(), part: part.into(), must: must.into() }
    }
}

impl From<LineError> for ArrayNameError {
    fn from(LineError { place, line, what }: LineError) -> ArrayNameError {
        ArrayNameError::Line { place, line, what }
    }
}

/// What the parts of a name have said so far, each once.
#[derive(Default)]
pub(super) struct Said(Vec<&'static str>);

impl Said {
    /// A part says this of the array: what has to be there instead, where one before it said it, too.
    pub(super) fn once(&mut self, what: &'static str) -> Result<(), String> {
        if self.0.contains(&what) {
            return Err(format!("says {what} a second time: leave one of them out"));
        }
        self.0.push(what);
        Ok(())
    }
}

/// What follows the drives in a name.
const OPTIONS: &str =
    "is not known there: a chunk such as 64k, no-trim, failed=2 and rebuild=100 (MB/s) are";

impl ArrayProfile {
    /// The array of a name, its drives behind this host controller and with these values changed; `None` if the name is
    /// none of an array.
    ///
    /// # Errors
    /// [`ArrayNameError`]: it is the name of one, and there is no such array.
    pub fn parse(
        name: &str,
        host: Option<&HostController>,
        set: &[String],
    ) -> Option<Result<ArrayProfile, ArrayNameError>> {
        let (level_name, rest) = name.split_once(':')?;
        let of_level = |it: &&Level| it.name() == level_name;
        if level_name == cache_name::CACHE {
            let made = cache_name::parse(name, rest);
            return Some(made.and_then(|made| made.profile(host, set)));
        }
        let level = Level::ALL.iter().find(of_level).copied();
        let slip = || {
            let known = Level::ALL.iter().map(|level| level.name()).chain([cache_name::CACHE]);
            nearest(level_name, known)
        };
        match level {
            Some(level) => Some(of(name, level, rest).and_then(|made| made.profile(host, set))),
            None if name.contains('/') => None,
            None => slip().map(|near| {
                let must = format!("is no kind of array; did you mean {near}?");
                Err(ArrayNameError::of_part(name, level_name, &must))
            }),
        }
    }
}

/// The array of a name, of which this is what follows the level.
fn of(name: &str, level: Level, rest: &str) -> Result<Makeup, ArrayNameError> {
    let wrong = |part: &str, must: &str| ArrayNameError::of_part(name, part, must);
    let mut parts = rest.split(':');
    let mut all = Vec::new();
    for drives in parts.next().unwrap_or_default().split('+') {
        let (number, drive) = match drives.split_once('x') {
            Some((count, drive))
                if !count.is_empty() && count.bytes().all(|it| it.is_ascii_digit()) =>
            {
                let most = fourcorners_array::MOST_MEMBERS;
                let count = count.parse().ok().filter(|count| (1..=most).contains(count));
                let must = format!("is not a number of drives from 1 to {most}");
                (count.ok_or_else(|| wrong(drives, &must))?, drive)
            }
            _ => (1, drives),
        };
        all.push(Drives { number, source: Source::Catalogue(drive.into()), line: None });
    }
    let mut config = ArrayConfig { level, chunk_bytes: CHUNK_BYTES, ..ArrayConfig::default() };
    let mut said = Said::default();
    for part in parts {
        let mut once = |what| said.once(what).map_err(|must| wrong(part, &must));
        if part == "no-trim" {
            once("that there is no TRIM")?;
            config.trim = false;
        } else if let Some(number) = part.strip_prefix("failed=") {
            once("which drive has failed")?;
            let number = number.parse::<usize>().ok().filter(|&number| number > 0);
            let number =
                number.ok_or_else(|| wrong(part, "names no drive: they are counted from 1"))?;
            config.failed = Some(number - 1);
        } else if let Some(rate) = part.strip_prefix("rebuild=") {
            once("how fast it is rebuilt")?;
            let rate = rate.trim_end_matches("MB/s").parse::<f64>().ok();
            config.rebuild_mb_per_s = Some(rate.ok_or_else(|| wrong(part, "is no rate in MB/s"))?);
        } else {
            config.chunk_bytes = chunk_bytes(part).ok_or_else(|| wrong(part, OPTIONS))?;
            once("how long its chunks are")?;
            if !level.is_striped() {
                let must = format!("is a chunk, and {} has none: leave it out", level.name());
                return Err(wrong(part, &must));
            }
        }
    }
    Ok(Makeup {
        place: name.into(),
        name: name.into(),
        title: None,
        kind: ArrayKind::Array(config),
        drives: all,
    })
}

/// A chunk as controllers and md write it: 64k are 65,536 bytes, since no chunk is a power of ten.
pub(super) fn chunk_bytes(text: &str) -> Option<u64> {
    let unit = |shift: u32, suffix: [char; 2]| {
        let number: u64 = text.strip_suffix(suffix)?.parse().ok()?;
        number.checked_mul(1 << shift)
    };
    unit(10, ['k', 'K']).or_else(|| unit(20, ['m', 'M'])).or_else(|| bytes_of(text))
}

/// "RAID 5 of 4 x Crucial m4 256 GB, chunks of 64 KiB".
pub(super) fn title(config: &ArrayConfig, members: &[Profile]) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for member in members {
        match kinds.last_mut() {
            Some((title, count)) if *title == member.title => *count += 1,
            _ => kinds.push((&member.title, 1)),
        }
    }
    let kinds: Vec<String> =
        kinds.iter().map(|(title, count)| format!("{count} x {title}")).collect();
    let level = match config.level {
        Level::Concat => "Concatenation of",
        Level::Raid0 => "RAID 0 of",
        Level::Raid1 => "RAID 1 of",
        Level::Raid5 => "RAID 5 of",
        Level::Raid10 => "RAID 10 of",
    };
    let mut title = format!("{level} {}", kinds.join(" and "));
    if config.level.is_striped() {
        title += &format!(", chunks of {} KiB", config.chunk_bytes >> 10);
    }
    if !config.trim {
        title += ", no TRIM";
    }
    match (config.failed, config.rebuild_mb_per_s) {
        (Some(failed), None) => title += &format!(", drive {} failed", failed + 1),
        (Some(failed), Some(rate)) => {
            title += &format!(", drive {} new, rebuilt at {rate} MB/s", failed + 1);
        }
        (None, _) => {}
    }
    title
}
