//! The settings of the board: geometry and memory, times, energy, laws and faults of the flash,
//! wear, odd requests, searches. A file per group.

mod device;
mod energy;
pub(super) mod factory_bad;
mod io;
mod nand;
mod rain;
mod refresh;
mod search;
mod timing;
mod wear;

pub use device::DeviceSettings;
pub use energy::{EnergyModel, EnergySettings};
pub use io::{IoSettings, PartialWrite, UnwrittenRead};
pub use nand::{NandSettings, ProgramOrder};
pub use rain::{RainFlush, RainSettings};
pub use refresh::RefreshSettings;
pub use search::{SearchModel, SearchSettings};
pub use timing::{ClockKind, Suspend, TimingProfile, TimingSettings};
pub use wear::{WearPolicy, WearSettings};

use crate::settings::{Group, Groups, SettingError};

/// What decides a board.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoardSettings {
    /// Geometry and capacity.
    pub device: DeviceSettings,
    /// Times of operations.
    pub timing: TimingSettings,
    /// Energy of operations.
    pub energy: EnergySettings,
    /// What searches cost.
    pub search: SearchSettings,
    /// How evenly blocks wear, and whether they die.
    pub wear: WearSettings,
    /// What the device does with odd requests.
    pub io: IoSettings,
    /// Laws and faults of the flash.
    pub nand: NandSettings,
    /// Parity over the dies of a line.
    pub rain: RainSettings,
    /// What reads and age do to data.
    pub refresh: RefreshSettings,
}

impl Groups for BoardSettings {
    fn groups(&self) -> Vec<&dyn Group> {
        vec![
            &self.device,
            &self.timing,
            &self.energy,
            &self.search,
            &self.wear,
            &self.io,
            &self.nand,
            &self.rain,
            &self.refresh,
        ]
    }

    fn groups_mut(&mut self) -> Vec<&mut dyn Group> {
        vec![
            &mut self.device,
            &mut self.timing,
            &mut self.energy,
            &mut self.search,
            &mut self.wear,
            &mut self.io,
            &mut self.nand,
            &mut self.rain,
            &mut self.refresh,
        ]
    }
}

impl BoardSettings {
    /// Legality of the settings together, and the limits that arrays depend on.
    ///
    /// # Errors
    /// Says which settings exclude each other, and what is legal.
    pub fn check(&self) -> Result<(), SettingError> {
        let device = &self.device;
        if !device.page_bytes.0.is_multiple_of(512) || device.page_bytes.0 / 512 > 64 {
            return Err(SettingError::Conflict(format!(
                "device.page_bytes = {} must be a multiple of 512 and at most 32 KiB",
                device.page_bytes.0
            )));
        }
        let unit = device.unit_bytes();
        let units = device.page_bytes.0.checked_div(unit).unwrap_or(0);
        if !unit.is_multiple_of(512)
            || units * unit != device.page_bytes.0
            || !units.is_power_of_two()
            || units > 16
        {
            return Err(SettingError::Conflict(format!(
                "device.mapping_unit = {unit} must be a multiple of 512 and device.page_bytes = {} \
                 divided by 1, 2, 4, 8 or 16",
                device.page_bytes.0
            )));
        }
        let pages = device.physical_blocks() * u64::from(device.units_per_block());
        if pages >= u64::from(u32::MAX) - 1 {
            return Err(SettingError::Conflict(format!(
                "the device has {pages} physical pages; page numbers are 32 bits wide, so at \
                 most {} are possible: use larger pages",
                u32::MAX - 2
            )));
        }
        if device.pages_per_block < device.bits_per_cell {
            return Err(SettingError::Conflict(format!(
                "device.pages_per_block = {} is less than device.bits_per_cell = {}: a word line \
                 of a block holds a page for each bit",
                device.pages_per_block, device.bits_per_cell
            )));
        }
        self.check_factory_bad()?;
        self.rain.check(&self.device, &self.nand)?;
        self.refresh.check()?;
        if device.logical_pages() == 0 {
            return Err(SettingError::Conflict(
                "the device exports no page: it has too few blocks".to_string(),
            ));
        }
        if device.logical_pages() >= pages {
            return Err(SettingError::Conflict(format!(
                "device.logical_bytes asks for {} pages of {pages} physical ones; some must be \
                 left over",
                device.logical_pages()
            )));
        }
        self.timing.check()
    }

    fn check_factory_bad(&self) -> Result<(), SettingError> {
        let blocks = self.device.physical_blocks();
        let named = NandSettings::named_bad_blocks(&self.nand.factory_bad_blocks);
        if let Some(&beyond) = named.iter().flatten().find(|&&block| u64::from(block) >= blocks) {
            return Err(SettingError::Conflict(format!(
                "nand.factory_bad_blocks names block {beyond}, the device has blocks 0 to {}",
                blocks - 1
            )));
        }
        let (all, most) = factory_bad::count(&self.device, &self.nand);
        if most >= u64::from(self.device.blocks_per_plane) {
            return Err(SettingError::Conflict(format!(
                "{all} blocks are bad from the start (nand.factory_bad_rate, \
                 nand.factory_bad_blocks), {most} of them in a plane of {}: none is left there",
                self.device.blocks_per_plane
            )));
        }
        Ok(())
    }

    /// Blocks of the whole device that can be counted on: as many in every plane as the plane with
    /// most factory-bad blocks has good ones. With parity a bad block costs its stripe a page of
    /// data at every offset, and not the share of one that the others have.
    pub fn usable_blocks(&self) -> u64 {
        let (_, bad) = factory_bad::count(&self.device, &self.nand);
        let shares = match self.rain.stripe {
            0 => 0,
            stripe => bad.div_ceil(u64::from(stripe) - 1),
        };
        let lost = bad + shares;
        self.device.plane_count() * u64::from(self.device.blocks_per_plane).saturating_sub(lost)
    }

    /// Factory-bad blocks of the device.
    pub fn factory_bad_blocks(&self) -> u64 {
        factory_bad::count(&self.device, &self.nand).0
    }

    /// Says that a scheme needs more blocks than can be counted on.
    #[cold]
    pub fn too_few_blocks(&self, scheme: &str, minimum: u64) -> SettingError {
        let blocks = self.device.physical_blocks();
        let bad = match self.factory_bad_blocks() {
            0 => String::new(),
            bad => format!(
                ", {bad} of them bad from the start (with as many in every plane as in the worst, \
                 {} can be used)",
                self.usable_blocks()
            ),
        };
        SettingError::Conflict(format!(
            "{scheme} needs at least {minimum} blocks for {} logical pages, the device has \
             {blocks}{bad}: raise device.over_provisioning or device.blocks_per_plane",
            self.device.logical_pages()
        ))
    }
}
