//! What is left of a history when the power is cut at a moment of it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use fourcorners_drive::{Nanos, Op};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::bits::Flip;
use super::{Event, Flushes, History};

/// How a drive loses data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// What is on the NAND is left, and nothing else; a TRIM that was not flushed has not been.
    Honest,
    /// All that was promised is left, and of the rest any, unit by unit, as the seed has it: the worst that a host has to
    /// reckon with.
    Legal,
    /// Flushes are answered and do nothing, nor is a write forced.
    LostFlush,
    /// As honest; of one write that was on its way the first three or seven eighths are left, by sector.
    Shorn,
    /// As honest; of the writes that were promised, one is lost that others came after.
    Unserialisable,
    /// As honest; a third of the drive reads as zero.
    Metadata,
    /// As honest, but for rows that are being programmed: they count as programmed, and some bits of them are wrong, and
    /// of the lower pages that share their cells.
    Bits,
    /// The drive answers nothing any more.
    Dead,
}

const CLASSES: [(Class, &str); 8] = [
    (Class::Honest, "honest"),
    (Class::Legal, "legal"),
    (Class::LostFlush, "lost-flush"),
    (Class::Shorn, "shorn"),
    (Class::Unserialisable, "unserialisable"),
    (Class::Metadata, "metadata"),
    (Class::Bits, "bits"),
    (Class::Dead, "dead"),
];

/// Text that names no class.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0} is no way to lose data: give honest, legal, lost-flush, shorn, unserialisable, metadata, bits or dead"
)]
pub struct UnknownClass(String);

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = CLASSES.iter().find(|(class, _)| class == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

impl FromStr for Class {
    type Err = UnknownClass;

    fn from_str(text: &str) -> Result<Class, UnknownClass> {
        let found = CLASSES.iter().find(|(_, name)| *name == text);
        found.map(|(class, _)| *class).ok_or_else(|| UnknownClass(text.into()))
    }
}

impl Class {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Class> {
        CLASSES.into_iter().map(|(class, _)| class)
    }

    /// What such a drive does with a flush: it makes another history.
    pub fn flushes(self) -> Flushes {
        match self {
            Class::LostFlush => Flushes::Ignored,
            _ => Flushes::Kept,
        }
    }

    /// Whether all of an event is left at a moment and later, whatever else is.
    fn is_settled(self, event: &Event, at: Nanos) -> bool {
        match (self, event.op) {
            (_, Op::Read | Op::Flush) => true,
            (Class::Legal, _) | (_, Op::Trim) => event.promised <= at,
            (_, Op::Write) => event.units.iter().all(|unit| unit.persisted <= at),
        }
    }
}

/// Of the writes before the last so many none is lost by a drive that loses one out of order.
pub(super) const RECENT: usize = 64;

/// The shares of a write that is shorn (Zheng et al., FAST 2013): eighths.
const SHORN: [u64; 2] = [3, 7];

/// What is left of an event: sectors of a write that hold its data, or of a TRIM that read as zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// The event.
    pub event: usize,
    /// Its sectors that are left, in order. Later events may have other data there.
    pub sectors: Vec<Range<u64>>,
}

/// A cut.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// How the drive loses data.
    pub class: Class,
    /// When.
    pub at: Nanos,
    /// Events that were asked for by then.
    pub asked: usize,
    /// All of the events before this one are left, each in its turn.
    pub settled: usize,
    /// What is left of those after them, in order.
    pub left: Vec<Left>,
    /// Sectors that read as zero whatever is left, of a drive that lost a part of its map; all of one that is dead.
    pub wiped: Option<Range<u64>>,
    /// Bits that are wrong, in order, each once.
    pub flips: Vec<Flip>,
    /// Writes that were promised and are lost, in whole or in part.
    pub promised_lost: u64,
    /// Sectors of them.
    pub promised_lost_sectors: u64,
    /// Sectors that were answered, not promised, and are lost.
    pub answered_lost_sectors: u64,
}

