//! Addresses by the LRU stack model (Mattson et al. 1970; Spirn 1976): a request goes to what was
//! requested so many distinct positions ago. Memory and time of a draw are bounded by the depth.

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

/// How deep requests reach into the stack of positions requested before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackDistances {
    /// Depth in positions, and the share of requests (in millionths) that goes to that many most
    /// recent positions or fewer; both rise. Between two points depths are uniform; what is left
    /// after the last goes to positions outside the stack.
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
    recent: VecDeque<u64>,
    members: FxHashSet<u64>,
    stream: Stream,
}

impl Stack {
    pub(super) fn new(distances: StackDistances, seed: u64) -> Self {
        let room = distances.depth() as usize + 1;
        let mut members = FxHashSet::default();
        members.reserve(room);
        Self {
            distances,
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

    /// `position` is requested: it becomes the latest.
    pub(super) fn touch(&mut self, position: u64) {
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
        let mut stack = Stack::new(distances, 1);
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
        let mut stack = Stack::new(StackDistances::parse("3/100").unwrap(), 1);
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
    fn illegal_distances_say_what_is_legal() {
        for text in ["", "5000", "5000/80:100/90", "10/50:20/50", "16385/1", "0/10", "10/101"] {
            let error = StackDistances::parse(text).unwrap_err().to_string();
            assert!(error.contains("DEPTH/PERCENT"), "{text}: {error}");
        }
    }
}
