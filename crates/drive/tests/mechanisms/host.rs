//! What lies between the host and an SSD, against closed forms: links, host controllers, force unit
//! access, the ways to take TRIM, and space that the host leaves alone.

use crate::common::*;
use fourcorners_drive::config::*;
use fourcorners_drive::{FaultCause, Io, Lba, Nanos, Op, Ssd, SsdCounters, Tag, Target};

const SMALL: Shape = Shape { dies: 4, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.15 };

fn fua(unit: u64, units: u32) -> Io {
    Io { fua: true, ..io(Op::Write, unit, units) }
}

/// The latency of one I/O on a drive with nothing else to do.
fn alone(drive: &mut Ssd, io: Io) -> Nanos {
    drive.settle();
    closed_loop(drive, 1, times(1, |_| io))[0]
}

fn filled(profile: &SsdConfig) -> Ssd {
    let mut drive = make(profile);
    fill(&mut drive);
    drive.reap(drive.now() + Nanos::from_secs(100)).expect("nothing in flight, nothing to fail");
    drive
}

/// MB/s of `ios` at queue depth 32.
fn mb_per_s(drive: &mut Ssd, count: u64, make: impl FnMut(u64) -> Io) -> f64 {
    let (start, mut bytes) = (drive.now(), 0);
    let mut next = times(count, make);
    closed_loop(drive, 32, || next().inspect(|io| bytes += io.bytes()));
    bytes as f64 / 1e6 / (drive.now() - start).as_secs()
}

fn near(measured: f64, expected: f64, within: f64) {
    let error = (measured / expected - 1.0).abs();
    assert!(error <= within, "{measured:.2} where {expected:.2} was expected");
}

/// Reads of what was never written and writes into a buffer that holds all of it meet nothing but
/// the link.
fn link_only(link: LinkSection) -> SsdConfig {
    let mut profile = ssd(Shape { blocks_per_die: 512, ..SMALL });
    profile.link = link;
    profile.buffer.write_kib = 1 << 17;
    profile
}

#[test]
fn a_lone_command_over_nvme_takes_the_sum_of_its_parts() {
    // Generation 2, one lane: 2 ns a byte. Request 144 bytes, 4096 in 32 packets, answer 68.
    let mut profile = ssd(SMALL);
    profile.link = pcie(2, 1, 128);
    profile.host.command_us = 10.0;
    profile.controller.read_command_us = 20.0;
    profile.controller.write_command_us = 30.0;
    let mut drive = filled(&profile);
    let transfer = 2 * (144 + 4096 + 32 * 24 + 68);
    let read = alone(&mut drive, io(Op::Read, 7, 1));
    assert_eq!(read, Nanos(10_000 + 20_000 + 50_000 + 10_240 + transfer));
    let write = alone(&mut drive, io(Op::Write, 7, 1));
    assert_eq!(write, Nanos(10_000 + 30_000 + transfer));
    profile.buffer.power_loss_protected = true;
    let flush = alone(&mut make(&profile), Io::FLUSH);
    assert_eq!(flush, Nanos(10_000 + 30_000 + 2 * (144 + 68)));
}

#[test]
fn both_directions_of_pcie_are_full_at_once() {
    // x4 of generation 3 with packets of 256 bytes: 3601 MB/s each way, less the 68 bytes of
    // answers, which go with the reads, and the 144 of requests, which go with the writes.
    let drive = || make(&link_only(pcie(3, 4, 256)));
    let read = |i: u64| io(Op::Read, 16_000 + i % 1000, 32);
    let write = |i: u64| io(Op::Write, i % 1000, 32);
    let wire = 984.615_384_6 * 4.0;
    let data = 131_072.0 * (256.0 + 24.0) / 256.0;
    near(mb_per_s(&mut drive(), 800, read), wire * 131_072.0 / (data + 68.0), 0.01);
    near(mb_per_s(&mut drive(), 800, write), wire * 131_072.0 / (data + 144.0), 0.01);
    let mixed = |i: u64| if i.is_multiple_of(2) { read(i) } else { write(i) };
    near(mb_per_s(&mut drive(), 1600, mixed), 2.0 * 3601.0, 0.02);
    // SATA has the time of one for both.
    let mixed = mb_per_s(&mut make(&link_only(sata(6.0, 0.0, 0.98))), 1600, mixed);
    near(mixed, 560.0, 0.01);
}

