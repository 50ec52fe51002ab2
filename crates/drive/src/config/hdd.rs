//! The parameters of a hard disk.

use serde::{Deserialize, Serialize};

use super::{ConfigError, HddPowerSection, HostSection, PcieLinkSection, SataLinkSection, within};

/// A hard disk as data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HddConfig {
    /// The host in front of the drive.
    pub host: HostSection,
    /// The SATA link to it.
    pub link: SataLinkSection,
    /// The link of the host controller, if it may be the slower one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<PcieLinkSection>,
    /// How much it holds.
    pub capacity: HddCapacitySection,
    /// Spindle and arm.
    pub mechanics: HddMechanicsSection,
    /// How densely the surfaces are written.
    pub media: HddMediaSection,
    /// The DRAM buffer: cached writes and read-ahead.
    pub cache: HddCacheSection,
    /// Native command queuing.
    pub ncq: HddNcqSection,
    /// What it draws; without it the drive has no energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<HddPowerSection>,
}

impl Default for HddConfig {
    /// A disk of no model: 500 GB at 7,200 rpm behind SATA of 6 Gb/s, with both caches on and a host that
    /// costs nothing.
    fn default() -> HddConfig {
        HddConfig {
            host: HostSection::default(),
            link: SataLinkSection::default(),
            upstream: None,
            capacity: HddCapacitySection::default(),
            mechanics: HddMechanicsSection::default(),
            media: HddMediaSection::default(),
            cache: HddCacheSection::default(),
            ncq: HddNcqSection::default(),
            power: None,
        }
    }
}

/// How much a hard disk holds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HddCapacitySection {
    /// Addressable sectors of 512 bytes.
    pub sectors: u64,
    /// Smallest I/O and alignment in bytes: 512 or 4096.
    pub logical_block_bytes: u32,
}

impl Default for HddCapacitySection {
    /// 500 GB in logical blocks of 512 bytes.
    fn default() -> HddCapacitySection {
        HddCapacitySection { sectors: 976_773_168, logical_block_bytes: 512 }
    }
}

/// Spindle and arm. Seeks are counted in cylinders; the three seek times fix the whole curve.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HddMechanicsSection {
    /// Revolutions per minute.
    pub rpm: f64,
    /// Heads, one a recording surface.
    pub heads: u32,
    /// Milliseconds of a seek to the next cylinder, settled for reading.
    pub track_to_track_ms: f64,
    /// Milliseconds of a seek for reading, averaged over all pairs of cylinders.
    pub average_seek_ms: f64,
    /// Milliseconds of a seek for reading from the first cylinder to the last.
    pub full_stroke_ms: f64,
    /// Milliseconds to change to another head of the same cylinder.
    pub head_switch_ms: f64,
    /// Milliseconds more before writing, after any seek or head switch. The skew between tracks
    /// allows for it, so it costs sequential transfers too.
    pub write_settle_ms: f64,
}

impl Default for HddMechanicsSection {
    /// 7,200 rpm and four heads, with round times.
    fn default() -> HddMechanicsSection {
        HddMechanicsSection {
            rpm: 7200.0,
            heads: 4,
            track_to_track_ms: 1.0,
            average_seek_ms: 9.0,
            full_stroke_ms: 18.0,
            head_switch_ms: 1.0,
            write_settle_ms: 0.5,
        }
    }
}

/// How densely the surfaces are written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HddMediaSection {
    /// MB/s (10^6 bytes) under the head on an outermost track, where LBA 0 is. A sequential
    /// transfer is slower by its head and cylinder switches.
    pub outer_mb_per_s: f64,
    /// MB/s under the head on an innermost track.
    pub inner_mb_per_s: f64,
    /// Zones of equally many cylinders, within each of which every track holds as many sectors.
    pub zones: u32,
}

impl Default for HddMediaSection {
    /// 150 MB/s outside, half of that inside.
    fn default() -> HddMediaSection {
        HddMediaSection { outer_mb_per_s: 150.0, inner_mb_per_s: 75.0, zones: 16 }
    }
}

/// The DRAM buffer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HddCacheSection {
    /// KiB of buffer; what read-ahead does not take holds cached writes.
    pub size_kib: u64,
    /// Whether a write is answered from the buffer, before it is on the media.
    pub write_cache: bool,
    /// Separate runs of cached sectors the drive keeps track of; one more waits for room.
    pub write_segments: u32,
    /// The oldest of those runs, among which the drive picks what to write out next.
    pub reorder_segments: u32,
    /// KiB of buffer for reads, 0 for none. After a read, when nothing else waits or what follows it does, the
    /// drive reads on until three quarters of it are full; a quarter keeps what was read.
    pub read_ahead_kib: u64,
    /// Milliseconds after the last command from which cached writes are written out unasked.
    /// Before that only a full cache or a flush makes them compete with reads for the arm.
    pub destage_idle_ms: f64,
}

impl Default for HddCacheSection {
    /// 16 MiB, an eighth of it for reading ahead.
    fn default() -> HddCacheSection {
        HddCacheSection {
            size_kib: 16_384,
            write_cache: true,
            write_segments: 64,
            reorder_segments: 8,
            read_ahead_kib: 2048,
            destage_idle_ms: 20.0,
        }
    }
}

