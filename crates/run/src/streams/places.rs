//! The address of a stream's next I/O.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use super::distribution::Sampler;
use super::free_map::FreeMap;
use super::permutation::Permutation;
use super::random::below;
use super::{Direction, Stream, Zones};

/// A place in a stream's span: offset from its beginning and length, bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) bytes: u32,
}

/// Draws places.
#[derive(Clone, Debug)]
pub(super) struct Places {
    random_percent: [u8; 3],
    run: u32,
    /// I/Os that stay at the last place drawn.
    run_left: u32,
    identical: bool,
    step_bytes: i64,
    span_bytes: u64,
    /// One for all directions whose random places are multiples of the same.
    ways: Vec<Way>,
    /// By direction.
    way_of: [usize; 3],
    /// Where the next sequential I/O of each direction goes; before the span when it is to begin
    /// anew.
    next: [i128; 3],
    /// Where the last random I/O began.
    last: u64,
    zone: Option<Zone>,
}

/// How random places are drawn.
#[derive(Clone, Debug)]
struct Way {
    unit_bytes: u64,
    units: u64,
    sampler: Sampler,
    /// Where the units of each rank are.
    scatter: Option<Permutation>,
    map: Option<Map>,
}

/// The zone that a stream is in.
#[derive(Clone, Copy, Debug)]
struct Zone {
    zones: Zones,
    start: u64,
    moved: u64,
}

/// Which units random I/Os still have to cover.
#[derive(Clone, Debug)]
enum Map {
    /// I/Os of one unit: a random order of all, without a table.
    Order { order: Permutation, place: u64 },
    /// I/Os of several units: as fio does it, the next free one from a random one on, and no
    /// further than the next covered one.
    Table(FreeMap),
}

impl Places {
    pub(super) fn new(stream: &Stream, random: &mut Xoshiro256PlusPlus) -> Places {
        let access = &stream.access;
        let units = stream.units();
        let unit_of = |direction: Direction| access.align_bytes[direction as usize];
        let way_of = Direction::ALL
            .map(|own| units.iter().position(|unit| *unit == unit_of(own)).unwrap_or(0));
        let ways = units.iter().map(|unit| Way::new(stream, *unit, random)).collect();
        Places {
            random_percent: access.random_percent,
            run: access.run.max(1),
            run_left: 0,
            identical: access.identical,
            step_bytes: access.step_bytes,
            span_bytes: stream.span_bytes,
            ways,
            way_of,
            next: [0; 3],
            last: 0,
            zone: access.zones.map(|zones| Zone { zones, start: 0, moved: 0 }),
        }
    }

    /// The place of the next I/O of `bytes`. A span's end or a covered block may make it shorter.
    #[inline]
    pub(super) fn next(
        &mut self,
        direction: Direction,
        bytes: u32,
        random: &mut Xoshiro256PlusPlus,
    ) -> Place {
        self.enter_zone(bytes);
        let percent = self.random_percent[direction as usize];
        let draws = percent > 0 && self.run_left == 0;
        let place = if self.run_left > 0 && self.identical {
            self.run_left -= 1;
            self.clipped(self.last, bytes)
        } else if draws && (percent >= 100 || below(random.next_u64(), 100) < u64::from(percent)) {
            self.run_left = self.run - 1;
            self.random(direction, bytes, random)
        } else {
            self.run_left = self.run_left.saturating_sub(1);
            self.sequential(direction, bytes)
        };
        self.next[direction as usize] =
            i128::from(place.offset + u64::from(place.bytes)) + i128::from(self.step_bytes);
        place
    }

    /// Goes on to the next zone when this one has had its share.
    #[inline]
    fn enter_zone(&mut self, bytes: u32) {
        let Some(zone) = &mut self.zone else { return };
        if zone.moved >= zone.zones.moved_bytes {
            zone.moved = 0;
            zone.start += zone.zones.bytes + zone.zones.skip_bytes;
            if zone.start + zone.zones.bytes > self.span_bytes {
                zone.start = 0;
            }
            self.next = [i128::from(zone.start); 3];
        }
        zone.moved += u64::from(bytes);
    }

