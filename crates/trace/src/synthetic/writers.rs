//! Sequential requests: one or several streams side by side, each with a cursor of its own for
//! reads and one for everything else, over parts of the span that wrap.

use super::random::{Purpose, Stream};

/// How sequential requests run through the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Streams side by side; each has an equal part of the span.
    pub streams: u64,
    /// Bytes of the part of a stream.
    pub part_bytes: u64,
    /// Bytes after which a stream begins again, as a journal does; at most its part.
    pub wrap_bytes: u64,
    /// Passes over so many bytes before the stream goes on to the next ones; 0 = without end.
    pub passes: u64,
}

/// Where one direction of a stream is.
#[derive(Clone, Copy, Default)]
struct Cursor {
    /// Where the bytes begin that it runs over, within the part of its stream.
    region: u64,
    inside: u64,
    pass: u64,
}

/// All streams.
pub(super) struct Writers {
    sequence: Sequence,
    /// fio keeps one position per direction; 0 = reads, 1 = everything else.
    cursors: Vec<[Cursor; 2]>,
    choice: Stream,
}

impl Writers {
    pub(super) fn new(sequence: Sequence, seed: u64) -> Self {
        Self {
            sequence,
            cursors: vec![[Cursor::default(); 2]; sequence.streams as usize],
            choice: Stream::new(seed, Purpose::Choice),
        }
    }

    /// Where the next request of that direction begins, in the span; it ends within it.
    #[inline]
    pub(super) fn position(&mut self, direction: usize, size: u64) -> u64 {
        let Sequence { streams, part_bytes, wrap_bytes, passes } = self.sequence;
        let stream = if streams == 1 { 0 } else { self.choice.below(streams) };
        let cursor = &mut self.cursors[stream as usize][direction];
        if cursor.inside + size > wrap_bytes {
            cursor.inside = 0;
            cursor.pass += 1;
            if cursor.pass == passes {
                cursor.pass = 0;
                cursor.region += wrap_bytes;
                if cursor.region + wrap_bytes > part_bytes {
                    cursor.region = 0;
                }
            }
        }
        let position = stream * part_bytes + cursor.region + cursor.inside;
        cursor.inside += size;
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_journal_wraps_and_goes_on_after_its_passes() {
        let sequence = Sequence { streams: 1, part_bytes: 7, wrap_bytes: 3, passes: 2 };
        let mut writers = Writers::new(sequence, 1);
        let positions: Vec<u64> = (0..15).map(|_| writers.position(1, 1)).collect();
        assert_eq!(positions, [0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 0, 1, 2]);
        let endless = Sequence { passes: 0, ..sequence };
        let mut writers = Writers::new(endless, 1);
        assert!((0..1000).all(|n| writers.position(1, 1) == n % 3));
    }

    proptest! {
        #[test]
        fn every_stream_keeps_to_its_part_and_follows_itself(
            streams in 1u64..9, wraps in 1u64..4, blocks in 4u64..40, passes in 0u64..4,
            seed in any::<u64>(), sizes in proptest::collection::vec((0usize..2, 1u64..5), 1..400),
        ) {
            let (wrap_bytes, part_bytes) = (blocks, blocks * wraps + 1);
            let mut writers =
                Writers::new(Sequence { streams, part_bytes, wrap_bytes, passes }, seed);
            let mut ends = vec![[0u64; 2]; streams as usize];
            for (direction, size) in sizes {
                let position = writers.position(direction, size);
                let stream = position / part_bytes;
                let inside = position % part_bytes;
                prop_assert!(stream < streams && inside + size <= blocks * wraps);
                let end = &mut ends[stream as usize][direction];
                prop_assert!(inside == *end || inside.is_multiple_of(wrap_bytes));
                *end = inside + size;
            }
        }
    }
}
