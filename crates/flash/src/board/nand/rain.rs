//! Parity over dies: a page that no retry brings back, or whose die failed, is read from the other
//! pages of its stripe.
//!
//! A stripe is made of the pages at one offset of the blocks with one number in one plane of each
//! of `rain.stripe` dies, taken in the order in which channels take turns. A parity page covers the
//! pages of its stripe that were programmed before it. Of a stripe that is being filled memory has
//! the parity so far, which outlives a power cut where capacitors save it, and is found again by
//! recovery, which reads every page anyway, where the pages can be read. Instead of bytes parity is
//! of what tells pages apart (version, number, kind, sequence number); it is compared wherever it
//! is used. Its out-of-band area says how many pages it covers: a stripe of which an interrupted
//! erase has left a part is known by that.
//!
//! What this is not: who says which page of a stripe takes parity, and when, and which stripes are
//! open.

mod bits;
mod held;
mod known;
#[cfg(test)]
mod tests;

use bits::Bits;
use held::Held;

use super::fault::{Fault, ReadVerdict};
use super::geometry::Geometry;
use super::record::Operation;
use super::state::{Oob, OobRead, PageKind};
use super::{Nand, PageWrite};
use crate::board::settings::{BoardSettings, RainFlush};
use crate::board::when::When;
use crate::meter::{Cause, Event, Meter};
use crate::units::{PlaneId, Ppn, Tag, zeroed};

/// Most pages that wait to be moved because reads of them failed. What fails beyond that is read
/// from its stripe as well, and not remembered.
pub const FAILING_MAX: usize = 1024;

/// Stripes over dies.
#[derive(Clone, Debug)]
pub(super) struct Rain {
    /// Dies of a stripe.
    width: u32,
    /// Whether capacitors save the parity of stripes that are being filled.
    saves: bool,
    /// Pages that are to be moved, because they could be read from their stripes alone: memory's
    /// list, which is no more than work to do.
    failing: Vec<Ppn>,
    /// Pages whose cells cannot be read until they are erased, whether what they held came to be
    /// lost or not.
    gone: Bits,
    /// Pages of which a power cut took the only parity: no parity that is programmed later has
    /// them.
    forgotten: Bits,
    /// Pages of stripes that were told to be without parity.
    bare: Bits,
    /// Sequence number of the last program before each block was erased last.
    erased_at: Vec<u64>,
    /// Stripes whose parity memory has.
    held: Held,
    /// Whether pages were put back that another device had; of parity up to this sequence number
    /// nobody knows what was erased behind it.
    is_restored: bool,
    restored_until: u64,
    /// When the data of the page that was programmed last had reached the controller.
    ready: When,
}

impl Rain {
    /// None without parity.
    pub(super) fn new(config: &BoardSettings) -> Option<Box<Self>> {
        (config.rain.stripe > 0).then(|| {
            let geometry = Geometry::new(&config.device);
            let bits = || Bits::new(geometry.pages());
            Box::new(Rain {
                width: config.rain.stripe,
                saves: config.rain.flush == RainFlush::Capacitor,
                failing: Vec::with_capacity(FAILING_MAX),
                gone: bits(),
                forgotten: bits(),
                bare: bits(),
                erased_at: zeroed(geometry.blocks() as usize),
                held: Held::new(),
                is_restored: false,
                restored_until: 0,
                ready: When::START,
            })
        })
    }

