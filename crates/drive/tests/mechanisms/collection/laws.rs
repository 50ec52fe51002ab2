//! What holds of any drive with streams, collection in idle time and while writing in order.

use super::*;
use crate::common::draw::{self, Numbers};
use crate::common::play::{Command, play};

/// Drives; each has its number as its seed.
const DRIVES: u64 = 100;

#[test]
fn no_unit_is_lost_or_mapped_twice_and_every_page_is_accounted_for() {
    let (mut streams, mut idle, mut moved) = (0, 0, 0);
    for seed in 0..DRIVES {
        let mut random = Random(seed);
        let most_units = random.one_of(&[500, 2000, 8000, 20_000]);
        let mut profile = draw::profile(&mut random, most_units);
        draw::beyond_the_reference(&mut random, &mut profile);
        let mut drive = Ssd::new(&profile).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let sectors = profile.capacity.sectors;
        let depth = random.between(1, 32) as u32;
        for round in 0..8 {
            // Half of the rounds keep to a part of the drive, so that something becomes hot.
            let span = if round % 2 == 0 { sectors } else { sectors / 5 + 1 };
            let commands = (0..4000).map(|_| match draw::command(&mut random, span) {
                Command::Purge if round % 4 != 3 => Command::Settle,
                other => other,
            });
            let commands: Vec<Command> = commands.collect();
            play(&mut drive, depth, commands)
                .and_then(|_| drive.check_map().map_err(|wrong| wrong.to_string()))
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{profile:?}"));
        }
        streams += u32::from(profile.streams.is_some());
        idle += u32::from(profile.gc.idle_ms.is_some());
        moved += u32::from(drive.counters().moved_units > drive.counters().host_units / 10);
    }
    // What is drawn must not become dull unnoticed.
    assert!(streams > 40 && idle > 40 && moved > 40, "{streams}, {idle}, {moved}");
}

/// Streams and idle time run to the same nanosecond whenever they run.
#[test]
fn the_same_seed_gives_the_same_times() {
    for seed in 0..6 {
        let run = || {
            let mut random = Random(1000 + seed);
            let mut profile = draw::profile(&mut random, 8000);
            draw::beyond_the_reference(&mut random, &mut profile);
            let mut drive = make(&profile);
            let commands =
                (0..20_000).map(|_| draw::command(&mut random, profile.capacity.sectors));
            let commands: Vec<Command> = commands.collect();
            let answers = play(&mut drive, 8, commands).unwrap_or_else(|error| panic!("{error}"));
            (answers, drive.counters())
        };
        assert!(run() == run(), "seed {seed}");
    }
}