    fn sequential(&mut self, direction: Direction, bytes: u32) -> Place {
        let end = i128::from(self.span_bytes);
        let next = self.next[direction as usize];
        let offset = if next >= 0 && next + i128::from(bytes) <= end {
            next
        } else if self.step_bytes < 0 {
            // Backwards from the last whole block.
            (end / i128::from(bytes) - 1).max(0) * i128::from(bytes)
        } else {
            0
        };
        self.clipped(offset as u64, bytes)
    }

    #[inline]
    fn random(
        &mut self,
        direction: Direction,
        bytes: u32,
        random: &mut Xoshiro256PlusPlus,
    ) -> Place {
        let way = &mut self.ways[self.way_of[direction as usize]];
        let place = match &mut way.map {
            Some(map) => map.next(bytes, way.unit_bytes, way.units, random),
            None => {
                let drawn = way.sampler.draw(direction, random);
                let unit = way.scatter.as_ref().map_or(drawn, |scatter| scatter.at(drawn));
                let zone = self.zone.map_or(0, |zone| zone.start);
                Place { offset: zone + unit * way.unit_bytes, bytes }
            }
        };
        self.last = place.offset;
        self.clipped(place.offset, place.bytes)
    }

    #[inline]
    fn clipped(&self, offset: u64, bytes: u32) -> Place {
        let left = self.span_bytes - offset;
        Place { offset, bytes: u64::from(bytes).min(left) as u32 }
    }
}

impl Way {
    /// Of the directions whose places are multiples of `unit_bytes`.
    fn new(stream: &Stream, unit_bytes: u32, random: &mut Xoshiro256PlusPlus) -> Way {
        let access = &stream.access;
        let zone_bytes = access.zones.map_or(u64::MAX, |zones| zones.bytes);
        let units = (stream.span_bytes.min(zone_bytes) / u64::from(unit_bytes.max(1))).max(1);
        let sampler = Sampler::new(&access.distribution, units);
        let scatter =
            (!sampler.keeps_places()).then(|| Permutation::new(units, || random.next_u64()));
        let map = stream.maps().then(|| match stream.largest_block_in(unit_bytes) == unit_bytes {
            true => Map::Order { order: Permutation::new(units, || random.next_u64()), place: 0 },
            false => Map::Table(FreeMap::new(units)),
        });
        Way { unit_bytes: unit_bytes.max(1).into(), units, sampler, scatter, map }
    }
}

