use super::*;
use crate::tpftl::nodes::Place;
use ftlab_flash::units::Ppn;
use ftlab_ftl::parts::map_cache::MapCache as _;

/// Without TPFTL's cache it is nothing: its settings are this scheme's too.
#[test]
fn it_stands_on_tpftl() {
    assert_eq!(LearnedFtl::stands_on(&Config::default()), Some("tpftl"));
}

/// Translation page 1 has three pages that are written: two are cached, and one has moved. So
/// memory knows all of it, whatever is cached of page 0.
#[test]
fn a_translation_page_is_known_by_its_own_entries() {
    let mut config = Config::default();
    config.own.learnedftl.map_after_gc = MapAfterGc::Rewrite;
    let board = Board::new(&config, 1, 0);
    let mut cache = cache(&board, &config);
    let entries = cache.entries;
    for lpn in [0, 1, 2, entries, entries + 7] {
        let _ = cache.nodes.insert(Lpn(lpn), Some(Ppn(lpn)), When::START, Place::Asked);
    }
    cache.models.mapped[1] = 3;
    assert!(cache.rewrites && cache.knows_rest(1, 1));
    assert!(!cache.knows_rest(1, 0), "one is missing");
}
