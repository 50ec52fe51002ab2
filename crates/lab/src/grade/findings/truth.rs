//! What a finding has to say of a drive that is known, and whether times can tell.

use fourcorners_catalogue::Model;
use fourcorners_drive::config::{LinkSection, SsdConfig};

use crate::diagnose::{Finding, Standing, Value};

use super::population::Drawn;

/// What is so.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Truth {
    /// A number, of which a finding may be off by this share.
    Number(f64, f64),
    /// A class.
    Class(&'static str),
    /// There is nothing of the kind: a number would be of something else.
    None,
}

/// The truth of a property, and whether the times of the drive can tell it by the closed forms below.
pub(super) fn of(drawn: &Drawn, key: &str) -> (Truth, bool) {
    let Model::Ssd(ssd) = &drawn.profile.model else {
        return match key {
            "kind" => (Truth::Class("disk"), true),
            _ => (Truth::None, false),
        };
    };
    let nand = &ssd.nand;
    let (page, planes) = (f64::from(nand.page_bytes), f64::from(nand.planes));
    match key {
        "kind" => (Truth::Class("ssd"), true),
        "page_bytes" => (Truth::Number(page, 0.0), sees_borders(ssd)),
        // With one channel all dies share their wires, and the next row is no faster to reach.
        "row_bytes" => (Truth::Number(page * planes, 0.0), sees_borders(ssd) && nand.channels > 1),
        "write_buffer_kib" => {
            let kib = f64::from(ssd.buffer.write_kib);
            (Truth::Number(kib, 0.05), fills_before_it_empties(ssd))
        }
        "slc_cache_mib" => slc(ssd),
        "map_reach_gib" => map(ssd),
        _ => (Truth::None, false),
    }
}

/// Two pages of a row come over the same wires one after the other: there must be two, and it must take time.
fn sees_borders(ssd: &SsdConfig) -> bool {
    let nand = &ssd.nand;
    let transfer_us = f64::from(nand.page_bytes) / nand.bus_mb_per_s;
    nand.planes > 1 && transfer_us > 0.04 * (nand.read_us + 2.0 * transfer_us)
}

/// Microseconds that a write of 32 KiB takes from the host into the buffer.
fn write_32k_us(ssd: &SsdConfig) -> f64 {
    let controller = &ssd.controller;
    let LinkSection::Sata(sata) = &ssd.link else { return f64::NAN };
    // Ten bits a byte, in frames of 8 KiB.
    let link =
        f64::from(32 << 10) / (sata.gbps * 100.0) + 4.0 * sata.frame_us + 2.0 * sata.command_us;
    ssd.host.command_us
        + controller.write_command_us
        + controller.write_latency_us.unwrap_or(0.0)
        + (8.0 * controller.write_4k_us).max(link)
}

/// The program time of what is written first.
fn program_us(ssd: &SsdConfig) -> f64 {
    ssd.slc_buffer.as_ref().map_or(ssd.nand.program_us, |slc| slc.program_us)
}

/// The link fills the buffer before the first row is programmed.
fn fills_before_it_empties(ssd: &SsdConfig) -> bool {
    let fill_us = f64::from(ssd.buffer.write_kib) / 32.0 * write_32k_us(ssd);
    !ssd.buffer.power_loss_protected && fill_us < 0.8 * program_us(ssd)
}

/// 10^6 bytes a second that the flash takes, with so many microseconds a program.
fn flash_mb_per_s(ssd: &SsdConfig, program_us: f64) -> f64 {
    let nand = &ssd.nand;
    let row = f64::from(nand.planes * nand.page_bytes);
    let by_program = f64::from(nand.dies) * row / (program_us + row / nand.bus_mb_per_s);
    by_program.min(f64::from(nand.channels) * nand.bus_mb_per_s)
}

fn slc(ssd: &SsdConfig) -> (Truth, bool) {
    let Some(slc) = &ssd.slc_buffer else { return (Truth::Number(0.0, 0.0), true) };
    let mib = f64::from(slc.fixed_mib.unwrap_or(0) + slc.dynamic_mib.unwrap_or(0));
    // The drive becomes slower where it ends: the link is not the limit before by much, and folding is slower anyway.
    let link = f64::from(32 << 10) / write_32k_us(ssd) * 1.5;
    let before = flash_mb_per_s(ssd, slc.program_us).min(link);
    let after = flash_mb_per_s(ssd, ssd.nand.program_us).min(link);
    (Truth::Number(mib, 0.05), after < 0.8 * before)
}

fn map(ssd: &SsdConfig) -> (Truth, bool) {
    let map = ssd.map.as_ref();
    let Some(kib) = map.and_then(|map| map.memory_kib) else { return (Truth::None, true) };
    let unit = map.and_then(|map| map.unit_bytes).unwrap_or(4096);
    let reach = f64::from(kib) * 1024.0 / 4.0 * f64::from(unit);
    let all = ssd.capacity.sectors as f64 * 512.0;
    let gib = f64::from(1 << 30);
    (Truth::Number(reach / gib, 0.05), reach < 0.8 * all && ssd.nand.read_us > 10.0)
}

/// How a finding stands to the truth.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Grade {
    /// Determined, and so.
    Right,
    /// Determined, or bound, and not so; or a guess where the times cannot tell.
    Wrong,
    /// Not determined.
    Undetermined,
}

/// The grade of a finding, and whether its interval holds the truth where it has one.
pub(super) fn grade(finding: &Finding, truth: &Truth) -> (Grade, Option<bool>) {
    match (finding.standing, &finding.value, truth) {
        (Standing::Undetermined, _, _) | (_, None, _) => (Grade::Undetermined, None),
        // All that was looked at is below the bound: right for what is not there.
        (Standing::Bound, Some(_), Truth::None) => (Grade::Right, None),
        (Standing::Bound, Some(Value::Number(least)), Truth::Number(truth, _)) => {
            (if truth >= least { Grade::Undetermined } else { Grade::Wrong }, None)
        }
        (Standing::Determined, Some(Value::Class(class)), Truth::Class(truth)) => {
            (if class == truth { Grade::Right } else { Grade::Wrong }, None)
        }
        (Standing::Determined, Some(Value::Number(value)), Truth::Number(truth, share)) => {
            let [low, high] = finding.interval.unwrap_or([*value, *value]);
            let inside = low <= *truth && *truth <= high;
            let near = (value - truth).abs() <= share * truth;
            (if near || inside { Grade::Right } else { Grade::Wrong }, Some(inside))
        }
        _ => (Grade::Wrong, None),
    }
}
