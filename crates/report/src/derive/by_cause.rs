//! Numbers by cause, under the names of result files.

use ftlab_engine::meter::Cause;

use crate::result::{ByCause, CAUSE_NAMES};

/// One value per cause that result files name. A cause of the engine that they do not name counts
/// as `recover`: checkpoints are such work, done so that recovery has less to do.
pub(super) fn by_cause<T: Default + Copy>(value: impl Fn(&[Cause]) -> T) -> ByCause<T> {
    let unnamed: Vec<Cause> =
        Cause::ALL.iter().copied().filter(|cause| !CAUSE_NAMES.contains(&cause.name())).collect();
    ByCause::from(CAUSE_NAMES.map(|name| {
        let mut causes: Vec<Cause> =
            Cause::ALL.iter().copied().filter(|cause| cause.name() == name).collect();
        if name == Cause::Recover.name() {
            causes.extend(&unnamed);
        }
        value(&causes)
    }))
}
