//! SNIA's steady state (Solid State Storage Performance Test Specification, and the two open
//! implementations that agree on this rule): IOPS of every mix and block size once the drive is steady,
//! latency, and write saturation.
//!
//! Purge, all LBAs written twice in order with 128 KiB; then rounds of 56 tests of 60 s (reads 100,
//! 95, 65, 50, 35, 5, 0 % by 1024, 128, 64, 32, 16, 8, 4, 0.5 KiB, at random over all LBAs, queue depth
//! 32) until five rounds in a row are steady, 25 at most. Tracked are the 4 KiB writes: steady when over
//! the five rounds max - min is at most 20 % of their mean and the least-squares line changes by at most
//! 10 % of it. Figures are those of the last round. Latency: reads 100, 65, 0 % by 8, 4, 0.5 KiB at
//! queue depth 1. Write saturation: 4 KiB writes of a purged drive until four times its capacity or six
//! hours.

use fourcorners_record::note::{finished, note};
use fourcorners_record::{Job, Outcome, Record, Until, Verdict};
use fourcorners_words::{count, size, time};

use super::{Phase, Scope};

pub(super) const METHOD: &str = "snia";

pub(super) const WINDOW: usize = 5;
const MOST_ROUNDS: usize = 25;
const SPREAD: f64 = 0.2;
const CHANGE: f64 = 0.1;
const TRACKED: &str = "random_write_4k_qd32_steady";
const LATENCY: &str = "random_write_4k_qd1_steady";
const SATURATION: &str = "random_write_4k_qd32_saturation";
const SECONDS: u64 = 60;
const SATURATION_SECONDS: u64 = 6 * 3600;
const SATURATION_WRITES: u64 = 4;

const READS: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
const QUICK_READS: [u8; 3] = [100, 65, 0];
const BLOCKS: [u32; 8] =
    [1024 << 10, 128 << 10, 64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 512];
const QUICK_BLOCKS: [u32; 2] = [128 << 10, 4 << 10];

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let whole = scope.whole();
    let seconds = scope.either(SECONDS, 1);
    let logical = scope.geometry.logical_block_bytes;
    let fits = |block: &u32| *block >= logical;
    let test = |read_percent: u8, block_bytes: u32, depth: u32| {
        let job = Job { block_bytes, ..scope.random(read_percent, depth, whole, seconds) };
        let name = name(read_percent, block_bytes, depth);
        let job = scope.seeded(&name, job);
        (name, job)
    };
    let tests = |reads: &[u8], blocks: &[u32], depth: u32| -> Vec<(String, Job)> {
        let blocks: Vec<u32> = blocks.iter().copied().filter(fits).collect();
        let mixes = reads.iter().flat_map(|&read| blocks.iter().map(move |&block| (read, block)));
        mixes.map(|(read, block)| test(read, block, depth)).collect()
    };
    let matrix = match scope.quick {
        true => tests(&QUICK_READS, &QUICK_BLOCKS, 32),
        false => tests(&READS, &BLOCKS, 32),
    };
    let latency = tests(&[100, 65, 0], scope.either(&[8 << 10, 4 << 10, 512][..], &[4 << 10]), 1);
    let twice = scope.sequential(0, 32, whole, Until::Bytes(2 * whole));
    let most = scope.either(MOST_ROUNDS, WINDOW + 1);
    let mut phases = Vec::new();
    if !scope.quick && !BLOCKS.iter().all(fits) {
        phases.push(Phase::LeftOut {
            why: format!(
                "Blocks below {logical} bytes were left out: the target has logical blocks of that size."
            ),
        });
    }
    phases.extend([
        Phase::Purge,
        Phase::Prepare { state: "filled twice".into(), job: twice },
        Phase::Rounds { most, tracked: TRACKED.into(), tests: matrix },
    ]);
    phases.extend(latency.into_iter().map(|(figure, job)| Phase::Measure { figure, job }));
    let limit = scope.either(SATURATION_SECONDS, 20);
    let until = Until::SecondsOrBytes(limit, SATURATION_WRITES * whole);
    phases.push(Phase::Purge);
    phases.push(scope.measure(SATURATION, Job { until, ..scope.random(0, 32, whole, 0) }));
    phases
}

fn name(read_percent: u8, block_bytes: u32, depth: u32) -> String {
    let op = match read_percent {
        100 => "read".to_string(),
        0 => "write".to_string(),
        percent => format!("mixed{percent}"),
    };
    let block = match block_bytes {
        512 => "512".to_string(),
        bytes => format!("{}k", bytes >> 10),
    };
    format!("random_{op}_{block}_qd{depth}_steady")
}

/// How steady the last rounds are: the spread and the change along their least-squares line, both as
/// parts of their mean. `None` of fewer rounds than a window has.
pub(super) fn steady(rounds: &[f64]) -> Option<(f64, f64)> {
    let window = rounds.len().checked_sub(WINDOW).map(|first| &rounds[first..])?;
    let number = WINDOW as f64;
    let mean = window.iter().sum::<f64>() / number;
    let high = window.iter().copied().fold(f64::MIN, f64::max);
    let low = window.iter().copied().fold(f64::MAX, f64::min);
    let middle = (number - 1.0) / 2.0;
    let along = |(index, value): (usize, &f64)| (index as f64 - middle) * (value - mean);
    let covariance: f64 = window.iter().enumerate().map(along).sum();
    let variance: f64 = (0..WINDOW).map(|index| (index as f64 - middle).powi(2)).sum();
    let change = (covariance / variance * (number - 1.0)).abs();
    (mean > 0.0).then(|| ((high - low) / mean, change / mean))
}

