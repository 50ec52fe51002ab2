//! The flash translation layer: where each unit of the user's space is on the NAND, and how
//! space is won back. It knows no time.
//!
//! Words: a *unit* is the grain of the map, mostly 4 KiB; a *row* is written by one program operation;
//! a *block* is freed by one erase.
//!
//! - **Placement**: host data fills one row (one page on every plane of a die) after the other, die after
//!   die, so that consecutive data lies on all dies. Dies are filled in turn and emptied by chance, so a drive
//!   of several small dies is as fast as its fullest one.
//! - **Units** (`map.unit_bytes`, 4 KiB by default) are written whole. A write of part of a unit reads the
//!   rest, unless that is still in the buffer or was never written. A unit may be smaller or larger than a
//!   NAND page; of a larger one only the needed pages are transferred. `ssd/units.rs` alone knows how sectors,
//!   units and pages relate.
//! - **Collection stays within a die**: the victim is a closed block of the die, and its data goes to a
//!   collection block of the same die, so its cost is one addition to one die's time. The map moves a victim's
//!   valid data at once; the work is charged little by little. `paced` charges valid / invalid units of the
//!   victim for every unit the host writes, and carries over what one victim did not take, so that the
//!   die's free space, open blocks included, stays at the reserve (`pace.rs`). `delayed` does nothing until a
//!   die is about to run out, and then empties whole blocks. Data that the host overwrites or trims while its
//!   victim is being charged is copied all the same: up to a block per die, a third of a second after a TRIM
//!   of the whole drive.
//! - **The map points to fragments** (`fragments.rs`): up to 64 units written one after the other. Collection
//!   moves some tens of fragments per block instead of rewriting some hundred map entries all over memory.
//!   Overwriting touches a fragment and a count; the live places of a victim follow from its fragments when it
//!   is chosen. Overwriting makes fragments sparse; one pass over the map regroups them when there are
//!   four times as many as needed. Every place is the one a plain map would give: `tests/reference/`, a
//!   model of one page at a time, has the same completion times to the nanosecond on 1,000 random drives.
//! - **A victim is searched, not kept ready** (`gc.policy`, `victim.rs`): the policy scans the die's
//!   blocks once per victim. Lists by valid count or age would change with every overwrite, which is the hot path. A
//!   block's age is noted only when it is closed. A policy may choose a block without free space (FIFO
//!   does, with cold data): the copy gains nothing, which is the real cost of such a policy.

mod batch;
mod blocks;
mod check;
mod coalesce;
mod collect;
mod die;
mod emptying;
mod end_of_life;
mod fold;
mod fragments;
mod labels;
mod levelling;
mod live;
mod log_block;
mod pace;
mod plain;
mod restore;
mod schedule;
mod shape;
mod slc;
mod stored;
mod stream;
mod temperature;
mod translation;
mod victim;
mod wear;

use serde::{Deserialize, Serialize};

use crate::config::{Pacing, SsdConfig};
use crate::nand::{Chores, PageKinds};
use crate::prefetch::prefetch;
use blocks::Block;
use die::{DieSpace, Fronts};
use end_of_life::EndOfLife;
use fragments::{Entry, Filling, Forgotten, Fragments, Slot};
use labels::Labels;
use live::LiveBits;
use schedule::{Ahead, Batch, collects_by_victim};
use slc::SlcBuffer;
use temperature::Streams;
use victim::VictimChooser;

pub use log_block::MergeCounts;
pub(crate) use restore::FtlState;
pub(crate) use shape::{LogicalUnit, PhysicalUnit, Shape};
pub(crate) use slc::FoldWork;
pub(crate) use stream::{FRONTS, Stream};
pub(crate) use translation::Translation;

/// Map, blocks and collection of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Ftl {
    shape: Shape,
    page_kinds: PageKinds,
    start_free_blocks: u32,
    /// Blocks of each die that are being written.
    open_blocks: u32,
    pacing: Pacing,
    /// How the drive collects while the host writes in order, and whether it does now.
    ahead: Option<Ahead>,
    in_order: bool,
    /// Whether a delayed drive empties one victim at a time.
    by_victim: bool,
    /// How it collects in batches, and whether it is in one.
    batch: Option<Batch>,
    in_batch: bool,
    /// By logical unit: the slot of the fragment that knows where it is.
    map: Vec<Slot>,
    fragments: Fragments,
    /// By place of the block that is looked at: the map leads here.
    live: Vec<u64>,
    dies: Vec<DieSpace>,
    victims: VictimChooser,
    end_of_life: EndOfLife,
    /// Of a drive that keeps hot and cold data apart.
    streams: Option<Streams>,
    /// Of a drive with one.
    slc: Option<SlcBuffer>,
    /// By stream: the row that host data goes into.
    rows: [OpenRow; FRONTS],
    counts: FtlCounts,
}

