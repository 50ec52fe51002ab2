//! A drive put together from its config.

use super::checkpoint::Checkpoint;
use super::command_slots::CommandSlots;
use super::costs::{CommandCosts, HostCost};
use super::idle::IdleTime;
use super::in_order::InOrder;
use super::limited_map::LimitedMap;
use super::look_ahead::LookAhead;
use super::one_unit::OneUnit;
use super::processes::Processes;
use super::trim::Trim;
use super::units::Grain;
use super::write_limit::WriteLimit;
use super::{HostWrites, Ssd};
use crate::cache::WriteBuffer;
use crate::config::{ConfigError, SsdConfig};
use crate::energy::SsdMeter;
use crate::ftl::{FRONTS, Translation};
use crate::heat::Heat;
use crate::lane::Lane;
use crate::link::Link;
use crate::nand::Nand;
use crate::queue::Queue;
use crate::read_ahead::ReadAhead;
use crate::variation::CommandVariation;
use crate::{Geometry, Nanos, SECTOR_BYTES};

impl Ssd {
    /// A drive as it left the factory: never written, at time zero.
    ///
    /// # Errors
    /// When [`SsdConfig::check`] refuses the config.
    pub fn new(config: &SsdConfig) -> Result<Ssd, ConfigError> {
        config.check()?;
        Ok(Ssd::around(config, Translation::new(config)))
    }

    /// A drive with this map and nothing else in its past. `config` has passed its check.
    pub(super) fn around(config: &SsdConfig, ftl: Translation) -> Ssd {
        let open_rows = 1 + usize::from(ftl.has_streams()) + usize::from(ftl.has_slc());
        let fronts = if open_rows > 1 { FRONTS } else { 1 };
        let shape = ftl.shape();
        let rows_per_block = (shape.units_per_block / shape.units_per_row) as usize;
        let mut link = Link::new(&config.link, config.upstream.as_ref());
        let geometry = Geometry {
            sectors: config.capacity.sectors,
            logical_block_bytes: SECTOR_BYTES as u32,
            queue_depth: config.capacity.queue_depth,
        };
        let grain = Grain::new(shape, geometry.sectors);
        let costs = CommandCosts::new(config);
        let power_loss_protected = config.buffer.power_loss_protected;
        let writes_sync = !config.buffer.write_cache_is_on();
        let writes_through = writes_sync && !power_loss_protected;
        let plain = config.map_layout().is_none()
            && !writes_sync
            && config.checkpoint.is_none()
            && !config.buffer.coalesces()
            && matches!(&ftl, Translation::PageMap(map) if map.is_plain());
        let deferred = Trim::deferred(&config.trim);
        Ssd {
            geometry,
            grain,
            raw_bytes: config.raw_bytes(),
            trim: Trim::new(&config.trim, link.is_pcie()),
            power_loss_protected,
            writes_sync,
            writes_through,
            coalesces: config.buffer.coalesces(),
            joins: config.buffer.joins(),
            joined_to: None,
            most_sectors: config.capacity.transfer_kib.map_or(u32::MAX, |kib| kib * 2),
            command_slots: config.controller.command_slots.map(CommandSlots::new),
            plain,
            // Others ask for what is deferred, and have no short way.
            one: OneUnit::new(
                plain && deferred.is_none(),
                (grain, geometry.sectors),
                &costs,
                &mut link,
            ),
            host: HostCost::by_operation(&config.host),
            processes: Processes::new(&config.host),
            costs,
            link,
            controller: Lane::default(),
            nand: Nand::new(config),
            limited_map: config
                .map_layout()
                .map(|layout| Box::new(LimitedMap::new(layout, shape.dies))),
            buffer: WriteBuffer::new(
                u64::from(config.buffer.write_kib) * 1024,
                config.row_bytes(),
                open_rows,
            ),
            row_ready: [Nanos::ZERO; FRONTS],
            row_ends: vec![Nanos::ZERO; rows_per_block * shape.dies as usize * fronts],
            rows_per_block,
            read_ahead: ReadAhead::new(config.read_ahead_units()),
            ahead_contiguous: is_on(config.controller.read_ahead_contiguous),
            reads_unwritten: is_on(config.nand.reads_unwritten),
            unwritten_read: Nanos::from_micros(config.controller.unwritten_read_us.unwrap_or(0.0)),
            look_ahead: LookAhead::default(),
            compression: config.compression.clone(),
            checkpoint: config.checkpoint.as_ref().map(Checkpoint::new),
            write_limit: config.write_limit.as_ref().map(|section| {
                let varies = config.variation_that_is_on();
                WriteLimit::new(section, varies.map(|variation| variation.seed))
            }),
            host_writes: HostWrites::default(),
            answered_until: Nanos::ZERO,
            blocked_until: Nanos::ZERO,
            deferred,
            idle: IdleTime::new(config),
            in_order: InOrder::new(&config.gc),
            queue: Queue::with_depth(geometry.queue_depth),
            power: config.power.as_ref().map(|power| SsdMeter::new(power, &config.nand)),
            heat: config
                .heat
                .as_ref()
                .zip(config.power.as_ref())
                .map(|(heat, power)| Box::new(Heat::new(heat, power.idle_w))),
            variation: config.variation_that_is_on().map(CommandVariation::new),
            persistence: None,
            ftl,
        }
    }
}

/// Whether something that a config need not have is there and on.
fn is_on(given: Option<bool>) -> bool {
    given == Some(true)
}