#[test]
fn small_commands_over_nvme_are_limited_by_their_packets() {
    // 512 bytes in four packets of 128, and the answer: 512 + 96 + 68 bytes at 500 MB/s.
    let read = |i| Io { sectors: 1, ..io(Op::Read, i % 1000, 1) };
    let speed = mb_per_s(&mut make(&link_only(pcie(2, 1, 128))), 20_000, read);
    near(speed, 500.0 * 512.0 / 676.0, 0.01);
}

#[test]
fn a_queue_can_be_as_deep_as_nvme_has_it() {
    let mut profile = link_only(pcie(3, 4, 256));
    profile.capacity.queue_depth = 65_535;
    let mut drive = make(&profile);
    let latencies = closed_loop(&mut drive, 65_535, times(65_535, |i| io(Op::Read, i % 1000, 1)));
    assert_eq!(latencies.len(), 65_535);
    let together: Nanos = latencies.iter().copied().max().expect("there were some");
    // The last waits for all others: 4096 bytes, 16 packets and an answer each.
    near(together.as_secs(), 65_535.0 * (4096.0 + 16.0 * 24.0 + 68.0) / 3938.46e6, 0.001);
}

fn refused(change: impl FnOnce(&mut SsdConfig)) -> String {
    let mut profile = ssd(SMALL);
    change(&mut profile);
    profile.check().expect_err("it is nonsense").to_string()
}

#[test]
fn links_that_cannot_be_are_refused_by_key_value_and_range() {
    for gbps in [0.0, -3.0, 1.0, 3.1, 12.0, 600.0, f64::NAN, f64::INFINITY] {
        let told = refused(|profile| profile.link = sata(gbps, 0.0, 0.0));
        assert_eq!(told, format!("link.gbps = {gbps} is not possible: it must be 1.5, 3 or 6"));
    }
    for gbps in [1.5, 3.0, 6.0] {
        let mut profile = ssd(SMALL);
        profile.link = sata(gbps, 0.0, 0.0);
        profile.check().expect("there is such a link");
    }
    for (link, told) in [
        (pcie(0, 4, 128), "link.generation = 0 is not possible: it must be 1 to 5"),
        (pcie(6, 4, 128), "link.generation = 6 is not possible: it must be 1 to 5"),
        (pcie(3, 0, 128), "link.lanes = 0 is not possible: it must be 1, 2, 4, 8, 12 or 16"),
        (pcie(3, 3, 128), "link.lanes = 3 is not possible"),
        (pcie(3, 32, 128), "link.lanes = 32 is not possible"),
        (pcie(3, 4, 64), "link.max_payload_bytes = 64 is not possible: it must be 128, 256"),
        (pcie(3, 4, 300), "link.max_payload_bytes = 300 is not possible"),
        (pcie(3, 4, 8192), "link.max_payload_bytes = 8192 is not possible"),
    ] {
        assert!(refused(|profile| profile.link = link).starts_with(told), "{told}");
    }
    let deep = |link, depth| {
        refused(|profile| {
            profile.link = link;
            profile.capacity.queue_depth = depth;
        })
    };
    let told = "capacity.queue_depth = 33 is not possible: it must be 1 to 32";
    assert_eq!(deep(sata(6.0, 0.0, 0.0), 33), told);
    let told = "capacity.queue_depth = 65536 is not possible: it must be 1 to 65535";
    assert_eq!(deep(pcie(3, 4, 128), 65_536), told);
    let LinkSection::Pcie(upstream) = pcie(2, 5, 128) else { unreachable!("it is PCIe") };
    let told = refused(|profile| profile.upstream = Some(upstream.clone()));
    assert!(told.starts_with("upstream.lanes = 5 is not possible"), "{told}");
    let told = refused(|profile| {
        profile.link = pcie(3, 4, 128);
        profile.upstream = Some(upstream);
    });
    assert!(told.contains("no host controller in front"), "{told}");
}

