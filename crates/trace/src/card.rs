//! The card of a trace: what is in it, so that nobody has to take a replay on trust.

use std::borrow::BorrowMut;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use fourcorners_drive::{Nanos, Op};
use fourcorners_record::{Bin, Card, Share, Spread};
use fourcorners_run::Histogram;

use super::{Trace, TraceError, TraceIo};

/// An I/O continues what one of so many before it began.
const RECENT: usize = 8;
/// Devices beyond these are not told apart: their numbers are remembered, and a trace may have another in each I/O.
const MOST_DEVICES: usize = 1 << 20;
/// Queue depths beyond this are counted as this: a trace may claim that nothing ever completed.
const MOST_DEPTH: usize = 1 << 16;
/// Size classes: up to 512 bytes, 1 KiB and so on to 16 MiB, and above.
const SIZES: usize = 17;
/// Classes of queue depth: 1, 2, up to 4, and so on to [`MOST_DEPTH`].
const DEPTHS: usize = 17;
/// The smallest class of sizes, bytes.
const SMALLEST_SIZE: u64 = 512;

/// Reads a trace, or one that is lent, to its end for its card. `go_on` is asked every few thousand I/Os, those that are
/// left out among them; `None` when it said no.
///
/// # Errors
/// The first of the trace.
pub fn card(
    mut trace: impl BorrowMut<Trace>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Card>, TraceError> {
    let trace = trace.borrow_mut();
    let mut counting = Counting::new();
    let mut since_asked = 0u32;
    while let Some(io) = trace.next_or_left_out() {
        if let Some(io) = io? {
            counting.take(&io);
        }
        since_asked += 1;
        if since_asked == 1 << 16 {
            since_asked = 0;
            if !go_on() {
                return Ok(None);
            }
        }
    }
    Ok(Some(counting.card(trace)))
}

/// Reads and writes counted apart.
#[derive(Clone, Copy, Default)]
struct Pair {
    reads: u64,
    writes: u64,
}

impl Pair {
    #[inline]
    fn add(&mut self, op: Op, count: u64) {
        match op {
            Op::Read => self.reads += count,
            _ => self.writes += count,
        }
    }

    fn of(self, all: Pair) -> Share {
        let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
        Share {
            reads: share(self.reads, all.reads),
            writes: share(self.writes, all.writes),
            all: share(self.reads + self.writes, all.reads + all.writes),
        }
    }

    fn bin(self, up_to: Option<u64>) -> Bin {
        Bin { up_to, reads: self.reads, writes: self.writes }
    }
}

struct Counting {
    ios: Pair,
    bytes: Pair,
    trims: u64,
    flushes: u64,
    trim_bytes: u64,
    sizes: [Pair; SIZES],
    depths: [Pair; DEPTHS],
    depth_sum: u128,
    depth_count: u64,
    sequential: Pair,
    aligned_4k: Pair,
    aligned_512: Pair,
    extent: u64,
    largest: u64,
    largest_trim: Option<u64>,
    devices: HashSet<u32>,
    last_device: Option<u32>,
    /// Where the last reads and writes ended, and on which device.
    recent: [[(u64, u32); RECENT]; 2],
    recent_at: [usize; 2],
    in_flight: BinaryHeap<Reverse<Nanos>>,
    last_issue: Option<Nanos>,
    /// Whether that one says how long it took.
    last_told: bool,
    last_completion: Nanos,
    durations: Histogram,
    think: Histogram,
    gaps: Histogram,
    out_of_order: u64,
}

impl Counting {
    fn new() -> Counting {
        Counting {
            ios: Pair::default(),
            bytes: Pair::default(),
            trims: 0,
            flushes: 0,
            trim_bytes: 0,
            sizes: [Pair::default(); SIZES],
            depths: [Pair::default(); DEPTHS],
            depth_sum: 0,
            depth_count: 0,
            sequential: Pair::default(),
            aligned_4k: Pair::default(),
            aligned_512: Pair::default(),
            extent: 0,
            largest: 0,
            largest_trim: None,
            devices: HashSet::new(),
            last_device: None,
            recent: [[(u64::MAX, 0); RECENT]; 2],
            recent_at: [0; 2],
            in_flight: BinaryHeap::new(),
            last_issue: None,
            last_told: false,
            last_completion: Nanos::ZERO,
            durations: Histogram::new(),
            think: Histogram::new(),
            gaps: Histogram::new(),
            out_of_order: 0,
        }
    }

    fn take(&mut self, io: &TraceIo) {
        self.extent = self.extent.max(io.end_bytes());
        if self.last_device.replace(io.device) != Some(io.device)
            && self.devices.len() < MOST_DEVICES
        {
            self.devices.insert(io.device);
        }
        self.time(io);
        match io.op {
            Op::Trim => {
                self.trims += 1;
                self.largest_trim = self.largest_trim.max(Some(io.bytes));
                self.trim_bytes = self.trim_bytes.saturating_add(io.bytes);
            }
            Op::Flush => self.flushes += 1,
            Op::Read | Op::Write => self.data(io),
        }
    }

    fn data(&mut self, io: &TraceIo) {
        self.ios.add(io.op, 1);
        self.bytes.add(io.op, io.bytes);
        self.largest = self.largest.max(io.bytes);
        self.sizes[class(io.bytes.div_ceil(SMALLEST_SIZE), SIZES)].add(io.op, 1);
        let both = io.offset_bytes | io.bytes;
        self.aligned_4k.add(io.op, u64::from(both.is_multiple_of(4096)));
        self.aligned_512.add(io.op, u64::from(both.is_multiple_of(512)));
        let side = usize::from(io.op == Op::Write);
        let continued = self.recent[side].contains(&(io.offset_bytes, io.device));
        self.sequential.add(io.op, u64::from(continued));
        self.recent[side][self.recent_at[side]] = (io.end_bytes(), io.device);
        self.recent_at[side] = (self.recent_at[side] + 1) % RECENT;
    }

    fn time(&mut self, io: &TraceIo) {
        let last = self.last_issue.unwrap_or(io.at);
        if io.at < last {
            self.out_of_order += 1;
        }
        // An I/O that is recorded late counts as issued with the one before it.
        let at = io.at.max(last);
        if self.last_issue.is_some() {
            self.gaps.record(at.since(last).0);
        }
        while self.in_flight.peek().is_some_and(|end| end.0 <= at) {
            self.in_flight.pop();
        }
        // Whoever issues it thought since the last one was answered, if that one says when that was, whatever this one says.
        if self.last_told && self.in_flight.is_empty() && self.last_issue.is_some() {
            self.think.record(at.since(self.last_completion.max(last)).0);
        }
        if let Some(duration) = io.duration {
            if self.in_flight.len() == MOST_DEPTH {
                self.in_flight.pop();
            }
            self.durations.record(duration.0);
            let end = io.at.saturating_add(duration);
            self.in_flight.push(Reverse(end));
            self.last_completion = self.last_completion.max(end);
            if matches!(io.op, Op::Read | Op::Write) {
                let depth = self.in_flight.len();
                self.depths[class(depth as u64, DEPTHS)].add(io.op, 1);
                self.depth_sum += depth as u128;
                self.depth_count += 1;
            }
        }
        self.last_issue = Some(at);
        self.last_told = io.duration.is_some();
    }

    fn card(self, trace: &Trace) -> Card {
        let has_durations = self.durations.count() > 0;
        let end = self.last_issue.unwrap_or_default().max(self.last_completion);
        let bins = |pairs: &[Pair], unit: u64| {
            let last = pairs.len() - 1;
            let bins = pairs.iter().enumerate().filter(|(_, pair)| pair.reads + pair.writes > 0);
            bins.map(|(at, pair)| pair.bin((at < last).then(|| unit << at))).collect()
        };
        Card {
            trace: trace.name.clone(),
            format: trace.origin().into(),
            ios: self.ios.reads + self.ios.writes + self.trims + self.flushes,
            reads: self.ios.reads,
            writes: self.ios.writes,
            trims: self.trims,
            flushes: self.flushes,
            read_bytes: self.bytes.reads,
            write_bytes: self.bytes.writes,
            trim_bytes: self.trim_bytes,
            duration_s: end.as_secs(),
            extent_bytes: self.extent,
            largest_bytes: self.largest,
            largest_trim_bytes: self.largest_trim,
            devices: self.devices.len() as u64,
            sizes: bins(&self.sizes, SMALLEST_SIZE),
            sequential: self.sequential.of(self.ios),
            aligned_4k: self.aligned_4k.of(self.ios),
            aligned_512: self.aligned_512.of(self.ios),
            mean_queue_depth: (self.depth_count > 0)
                .then(|| self.depth_sum as f64 / self.depth_count as f64),
            queue_depths: bins(&self.depths, 1),
            latency_us: has_durations.then(|| spread(&self.durations)),
            think_us: spread(if has_durations { &self.think } else { &self.gaps }),
            out_of_order: self.out_of_order + trace.before_first(),
            skipped: trace.skipped(),
        }
    }
}

/// The class of a value: 0 holds 1, then 2, then up to 4, and so on; the last holds the rest.
fn class(value: u64, classes: usize) -> usize {
    (value.max(1).next_power_of_two().trailing_zeros() as usize).min(classes - 1)
}

fn spread(times: &Histogram) -> Spread {
    let micros = |ns: u64| ns as f64 / 1e3;
    Spread {
        count: times.count(),
        mean: times.mean() / 1e3,
        p50: micros(times.percentile(50.0)),
        p90: micros(times.percentile(90.0)),
        p99: micros(times.percentile(99.0)),
        max: micros(times.max()),
        sum_s: times.sum() as f64 / 1e9,
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_record::{LAST_DEPTH_ABOVE, LAST_SIZE_ABOVE};

    use super::*;
    use crate::{Options, from_bytes};

    #[test]
    fn the_last_class_of_sizes_begins_where_the_one_before_ends() {
        let largest = |bytes: u64| {
            let text = format!("time_s,op,offset_bytes,length_bytes\n0,r,0,{bytes}\n");
            let trace = from_bytes(text.into(), &Options::default()).expect("it is a trace");
            let card = card(trace, &mut || true).expect("it is whole").expect("it went on");
            card.sizes.iter().map(|bin| bin.up_to).collect::<Vec<_>>()
        };
        assert_eq!(largest(LAST_SIZE_ABOVE), [Some(LAST_SIZE_ABOVE)]);
        assert_eq!(largest(LAST_SIZE_ABOVE + 512), [None]);
        let depth = |depth: u64| class(depth, DEPTHS);
        assert_eq!(
            [depth(LAST_DEPTH_ABOVE), depth(LAST_DEPTH_ABOVE + 1)],
            [DEPTHS - 2, DEPTHS - 1]
        );
    }
}
