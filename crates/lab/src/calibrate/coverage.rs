//! How often intervals hold what was planted, by draws of straight problems whose errors are known.

use crate::calibrate::intervals::Sharp;
use crate::calibrate::squares::{Fit, Problem, dot, inverse, products};
use crate::calibrate::yardstick::Kin;
use crate::error::Result;

/// Figures of a probe.
const FIGURES: usize = 4;
/// Pull of a figure of which 2 % are expected.
const PULL: f64 = 50.0;

/// Numbers by lot.
struct Lots(u64);

impl Lots {
    /// From 0 to 1, by SplitMix64.
    fn even(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Of a normal distribution about 0, its standard deviation 1 (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (one, other) = (self.even(), self.even());
        (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }
}

/// Residuals that are straight: slopes, and what they are at nought, which was planted.
struct Straight {
    slopes: Vec<Vec<f64>>,
    errors: Vec<f64>,
    kin: Vec<Kin>,
}

impl Problem for Straight {
    fn residuals(&self, places: &[Vec<f64>], _: u64) -> Result<Vec<Vec<f64>>> {
        let of = |at: &Vec<f64>| {
            self.slopes.iter().zip(&self.errors).map(|(row, error)| dot(row, at) + error).collect()
        };
        Ok(places.iter().map(of).collect())
    }
}

impl Straight {
    /// Probes, of each how much its figures pull and how large the error is that they share, as a
    /// share; parameters change each probe's times as it likes, and every figure has an error of
    /// its own, as large as is expected of it.
    fn of(probes: &[(f64, f64)], parameters: usize, lots: &mut Lots) -> Self {
        let (mut slopes, mut errors, mut kin) = (Vec::new(), Vec::new(), Vec::new());
        for (probe, &(pull, share)) in probes.iter().enumerate() {
            let shared = share * lots.normal();
            let depends: Vec<f64> = (0..parameters).map(|_| lots.even()).collect();
            for _ in 0..FIGURES {
                slopes.push(depends.iter().map(|by| by * pull).collect());
                errors.push(pull * shared + lots.normal());
                kin.push(Kin { probe, pull });
            }
        }
        Straight { slopes, errors, kin }
    }

    fn sharp(&self) -> Sharp {
        let inverse = inverse(products(&self.slopes));
        let column = |i: usize| self.slopes.iter().map(|row| row[i]).collect::<Vec<f64>>();
        let gradient: Vec<f64> =
            (0..inverse.len()).map(|i| dot(&column(i), &self.errors)).collect();
        let at: Vec<f64> = inverse.iter().map(|row| -dot(row, &gradient)).collect();
        let residuals = self.residuals(std::slice::from_ref(&at), 0).unwrap().remove(0);
        let fit = Fit { at, residuals, slopes: Vec::new(), held: Vec::new(), converged: true };
        Sharp::of(self, &self.kin, fit).unwrap()
    }
}

/// Share of the intervals that hold what was planted.
fn coverage(probes: &[(f64, f64)], parameters: usize, draws: usize, seed: u64) -> f64 {
    let mut lots = Lots(seed);
    let mut held = 0;
    for _ in 0..draws {
        let sharp = Straight::of(probes, parameters, &mut lots).sharp();
        let both = sharp.fit.at.iter().zip(sharp.half_widths());
        held += both.filter(|(at, width)| at.abs() < *width).count();
    }
    held as f64 / (draws * parameters) as f64
}

/// Probes of which little is expected, and whose error is as large as that.
fn light(count: usize) -> Vec<(f64, f64)> {
    vec![(PULL / 30.0, 0.6); count]
}

#[test]
fn intervals_hold_what_was_planted_nineteen_times_of_twenty() {
    for (name, probes, parameters) in [
        ("many that err more than expected", vec![(PULL, 0.05); 16], 3),
        ("many that err as expected", vec![(PULL, 0.01); 16], 3),
        ("few", vec![(PULL, 0.05); 5], 2),
        ("some beside light ones", [vec![(PULL, 0.05); 8], light(8)].concat(), 2),
        ("few beside light ones", [vec![(PULL, 0.05); 7], light(7)].concat(), 4),
    ] {
        let share = coverage(&probes, parameters, 500, 7);
        println!("{name}: {share}");
        assert!((0.93..=0.995).contains(&share), "{name}: {share}");
    }
}

/// Eight random writes, of which a fit expects errors of 60 %, made the intervals of what eight
/// reads decide as narrow as if sixteen reads did.
#[test]
fn probes_of_which_little_is_expected_make_nothing_surer() {
    let (good, poor) = (vec![(PULL, 0.05); 8], light(8));
    for seed in 0..20 {
        let mut alone = Straight::of(&good, 2, &mut Lots(seed));
        let width = alone.sharp().half_widths();
        let mut light = Straight::of(&poor, 2, &mut Lots(seed + 100));
        light.kin.iter_mut().for_each(|kin| kin.probe += good.len());
        alone.slopes.append(&mut light.slopes);
        alone.errors.append(&mut light.errors);
        alone.kin.append(&mut light.kin);
        let beside = alone.sharp().half_widths();
        for (one, other) in width.into_iter().zip(beside) {
            assert!(
                (other / one - 1.0).abs() < 0.05,
                "{seed}: {one} alone, {other} beside light ones"
            );
        }
    }
}
