//! What holds of arrays whatever their drives: rates that add up, times that follow from the members'.

use fourcorners_array::{Array, ArrayConfig, Level};
use fourcorners_catalogue::{Model, built_in};
use fourcorners_drive::{FaultCause, Io, Lba, Nanos, Null, Ssd, Tag, Target};
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{Measured, Unobserved, run};

const US: u64 = 1000;

fn nulls(level: Level, members: usize, set: impl Fn(&mut ArrayConfig)) -> Array<Null> {
    let mut config = ArrayConfig { level, chunk_bytes: 64 << 10, ..ArrayConfig::default() };
    set(&mut config);
    let drives = (0..members).map(|_| Null::new(1 << 20, Nanos(100 * US))).collect();
    Array::new(&config, drives).expect("it is one")
}

fn ssd(seed: u64) -> Ssd {
    let set = [format!("variation.seed={seed}")];
    let profile = built_in("crucial-m4-64gb", &set).expect("it is there");
    let Model::Ssd(config) = profile.model else { panic!("an SSD") };
    Ssd::new(&config).expect("it was checked")
}

fn ssds(level: Level, members: u64) -> Array<Ssd> {
    let config = ArrayConfig { level, ..ArrayConfig::default() };
    Array::new(&config, (0..members).map(ssd).collect()).expect("it is one")
}

fn job(pattern: Pattern, read_percent: u8, block_bytes: u32, queue_depth: u32) -> Job {
    Job {
        pattern,
        read_percent,
        block_bytes,
        queue_depth,
        span_start_bytes: 0,
        span_bytes: 4 << 30,
        data: Data::Incompressible,
        until: Until::Seconds(2),
        seed: 7,
        fua: false,
        flush: false,
        jobs: 1,
    }
}

fn measure(target: &mut impl Target, job: &Job) -> Measured {
    run(target, job, &mut Unobserved)
}

fn ios(measured: &Measured) -> u64 {
    measured.reads + measured.writes
}

fn mb_per_s(measured: &Measured) -> f64 {
    measured.bytes as f64 / 1e6 / measured.elapsed.as_secs()
}

#[test]
fn stripes_of_equal_drives_are_as_many_times_as_fast() {
    let mut one = ssd(0);
    let alone = mb_per_s(&measure(&mut one, &job(Pattern::Sequential, 0, 131_072, 32)));
    for members in [2, 4] {
        // Whole stripes, so many in flight that each member has 32.
        let whole = job(Pattern::Sequential, 0, 131_072 * members, 32);
        let striped = mb_per_s(&measure(&mut ssds(Level::Raid0, members.into()), &whole));
        assert!(
            (striped / alone / f64::from(members) - 1.0).abs() < 0.03,
            "{members}: {striped} of {alone}"
        );
        // One behind the other they are one.
        let behind = mb_per_s(&measure(&mut ssds(Level::Concat, members.into()), &whole));
        assert!((behind / alone - 1.0).abs() < 0.03, "{members}: {behind} of {alone}");
    }
}

#[test]
fn drives_have_nothing_in_flight_when_they_are_settled_amid_a_rebuild() {
    let mut array = nulls(Level::Raid1, 2, |config| {
        (config.failed, config.rebuild_mb_per_s) = (Some(1), Some(1000.0));
    });
    let writes = job(Pattern::Random, 0, 4096, 4);
    let writes = Job { until: Until::Bytes(1 << 20), span_bytes: 256 << 20, ..writes };
    measure(&mut array, &writes);
    let busy = |array: &mut Array<Null>| array.members_mut().any(|drive| drive.due().is_some());
    assert!(!busy(&mut array));
    // It goes on where it was.
    let before = array.counts().rebuilt_bytes;
    array.meet();
    measure(&mut array, &writes);
    assert!(before > 0 && array.counts().rebuilt_bytes > before, "{before}");
}

