//! What an entry asks: the state of the drive, what is run on it and which of its kind's rules hold.
//!
//! The lengths follow from what is to be told: a run ends when it has [`TAIL_IOS`] I/Os of the probe, 100 for each
//! beyond the 99.99th percentile, but not later than the entry's own test, nor after [`MOST_IOS`] I/Os of 4 KiB
//! of all streams at the rates that were published. A variation from one half-second to the next takes [`HALF_SECONDS`] of
//! them, however many I/Os those are. A percentile is compared where ten I/Os or more lie beyond it.

mod act;
#[cfg(test)]
mod tests;
mod used;
mod without_flash;
mod written;

use fourcorners_drive::Nanos;
use fourcorners_drive::config::LinkSection;
use fourcorners_run::streams::{
    Access, BlockSizes, Direction, Distribution, Flushes, Limits, Operations, Pace, Rate, Start,
    Stream, TakesAlong,
};

use super::entry::{Amount, Background, Entry};
use super::host::{Host, link_of_the_last};
pub(super) use used::Used;
pub(super) use without_flash::SHARE_WITHOUT_FLASH;
use without_flash::filled;

/// 100 / (1 - 0.9999).
const TAIL_IOS: f64 = 1e6;
/// A percentile of one in ten thousand of a stream that is a small part of all has some dozens beyond it then.
const MOST_IOS: f64 = 6e6;
/// Half-seconds that a variation per 500 ms is of, at least.
const HALF_SECONDS: f64 = 30.0;
/// What is done for so long before measuring: queues fill.
const RAMP: Nanos = Nanos(200_000_000);
/// The same beside writers, whose first writes meet an idle drive.
const RAMP_BESIDE_WRITERS: Nanos = Nanos(2_000_000_000);
/// The same beside runs of fio that draw the same numbers. What one writes, the others write again soon, so that collection
/// finds blocks with little in them, but not before those are full: 10 s at 60 MB/s. The source lets 600 s pass.
const RAMP_BESIDE_ALIKE_WRITERS: Nanos = Nanos(20_000_000_000);
/// Drive sizes of the background's own writes before reads beside it are measured, where the source says that the drives
/// had been in use for hours.
const USED_DRIVE_WRITES: u32 = 1;
/// Between the beginnings of two runs of fio that a script begins one after the other, which is assumed: without any,
/// runs that draw the same numbers would ask the same dies at once for as long as they are equally fast.
const RUNS_APART: Nanos = Nanos(20_000_000);
/// The depth of a tool that does not say it: that of the others of its kind.
const USUAL_DEPTH: u64 = 128;
/// I/Os a second of the probe of `paced-writes-steady`, half of them reads.
const PROBE_IOPS: u64 = 10_000;
/// Threads beside it.
const LOAD_THREADS: u64 = 6;
/// Of the probe's I/Os so many are measured in `paced-writes-steady`, where there are 42 tests: 15 reads beyond the 99.99th
/// percentile.
const PROBE_SECONDS: u64 = 30;

/// What a drive is before it is measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum State {
    /// As it left the factory.
    Empty,
    /// Written once in order.
    Filled,
    /// Filled but for the end of the drive: reads there touch no flash.
    FilledInPart {
        /// What is written, in parts of 10,000.
        parts: u32,
    },
    /// Filled, then written at random.
    Written {
        /// Bytes of a write.
        block_bytes: u32,
        /// How many times the drive's size.
        drive_writes: u32,
    },
}

/// What an entry asks of a drive.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Question {
    pub(super) state: State,
    pub(super) host: Host,
    /// Drives of the model behind one loop.
    pub(super) drives: usize,
    /// The part of each drive that is written and tested.
    pub(super) used: Used,
    /// The link of the last of them, if that is slower than what the drive can have.
    pub(super) link_of_the_last: Option<LinkSection>,
    pub(super) work: Work,
    /// Microseconds before submission that the source leaves out of its latencies.
    pub(super) excluded_us: f64,
    /// What has to be known of the comparison.
    pub(super) notes: Vec<String>,
    /// The entry that this one is compared to as a ratio.
    pub(super) base: Option<String>,
    /// Whether it measures more than the drive, a file system or a depth that is not told: nothing is asked of it.
    pub(super) reported: bool,
}

