//! Bits that a cut leaves wrong: those of rows whose programming it ends, and of the lower pages that share their cells.
//!
//! While the upper page of a cell is programmed, the cell passes through levels that are neither the old value nor the
//! new one. When the power ends there, the lower page, which was on the NAND and may have been promised, is wrong, too.

use std::ops::Range;

use fourcorners_drive::{Nanos, Op};
use rand_xoshiro::rand_core::Rng;

use super::cut::below;
use super::{Class, Cut, History};

/// Bits of a damaged unit that are wrong, at most: more than one, and few enough that a checksum is what finds them.
const MOST_BITS: u64 = 8;

/// Bits of a sector.
const SECTOR_BITS: u64 = 512 * 8;

/// A bit that is not what it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Flip {
    /// Its sector.
    pub sector: u64,
    /// Which of the sector's, from its first byte's lowest.
    pub bit: u32,
}

/// A version of a unit that the cut has damaged: the event that wrote it, and the unit's first sector.
type Damaged = (usize, u64);

impl History {
    /// The programs that a moment falls into, by their numbers.
    fn under_way(&self, at: Nanos) -> impl Iterator<Item = usize> + '_ {
        let programs = self.programs.iter().enumerate();
        programs.filter(move |(_, row)| row.began <= at && at < row.ended).map(|(number, _)| number)
    }

    /// Of the units of some events, those of rows that are being programmed. With capacitors there are none: the
    /// programs that have begun come to their ends.
    pub(super) fn half_programmed(&self, at: Nanos, events: Range<usize>) -> Vec<Damaged> {
        if self.protected {
            return Vec::new();
        }
        let under_way: Vec<usize> = self.under_way(at).collect();
        self.units_of(&under_way, events)
    }

    /// Units of some programs that were written by some events.
    fn units_of(&self, programs: &[usize], events: Range<usize>) -> Vec<Damaged> {
        let mut found = Vec::new();
        if programs.is_empty() {
            return found;
        }
        for index in events {
            let units = self.events[index].units.iter();
            let damaged =
                units.filter(|unit| unit.program.is_some_and(|of| programs.contains(&of)));
            found.extend(damaged.map(|unit| (index, unit.first)));
        }
        found
    }

    /// Draws the bits that are wrong after a cut of which all else is known.
    pub(super) fn draw_flips(&self, cut: &Cut, random: &mut impl Rng) -> Vec<Flip> {
        let mut flips = Vec::new();
        if cut.class != Class::Bits || self.protected {
            return flips;
        }
        let mut programs: Vec<usize> = self.under_way(cut.at).collect();
        let beneath = programs.iter().flat_map(|row| self.programs[*row].beneath).flatten();
        let beneath: Vec<usize> = beneath.map(|program| program as usize).collect();
        programs.extend(beneath);
        programs.sort_unstable();
        programs.dedup();
        for (event, first) in self.units_of(&programs, 0..cut.asked) {
            // Half of the units are damaged; the rest of the row had got far enough.
            if below(random, 2) == 0 {
                continue;
            }
            let unit_bits = self.unit_sectors.min(self.sectors - first) * SECTOR_BITS;
            for _ in 0..=below(random, MOST_BITS) {
                let bit = below(random, unit_bits);
                let flip =
                    Flip { sector: first + bit / SECTOR_BITS, bit: (bit % SECTOR_BITS) as u32 };
                // What a newer version has replaced is not seen.
                if self.holder(cut, flip.sector).is_none_or(|newest| newest <= event) {
                    flips.push(flip);
                }
            }
        }
        flips.sort_unstable();
        // Twice is not at all.
        let mut odd: Vec<Flip> = Vec::with_capacity(flips.len());
        for flip in flips {
            match odd.last() == Some(&flip) {
                true => drop(odd.pop()),
                false => odd.push(flip),
            }
        }
        odd
    }

    /// The event whose data, or zeros, a sector holds after a cut.
    pub(super) fn holder(&self, cut: &Cut, sector: u64) -> Option<usize> {
        let has =
            |left: &&super::Left| left.sectors.iter().any(|sectors| sectors.contains(&sector));
        let of_left = cut.left.iter().rev().find(has).map(|left| left.event);
        of_left.or_else(|| {
            let settled = self.events[..cut.settled].iter();
            settled
                .rev()
                .position(|event| {
                    matches!(event.op, Op::Write | Op::Trim) && event.sectors.contains(&sector)
                })
                .map(|back| cut.settled - 1 - back)
        })
    }

    /// Counts the promised writes, and sectors of them, that hold a wrong bit.
    pub(super) fn count_flipped(&self, cut: &mut Cut) {
        let mut sectors: Vec<u64> = cut.flips.iter().map(|flip| flip.sector).collect();
        sectors.dedup();
        let mut broken = Vec::new();
        for sector in sectors {
            // Whoever asked for a newer write reckons with the old data or the new, and with nothing else. After the answer to
            // a TRIM nobody counts on the old data.
            let newest = self.events[..cut.asked].iter().rposition(|event| {
                let counts = match event.op {
                    Op::Write => event.promised <= cut.at,
                    Op::Trim => event.answered <= cut.at,
                    Op::Read | Op::Flush => false,
                };
                counts && event.sectors.contains(&sector)
            });
            let promised = newest.filter(|event| self.events[*event].op == Op::Write);
            cut.promised_lost_sectors += u64::from(promised.is_some());
            broken.extend(promised);
        }
        broken.sort_unstable();
        broken.dedup();
        cut.promised_lost += broken.len() as u64;
    }
}
