//! What a drive of the cache failed.

use fourcorners_drive::{FaultCause, Io, Lba, Op, Target};

use super::super::config::{CacheMode, DISK, SSD, UNIT_BYTES, UNIT_SECTORS};
use super::super::plan::Part;
use super::{Cache, Purpose};
use crate::member::Answer;

impl<T: Target> Cache<T> {
    /// A drive failed a part of a job. The disk does what the SSD failed, where its data is as new. A drive that takes no TRIM
    /// is not sent another, and the job goes on.
    pub(super) fn failed_part(&mut self, id: u32, answer: &Answer, cause: FaultCause) {
        // First, since a TRIM may have very many parts. The SSD's are of copies that are forgotten anyway.
        if answer.io.op == Op::Trim && (cause == FaultCause::Unsupported || answer.member == SSD) {
            self.takes_trim[answer.member] = false;
            return;
        }
        let job = &mut self.jobs[id as usize];
        let of = |part: &&Part| part.member == answer.member && part.io == answer.io;
        let home = job.plan.first.iter().chain(&job.plan.then).find(of).map_or(0, |part| part.home);
        let io = answer.io;
        match (answer.member, io.op, job.purpose) {
            (SSD, Op::Read, Purpose::Host { .. }) => {
                if self.is_newer(home, io.sectors.into()) {
                    self.jobs[id as usize].fault = Some(cause);
                    return;
                }
                self.drop_units(home, io.sectors.into(), &[]);
                self.counts.repaired_reads += 1;
                self.stand_in(id, Io { lba: Lba(home), ..io }, home);
            }
            (SSD, Op::Write, Purpose::Host { io: asked, .. }) => {
                self.is_ssd_worn = true;
                if asked.op == Op::Read {
                    // It was answered before; what it was to bring does not come.
                    job.fault = Some(cause);
                    return;
                }
                let stays = std::mem::take(&mut job.plan.rest_is_newer);
                if stays.iter().any(|&(_, units)| units != 0) {
                    job.fault = Some(cause);
                }
                self.drop_units(home, io.sectors.into(), &stays);
                self.jobs[id as usize].plan.rest_is_newer = stays;
                if self.config.mode == CacheMode::WriteBack {
                    self.stand_in(id, Io { lba: Lba(home), ..io }, home);
                }
            }
            _ => job.fault = Some(cause),
        }
    }

    /// Asks the disk for what the SSD failed.
    fn stand_in(&mut self, id: u32, io: Io, home: u64) {
        self.jobs[id as usize].left += 1;
        self.hand_on(id, Part { member: DISK, io, home });
    }

    /// The units of these sectors that have a slot, each with its bit.
    fn cached(&self, home: u64, sectors: u64) -> Vec<(u32, u64)> {
        let a_block = self.config.block_bytes / UNIT_BYTES;
        let units = home / UNIT_SECTORS..(home + sectors).div_ceil(UNIT_SECTORS);
        let of = |unit: u64| Some((self.slots.find(unit / a_block)?, 1 << (unit % a_block)));
        units.filter_map(of).collect()
    }

    /// Whether any of it is newer than on the disk.
    fn is_newer(&self, home: u64, sectors: u64) -> bool {
        let newer = |&(slot, bit): &(u32, u64)| self.slots.get(slot).dirty & bit != 0;
        self.cached(home, sectors).iter().any(newer)
    }

    /// What lies in these sectors leaves the cache, but for some units.
    fn drop_units(&mut self, home: u64, sectors: u64, but: &[(u32, u64)]) {
        for (slot, bit) in self.cached(home, sectors) {
            if !but.iter().any(|&(other, units)| other == slot && units & bit != 0) {
                self.slots.drop(slot, bit);
            }
        }
    }
}
