//! [`Target::due`] keeps its promise: before it there is no answer, at it there is one, and asking changes nothing.

use crate::common::Random;
use crate::common::draw::{self, Numbers};
use crate::common::mechanisms;
use crate::common::play::Command;
use fourcorners_drive::{Nanos, Null, Ssd, Tag, Target};

const DRIVES: u64 = 80;
const COMMANDS: usize = 1500;

#[test]
fn a_virtual_ssd_answers_when_it_is_due_and_not_before() {
    let (mut answers, mut refusals) = (0u32, 0u32);
    for seed in 0..DRIVES {
        let mut random = Random(seed);
        let mut profile = draw::profile(&mut random, 2000);
        if seed % 2 == 1 {
            mechanisms::add(&mut random, &mut profile);
        }
        let sectors = profile.capacity.sectors;
        let depth = random.between(1, 32) as usize;
        let mut drive = Ssd::new(&profile).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        // The same drive, which nobody asks.
        let mut unasked = drive.clone();
        let mut free: Vec<Tag> = (0..depth as u32).map(Tag).collect();
        for _ in 0..COMMANDS {
            let Command::Io(io) = draw::command(&mut random, sectors) else { continue };
            while free.is_empty() || (free.len() < depth && random.percent(30)) {
                let (before, due) = (drive.now(), drive.due().expect("something is in flight"));
                assert_eq!(drive.now(), before, "seed {seed}: asking moved the clock");
                assert!(due >= before, "seed {seed}: due {due} in the past of {before}");
                let answer = drive.reap(due);
                assert_eq!(answer, unasked.reap(Nanos::MAX), "seed {seed}");
                match answer {
                    Ok(done) => {
                        let done = done.unwrap_or_else(|| panic!("seed {seed}: nothing at {due}"));
                        assert_eq!(done.at, due, "seed {seed}");
                        free.push(done.tag);
                        answers += 1;
                    }
                    Err(fault) => {
                        free.push(fault.tag);
                        refusals += 1;
                    }
                }
            }
            if free.len() == depth {
                assert_eq!(drive.due(), None, "seed {seed}: nothing is in flight");
            } else if random.percent(20) {
                let (before, due) = (drive.now(), drive.due().expect("something is in flight"));
                if due > before {
                    assert_eq!(drive.reap(Nanos(due.0 - 1)), Ok(None), "seed {seed}: early");
                    assert_eq!(unasked.reap(Nanos(due.0 - 1)), Ok(None));
                    assert_eq!(drive.due(), Some(due), "seed {seed}: waiting changes nothing");
                }
            }
            let tag = free.pop().expect("one is free");
            drive.submit(tag, io);
            unasked.submit(tag, io);
        }
    }
    assert!(answers > 50_000, "{answers} answers");
    assert!(refusals > 1000, "{refusals} refusals");
}

#[test]
fn the_null_drive_knows_too() {
    let mut drive = Null::new(1 << 20, Nanos(700));
    assert_eq!(drive.due(), None);
    drive.submit(Tag(3), fourcorners_drive::Io::FLUSH);
    assert_eq!((drive.due(), drive.now()), (Some(Nanos(700)), Nanos::ZERO));
    assert!(drive.reap(Nanos(700)).is_ok_and(|done| done.is_some()));
    assert_eq!(drive.due(), None);
}
