//! Which rows of a block are fast and which are slow.
//!
//! A cell of several bits holds one bit each of several pages, which share a word line: the lower,
//! (middle) and upper page. Each takes longer to program than the one before, because it has to
//! tell more levels apart.

use serde::{Deserialize, Serialize};

use crate::config::{CellKind, NandCellsSection, PageOrder};

/// The place of a page among those that share its cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum PageKind {
    /// Programmed first; the only kind of an SLC block.
    Lower = 0,
    /// The second of three.
    Middle = 1,
    /// Programmed last.
    Upper = 2,
}

/// Kinds there are, at most.
pub(crate) const PAGE_KINDS: usize = 3;

/// By row of a block: its kind. The FTL counts rows by it and the NAND times them by it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PageKinds {
    /// Empty when all rows are alike.
    by_row: Box<[PageKind]>,
}

impl PageKinds {
    /// The kinds of a block of `pages` rows; all are alike when nothing is said of the cells. The
    /// config's check has seen to it that word lines fill the block.
    pub(crate) fn new(cells: Option<&NandCellsSection>, pages: u32) -> PageKinds {
        let Some(cells) = cells else {
            return PageKinds { by_row: Box::default() };
        };
        let levels = levels(cells.kind);
        if levels.len() == 1 {
            return PageKinds { by_row: Box::default() };
        }
        let alike = cells.pages_per_level as usize;
        let word_lines = pages as usize / (levels.len() * alike);
        // At each step the order goes one level up and so many word lines back.
        let (steps, back) = match cells.order {
            PageOrder::InTurn => (word_lines, 0),
            PageOrder::Shadow => (word_lines + levels.len() - 1, 1),
        };
        let mut by_row = Vec::with_capacity(pages as usize);
        for step in 0..steps {
            for (level, &kind) in levels.iter().enumerate() {
                let word_line = step.checked_sub(level * back);
                if word_line.is_some_and(|word_line| word_line < word_lines) {
                    by_row.extend(std::iter::repeat_n(kind, alike));
                }
            }
        }
        PageKinds { by_row: by_row.into() }
    }

    /// Whether all rows are of the lowest.
    #[inline]
    pub(super) fn are_alike(&self) -> bool {
        self.by_row.is_empty()
    }

    /// The kind of a row of a block.
    #[inline]
    pub(crate) fn of(&self, row: u32) -> PageKind {
        self.by_row.get(row as usize).copied().unwrap_or(PageKind::Lower)
    }

    /// The rows that share their cells with a row and were programmed before it: those of the lower kinds that are as
    /// many of their kind on as it is of its own.
    pub(crate) fn beneath(&self, row: u32) -> Vec<u32> {
        let kind = self.of(row);
        let Some(before) = self.by_row.get(..row as usize) else { return Vec::new() };
        let of_kind = |kind: PageKind| move |it: &&PageKind| **it == kind;
        let nth = before.iter().filter(of_kind(kind)).count();
        [PageKind::Lower, PageKind::Middle]
            .into_iter()
            .filter(|lower| (*lower as usize) < kind as usize)
            .filter_map(|lower| {
                let rows = self.by_row.iter().enumerate().filter(|(_, it)| **it == lower);
                rows.map(|(row, _)| row as u32).nth(nth)
            })
            .collect()
    }

    /// How many of the rows from `from` up to but not including `to` are of each kind.
    #[inline]
    pub(crate) fn count(&self, from: u32, to: u32) -> [u32; PAGE_KINDS] {
        let mut counts = [0; PAGE_KINDS];
        if self.by_row.is_empty() {
            counts[PageKind::Lower as usize] = to - from;
        } else {
            (from..to).for_each(|row| counts[self.of(row) as usize] += 1);
        }
        counts
    }
}

