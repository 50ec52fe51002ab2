//! The frequency of each block: the distributions of fio's `random_distribution`.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use super::Direction;
use super::random::{below, unit};

/// How random accesses spread over the blocks of a span.
#[derive(Clone, PartialEq, Debug)]
pub enum Distribution {
    /// Every block alike.
    Uniform,
    /// The block of rank k as often as k^-theta; theta is above 0.
    Zipf(f64),
    /// fio's Pareto: the share h of the accesses go to the share 1 - h of the blocks; 0 < h < 1.
    Pareto(f64),
    /// fio's normal: the mean of twelve uniform numbers, which deviates by a twelfth of the span,
    /// and on top a uniform number this per cent of the span wide.
    Normal(f64),
    /// Shares of the accesses in shares of the span, each in per cent, from its beginning.
    Zoned(Vec<(f64, f64)>),
    /// These blocks by their numbers, in this order, again and again.
    Sequence {
        /// Numbers of blocks, from 0; at least one.
        blocks: Vec<u64>,
        /// Each time around lies as many blocks further on as there are, from the beginning again where not all fit any more.
        strides: bool,
    },
}

impl Distribution {
    /// The block of a sequence that lies furthest into the span.
    pub fn furthest(&self) -> Option<u64> {
        match self {
            Distribution::Sequence { blocks, .. } => blocks.iter().copied().max(),
            _ => None,
        }
    }
}

/// Draws ranks or places below a count.
#[derive(Clone, Debug)]
pub(super) enum Sampler {
    Uniform { count: u64 },
    Zipf(Zipf),
    Pareto { count: u64, power: f64 },
    Normal { count: u64, wide: f64 },
    Zoned(Vec<Zone>),
    Sequence(Sequence),
}

/// Blocks in an order, by direction.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    blocks: Vec<u64>,
    /// How far the next time around lies behind this one, and where it begins anew.
    stride: u64,
    end: u64,
    /// Of each direction: which of the blocks is next, and what is added to it.
    next: [(usize, u64); 3],
}

impl Sequence {
    /// `count` blocks there are. All of the sequence lie in them.
    fn new(blocks: &[u64], strides: bool, count: u64) -> Sequence {
        let stride = if strides { blocks.len() as u64 } else { 0 };
        let furthest = blocks.iter().copied().max().unwrap_or(0);
        let end = count.saturating_sub(furthest).max(1);
        Sequence { blocks: blocks.to_vec(), stride, end, next: [(0, 0); 3] }
    }

    fn next(&mut self, direction: Direction) -> u64 {
        let (place, base) = &mut self.next[direction as usize];
        let block = *base + self.blocks[*place];
        *place += 1;
        if *place == self.blocks.len() {
            let base_of_next = *base + self.stride;
            (*place, *base) = (0, if base_of_next < self.end { base_of_next } else { 0 });
        }
        block
    }
}

/// Accesses whose number is below `until` go to the `count` blocks from `first`.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    until: f64,
    first: u64,
    count: u64,
}

impl Sampler {
    /// `count` is at least 1.
    pub(super) fn new(distribution: &Distribution, count: u64) -> Sampler {
        match distribution {
            Distribution::Uniform => Sampler::Uniform { count },
            Distribution::Zipf(theta) => Sampler::Zipf(Zipf::new(count, *theta)),
            Distribution::Pareto(h) => {
                Sampler::Pareto { count, power: libm::log(*h) / libm::log(1.0 - h) }
            }
            Distribution::Normal(percent) => Sampler::Normal { count, wide: percent / 100.0 },
            Distribution::Zoned(shares) => Sampler::Zoned(zones(shares, count)),
            Distribution::Sequence { blocks, strides } => {
                Sampler::Sequence(Sequence::new(blocks, *strides, count))
            }
        }
    }

    /// Whether neighbours in rank are to be neighbours in space. Ranks of the other distributions
    /// are scattered over the span, as fio's are: no drive is to gain from hot blocks lying together.
    pub(super) fn keeps_places(&self) -> bool {
        matches!(self, Sampler::Uniform { .. } | Sampler::Zoned(_) | Sampler::Sequence(_))
    }

    #[inline]
    pub(super) fn draw(&mut self, direction: Direction, random: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Sampler::Uniform { count } => below(random.next_u64(), *count),
            Sampler::Zipf(zipf) => zipf.draw(random) - 1,
            Sampler::Pareto { count, power } => {
                let rank = (*count - 1) as f64 * libm::pow(unit(random.next_u64()), *power);
                (rank as u64).min(*count - 1)
            }
            Sampler::Normal { count, wide } => {
                let sum: f64 = (0..12).map(|_| unit(random.next_u64())).sum();
                let place = sum / 12.0 + *wide * (unit(random.next_u64()) - 0.5);
                ((place.clamp(0.0, 1.0) * *count as f64) as u64).min(*count - 1)
            }
            Sampler::Zoned(zones) => {
                let share = unit(random.next_u64());
                let zone = zones.iter().find(|zone| share < zone.until);
                let zone = zone.unwrap_or(&zones[zones.len() - 1]);
                zone.first + below(random.next_u64(), zone.count)
            }
            Sampler::Sequence(sequence) => sequence.next(direction),
        }
    }
}

