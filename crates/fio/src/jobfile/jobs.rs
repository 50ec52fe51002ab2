//! From options to the jobs and streams of one target.

use std::sync::Arc;

use fourcorners_drive::Nanos;
use fourcorners_run::streams::{
    Access, BlockSizes, Direction, Flushes, Limits, LogSpec, MOST_ROWS, Pace, Plan, Rate, Recorded,
    Start, SteadySpec, Stream, Think,
};

use super::JobFile;
use super::depths;
use super::described::{Described, Placed};
use super::error::JobFileError;
use super::options::Options;
use super::place::{self, Span};
use super::verify;
use super::ways::Ways;

/// Most jobs at once; each has its histograms.
const MOST_JOBS: usize = 1024;
/// Most intervals of a window that is to be steady: all of them are looked at at the end of each. fio,
/// whose interval is a second, has some hundreds.
const MOST_INTERVALS: u64 = 100_000;
/// Most I/Os of all jobs in flight.
const MOST_DEPTH: u64 = 32_768;

/// How a job's latencies are to be told.
#[derive(Clone, PartialEq, Debug)]
pub struct Percentiles {
    /// Which, in per cent.
    pub list: Vec<f64>,
    /// As those of `clat`.
    pub completion: bool,
    /// As those of `lat`.
    pub total: bool,
}

/// The files of a job's logs, whole names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LogFiles {
    /// Bandwidth.
    pub bw: Option<String>,
    /// I/Os a second.
    pub iops: Option<String>,
    /// Latency.
    pub lat: Option<String>,
    /// Completion latency, the same here.
    pub clat: Option<String>,
    /// With the column of offsets.
    pub offsets: bool,
}

/// A job on a target: what a report needs beside its stream, which has the same place in the plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// Its reporting group.
    pub group: u32,
    /// Jobs that are reported as one have the same number; they follow one another.
    pub reported_as: usize,
    /// The options of its section, as written.
    pub options: Vec<(String, String)>,
    /// What `rw` says.
    pub rw: &'static str,
    /// The engine as named; the target takes its place.
    pub engine: String,
    /// How latencies are told.
    pub percentiles: Percentiles,
    /// Its logs.
    pub logs: LogFiles,
    /// What makes it steady, by its place in the plan.
    pub steady: Option<usize>,
    /// That, as written.
    pub steady_text: String,
    /// Whether a failed I/O does not end it.
    pub survives_errors: bool,
    /// Whether it is in the report; with `stats=0` it is run, and left out there.
    pub is_reported: bool,
}

/// The jobs of a file on one target.
#[derive(Clone, PartialEq, Debug)]
pub struct Jobs {
    /// In the file's order, copies one after the other.
    pub jobs: Vec<Job>,
    /// Their streams.
    pub plan: Plan,
    /// How the loop that runs them is to run itself.
    pub ways: Ways,
    /// What a user should know before it begins.
    pub warnings: Vec<String>,
}

impl Jobs {
    /// The name of the job at a place.
    pub fn name_of(&self, place: usize) -> &str {
        self.jobs.get(place).map_or("another job", |job| job.name.as_str())
    }
}

impl JobFile {
    /// The jobs whose `filename` `belongs` here, on a target.
    ///
    /// # Errors
    /// When a job cannot be done on such a target.
    pub fn on(
        &self,
        placed: Placed,
        belongs: impl Fn(Option<&str>) -> bool,
    ) -> Result<Jobs, JobFileError> {
        let mut building = Building { first_job: placed.first_job, ..Building::default() };
        for described in &self.jobs {
            if belongs(described.options.filename.as_deref()) {
                building.add(described, placed)?;
            }
        }
        if !placed.is_virtual {
            building.plan.verify = building.verify.of(&building.plan, placed)?;
        }
        Ok(building.finish())
    }
}

/// Jobs so far.
#[derive(Default)]
struct Building {
    first_job: usize,
    jobs: Vec<Job>,
    plan: Plan,
    group: u32,
    wave: u32,
    depth: u64,
    map_bytes: u64,
    reported: usize,
    group_reporting: bool,
    without_effect: Vec<String>,
    spans: place::Warnings,
    synchronous: depths::OneAtATime,
    verify: verify::Verifications,
    ways: Ways,
}

