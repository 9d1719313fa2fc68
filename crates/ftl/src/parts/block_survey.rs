//! What a log-block scheme finds on flash after a power cut: the newest copy of every page, and
//! what each block can be.
//!
//! A block's role follows from where its pages lie and how old they are. Every readable page at
//! its own place: it can be the data block of that logical block. Anything else is a log block. Of
//! several candidates for one logical block the one that was written last by a merge or in place
//! is the data block; if none was (log blocks that a switch merge made data blocks), the oldest.
//! Whatever is chosen is right, because the newest copy of every page is known by its sequence
//! number: the choice only decides how much is left to tidy up.

use std::ops::Range;

use crate::parts::data_blocks::Lbn;
use crate::parts::map_area::{FoundMapPages, MapArea};
use crate::parts::oob_scan::{self, Extent};
use crate::parts::trim_records::TrimRecords;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{Oob, OobRead, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::BlockRole;
use ftlab_flash::units::{BlockId, Lpn, Ppn, pack, unpack, zeroed};

/// A block that holds the newest copy of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// The block.
    pub block: BlockId,
    /// The logical block whose pages lie at their own places here, if there are no others.
    pub home: Option<Lbn>,
    /// The one logical block whose pages lie here, wherever, if there are no others.
    pub owner: Option<Lbn>,
    /// The offsets that hold pages, if there is no gap between them.
    pub run: Option<Range<u32>>,
    /// Sequence number of the newest page that was written as part of a data block; 0: none.
    pub newest_data: u64,
    /// Sequence number of the newest page.
    pub newest: u64,
    /// Sequence number of the oldest page.
    pub oldest: u64,
}

/// Blocks with the newest copies, by role.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    /// Data blocks.
    pub data: Vec<(Lbn, BlockId)>,
    /// Everything else with host data, the oldest first.
    pub logs: Vec<Survivor>,
    /// Blocks with trim records.
    pub records: Vec<BlockId>,
    /// Blocks with map pages.
    pub maps: Vec<BlockId>,
}

/// Newest copies.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Newest page of each logical page, plus one.
    newest: Vec<u32>,
    /// Newest record of each segment, plus one.
    records: Vec<u32>,
    /// Newest map page of each number, plus one.
    maps: Vec<u32>,
}

fn oob_at(nand: &Nand, ppn: Ppn) -> Option<Oob> {
    match nand.state().oob(ppn) {
        OobRead::Written(oob) => Some(oob),
        OobRead::Free | OobRead::Torn => None,
    }
}

impl Survey {
    /// Reads every out-of-band area (charged), finds the newest copies, marks those valid that no
    /// flushed trim came after, and returns the trims.
    pub fn take(board: &mut Board, after: When) -> Result<(Self, TrimRecords, When), Fault> {
        let geometry = board.geometry().clone();
        let mut found: Vec<(Ppn, Oob)> = Vec::new();
        let mut survey = Survey {
            newest: zeroed(geometry.logical_pages as usize),
            records: zeroed(TrimRecords::segments(&geometry) as usize),
            // The largest map is one of pages.
            maps: zeroed(MapArea::pages(&geometry, geometry.logical_pages) as usize),
        };
        let mut done = after;
        for number in 0..geometry.blocks() {
            found.clear();
            let block = BlockId(number);
            let read = oob_scan::block(board, block, Extent::AnyOffset, after, |ppn, oob| {
                found.push((ppn, oob));
            })?;
            done = done.join(read);
            for &(ppn, oob) in &found {
                survey.add(board.nand(), ppn, oob);
            }
        }
        let (trims, done) = survey.settle(board, done)?;
        Ok((survey, trims, done))
    }

    fn add(&mut self, nand: &Nand, ppn: Ppn, oob: Oob) {
        let held = match oob.kind {
            PageKind::Data | PageKind::Log => &mut self.newest[oob.logical as usize],
            PageKind::TrimRecord => &mut self.records[oob.logical as usize],
            PageKind::Map => &mut self.maps[oob.logical as usize],
            PageKind::Checkpoint | PageKind::Pad | PageKind::Parity => return,
        };
        let known = unpack(*held).and_then(|held| oob_at(nand, Ppn(held)));
        if known.is_none_or(|known| oob.sequence > known.sequence) {
            *held = pack(Some(ppn.0));
        }
    }

