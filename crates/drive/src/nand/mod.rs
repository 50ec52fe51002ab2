//! The NAND as times: dies and channels that are busy until then. It knows no meaning of an
//! address and no state but time.

mod agenda;
mod chores;
mod page_kinds;
mod rest;
mod suspension;
mod times;

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::config::SsdConfig;
use crate::divide::Divider;
use crate::lane::Lane;
use crate::state::{LATEST, MOST_MOVED};
use crate::variation::{Drift, FlashVariation};
use agenda::{Agenda, Opening, Operation};
use rest::Rest;
use suspension::Suspension;
use times::{ChoreTimes, Times};

pub(crate) use chores::Chores;
pub(crate) use page_kinds::PageKinds;

/// All dies and channels of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Nand {
    times: Times,
    kinds: PageKinds,
    suspension: Option<Suspension>,
    channels: Vec<Lane>,
    by_channels: Divider,
    dies: Vec<Die>,
    /// By die: its operations one by one. Empty when the config says nothing of the cells, of an SLC
    /// buffer or of suspending; then all operations are taken to be mean programs.
    agendas: Vec<Agenda>,
    /// By die: what is left of the row that was read last. Empty where one read brings the whole row.
    rests: Vec<Rest>,
    counts: NandCounts,
    /// Only if its times vary.
    variation: Option<FlashVariation>,
    /// Until when no program is suspended, because a write waits.
    pressed_until: Nanos,
}

/// Operations carried out since the drive was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct NandCounts {
    /// Pages read from the array and moved out of their die.
    pub(crate) pages_read: u64,
    /// Rows (one page on every plane) programmed.
    pub(crate) rows_programmed: u64,
    /// Pages programmed in operations that did not write a whole row.
    pub(crate) single_pages_programmed: u64,
    /// Blocks (one on every plane) erased.
    pub(crate) blocks_erased: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Die {
    /// End of everything it has been given to do.
    busy_until: Nanos,
    /// When the array can take another read, after those it has been given; reads go ahead of
    /// waiting programs.
    reads_until: Nanos,
    /// When the data of all reads is out and the registers are free of it.
    out_until: Nanos,
    /// The program that ends last: for so long before `busy_until`, data for another can come in
    /// where there are cache registers.
    last_program: Nanos,
}

impl Nand {
    /// The NAND of a drive, idle. `config` has passed its check.
    pub(crate) fn new(config: &SsdConfig) -> Nand {
        let section = &config.nand;
        let kinds = PageKinds::new(config.nand_cells.as_ref(), section.pages_per_block);
        let told_apart = config.nand_cells.is_some()
            || config.nand_suspend.is_some()
            || config.slc_buffer.is_some();
        let dies = section.dies as usize;
        let times = Times::new(config, &kinds);
        Nand {
            times,
            kinds,
            suspension: config.nand_suspend.as_ref().map(Suspension::new),
            channels: vec![Lane::default(); section.channels as usize],
            by_channels: Divider::new(section.channels),
            dies: vec![Die::default(); dies],
            agendas: vec![Agenda::default(); if told_apart { dies } else { 0 }],
            rests: vec![Rest::default(); if times.has_rest() { dies } else { 0 }],
            counts: NandCounts::default(),
            variation: config.variation_that_is_on().map(|variation| {
                let blocks = u64::from(section.dies) * u64::from(section.blocks_per_plane);
                FlashVariation::new(variation, blocks, section.pages_per_block)
            }),
            pressed_until: Nanos::ZERO,
        }
    }

    pub(crate) fn counts(&self) -> NandCounts {
        self.counts
    }

    /// Reads a row of a block of a die into its page registers and one page of it into the
    /// controller, asked for at `at` by a command that knows at `known` where it is. Returns when
    /// the page is there. Of a row that is `None` only the mean time is known.
    ///
    /// A read waits for reads before it and for the operation in progress, or for that to be
    /// suspended, not for programs that only wait. One that is known only later takes its time from
    /// the die at once, like from any shared resource, and holds up nobody until then.
    #[inline]
    pub(crate) fn read(&mut self, die: u32, row: Option<u32>, at: Nanos, known: Nanos) -> Nanos {
        let read = match row {
            Some(row) => self.times.read[self.kinds.of(row) as usize],
            None => self.times.mean_read,
        };
        self.read_for(die, self.varied_read(read, row), at, known)
    }

    /// The same of a row that is written with one bit a cell.
    pub(crate) fn read_slc(&mut self, die: u32, at: Nanos, known: Nanos) -> Nanos {
        self.read_for(die, self.varied_read(self.times.slc_read, None), at, known)
    }

    /// What a read takes this time that takes `read` on average, of a row of a block.
    #[inline(always)]
    fn varied_read(&self, read: Nanos, row: Option<u32>) -> Nanos {
        let NandCounts { pages_read, blocks_erased, .. } = self.counts;
        match &self.variation {
            None => read,
            Some(variation) => variation.read(read, row, pages_read, blocks_erased),
        }
    }

