//! How worn a virtual SSD is.

use super::Ssd;

/// How worn a drive's flash is. An erase counts a block on every plane of its die as one block.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wear {
    /// Erases of the least worn block.
    pub erases_min: u32,
    /// Mean over all blocks, failed ones included.
    pub erases_mean: f64,
    /// Erases of the most worn block.
    pub erases_max: u32,
    /// Standard deviation over all blocks.
    pub erases_std: f64,
    /// The mean over the rated cycles: 1 when the flash has borne what it was rated for. `None` for
    /// a drive that does not wear out.
    pub endurance_used: Option<f64>,
    /// Blocks that have failed and are used no more.
    pub blocks_retired: u32,
    /// Whether so many have that the drive takes no more writes.
    pub read_only: bool,
}

impl Ssd {
    /// How worn the flash is. Looks at every block.
    pub fn wear(&self) -> Wear {
        let (mut blocks, mut sum, mut squares) = (0u64, 0u64, 0u128);
        let (mut least, mut most) = (u32::MAX, 0);
        for erases in self.ftl.erases() {
            blocks += 1;
            sum += u64::from(erases);
            squares += u128::from(erases) * u128::from(erases);
            least = least.min(erases);
            most = most.max(erases);
        }
        // A config has eight blocks or more.
        let mean = sum as f64 / blocks as f64;
        // In whole numbers up to here: equal counts deviate by exactly 0.
        let scatter = u128::from(blocks) * squares - u128::from(sum) * u128::from(sum);
        Wear {
            erases_min: least,
            erases_mean: mean,
            erases_max: most,
            erases_std: (scatter as f64).sqrt() / blocks as f64,
            endurance_used: self.ftl.rated_cycles().map(|rated| mean / f64::from(rated)),
            blocks_retired: self.ftl.retired_blocks() as u32,
            read_only: self.is_read_only(),
        }
    }

    /// Whether the drive is worn out: it reads, and refuses writes and TRIM.
    pub fn is_read_only(&self) -> bool {
        self.ftl.is_worn_out()
    }
}
