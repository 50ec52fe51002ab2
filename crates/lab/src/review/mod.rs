//! The reviewers' tests: each method is a plan of phases, and one runner carries plans out.

mod four_corners;
mod runner;
mod toms;

use std::str::FromStr;

use crate::record::{Record, Verdict};
use crate::verdict;
use crate::workload::{Data, Job, Pattern, Until};
use fourcorners_drive::Geometry;

pub use runner::{Reviewed, Step, Watch, not_begun, review};

/// Bytes of a block in the random tests and in the sequential ones.
const RANDOM_BLOCK: u32 = 4096;
const SEQUENTIAL_BLOCK: u32 = 131_072;

/// A test of the reviewers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Method {
    /// Random and sequential, read and write, fresh and used (AnandTech).
    FourCorners,
    /// 4 KiB random over a 16 GB span against queue depth (Tom's Hardware).
    Toms,
}

impl Method {
    /// All methods, in the order `--methods all` runs them.
    pub const ALL: [Method; 2] = [Method::FourCorners, Method::Toms];

    /// The name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Method::FourCorners => "four-corners",
            Method::Toms => "toms",
        }
    }

    /// What it does to a target of this scope, step by step.
    pub fn plan(self, scope: &Scope) -> Vec<Phase> {
        let phases = match self {
            Method::FourCorners => four_corners::plan(scope),
            Method::Toms => toms::plan(scope),
        };
        let laid_out = scope.lay_out.then(|| scope.fill("laid out", scope.touched_by(&phases)));
        laid_out.into_iter().chain(phases).map(|phase| phase.within(scope)).collect()
    }

    /// What its figures mean, in words.
    pub fn verdicts(self, record: &Record) -> Vec<Verdict> {
        match self {
            Method::FourCorners => verdict::four_corners(record),
            Method::Toms => Vec::new(),
        }
    }
}

impl FromStr for Method {
    type Err = String;
    fn from_str(name: &str) -> Result<Method, String> {
        let known = || Method::ALL.map(Method::name);
        Method::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            format!("there is no method \"{name}\"; there are: {}", known().join(", "))
        })
    }
}

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
    /// Write what will be touched once before anything else: a file whose blocks were never
    /// written answers reads from memory and spends its first writes on the file system.
    pub lay_out: bool,
}

/// One step of a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum Phase {
    /// Make the target forget everything.
    Purge,
    /// Bring the target into a state.
    Prepare {
        /// The state it is in afterwards.
        state: &'static str,
        /// How.
        job: Job,
    },
    /// Measure a figure.
    Measure {
        /// Its name.
        figure: String,
        /// How.
        job: Job,
    },
    /// Something the method knows but that is left out here.
    LeftOut {
        /// What and why, in a sentence.
        why: String,
    },
}

impl Phase {
    /// The phase on a target that takes fewer commands at once than most. A figure at a depth it
    /// does not have is left out: a host would queue the rest, and its wait is not the drive's.
    fn within(self, scope: &Scope) -> Phase {
        let most = scope.geometry.queue_depth;
        match self {
            Phase::Measure { figure, job } if job.queue_depth > most => Phase::LeftOut {
                why: format!("{figure} was left out: the target takes {most} commands at once."),
            },
            Phase::Prepare { state, job } => {
                Phase::Prepare { state, job: Job { queue_depth: job.queue_depth.min(most), ..job } }
            }
            phase => phase,
        }
    }

    /// How long it takes, roughly, in seconds of the target's time: the weight of the phase in a
    /// progress bar, where only proportions count.
    pub fn weight(&self) -> f64 {
        // A fill's duration is not known before it is run; 200 MB/s is a middling drive's.
        const FILL_BYTES_PER_SECOND: f64 = 200e6;
        match self {
            Phase::Purge | Phase::LeftOut { .. } => 0.0,
            Phase::Prepare { job, .. } | Phase::Measure { job, .. } => match job.until {
                Until::Seconds(seconds) | Until::SecondsOrBytes(seconds, _) => seconds as f64,
                Until::Bytes(bytes) => bytes as f64 / FILL_BYTES_PER_SECOND,
            },
        }
    }
}

impl Scope {
    /// Bytes a job may touch, from the start: the target less its spare area, in whole 128 KiB.
    pub fn usable_bytes(&self) -> u64 {
        let usable = self.geometry.bytes() as f64 * (1.0 - self.spare_percent / 100.0);
        whole_blocks(usable as u64)
    }

    /// The span of `wanted` bytes at the start of the target, or as much of it as there is.
    pub fn span(&self, wanted: u64) -> u64 {
        whole_blocks(wanted.min(self.usable_bytes()))
    }

    /// Bytes from the start of the target that the phases touch.
    fn touched_by(&self, phases: &[Phase]) -> u64 {
        let ends = phases.iter().filter_map(|phase| match phase {
            Phase::Prepare { job, .. } | Phase::Measure { job, .. } => {
                Some(job.span_start_bytes + job.span_bytes)
            }
            Phase::Purge | Phase::LeftOut { .. } => None,
        });
        ends.max().unwrap_or(0)
    }

