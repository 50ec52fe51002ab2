//! The map against a list of what was written.

use super::*;
use crate::config::*;
use crate::random::SplitMix64;

/// A small drive: dies, stripe, planes, pages a block, user units, log blocks, associativity.
fn map(random: &mut SplitMix64) -> LogBlockMap {
    let stripe = 1 + random.below(3);
    let dies = stripe * (1 + random.below(3));
    let (planes, pages) = (1 + random.below(3), 1 + random.below(8));
    let logs = 1 + random.below(4);
    let block = stripe * planes * pages;
    let user_units = 1 + random.below(12 * block);
    let needed = user_units.div_ceil(block) + logs + 1;
    let section = LogBlocksSection {
        count: logs,
        associativity: [1, 2, u32::MAX][random.below(3) as usize],
        stripe_dies: stripe,
        replacement: match random.below(2) {
            0 => LogReplacement::Oldest,
            _ => LogReplacement::LeastRecentlyWritten,
        },
        sequential: random.below(4) > 0,
    };
    let config = SsdConfig {
        capacity: CapacitySection {
            sectors: u64::from(user_units) * 8,
            ..CapacitySection::default()
        },
        buffer: BufferSection { write_kib: 256, ..BufferSection::default() },
        nand: NandSection {
            channels: 1,
            dies,
            planes,
            pages_per_block: pages,
            blocks_per_plane: needed.div_ceil(dies / stripe).max(8),
            ..NandSection::default()
        },
        log_blocks: Some(section.clone()),
        ..SsdConfig::default()
    };
    config.check().unwrap_or_else(|error| panic!("{error}"));
    LogBlockMap::new(&config, &section)
}

/// What is found is what was written, each in a place of its own.
fn compare(map: &LogBlockMap, written: &[bool]) -> Result<(), String> {
    map.check().map_err(|wrong| wrong.to_string())?;
    let mut taken = vec![false; (map.shape().blocks() * map.shape().units_per_block) as usize];
    for (unit, &is_written) in (0..).zip(written) {
        let place = map.find(unit);
        if place.is_some() != is_written {
            return Err(format!("unit {unit}: {place:?}, written: {is_written}"));
        }
        if let Some(place) = place
            && std::mem::replace(&mut taken[place as usize], true)
        {
            return Err(format!("unit {unit} shares its place {place}"));
        }
    }
    Ok(())
}

#[test]
fn what_was_written_is_found_and_nothing_else() {
    let mut kinds = MergeCounts::default();
    for seed in 0..300 {
        let mut random = SplitMix64::new(seed);
        let mut map = map(&mut random);
        let mut written = vec![false; map.user_units() as usize];
        let mut programmed = 0;
        for step in 0..300 {
            let first = random.below(map.user_units());
            let most = [2, map.stripe.units_per_superblock * 2][random.below(2) as usize];
            let end = (first + 1 + random.below(most)).min(map.user_units());
            let mut placed = Vec::new();
            match random.below(8) {
                0 => (first..end).for_each(|unit| {
                    map.trim(unit);
                    written[unit as usize] = false;
                }),
                1 => placed.extend(map.pad()),
                _ => {
                    for unit in first / 4 * 4..end {
                        placed.extend(map.cut_row_before(unit));
                        placed.push(map.write(unit));
                        written[unit as usize] = true;
                    }
                }
            }
            programmed += placed.iter().filter(|placed| placed.row_full).count() as u64;
            if random.below(3) == 0 {
                while let Some((_, chores)) = map.next_chores() {
                    programmed += u64::from(chores.rows_programmed());
                }
            }
            compare(&map, &written)
                .unwrap_or_else(|error| panic!("seed {seed}, step {step}: {error}"));
        }
        let (count, row) = (map.counts(), u64::from(map.shape().units_per_row));
        assert_eq!(
            count.host_units + count.moved_units + count.padded_units,
            programmed * row + map.pending_units(),
            "seed {seed}"
        );
        kinds.switch_merges += map.merges().switch_merges;
        kinds.partial_merges += map.merges().partial_merges;
        kinds.full_merges += map.merges().full_merges;
    }
    // All kinds were met, many times.
    assert!(kinds.switch_merges > 1000 && kinds.partial_merges > 1000, "{kinds:?}");
    assert!(kinds.full_merges > 1000, "{kinds:?}");
}
