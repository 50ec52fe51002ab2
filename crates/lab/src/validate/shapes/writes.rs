//! Writes for hours: from fresh to steady, second by second, and what was written by then.

use fourcorners_drive::{Nanos, Ssd, Target};
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::{Histogram, JobEnd, Measured, Observer, run_marked};

use super::numbers::{Numbers, add_latencies, autocorrelation, quantile_of, variation};
use super::question::Writes;

const FILL_BLOCK_BYTES: u32 = 524_288;
/// A rate at a time in drive writes is over this share of the span before and after it.
const AROUND: f64 = 0.01;
/// Windows of a minute in which the steady state is measured.
const STEADY_MINUTES: usize = 20;
/// Seconds that a variation per second is of, at least.
const LEAST_SECONDS: f64 = 60.0;

/// A job of writes on the first `span_bytes`.
pub(super) fn job(sequential: bool, block_bytes: u32, span_bytes: u64, until: Until) -> Job {
    Job {
        pattern: if sequential { Pattern::Sequential } else { Pattern::Random },
        read_percent: 0,
        block_bytes,
        queue_depth: 32,
        span_start_bytes: 0,
        span_bytes: span_bytes / u64::from(block_bytes) * u64::from(block_bytes),
        data: Data::Incompressible,
        until,
        seed: 1,
        fua: false,
        flush: false,
        jobs: 1,
    }
}

/// Writes a span once in order. `None` when it was stopped or the drive failed.
pub(super) fn fill(ssd: &mut Ssd, span_bytes: u64, observer: &mut dyn Observer) -> Option<()> {
    // The tail that is no whole block is written, too.
    for block_bytes in [FILL_BLOCK_BYTES, 4096] {
        let whole = span_bytes / u64::from(block_bytes) * u64::from(block_bytes);
        let rest =
            span_bytes - span_bytes / u64::from(FILL_BLOCK_BYTES) * u64::from(FILL_BLOCK_BYTES);
        let (start, bytes) = match block_bytes {
            FILL_BLOCK_BYTES => (0, whole),
            _ => (span_bytes - rest, rest / 4096 * 4096),
        };
        if bytes > 0 {
            let job = Job {
                span_start_bytes: start,
                ..job(true, block_bytes, bytes, Until::Bytes(bytes))
            };
            complete(run_marked(ssd, &job, u64::MAX, observer))?;
        }
    }
    ssd.settle();
    Some(())
}

/// What was measured, if nothing cut it short.
pub(super) fn complete(measured: Measured) -> Option<Measured> {
    (measured.ended == JobEnd::Complete).then_some(measured)
}

/// Writes under way.
struct UnderWay<'a> {
    ssd: &'a mut Ssd,
    job: Job,
    observer: &'a mut dyn Observer,
    /// Seconds and bytes so far, at marks.
    marks: Vec<(f64, f64)>,
    mark_bytes: u64,
    seconds: Vec<f64>,
    elapsed: f64,
    bytes: f64,
}

impl UnderWay<'_> {
    /// Writes on, from where it was. `None` when it was stopped.
    fn go_on(&mut self, until: Until) -> Option<Measured> {
        let job = Job { until, seed: self.job.seed + 1, ..self.job.clone() };
        self.job.seed += 1;
        let measured = complete(run_marked(self.ssd, &job, self.mark_bytes, self.observer))?;
        for (number, mark) in (1u64..).zip(&measured.marks) {
            let bytes = self.bytes + (number * self.mark_bytes) as f64;
            self.marks.push((self.elapsed + mark.as_secs(), bytes));
        }
        self.elapsed += measured.elapsed.as_secs();
        self.bytes += measured.bytes as f64;
        self.marks.push((self.elapsed, self.bytes));
        self.seconds.extend(measured.seconds.iter().map(|second| second.ios as f64));
        Some(measured)
    }

    /// When so many bytes were written.
    fn time_at(&self, bytes: f64) -> Option<f64> {
        let after = self.marks.iter().position(|&(_, at)| at >= bytes)?;
        let (t1, b1) = self.marks[after];
        let (t0, b0) = after.checked_sub(1).map_or((0.0, 0.0), |before| self.marks[before]);
        Some(if b1 > b0 { t0 + (t1 - t0) * (bytes - b0) / (b1 - b0) } else { t1 })
    }
}

