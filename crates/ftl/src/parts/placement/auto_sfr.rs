//! # Idea
//! Sequentiality, frequency, recency: requests that go on where the one before ended stay with it;
//! otherwise how often and how lately a chunk of addresses was written says where it goes.
//!
//! # Source
//! AutoStream: Yang, Pandurangan, Choi, Balakrishnan, SYSTOR 2017, as in the simulator of SepBIT
//! (FAST 2022).
//!
//! # Rule
//! A request that begins where the last write request ended takes its class. Otherwise the weight w
//! of the chunk of 2 MiB in which it begins is halved for every 16384 host pages since the chunk's
//! last request, grows by one, and the class is the whole part of ln w, at most the last but one.
//! Moved page: the last class.
//!
//! # Deviations
//! The logarithm is natural as in the simulator; the paper has log2 [known-weak]. Weights have 16
//! binary places, and between two halvings decay along a straight line (at most 6 % above the
//! curve). What a request has begun with holds for all its pages.
//!
//! # Memory
//! 8 bytes a chunk.

use super::settings::PlacementSettings;
use super::{Classes, Goes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Victim};
use ftlab_flash::units::zeroed;

const CHUNK_BYTES: u64 = 2 << 20;
/// Host pages in which a weight halves.
const HALF_LIFE: u64 = 16_384;
/// A weight of one.
const ONE: u64 = 1 << 16;
/// Whole powers of e from 1 on, in the unit of weights, rounded up.
const POWERS_OF_E: [u64; 14] = [
    178_146,
    484_250,
    1_316_326,
    3_578_145,
    9_726_405,
    26_439_110,
    71_868_951,
    195_360_063,
    531_043_709,
    1_443_526_463,
    3_923_911_752,
    10_666_298_011,
    28_994_004_059,
    78_813_874_368,
];

/// What a chunk weighed, and when.
#[derive(Clone, Copy, Debug, Default, zerocopy::FromZeros)]
struct Chunk {
    weight: u32,
    /// Clock, 32 bits of it.
    time: u32,
}

/// Weights of chunks, and where the last request ended.
#[derive(Clone, Debug)]
pub struct AutoSfr {
    last: u8,
    chunk_pages: u32,
    chunks: Vec<Chunk>,
    /// First page after the last request, and its class.
    end: Option<u32>,
    class: u8,
}

fn chunk_pages(context: &PlacementContext<'_>) -> u32 {
    (CHUNK_BYTES / context.page_bytes).max(1) as u32
}

fn chunks(context: &PlacementContext<'_>) -> u32 {
    context.logical_pages.div_ceil(chunk_pages(context))
}

impl PlacementPolicy for AutoSfr {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(6)
    }

    fn ram_bytes(context: &PlacementContext<'_>) -> u64 {
        8 * u64::from(chunks(context))
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        AutoSfr {
            last: context.classes - 1,
            chunk_pages: chunk_pages(context),
            chunks: zeroed(chunks(context) as usize),
            end: None,
            class: 0,
        }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        if write.request.index == 0 {
            let first = write.lpn.0;
            if self.end != Some(first) {
                self.class = self.weigh(first / self.chunk_pages, write.now);
            }
            self.end = Some(first + write.request.pages);
        }
        self.class
    }

    fn victim(&mut self, _: &Victim) -> Goes {
        Goes::Whole(self.last)
    }

    fn moved(&mut self, _: &MovedPage) -> u8 {
        self.last
    }
}

impl AutoSfr {
    /// A request begins in a chunk: its class.
    fn weigh(&mut self, chunk: u32, now: u64) -> u8 {
        let chunk = &mut self.chunks[chunk as usize];
        let since = u64::from((now as u32).wrapping_sub(chunk.time));
        let (halvings, rest) = (since / HALF_LIFE, since % HALF_LIFE);
        let halved = u64::from(chunk.weight) >> halvings.min(32);
        let weight = halved - halved * rest / (2 * HALF_LIFE) + ONE;
        *chunk = Chunk { weight: weight.min(u64::from(u32::MAX)) as u32, time: now as u32 };
        let logarithm = POWERS_OF_E.iter().take_while(|&&power| weight >= power).count() as u8;
        logarithm.min(self.last.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Goes;
    use super::super::tests::{Bench, victim};

    /// Pages 0 and 600 lie in two chunks of 512 pages. e = 2.7: the third request of a chunk makes
    /// its weight nearly 3, the eighth nearly 8 (e^2 = 7.4); requests of page 9 go on behind page
    /// 8.
    #[test]
    fn a_chunk_that_is_written_again_soon_is_hotter_and_what_goes_on_stays() {
        let mut sfr = Bench::new("auto_sfr", 2048, &[]);
        let hot: Vec<u8> = (0..8).map(|_| sfr.write(0)).collect();
        assert_eq!(hot, [0, 0, 1, 1, 1, 1, 1, 2]);
        assert_eq!(sfr.write(600), 0, "another chunk");
        assert_eq!(sfr.write(8), 2);
        assert_eq!(sfr.write(600), 0);
        assert_eq!(sfr.write(601), 0, "goes on behind page 600");
        assert_eq!(sfr.write(602), 0);
        sfr.pass(16_384);
        // Nine requests weigh 4.5 by now, and one more 5.5; behind three half-lives 0.7 and 1.7.
        assert_eq!(sfr.write(3), 1);
        sfr.pass(3 * 16_384);
        assert_eq!(sfr.write(5), 0);
        assert_eq!(sfr.policy.victim(&victim(0, 0, 9)), Goes::Whole(5));
    }

    /// Half a half-life takes a quarter of the weight, on the straight line from 1 to 1/2; one and
    /// a half take a half and a quarter of the rest: 1.75, and 1.75 * 3/8 + 1.
    #[test]
    fn a_weight_decays_along_a_straight_line_between_halvings() {
        let mut sfr = Bench::new("auto_sfr", 2048, &[]);
        let weights = [0, 8191, 24_575].map(|others| {
            sfr.pass(others);
            // The same page each time: nothing goes on behind a request.
            let _ = sfr.write(0);
            let super::super::Placement::AutoSfr(inner) = &sfr.policy else { unreachable!("made") };
            inner.chunks[0].weight
        });
        assert_eq!(weights, [65_536, 114_688, 43_008 + 65_536]);
    }
}