#[test]
fn a_link_is_told_by_its_keys() {
    let key = |key: &str, value: &str| format!("{key} = {value}\n");
    let sata = key("gbps", "6.0") + &key("command_us", "1.0") + &key("frame_us", "0.98");
    let pcie = key("generation", "3") + &key("lanes", "4") + &key("max_payload_bytes", "256");
    let parse = |text: &str| toml::from_str::<LinkSection>(text);
    let told = |text: String| parse(&text).expect_err("no link").message().to_string();
    for text in [&sata, &pcie] {
        let link = parse(text).expect("a link");
        let again = toml::to_string(&link).expect("it is data");
        assert_eq!(parse(&again).expect("the same link"), link);
    }
    assert!(matches!(parse(&sata), Ok(LinkSection::Sata(link)) if link.gbps == 6.0));
    assert!(matches!(parse(&pcie), Ok(LinkSection::Pcie(link)) if link.lanes == 4));
    assert_eq!(told(String::new()), "missing field `gbps`");
    assert_eq!(told(key("gbps", "6.0") + &key("frame_us", "1.0")), "missing field `command_us`");
    assert_eq!(told(key("lanes", "4")), "missing field `generation`");
    assert!(told(sata.clone() + &key("lanes", "4")).contains("a drive has one of them"));
    assert!(told(sata + &key("lane", "4")).contains("unknown field `lane`"));
}

#[test]
fn a_host_controller_costs_by_direction_and_by_its_link() {
    let mut profile = link_only(sata(6.0, 0.0, 0.98));
    let LinkSection::Pcie(upstream) = pcie(2, 1, 128) else { unreachable!("it is PCIe") };
    profile.upstream = Some(upstream);
    profile.host.command_us = 1.0;
    profile.host.read_command_us = Some(10.0);
    profile.host.write_command_us = Some(25.0);
    profile.trim.supported = true;
    // 4096 bytes in 32 packets of 152 bytes at 500 MB/s take longer than the SATA link needs.
    let transfer = 9728;
    let mut drive = make(&profile);
    assert_eq!(alone(&mut drive, io(Op::Read, 7, 1)), Nanos(10_000 + transfer));
    assert_eq!(alone(&mut drive, io(Op::Write, 7, 1)), Nanos(25_000 + transfer));
    assert_eq!(alone(&mut drive, io(Op::Trim, 7, 1)), Nanos(1000));
    let read = |i: u64| io(Op::Read, 10_000 + i % 1000, 32);
    near(mb_per_s(&mut drive, 800, read), 500.0 * 128.0 / 152.0, 0.001);
}

#[test]
fn a_forced_write_is_answered_when_its_row_is_on_the_nand() {
    // Rows of one unit: link 6.827 us, its way over the channel 10.24 us, tPROG; the first block
    // of a die is erased before.
    let mut drive = make(&ssd(SMALL));
    let (erase, rest) = (2_000_000, 6827 + 10_240 + 500_000);
    for unit in 0..4 {
        assert_eq!(alone(&mut drive, fua(unit, 1)), Nanos(erase + rest), "die {unit}");
    }
    assert_eq!(alone(&mut drive, fua(4, 1)), Nanos(rest));
    assert_eq!(alone(&mut drive, io(Op::Write, 4, 1)), Nanos(6827));
    // Two rows on two dies, whose channels differ: as long as one, and twice the data.
    assert_eq!(alone(&mut drive, fua(5, 2)), Nanos(rest + 6827 - 1));
    assert_eq!(drive.counters().padded_units, 0);
}

#[test]
fn a_forced_write_pads_its_row_and_takes_with_it_what_is_there() {
    let mut profile = ssd(SMALL);
    profile.nand.page_bytes = 16_384;
    profile.nand.pages_per_block = 4;
    let mut drive = filled(&profile);
    alone(&mut drive, Io::FLUSH);
    let before = drive.counters();
    alone(&mut drive, io(Op::Write, 4, 1));
    // The row is the whole page: 16,384 bytes over the channel. The block may be a new one.
    let erases = drive.counters().blocks_erased;
    let latency = alone(&mut drive, fua(5, 1));
    let erased = drive.counters().blocks_erased - erases;
    assert_eq!(latency, Nanos(6827 + 40_960 + 500_000 + erased * 2_000_000));
    let after = drive.counters();
    assert_eq!(after.padded_units - before.padded_units, 2);
    assert_eq!(after.pending_units, 0);
    // What came with it is on the NAND as well: there is nothing left to flush.
    assert_eq!(alone(&mut drive, Io::FLUSH), Nanos(0));
}

