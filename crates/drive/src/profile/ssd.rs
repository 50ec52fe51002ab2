//! The parameters of an SSD.

use serde::{Deserialize, Serialize};

use super::{
    CheckpointSection, CompressionSection, HostSection, LinkSection, LogBlocksSection, MapSection,
    NandCellsSection, NandSuspendSection, PcieLinkSection, PowerSection, ProfileError,
    SlcBufferSection, Sourced, StreamsSection, TrimSection, WearSection, within,
};

/// An SSD as data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SsdProfile {
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
    /// What it draws; without it the drive has no energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerSection>,
}

/// What the user sees of an SSD.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapacitySection {
    /// Addressable sectors of 512 bytes.
    pub sectors: Sourced<u64>,
    /// Commands it takes at once: up to 32 on SATA (NCQ), up to 65,535 on PCIe (NVMe).
    pub queue_depth: Sourced<u32>,
}

/// What the drive's processor spends on a command. It handles one at a time, so these are also
/// the drive's limits in commands and bytes a second.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerSection {
    /// Microseconds for a read command.
    pub read_command_us: Sourced<f64>,
    /// Microseconds for a write command.
    pub write_command_us: Sourced<f64>,
    /// Microseconds more for each 4 KiB read.
    pub read_4k_us: Sourced<f64>,
    /// Microseconds more for each 4 KiB written.
    pub write_4k_us: Sourced<f64>,
    /// Microseconds for each 4 KiB that collection or a merge moves, 0 to 10^6: to find out that it is
    /// valid, to move it and to note where it is. None where it is left out; collection in idle time
    /// does not pay it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_4k_us: Option<Sourced<f64>>,
    /// KiB fetched from NAND ahead of a sequential reader; 0 for none.
    pub read_ahead_kib: Sourced<u32>,
    /// Whether it fetches ahead only as far as data lies in order on the NAND as well, and nothing of
    /// what was written at random; false when absent. Not with `[compression]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_contiguous: Option<Sourced<bool>>,
}

/// The memory in which writes wait for the NAND.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferSection {
    /// KiB of data it holds, counted from admission to the end of the program operation; at
    /// least two rows (pages times planes of a die), one to fill and one to program.
    pub write_kib: Sourced<u32>,
    /// Whether its content survives a power cut, so that a flush need not wait for the NAND.
    pub power_loss_protected: Sourced<bool>,
    /// Whether a unit of the map that is written again while its row is not full takes the place it has
    /// there, so that only the last of such writes is programmed (coalescing); false when absent. What
    /// programs a row before it is full, as a flush does, ends it for the units of the row. Not with `[compression]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coalesce: Option<Sourced<bool>>,
}

impl BufferSection {
    /// Whether writes are coalesced.
    pub fn coalesces(&self) -> bool {
        self.coalesce.as_ref().is_some_and(|coalesce| coalesce.value)
    }
}

/// The flash: its shape and its times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NandSection {
    /// Buses between controller and dies.
    pub channels: Sourced<u32>,
    /// Dies in all, spread evenly over the channels.
    pub dies: Sourced<u32>,
    /// Planes a die, programmed, read and erased together.
    pub planes: Sourced<u32>,
    /// Bytes of data a page; a read of less costs the page.
    pub page_bytes: Sourced<u32>,
    /// Pages a block.
    pub pages_per_block: Sourced<u32>,
    /// Blocks a plane that hold data.
    pub blocks_per_plane: Sourced<u32>,
    /// Microseconds from array to page register (tR), mean over the pages of a block.
    pub read_us: Sourced<f64>,
    /// Microseconds to program a page, mean over the pages of a block (tPROG).
    pub program_us: Sourced<f64>,
    /// Microseconds to erase a block (tBERS).
    pub erase_us: Sourced<f64>,
    /// 10^6 bytes a second over one channel.
    pub bus_mb_per_s: Sourced<f64>,
    /// Whether a row is read while the one before is on its way out of a second register (cache
    /// reads); false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_reads: Option<Sourced<bool>>,
    /// Whether a row's data comes in while the one before is programmed (cache programs); false when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_programs: Option<Sourced<bool>>,
    /// Whether what was never written, or trimmed, is read from where it would lie had the drive been
    /// written in order, as a controller does that does not ask its map first; false when absent: such
    /// reads touch no NAND. Not with `[compression]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_unwritten: Option<Sourced<bool>>,
}

