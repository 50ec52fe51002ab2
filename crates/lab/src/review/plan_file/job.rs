//! The jobs of a plan file: what is done to a target, before it is known which.

use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_words::bytes_of;
use toml::de::DeValue;

use super::area::Area;
use crate::review::Scope;
use crate::review::scope::{RANDOM_BLOCK, SEQUENTIAL_BLOCK};
use crate::strict_toml::{Expected, LineError, Section, number};

/// Longest time of a phase, seconds: thirty days.
pub(super) const MOST_SECONDS: u64 = 30 * 24 * 3600;
/// What is longer takes this long with `--quick`, unless it says how long.
pub(super) const QUICK_SECONDS: u64 = 5;
/// Most I/Os in flight, and the largest block: more of either needs a GB of buffers on a real drive.
pub(super) const MOST_DEPTH: u32 = 1024;
pub(super) const MOST_BLOCK: u32 = 4 << 20;
/// Most bytes in flight.
const MOST_IN_FLIGHT: u64 = 1 << 30;
const DEPTH: u32 = 32;
/// How often a span may be written.
const MOST_TIMES: f64 = 1000.0;

/// How long something takes, in seconds, at length and quick.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seconds {
    full: u64,
    quick: u64,
}

impl Seconds {
    pub(super) fn of(full: u64, quick: Option<u64>) -> Seconds {
        Seconds { full, quick: quick.unwrap_or(full.min(QUICK_SECONDS)) }
    }

    /// By the keys `seconds` and `quick_seconds`.
    pub(super) fn read(section: &mut Section<'_>) -> Result<Option<Seconds>, LineError> {
        let full = section.whole("seconds", 1..=MOST_SECONDS)?;
        let quick = section.whole("quick_seconds", 1..=MOST_SECONDS)?;
        match (full, quick) {
            (None, Some(_)) => Err(section.error("quick_seconds is given without seconds")),
            (full, quick) => Ok(full.map(|full| Seconds::of(full, quick))),
        }
    }

    pub(super) fn on(self, scope: &Scope) -> u64 {
        scope.either(self.full, self.quick)
    }
}

/// When a job ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Limit {
    pub(super) seconds: Option<Seconds>,
    pub(super) much: Option<Much>,
}

/// How much a job moves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Much {
    /// So many times its span.
    Times(f64),
    Bytes(u64),
}

impl Limit {
    /// By the keys `seconds`, `quick_seconds`, `times` and `amount`.
    fn read(section: &mut Section<'_>, default: Limit) -> Result<Limit, LineError> {
        let seconds = Seconds::read(section)?;
        let times = section.number("times", 0.001..=MOST_TIMES)?;
        let amount = section.one("amount", |value| {
            let bytes = value.as_str().and_then(bytes_of);
            bytes.ok_or_else(|| "a size such as \"100 GB\"".into())
        })?;
        let much = match (times, amount) {
            (Some(_), Some(amount)) => {
                let what = "times and amount are both given: leave one out";
                return Err(section.error_at(amount.line, what));
            }
            (Some(times), None) => Some(Much::Times(times)),
            (None, Some(amount)) => Some(Much::Bytes(amount.value)),
            (None, None) => None,
        };
        let given = Limit { seconds, much };
        let limit = if given == NO_LIMIT { default } else { given };
        if limit == NO_LIMIT {
            return Err(section.error(
                "it has no end: give seconds = 60, times = 1 (how often its span is gone through) \
                 or amount = \"100 GB\"",
            ));
        }
        Ok(limit)
    }

    fn on(self, scope: &Scope, span_bytes: u64) -> Until {
        let bytes = self.much.map(|much| match much {
            Much::Times(times) => (span_bytes as f64 * times) as u64,
            Much::Bytes(bytes) => bytes,
        });
        match (self.seconds.map(|seconds| seconds.on(scope)), bytes) {
            (Some(seconds), Some(bytes)) => Until::SecondsOrBytes(seconds, bytes),
            (Some(seconds), None) => Until::Seconds(seconds),
            // A limit has one of the two at least.
            (None, bytes) => Until::Bytes(bytes.unwrap_or(span_bytes)),
        }
    }
}

/// No end.
pub(super) const NO_LIMIT: Limit = Limit { seconds: None, much: None };

/// What a job is unless its section says otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defaults {
    pub(super) pattern: Option<Pattern>,
    pub(super) read_percent: Option<u8>,
    pub(super) limit: Limit,
}

/// Jobs that are alike but for what was given as a list.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Jobs {
    pub(super) line: usize,
    pub(super) pattern: Pattern,
    pub(super) read_percents: Vec<u8>,
    pub(super) blocks: Vec<u32>,
    pub(super) depths: Vec<u32>,
    pub(super) data: Vec<Data>,
    area: Area,
    limit: Limit,
    /// Whose random numbers they have, if not their own.
    random: Option<String>,
    fua: bool,
}

/// One of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Variant {
    pub(super) read_percent: u8,
    pub(super) block_bytes: u32,
    pub(super) queue_depth: u32,
    pub(super) data: Data,
}

