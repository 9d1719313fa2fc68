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
    let projected = projected_bytes(device, bytes_written);
    Wear {
        erase_min: u64::from(erases.iter().copied().min().unwrap_or(0)),
        erase_max: u64::from(max),
        erase_mean: mean,
        erase_stddev: (squares / count).sqrt(),
        retired_blocks: u64::from(nand.retired_blocks()),
        factory_bad_blocks: nand.factory_bad().len() as u64,
        projected_bytes_written: match until_worn_out {
            Some(_) => None,
            None => projected,
        },
        until_worn_out,
        histogram: wear_histogram(&erases),
    }
}

/// Bytes that the host can write until the block dies that wears fastest: each erase takes the
/// share of a block's life that the mode takes which it ends.
fn projected_bytes(device: &dyn Device, bytes_written: u64) -> Option<u64> {
    let (nand, geometry) = (device.board().nand(), device.board().geometry());
    let settings = &device.config().device;
    let [dense, slc] = [settings.endurance_cycles, settings.slc_endurance_cycles].map(u128::from);
    let worn = |block: BlockId| {
        let known = nand.state().block(block);
        let all = u128::from(known.erases - known.erases_before);
        let (slc_erases, before) = nand.modes().slc_erases(block);
        let in_slc = u128::from(slc_erases - before);
        (all - in_slc) * slc + in_slc * dense
    };
    let blocks = (0..geometry.blocks()).map(BlockId);
    let usable = blocks.filter(|&block| !nand.state().block(block).retired);
    let most = usable.map(worn).max().unwrap_or(0);
    let life = u128::from(bytes_written).saturating_mul(dense * slc);
    life.checked_div(most).map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX))
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
