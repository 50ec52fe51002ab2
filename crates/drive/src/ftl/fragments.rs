//! Fragments: what the map points to, so that collection need not touch the map.
//!
//! A map that points to places has to be rewritten, one entry anywhere in memory, for every unit
//! that collection moves: at a write amplification of 8 that is most of the work of a simulated
//! drive. Here the map points to a slot of a *fragment*, up to 64 units that were written one after the
//! other, and the fragment knows where its units are. Collection moves fragments, some tens a
//! block, and every place stays exactly what a map of places would say.
//!
//! Overwriting empties fragments slot by slot, so their number grows until they are gathered:
//! [`Fragments::are_many`] says when, and [`Fragments::regroup`] makes new ones, 64 places each.
//!
//! On a drive that compresses a unit takes several places, all units of a fragment as many: its
//! *weight*. What does not compress alike is in different fragments.

mod filling;
mod gather;
mod live_places;
mod scattered;
mod stored;

use std::num::NonZeroU32;

use std::ops::Range;

use super::shape::{PhysicalUnit, Shape};
use crate::prefetch::prefetch;
use scattered::Parts;

pub(super) use filling::Filling;

/// Units of a fragment: the bits of a mask.
pub(super) const SLOTS: u32 = 64;

/// Fragments are gathered when there are this many times as many as right after gathering. Uniform
/// random writes alone would lead to H(64) = 4.7 times as many.
const GATHER_AT: u64 = 4;

/// Fragments that a [`Slot`] can name, less those that may be added before they are gathered.
const MOST: u64 = (u32::MAX / SLOTS) as u64 - 4096;

/// No other part.
const NONE: u32 = u32::MAX;

/// When the fragments of a drive are gathered.
fn most(shape: Shape) -> usize {
    (GATHER_AT * fewest(shape)).min(MOST) as usize
}

/// Fragments of a full drive after gathering. The config's check keeps it to half of [`MOST`].
fn fewest(shape: Shape) -> u64 {
    let slots = SLOTS * shape.granules_per_unit;
    u64::from(shape.blocks()) * u64::from(shape.units_per_block.div_ceil(slots))
}

/// A slot of a fragment, or nowhere: an entry of the map.
///
/// It is stored as the complement of its number, so that nowhere is all zeros: the map of a new drive is memory that the
/// system gives zeroed and only when it is touched. `vec!` asks for such memory for this type, and for no type of our own;
/// what it can do is in [`Entry`].
pub(super) type Slot = Option<NonZeroU32>;

/// An entry of the map.
pub(super) trait Entry: Sized {
    /// It leads to no fragment.
    const NOWHERE: Self;

    /// The slot of this number, counted through all fragments.
    fn numbered(number: u32) -> Self;

    /// Its number; all bits set for [`Entry::NOWHERE`] only.
    fn bits(self) -> u32;

    /// A slot of a fragment.
    #[inline]
    fn new(fragment: u32, slot: u32) -> Self {
        Self::numbered(fragment * SLOTS + slot)
    }

    #[inline]
    fn fragment(self) -> usize {
        (self.bits() / SLOTS) as usize
    }

    /// Whether it is the slot `by` behind `first` of the same fragment; `by` is 1 or more.
    #[inline]
    fn follows(self, first: Self, by: u32) -> bool {
        let first = first.bits();
        first % SLOTS + by < SLOTS && self.bits() == first + by
    }

    #[inline]
    fn within(self) -> u32 {
        self.bits() % SLOTS
    }

    #[inline]
    fn bit(self) -> u64 {
        1 << self.within()
    }
}

impl Entry for Slot {
    const NOWHERE: Slot = None;

    #[inline]
    fn numbered(number: u32) -> Slot {
        NonZeroU32::new(!number)
    }

    #[inline]
    fn bits(self) -> u32 {
        !self.map_or(0, NonZeroU32::get)
    }
}

/// Places that a fragment can lie in by itself.
const PIECES: usize = 3;

