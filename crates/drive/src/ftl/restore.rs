//! Whether a map that was loaded is one: everything the rest of this module takes for granted.

use super::die::DieSpace;
use super::{Ftl, NOWHERE, Shape, VictimChooser};
use crate::profile::{SsdProfile, UNIT_BYTES};
use crate::state::{MOST_COUNTED, StateError};

impl Ftl {
    /// Whether a loaded map is one that a drive of `profile`, which has passed its check, can have.
    ///
    /// # Errors
    /// The first thing that is not so.
    pub(crate) fn fits(&self, profile: &SsdProfile) -> Result<(), StateError> {
        // Every field is named here, so that a new one is not forgotten.
        let Ftl { shape, start_free_blocks, pacing, map, holds, live, dies, victims, .. } = self;
        let Ftl { host_die, host_row_left, counts, .. } = self;
        let expected = Shape::new(profile);
        StateError::unless(*shape == expected, "its NAND has another shape")?;
        let gc = &profile.gc;
        let collects_alike = (*start_free_blocks, *pacing)
            == (gc.start_free_blocks.value, gc.pacing.value)
            && victims.fits(&VictimChooser::new(gc));
        StateError::unless(collects_alike, "its collection is another")?;
        let user_units = profile.capacity.sectors.value / (UNIT_BYTES / 512);
        let units = expected.units() as usize;
        let lengths = (map.len() as u64, holds.len(), live.len(), dies.len());
        let as_many = (user_units, units, units.div_ceil(64), expected.dies as usize);
        StateError::unless(lengths == as_many, "its map is of another length")?;
        let mapped = map.iter().filter(|&&place| place != NOWHERE);
        let within = mapped.fold(true, |within, &place| within & ((place as usize) < units));
        StateError::unless(within, "its map points outside the NAND")?;
        for (die, space) in (0..).zip(dies) {
            space.fits(expected).map_err(|what| StateError::new(format!("die {die}: {what}")))?;
        }
        self.check().map_err(StateError::new)?;
        for (die, space) in (0..).zip(dies) {
            self.open_places_are_empty(die, space)
                .map_err(|what| StateError::new(format!("die {die}: {what}")))?;
        }
        let row = expected.units_per_row;
        let begun: Vec<u32> = dies.iter().map(|die| die.host.filled % row).collect();
        let rows_begun = begun.iter().filter(|&&units| units > 0).count();
        let host_row = match dies.get(*host_die as usize).zip(begun.get(*host_die as usize)) {
            Some(_) if *host_row_left == 0 => rows_begun == 0,
            Some((die, &units)) => {
                *host_row_left == row - units
                    && die.host.filled < expected.units_per_block
                    && rows_begun == usize::from(units > 0)
            }
            None => false,
        };
        StateError::unless(host_row, "the row being filled is not")?;
        let counted = counts.host_units.max(counts.moved_units).max(counts.padded_units);
        StateError::unless(counted <= MOST_COUNTED, "it counts too much")
    }

    /// Nothing is live where the next units will be written, nor where collection has been.
    fn open_places_are_empty(&self, die: u32, space: &DieSpace) -> Result<(), String> {
        let full = self.shape.units_per_block;
        let live_in = |block, within: std::ops::Range<u32>| {
            let first = self.shape.first_unit(die, block);
            (first + within.start..first + within.end).any(|place| self.is_live(place))
        };
        for front in [space.host, space.moves].iter().filter(|front| front.block != NOWHERE) {
            if live_in(front.block, front.filled..full) {
                return Err(format!("block {} is written before its turn", front.block));
            }
        }
        match space.victim {
            Some(victim) if live_in(victim.block, 0..victim.next) => {
                Err(format!("block {} is not collected in order", victim.block))
            }
            _ => Ok(()),
        }
    }
}

impl DieSpace {
    /// Whether what is loaded is the space of a die of this shape.
    fn fits(&self, shape: Shape) -> Result<(), &'static str> {
        let DieSpace { blocks, host, moves, victim, pace, chores } = self;
        let full = shape.units_per_block;
        let fronts = [host, moves];
        if fronts.iter().any(|front| front.filled > full) {
            return Err("more is written than a block holds");
        }
        if fronts.iter().any(|front| front.block == NOWHERE && front.filled != full) {
            return Err("it writes to no block");
        }
        let open = fronts.iter().map(|front| front.block).filter(|&block| block != NOWHERE);
        let taken: Vec<u32> = open.chain(victim.map(|victim| victim.block)).collect();
        if !blocks.fit(shape.blocks_per_die, &taken) {
            return Err("its blocks are not each free, open, collected or closed");
        }
        let room = full - moves.filled;
        // Collection needs a free block to begin with, and must be able to end what it has begun.
        let can_collect = match victim {
            Some(victim) if victim.next > full || victim.valid > full => false,
            Some(victim) if victim.moved > victim.valid => false,
            Some(victim) => blocks.free_blocks() > 0 || room >= blocks.valid(victim.block),
            None => blocks.free_blocks() > 0,
        };
        if !can_collect {
            return Err("its collection could not go on");
        }
        if !pace.is_sane() || !chores.is_sane(shape.units_per_row) {
            return Err("it has too much to do");
        }
        Ok(())
    }
}
