//! A plain model of what the two drives hold: every write is a version, and no read may return an old one.

use std::collections::BTreeMap;

use fourcorners_drive::{
    Clock, Done, Fault, FaultCause, Geometry, Io, Lba, Nanos, Op, Tag, Target,
};

use super::config::{CacheConfig, CacheMode, DISK, Replacement, SSD};
use super::plan::Part;
use super::target::Cache;
use crate::layer::LAYER;

/// What a cache did, in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Asked { tag: Tag, io: Io },
    Started { job: u32, host: Option<Tag> },
    Issued { job: u32, part: Part },
    Answered { job: u32, member: usize, io: Io, failed: bool },
    Done { job: u32, tag: Tag, failed: bool },
}

/// A drive whose times have no order, and which fails writes from a number of I/Os on, or some of its reads.
struct Uneven {
    sectors: u64,
    now: Nanos,
    flying: Vec<(Nanos, u64, Tag, Io)>,
    count: u64,
    slowest_us: u64,
    writes_fail_from: u64,
    every_read_fails: u64,
}

fn uneven(sectors: u64, slowest_us: u64) -> Uneven {
    let (now, never) = (Nanos::ZERO, u64::MAX);
    let flying = Vec::new();
    let (writes_fail_from, every_read_fails) = (never, never);
    Uneven { sectors, now, flying, count: 0, slowest_us, writes_fail_from, every_read_fails }
}

fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (number ^ (number >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}

impl Target for Uneven {
    const CLOCK: Clock = Clock::Virtual;
    fn geometry(&self) -> Geometry {
        Geometry { sectors: self.sectors, logical_block_bytes: 512, queue_depth: 5 }
    }
    fn now(&self) -> Nanos {
        self.now
    }
    fn submit(&mut self, tag: Tag, io: Io) {
        assert_eq!(self.geometry().refuses(io), None, "{io:?}");
        self.count += 1;
        let takes = Nanos(1000 * (1 + mixed(self.count * 7 + self.slowest_us) % self.slowest_us));
        self.flying.push((self.now + takes, self.count, tag, io));
    }
    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        let first = (0..self.flying.len()).min_by_key(|&at| (self.flying[at].0, self.flying[at].1));
        let Some(first) = first.filter(|&at| self.flying[at].0 <= until) else {
            if until != Nanos::MAX {
                self.now = self.now.max(until);
            }
            return Ok(None);
        };
        let (at, number, tag, io) = self.flying.remove(first);
        self.now = self.now.max(at);
        let fails = match io.op {
            Op::Write => number >= self.writes_fail_from,
            Op::Read => number % self.every_read_fails == 0,
            Op::Trim | Op::Flush => false,
        };
        let cause = FaultCause::WornOut;
        if fails { Err(Fault { tag, io, at, cause }) } else { Ok(Some(Done { tag, at })) }
    }
    fn due(&mut self) -> Option<Nanos> {
        self.flying.iter().map(|it| it.0).min()
    }
}

/// Nobody knows what is there: a write is under way or has failed, or it was trimmed.
const UNKNOWN: u64 = u64::MAX;

/// Something the host wrote or trimmed: when it was asked and when it was done, by the number of the event.
#[derive(Clone, Copy)]
struct Version {
    number: u64,
    asked: usize,
    done: usize,
}

#[derive(Default)]
struct Model {
    /// What each sector of each drive holds.
    media: [Vec<u64>; 2],
    history: Vec<Vec<Version>>,
    /// By tag: the I/O, the number of its event, and its version.
    asked: BTreeMap<u32, (Io, usize, u64)>,
    hosts: BTreeMap<u32, Option<Tag>>,
    /// By job: what it has read, by the sector of the disk.
    read: BTreeMap<u32, BTreeMap<u64, u64>>,
    parts: BTreeMap<u32, Vec<(Part, Vec<u64>)>>,
    versions: u64,
    stale: u64,
    checked: u64,
}

impl Model {
    fn new(ssd: u64, disk: u64) -> Model {
        let first = Version { number: 0, asked: 0, done: 0 };
        Model {
            media: [vec![UNKNOWN; ssd as usize], vec![0; disk as usize]],
            history: vec![vec![first]; disk as usize],
            ..Model::default()
        }
    }

