//! Which version stands for which bytes: what makes writes of equal contents equal.
//!
//! The first write of a content gets a version of its own, as every write does; later ones of the
//! same content get that version again. It is the workload's memory, not the device's: it has no
//! place in a drive, and takes no time.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use ftlab_flash::request::Content;
use ftlab_flash::rng::mix;
use ftlab_flash::units::Tag;

/// Contents by number. It is only looked up in, never walked: the order of its places is nobody's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents(HashMap<u64, Tag, BuildHasherDefault<Mixed>>);

impl Contents {
    /// The version that stands for a content: `fresh`, if it was never written before.
    pub fn version(&mut self, content: Content, fresh: Tag) -> Tag {
        *self.0.entry(content.number()).or_insert(fresh)
    }
}

/// A number, mixed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers");
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(number);
    }
}
