//! The class of the map: by pages, where data may lie anywhere, or by blocks with a log of a few.
//!
//! Drives with little memory for a map keep data in blocks, in which each unit has its place, and write to log blocks before: as
//! many parts of the drive can be written in turn as there are log blocks for, and one more makes each write wait until a log
//! block is merged. So the same amount of data is written again and again in more and more areas, apart from each other. A drive
//! that maps by pages takes it at one rate, wherever the areas lie; of one with log blocks the rate falls at a number of areas,
//! for good.
//!
//! The drive is filled before, as blocks without data cost nothing to merge. All is a constant amount, and what is written again
//! makes the space free that it takes: a drive that has to win back space does so at the same cost for any number of areas. A map that is
//! not all in memory makes writes in many areas slower, too, but reads as well: that is the control. An area that lies
//! in two blocks takes two log blocks, so that the number of areas is a bound.

use std::collections::BTreeMap;

use fourcorners_drive::{Geometry, Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped, UNIT, bytes_of_a_fill};
use super::statistics::{capped_mean, median};

const CLASS: &str = "mapping";
const AREAS: &str = "log_areas";
/// Bytes of a write: a whole unit of any map that is looked for.
const WRITE: u64 = 16 << 10;
/// Bytes that are written again and again, a part of the drive at most: more than most buffers hold.
const MOST_AT_A_TIME: u64 = 16 << 20;
const PARTS: u64 = 64;
/// The most areas.
const MOST_AREAS: u64 = 1024;
/// How often all is written before it counts, and then. What log blocks hold of the trial before is merged first.
const BEFORE: u64 = 1;
const COUNTED: u64 = 2;
/// Each number of areas is tried so often.
const TRIALS: usize = 2;
/// The search for the number at which the rate falls ends when it is known to this share, or after this many halvings.
const CLOSE: f64 = 0.03;
const HALVINGS: u64 = 6;
/// Reads in one area, and in as many as there are, once the drive has come to rest.
const READS: u64 = 400;
/// Places that are read lie up to so far behind those that are written, for pages of the flash differ.
const BEHIND: u64 = 1 << 20;
const REST: Nanos = Nanos(5_000_000_000);
/// Writes take equally long in any number of areas if the longest take less than this factor of the shortest.
const ALIKE: f64 = 1.5;
/// Writes are slower in many areas if this many of the largest numbers of areas take longer than one area by this factor.
const MANY: usize = 3;
const LONGER_IN_MANY: f64 = 3.0;
/// The rate falls at a number of areas if all larger ones take longer than all smaller ones by this factor.
const FALLS: f64 = 2.0;
/// Reads in many areas may take longer than those in one by this share. A late read counts as this many times the middle one.
const SAME_READS: f64 = 0.05;
const LATE: f64 = 3.0;

/// Bytes that it writes at most.
pub(super) fn bytes(geometry: Geometry) -> u64 {
    let most = most_areas(geometry.bytes());
    let sizes = u64::from(most.max(1).ilog2()) + 1;
    let trials = (sizes + HALVINGS) * TRIALS as u64;
    bytes_of_a_fill(geometry) + trials * (BEFORE + COUNTED) * bytes_in_turn(geometry.bytes())
}

/// Bytes that are written again and again of a drive of this capacity.
pub(crate) fn bytes_in_turn(capacity: u64) -> u64 {
    (capacity / PARTS).min(MOST_AT_A_TIME) / WRITE * WRITE
}

/// The most areas of a drive of this capacity, of one write each; a power of two.
pub(crate) fn most_areas(capacity: u64) -> u64 {
    let most = (bytes_in_turn(capacity) / WRITE).min(MOST_AREAS);
    most.checked_ilog2().map_or(0, |power| 1 << power)
}

