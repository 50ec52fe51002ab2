//! How long the NAND takes.

use serde::{Deserialize, Serialize};

use super::chores::Chores;
use super::page_kinds::{PAGE_KINDS, PageKind, PageKinds};
use crate::Nanos;
use crate::config::{NandCellsSection, SsdConfig};
use crate::variation::Factor;

/// The times of a die and its channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Times {
    /// Array to page registers, mean over the rows of a block.
    pub(super) mean_read: Nanos,
    /// The same by kind of page.
    pub(super) read: [Nanos; PAGE_KINDS],
    /// Array to page registers of the rest of a row over that of its first page, thousandths.
    rest_of_thousand: u64,
    /// Program, mean over the rows of a block.
    pub(super) mean_program: Nanos,
    /// The same by kind of page.
    pub(super) program: [Nanos; PAGE_KINDS],
    /// Of rows that are written with one bit a cell.
    pub(super) slc_read: Nanos,
    pub(super) slc_program: Nanos,
    pub(super) erase: Nanos,
    /// One page over a channel.
    pub(super) page_transfer: Nanos,
    /// A page of every plane over a channel.
    pub(super) row_transfer: Nanos,
    /// Whether a second register a plane lets data go out while the next row is read.
    pub(super) cache_reads: bool,
    /// Whether it lets data come in while the row before is programmed.
    pub(super) cache_programs: bool,
}

/// How long the parts of [`Chores`] take a die, in the order it does them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChoreTimes {
    pub(super) erases: Nanos,
    pub(super) reads: Nanos,
    /// By kind of page, data going in included.
    pub(super) programs: [Nanos; PAGE_KINDS],
}

impl Times {
    pub(super) fn new(config: &SsdConfig, kinds: &PageKinds) -> Times {
        let nand = &config.nand;
        let bytes_per_ns = nand.bus_mb_per_s * 1e6 / 1e9;
        let page_ns = f64::from(nand.page_bytes) / bytes_per_ns;
        let page_transfer = Nanos(page_ns.round() as u64);
        let rows = kinds.count(0, nand.pages_per_block);
        let by_kind = |mean_us: f64, ratios: [f64; PAGE_KINDS]| by_kind(mean_us, ratios, rows);
        let cells = config.nand_cells.as_ref();
        let slc = config.slc_buffer.as_ref();
        let is_set = |flag: Option<bool>| flag == Some(true);
        Times {
            mean_read: Nanos::from_micros(nand.read_us),
            read: by_kind(nand.read_us, read_ratios(cells)),
            rest_of_thousand: (nand.rest_read_ratio.unwrap_or(0.0) * 1e3).round() as u64,
            mean_program: Nanos::from_micros(nand.program_us),
            program: by_kind(nand.program_us, program_ratios(cells)),
            slc_read: slc.map_or(Nanos::ZERO, |slc| Nanos::from_micros(slc.read_us)),
            slc_program: slc.map_or(Nanos::ZERO, |slc| Nanos::from_micros(slc.program_us)),
            erase: Nanos::from_micros(nand.erase_us),
            page_transfer,
            row_transfer: Nanos(page_transfer.0 * u64::from(nand.planes)),
            cache_reads: is_set(nand.cache_reads),
            cache_programs: is_set(nand.cache_programs),
        }
    }

    /// Whether the rest of a row takes the array a second time.
    pub(super) fn has_rest(&self) -> bool {
        self.rest_of_thousand > 0
    }

    /// How long the rest of a row takes, the page of it that was asked for first having taken `read`.
    pub(super) fn rest(&self, read: Nanos) -> Nanos {
        Nanos(read.0 * self.rest_of_thousand / 1000)
    }

    /// How long `chores` take. Collection reads rows of all kinds alike, so its reads are counted at
    /// their mean; what it programs is counted by kind.
    #[inline]
    pub(super) fn of_chores(&self, chores: &Chores) -> ChoreTimes {
        let slc_rows_read = u64::from(chores.slc_rows_read);
        let rows_read = u64::from(chores.rows_read) + slc_rows_read;
        let mut array =
            self.mean_read.0 * u64::from(chores.rows_read) + self.slc_read.0 * slc_rows_read;
        if self.has_rest() && rows_read > 0 {
            // The most rows of which more than one page can be among those moved out.
            let several = u64::from(chores.pages_out).saturating_sub(rows_read).min(rows_read);
            // The products overflow 64 bits where reads take a second and blocks have many rows.
            let rests = u128::from(array) * u128::from(self.rest_of_thousand) / 1000;
            array += (rests * u128::from(several) / u128::from(rows_read)) as u64;
        }
        let out = self.page_transfer.0 * u64::from(chores.pages_out);
        let reads = if self.cache_reads && rows_read > 0 {
            // The slower of the two sets the pace, and the other is seen once.
            array.max(out) + (array / rows_read).min(out / rows_read)
        } else {
            array + out
        };
        let mut programs = [Nanos::ZERO; PAGE_KINDS];
        let data_in = self.row_transfer;
        let mut filling = self.cache_programs;
        for (kind, &rows) in chores.programs.iter().enumerate().filter(|&(_, &rows)| rows > 0) {
            let program = self.program[kind];
            let each = if self.cache_programs { program.max(data_in) } else { program + data_in };
            programs[kind] = Nanos(each.0 * u64::from(rows));
            if std::mem::take(&mut filling) {
                // The first row's data goes in while nothing is programmed.
                programs[kind] += program.min(data_in);
            }
        }
        let erases = Nanos(self.erase.0 * u64::from(chores.blocks_erased));
        ChoreTimes { erases, reads: Nanos(reads), programs }
    }

