//! How far the simulated drive lies from the real one, in words, and what it probably lacks.
//!
//! The rules are few and say what they go by; each names the curve (a pattern and a size), the
//! depth and the factor that it judges from.

use ftlab_report::calibration::{Parameter, Probe, Tails};

use crate::calibrate::observations::misfit;
use crate::calibrate::probe::Pattern;
use crate::calibrate::search::FITTED_UP_TO;

/// From here on, 10 %, a curve is told.
const FAR: f64 = 0.095_31;
/// A time that came out at so many times the base's, or one over that, is told.
const UNLIKELY: f64 = 4.0;
/// Times of cells.
const CELLS: [&str; 3] = ["timing.read", "timing.program", "timing.erase"];
/// From here on a cause is looked for: a factor.
const CAUSE: f64 = 1.3;
/// A tail this much longer than the simulated one is told, where the median fits within [`CAUSE`].
const TAIL: f64 = 1.5;
/// What is told of random writes that come out too short where blocks are smaller.
const SMALLER: &str = "Blocks that are simulated smaller than they are make such writes too short by \
                       themselves, so that no cause is looked for.";
/// Place of the median and of the 99th percentile.
const MEDIAN: usize = 0;
const NINETY_NINTH: usize = 3;

/// The sentences, the whole first, then curve by curve, the worst first; of so many topologies that
/// were tried, and so many figures that lie so far off as a whole.
pub fn words(
    probes: &[Probe],
    parameters: &[Parameter],
    topologies: usize,
    (figures, whole): (usize, f64),
) -> Vec<String> {
    let count = probes.iter().filter(|probe| probe.fitted).count();
    let mut all = vec![format!(
        "Simulated and measured differ by {} on average (root mean square of the logarithms of \
         {figures} figures of {count} fitted {}).",
        percent(whole),
        if count == 1 { "probe" } else { "probes" }
    )];
    let mut curves: Vec<(f64, Vec<&Probe>)> = Vec::new();
    for probe in probes {
        match curves.iter_mut().find(|(_, curve)| curve[0].curve() == probe.curve()) {
            Some((_, curve)) => curve.push(probe),
            None => curves.push((0.0, vec![probe])),
        }
    }
    for (far, curve) in &mut curves {
        curve.sort_by_key(|probe| probe.depth);
        *far = misfit(curve.iter().map(|probe| probe.misfit));
    }
    curves.sort_by(|a, b| b.0.total_cmp(&a.0));
    let far = curves.iter().filter(|(far, _)| *far > FAR);
    all.extend(far.map(|(far, curve)| told(*far, curve, topologies)));
    if curves.iter().all(|(far, _)| *far <= FAR) {
        all.push("No curve lies further than 10 % off.".to_owned());
    }
    all.extend(unlikely(parameters));
    all
}

/// Times that are far from the base's, those of cells and those of the way to them: a part of the
/// same kind hardly has them.
fn unlikely(parameters: &[Parameter]) -> Vec<String> {
    let is_cells = |one: &Parameter| CELLS.contains(&one.key.as_str());
    let told = |cells: bool| {
        let own = parameters.iter().filter(|one| is_cells(one) == cells).filter_map(far_from_base);
        let own: Vec<String> = own.collect();
        let stands_for = if cells {
            "Where the drive's cells are of the base's kind, this stands for something else: requests \
             that are answered from memory where it is short, copies or a map that they wait for where \
             it is long."
        } else {
            "Where the drive's channels, controller and link are of the base's kind, this stands for \
             something else that every request, or every byte, pays."
        };
        (!own.is_empty())
            .then(|| format!("Fitted far from the base: {}. {stands_for}", own.join(", ")))
    };
    [true, false].into_iter().filter_map(told).collect()
}

fn far_from_base(one: &Parameter) -> Option<String> {
    times_the_base(one).map(|factor| format!("{} ({factor} times the base's)", one.key))
}

fn times_the_base(one: &Parameter) -> Option<String> {
    let factor = one.value / one.base;
    let far = factor.is_finite() && !(1.0 / UNLIKELY..UNLIKELY).contains(&factor);
    far.then(|| times(factor))
}

