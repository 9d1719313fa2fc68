//! A set of pages of a group, one bit each.

use zerocopy::FromZeros;

/// Some of the 256 pages of a group, by their offsets in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromZeros)]
pub struct Members([u64; 4]);

impl Members {
    /// No page.
    pub const NONE: Members = Members([0; 4]);

    /// The pages from `first` to `last`, every `stride`-th.
    pub fn every(first: u8, last: u8, stride: u32) -> Self {
        let mut members = Members::NONE;
        for offset in (u32::from(first)..=u32::from(last)).step_by(stride as usize) {
            members.insert(offset as u8);
        }
        members
    }

    /// One page more.
    #[inline]
    pub fn insert(&mut self, offset: u8) {
        self.0[usize::from(offset >> 6)] |= 1 << (offset & 63);
    }

    /// One page less.
    #[inline]
    pub fn remove(&mut self, offset: u8) {
        self.0[usize::from(offset >> 6)] &= !(1 << (offset & 63));
    }

    /// Whether a page is one of them.
    #[inline]
    pub fn has(&self, offset: u8) -> bool {
        self.0[usize::from(offset >> 6)] >> (offset & 63) & 1 == 1
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The lowest.
    pub fn first(&self) -> Option<u8> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(word as u8 * 64 + self.0[word].trailing_zeros() as u8)
    }

    /// The highest.
    pub fn last(&self) -> Option<u8> {
        let word = self.0.iter().rposition(|&word| word != 0)?;
        Some(word as u8 * 64 + 63 - self.0[word].leading_zeros() as u8)
    }

    /// Those that are not among `others`.
    #[must_use]
    pub fn minus(&self, others: &Members) -> Members {
        Members(std::array::from_fn(|word| self.0[word] & !others.0[word]))
    }

    /// Those that are among `others` too.
    #[must_use]
    pub fn and(&self, others: &Members) -> Members {
        Members(std::array::from_fn(|word| self.0[word] & others.0[word]))
    }

    /// All of both.
    #[must_use]
    pub fn or(&self, others: &Members) -> Members {
        Members(std::array::from_fn(|word| self.0[word] | others.0[word]))
    }

    /// Upwards.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..4usize).flat_map(move |word| {
            let mut bits = self.0[word];
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(word as u8 * 64 + bit as u8)
            })
        })
    }

    /// How often a page is one of them and the next is not, or the other way round, between the
    /// lowest and the highest.
    pub fn changes(&self) -> u32 {
        let (mut runs, mut before) = (0u32, None);
        for offset in self.iter() {
            runs += u32::from(before != Some(u16::from(offset)));
            before = Some(u16::from(offset) + 1);
        }
        (2 * runs).saturating_sub(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets of offsets behave as a list of 256 marks does.
    #[test]
    fn sets_are_what_a_list_of_marks_is() {
        let mut marks = [false; 256];
        let mut set = Members::NONE;
        assert_eq!((set.first(), set.last(), set.changes()), (None, None, 0));
        for step in 0..400u32 {
            let offset = (step * 97 + step * step) as u8;
            marks[usize::from(offset)] = step % 3 != 0;
            if step % 3 == 0 {
                set.remove(offset)
            } else {
                set.insert(offset)
            }
            let listed: Vec<u8> = (0..=255u8).filter(|&at| marks[usize::from(at)]).collect();
            assert_eq!(set.iter().collect::<Vec<_>>(), listed);
            assert_eq!(
                (set.first(), set.last()),
                (listed.first().copied(), listed.last().copied())
            );
            assert_eq!(set.len() as usize, listed.len());
            let (first, last) = (set.first().unwrap_or(0), set.last().unwrap_or(0));
            let inner = marks[usize::from(first)..=usize::from(last)].windows(2);
            assert_eq!(set.changes() as usize, inner.filter(|pair| pair[0] != pair[1]).count());
        }
        let evens = Members::every(0, 254, 2);
        assert_eq!(
            (evens.len(), set.and(&evens).len() + set.minus(&evens).len()),
            (128, set.len())
        );
        assert_eq!(set.or(&evens).minus(&evens), set.minus(&evens));
    }

    /// Pages 1 to 3 and 7: two runs, of which one ends and one begins in between.
    #[test]
    fn a_change_is_an_end_of_a_run() {
        let mut set = Members::every(1, 3, 1);
        assert_eq!(set.changes(), 0);
        set.insert(7);
        assert_eq!(set.changes(), 2);
        set.insert(255);
        assert_eq!(set.changes(), 4);
    }
}
