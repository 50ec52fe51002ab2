//! Drives and commands drawn from numbers: those of a seed, or the bytes a fuzzer tries.

use fourcorners_drive::config::*;
use fourcorners_drive::{Io, Lba, Nanos, Op};

use super::play::Command;
use super::{Random, Shape, sata, ssd};

/// Where a choice comes from.
pub trait Numbers {
    /// A number below `bound`, which is at least 1.
    fn below(&mut self, bound: u64) -> u64;

    /// `from` to `to`, both included.
    fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

impl Numbers for Random {
    fn below(&mut self, bound: u64) -> u64 {
        Random::below(self, bound)
    }
}

/// Bytes as numbers; zeros when they have run out.
pub struct Bytes<'a>(pub &'a [u8]);

impl Numbers for Bytes<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        let bits = u64::BITS - (bound - 1).leading_zeros();
        let mut number = 0;
        for _ in 0..bits.div_ceil(8) {
            let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
            number = number << 8 | u64::from(*first);
            self.0 = rest;
        }
        number % bound
    }
}

/// Draws a drive that can be, small enough to be filled and overwritten often: about `most_units`
/// of 4 KiB. A new section of the profile is drawn here and nowhere else.
pub fn profile(numbers: &mut impl Numbers, most_units: u64) -> SsdConfig {
    let dies = numbers.between(1, 8);
    let planes = numbers.between(1, 4);
    let page_units = numbers.one_of(&[1, 2, 3, 4]);
    let blocks = numbers.between(16, 128);
    let rows = most_units / (dies * planes * page_units * blocks);
    let mut profile = ssd(Shape {
        dies: dies as u32,
        blocks_per_die: blocks as u32,
        pages_per_block: numbers.between(1, rows.clamp(2, 64)) as u32,
        effective_op: 0.0,
    });
    let nand = &mut profile.nand;
    nand.channels = numbers.between(1, 8) as u32;
    nand.planes = planes as u32;
    nand.page_bytes = page_units as u32 * 4096;
    nand.read_us = micros(numbers, 100);
    nand.program_us = micros(numbers, 2000);
    nand.erase_us = micros(numbers, 5000);
    nand.bus_mb_per_s = numbers.between(40, 800) as f64;
    interface(numbers, &mut profile);
    controller(numbers, &mut profile);
    let row_kib = (planes * page_units * 4) as u32;
    let buffer_kib = row_kib * numbers.between(2, 40) as u32 + numbers.below(4) as u32;
    profile.buffer.write_kib = buffer_kib;
    profile.buffer.power_loss_protected = numbers.percent(20);
    collection(numbers, &mut profile);
    profile.trim.supported = numbers.percent(90);
    let op_percent = numbers.between(5, 50);
    give_to_user(&mut profile, op_percent);
    sequential(numbers, &mut profile);
    write_limit(numbers, &mut profile);
    profile
}

/// Sometimes a limit on writes, of a drive that may have one.
fn write_limit(numbers: &mut impl Numbers, profile: &mut SsdConfig) {
    if profile.gc.pacing == Pacing::Paced && numbers.percent(30) {
        let us_per_4k = 0.1 + micros(numbers, 100);
        let burst_kib = numbers.one_of(&[0, 3, 4, 64, 1000]);
        let pauses = numbers.percent(50);
        let pause_us = 0.1 + micros(numbers, 3000);
        let pause_every_kib = numbers.one_of(&[4, 5, 40, 3000]);
        profile.write_limit = Some(WriteLimitSection {
            us_per_4k,
            burst_kib,
            fresh_us_per_4k: numbers.percent(50).then(|| micros(numbers, 100)),
            pause_us: pauses.then_some(pause_us),
            pause_every_kib: pauses.then_some(pause_every_kib),
            pause_recovers_percent: numbers.percent(50).then(|| micros(numbers, 20)),
            stall_us: numbers
                .percent(50)
                .then(|| us_per_4k * f64::from(burst_kib / 4) * numbers.below(101) as f64 / 100.0),
            drifts: numbers.percent(50).then(|| numbers.percent(70)),
            reads_wait: numbers.percent(50).then(|| numbers.percent(70)),
        });
    }
}

/// Sometimes collection that waits for writes in order.
fn sequential(numbers: &mut impl Numbers, profile: &mut SsdConfig) {
    if numbers.percent(20) {
        let gc = &mut profile.gc;
        gc.pacing = Pacing::DelayedUntilSequential;
        let blocks = u64::from(gc.start_free_blocks) + numbers.between(1, 12);
        gc.sequential_free_blocks = Some(blocks as u32);
        gc.sequential_gain = Some(numbers.between(1, 8) as u32);
        gc.sequential_commands = Some(numbers.between(1, 32) as u32);
    }
}

/// Adds what the reference lacks: streams, and collection in idle time.
pub fn beyond_the_reference(numbers: &mut impl Numbers, profile: &mut SsdConfig) {
    let kept = profile.gc.start_free_blocks;
    if numbers.percent(60) {
        profile.gc.idle_ms = Some(numbers.one_of(&[0.0, 0.1, 2.0]));
        profile.gc.idle_free_blocks = Some(kept + numbers.between(1, 8) as u32);
    }
    if numbers.percent(60) {
        let percent = numbers.one_of(&[None, Some(0), Some(5), Some(50), Some(99)]);
        profile.streams = Some(StreamsSection {
            region_kib: 4 * numbers.between(1, 64) as u32,
            period_percent: numbers.between(1, 200) as u32,
            hot_factor: numbers.one_of(&[1.0, 1.5, 4.0]),
            hot_spare_percent: percent,
            cool_turns: numbers.between(1, 10) as f64,
            victims: numbers.one_of(&[StreamVictims::OverShare, StreamVictims::Any]),
        });
        let nand = &profile.nand;
        let row_kib = nand.planes * nand.page_bytes / 1024;
        profile.buffer.write_kib = profile.buffer.write_kib.max(3 * row_kib);
        // Of each die, four blocks are open.
        let blocks = u64::from(nand.blocks_per_plane);
        let usable = profile.raw_bytes() / blocks * (blocks - u64::from(kept) - 4);
        let most = (usable / 4096 * 100 / 101).max(1) * 8;
        profile.capacity.sectors = profile.capacity.sectors.min(most);
    }
}

