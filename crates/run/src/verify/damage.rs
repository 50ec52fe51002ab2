//! The kind of damage of a block, from its expected and its actual content.

use fourcorners_drive::SECTOR_BYTES;

use super::Sequence;
use super::stamp::{SECTOR, Stamp, Tag};

/// A sector without a whole tag is still the one expected if no more than one bit in so many differs.
/// Of two random sectors every second bit does.
const NEAR: u32 = 8;

/// What is where something else should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// An earlier write of this run.
    Older(Sequence),
    /// What another run wrote.
    OtherRun,
    /// Zeros.
    Nothing,
    /// Nothing that was written to be verified.
    Unknown,
}

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// The right data, but for some bits.
    Flipped {
        /// How many bits.
        bits: u64,
        /// Where the first of them is, in bytes of the target.
        at_bytes: u64,
        /// Which bits of that byte.
        mask: u8,
    },
    /// What was there before still is: the write never arrived.
    Lost {
        /// What is there.
        holds: Holds,
        /// Where its data was found instead.
        went_to_bytes: Option<u64>,
    },
    /// Part of the write arrived.
    Torn {
        /// How much of what was looked at is right, bytes.
        right_bytes: u64,
        /// Where the first of the others begins, in bytes of the target.
        at_bytes: u64,
        /// What is there.
        holds: Holds,
    },
    /// Another write landed here.
    Misplaced {
        /// The offset that it was meant for.
        meant_for_bytes: u64,
        /// Which it was.
        by: Sequence,
    },
    /// Neither what should be here nor anything else that was written to be verified.
    Foreign,
    /// Nothing here was written to be verified, and the job only reads.
    Unstamped,
    /// It was written in blocks of another length.
    OtherLength {
        /// Bytes.
        block_bytes: u32,
    },
}

/// What a sector is, next to what it should be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Right,
    Near { bits: u32 },
    Other(Holds),
    Elsewhere { sector: u64, by: Sequence },
    Foreign,
}

/// What is wrong with a block that is not what `stamp` writes.
pub(super) fn diagnose(stamp: Stamp, block: &[u8], spare: &mut [u8]) -> Damage {
    let expected = &mut spare[..block.len()];
    stamp.write(expected);
    let sectors = || block.chunks_exact(SECTOR).zip(expected.chunks_exact(SECTOR));
    let found: Vec<Found> = sectors()
        .enumerate()
        .map(|(index, (is, should))| sector(stamp, stamp.sector + index as u64, is, should))
        .collect();
    let start_bytes = stamp.sector * SECTOR_BYTES;
    let first = |wanted: fn(&Found) -> bool| found.iter().copied().find(wanted);
    if let Some(Found::Elsewhere { sector, by }) = first(|it| matches!(it, Found::Elsewhere { .. }))
    {
        let place = found.iter().position(|it| matches!(it, Found::Elsewhere { .. }));
        let before = place.unwrap_or(0) as u64;
        return Damage::Misplaced {
            meant_for_bytes: sector.saturating_sub(before).saturating_mul(SECTOR_BYTES),
            by,
        };
    }
    let right = found.iter().filter(|it| matches!(it, Found::Right | Found::Near { .. })).count();
    let old = found.iter().position(|it| matches!(it, Found::Other(_) | Found::Foreign));
    let holds = match old.map(|place| found[place]) {
        Some(Found::Other(holds)) => holds,
        _ => Holds::Unknown,
    };
    match old {
        Some(_) if right == 0 && first(|it| matches!(it, Found::Other(_))).is_none() => {
            Damage::Foreign
        }
        Some(_) if right == 0 => Damage::Lost { holds, went_to_bytes: None },
        Some(place) => Damage::Torn {
            right_bytes: (right * SECTOR) as u64,
            at_bytes: start_bytes + (place * SECTOR) as u64,
            holds,
        },
        None => {
            let wrong = |place: &usize| block[*place] != expected[*place];
            let place = (0..block.len()).find(wrong).unwrap_or(0);
            let bits = found.iter().map(|it| match it {
                Found::Near { bits } => u64::from(*bits),
                _ => 0,
            });
            Damage::Flipped {
                bits: bits.sum(),
                at_bytes: start_bytes + place as u64,
                mask: block[place] ^ expected[place],
            }
        }
    }
}

fn sector(stamp: Stamp, number: u64, is: &[u8], should: &[u8]) -> Found {
    if is == should {
        return Found::Right;
    }
    let bits: u32 = is.iter().zip(should).map(|(is, should)| (is ^ should).count_ones()).sum();
    match Tag::of(is) {
        Some(tag) if tag.sector != number => Found::Elsewhere {
            sector: tag.sector,
            by: Sequence::of(tag.sequence).unwrap_or(Sequence::FIRST),
        },
        Some(tag) if tag.run != stamp.run => Found::Other(Holds::OtherRun),
        Some(tag) if tag.sequence != stamp.sequence => {
            Found::Other(Sequence::of(tag.sequence).map_or(Holds::Unknown, Holds::Older))
        }
        // All of the right write's own; what differs was changed afterwards.
        Some(_) => Found::Near { bits },
        None if is.iter().all(|&byte| byte == 0) => Found::Other(Holds::Nothing),
        None if bits <= SECTOR as u32 * 8 / NEAR => Found::Near { bits },
        None => Found::Foreign,
    }
}

