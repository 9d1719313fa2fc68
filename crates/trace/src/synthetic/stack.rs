//! Addresses by the LRU stack model (Mattson et al. 1970; Spirn 1976): a request goes to what was
//! requested so many distinct positions ago. Memory and time of a draw are bounded by the depth.
//!
//! A position is a block of `blockalign` bytes. Counted in requests, the stack holds the blocks at
//! which requests began, each once: a request adds or moves one entry, whatever its size. Counted
//! in blocks, it holds every block that requests touched, the last of a request on top, and a draw
//! may begin anywhere in what was requested: what an LRU cache of such blocks would hold.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::random::{Purpose, Stream};
use super::settings::wrong;
use crate::error::Result;
use crate::size::parse_millionths;

/// Deepest position of a stack: a draw moves up to this many entries.
pub(super) const DEPTH_MAX: u64 = 16_384;
/// Most points of a distribution.
const POINTS_MAX: usize = 16;
/// A new address is drawn this often before one that is in the stack is taken after all.
const REDRAWS_MAX: u32 = 64;

/// What the depth of a stack is counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StackUnit {
    /// Distinct blocks at which requests began.
    #[default]
    Requests,
    /// Distinct blocks that requests touched.
    Blocks,
}

impl StackUnit {
    /// Both with their words.
    pub const ALL: [(&'static str, Self); 2] =
        [("requests", Self::Requests), ("blocks", Self::Blocks)];

    /// The word of the unit.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, unit)| *unit == self).map_or("", |(name, _)| name)
    }
}

/// How deep requests reach into the stack of positions requested before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackDistances {
    /// Depth in positions, counted as the [`StackUnit`] says, and the share of requests (in
    /// millionths) that goes to that many most recent positions or fewer; both rise. Between two
    /// points depths are uniform; what is left after the last goes to positions outside the stack.
    pub points: Vec<(u64, u64)>,
}

impl StackDistances {
    /// `stack=DEPTH/PERCENT:DEPTH/PERCENT`, shares cumulative.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let legal = format!(
            "DEPTH/PERCENT with colons between (100/40:5000/80), both rising, DEPTH up to \
             {DEPTH_MAX}, PERCENT (of all requests, cumulative) up to 100, at most {POINTS_MAX} \
             points"
        );
        let mut points: Vec<(u64, u64)> = Vec::new();
        for part in text.split(':') {
            let point = part.split_once('/').and_then(|(depth, percent)| {
                let depth = crate::number::integer(depth.trim().as_bytes()).ok()?;
                Some((depth, parse_millionths(percent.trim_end_matches('%'))?))
            });
            let (last_depth, last_share) = points.last().copied().unwrap_or_default();
            let rising = |&(depth, share): &(u64, u64)| {
                depth > last_depth && share > last_share && depth <= DEPTH_MAX
            };
            let point = point.filter(rising);
            points.push(point.ok_or_else(|| wrong("stack is illegal", part, &legal))?);
        }
        match points.len() <= POINTS_MAX {
            true => Ok(Self { points }),
            false => Err(wrong("stack has too many points", text, &legal)),
        }
    }

    /// The deepest position, counted from 1.
    pub(super) fn depth(&self) -> u64 {
        self.points.last().map_or(0, |(depth, _)| *depth)
    }
}

/// The positions requested last, the latest at the back.
pub(super) struct Stack {
    distances: StackDistances,
    unit: StackUnit,
    recent: VecDeque<u64>,
    members: FxHashSet<u64>,
    stream: Stream,
}

impl Stack {
    pub(super) fn new(distances: StackDistances, unit: StackUnit, seed: u64) -> Self {
        let room = distances.depth() as usize + 1;
        let mut members = FxHashSet::default();
        members.reserve(room);
        Self {
            distances,
            unit,
            recent: VecDeque::with_capacity(room),
            members,
            stream: Stream::new(seed, Purpose::Stack),
        }
    }

