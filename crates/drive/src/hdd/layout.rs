//! Where a sector is: zones, cylinders, heads, skew.

use crate::SECTOR_BYTES;
use crate::config::{ConfigError, HddConfig};

use super::mechanics::{Spindle, Track, Turn};

/// Cylinders whose tracks all hold as many sectors.
#[derive(Clone, Debug)]
struct Zone {
    first_sector: u64,
    first_cylinder: u64,
    sectors_per_track: u64,
    sector_turn: Turn,
    sector_ns: f64,
}

/// Where a sector is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) track: Track,
    /// Where on the track the sector begins.
    pub(super) angle: Turn,
    /// Sectors from this one to the end of the track, itself included.
    left: u64,
    zone: usize,
}

/// The way from addresses to places: all tracks of a cylinder, head by head, then the next
/// cylinder, from the outermost inward.
///
/// The first sector of a track is skewed against that of the track before by the time the switch
/// between them takes a write, which is the slowest. A sequential transfer so finds each track's
/// first sector just as the head has settled.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    zones: Vec<Zone>,
    heads: u64,
    sectors: u64,
    head_skew_ns: f64,
    cylinder_skew_ns: f64,
    head_skew: Turn,
    cylinder_skew: Turn,
}

impl Layout {
    /// The layout of a checked config; refuses one of more cylinders than 32 bits count.
    pub(super) fn new(config: &HddConfig, spindle: Spindle) -> Result<Layout, ConfigError> {
        let (media, mechanics) = (&config.media, &config.mechanics);
        let revolution_ns = 60e9 / mechanics.rpm;
        let sectors = config.capacity.sectors;
        let heads = u64::from(mechanics.heads);
        let count = media.zones;
        let tracks: Vec<u64> = (0..count)
            .map(|zone| {
                // At a constant density along the track its length, so its rate, falls linearly
                // from the outer edge to the inner.
                let inward = f64::from(zone) / f64::from((count - 1).max(1));
                let mb_per_s =
                    media.outer_mb_per_s + (media.inner_mb_per_s - media.outer_mb_per_s) * inward;
                let bytes = mb_per_s * 1e6 * revolution_ns / 1e9;
                ((bytes / SECTOR_BYTES as f64).round() as u64).max(1)
            })
            .collect();
        let cylinders_a_zone = sectors.div_ceil(heads * tracks.iter().sum::<u64>());
        if cylinders_a_zone.saturating_mul(u64::from(count)) > u64::from(u32::MAX) {
            return Err(ConfigError::new(
                "capacity.sectors",
                sectors,
                "the tracks are too short for it: more than 2^32 cylinders",
            ));
        }
        let mut zones = Vec::with_capacity(tracks.len());
        let (mut first_sector, mut first_cylinder) = (0, 0);
        for sectors_per_track in tracks {
            zones.push(Zone {
                first_sector,
                first_cylinder,
                sectors_per_track,
                sector_turn: (2f64.powi(64) / sectors_per_track as f64) as u64,
                sector_ns: revolution_ns / sectors_per_track as f64,
            });
            first_sector += cylinders_a_zone * heads * sectors_per_track;
            first_cylinder += cylinders_a_zone;
        }
        let settle_ms = mechanics.write_settle_ms;
        let head_skew_ns = ((mechanics.head_switch_ms + settle_ms) * 1e6).round();
        let cylinder_skew_ns = ((mechanics.track_to_track_ms + settle_ms) * 1e6).round();
        Ok(Layout {
            zones,
            heads,
            sectors,
            head_skew_ns,
            cylinder_skew_ns,
            head_skew: spindle.turn_of(head_skew_ns),
            cylinder_skew: spindle.turn_of(cylinder_skew_ns),
        })
    }

    /// Cylinders that hold data.
    pub(super) fn cylinders(&self) -> u64 {
        u64::from(self.place(self.sectors - 1).track.cylinder) + 1
    }

    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Where `sector` is.
    #[inline]
    pub(super) fn place(&self, sector: u64) -> Place {
        let zone = self.zones.partition_point(|zone| zone.first_sector <= sector) - 1;
        let of = &self.zones[zone];
        let offset = sector - of.first_sector;
        let track = offset / of.sectors_per_track;
        let on_track = offset - track * of.sectors_per_track;
        let cylinder = of.first_cylinder + track / self.heads;
        let head = track % self.heads;
        // Every cylinder before it had heads - 1 head switches and one cylinder switch behind it.
        let skew = (cylinder * (self.heads - 1) + head)
            .wrapping_mul(self.head_skew)
            .wrapping_add(cylinder.wrapping_mul(self.cylinder_skew));
        Place {
            track: Track { cylinder: cylinder as u32, head: head as u32 },
            angle: skew.wrapping_add(on_track.wrapping_mul(of.sector_turn)),
            left: of.sectors_per_track - on_track,
            zone,
        }
    }

