use super::*;

/// e^-x against the library's, which is not the same on every platform but nearly.
#[test]
fn the_power_is_the_power() {
    for x in [0.0, 1e-9, 0.01, 0.5, 1.0, 3.7, 20.0, 150.0, 600.0, 800.0] {
        let (ours, library) = (exp_minus(x), f64::exp(-x));
        assert!((ours - library).abs() <= library * 1e-9 + 1e-300, "{x}: {ours}, {library}");
    }
}

/// The specification's table, checked there with a naive loop: space, f, r.
#[test]
fn the_closed_form_is_that_of_the_table() {
    for (space, f, r, expected) in [
        (1.15, 0.5, 0.5, 4.016),
        (1.25, 1.0, 1.0, 2.693),
        (1.5, 0.0, 0.0, 1.716),
        (1.15, 0.2, 0.8, 4.370),
        (1.25, 0.2, 0.8, 3.035),
        (1.5, 0.2, 0.8, 2.029),
        (1.15, 0.1, 0.9, 4.957),
        (1.5, 0.05, 0.95, 2.660),
    ] {
        let found = two_temperatures(space, f, r).expect("room");
        assert!((found - expected).abs() < 6e-4, "{space}, {f}, {r}: {found}");
    }
    assert_eq!(two_temperatures(1.0, 0.2, 0.8), None);
}

/// A histogram as sums.
fn sums(counts: &[u64]) -> Vec<Sums> {
    let mut sum = Sums::default();
    let mut all = vec![sum];
    for (interval, count) in (0..).zip(counts) {
        sum.count += count;
        sum.counts += sum.count;
        sum.times += count * interval;
        all.push(sum);
    }
    all
}

const COUNTS: [u64; 80] = [
    400, 300, 200, 100, 60, 50, 40, 40, 30, 30, 20, 20, 20, 20, 20, 20, 10, 10, 10, 10, 10, 10, 10,
    10, 8, 8, 8, 8, 6, 6, 6, 6, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 30,
];

fn model(sums: &[Sums]) -> Model<'_> {
    Model {
        sums,
        units_per_segment: 4.0,
        segment_pages: 64.0,
        segments: 40,
        margin: 1,
        living: 1800.0,
        cold: 0.0,
        last_hot: 0.7,
        hot_data: HotData::None,
    }
}

/// Unit by unit, as the paper's code goes through the histogram.
fn naively(model: &Model<'_>, hot: &Hot, sizes: &[u32], counts: &[u64]) -> Vec<f64> {
    let at = |unit: usize| unit as f64 / 4.0;
    let (mut entered, mut living) = (0.0, 0.0);
    let is_measured = hot.valid > 0.0;
    let written = match model.hot_data {
        _ if is_measured => hot.traffic,
        HotData::None => 0.0,
        HotData::Written => hot.traffic,
        HotData::All => 1.0,
    };
    let (all, mut young) = (counts.iter().sum::<u64>() as f64, 0.0);
    for &count in &counts[..hot.units] {
        young += count as f64;
        living += (1.0 - young / all) * written * 16.0;
    }
    for (unit, &count) in counts.iter().enumerate() {
        entered += if unit >= hot.units { count as f64 } else { 0.0 };
    }
    let mut shares = Vec::new();
    let mut inflow = 1.0 - hot.traffic * (1.0 - hot.valid);
    let mut age = hot.age;
    for &size in sizes {
        let end = age + (f64::from(size) - 0.5) / inflow;
        let mut died = 0.0;
        for (unit, &count) in counts.iter().enumerate() {
            if at(unit) >= age && at(unit) < end {
                died += count as f64;
                living += (1.0 - died / entered) * inflow * 16.0;
            }
        }
        shares.push(1.0 - died / entered);
        inflow *= 1.0 - died / entered;
        entered -= died;
        age = end;
    }
    let rest = || counts.iter().enumerate().filter(|&(unit, _)| at(unit) >= age);
    let times: f64 = rest().map(|(unit, &count)| count as f64 * at(unit)).sum();
    let count: f64 = rest().map(|(_, &count)| count as f64).sum();
    let is_hot = |unit: usize| at(unit) <= 0.7 * times / count;
    let hot_rest = || rest().filter(|&(unit, _)| is_hot(unit));
    let writes = hot_rest().map(|(_, &count)| count as f64).sum::<f64>() / count;
    let data = hot_rest().map(|(unit, &count)| count as f64 * at(unit)).sum::<f64>() / times;
    let last = f64::from(model.segments - hot.size - sizes.iter().sum::<u32>());
    let greedy = 1.0 + 1.0 / 128.0;
    let space = last * 64.0 / (model.living - living) * greedy;
    let amplification = two_temperatures(space, data, writes).expect("room") / greedy;
    shares.push(1.0 - 1.0 / amplification);
    shares
}

