//! Rebuilding a map that lives in translation pages after a power cut.
//!
//! Two ways: `replay` trusts flash alone (checkpoint, translation pages, and the out-of-band areas
//! of blocks programmed since the checkpoint); `from_directory` trusts a directory, and perhaps
//! cached entries, that survived in non-volatile memory, or a copy of the directory on flash and
//! the map blocks programmed since (`from_copy`). All end by reading every translation page once,
//! because the marks of valid pages have to be made anew.

use std::collections::BTreeMap;

use crate::parts::cached_map::CachedMap;
use crate::parts::checkpoint::Restored;
use crate::parts::map_cache::MapCache;
use crate::parts::oob_scan::{self, Extent};
use crate::parts::translation::Translation;
use crate::parts::trim_records::{RecordedTrims, TrimRecords};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{Oob, OobRead, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::choices;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{BlockId, Lpn, Ppn, pack, unpack};

choices! {
    /// What survives a power cut.
    pub enum Consistency {
        /// The directory, in non-volatile memory; changed entries are lost.
        Gtd = "gtd",
        /// Nothing; flash tells everything.
        Replay = "replay",
        /// Directory and cached entries.
        Battery = "battery",
    }
}

/// What outlives a power cut.
#[derive(Clone, Debug)]
pub enum Survivor {
    /// Nothing but the flash.
    Nothing,
    /// The directory; so many changed entries are lost.
    Gtd {
        /// The directory.
        gtd: Vec<u32>,
        /// Changed entries that only memory held.
        lost: u64,
    },
    /// Where the newest copy of the directory lies on flash.
    GtdCopy {
        /// Its pages.
        pages: Vec<Ppn>,
        /// Changed entries that only memory held.
        lost: u64,
    },
    /// The directory and the changed entries.
    GtdAndCmt {
        /// The directory, with what memory keeps beside it.
        translation: Translation,
        /// The changed entries.
        cached: Entries,
    },
}

impl Survivor {
    /// What is left of a map when the power goes; under `gtd` with `copied` that is a copy of the
    /// directory on flash.
    pub fn of(consistency: Consistency, copied: bool, map: &CachedMap<impl MapCache>) -> Self {
        // An entry may have changed in memory since its page went astray.
        let astray = || map.translation.astray_pages().filter(|&lpn| !map.cache.is_dirty(lpn));
        let lost = || (map.cache.changed().count() + astray().count()) as u64;
        let gtd = || map.translation.gtd().to_vec();
        match consistency {
            Consistency::Replay => Survivor::Nothing,
            Consistency::Gtd if copied => {
                Survivor::GtdCopy { pages: map.checkpoints.newest_pages(), lost: lost() }
            }
            Consistency::Gtd => Survivor::Gtd { gtd: gtd(), lost: lost() },
            Consistency::Battery => Survivor::GtdAndCmt {
                translation: map.translation.clone(),
                cached: map.cache.changed().collect(),
            },
        }
    }

    /// Changed entries that are lost with the power.
    pub fn lost_entries(&self) -> u64 {
        match self {
            Survivor::Gtd { lost, .. } | Survivor::GtdCopy { lost, .. } => *lost,
            Survivor::Nothing | Survivor::GtdAndCmt { .. } => 0,
        }
    }

    /// Finds the map again with the help of what survived.
    pub fn find_map(self, board: &mut Board, after: When) -> Result<FoundMap, Fault> {
        match self {
            Survivor::Nothing => replay(board, after),
            Survivor::Gtd { gtd, .. } => {
                let (_, when) = block_ages(board, after)?;
                let translation = Translation::from_gtd(board.geometry(), gtd);
                from_directory(board, translation, None, Restored::default(), when)
            }
            Survivor::GtdCopy { pages, .. } => from_copy(board, pages, after),
            Survivor::GtdAndCmt { translation, cached } => {
                let (_, when) = block_ages(board, after)?;
                from_directory(board, translation, Some(cached), Restored::default(), when)
            }
        }
    }
}

/// Map entries: logical page, and physical page or nowhere.
pub type Entries = Vec<(Lpn, Option<Ppn>)>;

/// A map as found after a power cut.
pub struct FoundMap {
    /// Directory and translation pages, marked valid.
    pub translation: Translation,
    /// Entries that differ from their translation page.
    pub changed: Entries,
    /// Trims that had been flushed.
    pub trims: TrimRecords,
    /// The checkpoint that was used.
    pub checkpoint: Restored,
    /// When reading was over.
    pub when: When,
}

/// What a scan of the map blocks found, newest first by sequence.
#[derive(Default)]
struct MapPages {
    newest_part: BTreeMap<u32, (u64, Ppn)>,
    newest_record: BTreeMap<u32, (u64, Ppn)>,
    checkpoint: Vec<(Ppn, Oob)>,
}

impl MapPages {
    fn add(&mut self, ppn: Ppn, oob: Oob) {
        let list = match oob.kind {
            PageKind::Map => &mut self.newest_part,
            PageKind::TrimRecord => &mut self.newest_record,
            PageKind::Checkpoint => return self.checkpoint.push((ppn, oob)),
            PageKind::Data | PageKind::Log | PageKind::Pad | PageKind::Parity => return,
        };
        let held = list.entry(oob.logical).or_insert((0, ppn));
        if oob.sequence > held.0 {
            *held = (oob.sequence, ppn);
        }
    }
}

/// What the first pages of all blocks say.
struct BlockAges {
    /// Blocks with map pages, with the sequence number of the first; the highest there is where
    /// the first page tells nothing.
    map: Vec<(BlockId, u64)>,
    /// Data blocks with the sequence number of their first page.
    data: Vec<(BlockId, u64)>,
    /// Per block: whether what lies in it is known page by page (scanned, or erased).
    known: Vec<bool>,
}

fn block_ages(board: &mut Board, after: When) -> Result<(BlockAges, When), Fault> {
    let blocks = board.geometry().blocks();
    let mut ages =
        BlockAges { map: Vec::new(), data: Vec::new(), known: vec![false; blocks as usize] };
    let mut done = after;
    for block in (0..blocks).map(BlockId) {
        let (read, oob) = oob_scan::first_page(board, block, after)?;
        done = done.join(read);
        match oob {
            OobRead::Free => ages.known[block.index()] = true,
            OobRead::Written(oob) if oob.kind.is_host_data() => {
                ages.data.push((block, oob.sequence));
            }
            OobRead::Written(oob) => ages.map.push((block, oob.sequence)),
            OobRead::Torn => ages.map.push((block, u64::MAX)),
        }
    }
    Ok((ages, done))
}

/// Recovers from flash alone.
fn replay(board: &mut Board, after: When) -> Result<FoundMap, Fault> {
    // Step 1: the first page of every block tells its kind and age.
    let (mut ages, mut when) = block_ages(board, after)?;
    // Step 2: the map blocks; of every translation page and trim record the newest counts. A block
    // whose first page is torn may hold data too.
    let mut maps = MapPages::default();
    let mut since: BTreeMap<Lpn, (u64, Ppn)> = BTreeMap::new();
    let mut torn_first: Vec<(Ppn, Oob)> = Vec::new();
    for &(block, _) in &ages.map {
        when = oob_scan::block(board, block, Extent::Ascending, when, |ppn, oob| {
            maps.add(ppn, oob);
            if oob.kind.is_host_data() {
                torn_first.push((ppn, oob));
            }
        })?;
        ages.known[block.index()] = true;
    }
    // Step 3: the newest complete checkpoint, read page by page.
    let checkpoint = Restored::newest(board.nand(), &maps.checkpoint);
    for &page in &checkpoint.pages {
        (when, _) = board.read(page, Cause::Recover, when)?;
        board.nand_mut().revalidate(page);
    }
    // Step 4: data blocks programmed since the checkpoint; of every page the newest counts.
    let mut add = |ppn: Ppn, oob: Oob| {
        // Pads lie among data.
        if oob.kind.is_host_data() && oob.sequence > checkpoint.sequence {
            let held = since.entry(Lpn(oob.logical)).or_insert((0, ppn));
            if oob.sequence > held.0 {
                *held = (oob.sequence, ppn);
            }
        }
    };
    torn_first.iter().for_each(|&(ppn, oob)| add(ppn, oob));
    for &(block, sequence) in &ages.data {
        if sequence > checkpoint.sequence || checkpoint.open.contains(&block) {
            when = oob_scan::block(board, block, Extent::Ascending, when, &mut add)?;
            ages.known[block.index()] = true;
        }
    }
    // Step 5: flushed trims.
    let records: Vec<(u32, Ppn)> =
        maps.newest_record.iter().map(|(&segment, &(_, ppn))| (segment, ppn)).collect();
    let (trims, recorded, when) = TrimRecords::recover(board, &records, when)?;
    // Step 6: what the map on flash does not say yet: the checkpoint's entries, then what was
    // programmed since.
    let judge = Judge {
        known: &ages.known,
        trims: &trims,
        recorded: &recorded,
        checkpoint: checkpoint.sequence,
    };
    let mut changed: BTreeMap<Lpn, Option<Ppn>> = BTreeMap::new();
    for pair in checkpoint.words.chunks_exact(2) {
        let (lpn, ppn) = (Lpn(pair[0]), unpack(pair[1]).map(Ppn));
        changed.insert(lpn, ppn.filter(|&ppn| judge.holds(board, lpn, ppn)));
    }
    for (&lpn, &(sequence, ppn)) in &since {
        let alive = !trims.is_dead(&recorded, lpn, sequence);
        changed.insert(lpn, alive.then_some(ppn));
    }
    let mut gtd = vec![0; Translation::pages(board.geometry()) as usize];
    for (&part, &(_, ppn)) in &maps.newest_part {
        gtd[part as usize] = pack(Some(ppn.0));
    }
    let translation = Translation::from_gtd(board.geometry(), gtd);
    let (changed, when) = read_map(
        board,
        &translation,
        changed,
        |board, lpn, ppn| judge.holds(board, lpn, ppn),
        when,
    )?;
    Ok(FoundMap { translation, changed, trims, checkpoint, when })
}

/// Whether an entry of the map or of a checkpoint still tells the truth.
struct Judge<'a> {
    known: &'a [bool],
    trims: &'a TrimRecords,
    recorded: &'a RecordedTrims,
    checkpoint: u64,
}