    /// A write that came at `arrives` is answered at `answered`: one that waits for long presses.
    #[inline(always)]
    pub(crate) fn note_write(&mut self, arrives: Nanos, answered: Nanos) {
        if let Some(Suspension { patience: Some(patience), .. }) = &self.suspension
            && answered.since(arrives) > *patience
        {
            self.pressed_until = self.pressed_until.max(answered);
        }
    }

    /// Sets the slow part of the variation of all its times.
    pub(crate) fn drifts(&mut self, drift: Drift) {
        if let Some(variation) = &mut self.variation {
            variation.drifts(drift);
        }
    }

    #[inline(always)]
    fn read_for(&mut self, die: u32, read: Nanos, at: Nanos, known: Nanos) -> Nanos {
        let slot = self.dies[die as usize];
        let opening = if slot.out_until > at {
            Opening { start: slot.reads_until.max(at), resume: Nanos::ZERO }
        } else if let Some(agenda) = self.agendas.get_mut(die as usize) {
            let mut suspension = self.suspension;
            if let Some(suspension) = &mut suspension
                && at < slot.busy_until
            {
                if at < self.pressed_until {
                    suspension.program = None;
                }
                if let Some(variation) = &self.variation {
                    let number = self.counts.pages_read;
                    suspension.vary(|wait| variation.suspension(wait, number));
                }
            }
            agenda.open(at, suspension.as_ref())
        } else {
            // Taking all queued operations but the one in progress for programs says where it is.
            let backlog = slot.busy_until.since(at);
            let program = self.times.mean_program.0.max(1);
            // Mostly no more than one is queued, and a division takes as long as all else here.
            let wait = if backlog.0 < program { backlog.0 } else { backlog.0 % program };
            Opening { start: at + Nanos(wait), resume: Nanos::ZERO }
        };
        let start = opening.start;
        let begins = start.max(known);
        // With cache registers the row before may still be on its way out of them.
        let ready = (begins + read).max(slot.out_until);
        let channel = self.channel_of(die);
        let transfer = self.times.page_transfer;
        let arrived = self.channels[channel].serve_when_ready(at, ready, transfer);
        // The page registers are taken until the data is out.
        let taken = arrived - begins.max(slot.out_until) + opening.resume;
        let late = begins - start;
        let cache_reads = self.times.cache_reads;
        let slot = &mut self.dies[die as usize];
        slot.busy_until = slot.busy_until.max(start) + taken;
        slot.out_until = slot.out_until.max(arrived - late);
        slot.reads_until = if cache_reads { ready - late } else { slot.out_until };
        if let Some(rest) = self.rests.get_mut(die as usize) {
            let takes = self.times.rest(read);
            *rest = Rest { takes, ready: ready + takes };
        }
        self.counts.pages_read += 1;
        self.put_off(die, taken);
        arrived
    }

    /// Fetches another page of the row that was read last, whose registers are free to give it
    /// from `after` on. Returns when it is in the controller.
    #[inline]
    pub(crate) fn read_more(&mut self, die: u32, at: Nanos, after: Nanos) -> Nanos {
        let transfer = self.times.page_transfer;
        let channel = self.channel_of(die);
        let rest = self.rests.get_mut(die as usize).map(std::mem::take).unwrap_or_default();
        let ready = after.max(rest.ready);
        let arrived = self.channels[channel].serve_when_ready(at, ready, transfer);
        let cache_reads = self.times.cache_reads;
        let slot = &mut self.dies[die as usize];
        slot.reads_until += rest.takes;
        slot.busy_until += arrived - after;
        slot.out_until += arrived - after;
        if !cache_reads {
            slot.reads_until = slot.out_until;
        }
        self.counts.pages_read += 1;
        self.put_off(die, arrived - after);
        arrived
    }

    /// Programs one row of a block, ordered at `at`, whose data is in the controller at `ready`.
    /// Returns when the row is on the NAND.
    #[inline(always)]
    pub(crate) fn program(&mut self, die: u32, row: u32, at: Nanos, ready: Nanos) -> Nanos {
        let program = self.times.program[self.kinds.of(row) as usize];
        self.program_for(die, program, at, ready)
    }

    /// The rows of a block that share their cells with a row and are programmed before it.
    pub(crate) fn beneath(&self, row: u32) -> Vec<u32> {
        self.kinds.beneath(row)
    }

    /// How long the array of a die takes for what it was told to program last.
    pub(crate) fn last_program(&self, die: u32) -> Nanos {
        self.dies[die as usize].last_program
    }

