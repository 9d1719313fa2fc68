use super::*;
use ftlab_flash::board::when::When;
use ftlab_flash::settings::Groups as _;

fn geometry() -> Geometry {
    let mut config = crate::cftl::settings::Config::default();
    for (key, value) in [("device.blocks_per_plane", "200"), ("device.pages_per_block", "4")] {
        config.set(key, value).expect("legal");
    }
    Geometry::new(&config.device)
}

/// Six runs and those of a request and a conversion, each of 64 pages; one logical block and those
/// of a request and a conversion, each of 4.
#[test]
fn there_is_room_for_a_single_entry_of_every_page_that_could_be_covered() {
    assert_eq!(most_covered(&geometry(), &Sizes { pages: 6, blocks: 1 }, 64), 8 * 64 + 3 * 4);
    assert_eq!(most_covered(&geometry(), &Sizes { pages: 2, blocks: 3 }, 1), 4 + 5 * 4);
}

/// Pages of runs, and whether they are covered.
fn covered(cache: &Cache) -> Vec<u32> {
    (0..20).filter(|&lpn| cache.runs.find(lpn).is_some()).collect()
}

/// Runs of pages 2 to 5, 6 and 7, 8 and 9, 10 to 12: of those that lie within a logical block of
/// four pages alone nothing is left, the others stay whole.
#[test]
fn runs_within_a_block_that_the_block_table_knows_leave_and_others_stay() {
    let runs = [2..6, 6..8, 8..10, 10..13];
    let mut cache = Cache::new(&geometry(), &Sizes { pages: 8, blocks: 2 }, 64);
    for (number, run) in (1..).zip(runs) {
        for lpn in run {
            cache.runs.cover(Lpn(lpn), Some(Ppn(100 * number + lpn)), When::START);
        }
    }
    assert_eq!(cache.runs.len(), 4);
    assert_eq!(covered(&cache), Vec::from_iter(2..13));
    cache.drop_runs_within(Lbn(1));
    assert_eq!(covered(&cache), [2, 3, 4, 5, 8, 9, 10, 11, 12]);
    cache.drop_runs_within(Lbn(2));
    assert_eq!(covered(&cache), [2, 3, 4, 5, 10, 11, 12]);
    cache.drop_runs_within(Lbn(4));
    assert_eq!(cache.runs.len(), 2);
    cache.runs.self_check().expect("sound");
}