/// Whether that is steady.
pub(super) fn is_steady((spread, change): (f64, f64)) -> bool {
    spread <= SPREAD && change <= CHANGE
}

pub(super) fn conclude(record: &mut Record) {
    let rounds = record
        .curves
        .get(&rounds_of(TRACKED))
        .map(|curve| curve.points.iter().map(|&(_, iops)| iops).collect::<Vec<f64>>());
    let mut notes = Vec::new();
    let mut verdict = None;
    if let Some((rounds, found)) = rounds.and_then(|rounds| Some((rounds.len(), steady(&rounds)?)))
    {
        let (spread, change) = found;
        let outcome = if is_steady(found) { Outcome::Yes } else { Outcome::No };
        verdict = Some(Verdict {
            id: "steady-state".into(),
            claim: format!("Random 4 KiB writes are in a steady state after {rounds} rounds"),
            outcome,
            figures: vec![TRACKED.into()],
            threshold: format!(
                "yes where the last {WINDOW} rounds have a range of at most {SPREAD} of their mean, and \
                 their least-squares line changes by at most {CHANGE} of it"
            ),
            control: format!("the same test of every earlier window of {WINDOW} rounds"),
            value: Some(spread),
            why: Some(format!(
                "the last {WINDOW} rounds have a range of {:.1} % of their mean, and their \
                 least-squares line changes by {:.1} %",
                spread * 100.0,
                change * 100.0
            )),
        });
    }
    if let Some(figure) = finished(record, LATENCY) {
        let text = format!(
            "After these rounds, a random 4 KiB write at QD 1 takes {} on average, {} at 99.9 % and {} \
             at most.",
            time(figure.latency_us.mean),
            time(figure.latency_us.p999),
            time(figure.latency_us.max)
        );
        notes.push(note("latency", text, figure.latency_us.mean));
    }
    let saturated = finished(record, SATURATION).zip(record.series.get(SATURATION));
    if let Some((figure, series)) = saturated.filter(|(_, series)| series.iops.len() >= 20) {
        let mean = |part: &[u64]| part.iter().sum::<u64>() as f64 / part.len() as f64;
        let part = series.iops.len() / 10;
        let (first, last) =
            (mean(&series.iops[..part]), mean(&series.iops[series.iops.len() - part..]));
        let text = format!(
            "Random writes without a pause, {} in {} s, go from {} IOPS in the first tenth of the \
             time to {} IOPS in the last, {:.0} % of the first.",
            match figure.bytes as f64 / 1e9 {
                gb if gb < 10.0 => size(figure.bytes),
                gb => format!("{gb:.0} GB"),
            },
            count(figure.duration_s),
            count(first),
            count(last),
            last / first * 100.0
        );
        notes.push(note("write-saturation", text, last / first));
    }
    record.notes.extend(notes);
    record.verdicts.extend(verdict);
}

/// The name of the curve of a figure by round.
pub(super) fn rounds_of(figure: &str) -> String {
    format!("{figure}_by_round")
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::Geometry;

    use super::*;
    use crate::review::Medium;

    #[test]
    fn the_rule_is_the_published_one() {
        assert_eq!(steady(&[1.0; 4]), None);
        assert!(steady(&[5.0, 100.0, 100.0, 100.0, 100.0, 100.0]).is_some_and(is_steady));
        // A line from 95 to 105: spread and change are both 10 % of 100, which is allowed.
        let (spread, change) = steady(&[95.0, 97.5, 100.0, 102.5, 105.0]).expect("five rounds");
        assert!((spread - 0.1).abs() < 1e-12 && (change - 0.1).abs() < 1e-12, "{spread} {change}");
        // Steeper, and within the spread: not steady.
        assert!(!steady(&[94.0, 97.0, 100.0, 103.0, 106.0]).is_some_and(is_steady));
        // No trend, and wide apart: not steady either.
        assert!(!steady(&[89.0, 111.0, 100.0, 111.0, 89.0]).is_some_and(is_steady));
    }

    #[test]
    fn every_block_that_a_target_can_take_is_tested_and_what_it_cannot_is_said() {
        let of = |medium, logical_block_bytes| {
            let geometry = Geometry { sectors: 1 << 25, logical_block_bytes, queue_depth: 32 };
            let phases = plan(&Scope::whole_of(geometry, medium));
            let tests = phases.iter().find_map(|phase| match phase {
                Phase::Rounds { tests, .. } => Some(tests.len()),
                _ => None,
            });
            let said = phases.iter().any(|phase| matches!(phase, Phase::LeftOut { .. }));
            (tests, said)
        };
        for medium in [Medium::Ssd, Medium::HardDisk, Medium::Device, Medium::File] {
            assert_eq!(of(medium, 512), (Some(56), false), "{medium:?}");
            assert_eq!(of(medium, 4096), (Some(49), true), "{medium:?}");
        }
    }
}
