//! What holds of a cache: how often it hits, what it keeps out, and what write-back gains.

use crate::common::Random;
use fourcorners_array::{Cache, CacheConfig, CacheCounts, CacheMode, Replacement};
use fourcorners_catalogue::{Model, built_in};
use fourcorners_drive::{
    Clock, Done, Fault, FaultCause, Geometry, Hdd, Io, Lba, Nanos, Null, Op, Ssd, Tag, Target,
};
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{Measured, Unobserved, run};

const US: u64 = 1000;
/// Sectors of a block of 4 KiB.
const BLOCK: u64 = 8;

fn config(set: impl Fn(&mut CacheConfig)) -> CacheConfig {
    let mut config = CacheConfig { block_bytes: 4096, ..CacheConfig::default() };
    set(&mut config);
    config
}

/// So many blocks of 4 KiB on an SSD of 100 µs before a disk of 10 ms.
fn nulls(slots: u64, set: impl Fn(&mut CacheConfig)) -> Cache<Null> {
    let (ssd, disk) = (Nanos(100 * US), Nanos(10_000 * US));
    let (ssd, disk) = (Null::new(slots * BLOCK, ssd), Null::new(1 << 24, disk));
    Cache::new(&config(set), ssd, disk).expect("it is one")
}

/// Popularity by rank: the number k has a share of k^-alpha.
struct Zipf {
    share: Vec<f64>,
    up_to: Vec<f64>,
}

impl Zipf {
    fn new(alpha: f64, count: usize) -> Zipf {
        let weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-alpha)).collect();
        let sum: f64 = weights.iter().sum();
        let share: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        let up_to = share.iter().scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        Zipf { up_to: up_to.collect(), share }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        let share = random.share();
        let rank = self.up_to.partition_point(|&up_to| up_to < share).min(self.share.len() - 1);
        // Neighbours in rank are none on the disk.
        (rank as u64 * 7919) % self.share.len() as u64
    }

    /// Hit ratio of LRU with room for so many: each is there if it came in the last T requests, with T such that all
    /// have room together (Che, Tung and Wang, "Hierarchical Web caching systems", IEEE JSAC 20(7), 2002).
    fn che(&self, room: usize) -> f64 {
        let there = |share: f64, time: f64| -(-share * time).exp_m1();
        let held = |time: f64| self.share.iter().map(|&share| there(share, time)).sum::<f64>();
        let (mut low, mut high) = (0.0, 1e12);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            match held(middle) < room as f64 {
                true => low = middle,
                false => high = middle,
            }
        }
        self.share.iter().map(|&share| share * there(share, low)).sum()
    }
}

fn one(cache: &mut Cache<impl Target>, io: Io) -> Nanos {
    let began = cache.now();
    cache.submit(Tag(0), io);
    cache.reap(Nanos::MAX).expect("no fault").expect("it ends").at - began
}

/// Hit ratio of the second half of the blocks that `next` says are read.
fn hit_ratio(cache: &mut Cache<Null>, reads: u64, mut next: impl FnMut(u64) -> u64) -> f64 {
    let mut half = CacheCounts::default();
    for at in 0..reads {
        if at == reads / 2 {
            half = cache.counts();
        }
        one(cache, Io::read(Lba(next(at) * BLOCK), BLOCK as u32));
    }
    let counts = cache.counts();
    (counts.read_hits - half.read_hits) as f64 / (counts.reads - half.reads) as f64
}

#[test]
fn lru_hits_as_often_as_ches_approximation_says() {
    for (alpha, room) in [(0.6, 2000), (0.8, 500), (0.8, 2000), (0.8, 8000), (1.0, 2000)] {
        let zipf = Zipf::new(alpha, 20_000);
        let mut random = Random(1);
        let mut cache = nulls(room as u64, |_| {});
        let hit = hit_ratio(&mut cache, 400_000, |_| zipf.draw(&mut random));
        let said = zipf.che(room);
        assert!((hit / said - 1.0).abs() < 0.02, "{alpha} {room}: {hit}, not {said}");
    }
    // Requests that depend on each other: a loop that is longer than the cache is never there.
    let even = Zipf::new(0.0, 3000);
    let mut cache = nulls(2000, |config| config.bypass_bytes = 0);
    assert!(even.che(2000) > 0.6);
    assert!(hit_ratio(&mut cache, 30_000, |at| at % 3000) < 1e-9);
}

