use super::*;
use crate::for_tests;
use crate::leaftl::bench_tests::Bench;
use crate::leaftl::buffer::Buffer;
use crate::leaftl::map::Residency;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::meter::Level;
use ftlab_flash::settings::Groups as _;
use ftlab_ftl::parts::learned::{Group, Point, Scale, Tolerance, learn};

fn config(pairs: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
    config
}

/// What cannot be read stays so under a write of some of its sectors; a write of all of them makes
/// it whole, and what can be read takes any.
#[test]
fn a_write_of_some_sectors_does_not_make_readable_what_is_not() {
    let config = config(&[]);
    let mut board = Board::new(&config, 1, 0);
    let all = board.geometry().all_sectors();
    for (tag, sectors, expected) in [
        (Tag::UNREADABLE, 1, Tag::UNREADABLE),
        (Tag::UNREADABLE, all, Tag(7)),
        (Tag(3), 1, Tag(7)),
        (Tag(3), all, Tag(7)),
    ] {
        let mut buffer = Buffer::new(&board, &config, 2);
        let (slot, _) = buffer.pages.enter(Lpn(5));
        buffer.pages.fill(slot, tag, When::START);
        let io = PageIo { sectors, data: Tag(7), ..for_tests::page(5) };
        let _ = buffer.put(&mut board, slot, &io, When::START);
        assert_eq!(buffer.pages.get(slot).tag, expected, "{tag:?}, sectors {sectors:b}");
    }
}

/// A lone page: by the paper a segment of 8 bytes, a byte of its level, and 4 of the group; by the
/// code 5 and 4. An approximate segment of the pages 0 to 2, 5 and 6 takes 8 by the code, and one
/// for either end of the gap.
#[test]
fn a_group_takes_the_bytes_that_paper_or_code_count() {
    let scale = Scale::new(1 << 16);
    let group = |offsets: &[u8]| {
        let place = |(ppn, &offset)| Point { offset, ppn };
        let points: Vec<Point> = (100..).zip(offsets).map(place).collect();
        let last = 99 + points.len() as u32;
        let mut group = Group::new(256);
        learn(&points, Tolerance { gamma: 4, first: 100, last }, scale, |segment, members| {
            group.insert(segment, members);
        });
        group
    };
    let (lone, near) = (group(&[9]), group(&[0, 1, 2, 5, 6]));
    assert_eq!((lone.sizes().lone, near.sizes().approximate, near.sizes().segments()), (1, 1, 1));
    for (bytes, least) in [("paper", 8 + 1 + 4), ("code", 5 + 4)] {
        let sizes = Sizes::new(&config(&[("leaftl.bytes", bytes)]));
        assert_eq!(sizes.bytes_of(&lone), least, "{bytes}");
        assert_eq!(sizes.least_group_bytes(), u64::from(least), "{bytes}");
        if bytes == "code" {
            assert_eq!(sizes.bytes_of(&near), 4 + 8 + 2);
        }
    }
}

/// Map pages and records, an eighth more that replace them, and a block of those that collection
/// writes.
#[test]
fn map_pages_and_records_are_alive_with_those_that_replace_them() {
    let mut config = config(&[("leaftl.map_bytes", "1KiB"), ("device.pages_per_block", "32")]);
    config.device.set_capacity(5000 * 32 * 2048, 6000);
    let records = TrimRecords::segments(&Geometry::new(&config.device));
    let map = u64::from(Sizes::new(&config).parts + records);
    assert!(map > 16 && map % 8 > 0, "{map}");
    assert_eq!(Sizes::payload_pages(&config), map + map / 8 + 32);
}

/// A KiB of segments and one of pages.
#[test]
fn segments_and_buffer_may_take_all_of_the_memory() {
    let checked = |ram| {
        let pairs = [
            ("device.page_bytes", "512"),
            ("leaftl.map_bytes", "1KiB"),
            ("leaftl.buffer_bytes", "1KiB"),
            ("device.ram_bytes", ram),
        ];
        Sizes::check(&config(&pairs)).map_err(|why| why.to_string())
    };
    assert_eq!(checked("2048B"), Ok(()));
    let why = checked("2047B").expect_err("a byte is missing");
    assert!(why.contains("1024 and 1024 bytes, device.ram_bytes allows 2047"), "{why}");
}

