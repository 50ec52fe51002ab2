//! Numbers that vary: drawn from a seed and a count by integers alone, so that they are the same on every
//! machine and cost a few additions.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::config::VariationSection;
use crate::divide::Divider;
use crate::random::scramble;
use crate::state::{LATEST, MOST_MOVED};

/// Lower, middle and upper pages.
const MOST_KINDS: usize = 3;

/// One, as a factor.
const ONE: i64 = 1 << 20;

/// A part, drawn evenly, of `longest`: of the stall of this `number`.
pub(crate) fn stall(seed: u32, number: u64, longest: Nanos) -> Nanos {
    let bits = scramble(u64::from(seed) << 32 ^ STALLS ^ number);
    Nanos(((u128::from(longest.0) * u128::from(bits)) >> 64) as u64)
}

/// A standard deviation as a factor on [`normal`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Spread(i64);

/// Standard deviation of [`normal`]: of four uniform numbers below 2^16.
const NORMAL_DEVIATION: f64 = 37_837.0;

impl Spread {
    /// Of so large a standard deviation over the mean.
    pub(crate) fn new(relative: f64) -> Spread {
        Spread((relative * (1u64 << 36) as f64 / NORMAL_DEVIATION).round() as i64)
    }

    /// By how much more than its mean something is, in parts of 2^20, by random `bits`.
    #[inline(always)]
    fn of(self, bits: u64) -> i64 {
        (self.0 * normal(bits)) >> 16
    }
}

/// The sum of four uniform numbers below 2^16 less its mean: near enough to a normal deviate, and bounded at 3.5
/// standard deviations.
#[inline(always)]
fn normal(bits: u64) -> i64 {
    let parts = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    parts as i64 - 2 * 0xffff
}

/// A number that is exponential to within a tenth, in parts of 2^20, of mean one: leading zeros are a logarithm, and the
/// bits behind them the rest of it.
#[inline(always)]
pub(crate) fn exponential(bits: u64) -> u64 {
    let zeros = u64::from((bits | 1).leading_zeros());
    let behind = (bits << (zeros + 1).min(63)) >> 44;
    // Zeros are one on average, and what is behind them a half.
    ((zeros << 20) + ((1 << 20) - behind)) * 2 / 3
}

/// By how much something is longer or shorter than its mean, in parts of 2^20.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Factor(i64);

impl Factor {
    /// Whether it is one that a drift can be.
    pub(crate) fn is_sane(self) -> bool {
        self.0.abs() <= MOST_DRIFT
    }

    /// Longer than any operation or host: half an hour. Products with a factor fit below it.
    const LONGEST: Nanos = Nanos(1 << 41);

    /// What takes `time` on average; of more than half an hour the average.
    #[inline(always)]
    pub(crate) fn of(self, time: Nanos) -> Nanos {
        if time > Factor::LONGEST {
            return time;
        }
        Nanos(((time.0 as i64 * (ONE + self.0).clamp(0, 4 * ONE - 1)) >> 20) as u64)
    }
}

/// A probability, per million, as a threshold: 32 random bits are below it that often.
fn threshold(per_million: f64) -> u64 {
    (per_million / 1e6 * (1u64 << 32) as f64).round() as u64
}

/// How the times of the flash vary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct FlashVariation {
    seed: u64,
    /// What a read of a page of each kind is longer than the mean, in parts of 2^20. The rows of a block are of
    /// the kinds in turn.
    kinds: [i32; MOST_KINDS],
    by_kinds: Divider,
    read: Spread,
    program: Spread,
    collection: Spread,
    /// Share of the wait for a suspension that is exponential, in parts of 2^20.
    suspension: u64,
    /// Probability that a read is repeated, times 2^32.
    retries: u64,
    /// What each erased block adds to it, times 2^48.
    retries_worn: u64,
    /// What reads are longer now, and what programs and collection are.
    drift: Drift,
}

/// The slow part of the variation, in parts of 2^20.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Drift {
    reads: i64,
    writes: i64,
}

