//! Traces that are described, not stored: the published composition of a workload, drawn by seed.
//!
//! What was published of each, and what had to be chosen here, is in docs/TRACES.md.

use fourcorners_drive::{Nanos, Op};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::io::TraceIo;

const KIB: u64 = 1024;
const UNIT: u64 = 4096;
/// Sizes that fill up what the published ones leave, in the proportion that meets the mean.
const SMALL: u64 = 8 * KIB;
const LARGE: u64 = 128 * KIB;
/// A jump that is not far goes up to this many bytes away.
const NEAR: u64 = 64 << 20;
/// Of the recording drive: what a command takes, and each byte (250 MB/s).
const COMMAND_NS: u64 = 60_000;
const BYTE_NS: u64 = 4;
/// Between two I/Os that are issued together.
const GAP_NS: u64 = 5_000;
/// One think time in so many is a pause, so many times as long as the others' mean.
const PAUSE_IN: u64 = 500;
const PAUSE_TIMES: f64 = 500.0;

/// What a generated trace is made of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Composition {
    /// The name after `generated:`.
    pub name: &'static str,
    /// What it is of.
    pub title: &'static str,
    reads: u64,
    writes: u64,
    read_sizes: Sizes,
    write_sizes: Sizes,
    /// Share of I/Os that go on where the last of their kind ended.
    sequential: f64,
    /// Mean number in flight when an I/O is issued, itself included, and the share at 1.
    depth: f64,
    alone: f64,
    /// Mean think time between two bursts.
    think_us: f64,
    footprint_bytes: u64,
}

/// Sizes with their shares, and the mean of all.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Sizes {
    shares: &'static [(u64, f64)],
    mean_bytes: f64,
}

const HEAVY_SIZES: &[(u64, f64)] =
    &[(4 * KIB, 0.28), (16 * KIB, 0.10), (32 * KIB, 0.10), (64 * KIB, 0.04)];
const LIGHT_SIZES: &[(u64, f64)] =
    &[(4 * KIB, 0.27), (16 * KIB, 0.08), (32 * KIB, 0.06), (64 * KIB, 0.05)];

/// All of them.
static ALL: [Composition; 4] = [
    Composition {
        name: "desktop",
        title: "Tom's Hardware Storage Bench v1.0",
        reads: 7_408_938,
        writes: 3_061_162,
        read_sizes: Sizes { shares: &[(4 * KIB, 0.75)], mean_bytes: 84.27e9 / 7_408_938.0 },
        write_sizes: Sizes { shares: &[(4 * KIB, 0.579)], mean_bytes: 142.19e9 / 3_061_162.0 },
        sequential: 0.3,
        depth: 2.0,
        alone: 0.6,
        think_us: 2000.0,
        footprint_bytes: 40_000_000_000,
    },
    Composition {
        name: "heavy",
        title: "AnandTech Storage Bench 2011, heavy",
        reads: 2_168_893,
        writes: 1_783_447,
        read_sizes: Sizes { shares: HEAVY_SIZES, mean_bytes: 106.32e9 / 1_783_447.0 },
        write_sizes: Sizes { shares: HEAVY_SIZES, mean_bytes: 106.32e9 / 1_783_447.0 },
        sequential: 0.42,
        depth: 4.625,
        alone: 0.59,
        think_us: 3000.0,
        footprint_bytes: 48_000_000_000,
    },
    Composition {
        name: "light",
        title: "AnandTech Storage Bench 2011, light",
        reads: 372_630,
        writes: 459_709,
        read_sizes: Sizes { shares: LIGHT_SIZES, mean_bytes: 65_000.0 },
        write_sizes: Sizes { shares: LIGHT_SIZES, mean_bytes: 65_000.0 },
        sequential: 0.60,
        depth: 2.2,
        alone: 0.75,
        think_us: 5000.0,
        footprint_bytes: 30_000_000_000,
    },
    Composition {
        name: "2013",
        title: "AnandTech Storage Bench 2013",
        reads: 38_830_000,
        writes: 10_970_000,
        read_sizes: Sizes {
            shares: &[(4 * KIB, 0.35), (16 * KIB, 0.10), (32 * KIB, 0.10), (64 * KIB, 0.10)],
            mean_bytes: 1583.0e9 / 38.83e6,
        },
        write_sizes: Sizes {
            shares: &[(4 * KIB, 0.25), (16 * KIB, 0.05), (32 * KIB, 0.05), (64 * KIB, 0.05)],
            mean_bytes: 875.6e9 / 10.97e6,
        },
        sequential: 0.5,
        depth: 5.5,
        alone: 0.5,
        think_us: 2000.0,
        footprint_bytes: 200_000_000_000,
    },
];

