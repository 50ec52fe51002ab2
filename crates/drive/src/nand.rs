//! The NAND as times: dies and channels that are busy until then. It knows no meaning of an
//! address and no state but time.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::lane::Lane;
use crate::profile::NandSection;
use crate::state::{LATEST, MOST_COUNTED};

/// All dies and channels of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Nand {
    times: Times,
    channels: Vec<Lane>,
    dies: Vec<Die>,
    counts: NandCounts,
}

/// Operations carried out since the drive was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct NandCounts {
    /// Pages read from the array and moved out of their die.
    pub(crate) pages_read: u64,
    /// Rows (one page on every plane) programmed.
    pub(crate) rows_programmed: u64,
    /// Blocks (one on every plane) erased.
    pub(crate) blocks_erased: u64,
}

/// Work of a die's own that it does before it can take the next program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Chores {
    /// Rows read.
    pub(crate) rows_read: u32,
    /// Pages moved out of the die over its channel.
    pub(crate) pages_out: u32,
    /// Rows programmed.
    pub(crate) rows_programmed: u32,
    /// Blocks erased.
    pub(crate) blocks_erased: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Times {
    read: Nanos,
    program: Nanos,
    erase: Nanos,
    /// One page over a channel.
    page_transfer: Nanos,
    planes: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Die {
    /// End of everything it has been given to do.
    busy_until: Nanos,
    /// End of the reads it has been given; reads go ahead of waiting programs.
    reads_until: Nanos,
}

impl Chores {
    /// Whether a loaded list of chores can be reckoned with, a row having `units_per_row`.
    pub(crate) fn is_sane(self, units_per_row: u32) -> bool {
        const MOST: u32 = 1 << 28;
        let Chores { rows_read, pages_out, rows_programmed, blocks_erased } = self;
        rows_read.max(pages_out).max(rows_programmed).max(blocks_erased) <= MOST
            && rows_programmed <= u32::MAX / units_per_row
    }
}

impl Nand {
    pub(crate) fn new(section: &NandSection) -> Nand {
        let bytes_per_ns = section.bus_mb_per_s.value * 1e6 / 1e9;
        let page_ns = f64::from(section.page_bytes.value) / bytes_per_ns;
        Nand {
            times: Times {
                read: Nanos::from_micros(section.read_us.value),
                program: Nanos::from_micros(section.program_us.value),
                erase: Nanos::from_micros(section.erase_us.value),
                page_transfer: Nanos(page_ns.round() as u64),
                planes: u64::from(section.planes.value),
            },
            channels: vec![Lane::default(); section.channels.value as usize],
            dies: vec![Die::default(); section.dies.value as usize],
            counts: NandCounts::default(),
        }
    }

    pub(crate) fn counts(&self) -> NandCounts {
        self.counts
    }

    /// Reads a row of a die into its page registers and one page of it into the controller, asked
    /// for at `at`. Returns when the page is there.
    ///
    /// A read waits for reads before it and for the operation in progress, not for programs that
    /// only wait. All queued operations but the one in progress are taken to be programs, which
    /// says where that one is.
    #[inline]
    pub(crate) fn read(&mut self, die: u32, at: Nanos) -> Nanos {
        let times = self.times;
        let slot = self.dies[die as usize];
        let start = if slot.reads_until > at {
            slot.reads_until
        } else {
            let backlog = slot.busy_until.since(at);
            at + Nanos(backlog.0 % times.program.0.max(1))
        };
        let channel = self.channel_of(die);
        let arrived =
            self.channels[channel].serve_when_ready(at, start + times.read, times.page_transfer);
        // The page registers are taken until the data is out.
        let slot = &mut self.dies[die as usize];
        slot.busy_until = slot.busy_until.max(start) + (arrived - start);
        slot.reads_until = arrived;
        self.counts.pages_read += 1;
        arrived
    }

    /// Fetches another page of the row that was read last, whose registers are free to give it
    /// from `after` on. Returns when it is in the controller.
    #[inline]
    pub(crate) fn read_more(&mut self, die: u32, at: Nanos, after: Nanos) -> Nanos {
        let transfer = self.times.page_transfer;
        let channel = self.channel_of(die);
        let arrived = self.channels[channel].serve_when_ready(at, after, transfer);
        let slot = &mut self.dies[die as usize];
        slot.busy_until += arrived - after;
        slot.reads_until = arrived;
        self.counts.pages_read += 1;
        arrived
    }

    /// Programs one row, ordered at `at`, whose data is in the controller at `ready`. Returns
    /// when the row is on the NAND.
    #[inline]
    pub(crate) fn program(&mut self, die: u32, at: Nanos, ready: Nanos) -> Nanos {
        let data_in = self.row_transfer();
        let channel = self.channel_of(die);
        let slot = &mut self.dies[die as usize];
        let start = slot.busy_until.max(ready);
        let loaded = self.channels[channel].serve_when_ready(at, start, data_in);
        slot.busy_until = loaded + self.times.program;
        self.counts.rows_programmed += 1;
        slot.busy_until
    }

    /// Has a die do `chores`, ordered at `at`, from `ready` on and after what it has to do already.
    #[inline]
    pub(crate) fn chores(&mut self, die: u32, chores: Chores, at: Nanos, ready: Nanos) {
        if chores == Chores::default() {
            return;
        }
        let times = self.times;
        let transfers = times.page_transfer.0 * u64::from(chores.pages_out)
            + self.row_transfer().0 * u64::from(chores.rows_programmed);
        let array = times.read.0 * u64::from(chores.rows_read)
            + times.program.0 * u64::from(chores.rows_programmed)
            + times.erase.0 * u64::from(chores.blocks_erased);
        let channel = self.channel_of(die);
        self.channels[channel].serve(at, Nanos(transfers));
        let slot = &mut self.dies[die as usize];
        slot.busy_until = slot.busy_until.max(ready) + Nanos(transfers + array);
        self.counts.pages_read += u64::from(chores.pages_out);
        self.counts.rows_programmed += u64::from(chores.rows_programmed);
        self.counts.blocks_erased += u64::from(chores.blocks_erased);
    }

    /// Whether a loaded NAND is one that `made`, which is new, could have become.
    pub(crate) fn fits(&self, made: &Nand) -> bool {
        let Nand { times, channels, dies, counts } = self;
        let NandCounts { pages_read, rows_programmed, blocks_erased } = *counts;
        *times == made.times
            && channels.len() == made.channels.len()
            && channels.iter().all(|lane| lane.is_sane())
            && dies.len() == made.dies.len()
            && dies.iter().all(|die| die.busy_until <= LATEST && die.reads_until <= LATEST)
            && pages_read.max(rows_programmed).max(blocks_erased) <= MOST_COUNTED
    }

    /// Dies take turns on the channels, so that neighbours in a stripe do not share one.
    #[inline]
    fn channel_of(&self, die: u32) -> usize {
        die as usize % self.channels.len()
    }

    fn row_transfer(&self) -> Nanos {
        Nanos(self.times.page_transfer.0 * self.times.planes)
    }
}