#[test]
fn with_power_loss_protection_force_costs_nothing() {
    let mut profile = ssd(SMALL);
    profile.buffer.power_loss_protected = true;
    let mut drive = make(&profile);
    assert_eq!(alone(&mut drive, fua(4, 1)), Nanos(6827));
    assert_eq!(drive.counters().padded_units, 0);
}

/// The same drive with its volatile write cache off.
fn writing_through(profile: &SsdConfig) -> SsdConfig {
    let mut profile = profile.clone();
    profile.buffer.write_cache = Some(false);
    profile
}

/// Latencies of writes of several lengths at several places, some of them parts of units, at queue depth
/// `depth`, and what the drive counted.
fn latencies(profile: &SsdConfig, depth: u32, force: bool) -> (Vec<Nanos>, SsdCounters) {
    let mut drive = make(profile);
    let write = |i: u64| {
        let (unit, units) = (i * 7 % 500, 1 + (i % 3) as u32);
        let io = Io { fua: force, ..io(Op::Write, unit, units) };
        if i.is_multiple_of(5) { Io { sectors: 3, ..io } } else { io }
    };
    let latencies = closed_loop(&mut drive, depth, times(3000, write));
    (latencies, drive.counters())
}

#[test]
fn without_a_write_cache_every_write_is_a_forced_one() {
    for pages in [4096, 16_384] {
        let mut profile = ssd(Shape { pages_per_block: 64, ..SMALL });
        profile.nand.page_bytes = pages;
        profile.host.command_us = 10.0;
        let off = writing_through(&profile);
        for depth in [1, 8] {
            let forced = latencies(&profile, depth, true);
            assert_eq!(latencies(&off, depth, false), forced, "{pages} bytes, QD {depth}");
            assert_eq!(latencies(&off, depth, true), forced, "{pages} bytes, QD {depth}");
            // The cache makes the difference, and one that is given as on is that of a drive without the key.
            let cached = latencies(&profile, depth, false);
            let mean =
                |of: &(Vec<Nanos>, SsdCounters)| of.0.iter().copied().sum::<Nanos>().0 / 3000;
            assert!(mean(&cached) < mean(&forced), "{pages} bytes, QD {depth}");
            let mut on = profile.clone();
            on.buffer.write_cache = Some(true);
            assert_eq!(latencies(&on, depth, false), cached, "{pages} bytes, QD {depth}");
        }
        // Nothing waits for a flush.
        let mut drive = make(&off);
        alone(&mut drive, io(Op::Write, 3, 1));
        assert_eq!(drive.counters().pending_units, 0);
        assert_eq!(alone(&mut drive, Io::FLUSH), Nanos(10_000));
    }
}

#[test]
fn a_buffer_that_survives_a_power_cut_needs_no_cache_to_be_off() {
    let mut profile = ssd(SMALL);
    profile.buffer.power_loss_protected = true;
    let cached = latencies(&profile, 1, false);
    assert_eq!(latencies(&writing_through(&profile), 1, false), cached);
    assert_eq!(latencies(&profile, 1, true), cached);
}

#[test]
fn reads_are_the_same_without_a_write_cache() {
    let profile = ssd(SMALL);
    let [mut on, mut off] = [&profile, &writing_through(&profile)].map(filled);
    for unit in 0..200 {
        let read = io(Op::Read, unit * 37 % 500, 1 + (unit % 4) as u32);
        assert_eq!(alone(&mut on, read), alone(&mut off, read), "unit {unit}");
    }
}