    /// A 4 KiB random job.
    fn random(&self, read_percent: u8, queue_depth: u32, span_bytes: u64, seconds: u64) -> Job {
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
        }
    }

    /// A 128 KiB sequential job.
    fn sequential(&self, read_percent: u8, queue_depth: u32, span_bytes: u64, until: Until) -> Job {
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
        }
    }

    /// Writes the first `span_bytes` once, sequentially.
    fn fill(&self, state: &'static str, span_bytes: u64) -> Phase {
        Phase::Prepare { state, job: self.sequential(0, 32, span_bytes, Until::Bytes(span_bytes)) }
    }

    /// Measures `job` under `figure`, with random numbers of its own.
    fn measure(&self, figure: impl Into<String>, job: Job) -> Phase {
        let figure = figure.into();
        let seed = seed_of(self.seed, &figure);
        Phase::Measure { figure, job: Job { seed, ..job } }
    }
}

/// `bytes` rounded down to whole sequential blocks, so that random and sequential jobs share it.
fn whole_blocks(bytes: u64) -> u64 {
    bytes - bytes % u64::from(SEQUENTIAL_BLOCK)
}

/// A seed for each figure from the review's, so that one figure's numbers do not depend on which
/// others are measured (FNV-1a over the name, which only has to tell names apart). It has 63 bits,
/// because fio takes a seed as a signed number and the record's fio command is to repeat it.
fn seed_of(seed: u64, figure: &str) -> u64 {
    let hash = figure.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    hash >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(bytes: u64, quick: bool) -> Scope {
        let geometry = Geometry { sectors: bytes / 512, logical_block_bytes: 512, queue_depth: 32 };
        Scope { geometry, spare_percent: 0.0, quick, seed: 1, lay_out: false }
    }

    fn figures(plan: &[Phase]) -> Vec<(&str, &Job)> {
        let measured = plan.iter().filter_map(|phase| match phase {
            Phase::Measure { figure, job } => Some((figure.as_str(), job)),
            _ => None,
        });
        measured.collect()
    }

    #[test]
    fn four_corners_is_the_published_protocol() {
        let plan = Method::FourCorners.plan(&scope(256_060_514_304, false));
        for (figure, read, block, depth, span, seconds) in [
            ("random_write_4k_qd3_repeating", 0, 4096, 3, 8e9, 180),
            ("random_write_4k_qd3_incompressible", 0, 4096, 3, 8e9, 180),
            ("random_write_4k_qd32_repeating", 0, 4096, 32, 8e9, 180),
            ("random_write_4k_qd32_incompressible", 0, 4096, 32, 8e9, 180),
            ("random_read_4k_qd3", 100, 4096, 3, 8e9, 180),
            ("sequential_write_128k_qd1_repeating", 0, 131_072, 1, 256_060_514_304.0, 60),
            ("sequential_write_128k_qd1_incompressible", 0, 131_072, 1, 256_060_514_304.0, 60),
            ("sequential_read_128k_qd1", 100, 131_072, 1, 256_060_514_304.0, 60),
            ("random_write_4k_qd3_incompressible_used", 0, 4096, 3, 8e9, 180),
        ] {
            let (_, job) = *figures(&plan)
                .iter()
                .find(|(name, _)| *name == figure)
                .unwrap_or_else(|| panic!("{figure} is not in the plan"));
            assert_eq!((job.read_percent, job.block_bytes, job.queue_depth), (read, block, depth));
            assert!(job.span_bytes as f64 <= span && job.span_bytes as f64 > span - 131_072.0);
            assert_eq!(job.until, Until::Seconds(seconds), "{figure}");
        }
    }

    #[test]
    fn a_quick_review_touches_less_and_says_what_it_left_out() {
        let plan = Method::FourCorners.plan(&scope(2_000_000_000, true));
        assert!(figures(&plan).iter().all(|(name, job)| {
            !name.ends_with("_used")
                && job.until == Until::Seconds(5)
                && job.span_bytes <= 2_000_000_000
        }));
        assert!(plan.iter().any(|phase| matches!(phase, Phase::LeftOut { .. })));
    }

    #[test]
    fn spare_area_is_never_touched() {
        let scope = Scope { spare_percent: 25.0, ..scope(1 << 30, false) };
        for method in Method::ALL {
            for phase in method.plan(&scope) {
                if let Phase::Prepare { job, .. } | Phase::Measure { job, .. } = phase {
                    assert!(job.span_start_bytes + job.span_bytes <= (3 << 30) / 4);
                }
            }
        }
    }

    #[test]
    fn depths_the_target_does_not_have_are_left_out() {
        let mut scope = scope(1 << 34, false);
        scope.geometry.queue_depth = 3;
        let plan = Method::FourCorners.plan(&scope);
        assert!(figures(&plan).iter().all(|(_, job)| job.queue_depth <= 3));
        let left_out = plan.iter().filter(|phase| matches!(phase, Phase::LeftOut { .. })).count();
        assert_eq!(left_out, 3);
    }

    #[test]
    fn figures_have_random_numbers_of_their_own() {
        let plan = Method::Toms.plan(&scope(1 << 36, false));
        let mut seeds: Vec<u64> = figures(&plan).iter().map(|(_, job)| job.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), figures(&plan).len());
    }
}
