use super::*;
use crate::adapt::settings::Config;
use ftlab_flash::settings::Groups as _;

/// A board, and the settings of a predictor whose intervals are so long.
fn board(pairs: &[(&str, &str)]) -> (Board, AdaptSettings) {
    let mut config = Config::default();
    for (key, value) in [("device.blocks_per_plane", "200"), ("device.pages_per_block", "4")] {
        config.set(key, value).expect("legal");
    }
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
    (Board::new(&config, 1, 0), config.own)
}

fn requests(board: &mut Board, predictor: &mut Predictor, count: u32) {
    for _ in 0..count {
        let shape =
            RequestShape { first_lpn: Lpn(500), pages: 1, index: 0, sectors: 4, hint: None };
        predictor.request(board, &shape);
    }
}

fn rate(board: &mut Board, predictor: &mut Predictor) -> Option<u64> {
    predictor.end_interval(board);
    board.meter().level_now(Level::HistoryHitPermille)
}

/// What was merged and not rewritten for an interval was rightly merged: at the first request
/// behind it.
#[test]
fn merged_pages_that_nobody_rewrites_count_as_right() {
    let (mut board, settings) = board(&[("adapt.interval", "5")]);
    let mut predictor = Predictor::new(board.geometry(), &settings);
    requests(&mut board, &mut predictor, 1);
    (0..4).for_each(|lpn| predictor.merged(&mut board, Lpn(lpn)));
    predictor.written(&mut board, Lpn(3));
    requests(&mut board, &mut predictor, 5);
    assert_eq!(board.meter().events(Event::HistoryRight), 0, "five requests are not over");
    requests(&mut board, &mut predictor, 1);
    assert_eq!(board.meter().events(Event::HistoryRight), 3);
    assert_eq!(rate(&mut board, &mut predictor), Some(750), "three of four");
}

/// An interval of one request watches 64 pages: those that were merged first are right when more
/// come.
#[test]
fn merged_pages_that_cannot_be_watched_any_longer_count_as_right() {
    let (mut board, settings) = board(&[("adapt.interval", "1")]);
    let mut predictor = Predictor::new(board.geometry(), &settings);
    (0..70).for_each(|lpn| predictor.merged(&mut board, Lpn(lpn)));
    assert_eq!(board.meter().events(Event::HistoryRight), 6);
    predictor.written(&mut board, Lpn(69));
    predictor.written(&mut board, Lpn(68));
    assert_eq!(rate(&mut board, &mut predictor), Some(750), "six of eight");
}

/// Answers of the table: three of four pages are known.
#[test]
fn the_table_is_asked_page_by_page() {
    let (mut board, settings) = board(&[("adapt.hit_rate_def", "table_hits")]);
    let mut predictor = Predictor::new(board.geometry(), &settings);
    let shape = RequestShape { first_lpn: Lpn(8), pages: 3, index: 0, sectors: 12, hint: None };
    predictor.request(&mut board, &shape);
    let known = [8, 9, 10, 11].map(|lpn| predictor.expects(&mut board, Lpn(lpn)));
    assert_eq!(known, [true, true, true, false]);
    assert_eq!(rate(&mut board, &mut predictor), Some(750));
}

/// A table sizes itself where it is asked to, and where there is one.
#[test]
fn only_a_table_that_sizes_itself_has_rules_for_that() {
    for (auto, predicts) in [(false, false), (false, true), (true, false), (true, true)] {
        let settings = AdaptSettings {
            history_auto: auto,
            predictive_transfer: predicts,
            ..AdaptSettings::default()
        };
        assert_eq!(settings.history_sizing().is_some(), auto && predicts, "{auto} {predicts}");
    }
}
