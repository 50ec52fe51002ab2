//! Cuts of random programs on random drives, against a plain model, with the data of a log.

use std::path::Path;

use fourcorners_drive::config::{CellKind, NandCellsSection, PageOrder, SsdConfig};
use fourcorners_drive::{Nanos, Op, Ssd, Target};
use fourcorners_trace::{IoFlags, TraceIo};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;
use crate::contents::{Contents, Memory};
use crate::data_log::{DataLog, DataRecording};
use crate::nbd::{Command, Request};
use crate::turn::{Answer, Turn, TurnSettings};

/// Sectors of the part of a drive that programs write to: overwritten again and again.
pub(super) const SPAN: u64 = 4096;

pub(super) struct Random(Xoshiro256PlusPlus);

impl Random {
    fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

pub(super) fn random(seed: u64) -> Random {
    Random::new(seed)
}

/// A small drive: some coalesce, some have large units, some several buffers' sizes.
pub(super) fn config(random: &mut Random) -> SsdConfig {
    let mut config = SsdConfig::default();
    config.buffer.coalesce = (random.below(3) == 0).then_some(true);
    config.buffer.write_kib = 128 << random.below(4);
    config.nand.dies = 8 << random.below(3);
    config.trim.supported = random.below(4) > 0;
    config
}

/// A program: what it asks for depends on its seed, and on what it is answered when.
pub(super) struct Program {
    random: Random,
    trims: bool,
    asked: u64,
    requests: u64,
    stamp: u64,
}

impl Program {
    pub(super) fn new(seed: u64, requests: u64, trims: bool) -> Program {
        Program { random: Random::new(seed), trims, asked: 0, requests, stamp: 0 }
    }

    /// The next request, and when it comes; `None` at the end, or when it comes later than `until`.
    pub(super) fn next(
        &mut self,
        (turn, until): (&mut Turn<Ssd>, Nanos),
        answers: &mut Vec<Answer>,
    ) -> Option<(Nanos, Request)> {
        if self.asked == self.requests {
            return None;
        }
        let cookie = self.asked;
        self.asked += 1;
        let random = &mut self.random;
        self.stamp += [0, random.below(30_000), random.below(2_000_000)][random.below(3) as usize];
        if random.below(2) == 0
            && let Some(due) = turn.due()
        {
            // Somebody who waits for an answer.
            if due > until {
                return None;
            }
            turn.pass_until(due, answers);
            self.stamp = self.stamp.max(due.0);
        }
        if self.stamp > until.0 {
            return None;
        }
        let fua = random.below(8) == 0;
        let command = match random.below(16) {
            0..10 => Command::Write { fua },
            10..12 => Command::Flush,
            12 if self.trims => Command::Trim { fua },
            13 => Command::WriteZeroes { fua, no_hole: fua, fast: false },
            _ => Command::Read { one_chunk: false },
        };
        let most = [300, 24][usize::from(random.below(8) > 0)];
        let sectors = 1 + random.below(most);
        let first = random.below(SPAN - sectors);
        let (mut offset, mut length) = (first * 512, sectors * 512);
        if command == Command::Flush {
            (offset, length) = (0, 0);
        }
        let data = match command {
            Command::Write { .. } => (0..length).map(|n| (cookie + n / 512) as u8 | 1).collect(),
            _ => Vec::new(),
        };
        Some((Nanos(self.stamp), Request { cookie, command, offset, length, data }))
    }

