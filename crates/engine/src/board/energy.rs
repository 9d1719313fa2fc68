//! Counts and busy times to joules: a pure table.

use super::nand::clock::{CellOperations, ServiceTime};
use crate::config::{EnergyModel, EnergySettings, SearchModel, SearchSettings};

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
            // mV * uA = nW; nW * ns = 1e-18 J = 1e-6 pJ.
            let nanowatts =
                u128::from(settings.millivolts) * u128::from(settings.flash_microamperes);
            let picojoules = |nanos: u128| nanowatts * nanos / 1_000_000;
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
