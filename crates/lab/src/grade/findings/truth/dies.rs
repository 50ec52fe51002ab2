//! The truth of what data in order lies on, and whether two reads at once can tell it.

use fourcorners_drive::config::SsdConfig;

use super::super::rates;
use super::told::{Told, Truth};
use crate::diagnose::LONGEST_STRIPE_BYTES;

/// A wait is seen that is so large a share of a read, and none that is smaller than this.
const SEEN: f64 = 0.1;
const NOT_SEEN: f64 = 0.02;

/// The truth of a key, and whether times tell it.
pub(super) fn of(ssd: &SsdConfig, key: &str) -> (Truth, Told) {
    let nand = &ssd.nand;
    let stripe = f64::from(nand.dies) * f64::from(nand.planes) * f64::from(nand.page_bytes);
    let [die_us, channel_us] = waits_us(ssd);
    let lies_in_turn = match () {
        () if stripe > LONGEST_STRIPE_BYTES as f64 || nand.dies < 2 => Told::No,
        // What is stored of a unit may be no part of a page, or lies where its block's log is.
        () if ssd.log_blocks.is_some() => Told::Perhaps,
        () if ssd.compression.as_ref().is_some_and(|it| it.overhead_bytes > 0) => Told::Perhaps,
        () => Told::Yes,
    };
    let seen = |us: f64| match us / rates::read_us(ssd) {
        share if share > SEEN => Told::Yes,
        share if share > NOT_SEEN => Told::Perhaps,
        _ => Told::No,
    };
    let (dies, channels) = (nand.dies, nand.channels);
    match key {
        "dies" => (Truth::Number(f64::from(dies), 0.0), lies_in_turn.and(seen(die_us))),
        "stripe_bytes" => (Truth::Number(stripe, 0.0), lies_in_turn.and(seen(die_us))),
        // Of one channel and of as many as dies there are not both: pairs that share one, and pairs that do not. And only of
        // as many on each channel, which two pairs share one depends on how far apart they are.
        _ => {
            let differ = Told::from(1 < channels && channels < dies && dies % channels == 0);
            let told = lies_in_turn.and(seen(die_us)).and(seen(channel_us)).and(differ);
            (Truth::Number(f64::from(channels), 0.0), told)
        }
    }
}

/// How much longer the later of two reads takes, microseconds, if both are of one die and if both are of one channel. One die
/// reads and sends a page after the other, while the link is busy with the first or the controller with the second. Two dies
/// read at once. The model's channels add up what they have to send without saying when: the second page waits only for as long
/// as the first takes longer over the wires than the array takes to read a page.
fn waits_us(ssd: &SsdConfig) -> [f64; 2] {
    let transfer_us = f64::from(ssd.nand.page_bytes) / ssd.nand.bus_mb_per_s;
    let array_us = rates::array_us(ssd);
    let hidden_us = rates::link_us(ssd, 4096).max(ssd.controller.read_command_us);
    [array_us + transfer_us - hidden_us, transfer_us - array_us - hidden_us]
}
