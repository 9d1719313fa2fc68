//! Where requests spend their time: by stage, and by stream of the host.

use ftlab_engine::meter::{Meter, StreamCounts};
use ftlab_engine::ssd::Device;

use crate::result::{Stages, Stream};

/// What each stream got; empty where there is one.
pub(super) fn streams(device: &dyn Device) -> Vec<Stream> {
    let streams = device.config().host.streams as usize;
    if streams == 1 {
        return Vec::new();
    }
    let stream = |counts: &StreamCounts| {
        let requests = counts.reads + counts.writes;
        let mean = |sum: u128| (requests > 0).then(|| sum as f64 / requests as f64);
        Stream {
            requests,
            read_requests: counts.reads,
            bytes: counts.bytes,
            response_ns_mean: mean(counts.response_sum),
            driver_queue_ns_mean: mean(counts.driver_queue_sum),
        }
    };
    device.board().meter().streams()[..streams].iter().map(stream).collect()
}

/// Means over reads and writes: they sum to the mean system response time.
pub(super) fn stages(meter: &Meter) -> Stages {
    let counted = meter.latency();
    let requests = counted.read()[0].count() + counted.write()[0].count();
    let means =
        counted.stages().map(|sum| if requests == 0 { 0.0 } else { sum as f64 / requests as f64 });
    Stages::from(means)
}