    /// How long `chores` take of the die's channel.
    #[inline]
    pub(super) fn transfers(&self, chores: &Chores) -> Nanos {
        let out = self.page_transfer.0 * u64::from(chores.pages_out);
        Nanos(out + self.row_transfer.0 * u64::from(chores.rows_programmed()))
    }

    /// The shortest of the programs that are among `chores`; 0 when there are none.
    pub(super) fn shortest_program(&self, chores: &Chores) -> Nanos {
        // By reference: the counts were written one by one a moment ago, and a processor waits when
        // they are copied as one.
        let programs = self.program.iter().zip(&chores.programs);
        programs.filter(|&(_, &rows)| rows > 0).map(|(&time, _)| time).min().unwrap_or_default()
    }
}

impl ChoreTimes {
    /// All of them are longer or shorter by the same factor.
    pub(super) fn vary(&mut self, factor: Factor) {
        self.erases = factor.of(self.erases);
        self.reads = factor.of(self.reads);
        self.programs = self.programs.map(|time| factor.of(time));
    }

    pub(super) fn sum(&self) -> Nanos {
        self.programs.iter().fold(self.erases + self.reads, |sum, &programs| sum + programs)
    }
}

/// The time of each kind of page, of which a block has `rows`, so that their mean over the block is
/// `mean_us` and the times relate as `ratios`.
fn by_kind(
    mean_us: f64,
    ratios: [f64; PAGE_KINDS],
    rows: [u32; PAGE_KINDS],
) -> [Nanos; PAGE_KINDS] {
    let all: u32 = rows.iter().sum();
    if ratios == [1.0; PAGE_KINDS] {
        return [Nanos::from_micros(mean_us); PAGE_KINDS];
    }
    let weight: f64 = rows.iter().zip(ratios).map(|(&rows, ratio)| f64::from(rows) * ratio).sum();
    let lower_us = mean_us * f64::from(all) / weight;
    ratios.map(|ratio| Nanos::from_micros(lower_us * ratio))
}

/// Times of the kinds of pages over that of a lower one.
fn ratios(middle: Option<f64>, upper: Option<f64>) -> [f64; PAGE_KINDS] {
    let mut ratios = [1.0; PAGE_KINDS];
    ratios[PageKind::Middle as usize] = middle.unwrap_or(1.0);
    ratios[PageKind::Upper as usize] = upper.unwrap_or(1.0);
    ratios
}

fn program_ratios(cells: Option<&NandCellsSection>) -> [f64; PAGE_KINDS] {
    ratios(
        cells.and_then(|cells| cells.middle_program_ratio),
        cells.and_then(|cells| cells.upper_program_ratio),
    )
}

fn read_ratios(cells: Option<&NandCellsSection>) -> [f64; PAGE_KINDS] {
    ratios(
        cells.and_then(|cells| cells.middle_read_ratio),
        cells.and_then(|cells| cells.upper_read_ratio),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_a_second_of_many_rows_are_reckoned_with() {
        let mut config = SsdConfig::default();
        config.nand.read_us = 1e6;
        config.nand.rest_read_ratio = Some(10.0);
        let times = Times::new(&config, &PageKinds::new(None, 64));
        const ROWS: u32 = 1 << 20;
        let reads = |pages_out| {
            let chores = Chores { rows_read: ROWS, pages_out, ..Chores::default() };
            times.of_chores(&chores).reads.0 - times.page_transfer.0 * u64::from(pages_out)
        };
        let seconds = u64::from(ROWS) * 1_000_000_000;
        assert_eq!(reads(ROWS), seconds, "a page of each");
        assert_eq!(reads(ROWS + ROWS / 2), seconds + 10 * seconds / 2, "two of every second row");
        assert_eq!(reads(4 * ROWS), 11 * seconds);
    }
}