#[test]
fn two_queues_keep_what_is_used_again_through_a_scan_and_gain_little_without() {
    let zipf = Zipf::new(0.9, 20_000);
    let ratio = |replacement, scan: bool| {
        let mut cache = nulls(1000, |config| {
            (config.replacement, config.bypass_bytes) = (replacement, 0);
        });
        let mut random = Random(1);
        let (mut zipfs, mut hits) = (0, 0);
        for at in 0..300_000 {
            if scan && at % 2 == 0 {
                one(&mut cache, Io::read(Lba((30_000 + at / 2) * BLOCK), BLOCK as u32));
                continue;
            }
            let before = cache.counts().read_hits;
            one(&mut cache, Io::read(Lba(zipf.draw(&mut random) * BLOCK), BLOCK as u32));
            if at > 150_000 {
                (zipfs, hits) = (zipfs + 1, hits + cache.counts().read_hits - before);
            }
        }
        hits as f64 / f64::from(zipfs)
    };
    let gain = |scan| ratio(Replacement::TwoQ, scan) / ratio(Replacement::Lru, scan);
    assert!(gain(true) > 1.15, "{}", gain(true));
    // A working set that fits needs no choice: where nothing is scanned and nothing leaves, both are alike.
    let fits = Zipf::new(0.9, 600);
    let of = |replacement| {
        let mut cache = nulls(1000, |config| config.replacement = replacement);
        let mut random = Random(1);
        hit_ratio(&mut cache, 40_000, |_| fits.draw(&mut random))
    };
    assert!((of(Replacement::TwoQ) - of(Replacement::Lru)).abs() < 1e-9);
    assert!(gain(false) < gain(true) - 0.05, "{} without", gain(false));
}

fn ssd() -> Ssd {
    let Model::Ssd(config) = built_in("crucial-m4-64gb", &[]).expect("it is there").model else {
        panic!("an SSD")
    };
    Ssd::new(&config).expect("it was checked")
}

fn disk() -> Hdd {
    let Model::Hdd(config) = built_in("wd-velociraptor-300gb", &[]).expect("it is there").model
    else {
        panic!("a disk")
    };
    Hdd::new(&config).expect("it was checked")
}

/// One of the two, so that a cache can have both.
enum Either {
    Ssd(Box<Ssd>),
    Disk(Box<Hdd>),
}

macro_rules! either {
    ($self:ident, $drive:ident => $what:expr) => {
        match $self {
            Either::Ssd($drive) => $what,
            Either::Disk($drive) => $what,
        }
    };
}

impl Target for Either {
    const CLOCK: Clock = Clock::Virtual;
    fn geometry(&self) -> Geometry {
        either!(self, drive => drive.geometry())
    }
    fn now(&self) -> Nanos {
        either!(self, drive => drive.now())
    }
    fn submit(&mut self, tag: Tag, io: Io) {
        either!(self, drive => drive.submit(tag, io));
    }
    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        either!(self, drive => drive.reap(until))
    }
    fn due(&mut self) -> Option<Nanos> {
        either!(self, drive => drive.due())
    }
    fn energy_j(&self, at: Nanos) -> Option<f64> {
        either!(self, drive => drive.energy_j(at))
    }
}

fn cached(set: impl Fn(&mut CacheConfig)) -> Cache<Either> {
    let mut config = CacheConfig::default();
    set(&mut config);
    let (ssd, disk) = (Either::Ssd(Box::new(ssd())), Either::Disk(Box::new(disk())));
    Cache::new(&config, ssd, disk).expect("it is one")
}

fn job(pattern: Pattern, read_percent: u8, block_bytes: u32, span_bytes: u64) -> Job {
    Job {
        pattern,
        read_percent,
        block_bytes,
        queue_depth: 4,
        span_start_bytes: 0,
        span_bytes,
        data: Data::Incompressible,
        until: Until::Seconds(20),
        seed: 7,
        fua: false,
        flush: false,
        jobs: 1,
    }
}

fn measure(target: &mut impl Target, job: &Job) -> Measured {
    run(target, job, &mut Unobserved)
}

fn iops(measured: &Measured) -> f64 {
    (measured.reads + measured.writes) as f64 / measured.elapsed.as_secs()
}

#[test]
fn write_back_makes_random_writes_as_quick_as_the_ssd_and_write_through_as_the_disk() {
    let writes = job(Pattern::Random, 0, 4096, 4 << 30);
    let alone = iops(&measure(&mut disk(), &writes));
    let of = |mode| {
        let mut cache = cached(|config| config.mode = mode);
        let iops = iops(&measure(&mut cache, &writes));
        (iops, cache.counts())
    };
    let (through, counts) = of(CacheMode::WriteThrough);
    assert!((through / alone - 1.0).abs() < 0.05, "{through}, not {alone}");
    assert_eq!((counts.dirty_bytes, counts.written_back_bytes), (0, 0));
    let (back, counts) = of(CacheMode::WriteBack);
    assert!(back > 20.0 * through, "{back} against {through}");
    assert!(counts.dirty_bytes > 1 << 30, "{counts:?}");
    let (read_only, counts) = of(CacheMode::ReadOnly);
    assert!((read_only / alone - 1.0).abs() < 0.05, "{read_only}, not {alone}");
    assert_eq!(counts.ssd.written, 0);
}