    fn settle(&mut self, board: &mut Board, after: When) -> Result<(TrimRecords, When), Fault> {
        let records: Vec<(u32, Ppn)> = (0u32..)
            .zip(&self.records)
            .filter_map(|(segment, &held)| unpack(held).map(|ppn| (segment, Ppn(ppn))))
            .collect();
        let (mut trims, recorded, done) = TrimRecords::recover(board, &records, after)?;
        for page in self.maps.iter().filter_map(|&held| unpack(held)) {
            board.nand_mut().revalidate(Ppn(page));
        }
        for (lpn, held) in (0u32..).map(Lpn).zip(&mut self.newest) {
            let Some(ppn) = unpack(*held).map(Ppn) else {
                continue;
            };
            let oob = oob_at(board.nand(), ppn).expect("found by the scan");
            if trims.is_dead(&recorded, lpn, oob.sequence) {
                *held = 0;
            } else {
                board.nand_mut().revalidate(ppn);
                // Written after the record: the next record must not call it trimmed.
                trims.written(lpn);
            }
        }
        Ok((trims, done))
    }

    /// The newest copy of every page that has one.
    pub fn newest(&self) -> impl Iterator<Item = (Lpn, Ppn)> + '_ {
        (0u32..)
            .map(Lpn)
            .zip(&self.newest)
            .filter_map(|(lpn, &held)| unpack(held).map(|ppn| (lpn, Ppn(ppn))))
    }

    /// What a block was, for counting its erase.
    pub fn role(board: &Board, block: BlockId) -> BlockRole {
        let first = oobs(board, block).next();
        match first {
            Some((_, oob)) if !oob.kind.is_host_data() => BlockRole::Map,
            Some(_) if survivor(board, block).home.is_none() => BlockRole::Log,
            _ => BlockRole::Data,
        }
    }

    /// The map pages that were found, in the blocks that `roles` says.
    pub fn map_pages(&self, roles: &Roles) -> FoundMapPages {
        FoundMapPages { newest: self.maps.clone(), blocks: roles.maps.clone() }
    }

    /// The blocks that hold valid host data, by number, and those with trim records or map pages.
    pub fn survivors(board: &Board) -> (Vec<Survivor>, Vec<BlockId>) {
        let blocks = (0..board.geometry().blocks()).map(BlockId);
        let living = blocks.filter(|&block| board.nand().valid_pages(block) > 0);
        let (records, data): (Vec<_>, Vec<_>) =
            living.partition(|&block| Self::role(board, block) == BlockRole::Map);
        (data.into_iter().map(|block| survivor(board, block)).collect(), records)
    }

    /// Sorts the blocks that hold something valid.
    pub fn roles(board: &Board) -> Roles {
        let mut at_home: Vec<(Lbn, Survivor)> = Vec::new();
        let (found, others) = Self::survivors(board);
        let is_record =
            |block: &BlockId| oobs(board, *block).any(|(_, oob)| oob.kind == PageKind::TrimRecord);
        let (records, maps) = others.into_iter().partition(is_record);
        let mut roles = Roles { records, maps, ..Roles::default() };
        for found in found {
            match found.home {
                Some(lbn) => at_home.push((lbn, found)),
                None => roles.logs.push(found),
            }
        }
        // The best candidate for each logical block comes first.
        let rank = |found: &Survivor| match found.newest_data {
            0 => (1, found.newest),
            data => (0, u64::MAX - data),
        };
        at_home.sort_by_key(|(lbn, found)| (*lbn, rank(found)));
        for (lbn, found) in at_home {
            match roles.data.last() {
                Some((last, _)) if *last == lbn => roles.logs.push(found),
                _ => roles.data.push((lbn, found.block)),
            }
        }
        roles.logs.sort_by_key(|found| found.newest);
        roles
    }
}

