//! Generated traces have what was published of them.

use std::path::Path;

use fourcorners_record::Card;
use fourcorners_trace::{Options, TraceIo, card, open};

fn generated(name: &str, ios: u64, seed: u64) -> (Card, Vec<TraceIo>) {
    let options = Options { ios: Some(ios), seed, ..Options::default() };
    let path = format!("generated:{name}");
    let trace = || open(Path::new(&path), &options).unwrap_or_else(|error| panic!("{error}"));
    let card = card(trace(), &mut || true).unwrap_or_else(|error| panic!("{error}"));
    let ios = trace().take(1000).map(|io| io.unwrap_or_else(|error| panic!("{error}")));
    (card.expect("not stopped"), ios.collect())
}

/// Within so many percent.
fn near(found: f64, expected: f64, percent: f64) -> bool {
    (found / expected - 1.0).abs() * 100.0 < percent
}

#[test]
fn bytes_and_counts_are_in_the_published_proportions() {
    // I/Os, reads, GB read, GB written; docs/TRACES.md has the sources.
    for (name, ios, reads, read_gb, written_gb) in [
        ("desktop", 10_470_100, 7_408_938, 84.27, 142.19),
        ("heavy", 3_952_340, 2_168_893, 129.3, 106.32),
        ("light", 832_339, 372_630, 24.2, 29.9),
        ("2013", 49_800_000, 38_830_000, 1583.0, 875.6),
    ] {
        let sample = 400_000;
        let (card, _) = generated(name, sample, 7);
        let scale = sample as f64 / f64::from(ios);
        assert_eq!(card.ios, sample, "{name}");
        assert!(card.reads.abs_diff((f64::from(reads) * scale).round() as u64) <= 1, "{name}");
        // The mean of so many sizes is within a percent of what it is drawn around.
        assert!(near(card.read_bytes as f64, read_gb * 1e9 * scale, 1.0), "{name}: {card:?}");
        assert!(near(card.write_bytes as f64, written_gb * 1e9 * scale, 1.0), "{name}: {card:?}");
    }
}

#[test]
fn sizes_sequence_and_depth_are_as_published() {
    let four_k = |card: &Card| {
        let bin = card.sizes.iter().find(|bin| bin.up_to == Some(4096)).expect("there are some");
        (bin.reads + bin.writes) as f64 / card.ios as f64
    };
    let (desktop, _) = generated("desktop", 300_000, 1);
    assert!(near(four_k(&desktop), 0.70, 1.0), "{}", four_k(&desktop));
    let (heavy, _) = generated("heavy", 300_000, 1);
    assert!(near(four_k(&heavy), 0.28, 1.0), "{}", four_k(&heavy));
    assert!(near(heavy.sequential.all, 0.42, 1.0), "{:?}", heavy.sequential);
    let depth = |card: &Card| card.mean_queue_depth.expect("it has durations");
    assert!(near(depth(&heavy), 4.625, 2.0), "{}", depth(&heavy));
    let alone = heavy.queue_depths[0].reads + heavy.queue_depths[0].writes;
    assert!(near(alone as f64 / heavy.ios as f64, 0.59, 1.5), "{alone}");
    let (light, _) = generated("light", 300_000, 1);
    assert!(near(light.sequential.all, 0.60, 1.0), "{:?}", light.sequential);
    let (destroyer, _) = generated("2013", 300_000, 1);
    assert!(near(depth(&destroyer), 5.5, 2.0), "{}", depth(&destroyer));
}

#[test]
fn a_seed_is_a_trace() {
    let ios = |seed| generated("light", 1000, seed).1;
    assert_eq!(ios(3), ios(3));
    assert_ne!(ios(3), ios(4));
}

#[test]
fn unknown_names_are_told_the_known_ones() {
    let error = open(Path::new("generated:lite"), &Options::default()).map(drop);
    let line = error.expect_err("there is none").to_string();
    assert!(line.contains("generated:light, generated:2013"), "{line}");
}
