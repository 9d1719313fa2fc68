//! A policy is asked as a page space asks it; what holds of every one.

use super::*;
use crate::future::Future;
use crate::own::{Collected, Maker, OwnPlacement};
use crate::settings::SharedSettings;
use ftlab_flash::request::RequestShape;
use ftlab_flash::settings::{Groups as _, Value as _};

/// A policy that is asked as a page space asks it, with a table of exact times.
pub struct Bench {
    /// Who is asked.
    pub policy: Placement,
    written: Vec<Option<u64>>,
    now: u64,
}

/// Every block apart.
struct Apart;

impl OwnPlacement for Apart {
    fn apart(&self, _: Collected) -> bool {
        true
    }
}

/// Settings with a policy.
pub fn settings(name: &str, pairs: &[(&str, &str)]) -> SharedSettings {
    let mut config = SharedSettings::default();
    for (key, value) in [("gc.placement", name)].iter().chain(pairs) {
        config.set(key, value).expect("legal settings");
    }
    if name == "fk" {
        let mut pass = Future::pass(64);
        (0..1000u32).for_each(|write| pass.written(write * 7 % 31).expect("few"));
        config.future = Some(pass.done());
    }
    if name == "own" {
        config.own.placement = Some(Maker::placement("apart", || Apart));
    }
    config.check().expect("legal together");
    config
}

/// What a policy is built from.
pub fn context(config: &SharedSettings, logical_pages: u32) -> PlacementContext<'_> {
    PlacementContext {
        settings: &config.placement,
        midas: &config.midas,
        classes: config.data_classes(),
        logical_pages,
        blocks: 64,
        segment_pages: 8,
        unit_pages: 8,
        segment_units: 1,
        segments: 64,
        kept_free: 4,
        page_bytes: 4096,
        seed: 1,
        future: config.future.as_ref(),
        own: config.own.placement.as_ref(),
    }
}

impl Bench {
    /// Segments of eight pages.
    pub fn new(name: &str, logical_pages: u32, pairs: &[(&str, &str)]) -> Self {
        Bench::of(name, logical_pages, &settings(name, pairs))
    }

    /// An oracle that knows these writes, which begin now.
    pub fn with_future(logical_pages: u32, writes: &[u32]) -> Self {
        let mut bench = Bench::preparing_for(logical_pages, writes);
        bench.policy.measuring_begins(0);
        bench
    }

    /// The same, before they begin.
    pub fn preparing_for(logical_pages: u32, writes: &[u32]) -> Self {
        let mut config = settings("fk", &[]);
        let mut pass = Future::pass(logical_pages);
        writes.iter().for_each(|&page| pass.written(page).expect("few"));
        config.future = Some(pass.done());
        Bench::of("fk", logical_pages, &config)
    }

    fn of(name: &str, logical_pages: u32, config: &SharedSettings) -> Self {
        let context = context(config, logical_pages);
        let kind = PlacementKind::parse(name).expect("a policy of the table");
        Bench {
            policy: Placement::new(kind, &context).expect("somebody"),
            written: vec![None; logical_pages as usize],
            now: 0,
        }
    }

    /// The class of the next write, which is of this page.
    pub fn write(&mut self, page: u32) -> u8 {
        self.write_with(page, None)
    }

    /// The power is cut: no time is known any more.
    pub fn forget_all(&mut self) {
        self.written.fill(None);
        self.policy.recovers();
    }

    /// The class of the next write, of a page that is there since before a power cut.
    pub fn rewrite_forgotten(&mut self, page: u32) -> u8 {
        let request =
            RequestShape { first_lpn: Lpn(page), pages: 1, index: 0, sectors: 8, hint: None };
        let (lpn, now) = (Lpn(page), self.now);
        self.written[page as usize] = Some(now);
        self.now += 1;
        let living = self.written.iter().flatten().count() as u64;
        self.policy.host(&HostWrite { lpn, now, is_update: true, age: None, living, request })
    }

    /// The same with a hint.
    pub fn write_with(&mut self, page: u32, hint: Option<u8>) -> u8 {
        let request = RequestShape { first_lpn: Lpn(page), pages: 1, index: 0, sectors: 8, hint };
        self.write_of(page, request)
    }

    fn write_of(&mut self, page: u32, request: RequestShape) -> u8 {
        let living = self.written.iter().flatten().count() as u64;
        let last = self.written[page as usize].replace(self.now);
        let (lpn, now, is_update) = (Lpn(page), self.now, last.is_some());
        let age = last.map(|last| now - last);
        self.now += 1;
        self.policy.host(&HostWrite { lpn, now, is_update, age, living, request })
    }

