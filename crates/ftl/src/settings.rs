//! The settings that every scheme sees: those of the board, and of the parts that schemes share.

mod lines;
mod placement;

use std::ops::{Deref, DerefMut, Range};

use ftlab_flash::board::settings::{BoardSettings, WearPolicy};
use ftlab_flash::settings::{Group, Groups, SettingError};
use ftlab_flash::units::PlaneId;

use crate::future::Known;
use crate::own::OwnPolicies;
use crate::parts::alloc::{AllocSettings, AllocUnit, FreeOrder};
use crate::parts::page_space::settings::{GcMode, GcSettings, GcTrigger, reserve};
use crate::parts::page_space::slc::settings::SlcSettings;
use crate::parts::placement::midas::settings::MidasSettings;
use crate::parts::placement::settings::{KeptTimes, PlacementSettings};
use crate::parts::placement::{Classes, PlacementKind, Times};
use crate::parts::victim::{VictimContext, VictimKind, Victims};
use crate::parts::zone_rules::ZoneRules;

/// What every scheme sees. The board's groups are read as if they were here: `settings.device`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedSettings {
    /// What decides the board.
    pub board: BoardSettings,
    /// Garbage collection of page-mapped blocks.
    pub gc: GcSettings,
    /// How data is divided into classes.
    pub placement: PlacementSettings,
    /// The numbers of one of the policies that do.
    pub midas: MidasSettings,
    /// Blocks that are used with one bit a cell.
    pub slc: SlcSettings,
    /// Where pages and blocks are taken from.
    pub alloc: AllocSettings,
    /// Choices that a program makes itself. No keys: a text cannot hold them.
    pub own: OwnPolicies,
    /// What of lines a host writes as zones. No key: the scheme that has zones says so.
    pub zones: Option<ZoneRules>,
    /// What becomes of every page that the workload writes. No key, as above.
    pub future: Option<Known>,
    /// Bytes of `device.ram_bytes` that something in front of the scheme takes. No key: whoever
    /// puts the device together says so.
    taken_ram: u64,
}

impl Deref for SharedSettings {
    type Target = BoardSettings;

    fn deref(&self) -> &BoardSettings {
        &self.board
    }
}

impl DerefMut for SharedSettings {
    fn deref_mut(&mut self) -> &mut BoardSettings {
        &mut self.board
    }
}

impl Groups for SharedSettings {
    fn groups(&self) -> Vec<&dyn Group> {
        let mut groups = self.board.groups();
        groups.extend([
            &self.gc as &dyn Group,
            &self.placement,
            &self.midas,
            &self.slc,
            &self.alloc,
        ]);
        groups
    }

    fn groups_mut(&mut self) -> Vec<&mut dyn Group> {
        let mut groups = self.board.groups_mut();
        groups.extend([
            &mut self.gc as &mut dyn Group,
            &mut self.placement,
            &mut self.midas,
            &mut self.slc,
            &mut self.alloc,
        ]);
        groups
    }
}

impl SharedSettings {
    /// The same, with `bytes` of the memory budget taken by something in front of the scheme.
    #[must_use]
    pub fn with_ram_taken(&self, bytes: u64) -> Self {
        SharedSettings { taken_ram: bytes, ..self.clone() }
    }

    /// What the memory budget leaves for maps; none where there is no budget.
    pub fn map_budget(&self) -> Option<u64> {
        let budget = self.device.ram_bytes.0?;
        Some(budget.0.saturating_sub(self.taken_ram))
    }

    /// Legality of the settings together, the board's among them.
    ///
    /// # Errors
    /// Says which settings exclude each other, and what is legal.
    pub fn check(&self) -> Result<(), SettingError> {
        self.board.check()?;
        self.check_free_order()?;
        self.check_own()?;
        self.check_placement()?;
        if self.gc.trigger == GcTrigger::GarbageShare && self.gc.mode == GcMode::Idle {
            return Err(SettingError::Conflict(
                "gc.trigger = garbage_share and gc.mode = idle exclude each other: the first \
                 collects as the host writes, the second in gaps only; legal: gc.mode = foreground \
                 or both, or gc.trigger = free_blocks"
                    .to_owned(),
            ));
        }
        self.check_slc()?;
        self.check_lines()?;
        self.check_skips()?;
        if self.gc.mode == GcMode::Foreground {
            return self.check_no_gaps();
        }
        Ok(())
    }

