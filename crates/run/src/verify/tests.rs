//! A drive that keeps its data in memory, and spoils some of it.

use fourcorners_drive::{
    Clock, Done, Fault, FaultCause, Geometry, Io, Lba, Nanos, Null, Op, SECTOR_BYTES, Tag, Target,
};
use proptest::prelude::*;

use super::*;
use crate::observer::Unobserved;

const SECTORS: u64 = 512;

/// What it does to the write of a number, from 0.
#[derive(Clone, Copy, Debug)]
enum Trick {
    Lose,
    /// Only so many sectors are written.
    Tear(u64),
    /// It goes so many sectors further.
    Move(u64),
    /// This bit is turned round.
    Flip(usize),
    Fail,
}

struct Memory {
    clock: Null,
    bytes: Vec<u8>,
    slots: Vec<(Io, Vec<u8>)>,
    tricks: Vec<(usize, Trick)>,
    failing: Vec<Tag>,
}

impl Memory {
    fn new(tricks: Vec<(usize, Trick)>) -> Memory {
        Memory {
            clock: Null::new(SECTORS, Nanos(1000)),
            bytes: vec![0; (SECTORS * SECTOR_BYTES) as usize],
            slots: vec![(Io::FLUSH, Vec::new()); 64],
            tricks,
            failing: Vec::new(),
        }
    }
}

impl Target for Memory {
    const CLOCK: Clock = Clock::Virtual;
    fn geometry(&self) -> Geometry {
        Geometry { queue_depth: 64, ..self.clock.geometry() }
    }
    fn now(&self) -> Nanos {
        self.clock.now()
    }
    fn submit(&mut self, tag: Tag, io: Io) {
        assert_ne!(io.op, Op::Write, "its bytes are wanted");
        let in_flight = self.slots.iter().filter(|(other, _)| {
            other.op == Op::Write && other.lba.0 < io.end() && io.lba.0 < other.end()
        });
        assert_eq!(in_flight.count(), 0, "a write is in flight there");
        self.slots[tag.0 as usize].0 = io;
        self.clock.submit(tag, io);
    }
    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        let Some(done) = self.clock.reap(until)? else { return Ok(None) };
        let (io, data) = &mut self.slots[done.tag.0 as usize];
        let at = io.lba.bytes() as usize;
        if io.op == Op::Read {
            *data = self.bytes[at..at + io.bytes() as usize].to_vec();
        }
        let was = std::mem::replace(io, Io::FLUSH);
        match self.failing.iter().position(|tag| *tag == done.tag) {
            Some(place) => {
                self.failing.remove(place);
                let cause = FaultCause::Os { errno: 5 };
                Err(Fault { tag: done.tag, io: was, at: done.at, cause })
            }
            None => Ok(Some(done)),
        }
    }
}

impl Contents for Memory {
    fn submit_filled(&mut self, tag: Tag, io: Io, fill: impl FnOnce(&mut [u8])) {
        let mut data = vec![0; io.bytes() as usize];
        fill(&mut data);
        // Held ones go in another order than they came.
        let number = u16::from_le_bytes([data[24], data[25]]) as usize - 1;
        let trick = self.tricks.iter().find(|(at, _)| *at == number).map(|(_, trick)| *trick);
        let (mut to, mut length) = (io.lba.bytes() as usize, data.len());
        match trick {
            None => {}
            Some(Trick::Lose) => length = 0,
            Some(Trick::Tear(sectors)) => length = length.min(sectors as usize * 512),
            Some(Trick::Move(sectors)) => to = (to + sectors as usize * 512) % self.bytes.len(),
            Some(Trick::Flip(bit)) => data[bit / 8] ^= 1 << (bit % 8),
            Some(Trick::Fail) => {
                length /= 2;
                self.failing.push(tag);
            }
        }
        length = length.min(self.bytes.len() - to);
        self.bytes[to..to + length].copy_from_slice(&data[..length]);
        self.slots[tag.0 as usize].0 = io;
        self.clock.submit(tag, io);
    }
    fn content(&self, tag: Tag, bytes: usize) -> &[u8] {
        &self.slots[tag.0 as usize].1[..bytes]
    }
}

fn spec(kind: Kind) -> Spec {
    Spec {
        kind,
        block_bytes: 4096,
        start_bytes: 0,
        bytes: SECTORS * SECTOR_BYTES,
        run: 77,
        compressible_percent: vec![0],
        wanted: vec![true],
        fatal: false,
        read_back: true,
        only: false,
    }
}