#[test]
fn no_more_is_newer_than_the_limit_and_what_is_more_than_a_quarter_of_it_is_written_back() {
    let most = |share: f64| {
        let mut cache = nulls(1000, |config| {
            (config.mode, config.dirty_share) = (CacheMode::WriteBack, share);
        });
        let mut random = Random(3);
        let mut most = 0;
        for _ in 0..3000 {
            let block = (random.share() * 100_000.0) as u64;
            one(&mut cache, Io::write(Lba(block * BLOCK), BLOCK as u32));
            most = most.max(cache.counts().dirty_bytes / 4096);
        }
        (most, cache)
    };
    let (dirty, mut cache) = most(0.2);
    assert!((150..=200).contains(&dirty), "{dirty}");
    assert!(cache.counts().written_back_bytes > 0);
    // With less to do it comes to a quarter of the limit, and after a second without work to nothing.
    let began = cache.now();
    assert_eq!(cache.reap(began + Nanos(900_000 * US)).expect("no fault"), None);
    assert_eq!(cache.counts().dirty_bytes / 4096, 50);
    assert_eq!(cache.reap(began + Nanos::from_secs(3)).expect("no fault"), None);
    assert_eq!(cache.counts().dirty_bytes, 0);
    assert!(most(0.8).0 > 500, "another limit, another share");
    assert_eq!(most(0.0).0, 0, "none at all");
}

/// Writes 4 KiB at random places of a cache of 1000 blocks of 64 KiB until that many were written; most blocks' worth of
/// 4 KiB that were newer on the SSD at a time, and what was counted until the first write went past the cache.
fn most_newer(share: f64, writes: u64) -> (u64, CacheCounts, CacheCounts) {
    let mut cache = nulls(16_000, |config| {
        (config.mode, config.dirty_share) = (CacheMode::WriteBack, share);
        config.block_bytes = 64 << 10;
    });
    let mut random = Random(3);
    let (mut most, mut before) = (0, CacheCounts::default());
    for _ in 0..writes {
        one(&mut cache, Io::write(Lba(random.below(1 << 21) * BLOCK), BLOCK as u32));
        let counts = cache.counts();
        most = most.max(counts.dirty_bytes / 4096);
        if counts.bypassed_bytes == 0 {
            before = counts;
        }
    }
    (most, before, cache.counts())
}

#[test]
fn the_limit_counts_whole_blocks_so_that_small_writes_are_written_back_before_none_can_leave() {
    // Next to no two writes are of one block: as many blocks are newer as units of 4 KiB.
    let (most, before, counts) = most_newer(0.2, 3000);
    assert!((150..=205).contains(&most), "{most}");
    assert!(before.written_back_bytes > 0, "from a quarter of the limit on: {before:?}");
    // What went to the disk since the limit was reached is said.
    let past = counts.disk.written - counts.written_back_bytes;
    assert!(past > 1 << 20 && counts.bypassed_bytes == past, "{counts:?}");
    let (most, _, counts) = most_newer(0.8, 3000);
    assert!((600..=820).contains(&most), "another limit, another share: {most}");
    assert!(counts.bypassed_bytes > 0);
    // Up to the limit nothing goes past.
    let (most, _, counts) = most_newer(0.8, 700);
    assert!(most > 500 && counts.bypassed_bytes == 0, "{most} {counts:?}");
    // Without a limit no slot is left in the end.
    let (most, _, counts) = most_newer(1.0, 8000);
    assert!(most > 950 && counts.bypassed_bytes > 0, "{most} {counts:?}");
}

#[test]
fn what_asks_nothing_of_either_drive_takes_a_time_all_the_same() {
    let mut cache = cached(|_| {});
    // The first finds that the disk takes no TRIM, and nothing is cached.
    for _ in 0..3 {
        assert_eq!(one(&mut cache, Io::trim(Lba(0), 128)), Nanos(US));
    }
    assert_eq!(one(&mut cache, Io::FLUSH), Nanos(US), "nothing was written");
    // What is cached is trimmed on the SSD, in the SSD's time.
    one(&mut cache, Io::read(Lba(0), 128));
    let end = cache.now() + Nanos(100_000 * US);
    assert_eq!(cache.reap(end).expect("no fault"), None);
    assert!(one(&mut cache, Io::trim(Lba(0), 128)) > Nanos(2 * US));
    // A disk that takes one is asked, and nothing is added.
    let mut both = nulls(100, |_| {});
    assert_eq!(one(&mut both, Io::trim(Lba(0), 128)), Nanos(10_000 * US));
    both.submit(Tag(0), Io::FLUSH);
    assert_eq!(both.due(), Some(both.now() + Nanos(US)));
}

