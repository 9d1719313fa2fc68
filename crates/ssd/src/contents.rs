//! Which version stands for which bytes: what makes writes of equal contents equal.
//!
//! The first write of a content gets a version of its own, as every write does; later ones of the
//! same content get that version again. It is the workload's memory, not the device's: it has no
//! place in a drive, and takes no time.
//!
//! A request may say what it writes (`Content`). For a scheme that looks at it
//! (`Scheme::READS_CONTENT`) the device gives equal contents one version, so that a hash is the
//! version, and reads are verified as ever. What says nothing was never written before.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use ftlab_flash::request::Content;
use ftlab_flash::rng::mix;
use ftlab_flash::units::Tag;

/// Most contents that a workload may tell apart: 20 to 40 bytes of this program's memory each.
pub(crate) const CONTENTS_MAX: usize = 1 << 28;

/// Contents by number. It is only looked up in, never walked: the order of its places is nobody's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents(HashMap<u64, Tag, BuildHasherDefault<Mixed>>);

impl Contents {
    /// The version that stands for a content: `fresh`, if it was never written before. None where
    /// there are too many.
    pub fn version(&mut self, content: Content, fresh: Tag) -> Option<Tag> {
        self.version_of(content, fresh, CONTENTS_MAX)
    }

    /// The same, of so many contents at most.
    fn version_of(&mut self, content: Content, fresh: Tag, most: usize) -> Option<Tag> {
        let is_full = self.0.len() == most;
        if is_full && !self.0.contains_key(&content.number()) {
            return None;
        }
        Some(*self.0.entry(content.number()).or_insert(fresh))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_of_a_content_stands_for_it() {
        let mut contents = Contents::default();
        let mut version = |number, fresh| contents.version(Content::new(number), Tag(fresh));
        assert_eq!(
            [version(7, 1), version(8, 2), version(7, 3)],
            [1, 2, 1].map(|tag| Some(Tag(tag)))
        );
    }

    #[test]
    fn of_too_many_contents_those_are_known_that_came_first() {
        let mut contents = Contents::default();
        let mut version = |number| contents.version_of(Content::new(number), Tag(number as u32), 2);
        assert_eq!(
            [7, 8, 9, 8].map(&mut version),
            [Some(Tag(7)), Some(Tag(8)), None, Some(Tag(8))]
        );
    }

    #[test]
    fn numbers_are_mixed() {
        let finish = |number| {
            let mut hasher = Mixed::default();
            hasher.write_u64(number);
            hasher.finish()
        };
        assert_eq!(finish(7), mix(7));
        assert_ne!(finish(7), finish(8));
    }
}
