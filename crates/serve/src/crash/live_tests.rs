//! Cuts of a drive at work, against those of its recording.

use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Nanos, Ssd};

use super::tests::{Program, SPAN, config, played, random};
use super::*;
use crate::contents::{Contents, ContentsFile, Memory};
use crate::data_log::DataLog;
use crate::turn::{Turn, TurnSettings};

fn served(config: &SsdConfig, contents: Contents, ignores_flushes: bool) -> Turn<Ssd> {
    let trims = config.trim.supported;
    let settings = TurnSettings { trims, ignores_flushes, ..TurnSettings::default() };
    let drive = Ssd::new(config).expect("it is a drive");
    let mut turn = Turn::new(drive, contents, settings);
    turn.expect_power_cuts();
    turn
}

fn span_of(contents: &Contents) -> Vec<u8> {
    let mut bytes = vec![0; (SPAN * 512) as usize];
    contents.read(0, &mut bytes).expect("it can be read");
    bytes
}

/// What is left when the power is cut at a moment of a program.
fn left(mut turn: Turn<Ssd>, program: &mut Program, at: Nanos, class: Class) -> (Vec<u8>, bool) {
    let mut answers = Vec::new();
    while let Some((stamp, request)) = program.next((&mut turn, at), &mut answers) {
        turn.arrive(stamp, 0, request, &mut answers);
    }
    turn.pass_until(at, &mut answers);
    // The number by which the cut of a recording is drawn, of seed 1.
    let drawn_by = 1 ^ at.0.rotate_left(20) ^ (class as u64).rotate_left(60);
    let before = span_of(turn.contents());
    turn.cut(class, drawn_by).expect("it can be cut");
    assert!(turn.is_idle());
    let after = span_of(turn.contents());
    let changed = before != after;
    (after, changed)
}

#[test]
fn a_cut_of_a_drive_at_work_leaves_what_one_of_its_recording_leaves() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (mut changed, mut compared) = (0, 0);
    for seed in 0..24 {
        let config = config(&mut random(seed));
        for class in [Class::Honest, Class::Legal, Class::LostFlush, Class::Metadata] {
            let ignores_flushes = class == Class::LostFlush;
            let path = dir.path().join(format!("{seed} {class}"));
            let mut program = Program::new(seed, 150, config.trim.supported);
            let ios = program.recorded(&config, ignores_flushes, &path);
            let log = DataLog::open(&path).expect("it is a log");
            let history = played(&config, &ios, class.flushes());
            let mut images =
                Images::new(&history, &log, Memory::new(u64::MAX)).expect("they belong");
            let mut moments: Vec<Nanos> = history.random_moments(seed).take(4).collect();
            moments.sort_unstable();
            for at in moments {
                let image = images.image(&history.cut(class, at, 1)).expect("there is memory");
                let mut expected = vec![0; (SPAN * 512) as usize];
                image.read(0, &mut expected).expect("it is in memory");
                let contents = Contents::Memory(Memory::new(u64::MAX));
                let mut program = Program::new(seed, 150, config.trim.supported);
                let (bytes, differs) =
                    left(served(&config, contents, ignores_flushes), &mut program, at, class);
                let at_byte = bytes.iter().zip(&expected).position(|(a, b)| a != b);
                assert_eq!(at_byte.map(|byte| byte / 512), None, "seed {seed}, {class} at {at:?}");
                (changed, compared) = (changed + u32::from(differs), compared + 1);
            }
        }
    }
    assert!(changed > compared / 2, "{changed} of {compared} cuts took something");
}

#[test]
fn contents_in_a_file_are_cut_as_those_in_memory() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut changed = 0;
    for seed in 0..10 {
        let config = config(&mut random(seed));
        for class in [Class::Honest, Class::Shorn, Class::Unserialisable, Class::Bits] {
            let at = Nanos(20_000_000 + seed * 3_000_000);
            let cut = |contents| {
                let mut program = Program::new(seed, 150, config.trim.supported);
                left(served(&config, contents, false), &mut program, at, class)
            };
            let path = dir.path().join(format!("{seed} {class}"));
            let bytes = served(&config, Contents::Memory(Memory::new(0)), false);
            let bytes = fourcorners_drive::Target::geometry(bytes.target()).bytes();
            let file = ContentsFile::open(&path, bytes, &Default::default()).expect("it is new");
            let (in_memory, differs) = cut(Contents::Memory(Memory::new(u64::MAX)));
            assert!(cut(Contents::File(file)).0 == in_memory, "seed {seed}, {class}");
            changed += u32::from(differs);
        }
    }
    assert!(changed > 20, "{changed} of 40");
}

#[test]
fn capacitors_keep_what_was_answered_of_a_drive_at_work() {
    let answered_lost = |protected: bool| {
        let mut lost = 0;
        for seed in 0..10 {
            let mut config = config(&mut random(seed));
            config.buffer.power_loss_protected = protected;
            let mut turn = served(&config, Contents::Memory(Memory::new(u64::MAX)), false);
            let mut program = Program::new(seed, 150, config.trim.supported);
            let mut answers = Vec::new();
            while let Some((stamp, request)) = program.next((&mut turn, Nanos::MAX), &mut answers) {
                turn.arrive(stamp, 0, request, &mut answers);
            }
            let cut = turn.cut(Class::Honest, seed).expect("it can be cut");
            assert_eq!(cut.promised_lost, 0, "seed {seed}");
            lost += u32::from(cut.answered_lost_sectors > 0);
        }
        lost
    };
    assert_eq!(answered_lost(true), 0);
    assert!(answered_lost(false) > 2, "{} of 10", answered_lost(false));
}

#[test]
fn a_class_that_needs_other_flushes_is_refused_and_nothing_is_cut() {
    let contents = || Contents::Memory(Memory::new(u64::MAX));
    let config = SsdConfig::default();
    for (ignores, class, told) in [
        (false, Class::LostFlush, "--ignore-flushes"),
        (true, Class::Honest, "give lost-flush or dead"),
    ] {
        let turn = served(&config, contents(), ignores);
        let error = turn.can_cut(class).expect_err("it is another drive").to_string();
        assert!(error.contains(told), "{error}");
        turn.can_cut(Class::Dead).expect("it takes no data");
    }
    let drive = Ssd::new(&config).expect("a drive");
    let untracked = Turn::new(drive, contents(), TurnSettings::default());
    assert!(untracked.can_cut(Class::Honest).is_err());
}