/// A drive whose controller is what bounds it, with so much latency besides.
fn latent(read_us: f64, write_us: f64) -> SsdConfig {
    let mut profile = link_only(pcie(3, 4, 256));
    profile.controller.read_command_us = 20.0;
    profile.controller.write_command_us = 30.0;
    profile.controller.read_latency_us = Some(read_us);
    profile.controller.write_latency_us = Some(write_us);
    profile
}

#[test]
fn a_controllers_latency_adds_to_a_lone_command_and_takes_nothing_from_the_next() {
    let commands = [io(Op::Read, 7, 1), io(Op::Write, 7, 1), fua(9, 1), Io::FLUSH];
    let lone = |profile: &SsdConfig| {
        let mut drive = make(profile);
        commands.map(|io| alone(&mut drive, io))
    };
    let without = lone(&latent(0.0, 0.0));
    let with = lone(&latent(100.0, 70.0));
    let more: Vec<u64> =
        with.iter().zip(without).map(|(with, without)| (*with - without).0).collect();
    assert_eq!(more, [100_000, 70_000, 70_000, 70_000]);
    // 32 in flight hide 100 us beside 20 of the controller's, and 70 beside 30.
    for (op, us) in [(Op::Read, 20.0), (Op::Write, 30.0)] {
        let rate =
            |profile: &SsdConfig| mb_per_s(&mut make(profile), 4000, |i| io(op, i % 1000, 1));
        let bound = 4096.0 / us;
        near(rate(&latent(0.0, 0.0)), bound, 0.01);
        near(rate(&latent(100.0, 70.0)), bound, 0.01);
        // As occupancy, the same time is paid by every command.
        let mut occupied = latent(0.0, 0.0);
        occupied.controller.read_command_us = 120.0;
        occupied.controller.write_command_us = 100.0;
        near(rate(&occupied), 4096.0 / if op == Op::Read { 120.0 } else { 100.0 }, 0.01);
    }
}

#[test]
fn no_latency_is_that_of_a_drive_without_the_key() {
    let mut profile = ssd(SMALL);
    let without = latencies(&profile, 4, false);
    profile.controller.read_latency_us = Some(0.0);
    profile.controller.write_latency_us = Some(0.0);
    assert_eq!(latencies(&profile, 4, false), without);
    profile.controller.write_latency_us = Some(1e6 + 1.0);
    let refused = profile.check().expect_err("longer than a second").to_string();
    assert!(refused.contains("controller.write_latency_us"), "{refused}");
}

#[test]
fn force_means_nothing_to_a_read() {
    let mut drive = filled(&ssd(SMALL));
    let read = alone(&mut drive, io(Op::Read, 9, 1));
    assert_eq!(alone(&mut drive, Io { fua: true, ..io(Op::Read, 9, 1) }), read);
}

fn trimming(mode: TrimMode) -> SsdConfig {
    let mut profile = ssd(Shape { blocks_per_die: 512, ..SMALL });
    profile.controller.write_command_us = 20.0;
    profile.trim.mode = Some(mode);
    profile.trim.range_us = Some(40.0);
    profile.trim.command_us = Some(1500.0);
    profile.trim.us_per_mib = Some(300.0);
    profile
}

#[test]
fn the_ways_to_take_trim_have_their_names() {
    let parse = |mode: &str| {
        let text = format!("supported = true\nmode = \"{mode}\"");
        toml::from_str::<TrimSection>(&text).map(|trim| trim.mode.expect("it is given"))
    };
    for (name, mode) in [
        ("instant", TrimMode::Immediate),
        ("queued", TrimMode::Queued),
        ("blocking", TrimMode::Blocking),
        ("ignored", TrimMode::Ignored),
    ] {
        assert_eq!(parse(name), Ok(mode));
    }
    let told = parse("slow").expect_err("no such mode").to_string();
    assert!(told.contains("instant") && told.contains("slow"), "{told}");
}

