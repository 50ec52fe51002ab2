//! Variation of the reference: how much longer each thing takes, in parts of 2^20, by the rules in
//! `config/variation.rs` and nothing else.

use fourcorners_drive::config::{VariationMode, VariationSection};

use crate::flash::ns;

const ONE: i128 = 1 << 20;

/// The first number of SplitMix64 with this seed.
fn scrambled(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What a number is drawn for, in its three highest bits.
#[derive(Clone, Copy)]
enum For {
    Read = 0,
    Stall = 1,
    Program = 2,
    Tick = 3,
    Collection = 4,
    Drift = 5,
    Host = 6,
    WriteDrift = 7,
}

/// All that varies, of flash, firmware and host.
#[derive(Clone)]
pub(crate) struct Vary {
    section: VariationSection,
    rows: u64,
    blocks: u64,
    /// By how much reads and the host take longer now.
    pub(crate) drift: i128,
    /// The same of programs and collection.
    pub(crate) write_drift: i128,
    steady_until: u64,
    ticks: u64,
    commands: u64,
}

impl Vary {
    pub(crate) fn new(section: Option<&VariationSection>, rows: u64, blocks: u64) -> Option<Vary> {
        let section = section.filter(|section| section.mode == VariationMode::On)?.clone();
        Some(Vary {
            section,
            rows,
            blocks,
            drift: 0,
            write_drift: 0,
            steady_until: 0,
            ticks: 0,
            commands: 0,
        })
    }

    fn draw(&self, purpose: For, number: u64) -> u64 {
        scrambled(u64::from(self.section.seed) << 32 ^ (purpose as u64) << 61 ^ number)
    }

    /// Of one standard deviation `relative`: the sum of the four words of `bits`.
    fn normal(relative: f64, bits: u64) -> i128 {
        let words = (0..4).map(|word| i128::from(bits >> (16 * word) & 0xffff));
        let factor = (relative * 2f64.powi(36) / 37_837.0).round() as i128;
        (factor * (words.sum::<i128>() - 131_070)) >> 16
    }

    /// Of mean one, in parts of 2^20: how often a coin falls on its other side, and the rest.
    fn exponential(bits: u64) -> u128 {
        let text = format!("{:064b}", bits | 1);
        let zeros = text.find('1').expect("it is not 0");
        let behind: String =
            text[zeros + 1..].chars().chain("0".repeat(64).chars()).take(20).collect();
        let behind = u128::from_str_radix(&behind, 2).expect("ones and zeros");
        ((zeros as u128 + 1) * (1 << 20) - behind) * 2 / 3
    }

    pub(crate) fn longer(time: u64, by: i128) -> u64 {
        ((i128::from(time) * (ONE + by).clamp(0, 4 * ONE - 1)) >> 20) as u64
    }

    pub(crate) fn read(&self, read: u64, row: u64, number: u64, erased: u64) -> u64 {
        let bits = self.draw(For::Read, number);
        let mut kinds = vec![1.0];
        kinds.extend(self.section.middle_read_ratio);
        kinds.extend(self.section.upper_read_ratio);
        let of = |row: u64| kinds[row as usize % kinds.len()];
        let mean = (0..self.rows).map(of).sum::<f64>();
        let kind = ((of(row) * self.rows as f64 / mean - 1.0) * ONE as f64).round() as i128;
        let takes =
            Vary::longer(read, kind + Vary::normal(self.section.read_spread, bits) + self.drift);
        let of_2_32 = |per_million: f64| (per_million / 1e6 * 2f64.powi(32)).round() as u128;
        let worn = self.section.retries_per_million_worn / (1000.0 * self.blocks as f64);
        let worn = (of_2_32(worn * 65_536.0) * u128::from(erased)) >> 16;
        let chance = bits.wrapping_mul(0xd6e8_feb8_6659_fd93);
        if u128::from(chance >> 32) >= of_2_32(self.section.retries_per_million) + worn {
            return takes;
        }
        let again = 1 + (0..7).take_while(|bit| chance >> bit & 1 == 0).count() as u64;
        takes * (1 + again)
    }

    pub(crate) fn program(&self, program: u64, number: u64) -> u64 {
        let bits = self.draw(For::Program, number);
        Vary::longer(program, Vary::normal(self.section.program_spread, bits) + self.write_drift)
    }

    pub(crate) fn collection(&self, takes: u64, number: u64) -> u64 {
        let bits = self.draw(For::Collection, number);
        Vary::longer(takes, Vary::normal(self.section.collection_spread, bits) + self.write_drift)
    }

    pub(crate) fn stall(&self, longest: u64, number: u64) -> u64 {
        let bits = self.draw(For::Stall, number);
        ((u128::from(longest) * u128::from(bits)) >> 64) as u64
    }

    /// What the firmware does by itself before `arrives`: from when and how long.
    pub(crate) fn before(&mut self, arrives: u64) -> Option<(u64, u64)> {
        if arrives >= self.steady_until {
            let slow = |relative: f64, purpose: For| {
                let parts = (0..6u64).map(|part| {
                    let number = part << 56 ^ arrives >> (27 + part);
                    Vary::normal(relative, self.draw(purpose, number))
                });
                (parts.sum::<i128>() * 26_755) >> 16
            };
            let reads = slow(self.section.drift, For::Drift);
            let own = self.section.write_drift;
            self.write_drift = own.map_or(reads, |own| slow(own, For::WriteDrift));
            self.drift = reads;
            self.steady_until = ((arrives >> 27) + 1) << 27;
        }
        let (every, tick) = (ns(self.section.tick_ms * 1000.0), ns(self.section.tick_us));
        if self.section.tick_ms == 0.0 || self.section.tick_us == 0.0 {
            return None;
        }
        let share = |of: u64, bits: u64| ((u128::from(of) * u128::from(bits)) >> 64) as u64;
        let begins = |vary: &Vary, number: u64| {
            number * every + share(every / 2, vary.draw(For::Tick, number * 2 + 1))
        };
        let mut last = None;
        while begins(self, self.ticks) <= arrives {
            let takes = tick / 2 + share(tick, self.draw(For::Tick, self.ticks * 2));
            last = Some((begins(self, self.ticks), takes));
            self.ticks += 1;
        }
        last
    }

    /// When the host notices what came back at `at`, having taken half of its time before.
    pub(crate) fn noticed(&mut self, at: u64, host: u64) -> u64 {
        let bits = self.draw(For::Host, self.commands);
        self.commands += 1;
        let share = (host * (self.section.host_spread * ONE as f64).round() as u64) >> 20;
        let fixed = Vary::longer(host, self.drift).saturating_sub(host / 2).saturating_sub(share);
        let mut at = at + fixed + ((u128::from(share) * Vary::exponential(bits)) >> 20) as u64;
        let chance = bits.wrapping_mul(0xd6e8_feb8_6659_fd93);
        let delayed = (self.section.host_delays_per_million / 1e6 * 2f64.powi(32)).round() as u64;
        if chance >> 32 < delayed {
            let fifth = ns(self.section.host_delay_us) / 5;
            at += 4 * fifth + ((u128::from(fifth) * Vary::exponential(chance << 32)) >> 20) as u64;
        }
        at
    }
}
