//! How data that we wrote is known again: each sector of random bytes begins with a number and what
//! follows from it.
//!
//! It is how a scratch file is told from one that its owner has filled since, where a program that was
//! killed could not say what it left.

/// What is known by itself: the sector of most drives, and of all file systems' blocks a part.
const SECTOR_BYTES: usize = 512;
/// The byte that compressible data is made of. Not 0, which thin provisioning and some drives store
/// as a hole.
pub(crate) const REPEATED: u8 = 0x55;
/// A number, and what follows from it.
const SIGN_BYTES: usize = 16;

/// Signs random bytes that begin at a multiple of 512 bytes, and may begin with repeating ones: nothing of
/// them gets more regular by it.
pub fn sign(data: &mut [u8]) {
    for sector in data.chunks_mut(SECTOR_BYTES) {
        let random = random_part(sector);
        if let Some((first, rest)) = sector[random..].split_first_chunk_mut::<8>()
            && let Some(second) = rest.first_chunk_mut::<8>()
        {
            // It must not look as if the repeating bytes went on.
            first[0] |= 0x80;
            *second = follows(*first);
        }
    }
}

/// Whether every sector is one that we write: of zeros, of repeating bytes, or signed.
pub(crate) fn is_ours(data: &[u8]) -> bool {
    data.chunks(SECTOR_BYTES).all(|sector| {
        let random = &sector[random_part(sector)..];
        let signed = random.split_first_chunk::<8>().is_some_and(|(first, rest)| {
            rest.first_chunk::<8>().is_some_and(|second| *second == follows(*first))
        });
        let repeating = random.len() < SIGN_BYTES && random.len() < sector.len();
        signed || repeating || sector.iter().all(|byte| *byte == 0)
    })
}

/// Where the repeating bytes end.
fn random_part(sector: &[u8]) -> usize {
    sector.iter().position(|byte| *byte != REPEATED).unwrap_or(sector.len())
}

fn follows(number: [u8; 8]) -> [u8; 8] {
    mixed(u64::from_le_bytes(number) ^ u64::from_le_bytes(*b"4corners")).to_le_bytes()
}

/// SplitMix64's output: each number once, and no pattern to compress.
#[inline]
pub(crate) fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_is_ours_and_what_anybody_else_writes_is_not() {
        let mut random: Vec<u8> = (0..4096u64).map(|at| mixed(at) as u8).collect();
        assert!(!is_ours(&random), "random bytes, as of an encrypted disk");
        sign(&mut random);
        assert!(is_ours(&random));
        for start in (0..4096).step_by(SECTOR_BYTES) {
            assert!(is_ours(&random[start..start + SECTOR_BYTES]), "each sector by itself");
        }
        random[1024..1032].copy_from_slice(b"Dear Sir");
        assert!(!is_ours(&random));
        assert!(is_ours(&[0; 4096]) && is_ours(&[REPEATED; 4096]));
        assert!(!is_ours(&[7; 4096]) && !is_ours(&[0xff; 4096]));
    }

    #[test]
    fn any_share_of_repeating_bytes_may_come_first() {
        for repeating in 0..=SECTOR_BYTES {
            let mut sector: Vec<u8> = (0..SECTOR_BYTES as u64).map(|at| mixed(at) as u8).collect();
            sector[..repeating].fill(REPEATED);
            sign(&mut sector);
            assert!(is_ours(&sector), "{repeating}");
            assert!(sector[..repeating].iter().all(|byte| *byte == REPEATED));
        }
    }
}