/// What is wrong with a block of which only its place is known; `None` if it is one whole write of
/// whoever it was.
pub(super) fn diagnose_unknown(sector: u64, block: &[u8], spare: &mut [u8]) -> Option<Damage> {
    let tags = || block.chunks_exact(SECTOR).map(Tag::of);
    let numbered = || tags().enumerate().filter_map(|(index, tag)| Some((index as u64, tag?)));
    let own = numbered().find(|(index, tag)| tag.sector == sector + index);
    let Some((_, tag)) = own else {
        return Some(match numbered().next() {
            Some((index, tag)) => Damage::Misplaced {
                meant_for_bytes: tag.sector.saturating_sub(index).saturating_mul(SECTOR_BYTES),
                by: Sequence::of(tag.sequence).unwrap_or(Sequence::FIRST),
            },
            None => Damage::Unstamped,
        });
    };
    let (kind, block_bytes) = super::stamp::header(block).unzip();
    if let Some(block_bytes) = block_bytes.filter(|&bytes| bytes as usize != block.len()) {
        return Some(Damage::OtherLength { block_bytes });
    }
    let stamp = Stamp {
        kind: kind.unwrap_or(super::Kind::Crc32c),
        run: tag.run,
        sequence: tag.sequence,
        sector,
        compressible_percent: tag.compressible_percent,
    };
    (!stamp.is_in(block, spare)).then(|| diagnose(stamp, block, spare))
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use proptest::prelude::*;

    const BLOCK: usize = 4096;

    fn stamp(sequence: u64, sector: u64, percent: u8) -> Stamp {
        Stamp { kind: Kind::Crc32c, run: 9, sequence, sector, compressible_percent: percent }
    }

    fn written(stamp: Stamp) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        stamp.write(&mut block);
        block
    }

    fn found(stamp: Stamp, block: &[u8]) -> Damage {
        let mut spare = vec![0; BLOCK];
        assert!(!stamp.is_in(block, &mut spare), "it is seen at all");
        diagnose(stamp, block, &mut spare)
    }

    proptest! {
        /// Whatever the data: repeating blocks differ in their tags only.
        #[test]
        fn each_kind_of_damage_is_named(
            percent in prop::sample::select(vec![0u8, 30, 100]), cut in 1usize..8,
            bit in 0usize..BLOCK * 8, place in 0u64..1000,
        ) {
            let sector = place * 8;
            let (new, old) = (stamp(12, sector, percent), stamp(5, sector, percent));
            let holds = Holds::Older(Sequence::of(5).expect("not 0"));
            let block = written(new);

            let mut flipped = block.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(found(new, &flipped), Damage::Flipped {
                bits: 1, at_bytes: sector * 512 + bit as u64 / 8, mask: 1 << (bit % 8),
            });

            let lost = |holds| Damage::Lost { holds, went_to_bytes: None };
            prop_assert_eq!(found(new, &written(old)), lost(holds));
            prop_assert_eq!(found(new, &written(Stamp { run: 1, ..old })), lost(Holds::OtherRun));
            prop_assert_eq!(found(new, &[0; BLOCK]), lost(Holds::Nothing));

            let at = cut * SECTOR;
            let torn = [&block[..at], &written(old)[at..]].concat();
            prop_assert_eq!(found(new, &torn), Damage::Torn {
                right_bytes: at as u64, at_bytes: sector * 512 + at as u64, holds,
            });
            let torn = [&written(old)[..at], &block[at..]].concat();
            prop_assert_eq!(found(new, &torn), Damage::Torn {
                right_bytes: (BLOCK - at) as u64, at_bytes: sector * 512, holds,
            });

            let other = written(stamp(11, sector + 800, percent));
            prop_assert_eq!(found(new, &other), Damage::Misplaced {
                meant_for_bytes: (sector + 800) * 512, by: Sequence::of(11).expect("not 0"),
            });
            prop_assert_eq!(found(new, &[0x37; BLOCK]), Damage::Foreign);
        }

        #[test]
        fn a_block_of_unknown_origin_is_held_to_what_it_says(bit in 0usize..BLOCK * 8) {
            let mut spare = vec![0; BLOCK];
            let mut block = written(stamp(12, 80, 0));
            prop_assert_eq!(diagnose_unknown(80, &block, &mut spare), None);
            let elsewhere = diagnose_unknown(96, &block, &mut spare);
            let from = |it| matches!(it, Some(Damage::Misplaced { meant_for_bytes: 40_960, .. }));
            prop_assert!(from(elsewhere));
            block[bit / 8] ^= 1 << (bit % 8);
            let damage = diagnose_unknown(80, &block, &mut spare);
            // The header says how it is to be read: without it the block can only be wrong.
            prop_assert!(damage.is_some());
            if bit / 8 >= 96 {
                let is_flipped = matches!(damage, Some(Damage::Flipped { bits: 1, .. }));
                prop_assert!(is_flipped, "{:?}", damage);
            }
        }
    }

    #[test]
    fn what_was_never_written_says_so() {
        let mut spare = vec![0; BLOCK];
        assert_eq!(diagnose_unknown(0, &[0; BLOCK], &mut spare), Some(Damage::Unstamped));
        let mut longer = vec![0; 2 * BLOCK];
        stamp(1, 0, 0).write(&mut longer);
        let other = diagnose_unknown(0, &longer[..BLOCK], &mut spare);
        assert_eq!(other, Some(Damage::OtherLength { block_bytes: 8192 }));
    }
}
