//! A stream's log over time, row by row.

use fourcorners_drive::Nanos;

use super::Direction;

/// Most rows kept of all streams of a plan, 280 MB.
pub const MOST_ROWS: usize = 5_000_000;

/// How fine a log is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogSpec {
    /// One row for so long; zero: one for every I/O.
    pub window: Nanos,
    /// The longest latency of a window instead of the mean.
    pub longest: bool,
    /// Most rows that are kept: a share of [`MOST_ROWS`].
    pub most_rows: usize,
}

/// A window of a direction, or an I/O.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    /// Milliseconds since the stream was first measured: the window's end, or the I/O's.
    pub at_ms: u64,
    /// Of what.
    pub direction: Direction,
    /// I/Os a second; 1 for an I/O.
    pub iops: u64,
    /// KiB a second.
    pub kib_per_s: u64,
    /// Mean or longest latency; `None` where nothing completed.
    pub latency_ns: Option<u64>,
    /// Size of the I/O; 0 of a window.
    pub block_bytes: u32,
    /// Offset of the I/O; 0 of a window.
    pub offset_bytes: u64,
}

/// An I/O that completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completed {
    pub(super) direction: Direction,
    pub(super) at: Nanos,
    pub(super) latency: Nanos,
    pub(super) bytes: u64,
    pub(super) offset_bytes: u64,
}

/// A log that is being written.
#[derive(Clone, Debug)]
pub struct Log {
    spec: LogSpec,
    start: Nanos,
    end: Nanos,
    windows: [Window; 3],
    /// The rows so far.
    pub rows: Vec<Row>,
    /// Whether rows were left out because there were too many.
    pub cut: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// Whether this direction ever did anything: others have no rows.
    used: bool,
    ios: u64,
    bytes: u64,
    latency_sum: u64,
    latency_max: u64,
}

impl Log {
    pub(super) fn new(spec: LogSpec) -> Log {
        let windows = [Window::default(); 3];
        Log { spec, start: Nanos::ZERO, end: Nanos::MAX, windows, rows: Vec::new(), cut: false }
    }

    pub(super) fn begin(&mut self, start: Nanos) {
        self.start = start;
        self.end = start.saturating_add(self.spec.window);
    }

    pub(super) fn record(&mut self, done: Completed) {
        if self.spec.window == Nanos::ZERO {
            let kib_per_s = u128::from(done.bytes) * 1_000_000_000 / 1024;
            return self.push(Row {
                at_ms: done.at.since(self.start).0 / 1_000_000,
                direction: done.direction,
                iops: 1,
                kib_per_s: (kib_per_s / u128::from(done.latency.0.max(1))) as u64,
                latency_ns: Some(done.latency.0),
                block_bytes: u32::try_from(done.bytes).unwrap_or(u32::MAX),
                offset_bytes: done.offset_bytes,
            });
        }
        self.catch_up(done.at);
        let window = &mut self.windows[done.direction as usize];
        window.used = true;
        window.ios += 1;
        window.bytes += done.bytes;
        window.latency_sum = window.latency_sum.saturating_add(done.latency.0);
        window.latency_max = window.latency_max.max(done.latency.0);
    }

    /// Ends the windows that are over at `now`.
    pub(super) fn catch_up(&mut self, now: Nanos) {
        let window_ns = self.spec.window.0;
        if window_ns > 0 && now >= self.end && self.windows.iter().all(|window| !window.used) {
            // Nothing was done yet, however many windows that were.
            let over = 1 + now.since(self.end).0 / window_ns;
            self.end = self.end.saturating_add(Nanos(over.saturating_mul(window_ns)));
        }
        while window_ns > 0 && now >= self.end && !self.cut {
            let a_second =
                |amount: u64| (u128::from(amount) * 1_000_000_000 / u128::from(window_ns)) as u64;
            for direction in Direction::ALL {
                let window = self.windows[direction as usize];
                if !window.used {
                    continue;
                }
                let latency = match self.spec.longest {
                    true => window.latency_max,
                    false => window.latency_sum / window.ios.max(1),
                };
                self.push(Row {
                    at_ms: self.end.since(self.start).0 / 1_000_000,
                    direction,
                    iops: a_second(window.ios),
                    kib_per_s: a_second(window.bytes) / 1024,
                    latency_ns: (window.ios > 0).then_some(latency),
                    block_bytes: 0,
                    offset_bytes: 0,
                });
                self.windows[direction as usize] = Window { used: true, ..Window::default() };
            }
            self.end = self.end.saturating_add(self.spec.window);
        }
    }

    fn push(&mut self, row: Row) {
        match self.rows.len() < self.spec.most_rows {
            true => self.rows.push(row),
            false => self.cut = true,
        }
    }
}
