//! Whole-device truths, O(touched blocks): at checkpoints of tests and at the end of every run.
//!
//! Counts must add up: what the host wrote and did not trim is found on flash or in memory, every
//! valid page is what the map says, requests in equal requests out.
//!
//! Requests in = requests completed; programs = sum over causes; valid data pages = pages located
//! on flash + stale copies reported - pages that lie on one that is another's too (counted, where a
//! scheme shares pages); pages written and not trimmed = located on flash + located in RAM.

use std::ops::ControlFlow;

use crate::any_scheme::AnyScheme;
use crate::buffer::{Buffered, Front};
use crate::ledger::Ledger;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::units::{BlockId, Lpn, Ppn, Tag};
use ftlab_ftl::answers::Location;

/// What an audit counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Valid pages that hold host data.
    pub valid_data_pages: u64,
    /// Valid pages that hold anything else.
    pub valid_other_pages: u64,
    /// Superseded pages that are valid still: what a scheme has not invalidated yet, and what a
    /// buffer has not written yet.
    pub stale_pages: u64,
    /// Host pages whose newest version is in memory.
    pub ram_pages: u64,
    /// Host pages that lie on another one's page.
    pub shared_pages: u64,
    /// Blocks that were ever used.
    pub touched_blocks: u64,
}

/// A device as a whole, whichever its scheme.
pub(crate) struct Whole<'a> {
    pub board: &'a Board,
    pub scheme: &'a dyn AnyScheme,
    pub buffer: Option<&'a Front>,
    pub ledger: &'a Ledger,
}

impl Whole<'_> {
    /// Where the newest version of a page is.
    pub fn find(&self, lpn: Lpn) -> Location {
        let buffered = self.buffer.and_then(|buffer| buffer.locate(lpn));
        buffered.unwrap_or_else(|| self.scheme.locate(self.board, lpn))
    }

    /// The version of a page where it is located, and whether it cannot be read there, or not all
    /// of it.
    pub fn version_of(&self, lpn: Lpn) -> (Tag, bool) {
        let state = self.board.nand().state();
        let version = |place| match place {
            Location::Flash(ppn) => (state.tag(ppn), state.is_unreadable(ppn)),
            Location::Ram(tag) => (tag, tag == Tag::UNREADABLE),
            Location::Nowhere => (Tag(0), false),
        };
        let (tag, mut lost) = version(self.find(lpn));
        if self.buffer.is_some_and(|buffer| buffer.needs_flash(lpn)) {
            lost |= version(self.scheme.locate(self.board, lpn)).1;
        }
        (tag, lost)
    }

    /// Checks flash, map and counts against each other; the error says which truth is broken. Of map,
    /// checkpoint and trim-record pages `declared` at most may be alive.
    pub fn audit(
        &self,
        declared: u64,
        noted: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<(), Audit>, String> {
        let (board, scheme) = (self.board, self.scheme);
        let mut buffered = Buffered::default();
        if let Some(buffer) = self.buffer {
            buffer.self_check(scheme, board)?;
            buffered = buffer.buffered(scheme, board);
        }
        let ControlFlow::Continue(mut audit) = blocks(board, scheme, noted)? else {
            return Ok(ControlFlow::Break(()));
        };
        let unsettled = scheme.unsettled(board);
        // Of a buffered page that flash holds too, the older version is where the scheme locates it.
        audit.stale_pages = unsettled.stale_pages + buffered.superseded;
        audit.ram_pages = unsettled.ram_pages + buffered.dirty;
        audit.shared_pages = unsettled.shared_pages;
        let on_flash = audit.valid_data_pages + audit.shared_pages;
        let located = on_flash + audit.ram_pages - audit.stale_pages;
        let live_pages = self.ledger.live_pages();
        if located != live_pages {
            return Err(format!(
                "the host wrote and did not trim {live_pages} pages, but {located} are located \
                 ({} valid on flash, {} of them stale, {} more that share those, {} in memory)",
                audit.valid_data_pages, audit.stale_pages, audit.shared_pages, audit.ram_pages
            ));
        }
        if scheme.reads_content() {
            sharing(board, scheme, &audit, unsettled.stale_pages)?;
        }
        scheme.self_check(board)?;
        counts(board)?;
        let kept = board.nand().payload_pages();
        let blocks = (0..board.geometry().blocks()).map(BlockId);
        let held: u32 = blocks.map(|block| board.nand().state().block(block).payloads).sum();
        if kept != held {
            return Err(format!(
                "{held} map, checkpoint and trim-record pages hold words, but words are kept of {kept}"
            ));
        }
        // A die that failed keeps what was there, and it is written again elsewhere.
        if u64::from(kept) > declared && board.nand().failed_die().is_none() {
            return Err(format!(
                "{kept} map, checkpoint and trim-record pages are alive, {declared} at most are declared"
            ));
        }
        self.versions()?;
        Ok(ControlFlow::Continue(audit))
    }

    /// Every page is located in the version that was written last.
    fn versions(&self) -> Result<(), String> {
        for (lpn, expected) in self.ledger.all_expected() {
            let (tag, lost) = self.version_of(lpn);
            // Memory and what is written from there do not know which version was lost.
            if tag != expected && !(lost && tag == Tag::UNREADABLE) {
                return Err(format!(
                    "page {lpn} is located in version {tag}, but {expected} was written last"
                ));
            }
        }
        Ok(())
    }
}

