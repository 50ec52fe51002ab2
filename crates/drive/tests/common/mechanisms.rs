//! Mechanisms that a drive need not have, drawn for a drive that has none.

use fourcorners_drive::config::*;

use super::draw::Numbers;

/// Gives a drive some of the mechanisms that the reference model does not know, each if it makes a
/// drive with what there is already.
pub fn add(numbers: &mut impl Numbers, profile: &mut SsdConfig) {
    // Log blocks come before what they exclude.
    let mechanisms: [(u64, Mechanism); 23] = [
        (30, cells),
        (30, suspend),
        (30, registers),
        (60, unit),
        (20, log_blocks),
        (30, map_memory),
        (40, slc_buffer),
        (40, compression),
        (40, wear),
        (20, batches),
        (40, stall),
        (30, moves),
        (90, coalesce),
        (40, join),
        (20, transfers),
        (30, checkpoint),
        (20, contiguous),
        (20, unwritten),
        (15, write_cache),
        (20, latency),
        (40, variation),
        (20, command_slots),
        (30, heat),
    ];
    for (percent, mechanism) in mechanisms {
        if numbers.percent(percent) {
            let mut changed = profile.clone();
            mechanism(&mut changed, &mut |bound| numbers.below(bound));
            if changed.check().is_ok() {
                *profile = changed;
            }
        }
    }
}

/// Draws numbers below a bound.
type Below<'a> = &'a mut dyn FnMut(u64) -> u64;