pub(super) fn measure<T: Target>(probe: &mut Probe<'_, T>) -> Result<Vec<Series>, Stopped> {
    let geometry = probe.geometry();
    let [all, most] = [bytes_in_turn, most_areas].map(|of| of(geometry.bytes()));
    probe.fill()?;
    let mut counts: Vec<u64> = (0..)
        .map(|power| 1 << power)
        .take_while(|count| *count <= most)
        .flat_map(|count| [count; TRIALS])
        .collect();
    // In an order by chance: what changes with time is not taken for a number's.
    probe.shuffle(&mut counts);
    let mut samples = Vec::new();
    for count in counts {
        samples.push([count as f64, in_areas(probe, all, count)?]);
    }
    // Between the last number that is fast and the first that is slow.
    for _ in 0..HALVINGS {
        let Some([fast, slow]) = falls(&samples).map(|fall| fall.between) else { break };
        if slow - fast <= (CLOSE * fast).max(1.0) {
            break;
        }
        let count = ((fast + slow) / 2.0) as u64;
        for _ in 0..TRIALS {
            samples.push([count as f64, in_areas(probe, all, count)?]);
        }
    }
    let what = "areas that are written in turn; microseconds of a write of 16 KiB";
    let mut series = vec![Series { what: what.into(), samples }];
    probe.flush()?;
    probe.idle(REST)?;
    for (count, what) in [(1, "one area"), (most, "as many areas as were written")] {
        let mut reads = Vec::new();
        for _ in 0..READS {
            let write = probe.below(all / WRITE);
            let place = place(geometry, count, write) + probe.below(BEHIND / UNIT) * UNIT;
            let place = place.min(geometry.bytes() - UNIT);
            reads.push([place as f64, probe.read_us(place, UNIT)?]);
        }
        let what = format!("place of a read in {what}; microseconds");
        series.push(Series { what, samples: reads });
    }
    Ok(series)
}

/// Where a write lies: the areas are written in turn, each in order.
fn place(geometry: Geometry, areas: u64, write: u64) -> u64 {
    let apart = geometry.bytes() / areas / WRITE * WRITE;
    write % areas * apart + write / areas * WRITE
}

/// The mean time of a write, microseconds, when `bytes` are written again and again in this many areas.
fn in_areas<T: Target>(probe: &mut Probe<'_, T>, bytes: u64, areas: u64) -> Result<f64, Stopped> {
    let geometry = probe.geometry();
    // As many in each area.
    let writes = (bytes / WRITE / areas).max(1) * areas;
    let mut all_us = 0.0;
    for round in 0..BEFORE + COUNTED {
        for write in 0..writes {
            let us = probe.write_us(place(geometry, areas, write), WRITE)?;
            all_us += if round < BEFORE { 0.0 } else { us };
        }
    }
    Ok(all_us / (COUNTED * writes) as f64)
}

/// Where writes take longer for good.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Fall {
    /// The last number of areas that is fast, and the first that is slow.
    between: [f64; 2],
    /// The longest of those before, and the shortest of those behind, microseconds.
    us: [f64; 2],
}

/// The shortest trial of each number of areas, the fewest first: others may have had to wait for what the one before left.
fn shortest(trials: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut by_count: BTreeMap<u64, f64> = BTreeMap::new();
    for [count, us] in trials {
        let shortest = by_count.entry(*count as u64).or_insert(*us);
        *shortest = us.min(*shortest);
    }
    by_count.into_iter().map(|(count, us)| [count as f64, us]).collect()
}

fn least(times: &[[f64; 2]]) -> f64 {
    times.iter().map(|[_, us]| *us).fold(f64::INFINITY, f64::min)
}

fn most(times: &[[f64; 2]]) -> f64 {
    times.iter().map(|[_, us]| *us).fold(0.0, f64::max)
}

/// Of all numbers of areas the one behind which all take longer than all before by most.
fn falls(trials: &[[f64; 2]]) -> Option<Fall> {
    let times = shortest(trials);
    let fall = |at: usize| Fall {
        between: [times[at - 1][0], times[at][0]],
        us: [most(&times[..at]), least(&times[at..])],
    };
    let longer = |fall: &Fall| fall.us[1] / fall.us[0];
    (1..times.len())
        .map(fall)
        .filter(|fall| fall.us[0] > 0.0 && longer(fall) > FALLS)
        .max_by(|one, other| longer(one).total_cmp(&longer(other)))
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let all = |reason: String| {
        [CLASS, AREAS].map(|key| Finding::undetermined(key, reason.clone())).to_vec()
    };
    let [trials, near, far] = series else { return all("nothing was measured".into()) };
    let times = shortest(&trials.samples);
    let reads = [near, far].map(|reads| {
        let times: Vec<f64> = reads.samples.iter().map(|[_, us]| *us).collect();
        capped_mean(&times, LATE * median(&times)).0
    });
    let [.., [many, _]] = &times[..] else { return all("nothing was measured".into()) };
    if times.len() <= MANY || !(least(&times) > 0.0 && reads.iter().all(|us| *us > 0.0)) {
        return all("nothing was measured".into());
    }
    let [shortest_us, longest_us] = [least(&times), most(&times)];
    if longest_us < ALIKE * shortest_us {
        let reason = format!(
            "writes of 16 KiB in turn take {shortest_us:.0} to {longest_us:.0} us, whether in one area or in up to {many:.0}"
        );
        let none = Finding::undetermined(AREAS, format!("{reason}: there is no log"));
        return vec![Finding::class(CLASS, "pages", reason), none];
    }
    let [in_one, in_many] = [times[0][1], least(&times[times.len() - MANY..])];
    let reason = format!(
        "writes of 16 KiB take {in_one:.0} us in one area, and {in_many:.0} at least in turn in {:.0} to {many:.0}",
        times[times.len() - MANY][0]
    );
    if in_many < LONGER_IN_MANY * in_one {
        return all(format!("{reason}, which is neither as long nor much longer"));
    }
    let [near, far] = reads;
    if far > (1.0 + SAME_READS) * near {
        return all(format!(
            "{reason}, but reads take {near:.0} us in one and {far:.0} in {many:.0}: the map is not all in memory"
        ));
    }
    let areas = areas(&trials.samples);
    vec![Finding::class(CLASS, "log blocks", reason), areas]
}

