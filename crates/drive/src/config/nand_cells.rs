//! The cells of the flash: how many pages share one, and how much slower the later ones are.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// The cells of the flash, and what follows for its times.
///
/// Without it all rows of a block take `nand.program_us` and `nand.read_us`, and a read that finds
/// its die busy takes the operation in progress for a program even if it is an erase. With it, those
/// two are means over a block, from which the times of the kinds of pages follow by their
/// ratios, and a read waits for what really is in progress.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NandCellsSection {
    /// How many bits a cell holds, and so how many pages share it.
    pub kind: CellKind,
    /// In which order the pages of a block are programmed; SLC does not use it.
    pub order: PageOrder,
    /// Pages of one kind that a word line has, 1 to 64: 1 when all bit lines are programmed at once,
    /// 2 when the even and the odd ones are programmed apart. SLC does not use it.
    pub pages_per_level: u32,
    /// Program time of a middle page over that of a lower one, 0.01 to 100; 1 when absent. TLC only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub middle_program_ratio: Option<f64>,
    /// Program time of an upper page over that of a lower one, 0.01 to 100; 1 when absent. MLC and
    /// TLC only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_program_ratio: Option<f64>,
    /// Read time of a middle page over that of a lower one, 0.01 to 100; 1 when absent. TLC only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub middle_read_ratio: Option<f64>,
    /// Read time of an upper page over that of a lower one, 0.01 to 100; 1 when absent. MLC and TLC
    /// only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_read_ratio: Option<f64>,
}

impl Default for NandCellsSection {
    /// MLC, of which lower and upper pages take as long.
    fn default() -> NandCellsSection {
        NandCellsSection {
            kind: CellKind::Mlc,
            order: PageOrder::Shadow,
            pages_per_level: 1,
            middle_program_ratio: None,
            upper_program_ratio: None,
            middle_read_ratio: None,
            upper_read_ratio: None,
        }
    }
}

/// How many bits a cell holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// One: all pages are lower ones.
    Slc,
    /// Two: a lower and an upper page share it.
    Mlc,
    /// Three: a lower, a middle and an upper page share it.
    Tlc,
}

impl CellKind {
    /// Pages that share a cell.
    pub(super) fn bits(self) -> u32 {
        match self {
            CellKind::Slc => 1,
            CellKind::Mlc => 2,
            CellKind::Tlc => 3,
        }
    }
}

/// In which order the pages of a block are programmed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageOrder {
    /// A word line's next page only after the page before it of the next word line, so that a
    /// finished word line has one neighbour less to disturb it: MLC L0 L1 U0 L2 U1 L3 U2 ..., TLC
    /// L0 L1 M0 L2 M1 U0 L3 M2 U1 ... (planar NAND; Linux's mtd pairs MLC pages so, as "dist3").
    Shadow,
    /// All pages of a word line, then those of the next.
    InTurn,
}

impl NandCellsSection {
    pub(super) fn check(&self, pages_per_block: u32) -> Result<(), ConfigError> {
        within("nand_cells.pages_per_level", self.pages_per_level, 1..=64)?;
        let bits = self.kind.bits();
        for (key, ratio, needs) in [
            ("nand_cells.middle_program_ratio", self.middle_program_ratio, 3),
            ("nand_cells.upper_program_ratio", self.upper_program_ratio, 2),
            ("nand_cells.middle_read_ratio", self.middle_read_ratio, 3),
            ("nand_cells.upper_read_ratio", self.upper_read_ratio, 2),
        ] {
            let Some(ratio) = ratio else { continue };
            within(key, ratio, 0.01..=100.0)?;
            if bits < needs {
                let must = "it must be left out: cells of this nand_cells.kind have no such page";
                return Err(ConfigError::new(key, ratio, must));
            }
        }
        let word_line = bits * self.pages_per_level;
        if bits > 1 && !pages_per_block.is_multiple_of(word_line) {
            return Err(ConfigError::new(
                "nand.pages_per_block",
                pages_per_block,
                format_args!(
                    "it must be a multiple of {word_line}, the pages of a word line by [nand_cells]"
                ),
            ));
        }
        Ok(())
    }
}