impl Drift {
    /// By how much reads and the host take longer.
    pub(crate) fn of_reads(self) -> Factor {
        Factor(self.reads)
    }

    /// By how much what the firmware does for writes takes longer.
    pub(crate) fn of_writes(self) -> Factor {
        Factor(self.writes)
    }

    /// Whether it is one that can be.
    fn is_sane(self) -> bool {
        self.reads.abs().max(self.writes.abs()) <= MOST_DRIFT
    }
}

impl FlashVariation {
    /// `blocks` is the number of blocks of all dies, `rows` the number of rows of each.
    pub(crate) fn new(section: &VariationSection, blocks: u64, rows: u32) -> FlashVariation {
        let kinds = section.read_kinds();
        let of = |row: usize| kinds[row % kinds.len()];
        let sum: f64 = (0..rows as usize).map(of).sum();
        let kind = |kind| ((of(kind) * f64::from(rows) / sum - 1.0) * ONE as f64).round() as i32;
        let worn = section.retries_per_million_worn / (1000.0 * blocks as f64);
        FlashVariation {
            seed: u64::from(section.seed) << 32,
            kinds: std::array::from_fn(kind),
            by_kinds: Divider::new(kinds.len() as u32),
            read: Spread::new(section.read_spread),
            program: Spread::new(section.program_spread),
            collection: Spread::new(section.collection_spread),
            suspension: (section.suspend_spread.unwrap_or(0.0) * ONE as f64).round() as u64,
            retries: threshold(section.retries_per_million),
            retries_worn: threshold(worn * 65_536.0),
            drift: Drift::default(),
        }
    }

    /// What the read of a row takes that takes `read` on average: the drive's read of this `number`, when so
    /// many blocks were erased.
    #[inline(always)]
    pub(crate) fn read(&self, read: Nanos, row: Option<u32>, number: u64, erased: u64) -> Nanos {
        let bits = scramble(self.seed ^ number);
        let kind = row.map_or(0, |row| self.kinds[self.by_kinds.divide(row).1 as usize]);
        let varied = Factor(i64::from(kind) + self.read.of(bits) + self.drift.reads).of(read);
        let retries = self.retries + (self.retries_worn.saturating_mul(erased) >> 16);
        let chance = bits.wrapping_mul(RETRY);
        if chance >> 32 < retries {
            let again = 1 + u64::from((chance as u32 | 1 << 31).trailing_zeros()).min(7);
            return Nanos(varied.0 * (1 + again));
        }
        varied
    }

    /// What the program of this `number` takes that takes `program` on average.
    #[inline(always)]
    pub(crate) fn program(&self, program: Nanos, number: u64) -> Nanos {
        let bits = scramble(self.seed ^ PROGRAMS ^ number);
        Factor(self.program.of(bits) + self.drift.writes).of(program)
    }

    /// By how much a die takes longer for what it erases and moves before the program of this `number`.
    #[inline(always)]
    pub(crate) fn collection(&self, number: u64) -> Factor {
        let bits = scramble(self.seed ^ COLLECTIONS ^ number);
        Factor(self.collection.of(bits) + self.drift.writes)
    }

    /// How long the read of this `number` waits for a suspension that takes `wait` on average, a second at most.
    #[inline(always)]
    pub(crate) fn suspension(&self, wait: Nanos, number: u64) -> Nanos {
        let own = (wait.0 * self.suspension) >> 20;
        let bits = scramble(self.seed ^ SUSPENSIONS ^ number);
        Nanos(wait.0 - own + ((own * exponential(bits)) >> 20))
    }

    /// Sets the slow part.
    pub(crate) fn drifts(&mut self, drift: Drift) {
        self.drift = drift;
    }

    /// Whether a loaded one is one that `made`, which is new, could have become.
    pub(crate) fn fits(&self, made: &FlashVariation) -> bool {
        self.drift.is_sane() && *self == FlashVariation { drift: self.drift, ..made.clone() }
    }
}