/// Up to `most` microseconds, to the tenth; sometimes none.
fn micros(numbers: &mut impl Numbers, most: u64) -> f64 {
    match numbers.percent(5) {
        true => 0.0,
        false => numbers.between(1, most * 10) as f64 / 10.0,
    }
}

fn interface(numbers: &mut impl Numbers, profile: &mut SsdConfig) {
    profile.host.command_us = micros(numbers, 30);
    let gbps = numbers.one_of(&[1.5, 3.0, 6.0]);
    profile.link = sata(gbps, micros(numbers, 5), micros(numbers, 2));
}

fn controller(numbers: &mut impl Numbers, profile: &mut SsdConfig) {
    let controller = &mut profile.controller;
    controller.read_command_us = micros(numbers, 40);
    controller.write_command_us = micros(numbers, 40);
    controller.read_4k_us = micros(numbers, 5);
    controller.write_4k_us = micros(numbers, 5);
    controller.read_ahead_kib = numbers.one_of(&[0, 0, 4, 16, 128, 512]);
}

fn collection(numbers: &mut impl Numbers, profile: &mut SsdConfig) {
    use VictimPolicy::*;
    let gc = &mut profile.gc;
    gc.start_free_blocks = numbers.between(1, 4) as u32;
    gc.pacing = numbers.one_of(&[Pacing::Paced, Pacing::Delayed]);
    gc.policy = numbers.one_of(&[Greedy, Fifo, CostBenefit, DChoices, Random]);
    gc.choices = numbers.between(1, 10) as u32;
    gc.seed = numbers.below(1 << 32);
}

/// Leaves so much spare over the user's space for collection to work with, or the least there has
/// to be: 1 % beyond what each die keeps free or open.
fn give_to_user(profile: &mut SsdConfig, op_percent: u64) {
    let nand = &profile.nand;
    let kept = u64::from(profile.gc.start_free_blocks);
    let units = profile.raw_bytes() / 4096;
    let per_block = units / u64::from(nand.blocks_per_plane);
    let usable = units - (kept + 1) * per_block;
    let most = (usable - per_block) * 100 / 101;
    let user = (usable * 100 / (100 + op_percent)).min(most);
    profile.capacity.sectors = user.max(1) * 8;
}

/// Draws a value that may be nonsense for one of the profile's keys, whatever they are. None when
/// it is not even of the key's type.
pub fn disturb(numbers: &mut impl Numbers, profile: &SsdConfig) -> Option<SsdConfig> {
    let mut json = serde_json::to_value(profile).expect("a profile is JSON");
    let mut keys = Vec::new();
    for (section, content) in json.as_object().expect("sections") {
        for (key, _) in content.as_object().into_iter().flatten() {
            keys.push(format!("/{section}/{key}"));
        }
    }
    let key = &keys[numbers.below(keys.len() as u64) as usize];
    let value = json.pointer_mut(key).expect("it was found there");
    *value = match numbers.below(8) {
        0 => 0.into(),
        1 => 1.into(),
        2 => (-1).into(),
        3 => numbers.below(1 << 8).into(),
        4 => numbers.below(1 << 20).into(),
        5 => numbers.below(u64::MAX).into(),
        6 => (numbers.below(1 << 20) as f64 / 1000.0).into(),
        _ => numbers.one_of(&[0.5, 1e-300, 1e300, 4096.0, 65_536.0, 1e6]).into(),
    };
    serde_json::from_value(json).ok()
}

/// Draws a command of any kind, size and alignment for a drive of so many sectors; some are out of
/// range.
pub fn command(numbers: &mut impl Numbers, sectors: u64) -> Command {
    let op = match numbers.below(1000) {
        0 => return Command::Purge,
        1..5 => return Command::Settle,
        5..20 => return Command::Idle(Nanos(numbers.below(10_000_000))),
        20..60 => return Command::Io(Io::FLUSH),
        60..120 => Op::Trim,
        120..350 => Op::Read,
        _ => Op::Write,
    };
    let length = match numbers.below(32) {
        0 => numbers.one_of(&[0, 1, 7, 8, 9, 65_535, u32::MAX - 1, u32::MAX]),
        1 => numbers.between(1, 2048) as u32,
        2..12 => 8,
        12..24 => 8 * numbers.between(1, 32) as u32,
        _ => numbers.between(1, 96) as u32,
    };
    let lba = match numbers.below(64) {
        0 => u64::MAX - numbers.below(1 << 10),
        1 => numbers.below(sectors * 2),
        2..6 => (sectors - 1).saturating_sub(numbers.below(64)),
        // What is still in the buffer.
        6..14 => numbers.below(sectors.min(64)),
        14..34 => numbers.below(sectors),
        _ => numbers.below(sectors) / 8 * 8,
    };
    let any = numbers.below(256) as u8;
    let compressible_percent = numbers.one_of(&[0, 50, 100, any]);
    Command::Io(Io { op, lba: Lba(lba), sectors: length, compressible_percent, ..Io::FLUSH })
}