impl Judge<'_> {
    /// A trim that was not flushed may leave an entry whose page was erased since; the block was
    /// scanned then, or is erased. Pages elsewhere are older than the checkpoint and undisturbed; a
    /// trim flushed after the checkpoint hides them.
    fn holds(&self, board: &Board, lpn: Lpn, ppn: Ppn) -> bool {
        if !self.known[board.geometry().block_of(ppn).index()] {
            return !self.trims.is_dead(self.recorded, lpn, self.checkpoint);
        }
        match board.nand().state().oob(ppn) {
            OobRead::Written(oob) => {
                oob.kind.is_host_data()
                    && oob.logical == lpn.0
                    && !self.trims.is_dead(self.recorded, lpn, oob.sequence)
            }
            OobRead::Free | OobRead::Torn => false,
        }
    }
}

/// Recovers with a directory that survived, and with the cached entries where they did too.
///
/// Without the entries (`cached` is none) the map on flash may point to pages that were moved and
/// erased since. Such entries are dropped here; a device would notice when it next
/// reads the page, whose out-of-band area names another logical page, so looking is not charged.
fn from_directory(
    board: &mut Board,
    translation: Translation,
    cached: Option<Entries>,
    checkpoint: Restored,
    after: When,
) -> Result<FoundMap, Fault> {
    let complete = cached.is_some();
    let changed = cached.unwrap_or_default().into_iter().collect();
    let holds = |board: &Board, lpn: Lpn, ppn: Ppn| {
        let page = board.nand().state().oob(ppn);
        let names = matches!(page, OobRead::Written(oob)
            if oob.kind.is_host_data() && oob.logical == lpn.0);
        assert!(
            names || !complete,
            "the surviving map points page {lpn} to physical page {ppn}, which holds {page:?}"
        );
        names
    };
    let (changed, when) = read_map(board, &translation, changed, holds, after)?;
    let trims = TrimRecords::new(board.geometry());
    Ok(FoundMap { translation, changed, trims, checkpoint, when })
}