/// What keeps numbers of one purpose apart from those of another.
const RETRY: u64 = 0xd6e8_feb8_6659_fd93;
const STALLS: u64 = 1 << 61;
const SUSPENSIONS: u64 = 1 << 60;
const PROGRAMS: u64 = 1 << 62;
const COLLECTIONS: u64 = 2 << 62;
const HOSTS: u64 = 3 << 62;
const TICKS: u64 = 3 << 61;
const DRIFTS: u64 = 5 << 61;
const WRITE_DRIFTS: u64 = 7 << 61;
const RUNS: u64 = 1 << 59;

/// More than any drift: 8.5 standard deviations of 0.05.
const MOST_DRIFT: i64 = ONE / 2;

/// How the times of the host and of the firmware vary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct CommandVariation {
    seed: u64,
    /// In parts of 2^20.
    host_share: u64,
    host_delays: u64,
    host_delay: Nanos,
    tick_every: Nanos,
    tick: Nanos,
    drift: Spread,
    /// Of writes, where they have their own.
    write_drift: Option<Spread>,
    /// Which run this is; not part of a state, as whoever goes on from one begins another.
    #[serde(skip)]
    run: Run,
    /// Commands so far.
    commands: u64,
    /// The next tick, by its number and when it is.
    ticks: u64,
    next_tick: Nanos,
    /// When the slow part changes, and what it is now.
    steady_until: Nanos,
    slow: Drift,
}

/// Which run of a drive this is: 0 is the one that its profile's seed gives, as long as its mean on average.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Run(u64);

impl Run {
    /// What its random numbers are told from those of other runs by.
    fn bits(self) -> u64 {
        if self.0 == 0 { 0 } else { scramble(self.0) }
    }

    /// By how much all of it is longer or shorter: what changes over hours and days has as much of a part as
    /// what changes within seconds.
    fn of(self, spread: Spread, seed: u64) -> i64 {
        if self.0 == 0 { 0 } else { spread.of(scramble(seed ^ RUNS)) }
    }
}

/// For so long the slow part is the same: 2^27 ns, 134 ms.
const STEADY_BITS: u32 = 27;

/// Terms of the slow part; each is constant for twice as long as the one before.
const OCTAVES: u32 = 6;

/// One over the square root of [`OCTAVES`], in parts of 2^16.
const NORM: i64 = 26_755;

impl CommandVariation {
    pub(crate) fn new(section: &VariationSection) -> CommandVariation {
        let ticks = section.tick_ms > 0.0 && section.tick_us > 0.0;
        let tick_every =
            if ticks { Nanos::from_micros(section.tick_ms * 1000.0) } else { Nanos::MAX };
        let mut made = CommandVariation {
            seed: u64::from(section.seed) << 32,
            host_share: (section.host_spread * ONE as f64).round() as u64,
            host_delays: threshold(section.host_delays_per_million),
            host_delay: Nanos::from_micros(section.host_delay_us),
            tick_every,
            tick: Nanos::from_micros(section.tick_us),
            drift: Spread::new(section.drift),
            write_drift: section.write_drift.map(Spread::new),
            run: Run::default(),
            commands: 0,
            ticks: 0,
            next_tick: Nanos::MAX,
            steady_until: Nanos::ZERO,
            slow: Drift::default(),
        };
        if ticks {
            made.next_tick = made.tick_at(0);
        }
        made
    }

    /// Whether something of the drive's own is due before a command that arrives now.
    #[inline(always)]
    pub(crate) fn is_due(&self, arrives: Nanos) -> bool {
        arrives >= self.steady_until.min(self.next_tick)
    }

