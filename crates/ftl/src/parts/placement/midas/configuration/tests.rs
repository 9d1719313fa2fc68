use super::super::super::tests as placement;
use super::super::PlacementPolicy;
use super::super::hot::HotWindow;
use super::super::settings::HotData;
use super::super::tests::{bench, midas, sized};
use super::*;

/// Shares in thousandths, and blocks in tenths.
fn means(traffic: u64, valid: u64, blocks: u64) -> HotMeans {
    HotMeans { traffic: traffic * 1000, valid: valid * 1000, blocks: blocks * 100_000 }
}

/// Two blocks a segment: what fills less than half a segment is none, one block is half of one.
#[test]
fn the_hot_group_has_the_segments_of_its_closed_blocks_and_an_open_one() {
    let mut bench = bench(&[]);
    let midas = midas(&mut bench);
    midas.segment_blocks = 2;
    let sizes = [0, 9, 10, 29, 30, 50].map(|blocks| midas.hot_size(&means(0, 0, blocks)));
    assert_eq!(sizes, [1, 1, 2, 2, 3, 4]);
}

/// 18 % of its victims may be valid, 30 % where it has one segment.
#[test]
fn a_hot_group_of_which_too_much_stays_valid_is_none() {
    let mut bench = bench(&[]);
    let midas = midas(&mut bench);
    let is_one = |valid, blocks| {
        let exact = means(0, valid, blocks);
        let more = HotMeans { valid: exact.valid + 1, ..exact };
        [exact, more].map(|means| midas.is_hot_group(&means))
    };
    assert_eq!(is_one(300, 4), [true, false]);
    assert_eq!(is_one(180, 5), [true, false]);
    assert_eq!(is_one(180, 4), [true; 2]);
}

/// More than 20 % of its victims valid, or less than 15 % of the writes.
#[test]
fn a_hot_group_stays_as_it_was_where_it_keeps_much_or_gets_little() {
    let mut bench = bench(&[]);
    let midas = midas(&mut bench);
    let just = means(150, 200, 0);
    assert!(!midas.is_hot_fixed(&just));
    assert!(midas.is_hot_fixed(&HotMeans { valid: 200_001, ..just }));
    assert!(midas.is_hot_fixed(&HotMeans { traffic: 149_999, ..just }));
}

/// Ten classes leave eight groups between the hot one and the last.
#[test]
fn the_search_is_bounded_as_settings_say_and_by_the_classes() {
    let pairs = [("midas.hot_sizes", "7"), ("midas.hot_gain", "0.25"), ("midas.sweeps", "2")];
    for (groups, most) in [("3", 3), ("14", 8)] {
        let bounds =
            midas(&mut bench(&[&pairs[..], &[("midas.groups", groups)]].concat())).bounds();
        assert_eq!((bounds.groups, bounds.hot_sizes), (most, 7));
        assert_eq!((bounds.hot_gain, bounds.sweeps), (0.25, 2));
    }
}

/// An epoch of 4 * 64 pages is 128 units of two pages, 32 segments of eight: a tenth of it is 3, a
/// tenth of 60 segments more, of 25 less. Of 60 segments, 480 pages, 96 would be cold enough: 20
/// blocks of eight that lost nothing, of which one is so by chance.
#[test]
fn the_model_is_told_of_the_device_and_of_its_epoch() {
    let mut bench = bench(&[("midas.last_hot", "0.6"), ("midas.hot_data", "written")]);
    let midas = midas(&mut bench);
    let model = midas.model(50);
    assert_eq!((model.sums.len(), model.units_per_segment), (129, 4.0));
    assert_eq!((model.segment_pages, model.segments, model.margin), (8.0, 60, 3));
    assert_eq!((model.living, model.cold, model.last_hot), (50.0, 0.0, 0.6));
    assert_eq!(model.hot_data, HotData::Written);
    for place in 0..20 {
        midas.blocks[place] = Block { opened: 1, class: 10, closed: 1, valid: 8 };
    }
    assert_eq!(midas.model(50).cold, 19.0 * 8.0);
    midas.segments = 25;
    assert_eq!(midas.model(50).margin, 2);
    midas.settings.margin = 1;
    assert_eq!(midas.model(50).margin, 1);
}

