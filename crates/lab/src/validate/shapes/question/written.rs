//! Writes of an entry that are watched for long, and what its own numbers say of what it leaves open.

use super::{USUAL_DEPTH, Work, Writes, block_of, span_bytes};
use crate::validate::shapes::entry::{Amount, Entry};

/// What is written and for how long.
///
/// # Errors
/// What is not told.
pub(super) fn writes(entry: &Entry) -> Result<Work, String> {
    let test = &entry.test;
    let block_bytes = block_of(entry)?;
    let sequential = test.pattern.contains("sequential");
    let (jobs, depth) = jobs_and_depth(entry);
    let span_bytes = span_bytes(&test.span);
    let capacity = entry.capacity_gb.map(|gb| gb * 1e9);
    let span = span_bytes.map(|bytes| bytes as f64).or(capacity).ok_or("no capacity is told")?;
    let mean = entry.number("mean_iops").or(entry.number("iops"));
    let seconds = entry.number("seconds").or(test.duration_s);
    let written = mean.zip(seconds).map(|(iops, seconds)| iops * seconds * f64::from(block_bytes));
    let steady = entry.number("steady.iops").is_some();
    let spans = match (steady, written) {
        // To the last of the points that were published.
        (true, _) => 4.0,
        (false, Some(written)) => (written / span).clamp(0.25, 5.0),
        (false, None) => 1.0,
    };
    Ok(Work::Writes(Writes {
        sequential,
        block_bytes,
        depth: in_flight(entry, jobs, depth).min(65_535) as u32,
        span_bytes,
        filled: was_full(entry)
            || test.state.contains("written once")
            || test.state.contains("filled"),
        spans: if sequential { spans.min(1.0) } else { spans },
        steady,
    }))
}

/// Whether the drive held something, whatever its entry says. One that was empty collects nothing before it was written
/// once; `ssdiq`'s have their steady rate earlier: sanitized, and then written in order before what was measured.
fn was_full(entry: &Entry) -> bool {
    entry.number("steady_after_drive_writes").is_some_and(|writes| writes < 1.0)
}

/// What is taken otherwise than the entry has it, and why.
pub(super) fn inferred(entry: &Entry) -> Vec<String> {
    let mut notes = Vec::new();
    if was_full(entry) && !entry.test.state.contains("filled") {
        notes.push(
            "run on a filled drive: steady before it was written once, it cannot have been empty"
                .into(),
        );
    }
    let (jobs, depth) = jobs_and_depth(entry);
    if in_flight(entry, jobs, depth) < jobs * depth {
        notes.push(format!(
            "run with {depth} in flight in all: with so many for each thread its latencies would be longer"
        ));
    }
    notes
}

fn jobs_and_depth(entry: &Entry) -> (u64, u64) {
    let test = &entry.test;
    let jobs = test.jobs.unwrap_or(if test.pattern.contains("sequential") { 1 } else { 4 });
    (jobs, test.queue_depth.as_ref().and_then(Amount::number).unwrap_or(USUAL_DEPTH))
}

/// Commands in flight in all: `jobs` times `depth`. By Little's law the rate times the mean latency is the number in
/// flight; where the entry's own numbers allow no mean that long, `depth` is taken as that of all jobs together. The mean is
/// at most the 99th percentile for all but one in a hundred, and the longest latency for that one.
fn in_flight(entry: &Entry, jobs: u64, depth: u64) -> u64 {
    let of = |name: &str| entry.number(&format!("latency_last_quarter.{name}"));
    let most = match (of("p99"), of("max_us"), entry.number("last_quarter.iops")) {
        (Some(p99), Some(longest), Some(iops)) => iops * (0.99 * p99 + 0.01 * longest) / 1e6,
        _ => f64::INFINITY,
    };
    if (jobs * depth) as f64 > most { depth } else { jobs * depth }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::shapes::built_in;

    fn entry(id: &str) -> Entry {
        built_in().into_iter().find(|entry| entry.id == id).expect(id)
    }

    fn asked(id: &str, change: impl FnOnce(&mut Entry)) -> Writes {
        let mut entry = entry(id);
        change(&mut entry);
        match writes(&entry).expect("it can be run") {
            Work::Writes(writes) => writes,
            other => panic!("{other:?}"),
        }
    }

    fn set(entry: &mut Entry, path: &str, number: f64) {
        let (section, key) =
            path.split_once('.').map_or(("", path), |(section, key)| (section, key));
        let at = match section {
            "" => &mut entry.result,
            section => {
                entry.result.get_mut(section).and_then(|it| it.as_object_mut()).expect("it has it")
            }
        };
        at.insert(key.into(), number.into());
    }

    #[test]
    fn a_drive_that_is_steady_before_it_was_written_once_was_full() {
        for id in ["s0-uniw4k-q512", "m0-uniw4k-q512", "i1-uniw4k-q512", "k4-uniw4k-q512"] {
            assert!(asked(id, |_| {}).filled, "{id}");
            let mut entry = entry(id);
            assert!(inferred(&entry).iter().any(|note| note.contains("filled drive")), "{id}");
            set(&mut entry, "steady_after_drive_writes", 1.3);
            assert_eq!(inferred(&entry), Vec::<String>::new(), "{id}");
            let later = asked(id, |entry| set(entry, "steady_after_drive_writes", 1.3));
            assert!(!later.filled, "{id}: an empty drive may be");
        }
    }

    #[test]
    fn a_depth_that_the_latencies_forbid_is_that_of_all_jobs() {
        let id = "i1-init07-seq-uni-uniform";
        assert_eq!(asked(id, |_| {}).depth, 256);
        assert!(inferred(&entry(id)).iter().any(|note| note.contains("256 in flight in all")));
        // With latencies as long as 1024 in flight make them, each job has that depth.
        let longer = asked(id, |entry| {
            set(entry, "latency_last_quarter.p99", 15_000.0);
            set(entry, "latency_last_quarter.max_us", 30_000.0);
        });
        assert_eq!(longer.depth, 1024);
        assert_eq!(asked("s0-uniw4k-q512", |_| {}).depth, 512);
    }
}
