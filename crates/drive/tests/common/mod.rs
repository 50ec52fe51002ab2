//! What the tests of virtual drives share: small profiles, a closed loop, a random number.
#![allow(dead_code, unreachable_pub)]

pub mod attempt;
pub mod draw;
pub mod jobs;
pub mod mechanisms;
pub mod play;

use fourcorners_drive::config::*;
use fourcorners_drive::{Io, Lba, Nanos, Op, Ssd, Tag, Target};

/// A SATA link.
pub fn sata(gbps: f64, command_us: f64, frame_us: f64) -> LinkSection {
    LinkSection::Sata(SataLinkSection { gbps, command_us, frame_us })
}

/// A PCIe link.
pub fn pcie(generation: u32, lanes: u32, max_payload_bytes: u32) -> LinkSection {
    LinkSection::Pcie(PcieLinkSection {
        generation,
        lanes,
        max_payload_bytes,
        ..PcieLinkSection::default()
    })
}

/// A drive's shape where only the map and the collection matter.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub dies: u32,
    pub blocks_per_die: u32,
    pub pages_per_block: u32,
    /// Spare over user space that collection has to work with.
    pub effective_op: f64,
}

/// An SSD of that shape, otherwise the default one: one plane, 4 KiB pages, round times and no host in
/// front.
pub fn ssd(shape: Shape) -> SsdConfig {
    let mut profile = SsdConfig::default();
    profile.nand.channels = shape.dies.min(8);
    profile.nand.dies = shape.dies;
    profile.nand.blocks_per_plane = shape.blocks_per_die;
    profile.nand.pages_per_block = shape.pages_per_block;
    set_effective_op(&mut profile, shape.effective_op);
    profile
}

/// Blocks that all bear this many cycles.
pub fn wear(levelling: Levelling, endurance_cycles: u32) -> WearSection {
    WearSection {
        endurance_cycles,
        endurance_sigma_percent: 0.0,
        seed: 1,
        levelling,
        threshold_cycles: 20,
        interval_blocks: 10,
    }
}

/// 4 KiB units that data can occupy: a die keeps its reserve free, and of its two open blocks, half
/// full on average, as much as one; with streams, of four, as much as two.
pub fn usable_units(profile: &SsdConfig) -> u64 {
    let nand = &profile.nand;
    let open = if profile.streams.is_some() { 2 } else { 1 };
    let blocks = nand.blocks_per_plane - profile.gc.start_free_blocks - open;
    let pages = u64::from(blocks * nand.dies) * u64::from(nand.pages_per_block);
    pages * u64::from(nand.planes) * u64::from(nand.page_bytes / 4096)
}

/// Gives the user so much of the space that collection has this spare to work with.
pub fn set_effective_op(profile: &mut SsdConfig, effective_op: f64) {
    let user_units = (usable_units(profile) as f64 / (1.0 + effective_op)).round() as u64;
    profile.capacity.sectors = user_units * 8;
}

/// Hot and cold apart, told by 64 units and every drive write, with spares near the optimum.
pub fn streams() -> StreamsSection {
    StreamsSection {
        region_kib: 256,
        period_percent: 100,
        hot_factor: 2.0,
        hot_spare_percent: None,
        cool_turns: 6.0,
        victims: StreamVictims::OverShare,
    }
}

pub fn make(profile: &SsdConfig) -> Ssd {
    Ssd::new(profile).unwrap_or_else(|error| panic!("{error}"))
}

/// SplitMix64 (Steele, Lea, Flood 2014): the tests' own numbers, so that they never change.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

pub fn io(op: Op, unit: u64, units: u32) -> Io {
    Io { op, lba: Lba(unit * 8), sectors: units * 8, ..Io::FLUSH }
}

/// Keeps `depth` I/Os of `next` in flight until it gives no more; returns every latency.
pub fn closed_loop<T: Target>(
    drive: &mut T,
    depth: u32,
    mut next: impl FnMut() -> Option<Io>,
) -> Vec<Nanos> {
    closed_loop_of(drive, depth, &mut next)
}

/// The same, compiled once for all that is asked of a kind of drive.
fn closed_loop_of<T: Target>(
    drive: &mut T,
    depth: u32,
    next: &mut dyn FnMut() -> Option<Io>,
) -> Vec<Nanos> {
    let mut submitted = vec![Nanos::ZERO; depth as usize];
    let mut latencies = Vec::new();
    let mut flying = 0;
    for tag in 0..depth {
        let Some(io) = next() else { break };
        submitted[tag as usize] = drive.now();
        drive.submit(Tag(tag), io);
        flying += 1;
    }
    while flying > 0 {
        let done = drive.reap(Nanos::MAX).expect("no fault").expect("I/Os are in flight");
        latencies.push(done.at - submitted[done.tag.0 as usize]);
        flying -= 1;
        if let Some(io) = next() {
            submitted[done.tag.0 as usize] = drive.now();
            drive.submit(done.tag, io);
            flying += 1;
        }
    }
    latencies
}

/// `count` times `make`.
pub fn times(count: u64, mut make: impl FnMut(u64) -> Io) -> impl FnMut() -> Option<Io> {
    let mut made = 0;
    move || {
        (made < count).then(|| {
            made += 1;
            make(made - 1)
        })
    }
}

/// Writes all of the user's space once, in order.
pub fn fill<T: Target>(drive: &mut T) {
    let units = drive.geometry().sectors / 8;
    closed_loop(
        drive,
        32,
        times(units.div_ceil(32), |i| io(Op::Write, i * 32, (units - i * 32).min(32) as u32)),
    );
}

/// Writes `count` single units anywhere in the first `span` units.
pub fn overwrite<T: Target>(
    drive: &mut T,
    random: &mut Random,
    span: u64,
    count: u64,
) -> Vec<Nanos> {
    closed_loop(drive, 32, times(count, |_| io(Op::Write, random.below(span), 1)))
}

/// Reaps all there is: how many were answered, by a completion or a fault.
///
/// # Errors
/// When time goes back, or a command is refused for no reason.
pub fn drain(drive: &mut Ssd) -> Result<u32, String> {
    let mut answered = 0;
    let mut now = drive.now();
    loop {
        match drive.reap(Nanos::MAX) {
            Ok(None) => return Ok(answered),
            Ok(Some(done)) if done.at >= now => {}
            Ok(Some(_)) => return Err("time went back".into()),
            Err(fault) if drive.geometry().refuses(fault.io).is_some() => {}
            Err(fault) => return Err(format!("refused for no reason: {fault}")),
        }
        now = drive.now();
        answered += 1;
    }
}

/// Round powers and energies.
pub fn power() -> PowerSection {
    PowerSection {
        idle_w: 0.5,
        active_w: 1.25,
        read_uj: 3.0,
        program_uj: 70.0,
        erase_uj: 200.0,
        transfer_nj_per_byte: 0.25,
        link_pj_per_bit: 20.0,
    }
}