/// Garbage collection, within a die.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcSection {
    /// Free blocks a die, 1 to 1024, at which collection starts; they are also its reserve. Paced
    /// collection can keep a reserve of 2 or more, with `[streams]` of 3 or more; with less it
    /// stalls like a delayed one.
    pub start_free_blocks: Sourced<u32>,
    /// When the work is done.
    pub pacing: Sourced<Pacing>,
    /// Which block is collected.
    pub policy: Sourced<VictimPolicy>,
    /// How much a delayed drive does at a time, `block` where it is left out; other pacings do not
    /// use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<Sourced<Stall>>,
    /// Blocks that `d_choices` draws, 1 to 1024; other policies do not use it.
    pub choices: Sourced<u32>,
    /// Where the random numbers of `d_choices` and `random` begin, any number; other policies do
    /// not use it.
    pub seed: Sourced<u64>,
    /// Milliseconds without a command, 0 to 10^9, after which dies with nothing to do collect until
    /// the next; absent when the drive does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<Sourced<f64>>,
    /// Free blocks a die that it works to then, more than `start_free_blocks` and up to 2^20; given
    /// with `idle_ms` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_free_blocks: Option<Sourced<u32>>,
    /// Free blocks a die, more than `start_free_blocks` and up to 2^20, that
    /// `delayed_until_sequential` restores while the host writes in order; it needs this and the next
    /// two, which nothing else uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_free_blocks: Option<Sourced<u32>>,
    /// Units of space that it wins back for each that a write in order takes, until there is that
    /// much, 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_gain: Option<Sourced<u32>>,
    /// The latest write commands, 1 to 256, that one goes on with if it begins where it ended: more
    /// than one lets several files be written in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_commands: Option<Sourced<u32>>,
    /// Free blocks a die on average, more than `start_free_blocks` and up to 2^20, with which a
    /// `batched` drive ends a batch; it needs this and the next, which nothing else uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_free_blocks: Option<Sourced<u32>>,
    /// Units that it moves in a batch for each the host writes, 1 to 1000; more where that does not
    /// win as much as the host uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_moves: Option<Sourced<u32>>,
}

/// Which of a die's closed blocks is collected, its victim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VictimPolicy {
    /// The one with the fewest valid units: the least write amplification under uniform writes.
    Greedy,
    /// The one closed longest ago, a log that is cleaned from its tail: wears all blocks alike and
    /// copies cold data for ever.
    Fifo,
    /// The one of the greatest age x (1 - u) / 2u, u being the share of valid units (Kawaguchi,
    /// Nishioka and Motoda 1995, after Rosenblum and Ousterhout 1992): cold blocks are collected
    /// at a higher u than hot ones.
    CostBenefit,
    /// The one with the fewest valid units of `gc.choices` drawn at random, one maybe twice: what
    /// a controller does that cannot afford to look at all (Van Houdt 2013).
    DChoices,
    /// Any one, drawn at random: write amplification (1 + op) / op.
    Random,
}

/// When a block that was chosen for collection is emptied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// A little with every host write, so that the block is empty when it is needed.
    Paced,
    /// All at once when a die is about to run out: nothing until then, a long stall there.
    Delayed,
    /// The same while the host writes at random; while it writes in order, ahead of need, until
    /// there are `gc.sequential_free_blocks` (Crucial m4 and C300 as AnandTech describes them).
    DelayedUntilSequential,
    /// Nothing until a die is about to run out; then the whole drive moves as much with every write,
    /// however much space that wins, until dies have `gc.batch_free_blocks` on average.
    Batched,
}

/// How much collection a delayed drive does at a time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stall {
    /// When the host's block is full and another must be opened: as many victims as it takes to win
    /// one.
    Block,
    /// When a die's space is down to its reserve: one victim, which lasts for as many rows of host
    /// data as it wins.
    Victim,
}

/// Groups of up to 64 neighbouring units that the map can name.
const MAP_GROUPS: u64 = 1 << 25;

