//! What settings that schemes share say together: the limits of each refusal, and what follows from
//! them.

use super::*;
use crate::future::Future;
use crate::own::{Collected, Maker, OwnPlacement, OwnVictim, VictimCandidates};
use ftlab_flash::settings::Bytes;

struct First;

impl OwnVictim for First {
    fn choose(&self, _: &VictimCandidates) -> usize {
        0
    }
}

impl OwnPlacement for First {
    fn apart(&self, _: Collected) -> bool {
        true
    }
}

fn config(pairs: &[(&str, &str)]) -> SharedSettings {
    let mut config = SharedSettings::default();
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal alone"));
    config
}

fn words(checked: Result<(), SettingError>) -> String {
    checked.map_or_else(|error| error.to_string(), |()| String::new())
}

/// What is said of these settings together; empty where nothing is.
fn said(pairs: &[(&str, &str)]) -> String {
    words(config(pairs).check())
}

/// All pairs are legal together, and none of the first ones is without the last.
fn needs(settings: &[&[(&str, &str)]], needed: &[(&str, &str)], refused: &str) {
    for pairs in settings {
        assert_eq!(said(&[pairs, needed].concat()), "");
        let words = said(pairs);
        assert!(words.contains(refused), "{pairs:?}: {words}");
    }
}

#[test]
fn the_groups_that_are_read_are_those_that_are_set() {
    let mut settings = SharedSettings::default();
    let read: Vec<&str> = settings.groups().iter().map(|group| group.name()).collect();
    let set: Vec<&str> = settings.groups_mut().iter().map(|group| group.name()).collect();
    assert_eq!(read, set);
    assert_eq!(read[9..], ["gc", "placement", "midas", "slc", "alloc"]);
    // The board's groups are read and set as if they were here.
    settings.device.planes = 3;
    assert_eq!((settings.board.device.planes, settings.device.planes), (3, 3));
}

#[test]
fn what_the_board_refuses_is_refused() {
    assert!(said(&[("timing.suspend", "erase")]).contains("needs timing.profile = parallel"));
}

#[test]
fn maps_have_what_is_left_of_the_budget_of_memory() {
    let mut settings = config(&[("device.ram_bytes", "1000")]);
    assert_eq!(settings.map_budget(), Some(1000));
    assert_eq!(settings.with_ram_taken(300).map_budget(), Some(700));
    assert_eq!(settings.with_ram_taken(1001).map_budget(), Some(0));
    settings.device.ram_bytes.0 = None;
    assert_eq!(settings.with_ram_taken(300).map_budget(), None);
    settings.device.ram_bytes.0 = Some(Bytes(5));
    assert_eq!(settings.map_budget(), Some(5), "what was taken was another's");
}

#[test]
fn free_blocks_go_by_erases_where_wear_is_levelled_and_only_there() {
    let orders = |policy, wear| said(&[("alloc.policy", policy), ("wear.policy", wear)]);
    for wear in ["implicit", "dynamic", "static"] {
        assert_eq!([orders("min_erase", wear), orders("auto", wear)], [""; 2]);
        let words = orders("fifo", wear);
        let begin = format!("alloc.policy = fifo and wear.policy = {wear} exclude each other");
        assert!(words.starts_with(&begin), "{words}");
    }
    assert_eq!(["fifo", "lifo", "auto"].map(|policy| orders(policy, "none")), [""; 3]);
    assert!(
        orders("min_erase", "none").starts_with("alloc.policy = min_erase and wear.policy = none")
    );
}

#[test]
fn a_policy_of_ones_own_is_there_where_a_setting_says_so() {
    let made = |victim: bool, placement: bool, pairs| {
        let mut config = config(pairs);
        config.own.victim = victim.then(|| Maker::victim("first", || First));
        config.own.placement = placement.then(|| Maker::placement("first", || First));
        words(config.check())
    };
    assert_eq!(made(false, false, &[]), "");
    assert_eq!(made(true, false, &[("gc.victim", "own")]), "");
    assert_eq!(made(false, true, &[("gc.placement", "own")]), "");
    let needs = made(false, false, &[("gc.victim", "own")]);
    assert!(needs.starts_with("gc.victim = own needs a policy, which only a program"), "{needs}");
    assert!(needs.contains("policies={\"victim\": ...}"), "{needs}");
    let unasked = made(false, true, &[]);
    assert!(unasked.starts_with("an own placement policy needs gc.placement = own"), "{unasked}");
}

#[test]
fn the_share_of_garbage_is_not_collected_in_gaps_alone() {
    let modes = |mode, trigger| said(&[("gc.mode", mode), ("gc.trigger", trigger)]);
    assert_eq!(["foreground", "both"].map(|mode| modes(mode, "garbage_share")), ["", ""]);
    assert_eq!(modes("idle", "free_blocks"), "");
    let words = modes("idle", "garbage_share");
    assert!(words.starts_with("gc.trigger = garbage_share and gc.mode = idle exclude each other"));
}