    /// The same with one bit a cell.
    pub(crate) fn program_slc(&mut self, die: u32, at: Nanos, ready: Nanos) -> Nanos {
        self.program_for(die, self.times.slc_program, at, ready)
    }

    #[inline(always)]
    fn program_for(&mut self, die: u32, program: Nanos, at: Nanos, ready: Nanos) -> Nanos {
        let program = match &self.variation {
            None => program,
            Some(variation) => variation.program(program, self.counts.rows_programmed),
        };
        let times = &self.times;
        let data_in = times.row_transfer;
        let channel = self.channel_of(die);
        let slot = &mut self.dies[die as usize];
        let registers_free = if times.cache_programs {
            slot.busy_until.since(slot.last_program).max(slot.out_until)
        } else {
            slot.busy_until
        };
        let start = registers_free.max(ready);
        let loaded = self.channels[channel].serve_when_ready(at, start, data_in);
        // Data that comes in while the array is busy waits in the cache registers.
        let begins = loaded.max(slot.busy_until);
        let taken_from = (loaded - data_in).max(slot.busy_until);
        let end = begins + program;
        slot.busy_until = end;
        slot.last_program = program;
        self.counts.rows_programmed += 1;
        if let Some(agenda) = self.agendas.get_mut(die as usize) {
            agenda.add(Operation::Program, at, [taken_from, end], 1);
        }
        end
    }

    /// Programs `pages` of one row, ordered at `at` with their data in the controller, after what
    /// the die has to do already; an erase before that if they are the first of a block. Returns
    /// when they are on the NAND. Which row it is, is not known, so it takes the mean time.
    pub(crate) fn program_pages(
        &mut self,
        die: u32,
        pages: u32,
        begins_block: bool,
        at: Nanos,
    ) -> Nanos {
        let transfers = Nanos(self.times.page_transfer.0 * u64::from(pages));
        let erase = if begins_block { self.times.erase } else { Nanos::ZERO };
        let channel = self.channel_of(die);
        self.channels[channel].serve(at, transfers);
        let slot = &mut self.dies[die as usize];
        let start = slot.busy_until.max(at);
        let erased = start + erase;
        let end = erased + transfers + self.times.mean_program;
        slot.busy_until = end;
        slot.last_program = self.times.mean_program;
        self.counts.single_pages_programmed += u64::from(pages);
        self.counts.blocks_erased += u64::from(begins_block);
        if let Some(agenda) = self.agendas.get_mut(die as usize) {
            agenda.add(Operation::Erase, at, [start, erased], 1);
            agenda.add(Operation::Program, at, [erased, end], 1);
        }
        end
    }

    /// Has a die do `chores`, ordered at `at`, from `ready` on and after what it has to do already.
    /// Returns when they are done; `ready` if there are none.
    #[inline(always)]
    pub(crate) fn chores(&mut self, die: u32, chores: &Chores, at: Nanos, ready: Nanos) -> Nanos {
        if chores.is_empty() {
            return ready;
        }
        let one_by_one = !self.times.cache_reads && !self.times.cache_programs;
        if self.agendas.is_empty() && one_by_one && self.rests.is_empty() {
            return self.chores_of_one_kind(die, chores, at, ready);
        }
        self.chores_of_any_kind(die, chores, at, ready)
    }

    #[inline(never)]
    fn chores_of_any_kind(&mut self, die: u32, chores: &Chores, at: Nanos, ready: Nanos) -> Nanos {
        let channel = self.channel_of(die);
        let rows_programmed = u64::from(chores.rows_programmed());
        self.channels[channel].serve(at, self.times.transfers(chores));
        let mut times = self.times.of_chores(chores);
        if let Some(variation) = &self.variation {
            times.vary(variation.collection(self.counts.rows_programmed));
        }
        let slot = &mut self.dies[die as usize];
        let start = slot.busy_until.max(ready);
        slot.busy_until = start + times.sum();
        slot.last_program = self.times.shortest_program(chores);
        self.counts.pages_read += u64::from(chores.pages_out);
        self.counts.rows_programmed += rows_programmed;
        self.counts.blocks_erased += u64::from(chores.blocks_erased);
        if let Some(agenda) = self.agendas.get_mut(die as usize) {
            note_chores(agenda, chores, times, [at, start]);
        }
        self.dies[die as usize].busy_until
    }

