//! The slowest requests: sums become means per request, causes those that results name.

use ftlab_engine::meter::Cause;

use super::by_cause::by_cause;
use crate::result::{Ahead, ByCause, CAUSE_NAMES, Slowest, Stages, Worst};
use crate::tail::sums::Sums;
use crate::tail::worst::One;

/// Means over some requests; all zero over none.
pub(crate) fn slowest(sums: &Sums) -> Slowest {
    if sums.requests == 0 {
        return Slowest::default();
    }
    let mean = |sum: u128| sum as f64 / sums.requests as f64;
    let counted = |sum: u64| mean(u128::from(sum));
    let by_counts = |counts: &[u64; Cause::COUNT]| means(&counts.map(u128::from), mean);
    Slowest {
        requests: sums.requests,
        from_ns: sums.shortest,
        response_ns_mean: mean(sums.response()),
        stages_ns: Stages::from(sums.stages.map(mean)),
        work_ns: means(&sums.work, mean),
        reads: by_counts(&sums.reads),
        programs: by_counts(&sums.programs),
        erases: by_counts(&sums.erases),
        map_misses: counted(sums.map_misses),
        full_merges: counted(sums.full_merges),
        merged_data_blocks: counted(sums.merged_data_blocks),
        ahead: Ahead {
            requests: mean(sums.ahead_requests),
            work_ns: means(&sums.ahead_work, mean),
        },
    }
}

fn means(sums: &[u128; Cause::COUNT], mean: impl Fn(u128) -> f64) -> ByCause<f64> {
    by_cause(|causes| mean(causes.iter().map(|&cause| sums[cause as usize]).sum()))
}

fn counts(of: &[u64; Cause::COUNT]) -> ByCause<u64> {
    by_cause(|causes| causes.iter().map(|&cause| of[cause as usize]).sum())
}

/// One request as results show it.
pub(crate) fn worst(one: &One) -> Worst {
    let (request, seen) = (&one.request, &one.seen);
    Worst {
        index: one.index,
        arrival_ns: request.arrival,
        op: one.op.to_owned(),
        first_sector: request.first_sector,
        sectors: u64::from(request.sectors),
        system_ns: seen.response,
        stages_ns: Stages::from(seen.stages.all()),
        work_ns: counts(&seen.work),
        reads: counts(&seen.counts.reads),
        programs: counts(&seen.counts.programs),
        erases: counts(&seen.counts.erases_by_cause),
        map_misses: seen.counts.map_misses,
        full_merges: seen.counts.full_merges,
        merged_data_blocks: seen.counts.full_data_blocks,
        ahead: Ahead { requests: seen.ahead.requests, work_ns: counts(&seen.ahead.work) },
    }
}

/// The shares of a work by cause, the largest first: those of at least a hundredth; none of no
/// work.
pub(crate) fn shares(work: &ByCause<f64>) -> Vec<(&'static str, f64)> {
    let total = total(work);
    let share = |(name, value): (&'static str, f64)| (name, value / total);
    let mut shares: Vec<_> = CAUSE_NAMES.into_iter().zip(work.values()).map(share).collect();
    shares.retain(|(_, share)| *share >= 0.01);
    shares.sort_by(|one, two| two.1.total_cmp(&one.1));
    shares
}

/// Work of all causes.
pub(crate) fn total(work: &ByCause<f64>) -> f64 {
    work.values().iter().sum()
}