/// Runs `writes` on a new drive that is `factor` times smaller than what they are of: what took a minute takes as many times
/// less, in its first minutes. `None` when it was stopped or the drive cannot be brought there.
pub(super) fn measure(
    ssd: &mut Ssd,
    (writes, factor, wanted): (&Writes, u64, &[String]),
    observer: &mut dyn Observer,
) -> Option<Numbers> {
    let whole = ssd.geometry().bytes();
    let block = u64::from(writes.block_bytes);
    let span = writes.span_bytes.map_or(whole, |bytes| (bytes / factor).min(whole)) / block * block;
    if span < block * 1000 {
        return None;
    }
    if writes.filled {
        fill(ssd, span, observer)?;
    }
    let minute = |seconds: f64| (seconds / factor as f64).round().max(1.0);
    let job = Job {
        queue_depth: writes.depth,
        ..self::job(writes.sequential, writes.block_bytes, span, Until::Seconds(1))
    };
    let total = (span as f64 * writes.spans) as u64;
    let mark_bytes = (span / 200).max(block);
    let mut way = UnderWay {
        ssd,
        job,
        observer,
        marks: Vec::new(),
        mark_bytes,
        seconds: Vec::new(),
        elapsed: 0.0,
        bytes: 0.0,
    };
    let mut numbers = Numbers::new();
    let quarter = |way: &UnderWay<'_>| (total as f64 * 0.75 - way.bytes).max(0.0) as u64;
    // A sequential stream begins anew with every job, so it is one.
    if !writes.sequential {
        let first = way.go_on(Until::Seconds(minute(60.0) as u64))?;
        let iops = first.writes as f64 / first.elapsed.as_secs();
        numbers.insert("first_minute.iops".into(), iops);
        add_latencies(&mut numbers, "first_minute.", &first.latency, 0.0);
        let rest = quarter(&way) / block * block;
        if rest > 0 {
            way.go_on(Until::Bytes(rest))?;
        }
    }
    let before = way.ssd.counters();
    let seconds_before = way.seconds.len();
    let rest = (total as f64 - way.bytes).max(block as f64) as u64;
    let mut last = way.go_on(Until::Bytes(rest / block * block))?;
    let lasted = last.elapsed.as_secs();
    if !writes.sequential && lasted < LEAST_SECONDS {
        let more = way.go_on(Until::Seconds((LEAST_SECONDS - lasted).ceil() as u64))?;
        last.latency.merge(&more.latency);
        (last.writes, last.elapsed) = (last.writes + more.writes, last.elapsed + more.elapsed);
    }
    let amplification = way.ssd.counters().write_amplification_since(&before);
    numbers.extend(amplification.map(|wa| ("write_amplification_last_quarter".to_string(), wa)));
    let ios = way.bytes / block as f64;
    numbers.insert("mean_iops".into(), ios / way.elapsed);
    add_rates_at(&mut numbers, &way, (span as f64, block as f64), wanted);
    let mut late = seconds_before;
    if writes.sequential {
        late = way.seconds.len() * 3 / 4;
        // The first pass of a part of the drive ends in seconds. The next goes on from the start, as the first would have.
        let more = LEAST_SECONDS - (way.seconds.len() - late) as f64;
        if more > 0.0 {
            way.go_on(Until::Seconds(more as u64))?;
        }
    }
    add_series(&mut numbers, &way.seconds, (late, minute(10.0) as usize, minute(60.0) as usize));
    let late_iops = last.writes as f64 / last.elapsed.as_secs();
    if !writes.sequential {
        numbers.insert("last_quarter.iops".into(), late_iops);
    }
    add_latencies(&mut numbers, "latency_last_quarter.", &last.latency, 0.0);
    if writes.sequential {
        numbers.insert("iops".into(), late_iops);
        numbers.insert("mb_per_s".into(), late_iops * block as f64 / 1e6);
        add_latencies(&mut numbers, "", &last.latency, 0.0);
        let tens: Vec<f64> =
            way.seconds.chunks_exact(10).map(|ten| ten.iter().sum::<f64>() / 10.0).collect();
        numbers.extend(variation(&tens).map(|cv| ("cv_per_10s".to_string(), cv)));
    }
    if writes.steady {
        add_steady(&mut numbers, &mut way, block)?;
    }
    Some(numbers)
}

/// The steady state, minute by minute.
fn add_steady(numbers: &mut Numbers, way: &mut UnderWay<'_>, block: u64) -> Option<()> {
    let mut latency = Histogram::new();
    let mut minutes = Vec::new();
    for _ in 0..STEADY_MINUTES {
        let measured = way.go_on(Until::Seconds(60))?;
        latency.merge(&measured.latency);
        minutes.push(measured.writes as f64 / measured.elapsed.as_secs());
    }
    let iops = minutes.iter().sum::<f64>() / minutes.len() as f64;
    let mut add = |name: &str, value: f64| {
        numbers.insert(format!("steady.{name}"), value);
    };
    add("iops", iops);
    add("mb_per_s", iops * block as f64 / 1e6);
    add("min_minute", minutes.iter().copied().fold(f64::INFINITY, f64::min));
    add("max_minute", minutes.iter().copied().fold(0.0, f64::max));
    if let Some(cv) = variation(&minutes) {
        add("cv_per_minute", cv);
    }
    add_latencies(numbers, "steady.", &latency, 0.0);
    Some(())
}