#[test]
fn mirrors_read_from_both_and_write_to_both() {
    let reads = |members| {
        let mut array = ssds(Level::Raid1, members);
        measure(&mut array, &job(Pattern::Sequential, 0, 131_072, 4));
        mb_per_s(&measure(&mut array, &job(Pattern::Random, 100, 4096, 8)))
    };
    let mut one = ssd(0);
    measure(&mut one, &job(Pattern::Sequential, 0, 131_072, 4));
    let alone = mb_per_s(&measure(&mut one, &job(Pattern::Random, 100, 4096, 4)));
    assert!((reads(2) / alone / 2.0 - 1.0).abs() < 0.05, "{} of {alone}", reads(2));
    let mut array = nulls(Level::Raid1, 3, |_| {});
    array.submit(Tag(0), Io::write(Lba(0), 8));
    assert!(array.reap(Nanos::MAX).expect("no fault").is_some());
    assert_eq!(array.counts().member_ios, 3);
}

#[test]
fn a_small_write_with_parity_waits_for_what_it_reads_and_for_what_it_writes() {
    let mut array = nulls(Level::Raid5, 4, |_| {});
    let time = |array: &mut Array<Null>, io| {
        let began = array.now();
        array.submit(Tag(0), io);
        let done = array.reap(Nanos::MAX).expect("no fault").expect("it ends");
        (done.at - began).0 / US
    };
    assert_eq!(time(&mut array, Io::write(Lba(0), 8)), 200);
    assert_eq!(time(&mut array, Io::read(Lba(0), 8)), 100);
    assert_eq!(array.counts().reads_for_writes, 2);
    // A whole stripe is written at once.
    assert_eq!(time(&mut array, Io::write(Lba(0), 3 * 128)), 100);
    // Two writes of a stripe follow each other; of two stripes they do not.
    let both = |array: &mut Array<Null>, second: u64| {
        let began = array.now();
        array.submit(Tag(0), Io::write(Lba(0), 8));
        array.submit(Tag(1), Io::write(Lba(second), 8));
        let last = [0, 1].map(|_| array.reap(Nanos::MAX).expect("no fault").expect("it ends"))[1];
        (last.at - began).0 / US
    };
    assert_eq!(both(&mut array, 16), 400);
    assert_eq!(both(&mut array, 3 * 128), 200);
}

#[test]
fn a_trim_that_reaches_no_member_takes_a_time_all_the_same() {
    let time = |level, sectors| {
        let mut array = nulls(level, 3, |_| {});
        array.submit(Tag(0), Io::trim(Lba(0), sectors));
        let due = array.due().expect("it is in flight");
        let done = array.reap(Nanos::MAX).expect("no fault").expect("it ends");
        assert_eq!((done.at, array.now()), (due, due));
        (due.0, array.counts().member_ios)
    };
    // A chunk of a stripe of two: its parity forbids a part. Without parity a member is asked, and the layer adds nothing.
    assert_eq!(time(Level::Raid5, 128), (US, 0));
    assert_eq!(time(Level::Raid5, 2 * 128), (100 * US, 3));
    assert_eq!(time(Level::Raid0, 128), (100 * US, 1));
    // Several at once, and beside what a member answers: each in its turn, and no time goes back.
    let mut array = nulls(Level::Raid5, 3, |_| {});
    for (tag, io) in (0..).zip([Io::read(Lba(0), 8), Io::trim(Lba(0), 128), Io::trim(Lba(0), 64)]) {
        array.submit(Tag(tag), io);
    }
    let mut next = || array.reap(Nanos::MAX).expect("no fault").map(|done| (done.tag.0, done.at.0));
    assert_eq!([next(), next(), next()], [Some((1, US)), Some((2, US)), Some((0, 100 * US))]);
    assert_eq!(next(), None);
}