#[test]
fn a_long_sequence_goes_past_the_cache_and_not_where_that_is_off() {
    let filled = |bypass_bytes| {
        let mut cache = cached(|config| config.bypass_bytes = bypass_bytes);
        let stream = job(Pattern::Sequential, 100, 131_072, 64 << 30);
        measure(&mut cache, &stream);
        let counts = cache.counts();
        (counts.filled_bytes, counts.bypassed_bytes, counts.ssd.written)
    };
    let (filled_bytes, bypassed, written) = filled(4 << 20);
    assert!(filled_bytes < 4 << 20 && written == filled_bytes && bypassed > 1 << 30, "{bypassed}");
    let (filled_bytes, bypassed, written) = filled(0);
    assert!(filled_bytes > 1 << 30 && written == filled_bytes && bypassed == 0, "{written}");
}

#[test]
fn a_second_reading_is_of_the_ssd_and_a_warm_cache_needs_no_first() {
    let reads = job(Pattern::Random, 100, 4096, 1 << 30);
    let mut direct = ssd();
    measure(
        &mut direct,
        &Job { until: Until::Bytes(1 << 30), ..job(Pattern::Sequential, 0, 131_072, 1 << 30) },
    );
    let of_ssd = iops(&measure(&mut direct, &reads));
    let of_disk = iops(&measure(&mut disk(), &reads));
    let mut cold = cached(|_| {});
    let first = iops(&measure(&mut cold, &reads));
    assert!((first / of_disk - 1.0).abs() < 0.1, "{first}, not {of_disk}");
    let mut warm = cached(|config| config.warm = true);
    let warm = iops(&measure(&mut warm, &reads));
    assert!((warm / of_ssd - 1.0).abs() < 0.05, "{warm}, not {of_ssd}");
    let few =
        Job { until: Until::Bytes(64 << 20), ..job(Pattern::Sequential, 100, 4096, 16 << 20) };
    let mut twice = cached(|config| config.bypass_bytes = 0);
    measure(&mut twice, &few);
    let again = job(Pattern::Random, 100, 4096, 16 << 20);
    assert!(iops(&measure(&mut twice, &again)) > 20.0 * of_disk);
}

#[test]
fn littles_law_holds_and_the_same_is_the_same() {
    for mode in CacheMode::ALL {
        let of = || {
            let mut cache = cached(|config| config.mode = mode);
            let measured = measure(&mut cache, &job(Pattern::Random, 50, 8192, 1 << 30));
            let ios = measured.reads + measured.writes;
            (ios, measured.elapsed, measured.latency.mean(), cache.counts())
        };
        let (ios, elapsed, mean_ns, counts) = of();
        let in_flight = ios as f64 * mean_ns / 1e9 / elapsed.as_secs();
        assert!((in_flight / 4.0 - 1.0).abs() < 0.01, "{mode:?}: {in_flight}");
        assert_eq!(of(), (ios, elapsed, mean_ns, counts), "{mode:?}");
    }
}

#[test]
fn a_trim_empties_the_cache_and_is_no_fault_on_a_disk_that_takes_none() {
    let mut cache = cached(|config| config.bypass_bytes = 0);
    let hit = |cache: &mut Cache<Either>| {
        let before = cache.counts().read_hits;
        one(cache, Io::read(Lba(800), 64));
        // What it brought is written a moment later.
        let end = cache.now() + Nanos(100_000 * US);
        assert_eq!(cache.reap(end).expect("no fault"), None);
        cache.counts().read_hits > before
    };
    assert!(!hit(&mut cache) && hit(&mut cache));
    one(&mut cache, Io::trim(Lba(0), 1 << 20));
    assert!(!hit(&mut cache) && hit(&mut cache));
    let mut refusing = nulls(100, |config| config.trim = false);
    refusing.submit(Tag(0), Io::trim(Lba(0), 8));
    let fault = refusing.reap(Nanos::MAX).expect_err("it takes none");
    assert_eq!((fault.cause, fault.io.op), (FaultCause::Unsupported, Op::Trim));
}

#[test]
fn what_makes_none_says_which_value() {
    let of = |set: &dyn Fn(&mut CacheConfig)| {
        let drives = [1 << 10, 1 << 20].map(|sectors| Null::new(sectors, Nanos(1)));
        let [ssd, disk] = drives;
        Cache::new(&config(set), ssd, disk).err().map(|error| error.to_string())
    };
    let told = |set: &dyn Fn(&mut CacheConfig)| of(set).expect("it is none");
    assert!(told(&|it| it.block_bytes = 12_288).contains("12288"));
    assert!(told(&|it| it.block_bytes = 512 << 10).contains("4k to 256k"));
    assert!(told(&|it| it.dirty_share = 1.2).contains("dirty=120%"));
    assert!(told(&|it| it.dirty_share = f64::NAN).contains("0 to 100"));
    assert_eq!(of(&|_| {}), None);
}