/// Up to 64 units that were written one after the other. Two to a cache line, none across.
///
/// Its slots below `ends[0]` lie one behind the other from `at[0]` on, those from there to below `ends[1]` from
/// `at[1]` on, the others from `at[2]` on: a move that reaches the end of a block cuts a fragment into two
/// *pieces*, and another one into three. The very few that would be in more are [`SCATTERED`].
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Fragment {
    /// By slot: the map points here.
    live: u64,
    /// By slot: it has a place, as far behind its piece's first as slots of that piece are before it.
    placed: u64,
    at: [PhysicalUnit; PIECES],
    ends: [u8; PIECES - 1],
    /// Places that each of its units takes.
    weight: u16,
}

/// The `ends` of a fragment that lies in more places than it has pieces: its parts say where, and the first
/// of them is where the last piece would be.
const SCATTERED: [u8; PIECES - 1] = [u8::MAX; PIECES - 1];

/// The `ends` of one that lies in one place.
const WHOLE: [u8; PIECES - 1] = [SLOTS as u8; PIECES - 1];

impl Fragment {
    /// One whose slots all lie from `at` on.
    fn whole(live: u64, placed: u64, at: PhysicalUnit, weight: u16) -> Fragment {
        Fragment { live, placed, at: [at, 0, 0], ends: WHOLE, weight }
    }

    /// How many pieces it lies in, if it is not scattered.
    #[inline]
    fn pieces(&self) -> usize {
        1 + self.ends.iter().filter(|&&end| u32::from(end) < SLOTS).count()
    }

    /// The piece of a slot, if it is not scattered.
    #[inline(always)]
    fn piece_of(&self, slot: u32) -> usize {
        self.ends.iter().map(|&end| usize::from(slot >= u32::from(end))).sum()
    }

    /// The first slot of a piece, and the one behind its last.
    #[inline]
    fn bounds(&self, piece: usize) -> [u32; 2] {
        let first = piece.checked_sub(1).map_or(0, |before| u32::from(self.ends[before]));
        [first, self.ends.get(piece).map_or(SLOTS, |&end| u32::from(end))]
    }

    /// The slots of a piece.
    #[inline]
    fn slots_of(&self, piece: usize) -> u64 {
        let [first, end] = self.bounds(piece);
        below(end) & !below(first)
    }

    /// Where a slot is, if it is not scattered.
    #[inline]
    fn place(&self, slot: u32) -> PhysicalUnit {
        let piece = self.piece_of(slot);
        let [first, _] = self.bounds(piece);
        let before = self.placed & below(slot) & !below(first);
        self.at[piece] + before.count_ones() * u32::from(self.weight)
    }

    /// The first of its parts, if it is scattered; the next of the fragments that may be used again, if it
    /// is one of them.
    #[inline]
    fn next(&self) -> u32 {
        self.at[PIECES - 1]
    }

    #[inline]
    fn set_next(&mut self, next: u32) {
        self.at[PIECES - 1] = next;
    }

    /// Cuts one of its pieces, of which there are not the most already, before `slot`, which lies at `at`.
    fn cut(&mut self, piece: usize, slot: u32, at: PhysicalUnit) {
        self.at.copy_within(piece..PIECES - 1, piece + 1);
        self.at[piece + 1] = at;
        self.ends.copy_within(piece..PIECES - 2, piece + 1);
        self.ends[piece] = slot as u8;
    }

    /// Forgets one of its pieces, of which there is another. Its slots are those of another one then, and
    /// have no place.
    fn drop_piece(&mut self, piece: usize) {
        self.placed &= !self.slots_of(piece);
        self.at.copy_within(piece + 1.., piece);
        // The last piece has no end of its own: the one before goes on to there.
        let end = piece.min(self.pieces() - 2);
        self.ends.copy_within(end + 1.., end);
        self.ends[PIECES - 2] = SLOTS as u8;
    }
}

/// What became of slots that the map does not point to any more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forgotten {
    /// How many they are.
    pub(super) count: u32,
    /// How many places they took.
    pub(super) places: u32,
    /// A place in the block they were in.
    pub(super) at: PhysicalUnit,
}

/// All fragments of a drive and, by block, which of them lie there.
#[derive(Clone, Debug)]
pub(super) struct Fragments {
    fragments: Vec<Fragment>,
    /// Fragments that may be used again, chained.
    free: u32,
    in_use: usize,
    /// When they are to be gathered.
    most: usize,
    /// Parts of scattered fragments.
    parts: Parts,
    /// By block of the drive: the fragment of each part in it, in the order of their places.
    in_block: Vec<Vec<u32>>,
}