impl Building {
    fn add(&mut self, described: &Described, placed: Placed) -> Result<(), JobFileError> {
        let options = &described.options;
        let first = self.jobs.is_empty();
        if options.stonewall && !first {
            self.wave += 1;
        }
        if (options.stonewall || options.new_group) && !first {
            self.group += 1;
        }
        self.note(options, placed.is_virtual);
        self.synchronous.note(described);
        if !placed.is_virtual {
            verify::check(described)?;
            self.ways.join(described, first)?;
        }
        if self.jobs.len() + options.jobs as usize > MOST_JOBS {
            let what = format!("more than {MOST_JOBS} jobs in all");
            return Err(described.wrong(&["numjobs"], what));
        }
        let steady = options.steady;
        if steady.criterion.is_some() && steady.window.0 / steady.interval.0.max(1) > MOST_INTERVALS
        {
            let what = format!(
                "the window has more than {MOST_INTERVALS} intervals: make ss_interval longer or \
                 ss_dur shorter"
            );
            let keys =
                ["ss_dur", "steadystate_duration", "ss_interval", "steadystate_check_interval"];
            return Err(described.wrong(&keys, what));
        }
        if described.tapes.operations().is_some() {
            replayed(described)?;
        }
        searched(described)?;
        let after = self.after(described)?;
        for copy in 0..options.jobs {
            let span = place::span(described, placed.geometry, copy, &mut self.spans)?;
            let recorded = described
                .tapes
                .placed(copy, &options.replay, placed.geometry)
                .map_err(|why| described.wrong(&["read_iolog"], format!("read_iolog: {why}")))?;
            let stream = self.stream(described, placed, span, (after.clone(), recorded));
            self.depth += u64::from(stream.depth);
            if self.depth > MOST_DEPTH {
                let what = format!("more than {MOST_DEPTH} I/Os in flight in all jobs together");
                return Err(described.wrong(&["iodepth", "numjobs"], what));
            }
            self.map_bytes += stream.map_bytes();
            if self.map_bytes > place::MOST_MAP_BYTES {
                let what = "the maps of random blocks take more than 1 GiB: set norandommap=1 or \
                            a smaller size";
                return Err(described.wrong(&["bssplit", "bsrange", "size"], what));
            }
            self.verify.add(described, &stream);
            self.push(described, stream);
        }
        self.ways.check(described, &self.plan)
    }

    /// Which jobs have to end before this one begins.
    fn after(&self, described: &Described) -> Result<Vec<usize>, JobFileError> {
        let earlier = |place: &usize| self.plan.streams[*place].wave < self.wave;
        let mut after: Vec<usize> = (0..self.jobs.len()).filter(earlier).collect();
        if let Some(name) = &described.options.wait_for {
            let named: Vec<usize> =
                (0..self.jobs.len()).filter(|&place| self.jobs[place].name == *name).collect();
            if named.is_empty() {
                let what = format!("wait_for={name}: no job before this one has that name");
                return Err(described.wrong(&["wait_for"], what));
            }
            after.extend(named);
        }
        Ok(after)
    }

