//! In how many times pages are read: what is so, and whether reads can tell.

use fourcorners_drive::config::{CellKind, MapSection, NandCellsSection, SsdConfig, VariationMode};

use super::{Told, Truth};

/// Kinds that are nearer than this are no two: the clocks of drives are no finer. Those that are further apart than so many
/// deviations of what one place tells, and this besides, are seen.
const ALIKE_US: f64 = 0.02;
const APART: f64 = 10.0;
const APART_US: f64 = 2.5;
/// How often a place is read.
const READINGS: f64 = 16.0;
/// Rows of all dies that the region has at least, so that kinds are equally frequent in it.
const ROWS: f64 = 24.0;
/// The region is a part of the drive, of so many bytes at most.
const PARTS: f64 = 40.0;
const MOST_BYTES: f64 = 4.0 * 1073741824.0;

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
    let one_place = spread(ssd) * ssd.nand.read_us * 1.25 / READINGS.sqrt();
    let seen = nearest > APART * one_place + APART_US;
    // Two of three that are read alike are more frequent than the third.
    let equal = kinds == times.len();
    let nand = &ssd.nand;
    let stripe = f64::from(nand.dies) * f64::from(nand.planes) * f64::from(nand.page_bytes);
    let region = (ssd.capacity.sectors as f64 * 512.0 / PARTS).min(MOST_BYTES);
    let many = region / stripe > ROWS;
    // What is written goes to pages of another kind first, what is stored of a unit may be no part of a page, and a map of
    // which not all of the region is in memory takes its own time.
    let plain = ssd.slc_buffer.is_none()
        && ssd.log_blocks.is_none()
        && ssd.compression.as_ref().is_none_or(|it| it.overhead_bytes == 0)
        && ssd.map.as_ref().is_none_or(|map| reach_bytes(map) > 2.0 * region);
    let told = seen && equal && many && plain;
    (Truth::Number(kinds as f64, 0.0), if told { Told::Yes } else { Told::Perhaps })
}

/// How much of the drive the map in memory reaches: four bytes of it are of a unit.
fn reach_bytes(map: &MapSection) -> f64 {
    map.memory_kib.map_or(f64::INFINITY, |kib| {
        f64::from(kib) * 256.0 * f64::from(map.unit_bytes.unwrap_or(4096))
    })
}

/// The time of a read of each kind, in microseconds.
fn read_us(ssd: &SsdConfig) -> Vec<f64> {
    let variation = ssd.variation.as_ref().filter(|it| it.mode == VariationMode::On);
    let of_cells = ssd.nand_cells.as_ref().map(ratios).filter(|ratios| ratios.len() > 1);
    let ratios = of_cells.or_else(|| {
        let variation = variation?;
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

/// The deviation of a read of a page, a share of its time.
fn spread(ssd: &SsdConfig) -> f64 {
    let on = ssd.variation.as_ref().filter(|it| it.mode == VariationMode::On);
    on.map_or(0.0, |it| it.read_spread)
}
