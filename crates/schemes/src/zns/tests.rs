use super::*;
use ftlab_flash::settings::Groups as _;

/// The host copies a victim at once: a zone of blocks of four pages, in all planes of its channels.
#[test]
fn the_host_copies_as_many_pages_at_once_as_a_zone_has() {
    let copies = |pairs: &[(&str, &str)]| {
        let mut config = Config::default();
        let shape =
            [("device.pages_per_block", "4"), ("device.channels", "4"), ("device.dies", "2")];
        for (key, value) in shape.iter().chain(pairs) {
            config.set(key, value).expect("legal");
        }
        Zns::host_copies(&config)
    };
    assert_eq!(copies(&[]), 4 * 2 * 4);
    assert_eq!(copies(&[("zns.width", "2")]), 2 * 2 * 4);
    assert_eq!(copies(&[("zns.width", "1"), ("zns.zone_capacity", "50%")]), 2 * 2);
}
