//! A job's options, typed.

use fourcorners_drive::Nanos;
use fourcorners_run::streams::{
    BlockSizes, Criterion, Direction, Distribution, LatencyTarget, Operations, Rate, TakesAlong,
};
use fourcorners_run::verify::Kind;

use super::iolog::Replay;
use super::units::Size;
use super::values::{self, Rw};
use super::ways::Ways;

/// The percentiles that fio shows unless told otherwise.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// When a job is steady.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct SteadyState {
    pub(super) criterion: Option<Criterion>,
    pub(super) window: Nanos,
    pub(super) ramp: Nanos,
    pub(super) interval: Nanos,
}

/// Names of logs, without their endings. An empty one means that of the job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct LogNames {
    pub(super) bw: Option<String>,
    pub(super) iops: Option<String>,
    pub(super) lat: Option<String>,
}

/// What the queue depth is to meet; nothing without a target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Latency {
    pub(super) target: Nanos,
    pub(super) window: Nanos,
    pub(super) percent: f64,
    pub(super) goes_on: bool,
}

impl Default for Latency {
    fn default() -> Latency {
        Latency { target: Nanos::ZERO, window: Nanos::ZERO, percent: 100.0, goes_on: false }
    }
}

/// What is verified, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Verify {
    pub(super) kind: Option<Kind>,
    /// Read back what was written.
    pub(super) after: bool,
    pub(super) only: bool,
    pub(super) fatal: bool,
    /// Length of a block, if not that of the I/Os.
    pub(super) block_bytes: Option<u32>,
}

impl Default for Verify {
    fn default() -> Verify {
        Verify { kind: None, after: true, only: false, fatal: false, block_bytes: None }
    }
}

/// What a job file says of a job, with fio's defaults for the rest.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Options {
    pub(super) kb_base: u64,
    pub(super) name: Option<String>,
    pub(super) filename: Option<String>,
    /// Whether that names more than one file.
    pub(super) several_files: bool,
    pub(super) engine: String,
    pub(super) synchronous: bool,
    pub(super) rw: Rw,
    pub(super) identical: bool,
    pub(super) blocks: [BlockSizes; 3],
    pub(super) align_bytes: [Option<u32>; 3],
    pub(super) read_percent: u8,
    pub(super) random_percent: [u8; 3],
    pub(super) distribution: Distribution,
    pub(super) sequence_strides: bool,
    pub(super) latency: Latency,
    pub(super) no_map: bool,
    pub(super) randrepeat: bool,
    pub(super) randseed: Option<u64>,
    pub(super) size: Option<Size>,
    pub(super) io_size: Option<Size>,
    pub(super) offset: Size,
    pub(super) offset_increment: Size,
    pub(super) offset_align: u64,
    pub(super) ios: Option<u64>,
    pub(super) depth: u32,
    /// Below how many I/Os in flight fio fills the queue again; 0 is below `depth`.
    pub(super) depth_low: u64,
    pub(super) jobs: u32,
    pub(super) loops: u64,
    pub(super) runtime: Option<Nanos>,
    pub(super) time_based: bool,
    pub(super) ramp: Nanos,
    pub(super) delay: Nanos,
    pub(super) stonewall: bool,
    pub(super) new_group: bool,
    pub(super) wait_for: Option<String>,
    pub(super) exitall: bool,
    pub(super) exit_what: TakesAlong,
    pub(super) rates: [Option<Rate>; 3],
    pub(super) poisson: bool,
    pub(super) think: Nanos,
    pub(super) think_every: u64,
    pub(super) flush_every: u64,
    pub(super) flush_at_end: bool,
    pub(super) fua: bool,
    pub(super) zero_buffers: bool,
    pub(super) pattern: bool,
    pub(super) compress_percent: u8,
    pub(super) dedupe_percent: u8,
    pub(super) buffered: bool,
    pub(super) verify: Verify,
    pub(super) ways: Ways,
    pub(super) replay: Replay,
    pub(super) group_reporting: bool,
    /// Whether it is in the report.
    pub(super) stats: bool,
    pub(super) percentiles: Vec<f64>,
    pub(super) completion_percentiles: bool,
    pub(super) total_percentiles: bool,
    pub(super) logs: LogNames,
    pub(super) log_window: Nanos,
    pub(super) log_longest: bool,
    pub(super) log_offset: bool,
    pub(super) log_per_job: bool,
    pub(super) steady: SteadyState,
    pub(super) survives_errors: bool,
    pub(super) flow: Option<u32>,
    pub(super) flow_id: u32,
    pub(super) strided: bool,
    pub(super) zone_bytes: u64,
    pub(super) zone_range_bytes: u64,
    pub(super) zone_skip_bytes: u64,
    /// Options that have no effect, as they were named.
    pub(super) without_effect: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            kb_base: 1024,
            name: None,
            filename: None,
            several_files: false,
            engine: "psync".into(),
            synchronous: true,
            rw: values::rw("read").expect("it is one of fio's"),
            identical: false,
            blocks: [const { BlockSizes::One(4096) }; 3],
            align_bytes: [None; 3],
            read_percent: 50,
            random_percent: [100; 3],
            distribution: Distribution::Uniform,
            sequence_strides: false,
            latency: Latency::default(),
            no_map: false,
            randrepeat: true,
            randseed: None,
            size: None,
            io_size: None,
            offset: Size::Bytes(0),
            offset_increment: Size::Bytes(0),
            offset_align: 0,
            ios: None,
            depth: 1,
            depth_low: 0,
            jobs: 1,
            loops: 1,
            runtime: None,
            time_based: false,
            ramp: Nanos::ZERO,
            delay: Nanos::ZERO,
            stonewall: false,
            new_group: false,
            wait_for: None,
            exitall: false,
            exit_what: TakesAlong::Group,
            rates: [None; 3],
            poisson: false,
            think: Nanos::ZERO,
            think_every: 1,
            flush_every: 0,
            flush_at_end: false,
            fua: false,
            zero_buffers: false,
            pattern: false,
            compress_percent: 0,
            dedupe_percent: 0,
            buffered: false,
            verify: Verify::default(),
            ways: Ways::default(),
            replay: Replay::default(),
            group_reporting: false,
            stats: true,
            percentiles: PERCENTILES.to_vec(),
            completion_percentiles: true,
            total_percentiles: false,
            logs: LogNames::default(),
            log_window: Nanos::ZERO,
            log_longest: false,
            log_offset: false,
            log_per_job: true,
            steady: SteadyState {
                criterion: None,
                window: Nanos::ZERO,
                ramp: Nanos::ZERO,
                interval: Nanos::from_secs(1),
            },
            survives_errors: false,
            flow: None,
            flow_id: 0,
            strided: false,
            zone_bytes: 0,
            zone_range_bytes: 0,
            zone_skip_bytes: 0,
            without_effect: Vec::new(),
        }
    }
}

