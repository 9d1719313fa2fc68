//! Joules: the engine's tables of energy, applied to its counts.

use ftlab_engine::board::energy::{
    FlashEnergy as Picojoules, MemoryEnergy, flash_energy, memory_energy, search_energy,
};
use ftlab_engine::meter::Event;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

use crate::result::{DramEnergy, Energy, FlashEnergy, PcmEnergy};

/// Energy of everything up to a moment of the measured part, in picojoules: of the flash, of the
/// other memories, of searches.
fn picojoules(device: &dyn Device, until: Nanos) -> (Picojoules, MemoryEnergy, u128) {
    let board = device.board();
    let (meter, clock, settings) = (board.meter(), board.nand().clock(), device.config());
    let (done, busy) = (clock.cell_operations(), clock.service_time());
    let refreshed = if board.refreshes_dram() { until } else { 0 };
    let steps = meter.events(Event::VictimSearchSteps) + meter.events(Event::CacheSearchSteps);
    (
        flash_energy(&settings.energy, done, &busy),
        memory_energy(settings, meter, refreshed),
        search_energy(&settings.search, steps),
    )
}

/// Energy of everything so far, in picojoules, where the last completion was at `until`.
pub(crate) fn total_picojoules(device: &dyn Device, until: Nanos) -> u128 {
    let (flash, memories, search) = picojoules(device, until);
    flash.read + flash.program + flash.erase + memories.total() + search
}

pub(super) fn energy(device: &dyn Device, until: Nanos) -> Energy {
    let (flash, memories, search) = picojoules(device, until);
    let microjoules = |picojoules: u128| picojoules as f64 / 1e6;
    Energy {
        flash: FlashEnergy {
            read: microjoules(flash.read),
            program: microjoules(flash.program),
            erase: microjoules(flash.erase),
        },
        dram: DramEnergy {
            access: microjoules(memories.dram_access),
            refresh: microjoules(memories.dram_refresh),
        },
        pcm: PcmEnergy {
            read: microjoules(memories.pcm_read),
            write: microjoules(memories.pcm_write),
        },
        search: microjoules(search),
        total: microjoules(total_picojoules(device, until)),
    }
}
