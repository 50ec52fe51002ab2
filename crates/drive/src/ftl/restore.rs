//! A map to be kept and made again: where each unit is, and what the dies have in hand.
//!
//! Fragments are not kept, because nobody can tell them: a loaded map has one for every 64 places
//! that hold something, as after gathering. What is live, and how much of each block, follows from
//! the map. What is loaded may say anything, so that everything the rest of this module takes for
//! granted is looked at first.
//!
//! A drive with streams has no state: what is hot, and how old, is not kept. Any other one writes to
//! the first stream and an SLC buffer only.

use crate::consistency::Inconsistency;
use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::blocks::NO_BLOCK;
use super::die::{DieSpace, Fronts};
use super::emptying::Victim;
use super::stream::{FRONTS, Stream};
use super::{
    Entry, Fragments, Ftl, FtlCounts, LiveBits, OpenRow, PhysicalUnit, Shape, Slot, VictimChooser,
};
use crate::config::{Pacing, SsdConfig};
use crate::state::{MOST_MOVED, StateError};

/// Where no unit is.
const NOWHERE: PhysicalUnit = PhysicalUnit::MAX;

/// All that a map remembers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FtlState<'a> {
    shape: Shape,
    start_free_blocks: u32,
    pacing: Pacing,
    places: Places<'a>,
    /// By logical unit: how many places it takes; of a drive that compresses.
    weights: Option<Weights<'a>>,
    dies: Cow<'a, [DieSpace]>,
    victims: Cow<'a, VictimChooser>,
    worn_out: bool,
    in_order: bool,
    in_batch: bool,
    rows: [OpenRow; FRONTS],
    slc_exhausted: bool,
    counts: FtlCounts,
}

/// By logical unit: its place, or [`NOWHERE`].
#[derive(Clone, Debug)]
enum Places<'a> {
    /// Those of a map; it may be large, so they are not copied.
    Of(&'a Ftl),
    Loaded(Vec<PhysicalUnit>),
}

/// By logical unit: the places it takes, 0 if it is nowhere.
#[derive(Clone, Debug)]
enum Weights<'a> {
    /// Those of a map.
    Of(&'a Ftl),
    Loaded(Vec<u16>),
}

impl Serialize for Weights<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Weights::Of(ftl) => serializer.collect_seq(ftl.weights()),
            Weights::Loaded(weights) => weights.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Weights<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Weights::Loaded)
    }
}

impl Weights<'_> {
    fn into_owned(self) -> Vec<u16> {
        match self {
            Weights::Of(ftl) => ftl.weights().collect(),
            Weights::Loaded(weights) => weights,
        }
    }
}

impl Serialize for Places<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Places::Of(ftl) => serializer
                .collect_seq((0..ftl.user_units()).map(|unit| ftl.find(unit).unwrap_or(NOWHERE))),
            Places::Loaded(places) => places.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Places<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Places::Loaded)
    }
}

impl Places<'_> {
    fn into_owned(self) -> Vec<PhysicalUnit> {
        match self {
            Places::Of(ftl) => {
                (0..ftl.user_units()).map(|unit| ftl.find(unit).unwrap_or(NOWHERE)).collect()
            }
            Places::Loaded(places) => places,
        }
    }
}