/// A row that host data is filling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct OpenRow {
    /// The die it is on; with none open, the one whose turn is next.
    die: u32,
    /// Units it still takes; 0 when the next unit begins a row.
    left: u32,
}

/// Units moved since the drive was made, or with compression, granules that are stored of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FtlCounts {
    /// Units the host wrote.
    pub(crate) host_units: u64,
    /// Those of them that took the place of what was in an open row.
    pub(crate) absorbed_units: u64,
    /// Units collection moved.
    pub(crate) moved_units: u64,
    /// Those of them that were in the SLC buffer.
    pub(crate) folded_units: u64,
    /// Units of rows that were programmed before they were full, and granules that were left over at
    /// the end of a block.
    pub(crate) padded_units: u64,
    /// Parity of other rows.
    pub(crate) parity_units: u64,
}

/// What became of a unit the host wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    /// The die it went to.
    pub(crate) die: u32,
    /// The stream it belongs to.
    pub(crate) stream: Stream,
    /// Whether it filled its row, which is now to be programmed, after the die's chores.
    pub(crate) row_full: bool,
}

impl Ftl {
    /// The map of a drive that was never written. `config` has passed its check.
    pub(crate) fn new(config: &SsdConfig) -> Ftl {
        let shape = Shape::new(config);
        let pages = config.nand.pages_per_block;
        let mut dies = levelling::new_dies(shape, config.wear.as_ref());
        if config.streams.is_some() {
            dies.iter_mut().for_each(|die| die.labels = Some(Labels::new(shape.blocks_per_die)));
        }
        let slc = config.slc_buffer.as_ref().map(|section| SlcBuffer::new(config, section, shape));
        if let Some(slc) = &slc {
            dies.iter_mut().for_each(|die| die.slc = Some(Box::new(slc.of_die(&mut die.blocks))));
        }
        Ftl {
            shape,
            page_kinds: PageKinds::new(config.nand_cells.as_ref(), pages),
            start_free_blocks: config.gc.start_free_blocks,
            open_blocks: config.open_blocks_per_die(),
            pacing: config.gc.pacing,
            ahead: Ahead::new(config),
            in_order: false,
            by_victim: collects_by_victim(&config.gc),
            batch: Batch::new(config),
            in_batch: false,
            map: vec![Slot::NOWHERE; config.user_units() as usize],
            fragments: Fragments::none(shape),
            live: vec![0; live::words_of_block(shape)],
            dies,
            victims: VictimChooser::new(&config.gc),
            end_of_life: EndOfLife::new(config),
            streams: config.streams.as_ref().map(|section| Streams::new(config, section)),
            slc,
            rows: [OpenRow::default(); FRONTS],
            counts: FtlCounts::default(),
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether some rows hold the parity of others.
    #[inline(always)]
    pub(crate) fn has_parity(&self) -> bool {
        self.shape.has_parity()
    }

    pub(crate) fn counts(&self) -> FtlCounts {
        self.counts
    }

    /// Units the user can address.
    pub(crate) fn user_units(&self) -> u32 {
        self.map.len() as u32
    }

    /// Units, or granules, that data can occupy: all but failed blocks, those of an SLC buffer and what
    /// every die keeps free, in whole blocks and in its open ones. Those are half full on average, so of
    /// two open blocks one is kept free (with streams, of four two).
    ///
    /// This is when a paced die begins to collect, to the unit, and with it the closed forms of
    /// write amplification hold for drives of a few hundred blocks; counting open blocks as
    /// empty puts the spare of such a drive off by a block. (Delayed collection has half a block
    /// a die more, because it chooses its victims only when the host's block is full.)
    pub(crate) fn usable_units(&self) -> u64 {
        let slc = self.slc.map_or(0, |slc| slc.fixed_blocks);
        let kept = u64::from(self.open_blocks / 2 + self.start_free_blocks + slc);
        let per_die = u64::from(self.shape.blocks_per_die) - kept;
        let usable = per_die * u64::from(self.shape.dies);
        usable.saturating_sub(self.retired_blocks()) * u64::from(self.shape.units_per_block)
    }

    /// Forgets everything, as a secure erase does; the counts go on.
    pub(crate) fn erase_all(&mut self) {
        self.map.fill(Slot::NOWHERE);
        self.fragments.clear_all();
        self.erase_dies();
        self.in_batch = false;
        self.rows = [OpenRow::default(); FRONTS];
        if let Some(streams) = &mut self.streams {
            streams.forget();
        }
        self.retry_slc();
    }

    /// Units that the user's data takes if it does not compress.
    pub(crate) fn most_user_units(&self) -> u64 {
        u64::from(self.user_units()) * u64::from(self.shape.most_granules)
    }

    /// Where a unit is, if it was ever written.
    #[inline]
    pub(crate) fn find(&self, unit: LogicalUnit) -> Option<PhysicalUnit> {
        let slot = self.map[unit as usize];
        (slot != Slot::NOWHERE).then(|| self.fragments.place(slot))
    }

    /// Asks for the map's entry of a unit that will be used soon. With [`Ftl::prefetch_fragment`] it is a
    /// step of two, the second of which needs what the first brought into the processor's cache: the
    /// caller leaves time between them. What else a write changes is small enough to stay there.
    #[inline(always)]
    pub(crate) fn prefetch_map(&self, unit: LogicalUnit) {
        prefetch(&self.map, unit as usize);
    }

    /// Asks for the fragment that the map leads to.
    #[inline(always)]
    pub(crate) fn prefetch_fragment(&self, unit: LogicalUnit) {
        if let Some(&slot) = self.map.get(unit as usize) {
            self.fragments.prefetch(slot);
        }
    }

    /// Whether there are streams to tell apart.
    #[inline]
    pub(crate) fn has_streams(&self) -> bool {
        self.streams.is_some()
    }

    /// The stream of a unit that is written next.
    #[inline]
    pub(crate) fn stream_for(&mut self, unit: LogicalUnit) -> Stream {
        let stream = match &mut self.streams {
            None => Stream::Cold,
            Some(streams) => streams.stream_for(unit),
        };
        if self.slc.is_some() { self.slc_or(stream) } else { stream }
    }

    /// Whether what the host writes from now on goes on where something ended that it wrote.
    pub(crate) fn writes_in_order(&mut self, in_order: bool) {
        self.in_order = in_order;
    }

    /// The block host data of `die` goes into and the row of it that is being filled.
    #[inline]
    pub(crate) fn open_row(&self, die: u32, stream: Stream) -> (Block, u32) {
        let host = self.dies[die as usize].fronts[stream.index()].host;
        (host.block, self.shape.row_of(host.filled).0)
    }

    /// Whether the next unit of a stream begins a row.
    #[inline]
    pub(crate) fn at_row_start(&self, stream: Stream) -> bool {
        self.rows[stream.index()].left == 0
    }

    /// Units that are placed and not programmed yet: in rows that are not full, in those that
    /// collection fills while the host's row is still open, and those whose move is not charged yet.
    pub(crate) fn pending_units(&self) -> u64 {
        let row = self.shape.units_per_row;
        let of_die = |die: &DieSpace| {
            let uncharged = die.victim.map_or(0, |victim| victim.uncharged());
            let moving = die.chores.rows_programmed() * row + uncharged;
            let in_rows = |fronts: &Fronts| fronts.host.filled % row + fronts.charged % row;
            u64::from(die.fronts.iter().map(in_rows).sum::<u32>() + moving)
        };
        self.dies.iter().map(of_die).sum()
    }

    /// Writes units of host data to their stream, each of `weight` places, `count` of them from `first`
    /// on or as many as the row takes. Returns how many; `None` when the drive is worn out.
    ///
    /// Of a unit of several places the row takes what fits, and the die's next row the rest: see
    /// [`Ftl::cut_row_before`], which has been asked.
    #[inline]
    pub(crate) fn write(
        &mut self,
        first: LogicalUnit,
        count: u32,
        stream: Stream,
        weight: u32,
    ) -> Option<(u32, Placed)> {
        if self.at_row_start(stream) {
            self.begin_row(stream)?;
        }
        let OpenRow { die, left } = self.rows[stream.index()];
        let (count, places) = match weight {
            1 => (count.min(left), count.min(left)),
            weight => self.fitting(count, weight, die, stream),
        };
        self.counts.host_units += u64::from(places);
        self.forget(first, count);
        let space = &mut self.dies[die as usize];
        let fronts = &mut space.fronts[stream.index()];
        let block = self.shape.block_of_die(die, fronts.host.block);
        let place = block * self.shape.units_per_block + fronts.host.filled;
        fronts.host.filled += places;
        space.blocks.add_valid(fronts.host.block, places);
        let entries = &mut self.map[first as usize..(first + count) as usize];
        self.fragments.append(&mut fronts.filling, block, place, entries, weight as u16);
        self.rows[stream.index()].left = left.saturating_sub(places);
        Some((count, self.row_done(die, stream)))
    }

    /// Opens the row that the next unit of a stream goes to; `None` when the drive is worn out.
    #[inline(always)]
    fn begin_row(&mut self, stream: Stream) -> Option<()> {
        if self.fragments.are_many() {
            self.gather();
        }
        let die = self.die_with_room(stream)?;
        let mut left = self.shape.units_per_row;
        if self.shape.compresses() {
            // It may have the rest of a unit of the die's row before.
            let filled = self.dies[die as usize].fronts[stream.index()].host.filled;
            left -= self.shape.row_of(filled).1;
        }
        self.rows[stream.index()] = OpenRow { die, left };
        Some(())
    }

    /// Fills up a row that host data goes into with nothing, so that it can be programmed. `None`
    /// when no row is begun.
    pub(crate) fn pad(&mut self) -> Option<Placed> {
        let stream = Stream::ALL.into_iter().find(|&stream| !self.at_row_start(stream))?;
        Some(self.pad_row(stream))
    }

    /// The same of the row of a stream, which is begun.
    fn pad_row(&mut self, stream: Stream) -> Placed {
        let row = &mut self.rows[stream.index()];
        let (die, padding) = (row.die, std::mem::take(&mut row.left));
        let fronts = &mut self.dies[die as usize].fronts[stream.index()];
        fronts.host.filled += padding;
        // The places of a fragment lie one behind the other.
        fronts.filling = Filling::NONE;
        self.counts.padded_units += u64::from(padding);
        self.row_done(die, stream)
    }

    /// The unit holds nothing of value any more.
    #[inline]
    pub(crate) fn trim(&mut self, unit: LogicalUnit) {
        self.forget(unit, 1);
        self.map[unit as usize] = Slot::NOWHERE;
    }

    /// What a die has to do before it programs the row that was filled last.
    #[inline]
    pub(crate) fn take_chores(&mut self, die: u32) -> Chores {
        std::mem::take(&mut self.dies[die as usize].chores)
    }

    #[inline]
    fn row_done(&mut self, die: u32, stream: Stream) -> Placed {
        let row_full = self.at_row_start(stream);
        if row_full {
            self.row_filled(die, stream);
        }
        Placed { die, stream, row_full }
    }

    fn row_filled(&mut self, die: u32, stream: Stream) {
        if let Some(labels) = &mut self.dies[die as usize].labels {
            labels.host_wrote(self.shape.units_per_row);
        }
        // One of an SLC buffer took no space of the main blocks.
        if stream != Stream::Slc {
            self.collect_for_row(die);
        }
        self.turn_to_next_die(die, stream);
    }

    /// The next row of a stream goes to the die after the one whose row was filled; the parity behind that
    /// is counted.
    #[inline(always)]
    fn turn_to_next_die(&mut self, die: u32, stream: Stream) {
        self.rows[stream.index()].die = if die + 1 == self.shape.dies { 0 } else { die + 1 };
        self.count_parity(die, stream);
    }

    /// Does what is due of collection with a row of the main blocks.
    #[inline(always)]
    fn collect_for_row(&mut self, die: u32) {
        if self.pacing == Pacing::Paced {
            self.collect_at_pace(die);
        } else if let Some(batch) = self.batch {
            self.collect_in_batch(die, batch);
        } else if let Some(ahead) = self.ahead
            && self.in_order
        {
            self.collect_ahead(die, ahead);
        } else if self.by_victim {
            self.collect_by_victim(die);
        }
    }

    /// The old places of `count` units are dead.
    #[inline]
    fn forget(&mut self, first: LogicalUnit, count: u32) {
        if count == 1 {
            let slot = self.map[first as usize];
            if slot != Slot::NOWHERE {
                self.forget_slots(slot, 1);
            }
            return;
        }
        self.forget_run(first, count);
    }

    /// The same, of units of which many were written together.
    fn forget_run(&mut self, first: LogicalUnit, count: u32) {
        let (mut next, end) = (first as usize, (first + count) as usize);
        // Of what was never written there is nothing to forget.
        if self.map[next..end].iter().fold(u32::MAX, |all, slot| all & slot.bits()) == u32::MAX {
            return;
        }
        while next < end {
            let slot = self.map[next];
            if slot == Slot::NOWHERE {
                next += 1;
                continue;
            }
            let following = self.map[next + 1..end].iter().zip(1..);
            let following = following.take_while(|&(next, by)| next.follows(slot, by)).count();
            next += self.forget_slots(slot, 1 + following as u32) as usize;
        }
    }

    /// What is in slots of one fragment is dead, as far as it is in one block. Returns how many slots.
    #[inline]
    fn forget_slots(&mut self, first: Slot, most: u32) -> u32 {
        let Forgotten { count, places, at } = self.fragments.forget(first, most);
        let (die, block) = self.shape.die_of(self.shape.block_of(at).0);
        self.dies[die as usize].blocks.remove_valid(block, places);
        count
    }

    /// Makes few fragments of many.
    #[cold]
    fn gather(&mut self) {
        let fronts = self.dies.iter_mut().flat_map(|die| &mut die.fronts);
        fronts.for_each(|fronts| fronts.filling = Filling::NONE);
        if self.shape.compresses() {
            return self.fragments.regroup_stored(&mut self.map, self.shape);
        }
        self.fragments.regroup(&mut self.map, self.shape);
    }
}
