//! The reviewers' tests: each method is a plan of phases, and one runner carries plans out.
//!
//! A method is a list of phases (`phase.rs`), built in or from a plan file (`plan_file/`, `docs/PLANS.md`);
//! a [`Protocol`] is either.
//!
//! - **Virtual SSDs**: a purged virtual SSD is a new one of its profile, so the jobs since its purge name
//!   its state. `state_cache.rs` makes a state once and copies it for all methods that begin in it, and a
//!   record does not depend on which other methods were run. With `[wear]`, with a loaded state, and on a hard disk
//!   this does not hold: there each method gets a new drive and goes through all its phases on it.
//! - **Real drives** go through all methods one after the other. Where the drive is still in the state that a
//!   purge and fill would lead to, both are left out ([`Past`]).
//! - **Parallel runs**: virtual drives run on all cores, as many as memory allows, cached states included
//!   ([`campaign`](crate::campaign)).
//! - **Resume**: `review.resume/` beside the results holds a file for each record, with a checksum, bound to
//!   targets, plan and version. A cached state continues at a purge. A real drive continues at the
//!   interrupted phase if that phase only reads, otherwise at the purge before it. Other virtual
//!   drives begin the method again. Results that are being saved also stay there until they are complete.
//! - **Differences** (`difference.rs`) are judged by what the seconds of both runs leave open, each run by
//!   itself or second beside second, and by the time the machine took from them: at most all of it, at least
//!   nothing. `trim` asks whether its outcome would be the same if the drive stood still while the loop waited,
//!   and if it worked on.

mod checkpoint;
mod compressible;
mod consistency;
mod difference;
mod endurance;
mod figure;
mod fill_level;
mod four_corners;
mod generator;
mod host_trim;
mod irregular;
mod lba_pass;
mod measures;
mod past;
mod phase;
mod plan_file;
mod power;
mod protocol;
mod published;
mod quick;
mod replayed;
mod runner;
mod scope;
mod snia;
mod state_cache;
mod storage_bench;
mod sync_writes;
mod tasks;
mod toms;
mod trim_reaches;
mod trim_under_load;
mod trim_works;
mod under_way;
mod used_state;

use std::str::FromStr;

use fourcorners_record::{Pattern, Record};

use crate::cache_use;

pub use checkpoint::{Checkpoint, Reached};
pub use past::{Foreseen, Past};
pub(crate) use phase::reading;
pub use phase::{ASSUMED_BYTES_PER_SECOND, Phase, Writes};
pub use plan_file::{PlanError, PlanFile};
pub use protocol::Protocol;
pub use published::Published;
pub use quick::{QUICK_ROWS, QUICK_RUNS, QUICK_SPAN_BYTES, QuickRow, READ_SHARE, runs_of};
pub use replayed::Replayed;
pub use runner::{DriveSource, Reviewed, Step, Watch, not_begun, review};
pub(crate) use scope::seed_of;
pub use scope::{MOST_SPARE_PERCENT, Medium, Scope};
pub use state_cache::StateCache;
pub(crate) use trim_under_load::HELD_US;
pub(crate) use trim_works::{NOTHING, RECOVERED};
pub(crate) use used_state::wear_in;

/// A test of the reviewers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Method {
    /// Random and sequential, read and write, fresh and used (AnandTech).
    FourCorners,
    /// 4 KiB random over a 16 GB span against queue depth (Tom's Hardware).
    Toms,
    /// Random writes of a full drive, second by second (AnandTech).
    Consistency,
    /// Read and written in order across the LBAs (HD Tach).
    LbaPass,
    /// Clean, tortured and trimmed (AnandTech).
    Trim,
    /// Random write fresh against used (AnandTech 2009).
    UsedState,
    /// Writes against how far the data can be compressed.
    Compressible,
    /// Random write against how full the drive is.
    FillLevel,
    /// What a TRIM does to the reads beside it.
    TrimUnderLoad,
    /// Whether a TRIM reaches the drive.
    TrimReaches,
    /// Published workloads replayed on an empty and on a full drive.
    StorageBench,
    /// What a person waits for, in seconds.
    Tasks,
    /// How long the flash and the data on it last.
    Endurance,
    /// Power idle and at work, and energy of a task.
    Power,
    /// Writes that are durable one by one: with a flush behind each, and with FUA.
    SyncWrites,
    /// Steady state, IOPS matrix and write saturation (SNIA).
    Snia,
    /// The rows of CrystalDiskMark and KDiskMark, in a minute.
    Quick,
}

impl Method {
    /// All methods, in the order `--methods all` runs them.
    pub const ALL: [Method; 17] = [
        Method::FourCorners,
        Method::Toms,
        Method::Consistency,
        Method::LbaPass,
        Method::Trim,
        Method::UsedState,
        Method::Compressible,
        Method::FillLevel,
        Method::TrimUnderLoad,
        Method::TrimReaches,
        Method::StorageBench,
        Method::Tasks,
        Method::Endurance,
        Method::Power,
        Method::SyncWrites,
        Method::Snia,
        Method::Quick,
    ];

