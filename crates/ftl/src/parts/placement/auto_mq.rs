//! # Idea
//! Frequency: chunks of addresses that are written often stand in higher queues. Recency is meant
//! to count, too: whoever has not been written for as long as the hottest one takes falls to a
//! lower queue. By the rule of the source that seldom shows in a class (below).
//!
//! # Source
//! AutoStream, its multi-queue variant: Yang, Pandurangan, Choi, Balakrishnan, SYSTOR 2017, as in
//! the simulator of SepBIT (FAST 2022).
//!
//! # Rule
//! Each chunk of 1 MiB that a write request touches counts one write and goes to the end of queue
//! ln(writes), whole part, at most the last class but one. Where it has more writes than any chunk
//! before it, it is the hottest, and the lifetime is the time since its last write. A chunk expires
//! when its last write is longer ago than the lifetime that held then. After each chunk the first
//! of every queue, if it has expired, goes to the end of the queue below, or to the end of the
//! lowest one, with a lifetime more to go; where that is the hottest chunk, the next of its queue
//! is the hottest now. Host write: the queue of its chunk. Moved page: the last class. Time is
//! chunks touched.
//!
//! A write puts its chunk into the queue of ln(writes) whatever it fell to before, and its class is
//! asked for just then: of a request within a chunk the class is floor(ln writes) at all times.
//! That a chunk fell shows only where a request touches several chunks, of which an earlier one may
//! fall while a later one is counted.
//!
//! # Deviations
//! The simulator leaves the class of a chunk that falls as it was and looks for it in the queue
//! where it is no more when it is written again: here its class falls with it. The logarithm is
//! natural as in the simulator; the paper has log2 [known-weak].
//!
//! # Memory
//! 24 bytes a chunk: its writes, two times, its queue and two links.

use super::settings::PlacementSettings;
use super::{Classes, Goes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Victim};
use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::request::CLASSES_MAX;
use ftlab_flash::units::zeroed;

const CHUNK_BYTES: u64 = 1 << 20;
/// Whole powers of e from 1 on, rounded up.
const POWERS_OF_E: [u32; 14] =
    [3, 8, 21, 55, 149, 404, 1097, 2981, 8104, 22_027, 59_875, 162_755, 442_414, 1_202_605];

/// What a chunk was written, and when. Times are 32 bits of the clock.
#[derive(Clone, Copy, Debug, Default, zerocopy::FromZeros)]
struct Chunk {
    writes: u32,
    last: u32,
    expires: u32,
}

/// Chunks in queues.
#[derive(Clone, Debug)]
pub struct AutoMq {
    last: u8,
    chunk_pages: u32,
    chunks: Vec<Chunk>,
    queues: SlotLists<CLASSES_MAX>,
    /// Chunks touched.
    now: u32,
    hottest: Option<Slot>,
    most_writes: u32,
    lifetime: u32,
}

fn chunk_pages(context: &PlacementContext<'_>) -> u32 {
    (CHUNK_BYTES / context.page_bytes).max(1) as u32
}

fn chunks(context: &PlacementContext<'_>) -> u32 {
    context.logical_pages.div_ceil(chunk_pages(context))
}

impl PlacementPolicy for AutoMq {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(6)
    }

    fn ram_bytes(context: &PlacementContext<'_>) -> u64 {
        24 * u64::from(chunks(context))
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        AutoMq {
            last: context.classes - 1,
            chunk_pages: chunk_pages(context),
            chunks: zeroed(chunks(context) as usize),
            queues: SlotLists::new(chunks(context)),
            now: 0,
            hottest: None,
            most_writes: 0,
            lifetime: 0,
        }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        let chunk = write.lpn.0 / self.chunk_pages;
        if write.request.index == 0 {
            let last = (write.lpn.0 + write.request.pages.max(1) - 1) / self.chunk_pages;
            for touched in chunk..=last.min(self.chunks.len() as u32 - 1) {
                self.promote(Slot(touched));
                self.demote();
            }
        }
        // What came in the middle of a request that nobody saw begin is in no queue.
        self.queues.list_of(Slot(chunk)).unwrap_or(0) as u8
    }

    fn victim(&mut self, _: &Victim) -> Goes {
        Goes::Whole(self.last)
    }

    fn moved(&mut self, _: &MovedPage) -> u8 {
        self.last
    }
}

