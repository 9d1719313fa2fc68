//! Counts and busy times to joules: a pure table.

use super::nand::clock::{CellOperations, ServiceTime};
use crate::board::settings::{
    BoardSettings, EnergyModel, EnergySettings, SearchModel, SearchSettings,
};
use crate::meter::{Event, Meter};
use crate::units::Nanos;

/// Energy of the flash by operation, in picojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashEnergy {
    /// Page reads.
    pub read: u128,
    /// Page programs.
    pub program: u128,
    /// Block erases.
    pub erase: u128,
}

/// What the operations that were counted cost.
///
/// Under `current`, E = V * I * t over the cells' busy time, and over the transfers too when
/// `energy.flash_during_transfer` says so: what goes into the flash counts as programs, what comes
/// out as reads.
pub fn flash_energy(
    settings: &EnergySettings,
    done: CellOperations,
    busy: &ServiceTime,
) -> FlashEnergy {
    let CellOperations { reads, programs, erases } = done;
    match settings.model {
        EnergyModel::PerOperation => FlashEnergy {
            read: u128::from(reads) * u128::from(settings.read.0),
            program: u128::from(programs) * u128::from(settings.program.0),
            erase: u128::from(erases) * u128::from(settings.erase.0),
        },
        EnergyModel::Current => {
            let picojoules = |nanos: u128| by_current(settings, settings.flash_microamperes, nanos);
            let with = |cells: u64, transfer: u64| match settings.flash_during_transfer {
                true => u128::from(cells) + u128::from(transfer),
                false => u128::from(cells),
            };
            FlashEnergy {
                read: picojoules(with(busy.read, busy.transfer - busy.transfer_in)),
                program: picojoules(with(busy.program, busy.transfer_in)),
                erase: picojoules(u128::from(busy.erase)),
            }
        }
        EnergyModel::None => FlashEnergy::default(),
    }
}

/// V * I * t in picojoules: mV * uA = nW; nW * ns = 1e-18 J = 1e-6 pJ.
fn by_current(settings: &EnergySettings, microamperes: u64, nanos: u128) -> u128 {
    u128::from(settings.millivolts) * u128::from(microamperes) * nanos / 1_000_000
}

/// Energy of the memories beside the flash, in picojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryEnergy {
    /// Accesses to DRAM.
    pub dram_access: u128,
    /// Refresh of DRAM.
    pub dram_refresh: u128,
    /// Entries read from phase-change memory.
    pub pcm_read: u128,
    /// Entries written to it.
    pub pcm_write: u128,
}

impl MemoryEnergy {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.dram_access + self.dram_refresh + self.pcm_read + self.pcm_write
    }
}

/// How long an access to DRAM draws current where neither setting says so: the row cycle of an
/// SDRAM.
const DRAM_ACCESS: Nanos = 60;

/// What the accesses that `meter` counted cost, and the refresh of DRAM for `refreshed` (0 where
/// the scheme keeps no table there).
pub fn memory_energy(config: &BoardSettings, meter: &Meter, refreshed: Nanos) -> MemoryEnergy {
    let (settings, timing) = (&config.energy, &config.timing);
    let count = |event| u128::from(meter.events(event));
    let accesses = count(Event::DramAccesses);
    let (reads, writes) = (count(Event::PcmReads), count(Event::PcmWrites));
    let refreshed = u128::from(refreshed);
    match settings.model {
        EnergyModel::PerOperation => MemoryEnergy {
            dram_access: accesses * u128::from(settings.dram_access.0),
            dram_refresh: refreshed * u128::from(settings.dram_refresh.0) / 1_000_000_000,
            pcm_read: reads * u128::from(settings.pcm_read.0),
            pcm_write: writes * u128::from(settings.pcm_write.0),
        },
        EnergyModel::Current => {
            let auto = if timing.dram_access.0 > 0 { timing.dram_access.0 } else { DRAM_ACCESS };
            let access = u128::from(settings.dram_access_time.0.map_or(auto, |time| time.0));
            let (read, write) = (u128::from(timing.pcm_read.0), u128::from(timing.pcm_write.0));
            let picojoules = |microamperes, nanos| by_current(settings, microamperes, nanos);
            MemoryEnergy {
                dram_access: picojoules(settings.dram_microamperes, accesses * access),
                dram_refresh: picojoules(settings.dram_refresh_microamperes, refreshed),
                pcm_read: picojoules(settings.pcm_read_microamperes, reads * read),
                pcm_write: picojoules(settings.pcm_write_microamperes, writes * write),
            }
        }
        EnergyModel::None => MemoryEnergy::default(),
    }
}