/// An intercept has 30 bits for whole pages: 2^30 of them are told apart, 64 more are not.
#[test]
fn a_device_has_no_more_pages_than_an_intercept_tells() {
    let checked = |blocks: &str| {
        let pairs = [("device.blocks_per_plane", blocks), ("device.pages_per_block", "64")];
        Sizes::check(&config(&pairs)).map_err(|why| why.to_string())
    };
    assert_eq!(checked("16777216"), Ok(()));
    let why = checked("16777217").expect_err("a block too many");
    assert!(why.contains("1073741824 pages at most, the device has 1073741888"), "{why}");
}

/// The buffer has 16 pages. When it is full the first one of all leaves, and the next one with
/// every page that comes: 0 and 2 are programmed when a page is trimmed. A page that is still to
/// leave ends the run however far away it is: nobody looks whether the two name it.
#[test]
fn a_trim_ends_the_run_that_has_its_page_and_with_a_tolerance_one_that_it_is_still_to_join() {
    for (lpn, gamma, run) in [
        // Of the run.
        (0, "0", 0),
        (0, "4", 0),
        // The next to leave, and the last.
        (4, "0", 2),
        (4, "4", 0),
        (30, "0", 2),
        (30, "4", 0),
        // It came when it was decided which leave.
        (100, "0", 2),
        (100, "4", 2),
    ] {
        let mut it = Bench::new(&[("leaftl.gamma", gamma)]);
        (0..16).for_each(|page| it.write(2 * page));
        it.write(100);
        let fresh = |it: &Bench| it.scheme.store.map.fresh.len();
        assert_eq!((fresh(&it), it.scheme.store.buffer.pages.len()), (2, 15));
        it.trim(lpn);
        assert_eq!(fresh(&it), run, "page {lpn}, gamma {gamma}");
        it.check();
    }
}

/// A page each of three groups, 13 bytes in memory each, group 1 used longest ago and group 2 just
/// now. Flash knows them as they are, or nothing of them: then the map page that groups 0 and 1
/// share is written when the first of the two leaves.
#[test]
fn groups_used_longest_ago_leave_a_memory_that_is_too_small_and_no_more_than_must() {
    for (most, stay) in [(39, &[0, 1, 2][..]), (38, &[0, 2]), (26, &[0, 2]), (25, &[2])] {
        for clean in [true, false] {
            let mut it = Bench::new(&[("leaftl.map_bytes", "212")]);
            [0, 16, 32].into_iter().for_each(|lpn| it.write(lpn));
            it.flush();
            if clean {
                let cleaned = it.scheme.clean_map(&mut it.board, When::START);
                let _ = cleaned.expect("nothing fails");
            }
            [16, 0, 32].into_iter().for_each(|lpn| assert!(it.read(lpn) != Tag(0)));
            let programs = it.board.meter().total_programs();
            it.scheme.store.map.sizes.map_bytes = Some(most);
            let _ = it.scheme.store.fit(&mut it.board, When::START).expect("nothing fails");
            let map = &it.scheme.store.map;
            let whole = (0..3).filter(|&group| map.residency(group) == Residency::Whole);
            assert_eq!(whole.collect::<Vec<_>>(), stay, "{most} bytes");
            let bytes = 13 * stay.len() as u64;
            let told = it.board.meter().level_now(Level::LearnedMapBytes);
            assert_eq!((map.bytes, told), (bytes, Some(bytes)), "{most} bytes");
            let left = 3 - stay.len() as u64;
            let meter = it.board.meter();
            let counted = meter.events(Event::EvictClean) + meter.events(Event::EvictDirty);
            assert_eq!(counted, left, "{most} bytes");
            let written = meter.total_programs() - programs;
            assert_eq!(written, u64::from(left > 0 && !clean), "{most} bytes, clean: {clean}");
            it.check();
        }
    }
}