    /// The class of the first page of a request of so many, all of which are written.
    pub fn write_all(&mut self, first: u32, pages: u32) -> u8 {
        let classes: Vec<u8> = (0..pages)
            .map(|index| {
                let request =
                    RequestShape { first_lpn: Lpn(first), pages, index, sectors: 8, hint: None };
                self.write_of(first + index, request)
            })
            .collect();
        classes[0]
    }

    /// Pages written.
    pub fn policy_clock(&self) -> u64 {
        self.now
    }

    /// Others write so many pages.
    pub fn pass(&mut self, pages: u64) {
        self.now += pages;
    }

    /// The class of this page, moved out of a block of class `from`.
    pub fn moved(&mut self, page: u32, from: u8) -> u8 {
        let now = self.now;
        let age = self.written[page as usize].map(|last| now - last);
        self.policy.moved(&MovedPage { lpn: Lpn(page), from, now, age })
    }

    /// A page is trimmed.
    pub fn trim(&mut self, page: u32) {
        self.written[page as usize] = None;
        self.policy.trimmed(Lpn(page));
    }
}

/// A page of this age that leaves a block of a class.
pub fn moved(page: u32, from: u8, age: Option<u64>) -> MovedPage {
    MovedPage { lpn: Lpn(page), from, now: 1_000_000, age }
}

/// A block that was opened and is emptied at these times, half valid.
pub fn victim(class: u8, created: u64, now: u64) -> Victim {
    let created = Some(created);
    Victim {
        block: 1,
        class,
        created,
        now,
        pages_per_block: 8,
        valid: 4,
        erases: 3,
        age: 9,
        is_refreshed: false,
    }
}

/// With any number of classes that can be set no policy names one that there is not, and all
/// keep to one class where there is one.
#[test]
fn no_policy_names_a_class_that_is_not_there() {
    for &(kind, name) in &PlacementKind::ALL[1..] {
        for classes in [1u8, 2, 3, 6, 16] {
            let text = classes.to_string();
            let pairs = match kind.classes(&PlacementSettings::default()) {
                Classes::Set(_) => &[("placement.classes", text.as_str())][..],
                Classes::Fixed(_) => &[],
            };
            let mut bench = Bench::new(name, 32, pairs);
            let most = settings(name, pairs).data_classes();
            for turn in 0u32..2000 {
                let page = turn.wrapping_mul(2_654_435_761) >> 27;
                let from = (page as u8) % most;
                let class = match turn % 7 {
                    5 if kind != PlacementKind::Own => bench.moved(page, from),
                    6 => {
                        let victim = victim(from, u64::from(turn), u64::from(turn) + 9);
                        let goes = bench.policy.victim(&victim);
                        bench.policy.collected(&victim);
                        if turn % 31 == 0 {
                            bench.trim(page);
                        }
                        let Goes::Whole(class) = goes else { continue };
                        class
                    }
                    _ => bench.write(page),
                };
                assert!(class < most, "{name}: class {class} of {most}");
            }
        }
    }
}

#[test]
fn what_a_policy_has_by_nature_cannot_be_set() {
    for (name, classes) in [("sep_gc", "3"), ("none", "2")] {
        let mut config = SharedSettings::default();
        config.set("gc.placement", name).expect("legal");
        config.set("placement.classes", classes).expect("legal");
        let refused = config.check().expect_err("refused").to_string();
        assert!(refused.contains("placement.classes"), "{refused}");
    }
    let mut config = SharedSettings::default();
    config.set("gc.placement", "sepbit").expect("legal");
    config.set("gc.separate_frontiers", "true").expect("legal");
    let refused = config.check().expect_err("refused").to_string();
    assert!(refused.contains("gc.separate_frontiers"), "{refused}");
}

/// 4,000 pages of 4 KiB and 64 blocks, by the section Memory of each policy. Chunks of 1 MiB are
/// 16, of 2 MiB 8. Of `midas`: 2 bits a page, 8 bytes a block, 4 bytes for each of 8,000 units of
/// two pages, 8 for each of 40 pages that are sampled, and 4 bytes a page of a unit and a bit a
/// page.
#[test]
fn every_policy_needs_the_memory_that_its_header_says() {
    let exact = ("placement.sepbit_window", "exact");
    for (name, pairs, bytes) in [
        ("none", &[][..], 0),
        ("sep_gc", &[], 0),
        ("hint", &[], 0),
        ("mida", &[], 0),
        ("own", &[], 0),
        ("auto_mq", &[], 24 * 16),
        ("auto_sfr", &[], 8 * 8),
        ("dac", &[("placement.classes", "8")], 1500),
        ("dac", &[("placement.classes", "9")], 2000),
        ("eti", &[], 8192),
        ("fadac", &[], 16_000),
        ("fk", &[], 32_000),
        ("multilog", &[], 4000),
        ("sepbit", &[], 32_000),
        ("sepbit", &[exact], 0),
        ("sfs", &[], 8 * 4000 + 24 * 65),
        ("warcip", &[], 4 * 4000 + 24 * 6),
        ("midas", &[("midas.sampling", "1")], 1000 + 8 * 64 + 4 * 8000 + 8 * 4000),
        ("midas", &[], 1000 + 8 * 64 + 4 * 8000 + 8 * 40 + 4 * 2 + 500),
    ] {
        let config = settings(name, pairs);
        let kind = config.gc.placement;
        assert_eq!(kind.ram_bytes(&context(&config, 4000)), bytes, "{name} {pairs:?}");
    }
}