    /// What a review runs that names no methods: all that a drive is done with in hours, without the rows of
    /// `quick`, which others measure for longer.
    pub fn default_set() -> Vec<Method> {
        let named_only = [Method::Snia, Method::Quick];
        Method::ALL.into_iter().filter(|method| !named_only.contains(method)).collect()
    }

    /// What a quick review runs that names no methods.
    pub const QUICK: [Method; 1] = [Method::FourCorners];

    /// The name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Method::FourCorners => "four-corners",
            Method::Toms => "toms",
            Method::Consistency => consistency::METHOD,
            Method::LbaPass => lba_pass::METHOD,
            Method::Trim => trim_works::METHOD,
            Method::UsedState => used_state::METHOD,
            Method::Compressible => compressible::METHOD,
            Method::FillLevel => fill_level::METHOD,
            Method::TrimUnderLoad => trim_under_load::METHOD,
            Method::TrimReaches => trim_reaches::METHOD,
            Method::StorageBench => storage_bench::METHOD,
            Method::Tasks => tasks::METHOD,
            Method::Endurance => endurance::METHOD,
            Method::Power => power::METHOD,
            Method::SyncWrites => sync_writes::METHOD,
            Method::Snia => snia::METHOD,
            Method::Quick => quick::METHOD,
        }
    }

    /// What it does to a target of this scope, step by step.
    fn phases(self, scope: &Scope) -> Vec<Phase> {
        match self {
            Method::FourCorners => four_corners::plan(scope),
            Method::Toms => toms::plan(scope),
            Method::Consistency => consistency::plan(scope),
            Method::LbaPass => lba_pass::plan(scope),
            Method::Trim => trim_works::plan(scope),
            Method::UsedState => used_state::plan(scope),
            Method::Compressible => compressible::plan(scope),
            Method::FillLevel => fill_level::plan(scope),
            Method::TrimUnderLoad => trim_under_load::plan(scope),
            Method::TrimReaches => trim_reaches::plan(scope),
            Method::StorageBench => storage_bench::plan(scope),
            Method::Tasks => tasks::plan(scope),
            Method::Endurance => endurance::plan(scope),
            Method::Power => power::plan(scope),
            Method::SyncWrites => sync_writes::plan(scope),
            Method::Snia => snia::plan(scope),
            Method::Quick => quick::plan(scope),
        }
    }

    /// Adds to a record what its figures mean, in words and in what is worked out from them.
    fn conclude(self, record: &mut Record) {
        match self {
            Method::FourCorners => four_corners::conclude(record),
            Method::Toms | Method::Quick => {}
            Method::Consistency => consistency::conclude(record),
            Method::LbaPass => lba_pass::conclude(record),
            Method::Trim => trim_works::conclude(record),
            Method::UsedState => used_state::conclude(record),
            Method::Compressible => compressible::conclude(record),
            Method::FillLevel => fill_level::conclude(record),
            Method::TrimUnderLoad => trim_under_load::conclude(record),
            Method::TrimReaches => trim_reaches::conclude(record),
            Method::StorageBench => storage_bench::conclude(record),
            Method::Tasks => tasks::conclude(record),
            Method::Endurance => endurance::conclude(record),
            Method::Power => power::conclude(record),
            Method::SyncWrites => sync_writes::conclude(record),
            Method::Snia => snia::conclude(record),
        }
        generator::conclude(record);
        host_trim::conclude(record);
        cache_use::conclude(record);
    }
}

/// There is no method of ours of this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no method \"{name}\"; there are: {}", Method::ALL.map(Method::name).join(", "))]
pub struct UnknownMethod {
    /// The name.
    pub name: String,
}

impl FromStr for Method {
    type Err = UnknownMethod;
    fn from_str(name: &str) -> Result<Method, UnknownMethod> {
        let known = Method::ALL.into_iter().find(|method| method.name() == name);
        known.ok_or_else(|| UnknownMethod { name: name.into() })
    }
}

/// The plans of these methods for one target, in their order.
///
/// What will be touched of a file is written once, in the first plan, before anything else: a file
/// whose blocks were never written answers reads from memory and spends its first writes on the
/// file system.
///
/// # Errors
/// The phase of a plan file that does not fit the target, and why. Our own methods fit all targets.
pub fn plans(protocols: &[Protocol], scope: &Scope) -> Result<Vec<Vec<Phase>>, PlanError> {
    let plans = protocols.iter().map(|protocol| protocol.phases(scope));
    let mut plans: Vec<Vec<Phase>> = plans.collect::<Result<_, _>>()?;
    let ends = plans.iter().flatten().flat_map(Phase::jobs);
    let touched = ends.map(|job| job.span_start_bytes + job.span_bytes).max();
    let writes_it_first = |plan: &[Phase], touched: u64| {
        let job = plan.first().and_then(Phase::job);
        job.is_some_and(|job| {
            let writes = (job.pattern, job.read_percent) == (Pattern::Sequential, 0);
            writes && job.span_start_bytes == 0 && job.span_bytes >= touched
        })
    };
    if let (Some(first), Some(touched), true) =
        (plans.first_mut(), touched, scope.medium == Medium::File)
        && !writes_it_first(first, touched)
    {
        first.insert(0, scope.fill("laid out", touched));
    }
    for plan in &mut plans {
        *plan = plan.drain(..).map(|phase| phase.within(scope)).collect();
    }
    Ok(plans)
}