#[test]
fn each_way_to_take_trim_has_its_time() {
    // 64 MiB are 131,072 sectors: three ranges of ATA, one of NVMe.
    let trim = io(Op::Trim, 0, 16_384);
    let latency = |mode| alone(&mut make(&trimming(mode)), trim);
    assert_eq!(latency(TrimMode::Immediate), Nanos(20_000));
    assert_eq!(latency(TrimMode::Ignored), Nanos(20_000));
    assert_eq!(latency(TrimMode::Queued), Nanos(20_000 + 3 * 40_000));
    assert_eq!(latency(TrimMode::Blocking), Nanos(1_500_000 + 64 * 300_000));
    let mut nvme = trimming(TrimMode::Queued);
    nvme.link = pcie(2, 1, 128);
    assert_eq!(alone(&mut make(&nvme), trim), Nanos(20_000 + 40_000 + 2 * (144 + 68)));
    // Without keys of its own, the mode alone: as it was before there were modes, and no time.
    let mut profile = trimming(TrimMode::Immediate);
    profile.trim = TrimSection { supported: true, ..ssd(SMALL).trim };
    assert_eq!(alone(&mut make(&profile), trim), Nanos(20_000));
    profile.trim.mode = Some(TrimMode::Blocking);
    assert_eq!(alone(&mut make(&profile), trim), Nanos(0));
}

/// Of the first `units` 4 KiB units, how many the drive maps.
fn mapped(drive: &Ssd, units: u64) -> u64 {
    (0..units).filter(|unit| drive.is_mapped(Lba(unit * 8))).count() as u64
}

/// Nothing is asked of a drive for some seconds.
fn left_alone(drive: &mut Ssd, seconds: u64) {
    let until = drive.now() + Nanos::from_secs(seconds);
    while drive.reap(until).expect("no fault").is_some() {}
}

#[test]
fn a_partial_trim_frees_its_part_and_another_no_more() {
    const UNITS: u64 = 8192;
    let left = |percent: Option<f64>, times: usize| {
        let mut profile = trimming(TrimMode::Immediate);
        profile.trim.partial_percent = percent;
        let mut drive = filled(&profile);
        for _ in 0..times {
            alone(&mut drive, io(Op::Trim, 0, UNITS as u32));
        }
        assert_eq!(drive.check_map(), Ok(()));
        mapped(&drive, UNITS) as f64 / UNITS as f64
    };
    assert_eq!(left(None, 1), 0.0);
    assert_eq!(left(Some(100.0), 1), 0.0);
    assert_eq!(left(Some(0.0), 1), 1.0);
    let some = left(Some(30.0), 1);
    assert!((some - 0.7).abs() < 0.01, "{some}");
    assert_eq!(left(Some(30.0), 2), some);
}

#[test]
fn a_deferred_trim_takes_effect_later_and_spares_what_is_written_meanwhile() {
    const UNITS: u64 = 4096;
    let mut profile = trimming(TrimMode::Immediate);
    profile.trim.deferred_s = Some(60.0);
    let mut drive = filled(&profile);
    let now = alone(&mut drive, io(Op::Trim, 0, UNITS as u32));
    assert_eq!(now, Nanos(20_000), "it is answered at once");
    assert_eq!(mapped(&drive, UNITS), UNITS);
    assert!(drive.state().is_none(), "what waits is not kept");
    left_alone(&mut drive, 59);
    alone(&mut drive, io(Op::Write, 100, 1));
    alone(&mut drive, io(Op::Write, 200, 7));
    assert_eq!(mapped(&drive, UNITS), UNITS);
    left_alone(&mut drive, 2);
    assert_eq!(mapped(&drive, UNITS), 8, "before any command asks for it");
    alone(&mut drive, io(Op::Read, 300, 1));
    assert_eq!(mapped(&drive, UNITS), 8);
    assert!((100..101).chain(200..207).all(|unit| drive.is_mapped(Lba(unit * 8))));
    assert_eq!(drive.check_map(), Ok(()));
    assert!(drive.state().is_some(), "nothing waits any more");
    // What a purge forgets is not forgotten a second time, after it was written anew.
    alone(&mut drive, io(Op::Trim, 4096, 64));
    drive.purge();
    alone(&mut drive, io(Op::Write, 4096, 64));
    left_alone(&mut drive, 61);
    assert!(drive.is_mapped(Lba(4096 * 8)));
}

