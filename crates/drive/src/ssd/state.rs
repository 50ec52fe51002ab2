//! The state of a drive, to be saved and restored into a drive of the same config.
//!
//! [`Ssd::state`] borrows everything an idle drive remembers; [`Ssd::restore`] makes a drive of the
//! config from it. Structs are serialised whole, with their constants. A loaded state is checked against a
//! drive made from the config (`fits`, which destructures each struct so that a new field cannot be
//! forgotten); every number is bounded; and the map, the blocks and the collection in progress must be ones
//! that can continue (`ftl/restore.rs`).
//!
//! The map is saved as places; fragments and live bits are made anew, which changes no answer. Saved as well:
//! an SLC buffer, wear with failed blocks and end of life, idle time, and whether the host writes in
//! order. Not saved: a log-block map, a map with limited memory, streams. A hard disk has no state: only
//! its cache remembers anything.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use super::idle::IdleTime;
use super::in_order::InOrder;
use super::write_limit::WriteLimit;
use super::{HostWrites, Ssd};
use crate::Nanos;
use crate::cache::WriteBuffer;
use crate::config::SsdConfig;
use crate::energy::SsdMeter;
use crate::ftl::{FRONTS, FtlState, Translation};
use crate::heat::Heat;
use crate::lane::Lane;
use crate::nand::Nand;
use crate::read_ahead::ReadAhead;
use crate::state::{LATEST, MOST_MOVED, StateError};
use crate::variation::CommandVariation;

/// All that a drive without streams that maps by page remembers with nothing in flight: its time, map, blocks, what
/// its lanes are busy with and what it counted. Serialised with any format of serde; as large as the map.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SsdState<'a> {
    now: Nanos,
    link: [Lane; 2],
    controller: Lane,
    row_ready: [Nanos; FRONTS],
    answered_until: Nanos,
    blocked_until: Nanos,
    idle: Option<IdleTime>,
    in_order: Option<Cow<'a, InOrder>>,
    checkpoint: Option<Checkpoint>,
    power: Option<Cow<'a, SsdMeter>>,
    heat: Option<Heat>,
    variation: Option<Cow<'a, CommandVariation>>,
    buffer: Cow<'a, WriteBuffer>,
    read_ahead: Cow<'a, ReadAhead>,
    nand: Cow<'a, Nand>,
    row_ends: Cow<'a, [Nanos]>,
    write_limit: Option<WriteLimit>,
    joined_to: Option<u64>,
    host_writes: HostWrites,
    ftl: FtlState<'a>,
}

