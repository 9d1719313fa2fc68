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
