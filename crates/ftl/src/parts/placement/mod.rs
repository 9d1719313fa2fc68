//! Which frontier takes a page, so that pages that die together lie together. One file per policy,
//! one row in the table below.
//!
//! A policy answers with a class of data; every class has a frontier of its own in every plane. It
//! is asked for each page that the host writes and for each victim, or for each of its pages; it
//! may listen to which block a page was programmed to (`placed`) and which block takes no more
//! (`closed`). What it knows of time is how many pages the host has written. What this is not: the
//! choice of victims, which is made over the blocks of all classes (`gc.victim`).

mod auto_mq;
mod auto_sfr;
mod dac;
mod eti;
mod fadac;
mod fk;
mod hint;
mod mida;
pub mod midas;
mod multilog;
mod own;
mod policy;
mod sep_gc;
mod sepbit;
pub mod settings;
mod sfs;
mod warcip;

pub use policy::{
    Classes, Goes, HostWrite, ModelSays, MovedPage, PlacementContext, PlacementPolicy, Regrouped,
    Times, Victim,
};

use crate::parts::victim::{Census, Heat};
use ftlab_flash::meter::ClassGroup;
pub use ftlab_flash::request::CLASSES_MAX;
use ftlab_flash::units::{BlockId, Lpn};
use midas::Groups;
use settings::PlacementSettings;