/// Recovers with a copy of the directory: what it does not say yet is in map blocks that were open
/// when it was made, or were opened since.
fn from_copy(board: &mut Board, pages: Vec<Ppn>, after: When) -> Result<FoundMap, Fault> {
    let (ages, mut when) = block_ages(board, after)?;
    let copy = Restored::at(board.nand(), pages);
    for &page in &copy.pages {
        (when, _) = board.read(page, Cause::Recover, when)?;
        board.nand_mut().revalidate(page);
    }
    let mut since = MapPages::default();
    for &(block, sequence) in &ages.map {
        if sequence > copy.sequence || copy.open.contains(&block) {
            when = oob_scan::block(board, block, Extent::Ascending, when, |ppn, oob| {
                if oob.sequence > copy.sequence {
                    since.add(ppn, oob);
                }
            })?;
        }
    }
    let mut gtd = copy.words.clone();
    gtd.resize(Translation::pages(board.geometry()) as usize, 0);
    for (&part, &(_, ppn)) in &since.newest_part {
        gtd[part as usize] = pack(Some(ppn.0));
    }
    from_directory(board, Translation::from_gtd(board.geometry(), gtd), None, copy, when)
}

/// Reads every translation page, marks what the final map points to as valid, and returns the
/// entries that differ from flash.
fn read_map(
    board: &mut Board,
    translation: &Translation,
    mut changed: BTreeMap<Lpn, Option<Ppn>>,
    holds: impl Fn(&Board, Lpn, Ppn) -> bool,
    after: When,
) -> Result<(Entries, When), Fault> {
    let mut when = after;
    for part in 0..Translation::pages(board.geometry()) {
        let Some(page) = translation.location(part) else {
            continue;
        };
        (when, _) = board.read(page, Cause::Recover, when)?;
        board.nand_mut().revalidate(page);
        for lpn in translation.lpns_of(part).map(Lpn) {
            let on_flash = translation.entry(board, lpn);
            match (changed.get(&lpn), on_flash) {
                (Some(&entry), on_flash) if entry == on_flash => {
                    changed.remove(&lpn);
                    if let Some(ppn) = on_flash {
                        board.nand_mut().revalidate(ppn);
                    }
                }
                (None, Some(ppn)) if holds(board, lpn, ppn) => board.nand_mut().revalidate(ppn),
                (None, Some(_)) => {
                    changed.insert(lpn, None);
                }
                _ => {}
            }
        }
    }
    for ppn in changed.values().flatten() {
        board.nand_mut().revalidate(*ppn);
    }
    changed.retain(|&lpn, entry| {
        entry.is_some() || translation.location(translation.part_of(lpn).0).is_some()
    });
    Ok((changed.into_iter().collect(), when))
}