/// How many areas are fast at least, of a drive with log blocks.
fn areas(trials: &[[f64; 2]]) -> Finding {
    let Some(Fall { between: [fast, slow], us }) = falls(trials) else {
        return Finding::undetermined(
            AREAS,
            "writes take longer little by little as there are more areas: none can be said to be one too many",
        );
    };
    let reason = format!(
        "writes of 16 KiB in turn take {:.0} us at most in up to {fast:.0} areas, and {:.0} at least in {slow:.0} and more",
        us[0], us[1]
    );
    Finding::at_least(AREAS, fast, "", reason)
}

#[cfg(test)]
mod tests {
    use fourcorners_record::diagnosis::Value;

    use super::*;

    /// Two trials of each number of areas, whose writes take as long as `us` says.
    fn measured(us: impl Fn(f64) -> f64, reads: [f64; 2]) -> Vec<Series> {
        let of = |samples| Series { what: String::new(), samples };
        let counts = (0..11).map(|power| f64::from(1 << power)).chain([11.0, 12.0, 14.0]);
        // One of both trials waits for what another has left.
        let trials = counts.flat_map(|count| [[count, us(count)], [count, 2000.0 + us(count)]]);
        let [near, far] = reads.map(|us| of(vec![[0.0, us]; 20]));
        vec![of(trials.collect()), near, far]
    }

    /// The class, and the least number of areas.
    fn said(series: &[Series]) -> (Option<String>, Option<Value>) {
        let [class, areas] = &estimate(series)[..] else { panic!("two findings") };
        assert_eq!([&class.key[..], &areas.key], [CLASS, AREAS]);
        (class.as_class().map(String::from), areas.value.clone())
    }

    #[test]
    fn a_rate_that_falls_for_good_at_a_number_of_areas_is_of_log_blocks() {
        let falls = |count: f64| if count <= 11.0 { 300.0 } else { 9000.0 };
        let said_of = |us: &dyn Fn(f64) -> f64| said(&measured(us, [100.0, 102.0]));
        let log_blocks = Some("log blocks".to_string());
        assert_eq!(said_of(&falls), (log_blocks.clone(), Some(Value::Number(11.0))));
        // The same at any number is of a map by pages, whatever it is.
        assert_eq!(said_of(&|_| 9000.0), (Some("pages".into()), None));
        // Little by little.
        assert_eq!(said_of(&|count| 300.0 * count.powf(0.7)), (log_blocks, None));
    }

    #[test]
    fn what_is_slower_for_another_reason_is_not_taken_for_log_blocks() {
        let falls = |count: f64| if count <= 11.0 { 300.0 } else { 9000.0 };
        // Reads are slower in many areas, too: the map is read.
        assert_eq!(said(&measured(falls, [100.0, 130.0])).0, None);
        // Some numbers are slow, and the largest are not.
        let for_a_while = |count: f64| if count == 64.0 { 9000.0 } else { 300.0 };
        assert_eq!(said(&measured(for_a_while, [100.0; 2])).0, None);
        // Twice as long is neither.
        let a_little = |count: f64| if count <= 11.0 { 300.0 } else { 600.0 };
        assert_eq!(said(&measured(a_little, [100.0; 2])).0, None);
        assert_eq!(said(&measured(|_| 0.0, [100.0; 2])).0, None);
        assert_eq!(estimate(&[])[0].as_class(), None);
    }
}
