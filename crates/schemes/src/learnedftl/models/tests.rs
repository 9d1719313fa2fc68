//! What lines are learned of which pages.

use super::*;

/// Numbers of pages that are `gap` apart, written one after another from 1000 on.
fn points(gap: u32, count: u32) -> Vec<(u32, u32)> {
    (0..count).map(|turn| (gap * turn, 1000 + turn)).collect()
}

#[test]
fn a_line_through_pages_of_one_stride_is_exact() {
    for gap in 1..=16 {
        let points = points(gap, 64);
        let piece = Piece::through(&points);
        assert!(points.iter().all(|&(x, y)| piece.predict(x) == i64::from(y)), "stride {gap}");
    }
}

#[test]
fn a_lone_page_is_its_own_line_and_far_numbers_stay_exact() {
    let lone = Piece::through(&[(511, u32::MAX)]);
    assert_eq!((lone.slope, lone.predict(511)), (0, i64::from(u32::MAX)));
    let far: Vec<(u32, u32)> = (0..512).map(|x| (x, u32::MAX - 512 + x)).collect();
    let piece = Piece::through(&far);
    assert!(far.iter().all(|&(x, y)| piece.predict(x) == i64::from(y)));
}

#[test]
fn pages_off_the_line_are_not_exact() {
    let bent = [(0, 0), (1, 1), (2, 2), (100, 3)];
    let piece = Piece::through(&bent);
    let exact = bent.iter().filter(|&&(x, y)| piece.predict(x) == i64::from(y)).count();
    assert!(exact < 4, "{exact} of 4");
}

#[test]
fn quotients_are_rounded_to_the_nearest() {
    assert_eq!([nearest(7, 2), nearest(-7, 2), nearest(5, 3), nearest(-5, 3)], [4, -3, 2, -2]);
}

/// Two pages of a request of three came to lie in a row; one of them is trimmed, or written anew,
/// before the third is there. What ends the row knows of neither.
#[test]
fn a_row_ends_without_pages_that_were_changed_meanwhile() {
    use ftlab_flash::board::settings::DeviceSettings;
    let geometry = Geometry::new(&DeviceSettings::default());
    let page = |number| Some(Ppn(number));
    for changed in [None, Some(0), Some(1)] {
        let mut models = Models::new(&geometry, PlacementOrder::ChannelDiePlane, 30);
        for index in 0..2 {
            assert_eq!(
                models.page_written(Lpn(index), page(index), (index, 3)),
                Learned::default()
            );
        }
        if let Some(changed) = changed {
            models.clear(Lpn(changed));
        }
        let learned = models.page_written(Lpn(9), page(7), (0, 1));
        let exact = if changed.is_none() { 2 } else { 0 };
        assert_eq!((learned.exact, models.count()), (exact, u64::from(exact)), "{changed:?}");
        assert_eq!(models.predict(Lpn(0)), page(0).filter(|_| changed.is_none()));
    }
}
