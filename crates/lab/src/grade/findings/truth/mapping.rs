//! How a drive maps: what is so, and whether its times can tell.

use fourcorners_drive::config::{LogBlocksSection, SsdConfig};

use crate::diagnose::{mapped_bytes_in_turn, most_mapped_areas};

use super::told::{Told, Truth};

/// What is written in turn is more than a buffer holds by this factor.
const BEYOND_BUFFER: u64 = 4;
pub(super) fn of(ssd: &SsdConfig, key: &str) -> (Truth, Told) {
    match (&ssd.log_blocks, key) {
        (Some(_), "mapping") => (Truth::Class("log blocks"), by_blocks(ssd)),
        (None, "mapping") => (Truth::Class("pages"), by_pages(ssd)),
        // Areas may lie in two blocks each: a bound is all that can be said.
        (Some(log), _) => (Truth::Number(areas(log) as f64, 0.0), Told::No),
        (None, _) => (Truth::None, Told::No),
    }
}

/// Areas that log blocks take at a time: so many blocks share each.
fn areas(log: &LogBlocksSection) -> u64 {
    u64::from(log.count) * u64::from(log.associativity)
}

fn is_beyond_buffer(ssd: &SsdConfig) -> bool {
    let in_turn = mapped_bytes_in_turn(ssd.capacity.sectors * 512);
    BEYOND_BUFFER * u64::from(ssd.buffer.write_kib) * 1024 < in_turn
}

/// A cache takes some at another rate, and a map that is not all in memory costs more in many areas.
fn by_pages(ssd: &SsdConfig) -> Told {
    let has_all_of_map = ssd.map.as_ref().and_then(|map| map.memory_kib).is_none();
    let is_plain = has_all_of_map && ssd.slc_buffer.is_none();
    if is_plain && is_beyond_buffer(ssd) { Told::Yes } else { Told::Perhaps }
}

fn block_bytes(ssd: &SsdConfig, log: &LogBlocksSection) -> u64 {
    let blocks = u64::from(ssd.nand.dies / log.stripe_dies) * u64::from(ssd.nand.blocks_per_plane);
    ssd.raw_bytes() / blocks
}

/// The largest numbers of areas are of more blocks than the log has room for.
fn by_blocks(ssd: &SsdConfig) -> Told {
    let Some(log) = &ssd.log_blocks else { return Told::No };
    let capacity = ssd.capacity.sectors * 512;
    let blocks = capacity / block_bytes(ssd, log);
    let too_many = blocks.min(most_mapped_areas(capacity) / 4) > 2 * areas(log);
    if too_many && is_beyond_buffer(ssd) { Told::Yes } else { Told::Perhaps }
}
