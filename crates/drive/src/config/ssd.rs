//! The parameters of an SSD.

use serde::{Deserialize, Serialize};

use super::{
    CheckpointSection, CompressionSection, ConfigError, FlashSection, GcSection, HeatSection,
    HostSection, LinkSection, LogBlocksSection, MapSection, NandCellsSection, NandSection,
    NandSuspendSection, PcieLinkSection, PowerSection, SataLinkSection, SlcBufferSection,
    StreamsSection, TrimSection, VariationMode, VariationSection, WearSection, WriteLimitSection,
    within,
};

/// An SSD as data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SsdConfig {
    /// The host in front of it.
    pub host: HostSection,
    /// The link to it.
    pub link: LinkSection,
    /// The link of the host controller, if it may be the slower one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<PcieLinkSection>,
    /// What the user sees.
    pub capacity: CapacitySection,
    /// The processor in the drive.
    pub controller: ControllerSection,
    /// Where writes wait for the NAND.
    pub buffer: BufferSection,
    /// The flash.
    pub nand: NandSection,
    /// The cells of the flash; without it all pages of a block are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nand_cells: Option<NandCellsSection>,
    /// Programs and erases that make way for reads; without it none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nand_suspend: Option<NandSuspendSection>,
    /// Garbage collection.
    pub gc: GcSection,
    /// How fast host writes are taken while collection moves data; without it as fast as the flash is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_limit: Option<WriteLimitSection>,
    /// The TRIM command, and the secure erase.
    pub trim: TrimSection,
    /// The map; absent: units of 4 KiB, all of it in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<MapSection>,
    /// A log-block map in place of the page map and its garbage collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_blocks: Option<LogBlocksSection>,
    /// Hot and cold data kept apart; without it all data is alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamsSection>,
    /// Blocks used with one bit a cell, which host data goes to first; without it there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_buffer: Option<SlcBufferSection>,
    /// A controller that stores less of data that compresses; without it all is stored as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<CompressionSection>,
    /// Pauses in which the firmware saves its map; without it there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointSection>,
    /// How the flash wears out; without it, it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearSection>,
    /// What the flash is rated for; without it nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<FlashSection>,
    /// What it draws; without it the drive has no energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerSection>,
    /// How warm it gets by that, and what it does then; without it the drive has no temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<HeatSection>,
    /// How its times vary; without it each operation of a kind takes the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<VariationSection>,
}

impl Default for SsdConfig {
    /// A small drive of no model: 1 GB behind SATA of 6 Gb/s, with one GiB of flash on eight dies, a host
    /// and a controller that cost nothing, and none of the optional mechanisms.
    fn default() -> SsdConfig {
        SsdConfig {
            host: HostSection::default(),
            link: LinkSection::Sata(SataLinkSection::default()),
            upstream: None,
            capacity: CapacitySection::default(),
            controller: ControllerSection::default(),
            buffer: BufferSection::default(),
            nand: NandSection::default(),
            nand_cells: None,
            nand_suspend: None,
            gc: GcSection::default(),
            write_limit: None,
            trim: TrimSection::default(),
            map: None,
            log_blocks: None,
            streams: None,
            slc_buffer: None,
            compression: None,
            checkpoint: None,
            wear: None,
            flash: None,
            power: None,
            heat: None,
            variation: None,
        }
    }
}

/// What the user sees of an SSD.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapacitySection {
    /// Addressable sectors of 512 bytes.
    pub sectors: u64,
    /// Commands it takes at once: up to 32 on SATA (NCQ), up to 65,535 on PCIe (NVMe).
    pub queue_depth: u32,
    /// KiB that one command moves at most, 64 to 2^20: the host's driver splits a longer I/O into several, which are
    /// done when the last is. None where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_kib: Option<u32>,
}

impl Default for CapacitySection {
    /// 1 GB, which leaves 6 % of the default flash to collection, and all that NCQ allows at once.
    fn default() -> CapacitySection {
        CapacitySection { sectors: 1_953_120, queue_depth: 32, transfer_kib: None }
    }
}