impl Ssd {
    /// What the drive remembers; `None` while anything is in flight or waits to be trimmed, and of a drive with streams, a
    /// log-block map or one that does not fit in its memory.
    pub fn state(&self) -> Option<SsdState<'_>> {
        // Every field is named here, so that a new one is not forgotten.
        let Ssd {
            link,
            controller,
            nand,
            ftl,
            limited_map,
            buffer,
            row_ready,
            row_ends,
            read_ahead,
            write_limit,
            joined_to,
            host_writes,
            answered_until,
            blocked_until,
            deferred,
            idle,
            in_order,
            checkpoint,
            queue,
            power,
            heat,
            variation,
            // These follow from the config.
            geometry: _,
            grain: _,
            raw_bytes: _,
            trim: _,
            power_loss_protected: _,
            writes_sync: _,
            writes_through: _,
            coalesces: _,
            joins: _,
            most_sectors: _,
            plain: _,
            one: _,
            host: _,
            costs: _,
            rows_per_block: _,
            ahead_contiguous: _,
            reads_unwritten: _,
            unwritten_read: _,
            compression: _,
            // All that was in work is answered, and was submitted before.
            command_slots: _,
            processes: _,
            // What the host said it will ask for changes no result.
            look_ahead: _,
            // Nor does it when somebody asks what is on the NAND.
            persistence: _,
        } = self;
        let waits = deferred.as_ref().is_some_and(|deferred| !deferred.is_empty());
        let keeps = queue.is_idle() && limited_map.is_none() && !waits;
        let ftl = ftl.state().filter(|_| keeps)?;
        Some(SsdState {
            now: queue.now(),
            link: link.lanes(),
            controller: *controller,
            row_ready: *row_ready,
            answered_until: *answered_until,
            blocked_until: *blocked_until,
            idle: *idle,
            in_order: in_order.as_ref().map(Cow::Borrowed),
            checkpoint: *checkpoint,
            power: power.as_ref().map(Cow::Borrowed),
            heat: heat.as_deref().copied(),
            variation: variation.as_ref().map(Cow::Borrowed),
            buffer: Cow::Borrowed(buffer),
            read_ahead: Cow::Borrowed(read_ahead),
            nand: Cow::Borrowed(nand),
            row_ends: Cow::Borrowed(row_ends),
            write_limit: *write_limit,
            joined_to: *joined_to,
            host_writes: *host_writes,
            ftl,
        })
    }

    /// A drive of `config` that remembers `state`: from here on it does exactly what the drive
    /// would have done whose state it is.
    ///
    /// # Errors
    /// When [`SsdConfig::check`] refuses the config, or `state` is none that a drive of it can
    /// have. Whatever a state says, it makes no drive that fails later.
    pub fn restore(config: &SsdConfig, state: SsdState<'_>) -> Result<Ssd, StateError> {
        config.check().map_err(|error| StateError::new(error.to_string()))?;
        let limited = config.map_layout().is_some();
        StateError::unless(!limited, "its map has limited memory, which keeps no state")?;
        let SsdState {
            now,
            link,
            controller,
            row_ready,
            answered_until,
            blocked_until,
            idle,
            in_order,
            checkpoint,
            power,
            heat,
            variation,
            buffer,
            read_ahead,
            nand,
            row_ends,
            write_limit,
            joined_to,
            host_writes,
            ftl,
        } = state;
        let made = Ssd::around(config, Translation::restore(config, ftl)?);
        let rows_ready = row_ready.into_iter().fold(Nanos::ZERO, Nanos::max);
        let latest = now.max(rows_ready).max(answered_until).max(blocked_until);
        let lanes = [link[0], link[1], controller];
        let power = power.map(Cow::into_owned);
        let in_order = in_order.map(Cow::into_owned);
        let variation = variation.map(Cow::into_owned);
        let (user_units, sectors) = (made.ftl.user_units(), made.geometry.sectors);
        let written = host_writes.sectors.max(host_writes.rmw_sectors);
        let fits = [
            (latest <= LATEST, "its time is too late"),
            (lanes.iter().all(|lane| lane.is_sane()), "it is busy for too long"),
            (nand.fits(&made.nand), "its NAND is another"),
            (buffer.fits(&made.buffer), "its write buffer is another"),
            (read_ahead.fits(&made.read_ahead, user_units, sectors), "its read-ahead is another"),
            (row_ends.len() == made.row_ends.len(), "its rows are of another number"),
            (row_ends.iter().all(|&end| end <= LATEST), "a row is programmed too late"),
            (written <= MOST_MOVED, "it counts too much"),
            (joined_to.is_none_or(|end| made.joins && end <= sectors), "its writes are others"),
            (both(&idle, &made.idle, IdleTime::fits), "its idle time is another"),
            (both(&in_order, &made.in_order, InOrder::fits), "its writes in order are others"),
            (both(&checkpoint, &made.checkpoint, Checkpoint::fits), "its checkpoints are others"),
            (both(&write_limit, &made.write_limit, WriteLimit::fits), "its write limit is another"),
            (both(&power, &made.power, SsdMeter::fits), "its power is another"),
            (both(&heat, &made.heat.as_deref().copied(), Heat::fits), "its heat is another"),
            (both(&variation, &made.variation, CommandVariation::fits), "its variation is another"),
        ];
        for (holds, what) in fits {
            StateError::unless(holds, what)?;
        }
        let mut processes = made.processes;
        if let (Some(processes), Some(variation)) = (&mut processes, &variation) {
            processes.drifts(variation.slow());
        }
        Ok(Ssd {
            processes,
            link: made.link.with_lanes(link),
            controller,
            row_ready,
            answered_until,
            blocked_until,
            idle,
            in_order,
            checkpoint,
            power,
            heat: heat.map(Box::new),
            variation,
            buffer: buffer.into_owned(),
            read_ahead: read_ahead.into_owned(),
            nand: nand.into_owned(),
            row_ends: row_ends.into_owned(),
            write_limit,
            joined_to,
            host_writes,
            queue: made.queue.at(now),
            ..made
        })
    }
}

/// Whether there is neither, or both and the loaded one fits.
fn both<T>(loaded: &Option<T>, made: &Option<T>, fits: impl Fn(&T, &T) -> bool) -> bool {
    match (loaded, made) {
        (Some(loaded), Some(made)) => fits(loaded, made),
        (None, None) => true,
        _ => false,
    }
}