impl SsdProfile {
    /// Whether such a drive can be.
    ///
    /// # Errors
    /// Names the first key whose value makes no drive, the value and its range.
    pub fn check(&self) -> Result<(), ProfileError> {
        self.host.check()?;
        self.link.check()?;
        self.check_upstream()?;
        self.capacity.check(self.link.most_commands())?;
        self.controller.check()?;
        self.nand.check()?;
        if let Some(cells) = &self.nand_cells {
            cells.check(&self.nand.pages_per_block)?;
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
        within("buffer.write_kib", &self.buffer.write_kib, two_rows_kib..=1 << 22)?;
        if self.buffer.coalesces() && self.compression.is_some() {
            let must = "data that compresses less does not fit where a unit is: leave out \
                        buffer.coalesce or [compression]";
            return Err(ProfileError::new("buffer.coalesce", true, must));
        }
        self.gc.check()?;
        if let Some(streams) = &self.streams {
            streams.check(self)?;
        }
        if let Some(slc) = &self.slc_buffer {
            slc.check(self)?;
        }
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint.check()?;
        }
        if let Some(wear) = &self.wear {
            wear.check(self.log_blocks.is_some())?;
        }
        self.trim.check()?;
        self.power.as_ref().map_or(Ok(()), PowerSection::check)?;
        self.check_space()
    }

    /// Refuses what needs to know where a unit lies without asking how much is stored of it.
    fn check_not_compressed(&self) -> Result<(), ProfileError> {
        for (key, value) in [
            ("controller.read_ahead_contiguous", &self.controller.read_ahead_contiguous),
            ("nand.reads_unwritten", &self.nand.reads_unwritten),
        ] {
            if value.as_ref().is_some_and(|value| value.value) {
                let must =
                    format!("data that compresses lies anywhere: leave out {key} or [compression]");
                return Err(ProfileError::new(key, true, must));
            }
        }
        Ok(())
    }

    /// Raw bytes of NAND that hold data; `u64::MAX` for more than a u64 counts.
    pub fn raw_bytes(&self) -> u64 {
        let nand = &self.nand;
        [nand.dies.value, nand.planes.value, nand.blocks_per_plane.value]
            .into_iter()
            .chain([nand.pages_per_block.value, nand.page_bytes.value])
            .fold(1, |bytes: u64, factor| bytes.saturating_mul(u64::from(factor)))
    }