/// There is no generated trace of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no such generated trace; there are: {}", generated_names())]
pub struct UnknownGenerated;

fn generated_names() -> String {
    let names = ALL.iter().map(|known| format!("generated:{}", known.name));
    names.collect::<Vec<_>>().join(", ")
}

impl Composition {
    /// The one of this name.
    pub(super) fn named(name: &str) -> Result<&'static Composition, UnknownGenerated> {
        ALL.iter().find(|known| known.name == name).ok_or(UnknownGenerated)
    }

    /// All there are.
    pub fn all() -> &'static [Composition] {
        &ALL
    }

    /// I/Os of the whole of it.
    pub fn ios(&self) -> u64 {
        self.reads + self.writes
    }

    /// Bytes that so many I/Os are expected to read and to write.
    pub fn expected_bytes(&self, ios: u64) -> [u64; 2] {
        let part = ios as f64 / self.ios() as f64;
        let bytes = |count: u64, sizes: Sizes| (count as f64 * part * sizes.mean_bytes) as u64;
        [bytes(self.reads, self.read_sizes), bytes(self.writes, self.write_sizes)]
    }

    /// Think time that so many are expected to have, pauses cut to `cap`, seconds.
    pub fn expected_think_s(&self, ios: u64, cap: Nanos) -> f64 {
        let bursts = ios as f64 * self.alone;
        let pauses = bursts / PAUSE_IN as f64 * cap.as_secs();
        bursts * self.think_us / 2.0 / 1e6 + pauses
    }
}

/// Draws sizes.
#[derive(Clone, Copy, Debug)]
struct Draw {
    /// Upper ends of the shares as parts of 2^64, with their sizes.
    ends: [(u64, u64); 6],
    count: usize,
}

impl Draw {
    fn new(sizes: Sizes) -> Draw {
        let (mut ends, mut count, mut share, mut bytes) = ([(u64::MAX, LARGE); 6], 0, 0.0, 0.0);
        let mut add = |size: u64, part: f64, share: &mut f64| {
            *share += part;
            ends[count] = ((*share * u64::MAX as f64) as u64, size);
            count += 1;
        };
        for &(size, part) in sizes.shares {
            add(size, part, &mut share);
            bytes += size as f64 * part;
        }
        let left = 1.0 - share;
        let mean = (sizes.mean_bytes - bytes) / left;
        let large = ((mean - SMALL as f64) / (LARGE - SMALL) as f64).clamp(0.0, 1.0);
        add(SMALL, left * (1.0 - large), &mut share);
        add(LARGE, 1.0 - share, &mut share.clone());
        ends[count - 1].0 = u64::MAX;
        Draw { ends, count }
    }

    #[inline]
    fn size(&self, random: u64) -> u64 {
        let ends = &self.ends[..self.count];
        ends.iter().find(|(end, _)| random <= *end).map_or(LARGE, |&(_, size)| size)
    }
}

/// A generated trace as a stream.
#[derive(Clone, Debug)]
pub struct Generated {
    composition: &'static Composition,
    random: Xoshiro256PlusPlus,
    reads_left: u64,
    left: u64,
    read_sizes: Draw,
    write_sizes: Draw,
    /// Where the last read and the last write ended.
    ends: [u64; 2],
    /// Deep bursts: their length, and how many of 2^64 bursts are such.
    deep: f64,
    deep_share: f64,
    /// I/Os of the burst that are still to come, when the next is issued, and when the last of it
    /// so far is completed.
    burst: u64,
    at: u64,
    busy_until: u64,
}

