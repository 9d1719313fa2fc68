//! Where the newest version of a page is, and which version that must be.

use super::Ssd;
use crate::device::DeviceError;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::request::{Request, Unreadable};
use ftlab_flash::units::{BlockId, Lpn, Tag};
use ftlab_ftl::answers::Location;
use ftlab_ftl::scheme::Scheme;

impl<S: Scheme> Ssd<S> {
    /// The version that is written next: neither 0 nor the number that stands for what cannot be
    /// read.
    #[inline(always)]
    pub(super) fn version_to_come(&self) -> Tag {
        Tag(((self.next_tag + 1) % Tag::UNREADABLE.0).max(1))
    }

    /// The version that a write gives a page: one that was never before, or that of the same
    /// content.
    #[inline(always)]
    pub(super) fn version_of_write(
        &mut self,
        request: &Request,
        lpn: Lpn,
    ) -> Result<Tag, DeviceError> {
        let fresh = self.version_to_come();
        if S::READS_CONTENT {
            // Where versions begin again, two contents would have the same one.
            if fresh.0 <= self.next_tag {
                return Err(DeviceError::TooManyContents);
            }
            if let Some(content) = self.split.content(request, lpn.0) {
                let version = self.contents.version(content, fresh);
                let version = version.ok_or(DeviceError::TooManyContents)?;
                if version != fresh {
                    return Ok(version);
                }
            }
        }
        self.next_tag = fresh.0;
        Ok(fresh)
    }

    /// Where the newest version of a page is.
    pub(super) fn find(&self, lpn: Lpn) -> Location {
        self.whole().expect(super::RECOVERED).find(lpn)
    }

    /// The version of a page where it is located, and whether it cannot be read there, or not all
    /// of it.
    pub(super) fn version_of(&self, lpn: Lpn) -> (Tag, bool) {
        self.whole().expect(super::RECOVERED).version_of(lpn)
    }

    /// Counts a page that could not be read. That it really is lost on flash, in the version that
    /// was written last, is checked where reads are.
    #[cold]
    pub(super) fn note_unreadable(&mut self, lpn: Lpn) -> Result<(), DeviceError> {
        if let Some(expected) = self.ledger.expected(lpn) {
            let (tag, lost) = self.version_of(lpn);
            if !lost || (tag != expected && tag != Tag::UNREADABLE) {
                return Err(DeviceError::WrongData { lpn, expected, found: tag });
            }
        }
        let before = self.unreadable;
        self.unreadable = Some(Unreadable {
            first: before.map_or(lpn, |known| known.first),
            pages: before.map_or(0, |known| known.pages) + 1,
        });
        Ok(())
    }

    /// What the host may rely on after a cut is what the scheme kept: unacknowledged writes and
    /// unflushed trims may have gone either way.
    pub(super) fn settle_after_recovery(&mut self) {
        // A device whose flash was put there goes on behind the versions found on it.
        let fresh = self.next_tag == 0;
        if fresh {
            self.next_tag = highest_version(&self.board);
        }
        for lpn in (0..self.board.geometry().logical_pages).map(Lpn) {
            match self.find(lpn) {
                Location::Flash(ppn) => {
                    let tag = self.board.nand().state().tag(ppn);
                    self.ledger.wrote(lpn, tag);
                }
                Location::Ram(tag) => self.ledger.wrote(lpn, tag),
                Location::Nowhere => self.ledger.forgot(lpn),
            }
        }
        self.outstanding.clear();
    }
}

/// Of all that lie on flash, superseded ones among them.
fn highest_version(board: &Board) -> u32 {
    let (geometry, state) = (board.geometry(), board.nand().state());
    let mut highest = 0;
    for block in (0..geometry.blocks()).map(BlockId) {
        for offset in 0..state.block(block).top {
            let ppn = geometry.page(block, offset);
            if matches!(state.oob(ppn), OobRead::Written(oob) if oob.kind.is_host_data()) {
                highest = highest.max(state.tag(ppn).0);
            }
        }
    }
    highest
}
