//! The group `energy`: what operations cost in joules.

use crate::settings::{Duration, Energy, Optional};
use crate::{choices, settings};

choices! {
    /// How energy is counted.
    pub enum EnergyModel {
        /// So much per operation.
        PerOperation = "per_operation",
        /// Voltage times current times busy time.
        Current = "current",
        /// Not at all: nobody knows what the part draws. Every joule is 0.
        None = "none",
    }
}

settings! {
    /// Energy of operations.
    pub struct EnergySettings in "energy" {
        /// Per operation, or voltage times current times time; none: nothing is known of the part,
        /// and only searches count (search.step_energy).
        model: EnergyModel = EnergyModel::PerOperation, legal("", |_| true),
            source("DFTL 2014, Table 2; HAT 2010, Table 4");
        /// One page read (per_operation).
        read: Energy = Energy(4_720_000), legal("", |_| true), source("DFTL 2014, Table 2");
        /// One page program (per_operation).
        program: Energy = Energy(38_040_000), legal("", |_| true), source("DFTL 2014, Table 2");
        /// One block erase (per_operation).
        erase: Energy = Energy(527_680_000), legal("", |_| true), source("DFTL 2014, Table 2");
        /// Supply in millivolts (current).
        millivolts: u64 = 3300, legal("1..=100000", |v| (1..=100_000).contains(v)),
            source("HAT 2010, Table 4");
        /// Flash current while it works, in microamperes (current).
        flash_microamperes: u64 = 25_000,
            legal("1..=10000000", |v| (1..=10_000_000).contains(v)), source("HAT 2010, Table 4");
        /// Whether a flash page operation draws current during its transfer too (current).
        flash_during_transfer: bool = true, legal("", |_| true),
            source("open: docs/papers/hat2010.md#energy");
        /// DRAM current during an access, in microamperes (current).
        dram_microamperes: u64 = 125_000,
            legal("0..=10000000", |v| *v <= 10_000_000), source("HAT 2010, Table 4");
        /// How long an access draws it (current); auto: timing.dram_access, or where that is 0 the
        /// row cycle of an SDRAM, 60 ns. HAT prints none.
        dram_access_time: Optional<Duration> = Optional(None), legal("", |_| true),
            source("SDRAM datasheets, tRC; the value of auto is ours");
        /// DRAM current of refresh, in microamperes (current): all the time, in devices whose
        /// scheme keeps a table in DRAM. Valid counts and bitmaps, trim records and checkpoint
        /// buffers are aids of ftlab and no such tables.
        dram_refresh_microamperes: u64 = 3000,
            legal("0..=10000000", |v| *v <= 10_000_000), source("HAT 2010, Table 4");
        /// Phase-change memory current during a read, in microamperes (current).
        pcm_read_microamperes: u64 = 8000,
            legal("0..=10000000", |v| *v <= 10_000_000), source("HAT 2010, Table 4");
        /// Phase-change memory current during a write, in microamperes (current).
        pcm_write_microamperes: u64 = 35_000,
            legal("0..=10000000", |v| *v <= 10_000_000), source("HAT 2010, Table 4");
        /// One access to DRAM (per_operation).
        dram_access: Energy = Energy(0), legal("", |_| true), source("not in DFTL 2014");
        /// Refresh of the DRAM for a second, where the scheme keeps a table there (per_operation).
        dram_refresh: Energy = Energy(0), legal("", |_| true), source("not in DFTL 2014");
        /// One entry read from phase-change memory (per_operation).
        pcm_read: Energy = Energy(0), legal("", |_| true), source("not in DFTL 2014");
        /// One entry written to phase-change memory (per_operation).
        pcm_write: Energy = Energy(0), legal("", |_| true), source("not in DFTL 2014");
    }
}