    /// Its requests on a drive, as they were recorded, and the log of their data.
    pub(super) fn recorded(
        &mut self,
        config: &SsdConfig,
        ignores_flushes: bool,
        log: &Path,
    ) -> Vec<TraceIo> {
        let drive = Ssd::new(config).expect("it is a drive");
        let settings = TurnSettings {
            trims: self.trims,
            records: true,
            logs_data: true,
            ignores_flushes,
            ..TurnSettings::default()
        };
        let mut turn = Turn::new(drive, Contents::Memory(Memory::new(u64::MAX)), settings);
        let mut data = DataRecording::create(log).expect("it is new");
        let (mut ios, mut answers) = (Vec::new(), Vec::new());
        while let Some((stamp, request)) = self.next((&mut turn, Nanos::MAX), &mut answers) {
            turn.arrive(stamp, 0, request, &mut answers);
            ios.extend(turn.recorded());
        }
        while let Some(due) = turn.due() {
            turn.pass_until(due, &mut answers);
        }
        ios.extend(turn.recorded());
        turn.logged().for_each(|entry| data.put(entry));
        assert_eq!(data.finish().lost, 0);
        ios
    }
}

/// A program's requests on a drive, as they were recorded, and the log of their data.
fn recorded(config: &SsdConfig, seed: u64, requests: u64, log: &Path) -> Vec<TraceIo> {
    Program::new(seed, requests, config.trim.supported).recorded(config, false, log)
}

pub(super) fn played(config: &SsdConfig, ios: &[TraceIo], flushes: Flushes) -> History {
    let mut drive = Ssd::new(config).expect("it is a drive");
    History::play(&mut drive, ios, flushes).expect("it was recorded on one")
}

/// The bytes of the span after an honest cut, from each unit's newest version on the NAND, without anything clever.
fn plain(history: &History, log: &DataLog, at: Nanos) -> Vec<u8> {
    let mut bytes = vec![0; (SPAN * 512) as usize];
    let mut writes = log.writes().iter();
    let datas: Vec<Option<Vec<u8>>> = history
        .events
        .iter()
        .map(|event| {
            let has_data = event.op == Op::Write && !event.zeroes;
            has_data.then(|| {
                let write = *writes.next().expect("it was logged");
                let mut data = vec![0; write.bytes as usize];
                log.read(write, 0, &mut data).expect("it is there");
                data
            })
        })
        .collect();
    for sector in 0..SPAN {
        let unit = sector / history.unit_sectors * history.unit_sectors;
        // The newest version of its unit that is on the NAND: nothing older than it is lost there.
        let newest = history.events.iter().rposition(|event| {
            event.asked <= at && event.units.iter().any(|it| it.first == unit && it.persisted <= at)
        });
        for (index, event) in history.events.iter().enumerate() {
            if event.asked > at || !event.sectors.contains(&sector) {
                continue;
            }
            let is_left = match event.op {
                Op::Write => newest.is_some_and(|newest| index <= newest),
                Op::Trim => event.promised <= at || newest.is_some_and(|newest| index < newest),
                Op::Read | Op::Flush => continue,
            };
            if is_left {
                let place = ((sector - event.sectors.start) * 512) as usize;
                let target = &mut bytes[(sector * 512) as usize..][..512];
                match &datas[index] {
                    Some(data) => target.copy_from_slice(&data[place..place + 512]),
                    None => target.fill(0),
                }
            }
        }
    }
    bytes
}

/// Cuts of some moments, in order.
fn moments(history: &History, seed: u64, count: usize) -> Vec<Nanos> {
    let mut moments: Vec<Nanos> = history.random_moments(seed).take(count).collect();
    moments.sort_unstable();
    moments
}

#[test]
fn what_was_recorded_as_failed_promises_nothing_and_is_promised_by_nothing() {
    let promised = |failed: [bool; 2]| {
        let io = |at: u64, op, bytes, failed| TraceIo {
            at: Nanos(at),
            op,
            offset_bytes: 0,
            bytes,
            duration: Some(Nanos(1000)),
            device: 0,
            flags: IoFlags { failed, ..IoFlags::default() },
        };
        let ios = [io(0, Op::Write, 4096, failed[0]), io(1_000_000, Op::Flush, 0, failed[1])];
        let history = played(&SsdConfig::default(), &ios, Flushes::Kept);
        let write = &history.events[0];
        (write.promised < Nanos::MAX, write.answered < Nanos::MAX)
    };
    assert_eq!(promised([false, false]), (true, true));
    assert_eq!(promised([true, false]), (false, false));
    assert_eq!(promised([false, true]), (false, true));
}

#[test]
fn a_history_on_the_drive_that_was_recorded_has_every_duration_to_the_nanosecond() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for seed in 0..40 {
        let config = config(&mut Random::new(seed));
        let ios = recorded(&config, seed, 400, &dir.path().join(format!("{seed}")));
        let history = played(&config, &ios, Flushes::Kept);
        for (index, (io, event)) in ios.iter().zip(&history.events).enumerate() {
            let duration = event.answered.since(event.asked);
            assert_eq!((event.asked, Some(duration)), (io.at, io.duration), "seed {seed}: {index}");
        }
        // On another drive they are others.
        let mut other = config.clone();
        other.nand.program_us *= 4.0;
        let slower = played(&other, &ios, Flushes::Kept);
        assert!(slower.end > history.end, "seed {seed}");
    }
}

