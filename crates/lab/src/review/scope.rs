//! The scope of a plan (target, quick, spare, seed), and the jobs that all plans share.

use fourcorners_drive::Geometry;
use fourcorners_record::{Data, Job, Pattern, Until};

use super::Phase;

/// Bytes of a block in the random tests and in the sequential ones.
pub(super) const RANDOM_BLOCK: u32 = 4096;
pub(super) const SEQUENTIAL_BLOCK: u32 = 131_072;

/// Most of a target that may be asked to be left as spare area, percent.
pub const MOST_SPARE_PERCENT: f64 = 90.0;

/// What a plan is made for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scope {
    /// The target.
    pub geometry: Geometry,
    /// Percent of the target's space, at its end, that is never touched.
    pub spare_percent: f64,
    /// Seconds instead of minutes, and no used state.
    pub quick: bool,
    /// Seed of the review.
    pub seed: u64,
    /// What kind of target it is.
    pub medium: Medium,
    /// Most I/Os of each trace of the storage bench; `None` for what the method has.
    pub most_ios: Option<u64>,
}

/// What a plan has to know of the kind of its target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Medium {
    /// A virtual SSD.
    Ssd,
    /// A virtual hard disk.
    HardDisk,
    /// A block device.
    Device,
    /// A file.
    File,
}

impl Scope {
    /// All of a target in full, with seed 1 and as many I/Os as each method has.
    pub fn whole_of(geometry: Geometry, medium: Medium) -> Scope {
        Scope { geometry, spare_percent: 0.0, quick: false, seed: 1, medium, most_ios: None }
    }

    /// Bytes a job may touch, from the start: the target less its spare area, in whole 128 KiB.
    pub fn usable_bytes(&self) -> u64 {
        let usable = self.geometry.bytes() as f64 * (1.0 - self.spare_percent / 100.0);
        whole_blocks(usable as u64)
    }

    /// The span of `wanted` bytes at the start of the target, or as much of it as there is.
    pub fn span(&self, wanted: u64) -> u64 {
        whole_blocks(wanted.min(self.usable_bytes()))
    }

    /// `full`, or `quick` where time is short.
    pub(super) fn either<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// All that may be touched; what a quick review fills in a few seconds.
    pub(super) fn whole(&self) -> u64 {
        const QUICK_BYTES: u64 = 8_000_000_000;
        self.either(self.usable_bytes(), self.span(QUICK_BYTES))
    }

    /// A 4 KiB random job.
    pub(super) fn random(
        &self,
        read_percent: u8,
        queue_depth: u32,
        span_bytes: u64,
        seconds: u64,
    ) -> Job {
        Job {
            pattern: Pattern::Random,
            read_percent,
            block_bytes: RANDOM_BLOCK,
            queue_depth,
            span_start_bytes: 0,
            span_bytes,
            data: Data::Incompressible,
            until: Until::Seconds(seconds),
            seed: self.seed,
            fua: false,
            flush: false,
            jobs: 1,
        }
    }

    /// A 128 KiB sequential job.
    pub(super) fn sequential(
        &self,
        read_percent: u8,
        queue_depth: u32,
        span_bytes: u64,
        until: Until,
    ) -> Job {
        Job {
            pattern: Pattern::Sequential,
            read_percent,
            block_bytes: SEQUENTIAL_BLOCK,
            queue_depth,
            span_start_bytes: 0,
            span_bytes,
            data: Data::Incompressible,
            until,
            seed: self.seed,
            fua: false,
            flush: false,
            jobs: 1,
        }
    }

    /// Writes the first `span_bytes` once, sequentially.
    pub(super) fn fill(&self, state: &str, span_bytes: u64) -> Phase {
        Phase::Prepare {
            state: state.into(),
            job: self.sequential(0, 32, span_bytes, Until::Bytes(span_bytes)),
        }
    }

    /// From filled to used: 4 KiB random writes over the first `span_bytes` for 20 minutes or until
    /// they were written once more.
    pub(super) fn torture(&self, span_bytes: u64) -> Phase {
        const SECONDS: u64 = 20 * 60;
        let until = Until::SecondsOrBytes(SECONDS, span_bytes);
        Phase::Prepare {
            state: "used".into(),
            job: Job { until, ..self.random(0, 32, span_bytes, 0) },
        }
    }

    /// What takes the place of a test that means nothing on a hard disk, which overwrites in place: it
    /// has no used state and no use for space that is not written. `None` on any other medium.
    pub(super) fn without_flash(&self, what: &str) -> Option<Phase> {
        (self.medium == Medium::HardDisk).then(|| Phase::LeftOut {
            why: format!(
                "{what} was left out: it does not apply to a hard disk, which overwrites in place."
            ),
        })
    }

    /// Measures `job` under `figure`, with random numbers of its own.
    pub(super) fn measure(&self, figure: impl Into<String>, job: Job) -> Phase {
        let figure = figure.into();
        let job = self.seeded(&figure, job);
        Phase::Measure { figure, job }
    }

    /// The job with the random numbers of this figure.
    pub(super) fn seeded(&self, figure: &str, job: Job) -> Job {
        Job { seed: seed_of(self.seed, figure), ..job }
    }
}

/// `bytes` rounded down to whole sequential blocks, so that random and sequential jobs share it.
pub(super) fn whole_blocks(bytes: u64) -> u64 {
    bytes - bytes % u64::from(SEQUENTIAL_BLOCK)
}

/// A seed for each figure, and for each drive, from the review's, so that one figure's numbers do not depend on which
/// others are measured (FNV-1a over the name, which only has to tell names apart). It has 63 bits,
/// because fio takes a seed as a signed number and the record's fio command is to repeat it.
pub(crate) fn seed_of(seed: u64, name: &str) -> u64 {
    let hash = name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    hash >> 1
}
