//! Whether the map agrees with itself. For tests.

use super::{LogBlockMap, NOWHERE};
use crate::consistency::Inconsistency;

impl LogBlockMap {
    /// Whether maps, log and counts agree; the first place where they do not.
    pub(crate) fn check(&self) -> Result<(), Inconsistency> {
        self.check_units()?;
        self.check_blocks()
    }

    /// Every unit is in the log, in its data block or nowhere, and every log block counts its own.
    fn check_units(&self) -> Result<(), Inconsistency> {
        let mut live: Vec<u32> =
            vec![0; self.pool.in_use().map(|(id, _)| id + 1).max().unwrap_or(0) as usize];
        for unit in 0..self.user_units {
            let place = self.logged[unit as usize];
            if place == NOWHERE {
                let (logical, _) = self.by_units.divide(unit);
                if self.is_in_data(unit) && self.data[logical as usize] == NOWHERE {
                    return Err(format!("unit {unit} is in a data block that is not there").into());
                }
                continue;
            }
            if self.is_in_data(unit) {
                return Err(format!("unit {unit} is in the log and in its data block").into());
            }
            if self.pool.holds(place) != unit {
                return Err(format!(
                    "unit {unit} is mapped to {place} of the log, which does not hold it"
                )
                .into());
            }
            let (log, position) = self.by_units.divide(place);
            let count =
                live.get_mut(log as usize).filter(|_| self.pool.get(log).superblock != NOWHERE);
            let Some(count) = count.filter(|_| position < self.pool.get(log).filled) else {
                return Err(format!(
                    "unit {unit} is in log block {log} at {position}, where nothing is"
                )
                .into());
            };
            *count += 1;
        }
        for (id, log) in self.pool.in_use() {
            let found = live[id as usize];
            if found != log.live {
                return Err(format!("log block {id}: {found} live, {} counted", log.live).into());
            }
        }
        Ok(())
    }

    /// Every block is a data block, a log block or free, and only one of these.
    fn check_blocks(&self) -> Result<(), Inconsistency> {
        let logs = self.pool.in_use().map(|(_, log)| log.superblock);
        let data = self.data.iter().copied().filter(|&block| block != NOWHERE);
        let mut uses = vec![0; self.stripe.superblocks() as usize];
        logs.chain(data)
            .chain(self.free.iter().copied())
            .for_each(|block| uses[block as usize] += 1);
        match uses.iter().position(|&uses| uses != 1) {
            Some(block) => Err(format!("block {block} is used {} times", uses[block]).into()),
            None => Ok(()),
        }
    }
}
