//! Runs of a virtual drive, which differ as those of a real one do.

use super::Drive;
use crate::virtual_drive::Virtual;

impl Drive {
    /// Begins another run of a drive whose times vary ([`Ssd::begin_run`](fourcorners_drive::Ssd::begin_run)); of
    /// several drives, of each. What is real, a hard disk and a drive whose times do not vary stay as they are.
    pub fn begin_run(&mut self, run: u64) {
        // A drive that nothing is told of is as new as it was.
        if run == 0 {
            return;
        }
        match self {
            Drive::Ssd(ssd) => ssd.begin_run(run),
            Drive::Disturbed(disturbed) => disturbed.drive_mut().begin_run(run),
            Drive::Array(array) => begin_runs(array.members_mut(), run),
            Drive::Cache(cache) => begin_runs(cache.members_mut().into_iter(), run),
            Drive::Hdd(_) | Drive::Real(_) => {}
        }
    }
}

/// Each has a run of its own.
fn begin_runs<'m>(members: impl Iterator<Item = &'m mut Virtual>, run: u64) {
    for (number, member) in members.enumerate() {
        member.begin_run(run.wrapping_add(number as u64).max(1));
    }
}

impl Virtual {
    fn begin_run(&mut self, run: u64) {
        if let Virtual::Ssd(ssd) = self {
            ssd.begin_run(run);
        }
    }
}