/// What is run.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Work {
    /// Streams at once.
    Streams(Streams),
    /// Writes for hours.
    Writes(Writes),
    /// The six runs of iocost.
    Rates,
}

/// Streams at once; the first ones are what is measured.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Streams {
    pub(super) streams: Vec<StreamSpec>,
    /// How many of them are the probe.
    pub(super) probes: usize,
    pub(super) seconds: f64,
    pub(super) ramp: Nanos,
    /// By direction: `read.p99`, and the rates of all streams.
    pub(super) by_direction: bool,
    /// Whether each is a run of fio of its own: all draw the same numbers, as fio does unless it is told otherwise
    /// (`randrepeat`), and begin with the same drive.
    pub(super) alike: bool,
}

/// One of them. Spans are whole drives unless a part is given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct StreamSpec {
    pub(super) read_percent: u8,
    /// In order, instead of at random.
    pub(super) sequential: bool,
    pub(super) block_bytes: u32,
    pub(super) depth: u32,
    /// I/Os a second, and whether they come at random times.
    pub(super) pace: Option<(u64, bool)>,
    /// When the first is due after the beginning.
    pub(super) delay: Nanos,
    pub(super) span_bytes: Option<u64>,
}

/// Writes for hours, of a part of the drive or all of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Writes {
    pub(super) sequential: bool,
    pub(super) block_bytes: u32,
    /// I/Os in flight in all.
    pub(super) depth: u32,
    /// Bytes from the start, before scaling; `None` for the whole drive.
    pub(super) span_bytes: Option<u64>,
    /// Whether the span is written once in order before.
    pub(super) filled: bool,
    /// What is written, as a multiple of the span.
    pub(super) spans: f64,
    /// Whether some minutes of the steady state are measured after that.
    pub(super) steady: bool,
}