/// The kinds of the pages that share a cell, in the order they are programmed.
fn levels(cells: CellKind) -> &'static [PageKind] {
    match cells {
        CellKind::Slc => &[PageKind::Lower],
        CellKind::Mlc => &[PageKind::Lower, PageKind::Upper],
        CellKind::Tlc => &[PageKind::Lower, PageKind::Middle, PageKind::Upper],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds of a block, a letter a row.
    fn letters(kind: CellKind, order: PageOrder, pages_per_level: u32, pages: u32) -> String {
        let cells =
            NandCellsSection { kind, order, pages_per_level, ..NandCellsSection::default() };
        let kinds = PageKinds::new(Some(&cells), pages);
        let letter = |row| ['L', 'M', 'U'][kinds.of(row) as usize];
        let counts = kinds.count(1, pages);
        let letters: String = (0..pages).map(letter).collect();
        for (count, letter) in counts.into_iter().zip("LMU".chars()) {
            assert_eq!(count as usize, letters[1..].matches(letter).count(), "{letters}");
        }
        letters
    }

    #[test]
    fn shared_pages_alternate_after_the_first_ones() {
        use PageOrder::*;
        // As Linux pairs pages of MLC NAND (mtd, "dist3"): page 0 and the odd ones are lower, the
        // even ones and the last are upper.
        assert_eq!(letters(CellKind::Mlc, Shadow, 1, 12), "LLULULULULUU");
        // With even and odd bit lines apart, two by two.
        assert_eq!(letters(CellKind::Mlc, Shadow, 2, 16), "LLLLUULLUULLUUUU");
        assert_eq!(letters(CellKind::Tlc, Shadow, 1, 15), "LLMLMULMULMUMUU");
        assert_eq!(letters(CellKind::Mlc, InTurn, 2, 8), "LLUULLUU");
        assert_eq!(letters(CellKind::Tlc, InTurn, 1, 6), "LMULMU");
        assert_eq!(letters(CellKind::Slc, Shadow, 1, 4), "LLLL");
    }

    #[test]
    fn a_row_shares_its_cells_with_the_lower_pages_of_its_word_line() {
        let kinds = |kind, order, pages_per_level, pages| {
            let cells =
                NandCellsSection { kind, order, pages_per_level, ..NandCellsSection::default() };
            PageKinds::new(Some(&cells), pages)
        };
        // Pairs of MLC NAND (Linux, mtd, "dist3"): 0 and 2, 1 and 4, 3 and 6.
        let mlc = kinds(CellKind::Mlc, PageOrder::Shadow, 1, 12);
        assert_eq!([2, 4, 6, 11].map(|row| mlc.beneath(row)), [[0], [1], [3], [9]]);
        assert_eq!([0, 1, 3, 9].map(|row| mlc.beneath(row).len()), [0; 4]);
        // LLMLMULMULMUMUU
        let tlc = kinds(CellKind::Tlc, PageOrder::Shadow, 1, 15);
        assert_eq!(tlc.beneath(2), [0]);
        assert_eq!(tlc.beneath(5), [0, 2]);
        assert_eq!(tlc.beneath(14), [9, 12]);
        let two = kinds(CellKind::Mlc, PageOrder::Shadow, 2, 16);
        assert_eq!([4, 5].map(|row| two.beneath(row)), [[0], [1]]);
        assert!(PageKinds::new(None, 64).beneath(5).is_empty());
    }

    #[test]
    fn every_kind_has_its_share_of_a_block() {
        for (kind, order) in [
            (CellKind::Mlc, PageOrder::Shadow),
            (CellKind::Tlc, PageOrder::Shadow),
            (CellKind::Tlc, PageOrder::InTurn),
        ] {
            let letters = letters(kind, order, 2, 768);
            let shares: Vec<usize> = "LMU".chars().map(|c| letters.matches(c).count()).collect();
            let expected = if kind == CellKind::Mlc { [384, 0, 384] } else { [256; 3] };
            assert_eq!(shares, expected);
        }
    }

    #[test]
    fn one_word_line_is_enough() {
        assert_eq!(letters(CellKind::Tlc, PageOrder::Shadow, 1, 3), "LMU");
    }
}
