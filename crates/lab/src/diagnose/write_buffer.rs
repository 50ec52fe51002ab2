//! The write buffer: how many bytes a drive at rest takes before it has to wait for its flash.
//!
//! Writes in order into a drive at rest are as fast as the link until the buffer is full. Then all of them stop until the
//! first program operation ends, and how many bytes were taken by then is what the buffer takes. It is so only where
//! nothing has left the buffer yet: the stop has to begin before what was written first can be on the flash, which a small
//! write with a flush tells. Where the flash is faster than that, nothing is said.

use fourcorners_drive::{Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{deviation, median, quantile};

/// How often a drive at rest is written to, and how often a small write and a flush are timed.
const TRIALS: u64 = 16;
const FLUSHES: u32 = 15;
/// Bytes of a write, but for the first of a trial: that shifts the others by a unit more each time.
const WRITE: u64 = 16 << 10;
/// Writes in flight, by turns: the link must not wait for the host, and where writes stop must not depend on how many are in
/// flight. A busy host answers all of them and then none for a while.
const DEPTHS: [u32; 2] = [8, 4];
/// Most bytes of a trial.
const MOST: u64 = 32 << 20;
/// All writes wait if none is done for longer than usual by this many deviations, and this many microseconds.
const DEVIATIONS: f64 = 8.0;
const LEAST_US: f64 = 80.0;
/// Writes before one is seen to wait, so that it is known what they take.
const LEAST_WRITES: usize = 4;
/// The drive is at rest after so long, and does not yet work for itself.
const REST: Nanos = Nanos(50_000_000);
/// What is written in a longer share of the time that a little takes to the flash may have left the buffer in part.
const EMPTIES: f64 = 0.95;
/// Share of the trials that must agree.
const AGREE: f64 = 0.75;

/// Bytes that all trials write at most.
pub(super) fn most_bytes(capacity: u64) -> u64 {
    TRIALS * of_trial(capacity) + u64::from(FLUSHES) * UNIT
}

/// Bytes of a trial: all of them write a fiftieth of the target at most.
pub(crate) fn of_trial(capacity: u64) -> u64 {
    (capacity / 50 / TRIALS).min(MOST) / WRITE * WRITE
}

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let most = of_trial(probe.geometry().bytes()).min(region.bytes / 2);
    let mut place = 0;
    let mut all = Vec::new();
    for trial in 0..TRIALS {
        probe.flush()?;
        probe.idle(REST)?;
        if place + most > region.bytes {
            place = 0;
        }
        let first = (trial % (WRITE / UNIT) + 1) * UNIT;
        let depth = DEPTHS[(trial / (WRITE / UNIT)) as usize % DEPTHS.len()];
        let start = region.start + place;
        let mut samples = vec![[first as f64, probe.write_us(start, first)?]];
        let mut between: Vec<f64> = Vec::new();
        let rest = (start + first, most - first);
        probe.write_until(rest, (WRITE, depth), &mut |bytes, us| {
            samples.push([(first + bytes) as f64, us]);
            let waits = waits(&between, us);
            between.push(us);
            waits
        })?;
        place += most;
        all.push(Series {
            what: "bytes written; microseconds since the write before".into(),
            samples,
        });
    }
    // How long the flash takes for a little: what is written in less has not left the buffer.
    let mut flushes = Vec::new();
    for flush in 0..FLUSHES {
        probe.idle(REST)?;
        let write = probe.write_us(region.start + place % region.bytes, UNIT)?;
        flushes.push([write, probe.flush()?.as_micros()]);
        place = (place + UNIT * u64::from(flush + 1)) % (region.bytes - WRITE);
    }
    let what = "microseconds of a write of 4 KiB; microseconds of a flush after it".into();
    all.push(Series { what, samples: flushes });
    Ok(all)
}

/// Whether a time between two writes is longer than usual; of too few nobody knows.
fn waits(between: &[f64], us: f64) -> bool {
    // The first ones of a stream come together, or as late as a single one.
    let usual = between.get(1..).unwrap_or_default();
    usual.len() + 1 >= LEAST_WRITES
        && us > median(usual) + (DEVIATIONS * deviation(usual)).max(LEAST_US)
}

/// What a trial says.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Wait {
    /// It took this many bytes without a wait, and not that many.
    from: f64,
    to: f64,
    /// Microseconds from the beginning to the beginning and the end of the wait.
    begins_us: f64,
    ends_us: f64,
}