impl Question {
    /// What `entry` asks; `entries` are those that it may be relative to.
    ///
    /// # Errors
    /// Why it cannot be asked, in a few words.
    pub(super) fn of(entry: &Entry, entries: &[Entry]) -> Result<Question, String> {
        let test = &entry.test;
        let mut question = Question::begun(entry)?;
        match entry.kind.as_str() {
            "randread-qd"
            | "randread-qd-spdk"
            | "randread-repeat"
            | "randread-jobs-qd128"
            | "randread-jobs-qd128-spdk"
            | "host-limit"
            | "optane-qd1" => {
                question.work = closed(entry, None)?;
            }
            "randread-qd1-other" => {
                if entry.test.drives.as_ref().is_some_and(|drives| drives.number().is_none()) {
                    return Err(
                        "drives that are striped by a file system or a volume manager".into()
                    );
                }
                question.work = closed(entry, None)?;
            }
            "randread-bs" | "randread-jobs-qd1" => {
                let is_base = |other: &&Entry| {
                    let (base, same) = (&other.test, other.kind == entry.kind);
                    let jobs = base.jobs.unwrap_or(1)
                        == if entry.kind == "randread-bs" { test.jobs.unwrap_or(1) } else { 1 };
                    same && other.drive == entry.drive
                        && base.block_size == Some(4096)
                        && base.queue_depth == test.queue_depth
                        && jobs
                };
                let base = entries.iter().find(is_base);
                let base =
                    base.ok_or("for ratios only, and the file has nothing to relate it to")?;
                if base.id == entry.id {
                    return Err(
                        "for ratios only, by the file's own words: the others of its kind are held to this one"
                            .into(),
                    );
                }
                question.notes.push(format!(
                    "another state of the drive, so only the ratio to {} is compared: simulated is that \
                     entry's published number times the simulated ratio; variation is compared as it is",
                    base.id
                ));
                question.base = Some(base.id.clone());
                question.work = closed(entry, None)?;
            }
            "read-beside-readers" | "read-beside-writers" => {
                let background = test.background.as_ref();
                let writes = entry.kind == "read-beside-writers";
                // Beside reads, too, at random, and by 8 KiB: the seven fast drives answer reads of 64 KiB after 180 to 340 us
                // with 29,000 a second of each in work, which would be a tenth of their dies' time if each lay in order on
                // one die, and half of it where each 8 KiB are two reads of a die of their own (980pro-x8-fig11b-n1). So it
                // lies in order in a drive that gives each die so much in turn, which no drive does here.
                let block_bytes = match background.filter(|_| writes) {
                    Some(background) => block_bytes(background)?,
                    None => 8192,
                };
                question.state = State::Written { block_bytes, drive_writes: USED_DRIVE_WRITES };
                question.work = closed(entry, background)?;
            }
            "text-qd128-threads" => {
                question.work = closed(entry, None)?;
                if test.pattern.contains("write") {
                    question.reported = true;
                    question
                        .notes
                        .push("written through a file system: reported, never fitted to".into());
                }
            }
            "repeat5" => {
                question.work = closed(entry, None)?;
                question.reported = true;
                question.notes.push(format!(
                    "reported, never fitted to: the depth is not told, and {USUAL_DEPTH} for each thread is taken"
                ));
            }
            "iocost-rates" => {
                question.reported = true;
                question.notes.push("through a file system: reported, never fitted to".into());
            }
            "act-tail" => {
                (question.state, question.work) = act::act(entry)?;
                question.used = Used::of(entry);
            }
            "paced-writes-steady" => {
                question.state = State::Written { block_bytes: 4096, drive_writes: 3 };
                question.work = paced(entry)?;
            }
            "write-fresh-to-steady"
            | "write-series"
            | "write-series-by-fill"
            | "seqwrite"
            | "seqwrite-series" => {
                question.state = State::Empty;
                question.work = written::writes(entry)?;
                question.notes.extend(written::inferred(entry));
            }
            other => return Err(format!("no test of the kind \"{other}\" is known")),
        }
        Ok(question)
    }

    /// The test of an entry that others are relative to, as theirs are run.
    pub(super) fn of_base(entry: &Entry) -> Option<Question> {
        let work = closed(entry, None).ok()?;
        Some(Question { work, ..Question::begun(entry).ok()? })
    }

    /// What entries of all kinds ask, before their kind says more.
    fn begun(entry: &Entry) -> Result<Question, String> {
        let drives = drives(entry)?;
        Ok(Question {
            state: filled(entry),
            host: Host::of(entry),
            drives,
            used: Used::default(),
            link_of_the_last: link_of_the_last(entry, drives),
            work: Work::Rates,
            excluded_us: entry.number("slat_mean_us").unwrap_or(0.0),
            notes: Vec::new(),
            base: None,
            reported: false,
        })
    }
}

fn drives(entry: &Entry) -> Result<usize, String> {
    match &entry.test.drives {
        None => Ok(1),
        // Striped ones are one drive to whoever asks, which its kind decides on.
        Some(Amount::Other(_)) => Ok(1),
        Some(Amount::Number(number)) => {
            usize::try_from(*number).map_err(|_| format!("{number} drives are too many"))
        }
    }
}

/// Bytes of `4k`, `64k`, `512`.
fn block_bytes(background: &Background) -> Result<u32, String> {
    let text = background.block_size.to_lowercase();
    let (number, factor) = match text.strip_suffix('k') {
        Some(number) => (number, 1024),
        None => (text.as_str(), 1),
    };
    let bytes = number.parse::<u32>().ok().and_then(|number| number.checked_mul(factor));
    bytes
        .filter(|&bytes| bytes > 0 && bytes.is_multiple_of(512) && bytes <= 1 << 24)
        .ok_or_else(|| format!("\"{text}\" is no size of the background's I/Os"))
}