    fn stream(
        &self,
        described: &Described,
        placed: Placed,
        span: Span,
        (after, recorded): (Vec<usize>, Option<Arc<Recorded>>),
    ) -> Stream {
        let options = &described.options;
        let operations = described.operations();
        let random = options.rw.random;
        let covered = match &recorded {
            Some(recorded) => recorded.covers(),
            None => span.start_bytes..span.start_bytes + span.bytes,
        };
        let number = self.jobs.len() as u64;
        let seed = match (options.randseed, options.randrepeat || placed.is_virtual) {
            (Some(seed), _) => seed,
            (None, true) => FIXED_SEED,
            (None, false) => placed.seed,
        };
        // Without a time, `time_based` has no end: fio takes it as left out then.
        let by_time = options.time_based && options.runtime.is_some();
        let log = &options.logs;
        let logs = log.bw.is_some() || log.iops.is_some() || log.lat.is_some();
        let pace = |direction: Direction| {
            let blocks = &options.blocks[direction as usize];
            let rate = match (options.rates[direction as usize]?, blocks) {
                // With blocks of several sizes "the smallest block size is used as the metric" (HOWTO).
                (Rate::Ios(ios), BlockSizes::Range(..) | BlockSizes::Split(_))
                    if !options.poisson =>
                {
                    Rate::Bytes(ios.saturating_mul(u64::from(blocks.least())))
                }
                (rate, _) => rate,
            };
            Some(Pace { rate, poisson: options.poisson })
        };
        Stream {
            operations,
            blocks: options.blocks.clone(),
            access: Access {
                random_percent: if random { options.random_percent } else { [0; 3] },
                distribution: options.distribution(),
                once: options.covers_once() && recorded.is_none(),
                run: options.rw.run,
                identical: options.identical,
                step_bytes: options.rw.step_bytes,
                align_bytes: span.align_bytes,
                zones: span.zones,
            },
            span_start_bytes: covered.start,
            span_bytes: covered.end - covered.start,
            depth: if options.synchronous { 1 } else { options.depth },
            latency_target: options.latency_target(),
            limits: Limits {
                bytes: match (&recorded, options.io_size) {
                    (None, _) | (Some(_), Some(_)) if !by_time => span.amount_bytes,
                    _ => u64::MAX,
                },
                // fio counts them anew in each of its loops, and goes round while there is time.
                ios: match by_time {
                    true => u64::MAX,
                    false => {
                        let all = recorded.as_ref().map_or(u64::MAX, |all| all.ios.len() as u64);
                        let ios = options.ios.map_or(all, |ios| ios.min(all));
                        ios.saturating_mul(options.loops)
                    }
                },
                time: options.runtime.unwrap_or(Nanos::MAX),
            },
            start: Start { delay: options.delay, after },
            ramp: options.ramp,
            pace: Direction::ALL.map(pace),
            think: (options.think > Nanos::ZERO)
                .then_some(Think { pause: options.think, every: options.think_every }),
            flushes: Flushes { every: options.flush_every, at_end: options.flush_at_end },
            fua: options.fua,
            compressible_percent: options.compressible_percent(),
            seed: seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            survives_errors: options.survives_errors,
            group: self.group,
            wave: self.wave,
            takes_along: options.exitall.then_some(options.exit_what),
            flow: options.flow.map(|weight| (options.flow_id, weight)),
            log: logs.then_some(LogSpec {
                window: options.log_window,
                longest: options.log_longest,
                most_rows: MOST_ROWS,
            }),
            recorded,
        }
    }

    fn push(&mut self, described: &Described, stream: Stream) {
        let options = &described.options;
        let place = self.jobs.len();
        // Reported as one with the one before: both say so, and the group is the same.
        let joins = options.group_reporting
            && self.group_reporting
            && self.jobs.last().is_some_and(|last| last.group == self.group);
        if place > 0 && !joins {
            self.reported += 1;
        }
        self.group_reporting = options.group_reporting;
        let steady = options.steady.criterion.map(|criterion| {
            let joined = self.jobs.last().filter(|_| joins).and_then(|last| last.steady);
            match joined {
                Some(steady) => {
                    self.plan.steady[steady].members.push(place);
                    steady
                }
                None => {
                    self.plan.steady.push(SteadySpec {
                        members: vec![place],
                        criterion,
                        window: options.steady.window.max(Nanos::from_secs(1)),
                        ramp: options.steady.ramp,
                        interval: options.steady.interval,
                    });
                    self.plan.steady.len() - 1
                }
            }
        });
        let steady_text = ["ss", "steadystate"].iter().find_map(|key| {
            let given = described.settings.iter().rfind(|setting| setting.key == *key)?;
            given.value.clone()
        });
        let number = self.first_job + place + 1;
        let file = |name: &Option<String>, kind: &str| {
            let name = name.as_deref()?;
            let name = if name.is_empty() { &described.name } else { name };
            Some(match options.log_per_job {
                true => format!("{name}_{kind}.{number}.log"),
                false => format!("{name}_{kind}.log"),
            })
        };
        self.jobs.push(Job {
            name: described.name.clone(),
            group: self.group,
            reported_as: self.reported,
            options: described.own.clone(),
            rw: options.rw.name,
            engine: options.engine.clone(),
            percentiles: Percentiles {
                list: options.percentiles.clone(),
                completion: options.completion_percentiles,
                total: options.total_percentiles,
            },
            logs: LogFiles {
                bw: file(&options.logs.bw, "bw"),
                iops: file(&options.logs.iops, "iops"),
                lat: file(&options.logs.lat, "lat"),
                clat: file(&options.logs.lat, "clat"),
                offsets: options.log_offset,
            },
            steady,
            steady_text: steady_text.unwrap_or_default(),
            survives_errors: options.survives_errors,
            is_reported: options.stats,
        });
        self.plan.streams.push(stream);
    }

