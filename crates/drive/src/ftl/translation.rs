//! The two kinds of flash translation layer behind one set of methods.

use super::log_block::{LogBlockMap, MergeCounts};
use super::{
    Block, FoldWork, Ftl, FtlCounts, FtlState, LogicalUnit, PhysicalUnit, Placed, Shape, Stream,
};
use crate::config::SsdConfig;
use crate::consistency::Inconsistency;
use crate::nand::Chores;
use crate::state::StateError;

/// The translation layer of a drive, chosen by its config. Which it is never changes, so a match
/// is a branch that is always predicted.
// A drive has one, so its size costs nothing, where a box would cost the page map a load a unit.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub(crate) enum Translation {
    /// Every unit has its own place.
    PageMap(Ftl),
    /// Blocks have places, and recent writes a log.
    LogBlock(Box<LogBlockMap>),
}

use Translation::{LogBlock, PageMap};

impl Translation {
    /// The layer of a drive that was never written. `config` has passed its check.
    pub(crate) fn new(config: &SsdConfig) -> Translation {
        match &config.log_blocks {
            None => PageMap(Ftl::new(config)),
            Some(section) => LogBlock(Box::new(LogBlockMap::new(config, section))),
        }
    }

    /// The page map of a drive on its short way, which only page maps have.
    #[inline(always)]
    pub(crate) fn page_map(&self) -> &Ftl {
        let PageMap(map) = self else { unreachable!("a drive with a short way has a page map") };
        map
    }

    /// The same, to change it.
    #[inline(always)]
    pub(crate) fn page_map_mut(&mut self) -> &mut Ftl {
        let PageMap(map) = self else { unreachable!("a drive with a short way has a page map") };
        map
    }

    #[inline]
    pub(crate) fn shape(&self) -> Shape {
        match self {
            PageMap(map) => map.shape(),
            LogBlock(map) => map.shape(),
        }
    }

    pub(crate) fn counts(&self) -> FtlCounts {
        match self {
            PageMap(map) => map.counts(),
            LogBlock(map) => map.counts(),
        }
    }

    /// Merges of a log-block map; `None` for a page map.
    pub(crate) fn merges(&self) -> Option<MergeCounts> {
        match self {
            PageMap(_) => None,
            LogBlock(map) => Some(map.merges()),
        }
    }

    /// Whether the map agrees with itself; the first place where it does not.
    pub(crate) fn check(&self) -> Result<(), Inconsistency> {
        match self {
            PageMap(map) => map.check(),
            LogBlock(map) => map.check(),
        }
    }

    /// Units the user can address.
    #[inline]
    pub(crate) fn user_units(&self) -> u32 {
        match self {
            PageMap(map) => map.user_units(),
            LogBlock(map) => map.user_units(),
        }
    }

    /// Units that the user's data takes if it does not compress, where data may.
    pub(crate) fn most_user_units(&self) -> u64 {
        match self {
            PageMap(map) => map.most_user_units(),
            LogBlock(map) => u64::from(map.user_units()),
        }
    }

    /// Units that data can occupy.
    pub(crate) fn usable_units(&self) -> u64 {
        match self {
            PageMap(map) => map.usable_units(),
            LogBlock(map) => map.usable_units(),
        }
    }

    /// Forgets everything, as a secure erase does; the counts go on.
    pub(crate) fn erase_all(&mut self) {
        match self {
            PageMap(map) => map.erase_all(),
            LogBlock(map) => map.erase_all(),
        }
    }

