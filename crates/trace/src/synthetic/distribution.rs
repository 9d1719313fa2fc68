//! Which block a random request goes to, as a rank: rank 0 is the hottest.

use super::random::Stream;

/// `random_distribution=`, in fio's words. Shares are in millionths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Every block alike.
    Uniform,
    /// Rank k with a probability proportional to 1 / k^theta.
    Zipf(f64),
    /// fio's pareto: rank = n * u^(log h / log(1 - h)); h = 0.2 is the 80/20 rule.
    Pareto(f64),
    /// `access` of the requests go to `space` of the blocks, uniformly within each part.
    HotCold {
        /// Share of the blocks that is hot.
        space_millionths: u64,
        /// Share of the requests that go there.
        access_millionths: u64,
    },
}

/// A distribution over `0 .. blocks`.
pub(crate) enum Sampler {
    Uniform { blocks: u64 },
    Zipf(Zipf),
    Pareto { blocks: u64, power: f64 },
    HotCold { hot: u64, cold: u64, access_millionths: u64 },
}

impl Sampler {
    pub(crate) fn new(distribution: Distribution, blocks: u64) -> Self {
        match distribution {
            Distribution::Uniform => Self::Uniform { blocks },
            Distribution::Zipf(theta) => Self::Zipf(Zipf::new(blocks, theta)),
            Distribution::Pareto(h) => {
                Self::Pareto { blocks, power: libm::log(h) / libm::log(1.0 - h) }
            }
            Distribution::HotCold { space_millionths, access_millionths } => {
                let exact = u128::from(blocks) * u128::from(space_millionths) / 1_000_000;
                // Both parts keep at least one block where both have accesses.
                let hot = (exact as u64).clamp(1, blocks);
                Self::HotCold { hot, cold: blocks - hot, access_millionths }
            }
        }
    }

    /// The rank of one request.
    #[inline]
    pub(crate) fn rank(&self, stream: &mut Stream) -> u64 {
        match self {
            Self::Uniform { blocks } => stream.below(*blocks),
            skewed => skewed.skewed_rank(stream),
        }
    }

    /// By itself, because it is long and the uniform draw, which is short, is wanted in place.
    fn skewed_rank(&self, stream: &mut Stream) -> u64 {
        match self {
            Self::Uniform { .. } => unreachable!("drawn in place"),
            Self::Zipf(zipf) => zipf.rank(stream),
            Self::Pareto { blocks, power } => {
                let rank = *blocks as f64 * libm::pow(stream.unit(), *power);
                (rank as u64).min(blocks - 1)
            }
            Self::HotCold { hot, cold, access_millionths } => {
                if *cold == 0 || stream.below(1_000_000) < *access_millionths {
                    stream.below(*hot)
                } else {
                    hot + stream.below(*cold)
                }
            }
        }
    }
}

/// Zipf by rejection-inversion (Hörmann and Derflinger 1996): exact for every theta > 0, constant
/// time and memory for any number of blocks.
pub(crate) struct Zipf {
    blocks: f64,
    theta: f64,
    integral_first: f64,
    integral_last: f64,
    shortcut: f64,
}

impl Zipf {
    fn new(blocks: u64, theta: f64) -> Self {
        let mut zipf = Self {
            blocks: blocks as f64,
            theta,
            integral_first: 0.0,
            integral_last: 0.0,
            shortcut: 0.0,
        };
        zipf.integral_first = zipf.integral(1.5) - 1.0;
        zipf.integral_last = zipf.integral(zipf.blocks + 0.5);
        zipf.shortcut = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    #[inline]
    fn rank(&self, stream: &mut Stream) -> u64 {
        loop {
            let u = self.integral_last + stream.unit() * (self.integral_first - self.integral_last);
            let x = self.inverse(u);
            let k = libm::floor(x + 0.5).clamp(1.0, self.blocks);
            if k - x <= self.shortcut || u >= self.integral(k + 0.5) - self.weight(k) {
                return k as u64 - 1;
            }
        }
    }

    /// 1 / x^theta.
    fn weight(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// The integral of the weight from 1 to x.
    fn integral(&self, x: f64) -> f64 {
        let log_x = libm::log(x);
        let t = (1.0 - self.theta) * log_x;
        let ratio = if t.abs() > 1e-8 { libm::expm1(t) / t } else { 1.0 + t / 2.0 };
        ratio * log_x
    }

    /// The inverse of [`Self::integral`].
    fn inverse(&self, y: f64) -> f64 {
        let t = (y * (1.0 - self.theta)).max(-1.0);
        let ratio = if t.abs() > 1e-8 { libm::log1p(t) / t } else { 1.0 - t / 2.0 };
        libm::exp(ratio * y)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Purpose;
    use super::*;

    fn shares(distribution: Distribution, blocks: u64, draws: u64) -> Vec<f64> {
        let sampler = Sampler::new(distribution, blocks);
        let mut stream = Stream::new(1, Purpose::Address);
        let mut counts = vec![0u64; blocks as usize];
        for _ in 0..draws {
            counts[sampler.rank(&mut stream) as usize] += 1;
        }
        counts.iter().map(|&count| count as f64 / draws as f64).collect()
    }

    #[test]
    fn zipf_ranks_have_their_exact_probabilities() {
        for theta in [0.5, 0.99, 1.0, 1.2, 2.0] {
            let shares = shares(Distribution::Zipf(theta), 100, 1_000_000);
            let total: f64 = (1..=100).map(|k| 1.0 / f64::from(k).powf(theta)).sum();
            for rank in [0usize, 1, 2, 9, 49, 99] {
                let expected = 1.0 / ((rank + 1) as f64).powf(theta) / total;
                let sigma = (expected * (1.0 - expected) / 1e6).sqrt();
                let off = (shares[rank] - expected).abs();
                assert!(off < 4.5 * sigma, "theta {theta} rank {rank}: off by {off}");
            }
        }
    }

    #[test]
    fn pareto_follows_the_80_20_rule_and_hotcold_its_own() {
        let pareto = shares(Distribution::Pareto(0.2), 1000, 400_000);
        let hottest: f64 = pareto[..200].iter().sum();
        assert!((hottest - 0.8).abs() < 0.005, "{hottest}");
        let hotcold =
            Distribution::HotCold { space_millionths: 300_000, access_millionths: 700_000 };
        let shares = shares(hotcold, 1000, 400_000);
        let hot: f64 = shares[..300].iter().sum();
        assert!((hot - 0.7).abs() < 0.005, "{hot}");
        let (least, most) = (
            shares[300..].iter().copied().fold(1.0, f64::min),
            shares[300..].iter().copied().fold(0.0, f64::max),
        );
        assert!(most < 2.0 * least, "cold blocks are alike: {least} to {most}");
    }

    #[test]
    fn one_block_is_always_rank_0() {
        for distribution in [
            Distribution::Uniform,
            Distribution::Zipf(1.0),
            Distribution::Pareto(0.2),
            Distribution::HotCold { space_millionths: 1, access_millionths: 1 },
        ] {
            assert_eq!(shares(distribution, 1, 100), [1.0]);
        }
    }
}
