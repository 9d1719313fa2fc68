//! One value per cause of a flash operation, in the fixed order of ARCHITECTURE section 3.
//!
//! Not the engine's own enumeration: these are the names that result files carry, so that a
//! result written today can be read by a later version.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of causes.
pub const CAUSES: usize = 19;

/// Names of the causes as result files spell them, in their fixed order.
pub const CAUSE_NAMES: [&str; CAUSES] = [
    "host",
    "translate",
    "gc",
    "gc_map_block",
    "gc_map_update",
    "merge",
    "migrate",
    "convert",
    "pad",
    "read_modify_write",
    "trim",
    "checkpoint",
    "wear",
    "recover",
    "fold",
    "parity",
    "rebuild",
    "refresh",
    "dedup",
];

/// One value per cause; every cause is always present, so that result files keep stable keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "ByCause_of_{T}")]
pub struct ByCause<T: Default> {
    /// Work that the host's own request asked for.
    pub host: T,
    /// Loading or writing back map entries to serve a request.
    pub translate: T,
    /// Data pages moved by garbage collection.
    pub gc: T,
    /// Map pages moved because a map block was collected.
    pub gc_map_block: T,
    /// Map pages updated because collected data pages moved.
    pub gc_map_update: T,
    /// Pages moved by merges of log and data blocks, second chances and isolation moves.
    pub merge: T,
    /// Pages moved between areas of the device.
    pub migrate: T,
    /// Pages moved when a block changes its mapping.
    pub convert: T,
    /// Filler pages.
    pub pad: T,
    /// Reads that complete a partly written page.
    pub read_modify_write: T,
    /// Trim records.
    pub trim: T,
    /// Saving memory tables so that recovery need not scan everything.
    pub checkpoint: T,
    /// Pages moved to level wear.
    pub wear: T,
    /// Work of recovery after a power cut.
    pub recover: T,
    /// Pages moved out of an SLC cache into dense blocks.
    pub fold: T,
    /// Parity over the dies of a line.
    pub parity: T,
    /// Pages brought back from their stripes after a die or a page failed, and moved.
    pub rebuild: T,
    /// Pages moved because their block was read often or their data is old.
    pub refresh: T,
    /// Finding and joining equal contents behind the host's back, and records of what is shared.
    pub dedup: T,
}

impl<T: Default> From<[T; CAUSES]> for ByCause<T> {
    /// Values in the order of [`CAUSE_NAMES`].
    fn from(values: [T; CAUSES]) -> Self {
        let [
            host,
            translate,
            gc,
            gc_map_block,
            gc_map_update,
            merge,
            migrate,
            convert,
            pad,
            read_modify_write,
            trim,
            checkpoint,
            wear,
            recover,
            fold,
            parity,
            rebuild,
            refresh,
            dedup,
        ] = values;
        Self {
            host,
            translate,
            gc,
            gc_map_block,
            gc_map_update,
            merge,
            migrate,
            convert,
            pad,
            read_modify_write,
            trim,
            checkpoint,
            wear,
            recover,
            fold,
            parity,
            rebuild,
            refresh,
            dedup,
        }
    }
}

impl<T: Default + Copy> ByCause<T> {
    /// The values in the order of [`CAUSE_NAMES`].
    #[must_use]
    pub fn values(&self) -> [T; CAUSES] {
        [
            self.host,
            self.translate,
            self.gc,
            self.gc_map_block,
            self.gc_map_update,
            self.merge,
            self.migrate,
            self.convert,
            self.pad,
            self.read_modify_write,
            self.trim,
            self.checkpoint,
            self.wear,
            self.recover,
            self.fold,
            self.parity,
            self.rebuild,
            self.refresh,
            self.dedup,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_order_and_key_order_are_the_order_of_the_names() {
        let values: [u64; CAUSES] = std::array::from_fn(|index| index as u64);
        assert_eq!(ByCause::from(values).values(), values);
        let json = serde_json::to_value(ByCause::from(values)).unwrap();
        let keys: Vec<(&str, u64)> = json
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_u64().unwrap()))
            .collect();
        let expected: Vec<(&str, u64)> = CAUSE_NAMES.into_iter().zip(values).collect();
        assert_eq!(keys, expected);
    }
}
