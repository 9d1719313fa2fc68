//! What the controller has the parity of, and of what it has none: stripes that are open, pages of
//! which it lost the parity with the power, parity pages of stripes of which a part was erased.

use super::super::geometry::Geometry;
use super::super::state::{Oob, OobRead, PageKind};
use super::{Nand, Rain};
use crate::units::{BlockId, Ppn};

impl Rain {
    /// What a stripe is named by: the first unit of its first flash page.
    fn stripe_of(&self, geometry: &Geometry, page: Ppn) -> Ppn {
        let first = self.members(geometry, page).next().expect("a stripe has pages");
        Ppn(first.0 - geometry.offset_of(first) % geometry.units_per_flash_page)
    }

    /// A block is erased, or its erase was interrupted.
    pub(in super::super) fn erased(&mut self, geometry: &Geometry, block: BlockId, sequence: u64) {
        self.failing.retain(|&page| geometry.block_of(page) != block);
        self.erased_at[block.index()] = sequence;
        for bits in [&mut self.gone, &mut self.forgotten, &mut self.bare] {
            bits.erased(geometry, block);
        }
    }
}

impl Nand {
    /// A frontier fills the stripe of a page from now on (none: no stripe), of which memory has the
    /// parity then.
    pub fn hold_parity(&mut self, frontier: usize, page: Option<Ppn>) {
        let Some(rain) = &mut self.rain else { return };
        let stripe = page.map(|page| rain.stripe_of(&self.geometry, page));
        rain.held.open[frontier] = stripe;
    }

    /// The first page of the stripe whose parity memory has for a frontier.
    pub fn held_parity(&self, frontier: usize) -> Option<Ppn> {
        self.rain.as_ref().and_then(|rain| rain.held.open[frontier])
    }

    /// Whether memory has the parity of a page's stripe.
    pub(super) fn holds_parity_of(&self, rain: &Rain, page: Ppn) -> bool {
        rain.held.has(rain.stripe_of(&self.geometry, page))
    }

    /// A stripe was completed without parity; whether that was not told before.
    pub fn is_bare_from_now_on(&mut self, ppn: Ppn) -> bool {
        let Some(mut rain) = self.rain.take() else { return false };
        let mut is_new = true;
        for unit in self.stripe_units(&rain, ppn) {
            let pages: Vec<Ppn> = self.content(&rain, unit).map(|(page, ..)| page).collect();
            is_new &= !pages.iter().any(|&page| rain.bare.has(page));
            pages.iter().for_each(|&page| rain.bare.set(page));
        }
        self.rain = Some(rain);
        is_new
    }

    /// Pages of a stripe that memory has the parity of, and no parity page.
    pub fn uncovered(&self, ppn: Ppn) -> u32 {
        let Some(rain) = &self.rain else { return 0 };
        let bare = |unit: Ppn| {
            let pages = self.content(rain, unit);
            pages.filter(|&(page, at, _)| self.parities(rain, page, at).next().is_none()).count()
        };
        self.stripe_units(rain, ppn).map(bare).sum::<usize>() as u32
    }

    /// The mapping units of the first flash page of a page's stripe.
    fn stripe_units(&self, rain: &Rain, ppn: Ppn) -> impl Iterator<Item = Ppn> + use<> {
        let first = rain.stripe_of(&self.geometry, ppn).0;
        (first..first + self.geometry.units_per_flash_page).map(Ppn)
    }

    /// Power is back. Without capacitors the parity of open stripes is gone, and found again by the
    /// scan where pages can be read: of one that cannot, and that no parity page covers, for good.
    pub(in super::super) fn rain_recovers(&mut self) {
        let Some(mut rain) = self.rain.take() else { return };
        rain.failing.clear();
        rain.held.power_on(rain.saves);
        if std::mem::take(&mut rain.is_restored) {
            rain.restored_until = self.sequence;
        }
        if !rain.saves {
            for page in (0..self.geometry.pages()).map(Ppn) {
                let is_out = self.has_failed(self.geometry.plane_of(page)) || rain.gone.has(page);
                if is_out
                    && let OobRead::Written(oob) = self.state.oob(page)
                    && oob.kind != PageKind::Parity
                    && self.parities(&rain, page, oob.sequence).next().is_none()
                {
                    rain.forgotten.set(page);
                }
            }
        }
        self.rain = Some(rain);
    }

    /// Recovery is over: what memory has the parity of it has said.
    pub(in super::super) fn rain_has_recovered(&mut self) {
        if let Some(rain) = &mut self.rain {
            rain.held.saved.clear();
        }
    }

    /// The parity pages that cover a page of this sequence number, with theirs.
    fn parities(
        &self,
        rain: &Rain,
        ppn: Ppn,
        sequence: u64,
    ) -> impl Iterator<Item = (Ppn, u64)> + use<'_> {
        rain.members(&self.geometry, ppn).filter_map(move |page| match self.state.oob(page) {
            OobRead::Written(Oob { kind: PageKind::Parity, sequence: at, .. }) if at > sequence => {
                Some((page, at))
            }
            _ => None,
        })
    }

    /// What covers a page: a parity page, the first that can be read, or memory (none). An error
    /// where nothing does.
    pub(super) fn cover(
        &self,
        rain: &Rain,
        ppn: Ppn,
        sequence: u64,
    ) -> Result<Option<(Ppn, u64)>, ()> {
        if rain.forgotten.has(ppn) {
            return Err(());
        }
        let can_be_read =
            |page: Ppn| !rain.gone.has(page) && !self.has_failed(self.geometry.plane_of(page));
        let parities = self.parities(rain, ppn, sequence).filter(|&(page, _)| can_be_read(page));
        match parities.min_by_key(|&(_, sequence)| sequence) {
            Some(first) => Ok(Some(first)),
            None if self.holds_parity_of(rain, ppn) => Ok(None),
            None => Err(()),
        }
    }

    /// Whether a block of a parity page's stripe was erased since it was programmed: it covers
    /// nothing any more.
    pub(super) fn is_left_over(&self, rain: &Rain, parity: Ppn, sequence: u64) -> bool {
        sequence <= rain.restored_until
            || rain
                .members(&self.geometry, parity)
                .any(|page| rain.erased_at[self.geometry.block_of(page).index()] >= sequence)
    }

    /// Whether a parity page says what the pages of its stripe are that were programmed before it.
    /// Of a stripe of which an interrupted erase has left a part it says nothing.
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
        let (count, parity) = self.parity_before(rain, ppn, sequence);
        let is_right = (count, parity) == (logical, self.state.tag(ppn).0);
        match is_right || self.is_left_over(rain, ppn, sequence) {
            true => Ok(()),
            false => Err(format!(
                "page {ppn} is not the parity of its stripe: it covers {logical} pages, of which {count} \
                 are there"
            )),
        }
    }
}
