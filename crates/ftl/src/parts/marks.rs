//! A set of numbers, such as those of logical blocks, that is walked in turn: the next member
//! behind any place is found through words that tell which words are not empty, so that a walk
//! takes as many steps as the set has levels, not as many as there are numbers.

use ftlab_flash::units::zeroed;

/// Members by number.
#[derive(Clone, Debug)]
pub struct Marks {
    /// A bit per number; in each further level a bit per word of the level below that is not 0. The
    /// last level is one word.
    levels: Vec<Vec<u64>>,
}

impl Marks {
    /// None of so many.
    pub fn new(count: u32) -> Self {
        let mut levels = Vec::new();
        let mut words = (count as usize).div_ceil(64).max(1);
        loop {
            levels.push(zeroed(words));
            if words == 1 {
                return Marks { levels };
            }
            words = words.div_ceil(64);
        }
    }

    /// Whether a number is a member.
    #[inline]
    pub fn holds(&self, number: u32) -> bool {
        self.levels[0][number as usize / 64] & (1 << (number % 64)) != 0
    }

    /// A number is a member from now on, if it was not.
    #[inline]
    pub fn insert(&mut self, number: u32) {
        let word = &mut self.levels[0][number as usize / 64];
        let others = std::mem::replace(word, *word | 1 << (number % 64));
        if others == 0 {
            self.word_has_members(number as usize / 64);
        }
    }

    /// The levels above know that a word has a member.
    fn word_has_members(&mut self, word: usize) {
        let mut at = word;
        for words in self.levels.iter_mut().skip(1) {
            let word = &mut words[at / 64];
            let others = *word;
            *word |= 1 << (at % 64);
            if others != 0 {
                break;
            }
            at /= 64;
        }
    }

    /// A number is a member no more, if it was.
    #[inline]
    pub fn remove(&mut self, number: u32) {
        self.remove_of_word(number / 64, 1 << (number % 64));
    }

    /// The same of several of the 64 numbers from 64 * `word` on: those that `bits` tell, the first
    /// in the lowest.
    #[inline]
    pub fn remove_of_word(&mut self, word: u32, bits: u64) {
        let left = &mut self.levels[0][word as usize];
        *left &= !bits;
        if *left == 0 {
            self.word_is_empty(word as usize);
        }
    }

    /// The levels above know that a word has no member.
    fn word_is_empty(&mut self, word: usize) {
        let mut at = word;
        for words in self.levels.iter_mut().skip(1) {
            words[at / 64] &= !(1 << (at % 64));
            if words[at / 64] != 0 {
                break;
            }
            at /= 64;
        }
    }

    /// The same members as a set of the same size.
    pub fn copy(&mut self, other: &Marks) {
        for (words, others) in self.levels.iter_mut().zip(&other.levels) {
            words.copy_from_slice(others);
        }
    }

    /// The first member that is not below a number.
    pub fn next(&self, from: u32) -> Option<u32> {
        let mut at = from as usize;
        for (level, words) in self.levels.iter().enumerate() {
            let bits = words.get(at / 64).map_or(0, |word| word & (u64::MAX << (at % 64)));
            if bits != 0 {
                let mut found = at / 64 * 64 + bits.trailing_zeros() as usize;
                for lower in self.levels[..level].iter().rev() {
                    found = found * 64 + lower[found].trailing_zeros() as usize;
                }
                return Some(found as u32);
            }
            at = at / 64 + 1;
        }
        None
    }

    /// Every member of a range, in order.
    pub fn each(&self, range: std::ops::Range<u32>, mut each: impl FnMut(u32)) {
        let mut from = range.start;
        while from < range.end {
            let mut word = self.levels[0][from as usize / 64] & (u64::MAX << (from % 64));
            let base = from & !63;
            while word != 0 {
                let number = base + word.trailing_zeros();
                if number >= range.end {
                    return;
                }
                word &= word - 1;
                each(number);
            }
            from = base.saturating_add(64);
        }
    }

    /// The first member in turn from a number on, `but` left out.
    pub fn in_turn(&self, from: u32, but: u32) -> Option<u32> {
        let other = |found: u32| if found == but { self.next(found + 1) } else { Some(found) };
        self.next(from).and_then(other).or_else(|| self.next(0).and_then(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::rng::{Purpose, Rng};
    use std::collections::BTreeSet;

    /// Against a plain set, with one level and with three.
    #[test]
    fn marks_are_a_set_in_order() {
        for count in [40, 64, 65, 5000, 300_000] {
            let (mut marks, mut model) = (Marks::new(count), BTreeSet::new());
            let mut rng = Rng::new(3, Purpose::Workload);
            for turn in 0..4000 {
                let number = rng.below(count);
                if rng.below(2) == 0 || turn < 20 {
                    marks.insert(number);
                    model.insert(number);
                } else if rng.below(8) == 0 {
                    let (word, bits) = (number / 64, u64::from(rng.below(u32::MAX)) << 20);
                    marks.remove_of_word(word, bits);
                    model.retain(|&known| known / 64 != word || bits >> (known % 64) & 1 == 0);
                } else if let Some(&near) = model.range(number..).next() {
                    marks.remove(near);
                    model.remove(&near);
                }
                let (from, but) = (rng.below(count), rng.below(count));
                assert_eq!(marks.holds(from), model.contains(&from));
                assert_eq!(marks.next(from), model.range(from..).next().copied());
                let range = from.min(but)..from.max(but);
                let mut members = Vec::new();
                marks.each(range.clone(), |number| members.push(number));
                assert!(model.range(range).eq(&members), "of {members:?}");
                let turn = model.range(from..).chain(model.range(..from));
                assert_eq!(marks.in_turn(from, but), turn.copied().find(|&found| found != but));
            }
            let mut copy = Marks::new(count);
            copy.insert(count - 1);
            copy.copy(&marks);
            assert_eq!(copy.next(0), marks.next(0));
            assert_eq!(copy.holds(count - 1), marks.holds(count - 1));
        }
    }

    /// The last word is full: there is none behind it to be looked into.
    #[test]
    fn a_range_may_end_with_the_last_number() {
        let mut marks = Marks::new(64);
        [5, 63].into_iter().for_each(|number| marks.insert(number));
        let mut members = Vec::new();
        marks.each(0..64, |number| members.push(number));
        assert_eq!(members, [5, 63]);
    }
}
