//! A smaller drive that behaves as a large one: fewer blocks a die, everything else the same.

use fourcorners_drive::Ssd;
use fourcorners_drive::config::{ConfigError, SsdConfig};

/// A die keeps at least so many blocks: with 128, steady writes of the test below are 7 % slower than those of a large
/// drive.
const LEAST_BLOCKS: u32 = 200;

/// A drive at a part of its capacity.
pub(crate) struct Scaled {
    pub(crate) config: SsdConfig,
    /// How many times smaller it is: a power of two.
    pub(crate) factor: u64,
}

/// The drive at the smallest part of its capacity, by a power of two, that leaves each die at least
/// [`LEAST_BLOCKS`] blocks a plane. Dies, channels, link and controller stay what they are, and so does the spare that
/// collection has to work with over what the user has (effective over-provisioning): latencies, rates and write
/// amplification do not depend on how many blocks a die has, and times in drive writes are as many times
/// shorter. Amounts that belong to the capacity, SLC buffer and memory of the map, shrink along.
///
/// Drives whose map needs its blocks counted one by one, log blocks and compression, stay as they are.
///
/// # Errors
/// When the smaller drive is none, which its config's check says.
pub(crate) fn scaled(config: &SsdConfig) -> Result<Scaled, ConfigError> {
    let mut factor = 1;
    if config.log_blocks.is_none() && config.compression.is_none() && config.streams.is_none() {
        while u64::from(config.nand.blocks_per_plane) >= u64::from(LEAST_BLOCKS) * 2 * factor {
            factor *= 2;
        }
    }
    let mut small = config.clone();
    if factor == 1 {
        return Ok(Scaled { config: small, factor });
    }
    let part = |amount: u32| (u64::from(amount) / factor).max(1) as u32;
    small.nand.blocks_per_plane = part(config.nand.blocks_per_plane);
    let blocks = f64::from(small.nand.blocks_per_plane) / f64::from(config.nand.blocks_per_plane);
    small.capacity.sectors = whole_units(config.capacity.sectors as f64 * blocks);
    if let Some(map) = &mut small.map {
        map.memory_kib = map.memory_kib.map(|kib| part(kib).max(64));
    }
    if let Some(slc) = &mut small.slc_buffer {
        slc.fixed_mib = slc.fixed_mib.map(|mib| part(mib).min(mib));
        slc.dynamic_mib = slc.dynamic_mib.map(|mib| part(mib).min(mib));
    }
    small.capacity.sectors = whole_units(sectors_of_equal_spare(config, &small, factor)?);
    small.check()?;
    Ok(Scaled { config: small, factor })
}

/// Sectors that leave the small drive the effective over-provisioning of the large one. What is kept free for
/// open and free blocks is as much on both, and the blocks of a fixed SLC buffer are a part.
fn sectors_of_equal_spare(
    large: &SsdConfig,
    small: &SsdConfig,
    factor: u64,
) -> Result<f64, ConfigError> {
    let without = SsdConfig { slc_buffer: None, ..small.clone() };
    let user = |config: &SsdConfig| config.capacity.sectors as f64 * 512.0;
    let usable = |config: &SsdConfig| -> Result<f64, ConfigError> {
        Ok((1.0 + Ssd::new(config)?.effective_op()) * user(config))
    };
    let small_usable = usable(small)?;
    let reserve = small.raw_bytes() as f64 - usable(&without)?;
    let slc = small.raw_bytes() as f64 - reserve - small_usable;
    let large_usable = large.raw_bytes() as f64 - reserve - slc * factor as f64;
    Ok(small_usable / large_usable * large.capacity.sectors as f64)
}

/// Whole pages of the map, which are at most 64 KiB.
fn whole_units(sectors: f64) -> u64 {
    sectors as u64 / 128 * 128
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::Target;
    use fourcorners_record::Until;
    use fourcorners_run::{Unobserved, run};

    use super::super::writes;
    use super::*;

    /// Eight times the blocks of the smallest.
    fn large() -> SsdConfig {
        let mut config = SsdConfig::default();
        config.nand.blocks_per_plane = 8 * LEAST_BLOCKS;
        config.nand.pages_per_block = 64;
        let raw = config.raw_bytes();
        config.capacity.sectors = whole_units(raw as f64 / 512.0 * 0.9);
        config
    }

    /// Write amplification and rate once a drive was written twice over at random.
    fn steady(config: &SsdConfig) -> (f64, f64) {
        let mut ssd = Ssd::new(config).expect("it works");
        let bytes = ssd.geometry().bytes();
        writes::fill(&mut ssd, bytes, &mut Unobserved).expect("it can be filled");
        run(&mut ssd, &writes::job(false, 4096, bytes, Until::Bytes(2 * bytes)), &mut Unobserved);
        let before = ssd.counters();
        let job = writes::job(false, 4096, bytes, Until::Bytes(bytes));
        let measured = run(&mut ssd, &job, &mut Unobserved);
        let amplification = ssd.counters().write_amplification_since(&before);
        (
            amplification.expect("it was written"),
            measured.writes as f64 / measured.elapsed.as_secs(),
        )
    }

    #[test]
    fn a_smaller_drive_with_equal_spare_is_as_fast_and_one_with_equal_blocks_is_not() {
        let large = large();
        let small = scaled(&large).expect("it is a drive");
        assert_eq!(small.factor, 8);
        let spare = |config: &SsdConfig| Ssd::new(config).expect("it works").effective_op();
        assert!((spare(&small.config) / spare(&large) - 1.0).abs() < 0.01);
        let (amplified, rate) = steady(&large);
        let (amplified_small, rate_small) = steady(&small.config);
        assert!((amplified_small / amplified - 1.0).abs() < 0.03, "{amplified_small} {amplified}");
        assert!((rate_small / rate - 1.0).abs() < 0.06, "{rate_small} {rate}");
        // Sectors in proportion to the blocks would leave less to collection.
        let mut naive = small.config;
        naive.capacity.sectors = whole_units(large.capacity.sectors as f64 / 8.0);
        let (amplified_naive, _) = steady(&naive);
        assert!(amplified_naive > amplified * 1.1, "{amplified_naive} {amplified}");
    }

    #[test]
    fn a_small_drive_stays_what_it_is() {
        let small = SsdConfig::default();
        let same = scaled(&small).expect("it is a drive");
        assert_eq!((same.factor, same.config), (1, small));
    }
}
