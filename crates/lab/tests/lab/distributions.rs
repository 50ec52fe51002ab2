//! What a reviewer sees of every SSD of the catalogue, one command at a time: reads that differ, seconds that differ,
//! and rates that rise with the size.

use fourcorners_catalogue::{Model, built_in, families};
use fourcorners_drive::Ssd;
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{Measured, Unobserved, run};

const GIB: u64 = 1 << 30;

/// Every SSD, by name.
fn drives() -> Vec<String> {
    let all = families().into_iter().flat_map(|family| family.drives);
    let is_ssd = |name: &String| {
        let profile = built_in(name, &[]).expect("it is built in");
        matches!(profile.model, Model::Ssd(_))
    };
    all.filter(is_ssd).collect()
}

/// Written in order where the job is to read.
fn written(name: &str, set: &[&str], bytes: u64) -> Ssd {
    let set: Vec<String> = set.iter().map(|set| set.to_string()).collect();
    let profile = built_in(name, &set).expect("it is built in");
    let Model::Ssd(config) = &profile.model else { panic!("{name} is an SSD") };
    let mut drive = Ssd::new(config).expect("it works");
    let fill = Job {
        pattern: Pattern::Sequential,
        read_percent: 0,
        block_bytes: 128 << 10,
        queue_depth: 32,
        span_bytes: bytes,
        until: Until::Bytes(bytes),
        ..read(Pattern::Sequential, 4096, bytes)
    };
    run(&mut drive, &fill, &mut Unobserved);
    drive.settle();
    drive
}

fn read(pattern: Pattern, block_bytes: u32, span_bytes: u64) -> Job {
    Job {
        pattern,
        read_percent: 100,
        block_bytes,
        queue_depth: 1,
        span_start_bytes: 0,
        span_bytes,
        data: Data::Incompressible,
        until: Until::Seconds(20),
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    }
}

fn relative(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (squares / values.len() as f64).sqrt() / mean
}

/// Standard deviation over mean, p99.99 over p50, and the same deviation of the seconds' rates.
fn shape(measured: &Measured) -> [f64; 3] {
    let bins = measured.latency.bins();
    let mean = measured.latency.mean();
    let squares: f64 = bins.iter().map(|&(ns, n)| (ns as f64 - mean).powi(2) * n as f64).sum();
    let spread = (squares / measured.latency.count() as f64).sqrt() / mean;
    let [median, tail] = [50.0, 99.99].map(|percent| measured.latency.percentile(percent) as f64);
    let rates: Vec<f64> = measured.seconds.iter().map(|second| second.ios as f64).collect();
    [spread, tail / median, relative(&rates)]
}

#[test]
fn reads_and_seconds_of_every_flash_drive_differ_as_measured_ones_do() {
    let of = |name: &str, set: &[&str]| {
        shape(&run(
            &mut written(name, set, GIB),
            &read(Pattern::Random, 4096, GIB),
            &mut Unobserved,
        ))
    };
    let names = drives();
    assert!(names.len() > 60, "{names:?}");
    let unlike: Vec<String> = names
        .iter()
        .map(|name| (name, of(name, &[])))
        .filter(|&(_, [spread, tail, seconds])| {
            let is_so = [(0.03..=0.20).contains(&spread), tail >= 1.3, seconds >= 0.0005];
            is_so.contains(&false)
        })
        .map(|(name, shape)| format!("{name}: {shape:?}"))
        .collect();
    assert!(
        unlike.is_empty(),
        "deviation over mean, p99.99 over p50, deviation of seconds: {unlike:#?}"
    );
    // Without variation there is nothing of it: the buckets of the histogram are 1 % wide.
    let [spread, tail, seconds] = of("samsung-970-evo-plus-1000gb", &["variation.mode=off"]);
    assert!(spread < 0.01 && tail < 1.01 && seconds < 1e-4, "{spread} {tail} {seconds}");
}

#[test]
fn without_variation_reads_in_order_get_faster_with_their_size_on_every_drive() {
    let sizes: Vec<u32> = (9..=22).map(|bits| 1 << bits).collect();
    let rates = |name: &str| -> Vec<f64> {
        let mut drive = written(name, &["variation.mode=off"], GIB / 4);
        let rate = |&size: &u32| {
            let until = Until::Bytes(u64::from(size) * 2000.min(GIB / 4 / u64::from(size)));
            let job = Job { until, ..read(Pattern::Sequential, size, GIB / 4) };
            let measured = run(&mut drive, &job, &mut Unobserved);
            measured.bytes as f64 / measured.elapsed.0 as f64
        };
        sizes.iter().map(rate).collect()
    };
    let (mut small, mut slower) = (Vec::new(), Vec::new());
    for name in drives() {
        let rates = rates(&name);
        // What begins the stream is a larger part of few large reads.
        if rates.windows(2).any(|pair| pair[1] < pair[0] * 0.98) {
            slower.push(format!("{name}: {rates:.3?}"));
        }
        small.push((name, rates[0], rates[2]));
    }
    assert!(slower.is_empty(), "GB/s from 512 B to 4 MiB: {slower:#?}");
    // From 512 B to 2 KiB flash that reads ahead over NVMe leads the medium that is written in place.
    let of = |name: &str| small.iter().find(|(it, ..)| it.starts_with(name)).expect("it is there");
    let (flash, optane) = (of("samsung-970-evo-plus"), of("intel-optane-p4800x"));
    assert!(flash.1 > optane.1 && flash.2 > optane.2, "{flash:?} {optane:?}");
}
