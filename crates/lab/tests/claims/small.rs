//! I/Os below 4 KiB and large ones, one at a time.

use super::*;

/// I/Os a second of writes of so many bytes over a span that was written before.
fn writes(name: &str, set: &[&str], pattern: Pattern, block_bytes: u32) -> f64 {
    let set = [&["variation.mode=off"], set].concat();
    let mut ssd = drive(name, &set);
    measure(&mut ssd, &pass(0, 32, GB / 4));
    let job = Job { pattern, block_bytes, ..random(0, 1, GB / 4, Until::Bytes(16_000_000)) };
    let measured = measure(&mut ssd, &job);
    measured.writes as f64 / measured.elapsed.as_secs()
}

#[test]
fn in_order_they_merge_in_the_buffer_and_are_no_slower_than_larger_ones() {
    for name in ["crucial-m4-256gb", "samsung-840-evo-250gb", "samsung-970-evo-plus-1000gb"] {
        let whole = writes(name, &[], Pattern::Sequential, 4096);
        for block_bytes in [512, 2048] {
            let rate = |set: &[&str], pattern| writes(name, set, pattern, block_bytes) / whole;
            let joined = rate(&[], Pattern::Sequential);
            assert!(joined > 0.9, "{name}, {block_bytes} bytes: {joined}");
            let at_random = rate(&[], Pattern::Random);
            assert!(at_random < 0.6 * joined, "{name}, {block_bytes} bytes: {at_random}");
            let apart = rate(&["buffer.join=false"], Pattern::Sequential);
            assert!(apart < 0.8 * joined, "{name}, {block_bytes} bytes: {apart}");
        }
    }
}

/// A unit of its map is larger than what is written of it, so the rest is read and written along.
#[test]
fn at_random_optane_pays_for_the_rest_of_their_unit() {
    const P4800X: &str = "intel-optane-p4800x-375gb";
    let rate = |set: &[&str], block_bytes| writes(P4800X, set, Pattern::Random, block_bytes);
    let whole = rate(&[], 4096);
    for block_bytes in [512, 2048] {
        let in_part = rate(&[], block_bytes);
        assert!(in_part < 0.8 * whole, "{block_bytes} bytes: {in_part} of {whole}");
        // Reading the rest is what it costs.
        let free = rate(&["nand.read_us=0", "nand.bus_mb_per_s=100000"], block_bytes);
        assert!(free > 0.95 * whole, "{block_bytes} bytes: {free} of {whole}");
    }
}

/// MB/s of reads in order of each size, one at a time, of a span that was written in order.
fn read_in_order(name: &str, set: &[&str], sizes: &[u32]) -> Vec<f64> {
    let mut ssd = drive(name, set);
    measure(&mut ssd, &pass(0, 32, GB / 8));
    let one = |&block_bytes: &u32| {
        let (pattern, until) = (Pattern::Sequential, Until::Bytes(GB / 8 / 4_194_304 * 4_194_304));
        let job = Job { pattern, block_bytes, ..random(100, 1, GB / 8, until) };
        mb_per_s(&measure(&mut ssd, &job))
    };
    sizes.iter().map(one).collect()
}

#[test]
fn in_order_larger_reads_are_faster_on_every_drive_and_small_ones_of_flash_before_optanes() {
    const SIZES: [u32; 14] = [
        512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576,
        2_097_152, 4_194_304,
    ];
    let steady = ["variation.mode=off"];
    let (mut optane, mut flash) = (Vec::new(), Vec::new());
    for name in fourcorners_catalogue::names() {
        let Model::Ssd(config) = &profile(&name, &[]).model else { continue };
        let speeds = read_in_order(&name, &steady, &SIZES);
        for (two, sizes) in speeds.windows(2).zip(SIZES.windows(2)) {
            assert!(
                two[1] > 0.98 * two[0],
                "{name}: {} at {} bytes, {} at {}",
                two[0],
                sizes[0],
                two[1],
                sizes[1]
            );
        }
        let nvme = config.capacity.queue_depth > 32;
        match (name.contains("optane"), nvme) {
            (true, _) => optane.push((name, speeds)),
            (false, true) => flash.push((name, speeds)),
            (false, false) => {}
        }
    }
    assert!(optane.len() > 2 && flash.len() > 5, "{} and {}", optane.len(), flash.len());
    for (optane, slow) in &optane {
        for (flash, fast) in &flash {
            for (size, (fast, slow)) in SIZES.iter().zip(fast.iter().zip(slow)).take(3) {
                assert!(fast > slow, "{size} bytes: {flash} {fast}, {optane} {slow}");
            }
        }
    }
    // That is what is read ahead.
    let alone = read_in_order(
        "samsung-970-evo-plus-1000gb",
        &["variation.mode=off", "controller.read_ahead_kib=0"],
        &SIZES[..3],
    );
    assert!(alone.iter().zip(&optane[0].1).any(|(flash, optane)| flash < optane), "{alone:?}");
}
