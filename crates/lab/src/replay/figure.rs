//! From what the loop measured to the figures of a record.

use fourcorners_record::{Latency, ReplayFigure, ReplayPart};
use fourcorners_run::{Paced, PacedPart};

use crate::drive::Outcome;

/// The figures of a replay.
pub(super) fn of(outcome: &Outcome, state: String, is_real: bool, complete: bool) -> ReplayFigure {
    let measured = &outcome.measured;
    let paced = measured.paced.as_deref().cloned().unwrap_or_default();
    let busy_s = paced.busy.as_secs();
    let mut all = PacedPart {
        bytes: measured.bytes,
        latency: measured.latency.clone(),
        service_ns: 0,
        slow: [0; 3],
    };
    for part in [&paced.reads, &paced.writes, &paced.others] {
        all.service_ns += part.service_ns;
        all.slow.iter_mut().zip(part.slow).for_each(|(sum, count)| *sum += count);
    }
    let waited_ns = measured.latency.sum().saturating_sub(all.service_ns);
    let Paced { reads, writes, busy, .. } = &paced;
    ReplayFigure {
        state,
        mb_per_s: per_second(measured.bytes, busy_s),
        busy_s,
        elapsed_s: measured.elapsed.as_secs(),
        mean_queue_depth: all.service_ns as f64 / busy.0.max(1) as f64,
        waited_s: waited_ns as f64 / 1e9,
        all: part(&all, busy_s),
        reads: part(reads, busy_s),
        writes: part(writes, busy_s),
        write_amplification: outcome.write_amplification,
        joules: measured.energy.as_ref().map(|energy| energy.joules),
        cache: outcome.cache.clone(),
        members: outcome.members.clone(),
        cpu_us_per_io: is_real
            .then(|| outcome.cpu_seconds * 1e6 / measured.latency.count().max(1) as f64),
        complete,
    }
}

fn part(part: &PacedPart, busy_s: f64) -> ReplayPart {
    let count = part.latency.count();
    let share = |slow: u64| slow as f64 / count.max(1) as f64;
    let [over_1_ms, over_10_ms, over_100_ms] = part.slow.map(share);
    ReplayPart {
        ios: count,
        bytes: part.bytes,
        mb_per_s: per_second(part.bytes, busy_s),
        service_us: part.service_ns as f64 / 1e3 / count.max(1) as f64,
        latency_us: Latency::from(&part.latency),
        over_1_ms,
        over_10_ms,
        over_100_ms,
    }
}

/// 10^6 bytes per second.
fn per_second(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 / 1e6 / seconds.max(1e-9)
}