impl Options {
    /// The operations, with the share of reads where they are mixed.
    pub(super) fn operations(&self) -> Operations {
        match self.rw.operations {
            Operations::Mixed { .. } => match self.read_percent {
                0 => Operations::Only(Direction::Write),
                100 => Operations::Only(Direction::Read),
                read_percent => Operations::Mixed { read_percent },
            },
            other => other,
        }
    }

    /// Where random I/Os go.
    pub(super) fn distribution(&self) -> Distribution {
        match &self.distribution {
            Distribution::Sequence { blocks, .. } => {
                Distribution::Sequence { blocks: blocks.clone(), strides: self.sequence_strides }
            }
            other => other.clone(),
        }
    }

    /// What the queue depth is to meet.
    pub(super) fn latency_target(&self) -> Option<LatencyTarget> {
        let Latency { target, window, percent, goes_on } = self.latency;
        let target = LatencyTarget { latency: target, window, percent, goes_on };
        (target.latency > Nanos::ZERO).then_some(target)
    }

    /// Whether fio would let the queue run down before it fills it again, as we never do.
    pub(super) fn lets_the_queue_run_down(&self) -> bool {
        !self.synchronous && (1..u64::from(self.depth)).contains(&self.depth_low)
    }

    /// Whether random I/Os cover every block before any again. As in fio not with `blockalign`,
    /// with which blocks may overlap.
    pub(super) fn covers_once(&self) -> bool {
        !self.no_map && self.align_bytes.iter().all(Option::is_none)
    }

    /// How much of what is written compression and deduplication would remove together.
    pub(super) fn compressible_percent(&self) -> u8 {
        if self.zero_buffers || self.pattern {
            return 100;
        }
        let left = |percent: u8| u32::from(100 - percent.min(100));
        (100 - left(self.compress_percent) * left(self.dedupe_percent) / 100) as u8
    }
}