    fn see(&mut self, number: usize, event: Event) {
        match event {
            Event::Asked { tag, io } => {
                self.versions += 1;
                let version = if io.op == Op::Trim { UNKNOWN } else { self.versions };
                self.asked.insert(tag.0, (io, number, version));
                if matches!(io.op, Op::Write | Op::Trim) {
                    let version = Version { number: version, asked: number, done: usize::MAX };
                    for sector in io.lba.0..io.end() {
                        self.history[sector as usize].push(version);
                    }
                }
            }
            Event::Started { job, host } => {
                self.hosts.insert(job, host);
                self.read.insert(job, BTreeMap::new());
                self.parts.insert(job, Vec::new());
            }
            Event::Issued { job, part } => {
                let media = &mut self.media[part.member];
                let sectors = part.io.lba.0 as usize..part.io.end() as usize;
                let before = media[sectors.clone()].to_vec();
                let data = match part.io.op {
                    Op::Write => {
                        media[sectors].fill(UNKNOWN);
                        self.data(job, part)
                    }
                    _ => before,
                };
                self.parts.get_mut(&job).expect("it was started").push((part, data));
            }
            Event::Answered { job, member, io, failed } => {
                let parts = self.parts.get_mut(&job).expect("it was started");
                let at = parts.iter().position(|(it, _)| it.member == member && it.io == io);
                let (part, data) = parts.remove(at.expect("it was issued"));
                let sectors = part.io.lba.0 as usize..part.io.end() as usize;
                match io.op {
                    Op::Write if !failed => self.media[member][sectors].copy_from_slice(&data),
                    Op::Read if !failed => {
                        let now = &self.media[member][sectors];
                        let seen = now.iter().zip(&data);
                        // What changes meanwhile is not known to be read.
                        let seen = seen.map(|(now, then)| if now == then { *now } else { UNKNOWN });
                        let read = self.read.get_mut(&job).expect("it was started");
                        read.extend((part.home..).zip(seen));
                    }
                    Op::Trim => self.media[member][sectors].fill(UNKNOWN),
                    _ => {}
                }
            }
            Event::Done { job, tag, failed } => self.done(number, job, tag, failed),
        }
    }

    /// What a part writes: the host's data, or what its job has read.
    fn data(&self, job: u32, part: Part) -> Vec<u64> {
        let host = self.hosts[&job].map(|tag| self.asked[&tag.0]);
        let of_host = host.filter(|(io, ..)| io.op == Op::Write).map(|(.., version)| version);
        let read = &self.read[&job];
        let sectors = part.home..part.home + u64::from(part.io.sectors);
        sectors.map(|sector| of_host.unwrap_or_else(|| read[&sector])).collect()
    }

