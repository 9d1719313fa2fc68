//! Bytes of memory by structure, without a run.

use ftlab_engine::config::{Bytes, Config};
use ftlab_engine::future::Known;
use ftlab_engine::schemes::RamUse;
use ftlab_report::derive::ram_bytes;
use ftlab_report::result;

use crate::devices;
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::options::capacity::Capacity;
use crate::plan::future;
use crate::selection;
use crate::sizing;

/// What schemes keep in memory on a device.
pub struct Memories {
    /// The schemes that can be planned on it.
    pub schemes: Vec<SchemeMemory>,
    /// Those of a family or of all that cannot, and why.
    pub refused: Vec<(String, Error)>,
}

/// What a scheme keeps in memory on a device.
pub struct SchemeMemory {
    /// The scheme, with its preset.
    pub scheme: String,
    /// Its settings on this device.
    pub config: Config,
    /// Bytes of every structure.
    pub structures: Vec<RamUse>,
    /// The same as results say it: by memory, and what is over the budget.
    pub ram_bytes: result::RamUse,
}

impl SchemeMemory {
    fn of(one: selection::Chosen) -> Self {
        let structures = (one.row.ram_use)(&one.config);
        let budget = one.config.device.ram_bytes.0.map(|Bytes(bytes)| bytes);
        let ram_bytes = ram_bytes(&structures, budget);
        SchemeMemory { scheme: one.name, config: one.config, structures, ram_bytes }
    }

    /// Bytes of flash, the spare ones counted.
    #[must_use]
    pub fn flash_bytes(&self) -> u64 {
        let device = &self.config.device;
        device.physical_blocks() * u64::from(device.pages_per_block) * device.page_bytes.0
    }
}

impl Experiment {
    /// What each scheme keeps in memory on the device, which needs neither workload nor run; of the
    /// options `schemes`, `device`, `capacity`, `buffer` and `set` count. Members of a family, and
    /// of `all`, that the device does not suit are told apart.
    ///
    /// # Errors
    /// [`Error::Usage`]: names and values that are not legal, settings that do not suit a scheme
    /// that was asked for by its name, a device that suits none.
    pub fn memory(&self) -> Result<Memories> {
        let device = devices::find(&self.device)?;
        let overrides = selection::overrides(&self.set, self.buffer.as_deref())?;
        let mut chosen = selection::choose(&self.schemes, &device.config, &overrides)?;
        // The memory of an oracle does not go by what it knows.
        future::tell(&mut chosen, &Known::default());
        let bytes = stated(self.capacity, "`ftlab ram`")?;
        let mut refused = Vec::new();
        let mut kept = Vec::new();
        for one in chosen {
            match planned(std::slice::from_mut(&mut one.clone()), bytes) {
                Ok(()) => kept.push(one),
                Err(error) if one.by_name => return Err(error),
                Err(error) => refused.push((one.name, error)),
            }
        }
        if kept.is_empty() {
            return Err(refused.swap_remove(0).1);
        }
        // One device for all of them, as they are compared on one.
        planned(&mut kept, bytes)?;
        Ok(Memories { schemes: kept.into_iter().map(SchemeMemory::of).collect(), refused })
    }
}

/// The capacity, where nothing else says how large that is.
fn stated(capacity: Option<Capacity>, what: &str) -> Result<Option<u64>> {
    match capacity {
        None => Ok(None),
        Some(Capacity::Bytes(bytes)) => Ok(Some(bytes)),
        Some(Capacity::Auto) => Err(Error::usage(format!(
            "--capacity auto needs a workload, and {what} has none; legal: bytes"
        ))),
    }
}

/// Sizes the device of `what`, which has no workload, and refuses what cannot be planned on it.
pub fn sized(
    chosen: &mut [selection::Chosen],
    capacity: Option<Capacity>,
    what: &str,
) -> Result<()> {
    planned(chosen, stated(capacity, what)?)
}

/// Sizes the device for some schemes, and refuses what cannot be planned on it.
fn planned(chosen: &mut [selection::Chosen], bytes: Option<u64>) -> Result<()> {
    if let Some(bytes) = bytes {
        sizing::resize(chosen, bytes)?;
    }
    for one in chosen {
        one.config.check()?;
        (one.row.check)(&one.config).map_err(|error| Error::unsuited(&one.name, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(scheme: &str, capacity: u64, structure: &str) -> u64 {
        let experiment = Experiment {
            schemes: scheme.into(),
            device: "ssdsim2010".to_owned(),
            capacity: Some(Capacity::Bytes(capacity)),
            ..Experiment::default()
        };
        let used = experiment.memory().unwrap().schemes.remove(0).structures;
        used.iter().find(|used| used.structure == structure).unwrap().bytes
    }

    /// Pages of 2 KiB, entries of 4 bytes. DFTL 2014, section 2: 32 MB for 16 GB; HAT 2010, section
    /// II: 512 MB for 256 GB.
    #[test]
    fn tables_have_the_sizes_that_the_papers_print() {
        let sizes = |capacity: u64| {
            (structure("ideal_page", capacity, "page_table"), structure("dftl", capacity, "gtd"))
        };
        assert_eq!(sizes(1 << 30), (2 << 20, 4 << 10));
        assert_eq!(sizes(16 << 30), (32 << 20, 64 << 10));
        assert_eq!(sizes(256 << 30), (512 << 20, 1 << 20));
    }

    /// What the oracle takes does not go by what the future is, which nobody has to know for that.
    #[test]
    fn memory_of_the_oracle_is_told_without_a_workload() {
        let experiment = Experiment {
            schemes: "ideal_page".into(),
            device: "ssdsim2010".to_owned(),
            capacity: Some(Capacity::Bytes(1 << 30)),
            set: ["gc.placement=fk"].into_iter().collect(),
            ..Experiment::default()
        };
        let used = experiment.memory().expect("its bytes are known").schemes.remove(0).structures;
        let policy = used.iter().find(|used| used.structure == "placement_policy");
        assert_eq!(policy.expect("it takes some").bytes, 8 << 19, "8 bytes for pages of 2 KiB");
    }
}