/// Blocks of eight pages, two a segment, 30 segments: a fifth of the device is 96 pages. Of full
/// blocks of the last group one in twenty has lost none by chance: of 30, 20 of which lost none,
/// 18.5 are cold; of 20 and 13, 12, just enough; of 12 and 12 11.4, too few. Open blocks and those
/// of groups with a queue do not count.
#[test]
fn full_blocks_that_lost_nothing_are_cold_where_they_are_many() {
    for (full, lost_none, cold) in [(30, 20, 148.0), (20, 13, 96.0), (12, 12, 0.0)] {
        let mut bench = bench(&[]);
        sized(&mut bench, &[2, 5, 7], &[]);
        let midas = midas(&mut bench);
        (midas.segments, midas.segment_pages, midas.segment_blocks) = (30, 16, 2);
        let block = |class, closed, valid| Block { opened: 1, class, closed, valid };
        for place in 0..full {
            midas.blocks[place] = block(10, 1, if place < lost_none { 8 } else { 7 });
        }
        for place in 40..46 {
            midas.blocks[place] = block(3, 1, 8);
            midas.blocks[place + 10] = block(10, 0, 8);
        }
        assert_eq!(midas.cold(), cold, "{lost_none} of {full}");
    }
}

/// An epoch that is not over yet of a load of two temperatures: 56 pages of 64 hardly change, 8 are
/// written over and over. Fourteen segments, and what the hot group was.
fn two_temperatures(windows: &[HotWindow]) -> Box<Midas> {
    let pairs = [("midas.sampling", "1"), ("midas.epoch", "8"), ("midas.model_wait", "0")];
    let mut bench = bench(&[&pairs[..], &[("midas.margin", "2")]].concat());
    for turn in 0..64 * 7 {
        let page = if turn % 16 == 0 { 8 + turn / 16 % 56 } else { turn % 8 };
        bench.write(if turn < 64 { turn } else { page });
    }
    let mut midas = Box::new(midas(&mut bench).clone());
    midas.segments = 14;
    midas.filter.had(windows);
    midas
}

/// A hot group with a tenth of the writes stays as it was, two closed blocks and an open one; one
/// with two fifths is given a size, at which all of it dies. Where nothing was hot, a hundredth of
/// the writes is taken to be, of which a twentieth stays valid, in one segment. One that keeps too
/// much says nothing.
#[test]
fn a_hot_group_is_taken_as_it_was_or_made_anew() {
    let window = |traffic, valid| HotWindow { traffic, valid, blocks: 2 };
    for (windows, expected) in [
        (&[window(100_000, 120_000)][..], Some((3, 0.1, 0.12))),
        (&[window(400_000, 120_000)], Some((0, 0.0, 0.0))),
        (&[], Some((1, 0.01, 0.05))),
        (&[window(400_000, 190_000)], None),
    ] {
        let mut midas = two_temperatures(windows);
        let found = midas.configuration(64).map(|found| found.hot);
        match (found, expected) {
            (None, None) => {}
            (Some(hot), Some((0, ..))) => assert!(hot.valid == 0.0 && hot.traffic > 0.5, "{hot:?}"),
            (Some(hot), Some(as_measured)) => {
                assert_eq!((hot.size, hot.traffic, hot.valid), as_measured);
            }
            (found, _) => panic!("{windows:?}: {found:?}"),
        }
    }
}

/// An epoch of 6 * 53 pages, 159 units, is 39 segments and three quarters: a tenth of it is 3.
#[test]
fn of_an_epoch_only_whole_segments_count() {
    let settings = placement::settings("midas", &[("midas.epoch", "6")]);
    let context = placement::context(&settings, 53);
    let mut midas = Midas::new(&context);
    let model = midas.model(50);
    assert_eq!((model.sums.len(), model.margin), (160, 3));
}

/// The load of [`a_hot_group_is_taken_as_it_was_or_made_anew`]: what writes as much as was written
/// is not worth a change, a millionth less is.
#[test]
fn groups_come_into_force_only_when_they_write_less() {
    let predicted = two_temperatures(&[]).configuration(64).expect("a configuration");
    let predicted = ppm(predicted.prediction.waf);
    for (more, comes) in [(0, false), (1, true)] {
        let mut midas = two_temperatures(&[]);
        midas.written.was(predicted + more);
        midas.epoch_ends(64);
        assert_eq!((midas.best, midas.groups.queued() > 0), (Some(predicted), comes));
    }
}
