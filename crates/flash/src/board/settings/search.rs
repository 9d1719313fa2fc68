//! The group `search`: what looking for a victim costs.

use crate::settings::{Duration, Energy};
use crate::{choices, settings};

choices! {
    /// What a search for a victim costs.
    pub enum SearchModel {
        /// Nothing; the candidates that a scan would compare are counted.
        None = "none",
        /// A step for every candidate compared.
        Scan = "scan",
        /// One step, whatever the number of candidates: a list is kept in order.
        List = "list",
    }
}

settings! {
    /// Searches for victims: collection, merges, entries that leave a cache.
    pub struct SearchSettings in "search" {
        /// How steps are counted and whether they cost.
        model: SearchModel = SearchModel::None, legal("", |_| true),
            source("TreeFTL 2013, Fig. 6; DFTL 2014, 5.5");
        /// Controller time of one step (scan, list): a memory access and a comparison on a core of
        /// a few hundred MHz.
        step_time: Duration = Duration(100), legal("", |_| true), source("ftlab");
        /// Energy of one step (scan, list): such a core at 100 mW.
        step_energy: Energy = Energy(10_000), legal("", |_| true), source("ftlab");
    }
}
