//! When what was written is on the NAND, on drives of every kind: what a flush promises holds, and asking changes nothing.

use std::collections::BTreeMap;

use crate::common::Random;
use crate::common::draw;
use crate::common::mechanisms;
use crate::common::play::Command;
use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Io, Nanos, Op, Ssd, Tag, Target};

const COMMANDS: usize = 3000;

/// A drive and what it is asked, one after the other.
fn drawn(seed: u64) -> (SsdConfig, Vec<Command>) {
    let mut random = Random(seed);
    let mut config = draw::profile(&mut random, 4000);
    if seed % 2 == 1 {
        mechanisms::add(&mut random, &mut config);
    }
    let sectors = config.capacity.sectors;
    let commands = (0..COMMANDS).map(|_| match draw::command(&mut random, sectors) {
        Command::Io(io) if io.op == Op::Write && random.below(20) == 0 => {
            Command::Io(Io { fua: true, ..io })
        }
        other => other,
    });
    let commands = commands.collect();
    (config, commands)
}

/// When a write was answered, and of its units which are on the NAND since when.
struct Written {
    units: u64,
    answered: Nanos,
    persisted: BTreeMap<u64, Nanos>,
}

/// What a drive answers to commands one after the other, and what it tells of its writes. `hold` is given every
/// command that was answered, when, and all writes so far.
fn play(
    config: &SsdConfig,
    commands: &[Command],
    track: bool,
    mut hold: impl FnMut(&Ssd, Io, Nanos, &[Written]),
) -> (Vec<Option<Nanos>>, Vec<Written>) {
    let mut drive = Ssd::new(config).expect("a drawn config is a drive's");
    if track {
        drive.track_persistence();
    }
    let unit_sectors = u64::from(drive.unit_sectors());
    let (mut answers, mut written) = (Vec::new(), Vec::<Written>::new());
    for command in commands {
        match command {
            Command::Purge => drive.purge(),
            Command::Settle => drive.settle(),
            Command::Idle(time) => {
                let until = drive.now() + *time;
                assert_eq!(drive.reap(until), Ok(None));
            }
            Command::Io(io) => {
                let taken = drive.geometry().refuses(*io).is_none();
                drive.submit(Tag(0), *io);
                let answer = drive.reap(Nanos::MAX).ok().flatten().map(|done| done.at);
                answers.push(answer);
                if let (true, Op::Write, Some(answered)) = (taken, io.op, answer) {
                    let units = (io.end() - 1) / unit_sectors - io.lba.0 / unit_sectors + 1;
                    written.push(Written { units, answered, persisted: BTreeMap::new() });
                }
                for told in drive.persisted() {
                    // A drive that wears out midway through a write refuses it, and takes no other.
                    let Some(of) = written.get_mut(told.write as usize) else { continue };
                    let twice = of.persisted.insert(told.lba.0, told.at);
                    assert_eq!(twice, None, "a version of a unit is programmed once");
                }
                if let Some(answered) = answer {
                    hold(&drive, *io, answered, &written);
                }
            }
        }
    }
    (answers, written)
}

#[test]
fn asking_changes_no_time() {
    for seed in 0..120 {
        let (config, commands) = drawn(seed);
        let nothing = |_: &Ssd, _: Io, _: Nanos, _: &[Written]| {};
        let (plain, _) = play(&config, &commands, false, nothing);
        let (tracked, _) = play(&config, &commands, true, nothing);
        assert!(plain == tracked, "seed {seed}");
    }
}

#[test]
fn what_is_flushed_or_forced_is_on_the_nand_when_that_is_answered_and_other_writes_may_not_be() {
    let (mut flushes, mut forced, mut in_buffer) = (0, 0, 0);
    for seed in 0..120 {
        let (mut config, commands) = drawn(seed);
        config.buffer.power_loss_protected = false;
        config.buffer.write_cache = None;
        // What a purge or a write over it in the buffer has dropped is on the NAND never: it is looked at apart.
        let coalesces = config.buffer.coalesces() || config.buffer.joins();
        let purged = commands.iter().position(|command| *command == Command::Purge);
        let commands = &commands[..purged.unwrap_or(commands.len())];
        play(&config, commands, true, |_, io, answered, written| {
            let persisted = |of: &Written| {
                of.persisted.values().all(|at| *at <= answered)
                    && (of.persisted.len() as u64 == of.units || coalesces)
            };
            match io.op {
                Op::Flush => {
                    flushes += 1;
                    assert!(written.iter().all(persisted), "seed {seed}: a flush at {answered:?}");
                }
                Op::Write if io.fua && !written.is_empty() => {
                    forced += 1;
                    let last = &written[written.len() - 1];
                    assert!(
                        persisted(last),
                        "seed {seed}: a forced write of {} units, answered at {answered:?}: {:?}",
                        last.units,
                        last.persisted
                    );
                }
                Op::Write => {
                    let last = written.last().filter(|last| last.answered == answered);
                    in_buffer += u32::from(last.is_some_and(|last| !persisted(last)));
                }
                _ => {}
            }
        });
    }
    println!("{flushes} flushes, {forced} forced writes, {in_buffer} answered from the buffer");
    assert!(flushes > 2000 && forced > 2000, "{flushes} flushes, {forced} forced writes");
    assert!(in_buffer > 20_000, "{in_buffer} writes were answered before they were on the NAND");
}

#[test]
fn with_coalescing_only_the_newest_version_of_a_unit_in_the_buffer_gets_to_the_nand() {
    let mut config = SsdConfig::default();
    (config.nand.planes, config.nand.page_bytes) = (2, 8192);
    config.buffer.coalesce = Some(true);
    let mut drive = Ssd::new(&config).expect("the default is a drive");
    drive.track_persistence();
    for io in [Io::write(fourcorners_drive::Lba(0), 8); 3].into_iter().chain([Io::FLUSH]) {
        drive.submit(Tag(0), io);
        drive.reap(Nanos::MAX).expect("it works");
    }
    let told: Vec<u64> = drive.persisted().map(|told| told.write).collect();
    assert_eq!(told, [2]);
    // Without it each of them is programmed.
    config.buffer.coalesce = None;
    let mut drive = Ssd::new(&config).expect("the default is a drive");
    drive.track_persistence();
    for io in [Io::write(fourcorners_drive::Lba(0), 8); 3].into_iter().chain([Io::FLUSH]) {
        drive.submit(Tag(0), io);
        drive.reap(Nanos::MAX).expect("it works");
    }
    assert_eq!(drive.persisted().map(|told| told.write).collect::<Vec<u64>>(), [0, 1, 2]);
}
