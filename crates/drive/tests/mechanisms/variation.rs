//! Variation: each part alone against what its parameters say, and nothing without it.

use crate::common::jobs::Job;
use crate::common::play::play;
use crate::common::{Random, Shape, closed_loop, fill, io, make, overwrite, ssd, times};
use fourcorners_drive::config::{SsdConfig, VariationMode, VariationSection};
use fourcorners_drive::{Nanos, Op, Ssd, Target};

/// Reads to measure, one at a time.
const READS: u64 = 300_000;

/// Flash and host take time, and a controller a little.
fn base() -> SsdConfig {
    let mut profile =
        ssd(Shape { dies: 4, blocks_per_die: 64, pages_per_block: 60, effective_op: 0.3 });
    profile.host.command_us = 20.0;
    profile.controller.read_command_us = 1.0;
    profile.nand.read_us = 50.0;
    profile
}

fn varied(change: impl FnOnce(&mut VariationSection)) -> SsdConfig {
    let mut section = VariationSection { seed: 7, ..VariationSection::default() };
    change(&mut section);
    SsdConfig { variation: Some(section), ..base() }
}

/// All that may vary does.
fn everything(section: &mut VariationSection) {
    *section = VariationSection {
        upper_read_ratio: Some(1.5),
        read_spread: 0.02,
        retries_per_million: 1000.0,
        retries_per_million_worn: 10_000.0,
        program_spread: 0.1,
        collection_spread: 0.1,
        suspend_spread: Some(0.7),
        host_spread: 0.2,
        host_delays_per_million: 1000.0,
        host_delay_us: 20.0,
        tick_ms: 20.0,
        tick_us: 500.0,
        drift: 0.01,
        ..section.clone()
    };
}

/// A filled drive whose reads are random and one at a time: their times in microseconds.
fn reads_us(profile: &SsdConfig, count: u64) -> Vec<f64> {
    let mut drive = make(profile);
    fill(&mut drive);
    drive.settle();
    reads_of(&mut drive, count)
}