fn block_of(entry: &Entry) -> Result<u32, String> {
    let bytes = entry.test.block_size.ok_or("the size of its I/Os is not told")?;
    u32::try_from(bytes).map_err(|_| format!("I/Os of {bytes} bytes are too large"))
}

/// Jobs that each keep so many I/Os in flight, beside others.
fn closed(entry: &Entry, background: Option<&Background>) -> Result<Work, String> {
    let test = &entry.test;
    let jobs = test.jobs.or(test.threads).unwrap_or(1);
    let depth = match &test.queue_depth {
        None => USUAL_DEPTH,
        Some(depth) => depth.number().ok_or("its queue depth is not told")?,
    };
    let read_percent = match (test.rwmix_read, test.pattern.contains("write")) {
        (Some(percent), _) => percent.round() as u8,
        (None, true) => 0,
        (None, false) => 100,
    };
    let block_bytes = block_of(entry)?;
    let own = StreamSpec {
        read_percent,
        sequential: !test.pattern.contains("rand"),
        block_bytes,
        depth: depth as u32,
        pace: None,
        delay: Nanos::ZERO,
        span_bytes: span_bytes(&test.span),
    };
    let mut streams = vec![own; jobs as usize];
    let units = |block_bytes: u32| f64::from(block_bytes.div_ceil(4096));
    let own_iops = entry.number("iops").filter(|&iops| iops > 0.0);
    let own_iops =
        own_iops.ok_or("its rate is not told, from which the length of the run follows")?;
    let mut units_per_s = own_iops * units(block_bytes);
    let mut ramp = RAMP;
    if let Some(background) = background {
        let block_bytes = self::block_bytes(background)?;
        let read_percent = if background.rw.contains("write") { 0 } else { 100 };
        if read_percent == 0 {
            ramp = RAMP_BESIDE_ALIKE_WRITERS;
        }
        let depth = background.queue_depth_each as u32;
        let sequential = !background.rw.contains("rand");
        let beside =
            StreamSpec { read_percent, sequential, block_bytes, depth, span_bytes: None, ..own };
        streams.extend(vec![beside; background.programs as usize]);
        // The background is begun first, and what is measured last.
        let last = background.programs as usize;
        for (number, stream) in streams.iter_mut().enumerate() {
            let place = number.checked_sub(1).unwrap_or(last);
            stream.delay = Nanos(RUNS_APART.0 * place as u64);
        }
        units_per_s += background.total_iops * units(block_bytes);
    }
    let enough = TAIL_IOS / own_iops;
    let varied = entry.number("iops_cv_500ms").map_or(0.0, |_| HALF_SECONDS / 2.0);
    let longest = test.duration_s.unwrap_or(120.0).max(1.0);
    let seconds = enough.min(MOST_IOS / units_per_s).max(varied).clamp(0.5, longest);
    let probes = jobs as usize;
    let alike = background.is_some();
    Ok(Work::Streams(Streams { streams, probes, seconds, ramp, by_direction: false, alike }))
}