    /// Bytes that one program operation writes: a page on every plane of a die.
    pub(crate) fn row_bytes(&self) -> u64 {
        u64::from(self.nand.page_bytes.value) * u64::from(self.nand.planes.value)
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

    fn check_upstream(&self) -> Result<(), ProfileError> {
        match (&self.link, &self.upstream) {
            (_, None) => Ok(()),
            (LinkSection::Sata(_), Some(upstream)) => upstream.check("upstream"),
            (LinkSection::Pcie(_), Some(upstream)) => Err(ProfileError::new(
                "upstream.lanes",
                upstream.lanes.value,
                "a drive on PCIe has no host controller in front of it; leave [upstream] out",
            )),
        }
    }

    fn check_space(&self) -> Result<(), ProfileError> {
        let raw = self.raw_bytes();
        let unit = u64::from(self.granule_bytes());
        // The map names groups of 64 neighbours by 26 bits, and needs twice as many names as there are.
        let blocks_in_all = raw / (self.row_bytes() * u64::from(self.nand.pages_per_block.value));
        let block_units = raw / unit / blocks_in_all;
        if blocks_in_all.saturating_mul(block_units.div_ceil(64)) > MAP_GROUPS {
            let most = format!(
                "its product with dies, planes, pages and their bytes must be at most {} TiB, and \
                 there must be at most 2^25 blocks",
                (MAP_GROUPS * 64 * unit) >> 40
            );
            return Err(ProfileError::new(
                "nand.blocks_per_plane",
                self.nand.blocks_per_plane.value,
                most,
            ));
        }
        if let Some(log_blocks) = &self.log_blocks {
            return log_blocks.check(self);
        }
        let blocks = self.nand.blocks_per_plane.value;
        let (for_map, for_slc) = (self.map_blocks_per_die(), self.slc_blocks_per_die());
        let open = self.open_blocks_per_die();
        let kept = (self.gc.start_free_blocks.value + open)
            .saturating_add(for_map)
            .saturating_add(for_slc);
        let [block_bytes, unit_bytes] = self.sure_bytes();
        let blocks_of_data =
            u64::from(self.nand.dies.value) * u64::from(blocks.saturating_sub(kept));
        let usable = block_bytes * blocks_of_data;
        let user = self.user_units() * unit_bytes;
        // Collection needs blocks that are not all valid: a spare of 1 % beyond what is kept free.
        if user + user / 100 > usable {
            return Err(ProfileError::new(
                "capacity.sectors",
                self.capacity.sectors.value,
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
}

impl CapacitySection {
    fn check(&self, most_commands: u32) -> Result<(), ProfileError> {
        within("capacity.sectors", &self.sectors, 8..=1 << 36)?;
        if !self.sectors.value.is_multiple_of(8) {
            let value = self.sectors.value;
            return Err(ProfileError::new(
                "capacity.sectors",
                value,
                "it must be a multiple of 8 (4 KiB)",
            ));
        }
        within("capacity.queue_depth", &self.queue_depth, 1..=most_commands)
    }
}

impl ControllerSection {
    fn check(&self) -> Result<(), ProfileError> {
        within("controller.read_command_us", &self.read_command_us, 0.0..=1e6)?;
        within("controller.write_command_us", &self.write_command_us, 0.0..=1e6)?;
        within("controller.read_4k_us", &self.read_4k_us, 0.0..=1e6)?;
        within("controller.write_4k_us", &self.write_4k_us, 0.0..=1e6)?;
        if let Some(moves) = &self.move_4k_us {
            within("controller.move_4k_us", moves, 0.0..=1e6)?;
        }
        within("controller.read_ahead_kib", &self.read_ahead_kib, 0..=65_536)
    }
}

impl GcSection {
    fn check(&self) -> Result<(), ProfileError> {
        within("gc.start_free_blocks", &self.start_free_blocks, 1..=1024)?;
        within("gc.choices", &self.choices, 1..=1024)?;
        let more = self.start_free_blocks.value + 1;
        if let Some(idle) = &self.idle_ms {
            within("gc.idle_ms", idle, 0.0..=1e9)?;
            let blocks = given("gc.idle_free_blocks", &self.idle_free_blocks, "gc.idle_ms")?;
            within("gc.idle_free_blocks", blocks, more..=1 << 20)?;
        } else if let Some(blocks) = &self.idle_free_blocks {
            let must = "gc.idle_ms must be given with it";
            return Err(ProfileError::new("gc.idle_free_blocks", blocks.value, must));
        }
        use Pacing::{Batched, DelayedUntilSequential};
        for (key, value, range, pacing) in [
            (
                "gc.sequential_free_blocks",
                &self.sequential_free_blocks,
                more..=1 << 20,
                DelayedUntilSequential,
            ),
            ("gc.sequential_gain", &self.sequential_gain, 1..=100, DelayedUntilSequential),
            ("gc.sequential_commands", &self.sequential_commands, 1..=256, DelayedUntilSequential),
            ("gc.batch_free_blocks", &self.batch_free_blocks, more..=1 << 20, Batched),
            ("gc.batch_moves", &self.batch_moves, 1..=1000, Batched),
        ] {
            if self.pacing.value == pacing {
                let because = match pacing {
                    Batched => "gc.pacing = batched",
                    _ => "gc.pacing = delayed_until_sequential",
                };
                given(key, value, because)?;
            }
            if let Some(value) = value {
                within(key, value, range)?;
            }
        }
        Ok(())
    }
}

/// A value that must be there because of another.
fn given<'a, T>(
    key: &str,
    value: &'a Option<Sourced<T>>,
    because: &str,
) -> Result<&'a Sourced<T>, ProfileError> {
    let must = format_args!("{because} needs it");
    value.as_ref().ok_or_else(|| ProfileError::new(key, "absent", must))
}

impl NandSection {
    fn check(&self) -> Result<(), ProfileError> {
        within("nand.channels", &self.channels, 1..=256)?;
        within("nand.dies", &self.dies, 1..=4096)?;
        within("nand.planes", &self.planes, 1..=16)?;
        within("nand.page_bytes", &self.page_bytes, 4096..=65_536)?;
        if !self.page_bytes.value.is_multiple_of(4096) {
            let value = self.page_bytes.value;
            return Err(ProfileError::new(
                "nand.page_bytes",
                value,
                "it must be a multiple of 4096",
            ));
        }
        within("nand.pages_per_block", &self.pages_per_block, 1..=65_536)?;
        within("nand.blocks_per_plane", &self.blocks_per_plane, 8..=1 << 20)?;
        within("nand.read_us", &self.read_us, 0.0..=1e6)?;
        within("nand.program_us", &self.program_us, 0.0..=1e6)?;
        within("nand.erase_us", &self.erase_us, 0.0..=1e7)?;
        within("nand.bus_mb_per_s", &self.bus_mb_per_s, 1.0..=1e5)
    }
}
