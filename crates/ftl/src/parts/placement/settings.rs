//! The group `placement`: how many classes of data there are, and what single policies leave open.

use ftlab_flash::settings::Optional;
use ftlab_flash::{choices, settings};

use ftlab_flash::request::CLASSES_MAX;

choices! {
    /// Where the time of a page's last write is kept that only collection asks for.
    pub enum KeptTimes {
        /// In its out-of-band area, read and copied with the page: no memory.
        Oob = "oob",
        /// In a table in DRAM.
        Dram = "dram",
    }
}

choices! {
    /// How `sepbit` knows when the page that is overwritten was written.
    pub enum SepbitWindow {
        /// From a queue of the pages written last, as long as the lifespan that it is held against.
        Fifo = "fifo",
        /// From a table of all pages.
        Exact = "exact",
    }
}

choices! {
    /// Where pages go that are moved out of a reclaim unit.
    pub enum Isolation {
        /// To one class for all handles.
        Initially = "initially",
        /// To their own handle.
        Persistently = "persistently",
    }
}

choices! {
    /// Where pages of initially isolated handles go that are moved.
    pub enum Collection {
        /// To a class of their own.
        Own = "own",
        /// To the last handle.
        LastHandle = "last_handle",
    }
}

settings! {
    /// How data is divided into classes (`gc.placement`).
    pub struct PlacementSettings in "placement" {
        /// Classes of data, each with a write frontier of its own in every plane; auto: as many as
        /// the policy's source has.
        classes: Optional<u32> = Optional(None),
            legal("auto, or 1..=16", |v| v.0.is_none_or(|k| (1..=CLASSES_MAX as u32).contains(&k))),
            source("SepBIT (FAST 2022): 6 classes for every policy");
        /// Reclaim unit handles that hints of the host choose among (hint).
        handles: u32 = 8, legal("1..=15", |v| (1..=15).contains(v)),
            source("NVMe TP 4146; FEMU");
        /// Where pages go that collection moves out of a handle's block (hint).
        isolation: Isolation = Isolation::Initially, legal("", |_| true),
            source("NVMe TP 4146, reclaim unit handle types");
        /// Where that is, where all handles share it (hint, initially).
        collection: Collection = Collection::Own, legal("", |_| true), source("FEMU: last_handle");
        /// Where the last write time of a page is kept that only collection asks for.
        times: KeptTimes = KeptTimes::Oob, legal("", |_| true),
            source("docs/papers/placement.md#times");
        /// How sepbit knows the age of the page that a write supersedes.
        sepbit_window: SepbitWindow = SepbitWindow::Fifo, legal("", |_| true),
            source("SepBIT (FAST 2022), its simulator");
        /// Collected blocks of class 0 over which sepbit takes the mean lifespan.
        sepbit_victims: u32 = 16, legal("1..=65536", |v| (1..=65_536).contains(v)),
            source("SepBIT (FAST 2022), its simulator");
        /// Lifespan in host pages that sepbit goes by; auto: as measured.
        sepbit_lifespan: Optional<u64> = Optional(None), legal("auto, or a number of pages", |_| true),
            source("ftlab: held for tests and studies");
        /// Host pages since a page's last write above which an update does not make it hotter
        /// (dac); 0: every update does.
        dac_max_update_age: u64 = 0, legal("a number of pages", |_| true),
            source("Chiang et al. 1999 have a time per region; the SepBIT simulator has none");
        /// Host pages since a page's last write up to which a move does not make it colder (dac);
        /// 0: every move does.
        dac_min_move_age: u64 = 0, legal("a number of pages", |_| true),
            source("Chiang et al. 1999 have a time per region; the SepBIT simulator has none");
    }
}