#[test]
fn a_trim_deferred_by_nothing_is_one_that_is_not_deferred() {
    let answered = |deferred: Option<f64>| {
        let mut profile = trimming(TrimMode::Queued);
        profile.trim.deferred_s = deferred;
        let mut drive = filled(&profile);
        let ios = [io(Op::Trim, 0, 512), io(Op::Write, 3, 9), io(Op::Read, 0, 64)];
        (ios.map(|io| alone(&mut drive, io)), mapped(&drive, 512))
    };
    assert_eq!(answered(Some(0.0)), answered(None));
    assert_ne!(answered(Some(1.0)).1, answered(None).1);
}

/// Eight reads, a TRIM of 1 MiB and eight more reads, submitted at once: when each is answered.
fn around_a_trim(mode: TrimMode) -> (Vec<u64>, u64, Vec<u64>) {
    let mut profile = trimming(mode);
    profile.capacity.queue_depth = 32;
    let mut drive = filled(&profile);
    let start = drive.now();
    for tag in 0..17 {
        let io = match tag {
            8 => io(Op::Trim, 4096, 256),
            _ => io(Op::Read, u64::from(tag) * 5, 1),
        };
        drive.submit(Tag(tag), io);
    }
    let mut answered = [0; 17];
    while let Some(done) = drive.reap(Nanos::MAX).expect("no fault") {
        answered[done.tag.0 as usize] = (done.at - start).0;
    }
    (answered[..8].to_vec(), answered[8], answered[9..].to_vec())
}

#[test]
fn a_queued_trim_drains_nothing_and_a_blocking_one_keeps_all_others_out() {
    let last = |times: &[u64]| times.iter().copied().max().expect("there are some");
    let first = |times: &[u64]| times.iter().copied().min().expect("there are some");
    let (before, trim, after) = around_a_trim(TrimMode::Queued);
    // It is answered before reads that were there first, and reads behind it go on.
    assert_eq!(trim, 20_000 + 40_000);
    assert!(trim < last(&before) && first(&after) < last(&before) + 100_000);

    let (before, trim, after) = around_a_trim(TrimMode::Blocking);
    let occupied = 1_500_000 + 300_000;
    assert_eq!(trim, last(&before) + occupied);
    // A read behind it begins when it is over: tR, its page over the channel and the link.
    assert_eq!(first(&after), trim + 50_000 + 10_240 + 6827);
}

#[test]
fn two_blocking_trims_follow_each_other() {
    let mut drive = make(&trimming(TrimMode::Blocking));
    let latencies = closed_loop(&mut drive, 2, times(2, |i| io(Op::Trim, i * 256, 256)));
    assert_eq!(latencies, [Nanos(1_800_000), Nanos(3_600_000)]);
}

#[test]
fn a_full_discard_works_in_every_mode() {
    for mode in [TrimMode::Immediate, TrimMode::Queued, TrimMode::Blocking, TrimMode::Ignored] {
        let profile = trimming(mode);
        let mut drive = filled(&profile);
        let units = drive.geometry().sectors / 8;
        let started = drive.now();
        drive.discard_all().expect("it takes TRIM");
        let ranges = (units * 8).div_ceil(65_535);
        let mib = (units * 4096) as f64 / f64::from(1 << 20);
        let expected = match mode {
            TrimMode::Immediate | TrimMode::Ignored => 20_000,
            TrimMode::Queued => 20_000 + 40_000 * ranges,
            TrimMode::Blocking => 1_500_000 + (mib * 300_000.0).round() as u64,
        };
        assert_eq!(drive.now() - started, Nanos(expected), "{mode:?}");
        drive.check_map().unwrap_or_else(|wrong| panic!("{mode:?}: {wrong}"));
        // Whether there is anything left to read.
        let read = alone(&mut drive, io(Op::Read, 7, 1));
        let nand = if mode == TrimMode::Ignored { 60_240 } else { 0 };
        assert_eq!(read, Nanos(nand + 6827), "{mode:?}");
        // And to collect: all of it is dead, or all of it alive.
        let before = drive.counters();
        overwrite(&mut drive, &mut Random(4), units, units / 2);
        let amplification = drive.counters().write_amplification_since(&before).expect("writes");
        assert_eq!(amplification > 1.5, mode == TrimMode::Ignored, "{mode:?}: {amplification}");
    }
}

