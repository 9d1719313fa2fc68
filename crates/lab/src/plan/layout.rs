//! Where the workload lies on the device; the same for every scheme.

use ftlab_trace::{AddressMap, AddressMode, UnitSpans};

use crate::error::Result;

/// Where the workload lies on the device; the same for every scheme.
pub struct Layout {
    /// How addresses are turned.
    pub mode: AddressMode,
    /// Exported bytes.
    pub capacity_bytes: u64,
    /// One erase block.
    pub extent_bytes: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// How far each unit reaches, where a first pass found out.
    pub spans: Option<UnitSpans>,
}

impl Layout {
    /// A map at its start.
    pub fn map(&self) -> Result<AddressMap> {
        let spans = self.spans.as_ref();
        Ok(AddressMap::new(self.mode, self.capacity_bytes, self.extent_bytes, spans)?)
    }

    /// Bytes that the workload reaches, where a first pass found out.
    pub fn needed_bytes(&self) -> Option<u64> {
        self.spans.as_ref().map(UnitSpans::capacity_bytes)
    }
}
