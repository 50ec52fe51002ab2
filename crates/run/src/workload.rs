//! The stream of I/Os that a job means, and when it ends.

use fourcorners_drive::{Io, Lba, Nanos, Op, SECTOR_BYTES};
use fourcorners_record::{Job, Pattern, Until};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::paced::{Due, Source};

/// The time limit of a job on its target's clock; [`Nanos::MAX`] when there is none.
pub fn time_limit(until: Until) -> Nanos {
    until.seconds().map_or(Nanos::MAX, Nanos::from_secs)
}

/// The endless stream of I/Os that a job means.
#[derive(Clone, Debug)]
pub struct Stream {
    random: Xoshiro256PlusPlus,
    pattern: Pattern,
    /// Of every I/O, but for its place and, if they are mixed, what it does.
    each: Io,
    /// Share of reads, if there are both.
    mixed: Option<u8>,
    start_sector: u64,
    blocks: u64,
    next_block: u64,
}

impl Stream {
    /// The stream of `job`, whose span holds at least one block.
    pub fn new(job: &Job) -> Stream {
        Stream {
            random: Xoshiro256PlusPlus::seed_from_u64(job.seed),
            pattern: job.pattern,
            each: Io {
                op: if job.read_percent == 0 { Op::Write } else { Op::Read },
                lba: Lba(0),
                sectors: (u64::from(job.block_bytes) / SECTOR_BYTES) as u32,
                compressible_percent: job.data.compressible_percent(),
                fua: job.fua,
            },
            mixed: (1..100).contains(&job.read_percent).then_some(job.read_percent),
            start_sector: job.span_start_bytes / SECTOR_BYTES,
            blocks: (job.span_bytes / u64::from(job.block_bytes)).max(1),
            next_block: 0,
        }
    }

    /// The next I/O.
    #[inline]
    pub fn next_io(&mut self) -> Io {
        let block = match self.pattern {
            Pattern::Random => below(self.random.next_u64(), self.blocks),
            Pattern::Sequential => {
                let block = self.next_block;
                self.next_block = if block + 1 == self.blocks { 0 } else { block + 1 };
                block
            }
        };
        let lba = Lba(self.start_sector + block * u64::from(self.each.sectors));
        let op = match self.mixed {
            None => self.each.op,
            Some(percent) if below(self.random.next_u64(), 100) < u64::from(percent) => Op::Read,
            Some(_) => Op::Write,
        };
        Io { op, lba, ..self.each }
    }
}

impl Source for Stream {
    const PACED: bool = false;

    #[inline]
    fn next(&mut self) -> Option<(Io, Due)> {
        Some((self.next_io(), Due::Now))
    }
}

/// A uniform number below `bound` from a uniform 64-bit one, by multiplication (Lemire 2019).
/// Without the rejection step its bias is below `bound` / 2^64, under 1e-10 for any drive.
#[inline]
fn below(random: u64, bound: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use fourcorners_record::Data;
    use proptest::prelude::*;

    use super::*;

    fn job(pattern: Pattern, read_percent: u8, span_start_bytes: u64, blocks: u64) -> Job {
        Job {
            pattern,
            read_percent,
            block_bytes: 4096,
            queue_depth: 1,
            span_start_bytes,
            span_bytes: blocks * 4096,
            data: Data::Incompressible,
            until: Until::Seconds(1),
            seed: 7,
            fua: false,
            flush: false,
            jobs: 1,
        }
    }

    #[test]
    fn sequential_wraps_at_the_end_of_its_span() {
        let mut stream = Stream::new(&job(Pattern::Sequential, 0, 8192, 3));
        let offsets: Vec<u64> = (0..5).map(|_| stream.next_io().lba.bytes()).collect();
        assert_eq!(offsets, [8192, 12288, 16384, 8192, 12288]);
    }

    #[test]
    fn random_is_uniform_over_the_span() {
        let mut stream = Stream::new(&job(Pattern::Random, 0, 0, 16));
        let mut hits = [0u32; 16];
        for _ in 0..160_000 {
            hits[(stream.next_io().lba.bytes() / 4096) as usize] += 1;
        }
        // Chi-squared with 15 degrees of freedom stays below 37.7 with probability 0.999.
        let chi: f64 = hits.iter().map(|&hit| (f64::from(hit) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 37.7, "chi-squared {chi}");
    }

    #[test]
    fn a_mix_has_its_share_of_reads() {
        let mut stream = Stream::new(&job(Pattern::Random, 70, 0, 1 << 20));
        let reads = (0..100_000).filter(|_| stream.next_io().op == Op::Read).count();
        // Three standard deviations of a binomial: 3 * sqrt(1e5 * 0.7 * 0.3) = 435.
        assert!(reads.abs_diff(70_000) < 435, "{reads}");
    }

    #[test]
    fn a_job_is_forced_as_a_whole_and_says_so_only_then() {
        let plain = job(Pattern::Random, 50, 0, 16);
        let forced = Job { fua: true, ..plain.clone() };
        assert!(!Stream::new(&plain).next_io().fua && Stream::new(&forced).next_io().fua);
        let text = |job: &Job| serde_json::to_string(job).expect("it is data");
        assert!(!text(&plain).contains("fua") && text(&forced).contains("\"fua\":true"));
        let read = |text: String| serde_json::from_str::<Job>(&text).expect("it is a job");
        assert_eq!((read(text(&plain)), read(text(&forced))), (plain, forced));
    }

    proptest! {
        #[test]
        fn every_io_is_aligned_and_inside_the_span(
            start in 0u64..1000, blocks in 1u64..100_000, seed in any::<u64>(),
        ) {
            let mut job = job(Pattern::Random, 50, start * 4096, blocks);
            job.seed = seed;
            let mut stream = Stream::new(&job);
            for _ in 0..100 {
                let io = stream.next_io();
                prop_assert!(io.lba.bytes().is_multiple_of(4096));
                prop_assert!(io.lba.bytes() >= start * 4096);
                prop_assert!(io.end() * SECTOR_BYTES <= (start + blocks) * 4096);
            }
        }
    }
}