    /// Pages are passed over for copies that stay in their plane, in blocks of a plane, a victim at
    /// a time.
    fn check_skips(&self) -> Result<(), SettingError> {
        if !self.gc.skip_for_parity {
            return Ok(());
        }
        let conflict =
            |text: &str| Err(SettingError::Conflict(format!("gc.skip_for_parity = true {text}")));
        if !self.timing.copyback_same_parity {
            return conflict(
                "needs timing.copyback = true and timing.copyback_same_parity = true: else every copy \
                 may go to the next page",
            );
        }
        if self.alloc.unit == AllocUnit::Line || self.slc.is_on() || self.gc.idle_pages > 0 {
            return conflict(
                "goes neither with lines, nor with an SLC cache, nor with victims that are collected in \
                 pieces; legal: alloc.unit = plane, slc.static_blocks = 0, slc.dynamic_share = 0, \
                 gc.idle_pages = 0",
            );
        }
        if self.device.units_per_page() > 1 {
            return conflict(
                "is of flash pages, and a mapping unit cannot stay in its plane; legal: \
                 device.mapping_unit = auto",
            );
        }
        Ok(())
    }

    /// What says how gaps are used needs somebody who uses them.
    fn check_no_gaps(&self) -> Result<(), SettingError> {
        let needs = |setting: String, or: &str| {
            Err(SettingError::Conflict(format!(
                "{setting} needs gc.mode = idle or both{or}; in the foreground nothing is collected in \
                 gaps"
            )))
        };
        // What is refreshed moves in pieces as well.
        if self.gc.idle_pages > 0 && !self.refresh.moves_data() {
            let or = ", or data that is refreshed (refresh.reads, refresh.days)";
            return needs(format!("gc.idle_pages = {}", self.gc.idle_pages), or);
        }
        let usual = GcSettings::default().least_invalid;
        if self.gc.least_invalid.total_cmp(&usual).is_ne() {
            return needs(format!("gc.least_invalid = {}", self.gc.least_invalid), "");
        }
        Ok(())
    }

    /// The victim policy in force, for the blocks of one plane, or for the lines of the device: for
    /// candidates with these numbers, of so many pages.
    pub fn victims(&self, plane: PlaneId, blocks: Range<u32>, pages: u32) -> Victims {
        let GcSettings { victim, choices, window, .. } = self.gc;
        let own = self.own.victim.as_ref();
        Victims::new(victim, &VictimContext { plane, blocks, pages, choices, window, own })
    }

    /// What a setting calls `own` must be there, and what is there must be asked.
    fn check_own(&self) -> Result<(), SettingError> {
        let victim = self.gc.victim == VictimKind::Own;
        check_own("gc.victim", "victim", victim, self.own.victim.is_some())?;
        let placement = self.gc.placement == PlacementKind::Own;
        check_own("gc.placement", "placement", placement, self.own.placement.is_some())
    }

    /// Classes of data, each with a frontier of its own in every plane.
    pub fn data_classes(&self) -> u8 {
        match self.gc.placement.classes(&self.placement) {
            Classes::Fixed(classes) => classes,
            Classes::Set(usual) => self.placement.classes.0.map_or(usual, |set| set as u8),
        }
    }

    /// Streams of data for which every plane has room: two of every space, and further classes.
    pub fn data_streams(&self) -> u32 {
        u32::from(self.data_classes()).max(2)
    }

    /// Frontiers of every plane: of data, of maps, of the SLC cache.
    pub fn frontiers(&self) -> u32 {
        self.data_streams() + 1 + u32::from(self.slc.is_on())
    }

    /// Whether gaps between requests may be used to move what failed or is to be refreshed,
    /// whatever `gc.mode` says.
    pub fn repairs(&self) -> bool {
        self.rain.stripe > 0 || self.refresh.moves_data()
    }

    /// Blocks of every plane that no data is kept in: what collection and frontiers need, and what
    /// the SLC cache has for itself.
    pub fn blocks_beside_data(&self, threshold: u32) -> u64 {
        u64::from(reserve(threshold.min(64), self.frontiers())) + u64::from(self.slc.static_blocks)
    }

    /// Whether memory has a table of the time of every page's last write.
    pub fn keeps_times(&self) -> bool {
        match self.gc.placement.times(&self.placement) {
            Times::Never => false,
            Times::WhenMoved => self.placement.times == KeptTimes::Dram,
            Times::WhenWritten => true,
        }
    }

