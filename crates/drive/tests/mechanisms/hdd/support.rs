//! Profiles to start from and a closed loop to drive them with.

use fourcorners_drive::config::HddConfig;
use fourcorners_drive::{Hdd, Io, Lba, Nanos, Op, Tag, Target};

/// The catalogue's drive.
pub(crate) fn momentus() -> HddConfig {
    crate::catalogue::config(include_str!("../../../../../drives/seagate-momentus-5400.6.toml"))
}

/// A drive of which only seek and rotation are left: 7200 rpm, `1 + 17 sqrt(x)` ms.
///
/// Switched off for the closed forms, which know none of it: zones (one density, so that
/// uniform over the addresses is uniform over the cylinders), the other heads, the transfer
/// itself (1000 MB/s: 0.5 us a sector), the host, all of the link but its rate (6.8 us for 4 KiB),
/// both caches, write settle, and ageing (an hour).
pub(crate) fn seek_and_rotation_only() -> HddConfig {
    let mut profile = momentus();
    profile.host.command_us = 0.0;
    profile.link.gbps = 6.0;
    profile.link.command_us = 0.0;
    profile.link.frame_us = 0.0;
    profile.mechanics.rpm = 7200.0;
    profile.mechanics.heads = 1;
    profile.mechanics.track_to_track_ms = 1.0;
    profile.mechanics.average_seek_ms = 1.0 + 17.0 * 8.0 / 15.0;
    profile.mechanics.full_stroke_ms = 18.0;
    profile.mechanics.write_settle_ms = 0.0;
    profile.media.outer_mb_per_s = 1000.0;
    profile.media.inner_mb_per_s = 1000.0;
    profile.media.zones = 1;
    profile.cache.write_cache = false;
    profile.cache.read_ahead_kib = 0;
    profile.ncq.max_wait_ms = 600_000.0;
    profile
}

pub(crate) fn drive(profile: &HddConfig) -> Hdd {
    Hdd::new(profile).expect("a drive")
}

/// SplitMix64 (Steele, Lea and Flood 2014), enough for choosing addresses.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

pub(crate) fn io(op: Op, lba: u64, sectors: u32) -> Io {
    Io { op, lba: Lba(lba), sectors, ..Io::FLUSH }
}

/// 4 KiB I/Os, uniform over `span` sectors.
pub(crate) fn random_4k(op: Op, span: u64, seed: u64) -> impl FnMut() -> Io {
    let mut random = Random(seed);
    move || io(op, random.below(span / 8) * 8, 8)
}

/// 128 KiB I/Os, one after the other from `start`.
pub(crate) fn sequential_128k(op: Op, start: u64) -> impl FnMut() -> Io {
    let mut next = start;
    move || {
        let here = next;
        next += 256;
        io(op, here, 256)
    }
}

/// What a closed loop saw.
pub(crate) struct Seen {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    pub(crate) elapsed: Nanos,
    pub(crate) latency_sum: u128,
    pub(crate) latency_max: Nanos,
    /// The number in flight integrated over time, apart from the latencies.
    pub(crate) in_flight_ns: u128,
}

impl Seen {
    pub(crate) fn iops(&self) -> f64 {
        self.ios as f64 / self.elapsed.as_secs()
    }

    pub(crate) fn mb_per_s(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.elapsed.as_secs()
    }

    pub(crate) fn mean_ms(&self) -> f64 {
        self.latency_sum as f64 / self.ios as f64 / 1e6
    }
}

/// Keeps `depth` I/Os in flight until `count` are done, and waits for all of them.
pub(crate) fn run(drive: &mut Hdd, depth: u32, count: u64, mut next: impl FnMut() -> Io) -> Seen {
    let start = drive.now();
    let mut slots = vec![(Io { sectors: 0, ..io(Op::Flush, 0, 0) }, start); depth as usize];
    let mut seen = Seen {
        ios: 0,
        bytes: 0,
        elapsed: Nanos::ZERO,
        latency_sum: 0,
        latency_max: Nanos::ZERO,
        in_flight_ns: 0,
    };
    let (mut submitted, mut flying, mut last) = (0, 0u32, start);
    for tag in 0..depth.min(u32::try_from(count).unwrap_or(u32::MAX)) {
        slots[tag as usize] = (next(), start);
        drive.submit(Tag(tag), slots[tag as usize].0);
        submitted += 1;
        flying += 1;
    }
    while flying > 0 {
        let done = drive.reap(Nanos::MAX).expect("no fault").expect("one is in flight");
        assert!(done.at >= last, "time went back");
        assert_eq!(done.at, drive.now());
        seen.in_flight_ns += u128::from((done.at - last).0) * u128::from(flying);
        last = done.at;
        let (io, since) = slots[done.tag.0 as usize];
        let latency = done.at - since;
        seen.ios += 1;
        seen.bytes += io.bytes();
        seen.latency_sum += u128::from(latency.0);
        seen.latency_max = seen.latency_max.max(latency);
        flying -= 1;
        if submitted < count {
            slots[done.tag.0 as usize] = (next(), done.at);
            drive.submit(done.tag, slots[done.tag.0 as usize].0);
            submitted += 1;
            flying += 1;
        }
    }
    seen.elapsed = last - start;
    seen
}