/// What the drive's processor spends on a command. It handles one at a time, so these are also
/// the drive's limits in commands and bytes a second.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerSection {
    /// Microseconds for a read command.
    pub read_command_us: f64,
    /// Microseconds for a write command.
    pub write_command_us: f64,
    /// Microseconds more for each 4 KiB read.
    pub read_4k_us: f64,
    /// Microseconds more for each 4 KiB written.
    pub write_4k_us: f64,
    /// Microseconds for each 4 KiB that collection or a merge moves, 0 to 10^6: to find out that it is
    /// valid, to move it and to note where it is. None where it is left out; collection in idle time
    /// does not pay it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_4k_us: Option<f64>,
    /// Microseconds from when a read command has been handled to when the drive goes on with it, 0 to 10^6:
    /// latency in which the processor handles other commands. None where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_us: Option<f64>,
    /// Microseconds more, 0 to 10^6, for a read of what was never written or was trimmed, in which the processor handles
    /// other commands: such a read waits for no NAND, and yet for the firmware. None where it is left out; not counted where
    /// `nand.reads_unwritten` has it read all the same, nor of what a write in part reads of its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwritten_read_us: Option<f64>,
    /// Whether it begins with a read, and sends data, as soon as the first 4 KiB of it are handled, and handles the rest
    /// meanwhile, as it does with the data of a write. No where it is left out: it handles all of it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_pipelined: Option<bool>,
    /// The same as `read_latency_us` of a write, and of a flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_latency_us: Option<f64>,
    /// Microseconds from when the data of a flush, or of a write that has to be safe (FUA, or the write cache is
    /// off), is safe to when the drive says so, 0 to 10^6: the firmware notes where it is so that a power cut
    /// does not lose that. Other commands go on meanwhile. None where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_latency_us: Option<f64>,
    /// Commands that the drive has in work at once, 1 to 65,535; others stay in the host's queue in the order they came,
    /// so that a read behind writes without room in the buffer waits with them. No limit where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_slots: Option<u32>,
    /// KiB fetched from NAND ahead of a sequential reader; 0 for none.
    pub read_ahead_kib: u32,
    /// Whether it fetches ahead only as far as data lies in order on the NAND as well, and nothing of
    /// what was written at random; false when absent. Not with `[compression]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_contiguous: Option<bool>,
}

/// The memory in which writes wait for the NAND.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferSection {
    /// KiB of data it holds, counted from admission to the end of the program operation; at
    /// least two rows (pages times planes of a die), one to fill and one to program.
    pub write_kib: u32,
    /// Whether its content survives a power cut, so that a flush need not wait for the NAND.
    pub power_loss_protected: bool,
    /// Whether the volatile write cache is on: a write is answered when the buffer has it; true when absent.
    /// Off, as `hdparm -W 0` sets it, every write is answered as one with FUA, which makes no difference
    /// where the content survives a power cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<bool>,
    /// Whether a unit of the map that is written again while its row is not full takes the place it has
    /// there, so that only the last of such writes is programmed (coalescing); false when absent. What
    /// programs a row before it is full, as a flush does, ends it for the units of the row. Not with `[compression]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coalesce: Option<bool>,
    /// Whether writes in order that cover a unit of the map in part are joined: one that begins where the last of them
    /// ended takes the place that the unit has in its row, and no write waits for the rest of such a unit to be
    /// read; false when absent. Not with `[compression]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<bool>,
}

impl Default for BufferSection {
    /// 64 KiB that a power cut loses.
    fn default() -> BufferSection {
        BufferSection {
            write_kib: 64,
            power_loss_protected: false,
            coalesce: None,
            join: None,
            write_cache: None,
        }
    }
}

impl BufferSection {
    /// Whether a write may be answered before it is safe.
    pub fn write_cache_is_on(&self) -> bool {
        self.write_cache != Some(false)
    }

    /// Whether writes are coalesced.
    pub fn coalesces(&self) -> bool {
        self.coalesce == Some(true)
    }

    /// Whether writes in order are joined.
    pub fn joins(&self) -> bool {
        self.join == Some(true)
    }
}

/// Groups of up to 64 neighbouring units that the map can name.
const MAP_GROUPS: u64 = 1 << 25;