#[test]
fn nobody_goes_on_before_what_they_waited_for_is_answered() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut waited = 0;
    for seed in 0..20 {
        let config = config(&mut Random::new(seed));
        let ios = recorded(&config, seed, 300, &dir.path().join(format!("{seed}")));
        let mut slow = config.clone();
        slow.nand.program_us *= 20.0;
        let history = played(&slow, &ios, Flushes::Kept);
        for (later, io) in ios.iter().enumerate() {
            for (earlier, before) in ios[..later].iter().enumerate() {
                let end = before.at + before.duration.expect("it was answered");
                if end <= io.at {
                    let (before, after) = (&history.events[earlier], &history.events[later]);
                    // What a drive without TRIM refuses, it refuses at once.
                    let refused = before.answered == Nanos::MAX && before.op == Op::Trim;
                    let in_order = refused || before.answered <= after.asked;
                    assert!(in_order, "seed {seed}: {earlier}, {later}");
                    waited += 1;
                }
            }
        }
    }
    assert!(waited > 100_000, "{waited}");
}

#[test]
fn an_honest_cut_leaves_what_a_plain_model_of_versions_leaves() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut lost = 0;
    for seed in 0..30 {
        let config = config(&mut Random::new(seed));
        let path = dir.path().join(format!("{seed}"));
        let ios = recorded(&config, seed, 150, &path);
        let log = DataLog::open(&path).expect("it is a log");
        let history = played(&config, &ios, Flushes::Kept);
        let mut images = Images::new(&history, &log, Memory::new(u64::MAX)).expect("they belong");
        for at in moments(&history, seed, 8) {
            let cut = history.cut(Class::Honest, at, 1);
            let image = images.image(&cut).expect("there is memory");
            let mut bytes = vec![0; (SPAN * 512) as usize];
            image.read(0, &mut bytes).expect("it is in memory");
            let plain = plain(&history, &log, at);
            let differs = bytes.iter().zip(&plain).position(|(a, b)| a != b);
            assert_eq!(differs.map(|byte| byte / 512), None, "seed {seed} at {at:?}");
            lost += u32::from(cut.answered_lost_sectors > 0);
        }
    }
    assert!(lost > 100, "{lost} of 240 cuts lost something that was answered");
}

#[test]
fn what_was_promised_is_kept_by_who_keeps_promises_and_by_nobody_else() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut broken = [0; 8];
    let mut drawn = 0;
    for seed in 0..40 {
        let mut config = config(&mut Random::new(seed));
        // Rows that take many writes, so that a flush that does nothing leaves much in them.
        config.buffer.coalesce = None;
        let path = dir.path().join(format!("{seed}"));
        let ios = recorded(&config, seed, 200, &path);
        for (place, class) in Class::all().enumerate() {
            let history = played(&config, &ios, class.flushes());
            for at in moments(&history, seed, 10) {
                let cut = history.cut(class, at, seed);
                broken[place] += u32::from(cut.promised_lost > 0);
                drawn += u32::from(place == 0);
            }
        }
    }
    let [honest, legal, lost_flush, shorn, unserialisable, metadata, _, dead] = broken;
    assert!(dead > drawn * 3 / 4, "dead drives lost promises in {dead} of {drawn}");
    assert_eq!((honest, legal, shorn), (0, 0, 0), "of {drawn}");
    assert!(
        lost_flush > drawn / 5,
        "flushes that do nothing lost promises in {lost_flush} of {drawn}"
    );
    assert!(
        unserialisable > drawn / 4 && metadata > drawn / 20,
        "{unserialisable}, {metadata} of {drawn}"
    );
}