    /// Pages are put back that another device had, whose erases nobody knows.
    pub(super) fn is_put_back(&mut self) {
        self.is_restored = true;
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
    /// and what tells them apart; not those that no parity has.
    fn content<'a>(
        &'a self,
        rain: &'a Rain,
        ppn: Ppn,
    ) -> impl Iterator<Item = (Ppn, u64, u32)> + use<'a> {
        let known = rain.members(&self.geometry, ppn).filter(|&page| !rain.forgotten.has(page));
        known.filter_map(|page| match self.state.oob(page) {
            OobRead::Written(oob) if oob.kind != PageKind::Parity => {
                let version = if oob.kind.is_host_data() { self.state.tag(page).0 } else { 0 };
                Some((page, oob.sequence, name(&oob) ^ version))
            }
            _ => None,
        })
    }

    /// How many of these were programmed before a sequence number, and the parity of those.
    fn parity_before(&self, rain: &Rain, ppn: Ppn, end: u64) -> (u32, u32) {
        let covered = self.content(rain, ppn).filter(|&(_, sequence, _)| sequence < end);
        covered.fold((0, 0), |(count, all), (.., one)| (count + 1, all ^ one))
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
        assert!(self.holds_parity_of(self.rain(), ppn), "page {ppn}: memory has not its parity");
        let (count, parity) = self.parity_before(self.rain(), ppn, u64::MAX);
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

    /// That die, once something was asked of it in vain.
    #[inline]
    pub fn known_failed_die(&self) -> Option<u32> {
        self.failed_die().filter(|_| self.faults.failure_is_known())
    }

    /// Something is asked of a plane; whether its die failed, which is known from then on.
    #[inline]
    pub(super) fn asks_dead_die(&mut self, meter: &mut Meter, plane: PlaneId) -> bool {
        let has_failed = self.has_failed(plane);
        if has_failed && self.faults.find_failure_out() {
            meter.event(Event::FailedDies, 1);
        }
        has_failed
    }

    /// Whether a page can be read no more, but for its stripe: of a die that failed, or one whose
    /// cells are gone.
    #[inline]
    pub(super) fn is_out(&self, ppn: Ppn) -> bool {
        self.has_failed(self.geometry.plane_of(ppn))
            || self.rain.as_ref().is_some_and(|rain| rain.gone.has(ppn))
    }

    /// Whether the controller knows of a page that it need not ask for it. A page that holds words
    /// has a second copy where nothing has parity, which costs what the page did.
    #[cold]
    pub(super) fn is_known_out(&self, ppn: Ppn) -> bool {
        if self.rain.is_none() && !self.state.holds_host_data(ppn) {
            return false;
        }
        let die = self.geometry.die_of(self.geometry.plane_of(ppn));
        self.known_failed_die() == Some(die)
            || self.rain.as_ref().is_some_and(|rain| rain.failing.contains(&ppn))
    }

    /// The cells of a page cannot be read until they are erased.
    pub(super) fn cells_are_gone(&mut self, ppn: Ppn) {
        let has_failed = self.has_failed(self.geometry.plane_of(ppn));
        if let Some(rain) = self.rain.as_mut().filter(|_| !has_failed) {
            rain.gone.set(ppn);
        }
    }

    /// Whether the parity of stripes that are being filled outlives a power cut.
    pub(super) fn saves_parity(&self) -> bool {
        self.rain.as_ref().is_some_and(|rain| rain.saves)
    }

    /// A page's data has reached the controller, and goes to its program.
    #[inline]
    pub(super) fn data_is_there(&mut self, ready: When) {
        if let Some(rain) = &mut self.rain {
            rain.ready = ready;
        }
    }

    /// When the data of the page that was programmed last had reached the controller: from then on
    /// it is part of the parity.
    pub fn data_ready(&self) -> When {
        self.rain.as_ref().map_or(When::START, |rain| rain.ready)
    }

    /// A page of which reads failed, to be moved: the same until it is somewhere else.
    pub fn next_failing(&mut self) -> Option<Ppn> {
        let rain = self.rain.as_mut()?;
        while let Some(&page) = rain.failing.last() {
            if self.state.is_valid(page) {
                return Some(page);
            }
            rain.failing.pop();
        }
        None
    }

    /// Whether there are such pages.
    #[inline]
    pub fn has_failing(&self) -> bool {
        self.rain.as_ref().is_some_and(|rain| !rain.failing.is_empty())
    }

    /// Reads the rest of a page's stripe, which says what the page holds; none where something of
    /// it cannot be read either, or nothing covers the page.
    pub(super) fn read_stripe(
        &mut self,
        meter: &mut Meter,
        ppn: Ppn,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let Some(mut rain) = self.rain.take() else { return Ok(None) };
        let read = self.read_stripe_of(meter, &mut rain, ppn, after);
        self.rain = Some(rain);
        read
    }

    fn read_stripe_of(
        &mut self,
        meter: &mut Meter,
        rain: &mut Rain,
        ppn: Ppn,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let OobRead::Written(oob) = self.state.oob(ppn) else { return Ok(None) };
        let Ok(parity) = self.cover(rain, ppn, oob.sequence) else { return Ok(None) };
        let end = parity.map_or(u64::MAX, |(_, sequence)| sequence);
        let (count, all) = self.parity_before(rain, ppn, end);
        if let Some((page, sequence)) = parity
            && let OobRead::Written(oob) = self.state.oob(page)
            && (count, all) != (oob.logical, self.state.tag(page).0)
        {
            // An erase was interrupted: a part of the stripe is gone.
            assert!(
                self.is_left_over(rain, page, sequence),
                "page {page} is not the parity of its stripe"
            );
            return Ok(None);
        }
        let is_asked = |nand: &Nand, rain: &Rain, page: Ppn| {
            let is_covered = matches!(nand.state.oob(page), OobRead::Written(other)
                if other.kind != PageKind::Parity && other.sequence < end);
            let is_covered = is_covered && !rain.forgotten.has(page);
            let is_parity = parity.is_some_and(|(parity, _)| parity == page);
            page != ppn && (is_covered || is_parity)
        };
        let mut others =
            rain.members(&self.geometry, ppn).filter(|&page| is_asked(self, rain, page));
        let die = |page| self.geometry.die_of(self.geometry.plane_of(page));
        if self.known_failed_die().is_some_and(|failed| others.any(|page| die(page) == failed)) {
            // Nobody reads the rest of it in vain.
            return Ok(None);
        }
        let mut done = after;
        for page in rain.members(&self.geometry, ppn) {
            if is_asked(self, rain, page) {
                let Some(read) = self.read_partner(meter, rain, page, after)? else {
                    return Ok(None);
                };
                done = done.join(read);
            }
        }
        meter.event(Event::RebuiltPages, 1);
        Ok(Some(done))
    }

    /// Another page of a stripe is read, for the one that cannot be; none where it cannot be
    /// either.
    fn read_partner(
        &mut self,
        meter: &mut Meter,
        rain: &mut Rain,
        page: Ppn,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let has_failed = self.asks_dead_die(meter, self.geometry.plane_of(page));
        let worse = self.retry_bound(page, after);
        let verdict = self.faults.on_read(|| has_failed || rain.gone.has(page), worse);
        if verdict == ReadVerdict::NoPower {
            return Err(Fault::PowerCut);
        }
        let retries = if has_failed { 0 } else { self.retries(meter, verdict) };
        let mut read = after;
        for _ in 0..=retries {
            read = self.sense(page, Cause::Rebuild, read);
            meter.read(Cause::Rebuild);
            self.record.add(Operation::Read(page, Cause::Rebuild));
        }
        // Pages that hold words have a stronger code, and are read in the end.
        let is_strong =
            matches!(self.state.oob(page), OobRead::Written(oob) if oob.kind.holds_words());
        if verdict != ReadVerdict::Uncorrectable || is_strong && !has_failed {
            return Ok(Some(read));
        }
        if !has_failed {
            rain.gone.set(page);
        }
        Ok(None)
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
        // Recovery reads every page of the stripe anyway.
        let read = if self.recovering { None } else { self.read_stripe(meter, ppn, after)? };
        Ok((read.unwrap_or(after), self.state.oob(ppn)))
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