/// What the charged steps of searches cost, in picojoules.
pub fn search_energy(settings: &SearchSettings, steps: u64) -> u128 {
    match settings.model {
        SearchModel::None => 0,
        SearchModel::Scan | SearchModel::List => {
            u128::from(steps) * u128::from(settings.step_energy.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Groups as _;

    #[test]
    fn one_erase_on_ssdsim_costs_123_75_microjoules() {
        // HAT 2010, Table 4: 1.5 ms at 3.3 V and 25 mA.
        let settings = EnergySettings { model: EnergyModel::Current, ..Default::default() };
        let busy = ServiceTime { erase: 1_500_000, ..Default::default() };
        let energy =
            flash_energy(&settings, CellOperations { reads: 0, programs: 0, erases: 1 }, &busy);
        assert_eq!(energy.erase, 123_750_000);
    }

    #[test]
    fn a_search_costs_its_steps_where_searches_are_charged() {
        for (model, expected) in
            [(SearchModel::None, 0), (SearchModel::Scan, 7 * 5), (SearchModel::List, 7 * 5)]
        {
            let mut config = BoardSettings::default();
            config.set("search.step_energy", "5pJ").expect("legal");
            config.search.model = model;
            assert_eq!(search_energy(&config.search, 7), expected, "{model:?}");
        }
    }

    /// HAT 2010, Table 4: tR alone, or with 2112 bytes over the channel.
    #[test]
    fn a_read_on_ssdsim_costs_1_65_or_6_0_microjoules() {
        let read = |flash_during_transfer| {
            let model = EnergyModel::Current;
            let settings = EnergySettings { model, flash_during_transfer, ..Default::default() };
            let busy = ServiceTime { read: 20_000, transfer: 52_800, ..Default::default() };
            let done = CellOperations { reads: 1, ..Default::default() };
            flash_energy(&settings, done, &busy).read
        };
        assert_eq!((read(false), read(true)), (1_650_000, 6_006_000));
    }

    /// 3.3 V and 25 mA: a program of 200 us with its transfer of 40 us, of the 100 us of transfers.
    #[test]
    fn what_goes_into_the_flash_counts_as_programs_and_the_rest_as_reads() {
        let model = EnergyModel::Current;
        let settings = EnergySettings { model, flash_during_transfer: true, ..Default::default() };
        let busy = ServiceTime {
            read: 20_000,
            program: 200_000,
            transfer: 100_000,
            transfer_in: 40_000,
            ..Default::default()
        };
        let energy = flash_energy(&settings, CellOperations::default(), &busy);
        assert_eq!((energy.read, energy.program), (80 * 82_500, 240 * 82_500));
    }

    /// A device that did each thing ten times and was on for a second.
    fn memories(pairs: &[(&str, &str)]) -> MemoryEnergy {
        let mut config = BoardSettings::default();
        for (key, value) in pairs {
            config.set(key, value).expect("a legal setting");
        }
        let mut meter = Meter::new(config.device.pages_per_block);
        for event in [Event::DramAccesses, Event::PcmReads, Event::PcmWrites] {
            meter.event(event, 10);
        }
        memory_energy(&config, &meter, 1_000_000_000)
    }

    /// HAT 2010, Table 4: 3.3 V; 35 mA for 90 us, 8 mA for 115 ns, 3 mA all the time, 125 mA for
    /// the 60 ns of a row cycle.
    #[test]
    fn memories_cost_voltage_times_current_times_time() {
        let found = memories(&[("energy.model", "current")]);
        assert_eq!(found.pcm_write, 10 * 33 * 35 * 90 * 100);
        assert_eq!(found.pcm_read, 10 * 3_036);
        assert_eq!(found.dram_refresh, 9_900_000_000);
        assert_eq!(found.dram_access, 10 * 24_750);
        let slow = [("energy.model", "current"), ("timing.dram_access", "120ns")];
        assert_eq!(memories(&slow).dram_access, 20 * 24_750, "auto follows timing");
        let stated =
            [slow[0], slow[1], ("energy.dram_access_time", "30ns"), ("timing.pcm_read", "230ns")];
        assert_eq!(memories(&stated).dram_access, 5 * 24_750);
        assert_eq!(memories(&stated).pcm_read, 20 * 3_036);
    }

    #[test]
    fn memories_cost_so_much_per_operation_where_a_device_says_so() {
        assert_eq!(memories(&[]), MemoryEnergy::default());
        let found = memories(&[
            ("energy.dram_access", "1nJ"),
            ("energy.dram_refresh", "2mJ"),
            ("energy.pcm_read", "3nJ"),
            ("energy.pcm_write", "4uJ"),
        ]);
        let parts = (found.dram_access, found.dram_refresh, found.pcm_read, found.pcm_write);
        assert_eq!(parts, (10_000, 2_000_000_000, 30_000, 40_000_000));
        assert_eq!(found.total(), 2_040_040_000);
    }

    #[test]
    fn per_operation_energy_is_dftl_2014_table_2() {
        let energy = flash_energy(
            &EnergySettings::default(),
            CellOperations { reads: 10, programs: 10, erases: 10 },
            &Default::default(),
        );
        assert_eq!(energy.read, 47_200_000);
        assert_eq!(energy.program, 380_400_000);
        assert_eq!(energy.erase, 5_276_800_000);
    }
}