#[test]
fn how_gaps_are_used_is_said_where_they_are() {
    let gaps: [(&str, &str); 1] = [("gc.mode", "idle")];
    needs(
        &[&[("gc.idle_pages", "3")]],
        &gaps,
        "gc.idle_pages = 3 needs gc.mode = idle or both, or data",
    );
    needs(
        &[&[("gc.least_invalid", "0.25")]],
        &gaps,
        "gc.least_invalid = 0.25 needs gc.mode = idle or",
    );
    assert_eq!(said(&[("gc.idle_pages", "3"), ("refresh.days", "1")]), "", "refreshed in pieces");
    assert_eq!(said(&[("gc.idle_pages", "0"), ("gc.least_invalid", "0.5")]), "", "as it is anyway");
}

#[test]
fn pages_are_passed_over_for_copies_of_the_same_parity() {
    let parity =
        [("timing.copyback", "true"), ("timing.copyback_same_parity", "true"), ("gc.mode", "both")];
    let skips = [("gc.skip_for_parity", "true")];
    needs(&[&skips], &parity, "gc.skip_for_parity = true needs timing.copyback = true and");
    let with = |pairs: &[(&str, &str)]| said(&[&skips[..], &parity, pairs].concat());
    let neither =
        "gc.skip_for_parity = true goes neither with lines, nor with an SLC cache, nor with";
    assert!(with(&[("alloc.unit", "line")]).starts_with(neither));
    assert!(
        with(&[("slc.static_blocks", "1"), ("device.bits_per_cell", "2")]).starts_with(neither)
    );
    assert!(with(&[("gc.idle_pages", "1")]).starts_with(neither));
    let of_pages = "gc.skip_for_parity = true is of flash pages";
    assert!(with(&[("device.mapping_unit", "1024")]).starts_with(of_pages));
    assert_eq!(with(&[("device.mapping_unit", "2048")]), "");
}

#[test]
fn a_cache_uses_cells_of_several_bits_and_says_alone_where_pages_go() {
    let cells: [(&str, &str); 1] = [("device.bits_per_cell", "2")];
    let blocks = [("slc.static_blocks", "3")];
    needs(&[&blocks], &cells, "slc.static_blocks = 3 uses cells of several bits with one");
    needs(
        &[&[("slc.dynamic_share", "0.5")]],
        &cells,
        "slc.dynamic_share = 0.5 uses cells of several",
    );
    let with = |pairs: &[(&str, &str)]| said(&[&blocks[..], &cells, pairs].concat());
    let pages = "slc.static_blocks = 3 and gc.placement = sep_gc exclude each other";
    assert!(with(&[("gc.placement", "sep_gc")]).starts_with(pages));
    let garbage = "slc.static_blocks = 3 and gc.trigger = garbage_share exclude each other";
    assert!(with(&[("gc.trigger", "garbage_share")]).starts_with(garbage));
}

#[test]
fn collected_pages_are_apart_by_one_setting() {
    let apart = [("gc.separate_frontiers", "true")];
    assert_eq!([said(&apart), said(&[("gc.placement", "sep_gc")])], [""; 2]);
    let both = said(&[apart[0], ("gc.placement", "sep_gc")]);
    assert!(
        both.starts_with("gc.placement = sep_gc and gc.separate_frontiers = true exclude"),
        "{both}"
    );
}

#[test]
fn victims_by_heat_or_by_the_hosts_clock_need_who_knows_them() {
    let hot: [(&str, &str); 1] = [("gc.placement", "sfs")];
    needs(
        &[&[("gc.victim", "cost_hotness")]],
        &hot,
        "cost_hotness needs gc.placement = sfs, not none",
    );
    let clock: [(&str, &str); 1] = [("gc.placement", "sep_gc")];
    needs(
        &[&[("gc.victim", "cost_benefit_host")]],
        &clock,
        "cost_benefit_host needs a gc.placement",
    );
    assert_eq!(said(&hot), "", "with other victims as well");
}

#[test]
fn an_oracle_needs_the_future() {
    let mut oracle = config(&[("gc.placement", "fk")]);
    assert!(
        words(oracle.check()).starts_with("gc.placement = fk needs the future of the workload")
    );
    oracle.future = Some(Future::pass(4).done());
    assert_eq!(words(oracle.check()), "");
}

#[test]
fn groups_of_blocks_are_collected_by_their_sizes_and_not_by_garbage() {
    let groups = [("gc.placement", "midas")];
    assert_eq!(said(&groups), "");
    let both = said(&[groups[0], ("gc.trigger", "garbage_share")]);
    assert!(
        both.starts_with("gc.trigger = garbage_share and gc.placement = midas exclude each"),
        "{both}"
    );
    assert_eq!(said(&[("gc.placement", "sep_gc"), ("gc.trigger", "garbage_share")]), "");
    let late = said(&[("midas.check_from", "0.75"), ("midas.check_until", "0.5")]);
    assert!(
        late.starts_with("midas.check_from = 0.75 is later than midas.check_until = 0.5"),
        "{late}"
    );
}