/// Why an interval says less of the drive than it seems to: a part of the base's kind hardly has
/// the time, or requests of one size tell nothing of what goes with bytes, pages and requests each.
pub fn doubt(one: &Parameter, probes: &[Probe]) -> String {
    let fitted = probes.iter().filter(|probe| probe.fitted);
    let mut sizes: Vec<u64> = fitted.map(|probe| probe.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let one_size =
        (sizes.len() == 1).then(|| "all probes that are fitted are of one size".to_owned());
    let far = times_the_base(one)
        .map(|factor| format!("at {factor} times the base's it stands for something else"));
    one_size.into_iter().chain(far).collect::<Vec<_>>().join("; ")
}

fn percent(log: f64) -> String {
    let share = 100.0 * (log.exp() - 1.0);
    if share >= 100.0 { format!("{share:.0} %") } else { format!("{share:.1} %") }
}

/// Mean response time, simulated over measured.
fn factor(probe: &Probe) -> f64 {
    probe.simulated.mean_ns / probe.measured.mean_ns
}

fn times(factor: f64) -> String {
    match factor {
        factor if factor >= 10.0 => format!("{factor:.0}"),
        factor if factor >= 0.0995 => format!("{factor:.2}"),
        factor => format!("{factor:.4}"),
    }
}

fn told(far: f64, curve: &[&Probe], topologies: usize) -> String {
    let [first, last] = [curve[0], curve[curve.len() - 1]];
    let mut sentence = format!(
        "{}: off by {}; simulated requests take {} times as long as measured at depth {}",
        first.curve(),
        percent(far),
        times(factor(first)),
        first.depth
    );
    if curve.len() > 1 {
        sentence += &format!(", {} times at depth {}", times(factor(last)), last.depth);
    }
    sentence.push('.');
    if !first.fitted {
        sentence += if far > FITTED_UP_TO.ln() {
            " So far off it is not fitted, and the times follow from the other curves."
        } else {
            " Fitted beside the others it lay further off than a factor of 2: it is not fitted, and the \
             times follow from the other curves."
        };
    }
    for cause in causes(first, last, topologies) {
        sentence.push(' ');
        sentence += cause;
    }
    if let Some(tail) = curve.iter().find_map(|probe| tail(probe)) {
        sentence.push(' ');
        sentence += &tail;
    }
    sentence
}

/// What would look so, from the least and the greatest depth: a request alone, where depth 1 was
/// measured, and many, where there were several depths.
fn causes(first: &Probe, last: &Probe, topologies: usize) -> Vec<&'static str> {
    let pattern = Pattern::named(first.pattern);
    let known = |is_known: bool, probe| if is_known { factor(probe) } else { 1.0 };
    let is_crowded = last.depth > first.depth;
    let (alone, crowded) = (known(first.depth == 1, first), known(is_crowded, last));
    let mut all = Vec::new();
    let mut add = |is_so: bool, why: &'static str| {
        if is_so {
            all.push(why);
        }
    };
    let (slower, faster) = (|factor: f64| factor > CAUSE, |factor: f64| factor < 1.0 / CAUSE);
    match pattern {
        Some(Pattern::RandWrite | Pattern::Write) => {
            add(
                slower(alone),
                "A drive that answers before cells are programmed looks so: a write buffer \
                 (--buffer) or an SLC cache (a base with [slc], such as consumer_tlc).",
            );
            let random = pattern == Some(Pattern::RandWrite);
            // Smaller blocks alone make random writes shorter, by how much depends on the drive.
            let small = random && first.tails != Tails::Fitted;
            add(small && (faster(alone) || faster(crowded)), SMALLER);
            add(
                random && slower(crowded),
                "More to spare than the base has (--set device.over_provisioning), or a drive that \
                 was not in steady state (--precondition), looks so, too.",
            );
            add(
                random && !small && faster(crowded),
                "Less to spare than the base has, or a map that is not all in memory, looks so.",
            );
            add(
                !random && faster(crowded),
                "Something bounds its writes that the base lacks: a full SLC cache, power or heat.",
            );
            add(
                !small && is_crowded && faster(alone) && !faster(crowded),
                "Alone its writes wait for something that the base lacks, such as the host's own \
                 path.",
            );
        }
        _ => {
            add(
                pattern == Some(Pattern::Read) && slower(alone),
                "A drive that reads ahead looks so; the base does not.",
            );
            add(
                faster(crowded),
                "Something bounds its reads that the base lacks: the host, or the processors of \
                 the controller.",
            );
            add(slower(crowded), more_dies(topologies));
            add(
                pattern == Some(Pattern::RandRead)
                    && slower(alone)
                    && is_crowded
                    && !slower(crowded),
                "A cache of data would make it answer alone as fast.",
            );
        }
    }
    all
}