    /// A position in the stack, or none: then the request goes to one outside, as it also does
    /// while the stack is not yet as deep as the depth that was drawn.
    pub(super) fn draw(&mut self) -> Option<u64> {
        let mut shallower = (0, 0);
        let drawn = self.stream.below(1_000_000);
        for &(depth, share) in &self.distances.points {
            if drawn < share {
                let index = shallower.0 + self.stream.below(depth - shallower.0);
                let from_back = self.recent.len().checked_sub(index as usize + 1)?;
                return Some(self.recent[from_back]);
            }
            shallower = (depth, share);
        }
        None
    }

    /// A position outside the stack, drawn by `draw`.
    pub(super) fn outside(&self, mut draw: impl FnMut() -> u64) -> u64 {
        let mut position = draw();
        for _ in 0..REDRAWS_MAX {
            if !self.members.contains(&position) {
                break;
            }
            position = draw();
        }
        position
    }

    /// The blocks from `first` to `last` are requested, in this order.
    pub(super) fn touch_request(&mut self, first: u64, last: u64) {
        match self.unit {
            StackUnit::Requests => self.touch(first),
            StackUnit::Blocks => (first..=last).for_each(|block| self.touch(block)),
        }
    }

    /// `position` is requested: it becomes the latest.
    fn touch(&mut self, position: u64) {
        if !self.members.insert(position) {
            // From the back: what is requested again was mostly requested lately.
            let back = self.recent.iter().rev().position(|known| *known == position);
            let back = back.expect("members are in the stack");
            self.recent.remove(self.recent.len() - 1 - back);
        }
        self.recent.push_back(position);
        if self.recent.len() as u64 > self.distances.depth()
            && let Some(oldest) = self.recent.pop_front()
        {
            self.members.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_distances_once_the_stack_is_full() {
        let distances = StackDistances::parse("10/40:100/70").unwrap();
        let mut stack = Stack::new(distances, StackUnit::Requests, 1);
        (0..1000).for_each(|position| stack.touch(position));
        assert_eq!(stack.recent.len(), 100);
        let (mut near, mut far, mut outside) = (0u32, 0u32, 0u32);
        for _ in 0..100_000 {
            match stack.draw() {
                Some(position) if position >= 990 => near += 1,
                Some(position) if position >= 900 => far += 1,
                Some(position) => panic!("{position} left the stack long ago"),
                None => outside += 1,
            }
        }
        for (count, expected) in [(near, 40_000), (far, 30_000), (outside, 30_000)] {
            assert!(u32::abs_diff(count, expected) < 600, "{near} {far} {outside}");
        }
    }

    #[test]
    fn what_is_requested_again_moves_to_the_back_and_the_oldest_leaves() {
        let mut stack = Stack::new(StackDistances::parse("3/100").unwrap(), StackUnit::Requests, 1);
        for position in [1, 2, 3, 1, 4] {
            stack.touch(position);
        }
        assert_eq!(stack.recent, [3, 1, 4]);
        let mut next = 1;
        let outside = stack.outside(|| {
            next += 1;
            next
        });
        assert_eq!(outside, 2, "3 and 4 are in the stack, 2 has left it");
    }

    #[test]
    fn a_request_of_three_blocks_is_one_entry_or_three() {
        let held = |unit| {
            let mut stack = Stack::new(StackDistances::parse("4/100").unwrap(), unit, 1);
            for (first, last) in [(1, 3), (7, 7), (2, 3)] {
                stack.touch_request(first, last);
            }
            Vec::from(stack.recent)
        };
        assert_eq!(held(StackUnit::Requests), [1, 7, 2]);
        assert_eq!(held(StackUnit::Blocks), [1, 7, 2, 3]);
    }

    #[test]
    fn illegal_distances_say_what_is_legal() {
        for text in ["", "5000", "5000/80:100/90", "10/50:20/50", "16385/1", "0/10", "10/101"] {
            let error = StackDistances::parse(text).unwrap_err().to_string();
            assert!(error.contains("DEPTH/PERCENT"), "{text}: {error}");
        }
    }
}