/// A probe at a constant pace, half reads and half writes, beside threads whose I/Os come at random times.
fn paced(entry: &Entry) -> Result<Work, String> {
    let test = &entry.test;
    let offered = test.offered_write_iops.ok_or("the offered writes are not told")?;
    let depth = test.queue_depth_max.ok_or("the threads' most I/Os in flight are not told")? as u32;
    let block_bytes = block_of(entry)?;
    let half = PROBE_IOPS / 2;
    let probe = StreamSpec {
        read_percent: 100,
        sequential: false,
        block_bytes,
        depth,
        pace: Some((half, false)),
        delay: Nanos::ZERO,
        span_bytes: None,
    };
    // Between two reads.
    let writes = StreamSpec { read_percent: 0, delay: Nanos(1_000_000_000 / PROBE_IOPS), ..probe };
    let load_writes = (offered - half as f64).max(0.0);
    let random = |iops: f64| Some(((iops.round() as u64).max(1), true));
    let load =
        StreamSpec { read_percent: 0, pace: random(load_writes / LOAD_THREADS as f64), ..probe };
    let load_reads = StreamSpec { read_percent: 100, pace: random(load_writes / 99.0), ..probe };
    let mut streams = vec![probe, writes, load_reads];
    streams.extend(vec![load; LOAD_THREADS as usize]);
    let longest = test.duration_s.unwrap_or(PROBE_SECONDS as f64);
    Ok(Work::Streams(Streams {
        streams,
        probes: 2,
        seconds: (PROBE_SECONDS as f64).min(longest),
        ramp: RAMP_BESIDE_WRITERS,
        by_direction: true,
        alike: false,
    }))
}

/// Bytes of `372 GiB of the drive` or `file of 10G`; `None` for the whole drive.
fn span_bytes(span: &str) -> Option<u64> {
    if span.contains("whole drive") {
        return None;
    }
    let words: Vec<&str> = span.split_whitespace().collect();
    let gib =
        |number: f64| (number > 0.0 && number < 1e6).then_some((number * 1073741824.0) as u64);
    let pair = words.windows(2).find_map(|pair| {
        let number = pair[0].parse::<f64>().ok()?;
        match pair[1] {
            "GiB" => gib(number),
            "MB" => gib(number * 1e6 / 1073741824.0),
            _ => None,
        }
    });
    let glued = || words.iter().find_map(|word| gib(word.strip_suffix('G')?.parse().ok()?));
    pair.or_else(glued)
}

impl StreamSpec {
    /// As the loop takes it; `most_bytes` is the drive's size.
    pub(super) fn stream(&self, number: usize, streams: &Streams, most_bytes: u64) -> Stream {
        let block = u64::from(self.block_bytes);
        let probe = number < streams.probes;
        let rate = |reads: bool| {
            let (iops, poisson) = self.pace.filter(|_| (self.read_percent == 100) == reads)?;
            Some(Pace { rate: Rate::Ios(iops), poisson })
        };
        let time = Nanos((streams.seconds * 1e9) as u64);
        Stream {
            operations: match self.read_percent {
                100 => Operations::Only(Direction::Read),
                0 => Operations::Only(Direction::Write),
                read_percent => Operations::Mixed { read_percent },
            },
            blocks: std::array::from_fn(|_| BlockSizes::One(self.block_bytes)),
            access: Access {
                random_percent: [if self.sequential { 0 } else { 100 }; 3],
                distribution: Distribution::Uniform,
                once: false,
                run: 1,
                identical: false,
                step_bytes: 0,
                align_bytes: [self.block_bytes; 3],
                zones: None,
            },
            span_start_bytes: 0,
            span_bytes: self
                .span_bytes
                .unwrap_or(u64::MAX)
                .clamp(block, most_bytes / block * block),
            depth: self.depth,
            limits: Limits {
                bytes: u64::MAX,
                ios: u64::MAX,
                time: if probe { time } else { Nanos::MAX },
            },
            start: Start { delay: self.delay, after: Vec::new() },
            ramp: streams.ramp,
            pace: [rate(true), rate(false), None],
            think: None,
            flushes: Flushes::default(),
            fua: false,
            compressible_percent: 0,
            seed: if streams.alike { 1 } else { 1 + number as u64 },
            survives_errors: false,
            group: 0,
            wave: 0,
            takes_along: probe.then_some(TakesAlong::All),
            flow: None,
            log: None,
            latency_target: None,
            recorded: None,
        }
    }
}