    /// Ticks that were due: when the last of them began and how long the firmware takes. Those before it are
    /// over. Drift that changed comes beside it.
    pub(crate) fn at(&mut self, arrives: Nanos) -> (Option<(Nanos, Nanos)>, Drift) {
        if arrives >= self.steady_until {
            self.slow = self.slow_at(arrives);
            self.steady_until = Nanos(((arrives.0 >> STEADY_BITS) + 1) << STEADY_BITS);
        }
        let mut tick = None;
        // A pause of hours is not counted through.
        if arrives > self.next_tick && (arrives - self.next_tick).0 / self.tick_every.0 > 2 {
            self.ticks = (arrives.0 / self.tick_every.0).saturating_sub(1);
            self.next_tick = self.tick_at(self.ticks);
        }
        while arrives >= self.next_tick {
            let bits = scramble(self.seed ^ TICKS ^ (self.ticks << 1));
            let takes =
                self.tick.0 / 2 + ((u128::from(self.tick.0) * u128::from(bits)) >> 64) as u64;
            tick = Some((self.next_tick, Nanos(takes)));
            self.ticks += 1;
            self.next_tick = self.tick_at(self.ticks);
        }
        (tick, self.slow)
    }

    /// When the tick of this number is: somewhere in its own interval's first half.
    fn tick_at(&self, number: u64) -> Nanos {
        let bits = scramble(self.seed ^ TICKS ^ (number << 1 | 1));
        let offset = ((u128::from(self.tick_every.0 / 2) * u128::from(bits)) >> 64) as u64;
        Nanos(number.saturating_mul(self.tick_every.0).saturating_add(offset))
    }

    /// From now on the slow part is that of this run: another course, and longer or shorter all the time.
    pub(crate) fn begin(&mut self, run: u64) {
        self.run = Run(run);
        self.steady_until = Nanos::ZERO;
    }

    /// The slow part as it is now.
    pub(crate) fn slow(&self) -> Drift {
        self.slow
    }

    fn slow_at(&self, now: Nanos) -> Drift {
        let of = |spread: Spread, purpose: u64| {
            let seed = self.seed ^ purpose ^ self.run.bits();
            let part = |octave: u32| {
                let step = now.0 >> (STEADY_BITS + octave);
                spread.of(scramble(seed ^ u64::from(octave) << 56 ^ step))
            };
            let course = ((0..OCTAVES).map(part).sum::<i64>() * NORM) >> 16;
            (course + self.run.of(spread, seed)).clamp(-MOST_DRIFT, MOST_DRIFT)
        };
        let reads = of(self.drift, DRIFTS);
        Drift { reads, writes: self.write_drift.map_or(reads, |own| of(own, WRITE_DRIFTS)) }
    }

    /// When the host notices what comes back at `at`, of the next command, for which it takes `host` in all.
    #[inline(always)]
    pub(crate) fn noticed(&mut self, at: Nanos, host: Nanos) -> Nanos {
        let bits = scramble(self.seed ^ HOSTS ^ self.commands);
        self.commands += 1;
        let share = (host.0 * self.host_share) >> 20;
        let fixed = Factor(self.slow.reads).of(host).0.saturating_sub(host.0 / 2);
        let own = (share * exponential(bits)) >> 20;
        let mut at = at.0 + fixed.saturating_sub(share) + own;
        let chance = bits.wrapping_mul(RETRY);
        if chance >> 32 < self.host_delays {
            let fifth = self.host_delay.0 / 5;
            at += 4 * fifth + ((fifth * exponential(chance << 32)) >> 20);
        }
        Nanos(at)
    }

    /// Whether a loaded one is one that `made`, which is new, could have become.
    pub(crate) fn fits(&self, made: &CommandVariation) -> bool {
        let expected = CommandVariation {
            commands: self.commands,
            ticks: self.ticks,
            next_tick: self.next_tick,
            steady_until: self.steady_until,
            slow: self.slow,
            ..made.clone()
        };
        // A tick is never far behind, or the next would be counted up to for ever.
        *self == expected
            && self.commands <= MOST_MOVED
            && self.steady_until <= Nanos(LATEST.0 * 2)
            && self.slow.is_sane()
            && self.next_tick
                == if made.next_tick == Nanos::MAX { Nanos::MAX } else { self.tick_at(self.ticks) }
    }
}