/// A drive with two bits a cell, or of which nothing is said of cells.
fn with_cells(random: &mut Random, cells: bool) -> SsdConfig {
    let mut config = config(random);
    config.nand_cells = cells.then(|| NandCellsSection {
        kind: CellKind::Mlc,
        order: PageOrder::Shadow,
        ..NandCellsSection::default()
    });
    config
}

#[test]
fn bits_of_promised_data_are_wrong_only_where_pages_share_cells() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let hit = |cells: bool, protected: bool| {
        let (mut of_promised, mut of_others) = (0, 0);
        for seed in 0..30 {
            let mut config = with_cells(&mut Random::new(seed), cells);
            config.buffer.power_loss_protected = protected;
            let ios = recorded(
                &config,
                seed,
                200,
                &dir.path().join(format!("{seed} {cells} {protected}")),
            );
            let history = played(&config, &ios, Flushes::Kept);
            for at in moments(&history, seed, 20) {
                let cut = history.cut(Class::Bits, at, seed);
                let half = history.half_programmed(at, 0..cut.asked);
                for flip in &cut.flips {
                    let unit = flip.sector / history.unit_sectors * history.unit_sectors;
                    // A unit under way may hold older data, too, of a write that covered it in part.
                    let under_way = half.iter().any(|(_, first)| *first == unit);
                    let holder = history.holder(&cut, flip.sector);
                    let promised = holder.is_some_and(|event| history.events[event].promised <= at);
                    of_promised += u32::from(promised && !under_way);
                    of_others += u32::from(under_way);
                }
                assert!(cut.flips.is_sorted() && cut.flips.windows(2).all(|two| two[0] != two[1]));
            }
        }
        (of_promised, of_others)
    };
    let (promised, others) = hit(true, false);
    assert!(promised > 100 && others > 100, "{promised}, {others}");
    let (promised, others) = hit(false, false);
    assert!(promised == 0 && others > 100, "{promised}, {others}");
    assert_eq!(hit(true, true), (0, 0), "capacitors end what was begun");
}

#[test]
fn the_image_of_wrong_bits_is_the_honest_one_but_for_them_and_for_rows_under_way() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = with_cells(&mut Random::new(5), true);
    let path = dir.path().join("data");
    let ios = recorded(&config, 5, 300, &path);
    let log = DataLog::open(&path).expect("it is a log");
    let history = played(&config, &ios, Flushes::Kept);
    let mut images = Images::new(&history, &log, Memory::new(u64::MAX)).expect("they belong");
    let mut bytes_of = |cut: &Cut| {
        let image = images.image(cut).expect("there is memory");
        let mut bytes = vec![0; (SPAN * 512) as usize];
        image.read(0, &mut bytes).expect("it is in memory");
        bytes
    };
    let (mut flips, mut seeds_differ) = (0, 0);
    for at in moments(&history, 5, 40) {
        let cut = history.cut(Class::Bits, at, 1);
        let whole = bytes_of(&Cut { flips: Vec::new(), ..cut.clone() });
        let wrong = bytes_of(&cut);
        let differing: u32 = whole.iter().zip(&wrong).map(|(a, b)| (a ^ b).count_ones()).sum();
        let within = cut.flips.iter().filter(|flip| flip.sector < SPAN).count();
        assert_eq!(differing as usize, within, "at {at:?}");
        assert_eq!(cut, history.cut(Class::Bits, at, 1));
        flips += within;
        seeds_differ += u32::from(cut.flips != history.cut(Class::Bits, at, 2).flips);
        // But for rows under way it is the honest image.
        let honest = history.cut(Class::Honest, at, 1);
        if history.half_programmed(at, 0..cut.asked).is_empty() {
            assert_eq!((&cut.left, cut.flips.len()), (&honest.left, 0));
        }
    }
    assert!(flips > 50 && seeds_differ > 10, "{flips}, {seeds_differ}");
}