/// What the seconds say: their first `ten`, the lowest `minute` of them, and those from `late` on.
fn add_series(numbers: &mut Numbers, seconds: &[f64], (late, ten, minute): (usize, usize, usize)) {
    let mean = |window: &[f64]| window.iter().sum::<f64>() / window.len() as f64;
    if let Some(first) = seconds.get(..ten) {
        numbers.insert("first_10_s_iops".into(), mean(first));
    }
    let lowest = seconds.windows(minute.max(1)).map(mean).reduce(f64::min);
    numbers.extend(lowest.map(|iops| ("lowest_minute_iops".to_string(), iops)));
    let Some(late) = seconds.get(late..).filter(|late| late.len() > 2) else { return };
    let mut sorted = late.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = mean(late);
    let mut add = |name: &str, value: Option<f64>| {
        numbers.extend(value.map(|value| (format!("last_quarter.{name}"), value)));
    };
    add("iops", Some(middle));
    add("cv_per_second", variation(late));
    add("min_second", sorted.first().copied());
    add("p1_second", quantile_of(&sorted, 0.01));
    add("p50_second", quantile_of(&sorted, 0.5));
    add("p99_second", quantile_of(&sorted, 0.99));
    add("max_second", sorted.last().copied());
    let below = sorted.iter().filter(|&&iops| iops < 0.9 * middle).count();
    add("share_of_seconds_below_90pct", Some(below as f64 / sorted.len() as f64));
    for (at, lag) in [1, 10, 60].into_iter().enumerate() {
        add(&format!("autocorrelation_lag_1_10_60.{at}"), autocorrelation(late, lag));
    }
}

/// The rates at the times, in drive or range writes, that the entry names.
fn add_rates_at(
    numbers: &mut Numbers,
    way: &UnderWay<'_>,
    (span, block): (f64, f64),
    wanted: &[String],
) {
    for path in wanted {
        let at = ["iops_at_drive_writes.", "iops_at_range_writes."]
            .into_iter()
            .find_map(|prefix| path.strip_prefix(prefix)?.parse::<f64>().ok());
        let Some(at) = at else { continue };
        let end = (at + AROUND) * span;
        let (from, to) = match way.bytes >= end {
            true => ((at - AROUND).max(0.0) * span, end),
            // The last point is of what came before it.
            false => ((at - 2.0 * AROUND).max(0.0) * span, at * span),
        };
        if let (Some(t0), Some(t1)) = (way.time_at(from), way.time_at(to))
            && t1 > t0
        {
            numbers.insert(path.clone(), (to - from) / block / (t1 - t0));
        }
    }
}

/// So long nothing is asked of a drive between two tests of different kinds.
pub(super) const PAUSE: Nanos = Nanos::from_secs(1);

#[cfg(test)]
mod tests {
    use fourcorners_drive::config::SsdConfig;
    use fourcorners_run::Unobserved;

    use super::*;

    fn measured(filled: bool, steady: bool) -> Numbers {
        let mut ssd = Ssd::new(&SsdConfig::default()).expect("it works");
        let writes = Writes {
            sequential: false,
            block_bytes: 4096,
            depth: 32,
            span_bytes: None,
            filled,
            spans: 4.0,
            steady,
        };
        let wanted = ["0.5", "3", "4", "5"].map(|at| format!("iops_at_drive_writes.{at}"));
        measure(&mut ssd, (&writes, 60, &wanted), &mut Unobserved).expect("it runs")
    }

    #[test]
    fn an_empty_drive_begins_faster_than_it_ends_and_a_full_one_as_it_ends() {
        let (empty, full) = (measured(false, true), measured(true, false));
        let at = |numbers: &Numbers, at: &str| numbers[&format!("iops_at_drive_writes.{at}")];
        assert!(at(&empty, "0.5") > 2.0 * at(&empty, "3"), "{empty:?}");
        assert!(at(&full, "0.5") < 2.0 * at(&full, "3"), "{full:?}");
        // The smaller the drive, the longer its dies drift apart: its rate goes on falling.
        for path in ["steady.iops", "last_quarter.iops", "iops_at_drive_writes.4"] {
            assert!((0.4..1.0).contains(&(empty[path] / at(&empty, "3"))), "{path}: {empty:?}");
        }
        assert!(empty["first_minute.iops"] > 2.0 * empty["steady.iops"], "{empty:?}");
        assert!(empty["lowest_minute_iops"] <= empty["last_quarter.iops"], "{empty:?}");
        assert!(empty["write_amplification_last_quarter"] > 2.0, "{empty:?}");
        // It was not written so often.
        assert!(!empty.contains_key("iops_at_drive_writes.5"), "{empty:?}");
        assert!(!full.contains_key("steady.iops"), "{full:?}");
    }

    #[test]
    fn a_drive_is_filled_to_its_last_unit_and_no_further_than_it_is_asked() {
        let mut ssd = Ssd::new(&SsdConfig::default()).expect("it works");
        let bytes = ssd.geometry().bytes() / 4096 * 4096;
        let part = u64::from(FILL_BLOCK_BYTES) * 3 + 8192;
        let mapped = |ssd: &Ssd, byte: u64| ssd.is_mapped(fourcorners_drive::Lba(byte / 512));
        fill(&mut ssd, part, &mut Unobserved).expect("it can be written");
        assert!(mapped(&ssd, 0) && mapped(&ssd, part - 4096) && !mapped(&ssd, part));
        fill(&mut ssd, bytes, &mut Unobserved).expect("it can be written");
        assert!(mapped(&ssd, bytes - 4096));
    }
}
