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

/// Translation pages of 512 entries over a device of one plane, where a page is its own number.
fn models() -> Models {
    use ftlab_flash::board::settings::DeviceSettings;
    let models =
        Models::new(&Geometry::new(&DeviceSettings::default()), PlacementOrder::ChannelDiePlane, 8);
    assert_eq!((models.entries, models.order.number(Ppn(1234))), (512, 1234));
    models
}

/// What a request is told of, page by page: where it is and what is learned then.
fn told(models: &mut Models, pages: &[(u32, u32, u32)], of: u32) -> Vec<(u32, u32)> {
    let one = |&(lpn, number, index): &(u32, u32, u32)| {
        let learned = models.page_written(Lpn(lpn), Some(Ppn(number)), (index, of));
        (learned.models, learned.exact)
    };
    pages.iter().map(one).collect()
}

/// A row is of pages that follow one another in both orders; one that lies elsewhere begins
/// another, which is too short here.
#[test]
fn a_row_ends_where_the_next_page_lies_elsewhere() {
    let mut models = models();
    assert_eq!(told(&mut models, &[(0, 100, 0), (1, 105, 1)], 2), [(0, 0); 2]);
    assert_eq!([0, 1].map(|lpn| models.predict(Lpn(lpn))), [None; 2]);
    // One page is left out.
    assert_eq!(told(&mut models, &[(0, 100, 0), (2, 101, 1)], 2), [(0, 0); 2]);
    assert_eq!(told(&mut models, &[(0, 100, 0), (1, 101, 1)], 2), [(0, 0), (1, 2)]);
    assert_eq!(models.predict(Lpn(1)), Some(Ppn(101)));
}

/// Where a request was not written to its end, its row ends with the first page of the next one,
/// though that goes on where it ended.
#[test]
fn the_first_page_of_a_request_goes_on_with_no_row() {
    let mut models = models();
    assert_eq!(told(&mut models, &[(0, 100, 0), (1, 101, 1)], 3), [(0, 0); 2]);
    assert_eq!(told(&mut models, &[(2, 102, 0), (3, 103, 1)], 3), [(1, 2), (0, 0)]);
}

/// Eight pieces share 512 places; the last ends with the last of them. A row that replaces it
/// forgets its 64 pages, and not the first one of the next translation page.
#[test]
fn a_row_replaces_a_piece_within_its_translation_page() {
    let mut models = models();
    told(&mut models, &[(512, 3000, 0), (513, 3001, 1)], 2);
    // One in order out of 20 is where its line says, which is too steep.
    for place in 0..512 {
        models.page_moved(Lpn(place), Ppn(1000 + place % 64 * 3));
    }
    assert_eq!(models.train().models, 1);
    let row: Vec<_> = (0..80).map(|index| (432 + index, 5000 + index, index)).collect();
    told(&mut models, &row, 80);
    assert_eq!(models.predict(Lpn(511)), Some(Ppn(5079)));
    assert_eq!([512, 513].map(|lpn| models.predict(Lpn(lpn))), [Some(Ppn(3000)), Some(Ppn(3001))]);
}

/// Those of one translation page are trained together: more are not kept.
#[test]
fn no_more_moved_pages_are_kept_than_a_translation_page_has() {
    let mut models = models();
    (0..600).for_each(|lpn| models.page_moved(Lpn(lpn), Ppn(lpn)));
    assert_eq!(models.moved.len(), 512);
}
