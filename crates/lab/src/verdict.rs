//! What figures mean, in words with their numbers.

use crate::record::{Record, TargetKind, Verdict};

/// What the figures of the four corners say together. Only finished figures count.
pub(crate) fn four_corners(record: &Record) -> Vec<Verdict> {
    let finished = |name: &str| record.figures.get(name).filter(|figure| figure.complete);
    let mut verdicts = Vec::new();
    for depth in [3, 32] {
        let fresh = finished(&format!("random_write_4k_qd{depth}_incompressible"));
        let used = finished(&format!("random_write_4k_qd{depth}_incompressible_used"));
        if let (Some(fresh), Some(used)) = (fresh, used) {
            let kept = used.mb_per_s / fresh.mb_per_s;
            verdicts.push(Verdict {
                about: "used-state".into(),
                text: format!(
                    "Used, it keeps {:.0} % of its random write at QD {depth}: {} MB/s {}, {} used.",
                    kept * 100.0,
                    three_digits(fresh.mb_per_s),
                    // A target that cannot be purged was never fresh.
                    fresh.state,
                    three_digits(used.mb_per_s),
                ),
                value: Some(kept),
            });
        }
    }
    // No virtual drive shrinks data yet: what differs between its two figures is the seed.
    let compressible = match record.target.kind {
        TargetKind::Virtual => [].as_slice(),
        TargetKind::Device | TargetKind::File => &[
            ("random write at QD 3", "random_write_4k_qd3"),
            ("sequential write", "sequential_write_128k_qd1"),
        ],
    };
    for (what, prefix) in compressible {
        let repeating = finished(&format!("{prefix}_repeating"));
        let incompressible = finished(&format!("{prefix}_incompressible"));
        if let (Some(repeating), Some(incompressible)) = (repeating, incompressible) {
            let ratio = incompressible.mb_per_s / repeating.mb_per_s;
            verdicts.push(Verdict {
                about: "compressible-data".into(),
                text: format!(
                    "{} with incompressible data is {:.0} % of that with repeating data: {} and {} MB/s.",
                    capitalised(what),
                    ratio * 100.0,
                    three_digits(incompressible.mb_per_s),
                    three_digits(repeating.mb_per_s),
                ),
                value: Some(ratio),
            });
        }
    }
    if let Some(write) = finished("random_write_4k_qd3_incompressible") {
        let latency = write.latency_us;
        verdicts.push(Verdict {
            about: "latency".into(),
            text: format!(
                "Random write at QD 3 took {} on average, {} at the 99.99th percentile and {} at most.",
                time(latency.mean),
                time(latency.p9999),
                time(latency.max)
            ),
            value: Some(latency.max),
        });
    }
    verdicts
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A number to about three digits, as the reviews print them.
fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// Microseconds in the unit a reader wants them in.
fn time(micros: f64) -> String {
    match micros {
        1e6.. => format!("{} s", three_digits(micros / 1e6)),
        1e3.. => format!("{} ms", three_digits(micros / 1e3)),
        _ => format!("{} µs", three_digits(micros)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_and_units_a_reader_wants() {
        assert_eq!(
            [0.8124, 8.124, 81.24, 812.4].map(three_digits),
            ["0.812", "8.12", "81.2", "812"]
        );
        assert_eq!([58.34, 4312.0, 1.4e6].map(time), ["58.3 µs", "4.31 ms", "1.40 s"]);
    }
}