/// Readable pages of a block that are not padding.
fn oobs(board: &Board, block: BlockId) -> impl Iterator<Item = (u32, Oob)> + '_ {
    (0..board.geometry().pages_per_block)
        .filter_map(move |offset| {
            let ppn = board.geometry().page(block, offset);
            oob_at(board.nand(), ppn).map(|oob| (offset, oob))
        })
        .filter(|(_, oob)| oob.kind != PageKind::Pad)
}

fn survivor(board: &Board, block: BlockId) -> Survivor {
    let geometry = board.geometry();
    let (newest_data, newest, oldest) = (0, 0, u64::MAX);
    let mut found =
        Survivor { block, home: None, owner: None, run: None, newest_data, newest, oldest };
    let (mut at_home, mut alone, mut without_gap) = (true, true, true);
    for (offset, oob) in oobs(board, block) {
        let (lbn, own) = Lbn::of(geometry, Lpn(oob.logical));
        alone &= found.owner.is_none_or(|owner| owner == lbn);
        at_home &= own == offset;
        found.owner = Some(lbn);
        let run = found.run.clone().unwrap_or(offset..offset);
        without_gap &= run.end == offset;
        found.run = Some(run.start..offset + 1);
        found.newest = found.newest.max(oob.sequence);
        found.oldest = found.oldest.min(oob.sequence);
        if oob.kind == PageKind::Data {
            found.newest_data = found.newest_data.max(oob.sequence);
        }
    }
    found.owner = found.owner.filter(|_| alone);
    found.home = found.owner.filter(|_| at_home);
    found.run = found.run.filter(|_| without_gap);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use PageKind::{Data, Log};
    use ftlab_flash::meter::Cause;
    use ftlab_flash::request::{PageIo, RequestShape};
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::Tag;

    /// Programs pages (block, offset, logical page, kind) in this order and surveys the flash.
    fn survey(pages: &[(u32, u32, u32, PageKind)]) -> Roles {
        Survey::roles(&surveyed(pages))
    }

    fn surveyed(pages: &[(u32, u32, u32, PageKind)]) -> Board {
        let mut config = SharedSettings::default();
        for (key, value) in [("device.pages_per_block", "4"), ("device.blocks_per_plane", "16")] {
            config.set(key, value).expect("legal");
        }
        let mut board = Board::new(&config, 1, 64);
        for &(block, offset, lpn, kind) in pages {
            let request =
                RequestShape { first_lpn: Lpn(lpn), pages: 1, index: 0, sectors: 4, hint: None };
            let (cause, data) = (Cause::Host, Tag(1));
            let io = PageIo { lpn: Lpn(lpn), sectors: u64::MAX, cause, data, request };
            let ppn = board.geometry().page(BlockId(block), offset);
            let done = board.program_update(ppn, None, &io, kind, When::START);
            assert!(done.is_ok(), "nothing fails here");
        }
        board.nand_mut().cut_power();
        board.power_on();
        let taken = Survey::take(&mut board, When::START);
        assert!(taken.is_ok(), "nothing fails here");
        board
    }

    #[test]
    fn map_pages_are_neither_data_nor_log_and_the_newest_of_each_is_valid() {
        let mut board = Board::new(&SharedSettings::default(), 1, 64);
        let mut program = |block, offset, kind, number| {
            let ppn = board.geometry().page(BlockId(block), offset);
            let payload = ftlab_flash::board::nand::Payload::Words(&[7]);
            let what = (kind, number);
            let done = board.program_payload(ppn, what, payload, Cause::Translate, When::START);
            assert!(done.is_ok(), "nothing fails here");
            ppn
        };
        program(3, 0, PageKind::Map, 0);
        let newest = program(5, 0, PageKind::Map, 0);
        program(4, 0, PageKind::TrimRecord, 0);
        board.nand_mut().cut_power();
        board.power_on();
        let (survey, ..) = Survey::take(&mut board, When::START).expect("nothing fails here");
        let roles = Survey::roles(&board);
        assert_eq!((roles.records, roles.maps), (vec![BlockId(4)], vec![BlockId(5)]));
        assert_eq!((roles.data.len(), roles.logs.len()), (0, 0));
        assert_eq!(survey.maps[0], newest.0 + 1);
        assert_eq!(Survey::role(&board, BlockId(3)), BlockRole::Map, "superseded: to be erased");
    }

    fn logs(roles: &Roles) -> Vec<u32> {
        roles.logs.iter().map(|log| log.block.0).collect()
    }

    const OLD: [(u32, u32, u32, PageKind); 4] =
        [(0, 0, 4, Data), (0, 1, 5, Data), (0, 2, 6, Data), (0, 3, 7, Data)];

    #[test]
    fn a_sequential_log_block_is_not_its_owners_data_block() {
        let roles = survey(&[&OLD[..], &[(1, 0, 4, Log), (1, 1, 5, Log)]].concat());
        assert_eq!(roles.data, [(Lbn(1), BlockId(0))]);
        assert_eq!(logs(&roles), [1]);
        assert_eq!((roles.logs[0].home, roles.logs[0].run.clone()), (Some(Lbn(1)), Some(0..2)));
    }

    /// Pages 4 and 9 are both at their places, of logical blocks 1 and 2.
    #[test]
    fn a_block_of_two_logical_blocks_is_nobodys_though_every_page_is_at_its_place() {
        let roles = survey(&[(1, 0, 4, Log), (1, 1, 9, Log)]);
        assert_eq!((roles.data.len(), logs(&roles)), (0, vec![1]));
        assert_eq!((roles.logs[0].home, roles.logs[0].owner), (None, None));
    }

    /// Of logical block 1 alone, but not one page at its place: as a data block it would give page
    /// 4 for page 5.
    #[test]
    fn pages_of_one_logical_block_at_other_places_are_a_log_block() {
        let roles = survey(&[(1, 0, 5, Log), (1, 1, 4, Log)]);
        assert_eq!((roles.data.len(), logs(&roles)), (0, vec![1]));
        assert_eq!((roles.logs[0].home, roles.logs[0].owner), (None, Some(Lbn(1))));
    }

    #[test]
    fn a_complete_log_block_is_a_data_block_whatever_its_pages_were_written_as() {
        let full: Vec<_> = (0..4).map(|offset| (1, offset, 4 + offset, Log)).collect();
        let roles = survey(&[&OLD[..], &full, &[(2, 0, 4, Log)]].concat());
        assert_eq!(roles.data, [(Lbn(1), BlockId(1))], "the old block holds nothing any more");
        assert_eq!(logs(&roles), [2], "the newer log block is the sequential one");
    }

    #[test]
    fn the_target_of_an_interrupted_merge_is_the_data_block() {
        let begun = [(1, 0, 4, Log), (1, 1, 5, Log), (1, 2, 6, Data)];
        let roles = survey(&[&OLD[..], &begun].concat());
        assert_eq!(roles.data, [(Lbn(1), BlockId(1))]);
        assert_eq!(logs(&roles), [0], "the old block keeps page 7 until that is moved");
    }

    #[test]
    fn blocks_of_several_logical_blocks_are_log_blocks_the_oldest_first() {
        let mixed = [(3, 0, 9, Log), (3, 1, 5, Log), (2, 0, 13, Log), (2, 1, 6, Log)];
        let roles = survey(&[&OLD[..], &mixed].concat());
        assert_eq!(roles.data, [(Lbn(1), BlockId(0))]);
        assert_eq!(logs(&roles), [3, 2]);
    }

    /// Whoever goes on with a log block must know that a place in it was left out.
    #[test]
    fn pages_with_a_gap_between_them_are_no_run() {
        let roles = survey(&[&OLD[..], &[(1, 0, 4, Log), (1, 2, 6, Log)]].concat());
        assert_eq!(logs(&roles), [1]);
        assert_eq!((roles.logs[0].home, roles.logs[0].run.clone()), (Some(Lbn(1)), None));
    }

    /// Erases are counted by it: pages at their own places are a data block, others a log block.
    #[test]
    fn what_a_block_was_follows_from_where_its_pages_lie() {
        let board = surveyed(&[&OLD[..], &[(1, 0, 9, Log), (1, 1, 5, Log)]].concat());
        let roles = [0, 1, 2].map(|block| Survey::role(&board, BlockId(block)));
        assert_eq!(roles, [BlockRole::Data, BlockRole::Log, BlockRole::Data], "2 holds nothing");
    }
}
