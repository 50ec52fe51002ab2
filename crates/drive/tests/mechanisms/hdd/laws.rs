//! What holds for any job on any disk.

use fourcorners_drive::config::HddConfig;
use fourcorners_drive::{Io, Nanos, Op, Tag, Target};
use proptest::prelude::*;

use crate::hdd::support::{Random, drive, io, momentus, run};

/// A disk within wide limits.
fn any_profile() -> impl Strategy<Value = HddConfig> {
    let mechanics = (1000.0..20_000.0f64, 1u32..9, 0.0..5.0f64, 0.0..30.0f64, 0.34..0.73f64);
    let cache = (0u64..9000, 0.0..1.0f64, any::<bool>(), 1u32..130, 1u32..130);
    (1u64..1 << 24, mechanics, cache, 1u32..40, 1.0..200.0f64).prop_map(
        |(
            blocks,
            (rpm, heads, track, range, mean),
            (kib, ahead, writes, held, picked),
            zones,
            rate,
        )| {
            let mut profile = momentus();
            profile.capacity.sectors = blocks;
            profile.mechanics.rpm = rpm;
            profile.mechanics.heads = heads;
            profile.mechanics.track_to_track_ms = track;
            profile.mechanics.average_seek_ms = track + range * mean;
            profile.mechanics.full_stroke_ms = track + range;
            profile.media.outer_mb_per_s = rate;
            profile.media.inner_mb_per_s = 1.0 + (rate - 1.0) / 2.0;
            profile.media.zones = zones;
            profile.cache.size_kib = kib + 1;
            profile.cache.read_ahead_kib = (kib as f64 * ahead) as u64;
            profile.cache.write_cache = writes;
            profile.cache.write_segments = held;
            profile.cache.reorder_segments = picked;
            profile
        },
    )
}

#[derive(Clone, Debug)]
struct Step {
    io: Io,
    pause: Option<u64>,
}

fn any_step() -> impl Strategy<Value = Step> {
    let op = prop_oneof![
        5 => Just(Op::Read), 5 => Just(Op::Write), 1 => Just(Op::Flush), 1 => Just(Op::Trim),
    ];
    let lba = prop_oneof![0u64..600, 0u64..1 << 24, any::<u64>()];
    let size = prop_oneof![0u32..64, Just(256), 0u32..40_000, any::<u32>()];
    let pause = proptest::option::of(prop_oneof![0u64..1_000_000, 0u64..100_000_000]);
    (op, lba, size, pause).prop_map(|(op, lba, size, pause)| Step { io: io(op, lba, size), pause })
}

/// Does the steps with at most `depth` in flight; returns the answers in order. Panics if a tag is
/// answered twice or never, or if time goes back.
fn answers(profile: &HddConfig, depth: u32, steps: &[Step]) -> Vec<(u32, u64, bool)> {
    let mut drive = drive(profile);
    let depth = depth.min(drive.geometry().queue_depth);
    let mut busy = vec![false; depth as usize];
    let mut answers = Vec::new();
    let mut reap = |drive: &mut fourcorners_drive::Hdd, busy: &mut [bool], until: Nanos| {
        let before = drive.now();
        let (tag, ok) = match drive.reap(until) {
            Ok(None) => return false,
            Ok(Some(done)) => {
                assert_eq!(done.at, drive.now());
                (done.tag, true)
            }
            Err(fault) => (fault.tag, false),
        };
        assert!(drive.now() >= before && (!ok || drive.now() <= until));
        assert!(std::mem::take(&mut busy[tag.0 as usize]), "{tag:?} was not in flight");
        answers.push((tag.0, drive.now().0, ok));
        true
    };
    for step in steps {
        let tag = loop {
            match busy.iter().position(|busy| !busy) {
                Some(tag) => break tag,
                None => assert!(reap(&mut drive, &mut busy, Nanos::MAX), "all wait for ever"),
            }
        };
        busy[tag] = true;
        drive.submit(Tag(tag as u32), step.io);
        if let Some(pause) = step.pause {
            let until = drive.now().saturating_add(Nanos(pause));
            while reap(&mut drive, &mut busy, until) {}
            assert_eq!(drive.now(), until);
        }
    }
    while reap(&mut drive, &mut busy, Nanos::MAX) {}
    assert!(busy.iter().all(|busy| !busy), "some wait for ever");
    answers
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_tag_is_answered_exactly_once_and_the_same_again(
        profile in any_profile(),
        depth in 1u32..33,
        steps in proptest::collection::vec(any_step(), 1..120),
    ) {
        let first = answers(&profile, depth, &steps);
        prop_assert_eq!(first.len(), steps.len());
        prop_assert_eq!(first, answers(&profile, depth, &steps));
    }

    #[test]
    fn littles_law_holds_exactly(
        profile in any_profile(), depth in 1u32..33, seed in any::<u64>(), reads in 0u64..101,
    ) {
        let mut random = Random(seed);
        let sectors = profile.capacity.sectors;
        let seen = run(&mut drive(&profile), depth, 300, || {
            let op = if random.below(100) < reads { Op::Read } else { Op::Write };
            io(op, random.below(sectors), 1)
        });
        prop_assert_eq!(seen.ios, 300);
        prop_assert_eq!(seen.in_flight_ns, seen.latency_sum);
    }

    #[test]
    fn no_transfer_is_faster_than_the_media(
        profile in any_profile(), depth in 1u32..9, start in 0u64..1000,
    ) {
        // What a sequential pass moves, less what the buffer may still hold.
        let sectors = profile.capacity.sectors;
        let mut next = start;
        for op in [Op::Read, Op::Write] {
            let seen = run(&mut drive(&profile), depth, 2000, || {
                next = (next + 8) % sectors;
                io(op, next, u32::try_from((sectors - next).min(8)).unwrap_or(8))
            });
            let buffer = 1024.0 * profile.cache.size_kib as f64;
            let least = (seen.bytes as f64 - buffer) / profile.media.outer_mb_per_s / 1e6;
            // A span that fits in the buffer never needs the media.
            if sectors * 512 > 2 * profile.cache.size_kib * 1024 + seen.bytes {
                prop_assert!(seen.elapsed.as_secs() >= least * 0.999);
            }
        }
    }
}