impl SsdConfig {
    /// Whether such a drive can be.
    ///
    /// # Errors
    /// Names the first key whose value makes no drive, the value and its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.host.check()?;
        self.link.check()?;
        self.check_upstream()?;
        self.capacity.check(self.link.most_commands())?;
        self.controller.check()?;
        self.nand.check()?;
        if let Some(cells) = &self.nand_cells {
            cells.check(self.nand.pages_per_block)?;
        }
        if let Some(suspend) = &self.nand_suspend {
            suspend.check()?;
        }
        self.check_map()?;
        if let Some(compression) = &self.compression {
            compression.check(self)?;
            self.check_not_compressed()?;
        }
        let two_rows_kib = (self.row_bytes() * 2).div_ceil(1024) as u32;
        within("buffer.write_kib", self.buffer.write_kib, two_rows_kib..=1 << 22)?;
        for (key, takes_a_place_again) in
            [("buffer.coalesce", self.buffer.coalesces()), ("buffer.join", self.buffer.joins())]
        {
            if takes_a_place_again && self.compression.is_some() {
                let must = format!(
                    "data that compresses less does not fit where a unit is: leave out {key} or \
                     [compression]"
                );
                return Err(ConfigError::new(key, true, must));
            }
        }
        self.gc.check()?;
        if let Some(streams) = &self.streams {
            streams.check(self.unit_bytes() / 1024, self.log_blocks.is_none())?;
            // One row of each stream is being filled, and one is programmed.
            let three_rows_kib = (self.row_bytes() * 3).div_ceil(1024) as u32;
            within("buffer.write_kib", self.buffer.write_kib, three_rows_kib..=1 << 22)?;
        }
        if let Some(slc) = &self.slc_buffer {
            slc.check(self)?;
        }
        if let Some(limit) = &self.write_limit {
            let (merges, folds) = (self.log_blocks.is_some(), self.slc_buffer.is_some());
            limit.check(self.gc.pacing, merges, folds)?;
        }
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint.check()?;
        }
        if let Some(wear) = &self.wear {
            wear.check(self.log_blocks.is_some())?;
        }
        if let Some(flash) = &self.flash {
            flash.check()?;
        }
        self.trim.check()?;
        self.power.as_ref().map_or(Ok(()), PowerSection::check)?;
        if let Some(heat) = &self.heat {
            heat.check(self.power.is_some())?;
        }
        self.variation.as_ref().map_or(Ok(()), VariationSection::check)?;
        self.check_space()
    }

    /// How its times vary; `None` where they do not.
    pub fn variation_that_is_on(&self) -> Option<&VariationSection> {
        self.variation.as_ref().filter(|variation| variation.mode == VariationMode::On)
    }

    /// Refuses what needs to know where a unit lies without asking how much is stored of it.
    fn check_not_compressed(&self) -> Result<(), ConfigError> {
        for (key, value) in [
            ("controller.read_ahead_contiguous", self.controller.read_ahead_contiguous),
            ("nand.reads_unwritten", self.nand.reads_unwritten),
        ] {
            if value == Some(true) {
                let must =
                    format!("data that compresses lies anywhere: leave out {key} or [compression]");
                return Err(ConfigError::new(key, true, must));
            }
        }
        Ok(())
    }

    /// Raw bytes of NAND that hold data; `u64::MAX` for more than a u64 counts.
    pub fn raw_bytes(&self) -> u64 {
        let nand = &self.nand;
        [nand.dies, nand.planes, nand.blocks_per_plane]
            .into_iter()
            .chain([nand.pages_per_block, nand.page_bytes])
            .fold(1, |bytes: u64, factor| bytes.saturating_mul(u64::from(factor)))
    }

    /// Bytes that one program operation writes: a page on every plane of a die.
    pub(crate) fn row_bytes(&self) -> u64 {
        u64::from(self.nand.page_bytes) * u64::from(self.nand.planes)
    }

    /// Blocks of each die that are being written: of each stream, one takes host writes and one what
    /// collection moves.
    pub(crate) fn open_blocks_per_die(&self) -> u32 {
        if self.streams.is_some() { 4 } else { 2 }
    }

    /// Blocks of each die that are used for nothing but an SLC buffer.
    pub(crate) fn slc_blocks_per_die(&self) -> u32 {
        self.slc_buffer.as_ref().map_or(0, |slc| slc.fixed_blocks(self))
    }

    fn check_upstream(&self) -> Result<(), ConfigError> {
        match (&self.link, &self.upstream) {
            (_, None) => Ok(()),
            (LinkSection::Sata(_), Some(upstream)) => upstream.check("upstream"),
            (LinkSection::Pcie(_), Some(upstream)) => Err(ConfigError::new(
                "upstream.lanes",
                upstream.lanes,
                "a drive on PCIe has no host controller in front of it; leave [upstream] out",
            )),
        }
    }

    fn check_space(&self) -> Result<(), ConfigError> {
        let raw = self.raw_bytes();
        let unit = u64::from(self.granule_bytes());
        // The map names groups of 64 neighbours by 26 bits, and needs twice as many names as there are.
        let blocks_in_all = raw / (self.row_bytes() * u64::from(self.nand.pages_per_block));
        let block_units = raw / unit / blocks_in_all;
        if blocks_in_all.saturating_mul(block_units.div_ceil(64)) > MAP_GROUPS {
            let most = format!(
                "its product with dies, planes, pages and their bytes must be at most {} TiB, and \
                 there must be at most 2^25 blocks",
                (MAP_GROUPS * 64 * unit) >> 40
            );
            return Err(ConfigError::new(
                "nand.blocks_per_plane",
                self.nand.blocks_per_plane,
                most,
            ));
        }
        if let Some(log_blocks) = &self.log_blocks {
            if let Some(memory) = self.map.as_ref().and_then(|map| map.memory_kib) {
                let must = "a log-block map is all in memory: map.memory_kib and [log_blocks] exclude each other";
                return Err(ConfigError::new("map.memory_kib", memory, must));
            }
            return log_blocks.check(&self.nand, raw, self.unit_bytes(), self.capacity.sectors);
        }
        let blocks = self.nand.blocks_per_plane;
        let (for_map, for_slc) = (self.map_blocks_per_die(), self.slc_blocks_per_die());
        let open = self.open_blocks_per_die();
        let kept =
            (self.gc.start_free_blocks + open).saturating_add(for_map).saturating_add(for_slc);
        let [block_bytes, unit_bytes] = self.sure_bytes();
        let blocks_of_data = u64::from(self.nand.dies) * u64::from(blocks.saturating_sub(kept));
        let usable = block_bytes * blocks_of_data;
        let user = self.user_units() * unit_bytes;
        // Collection needs blocks that are not all valid: a spare of 1 % beyond what is kept free.
        if user + user / 100 > usable {
            return Err(ConfigError::new(
                "capacity.sectors",
                self.capacity.sectors,
                format_args!(
                    "it must be at most {}, which leaves 1 % spare of the {raw} bytes of NAND less {kept} \
                     blocks a die kept open or free{}{}",
                    usable * 100 / 101 / 512 * u64::from(self.unit_bytes()) / unit_bytes,
                    if for_map > 0 { " or for the map" } else { "" },
                    if for_slc > 0 { " or for [slc_buffer]" } else { "" },
                ),
            ));
        }
        Ok(())
    }

    /// Free blocks a die that collection works to, where `wanted` are asked for: no more than leave 1 % spare
    /// in the others, and more than it begins at. What is won beyond costs ever more, and what is not there
    /// is never won.
    pub fn free_blocks_worked_to(&self, wanted: u32) -> u32 {
        if self.log_blocks.is_some() {
            return wanted;
        }
        let [block_bytes, unit_bytes] = self.sure_bytes();
        let user = self.user_units() * unit_bytes;
        let data = (user + user / 100).div_ceil(block_bytes * u64::from(self.nand.dies));
        let other =
            self.open_blocks_per_die() + self.map_blocks_per_die() + self.slc_blocks_per_die();
        let blocks = u64::from(self.nand.blocks_per_plane);
        let most = blocks.saturating_sub(data + u64::from(other));
        let least = self.gc.start_free_blocks.saturating_add(1);
        wanted.min(u32::try_from(most).unwrap_or(u32::MAX)).max(least)
    }
}