impl History {
    /// Moments of the history, from its first I/O to its last answer, each as likely as any.
    pub fn random_moments(&self, seed: u64) -> impl Iterator<Item = Nanos> + use<> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let began = self.began();
        let length = self.end.since(began).0.max(1);
        std::iter::repeat_with(move || began.saturating_add(Nanos(below(&mut random, length))))
    }

    /// The cut of a class at a moment, drawn by a seed where anything is drawn.
    ///
    /// The history must be one of this class's [`Flushes`].
    pub fn cut(&self, class: Class, at: Nanos, seed: u64) -> Cut {
        self.drawn(class, at, &mut random_of(class, at, seed))
    }

    /// The same, from numbers that are drawn elsewhere.
    pub(super) fn drawn(&self, class: Class, at: Nanos, random: &mut impl Rng) -> Cut {
        let asked = self.events.partition_point(|event| event.asked <= at);
        let events = &self.events[..asked];
        let mut settled =
            events.iter().position(|event| !class.is_settled(event, at)).unwrap_or(asked);
        if class == Class::Unserialisable {
            settled = settled.min(asked.saturating_sub(RECENT));
        }
        // By unit: the newest event after the settled ones of which it is left.
        let mut newest = self.newest(class, at, settled..asked, random);
        if class == Class::Bits {
            for (event, unit) in self.half_programmed(at, settled..asked) {
                let newest = newest.entry(unit).or_insert(event);
                *newest = event.max(*newest);
            }
        }
        let dropped = match class {
            Class::Unserialisable => self.draw_dropped(at, settled..asked, random),
            _ => None,
        };
        if let Some(dropped) = dropped {
            // Where nothing newer is, an older version is found again.
            let units = &self.events[dropped].units;
            for unit in units {
                if newest.get(&unit.first) == Some(&dropped) {
                    newest.remove(&unit.first);
                    let older = (settled..dropped).rev().find(|older| {
                        let older = &self.events[*older].units;
                        older.iter().any(|it| it.first == unit.first && it.persisted <= at)
                    });
                    newest.extend(older.map(|older| (unit.first, older)));
                }
            }
        }
        let mut left = self.left(&newest, settled..asked, (class, at, &mut *random));
        if class == Class::Shorn {
            self.shear(&mut left, settled..asked, at, random);
        }
        let wiped = match class {
            Class::Metadata => {
                let third = self.sectors / 3;
                let begin = below(random, 3) * third;
                Some(begin..begin + third)
            }
            Class::Dead => Some(0..self.sectors),
            _ => None,
        };
        let mut cut = Cut {
            class,
            at,
            asked,
            settled,
            left,
            wiped,
            flips: Vec::new(),
            promised_lost: 0,
            promised_lost_sectors: 0,
            answered_lost_sectors: 0,
        };
        self.count_losses(&mut cut);
        cut.flips = self.draw_flips(&cut, random);
        self.count_flipped(&mut cut);
        cut
    }

    /// By unit, the newest write of a range of events that is left of it.
    fn newest(
        &self,
        class: Class,
        at: Nanos,
        range: Range<usize>,
        random: &mut impl Rng,
    ) -> BTreeMap<u64, usize> {
        let mut newest = BTreeMap::new();
        for index in range {
            let event = &self.events[index];
            let promised = event.promised <= at;
            for unit in &event.units {
                let is_left = match class {
                    // Each version that nobody relies on may be the last one that was kept.
                    Class::Legal => promised || below(random, 2) == 0,
                    _ => unit.persisted <= at,
                };
                if is_left {
                    newest.insert(unit.first, index);
                }
            }
        }
        newest
    }

    /// A write that was promised and that others were promised after, if there is one.
    fn draw_dropped(&self, at: Nanos, range: Range<usize>, random: &mut impl Rng) -> Option<usize> {
        let promised = |index: &usize| {
            let event = &self.events[*index];
            event.op == Op::Write && event.promised <= at
        };
        let mut writes: Vec<usize> = range.filter(promised).collect();
        writes.pop()?;
        let drawn = below(random, writes.len() as u64) as usize;
        writes.get(drawn).copied()
    }

    /// What is left of a range of events. A unit that is left of one holds what older ones wrote to other sectors of it.
    fn left(
        &self,
        newest: &BTreeMap<u64, usize>,
        range: Range<usize>,
        (class, at, random): (Class, Nanos, &mut impl Rng),
    ) -> Vec<Left> {
        let unit_sectors = self.unit_sectors;
        let mut left = Vec::new();
        for index in range {
            let event = &self.events[index];
            let clipped = |first: u64| {
                first.max(event.sectors.start)..(first + unit_sectors).min(event.sectors.end)
            };
            let sectors: Vec<Range<u64>> = match event.op {
                Op::Read | Op::Flush => continue,
                Op::Write => {
                    let units = event.units.iter().map(|unit| unit.first);
                    let kept = units.filter(|unit| newest.get(unit).is_some_and(|of| *of >= index));
                    kept.map(clipped).collect()
                }
                Op::Trim => {
                    let kept =
                        event.promised <= at || class == Class::Legal && below(random, 2) == 0;
                    match kept {
                        true => vec![event.sectors.clone()],
                        // A unit that was written after it holds no older data.
                        false => {
                            let first = event.sectors.start / unit_sectors * unit_sectors;
                            let later = newest.range(first..event.sectors.end);
                            let later = later.filter(|(_, of)| **of > index);
                            later.map(|(unit, _)| clipped(*unit)).collect()
                        }
                    }
                }
            };
            if !sectors.is_empty() {
                left.push(Left { event: index, sectors: joined(sectors) });
            }
        }
        left
    }

    /// Keeps a part of one write that was on its way, if there is one.
    fn shear(&self, left: &mut Vec<Left>, range: Range<usize>, at: Nanos, random: &mut impl Rng) {
        let on_its_way = |index: &usize| {
            let event = &self.events[*index];
            event.op == Op::Write && event.units.iter().any(|unit| unit.persisted > at)
        };
        let writes: Vec<usize> = range.filter(on_its_way).collect();
        if writes.is_empty() {
            return;
        }
        let index = writes[below(random, writes.len() as u64) as usize];
        let Range { start, end } = self.events[index].sectors;
        let eighths = SHORN[below(random, 2) as usize];
        let kept = start..start + ((end - start) * eighths / 8).max(1);
        let place = left.partition_point(|left| left.event < index);
        match left.get_mut(place).filter(|left| left.event == index) {
            Some(left) => {
                left.sectors.push(kept);
                left.sectors = joined(std::mem::take(&mut left.sectors));
            }
            None => left.insert(place, Left { event: index, sectors: vec![kept] }),
        }
    }

    /// Counts what is lost: sectors whose newest write that was promised, and sectors whose newest write that was only answered, is
    /// not there and nothing newer is, and that no TRIM was answered of since. One sector can be both: a write without a promise that
    /// came after a promised one makes up for it only if it is there.
    fn count_losses(&self, cut: &mut Cut) {
        // From the newest event to the oldest: which sectors hold something at least as new, or were counted as lost.
        let (mut promised, mut answered) = (Covered::default(), Covered::default());
        if let Some(wiped) = &cut.wiped {
            self.count_wiped(wiped.clone(), cut);
        }
        let mut left = cut.left.iter().rev().peekable();
        for index in (cut.settled..cut.asked).rev() {
            let event = &self.events[index];
            let kept = left.next_if(|left| left.event == index);
            for sectors in kept.iter().flat_map(|kept| &kept.sectors) {
                promised.add(sectors.clone());
                answered.add(sectors.clone());
            }
            if event.answered > cut.at {
                continue;
            }
            match event.op {
                // Whoever was answered counts on nothing older, whether the cut undoes the TRIM or not.
                Op::Trim => promised.add(event.sectors.clone()),
                Op::Write if event.promised <= cut.at => {
                    let lost = promised.missing(event.sectors.clone());
                    cut.promised_lost += u64::from(lost > 0);
                    cut.promised_lost_sectors += lost;
                    promised.add(event.sectors.clone());
                }
                Op::Write => {
                    cut.answered_lost_sectors += answered.missing(event.sectors.clone());
                }
                Op::Read | Op::Flush => continue,
            }
            answered.add(event.sectors.clone());
        }
    }

    /// Counts what was promised and lies in a part of the drive that is lost.
    fn count_wiped(&self, wiped: Range<u64>, cut: &mut Cut) {
        let mut counted = Covered::default();
        for event in self.events[..cut.asked].iter().rev() {
            let lost = event.sectors.start.max(wiped.start)..event.sectors.end.min(wiped.end);
            let written = event.op == Op::Write && event.promised <= cut.at && !event.zeroes;
            if written && lost.start < lost.end {
                let sectors = counted.missing(lost.clone());
                cut.promised_lost += u64::from(sectors > 0);
                cut.promised_lost_sectors += sectors;
            }
            if lost.start < lost.end && matches!(event.op, Op::Write | Op::Trim) {
                counted.add(lost);
            }
        }
    }
}

/// The numbers by which a cut is drawn.
fn random_of(class: Class, at: Nanos, seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ at.0.rotate_left(20) ^ (class as u64).rotate_left(60))
}

/// A number below `bound`, 1 or more.
pub(super) fn below(random: &mut impl Rng, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Ranges in order, those that touch as one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Sectors of a set of ranges.
#[derive(Debug, Default)]
struct Covered(BTreeMap<u64, u64>);

impl Covered {
    fn add(&mut self, range: Range<u64>) {
        let Range { mut start, mut end } = range;
        if start >= end {
            return;
        }
        while let Some((&first, &last)) =
            self.0.range(..=end).next_back().filter(|(_, last)| **last >= start)
        {
            start = start.min(first);
            end = end.max(last);
            self.0.remove(&first);
        }
        self.0.insert(start, end);
    }

    /// How many of a range are not there.
    fn missing(&self, range: Range<u64>) -> u64 {
        let mut missing = range.end.saturating_sub(range.start);
        let before = self.0.range(..range.end).rev();
        for (&first, &last) in before.take_while(|(_, last)| **last > range.start) {
            missing -= last.min(range.end) - first.max(range.start);
        }
        missing
    }
}
