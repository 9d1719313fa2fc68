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

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pairs: &[(&str, &str)]) -> BoardSettings {
        let mut config = BoardSettings::default();
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal alone"));
        config
    }

    /// What is said of these settings together; empty where nothing is.
    fn said(pairs: &[(&str, &str)]) -> String {
        config(pairs).check().map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_page_has_whole_sectors_and_64_of_them_at_most() {
        assert_eq!(said(&[("device.page_bytes", "32768")]), "");
        assert!(said(&[("device.page_bytes", "2304")]).contains("a multiple of 512"));
        // Programs that use the library can put anything there.
        let mut settings = config(&[]);
        settings.device.page_bytes.0 = 65 * 512;
        let error = settings.check().expect_err("more than 64 sectors");
        assert!(error.to_string().contains("at most 32 KiB"));
    }

    #[test]
    fn a_page_has_1_2_4_8_or_16_units_of_whole_sectors() {
        let refused = |page, unit| {
            let said = said(&[("device.page_bytes", page), ("device.mapping_unit", unit)]);
            assert!(said.is_empty() || said.starts_with("device.mapping_unit ="), "{said}");
            !said.is_empty()
        };
        assert!(!refused("8192", "512") && !refused("4096", "4096"));
        assert!(refused("16384", "512"), "32 of them");
        assert!(refused("4608", "1536"), "three of them");
        assert!(refused("4096", "768"), "one and a half sectors");
        assert!(refused("4096", "8192"), "more than a page");
        assert!(refused("6144", "2048") && refused("6144", "4096"), "three, and one and a half");
    }

    #[test]
    fn page_numbers_have_32_bits() {
        let pages = |blocks| {
            said(&[
                ("device.pages_per_block", "2"),
                ("device.bits_per_cell", "1"),
                ("device.blocks_per_plane", blocks),
                ("device.over_provisioning", "7%"),
            ])
        };
        assert_eq!(pages("2147483646"), "");
        assert!(pages("2147483647").contains("at most 4294967293 are possible"));
    }

    #[test]
    fn a_word_line_holds_a_page_for_each_bit() {
        let bits = |pages| {
            said(&[
                ("device.bits_per_cell", "3"),
                ("device.pages_per_block", pages),
                ("device.blocks_per_plane", "64"),
            ])
        };
        assert_eq!(bits("3"), "");
        assert!(bits("2").starts_with("device.pages_per_block = 2 is less than"));
    }

    /// 64 blocks of 16 pages of 2 KiB: 2 MiB.
    #[test]
    fn some_pages_are_left_over() {
        let logical = |bytes| {
            said(&[
                ("device.pages_per_block", "16"),
                ("device.blocks_per_plane", "64"),
                ("device.page_bytes", "2048"),
                ("device.logical_bytes", bytes),
            ])
        };
        assert_eq!(logical("2095104"), "", "all but one");
        assert!(logical("2097152").contains("asks for 1024 pages of 1024 physical ones"));
    }

    /// Of sixteen blocks of a plane four are bad: with stripes of four each costs its stripe a page
    /// that three others would have shared, so that two more are lost.
    #[test]
    fn blocks_that_can_be_counted_on_are_those_of_the_worst_plane() {
        let bad = [
            ("device.planes", "2"),
            ("device.blocks_per_plane", "16"),
            ("nand.factory_bad_blocks", "1,2,5,7,20"),
        ];
        let mut settings = config(&bad);
        assert_eq!((settings.usable_blocks(), settings.factory_bad_blocks()), (2 * 12, 5));
        settings.rain.stripe = 4;
        assert_eq!(settings.usable_blocks(), 2 * (16 - 4 - 2));
    }

    #[test]
    fn blocks_that_are_bad_from_the_start_are_of_the_device_and_not_all_of_a_plane() {
        let bad = |blocks| {
            said(&[
                ("device.planes", "2"),
                ("device.blocks_per_plane", "4"),
                ("device.over_provisioning", "7%"),
                ("nand.factory_bad_blocks", blocks),
            ])
        };
        assert_eq!([bad("7"), bad("1,2,3")], ["", ""]);
        assert!(bad("8").ends_with("names block 8, the device has blocks 0 to 7"));
        assert!(bad("4,5,6,7").contains("4 of them in a plane of 4: none is left there"));
    }

    #[test]
    fn the_groups_that_are_read_are_those_that_are_set() {
        let mut settings = BoardSettings::default();
        let read: Vec<&str> = settings.groups().iter().map(|group| group.name()).collect();
        let set: Vec<&str> = settings.groups_mut().iter().map(|group| group.name()).collect();
        assert_eq!(read, set);
        assert_eq!((read.len(), read[0]), (9, "device"));
    }
}