impl Jobs {
    /// By all keys that a job has.
    pub(super) fn read(section: &mut Section<'_>, default: Defaults) -> Result<Jobs, LineError> {
        let patterns = [("random", Pattern::Random), ("sequential", Pattern::Sequential)];
        let pattern = section
            .word("pattern", &patterns)?
            .or(default.pattern)
            .ok_or_else(|| section.error("pattern is missing: \"random\" or \"sequential\""))?;
        let read_percents = section.some("read_percent", |value| {
            let percent =
                number(value).filter(|it| it.fract() == 0.0 && (0.0..=100.0).contains(it));
            percent
                .map(|it| it as u8)
                .ok_or_else(|| "a whole number from 0 (only writes) to 100 (only reads)".into())
        })?;
        let read_percents = read_percents.or(default.read_percent.map(|it| vec![it]));
        let read_percents = read_percents.ok_or_else(|| {
            section.error("read_percent is missing: 0 for writes, 100 for reads, or between")
        })?;
        let blocks = section.some("block", block)?.unwrap_or_else(|| match pattern {
            Pattern::Random => vec![RANDOM_BLOCK],
            Pattern::Sequential => vec![SEQUENTIAL_BLOCK],
        });
        let depths = section.some("depth", |value| {
            let depth = number(value).filter(|it| it.fract() == 0.0);
            let depth = depth.filter(|it| (1.0..=f64::from(MOST_DEPTH)).contains(it));
            depth
                .map(|it| it as u32)
                .ok_or_else(|| format!("1 to {MOST_DEPTH} I/Os in flight").into())
        })?;
        let depths = depths.unwrap_or_else(|| vec![DEPTH]);
        let data = section.some("data", data)?.unwrap_or_else(|| vec![Data::Incompressible]);
        let most = |of: &[u32]| u64::from(of.iter().copied().max().unwrap_or(0));
        if most(&blocks) * most(&depths) > MOST_IN_FLIGHT {
            return Err(section.error("block times depth must be 1 GiB or less"));
        }
        Ok(Jobs {
            line: section.line,
            pattern,
            read_percents,
            blocks,
            depths,
            data,
            area: Area::read(section)?,
            limit: Limit::read(section, default.limit)?,
            random: section.text("random")?.map(|it| it.value),
            fua: section.flag("fua")?.unwrap_or(false),
        })
    }

    /// The only one there is.
    ///
    /// # Errors
    /// Where a list makes several of it.
    pub(super) fn single(&self) -> Option<Variant> {
        let mut all = self.variants();
        all.next().filter(|_| all.next().is_none())
    }

    /// All of them: by reads, then blocks, then depths, then data.
    pub(super) fn variants(&self) -> impl Iterator<Item = Variant> {
        self.read_percents.iter().flat_map(move |&read_percent| {
            self.blocks.iter().flat_map(move |&block_bytes| {
                self.depths.iter().flat_map(move |&queue_depth| {
                    self.data.iter().map(move |&data| Variant {
                        read_percent,
                        block_bytes,
                        queue_depth,
                        data,
                    })
                })
            })
        })
    }

    /// One of them on a target, with the random numbers of the figure it is measured for; without a
    /// figure those of the review.
    ///
    /// # Errors
    /// The line and what is wrong, where it does not fit this target.
    pub(super) fn on(
        &self,
        scope: &Scope,
        variant: Variant,
        figure: Option<&str>,
    ) -> Result<Job, (usize, String)> {
        let Variant { read_percent, block_bytes, queue_depth, data } = variant;
        let area = self.area.on(scope)?;
        let logical = scope.geometry.logical_block_bytes;
        if !block_bytes.is_multiple_of(logical) || u64::from(block_bytes) > area.bytes {
            let what = format!(
                "block = {block_bytes} bytes must be a multiple of its logical block of {logical} and \
                 no more than its span of {}",
                area.bytes
            );
            return Err((self.line, what));
        }
        let job = Job {
            pattern: self.pattern,
            read_percent,
            block_bytes,
            queue_depth,
            span_start_bytes: area.start_bytes,
            span_bytes: area.bytes,
            data,
            until: self.limit.on(scope, area.bytes),
            seed: scope.seed,
            fua: self.fua,
            flush: false,
            jobs: 1,
        };
        Ok(match self.random.as_deref().or(figure) {
            Some(name) => scope.seeded(name, job),
            None => job,
        })
    }
}

fn block(value: &DeValue<'_>) -> Result<u32, Expected> {
    let text = value.as_str();
    let bytes = text.and_then(bytes_of).or(number(value).map(|it| it as u64));
    let fits =
        bytes.filter(|it| it.is_multiple_of(512) && (512..=u64::from(MOST_BLOCK)).contains(it));
    fits.map(|it| it as u32)
        .ok_or_else(|| "a block of whole 512 bytes to 4 MiB, such as \"4 KiB\"".into())
}

fn data(value: &DeValue<'_>) -> Result<Data, Expected> {
    match (value.as_str(), number(value)) {
        (Some("repeating"), _) => Ok(Data::Repeating),
        (Some("incompressible"), _) => Ok(Data::Incompressible),
        (_, Some(percent)) if percent.fract() == 0.0 && (0.0..=100.0).contains(&percent) => {
            Ok(Data::Compressible(percent as u8))
        }
        _ => Err("\"incompressible\", \"repeating\", or 0 to 100 percent that compression removes"
            .into()),
    }
}
