//! Energy by memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Energy of the flash, in microjoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlashEnergy {
    /// Page reads.
    pub read: f64,
    /// Page programs.
    pub program: f64,
    /// Block erases.
    pub erase: f64,
}

/// Energy of the DRAM, in microjoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DramEnergy {
    /// Accesses.
    pub access: f64,
    /// Refresh over the simulated time, where the scheme keeps a table of its own there.
    pub refresh: f64,
}

/// Energy of the phase-change memory, in microjoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PcmEnergy {
    /// Reads.
    pub read: f64,
    /// Writes.
    pub write: f64,
}

/// Energy, in microjoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Energy {
    /// Flash.
    pub flash: FlashEnergy,
    /// DRAM.
    pub dram: DramEnergy,
    /// Phase-change memory.
    pub pcm: PcmEnergy,
    /// Table searches.
    pub search: f64,
    /// All of it.
    pub total: f64,
}
