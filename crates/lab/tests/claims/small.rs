//! Writes below 4 KiB, one at a time.

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
