//! What is in memory: maps, fingerprints, which pages were not hashed, what the journal must hold.

use super::settings::Config;
use super::sizes::{fingerprints, shape};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Lpn, PlaneId, Ppn};
use ftlab_ftl::parts::marks::Marks;
use ftlab_ftl::parts::page_mapped::PageTable;
use ftlab_ftl::parts::page_owners::PageOwners;
use ftlab_ftl::parts::page_space::{Moved, PageSpace};
use ftlab_ftl::parts::sharing_journal::{Said, SharingJournal, Truth};
use ftlab_ftl::parts::values::Values;
use ftlab_ftl::parts::virtual_pages::VirtualPages;

/// All of it. The lists of owners are the simulator's: the drive knows of a page with a number how
/// many have it, and of any other its owner, which is in its fingerprint and in its out-of-band
/// area.
#[derive(Clone)]
pub(super) struct Table {
    pub owners: PageOwners,
    pub virtuals: VirtualPages,
    pub values: Values,
    pub unhashed: Unhashed,
    pub journal: SharingJournal,
    /// The last program before the change of the map that comes next.
    pub now: u64,
    /// Entries that collection changed, their accesses to DRAM not yet made.
    changed: u32,
}

impl Table {
    /// Nothing is anywhere.
    pub fn new(board: &Board, config: &Config) -> Self {
        let geometry = board.geometry();
        let owners = PageOwners::new(geometry.logical_pages, geometry.pages());
        Self::of(board, config, owners, SharingJournal::new(shape(config)))
    }

    /// With this map, of which nothing is hashed and nothing has a number yet.
    pub fn of(board: &Board, config: &Config, owners: PageOwners, journal: SharingJournal) -> Self {
        let pages = board.geometry().pages();
        let most = config.own.references as u8;
        Table {
            owners,
            virtuals: VirtualPages::new(shape(config).numbers, most, pages),
            values: fingerprints_kept(config),
            unhashed: Unhashed { marks: Marks::new(pages), count: 0 },
            journal,
            now: 0,
            changed: 0,
        }
    }

    /// A page that another logical page is about to join has a number, or gets one; false where
    /// none is left.
    pub fn gets_number(&mut self, ppn: Ppn) -> bool {
        if self.virtuals.of(ppn).is_some() {
            return true;
        }
        let Some(number) = self.virtuals.add(ppn) else { return false };
        let owner = self.owners.first(ppn).expect("a valid page without a number has an owner");
        self.journal.names(number, ppn, self.now);
        self.journal.says(owner, Said::Number(number), self.now);
        true
    }

    /// The next stuck page that nobody has, its references counted.
    pub fn recount(&mut self, from: u32) -> Option<(u32, Ppn)> {
        let Table { owners, virtuals, unhashed, .. } = self;
        let freed = virtuals.recount(from, |ppn| owners.all(ppn).count() as u64);
        if let Some((_, ppn)) = freed {
            unhashed.remove(ppn);
        }
        freed
    }

    /// Writes what the journal does not hold yet.
    pub fn write_journal(
        &mut self,
        to: (&mut PageSpace, &mut Board),
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        let Table { owners, virtuals, journal, .. } = self;
        let done = journal.write(to, plane, &Maps { owners, virtuals }, after)?;
        self.virtuals.rested();
        Ok(done)
    }

    /// Whether maps, counts and flash agree.
    pub fn check(&self, board: &Board) -> Result<(), String> {
        let Table { owners, virtuals, values, unhashed, .. } = self;
        values.check(board)?;
        if let Some((tag, ppn)) = values.all().find(|(_, ppn)| unhashed.marks.holds(ppn.0)) {
            return Err(format!("page {ppn} holds value {tag}, and is said not to be hashed"));
        }
        for (number, ppn) in virtuals.all() {
            let (told, count) = (virtuals.references(number), owners.all(ppn).count() as u64);
            if told != count && !virtuals.is_stuck(number) {
                return Err(format!("number {number} counts {told} references, and has {count}"));
            }
            if !board.nand().state().is_valid(ppn) {
                return Err(format!("number {number} has page {ppn}, which is not valid"));
            }
        }
        let shared = |lpn: &u32| owners.page(Lpn(*lpn)).is_some_and(|ppn| owners.is_shared(ppn));
        let without = (0..board.geometry().logical_pages)
            .filter(shared)
            .find(|&lpn| owners.page(Lpn(lpn)).is_some_and(|ppn| virtuals.of(ppn).is_none()));
        match without {
            Some(lpn) => Err(format!("page {lpn} lies on a shared page that has no number")),
            None => Ok(()),
        }
    }
}