/// Writes per page of the host of a chain of states: one page enters at each turn, and goes on
/// as the shares say, two thousand turns.
fn markov(hot: &Hot, shares: &[f64]) -> f64 {
    let groups = shares.len() + 1;
    let mut stay: Vec<f64> = vec![hot.valid];
    stay.extend(shares);
    let mut here = vec![0.0; groups];
    let mut copies = 0.0;
    for _ in 0..2000 {
        let mut next = vec![0.0; groups];
        next[0] = hot.traffic;
        next[1] = 1.0 - hot.traffic;
        copies = 0.0;
        for group in 0..groups {
            let moved = here[group] * stay[group];
            next[(group + 1).min(groups - 1)] += moved;
            copies += moved;
        }
        here = next;
    }
    1.0 + copies
}

/// Sums over sums give what going through the histogram does, for a hot group of either kind,
/// its data in every reading, and up to three groups, and the product of the shares what the
/// chain of states comes to.
#[test]
fn a_configuration_is_judged_as_unit_by_unit_and_as_a_markov_chain() {
    let sums = sums(&COUNTS);
    for hot_data in [HotData::None, HotData::Written, HotData::All] {
        let model = Model { hot_data, ..model(&sums) };
        let hots = [model.hot(1).expect("some are hot"), model.hot_as_measured(2, 0.4, 0.3)];
        assert_eq!((hots[0].size, hots[1].size), (1, 2));
        judged_as_unit_by_unit(&model, &hots);
    }
}

fn judged_as_unit_by_unit(model: &Model<'_>, hots: &[Hot]) {
    for hot in hots {
        for sizes in [&[][..], &[1], &[2], &[2, 1], &[1, 1, 1]] {
            let given = sizes
                .iter()
                .enumerate()
                .fold(Sizes::default(), |all, (group, &size)| all.with(group, size));
            let found = model.predict(hot, &given).expect("a possible configuration");
            let expected = naively(model, hot, sizes, &COUNTS);
            let mut shares = found.valid[..sizes.len()].to_vec();
            shares.push(found.valid_last);
            for (share, expected) in shares.iter().zip(&expected) {
                assert!((share - expected).abs() < 1e-9, "{sizes:?}: {shares:?}, {expected}");
            }
            assert!((found.waf - markov(hot, &shares)).abs() < 1e-6, "{sizes:?}");
        }
    }
}

/// Segments of the host: 400 of 1638 updates die within a quarter, 900 within three quarters:
/// 0.55 * 0.75 + 0.5 is no segment, 1000 within one are one.
#[test]
fn the_hot_group_holds_what_is_written_until_it_dies() {
    let sums = sums(&COUNTS);
    let model = model(&sums);
    let hot = model.hot(1).expect("some are hot");
    let all: u64 = COUNTS.iter().sum();
    assert_eq!((hot.size, hot.units), (1, 4));
    assert!((hot.traffic - 1000.0 / all as f64).abs() < 1e-12);
    assert!(model.hot(3).expect("some are").size >= 3);
    assert!(model.hot(21).is_none(), "an epoch has twenty segments");
}

#[test]
fn what_cannot_be_is_not_judged() {
    let sums = sums(&COUNTS);
    let model = model(&sums);
    let hot = model.hot(1).expect("some are hot");
    let of = |size| model.predict(&hot, &Sizes::default().with(0, size));
    assert!(of(3).is_some());
    assert!(of(10).is_none(), "older than the epoch");
    assert!(of(38).is_none(), "nothing is left for the last group");
    let full = Model { living: 40.0 * 64.0, ..model };
    assert!(full.predict(&hot, &Sizes::default().with(0, 1)).is_none(), "no room");
}

/// Data that nobody writes leaves the others as much room among less: a device with it is one
/// without it and its room.
#[test]
fn cold_data_is_left_out_of_the_last_group() {
    let sums = sums(&COUNTS);
    let model = model(&sums);
    let hot = model.hot(1).expect("some are hot");
    let waf = |model: &Model<'_>| {
        model.predict(&hot, &Sizes::default().with(0, 2)).expect("a configuration").waf
    };
    let more = Model { segments: 60, living: 1800.0 + 20.0 * 64.0, ..model };
    let left_out = Model { cold: 20.0 * 64.0, ..more };
    assert!(waf(&more) > waf(&model) + 0.1, "{} and {}", waf(&more), waf(&model));
    assert!((waf(&left_out) - waf(&model)).abs() < 1e-9);
}