    fn done(&mut self, number: usize, job: u32, tag: Tag, failed: bool) {
        let (io, asked, version) = self.asked[&tag.0];
        for sector in io.lba.0..io.end() {
            match io.op {
                Op::Read if !failed => {
                    self.checked += 1;
                    let seen = self.read[&job][&sector];
                    let is_good = self.is_good(sector, seen, asked);
                    self.stale += u64::from(!is_good);
                }
                Op::Write | Op::Trim => {
                    let history = &mut self.history[sector as usize];
                    let of = |it: &&mut Version| it.number == version && it.asked == asked;
                    let own = history.iter_mut().find(of).expect("it was asked");
                    own.done = number;
                    if failed {
                        own.number = UNKNOWN;
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a read that was asked then may see this: it was not overwritten before.
    fn is_good(&self, sector: u64, seen: u64, asked: usize) -> bool {
        let history = &self.history[sector as usize];
        let may = |it: &&Version| {
            !history.iter().any(|other| other.asked > it.done && other.done < asked)
        };
        history.iter().filter(may).any(|it| it.number == seen || it.number == UNKNOWN)
    }
}

/// Sectors of the two drives.
const SSD_SECTORS: u64 = 1024;
const DISK_SECTORS: u64 = 8192 + 3;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 += 1;
        mixed(self.0) % bound
    }
}

fn random_io(random: &mut Random, last: &mut u64) -> Io {
    let sectors = match random.below(4) {
        0 => 1 + random.below(40),
        _ => 8 * (1 + random.below(6)),
    };
    let hot = if random.below(3) == 0 { DISK_SECTORS } else { 1200 };
    let at = random.below(hot);
    let at = match random.below(8) {
        0 => at,
        1..3 => *last,
        _ => at / 8 * 8,
    };
    let lba = Lba(at.min(DISK_SECTORS - sectors));
    *last = lba.0 + sectors;
    match random.below(20) {
        0 => Io::trim(lba, sectors as u32),
        1 => Io::FLUSH,
        2..10 => Io::write(lba, sectors as u32),
        _ => Io::read(lba, sectors as u32),
    }
}

/// Random I/Os; the model, the counts' evictions and written back bytes, and how many I/Os failed.
fn play(seed: u64, change: impl Fn(&mut Cache<Uneven>)) -> (Model, [u64; 3]) {
    let mut random = Random(seed * 1_000_003);
    let config = CacheConfig {
        mode: CacheMode::ALL[(seed % 3) as usize],
        replacement: Replacement::ALL[(seed / 3 % 2) as usize],
        block_bytes: [4096, 65_536, 16_384][(seed / 6 % 3) as usize],
        dirty_share: [1.0, 0.4, 0.05][(seed / 18 % 3) as usize],
        bypass_bytes: [0, 64 << 10][(seed / 5 % 2) as usize],
        ..CacheConfig::default()
    };
    let mut cache =
        Cache::new(&config, uneven(SSD_SECTORS, 40), uneven(DISK_SECTORS, 900)).expect("it is one");
    change(&mut cache);
    let mut free: Vec<u32> = (0..8).collect();
    let (mut failed, mut last) = (0, 0);
    for _ in 0..1500 {
        while free.len() as u64 > random.below(8)
            && let Some(tag) = free.pop()
        {
            cache.submit(Tag(tag), random_io(&mut random, &mut last));
        }
        match cache.reap(Nanos::MAX) {
            Ok(done) => free.extend(done.map(|done| done.tag.0)),
            Err(fault) => {
                failed += 1;
                free.push(fault.tag.0);
            }
        }
        assert!(cache.slots.dirty_slots() <= cache.most_dirty());
    }
    while free.len() < 8 {
        let tag = cache.reap(Nanos::MAX).map(|done| done.expect("one is in flight").tag);
        failed += u64::from(tag.is_err());
        free.push(tag.unwrap_or_else(|fault| fault.tag).0);
    }
    cache.clean();
    let mut model = Model::new(SSD_SECTORS, DISK_SECTORS);
    for (number, event) in cache.events.iter().enumerate() {
        model.see(number + 1, *event);
    }
    let counts = cache.counts();
    if counts.dirty_bytes == 0 {
        // The disk has all of it now.
        for sector in 0..DISK_SECTORS {
            let seen = model.media[DISK][sector as usize];
            model.stale += u64::from(!model.is_good(sector, seen, usize::MAX - 1));
        }
    }
    (model, [counts.evictions, counts.written_back_bytes, failed])
}

#[test]
fn no_read_returns_what_was_overwritten_whatever_the_mode() {
    let mut all = [0; 3];
    let mut checked = 0;
    for seed in 0..108 {
        let (model, counts) = play(seed, |_| {});
        assert_eq!((model.stale, counts[2]), (0, 0), "seed {seed}");
        checked += model.checked;
        all = [0, 1, 2].map(|at| all[at] + counts[at]);
    }
    assert!(checked > 500_000 && all[0] > 10_000 && all[1] > 10_000_000, "{checked} {all:?}");
}

#[test]
fn nor_when_the_ssd_fails_writes_or_reads() {
    let mut failed = 0;
    for seed in 0..54 {
        let (model, counts) = play(seed, |cache| {
            let [ssd, _] = cache.members_mut();
            match seed % 2 {
                0 => ssd.writes_fail_from = 200,
                _ => ssd.every_read_fails = 17,
            }
        });
        assert_eq!(model.stale, 0, "seed {seed}");
        failed += counts[2];
    }
    // What was newer there is lost, and said to be.
    assert!(failed > 0);
}

#[test]
fn nor_when_the_disk_fails_writes_and_that_is_said() {
    for seed in 0..54 {
        let (model, counts) = play(seed, |cache| {
            let [_, disk] = cache.members_mut();
            disk.writes_fail_from = 300;
        });
        assert_eq!(model.stale, 0, "seed {seed}");
        assert!(counts[2] > 0 || seed % 3 == 2, "seed {seed}");
    }
}

#[test]
fn a_cache_in_which_nobody_waits_for_anybody_is_caught() {
    let stale = |seed| play(seed, |cache| cache.is_unlocked = true).0.stale;
    assert!((0..6).map(stale).sum::<u64>() > 100);
}

#[test]
fn a_flush_goes_where_something_was_written() {
    let flushed = |mode, op: Op| {
        let config = CacheConfig { mode, ..CacheConfig::default() };
        let (ssd, disk) = (uneven(SSD_SECTORS, 40), uneven(DISK_SECTORS, 900));
        let mut cache = Cache::new(&config, ssd, disk).expect("it is one");
        let mut of_each = [0, 0];
        for io in [Io { op, ..Io::write(Lba(0), 8) }, Io::FLUSH, Io::FLUSH] {
            cache.submit(Tag(0), io);
            cache.reap(Nanos::MAX).expect("no fault");
        }
        for event in &cache.events {
            if let Event::Issued { part, .. } = event
                && part.io.op == Op::Flush
            {
                of_each[part.member] += 1;
            }
        }
        [of_each[SSD], of_each[DISK]]
    };
    assert_eq!(flushed(CacheMode::WriteBack, Op::Write), [1, 0]);
    assert_eq!(flushed(CacheMode::WriteThrough, Op::Write), [0, 1]);
    assert_eq!(flushed(CacheMode::ReadOnly, Op::Write), [0, 1]);
    assert_eq!(flushed(CacheMode::WriteBack, Op::Read), [0, 0], "copies need not survive");
    // A flush that is under way may have come too early for the next: that one waits for the drive as well.
    let (ssd, disk) = (uneven(SSD_SECTORS, 40), uneven(DISK_SECTORS, 900));
    let mut cache = Cache::new(&CacheConfig::default(), ssd, disk).expect("it is one");
    let mut done = |ios: &[Io]| {
        for (tag, io) in (0..).zip(ios) {
            cache.submit(Tag(tag), *io);
        }
        let began = cache.now();
        let one = |_: &Io| cache.reap(Nanos::MAX).expect("no fault").expect("it ends").at - began;
        ios.iter().map(one).min().expect("some")
    };
    done(&[Io::write(Lba(0), 8)]);
    assert!(done(&[Io::FLUSH, Io::FLUSH]) > LAYER);
    assert_eq!(done(&[Io::FLUSH]), LAYER, "nothing was written since");
}