impl Fragments {
    pub(super) fn none(shape: Shape) -> Fragments {
        let most = most(shape);
        Fragments {
            // Memory that is not used is not there yet, and what is used is never copied.
            fragments: Vec::with_capacity(most),
            free: NONE,
            in_use: 0,
            most,
            parts: Parts::none(),
            in_block: vec![Vec::new(); shape.blocks() as usize],
        }
    }

    #[inline]
    pub(super) fn place(&self, slot: Slot) -> PhysicalUnit {
        let fragment = &self.fragments[slot.fragment()];
        if fragment.ends == SCATTERED {
            return self.place_in_parts(fragment, slot.bit());
        }
        fragment.place(slot.within())
    }

    /// Places that the unit of a slot takes.
    #[inline]
    pub(super) fn weight(&self, slot: Slot) -> u32 {
        u32::from(self.fragments[slot.fragment()].weight)
    }

    /// The map does not point to `slot` any more, nor to the others of `most` slots from it on, all
    /// of one fragment, that are sure to be in the same block.
    #[inline]
    pub(super) fn forget(&mut self, slot: Slot, most: u32) -> Forgotten {
        let fragment = &mut self.fragments[slot.fragment()];
        let first = slot.within();
        let (count, at) = match fragment.ends {
            SCATTERED => (1, None),
            _ => {
                let piece = fragment.piece_of(first);
                (fragment.bounds(piece)[1] - first, Some(fragment.at[piece]))
            }
        };
        let count = count.min(most);
        fragment.live &= !(ones(count) << first);
        let places = count * u32::from(fragment.weight);
        let at = at.unwrap_or_else(|| self.place(slot));
        Forgotten { count, places, at }
    }

    /// The same of one slot of a drive whose units take one place each.
    #[inline(always)]
    pub(super) fn forget_one(&mut self, slot: Slot) -> Forgotten {
        let fragment = &mut self.fragments[slot.fragment()];
        fragment.live &= !slot.bit();
        if fragment.ends == SCATTERED {
            return Forgotten { count: 1, places: 1, at: self.place(slot) };
        }
        let at = fragment.at[fragment.piece_of(slot.within())];
        Forgotten { count: 1, places: 1, at }
    }

    /// Asks for the fragment of a slot.
    #[inline]
    pub(super) fn prefetch(&self, slot: Slot) {
        prefetch(&self.fragments, slot.fragment());
    }

    fn add(&mut self, fragment: Fragment) -> u32 {
        self.in_use += 1;
        if self.free != NONE {
            let id = self.free;
            self.free = self.fragments[id as usize].next();
            self.fragments[id as usize] = fragment;
            return id;
        }
        self.fragments.push(fragment);
        self.fragments.len() as u32 - 1
    }

    fn remove(&mut self, id: u32) {
        self.fragments[id as usize].set_next(self.free);
        self.free = id;
        self.in_use -= 1;
    }

    /// Takes what lies in `block` out of it, in the order of its places, for
    /// [`Fragments::move_some`].
    pub(super) fn take_block(&mut self, block: u32) -> Vec<u32> {
        std::mem::take(&mut self.in_block[block as usize])
    }

    /// Asks for the fragments that lie in `block`.
    pub(super) fn prefetch_block(&self, block: u32) {
        self.in_block[block as usize].iter().for_each(|&id| prefetch(&self.fragments, id as usize));
    }

    /// Gives the list back to the emptied block, so that its memory serves what comes next.
    pub(super) fn give_back(&mut self, block: u32, mut list: Vec<u32>) {
        list.clear();
        self.in_block[block as usize] = list;
    }

