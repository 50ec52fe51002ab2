//! Closed forms of what a drive's parts can do: by them it is decided what its times can tell.

use fourcorners_drive::Ssd;
use fourcorners_drive::config::{LinkSection, SsdConfig, WhenSlcFull};

use crate::diagnose::greedy_amplification;

/// Microseconds that the array takes for a page: what was written in order lies in the SLC buffer, if there is one.
pub(super) fn array_us(ssd: &SsdConfig) -> f64 {
    ssd.slc_buffer.as_ref().map_or(ssd.nand.read_us, |slc| slc.read_us)
}

/// Microseconds of a read of 4 KiB.
pub(super) fn read_us(ssd: &SsdConfig) -> f64 {
    let firmware_us = ssd.host.command_us + ssd.controller.read_command_us;
    let transfer_us = f64::from(ssd.nand.page_bytes) / ssd.nand.bus_mb_per_s;
    firmware_us + array_us(ssd) + transfer_us + link_us(ssd, 4096)
}

/// Microseconds of data on the link, without what a command adds.
pub(super) fn link_us(ssd: &SsdConfig, bytes: u32) -> f64 {
    match &ssd.link {
        // Ten bits a byte, in frames of 8 KiB.
        LinkSection::Sata(sata) => {
            f64::from(bytes) / (sata.gbps * 100.0) + f64::from(bytes.div_ceil(8192)) * sata.frame_us
        }
        // 24 bytes more for each packet.
        LinkSection::Pcie(pcie) => {
            let gigabytes =
                [0.25, 0.5, 0.985, 1.97, 3.94][pcie.generation.clamp(1, 5) as usize - 1];
            let payload = f64::from(pcie.max_payload_bytes);
            f64::from(bytes) * (1.0 + 24.0 / payload) / (gigabytes * 1e3 * f64::from(pcie.lanes))
        }
    }
}

/// Microseconds that a command adds on the link.
pub(super) fn link_command_us(ssd: &SsdConfig) -> f64 {
    match &ssd.link {
        LinkSection::Sata(sata) => sata.command_us,
        LinkSection::Pcie(_) => 0.0,
    }
}

/// Microseconds that a write of this many bytes takes at least if others follow it at once: the slower of link and
/// firmware.
pub(super) fn write_us(ssd: &SsdConfig, bytes: u32) -> f64 {
    let controller = &ssd.controller;
    let link = link_us(ssd, bytes) + link_command_us(ssd);
    let firmware = controller.write_command_us + f64::from(bytes / 4096) * controller.write_4k_us;
    link.max(firmware).max(ssd.host.command_us)
}

/// The program time of what is written first.
pub(super) fn program_us(ssd: &SsdConfig) -> f64 {
    ssd.slc_buffer.as_ref().map_or(ssd.nand.program_us, |slc| slc.program_us)
}

/// Rows that the buffer holds beside those that are being filled.
pub(super) fn rows_in_buffer(ssd: &SsdConfig) -> u64 {
    let row = u64::from(ssd.nand.page_bytes) * u64::from(ssd.nand.planes);
    let filling = 1 + u64::from(ssd.slc_buffer.is_some()) + u64::from(ssd.streams.is_some());
    (u64::from(ssd.buffer.write_kib) * 1024 / row).saturating_sub(filling).max(1)
}

/// 10^6 bytes a second that the flash takes, with so many microseconds a program: no more dies are at work than rows are in
/// the buffer.
pub(super) fn flash_mb_per_s(ssd: &SsdConfig, program_us: f64) -> f64 {
    let nand = &ssd.nand;
    let row = f64::from(nand.planes * nand.page_bytes);
    let at_work = f64::from(nand.dies).min(rows_in_buffer(ssd) as f64);
    let by_program = at_work * row / (program_us + row / nand.bus_mb_per_s);
    by_program.min(f64::from(nand.channels) * nand.bus_mb_per_s)
}

/// 10^6 bytes a second of writes in order that link and firmware take.
pub(super) fn link_mb_per_s(ssd: &SsdConfig) -> f64 {
    let block = 128 << 10;
    f64::from(block) / write_us(ssd, block)
}

/// 10^6 bytes a second that the flash takes of writes in order, while there is room in the SLC cache and afterwards; the
/// same twice without one.
pub(super) fn before_and_behind_cache_mb_per_s(ssd: &SsdConfig) -> [f64; 2] {
    let main = flash_mb_per_s(ssd, ssd.nand.program_us);
    let Some(slc) = &ssd.slc_buffer else { return [main; 2] };
    let fast = flash_mb_per_s(ssd, slc.program_us);
    // Until a block is read and programmed again the next waits, and all goes through both.
    let row = f64::from(ssd.nand.planes * ssd.nand.page_bytes);
    let moves =
        flash_mb_per_s(ssd, ssd.nand.program_us + slc.read_us + row / ssd.nand.bus_mb_per_s);
    let slow = match slc.when_full {
        WhenSlcFull::Direct => main,
        WhenSlcFull::Fold => 1.0 / (1.0 / fast + 1.0 / moves),
    };
    [fast, slow]
}

