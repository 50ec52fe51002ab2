//! fio's way of sorting latencies into bins.

use fourcorners_run::Histogram;
use indexmap::IndexMap;

/// fio's histogram (its stat.h): 64 bins for each power of two, 29 of these, up to 17 seconds.
const BITS: u32 = 6;
const A_GROUP: u64 = 1 << BITS;
const LAST: u64 = 29 * A_GROUP - 1;

/// The bins that hold anything: the value in the middle of each, as fio names it, and its count.
pub(super) fn bins(latency: &Histogram) -> IndexMap<String, u64> {
    let mut bins: IndexMap<String, u64> = IndexMap::new();
    for (lowest_ns, count) in latency.bins() {
        *bins.entry(middle(bin_of(lowest_ns)).to_string()).or_insert(0) += count;
    }
    bins
}

fn bin_of(ns: u64) -> u64 {
    let highest_bit = 63 - (ns | 1).leading_zeros();
    if highest_bit <= BITS {
        return ns;
    }
    let shift = highest_bit - BITS;
    let bin = u64::from(shift + 1) * A_GROUP + ((ns >> shift) & (A_GROUP - 1));
    bin.min(LAST)
}

fn middle(bin: u64) -> u64 {
    if bin < 2 * A_GROUP {
        return bin;
    }
    let shift = (bin / A_GROUP - 1) as u32;
    (1 << (shift + BITS)) + ((bin % A_GROUP) << shift) + (1 << shift) / 2
}

/// The upper ends of fio's coarse bins, in whatever unit.
const COARSE: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// How many per cent of all I/Os took how long.
pub(super) struct Coarse {
    /// Below a microsecond, by the upper end in nanoseconds.
    pub(super) ns: IndexMap<String, f64>,
    /// Below a millisecond, in microseconds.
    pub(super) us: IndexMap<String, f64>,
    /// The rest, in milliseconds.
    pub(super) ms: IndexMap<String, f64>,
}

/// The latencies of all directions in fio's coarse bins.
pub(super) fn coarse<'a>(latencies: impl Iterator<Item = &'a Histogram>) -> Coarse {
    let table = || COARSE.iter().map(|end| (end.to_string(), 0.0)).collect::<IndexMap<_, _>>();
    let mut coarse = Coarse { ns: table(), us: table(), ms: table() };
    coarse.ms.insert("2000".into(), 0.0);
    coarse.ms.insert(">=2000".into(), 0.0);
    let mut all = 0;
    for (lowest_ns, count) in latencies.flat_map(|latency| latency.bins()) {
        all += count;
        let (bins, value) = match lowest_ns {
            0..1000 => (&mut coarse.ns, lowest_ns),
            1000..1_000_000 => (&mut coarse.us, lowest_ns / 1000),
            _ => (&mut coarse.ms, lowest_ns / 1_000_000),
        };
        let place = COARSE.iter().position(|&end| value < end).unwrap_or(match value {
            0..2000 => COARSE.len(),
            _ => COARSE.len() + 1,
        });
        if let Some((_, bin)) = bins.get_index_mut(place) {
            *bin += count as f64;
        }
    }
    for bins in [&mut coarse.ns, &mut coarse.us, &mut coarse.ms] {
        bins.values_mut().for_each(|bin| *bin *= 100.0 / all.max(1) as f64);
    }
    coarse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_fios_names() {
        // From a run of fio 3.33 with json+: these are among its bins.
        for (ns, name) in [(15_168, 15_168), (38_100, 38_144), (46_399_000, 46_399_488), (90, 90)] {
            assert_eq!(middle(bin_of(ns)), name, "{ns}");
        }
        assert_eq!(middle(bin_of(u64::MAX)), middle(LAST));
    }

    #[test]
    fn coarse_bins_add_up_to_all() {
        let mut latency = Histogram::new();
        for ns in [1, 999, 1000, 49_000, 999_999, 1_500_000, 3_000_000_000] {
            latency.record(ns);
        }
        let coarse = coarse([&latency].into_iter());
        let sum: f64 =
            [&coarse.ns, &coarse.us, &coarse.ms].into_iter().flat_map(|bins| bins.values()).sum();
        assert!((sum - 100.0).abs() < 1e-9);
        assert!((coarse.us["50"] - 100.0 / 7.0).abs() < 1e-9);
        assert!((coarse.ms[">=2000"] - 100.0 / 7.0).abs() < 1e-9);
    }
}
