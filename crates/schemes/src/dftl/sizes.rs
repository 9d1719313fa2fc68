//! What DFTL needs, known before any run.

use crate::dftl::settings::Config;
use ftlab_ftl::parts::demand_mapped::{self, Needs, cache_budget, gtd_bytes};
use ftlab_ftl::parts::map_recovery::Consistency;

use super::{DftlSettings, WriteBack};

/// Entries of the CMT: as set, else what the budget holds, else `dftl.auto_entries`; never more
/// than there are logical pages.
pub(super) fn entries(config: &Config) -> u32 {
    let dftl = &config.own;
    let budget = cache_budget(config, dftl.gtd_in_budget, leaving_bytes(config));
    let wanted = match (dftl.cmt_entries.0, budget) {
        (Some(entries), _) => u64::from(entries),
        (None, Some(budget)) => budget / u64::from(dftl.entry_bytes),
        (None, None) => u64::from(dftl.auto_entries),
    };
    wanted.clamp(2, config.device.logical_pages().max(2)) as u32
}

/// Entries that can wait for the end of a request; never more than there are logical pages.
pub(super) fn leaving(config: &Config) -> u32 {
    let dftl = &config.own;
    match dftl.writeback {
        WriteBack::InRequest => 0,
        WriteBack::AfterCompletion => {
            u64::from(dftl.writeback_entries).min(config.device.logical_pages()) as u32
        }
    }
}

pub(super) fn leaving_bytes(config: &Config) -> u64 {
    u64::from(leaving(config)) * u64::from(config.own.entry_bytes)
}

/// The settings as they work: memory that survives as a whole is a battery.
pub(super) fn effective(config: &Config) -> DftlSettings {
    let mut dftl = config.own.clone();
    if config.device.ram_nonvolatile {
        dftl.consistency = Consistency::Battery;
    }
    dftl
}

/// Threshold, checkpoints, and what writes without look-up leave behind.
pub(super) fn needs(config: &Config) -> Needs {
    let dftl = effective(config);
    let entries = u64::from(entries(config)) + u64::from(leaving(config));
    let checkpoint_words = match dftl.consistency {
        Consistency::Replay => 2 * entries,
        Consistency::Gtd if dftl.gtd_sync_every > 0 => gtd_bytes(config) / 4,
        Consistency::Gtd | Consistency::Battery => 0,
    };
    Needs {
        threshold: demand_mapped::threshold(config, dftl.gc_threshold_blocks),
        checkpoint_words,
        // Writes without look-up leave a superseded page behind every cached entry.
        stale_pages: if dftl.write_miss_fetch { 0 } else { entries },
    }
}