/// What deep reads look like that come out too slow, of so many topologies.
fn more_dies(topologies: usize) -> &'static str {
    match topologies {
        1 => "More dies at once than the topology that was stated, or a cache of data, look so.",
        _ => "More dies at once than the chosen topology, or a cache of data, look so.",
    }
}

/// A tail that the model lacks; none where smaller blocks make another than the drive's.
fn tail(probe: &Probe) -> Option<String> {
    if probe.tails != Tails::Fitted {
        return None;
    }
    let lacks = match Pattern::named(probe.pattern).is_some_and(Pattern::writes) {
        true => "work in the background and the host",
        false => "read retries, work in the background and the host",
    };
    let ratio = |place: usize| {
        let (measured, simulated) =
            (probe.measured.percentile_ns[place]?, probe.simulated.percentile_ns[place]?);
        Some(measured / simulated.max(1.0))
    };
    let (median, tail) = (ratio(MEDIAN)?, ratio(NINETY_NINTH)?);
    let fits = (1.0 / CAUSE..CAUSE).contains(&median);
    (fits && tail > TAIL).then(|| {
        format!(
            "Its 99th percentile at depth {} is {} times the simulated one where the median fits: \
             {lacks} are not simulated.",
            probe.depth,
            times(tail)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_report::calibration::Figures;

    fn probe(pattern: &'static str, depth: u32, measured: f64, simulated: f64) -> Probe {
        let figures = |time: f64| Figures {
            mean_ns: time,
            iops: 1e9 * f64::from(depth) / time,
            percentile_ns: [Some(time); 6],
        };
        Probe {
            jobs: Vec::new(),
            pattern,
            bytes: 4096,
            depth,
            measured: figures(measured),
            simulated: figures(simulated),
            fitted: simulated / measured < 2.0,
            tails: Tails::Fitted,
            misfit: (simulated / measured).ln().abs(),
        }
    }

    #[test]
    fn a_curve_that_fits_is_not_told() {
        let all = words(&[probe("randread", 1, 100.0, 101.0)], &[], 2, (6, 1.01_f64.ln()));
        assert!(all[0].starts_with("Simulated and measured differ by 1.0 % on average"), "{all:?}");
        assert!(all[0].ends_with("6 figures of 1 fitted probe)."), "{all:?}");
        assert_eq!(all[1], "No curve lies further than 10 % off.");
    }

    #[test]
    fn the_worst_curve_comes_first_with_depth_factor_and_cause() {
        let buffered = [probe("randwrite", 1, 20.0, 600.0), probe("randwrite", 64, 900.0, 1000.0)];
        let bound = [probe("randread", 1, 100.0, 100.0), probe("randread", 64, 400.0, 200.0)];
        let all = words(
            &[&bound[0], &bound[1], &buffered[0], &buffered[1]].map(Clone::clone),
            &[],
            2,
            (24, 0.3),
        );
        assert!(all[1].starts_with("4 KiB randwrite: off by"), "{all:?}");
        assert!(
            all[1].contains("30 times as long as measured at depth 1, 1.11 times at depth 64.")
        );
        assert!(all[1].contains("--buffer") && !all[1].contains("steady state"), "{}", all[1]);
        assert!(all[1].contains("it is not fitted") && !all[2].contains("not fitted"), "{all:?}");
        assert!(all[2].contains("processors of the controller"), "{}", all[2]);
        let ahead = words(&[probe("read", 1, 10.0, 100.0)], &[], 2, (6, 2.3));
        assert!(ahead[1].contains("reads ahead"), "{ahead:?}");
        let deep = words(&[probe("read", 16, 10.0, 100.0)], &[], 2, (6, 2.3));
        assert!(!deep[1].contains("looks so") && !deep[1].contains("look so"), "{deep:?}");
        let both = [probe("randread", 1, 100.0, 100.0), probe("randread", 64, 100.0, 200.0)];
        assert!(words(&both, &[], 1, (6, 0.3))[1].contains("topology that was stated"));
        assert!(words(&both, &[], 2, (6, 0.3))[1].contains("than the chosen topology"));
    }

    #[test]
    fn a_tail_is_told_where_the_median_fits() {
        let mut one = probe("randread", 4, 100.0, 100.0);
        one.measured.percentile_ns[3] = Some(300.0);
        one.misfit = 0.3;
        let all = words(&[one], &[], 2, (6, 0.3));
        assert!(all[1].contains("99th percentile at depth 4 is 3.00 times"), "{all:?}");
        assert!(all[1].contains("read retries"), "{all:?}");
    }

    /// A 99th percentile of writes that smaller blocks decide was laid to read retries.
    #[test]
    fn no_tail_is_told_that_is_not_the_devices_and_none_of_writes_is_laid_to_reads() {
        let mut one = probe("write", 4, 100.0, 100.0);
        one.measured.percentile_ns[3] = Some(300.0);
        one.misfit = 0.3;
        let all = words(&[one.clone()], &[], 2, (6, 0.3));
        assert!(all[1].contains("is 3.00 times the simulated one"), "{all:?}");
        assert!(!all[1].contains("read retries"), "{all:?}");
        for tails in [Tails::Median, Tails::Shown] {
            one.tails = tails;
            let all = words(&[one.clone()], &[], 2, (6, 0.3));
            assert!(!all[1].contains("99th percentile"), "{all:?}");
        }
    }

    /// Random writes that come out too short on smaller blocks were laid to the drive's spare
    /// blocks.
    #[test]
    fn what_smaller_blocks_alone_may_make_has_no_other_cause() {
        let mut both = [probe("randwrite", 1, 100.0, 60.0), probe("randwrite", 16, 100.0, 55.0)];
        let whole = words(&both, &[], 2, (24, 0.6));
        assert!(whole[1].contains("Less to spare than the base has"), "{whole:?}");
        both.iter_mut().for_each(|one| one.tails = Tails::Shown);
        let small = words(&both, &[], 2, (24, 0.6));
        assert!(small[1].contains("simulated smaller than they are"), "{small:?}");
        assert!(!small[1].contains("Less to spare"), "{small:?}");
        both[1] = probe("randwrite", 16, 100.0, 100.0);
        both[1].tails = Tails::Shown;
        let alone = words(&both, &[], 2, (24, 0.6));
        assert!(!alone[1].contains("Alone its writes wait"), "{alone:?}");
    }

    #[test]
    fn a_time_that_no_part_of_the_kind_has_is_told() {
        let parameter = |key: &str, value: f64| Parameter {
            key: key.to_owned(),
            about: String::new(),
            unit: "ns",
            base: 1000.0,
            value,
            interval: Some([value, value]),
            given: Vec::new(),
            doubt: String::new(),
            why: String::new(),
            at_least: None,
            at_most: None,
            together: None,
        };
        let told = |all: &[(&str, f64)]| {
            unlikely(&all.iter().map(|(key, value)| parameter(key, *value)).collect::<Vec<_>>())
        };
        let cells = told(&[("timing.program", 99.99), ("timing.read", 5000.0)]);
        let both = "Fitted far from the base: timing.program (0.10 times the base's), timing.read (5.00 \
                    times the base's). ";
        assert!(cells[0].starts_with(both) && cells.len() == 1, "{cells:?}");
        assert!(told(&[("timing.program", 500.0), ("host.command_overhead", 2000.0)]).is_empty());
        let path = told(&[("host.link_bandwidth", 80.0), ("timing.page_transfer", 100.0)]);
        assert!(
            path[0].contains("host.link_bandwidth (0.0800 times the base's), timing.page"),
            "{path:?}"
        );
        assert!(path[0].contains("controller and link are of the base's kind"), "{path:?}");
        // Nor has it a bare interval, nor has anything where all requests are of one size.
        let mut probes = vec![probe("randread", 1, 100.0, 100.0); 2];
        probes[1].bytes = 65_536;
        let far = doubt(&parameter("host.link_bandwidth", 80.0), &probes);
        assert_eq!(far, "at 0.0800 times the base's it stands for something else");
        assert_eq!(doubt(&parameter("host.link_bandwidth", 800.0), &probes), "");
        probes[1].fitted = false;
        let single = doubt(&parameter("host.link_bandwidth", 800.0), &probes);
        assert_eq!(single, "all probes that are fitted are of one size");
    }
}
