//! What a scheme leaves undone that says nothing of it.

use super::*;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::RequestShape;
use ftlab_flash::settings;

settings! {
    /// Its settings.
    pub struct PlainSettings in "plain" {
        /// A number.
        number: u32 = 3, legal("", |_| true), source("nobody");
    }
}

/// It has no more than every scheme must have.
#[derive(Clone)]
struct Plain;

impl Scheme for Plain {
    const PAPER: Paper = Paper {
        name: "plain",
        title: "",
        authors: "",
        venue: "",
        year: 0,
        sections: "",
        deviations: &[],
        family: Family::Page,
        class: Classification::PAGES,
    };
    type Settings = PlainSettings;
    type Survivor = ();

    fn minimum_blocks(_: &SchemeConfig<PlainSettings>) -> u64 {
        1
    }
    fn payload_pages(_: &SchemeConfig<PlainSettings>) -> u64 {
        0
    }
    fn ram_use(_: &SchemeConfig<PlainSettings>) -> Vec<RamUse> {
        Vec::new()
    }
    fn format(_: &mut Board, _: &SchemeConfig<PlainSettings>, _: u64) -> Result<Self, Fault> {
        Ok(Plain)
    }
    fn read(&mut self, _: &mut Board, _: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        Ok((after, Tag(0)))
    }
    fn write(&mut self, _: &mut Board, _: &PageIo, after: When) -> Result<When, Fault> {
        Ok(after)
    }
    fn trim(&mut self, _: &mut Board, _: &PageIo, after: When) -> Result<When, Fault> {
        Ok(after)
    }
    fn flush(&mut self, _: &mut Board, after: When) -> Result<When, Fault> {
        Ok(after)
    }
    fn locate(&self, _: &Board, _: Lpn) -> Location {
        Location::Nowhere
    }
    fn room(&self) -> Room {
        Room { free_blocks: 1, threshold: 0 }
    }
    fn power_off(self) {}
    fn recover(
        _: &mut Board,
        _: &SchemeConfig<PlainSettings>,
        _: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        Ok((Plain, after))
    }
}

#[test]
fn a_scheme_that_says_no_more_asks_for_nothing_and_refuses_nothing() {
    let config = SchemeConfig::<PlainSettings>::default();
    assert_eq!(Plain::host_copies(&config), 0);
    assert!(!Plain::works_in_gaps(&config));
    assert_eq!((Plain::stands_on(&config), Plain::uncleanable(&config)), (None, None));
    assert_eq!(Plain::check(&config), Ok(()));
}

#[test]
fn a_scheme_that_says_no_more_does_nothing_beside_requests() {
    let mut config = SchemeConfig::<PlainSettings>::default();
    config.set("timing.profile", "parallel").expect("shared");
    let mut board = Board::new(&config, 1, 0);
    let later = board.nand_mut().clock_mut().enter(7_000);
    let mut plain = Plain;
    assert!(matches!(plain.idle(&mut board, later), Ok(None)));
    assert!(matches!(plain.refresh_at_once(&mut board, later), Ok(None)));
    assert!(plain.behind_request(&mut board, later).is_ok());
    let cleaned = plain.clean_map(&mut board, later).expect("nothing is written");
    assert_eq!(board.nand().clock().completion(cleaned), 7_000);
    assert_eq!(plain.changed_entries(), 0);
    assert!(plain.pcm().is_empty() && plain.pcm_mut().is_empty());
}

#[test]
fn a_scheme_that_says_no_more_has_every_page_where_it_was_written() {
    let config = SchemeConfig::<PlainSettings>::default();
    let mut board = Board::new(&config, 1, 0);
    let mut plain = Plain;
    assert_eq!(plain.holder(Ppn(3), Lpn(5)), Lpn(5));
    assert_eq!(plain.unsettled(&board), Unsettled::default());
    assert!(!plain.would_write_alike(&board, Lpn(5)));
    let request = RequestShape { first_lpn: Lpn(5), pages: 1, index: 0, sectors: 4, hint: None };
    let io = PageIo { lpn: Lpn(5), sectors: 15, cause: Cause::Host, data: Tag(1), request };
    assert_eq!(plain.write_alike(&mut board, &io), None);
}

#[test]
fn data_blocks_of_block_maps_have_pages_at_fixed_offsets() {
    let fixed: Vec<&str> = Family::ALL
        .iter()
        .filter(|(family, _)| family.programs_at_fixed_offsets())
        .map(|&(_, name)| name)
        .collect();
    assert_eq!(fixed, ["block", "log_block"]);
}

#[test]
fn a_scheme_sees_the_shared_settings_and_its_own_and_hands_a_part_on() {
    let mut config = SchemeConfig::<PlainSettings>::default();
    config.device.planes = 3;
    config.set("plain.number", "8").expect("its own");
    config.set("gc.idle_factor", "5").expect("shared");
    assert_eq!((config.shared.device.planes, config.device.planes), (3, 3));
    assert_eq!((config.own.number, config.gc.idle_factor), (8, 5));
    let read: Vec<&str> = config.groups().iter().map(|group| group.name()).collect();
    let set: Vec<&str> = config.groups_mut().iter().map(|group| group.name()).collect();
    assert_eq!(read, set);
    assert_eq!(read.last(), Some(&"plain"));
    let part = config.part(|own| &own.number);
    assert_eq!((part.device.planes, part.own), (3, 8));
}
