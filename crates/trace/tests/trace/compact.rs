//! Compact traces whose checksums are right and whose content is not.

use fourcorners_drive::Op;
use fourcorners_trace::{Options, TraceError, from_bytes};

use crate::{io, read, whole};

const MAGIC_AND_VERSION: &[u8] = b"\x89FCTRACE\r\n\x1a\n\x02\0\0\0";
/// Bytes before the content of a block.
const HEAD: usize = 16;

fn skip() -> Options {
    Options { skip_bad: true, ..Options::default() }
}

/// A block of I/Os with its checksum, as docs/TRACES.md has it.
fn block(ios: u32, content: &[u8]) -> Vec<u8> {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&ios.to_le_bytes());
    crc.update(content);
    let words = [content.len() as u32, ios, crc.finalize(), 0];
    words.iter().flat_map(|word| word.to_le_bytes()).chain(content.iter().copied()).collect()
}

/// A trace of these blocks that ends with this number of I/Os.
fn of(blocks: &[Vec<u8>], total: u64) -> Vec<u8> {
    [MAGIC_AND_VERSION, &blocks.concat(), &block(0, &total.to_le_bytes())].concat()
}

/// Reads of 512 bytes, one after the other, a nanosecond apart: time, then for the first its length (LEB128).
fn reads(count: usize) -> Vec<u8> {
    let first = [0b1_0100, 2, 0x80, 4];
    first.into_iter().chain([0b1_1100, 2].repeat(count - 1)).collect()
}

fn wrong(bytes: &[u8]) -> String {
    read(bytes, &Options::default()).expect_err("it is wrong").to_string()
}

/// How many I/Os are left without bad records, and the bad records.
fn left(bytes: &[u8]) -> (usize, u64) {
    let mut trace = from_bytes(bytes.to_vec(), &skip()).expect("its head is whole");
    let ios = trace.by_ref().inspect(|io| assert!(io.is_ok(), "{io:?}")).count();
    (ios, trace.skipped())
}

#[test]
fn a_block_has_as_many_ios_as_it_counts() {
    let good = of(&[block(5, &reads(5))], 5);
    let ios: Vec<_> = (0..5).map(|n| io(n, Op::Read, n * 512, 512)).collect();
    assert_eq!(whole(&good), ios);
    // One of five is not counted, neither in the block nor at the end.
    let few = of(&[block(4, &reads(5)), block(5, &reads(5))], 9);
    let line = wrong(&few);
    assert!(
        line.contains("byte 16: the I/Os that the block counts end after 10 of its 12 bytes"),
        "{line}"
    );
    assert_eq!(left(&few), (9, 1), "the other block is read");
    // More than there are was always an error.
    assert!(wrong(&of(&[block(6, &reads(5))], 6)).contains("shorter than its I/Os"));
    // A block of no I/Os is the last, and has nothing but their number.
    let long =
        [MAGIC_AND_VERSION, &block(5, &reads(5)), &block(0, &[5, 0, 0, 0, 0, 0, 0, 0, 9])].concat();
    let line = wrong(&long);
    assert!(line.contains("its last block has 9 bytes, not the 8"), "{line}");
    assert_eq!(good.len(), MAGIC_AND_VERSION.len() + HEAD + 12 + HEAD + 8);
}

#[test]
fn a_time_or_an_offset_below_0_is_told_with_its_sign() {
    // A signed number has its sign in the lowest bit: 9 is -5.
    let before_0 = of(&[block(1, &[0b1_0100, 9, 0x80, 4])], 1);
    let line = wrong(&before_0);
    assert!(line.contains("the time is \"-5\", not from 0 to 73 years"), "{line}");
    let left_of_0 = of(&[block(1, &[0b1_0000, 0, 9, 0x80, 4])], 1);
    let line = wrong(&left_of_0);
    assert!(line.contains("the offset is \"-5\", not from 0 to below 2^62 bytes"), "{line}");
    let positive = [0b1_0000, 10, 10, 0x80, 4];
    assert_eq!(whole(&of(&[block(1, &positive)], 1)), [io(0, Op::Read, 5, 512)]);
    // One that ends there and not below.
    let back = [&positive[..], &[0b1_1000, 9, 0x89, 8]].concat();
    assert_eq!(whole(&of(&[block(2, &back)], 2))[1], io(0, Op::Read, 0, 512));
}

#[test]
fn another_version_is_no_bad_record() {
    let mut bytes = of(&[block(5, &reads(5))], 5);
    bytes[12] = 3;
    let skipped = |bytes: &[u8]| -> Result<Vec<_>, TraceError> {
        from_bytes(bytes.to_vec(), &skip()).expect("its head is whole").collect()
    };
    let line = skipped(&bytes).expect_err("nothing of it is understood").to_string();
    assert!(line.contains("it is of version 3; this fourcorners reads versions 1 to 2"), "{line}");
    bytes[12] = 2;
    assert_eq!(skipped(&bytes).expect("it is whole").len(), 5);
}

#[test]
fn the_first_of_the_bad_records_is_kept_to_be_told() {
    let text = "time_s,op,sector,sectors\n0,x,0,8\n1,y,0,8\n";
    let mut trace = from_bytes(text.into(), &skip()).expect("its head is whole");
    assert!(trace.next().is_none() && !trace.has_ios());
    let first = trace.first_skipped().map(TraceError::without_name);
    let first = first.expect("it was left out");
    assert!(first.starts_with("CSV, line 2: the op is \"x\""), "{first}");
    assert_eq!(trace.skipped(), 2);
    let good = text.replace('x', "r").replace('y', "w");
    let mut trace = from_bytes(good.into(), &skip()).expect("its head is whole");
    assert_eq!((trace.by_ref().count(), trace.skipped(), trace.has_ios()), (2, 0, true));
    assert!(trace.first_skipped().is_none());
}