    /// What a page map remembers. A log-block map keeps no state, nor does one with streams.
    pub(crate) fn state(&self) -> Option<FtlState<'_>> {
        match self {
            PageMap(map) => map.state(),
            LogBlock(_) => None,
        }
    }

    /// The layer of a drive of `config`, which has passed its check, that remembers `state`.
    ///
    /// # Errors
    /// The first reason why no such drive can remember that.
    pub(crate) fn restore(
        config: &SsdConfig,
        state: FtlState<'_>,
    ) -> Result<Translation, StateError> {
        match &config.log_blocks {
            None => Ftl::restore(config, state).map(PageMap),
            Some(_) => Err(StateError::new("it has a log-block map, which keeps no state")),
        }
    }

    /// Where a unit is, if it was ever written.
    #[inline]
    pub(crate) fn find(&self, unit: LogicalUnit) -> Option<PhysicalUnit> {
        match self {
            PageMap(map) => map.find(unit),
            LogBlock(map) => map.find(unit),
        }
    }

    /// The block host data of `die` goes into and the row of it that is being filled.
    #[inline]
    pub(crate) fn open_row(&self, die: u32, stream: Stream) -> (Block, u32) {
        match self {
            PageMap(map) => map.open_row(die, stream),
            LogBlock(map) => map.open_row(die),
        }
    }

    /// Whether the map keeps data of different streams apart.
    #[inline]
    pub(crate) fn has_streams(&self) -> bool {
        match self {
            PageMap(map) => map.has_streams(),
            LogBlock(_) => false,
        }
    }

    /// The stream of a unit that is written next.
    #[inline]
    pub(crate) fn stream_for(&mut self, unit: LogicalUnit) -> Stream {
        match self {
            PageMap(map) => map.stream_for(unit),
            LogBlock(_) => Stream::Cold,
        }
    }

    /// Whether what the host writes from now on goes on where something ended that it wrote.
    pub(crate) fn writes_in_order(&mut self, in_order: bool) {
        match self {
            PageMap(map) => map.writes_in_order(in_order),
            LogBlock(_) => {}
        }
    }

    /// Whether collection moves much for what the host writes to a die, where that can be told.
    #[inline]
    pub(crate) fn moves_much(&self, die: u32) -> Option<bool> {
        match self {
            PageMap(map) => map.moves_much(die),
            LogBlock(_) => None,
        }
    }

    /// What a die would have to do to empty its victim, which is chosen if it has none, as long as
    /// it has fewer than `free_blocks`. `None` when it has as many or there is no space to be won.
    pub(crate) fn idle_work(&mut self, die: u32, free_blocks: u32) -> Option<Chores> {
        match self {
            PageMap(map) => map.idle_work(die, free_blocks),
            LogBlock(_) => None,
        }
    }

    /// What a die would have to do to empty the next block of an SLC buffer. `None` when there is
    /// nothing to fold, or no room for it.
    pub(crate) fn fold_work(&mut self, die: u32) -> Option<FoldWork> {
        match self {
            PageMap(map) => map.fold_work(die),
            LogBlock(_) => None,
        }
    }

    /// Whether a block is written with one bit a cell.
    #[inline]
    pub(crate) fn is_slc(&self, die: u32, block: Block) -> bool {
        match self {
            PageMap(map) => map.is_slc(die, block),
            LogBlock(_) => false,
        }
    }

    /// [`Ftl::retry_slc`].
    pub(crate) fn retry_slc(&mut self) {
        if let PageMap(map) = self {
            map.retry_slc();
        }
    }

    /// Whether there is an SLC buffer.
    #[inline]
    pub(crate) fn has_slc(&self) -> bool {
        match self {
            PageMap(map) => map.has_slc(),
            LogBlock(_) => false,
        }
    }

    /// Units that fit into the blocks which are used for an SLC buffer only.
    pub(crate) fn fixed_slc_units(&self) -> u64 {
        match self {
            PageMap(map) => map.fixed_slc_units(),
            LogBlock(_) => 0,
        }
    }

    /// Takes what `units` of that victim have the die do.
    pub(crate) fn charge_idle(&mut self, die: u32, units: u32) -> Chores {
        match self {
            PageMap(map) => map.charge_idle(die, units),
            LogBlock(_) => Chores::default(),
        }
    }

    /// Gives back what there was no time for.
    pub(crate) fn leave_chores(&mut self, die: u32, left: Chores) {
        match self {
            PageMap(map) => map.leave_chores(die, left),
            LogBlock(_) => {}
        }
    }

    /// Whether the next unit of a stream begins a row.
    #[inline]
    pub(crate) fn at_row_start(&self, stream: Stream) -> bool {
        match self {
            PageMap(map) => map.at_row_start(stream),
            LogBlock(map) => map.at_row_start(),
        }
    }

    /// Units that are placed and not programmed yet.
    pub(crate) fn pending_units(&self) -> u64 {
        match self {
            PageMap(map) => map.pending_units(),
            LogBlock(map) => map.pending_units(),
        }
    }

    /// The open row, filled up with nothing because `unit` cannot go there; to be programmed before
    /// `unit` is written, and to be asked for until it is `None`. A page map takes any unit in its
    /// row, unless it takes several places and is at the end of a block.
    #[inline]
    pub(crate) fn cut_row_before(
        &mut self,
        unit: LogicalUnit,
        stream: Stream,
        weight: u32,
    ) -> Option<Placed> {
        match self {
            PageMap(map) => map.cut_row_before(stream, weight),
            LogBlock(map) => map.cut_row_before(unit),
        }
    }

    /// Opens a row with the rest of a unit in it, and tells whose turn it was; see
    /// [`Ftl::begin_rest`].
    pub(crate) fn begin_rest(&mut self) -> Option<(Stream, u32)> {
        match self {
            PageMap(map) => map.begin_rest(),
            LogBlock(_) => None,
        }
    }

    /// The next row of a stream is on this die again.
    pub(crate) fn give_turn(&mut self, stream: Stream, die: u32) {
        match self {
            PageMap(map) => map.give_turn(stream, die),
            LogBlock(_) => {}
        }
    }

    /// Places that a unit takes which is mapped.
    pub(crate) fn stored(&self, unit: LogicalUnit) -> u32 {
        match self {
            PageMap(map) => map.stored(unit),
            LogBlock(_) => 1,
        }
    }

    /// Writes units of host data to their stream, each of `weight` places, `count` of them from
    /// `first` on or as many as go together. Returns how many; `None` when the drive is worn out.
    #[inline]
    pub(crate) fn write(
        &mut self,
        first: LogicalUnit,
        count: u32,
        stream: Stream,
        weight: u32,
    ) -> Option<(u32, Placed)> {
        match self {
            // Where there are streams, every unit has its own.
            PageMap(map) if map.has_streams() => map.write(first, 1, stream, weight),
            PageMap(map) => map.write(first, count, stream, weight),
            LogBlock(map) => Some((1, map.write(first))),
        }
    }

    /// Fills up a row that host data goes into with nothing, so that it can be programmed. `None`
    /// when no row is begun.
    pub(crate) fn pad(&mut self) -> Option<Placed> {
        match self {
            PageMap(map) => map.pad(),
            LogBlock(map) => map.pad(),
        }
    }

    /// What a die has to do before it programs the row that was filled last. What merges have it do
    /// comes with what they have others do, in [`Translation::next_chores`].
    #[inline]
    pub(crate) fn take_chores(&mut self, die: u32) -> Chores {
        match self {
            PageMap(map) => map.take_chores(die),
            LogBlock(_) => Chores::default(),
        }
    }

    /// A die, and what merges have it do before the row filled last is programmed: to be asked for
    /// until it is `None`. Collection of a page map touches one die, whose chores come with the row.
    #[inline]
    pub(crate) fn next_chores(&mut self) -> Option<(u32, Chores)> {
        match self {
            PageMap(_) => None,
            LogBlock(map) => map.next_chores(),
        }
    }

    /// By block: how often it was erased.
    pub(crate) fn erases(&self) -> impl Iterator<Item = u32> + '_ {
        let (by_page, by_log) = match self {
            PageMap(map) => (Some(map.erases()), None),
            LogBlock(map) => (None, Some(map.erases())),
        };
        by_page.into_iter().flatten().chain(by_log.into_iter().flatten())
    }

    /// Blocks that have failed; those of a log-block map do not.
    pub(crate) fn retired_blocks(&self) -> u64 {
        match self {
            PageMap(map) => map.retired_blocks(),
            LogBlock(_) => 0,
        }
    }

    /// The cycles a block is rated for, if blocks wear out.
    pub(crate) fn rated_cycles(&self) -> Option<u32> {
        match self {
            PageMap(map) => map.rated_cycles(),
            LogBlock(_) => None,
        }
    }

    /// Whether the drive takes no more writes.
    #[inline]
    pub(crate) fn is_worn_out(&self) -> bool {
        match self {
            PageMap(map) => map.is_worn_out(),
            LogBlock(_) => false,
        }
    }

    /// The unit holds nothing of value any more.
    #[inline]
    pub(crate) fn trim(&mut self, unit: LogicalUnit) {
        match self {
            PageMap(map) => map.trim(unit),
            LogBlock(map) => map.trim(unit),
        }
    }
}
