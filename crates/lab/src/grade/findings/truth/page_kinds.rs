//! In how many times pages are read: what is so, and whether reads can tell.

use fourcorners_drive::config::{
    CellKind, NandCellsSection, SsdConfig, VariationMode, VariationSection,
};

use super::map_reach_bytes;
use super::told::{Told, Truth};
use crate::diagnose::region_bytes;

/// Kinds whose times differ by less count as one: no clock of a drive is finer. Kinds are told apart for certain if their times
/// differ by `APART` deviations of the median of one place and `APART_US` more.
const ALIKE_US: f64 = 0.02;
const APART: f64 = 10.0;
const APART_US: f64 = 2.5;
/// How often a place is read.
const READINGS: f64 = 16.0;
/// Stripes in the region from which on all kinds are about equally frequent in it.
const STRIPES: f64 = 24.0;

pub(super) fn of(ssd: &SsdConfig) -> (Truth, Told) {
    let mut times: Vec<f64> = read_us(ssd);
    times.sort_unstable_by(f64::total_cmp);
    let apart = times.windows(2).map(|pair| pair[1] - pair[0]).filter(|us| *us > ALIKE_US);
    let (mut kinds, mut nearest) = (1, f64::INFINITY);
    for us in apart {
        (kinds, nearest) = (kinds + 1, nearest.min(us));
    }
    if kinds == 1 {
        return (Truth::None, Told::No);
    }
    let spread = variation(ssd).map_or(0.0, |it| it.read_spread);
    let one_place = spread * ssd.nand.read_us * 1.25 / READINGS.sqrt();
    let seen = nearest > APART * one_place + APART_US;
    // Two of three that are read alike are more frequent than the third.
    let equal = kinds == times.len();
    let nand = &ssd.nand;
    let stripe = f64::from(nand.dies) * f64::from(nand.planes) * f64::from(nand.page_bytes);
    let region = region_bytes(ssd.capacity.sectors * 512) as f64;
    let many = region / stripe > STRIPES;
    // What is written goes to pages of another kind first, what is stored of a unit may be no part of a page, and a map of
    // which not all of the region is in memory takes its own time.
    let plain = ssd.slc_buffer.is_none()
        && ssd.log_blocks.is_none()
        && ssd.compression.as_ref().is_none_or(|it| it.overhead_bytes == 0)
        && map_reach_bytes(ssd).is_none_or(|reach| reach > 2.0 * region);
    let told = seen && equal && many && plain;
    (Truth::Number(kinds as f64, 0.0), if told { Told::Yes } else { Told::Perhaps })
}

/// The time of a read of each kind, in microseconds.
fn read_us(ssd: &SsdConfig) -> Vec<f64> {
    let of_cells = ssd.nand_cells.as_ref().map(ratios).filter(|ratios| ratios.len() > 1);
    let ratios = of_cells.or_else(|| {
        let variation = variation(ssd)?;
        let above = [variation.middle_read_ratio, variation.upper_read_ratio];
        Some(std::iter::once(1.0).chain(above.into_iter().flatten()).collect())
    });
    let ratios = ratios.unwrap_or_else(|| vec![1.0]);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    ratios.iter().map(|ratio| ssd.nand.read_us * ratio / mean).collect()
}

fn ratios(cells: &NandCellsSection) -> Vec<f64> {
    let [middle, upper] =
        [cells.middle_read_ratio, cells.upper_read_ratio].map(|ratio| ratio.unwrap_or(1.0));
    match cells.kind {
        CellKind::Slc => vec![1.0],
        CellKind::Mlc => vec![1.0, upper],
        CellKind::Tlc => vec![1.0, middle, upper],
    }
}

/// What varies, if anything does.
fn variation(ssd: &SsdConfig) -> Option<&VariationSection> {
    ssd.variation.as_ref().filter(|it| it.mode == VariationMode::On)
}