/// The order in which to begin the plans of one drive where several are carried out at a time: what
/// replays most first, because it takes longest, whatever the drive; the rest as it is.
pub fn longest_first<'a>(plans: impl Iterator<Item = &'a Vec<Phase>>) -> Vec<usize> {
    let replayed = |plan: &Vec<Phase>| {
        let ios = plan.iter().filter_map(|phase| match phase {
            Phase::Replay(replayed) => replayed.ios,
            _ => None,
        });
        ios.sum::<u64>()
    };
    let ios: Vec<u64> = plans.map(replayed).collect();
    let mut order: Vec<usize> = (0..ios.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(ios[place]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_drive::Geometry;
    use fourcorners_record::{Job, Until};

    fn plan(method: Method, scope: &Scope) -> Vec<Phase> {
        plans(&[method.into()], scope).expect("ours fit all targets").remove(0)
    }

    fn scope(bytes: u64, quick: bool) -> Scope {
        let geometry = Geometry { sectors: bytes / 512, logical_block_bytes: 512, queue_depth: 32 };
        Scope { quick, ..Scope::whole_of(geometry, Medium::Ssd) }
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
        let plan = plan(Method::FourCorners, &scope(256_060_514_304, false));
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
        let plan = plan(Method::FourCorners, &scope(2_000_000_000, true));
        assert!(figures(&plan).iter().all(|(name, job)| {
            !name.ends_with("_used")
                && job.until == Until::Seconds(5)
                && job.span_bytes <= 2_000_000_000
        }));
        assert!(plan.iter().any(|phase| matches!(phase, Phase::LeftOut { .. })));
    }

    #[test]
    fn the_storage_bench_begins_first_and_nothing_else_changes_places() {
        let methods = [Method::Toms, Method::StorageBench, Method::Trim].map(Protocol::from);
        let plans = plans(&methods, &scope(1 << 36, false)).expect("ours fit all targets");
        assert_eq!(longest_first(plans.iter()), [1, 0, 2]);
    }

    #[test]
    fn where_nothing_is_written_it_is_said_once_what_is_left_out() {
        let plan = plan(Method::Quick, &scope(1 << 34, false));
        let writes = plan.iter().filter(|phase| !phase.only_reads()).count();
        let kept = reading(plan);
        assert!(writes > 3 && kept.iter().all(Phase::only_reads));
        let said: Vec<&String> = kept
            .iter()
            .filter_map(|phase| match phase {
                Phase::LeftOut { why } => Some(why),
                _ => None,
            })
            .collect();
        let [said] = said[..] else { panic!("{said:?}") };
        assert!(
            said.starts_with(
                "Left out, since nothing is written to the target: 1 MiB sequential write, QD 8; "
            ),
            "{said}"
        );
        // What only reads is left as it is.
        let reads = vec![Phase::Idle { seconds: 1 }];
        assert_eq!(reading(reads.clone()), reads);
    }

    #[test]
    fn spare_area_is_never_touched() {
        let scope = Scope { spare_percent: 25.0, ..scope(1 << 30, false) };
        for method in Method::ALL {
            for phase in plan(method, &scope) {
                if let Some(job) = phase.job() {
                    assert!(job.span_start_bytes + job.span_bytes <= (3 << 30) / 4);
                }
                if let Phase::Trim { range }
                | Phase::ProbeTrim { range }
                | Phase::BesideTrim { range, .. } = phase
                {
                    assert!(range.start_bytes + range.bytes <= (3 << 30) / 4);
                }
                if let Phase::Replay(replayed) = phase {
                    assert!(replayed.space_bytes <= (3 << 30) / 4);
                }
            }
        }
    }

    #[test]
    fn depths_the_target_does_not_have_are_left_out() {
        let mut scope = scope(1 << 34, false);
        scope.geometry.queue_depth = 3;
        let plan = plan(Method::FourCorners, &scope);
        assert!(figures(&plan).iter().all(|(_, job)| job.queue_depth <= 3));
        let left_out = plan.iter().filter(|phase| matches!(phase, Phase::LeftOut { .. })).count();
        assert_eq!(left_out, 3);
    }

    #[test]
    fn figures_have_random_numbers_of_their_own() {
        let plan = plan(Method::Toms, &scope(1 << 36, false));
        let mut seeds: Vec<u64> = figures(&plan).iter().map(|(_, job)| job.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), figures(&plan).len());
    }
}