#[cfg(test)]
mod replay_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::nand::Payload;
    use ftlab_flash::request::{PageIo, RequestShape};
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::Tag;

    /// The host's page of this number.
    pub(super) fn write(board: &mut Board, ppn: u32, lpn: u32) {
        let request =
            RequestShape { first_lpn: Lpn(lpn), pages: 1, index: 0, sectors: 1, hint: None };
        let (cause, data) = (Cause::Host, Tag(1));
        let io = PageIo { lpn: Lpn(lpn), sectors: u64::MAX, cause, data, request };
        let done = board.program_update(Ppn(ppn), None, &io, PageKind::Data, When::START);
        assert!(done.is_ok());
    }

    pub(super) fn payload(board: &mut Board, ppn: u32, what: (PageKind, u32), words: &[u32]) {
        let words = Payload::Words(words);
        let done = board.program_payload(Ppn(ppn), what, words, Cause::Trim, When::START);
        assert!(done.is_ok());
    }

    /// Block 0 was scanned, block 1 was not. Page 33 was trimmed as of the second program.
    #[test]
    fn an_entry_holds_where_its_page_is_there_and_was_not_trimmed_since() {
        let mut config = SharedSettings::default();
        config.set("device.page_bytes", "512").expect("legal");
        let mut board = Board::new(&config, 1, 8);
        [(0, 34), (1, 33)].into_iter().for_each(|(ppn, lpn)| write(&mut board, ppn, lpn));
        let mut trims = TrimRecords::new(board.geometry());
        trims.trim(Lpn(33));
        let mut words = [0; 128];
        trims.fill(0, board.nand().sequence(), &mut words);
        payload(&mut board, 2, (PageKind::TrimRecord, 0), &words);
        write(&mut board, 3, 33);
        payload(&mut board, 4, (PageKind::Map, 34), &[0]);
        board.nand_mut().cut_power();
        board.power_on();
        let records = [(0, Ppn(2))];
        let recovered = TrimRecords::recover(&mut board, &records, When::START);
        let (trims, recorded, _) = recovered.expect("nothing fails");
        let mut known = vec![false; board.geometry().blocks() as usize];
        known[0] = true;
        let holds = |checkpoint: u64, lpn: u32, ppn: u32| {
            let (known, trims, recorded) = (&known[..], &trims, &recorded);
            Judge { known, trims, recorded, checkpoint }.holds(&board, Lpn(lpn), Ppn(ppn))
        };
        assert!(holds(0, 34, 0), "it is there");
        assert!(!holds(0, 35, 0), "the page is another's");
        assert!(!holds(0, 33, 1), "it was trimmed after that");
        assert!(holds(0, 33, 3), "it was written again after that");
        assert!(!holds(0, 34, 4), "a map page of that number");
        assert!(!holds(0, 34, 5), "an erased page");
        // Elsewhere: what the checkpoint says, unless it was trimmed behind that.
        let elsewhere = board.geometry().pages_per_block;
        assert!(holds(2, 34, elsewhere));
        assert!(!holds(2, 33, elsewhere), "trimmed by the time of the checkpoint or later");
        assert!(holds(3, 33, elsewhere), "trimmed before");
    }

    /// Of a map page and of a record the youngest counts, in whatever order they are found.
    #[test]
    fn the_youngest_page_of_each_number_counts() {
        let oob = |kind, logical, sequence| Oob { logical, kind, sequence };
        let mut maps = MapPages::default();
        for (ppn, sequence) in [(0, 5), (1, 9), (2, 7)] {
            maps.add(Ppn(ppn), oob(PageKind::Map, 4, sequence));
            maps.add(Ppn(10 + ppn), oob(PageKind::TrimRecord, 4, sequence));
            maps.add(Ppn(20 + ppn), oob(PageKind::Data, 4, sequence));
        }
        maps.add(Ppn(3), oob(PageKind::Map, 6, 1));
        let pages = |of: &BTreeMap<u32, (u64, Ppn)>| -> Vec<(u32, u64, u32)> {
            of.iter().map(|(&number, &(sequence, ppn))| (number, sequence, ppn.0)).collect()
        };
        assert_eq!(pages(&maps.newest_part), [(4, 9, 1), (6, 1, 3)]);
        assert_eq!(pages(&maps.newest_record), [(4, 9, 11)]);
        assert!(maps.checkpoint.is_empty());
        maps.add(Ppn(30), oob(PageKind::Checkpoint, 0, 2));
        assert_eq!(maps.checkpoint.len(), 1);
    }
}
