//! The settings that every scheme sees: those of the board, and of the parts that schemes share.

mod placement;

use std::ops::{Deref, DerefMut};

use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::geometry::{Geometry, PlacementOrder};
use ftlab_flash::board::settings::{BoardSettings, WearPolicy};
use ftlab_flash::settings::{Group, Groups, SettingError};
use ftlab_flash::units::PlaneId;

use crate::future::Known;
use crate::own::OwnPolicies;
use crate::parts::alloc::{AllocSettings, AllocUnit, FreeOrder};
use crate::parts::line_book::full_line;
use crate::parts::page_space::settings::{GcMode, GcSettings, GcTrigger, GcUnit, reserve};
use crate::parts::page_space::slc::settings::SlcSettings;
use crate::parts::placement::midas::settings::MidasSettings;
use crate::parts::placement::settings::{KeptTimes, PlacementSettings};
use crate::parts::placement::{Classes, PlacementKind, Times};
use crate::parts::victim::{VictimContext, VictimKind, Victims};

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

    /// Pages are passed over for copies that stay in their plane, in blocks of a plane, a victim at a
    /// time.
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
        let needs = |key: &str, value: String| {
            Err(SettingError::Conflict(format!(
                "{key} = {value} needs gc.mode = idle or both; in the foreground nothing is \
                 collected in gaps"
            )))
        };
        if self.gc.idle_pages > 0 {
            return needs("gc.idle_pages", self.gc.idle_pages.to_string());
        }
        let usual = GcSettings::default().least_invalid;
        if self.gc.least_invalid.total_cmp(&usual).is_ne() {
            return needs("gc.least_invalid", self.gc.least_invalid.to_string());
        }
        Ok(())
    }

    /// The victim policy in force, for one plane, or for the lines of the device: candidates of so
    /// many pages.
    pub fn victims(&self, nand: &Nand, plane: PlaneId, pages: u32) -> Victims {
        let GcSettings { victim, choices, window, .. } = self.gc;
        let own = self.own.victim.as_ref();
        Victims::new(victim, &VictimContext { nand, plane, pages, choices, window, own })
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

    /// Whether gaps between requests may be used to move what failed or is to be refreshed, whatever
    /// `gc.mode` says.
    pub fn repairs(&self) -> bool {
        self.rain.stripe > 0 || self.refresh.moves_data()
    }

    /// Blocks of every plane that so many pages take, spread evenly: of lines, what a line holds
    /// without its parity, and without the die that is to fail.
    pub fn blocks_for(&self, pages: u64) -> u64 {
        let device = &self.device;
        match self.alloc.unit {
            AllocUnit::Plane => {
                pages.div_ceil(device.plane_count()).div_ceil(u64::from(device.units_per_block()))
            }
            AllocUnit::Line => pages.div_ceil(self.pages_of_line().max(1)),
        }
    }

    /// Pages of data that a line of good blocks holds once the die has failed that is to.
    fn pages_of_line(&self) -> u64 {
        let full = full_line(&Geometry::new(&self.device), self.rain.stripe);
        let lost = match self.nand.failing_die.0 {
            Some(_) => self.device.planes * self.device.units_per_block(),
            None => 0,
        };
        u64::from(full.saturating_sub(lost))
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

    /// Lines have one order, one collection, one sort of blocks; parity and a die that fails need
    /// them.
    fn check_lines(&self) -> Result<(), SettingError> {
        let conflict = |text: String| Err(SettingError::Conflict(text));
        if self.alloc.unit == AllocUnit::Plane {
            if self.rain.stripe > 0 {
                return conflict(format!(
                    "rain.stripe = {} needs alloc.unit = line: parity is over the dies of a line",
                    self.rain.stripe
                ));
            }
            if let Some(die) = self.nand.failing_die.0 {
                return conflict(format!(
                    "nand.failing_die = {die} needs alloc.unit = line: a plane that collects by \
                     itself has no other place for its pages"
                ));
            }
            return Ok(());
        }
        let and = |key: &str, value: &str, why: &str| {
            conflict(format!("alloc.unit = line and {key} = {value} exclude each other: {why}"))
        };
        if self.slc.is_on() {
            let blocks = self.slc.static_blocks.to_string();
            let share = self.slc.dynamic_share.to_string();
            let (key, value) = match self.slc.static_blocks {
                0 => ("slc.dynamic_share", share),
                _ => ("slc.static_blocks", blocks),
            };
            let why = "an SLC cache takes single blocks of a plane; legal: no cache, or alloc.unit = \
                       plane";
            return and(key, &value, why);
        }
        if self.gc.unit != GcUnit::Plane {
            let why = "a line is of all dies anyway; legal: gc.unit = plane";
            return and("gc.unit", self.gc.unit.name(), why);
        }
        if self.wear.policy == WearPolicy::Static {
            let why = "static levelling moves single blocks; legal: wear.policy = implicit, dynamic \
                       or none";
            return and("wear.policy", self.wear.policy.name(), why);
        }
        let order = self.alloc.order;
        if order == PlacementOrder::Dynamic {
            let why = "pages of a line follow one another in a fixed order; legal: a static order";
            return and("alloc.order", order.name(), why);
        }
        if self.rain.stripe > 0 && order != PlacementOrder::ChannelDiePlane {
            return conflict(format!(
                "rain.stripe = {} and alloc.order = {} exclude each other: a stripe is of dies in \
                 the order in which channels take turns first; legal: alloc.order = channel_die_plane",
                self.rain.stripe,
                order.name()
            ));
        }
        if self.rain.stripe > 0 && self.timing.copyback {
            return conflict(format!(
                "rain.stripe = {} and timing.copyback = true exclude each other: a page that stays in \
                 its plane is never in the controller, which needs it for the parity of its new \
                 stripe; legal: timing.copyback = false, or rain.stripe = 0",
                self.rain.stripe
            ));
        }
        if self.nand.failing_die.0.is_some() && self.pages_of_line() == 0 {
            return conflict(
                "nand.failing_die leaves no die that a page could be moved to; legal: a device of \
                 more dies than two of a stripe, or rain.stripe = 0"
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
             fills every block from front to back (ideal_page, ca_ssd, hat, dftl, cdftl, tpftl, \
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
             (ideal_page, ca_ssd, hat, dftl, cdftl, tpftl, sftl, leaftl, hmb, aps, jtl); legal: 0 \
             and 0",
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
             every block from front to back (ideal_page, ca_ssd, hat, dftl, cdftl, tpftl, sftl, \
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
             block from front to back (ideal_page, ca_ssd, hat, dftl, cdftl, tpftl, sftl, \
             leaftl, hmb, aps, jtl)",
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
