//! The map against a list of what was written.

use super::*;
use crate::profile::*;
use crate::random::SplitMix64;

fn set<T>(value: T) -> Sourced<T> {
    Sourced { value, standing: Standing::Set, source: "test".into(), note: None }
}

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
        count: set(logs),
        associativity: set([1, 2, u32::MAX][random.below(3) as usize]),
        stripe_dies: set(stripe),
        replacement: set(match random.below(2) {
            0 => LogReplacement::Oldest,
            _ => LogReplacement::LeastRecentlyWritten,
        }),
        sequential: set(random.below(4) > 0),
    };
    let profile = SsdProfile {
        host: HostSection { command_us: set(0.0), read_command_us: None, write_command_us: None },
        link: LinkSection::Sata(SataLinkSection {
            gbps: set(6.0),
            command_us: set(0.0),
            frame_us: set(0.0),
        }),
        upstream: None,
        capacity: CapacitySection { sectors: set(u64::from(user_units) * 8), queue_depth: set(32) },
        controller: ControllerSection {
            read_command_us: set(0.0),
            write_command_us: set(0.0),
            read_4k_us: set(0.0),
            write_4k_us: set(0.0),
            move_4k_us: None,
            read_ahead_kib: set(0),
            read_ahead_contiguous: None,
            read_latency_us: None,
            write_latency_us: None,
        },
        buffer: BufferSection {
            write_kib: set(256),
            power_loss_protected: set(false),
            coalesce: None,
            write_cache: None,
        },
        nand: NandSection {
            channels: set(1),
            dies: set(dies),
            planes: set(planes),
            page_bytes: set(4096),
            pages_per_block: set(pages),
            blocks_per_plane: set(needed.div_ceil(dies / stripe).max(8)),
            read_us: set(50.0),
            program_us: set(500.0),
            erase_us: set(2000.0),
            bus_mb_per_s: set(400.0),
            cache_reads: None,
            cache_programs: None,
            reads_unwritten: None,
        },
        gc: GcSection {
            start_free_blocks: set(2),
            pacing: set(Pacing::Paced),
            policy: set(VictimPolicy::Greedy),
            stall: None,
            choices: set(2),
            seed: set(1),
            idle_ms: None,
            idle_free_blocks: None,
            sequential_free_blocks: None,
            sequential_gain: None,
            sequential_commands: None,
            batch_free_blocks: None,
            batch_moves: None,
        },
        trim: TrimSection {
            supported: set(true),
            mode: None,
            range_us: None,
            command_us: None,
            us_per_mib: None,
            partial_percent: None,
            deferred_s: None,
            secure_erase_s: None,
        },
        nand_cells: None,
        nand_suspend: None,
        log_blocks: Some(section.clone()),
        streams: None,
        slc_buffer: None,
        wear: None,
        flash: None,
        map: None,
        compression: None,
        checkpoint: None,
        power: None,
    };
    profile.check().unwrap_or_else(|error| panic!("{error}"));
    LogBlockMap::new(&profile, &section)
}

/// What is found is what was written, each in a place of its own.
fn compare(map: &LogBlockMap, written: &[bool]) -> Result<(), String> {
    map.check()?;
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
