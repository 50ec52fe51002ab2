//! The NAND of the reference as times, in whole nanoseconds: dies, channels and what they do.

use fourcorners_drive::config::SsdConfig;

use crate::vary::Vary;

/// A microsecond value of a profile in whole nanoseconds.
pub(crate) fn ns(micros: f64) -> u64 {
    (micros * 1000.0).round() as u64
}

/// Something that does one thing at a time, in the order it is asked.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lane {
    free_at: u64,
}

impl Lane {
    /// When it is free for what is asked at `at`.
    pub(crate) fn free(self, at: u64) -> u64 {
        self.free_at.max(at)
    }

    /// Adds `takes` to its backlog at `at`, for work that cannot begin before `ready`; the lane is
    /// not held for it until then. Returns when the work is done.
    pub(crate) fn serve(&mut self, at: u64, ready: u64, takes: u64) -> u64 {
        let backlog_ends = self.free(at);
        self.free_at = backlog_ends + takes;
        backlog_ends.max(ready) + takes
    }
}

/// What a die does for itself before it takes the next row of the host.
#[derive(Clone, Copy, Default)]
pub(crate) struct Chores {
    pub(crate) rows_read: u64,
    pub(crate) pages_out: u64,
    pub(crate) rows_programmed: u64,
    pub(crate) blocks_erased: u64,
}

#[derive(Clone, Copy, Default)]
struct Die {
    /// When all it has been given is done.
    free_at: u64,
    /// When the reads it has been given are done.
    reads_end: u64,
}

/// Dies and channels.
pub(crate) struct Flash {
    read: u64,
    program: u64,
    erase: u64,
    /// One page over a channel, and one row (a page of every plane).
    page: u64,
    row: u64,
    channels: Vec<Lane>,
    dies: Vec<Die>,
    pub(crate) vary: Option<Vary>,
    pages_read: u64,
    pub(crate) rows_programmed: u64,
    pub(crate) blocks_erased: u64,
}

impl Flash {
    pub(crate) fn new(profile: &SsdConfig) -> Flash {
        let nand = &profile.nand;
        let blocks = u64::from(nand.dies) * u64::from(nand.blocks_per_plane);
        let rows = u64::from(nand.pages_per_block);
        let page = f64::from(nand.page_bytes) * 1000.0 / nand.bus_mb_per_s;
        let page = page.round() as u64;
        Flash {
            read: ns(nand.read_us),
            program: ns(nand.program_us),
            erase: ns(nand.erase_us),
            page,
            row: page * u64::from(nand.planes),
            channels: vec![Lane::default(); nand.channels as usize],
            dies: vec![Die::default(); nand.dies as usize],
            vary: Vary::new(profile.variation.as_ref(), rows, blocks),
            pages_read: 0,
            rows_programmed: 0,
            blocks_erased: 0,
        }
    }

    /// Reads a row of a block and brings one page of it to the controller; when it is there.
    pub(crate) fn read(&mut self, die: usize, row: usize, at: u64) -> u64 {
        let read = match &self.vary {
            None => self.read,
            Some(vary) => vary.read(self.read, row as u64, self.pages_read, self.blocks_erased),
        };
        let Die { free_at, reads_end } = self.dies[die];
        // Behind reads; else behind the one operation in progress, as if all waiting ones were
        // programs.
        let start = match reads_end > at {
            true => reads_end,
            false => at + free_at.saturating_sub(at) % self.program.max(1),
        };
        let arrived = self.transfer(die, at, start + read, self.page);
        self.pages_read += 1;
        self.dies[die].free_at = free_at.max(start) + (arrived - start);
        self.dies[die].reads_end = arrived;
        arrived
    }

    /// Brings another page of the row read last, which is ready to go at `ready`.
    pub(crate) fn read_more(&mut self, die: usize, at: u64, ready: u64) -> u64 {
        let arrived = self.transfer(die, at, ready, self.page);
        self.pages_read += 1;
        self.dies[die].free_at += arrived - ready;
        self.dies[die].reads_end = arrived;
        arrived
    }

    /// Programs a row whose data is in the controller at `ready`; when it is on the NAND.
    pub(crate) fn program(&mut self, die: usize, at: u64, ready: u64) -> u64 {
        let start = self.dies[die].free_at.max(ready);
        let loaded = self.transfer(die, at, start, self.row);
        self.dies[die].free_at = loaded
            + match &self.vary {
                None => self.program,
                Some(vary) => vary.program(self.program, self.rows_programmed),
            };
        self.rows_programmed += 1;
        self.dies[die].free_at
    }

    /// Has a die do its chores.
    pub(crate) fn chores(&mut self, die: usize, chores: Chores, at: u64, ready: u64) {
        let Chores { rows_read, pages_out, rows_programmed, blocks_erased } = chores;
        if rows_read + pages_out + rows_programmed + blocks_erased == 0 {
            return;
        }
        let transfers = pages_out * self.page + rows_programmed * self.row;
        self.transfer(die, at, at, transfers);
        let array =
            rows_read * self.read + rows_programmed * self.program + blocks_erased * self.erase;
        let takes = match &self.vary {
            None => transfers + array,
            Some(vary) => vary.collection(transfers + array, self.rows_programmed),
        };
        self.dies[die].free_at = self.dies[die].free_at.max(ready) + takes;
        self.pages_read += pages_out;
        self.rows_programmed += rows_programmed;
        self.blocks_erased += blocks_erased;
    }

    /// Dies take turns on the channels.
    fn transfer(&mut self, die: usize, at: u64, ready: u64, takes: u64) -> u64 {
        let channels = self.channels.len();
        self.channels[die % channels].serve(at, ready, takes)
    }
}