fn write(block: u64, blocks: u32) -> Io {
    Io::write(Lba(block * 8), blocks * 8)
}

/// Carries writes out, so many at once, and reads everything back.
fn found_of(tricks: Vec<(usize, Trick)>, writes: &[Io], at_once: usize) -> Findings {
    let mut memory = Memory::new(tricks);
    let mut verifying = Verifying::new(&mut memory, spec(Kind::Crc32c), true);
    for batch in writes.chunks(at_once) {
        for (tag, io) in (0..).zip(batch) {
            verifying.submit(Tag(tag), *io);
        }
        for _ in batch {
            let _ = verifying.reap(Nanos::MAX);
        }
    }
    let wanted = Wanted {
        stream: 0,
        start_bytes: 0,
        end_bytes: SECTORS * SECTOR_BYTES,
        depth: 8,
        most_bytes: 16_384,
    };
    let back = verifying.read_back(wanted, &mut Unobserved);
    assert!(back.failed.is_none() && !back.interrupted);
    verifying.into_findings()
}

fn found(tricks: Vec<(usize, Trick)>, writes: &[Io]) -> Findings {
    found_of(tricks, writes, 64)
}

/// Four blocks at a time, the first 32 of them, in two rounds: writes 1 to 8 and 9 to 16.
fn two_rounds() -> Vec<Io> {
    (0..16).map(|number| write(number % 8 * 4, 4)).collect()
}

fn only(findings: &Findings) -> Finding {
    assert_eq!(findings.list.len(), 1, "{findings:?}");
    findings.list[0]
}

fn number(count: u64) -> Sequence {
    Sequence::new(0, count)
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    for kind in Kind::ALL {
        let mut memory = Memory::new(Vec::new());
        let mut verifying = Verifying::new(&mut memory, spec(kind), true);
        for round in 0..3 {
            for block in 0..64 {
                verifying.submit(Tag(block), write(u64::from(block), 1));
                let reads = Io { op: Op::Read, ..write(u64::from(block / 2), 1) };
                assert!(verifying.reap(Nanos::MAX).is_ok_and(|done| done.is_some()), "{round}");
                verifying.submit(Tag(block), reads);
                assert!(verifying.reap(Nanos::MAX).is_ok_and(|done| done.is_some()));
            }
        }
        assert!(verifying.into_findings().is_empty());
    }
}

#[test]
fn a_lost_write_is_named_and_so_is_what_is_there() {
    let finding = only(&found(vec![(10, Trick::Lose)], &two_rounds()));
    assert_eq!((finding.offset_bytes, finding.bytes), (8 * 4096, 16_384));
    assert_eq!(finding.expected, Some(number(11)));
    let holds = Holds::Older(number(3));
    assert_eq!(finding.damage, Damage::Lost { holds, went_to_bytes: None });
    assert_eq!(
        finding.sentence(|_| "job"),
        "16384 bytes at offset 32768: write 11 of job was lost: there is still write 3 of job"
    );
    // In the first round there was nothing before.
    let finding = only(&found(vec![(2, Trick::Lose)], &two_rounds()[..8]));
    assert_eq!(finding.damage, Damage::Lost { holds: Holds::Nothing, went_to_bytes: None });
}

#[test]
fn a_torn_write_is_one_finding_wherever_it_was_torn() {
    for sectors in 1..32u64 {
        let finding = only(&found(vec![(12, Trick::Tear(sectors))], &two_rounds()));
        assert_eq!((finding.offset_bytes, finding.bytes), (16 * 4096, 16_384), "{sectors}");
        assert_eq!(finding.expected, Some(number(13)));
        let torn = Damage::Torn {
            right_bytes: sectors * 512,
            at_bytes: 16 * 4096 + sectors * 512,
            holds: Holds::Older(number(5)),
        };
        assert_eq!(finding.damage, torn);
    }
}

#[test]
fn findings_are_listed_by_place_in_whatever_order_reads_come_back() {
    let block = |number: u64, damage| Finding {
        stream: 0,
        offset_bytes: number * 4096,
        bytes: 4096,
        expected: Some(Sequence::new(0, number / 4)),
        damage,
    };
    let lost = Damage::Lost { holds: Holds::Nothing, went_to_bytes: None };
    let blocks = [
        block(4, lost),
        block(5, lost),
        block(6, lost),
        block(7, lost),
        block(11, Damage::Foreign),
        block(14, lost),
    ];
    let concluded = |order: [usize; 6]| {
        let mut findings = Findings::default();
        order.iter().for_each(|&place| findings.add(blocks[place]));
        findings.conclude(|_, _| None);
        findings.list
    };
    let whole = [Finding { bytes: 4 * 4096, ..blocks[0] }, blocks[4], blocks[5]];
    for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [1, 0, 5, 3, 2, 4]] {
        assert_eq!(concluded(order), whole, "{order:?}");
    }
}