impl Ftl {
    /// What the map remembers; `None` of one with streams.
    pub(crate) fn state(&self) -> Option<FtlState<'_>> {
        // Every field is named here, so that a new one is not forgotten.
        let Ftl {
            shape,
            start_free_blocks,
            pacing,
            dies,
            victims,
            end_of_life,
            in_order,
            in_batch,
            streams,
            slc,
            rows,
            counts,
            // These follow from the config ...
            page_kinds: _,
            open_blocks: _,
            ahead: _,
            by_victim: _,
            batch: _,
            // ... and these from the places.
            map: _,
            fragments: _,
            // Nothing is in here between two commands.
            live: _,
        } = self;
        let state = || FtlState {
            shape: *shape,
            start_free_blocks: *start_free_blocks,
            pacing: *pacing,
            places: Places::Of(self),
            weights: shape.compresses().then_some(Weights::Of(self)),
            dies: Cow::Borrowed(dies),
            victims: Cow::Borrowed(victims),
            worn_out: end_of_life.is_reached(),
            in_order: *in_order,
            in_batch: *in_batch,
            rows: *rows,
            slc_exhausted: slc.is_some_and(|slc| slc.exhausted),
            counts: *counts,
        };
        streams.is_none().then(state)
    }

    /// The map of a drive of `config`, which has passed its check, that remembers `state`.
    ///
    /// # Errors
    /// The first reason why no such drive can remember that.
    pub(crate) fn restore(config: &SsdConfig, state: FtlState<'_>) -> Result<Ftl, StateError> {
        let FtlState {
            shape,
            start_free_blocks,
            pacing,
            places,
            weights,
            dies,
            victims,
            worn_out,
            in_order,
            in_batch,
            rows,
            slc_exhausted,
            counts,
        } = state;
        StateError::unless(config.streams.is_none(), "it has streams, which keep no state")?;
        let made = Ftl::new(config);
        StateError::unless(shape == made.shape, "its NAND has another shape")?;
        let collects_alike = (start_free_blocks, pacing) == (made.start_free_blocks, made.pacing)
            && victims.fits(&made.victims);
        StateError::unless(collects_alike, "its collection is another")?;
        let places = places.into_owned();
        let lengths = (places.len() as u64, dies.len());
        let as_many = (config.user_units(), shape.dies as usize);
        StateError::unless(lengths == as_many, "its map is of another length")?;
        let weights = weights.map(Weights::into_owned);
        let live = live_at(&places, weights.as_deref(), shape)?;
        let dies = dies.into_owned();
        let slc_units = made.slc.map_or(0, |slc| slc.units_per_block);
        for ((die, space), made) in (0..).zip(&dies).zip(&made.dies) {
            space
                .fits(shape, made, slc_units)
                .and_then(|()| space.open_places_are_empty(die, &live, shape))
                .map_err(|what| StateError::new(format!("die {die}: {what}")))?;
        }
        let counted = counts.host_units.max(counts.moved_units).max(counts.padded_units);
        let counted = counted.max(counts.parity_units);
        let counts_right = counted <= MOST_MOVED
            && counts.folded_units <= counts.moved_units
            && counts.absorbed_units <= counts.host_units;
        StateError::unless(counts_right, "it counts too much")?;
        let end_of_life = made.end_of_life.restored(worn_out, &dies);
        let end_of_life = end_of_life
            .ok_or_else(|| StateError::new("it is worn out and should not be, or is not"))?;
        let mut fragments = made.fragments;
        let map = match weights {
            None => fragments.take_places(places, &live, shape),
            Some(weights) => fragments.take_weighed(&places, &weights, shape),
        };
        let victims = victims.into_owned();
        let ftl = Ftl {
            map,
            fragments,
            live: made.live,
            dies,
            victims,
            end_of_life,
            in_order,
            in_batch,
            streams: None,
            slc: made.slc.map(|slc| slc.restored(slc_exhausted)),
            rows,
            counts,
            shape,
            page_kinds: made.page_kinds,
            start_free_blocks,
            open_blocks: made.open_blocks,
            pacing,
            ahead: made.ahead,
            by_victim: made.by_victim,
            batch: made.batch,
        };
        StateError::unless(ftl.host_row_is_open(), "the row being filled is not")?;
        ftl.check().map_err(|wrong| StateError::new(wrong.to_string()))?;
        Ok(ftl)
    }

    /// Whether the one row that is begun, if any, is that which host data goes into.
    fn host_row_is_open(&self) -> bool {
        let slc_units = self.slc.map_or(0, |slc| slc.units_per_block);
        self.row_is_open(Stream::Cold, self.shape.units_per_block)
            && self.row_is_open(Stream::Slc, slc_units)
            && self.rows[Stream::Hot.index()] == OpenRow::default()
            && (self.slc.is_some() || self.rows[Stream::Slc.index()] == OpenRow::default())
    }

    /// The same of one stream, of which a block has so many units.
    fn row_is_open(&self, stream: Stream, units_per_block: u32) -> bool {
        let row = self.shape.units_per_row;
        let host = |die: &DieSpace| die.fronts[stream.index()].host;
        let begun = |die: &DieSpace| host(die).filled % row;
        // With compression any die may have the rest of a unit in its next row.
        let rests = self.shape.compresses();
        let rows_begun = self.dies.iter().filter(|die| begun(die) > 0).count();
        let open = self.rows[stream.index()];
        match self.dies.get(open.die as usize) {
            Some(_) if open.left == 0 => rests || rows_begun == 0,
            Some(die) => {
                open.left == row - begun(die)
                    && host(die).filled < units_per_block
                    && (rests || rows_begun == usize::from(begun(die) > 0))
            }
            None => false,
        }
    }
}

/// A bit for every place that a unit is at, or takes: `weights` of them.
fn live_at(
    places: &[PhysicalUnit],
    weights: Option<&[u16]>,
    shape: Shape,
) -> Result<LiveBits, StateError> {
    let as_many = weights.is_some() == shape.compresses()
        && weights.is_none_or(|weights| weights.len() == places.len());
    StateError::unless(as_many, "what its units take on the NAND is of another length")?;
    let units = u64::from(shape.blocks()) * u64::from(shape.units_per_block);
    let mut live = LiveBits::none(shape);
    for (unit, &place) in places.iter().enumerate().filter(|&(_, &place)| place != NOWHERE) {
        StateError::unless(u64::from(place) < units, "its map points outside the NAND")?;
        let weight = weights.map_or(1, |weights| u32::from(weights[unit]));
        let (block, within) = shape.block_of(place);
        let fits =
            (1..=shape.most_granules).contains(&weight) && within + weight <= shape.units_per_block;
        StateError::unless(fits, "a unit takes more or less of the NAND than it can")?;
        let free = (within..within + weight).all(|within| !live.is_set(block, within));
        StateError::unless(free, "two units are at one place")?;
        live.set_range(block, within, weight);
    }
    Ok(live)
}

