//! When a drive collects: what is so, and whether its times can tell.

use fourcorners_drive::config::{Pacing, SsdConfig};

use crate::diagnose::{COLLECTION_GAIN, LEAST_COLLECTION_LOST};

use super::super::rates;
use super::told::{KNOWN_TO, Told, Truth};

/// A trial of a detector is a thirty-second of the drive at most: stalls of a block each are alike in it if it has so many.
const LEAST_STALLS: u32 = 20;
const TRIALS: u32 = 32;
/// That nothing is won is said by trials of a 256th of it.
const FINE_TRIALS: u32 = 256;
pub(super) fn of(ssd: &SsdConfig, key: &str) -> (Truth, Told) {
    let is_paced = match ssd.gc.pacing {
        Pacing::Paced => Some(true),
        Pacing::Delayed | Pacing::DelayedUntilSequential => Some(false),
        Pacing::Batched => None,
    };
    match key {
        "collection_idle" => {
            let class = if ssd.gc.idle_ms.is_some() { "yes" } else { "no" };
            (Truth::Class(class), idle(ssd))
        }
        _ => match is_paced {
            Some(true) => (Truth::Class("paced"), pacing(ssd)),
            Some(false) => (Truth::Class("stalls"), pacing(ssd)),
            None => (Truth::Open, Told::Perhaps),
        },
    }
}

/// A cache that is emptied in a pause hides it, and so does a flush that waits for no program; and of a drive that loses little
/// to collection nobody waits for it.
fn pacing(ssd: &SsdConfig) -> Told {
    match lost(ssd) {
        Told::Yes if !hides(ssd) => Told::Yes,
        _ => Told::Perhaps,
    }
}

fn hides(ssd: &SsdConfig) -> bool {
    ssd.slc_buffer.is_some() || ssd.buffer.power_loss_protected
}

/// That a used drive is slower than a filled one, by theory.
fn lost(ssd: &SsdConfig) -> Told {
    let [least, most] = [1.0, 2.0].map(|uneven| rates::slower_when_used(ssd, uneven));
    Told::is_more(least / KNOWN_TO, most * KNOWN_TO, LEAST_COLLECTION_LOST)
}

/// The used drive is slower than the filled one by theory, and trials of it are alike. What a pause wins is the space between
/// the blocks that it works to and those that are free anyway, of what is written in a trial.
fn idle(ssd: &SsdConfig) -> Told {
    let least = rates::slower_when_used(ssd, 1.0);
    let is_paced = ssd.gc.pacing == Pacing::Paced;
    let trials = if ssd.gc.idle_ms.is_some() { TRIALS } else { FINE_TRIALS };
    let alike = is_paced || ssd.nand.blocks_per_plane >= LEAST_STALLS * trials;
    let wins = ssd.gc.idle_free_blocks.is_none_or(|blocks| {
        let worked_to = ssd.free_blocks_worked_to(blocks);
        let won = f64::from(worked_to.saturating_sub(ssd.gc.start_free_blocks + 1));
        let in_a_trial = f64::from(ssd.nand.blocks_per_plane) / f64::from(TRIALS);
        let in_a_trial = if is_paced { 4.0 } else { in_a_trial };
        (1.0 - 1.0 / least) * (won / in_a_trial).min(1.0) > 2.0 * (1.0 - 1.0 / COLLECTION_GAIN)
    });
    let all_at_once = ssd.gc.idle_ms.is_none_or(|ms| ms < 40_000.0);
    match lost(ssd) {
        Told::Yes if !hides(ssd) && alike && wins && all_at_once => Told::Yes,
        _ => Told::Perhaps,
    }
}