/// What 4 KiB that are written at random within the first bytes of a drive need.
#[derive(Clone, Copy)]
struct RandomWrites<'a> {
    ssd: &'a SsdConfig,
    /// 10^6 bytes a second that the flash takes while it moves nothing, and what it moves.
    written_mb_per_s: f64,
    moved_mb_per_s: f64,
    /// Microseconds of the flash for the map.
    map_us: f64,
}

impl RandomWrites<'_> {
    /// A cache is full. A page of the map that is not in memory is read, and one that was changed is programmed for it, by so
    /// large a share of the dies at a time.
    fn of(ssd: &SsdConfig, span_bytes: f64, at_work: f64) -> RandomWrites<'_> {
        let nand = &ssd.nand;
        let row = f64::from(nand.planes * nand.page_bytes);
        let move_us = nand.program_us + nand.read_us + row / nand.bus_mb_per_s;
        let kib = ssd.map.as_ref().and_then(|map| map.memory_kib);
        let reach = kib.map_or(f64::INFINITY, |kib| f64::from(kib) * 1024.0 / 4.0 * 4096.0);
        let missed = (1.0 - reach / span_bytes).max(0.0);
        let [_, written_mb_per_s] = before_and_behind_cache_mb_per_s(ssd);
        RandomWrites {
            ssd,
            written_mb_per_s,
            moved_mb_per_s: flash_mb_per_s(ssd, move_us),
            map_us: missed * (nand.read_us + nand.program_us) / (f64::from(nand.dies) * at_work),
        }
    }

    /// Microseconds of one of them, for which so many units are moved.
    fn us(&self, moves: f64) -> f64 {
        let controller = &self.ssd.controller;
        let flash = 4096.0 / self.written_mb_per_s + moves * 4096.0 / self.moved_mb_per_s;
        let firmware = controller.write_command_us
            + controller.write_4k_us
            + moves * controller.move_4k_us.unwrap_or(0.0);
        let link = link_us(self.ssd, 4096) + link_command_us(self.ssd);
        (flash + self.map_us).max(firmware).max(link)
    }
}

/// Whether the flash limits writes at random before a drive collects, and not the link or the firmware.
pub(super) fn limits_at_random(ssd: &SsdConfig) -> bool {
    let writes = RandomWrites::of(ssd, ssd.capacity.sectors as f64 * 512.0, 1.0);
    4096.0 / writes.written_mb_per_s >= 0.98 * writes.us(0.0)
}

/// Microseconds of 4 KiB written at random in half of the drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct RandomUs {
    /// When it is only filled.
    pub(super) filled: f64,
    /// When all of it is used: there are no free blocks then to be an SLC cache.
    pub(super) used: f64,
    /// When it is used and the other half is trimmed: free blocks make an SLC cache of those again that have one of them, which
    /// is full or not.
    pub(super) trimmed: [f64; 2],
}

impl RandomUs {
    /// By theory of random writes and so many times as many moves: 1 of dies that fill evenly. A half that nobody writes lies
    /// still, so that the spare is twice as large a share of the other.
    pub(super) fn of(ssd: &SsdConfig, uneven: f64) -> RandomUs {
        let spare = 2.0 * Ssd::new(ssd).map_or(0.0, |made| made.effective_op());
        let writes = RandomWrites::of(ssd, ssd.capacity.sectors as f64 * 256.0, 1.0);
        let moves = |spare: f64| uneven * (greedy_amplification(spare) - 1.0);
        let has_dynamic = ssd.slc_buffer.as_ref().is_some_and(|slc| slc.dynamic_mib.is_some());
        let [in_cache, behind] = before_and_behind_cache_mb_per_s(ssd);
        let main = flash_mb_per_s(ssd, ssd.nand.program_us);
        let [without, again] = if has_dynamic { [main, in_cache] } else { [behind; 2] };
        let at = |written_mb_per_s: f64| RandomWrites { written_mb_per_s, ..writes };
        RandomUs {
            filled: writes.us(0.0),
            used: at(without).us(moves(spare)),
            trimmed: [behind, again].map(|rate| at(rate).us(moves(spare + 1.0))),
        }
    }
}

/// By how many times 4 KiB written at random take longer once a full drive collects, which has written this share of itself
/// by then: of a block the e-th power of it is still valid, and so many times as much is moved. Writes anywhere wait for the
/// map, whose reads wait for its programs.
pub(super) fn fall_at_collection(ssd: &SsdConfig, written: f64, uneven: f64) -> f64 {
    let writes = RandomWrites::of(ssd, ssd.capacity.sectors as f64 * 512.0, 0.5);
    let valid = (-written).exp();
    writes.us(uneven * valid / (1.0 - valid)) / writes.us(0.0)
}

/// By how many times 4 KiB written at random anywhere take longer of a used drive than of one that was only filled, by theory
/// and so many times as many moves.
pub(super) fn slower_when_used(ssd: &SsdConfig, uneven: f64) -> f64 {
    let writes = RandomWrites::of(ssd, ssd.capacity.sectors as f64 * 512.0, 0.5);
    let spare = Ssd::new(ssd).map_or(0.0, |made| made.effective_op());
    writes.us(uneven * (greedy_amplification(spare) - 1.0)) / writes.us(0.0)
}