fn blocks(
    board: &Board,
    scheme: &dyn AnyScheme,
    noted: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<ControlFlow<(), Audit>, String> {
    let geometry = board.geometry();
    let state = board.nand().state();
    let mut audit = Audit::default();
    let mut unlocated = 0u64;
    for number in 0..geometry.blocks() {
        let block = BlockId(number);
        let known = state.block(block);
        if !known.touched {
            continue;
        }
        audit.touched_blocks += 1;
        if noted(u64::from(geometry.pages_per_block)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let mut valid = 0;
        let mut programmed = 0;
        for offset in 0..geometry.pages_per_block {
            let ppn = geometry.page(block, offset);
            programmed += u32::from(!state.is_free(ppn));
            if !state.is_valid_at(block, offset) {
                continue;
            }
            valid += 1;
            if page(board, scheme, ppn, &mut audit)? {
                unlocated += 1;
            }
        }
        if (valid, programmed) != (known.valid, known.programmed) {
            return Err(format!(
                "block {block} counts {} valid and {} programmed pages, but has {valid} and \
                 {programmed}",
                known.valid, known.programmed
            ));
        }
    }
    let stale = scheme.unsettled(board).stale_pages;
    if unlocated != stale {
        return Err(format!(
            "{unlocated} valid data pages are not where the map looks for them, but the scheme \
             reports {stale} stale ones"
        ));
    }
    Ok(ControlFlow::Continue(audit))
}

/// Judges one valid page; true when it holds host data that the map does not point to.
fn page(
    board: &Board,
    scheme: &dyn AnyScheme,
    ppn: Ppn,
    audit: &mut Audit,
) -> Result<bool, String> {
    let OobRead::Written(oob) = board.nand().state().oob(ppn) else {
        return Err(format!("page {ppn} is valid but holds nothing readable"));
    };
    if !oob.kind.is_host_data() {
        audit.valid_other_pages += 1;
        if !board.nand().has_payload(ppn) {
            return Err(format!("page {ppn} is valid, of kind {:?}, without payload", oob.kind));
        }
        return Ok(false);
    }
    audit.valid_data_pages += 1;
    let holder = scheme.holder(ppn, Lpn(oob.logical));
    Ok(scheme.locate(board, holder) != Location::Flash(ppn))
}

/// Every logical page that lies on flash lies on a valid page, and as many lie on one that is
/// another's as the scheme reports.
fn sharing(
    board: &Board,
    scheme: &dyn AnyScheme,
    audit: &Audit,
    unlocated: u64,
) -> Result<(), String> {
    let mut located = 0;
    for lpn in (0..board.geometry().logical_pages).map(Lpn) {
        let Location::Flash(ppn) = scheme.locate(board, lpn) else { continue };
        located += 1;
        if !board.nand().state().is_valid(ppn) {
            return Err(format!("page {lpn} lies on page {ppn} of flash, which is not valid"));
        }
    }
    // Every valid page that is not stale is some logical page's.
    let shared = located + unlocated - audit.valid_data_pages;
    if shared != audit.shared_pages {
        return Err(format!(
            "{located} logical pages lie on {} valid pages of flash ({unlocated} of them stale), but \
             {} are reported to share one",
            audit.valid_data_pages, audit.shared_pages
        ));
    }
    Ok(())
}

/// Requests in = requests out; programs and reads of the host's own pages are there.
fn counts(board: &Board) -> Result<(), String> {
    let meter = board.meter();
    let host = meter.host();
    if host.total_requests() != host.completed + host.interrupted {
        return Err(format!(
            "{} requests came in, {} completed and {} were interrupted",
            host.total_requests(),
            host.completed,
            host.interrupted
        ));
    }
    let on_flash = board.nand().programs_on_flash();
    if on_flash != meter.total_programs() {
        return Err(format!(
            "{on_flash} pages were programmed by their sequence numbers, but the causes add up to {}",
            meter.total_programs()
        ));
    }
    Ok(())
}