    /// Moves what is live of `list`, which was taken from the block at `from`, to the places from
    /// `to.at` on, in order, until all is moved or the target is full. Returns how many of `list`
    /// are done; what is left of a fragment that did not fit is moved by the next call.
    pub(super) fn move_some(
        &mut self,
        list: &[u32],
        from: &Range<PhysicalUnit>,
        to: &mut Target,
    ) -> usize {
        let mut arrived = std::mem::take(&mut self.in_block[to.block as usize]);
        let mut done = 0;
        for &id in list {
            let fragment = &mut self.fragments[id as usize];
            let places = fragment.live.count_ones() * u32::from(fragment.weight);
            if fragment.ends == WHOLE && places > 0 && places <= to.end - to.at {
                fragment.placed = fragment.live;
                fragment.at[0] = to.at;
                to.at += places;
                arrived.push(id);
            } else if !self.move_piece(id, from, to, &mut arrived) {
                break;
            }
            done += 1;
        }
        self.in_block[to.block as usize] = arrived;
        done
    }

    /// Drops what is left of `list`, which was taken from the block at `from`, when none of it is
    /// live there.
    pub(super) fn drop_dead(&mut self, list: &[u32], from: &Range<PhysicalUnit>) {
        let mut nowhere = Target { block: NONE, at: 0, end: 0 };
        for &id in list {
            let dropped = self.move_piece(id, from, &mut nowhere, &mut Vec::new());
            debug_assert!(dropped, "something is live");
        }
    }

    /// Moves the piece of a fragment that comes first at `from`. False when some of it is left, which
    /// is then what comes first there.
    fn move_piece(
        &mut self,
        id: u32,
        from: &Range<PhysicalUnit>,
        to: &mut Target,
        arrived: &mut Vec<u32>,
    ) -> bool {
        let fragment = &mut self.fragments[id as usize];
        if fragment.ends == SCATTERED {
            return self.move_part(id, from, to, arrived);
        }
        let pieces = fragment.pieces();
        let here = (0..pieces).filter(|&piece| from.contains(&fragment.at[piece]));
        let Some(piece) = here.min_by_key(|&piece| fragment.at[piece]) else {
            unreachable!("a block lists what lies in it");
        };
        let slots = fragment.slots_of(piece);
        let weight = u32::from(fragment.weight);
        let (fits, rest) = split(fragment.live & slots, (to.end - to.at) / weight);
        match (fits, rest) {
            (0, 0) if pieces == 1 => self.remove(id),
            (0, 0) => fragment.drop_piece(piece),
            (_, 0) => {
                fragment.placed = fragment.placed & !slots | fits;
                fragment.at[piece] = to.at;
                to.at += fits.count_ones() * weight;
                arrived.push(id);
            }
            (0, _) => return false,
            _ if pieces < PIECES => {
                let first = rest.trailing_zeros();
                let left_at = fragment.place(first);
                fragment.placed &= !(slots & below(first)) | fits;
                fragment.cut(piece, first, left_at);
                fragment.at[piece] = to.at;
                to.at += fits.count_ones() * weight;
                arrived.push(id);
                return false;
            }
            _ => {
                self.scatter(id);
                return self.move_part(id, from, to, arrived);
            }
        }
        true
    }

    /// Whether overwriting has left so many fragments, few of their slots live, that it is time
    /// to gather what they hold.
    #[inline]
    pub(super) fn are_many(&self) -> bool {
        self.in_use >= self.most
    }

    fn replace(&mut self, fragments: Vec<Fragment>) {
        self.in_use = fragments.len();
        self.fragments = fragments;
        self.free = NONE;
        self.parts.clear();
    }

    /// Forgets all of them.
    pub(super) fn clear_all(&mut self) {
        self.fragments.clear();
        self.free = NONE;
        self.in_use = 0;
        self.parts.clear();
        self.in_block.iter_mut().for_each(Vec::clear);
    }
}

/// Where [`Fragments::move_some`] moves to.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) block: u32,
    pub(super) at: PhysicalUnit,
    /// The end of the block.
    pub(super) end: PhysicalUnit,
}

/// The bits of the slots before `slot`, which may be one behind the last.
#[inline]
fn below(slot: u32) -> u64 {
    !u64::MAX.checked_shl(slot).unwrap_or(0)
}

/// The `count` lowest bits, 1 to 64.
#[inline]
fn ones(count: u32) -> u64 {
    u64::MAX >> (u64::BITS - count)
}

/// The `count` lowest bits of `mask`, and the others.
fn split(mask: u64, count: u32) -> (u64, u64) {
    let mut rest = mask;
    for _ in 0..count.min(mask.count_ones()) {
        rest &= rest - 1;
    }
    (mask ^ rest, rest)
}
