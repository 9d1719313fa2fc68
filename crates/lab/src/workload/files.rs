//! Files of workloads: bundled ones and the user's own. Each stands for an inline spec, and may be
//! the stand-in of a trace.

use ftlab_trace::WorkloadFile;

use crate::bundled::{Bundled, bundled};
use crate::error::{Error, Result};

/// Every bundled workload: one file in `config/workloads` of this crate, one name here.
pub const WORKLOADS: &[Bundled] = bundled!(
    "workloads": "financial", "websearch", "cello99", "tpch", "fin1", "fin2", "web1", "web2",
    "web3", "openmail", "hat_synthetic_read", "hat_synthetic_write", "spc1", "tpcc_20", "hm_0",
    "mds_0", "prn_0", "prxy_0", "rsrch_0", "stg_0", "ts_0", "web_0", "oltp_demo"
);

/// The workload file of a bundled workload.
///
/// # Errors
/// None of the bundled ones has any.
pub fn bundled_file(bundled: &Bundled) -> Result<WorkloadFile> {
    let file = format!("config/workloads/{}.toml", bundled.name);
    Ok(WorkloadFile::parse(&file, bundled.text)?)
}

/// A workload file of the user's own.
///
/// # Errors
/// Files that cannot be read; keys and values that are not legal, with their line.
pub fn own_file(path: &str) -> Result<WorkloadFile> {
    let content = std::fs::read_to_string(path)
        .map_err(|error| Error::usage(format!("{path}: cannot be read ({error})")))?;
    Ok(WorkloadFile::parse(path, &content)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundled::files_in;

    #[test]
    fn every_workload_file_is_bundled_legal_and_described() {
        for bundled in WORKLOADS {
            let workload = bundled_file(bundled).unwrap();
            assert!(!workload.about.is_empty() && !workload.source.is_empty());
        }
        assert_eq!(files_in("workloads").len(), WORKLOADS.len());
    }
}