#[test]
fn a_sector_is_where_it_was_written_and_gone_from_there_once_it_is_trimmed() {
    const SPAN: u64 = 16 << 20;
    let shares = |level, members, set: &dyn Fn(&mut ArrayConfig)| {
        let mut config = ArrayConfig { level, ..ArrayConfig::default() };
        set(&mut config);
        let drives = (0..members).map(ssd).collect();
        let mut array = Array::new(&config, drives).expect("it is one");
        let share = |array: &Array<Ssd>, span: u64| {
            let places = (0..span / 512).step_by(8).flat_map(|lba| array.holders(Lba(lba)));
            let mapped: Vec<bool> = places.map(|(ssd, lba)| ssd.is_mapped(lba)).collect();
            let all = mapped.len() as u64 * 4096;
            (mapped.iter().filter(|&&it| it).count() as f64 / mapped.len() as f64, all / span)
        };
        let writes = Job { until: Until::Bytes(SPAN), ..job(Pattern::Sequential, 0, 131_072, 4) };
        measure(&mut array, &writes);
        let written = share(&array, SPAN);
        let half = share(&array, 2 * SPAN);
        array.submit(Tag(0), Io::trim(Lba(0), (SPAN / 512) as u32));
        array.reap(Nanos::MAX).expect("no fault");
        array.reap(array.now() + Nanos::from_secs(10)).expect("no fault");
        (written, half.0, share(&array, SPAN).0)
    };
    // On how many members a sector lies.
    for (level, members, on) in [
        (Level::Concat, 2, 1),
        (Level::Raid0, 2, 1),
        (Level::Raid1, 2, 2),
        (Level::Raid5, 3, 1),
        (Level::Raid10, 4, 2),
    ] {
        assert_eq!(shares(level, members, &|_| {}), ((1.0, on), 0.5, 0.0), "{level:?}");
    }
    // The member that has failed holds nothing.
    let failed = shares(Level::Raid1, 2, &|config| config.failed = Some(0));
    assert_eq!(failed, ((1.0, 1), 0.5, 0.0));
    let array = ssds(Level::Raid1, 2);
    assert_eq!(array.holders(Lba(array.geometry().sectors)).count(), 0, "beyond its end");
}

#[test]
fn random_writes_cost_four_ios_each() {
    let mut array = ssds(Level::Raid5, 4);
    let measured = measure(&mut array, &job(Pattern::Random, 0, 4096, 16));
    let counts = array.counts();
    let each = counts.member_ios as f64 / ios(&measured) as f64;
    assert!((each - 4.0).abs() < 0.01, "{each}");
    assert_eq!(counts.reads_for_writes * 2, counts.member_ios);
}

#[test]
fn littles_law_holds_and_the_same_is_the_same() {
    for level in Level::ALL {
        let of = || {
            let mut array = ssds(level, level.fewest() as u64);
            let measured = measure(&mut array, &job(Pattern::Random, 50, 8192, 12));
            (ios(&measured), measured.elapsed, measured.latency.mean())
        };
        let (ios, elapsed, mean_ns) = of();
        let in_flight = ios as f64 * mean_ns / 1e9 / elapsed.as_secs();
        assert!((in_flight / 12.0 - 1.0).abs() < 0.01, "{level:?}: {in_flight}");
        assert_eq!(of(), (ios, elapsed, mean_ns), "{level:?}");
    }
}

#[test]
fn without_a_member_its_data_is_the_sum_of_the_others() {
    let time = |level, failed| {
        let mut array = nulls(level, 4, |config| config.failed = failed);
        array.submit(Tag(0), Io::read(Lba(0), 8));
        assert!(array.reap(Nanos::MAX).expect("no fault").is_some());
        array.counts().member_ios
    };
    assert_eq!(time(Level::Raid5, None), 1);
    assert_eq!(time(Level::Raid5, Some(0)), 3);
    assert_eq!(time(Level::Raid5, Some(1)), 1);
    assert_eq!(time(Level::Raid10, Some(0)), 1);
    let config = ArrayConfig { failed: Some(0), ..ArrayConfig::default() };
    let drives = (0..2).map(|_| Null::new(1 << 20, Nanos(1))).collect();
    let error = Array::<Null>::new(&config, drives).err().expect("it is none").to_string();
    assert_eq!(error, "raid0 without one of its drives has lost its data");
}