#[test]
fn capacitors_keep_what_was_answered_and_without_them_it_is_lost() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let lost = |protected: bool| {
        let mut lost = 0;
        for seed in 0..20 {
            let mut config = config(&mut Random::new(seed));
            config.buffer.power_loss_protected = protected;
            let path = dir.path().join(format!("{seed} {protected}"));
            let ios = recorded(&config, seed, 150, &path);
            let history = played(&config, &ios, Flushes::Kept);
            for class in [Class::Honest, Class::Legal] {
                for at in moments(&history, seed, 10) {
                    let cut = history.cut(class, at, seed);
                    assert_eq!(cut.promised_lost, 0, "seed {seed}");
                    lost += u32::from(cut.answered_lost_sectors > 0);
                }
            }
        }
        lost
    };
    assert_eq!(lost(true), 0);
    assert!(lost(false) > 100, "{} of 400", lost(false));
}

#[test]
fn the_same_cut_is_the_same_image_and_another_seed_another() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = config(&mut Random::new(3));
    let path = dir.path().join("data");
    let ios = recorded(&config, 3, 300, &path);
    let log = DataLog::open(&path).expect("it is a log");
    let hashes = |seed| -> Vec<String> {
        let history = played(&config, &ios, Flushes::Kept);
        let mut images = Images::new(&history, &log, Memory::new(u64::MAX)).expect("they belong");
        moments(&history, 9, 20)
            .into_iter()
            .map(|at| images.image(&history.cut(Class::Legal, at, seed)).expect("memory"))
            .map(|image| image.hash().expect("it is in memory"))
            .collect()
    };
    assert_eq!(hashes(1), hashes(1));
    assert_ne!(hashes(1), hashes(2));
    // A cut alone is the same as one among others.
    let history = played(&config, &ios, Flushes::Kept);
    let last = *moments(&history, 9, 20).last().expect("twenty");
    let mut images = Images::new(&history, &log, Memory::new(u64::MAX)).expect("they belong");
    let alone = images.image(&history.cut(Class::Legal, last, 1)).expect("memory");
    assert_eq!(Some(&alone.hash().expect("memory")), hashes(1).last());
}

#[test]
fn a_recording_that_cannot_be_played_is_refused_by_its_io() {
    let config = SsdConfig::default();
    let io = |offset_bytes, bytes, duration| TraceIo {
        at: Nanos(5),
        op: Op::Write,
        offset_bytes,
        bytes,
        duration,
        device: 0,
        flags: Default::default(),
    };
    let drive = Ssd::new(&config).expect("a drive").geometry().bytes();
    let play = |io: TraceIo| {
        let mut ssd = Ssd::new(&config).expect("a drive");
        let good = TraceIo { offset_bytes: 0, bytes: 512, duration: Some(Nanos(1)), ..io };
        History::play(&mut ssd, &[good, io], Flushes::Kept).map(|history| history.events.len())
    };
    let some = Some(Nanos(7));
    assert_eq!(play(io(0, 4096, some)), Ok(2));
    assert_eq!(play(io(0, 4096, None)), Err(PlayError::NoDuration(1)));
    let end = drive + 4096;
    assert_eq!(play(io(drive, 4096, some)), Err(PlayError::Beyond { index: 1, end, drive }));
    assert!(matches!(play(io(100, 4096, some)), Err(PlayError::NotWhole { index: 1, .. })));
    assert!(matches!(play(io(u64::MAX / 512 * 512, 4096, some)), Err(PlayError::Beyond { .. })));
}

