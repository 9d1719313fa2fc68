//! Wear: erase counts of blocks, their spread, and how far the flash would last.

use ftlab_engine::ssd::Device;
use ftlab_engine::units::BlockId;

use crate::result::{WEAR_BUCKETS_MAX, Wear, WearBucket, WornOut};

/// Wear of the measured part alone. The projection assumes that the host goes on as in the
/// measured part and that the block worn most in it goes on being worn most.
pub(super) fn wear(
    device: &dyn Device,
    bytes_written: u64,
    until_worn_out: Option<WornOut>,
) -> Wear {
    let nand = device.board().nand();
    let state = nand.state();
    let blocks = (0..device.board().geometry().blocks()).map(|block| state.block(BlockId(block)));
    let erases: Vec<u32> = blocks
        .filter(|block| !block.retired)
        .map(|block| block.erases - block.erases_before)
        .collect();
    let count = erases.len().max(1) as f64;
    let mean = erases.iter().map(|&erases| f64::from(erases)).sum::<f64>() / count;
    let squares = erases.iter().map(|&erases| (f64::from(erases) - mean).powi(2)).sum::<f64>();
    let max = erases.iter().copied().max().unwrap_or(0);
    let endurance = u128::from(device.config().device.endurance_cycles);
    let projected = (u128::from(bytes_written) * endurance).checked_div(u128::from(max));
    Wear {
        erase_min: u64::from(erases.iter().copied().min().unwrap_or(0)),
        erase_max: u64::from(max),
        erase_mean: mean,
        erase_stddev: (squares / count).sqrt(),
        retired_blocks: u64::from(nand.retired_blocks()),
        factory_bad_blocks: nand.factory_bad().len() as u64,
        projected_bytes_written: match until_worn_out {
            Some(_) => None,
            None => projected.map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX)),
        },
        until_worn_out,
        histogram: wear_histogram(&erases),
    }
}

fn wear_histogram(erases: &[u32]) -> Vec<WearBucket> {
    let (Some(&min), Some(&max)) = (erases.iter().min(), erases.iter().max()) else {
        return Vec::new();
    };
    let width = (max - min + 1).div_ceil(WEAR_BUCKETS_MAX as u32);
    let mut blocks = vec![0u64; ((max - min) / width + 1) as usize];
    for erases in erases {
        blocks[((erases - min) / width) as usize] += 1;
    }
    let bucket = |(index, &blocks): (usize, &u64)| {
        let from = min + index as u32 * width;
        let to = (from + width - 1).min(max);
        WearBucket { erases_from: u64::from(from), erases_to: u64::from(to), blocks }
    };
    blocks.iter().enumerate().map(bucket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_buckets_cover_every_block_once() {
        let erases: Vec<u32> = (0..1000).map(|block| 5 + block % 200).collect();
        let buckets = wear_histogram(&erases);
        assert!(buckets.len() <= WEAR_BUCKETS_MAX);
        assert_eq!(buckets.iter().map(|bucket| bucket.blocks).sum::<u64>(), 1000);
        assert_eq!((buckets[0].erases_from, buckets.last().unwrap().erases_to), (5, 204));
        assert!(buckets.windows(2).all(|pair| pair[0].erases_to + 1 == pair[1].erases_from));
    }
}
