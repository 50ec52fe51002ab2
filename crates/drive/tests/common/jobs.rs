//! Jobs as a reviewer runs them, as lists of commands.

use fourcorners_drive::{Io, Lba, Nanos, Op};

use super::Random;
use super::draw::Numbers;
use super::play::Command;

/// What a job does. Percentages are of its I/Os.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Writes all of the drive in order first.
    pub fill: bool,
    pub read_percent: u64,
    pub sequential_percent: u64,
    /// Of those not sequential: in the first tenth of the drive.
    pub hot_percent: u64,
    /// Sizes, in sectors: from, to and in steps of.
    pub sizes: (u64, u64, u64),
    /// Where I/Os begin is a multiple of so many sectors.
    pub align: u64,
    pub trims_per_1000: u64,
    pub flushes_per_1000: u64,
    pub idles_per_1000: u64,
    pub depth: u32,
    /// Written by the host, in hundredths of the drive's size.
    pub percent_written: u64,
    /// No more I/Os than this.
    pub most: usize,
}

impl Job {
    /// 4 KiB random overwrites of a full drive.
    pub const OVERWRITE: Job = Job {
        fill: true,
        read_percent: 0,
        sequential_percent: 0,
        hot_percent: 0,
        sizes: (8, 8, 8),
        align: 8,
        trims_per_1000: 0,
        flushes_per_1000: 0,
        idles_per_1000: 0,
        depth: 32,
        percent_written: 400,
        most: 1_000_000,
    };

    /// Draws a job: random, sequential, mixed or skewed, at every size and depth.
    pub fn draw(numbers: &mut impl Numbers) -> Job {
        let sizes = [(8, 8, 8), (1, 1, 1), (1, 64, 1), (8, 512, 8), (256, 256, 1), (512, 512, 1)];
        Job {
            fill: numbers.percent(80),
            read_percent: numbers.one_of(&[0, 0, 10, 30, 70]),
            sequential_percent: numbers.one_of(&[0, 0, 20, 90, 100]),
            hot_percent: numbers.one_of(&[0, 0, 50, 90]),
            sizes: numbers.one_of(&sizes),
            align: numbers.one_of(&[8, 8, 1, 16]),
            trims_per_1000: numbers.one_of(&[0, 0, 5, 50]),
            flushes_per_1000: numbers.one_of(&[0, 0, 2, 50]),
            idles_per_1000: numbers.one_of(&[0, 0, 0, 5]),
            depth: numbers.between(1, 32) as u32,
            percent_written: numbers.between(100, 600),
            most: 40_000,
        }
    }

    /// Its commands for a drive of so many sectors.
    pub fn commands(&self, sectors: u64, random: &mut Random) -> Vec<Command> {
        let mut commands = Vec::new();
        let io = |op, lba, sectors| {
            let sectors = sectors as u32;
            Command::Io(Io { op, lba: Lba(lba), sectors, ..Io::FLUSH })
        };
        if self.fill {
            let pieces = (0..sectors).step_by(256);
            commands.extend(pieces.map(|lba| io(Op::Write, lba, (sectors - lba).min(256))));
        }
        let mut left = sectors * self.percent_written / 100;
        let (mut reader, mut writer) = (0, 0);
        let end = commands.len() + self.most;
        while left > 0 && commands.len() < end {
            let chance = random.below(1000);
            let (trims, flushes) = (self.trims_per_1000, self.flushes_per_1000);
            if chance < flushes {
                commands.push(Command::Io(Io::FLUSH));
                continue;
            }
            if chance < flushes + self.idles_per_1000 {
                commands.push(Command::Idle(Nanos(random.below(20_000_000))));
                continue;
            }
            let op = match () {
                () if chance >= 1000 - trims => Op::Trim,
                () if random.percent(self.read_percent) => Op::Read,
                () => Op::Write,
            };
            let (from, to, step) = self.sizes;
            let length = (from + random.below((to - from) / step + 1) * step).min(sectors);
            let stream = if op == Op::Read { &mut reader } else { &mut writer };
            let lba = match () {
                () if op != Op::Trim && random.percent(self.sequential_percent) => {
                    let lba = if *stream + length > sectors { 0 } else { *stream };
                    *stream = lba + length;
                    lba
                }
                () if random.percent(self.hot_percent) => random.below(sectors / 10 + 1),
                () => random.below(sectors),
            };
            // What would reach beyond the end is moved back to end there.
            let lba = (lba / self.align * self.align).min(sectors - length);
            commands.push(io(op, lba, length));
            // A job of reads must end, too.
            left = left.saturating_sub(length);
        }
        commands
    }
}