    /// A cache needs cells of several bits, and nobody else who says where the host's pages go.
    fn check_slc(&self) -> Result<(), SettingError> {
        if !self.slc.is_on() {
            return Ok(());
        }
        let what = match self.slc.static_blocks {
            0 => format!("slc.dynamic_share = {}", self.slc.dynamic_share),
            blocks => format!("slc.static_blocks = {blocks}"),
        };
        let conflict = |text: String| Err(SettingError::Conflict(format!("{what} {text}")));
        if self.device.bits_per_cell == 1 {
            return conflict(
                "uses cells of several bits with one, and device.bits_per_cell = 1 says that they \
                 hold one anyway; legal: device.bits_per_cell = 2 to 5"
                    .to_owned(),
            );
        }
        if self.gc.placement != PlacementKind::None {
            return conflict(format!(
                "and gc.placement = {} exclude each other: both say where the host's pages go; \
                 legal: one of the two",
                self.gc.placement.name()
            ));
        }
        if self.gc.trigger == GcTrigger::GarbageShare {
            return conflict(
                "and gc.trigger = garbage_share exclude each other: what a cache holds is no \
                 garbage of a log; legal: gc.trigger = free_blocks"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// For a scheme whose blocks cannot be filled line by line.
    ///
    /// # Errors
    /// Where the settings ask for lines.
    pub fn check_no_lines(&self, scheme: &str) -> Result<(), SettingError> {
        if self.alloc.unit == AllocUnit::Plane {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "alloc.unit = line does not go with {scheme}, which says by rules of its own which blocks \
             are filled and collected; legal: alloc.unit = plane, or a scheme that maps pages and \
             fills every block from front to back (ideal_page, ca_ssd, caftl, hat, dftl, cdftl, tpftl, \
             sftl, hmb, aps, jtl)"
        )))
    }

    /// For a scheme that has no SLC cache.
    ///
    /// # Errors
    /// Where the settings ask for one.
    pub fn check_no_slc(&self, scheme: &str) -> Result<(), SettingError> {
        if !self.slc.is_on() {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "slc.static_blocks = {} and slc.dynamic_share = {} ask for an SLC cache, and {scheme} \
             has none: it needs a scheme that maps pages and fills every block from front to back \
             (ideal_page, ca_ssd, caftl, hat, dftl, cdftl, tpftl, sftl, leaftl, hmb, aps, jtl); \
             legal: 0 and 0",
            self.slc.static_blocks, self.slc.dynamic_share
        )))
    }

    /// For a scheme that says by rules of its own which blocks are emptied.
    ///
    /// # Errors
    /// Where reads or age are to count.
    pub fn check_no_refresh(&self, scheme: &str) -> Result<(), SettingError> {
        if !self.refresh.is_on() {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "refresh.reads = {} and refresh.days = {} do not go with {scheme}, which says by rules of \
             its own which blocks are emptied; legal: 0 and 0, or a scheme that maps pages and fills \
             every block from front to back (ideal_page, ca_ssd, caftl, hat, dftl, cdftl, tpftl, sftl, \
             leaftl, hmb, aps, jtl)",
            self.refresh.reads, self.refresh.days
        )))
    }

    /// For such a scheme as [`SharedSettings::check_no_placement`] is for.
    ///
    /// # Errors
    /// Where it is to collect by the share of garbage.
    pub fn check_no_garbage_share(&self, scheme: &str) -> Result<(), SettingError> {
        if self.gc.trigger != GcTrigger::GarbageShare {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "gc.trigger = garbage_share does not go with {scheme}, which says by rules of its own \
             when blocks are collected; legal: gc.trigger = free_blocks, or a scheme that maps \
             pages and fills every block from front to back"
        )))
    }

    /// For a scheme whose host data is not in one space of pages, or that withholds blocks from
    /// collection.
    ///
    /// # Errors
    /// Where a policy is to divide it.
    pub fn check_no_placement(&self, scheme: &str) -> Result<(), SettingError> {
        let kind = self.gc.placement;
        if kind == PlacementKind::None {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "gc.placement = {} does not go with {scheme}, which says by rules of its own where \
             pages go; legal: gc.placement = none, or a scheme that maps pages and fills every \
             block from front to back (ideal_page, ca_ssd, caftl, hat, dftl, cdftl, tpftl, sftl, \
             leaftl, hmb, aps, jtl, zns)",
            kind.name()
        )))
    }

    /// Free blocks by erases is what every policy of wear is about, and what `none` is not.
    fn check_free_order(&self) -> Result<(), SettingError> {
        let Some(order) = self.alloc.policy.0 else { return Ok(()) };
        let policy = self.wear.policy;
        if (order == FreeOrder::MinErase) != (policy == WearPolicy::None) {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "alloc.policy = {} and wear.policy = {} exclude each other; legal: alloc.policy = fifo \
             or lifo with wear.policy = none, min_erase with any other, auto with all",
            order.name(),
            policy.name()
        )))
    }
}

/// Whether a setting says `own` where a policy of that place is given, and not otherwise.
///
/// # Errors
/// Says which of the two is missing.
pub fn check_own(key: &str, place: &str, says: bool, given: bool) -> Result<(), SettingError> {
    match (says, given) {
        (true, false) => Err(SettingError::Conflict(format!(
            "{key} = own needs a policy, which only a program that uses ftlab as a library can give \
             (Python: policies={{\"{place}\": ...}})"
        ))),
        (false, true) => Err(SettingError::Conflict(format!(
            "an own {place} policy needs {key} = own; as it stands nobody would ask it"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