/// Who goes by the age of what is overwritten needs a table, who by that of what is moved the time
/// that lies with the page.
#[test]
fn a_policy_knows_the_times_that_it_goes_by() {
    for (name, pairs, times) in [
        ("warcip", &[][..], Times::WhenWritten),
        ("multilog", &[], Times::WhenWritten),
        ("dac", &[], Times::Never),
        ("dac", &[("placement.dac_min_move_age", "9")], Times::WhenMoved),
        ("dac", &[("placement.dac_max_update_age", "9")], Times::WhenWritten),
        ("sepbit", &[], Times::WhenMoved),
        ("sepbit", &[("placement.sepbit_window", "exact")], Times::WhenWritten),
        ("sfs", &[], Times::Never),
        ("sep_gc", &[], Times::Never),
    ] {
        let config = settings(name, pairs);
        let found = config.gc.placement.times(&config.placement);
        assert_eq!(found, times, "{name} {pairs:?}");
    }
}

/// `sfs` and `midas` count what blocks hold, and groups are `midas`'s alone; only lifespans that
/// `sepbit` measures need to know when a victim was opened.
#[test]
fn policies_hear_what_they_ask_for_and_pay_for_nothing_else() {
    let with = |asks: fn(PlacementKind) -> bool| {
        let all = PlacementKind::ALL.iter().filter(|(kind, _)| asks(*kind));
        all.map(|&(_, name)| name).collect::<Vec<&str>>()
    };
    assert_eq!(with(PlacementKind::hears_of_pages), ["sfs", "midas"]);
    assert_eq!(with(PlacementKind::queues_blocks), ["midas"]);
    assert_eq!(with(|kind| kind.asks_when_opened(&PlacementSettings::default())), ["sepbit"]);
    let held = settings("sepbit", &[("placement.sepbit_lifespan", "5")]);
    assert!(!PlacementKind::Sepbit.asks_when_opened(&held.placement), "it is held");
}

/// What a power cut left counts as moved before: class 1. Hints do not outlive it (the first
/// handle), and groups of `midas` begin with one, the last.
#[test]
fn what_a_power_cut_left_counts_as_of_a_class() {
    for &(kind, name) in &PlacementKind::ALL[1..] {
        let expected = match name {
            "hint" => 0,
            "midas" => 15,
            _ => 1,
        };
        assert_eq!(kind.found_class(), expected, "{name}");
    }
}

/// A policy that places victims whole would place a page of one by itself in the same class. What
/// the host writes is class 0 where all of it is alike.
#[test]
fn a_page_by_itself_goes_where_its_whole_block_would() {
    let mut whole = Vec::new();
    for &(kind, name) in &PlacementKind::ALL[1..] {
        let mut bench = Bench::new(name, 64, &[]);
        let classes = settings(name, &[]).data_classes();
        for from in 0..classes {
            let Goes::Whole(class) = bench.policy.victim(&victim(from, 0, 9)) else { continue };
            if from == 0 {
                whole.push(name);
            }
            if kind != PlacementKind::Own {
                assert_eq!(bench.moved(7, from), class, "{name} from {from}");
            }
        }
        if ["sep_gc", "own", "mida"].contains(&name) {
            assert_eq!([1, 1, 2].map(|page| bench.write(page)), [0; 3], "{name}");
        }
    }
    let expected = ["sep_gc", "hint", "auto_mq", "auto_sfr", "eti", "mida", "midas", "own"];
    assert_eq!(whole, expected);
}

/// Only `sepbit` has a lifespan and a queue, and only `midas` groups.
#[test]
fn who_has_no_lifespan_no_queue_and_no_groups_says_so() {
    for &(_, name) in &PlacementKind::ALL[1..] {
        let mut bench = Bench::new(name, 64, &[("placement.sepbit_lifespan", "5")]);
        (0..4).for_each(|page| assert!(bench.write(page) < 16));
        let policy = &bench.policy;
        let is_sepbit = name == "sepbit";
        assert_eq!(policy.lifespan(), is_sepbit.then_some(5), "{name}");
        assert_eq!(policy.window(4), is_sepbit.then_some(4), "{name}");
        assert_eq!(policy.groups().is_some(), name == "midas", "{name}");
        assert_eq!(policy.class_group(0), None, "{name}: no epoch has ended");
    }
}
