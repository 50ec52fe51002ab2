//! How much a used drive writes: what it does, by its counters, and whether its times can tell.

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::config::{SsdConfig, VictimPolicy};
use fourcorners_drive::{Io, Lba, Nanos, Ssd, Tag, Target};
use fourcorners_record::Pattern;

use crate::diagnose::MOST_SPARE_OF_AMPLIFICATION;

use super::super::rates;
use super::super::writes::write;
use super::told::{Told, Truth};

/// The share of the drive that is left when the rest is trimmed.
const LEFT: f64 = 0.8;

/// What a drive does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Counted {
    amplification: f64,
    /// Microseconds of a unit more that is moved.
    move_us: f64,
}

/// Uses a drive of this kind and reads its counters; `None` if its times cannot tell, so that nothing may be said.
pub(crate) fn count(profile: &Profile) -> Option<Counted> {
    let Model::Ssd(ssd) = &profile.model else { return None };
    if told(ssd) == Told::No {
        return None;
    }
    let mut drive = Ssd::new(ssd).ok()?;
    let all = drive.geometry().bytes() / (128 << 10) * (128 << 10);
    let left = (all as f64 * LEFT) as u64 / 4096 * 4096;
    write(&mut drive, Pattern::Sequential, all, all, 0);
    let most = all * 17 / 10;
    write(&mut drive, Pattern::Random, all, most, most ^ all);
    let used = steady(&mut drive, all);
    let rest = Io::trim(Lba(left / 512), ((all - left) / 512) as u32);
    drive.submit(Tag(0), rest);
    while !matches!(drive.reap(Nanos::MAX), Ok(Some(_)) | Err(_)) {}
    write(&mut drive, Pattern::Random, left, all, all ^ left);
    let trimmed = steady(&mut drive, left);
    let move_us = (used.us - trimmed.us) / (used.amplification - trimmed.amplification);
    Some(Counted { amplification: used.amplification, move_us })
}

pub(super) fn of(ssd: &SsdConfig, key: &str, counted: Option<Counted>) -> (Truth, Told) {
    let Some(Counted { amplification, move_us }) = counted else { return (Truth::None, Told::No) };
    let truth = match key {
        "write_amplification" => Truth::Number(amplification, 0.1),
        _ if move_us.is_finite() => Truth::Number(move_us, 0.15),
        _ => Truth::Open,
    };
    (truth, told(ssd))
}

/// Of writes at random that have gone on for long.
struct Steady {
    /// Units written and moved of each that was sent.
    amplification: f64,
    /// Microseconds of each.
    us: f64,
}

fn steady(drive: &mut Ssd, span: u64) -> Steady {
    let (before, began) = (drive.counters(), drive.now());
    let bytes = span * 3 / 10;
    write(drive, Pattern::Random, span, bytes, bytes ^ span);
    let after = drive.counters();
    let of =
        |value: fn(&fourcorners_drive::SsdCounters) -> u64| (value(&after) - value(&before)) as f64;
    let moves = of(|it| it.moved_units) / of(|it| it.host_units);
    let us = (drive.now() - began).as_micros() / (bytes / 4096) as f64;
    Steady { amplification: 1.0 + moves, us }
}

/// What `spare_percent` needs, a way to choose of which theory is known, and flash or firmware that limits before collection begins,
/// or what a write takes then is no part of what it takes in the end.
fn told(ssd: &SsdConfig) -> Told {
    let (truth, spare) = super::spare(ssd);
    let plain = ssd.gc.policy == VictimPolicy::Greedy
        && matches!(truth, Truth::Number(percent, _) if percent < 95.0 * MOST_SPARE_OF_AMPLIFICATION)
        && ssd.slc_buffer.is_none()
        && ssd.map.as_ref().is_none_or(|map| map.memory_kib.is_none())
        && rates::limits_at_random(ssd);
    match spare {
        Told::Yes if plain => Told::Yes,
        Told::No => Told::No,
        _ => Told::Perhaps,
    }
}
