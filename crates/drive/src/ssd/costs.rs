//! What a command costs the host and the controller, whatever it is about.

use crate::config::{HostSection, SsdConfig};
use crate::lane::Lane;
use crate::nand::Chores;
use crate::{Nanos, Op};

/// The host's time before a command reaches the drive and after it left.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostCost {
    pub(super) before: Nanos,
    pub(super) after: Nanos,
}

/// What the controller spends on a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandCosts {
    pub(super) read: Nanos,
    pub(super) write: Nanos,
    pub(super) read_4k: Nanos,
    pub(super) write_4k: Nanos,
    /// Between a command that is handled and what the drive does for it; it keeps no other waiting.
    pub(super) read_latency: Nanos,
    pub(super) write_latency: Nanos,
    /// Whether a read goes on when its first 4 KiB are handled.
    pub(super) read_pipelined: bool,
    /// Between data that is safe and the answer that says so.
    pub(super) sync_latency: Nanos,
    /// For a granule of what is stored compressed.
    pub(super) stored_granule: Nanos,
    /// For a row that collection or a merge programs.
    pub(super) moved_row: Nanos,
    /// Whether map saves are counted in units of 4 KiB written instead of write commands.
    saves_by_data: bool,
}

impl HostCost {
    /// By operation.
    pub(super) fn by_operation(section: &HostSection) -> [HostCost; 4] {
        // What a process is busy with is spent before the rest (`processes.rs`).
        let busy = section.process_us.unwrap_or(0.0);
        let mut costs = [HostCost::of(section.command_us - busy); 4];
        costs[Op::Read as usize] = HostCost::of(section.read_us() - busy);
        costs[Op::Write as usize] = HostCost::of(section.write_us() - busy);
        costs
    }

    /// Both together.
    #[inline(always)]
    pub(super) fn whole(self) -> Nanos {
        self.before + self.after
    }

    fn of(micros: f64) -> HostCost {
        let all = Nanos::from_micros(micros).0;
        HostCost { before: Nanos(all / 2), after: Nanos(all - all / 2) }
    }
}

impl CommandCosts {
    /// What a write counts towards the next save of the map.
    #[inline]
    pub(super) fn saves(&self, written_4k: u64) -> u32 {
        if self.saves_by_data { written_4k as u32 } else { 1 }
    }

    /// The controller's part of what is moved, ordered at `at`. Returns when that is done, not before `ready`.
    #[inline(always)]
    pub(super) fn note_moves(
        &self,
        controller: &mut Lane,
        chores: &Chores,
        at: Nanos,
        ready: Nanos,
    ) -> Nanos {
        let rows = u64::from(chores.rows_programmed());
        if rows == 0 || self.moved_row == Nanos::ZERO {
            return ready;
        }
        controller.serve(at, Nanos(self.moved_row.0 * rows)).max(ready)
    }

    pub(super) fn new(config: &SsdConfig) -> CommandCosts {
        let section = &config.controller;
        let move_4k_us = section.move_4k_us.unwrap_or(0.0);
        let compression = config.compression.as_ref();
        let store_4k_us = compression.and_then(|c| c.store_4k_us).unwrap_or(0.0);
        let granule_4k = f64::from(config.granule_bytes()) / 4096.0;
        let latency = |given: Option<f64>| Nanos::from_micros(given.unwrap_or(0.0));
        CommandCosts {
            read: Nanos::from_micros(section.read_command_us),
            write: Nanos::from_micros(section.write_command_us),
            read_4k: Nanos::from_micros(section.read_4k_us),
            write_4k: Nanos::from_micros(section.write_4k_us),
            read_latency: latency(section.read_latency_us),
            read_pipelined: section.read_pipelined.unwrap_or(false),
            write_latency: latency(section.write_latency_us),
            sync_latency: latency(section.sync_latency_us),
            stored_granule: Nanos::from_micros(store_4k_us * granule_4k),
            moved_row: Nanos::from_micros(move_4k_us * (config.row_bytes() / 4096) as f64),
            saves_by_data: config
                .checkpoint
                .as_ref()
                .is_some_and(|checkpoint| checkpoint.by_data == Some(true)),
        }
    }
}