#[test]
fn the_answers_of_a_mixed_job_are_these() {
    // A golden hash: a change of it is a change of every result of a virtual hard disk.
    let mut random = Random(42);
    let sectors = momentus().capacity.sectors;
    let mut next = 0;
    let steps: Vec<Step> = (0..20_000)
        .map(|_| {
            let op = match random.below(20) {
                0..9 => Op::Read,
                9..19 => Op::Write,
                _ => Op::Flush,
            };
            let io = match random.below(3) {
                0 => {
                    next += 256;
                    io(op, next, 256)
                }
                _ => io(op, random.below(sectors - 64), 1 + random.below(64) as u32),
            };
            let pause = (random.below(10) == 0).then(|| random.below(50_000_000));
            Step { io, pause }
        })
        .collect();
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for (tag, at, _) in answers(&momentus(), 32, &steps) {
        for byte in tag.to_le_bytes().into_iter().chain(at.to_le_bytes()) {
            // FNV-1a.
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    assert_eq!(hash, 0x40ae_2b18_c5d8_74e2, "{hash:#018x}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Of a disk `due` may be a decision of the arm and no answer. Waiting from one to the next must give the answers
    /// that waiting without an end gives, each no earlier than it was said to be due.
    #[test]
    fn waiting_until_it_is_due_again_and_again_gives_the_same_answers(
        profile in any_profile(), seed in any::<u64>(), depth in 1u32..33,
    ) {
        if profile.check().is_err() {
            return Ok(());
        }
        let mut disk = drive(&profile);
        let mut unasked = disk.clone();
        let (depth, sectors) = (depth.min(disk.geometry().queue_depth), disk.geometry().sectors);
        let mut random = Random(seed);
        let mut free: Vec<Tag> = (0..depth).map(Tag).collect();
        for _ in 0..200 {
            while free.is_empty() || (free.len() < depth as usize && random.below(3) == 0) {
                let mut waits = 0;
                let answer = loop {
                    let before = disk.now();
                    let due = disk.due().expect("something is in flight");
                    prop_assert_eq!(disk.now(), before);
                    prop_assert!(due >= before);
                    waits += 1;
                    prop_assert!(waits < 100_000, "it is due for ever");
                    match disk.reap(due) {
                        Ok(Some(done)) => {
                            prop_assert_eq!(done.at, due, "an answer is due at its time");
                            break done;
                        }
                        Ok(None) => {}
                        Err(fault) => prop_assert!(false, "{fault}"),
                    }
                };
                prop_assert_eq!(Ok(Some(answer)), unasked.reap(Nanos::MAX));
                free.push(answer.tag);
            }
            if free.len() == depth as usize {
                prop_assert_eq!(disk.due(), None, "nothing is in flight");
            }
            let op = [Op::Read, Op::Write, Op::Write, Op::Flush][random.below(4) as usize];
            let length = 1 + random.below(64.min(sectors)) as u32;
            let io = match op {
                Op::Flush => Io::FLUSH,
                op => io(op, random.below(sectors - u64::from(length) + 1), length),
            };
            let tag = free.pop().expect("one is free");
            disk.submit(tag, io);
            unasked.submit(tag, io);
        }
    }
}