/// Two segments of two fifths of the writes, half a segment less: 3.75 segments of the host, 15
/// units.
#[test]
fn a_hot_group_that_was_measured_is_as_old_as_its_segments_last() {
    let sums = sums(&COUNTS);
    let hot = model(&sums).hot_as_measured(2, 0.4, 0.3);
    assert!((hot.age - 3.75).abs() < 1e-12 && hot.units == 15, "{hot:?}");
}

/// Where one side has no data, or no writes, the others are uniform. A millionth of the data as
/// room beside it is half a million programs a page, which is as good as none.
#[test]
fn one_temperature_is_uniform_and_no_room_is_none() {
    let uniform = two_temperatures(1.5, 0.5, 0.5).expect("room");
    for (f, r) in [(0.3, 0.0), (0.0, 0.4), (1.0, 0.4), (0.3, 1.0)] {
        assert_eq!(two_temperatures(1.5, f, r), two_temperatures(1.5, 1.0, 1.0), "{f}, {r}");
        assert!((uniform - 1.716).abs() < 6e-4);
    }
    // 1 / (2 * (space - 1)) where there is hardly any room.
    let little = two_temperatures(1.0 + 1.25e-6, 1.0, 1.0).expect("room");
    assert!((little / 400_000.0 - 1.0).abs() < 0.05, "{little}");
    for more in [7e-7, 1e-9] {
        assert_eq!(two_temperatures(1.0 + more, 1.0, 1.0), None);
    }
}

/// e^-700 is 9.86e-305, the last power that is reckoned.
#[test]
fn the_power_is_nothing_beyond_700() {
    assert!((exp_minus(700.0) * 1e305 - 9.86).abs() < 0.01);
    assert_eq!(exp_minus(701.0), 0.0);
}

/// Twenty segments of the host, less a margin. Of seven segments behind a hot one, which gets 1000
/// of 1638 writes, 1 + 6.5 / 0.3895 = 17.7 segments of the host.
#[test]
fn a_group_is_younger_than_the_epoch_by_a_margin() {
    let sums = sums(&COUNTS);
    let possible = |margin, size| {
        let model = Model { margin, ..model(&sums) };
        let hot = model.hot(1).expect("some are hot");
        model.predict(&hot, &Sizes::default().with(0, size)).is_some()
    };
    assert_eq!([1, 4].map(|margin| possible(margin, 7)), [true, false]);
    assert_eq!([1, 4].map(|margin| possible(margin, 6)), [true, true]);
}

/// Every page is written anew within five segments of the host: behind a hot group that is as old
/// nothing enters, and nothing is left of a group that becomes as old.
#[test]
fn a_group_that_nothing_enters_or_leaves_is_none() {
    let counts: Vec<u64> = (0..80).map(|unit| if unit < 20 { 100 } else { 0 }).collect();
    let sums = sums(&counts);
    let model = model(&sums);
    let predicted = |hot: &Hot, size| model.predict(hot, &Sizes::default().with(0, size));
    let young = model.hot_as_measured(1, 0.5, 0.5);
    assert_eq!(young.units, 4);
    assert!(predicted(&young, 1).is_some(), "one segment is two thirds of one of the host");
    assert!(predicted(&young, 5).is_none());
    let old = model.hot_as_measured(3, 0.5, 0.5);
    assert_eq!(old.units, 20);
    assert!(predicted(&old, 1).is_none());
}

/// What it would take is what it takes, to the bit, at 1.83203125 and at 2: that is the
/// amplification, and no larger one is.
#[test]
fn an_amplification_that_is_met_exactly_is_that_one() {
    assert_eq!(two_temperatures(1.446_041_690_170_239_5, 1.0, 1.0), Some(1.832_031_25));
    assert_eq!(two_temperatures(1.421_490_896_325_819, 0.34375, 0.71875), Some(2.0));
}

/// A segment of four pages for 1.8 pages of data, where nothing is left to be updated: a queue
/// would write 1.125 times and greedy, an eighth of a page better, once. With little more data
/// something stays valid.
#[test]
fn a_last_group_that_keeps_nothing_valid_is_none() {
    let sums = sums(&COUNTS);
    let model = Model { segment_pages: 4.0, ..model(&sums) };
    let valid = |living| model.last_valid(COUNTS.len(), 1, living);
    assert_eq!(valid(1.820_478_453_253_668_6), None);
    assert!(valid(1.9).is_some_and(|valid| valid > 0.0 && valid < 0.05));
}
