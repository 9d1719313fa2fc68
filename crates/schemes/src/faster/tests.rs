use super::settings::{FasterSettings, Mode};
use ftlab_flash::settings::Optional;

/// Half a block, and none in the short form of seed 1; never a full one.
#[test]
fn a_victim_of_few_pages_has_less_than_half_a_block_of_them() {
    let below = |mode, given| {
        let settings =
            FasterSettings { mode, copy_all_below: Optional(given), ..FasterSettings::default() };
        settings.copies_all_below(64)
    };
    assert_eq!((below(Mode::Full, None), below(Mode::Seed1Simple, None)), (32, 0));
    assert_eq!((below(Mode::Full, Some(0)), below(Mode::Seed1Simple, Some(7))), (0, 7));
    assert_eq!(below(Mode::Full, Some(65)), 64, "one page more than a block has");
}