    /// The same where all rows are of one kind and nothing overlaps, as it mostly is.
    #[inline(always)]
    fn chores_of_one_kind(&mut self, die: u32, chores: &Chores, at: Nanos, ready: Nanos) -> Nanos {
        let channel = self.channel_of(die);
        let times = &self.times;
        let rows = u64::from(chores.programs[0]);
        let transfers =
            times.page_transfer.0 * u64::from(chores.pages_out) + times.row_transfer.0 * rows;
        let array = times.erase.0 * u64::from(chores.blocks_erased)
            + times.mean_read.0 * u64::from(chores.rows_read)
            + times.program[0].0 * rows;
        self.channels[channel].serve(at, Nanos(transfers));
        let mut takes = Nanos(array + transfers);
        if let Some(variation) = &self.variation {
            takes = variation.collection(self.counts.rows_programmed).of(takes);
        }
        let slot = &mut self.dies[die as usize];
        slot.busy_until = slot.busy_until.max(ready) + takes;
        slot.last_program = if rows > 0 { times.program[0] } else { Nanos::ZERO };
        self.counts.pages_read += u64::from(chores.pages_out);
        self.counts.rows_programmed += rows;
        self.counts.blocks_erased += u64::from(chores.blocks_erased);
        slot.busy_until
    }

    /// Whether a loaded NAND is one that `made`, which is new, could have become.
    pub(crate) fn fits(&self, made: &Nand) -> bool {
        let Nand {
            times,
            kinds,
            suspension,
            channels,
            by_channels,
            dies,
            agendas,
            rests,
            counts,
            variation,
            pressed_until,
        } = self;
        let NandCounts { pages_read, rows_programmed, single_pages_programmed, blocks_erased } =
            *counts;
        let counted = pages_read.max(rows_programmed).max(single_pages_programmed);
        (times, kinds, suspension) == (&made.times, &made.kinds, &made.suspension)
            && by_channels == &made.by_channels
            && channels.len() == made.channels.len()
            && channels.iter().all(|lane| lane.is_sane())
            && dies.len() == made.dies.len()
            && dies.iter().all(Die::is_sane)
            && agendas.len() == made.agendas.len()
            && agendas.iter().all(Agenda::is_sane)
            && rests.len() == made.rests.len()
            && rests.iter().all(Rest::is_sane)
            && counted.max(blocks_erased) <= MOST_MOVED
            && *pressed_until <= LATEST
            && match (variation, &made.variation) {
                (None, None) => true,
                (Some(variation), Some(made)) => variation.fits(made),
                _ => false,
            }
    }

    /// When a die can begin another operation of its own, from `from` on: its channel is then free,
    /// too.
    pub(crate) fn next_operation(&self, die: u32, from: Nanos) -> Nanos {
        let channel = self.channels[self.channel_of(die)].backlog_ends(from);
        self.dies[die as usize].busy_until.max(channel)
    }

    /// Whether `chores` are done by `until` if the die begins them now, but not before `from`.
    pub(crate) fn has_time_for(
        &self,
        die: u32,
        chores: &Chores,
        from: Nanos,
        until: Nanos,
    ) -> bool {
        let time = self.times.of_chores(chores).sum();
        let start = self.dies[die as usize].busy_until.max(from);
        let channel = self.channels[self.channel_of(die)].backlog_ends(from);
        start + time <= until && channel + self.times.transfers(chores) <= until
    }

    /// Has a die do what can be begun of `chores` before `until`, from `from` on. Returns the rest.
    pub(crate) fn chores_until(
        &mut self,
        die: u32,
        mut chores: Chores,
        from: Nanos,
        until: Nanos,
    ) -> Chores {
        if self.has_time_for(die, &chores, from, until) {
            self.chores(die, &chores, from, from);
            return Chores::default();
        }
        while self.next_operation(die, from) < until
            && let Some(one) = chores.take_one()
        {
            let begins = self.next_operation(die, from);
            self.chores(die, &one, from, begins);
        }
        chores
    }

    /// What a die has not done yet is put off by a read.
    #[inline]
    fn put_off(&mut self, die: u32, by: Nanos) {
        if let Some(agenda) = self.agendas.get_mut(die as usize) {
            agenda.put_off(by);
        }
    }

    /// Dies take turns on the channels, so that neighbours in a stripe do not share one.
    #[inline]
    fn channel_of(&self, die: u32) -> usize {
        self.by_channels.divide(die).1 as usize
    }
}

impl Die {
    /// Whether its times are ones that can be reckoned with.
    fn is_sane(&self) -> bool {
        let Die { busy_until, reads_until, out_until, last_program } = *self;
        busy_until.max(reads_until).max(out_until).max(last_program) <= LATEST
    }
}

/// Erases first, then reads, then programs, which may go on with one of host data.
fn note_chores(agenda: &mut Agenda, chores: &Chores, times: ChoreTimes, [at, start]: [Nanos; 2]) {
    let programs = times.programs.into_iter().zip(chores.programs);
    let mut from = start;
    for (operation, time, count) in [
        (Operation::Erase, times.erases, chores.blocks_erased),
        (Operation::Read, times.reads, chores.rows_read + chores.slc_rows_read),
    ]
    .into_iter()
    .chain(programs.map(|(time, rows)| (Operation::Program, time, rows)))
    {
        agenda.add(operation, at, [from, from + time], count);
        from += time;
    }
}