#[test]
fn a_flush_promises_nothing_that_was_asked_for_after_it_in_the_same_nanosecond() {
    let io = |op, bytes| TraceIo {
        at: Nanos(5000),
        op,
        offset_bytes: 0,
        bytes,
        duration: Some(Nanos::ZERO),
        device: 0,
        flags: Default::default(),
    };
    let (flush, trim) = (io(Op::Flush, 0), io(Op::Trim, 4096));
    let promised = |ios: [TraceIo; 2]| {
        let history = played(&SsdConfig::default(), &ios, Flushes::Ignored);
        let of_trim = history.events.iter().find(|event| event.op == Op::Trim);
        let of_trim = of_trim.expect("it was played");
        assert_eq!(of_trim.answered, of_trim.asked, "this drive answers it at once");
        of_trim.promised
    };
    assert_eq!(promised([flush, trim]), Nanos::MAX);
    assert_eq!(promised([trim, flush]), Nanos(5000));
}

/// An I/O of 4 KiB, or a flush, asked for `at_us` microseconds after the start.
fn io(at_us: u64, op: Op, offset_bytes: u64) -> TraceIo {
    TraceIo {
        at: Nanos(at_us * 1000),
        op,
        offset_bytes,
        bytes: if op == Op::Flush { 0 } else { 4096 },
        duration: Some(Nanos(1000)),
        device: 0,
        flags: IoFlags::default(),
    }
}

#[test]
fn a_drive_that_was_used_before_is_cut_in_the_recording_and_not_before_it() {
    let round = |n: u64| [io(n * 300 + 7, Op::Write, n * 4096), io(n * 300 + 100, Op::Flush, 0)];
    let ios: Vec<TraceIo> = (0..100).flat_map(round).collect();
    let cuts = |used_for: Nanos| -> Vec<(Nanos, usize, u64)> {
        let mut drive = Ssd::new(&SsdConfig::default()).expect("it is a drive");
        assert_eq!(drive.reap(used_for), Ok(None));
        assert_eq!(drive.now(), used_for);
        let history = History::play(&mut drive, &ios, Flushes::Ignored).expect("it is a recording");
        let cut = |at: Nanos| {
            let cut = history.cut(Class::LostFlush, at, 1);
            (at.since(history.began()), cut.asked, cut.promised_lost)
        };
        moments(&history, 1, 100).into_iter().map(cut).collect()
    };
    let new = cuts(Nanos::ZERO);
    // The first I/O comes at 7 us.
    assert!(new.iter().all(|(_, asked, _)| *asked > 0), "{new:?}");
    let broken = new.iter().filter(|(.., lost)| *lost > 0).count();
    assert!(broken > 10, "{broken} of 100");
    assert_eq!(cuts(Nanos::from_secs(2_777)), new);
}

#[test]
fn after_the_answer_to_a_trim_nobody_counts_on_what_was_there() {
    // A cut at the end, or 1 ns before the last I/O is asked for.
    let lost = |class: Class, ios: &[TraceIo], before_last: bool| {
        let history = played(&SsdConfig::default(), ios, class.flushes());
        let last = history.events.last().expect("there are some").asked;
        let at = if before_last { Nanos(last.0 - 1) } else { history.end };
        let cut = history.cut(class, at, 1);
        [cut.promised_lost, cut.promised_lost_sectors, cut.answered_lost_sectors]
    };
    let (write, flush) = (io(0, Op::Write, 0), io(1_000, Op::Flush, 0));
    let (trim, again) = (io(2_000, Op::Trim, 0), io(3_000, Op::Write, 0));
    let lost_flush = |ios: &[TraceIo]| lost(Class::LostFlush, ios, false);
    assert_eq!(lost_flush(&[write, flush]), [1, 8, 0]);
    assert_eq!(lost_flush(&[write, flush, trim]), [0, 0, 0]);
    assert_eq!(lost(Class::LostFlush, &[write, flush, trim], true), [1, 8, 0]);
    // A part of it, and one that failed.
    let half = TraceIo { bytes: 2048, ..trim };
    assert_eq!(lost_flush(&[write, flush, half]), [1, 4, 0]);
    let failed = TraceIo { flags: IoFlags { failed: true, ..IoFlags::default() }, ..trim };
    assert_eq!(lost_flush(&[write, flush, failed]), [1, 8, 0]);
    // What is written after it counts again.
    assert_eq!(lost_flush(&[write, flush, trim, again]), [0, 0, 8]);
    assert_eq!(lost_flush(&[write, flush, trim, again, io(4_000, Op::Flush, 0)]), [1, 8, 0]);
    // On a drive that keeps its promises.
    let honest = |ios: &[TraceIo]| lost(Class::Honest, ios, false);
    assert_eq!(honest(&[write]), [0, 0, 8]);
    assert_eq!(honest(&[write, trim]), [0, 0, 0]);
    assert_eq!(honest(&[write, trim, again]), [0, 0, 8]);
    // The cut undoes the TRIM, and what was flushed before it is there again.
    assert_eq!(honest(&[write, flush, trim]), [0, 0, 0]);
}

