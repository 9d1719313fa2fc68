//! Joules: the engine's tables of energy, applied to its counts.

use ftlab_engine::board::energy::{FlashEnergy as Picojoules, flash_energy, search_energy};
use ftlab_engine::meter::Event;
use ftlab_engine::ssd::Device;

use crate::result::{Energy, FlashEnergy};

/// Energy of everything so far, in picojoules: of the flash, and of searches.
fn picojoules(device: &dyn Device) -> (Picojoules, u128) {
    let meter = device.board().meter();
    let settings = device.config();
    let clock = device.board().nand().clock();
    let (done, busy) = (clock.cell_operations(), clock.service_time());
    let steps = meter.events(Event::VictimSearchSteps) + meter.events(Event::CacheSearchSteps);
    (flash_energy(&settings.energy, done, &busy), search_energy(&settings.search, steps))
}

/// Energy of everything so far, in picojoules.
pub(crate) fn total_picojoules(device: &dyn Device) -> u128 {
    let (flash, search) = picojoules(device);
    flash.read + flash.program + flash.erase + search
}

pub(super) fn energy(device: &dyn Device) -> Energy {
    let (flash, search) = picojoules(device);
    let microjoules = |picojoules: u128| picojoules as f64 / 1e6;
    Energy {
        flash: FlashEnergy {
            read: microjoules(flash.read),
            program: microjoules(flash.program),
            erase: microjoules(flash.erase),
        },
        search: microjoules(search),
        total: microjoules(total_picojoules(device)),
        ..Energy::default()
    }
}