#[test]
fn a_large_drive_is_discarded_in_pieces() {
    // 5 GB are three commands of at most 64 ranges of 65,528 sectors.
    let mut profile = trimming(TrimMode::Blocking);
    profile.nand.blocks_per_plane = 20_000;
    profile.nand.page_bytes = 16_384;
    profile.capacity.sectors = 10_000_000;
    profile.buffer.write_kib = 256;
    let mut drive = make(&profile);
    drive.discard_all().expect("it takes TRIM");
    let each_mib = 10_000_000.0 / 2048.0 * 300_000.0;
    near(drive.now().0 as f64, 3.0 * 1_500_000.0 + each_mib, 1e-6);
}

#[test]
fn a_drive_without_trim_cannot_be_discarded_in_any_mode() {
    let mut profile = trimming(TrimMode::Blocking);
    profile.trim.supported = false;
    let mut drive = make(&profile);
    let fault = drive.discard_all().expect_err("not supported");
    assert_eq!(fault.cause, FaultCause::Unsupported);
    assert_eq!(alone(&mut drive, io(Op::Read, 7, 1)), Nanos(6827), "nothing is kept out");
}

#[test]
fn a_secure_erase_takes_the_time_the_profile_gives_it() {
    let purge = |seconds: Option<f64>| {
        let mut profile = ssd(SMALL);
        profile.trim.secure_erase_s = seconds;
        let mut drive = filled(&profile);
        let started = drive.now();
        drive.purge();
        assert_eq!(alone(&mut drive, io(Op::Read, 7, 1)), Nanos(6827), "nothing is mapped");
        drive.now() - started - Nanos(6827)
    };
    assert_eq!(purge(None), Nanos(0));
    assert_eq!(purge(Some(42.5)), Nanos(42_500_000_000));
}

#[test]
fn trims_that_cannot_be_are_refused_by_key_value_and_range() {
    for (told, wrong) in [
        ("trim.range_us = -1 ", refused(|p| p.trim.range_us = Some(-1.0))),
        ("trim.partial_percent = 101", refused(|p| p.trim.partial_percent = Some(101.0))),
        ("trim.deferred_s = -1 ", refused(|p| p.trim.deferred_s = Some(-1.0))),
        ("trim.command_us = NaN ", refused(|p| p.trim.command_us = Some(f64::NAN))),
        ("trim.us_per_mib = 100001 ", refused(|p| p.trim.us_per_mib = Some(100_001.0))),
        ("trim.secure_erase_s = -2 ", refused(|p| p.trim.secure_erase_s = Some(-2.0))),
        ("host.read_command_us = -1 ", refused(|p| p.host.read_command_us = Some(-1.0))),
        ("host.write_command_us = inf ", {
            refused(|p| p.host.write_command_us = Some(f64::INFINITY))
        }),
    ] {
        assert!(wrong.starts_with(told), "{told}: {wrong}");
    }
}

#[test]
fn space_the_host_leaves_alone_is_spare_area() {
    // A span that is all the host ever writes, and a drive that shows no more than that span: both
    // have the whole rest as spare. Greedy at 28 % with 64 pages a block: 2.403.
    let shape = Shape { dies: 1, blocks_per_die: 2000, pages_per_block: 64, effective_op: 0.07 };
    let usable = usable_units(&ssd(shape)) as f64;
    let span = (usable / 1.28) as u64;
    let steady = |profile: &SsdConfig| {
        let mut drive = make(profile);
        let mut random = Random(11);
        closed_loop(&mut drive, 32, times(span, |unit| io(Op::Write, unit, 1)));
        overwrite(&mut drive, &mut random, span, span * 6);
        let before = drive.counters();
        overwrite(&mut drive, &mut random, span, span * 2);
        drive.counters().write_amplification_since(&before).expect("the host wrote")
    };
    near(steady(&ssd(shape)), 2.4028, 0.015);
    let mut limited = ssd(shape);
    limited.capacity.sectors = span * 8;
    near(steady(&limited), 2.4028, 0.015);
    assert!((make(&limited).effective_op() - 0.28).abs() < 1e-4);
}