impl AutoMq {
    /// A request touches a chunk.
    fn promote(&mut self, slot: Slot) {
        self.now = self.now.wrapping_add(1);
        let now = self.now;
        let chunk = &mut self.chunks[slot.index()];
        chunk.writes = chunk.writes.saturating_add(1);
        if chunk.writes > self.most_writes {
            self.hottest = Some(slot);
            self.lifetime = now.wrapping_sub(chunk.last);
            self.most_writes = chunk.writes;
        }
        chunk.last = now;
        chunk.expires = now.wrapping_add(self.lifetime);
        let logarithm = POWERS_OF_E.iter().take_while(|&&power| chunk.writes >= power).count();
        if self.queues.list_of(slot).is_some() {
            self.queues.remove(slot);
        }
        self.queues.push(logarithm.min(usize::from(self.last.saturating_sub(1))), slot);
    }

    /// Of every queue the first one falls if it has expired.
    fn demote(&mut self) {
        for queue in 0..usize::from(self.last).max(1) {
            let Some(slot) = self.queues.oldest(queue) else { continue };
            let chunk = &mut self.chunks[slot.index()];
            // Whether it is past, also where the clock has come round.
            if self.now.wrapping_sub(chunk.expires).wrapping_sub(1) >= u32::MAX / 2 {
                continue;
            }
            chunk.expires = self.now.wrapping_add(self.lifetime);
            self.queues.remove(slot);
            if let Some(next) = self.queues.oldest(queue).filter(|_| self.hottest == Some(slot)) {
                self.hottest = Some(next);
                self.most_writes = self.chunks[next.index()].writes;
            }
            self.queues.push(queue.saturating_sub(1), slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, victim};
    use super::super::{Goes, HostWrite};
    use ftlab_flash::request::RequestShape;
    use ftlab_flash::units::Lpn;

    /// Pages 0, 256 and 512 lie in three chunks. e = 2.7: the third write of a chunk brings it to
    /// queue 1, the eighth to queue 2 (e^2 = 7.4).
    #[test]
    fn a_chunk_climbs_with_the_logarithm_of_its_writes() {
        let mut mq = Bench::new("auto_mq", 2048, &[]);
        let hot: Vec<u8> = (0..21).map(|_| mq.write(0)).collect();
        let mut expected = vec![0, 0, 1, 1, 1, 1, 1];
        expected.extend([2; 13]);
        expected.push(3);
        assert_eq!(hot, expected);
        assert_eq!((mq.write(255), mq.write(256)), (3, 0), "the same chunk, and another");
        assert_eq!(mq.policy.victim(&victim(0, 0, 9)), Goes::Whole(5));
        let mut two = Bench::new("auto_mq", 2048, &[("placement.classes", "2")]);
        assert_eq!([(); 9].map(|()| two.write(0)), [0; 9], "one class for the host");
    }

    /// The first chunk is written eight times running: the hottest, its lifetime 1. The second one
    /// is written at 9, 10, 11 (queue 1), and expires at 12. At 13 the first, expired since 9, has
    /// fallen from queue 2 to 1 (at 10) and on; the second goes down behind it.
    #[test]
    fn a_chunk_that_is_not_written_for_a_lifetime_falls() {
        let mut mq = Bench::new("auto_mq", 2048, &[]);
        (0..8).for_each(|_| assert!(mq.write(0) < 5));
        assert_eq!([(); 3].map(|()| mq.write(256)), [0, 0, 1]);
        for other in [512, 768, 1024, 1280, 1536] {
            assert_eq!(mq.write(other), 0);
        }
        let queue = |mq: &Bench, page: u32| {
            let super::super::Placement::AutoMq(mq) = &mq.policy else { unreachable!("as made") };
            mq.queues.list_of(super::Slot(page / 256))
        };
        assert_eq!((queue(&mq, 0), queue(&mq, 256)), (Some(0), Some(0)));
        // Its writes are not forgotten: the twelfth of its chunk is in queue 2 again.
        assert_eq!([(); 2].map(|()| mq.write(256)), [1, 1]);
        assert_eq!(mq.write(0), 2);
    }

    /// A request over two chunks counts in both.
    #[test]
    fn a_request_counts_in_every_chunk_that_it_touches() {
        let mut mq = Bench::new("auto_mq", 2048, &[]);
        for _ in 0..3 {
            let _ = mq.write_all(254, 4);
        }
        assert_eq!((mq.write(0), mq.write(511)), (1, 1));
    }

    fn inner(bench: &mut Bench) -> &mut super::AutoMq {
        let super::super::Placement::AutoMq(mq) = &mut bench.policy else {
            unreachable!("as made")
        };
        mq
    }

    /// Pages 252 to 255 are the end of the first chunk: the second is not touched.
    #[test]
    fn a_request_that_ends_with_a_chunk_leaves_the_next_alone() {
        let mut mq = Bench::new("auto_mq", 2048, &[]);
        (0..3).for_each(|_| assert!(mq.write_all(252, 4) < 5));
        assert_eq!((mq.write(0), mq.write(256)), (1, 0));
    }

    /// The last of eight chunks, whatever is said to be behind it.
    #[test]
    fn a_request_touches_no_chunk_behind_the_last_page() {
        let mut mq = Bench::new("auto_mq", 2048, &[]);
        let first = Lpn(2047);
        let request = RequestShape { first_lpn: first, pages: 4, index: 0, sectors: 8, hint: None };
        let write =
            HostWrite { lpn: first, now: 0, is_update: false, age: None, living: 0, request };
        (0..3).for_each(|_| assert!(mq.policy.host(&write) < 5));
        assert_eq!((mq.write(2047), mq.write(1791)), (1, 0));
    }

    /// A is written at 1 and 3, B at 2, 4 and 5: B is as often written at 4, and more often at 5.
    #[test]
    fn the_hottest_chunk_has_more_writes_than_any_before_it() {
        let mut mq = Bench::new("auto_mq", 2048, &[]);
        let said = [0, 256, 0, 256, 256].map(|page| {
            let _ = mq.write(page);
            let mq = inner(&mut mq);
            (mq.hottest.map(|slot| slot.0), mq.most_writes, mq.lifetime)
        });
        let (a, b) = (Some(0), Some(1));
        assert_eq!(said, [(a, 1, 1), (a, 1, 1), (a, 2, 2), (a, 2, 2), (b, 3, 1)]);
    }

    /// A and B are written three times in turn, A first, and expire long before C is touched: A
    /// falls out of queue 1 and B, behind it there, is the hottest. At the next touch B falls:
    /// nobody is behind it, and it stays the hottest.
    #[test]
    fn when_the_hottest_falls_the_next_of_its_queue_is_the_hottest() {
        let mut mq = Bench::new("auto_mq", 2048, &[]);
        [0, 256, 0, 256, 0, 256].into_iter().for_each(|page| assert!(mq.write(page) < 5));
        inner(&mut mq).now += 100;
        let said = [512, 768].map(|page| {
            let _ = mq.write(page);
            let mq = inner(&mut mq);
            let queues = [0, 1].map(|chunk| mq.queues.list_of(super::Slot(chunk)));
            (queues, mq.hottest.map(|slot| slot.0), mq.most_writes)
        });
        let falls = [([Some(0), Some(1)], Some(1), 3), ([Some(0), Some(0)], Some(1), 3)];
        assert_eq!(said, falls);
    }
}