/// Native command queuing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HddNcqSection {
    /// Commands the drive accepts at once.
    pub depth: u32,
    /// Milliseconds after which a command is served whatever lies nearer.
    pub max_wait_ms: f64,
}

impl Default for HddNcqSection {
    /// 32 commands, none of which waits longer than two seconds.
    fn default() -> HddNcqSection {
        HddNcqSection { depth: 32, max_wait_ms: 2000.0 }
    }
}

impl HddConfig {
    /// Whether each value can be. [`Hdd::check`](crate::Hdd::check) asks also whether the tracks hold the sectors.
    ///
    /// # Errors
    /// The first value that is out of its range or contradicts another.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.host.check()?;
        self.link.check()?;
        self.upstream.as_ref().map_or(Ok(()), |upstream| upstream.check("upstream"))?;
        self.capacity.check()?;
        self.mechanics.check()?;
        self.media.check()?;
        self.cache.check()?;
        within("ncq.depth", self.ncq.depth, 1..=1024)?;
        within("ncq.max_wait_ms", self.ncq.max_wait_ms, 1.0..=600_000.0)?;
        self.power.as_ref().map_or(Ok(()), HddPowerSection::check)
    }
}

impl HddCapacitySection {
    fn check(&self) -> Result<(), ConfigError> {
        // ATA addresses a sector in 48 bits (ATA8-ACS, READ DMA EXT).
        within("capacity.sectors", self.sectors, 1..=1 << 48)?;
        let block = self.logical_block_bytes;
        if block != 512 && block != 4096 {
            return Err(ConfigError::new(
                "capacity.logical_block_bytes",
                block,
                "it must be 512 or 4096",
            ));
        }
        let sectors = self.sectors;
        if !sectors.is_multiple_of(u64::from(block / 512)) {
            return Err(ConfigError::new(
                "capacity.sectors",
                sectors,
                format_args!("it must be whole logical blocks of {block} bytes"),
            ));
        }
        Ok(())
    }
}

impl HddMechanicsSection {
    fn check(&self) -> Result<(), ConfigError> {
        within("mechanics.rpm", self.rpm, 1000.0..=60_000.0)?;
        within("mechanics.heads", self.heads, 1..=64)?;
        within("mechanics.track_to_track_ms", self.track_to_track_ms, 0.0..=100.0)?;
        within("mechanics.full_stroke_ms", self.full_stroke_ms, 0.0..=1000.0)?;
        within("mechanics.head_switch_ms", self.head_switch_ms, 0.0..=100.0)?;
        within("mechanics.write_settle_ms", self.write_settle_ms, 0.0..=100.0)?;
        let (track, full) = (self.track_to_track_ms, self.full_stroke_ms);
        if full < track {
            return Err(ConfigError::new(
                "mechanics.full_stroke_ms",
                full,
                format_args!("it must be at least track_to_track_ms, {track}"),
            ));
        }
        // Between a straight line (E[x] = 1/3) and the steepest start from which the curve still
        // rises to the end (root = 2 * range, linear = -range: 2 * 8/15 - 1/3 = 11/15).
        let range = full - track;
        let (least, most) = (track + range / 3.0, track + range * 11.0 / 15.0);
        let average = self.average_seek_ms;
        // A rounding error may not refuse the ends themselves; NaN is refused.
        if !(least - 1e-9..=most + 1e-9).contains(&average) {
            return Err(ConfigError::new(
                "mechanics.average_seek_ms",
                average,
                format_args!(
                    "a seek curve that rises from {track} to {full} ms has an average of \
                     {least:.3} to {most:.3}"
                ),
            ));
        }
        Ok(())
    }
}

impl HddMediaSection {
    fn check(&self) -> Result<(), ConfigError> {
        within("media.outer_mb_per_s", self.outer_mb_per_s, 1.0..=10_000.0)?;
        within("media.inner_mb_per_s", self.inner_mb_per_s, 1.0..=10_000.0)?;
        within("media.zones", self.zones, 1..=256)?;
        let outer = self.outer_mb_per_s;
        if self.inner_mb_per_s > outer {
            return Err(ConfigError::new(
                "media.inner_mb_per_s",
                self.inner_mb_per_s,
                format_args!("it must not exceed outer_mb_per_s, {outer}"),
            ));
        }
        Ok(())
    }
}

impl HddCacheSection {
    fn check(&self) -> Result<(), ConfigError> {
        within("cache.size_kib", self.size_kib, 0..=1 << 24)?;
        within("cache.write_segments", self.write_segments, 1..=1024)?;
        within("cache.reorder_segments", self.reorder_segments, 1..=1024)?;
        within("cache.destage_idle_ms", self.destage_idle_ms, 0.0..=600_000.0)?;
        let size = self.size_kib;
        if self.read_ahead_kib > size {
            return Err(ConfigError::new(
                "cache.read_ahead_kib",
                self.read_ahead_kib,
                format_args!("it must not exceed size_kib, {size}"),
            ));
        }
        if self.write_cache && self.read_ahead_kib == size {
            return Err(ConfigError::new(
                "cache.write_cache",
                true,
                "read_ahead_kib leaves the write cache nothing of size_kib",
            ));
        }
        Ok(())
    }
}