#[test]
fn a_write_that_went_elsewhere_is_found_at_both_places() {
    // Write 10, of blocks 4 to 7, goes to blocks 12 to 15 after they were written for the last time.
    let mut writes = two_rounds();
    writes.swap(9, 15);
    let findings = found_of(vec![(15, Trick::Move(64))], &writes, 8);
    let [gone, there] = findings.list[..] else { panic!("{findings:?}") };
    let lost = Damage::Lost { holds: Holds::Older(number(2)), went_to_bytes: Some(12 * 4096) };
    assert_eq!((gone.offset_bytes, gone.expected, gone.damage), (4 * 4096, Some(number(16)), lost));
    let misplaced = Damage::Misplaced { meant_for_bytes: 4 * 4096, by: number(16) };
    assert_eq!((there.offset_bytes, there.bytes, there.damage), (12 * 4096, 16_384, misplaced));
    assert_eq!(findings.blocks[&0], 8);
    assert_eq!(
        there.sentence(|_| "job"),
        "16384 bytes at offset 49152: write 16 of job was meant for offset 16384 and landed here, \
         where write 12 of job should be"
    );
}

#[test]
fn a_failed_write_leaves_what_nobody_knows() {
    let findings = found(vec![(10, Trick::Fail)], &two_rounds());
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn what_is_fatal_fails_the_read() {
    let mut memory = Memory::new(vec![(0, Trick::Lose)]);
    let mut verifying = Verifying::new(&mut memory, Spec { fatal: true, ..spec(Kind::Md5) }, true);
    verifying.submit(Tag(0), write(3, 1));
    assert!(verifying.reap(Nanos::MAX).is_ok());
    verifying.submit(Tag(0), Io { op: Op::Read, ..write(3, 1) });
    let fault = verifying.reap(Nanos::MAX).expect_err("the block is not there");
    assert_eq!((fault.cause, fault.io.lba), (FaultCause::Os { errno: 84 }, Lba(24)));
}

proptest! {
    /// Writes of all lengths on top of each other, as many at once as there are tags: one that is
    /// spoiled is found if and only if something of it should be left.
    #[test]
    fn whatever_is_spoiled_is_found(
        places in prop::collection::vec((0u64..60, 1u32..5), 1..150),
        which in any::<prop::sample::Index>(), bit in 0usize..4096 * 8,
        kind in 0usize..3,
    ) {
        let writes: Vec<Io> = places.iter().map(|&(block, blocks)| write(block, blocks)).collect();
        prop_assert!(found(Vec::new(), &writes).is_empty());
        let spoiled = which.index(writes.len());
        let trick = [Trick::Lose, Trick::Tear(3), Trick::Flip(bit)][kind];
        let first = writes[spoiled].lba.0 / 8;
        let last = writes[spoiled].end() / 8;
        let later = |block: &u64| {
            let covers = |io: &Io| (io.lba.0 / 8..io.end() / 8).contains(block);
            writes[spoiled + 1..].iter().any(covers)
        };
        // A flipped bit and what is left of a torn one are in the first block.
        let mut left: Vec<u64> = (first..last).filter(|block| !later(block)).collect();
        if kind == 2 {
            left.retain(|block| *block == first);
        }
        let findings = found(vec![(spoiled, trick)], &writes);
        let blocks = findings.blocks.get(&0).copied().unwrap_or(0);
        prop_assert_eq!(blocks, left.len() as u64, "{:?}", findings);
        for finding in &findings.list {
            prop_assert_eq!(finding.expected, Some(number(spoiled as u64 + 1)));
            let is_right = match kind {
                0 => matches!(finding.damage, Damage::Lost { went_to_bytes: None, .. }),
                1 => matches!(finding.damage, Damage::Torn { .. } | Damage::Lost { .. }),
                _ => matches!(finding.damage, Damage::Flipped { bits: 1, .. }),
            };
            prop_assert!(is_right, "{:?}", finding);
        }
    }
}