macro_rules! placement_table {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal => $type:ty, )*) => {
        ftlab_flash::choices! {
            /// The placement policies.
            pub enum PlacementKind {
                /// One class: host writes and moved pages share a frontier, unless
                /// gc.separate_frontiers.
                None = "none",
                $( $(#[$doc])* $variant = $name, )*
            }
        }

        impl PlacementKind {
            /// How many classes it has, unless `placement.classes` says so.
            pub fn classes(self, settings: &PlacementSettings) -> Classes {
                match self {
                    PlacementKind::None => Classes::Fixed(1),
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::classes(settings), )*
                }
            }

            /// What it must know of times.
            pub fn times(self, settings: &PlacementSettings) -> Times {
                match self {
                    PlacementKind::None => Times::Never,
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::times(settings), )*
                }
            }

            /// Whether it asks when a victim was opened.
            pub fn asks_when_opened(self, settings: &PlacementSettings) -> bool {
                match self {
                    PlacementKind::None => false,
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::asks_when_opened(settings), )*
                }
            }

            /// Which class a block counts as that was found after a power cut, at most the last.
            pub fn found_class(self) -> u8 {
                match self {
                    PlacementKind::None => 0,
                    $( PlacementKind::$variant => <$type as PlacementPolicy>::found_class(), )*
                }
            }

            /// Whether it hears which block a page was programmed to.
            pub fn hears_of_pages(self) -> bool {
                match self {
                    PlacementKind::None => false,
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::hears_of_pages(), )*
                }
            }

            /// Whether blocks of its groups wait in queues.
            pub fn queues_blocks(self) -> bool {
                match self {
                    PlacementKind::None => false,
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::queues_blocks(), )*
                }
            }

            /// Bytes of what it remembers, beside the table of times.
            pub fn ram_bytes(self, context: &PlacementContext<'_>) -> u64 {
                match self {
                    PlacementKind::None => 0,
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::ram_bytes(context), )*
                }
            }
        }

        /// One policy at work on a device.
        #[derive(Clone, Debug)]
        pub enum Placement { $( $(#[$doc])* $variant($type), )* }

        impl Placement {
            /// The policy of that name; `none` is nobody.
            pub fn new(kind: PlacementKind, context: &PlacementContext<'_>) -> Option<Self> {
                match kind {
                    PlacementKind::None => None,
                    $( PlacementKind::$variant => Some(
                        Placement::$variant(<$type as PlacementPolicy>::new(context))), )*
                }
            }

            /// The class of a page that the host writes.
            pub fn host(&mut self, write: &HostWrite) -> u8 {
                match self { $( Placement::$variant(policy) => policy.host(write), )* }
            }

            /// Where the pages of a victim go.
            pub fn victim(&mut self, victim: &Victim) -> Goes {
                match self { $( Placement::$variant(policy) => policy.victim(victim), )* }
            }

            /// The class of a page that moves by itself.
            pub fn moved(&mut self, page: &MovedPage) -> u8 {
                match self { $( Placement::$variant(policy) => policy.moved(page), )* }
            }

            /// A page was trimmed.
            pub fn trimmed(&mut self, lpn: Lpn) {
                match self { $( Placement::$variant(policy) => policy.trimmed(lpn), )* }
            }

            /// A victim is empty.
            pub fn collected(&mut self, victim: &Victim) {
                match self { $( Placement::$variant(policy) => policy.collected(victim), )* }
            }

            /// A power cut took what it knew.
            pub fn recovers(&mut self) {
                match self { $( Placement::$variant(policy) => policy.recovers(), )* }
            }

            /// A page was programmed to a block.
            pub fn placed(&mut self, lpn: Lpn, block: BlockId) {
                match self { $( Placement::$variant(policy) => policy.placed(lpn, block), )* }
            }

            /// A block was opened for a class.
            pub fn opened(&mut self, block: BlockId, class: u8) {
                match self { $( Placement::$variant(policy) => policy.opened(block, class), )* }
            }

            /// A full block counts as of another class from now on.
            pub fn reclassed(&mut self, block: BlockId, class: u8) {
                match self { $( Placement::$variant(policy) => policy.reclassed(block, class), )* }
            }

            /// Its groups, where it queues blocks.
            pub fn groups(&self) -> Option<&Groups> {
                match self { $( Placement::$variant(policy) => policy.groups(), )* }
            }

            /// What changed of them since this was asked last.
            pub fn regrouped(&mut self) -> Option<Regrouped> {
                match self { $( Placement::$variant(policy) => policy.regrouped(), )* }
            }

            /// A block goes to the next group as it is.
            pub fn handed_on(&mut self, block: BlockId, class: u8, pages: u32) {
                match self {
                    $( Placement::$variant(policy) => policy.handed_on(block, class, pages), )*
                }
            }

            /// A block holds nothing any more.
            pub fn released(&mut self, block: BlockId) {
                match self { $( Placement::$variant(policy) => policy.released(block), )* }
            }

            /// Levelling moved what was in a block to another one.
            pub fn inherits(&mut self, from: BlockId, to: BlockId) {
                match self { $( Placement::$variant(policy) => policy.inherits(from, to), )* }
            }

            /// What its model says.
            pub fn model_says(&self) -> ModelSays {
                match self { $( Placement::$variant(policy) => policy.model_says(), )* }
            }

            /// What the group of a class was in the last epoch, where it was one.
            pub fn class_group(&self, class: u8) -> Option<ClassGroup> {
                match self { $( Placement::$variant(policy) => policy.class_group(class), )* }
            }

            /// A block takes no more pages.
            pub fn closed(&mut self, block: BlockId) {
                match self { $( Placement::$variant(policy) => policy.closed(block), )* }
            }

            /// How hot the valid pages of a block are, where the policy knows of hotness.
            pub fn heat(&self, block: BlockId, now: u64) -> Option<Heat> {
                match self { $( Placement::$variant(policy) => policy.heat(block, now), )* }
            }

            /// Whether what it counts of blocks is what flash holds.
            pub fn check(&self, known: &Census<'_>, living: u64) -> Result<(), String> {
                match self { $( Placement::$variant(policy) => policy.check(known, living), )* }
            }

            /// What came before was preparation.
            pub fn measuring_begins(&mut self, now: u64) {
                match self { $( Placement::$variant(policy) => policy.measuring_begins(now), )* }
            }

            /// Entries of its queue of written pages, where it keeps one.
            pub fn window(&self, now: u64) -> Option<u64> {
                match self { $( Placement::$variant(policy) => policy.window(now), )* }
            }

            /// The time that the policy goes by now, where it has one.
            pub fn lifespan(&self) -> Option<u64> {
                match self { $( Placement::$variant(policy) => policy.lifespan(), )* }
            }
        }
    };
}

placement_table! {
    /// What the host writes, and what is moved.
    SepGc = "sep_gc" => sep_gc::SepGc,
    /// By the hint of the host: reclaim unit handles.
    Hint = "hint" => hint::Hint,
    /// By region: one hotter with every update, one colder with every move.
    Dac = "dac" => dac::Dac,
    /// By the time that a page lived before it was overwritten, or has lived when it is moved.
    Sepbit = "sepbit" => sepbit::Sepbit,
    /// By the time that a page has left to live, as a first pass over the workload knows it: an
    /// oracle.
    Fk = "fk" => fk::Fk,
    /// By hotness: writes over age, in the groups that blocks fall into.
    Sfs = "sfs" => sfs::Sfs,
    /// By levels: rewritten sooner than expected one hotter, moved one colder.
    Multilog = "multilog" => multilog::Multilog,
    /// By a count of writes that moves bring down.
    Fadac = "fadac" => fadac::Fadac,
    /// By clusters of the intervals between rewrites.
    Warcip = "warcip" => warcip::Warcip,
    /// By frequency and recency of chunks of addresses, in queues.
    AutoMq = "auto_mq" => auto_mq::AutoMq,
    /// By sequentiality, frequency and recency of chunks of addresses.
    AutoSfr = "auto_sfr" => auto_sfr::AutoSfr,
    /// By counts of extents that are written alike.
    Eti = "eti" => eti::Eti,
    /// A chain of groups: a page goes one further with every move.
    Mida = "mida" => mida::Mida,
    /// A chain of groups whose number and sizes a model finds; it also chooses victims.
    Midas = "midas" => midas::Midas,
    /// As a program says that uses ftlab as a library.
    Own = "own" => own::Own,
}

#[cfg(test)]
mod tests {
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

    fn settings(name: &str, pairs: &[(&str, &str)]) -> SharedSettings {
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
            let context = PlacementContext {
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
            };
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
            let request =
                RequestShape { first_lpn: Lpn(page), pages: 1, index: 0, sectors: 8, hint };
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
                    let request = RequestShape {
                        first_lpn: Lpn(first),
                        pages,
                        index,
                        sectors: 8,
                        hint: None,
                    };
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
}