#[test]
fn a_policy_with_classes_of_its_own_has_no_others() {
    let classes = |placement, set| {
        let config = config(&[("gc.placement", placement), ("placement.classes", set)]);
        (words(config.check()), config.data_classes(), config.data_streams(), config.frontiers())
    };
    assert_eq!(classes("none", "auto"), (String::new(), 1, 2, 3));
    assert_eq!(classes("eti", "3"), (String::new(), 3, 3, 4));
    let others = classes("eti", "4").0;
    assert!(others.starts_with("placement.classes = 4 and gc.placement = eti exclude each other"));
    assert!(others.contains("which has 3; legal:"), "{others}");
    assert_eq!(classes("dac", "auto"), (String::new(), 6, 6, 7));
    assert_eq!(classes("dac", "4"), (String::new(), 4, 4, 5));
}

/// Threshold, frontiers and a spare one, and what the cache has for itself.
#[test]
fn blocks_beside_data_are_those_of_collection_of_frontiers_and_of_the_cache() {
    let beside = |pairs, threshold| config(pairs).blocks_beside_data(threshold);
    assert_eq!(beside(&[], 5), 5 + 3 + 1);
    assert_eq!([beside(&[], 64), beside(&[], 1000)], [64 + 3 + 1; 2], "more is not kept");
    assert_eq!(beside(&[("slc.static_blocks", "10")], 5), 5 + 4 + 1 + 10);
    assert_eq!(beside(&[("slc.dynamic_share", "0.5")], 5), 5 + 4 + 1);
}

#[test]
fn parity_and_refreshing_repair_in_gaps() {
    let repairs = |pairs| config(pairs).repairs();
    assert!(!repairs(&[]));
    assert!(repairs(&[("rain.stripe", "2")]) && repairs(&[("refresh.reads", "5")]));
    assert!(!repairs(&[("refresh.reads", "5"), ("refresh.moves", "false")]));
}

#[test]
fn times_of_pages_are_in_memory_where_the_policy_or_a_setting_says_so() {
    let kept = |pairs: &[_]| config(pairs).keeps_times();
    assert!(!kept(&[]), "nobody asks");
    assert!(kept(&[("gc.placement", "multilog")]), "asked as the host writes");
    let moved = [
        ("gc.placement", "dac"),
        ("placement.dac_max_update_age", "0"),
        ("placement.dac_min_move_age", "9"),
    ];
    assert!(!kept(&[&moved[..], &[("placement.times", "oob")]].concat()));
    assert!(kept(&[&moved[..], &[("placement.times", "dram")]].concat()));
}

/// Schemes that have their own rules refuse what others obey, each for itself.
#[test]
fn schemes_with_rules_of_their_own_refuse_what_goes_by_others() {
    type Asks = fn(&SharedSettings, &str) -> Result<(), SettingError>;
    type Case<'a> = (Asks, &'a [(&'a str, &'a str)], &'a str);
    let asked: [Case<'_>; 6] = [
        (
            SharedSettings::check_no_lines,
            &[("alloc.unit", "line")],
            "alloc.unit = line does not go",
        ),
        (
            SharedSettings::check_no_slc,
            &[("slc.static_blocks", "7")],
            "slc.static_blocks = 7 and slc.dynamic_share = 0 ask for an SLC cache, and bast has none",
        ),
        (
            SharedSettings::check_no_slc,
            &[("slc.dynamic_share", "0.5")],
            "slc.static_blocks = 0 and slc.dynamic_share = 0.5 ask for an SLC cache, and bast has",
        ),
        (
            SharedSettings::check_no_refresh,
            &[("refresh.reads", "6")],
            "refresh.reads = 6 and refresh.days = 0 do not go with bast",
        ),
        (
            SharedSettings::check_no_garbage_share,
            &[("gc.trigger", "garbage_share")],
            "gc.trigger = garbage_share does not go with bast",
        ),
        (
            SharedSettings::check_no_placement,
            &[("gc.placement", "sep_gc")],
            "gc.placement = sep_gc does not go with bast",
        ),
    ];
    for (asks, pairs, refused) in asked {
        assert_eq!(words(asks(&config(&[]), "bast")), "");
        let words = words(asks(&config(pairs), "bast"));
        assert!(words.starts_with(refused), "{words}");
    }
}

#[test]
fn the_victim_policy_is_the_one_that_is_set() {
    let victims = |name| config(&[("gc.victim", name)]).victims(PlaneId(0), 0..8, 4);
    assert!(victims("greedy").name_the_emptiest());
    assert!(!victims("fifo").name_the_emptiest());
}