#[test]
fn a_new_member_gets_its_data_back_at_the_rate_that_was_stated() {
    for level in [Level::Raid1, Level::Raid5, Level::Raid10] {
        let mut array = nulls(level, 4, |config| {
            (config.failed, config.rebuild_mb_per_s) = (Some(1), Some(100.0));
        });
        let second = Nanos::from_secs(1);
        assert_eq!(array.reap(second).expect("no fault"), None);
        let rebuilt = array.counts().rebuilt_bytes as f64;
        assert!((rebuilt / 100e6 - 1.0).abs() < 0.01, "{level:?}: {rebuilt}");
        // It holds 537 MB: after six seconds there is nothing left to do.
        assert_eq!(array.reap(Nanos::from_secs(6)).expect("no fault"), None);
        assert_eq!(array.counts().rebuilt_bytes, (1 << 20) * 512, "{level:?}");
        let before = array.counts().member_ios;
        array.submit(Tag(0), Io::read(Lba(128), 8));
        assert!(array.reap(Nanos::MAX).expect("no fault").is_some());
        assert_eq!(array.counts().member_ios - before, 1, "{level:?}: it is whole");
    }
}

#[test]
fn a_trim_goes_on_to_all_or_is_refused() {
    let whole = Io::trim(Lba(0), 3 << 20);
    let mut array = nulls(Level::Raid5, 4, |_| {});
    array.submit(Tag(0), whole);
    assert!(array.reap(Nanos::MAX).expect("no fault").is_some());
    assert_eq!(array.counts().member_ios, 4);
    let mut array = nulls(Level::Raid5, 4, |config| config.trim = false);
    array.submit(Tag(0), whole);
    let fault = array.reap(Nanos::MAX).expect_err("it takes none");
    assert_eq!(fault.cause, FaultCause::Unsupported);
}

/// A drive that fails all it is asked from a time on.
struct Failing(Null, Nanos);

impl Target for Failing {
    const CLOCK: fourcorners_drive::Clock = Null::CLOCK;
    fn geometry(&self) -> fourcorners_drive::Geometry {
        self.0.geometry()
    }
    fn now(&self) -> Nanos {
        self.0.now()
    }
    fn submit(&mut self, tag: Tag, io: Io) {
        // Outside of it, so that it answers with a fault.
        let gone = self.0.now() >= self.1 && io.op != fourcorners_drive::Op::Flush;
        self.0.submit(tag, if gone { Io { lba: Lba(u64::MAX), ..io } } else { io });
    }
    fn reap(
        &mut self,
        until: Nanos,
    ) -> Result<Option<fourcorners_drive::Done>, fourcorners_drive::Fault> {
        self.0.reap(until)
    }
    fn due(&mut self) -> Option<Nanos> {
        self.0.due()
    }
}

#[test]
fn a_member_that_fails_is_seen_where_nothing_stands_in_for_it() {
    let run = |level: Level, failing: &[usize]| {
        let config = ArrayConfig { level, chunk_bytes: 65_536, ..ArrayConfig::default() };
        let never = Nanos(u64::MAX);
        let drives = (0..4).map(|number| {
            let from = if failing.contains(&number) { Nanos(5_000 * US) } else { never };
            Failing(Null::new(1 << 20, Nanos(100 * US)), from)
        });
        let mut array = Array::new(&config, drives.collect()).expect("it is one");
        let half = Job { span_bytes: 1 << 28, ..job(Pattern::Random, 50, 4096, 8) };
        let measured = measure(&mut array, &Job { until: Until::Bytes(5000 * 4096), ..half });
        (ios(&measured), array.failed())
    };
    assert_eq!(run(Level::Raid5, &[1]), (5000, vec![1]));
    assert_eq!(run(Level::Raid1, &[1]), (5000, vec![1]));
    assert!(run(Level::Raid0, &[1]).0 < 5000, "its fault ends the job");
    assert!(run(Level::Raid5, &[1, 2]).0 < 5000, "two are one too many");
}
