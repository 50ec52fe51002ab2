//! The virtual SSD against theory (closed forms, fixed points, queueing tables): write amplification by
//! victim policy within 1.5 %, also skewed and with TRIM, and with streams within 2 % of their optimum;
//! steady random write, and reads queueing at dies, within 2 %.

#[path = "../common/mod.rs"]
mod common;

mod closed_forms;
mod published;
mod service;
mod skewed;
mod streams;
mod uniform;
mod wear;

use common::{Random, fill, make, overwrite};
use fourcorners_drive::config::{SsdConfig, VictimPolicy};
use fourcorners_drive::{Ssd, Target};

/// Blocks of the drives below. The closed forms are limits of many blocks.
const BLOCKS: u32 = 1000;

/// A drive of one die with `BLOCKS` blocks of `pages` that data can occupy.
fn drive(policy: VictimPolicy, pages: u32, effective_op: f64) -> SsdConfig {
    let mut profile = common::ssd(common::Shape {
        dies: 1,
        blocks_per_die: BLOCKS + 3,
        pages_per_block: pages,
        effective_op,
    });
    profile.gc.policy = policy;
    profile
}

/// Write amplification over `measured` times the user's space, after a sequential fill and
/// `warm_up` times the user's space. `write` writes so many units.
fn write_amplification(
    profile: &SsdConfig,
    [warm_up, measured]: [u64; 2],
    mut write: impl FnMut(&mut Ssd, u64),
) -> f64 {
    let mut drive = make(profile);
    let units = drive.geometry().sectors / 8;
    fill(&mut drive);
    write(&mut drive, units * warm_up);
    let before = drive.counters();
    write(&mut drive, units * measured);
    drive.counters().write_amplification_since(&before).expect("the host wrote")
}

/// The same under writes anywhere, each of one unit.
fn uniform_write_amplification(profile: &SsdConfig) -> f64 {
    // A small spare takes longer to settle.
    let small = profile.capacity.sectors * 11 / 10 > common::usable_units(profile) * 8;
    uniform_write_amplification_over(profile, [if small { 10 } else { 6 }, 3])
}

fn uniform_write_amplification_over(profile: &SsdConfig, drive_writes: [u64; 2]) -> f64 {
    let units = profile.capacity.sectors / 8;
    let mut random = Random(20_120_101);
    write_amplification(profile, drive_writes, |drive, count| {
        overwrite(drive, &mut random, units, count);
    })
}

/// Measured against expected values, compared at the end so that a failure shows them all.
#[derive(Default)]
struct Comparison {
    lines: Vec<String>,
    failed: bool,
}

impl Comparison {
    /// `measured` must be within `tolerance` (0.01 is 1 %) of `expected`.
    fn add(&mut self, what: impl std::fmt::Display, measured: f64, expected: f64, tolerance: f64) {
        let error = measured / expected - 1.0;
        let failed = error.is_nan() || error.abs() > tolerance;
        let mark = if failed { "  <-- beyond the tolerance" } else { "" };
        let error = error * 100.0;
        self.lines.push(format!("{what:<44} {measured:9.4} {expected:9.4} {error:+6.2} %{mark}"));
        self.failed |= failed;
    }

    fn finish(self) {
        let table = self.lines.join("\n");
        println!("{table}");
        assert!(!self.failed, "what, measured, expected, error:\n{table}");
    }
}