fn reads_of(drive: &mut Ssd, count: u64) -> Vec<f64> {
    let units = drive.geometry().sectors / 8;
    let mut random = Random(3);
    let read = times(count, |_| io(Op::Read, random.below(units), 1));
    closed_loop(drive, 1, read).iter().map(|time| time.0 as f64 / 1000.0).collect()
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

fn deviation(times: &[f64]) -> f64 {
    let mean = mean(times);
    (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / times.len() as f64).sqrt()
}

/// The one time that all reads take without variation.
fn steady_us() -> f64 {
    let times = reads_us(&base(), 1000);
    assert!(
        times.iter().all(|&time| time == times[0]),
        "without variation all reads take the same"
    );
    times[0]
}

fn near(measured: f64, expected: f64, share: f64) {
    assert!((measured / expected - 1.0).abs() < share, "{measured}, expected {expected}");
}

#[test]
fn off_and_absent_and_all_zero_are_the_same_to_the_nanosecond() {
    let mut off = varied(everything);
    off.variation.as_mut().expect("it is there").mode = VariationMode::Off;
    let answers = |profile: &SsdConfig| {
        let job =
            Job { read_percent: 40, trims_per_1000: 5, percent_written: 200, ..Job::OVERWRITE };
        let commands = job.commands(profile.capacity.sectors, &mut Random(1));
        play(&mut make(profile), 8, commands).expect("no fault")
    };
    let absent = answers(&base());
    assert!(answers(&off) == absent);
    assert!(answers(&varied(|_| {})) == absent);
    assert!(answers(&varied(everything)) != absent, "the control");
}

#[test]
fn another_seed_is_another_drive_of_the_same_distribution() {
    let of = |seed| {
        let mut profile = varied(everything);
        profile.variation.as_mut().expect("it is there").seed = seed;
        reads_us(&profile, READS)
    };
    let (one, same, other) = (of(1), of(1), of(2));
    assert!(one == same);
    assert!(one != other);
    near(mean(&one), mean(&other), 0.005);
    near(deviation(&one), deviation(&other), 0.05);
}

#[test]
fn kinds_of_pages_are_steps_whose_mean_is_the_mean() {
    let times = reads_us(
        &varied(|v| (v.middle_read_ratio, v.upper_read_ratio) = (Some(1.25), Some(1.5))),
        READS,
    );
    let mut steps: Vec<u64> = times.iter().map(|time| (time * 1000.0) as u64).collect();
    steps.sort_unstable();
    steps.dedup();
    assert_eq!(steps.len(), 3, "{steps:?}");
    let fast = steps[0] as f64 / 1000.0;
    near(steady_us() - fast, 0.2 * 50.0, 0.001);
    near(mean(&times), steady_us(), 0.002);
    let two = reads_us(&varied(|v| v.upper_read_ratio = Some(2.0)), READS);
    near(mean(&two), steady_us(), 0.002);
    near(deviation(&two), 50.0 / 3.0, 0.002);
}

#[test]
fn flash_spreads_by_what_is_said_around_its_mean() {
    let steady = steady_us();
    for spread in [0.02, 0.2] {
        let times = reads_us(&varied(|v| v.read_spread = spread), READS);
        near(mean(&times), steady, 0.002);
        near(deviation(&times), spread * 50.0, 0.01);
    }
}

#[test]
fn so_many_reads_are_repeated_and_more_when_the_flash_is_worn() {
    let once = steady_us() + 45.0;
    let share = |times: &[f64], over: f64| {
        times.iter().filter(|&&time| time > over).count() as f64 / times.len() as f64
    };
    let fresh = reads_us(&varied(|v| v.retries_per_million = 10_000.0), READS);
    near(share(&fresh, once), 0.01, 0.1);
    // Half of them twice as often.
    near(share(&fresh, once + 50.0), 0.005, 0.1);
    let worn = varied(|v| v.retries_per_million_worn = 100_000.0);
    let mut drive = make(&worn);
    fill(&mut drive);
    let units = drive.geometry().sectors / 8;
    overwrite(&mut drive, &mut Random(9), units, units * 60);
    drive.settle();
    let cycles = drive.counters().blocks_erased as f64 / (4.0 * 64.0);
    assert!(cycles > 50.0, "{cycles}");
    near(share(&reads_of(&mut drive, READS), once), cycles / 1000.0 * 0.1, 0.1);
    // Filled once, its blocks bear one cycle at most.
    let filled = share(&reads_us(&worn, READS), once);
    assert!(filled < 2e-4, "{filled}");
}

#[test]
fn the_host_varies_around_its_mean_and_is_late_now_and_then() {
    let steady = steady_us();
    let times = reads_us(&varied(|v| v.host_spread = 0.4), READS);
    near(mean(&times), steady, 0.003);
    // An exponential share of 0.4 of 20 us.
    near(deviation(&times), 8.0, 0.05);
    let least = times.iter().copied().fold(f64::MAX, f64::min);
    near(least, steady - 8.0, 0.002);
    let late = varied(|v| (v.host_delays_per_million, v.host_delay_us) = (2000.0, 30.0));
    let times = reads_us(&late, READS);
    let delayed = times.iter().filter(|&&time| time > steady + 1.0).count();
    near(delayed as f64 / READS as f64, 0.002, 0.1);
    near(mean(&times) - steady, 0.002 * 30.0, 0.1);
}

#[test]
fn at_a_tick_the_controller_takes_nothing() {
    let steady = steady_us();
    let times = reads_us(&varied(|v| (v.tick_ms, v.tick_us) = (50.0, 1000.0)), READS);
    let seconds = times.iter().sum::<f64>() / 1e6;
    let slow: Vec<f64> = times.iter().copied().filter(|time| *time > steady + 0.1).collect();
    near(slow.len() as f64, seconds / 0.050, 0.1);
    let longest = slow.iter().copied().fold(0.0, f64::max);
    assert!(longest > 1300.0 && longest < 1500.0 + steady, "{longest}");
}

#[test]
fn seconds_differ_by_the_drift_and_by_nothing_else() {
    let rates = |drift: f64| {
        let times = reads_us(&varied(|v| v.drift = drift), 2_000_000);
        let (mut seconds, mut at) = (vec![0.0], 0.0);
        for time in times {
            at += time;
            if at >= 1e6 {
                (at, seconds) = (0.0, [seconds, vec![0.0]].concat());
            }
            *seconds.last_mut().expect("one at least") += 1.0;
        }
        seconds.pop();
        assert!(seconds.len() > 100, "{} s", seconds.len());
        deviation(&seconds) / mean(&seconds)
    };
    let (none, some) = (rates(0.0), rates(0.01));
    assert!(none < 1e-4, "{none}");
    // Of 1 % on 70 of 89 us, a second's mean leaves some four fifths.
    assert!(some > 0.004 && some < 0.009, "{some}");
}

#[test]
fn runs_differ_by_the_drift_and_by_nothing_else() {
    let profile = |drift| varied(|v| v.drift = drift);
    let made = |drift: f64| {
        let mut drive = make(&profile(drift));
        fill(&mut drive);
        drive.settle();
        drive
    };
    let reads = |mut drive: Ssd, run: Option<u64>| {
        run.into_iter().for_each(|run| drive.begin_run(run));
        reads_of(&mut drive, 20_000)
    };
    let (drifts, still) = (made(0.02), made(0.0));
    // Run 0 is that of a drive to which no run began, and a run is the same each time.
    let unasked = reads(drifts.clone(), None);
    assert_eq!(reads(drifts.clone(), Some(0)), unasked);
    assert_ne!(reads(drifts.clone(), Some(5)), unasked);
    assert_eq!(reads(drifts.clone(), Some(5)), reads(drifts.clone(), Some(5)));
    // Without a drift there is nothing to differ by.
    assert_eq!(reads(still.clone(), Some(5)), reads(still, None));
    // Of 2 % on 70 of 89 us, 1.6 % are left; what changes within two seconds adds half of that again.
    let means: Vec<f64> = (1..=60).map(|run| mean(&reads(drifts.clone(), Some(run)))).collect();
    let spread = deviation(&means) / mean(&means);
    assert!(spread > 0.011 && spread < 0.024, "{spread}");
    // As many are longer as are shorter than the steady time.
    near(mean(&means), steady_us(), 0.008);
}

#[test]
fn writes_and_collection_keep_their_rate() {
    let seconds = |profile: &SsdConfig| {
        let mut drive = make(profile);
        fill(&mut drive);
        let units = drive.geometry().sectors / 8;
        overwrite(&mut drive, &mut Random(5), units, units * 4);
        drive.settle();
        drive.now().0 as f64 / 1e9
    };
    let steady = seconds(&base());
    let spread = varied(|v| (v.program_spread, v.collection_spread) = (0.05, 0.05));
    near(seconds(&spread), steady, 0.01);
    assert!(seconds(&spread) != steady);
}

/// Writes have a slow part of their own where it is given, and that of all else where it is not.
#[test]
fn seconds_of_writes_differ_by_their_own_drift() {
    let spreads = |change: fn(&mut VariationSection)| {
        let profile = varied(change);
        let mut drive = make(&profile);
        fill(&mut drive);
        // In order, so that collection moves nothing and evenness is not its merit.
        let commands = drive.geometry().sectors / 8 / 32;
        let mut rates = Vec::new();
        for chunk in 0..60 {
            let begin = drive.now();
            let write = |i| io(Op::Write, (chunk * 300 + i) % commands * 32, 32);
            closed_loop(&mut drive, 32, times(300, write));
            rates.push(300.0 / (drive.now() - begin).as_secs());
        }
        let reads = reads_of(&mut drive, 200_000);
        let means: Vec<f64> = reads.chunks(10_000).map(mean).collect();
        [deviation(&rates) / mean(&rates), deviation(&means) / mean(&means)]
    };
    let [writes, reads] = spreads(|_| {});
    assert!(writes < 0.004 && reads < 0.001, "{writes} and {reads} with none");
    let [writes, reads] = spreads(|v| v.write_drift = Some(0.03));
    assert!(writes > 0.008 && reads < 0.001, "{writes} and {reads} with writes' own");
    let [writes, reads] = spreads(|v| v.drift = 0.03);
    assert!(writes > 0.008 && reads > 0.008, "{writes} and {reads} with one for all");
    let [writes, reads] = spreads(|v| (v.drift, v.write_drift) = (0.03, Some(0.0)));
    assert!(writes < 0.004 && reads > 0.008, "{writes} and {reads} with none of writes");
}

#[test]
fn hours_of_idling_are_not_counted_through() {
    let mut drive = make(&varied(|v| (v.tick_ms, v.tick_us) = (0.01, 1.0)));
    drive.reap(Nanos::from_secs(100 * 3600)).expect("nothing in flight");
    // Of 3.6e10 ticks it does one or two.
    let before = std::time::Instant::now();
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 0, 1)));
    assert!(before.elapsed().as_secs() < 10);
}

#[test]
fn what_cannot_vary_is_refused_by_its_key() {
    type Change = fn(&mut VariationSection);
    let refused: [(&str, Change); 6] = [
        ("variation.read_spread = 0.3", |v| v.read_spread = 0.3),
        ("variation.upper_read_ratio = 0.4", |v| v.upper_read_ratio = Some(0.4)),
        ("variation.host_spread = 0.6", |v| v.host_spread = 0.6),
        ("variation.suspend_spread = 1.1", |v| v.suspend_spread = Some(1.1)),
        ("variation.tick_ms = 0.001", |v| v.tick_ms = 0.001),
        ("variation.tick_us = 600", |v| (v.tick_ms, v.tick_us) = (1.0, 600.0)),
    ];
    for (told, change) in refused {
        let error = varied(change).check().expect_err(told).to_string();
        assert!(error.starts_with(told), "{error}");
    }
    let nan = varied(|v| v.drift = f64::NAN).check().expect_err("no number");
    assert_eq!(nan.key, "variation.drift");
}