    /// Remembers what has no effect.
    fn note(&mut self, options: &Options, is_virtual: bool) {
        let mut names = options.without_effect.clone();
        if is_virtual && !options.ways.cpus.is_empty() {
            names.push("cpus_allowed (a virtual drive is no faster or slower for it)".into());
        }
        if options.lets_the_queue_run_down() {
            names.push("iodepth_low".into());
        }
        if options.buffered {
            names.push("direct=0".into());
        }
        if let (Some(kind), true) = (options.verify.kind, is_virtual) {
            names.push(format!("verify={} (a virtual drive keeps no data)", kind.name()));
        }
        if options.dedupe_percent > 0 && !is_virtual {
            names.push("dedupe_percentage (made compressible instead)".into());
        }
        for name in names {
            if !self.without_effect.contains(&name) {
                self.without_effect.push(name);
            }
        }
    }

    fn finish(mut self) -> Jobs {
        // However many jobs log, together they keep no more.
        let mut logs: Vec<&mut LogSpec> =
            self.plan.streams.iter_mut().filter_map(|stream| stream.log.as_mut()).collect();
        let each = MOST_ROWS / logs.len().max(1);
        logs.iter_mut().for_each(|log| log.most_rows = each);
        let mut warnings = Vec::new();
        if !self.without_effect.is_empty() {
            warnings.push(format!("without effect here: {}", self.without_effect.join(", ")));
        }
        warnings.extend(self.synchronous.into_sentences());
        warnings.extend(self.spans.into_sentences());
        Jobs { jobs: self.jobs, plan: self.plan, ways: self.ways, warnings }
    }
}

/// Refuses what a recording cannot be asked for.
fn replayed(described: &Described) -> Result<(), JobFileError> {
    let options = &described.options;
    if options.rates.iter().any(Option::is_some) {
        let what = "a recording has its own times: leave rate and rate_iops out, and set \
                    replay_time_scale";
        return Err(described.wrong(&["rate", "rate_iops"], what));
    }
    if options.verify.kind.is_some() {
        let what = "what a recording writes cannot be verified: leave verify out";
        return Err(described.wrong(&["verify"], what));
    }
    Ok(())
}

/// Refuses a search for a queue depth together with what it cannot be done with.
fn searched(described: &Described) -> Result<(), JobFileError> {
    let options = &described.options;
    let Some(target) = options.latency_target() else { return Ok(()) };
    let paced = options.rates.iter().any(Option::is_some) || !options.replay.paths.is_empty();
    if paced {
        let what = "latency_target searches the queue depth, and a job with times of its own has a \
                    backlog instead: leave rate, rate_iops and read_iolog out";
        return Err(described.wrong(&["rate", "rate_iops", "read_iolog"], what));
    }
    if options.steady.criterion.is_some() {
        let what = "latency_target and steadystate both end the job: leave one of them out";
        return Err(described.wrong(&["latency_target"], what));
    }
    if target.window < target.latency {
        let of_many = "give a window of many I/Os, such as latency_window=1s";
        let what = match target.window {
            Nanos::ZERO => format!(
                "latency_window is missing, in which latency_target is to be met: {of_many}"
            ),
            window => format!(
                "a latency_window of {window} is shorter than a latency_target of {}: what is in \
                 time takes longer to be seen; {of_many}",
                target.latency
            ),
        };
        return Err(described.wrong(&["latency_window", "latency_target"], what));
    }
    Ok(())
}

/// Where random numbers begin unless a job says something else. Any number would do.
const FIXED_SEED: u64 = 0x4f43_5346_494f_0001;