    /// Nanoseconds from the beginning of sector `first` to the end of sector `end - 1`, switches
    /// included, and the track that `end - 1` is on. `first` is at `from`; `end` is after it.
    #[inline]
    pub(super) fn pass(&self, from: &Place, first: u64, end: u64) -> (u64, Track) {
        let mut zone = from.zone;
        if end - first <= from.left {
            let ns = (end - first) as f64 * self.zones[zone].sector_ns;
            return (ns.round() as u64, from.track);
        }
        let last = self.place(end - 1);
        let mut ns = 0.0;
        let mut sector = first;
        while zone < last.zone {
            let zone_end = self.zones[zone + 1].first_sector;
            ns += (zone_end - sector) as f64 * self.zones[zone].sector_ns;
            sector = zone_end;
            zone += 1;
        }
        ns += (end - sector) as f64 * self.zones[zone].sector_ns;
        let track_number =
            |track: Track| u64::from(track.cylinder) * self.heads + u64::from(track.head);
        let switches = track_number(last.track) - track_number(from.track);
        let cylinder_switches = u64::from(last.track.cylinder - from.track.cylinder);
        ns += (switches - cylinder_switches) as f64 * self.head_skew_ns
            + cylinder_switches as f64 * self.cylinder_skew_ns;
        (ns.round() as u64, last.track)
    }

    /// How many sectors from `first`, which is at `from`, pass completely within `ns`; at most
    /// `most`.
    pub(super) fn passed_in(&self, from: &Place, first: u64, ns: u64, most: u64) -> u64 {
        let on_track = ns as f64 / self.zones[from.zone].sector_ns;
        if on_track < from.left as f64 {
            return (on_track as u64).min(most);
        }
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.pass(from, first, first + middle).0 <= ns {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Nanos;
    use crate::config::HddMediaSection;

    /// What the default disk has not of a Seagate Momentus 5400.6 as drives/ has it.
    fn momentus() -> HddConfig {
        let mut config = HddConfig::default();
        config.mechanics.rpm = 5400.0;
        config.mechanics.write_settle_ms = 1.0;
        config.media = HddMediaSection { outer_mb_per_s: 95.0, inner_mb_per_s: 48.0, zones: 30 };
        config
    }

    fn layout() -> (Layout, Spindle) {
        let spindle = Spindle::new(5400.0);
        (Layout::new(&momentus(), spindle).expect("a layout"), spindle)
    }

    #[test]
    fn addresses_go_head_by_head_cylinder_by_cylinder_inward() {
        let (layout, _) = layout();
        let mut last = layout.place(0);
        assert_eq!((last.track, last.angle), (Track::default(), 0));
        let mut zones_seen = 1;
        // Track by track over all of the disk.
        let mut sector = last.left;
        while sector < layout.sectors() {
            let place = layout.place(sector);
            let next_head = Track { head: last.track.head + 1, ..last.track };
            let next_cylinder = Track { cylinder: last.track.cylinder + 1, head: 0 };
            let full = u64::from(last.track.head) + 1 == layout.heads;
            assert_eq!(place.track, if full { next_cylinder } else { next_head });
            assert!(place.left <= last.left, "outer tracks hold no less");
            zones_seen += u32::from(place.zone != last.zone);
            sector += place.left;
            last = place;
        }
        assert_eq!(zones_seen, 30);
        assert_eq!(layout.cylinders(), u64::from(last.track.cylinder) + 1);
        // A Seagate drive of as much a surface has 165,800 (Constellation.2 SAS manual, 5.1).
        assert!((150_000..175_000).contains(&layout.cylinders()), "{}", layout.cylinders());
    }

    proptest! {
        #[test]
        fn what_follows_a_transfer_is_under_the_head_at_its_end(
            first in 0u64..976_000_000, length in 1u64..700_000, at in 0u64..1 << 50,
        ) {
            let (layout, spindle) = layout();
            let from = layout.place(first);
            let start = Nanos(at + spindle.wait(Nanos(at), from.angle));
            let (ns, track) = layout.pass(&from, first, first + length);
            let next = layout.place(first + length);
            prop_assert_eq!(track, layout.place(first + length - 1).track);
            let switch_ns = if next.track == track {
                0.0
            } else if next.track.cylinder == track.cylinder {
                layout.head_skew_ns
            } else {
                layout.cylinder_skew_ns
            };
            let end = start + Nanos(ns + switch_ns as u64);
            prop_assert!(spindle.wait(end, next.angle) < 10, "{}", spindle.wait(end, next.angle));
        }

        #[test]
        fn passed_in_is_the_inverse_of_pass(
            first in 0u64..976_000_000, ns in 0u64..200_000_000, most in 1u64..700_000,
        ) {
            let (layout, _) = layout();
            let from = layout.place(first);
            let passed = layout.passed_in(&from, first, ns, most);
            prop_assert!(passed <= most);
            if passed > 0 {
                prop_assert!(layout.pass(&from, first, first + passed).0 <= ns + 1);
            }
            if passed < most {
                prop_assert!(layout.pass(&from, first, first + passed + 1).0 > ns);
            }
        }
    }
}
