//! Parity over dies: a page that no retry brings back, or whose die failed, is read from the other
//! pages of its stripe.
//!
//! A stripe is made of the pages at one offset of the blocks with one number in one plane of each of
//! `rain.stripe` dies, taken in the order in which channels take turns. A parity page covers the
//! pages of its stripe that were programmed before it. Of a stripe that is being filled memory has
//! the parity so far, which outlives a power cut where capacitors save it, and is found again by
//! recovery, which reads every page anyway, where the pages can be read. Instead of bytes parity is
//! of what tells pages apart (version, number, kind, sequence number); it is compared wherever it is
//! used. Its out-of-band area says how many pages it covers: a stripe of which an interrupted erase
//! has left a part is known by that.
//!
//! What this is not: who says which page of a stripe takes parity, and when.

use super::fault::{Fault, ReadVerdict};
use super::geometry::Geometry;
use super::record::Operation;
use super::state::{Oob, OobRead, PageKind};
use super::{Nand, PageWrite};
use crate::board::settings::{BoardSettings, RainFlush};
use crate::board::when::When;
use crate::meter::{Cause, Event, Meter};
use crate::units::{BlockId, PlaneId, Ppn, Tag};

/// Most pages that wait to be moved because reads of them failed. What fails beyond that is read from
/// its stripe as well, and not remembered.
const FAILING_MAX: usize = 1024;

/// Stripes over dies.
#[derive(Clone, Debug)]
pub(super) struct Rain {
    /// Dies of a stripe.
    width: u32,
    /// Whether capacitors save the parity of stripes that are being filled.
    saves: bool,
    /// Pages that cannot be read any more, but for their stripe, and are still where they were.
    failing: Vec<Ppn>,
    /// Sequence number of the last program when the power came back last while a die had failed: of
    /// the pages of that die before it memory has no parity.
    forgotten: u64,
}

impl Rain {
    /// None without parity.
    pub(super) fn new(config: &BoardSettings) -> Option<Box<Self>> {
        (config.rain.stripe > 0).then(|| {
            Box::new(Rain {
                width: config.rain.stripe,
                saves: config.rain.flush == RainFlush::Capacitor,
                failing: Vec::with_capacity(FAILING_MAX),
                forgotten: 0,
            })
        })
    }

    /// A block is erased.
    pub(super) fn erased(&mut self, geometry: &Geometry, block: BlockId) {
        self.failing.retain(|&page| geometry.block_of(page) != block);
    }

    /// The pages of a page's stripe, itself among them.
    fn members(&self, geometry: &Geometry, ppn: Ppn) -> impl Iterator<Item = Ppn> + use<> {
        let (channels, dies) = (geometry.channels, geometry.dies_per_channel);
        let (planes, pages) = (geometry.planes_per_die, geometry.pages_per_block);
        let per_plane = geometry.blocks_per_plane;
        let block = geometry.block_of(ppn);
        let plane = geometry.plane_of_block(block).0;
        let number = block.0 - plane * per_plane;
        let (die, beside) = (plane / planes, plane % planes);
        let rank = die % dies * channels + die / dies;
        let first = rank - rank % self.width;
        let offset = geometry.offset_of(ppn);
        (first..first + self.width).map(move |rank| {
            let plane = (rank % channels * dies + rank / channels) * planes + beside;
            Ppn((plane * per_plane + number) * pages + offset)
        })
    }
}

/// What tells a page apart, without its version.
fn name(oob: &Oob) -> u32 {
    let mixed = oob.sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (u64::from(oob.logical) << 8)
        ^ oob.kind as u64;
    (mixed ^ mixed >> 32) as u32
}