impl Ftl {
    /// By logical unit: the places it takes, 0 if it is nowhere.
    fn weights(&self) -> impl ExactSizeIterator<Item = u16> + '_ {
        (0..self.user_units()).map(|unit| self.find(unit).map_or(0, |_| self.stored(unit) as u16))
    }
}

impl Fragments {
    /// Makes fragments of units that are at `places`, which `live` is of; what the map says then.
    fn take_places(
        &mut self,
        places: Vec<PhysicalUnit>,
        live: &LiveBits,
        shape: Shape,
    ) -> Vec<Slot> {
        let slots = self.of_live(live, shape);
        let slot_of = |place| if place == NOWHERE { Slot::NOWHERE } else { slots.of(place) };
        places.into_iter().map(slot_of).collect()
    }

    /// The same of units that take `weights` places each.
    fn take_weighed(
        &mut self,
        places: &[PhysicalUnit],
        weights: &[u16],
        shape: Shape,
    ) -> Vec<Slot> {
        let all = places.iter().copied().zip(weights.iter().copied());
        let mut units: Vec<(PhysicalUnit, u16)> =
            all.filter(|&(place, _)| place != NOWHERE).collect();
        units.sort_unstable();
        let places = places.iter().map(|&place| (place != NOWHERE).then_some(place));
        self.take_stored(&units, places, shape)
    }
}

impl DieSpace {
    /// Whether what is loaded is the space of a die of this shape that `made`, which is new, could
    /// have become.
    fn fits(&self, shape: Shape, made: &DieSpace, slc_units: u32) -> Result<(), Inconsistency> {
        let DieSpace { blocks, fronts, labels: _, slc, victim, pace, chores } = self;
        let [used, unused, one_bit] = fronts;
        let Fronts { host, filling: _, moves, charged } = used;
        let full = shape.units_per_block;
        if *unused != Fronts::none(shape) {
            return Err("it writes to a stream that it does not have".into());
        }
        self.slc_fits(shape, made, slc_units)?;
        let fronts = [host, moves, &one_bit.host];
        if fronts.iter().any(|front| front.filled > full) || *charged > full {
            return Err("more is written than a block holds".into());
        }
        if fronts.iter().any(|front| front.block == NO_BLOCK && front.filled != full) {
            return Err("it writes to no block".into());
        }
        let open = fronts.iter().map(|front| front.block).filter(|&block| block != NO_BLOCK);
        let one_bit = slc.iter().flat_map(|slc| slc.roles());
        let taken: Vec<u32> =
            open.chain(victim.map(|victim| victim.block())).chain(one_bit).collect();
        if !blocks.fit(made.blocks.wear(), &taken) {
            return Err("its blocks are not each free, open, collected, closed or worn out".into());
        }
        // Collection needs a free block to begin with. A victim has been moved, and gives one if it
        // is not worn out. Of a purged die all blocks may be; it has nothing to collect.
        let can_collect =
            blocks.free_blocks() >= self.left_to_collection() || blocks.closed().next().is_none();
        let was_moved =
            |victim: &Victim| victim.is_sane(shape) && blocks.valid(victim.block()) == 0;
        if !can_collect || !victim.as_ref().is_none_or(was_moved) {
            return Err("its collection could not go on".into());
        }
        if !pace.is_sane() || !chores.is_sane(shape.units_per_row) {
            return Err("it has too much to do".into());
        }
        Ok(())
    }

    /// The same of its part of an SLC buffer, of whose blocks one holds `slc_units`.
    fn slc_fits(&self, shape: Shape, made: &DieSpace, slc_units: u32) -> Result<(), Inconsistency> {
        let front = &self.fronts[Stream::Slc.index()];
        let unwritten = Fronts::none(shape);
        let fits = match (&self.slc, &made.slc) {
            (None, None) => *front == unwritten,
            (Some(slc), Some(made)) => {
                let opened = front.host.is_opened();
                let valid = |block| self.blocks.known_valid(block);
                let folding = self.victim.as_ref().filter(|victim| victim.is_slc());
                let folding = folding.map(Victim::block);
                (front.host.filled <= slc_units || !opened)
                    && (front.moves, front.charged) == (unwritten.moves, unwritten.charged)
                    && slc.fits(made, front.host.block, folding)
                    && slc.free().all(|block| valid(block) == Some(0))
                    && self.victim.is_none_or(|v| v.is_slc() == slc.holds(v.block()))
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err("its SLC buffer is another".into()) }
    }

    /// Nothing is live where the next units will be written.
    fn open_places_are_empty(
        &self,
        die: u32,
        live: &LiveBits,
        shape: Shape,
    ) -> Result<(), Inconsistency> {
        let Fronts { host, moves, .. } = self.fronts[Stream::Cold.index()];
        let one_bit = self.fronts[Stream::Slc.index()].host;
        for front in [host, moves, one_bit].iter().filter(|front| front.is_opened()) {
            let block = shape.block_of_die(die, front.block);
            if (front.filled..shape.units_per_block).any(|within| live.is_set(block, within)) {
                return Err(format!("block {} is written before its turn", front.block).into());
            }
        }
        Ok(())
    }
}