impl Generated {
    /// `ios` I/Os of this composition: in its proportions, not its beginning.
    pub(super) fn new(composition: &'static Composition, ios: u64, seed: u64) -> Generated {
        // Bursts of 1 and of `deep` I/Os issued together. Of a burst of n, I/O number i is issued at
        // depth i: with E the mean length, 1/E of all I/Os are issued at depth 1, and the mean depth
        // is E[n (n + 1) / 2] / E. Both are given, which leaves one length and its share.
        let mean = 1.0 / composition.alone;
        let square = 2.0 * composition.depth * mean - mean;
        let deep = (square - 1.0) / (mean - 1.0) - 1.0;
        let share = composition.reads as f64 / composition.ios() as f64;
        Generated {
            composition,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            reads_left: (ios as f64 * share).round() as u64,
            left: ios,
            read_sizes: Draw::new(composition.read_sizes),
            write_sizes: Draw::new(composition.write_sizes),
            ends: [0, composition.footprint_bytes / 2],
            deep,
            deep_share: (mean - 1.0) / (deep - 1.0),
            burst: 0,
            at: 0,
            busy_until: 0,
        }
    }

    pub(super) fn composition(&self) -> &'static Composition {
        self.composition
    }

    /// A number from 0 to 1, never 0.
    #[inline]
    fn uniform(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    #[inline]
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.random.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Begins the next burst, after everything before it is done and was thought about.
    fn begin_burst(&mut self) {
        self.burst = 1;
        if self.uniform() <= self.deep_share {
            let (whole, part) = (self.deep.floor(), self.deep.fract());
            self.burst = whole as u64 + u64::from(self.uniform() <= part);
        }
        let mut mean_ns = self.composition.think_us * 1e3 / 2.0;
        if self.below(PAUSE_IN) == 0 {
            mean_ns *= PAUSE_TIMES;
        }
        let think = -self.uniform().ln() * mean_ns;
        self.at = self.busy_until + think as u64;
        self.busy_until = self.at + self.burst * GAP_NS;
    }

    fn place(&mut self, side: usize, bytes: u64) -> u64 {
        let footprint = self.composition.footprint_bytes;
        let end = self.ends[side];
        let offset = if self.uniform() <= self.composition.sequential {
            end
        } else if self.below(2) == 0 {
            // Most jumps of real use go to the neighbourhood.
            let from = end.saturating_sub(NEAR);
            from + self.below(2 * NEAR / UNIT) * UNIT
        } else {
            self.below(footprint / UNIT) * UNIT
        };
        if offset + bytes > footprint { 0 } else { offset }
    }
}

impl Iterator for Generated {
    type Item = TraceIo;

    fn next(&mut self) -> Option<TraceIo> {
        if self.left == 0 {
            return None;
        }
        if self.burst == 0 {
            self.begin_burst();
        }
        let reads = self.below(self.left) < self.reads_left;
        self.left -= 1;
        self.reads_left -= u64::from(reads);
        let random = self.random.next_u64();
        let (op, side, bytes) = match reads {
            true => (Op::Read, 0, self.read_sizes.size(random)),
            false => (Op::Write, 1, self.write_sizes.size(random)),
        };
        let offset_bytes = self.place(side, bytes);
        self.ends[side] = offset_bytes + bytes;
        self.busy_until += COMMAND_NS + bytes * BYTE_NS;
        let duration = Some(Nanos(self.busy_until - self.at));
        let at = Nanos(self.at);
        self.burst -= 1;
        self.at += GAP_NS;
        Some(TraceIo {
            at,
            op,
            offset_bytes,
            bytes,
            duration,
            device: 0,
            flags: Default::default(),
        })
    }
}
