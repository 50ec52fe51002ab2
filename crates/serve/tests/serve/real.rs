//! A real drive that is passed on: what is written through it is in it, what is read is what it holds, and what is recorded is
//! what was asked.

use std::fs::File;
use std::os::unix::fs::FileExt;

use fourcorners_drive::{Geometry, Nanos, Op};
use fourcorners_linux::{Setup, Uring};
use fourcorners_serve::nbd::{Command, Request};
use fourcorners_serve::{Answer, Outcome, REAL_IO_BYTES, Turn, TurnSettings};
use proptest::prelude::*;

const BYTES: u64 = 8 << 20;

fn turn(file: &File, depth: u32) -> Turn<Uring> {
    let geometry = Geometry { sectors: BYTES / 512, logical_block_bytes: 512, queue_depth: depth };
    let setup = Setup { queue_depth: depth, max_block_bytes: REAL_IO_BYTES };
    let file = file.try_clone().expect("it is open");
    let drive = Uring::new(file, geometry, setup).expect("io_uring");
    let settings = TurnSettings { trims: true, records: true, ..TurnSettings::default() };
    Turn::of_real(drive, settings)
}

fn request(command: Command, offset: u64, length: u64, data: Vec<u8>) -> Request {
    Request { cookie: 0, command, offset, length, data }
}

/// All answers to what is on its way.
fn finish(turn: &mut Turn<Uring>) -> Vec<Answer> {
    let mut answers = Vec::new();
    turn.pass_until(Nanos::MAX, &mut answers);
    assert!(turn.is_idle());
    answers
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64, u64, u8, bool),
    Read(u64, u64),
    Trim(u64, u64),
    Zeroes(u64, u64, bool),
    Flush,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Mostly short; some longer than what a drive is handed at once.
    let sectors = prop_oneof![4 => 1..64u64, 1 => 2048..6000u64];
    let range = (0..BYTES / 512, sectors)
        .prop_map(|(at, sectors)| (at * 512, (sectors * 512).min(BYTES - at * 512)));
    let step = (0..10u8, range, any::<u8>(), any::<bool>()).prop_map(
        |(kind, (at, length), byte, flag)| match kind {
            0..4 => Step::Write(at, length, byte, flag),
            4..7 => Step::Read(at, length),
            7 => Step::Trim(at, length),
            8 => Step::Zeroes(at, length, flag),
            _ => Step::Flush,
        },
    );
    proptest::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// One after the other, against a plain array. Where a TRIM was, a file reads as zero.
    #[test]
    fn a_real_drive_holds_what_a_plain_array_holds(steps in steps(), depth in 1..9u32) {
        let file = tempfile::tempfile()?;
        file.set_len(BYTES)?;
        let mut turn = turn(&file, depth);
        let mut plain = vec![0u8; BYTES as usize];
        let mut asked = Vec::new();
        for step in &steps {
            let (command, at, length, data) = match *step {
                Step::Write(at, length, byte, fua) => {
                    let data: Vec<u8> = (0..length).map(|n| byte.wrapping_add((n / 512) as u8)).collect();
                    (Command::Write { fua }, at, length, data)
                }
                Step::Read(at, length) => (Command::Read { one_chunk: false }, at, length, vec![]),
                Step::Trim(at, length) => (Command::Trim { fua: false }, at, length, vec![]),
                Step::Zeroes(at, length, no_hole) => {
                    (Command::WriteZeroes { fua: false, no_hole, fast: false }, at, length, vec![])
                }
                Step::Flush => (Command::Flush, 0, 0, vec![]),
            };
            let part = at as usize..(at + length) as usize;
            match command {
                Command::Write { .. } => plain[part.clone()].copy_from_slice(&data),
                Command::Trim { .. } | Command::WriteZeroes { .. } => plain[part.clone()].fill(0),
                _ => {}
            }
            let mut answers = Vec::new();
            turn.arrive(turn.now(), 1, request(command, at, length, data), &mut answers);
            answers.extend(finish(&mut turn));
            prop_assert_eq!(answers.len(), 1);
            prop_assert_eq!(&answers[0].outcome, &Outcome::Done);
            if let Command::Read { .. } = command {
                prop_assert!(answers[0].request.data == plain[part]);
            } else {
                prop_assert!(answers[0].request.data.is_empty());
            }
            let op = match command {
                Command::Read { .. } => Op::Read,
                Command::Trim { .. } => Op::Trim,
                Command::Flush => Op::Flush,
                _ => Op::Write,
            };
            asked.push((op, at, length));
        }
        let mut held = vec![0; BYTES as usize];
        file.read_exact_at(&mut held, 0)?;
        prop_assert!(held == plain, "the file holds it");
        // What is recorded is what was asked, in pieces of at most what a drive is handed at once.
        let mut recorded = turn.recorded().peekable();
        let mut last = Nanos::ZERO;
        for (op, at, length) in asked {
            let mut next = at;
            loop {
                let io = recorded.next();
                prop_assert!(io.is_some());
                let Some(io) = io else { break };
                prop_assert!(io.at >= last && io.duration.is_some() && !io.flags.failed);
                last = io.at;
                prop_assert_eq!((io.op, io.offset_bytes), (op, next));
                let longest = if op == Op::Trim { u64::MAX } else { u64::from(REAL_IO_BYTES) };
                prop_assert!(io.bytes <= longest);
                next += io.bytes;
                if next >= at + length {
                    break;
                }
            }
            prop_assert_eq!(next, at + length);
        }
        prop_assert!(recorded.next().is_none());
        prop_assert!(last < Nanos::from_secs(60), "its times begin with it");
    }
}

#[test]
fn many_at_once_do_not_mix_up_their_data() {
    let file = tempfile::tempfile().expect("a temporary file");
    file.set_len(BYTES).expect("it grows");
    let mut turn = turn(&file, 4);
    let block = |n: u64| vec![(n * 7 + 1) as u8; 4096];
    let mut answers = Vec::new();
    for n in 0..200 {
        let write = request(Command::Write { fua: false }, n * 4096, 4096, block(n));
        turn.arrive(turn.now(), 1, write, &mut answers);
    }
    answers.extend(finish(&mut turn));
    assert_eq!(answers.len(), 200);
    answers.clear();
    for n in (0..200).rev() {
        let read = Command::Read { one_chunk: false };
        turn.arrive(turn.now(), n, request(read, n * 4096, 4096, vec![]), &mut answers);
    }
    answers.extend(finish(&mut turn));
    assert_eq!(answers.len(), 200);
    for answer in answers {
        assert!(answer.request.data == block(answer.client), "{}", answer.client);
    }
}

#[test]
fn an_error_of_the_drive_is_the_clients_and_is_recorded_as_one() {
    let file = tempfile::tempfile().expect("a temporary file");
    // Half of what it says that it holds: reads beyond the end are short.
    file.set_len(BYTES / 2).expect("it grows");
    let mut turn = turn(&file, 4);
    let mut answers = Vec::new();
    for (client, offset) in [(1, 0), (2, BYTES / 2)] {
        let read = Command::Read { one_chunk: false };
        turn.arrive(turn.now(), client, request(read, offset, 4096, vec![]), &mut answers);
    }
    answers.extend(finish(&mut turn));
    answers.sort_by_key(|answer| answer.client);
    assert_eq!(answers[0].outcome, Outcome::Done);
    assert!(matches!(answers[1].outcome, Outcome::Failed(..)), "{:?}", answers[1].outcome);
    let failed: Vec<bool> = turn.recorded().map(|io| io.flags.failed).collect();
    assert_eq!(failed, [false, true]);
}