impl Map {
    #[inline]
    fn next(
        &mut self,
        bytes: u32,
        unit_bytes: u64,
        units: u64,
        random: &mut Xoshiro256PlusPlus,
    ) -> Place {
        match self {
            Map::Order { order, place } => {
                if *place == units {
                    *place = 0;
                    *order = Permutation::new(units, || random.next_u64());
                }
                let unit = order.at(*place);
                *place += 1;
                Place { offset: unit * unit_bytes, bytes }
            }
            Map::Table(map) => {
                let from = below(random.next_u64(), units);
                let unit = map.next_free(from).or_else(|| map.next_free(0)).unwrap_or_else(|| {
                    map.clear();
                    from
                });
                let wanted = u64::from(bytes).div_ceil(unit_bytes).min(units - unit);
                let mut free = 0;
                while free < wanted && !map.is_covered(unit + free) {
                    map.cover(unit + free);
                    free += 1;
                }
                let bytes = u64::from(bytes).min(free * unit_bytes) as u32;
                Place { offset: unit * unit_bytes, bytes }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::stream;
    use super::super::{BlockSizes, Distribution, Operations, PARTS};
    use super::*;
    use proptest::prelude::*;
    use rand_xoshiro::rand_core::SeedableRng;

    fn random() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(1)
    }

    fn offsets(stream: &Stream, count: usize) -> Vec<u64> {
        let mut random = random();
        let mut places = Places::new(stream, &mut random);
        (0..count).map(|_| places.next(Direction::Read, 4096, &mut random).offset / 4096).collect()
    }

    #[test]
    fn directions_with_blocks_of_their_own_each_cover_all_and_cut_nothing_short() {
        let mut mixed = stream(64 * 65_536);
        mixed.access.once = true;
        mixed.operations = Operations::Mixed { read_percent: 50 };
        mixed.blocks = [4096, 65_536, 65_536].map(BlockSizes::One);
        mixed.access.align_bytes = [4096, 65_536, 65_536];
        let mut random = random();
        let mut places = Places::new(&mixed, &mut random);
        let mut of = |direction, bytes, count| {
            let drawn = (0..count).map(|_| places.next(direction, bytes, &mut random));
            let drawn: std::collections::BTreeSet<u64> = drawn
                .map(|place| {
                    assert!(
                        place.bytes == bytes && place.offset % u64::from(bytes) == 0,
                        "{place:?}"
                    );
                    place.offset
                })
                .collect();
            drawn.len()
        };
        // Reads that cover half of the drive leave all of it to the writes.
        assert_eq!(of(Direction::Read, 4096, 512), 512);
        assert_eq!(of(Direction::Write, 65_536, 64), 64);
        // Of one size they share what they have covered.
        mixed.access.align_bytes = [4096; 3];
        let mut places = Places::new(&mixed, &mut random);
        let turns = [Direction::Read, Direction::Write].into_iter().cycle().take(1024);
        let both = turns.map(|direction| places.next(direction, 4096, &mut random).offset);
        assert_eq!(both.collect::<std::collections::BTreeSet<_>>().len(), 1024);
        assert_eq!(mixed.map_bytes(), 64 * 16 / 8);
    }

    #[test]
    fn a_sequence_is_gone_through_in_its_order_again_or_further_on() {
        let mut sequence = stream(8 * 4096);
        let blocks = vec![2, 0, 1];
        let of = |strides| Distribution::Sequence { blocks: blocks.clone(), strides };
        sequence.access.distribution = of(false);
        assert_eq!(offsets(&sequence, 7), [2, 0, 1, 2, 0, 1, 2]);
        sequence.access.distribution = of(true);
        // A third time around would end behind the last block.
        assert_eq!(offsets(&sequence, 8), [2, 0, 1, 5, 3, 4, 2, 0]);
    }

    #[test]
    fn sequential_wraps_and_steps_both_ways() {
        let mut sequential = stream(5 * 4096);
        sequential.access.random_percent = [0; 3];
        assert_eq!(offsets(&sequential, 7), [0, 1, 2, 3, 4, 0, 1]);
        sequential.access.step_bytes = 4096;
        assert_eq!(offsets(&sequential, 5), [0, 2, 4, 0, 2]);
        sequential.access.step_bytes = -8192;
        assert_eq!(offsets(&sequential, 6), [0, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn zones_are_gone_through_one_after_the_other() {
        let mut strided = stream(20 * 4096);
        strided.access.random_percent = [0; 3];
        let zones = Zones { moved_bytes: 2 * 4096, bytes: 3 * 4096, skip_bytes: 4 * 4096 };
        strided.access.zones = Some(zones);
        assert_eq!(offsets(&strided, 9), [0, 1, 7, 8, 14, 15, 0, 1, 7]);
        strided.access.random_percent = [100; 3];
        let inside = |(turn, offset): (usize, &u64)| {
            let zone = [0, 7, 14][turn / 2 % 3];
            (zone..zone + 3).contains(offset)
        };
        assert!(offsets(&strided, 300).iter().enumerate().all(inside));
    }

    #[test]
    fn a_run_follows_the_place_drawn_or_stays_there() {
        let mut runs = stream(1000 * 4096);
        runs.access.run = 4;
        for (at, four) in offsets(&runs, 400).chunks(4).enumerate() {
            // A run that would leave the span goes on at its beginning.
            assert!(four.windows(2).all(|w| w[1] == w[0] + 1 || w[1] == 0), "{at}: {four:?}");
        }
        runs.access.identical = true;
        assert!(offsets(&runs, 400).chunks(4).all(|four| four.iter().all(|o| o == &four[0])));
    }

    #[test]
    fn a_share_of_random_places_is_that_share() {
        let mut mixed = stream(4096 << 20);
        mixed.access.random_percent = [30; 3];
        let offsets = offsets(&mixed, 100_000);
        let random = offsets.windows(2).filter(|two| two[1] != two[0] + 1).count();
        // Three standard deviations: 3 * sqrt(1e5 * 0.3 * 0.7) = 435.
        assert!(random.abs_diff(30_000) < 435, "{random}");
    }

    #[test]
    fn zipf_scatters_its_hot_blocks() {
        let mut zipf = stream(4096 * 1000);
        zipf.access.distribution = Distribution::Zipf(1.2);
        let mut counts = vec![0; 1000];
        offsets(&zipf, 100_000).into_iter().for_each(|at| counts[at as usize] += 1);
        let mut hottest: Vec<usize> = (0..1000).collect();
        hottest.sort_by_key(|&at| std::cmp::Reverse(counts[at]));
        let near = hottest[..10].windows(2).filter(|two| two[0].abs_diff(two[1]) < 5).count();
        assert!(near < 3, "{:?}", &hottest[..10]);
        // The first rank's share of 1000 at 1.2 is 1 / sum(k^-1.2) = 0.2305.
        assert!((f64::from(counts[hottest[0]]) / 1e5 - 0.2305).abs() < 0.01);
    }

    #[test]
    fn blocks_are_cut_at_covered_ones_as_much_as_fio_cuts_them() {
        let mut split = stream(64 << 20);
        split.access.once = true;
        split.blocks[0] = BlockSizes::Split(vec![(4096, 70_000), (16_384, 30_000)]);
        let mut random = random();
        let mut places = Places::new(&split, &mut random);
        let (mut moved, mut ios) = (0, 0);
        while moved < 64 << 20 {
            let bytes = split.blocks[0].next(|| random.next_u64());
            moved += places.next(Direction::Read, bytes, &mut random).bytes;
            ios += 1;
        }
        // fio 3.33 with --size=64m --rw=randread --bssplit=4k/70:16k/30 does 10,729 I/Os.
        assert!((f64::from(ios) / 10_729.0 - 1.0).abs() < 0.01, "{ios}");
    }

    proptest! {
        #[test]
        fn with_a_map_every_block_is_covered_once_a_pass(
            units in 1u64..3000, seed in any::<u64>(), split in any::<bool>(),
        ) {
            let mut mapped = stream(units * 4096);
            mapped.access.once = true;
            if split && units >= 16 {
                let sizes = vec![(4096, PARTS / 2), (65536, PARTS / 4), (12288, PARTS / 4)];
                mapped.blocks[0] = BlockSizes::Split(sizes);
            }
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut places = Places::new(&mapped, &mut random);
            for _pass in 0..2 {
                let mut covered = vec![false; units as usize];
                let mut left = units;
                while left > 0 {
                    let bytes = mapped.blocks[0].next(|| random.next_u64());
                    let place = places.next(Direction::Read, bytes, &mut random);
                    let first = (place.offset / 4096) as usize;
                    let count = u64::from(place.bytes) / 4096;
                    prop_assert!(count > 0 && place.bytes.is_multiple_of(4096));
                    for unit in &mut covered[first..first + count as usize] {
                        prop_assert!(!*unit);
                        *unit = true;
                    }
                    left -= count;
                }
            }
        }

        #[test]
        fn every_place_is_inside(
            units in 1u64..500, step in -5i64..5, percent in 0u8..=100, seed in any::<u64>(),
        ) {
            let mut any = stream(units * 4096);
            any.access.random_percent = [percent; 3];
            any.access.step_bytes = step * 4096;
            any.access.run = 3;
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut places = Places::new(&any, &mut random);
            for turn in 0..200u32 {
                let bytes = 4096 * (1 + turn % 4);
                let place = places.next(Direction::Write, bytes, &mut random);
                prop_assert!(place.bytes > 0 && place.offset.is_multiple_of(4096));
                prop_assert!(place.offset + u64::from(place.bytes) <= units * 4096);
            }
        }
    }
}