#[test]
fn an_overwrite_that_is_lost_as_well_makes_up_for_no_promise() {
    let lost = |class: Class, ios: &[TraceIo]| {
        let history = played(&SsdConfig::default(), ios, class.flushes());
        let cut = history.cut(class, history.end, 1);
        [cut.promised_lost, cut.promised_lost_sectors, cut.answered_lost_sectors]
    };
    let (write, flush) = (io(0, Op::Write, 0), io(1_000, Op::Flush, 0));
    let (again, half) =
        (io(2_000, Op::Write, 0), TraceIo { bytes: 2048, ..io(2_000, Op::Write, 0) });
    assert_eq!(lost(Class::LostFlush, &[write, flush, again]), [1, 8, 8]);
    assert_eq!(lost(Class::LostFlush, &[write, flush, half]), [1, 8, 4]);
    // On a drive that keeps its promises only the overwrite is lost.
    assert_eq!(lost(Class::Honest, &[write, flush, again]), [0, 0, 8]);
    // A newer promise of the same sectors is the one that counts.
    let flushed = io(3_000, Op::Flush, 0);
    assert_eq!(lost(Class::LostFlush, &[write, flush, again, flushed]), [1, 8, 0]);
}

#[test]
fn a_wrong_bit_in_what_was_trimmed_breaks_no_promise() {
    let broken = |ios: &[TraceIo]| {
        let history = played(&SsdConfig::default(), ios, Flushes::Kept);
        let mut cut = history.cut(Class::Honest, history.end, 1);
        cut.flips = vec![Flip { sector: 3, bit: 1 }];
        history.count_flipped(&mut cut);
        [cut.promised_lost, cut.promised_lost_sectors]
    };
    let (write, flush) = (io(0, Op::Write, 0), io(1_000, Op::Flush, 0));
    let trim = io(2_000, Op::Trim, 0);
    assert_eq!(broken(&[write, flush]), [1, 1]);
    assert_eq!(broken(&[write, flush, trim]), [0, 0]);
    let again = [io(3_000, Op::Write, 0), io(4_000, Op::Flush, 0)];
    assert_eq!(broken(&[write, flush, trim, again[0], again[1]]), [1, 1]);
}

#[test]
fn a_log_of_another_run_is_refused_by_its_write() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = SsdConfig::default();
    let paths = [dir.path().join("a"), dir.path().join("b")];
    let ios = recorded(&config, 1, 50, &paths[0]);
    recorded(&config, 2, 50, &paths[1]);
    let history = played(&config, &ios, Flushes::Kept);
    let open = |path: &Path| DataLog::open(path).expect("it is a log");
    let images = |log: &DataLog| Images::new(&history, log, Memory::new(0)).map(|_| ());
    images(&open(&paths[0])).expect("they are of one run");
    let told = images(&open(&paths[1])).expect_err("they are not").to_string();
    assert!(told.starts_with("write 0 of the recording is"), "{told}");
}