impl CapacitySection {
    fn check(&self, most_commands: u32) -> Result<(), ConfigError> {
        within("capacity.sectors", self.sectors, 8..=1 << 36)?;
        if !self.sectors.is_multiple_of(8) {
            let value = self.sectors;
            return Err(ConfigError::new(
                "capacity.sectors",
                value,
                "it must be a multiple of 8 (4 KiB)",
            ));
        }
        if let Some(kib) = self.transfer_kib {
            within("capacity.transfer_kib", kib, 64..=1 << 20)?;
        }
        within("capacity.queue_depth", self.queue_depth, 1..=most_commands)
    }
}

impl ControllerSection {
    fn check(&self) -> Result<(), ConfigError> {
        within("controller.read_command_us", self.read_command_us, 0.0..=1e6)?;
        within("controller.write_command_us", self.write_command_us, 0.0..=1e6)?;
        within("controller.read_4k_us", self.read_4k_us, 0.0..=1e6)?;
        within("controller.write_4k_us", self.write_4k_us, 0.0..=1e6)?;
        if let Some(moves) = self.move_4k_us {
            within("controller.move_4k_us", moves, 0.0..=1e6)?;
        }
        for (key, latency) in [
            ("controller.read_latency_us", self.read_latency_us),
            ("controller.unwritten_read_us", self.unwritten_read_us),
            ("controller.write_latency_us", self.write_latency_us),
            ("controller.sync_latency_us", self.sync_latency_us),
        ] {
            if let Some(latency) = latency {
                within(key, latency, 0.0..=1e6)?;
            }
        }
        if let Some(slots) = self.command_slots {
            within("controller.command_slots", slots, 1..=65_535)?;
        }
        within("controller.read_ahead_kib", self.read_ahead_kib, 0..=65_536)
    }
}
