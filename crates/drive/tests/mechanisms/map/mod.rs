//! What the map costs: memory that does not hold all of it, units larger than the host's writes.

mod memory;
mod units;
mod x25_m;

use crate::common::{closed_loop, times};
use fourcorners_drive::{Io, Lba, Nanos, Op, Ssd, SsdCounters, Target};

/// So many sectors from a sector on.
fn sectors(op: Op, lba: u64, sectors: u32) -> Io {
    Io { op, lba: Lba(lba), sectors, ..Io::FLUSH }
}

/// The latency of one I/O on a drive that has been idle.
fn alone(drive: &mut Ssd, io: Io) -> Nanos {
    let later = drive.now() + Nanos::from_secs(100);
    drive.reap(later).expect("nothing in flight, nothing to fail");
    closed_loop(drive, 1, times(1, |_| io))[0]
}

/// What must hold of any drive at any time.
fn hold_identities(count: &SsdCounters) {
    assert_eq!(count.host_units * 8, count.host_sectors + count.rmw_sectors, "{count:?}");
    assert_eq!(
        count.host_units + count.moved_units + count.padded_units + count.map_units,
        count.programmed_units + count.pending_units,
        "{count:?}"
    );
}