type Mechanism = fn(&mut SsdConfig, Below<'_>);

fn cells(profile: &mut SsdConfig, below: Below<'_>) {
    let kinds = [CellKind::Slc, CellKind::Mlc, CellKind::Tlc];
    let bits = 1 + below(3) as u32;
    let orders = [PageOrder::InTurn, PageOrder::Shadow];
    let pages_per_level = 1 + below(2) as u32;
    let mut ratio = |from_bits| (bits >= from_bits).then(|| 0.5 + below(80) as f64 / 10.0);
    profile.nand_cells = Some(NandCellsSection {
        kind: kinds[bits as usize - 1],
        middle_program_ratio: ratio(3),
        upper_program_ratio: ratio(2),
        middle_read_ratio: ratio(3),
        upper_read_ratio: ratio(2),
        order: orders[below(2) as usize],
        pages_per_level,
    });
    // Word lines fill a block.
    let word_line = bits * pages_per_level;
    let pages = profile.nand.pages_per_block;
    profile.nand.pages_per_block = pages.next_multiple_of(word_line);
}

fn suspend(profile: &mut SsdConfig, below: Below<'_>) {
    let mut wait = |percent| (below(100) < percent).then(|| below(1000) as f64 / 10.0);
    profile.nand_suspend = Some(NandSuspendSection {
        program_suspend_us: wait(50),
        erase_suspend_us: wait(90),
        resume_us: below(500) as f64 / 10.0,
        most_suspensions: 1 + below(10) as u32,
        patience_us: (below(2) == 0).then(|| below(3000) as f64 / 10.0),
    });
}

fn registers(profile: &mut SsdConfig, below: Below<'_>) {
    profile.nand.cache_reads = Some(below(2) == 0);
    profile.nand.cache_programs = Some(below(2) == 0);
    profile.nand.rest_read_ratio = [None, Some(0.0), Some(0.5), Some(1.0)][below(4) as usize];
}

fn join(profile: &mut SsdConfig, below: Below<'_>) {
    profile.buffer.join = Some(below(5) > 0);
}

fn transfers(profile: &mut SsdConfig, below: Below<'_>) {
    profile.capacity.transfer_kib = Some(64 << below(4));
}

fn command_slots(profile: &mut SsdConfig, below: Below<'_>) {
    profile.controller.command_slots = Some(1 + below(40) as u32);
}

fn contiguous(profile: &mut SsdConfig, below: Below<'_>) {
    profile.controller.read_ahead_contiguous = Some(below(3) > 0);
}

fn unwritten(profile: &mut SsdConfig, below: Below<'_>) {
    profile.nand.reads_unwritten = Some(below(3) > 0);
}

fn unit(profile: &mut SsdConfig, below: Below<'_>) {
    let unit_bytes = Some(4096 << below(5));
    profile.map = Some(MapSection { unit_bytes, ..MapSection::default() });
}

fn map_memory(profile: &mut SsdConfig, below: Below<'_>) {
    let page = profile.nand.page_bytes * (1 + below(4) as u32);
    let memory_kib = Some((page * (2 + below(6) as u32)).div_ceil(1024));
    let map = profile.map.take().unwrap_or_default();
    profile.map = Some(MapSection { memory_kib, page_bytes: Some(page), ..map });
    // The map's blocks come on top of those for data.
    profile.nand.blocks_per_plane += 16;
}

fn log_blocks(profile: &mut SsdConfig, below: Below<'_>) {
    let replacements = [LogReplacement::Oldest, LogReplacement::LeastRecentlyWritten];
    let dies = u64::from(profile.nand.dies);
    profile.log_blocks = Some(LogBlocksSection {
        count: 1 + below(6) as u32,
        associativity: [1, 2, 4, u32::MAX][below(4) as usize],
        stripe_dies: 1 + below(dies) as u32,
        replacement: replacements[below(2) as usize],
        sequential: below(2) == 0,
    });
}

fn batches(profile: &mut SsdConfig, below: Below<'_>) {
    let gc = &mut profile.gc;
    gc.pacing = Pacing::Batched;
    gc.batch_free_blocks = Some(gc.start_free_blocks + 1 + below(12) as u32);
    gc.batch_moves = Some(1 + below(12) as u32);
}

/// Of delayed drives only; others do not use it.
fn stall(profile: &mut SsdConfig, below: Below<'_>) {
    profile.gc.stall = Some([Stall::Block, Stall::Victim][below(2) as usize]);
}

fn moves(profile: &mut SsdConfig, below: Below<'_>) {
    profile.controller.move_4k_us = Some(below(500) as f64 / 10.0);
}

fn slc_buffer(profile: &mut SsdConfig, below: Below<'_>) {
    let given = profile.nand_cells.as_ref().map(|cells| cells.kind);
    let cell_bits = match given {
        Some(CellKind::Slc) => return,
        Some(CellKind::Mlc) => 2,
        Some(CellKind::Tlc) => 3,
        None => 2 + below(3) as u32,
    };
    let nand = &mut profile.nand;
    let pages = nand.pages_per_block.max(cell_bits).next_multiple_of(cell_bits);
    nand.pages_per_block = pages;
    let row_bytes = u64::from(nand.planes) * u64::from(nand.page_bytes);
    let mib_per_block = row_bytes * u64::from(pages / cell_bits * nand.dies) / (1 << 20);
    let mut mib = || (below(3) > 0).then(|| (mib_per_block * (1 + below(4))).max(1) as u32);
    let (fixed_mib, dynamic_mib) = (mib(), mib());
    let policies = [WhenSlcFull::Direct, WhenSlcFull::Fold];
    profile.slc_buffer = Some(SlcBufferSection {
        dynamic_mib: if fixed_mib.is_none() { Some(1) } else { dynamic_mib },
        fixed_mib,
        cell_bits,
        program_us: below(4000) as f64 / 10.0,
        read_us: below(500) as f64 / 10.0,
        when_full: policies[below(2) as usize],
        idle_ms: [0.0, 0.1, 2.0][below(3) as usize],
        fold_mb_per_s: (below(2) == 0).then(|| 1.0 + below(500) as f64),
    });
    // Its blocks come on top of those for data, and so do its rows.
    let block = row_bytes * u64::from(pages / cell_bits);
    let on_top = profile.slc_buffer.as_ref().and_then(|slc| slc.fixed_mib);
    let on_top = on_top.map_or(0, |mib| (u64::from(mib) << 20).div_ceil(block));
    profile.nand.blocks_per_plane += on_top.div_ceil(u64::from(profile.nand.dies)) as u32;
    let row_kib = row_bytes.div_ceil(1024) as u32;
    profile.buffer.write_kib = profile.buffer.write_kib.max(4 * row_kib);
}

fn coalesce(profile: &mut SsdConfig, below: Below<'_>) {
    profile.buffer.coalesce = Some(below(4) > 0);
}

pub fn latency(profile: &mut SsdConfig, below: Below<'_>) {
    profile.controller.read_latency_us = Some(below(300) as f64 / 10.0);
    profile.controller.write_latency_us = Some(below(300) as f64 / 10.0);
    profile.controller.unwritten_read_us = Some(below(300) as f64 / 10.0);
    profile.controller.read_pipelined = Some(below(2) > 0);
    profile.controller.sync_latency_us = Some(below(3000) as f64 / 10.0);
}

pub fn variation(profile: &mut SsdConfig, below: Below<'_>) {
    let mut up_to = |most: f64| below(101) as f64 / 100.0 * most;
    profile.variation = Some(VariationSection {
        mode: VariationMode::On,
        read_spread: up_to(0.25),
        retries_per_million: up_to(10_000.0),
        retries_per_million_worn: up_to(10_000.0),
        program_spread: up_to(0.25),
        collection_spread: up_to(0.25),
        host_spread: up_to(0.5),
        host_delays_per_million: up_to(10_000.0),
        host_delay_us: up_to(100.0),
        tick_ms: up_to(5.0),
        tick_us: up_to(20.0),
        drift: up_to(0.05),
        seed: below(1 << 32) as u32,
        upper_read_ratio: (below(4) > 0).then(|| 0.5 + below(151) as f64 / 100.0),
        middle_read_ratio: (below(2) > 0).then(|| 0.5 + below(151) as f64 / 100.0),
        suspend_spread: (below(2) > 0).then(|| below(101) as f64 / 100.0),
        write_drift: (below(2) > 0).then(|| below(51) as f64 / 1000.0),
    });
}

fn write_cache(profile: &mut SsdConfig, below: Below<'_>) {
    profile.buffer.write_cache = Some(below(4) == 0);
}

fn compression(profile: &mut SsdConfig, below: Below<'_>) {
    // A drive does not have both.
    profile.slc_buffer = None;
    profile.compression = Some(CompressionSection {
        granule_bytes: 512 << below(4),
        least_stored_percent: 1 + below(100) as u32,
        overhead_bytes: [0, 0, 16, below(2000) as u32][below(4) as usize],
        parity_rows: (below(2) == 0).then(|| 2 + below(40) as u32),
        store_4k_us: (below(2) == 0).then(|| below(300) as f64 / 10.0),
    });
    // Parity, overhead and what is left over at the ends of blocks come on top of the data.
    profile.nand.blocks_per_plane *= 3;
}

fn checkpoint(profile: &mut SsdConfig, below: Below<'_>) {
    let every_writes = 1 + below(300) as u32;
    profile.checkpoint = Some(CheckpointSection {
        every_writes,
        by_data: every_writes.is_multiple_of(2).then_some(true),
        pause_us: below(50_000) as f64 / 10.0,
    });
}

/// Also one that is too warm from the first command on, and one that never is.
fn heat(profile: &mut SsdConfig, below: Below<'_>) {
    profile.power.get_or_insert_with(super::power);
    let throttle_c = 26.0 + below(40) as f64;
    profile.heat = Some(HeatSection {
        throttle: [HeatThrottle::On, HeatThrottle::Off][usize::from(below(5) == 0)],
        sink: [HeatSink::None, HeatSink::Fitted][below(2) as usize],
        package_c_per_w: below(200) as f64 / 10.0,
        package_s: 0.1 + below(20) as f64 / 10.0,
        throttle_c,
        resume_c: throttle_c - below(100) as f64 / 100.0,
        throttled_percent: 1.0 + below(100) as f64,
        work_ms: 0.01 + below(500) as f64 / 100.0,
        ..HeatSection::default()
    });
}

fn wear(profile: &mut SsdConfig, below: Below<'_>) {
    let levellings = [Levelling::None, Levelling::Dynamic, Levelling::Static];
    profile.wear = Some(WearSection {
        endurance_cycles: [5, 50, 1000, 1_000_000][below(4) as usize],
        endurance_sigma_percent: below(250) as f64 / 10.0,
        seed: below(1 << 32),
        levelling: levellings[below(3) as usize],
        threshold_cycles: 1 + below(20) as u32,
        interval_blocks: 1 + below(20) as u32,
    });
}