/// The zones as blocks. What rounding leaves without a block is taken into the one before.
fn zones(shares: &[(f64, f64)], count: u64) -> Vec<Zone> {
    let mut zones: Vec<Zone> = Vec::new();
    let (mut accesses, mut space) = (0.0, 0.0);
    for &(access_percent, space_percent) in shares {
        let first = ((space / 100.0 * count as f64) as u64).min(count - 1);
        accesses += access_percent;
        space += space_percent;
        let end = ((space / 100.0 * count as f64).round() as u64).min(count);
        let until = accesses / 100.0;
        match zones.last_mut() {
            Some(last) if end <= first => last.until = until,
            _ => zones.push(Zone { until, first, count: end.saturating_sub(first).max(1) }),
        }
    }
    if zones.is_empty() {
        zones.push(Zone { until: 1.0, first: 0, count });
    }
    zones
}

/// Zipf's distribution over 1 to n for any exponent above 0, in constant time and memory:
/// rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from
/// monotone discrete distributions", 1996).
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    count: f64,
    theta: f64,
    /// The integral of the hat at its two ends.
    from: f64,
    to: f64,
    /// A candidate this near below its rank needs no test.
    sure: f64,
}

impl Zipf {
    fn new(count: u64, theta: f64) -> Zipf {
        let mut zipf = Zipf { count: count as f64, theta, from: 0.0, to: 0.0, sure: 0.0 };
        zipf.from = zipf.integral(1.5) - 1.0;
        zipf.to = zipf.integral(zipf.count + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// x^-theta.
    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// The density's integral from 1 to x: (x^(1-theta) - 1) / (1-theta), the logarithm at 1.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let scaled = (1.0 - self.theta) * log;
        log * if scaled.abs() > 1e-8 { libm::expm1(scaled) / scaled } else { 1.0 + scaled / 2.0 }
    }

    fn inverse(&self, area: f64) -> f64 {
        let scaled = (area * (1.0 - self.theta)).max(-1.0);
        let factor =
            if scaled.abs() > 1e-8 { libm::log1p(scaled) / scaled } else { 1.0 - scaled / 2.0 };
        libm::exp(factor * area)
    }

    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        loop {
            let area = self.to + unit(random.next_u64()) * (self.from - self.to);
            let x = self.inverse(area);
            let rank = (x + 0.5).floor().clamp(1.0, self.count);
            if rank - x <= self.sure || area >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    const DRAWS: u32 = 400_000;

    fn counts(distribution: &Distribution, blocks: u64) -> Vec<f64> {
        let mut sampler = Sampler::new(distribution, blocks);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut counts = vec![0.0; blocks as usize];
        (0..DRAWS).for_each(|_| counts[sampler.draw(Direction::Read, &mut random) as usize] += 1.0);
        counts
    }

    #[test]
    fn zipf_follows_its_law_for_every_exponent() {
        for theta in [0.2, 0.5, 0.99, 1.0, 1.2, 2.5] {
            let blocks = 40;
            let found = counts(&Distribution::Zipf(theta), blocks);
            let weights: Vec<f64> = (1..=blocks).map(|k| (k as f64).powf(-theta)).collect();
            let sum: f64 = weights.iter().sum();
            let chi: f64 = found
                .iter()
                .zip(&weights)
                .map(|(found, weight)| {
                    let expected = f64::from(DRAWS) * weight / sum;
                    (found - expected).powi(2) / expected
                })
                .sum();
            // Chi-squared with 39 degrees of freedom stays below 72.1 with probability 0.999.
            assert!(chi < 72.1, "theta {theta}: {chi}");
        }
    }

    #[test]
    fn zipf_of_one_block_and_of_very_many() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        assert_eq!(Sampler::new(&Distribution::Zipf(1.2), 1).draw(Direction::Read, &mut random), 0);
        let many = 1 << 50;
        let mut sampler = Sampler::new(&Distribution::Zipf(0.8), many);
        assert!((0..10_000).all(|_| sampler.draw(Direction::Read, &mut random) < many));
    }

    #[test]
    fn pareto_gives_the_share_h_to_the_share_one_minus_h() {
        for h in [0.6, 0.8, 0.9] {
            let found = counts(&Distribution::Pareto(h), 1000);
            // The hot ranks are the last ones.
            let hot: f64 = found.iter().skip((h * 1000.0) as usize).sum();
            assert!((hot / f64::from(DRAWS) - h).abs() < 0.01, "{h}: {hot}");
        }
    }

    #[test]
    fn normal_lies_in_the_middle_and_widens() {
        let deviation = |percent| {
            let found = counts(&Distribution::Normal(percent), 1000);
            let mean: f64 =
                found.iter().enumerate().map(|(at, n)| at as f64 * n).sum::<f64>() / 4e5;
            assert!((mean - 499.5).abs() < 2.0, "{mean}");
            let square = found.iter().enumerate().map(|(at, n)| (at as f64 - mean).powi(2) * n);
            (square.sum::<f64>() / 4e5).sqrt()
        };
        // The mean of twelve uniform numbers deviates by 1 / 12, a uniform one by width / sqrt(12).
        assert!((deviation(0.0) - 83.3).abs() < 1.0);
        assert!((deviation(20.0) - (83.3f64.powi(2) + 57.7f64.powi(2)).sqrt()).abs() < 1.5);
    }

    #[test]
    fn zones_get_their_shares() {
        let shares = vec![(50.0, 5.0), (30.0, 15.0), (20.0, 80.0)];
        let found = counts(&Distribution::Zoned(shares), 1000);
        for (range, share) in [(0..50, 0.5), (50..200, 0.3), (200..1000, 0.2)] {
            let hits: f64 = found[range].iter().sum();
            assert!((hits / f64::from(DRAWS) - share).abs() < 0.005, "{share}: {hits}");
        }
    }
}