/// The first wait of a trial.
fn first_wait(samples: &[[f64; 2]]) -> Option<Wait> {
    let between: Vec<f64> = samples.iter().skip(1).map(|[_, us]| *us).collect();
    let at = (0..between.len()).find(|&at| waits(&between[..at], between[at]))?;
    let begins_us = samples[..=at].iter().map(|[_, us]| us).sum::<f64>();
    Some(Wait {
        from: samples[at][0],
        to: samples[at + 1][0],
        begins_us,
        ends_us: begins_us + between[at],
    })
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    const KEY: &str = "write_buffer_kib";
    let undetermined = |reason: String| vec![Finding::undetermined(KEY, reason)];
    let Some((flushes, trials)) = series
        .split_last()
        .filter(|(flushes, trials)| !flushes.samples.is_empty() && !trials.is_empty())
    else {
        return undetermined("nothing was measured".into());
    };
    let kib = |bytes: f64| bytes / 1024.0;
    let waits: Vec<Wait> = trials.iter().filter_map(|trial| first_wait(&trial.samples)).collect();
    let enough = (AGREE * trials.len() as f64).ceil() as usize;
    let most = trials.iter().filter_map(|trial| trial.samples.last()).map(|[bytes, _]| *bytes);
    let most = most.fold(0.0, f64::max);
    if waits.len() < enough {
        return undetermined(format!(
            "of {} times, writes had to wait {} times within {:.0} KiB: the flash is as fast as the link, or the buffer holds more",
            trials.len(),
            waits.len(),
            kib(most)
        ));
    }
    // The bytes that most trials agree on.
    let agree = |from: f64| waits.iter().filter(|wait| wait.from <= from && from < wait.to).count();
    let from = waits
        .iter()
        .map(|wait| wait.from)
        .max_by(|one, other| agree(*one).cmp(&agree(*other)).then(other.total_cmp(one)));
    let from = from.unwrap_or_default();
    let agreeing: Vec<&Wait> =
        waits.iter().filter(|wait| wait.from <= from && from < wait.to).collect();
    if agreeing.len() < enough {
        return undetermined(format!(
            "of {} times, writes had to wait after the same number of bytes {} times only",
            trials.len(),
            agreeing.len()
        ));
    }
    let to = agreeing.iter().map(|wait| wait.to).fold(f64::INFINITY, f64::min);
    let middle =
        |of: fn(&Wait) -> f64| median(&agreeing.iter().map(|wait| of(wait)).collect::<Vec<f64>>());
    let (begins_us, ends_us) = (middle(|wait| wait.begins_us), middle(|wait| wait.ends_us));
    // The quickest flushes: a busy host makes them longer, never shorter.
    let flash_us = quantile(&flushes.samples.iter().map(|[_, us]| *us).collect::<Vec<f64>>(), 0.25);
    let stop = format!(
        "into a drive at rest, writes stop after {:.0} KiB and {begins_us:.0} us until {ends_us:.0} us, {} of {} times, and a flush of 4 KiB takes {flash_us:.0} us",
        kib(from),
        agreeing.len(),
        trials.len(),
    );
    if begins_us > EMPTIES * flash_us {
        return undetermined(format!("{stop}: some may have left the buffer by then"));
    }
    // What ends the wait is that what was written first is on the flash.
    if ends_us < EMPTIES * flash_us {
        return undetermined(format!("{stop}: it is not the flash that they wait for"));
    }
    vec![Finding::number(KEY, kib(from), "KiB", [kib(from), kib(to)]).because(stop)]
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use fourcorners_drive::{Clock, Done, Fault, Geometry, Io, Op, Tag};

    use super::*;

    /// A target behind a host that hands on what is in flight together, and its answers one by one. A flush takes nearly three times as
    /// long as a round.
    struct Rounds {
        now: Nanos,
        begun: Vec<(Tag, Io)>,
        answers: VecDeque<Done>,
    }

    const ROUND_US: f64 = 800.0;
    const BETWEEN_US: f64 = 10.0;

    impl Rounds {
        fn hand_on(&mut self) {
            if !self.answers.is_empty() {
                return;
            }
            for (index, (tag, io)) in self.begun.drain(..).enumerate() {
                let flush_us = if io.op == Op::Flush { 1.75 * ROUND_US } else { 0.0 };
                let us = ROUND_US + flush_us + BETWEEN_US * index as f64;
                self.answers.push_back(Done { tag, at: self.now + Nanos::from_micros(us) });
            }
        }
    }

    impl Target for Rounds {
        const CLOCK: Clock = Clock::Virtual;

        fn geometry(&self) -> Geometry {
            Geometry { sectors: 4 << 20, logical_block_bytes: 512, queue_depth: 32 }
        }

        fn now(&self) -> Nanos {
            self.now
        }

        fn submit(&mut self, tag: Tag, io: Io) {
            self.begun.push((tag, io));
        }

        fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
            self.hand_on();
            let done = self.answers.pop_front_if(|answer| answer.at <= until);
            self.now = done.map_or(until, |done| done.at);
            Ok(done)
        }

        fn due(&mut self) -> Option<Nanos> {
            self.hand_on();
            self.answers.front().map(|answer| answer.at)
        }
    }

    #[test]
    fn where_a_host_answers_what_is_in_flight_together_no_buffer_ends() {
        let mut target = Rounds { now: Nanos::ZERO, begun: Vec::new(), answers: VecDeque::new() };
        let region = Region::of(target.geometry()).expect("it is large enough");
        let mut watch = || true;
        let mut probe = Probe::new(&mut target, 1, &mut watch);
        let series = measure(&mut probe, region).expect("it answers");
        assert_eq!(estimate(&series)[0].determined(), None);
        // Those of one depth alone stop after the same number of bytes, before what was written can be on the flash.
        let of_one_depth = [&series[..4], &series[8..12], &series[16..]].concat();
        assert_eq!(estimate(&of_one_depth)[0].determined(), Some(144.0));
    }
}