fn fingerprints_kept(config: &Config) -> Values {
    let all = fingerprints(config);
    Values::keeping(all, (f64::from(all) * config.own.store_hot) as u32)
}

/// Both maps, for the journal.
struct Maps<'a> {
    owners: &'a PageOwners,
    virtuals: &'a VirtualPages,
}

impl Truth for Maps<'_> {
    fn said(&self, lpn: Lpn) -> Said {
        match self.owners.page(lpn) {
            None => Said::Nowhere,
            Some(ppn) => self.virtuals.of(ppn).map_or(Said::AsWritten, Said::Number),
        }
    }

    fn page(&self, number: u32) -> Option<Ppn> {
        self.virtuals.page(number)
    }
}

impl PageTable for Table {
    const SHARES: bool = true;
    const RECORDS_TRIMS: bool = true;
    const RECORDS: u32 = 1;

    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        self.owners.page(lpn)
    }

    fn left_alone(&self, lpn: Lpn) -> Option<Ppn> {
        let ppn = self.owners.left_alone(lpn)?;
        let is_stuck = self.virtuals.of(ppn).is_some_and(|number| self.virtuals.is_stuck(number));
        (!is_stuck).then_some(ppn)
    }

    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        let Table { owners, virtuals, unhashed, journal, .. } = self;
        if let Some(old) = owners.page(lpn) {
            let is_last = owners.left_alone(lpn).is_some();
            let is_free = match virtuals.of(old) {
                Some(number) => virtuals.left(number, is_last),
                None => is_last,
            };
            if is_free {
                unhashed.remove(old);
            }
        }
        let had_nobody = ppn.is_some_and(|ppn| owners.first(ppn).is_none());
        owners.change(lpn, ppn);
        match ppn {
            None => journal.says(lpn, Said::Nowhere, self.now),
            Some(ppn) => {
                if let Some(number) = virtuals.of(ppn) {
                    virtuals.joined(number, had_nobody);
                    journal.says(lpn, Said::Number(number), self.now);
                }
            }
        }
    }

    /// One entry changes: of the secondary map where the page has a number, else of the primary.
    fn moved(&mut self, board: &mut Board, page: Moved) {
        let Moved { old, new, .. } = page;
        self.changed += 1;
        self.owners.moved(old, new);
        self.virtuals.moved(old, new);
        self.unhashed.moved(old, new);
        self.values.page_moved(board, (old, new));
    }

    fn settle(&mut self, board: &mut Board, after: When) -> When {
        board.dram(std::mem::take(&mut self.changed), after)
    }

    fn is_unrecorded(&self) -> bool {
        self.journal.has_changes()
    }

    /// What changed since the journal was written last is as it was before, after a power cut: what
    /// it was must be there.
    fn record(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        if !self.is_unrecorded() {
            return Ok(after);
        }
        let plane = space.victims_plane(board).expect("a victim is to be erased");
        self.write_journal((space, board), plane, after)
    }

    fn new_name(&self, old: Ppn, name: (PageKind, u32)) -> Option<(PageKind, u32)> {
        let number = self.virtuals.of(old)?;
        Some((PageKind::Log, number)).filter(|&new| new != name)
    }

    fn renames(&self) -> bool {
        self.virtuals.in_use() > 0
    }

    fn record_moved(&mut self, page: Moved) {
        self.journal.moved(page);
    }
}

/// Valid pages that were not hashed.
#[derive(Clone)]
pub(super) struct Unhashed {
    marks: Marks,
    count: u64,
}

impl Unhashed {
    pub fn len(&self) -> u64 {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn insert(&mut self, ppn: Ppn) {
        self.count += u64::from(!self.marks.holds(ppn.0));
        self.marks.insert(ppn.0);
    }

    pub fn remove(&mut self, ppn: Ppn) {
        self.count -= u64::from(self.marks.holds(ppn.0));
        self.marks.remove(ppn.0);
    }

    fn moved(&mut self, old: Ppn, new: Ppn) {
        if self.marks.holds(old.0) {
            self.remove(old);
            self.insert(new);
        }
    }

    /// The first that does not lie before a page.
    pub fn next(&self, from: Ppn) -> Option<Ppn> {
        self.marks.next(from.0).map(Ppn)
    }
}
