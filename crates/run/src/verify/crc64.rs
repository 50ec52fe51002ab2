//! CRC-64/XZ: the polynomial of ECMA-182, reflected, ones before and after.

/// 0x42f0e1eba9ea3693 with its bits in the other order (ECMA-182, annex B).
const POLYNOMIAL: u64 = 0xc96c_5795_d787_0f42;

/// The remainder of each byte.
const TABLE: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            rest = (rest >> 1) ^ (POLYNOMIAL & (rest & 1).wrapping_neg());
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
};

/// The checksum of two pieces, as if they were one.
pub(super) fn crc64(head: &[u8], rest: &[u8]) -> u64 {
    let step = |crc: u64, &byte: &u8| TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8);
    !head.iter().chain(rest).fold(!0, step)
}
