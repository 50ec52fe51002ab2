//! The tree of files that real tasks work with, and its archive.

use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Bytes of a file on average: about that of an installation of Windows 7 (20,490 files, 6.25 GB) and
/// less, since large files are left to the other methods.
const MEAN_BYTES: u64 = 100_000;
/// Half of all files are smaller (Tanenbaum, Herder and Bos 2006).
const MEDIAN_BYTES: f64 = 2475.0;
/// Files of a folder.
const FOLDER_FILES: usize = 50;
/// Of each so many bytes the first half is random and the rest zero: packing removes about half.
const GRAIN: usize = 512;

/// Files by their length.
pub(super) struct Tree {
    lengths: Vec<u64>,
    seed: u64,
}

impl Tree {
    /// A tree of exactly so many bytes. Lengths are log-normal, as file systems have them (Douceur and
    /// Bolosky 1999), with the median above.
    pub(super) fn new(bytes: u64, seed: u64) -> Tree {
        let count = (bytes / MEAN_BYTES).clamp(10, 1_000_000) as usize;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut uniform = || ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        // Its mean is the median times e^(sigma^2 / 2).
        let mean = bytes as f64 / count as f64;
        let sigma = (2.0 * libm::log(mean / MEDIAN_BYTES)).max(0.0).sqrt();
        let drawn: Vec<f64> = (0..count)
            .map(|_| {
                // Box and Muller 1958.
                let radius = (-2.0 * libm::log(uniform())).sqrt();
                let normal = radius * libm::cos(std::f64::consts::TAU * uniform());
                // One file is no tree.
                (MEDIAN_BYTES * libm::exp(sigma * normal)).min(bytes as f64 / 8.0)
            })
            .collect();
        // The tail of some thousand draws is not the tail of all: the larger half makes up for it.
        let (small, large): (f64, f64) =
            drawn.iter().fold((0.0, 0.0), |(small, large), &length| {
                if length <= MEDIAN_BYTES {
                    (small + length, large)
                } else {
                    (small, large + length)
                }
            });
        let factor = (bytes as f64 - small).max(0.0) / large.max(1.0);
        let mut lengths: Vec<u64> = drawn
            .iter()
            .map(|&length| if length <= MEDIAN_BYTES { length } else { length * factor } as u64)
            .collect();
        let sum: u64 = lengths.iter().sum();
        if let Some(longest) = lengths.iter_mut().max() {
            *longest = (*longest + bytes).saturating_sub(sum);
        }
        Tree { lengths, seed }
    }

    /// Writes its archive, and waits until it is on the drive. `None` when it was stopped.
    pub(super) fn pack(
        &self,
        path: &Path,
        go_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<Option<()>> {
        let file = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
        let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::fast()));
        for (index, &length) in self.lengths.iter().enumerate() {
            if !go_on() {
                return Ok(None);
            }
            let name = format!("{:04}/{:05}.bin", index / FOLDER_FILES, index);
            let mut header = tar::Header::new_gnu();
            header.set_size(length);
            header.set_mode(0o644);
            let content = Content::new(self.seed.wrapping_add(index as u64)).take(length);
            archive.append_data(&mut header, name, content)?;
        }
        let file =
            archive.into_inner()?.finish()?.into_inner().map_err(|error| error.into_error())?;
        file.sync_all()?;
        Ok(Some(()))
    }
}

/// Endless bytes of a file.
struct Content {
    random: Xoshiro256PlusPlus,
    grain: [u8; GRAIN],
    at: usize,
}

impl Content {
    fn new(seed: u64) -> Content {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Content { random, grain: [0; GRAIN], at: GRAIN }
    }
}

impl Read for Content {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == GRAIN {
            self.random.fill_bytes(&mut self.grain[..GRAIN / 2]);
            self.at = 0;
        }
        let count = into.len().min(GRAIN - self.at);
        into[..count].copy_from_slice(&self.grain[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_its_bytes_and_most_of_its_files_are_small() {
        for (bytes, seed) in [(1_000_000, 1), (20_000_000, 2), (500_000_000, 3), (3_000_000_000, 4)]
        {
            let tree = Tree::new(bytes, seed);
            assert_eq!(tree.lengths.iter().sum::<u64>(), bytes, "seed {seed}");
            let small = tree.lengths.iter().filter(|&&length| length <= 2475).count();
            let share = small as f64 / tree.lengths.len() as f64;
            // Of 10 files two more or less are chance; of thousands nothing is.
            let slack = 2.0 / (tree.lengths.len() as f64).sqrt();
            assert!((share - 0.5).abs() <= slack, "seed {seed}: {share}");
        }
    }
}