impl Nand {
    /// The pages of a page's stripe that are written and are no parity, with their sequence numbers
    /// and what tells them apart.
    fn content(&self, rain: &Rain, ppn: Ppn) -> impl Iterator<Item = (Ppn, u64, u32)> + use<'_> {
        rain.members(&self.geometry, ppn).filter_map(|page| match self.state.oob(page) {
            OobRead::Written(oob) if oob.kind != PageKind::Parity => {
                let version = if oob.kind.is_host_data() { self.state.tag(page).0 } else { 0 };
                Some((page, oob.sequence, name(&oob) ^ version))
            }
            _ => None,
        })
    }

    fn rain(&self) -> &Rain {
        self.rain.as_ref().expect("rain.stripe is more than 0")
    }

    /// Programs the parity of what is written of a page's stripe.
    pub(in crate::board) fn program_parity(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        after: When,
    ) -> Result<When, Fault> {
        let covered = self.content(self.rain(), ppn);
        let (count, parity) =
            covered.fold((0, 0), |(count, all), (.., one)| (count + 1, all ^ one));
        let page = PageWrite {
            logical: count,
            kind: PageKind::Parity,
            tag: Tag(parity),
            sectors: self.geometry.all_sectors(),
            unreadable: false,
        };
        let done = self.program(meter, ppn, page, Cause::Parity, after)?;
        // Nothing of the host's, nor of the scheme's: nobody moves it.
        self.state.clear_valid(self.geometry.block_of(ppn), ppn);
        Ok(done)
    }

    /// Programs a page that completes a stripe and holds nothing.
    pub(in crate::board) fn program_nothing(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        after: When,
    ) -> Result<When, Fault> {
        let (kind, tag, sectors) = (PageKind::Pad, Tag(0), 0);
        let page = PageWrite { logical: 0, kind, tag, sectors, unreadable: false };
        let done = self.program(meter, ppn, page, Cause::Pad, after)?;
        self.state.clear_valid(self.geometry.block_of(ppn), ppn);
        Ok(done)
    }

    /// Whether a parity page says what the pages of its stripe are that were programmed before it. Of
    /// a stripe of which an interrupted erase has left a part it says nothing.
    ///
    /// # Errors
    /// Names the page.
    pub fn check_parity(&self, ppn: Ppn) -> Result<(), String> {
        let OobRead::Written(Oob { kind: PageKind::Parity, sequence, logical }) =
            self.state.oob(ppn)
        else {
            return Ok(());
        };
        let Some(rain) = &self.rain else {
            return Err(format!("page {ppn} is parity, and rain.stripe = 0"));
        };
        let covered = self.content(rain, ppn).filter(|&(_, other, _)| other < sequence);
        let (count, parity) =
            covered.fold((0, 0), |(count, all), (.., one)| (count + 1, all ^ one));
        match count < logical || (count, parity) == (logical, self.state.tag(ppn).0) {
            true => Ok(()),
            false => Err(format!("page {ppn} is not the parity of its stripe")),
        }
    }

    /// The die that failed as a whole.
    #[inline]
    pub fn failed_die(&self) -> Option<u32> {
        self.faults.failed_die()
    }

    /// Whether the die of a plane failed.
    #[inline]
    pub fn has_failed(&self, plane: PlaneId) -> bool {
        self.failed_die() == Some(self.geometry.die_of(plane))
    }

    /// Whether a page can be read no more, but for its stripe: of a die that failed, or one of which
    /// every read failed.
    pub(super) fn is_out(&self, ppn: Ppn) -> bool {
        self.has_failed(self.geometry.plane_of(ppn))
            || self.rain.as_ref().is_some_and(|rain| rain.failing.contains(&ppn))
    }

    /// A page of which reads failed, to be moved; it is forgotten here.
    pub fn take_failing(&mut self) -> Option<Ppn> {
        let rain = self.rain.as_mut()?;
        let state = &self.state;
        std::iter::from_fn(|| rain.failing.pop()).find(|&page| state.is_valid(page))
    }

    /// A page was not moved, for want of room: it goes on failing.
    pub fn fails_still(&mut self, ppn: Ppn) {
        if let Some(rain) = &mut self.rain {
            rain.failing.push(ppn);
        }
    }

    /// Whether there are such pages.
    #[inline]
    pub fn has_failing(&self) -> bool {
        self.rain.as_ref().is_some_and(|rain| !rain.failing.is_empty())
    }

    /// Power is back.
    pub(super) fn rain_recovers(&mut self) {
        let (sequence, failed) = (self.sequence, self.failed_die().is_some());
        if let Some(rain) = &mut self.rain {
            rain.failing.clear();
            if failed && !rain.saves {
                rain.forgotten = sequence;
            }
        }
    }

    /// What covers a page: a parity page, or memory (none). An error where nothing does.
    fn cover(&self, rain: &Rain, ppn: Ppn, sequence: u64) -> Result<Option<(Ppn, u64)>, ()> {
        let parity =
            rain.members(&self.geometry, ppn).filter_map(|page| match self.state.oob(page) {
                OobRead::Written(oob)
                    if oob.kind == PageKind::Parity && oob.sequence > sequence =>
                {
                    Some((page, oob.sequence))
                }
                _ => None,
            });
        if let Some(first) = parity.min_by_key(|&(_, sequence)| sequence) {
            return Ok(Some(first));
        }
        let is_open = rain.members(&self.geometry, ppn).any(|page| {
            let block = self.geometry.block_of(page);
            let known = self.state.block(block);
            let works = !known.retired && !known.read_only;
            works
                && self.state.is_free(page)
                && !self.has_failed(self.geometry.plane_of_block(block))
        });
        let is_forgotten =
            sequence <= rain.forgotten && self.has_failed(self.geometry.plane_of(ppn));
        if is_open && !is_forgotten { Ok(None) } else { Err(()) }
    }

    /// Reads the rest of a page's stripe, which says what the page holds; none where something of it
    /// cannot be read either, or nothing covers the page.
    pub(super) fn read_stripe(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let Some(rain) = self.rain.take() else { return Ok(None) };
        let read = self.read_stripe_of(meter, &rain, ppn, after);
        self.rain = Some(rain);
        read
    }

    fn read_stripe_of(
        &mut self,
        meter: &mut Meter,
        rain: &Rain,
        ppn: Ppn,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let OobRead::Written(oob) = self.state.oob(ppn) else { return Ok(None) };
        let Ok(parity) = self.cover(rain, ppn, oob.sequence) else { return Ok(None) };
        let end = parity.map_or(u64::MAX, |(_, sequence)| sequence);
        let covered = self.content(rain, ppn).filter(|&(_, sequence, _)| sequence < end);
        let (count, all) = covered.fold((0, 0), |(count, all), (.., one)| (count + 1, all ^ one));
        if let Some((page, _)) = parity
            && let OobRead::Written(oob) = self.state.oob(page)
        {
            if count < oob.logical {
                // An erase was interrupted: a part of the stripe is gone.
                return Ok(None);
            }
            assert!(self.state.tag(page).0 == all, "page {page} is not the parity of its stripe");
        }
        let mut done = after;
        for page in rain.members(&self.geometry, ppn) {
            let is_covered = matches!(self.state.oob(page), OobRead::Written(other)
                if other.kind != PageKind::Parity && other.sequence < end);
            let is_parity = parity.is_some_and(|(parity, _)| parity == page);
            if page == ppn || !(is_covered || is_parity) {
                continue;
            }
            let lost = self.state.is_unreadable(page)
                || self.has_failed(self.geometry.plane_of(page))
                || rain.failing.contains(&page);
            let verdict = self.faults.on_read(|| lost);
            if verdict == ReadVerdict::NoPower {
                return Err(Fault::PowerCut);
            }
            let mut read = after;
            let has_failed = self.has_failed(self.geometry.plane_of(page));
            let retries = if has_failed { 0 } else { self.retries(meter, verdict) };
            for _ in 0..=retries {
                read = match self.units.are_small() {
                    true => self.read_unit(page, Cause::Rebuild, read),
                    false => self.clock.read_page(self.place(page), Cause::Rebuild, read),
                };
                meter.read(Cause::Rebuild);
                self.record.add(Operation::Read(page, Cause::Rebuild));
            }
            if verdict == ReadVerdict::Uncorrectable {
                return Ok(None);
            }
            done = done.join(read);
        }
        meter.event(Event::RebuiltPages, 1);
        Ok(Some(done))
    }

    /// The out-of-band area of a page whose die failed: that of its stripe's parity, or else what
    /// the controller has noted elsewhere, as it does of all that the data depends on.
    #[cold]
    pub(super) fn read_failed_oob(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        after: When,
    ) -> Result<(When, OobRead), Fault> {
        let done = self.read_stripe(meter, ppn, after)?.unwrap_or(after);
        Ok((done, self.state.oob(ppn)))
    }

    /// A page was read from its stripe: it is to be moved, where its die did not fail as a whole,
    /// which says so of all its pages.
    pub(super) fn note_failing(&mut self, ppn: Ppn) {
        let failed = self.has_failed(self.geometry.plane_of(ppn));
        let is_valid = self.state.is_valid(ppn);
        if let Some(rain) = &mut self.rain
            && !failed
            && is_valid
            && !rain.failing.contains(&ppn)
            && rain.failing.len() < FAILING_MAX
        {
            rain.failing.push(ppn);
        }
    }
}
