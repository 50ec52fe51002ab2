//! Write amplification where data is not all alike: hot and cold, never written, trimmed, in order.

use fourcorners_drive::config::{SsdConfig, VictimPolicy};
use fourcorners_drive::{Op, Ssd};

use crate::common::{Random, closed_loop, fill, io, make, overwrite, times};
use crate::{Comparison, closed_forms, drive, published, write_amplification};

/// A share `writes` of the writes goes to the first share `size` of the user's space.
pub(crate) fn hot_and_cold(profile: &SsdConfig, size: f64, writes: f64) -> f64 {
    let units = profile.capacity.sectors / 8;
    let hot = (units as f64 * size) as u64;
    let mut random = Random(80_20);
    write_amplification(profile, [10, 3], |drive, count| {
        let next = |_| {
            let unit = match (random.below(1000) as f64) < writes * 1000.0 {
                true => random.below(hot),
                false => hot + random.below(units - hot),
            };
            io(Op::Write, unit, 1)
        };
        closed_loop(drive, 32, times(count, next));
    })
}

#[test]
fn hot_and_cold_in_one_fifo_log() {
    let table = published::load();
    let mut comparison = Comparison::default();
    for op in [0.07, 0.28] {
        for (size, writes) in [(0.2, 0.8), (0.1, 0.9)] {
            let classes = [(size, writes), (1.0 - size, 1.0 - writes)];
            let expected = closed_forms::fifo_of_classes(1.0 + op, &classes);
            assert!((expected / table.hot_cold_fifo(op, size) - 1.0).abs() < 1e-3, "{expected}");
            let measured = hot_and_cold(&drive(VictimPolicy::Fifo, 64, op), size, writes);
            let what = format!("FIFO, {:.0} % of writes to {:.0} %", writes * 100.0, size * 100.0);
            comparison.add(format!("{what}, op {op}"), measured, expected, 0.015);
        }
    }
    comparison.finish();
}

/// Rosenblum and Ousterhout (1992, figure 7) and Kawaguchi et al. (1995): cost-benefit takes cold
/// blocks at a higher share of valid units, and gains the more the more the data differs.
#[test]
fn cost_benefit_gains_on_greedy_where_data_is_hot_and_cold() {
    for op in [0.07, 0.28] {
        let of = |policy, size, writes| hot_and_cold(&drive(policy, 64, op), size, writes);
        let gain = |size, writes| {
            let greedy = of(VictimPolicy::Greedy, size, writes);
            let cost = of(VictimPolicy::CostBenefit, size, writes);
            println!("{writes} to {size}, op {op}: greedy {greedy:.4}, cost-benefit {cost:.4}");
            greedy / cost
        };
        let (mild, strong) = (gain(0.2, 0.8), gain(0.1, 0.9));
        assert!(mild > 1.02 && strong > 1.02 * mild, "op {op}: {mild:.3}, {strong:.3}");
    }
}

/// After a sequential fill only a part of the user's space is written, anywhere in it. Blocks of the
/// rest stay all valid: greedy never takes one and the part has all the spare to itself; FIFO
/// copies them for ever.
#[test]
fn cold_blocks_are_pinned_by_greedy_and_copied_by_fifo() {
    let mut comparison = Comparison::default();
    for (op, part) in [(0.1, 0.5), (0.25, 0.25)] {
        let overwrite_part = |policy| {
            let profile = drive(policy, 64, op);
            let span = (profile.capacity.sectors as f64 / 8.0 * part) as u64;
            let mut random = Random(3);
            // FIFO copies all cold blocks in one go, once a turn of the log: measured over many turns.
            write_amplification(&profile, [6, 30], |drive, count| {
                overwrite(drive, &mut random, span, count);
            })
        };
        let a = 1.0 + op;
        let pinned = closed_forms::greedy((a - (1.0 - part)) / part, 64);
        let copied = closed_forms::fifo_of_classes(a, &[(part, 1.0), (1.0 - part, 0.0)]);
        assert!(copied > 1.5 * pinned, "the two can be told apart: {pinned}, {copied}");
        let what = format!("writes to {part}, op {op}");
        comparison.add(
            format!("greedy, {what}"),
            overwrite_part(VictimPolicy::Greedy),
            pinned,
            0.015,
        );
        comparison.add(format!("FIFO, {what}"), overwrite_part(VictimPolicy::Fifo), copied, 0.015);
    }
    comparison.finish();
}

/// Writes anywhere, and a share `trims` of the requests trims a unit that is in use.
fn trimming(profile: &SsdConfig, trims: f64) -> f64 {
    let units = profile.capacity.sectors / 8;
    let mut random = Random(4);
    // The units in use, and where each is in that list.
    let mut used: Vec<u32> = (0..units as u32).collect();
    let mut place: Vec<Option<u32>> = used.iter().copied().map(Some).collect();
    // The share in use settles with exp(-(1 - trims) requests / units).
    write_amplification(profile, [12, 3], |drive: &mut Ssd, count| {
        let next = |_| {
            if (random.below(1000) as f64) < trims * 1000.0 && !used.is_empty() {
                let unit = used.swap_remove(random.below(used.len() as u64) as usize);
                if let Some(&moved) = used.get(place[unit as usize].expect("in use") as usize) {
                    place[moved as usize] = place[unit as usize];
                }
                place[unit as usize] = None;
                return io(Op::Trim, u64::from(unit), 1);
            }
            let unit = random.below(units) as u32;
            if place[unit as usize].is_none() {
                place[unit as usize] = Some(used.len() as u32);
                used.push(unit);
            }
            io(Op::Write, u64::from(unit), 1)
        };
        closed_loop(drive, 32, times(count, next));
    })
}

#[test]
fn trim_is_spare_area() {
    let table = published::load();
    let mut comparison = Comparison::default();
    for trims in [0.1, 0.2, 0.3] {
        let a = closed_forms::with_trims(1.07, trims);
        let expected = closed_forms::fifo(a);
        assert!((expected / table.trim_fifo(trims) - 1.0).abs() < 1e-3, "{expected}");
        let measured = trimming(&drive(VictimPolicy::Fifo, 64, 0.07), trims);
        comparison.add(format!("FIFO, {trims} of requests are TRIM"), measured, expected, 0.015);
        let measured = trimming(&drive(VictimPolicy::Greedy, 64, 0.07), trims);
        let expected = closed_forms::greedy(a, 64);
        comparison.add(format!("greedy, {trims} of requests are TRIM"), measured, expected, 0.015);
    }
    comparison.finish();
}

#[test]
fn writing_all_in_order_moves_nothing() {
    use VictimPolicy::*;
    for policy in [Greedy, Fifo, CostBenefit] {
        let mut profile = drive(policy, 64, 0.07);
        // Whole blocks, so that the passes do not share one.
        profile.capacity.sectors -= profile.capacity.sectors % (64 * 8);
        let mut drive = make(&profile);
        (0..5).for_each(|_| fill(&mut drive));
        assert_eq!(drive.counters().moved_units, 0, "{policy:?}");
    }
}
