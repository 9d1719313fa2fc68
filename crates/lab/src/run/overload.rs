//! Whether the device could take the load that arrived. Response times of one that could not tell
//! how long the trace is.

use ftlab_engine::units::Nanos;
use ftlab_report::format::{Quantity, count};
use ftlab_report::result::RunResult;

/// Requests completed for each that arrived, in the same time, below which the device falls behind.
const SUSTAINED: f64 = 0.95;
/// Time in the queue against time in the device, above which waiting is what is measured.
const WAITING: f64 = 100.0;
/// Time between arrivals against what the device needs, as advised.
const HEADROOM: f64 = 1.1;

/// What to say where it could not. Requests came for `arriving`, zero in a closed loop, with the
/// workload's times multiplied by `scale`.
pub fn overloaded(result: &RunResult, arriving: Nanos, scale: f64) -> Option<String> {
    let host = &result.host;
    let requests = (host.read_requests + host.write_requests + host.trim_requests) as f64;
    let (arriving, serving) = (arriving as f64 / 1e9, result.simulated_s);
    if arriving <= 0.0 || serving <= 0.0 {
        return None;
    }
    let latency = &result.latency_ns.all;
    let (queue, device) = (latency.queue.mean, latency.device.mean);
    let (offered, sustained) = (requests / arriving, requests / serving);
    let waits = format!(
        "requests wait {} on average, where the device takes {}, and up to {} wait at once",
        Quantity::Nanoseconds.format(queue),
        Quantity::Nanoseconds.format(device),
        count(host.longest_queue)
    );
    // A queue that grows steadily makes requests wait half as long as the last of them, on average;
    // one that a burst at the end leaves behind does not. Every pass ends with its queue empty.
    let passes = result.workload.passes.unwrap_or(1).max(1) as f64;
    let grows = queue / 1e9 > (serving - arriving) / passes / 4.0;
    let falls_behind = sustained < SUSTAINED * offered && grows;
    match queue > WAITING * device {
        _ if falls_behind && queue > device => Some(format!(
            "Overloaded: {} arrive, {} are completed; {waits}. Response times tell how long the \
             trace is, not what a request costs: device times, or --timing closed:N, tell that, \
             and --timing trace:{:.1} stretches the arrivals to a little less than the device takes.",
            rate(offered),
            rate(sustained),
            (10.0 * HEADROOM * scale * offered / sustained).ceil() / 10.0
        )),
        true => Some(format!(
            "Overloaded at times: {waits}, though by its end the run has caught up with the {} \
             that arrive. Means tell of the queue: percentiles, device times, or --timing \
             trace:SCALE with a larger SCALE, tell of the device.",
            rate(offered)
        )),
        false => None,
    }
}

fn rate(per_second: f64) -> String {
    format!("{} requests a second", Quantity::Ratio.format(per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand requests served in so many seconds.
    fn served_in(seconds: f64, queue_ns: f64) -> RunResult {
        let mut result = RunResult { simulated_s: seconds, ..RunResult::default() };
        result.host.write_requests = 1000;
        result.host.longest_queue = 4129;
        result.latency_ns.all.device.mean = 1e6;
        result.latency_ns.all.queue.mean = queue_ns;
        result
    }

    #[test]
    fn a_device_that_falls_behind_is_told_with_both_rates() {
        let told = overloaded(&served_in(25.0, 7e9), 10_000_000_000, 1.0).unwrap();
        assert!(told.contains("100.0 requests a second arrive, 40.00 requests"), "{told}");
        assert!(told.contains("7.000 s on average") && told.contains("4,129"), "{told}");
        assert!(told.contains("trace:2.8 "), "{told}");
        let told = overloaded(&served_in(25.0, 7e9), 10_000_000_000, 0.5).unwrap();
        assert!(told.contains("trace:1.4 "), "{told}");
    }

    #[test]
    fn one_that_catches_up_is_told_where_waiting_is_what_is_measured() {
        let told = overloaded(&served_in(10.1, 2e8), 10_000_000_000, 1.0).unwrap();
        assert!(told.starts_with("Overloaded at times"), "{told}");
        assert_eq!(overloaded(&served_in(10.1, 9e7), 10_000_000_000, 1.0), None);
    }

    #[test]
    fn closed_loops_and_runs_that_end_in_a_burst_are_not_overloaded() {
        assert_eq!(overloaded(&served_in(25.0, 7e9), 0, 1.0), None);
        assert_eq!(overloaded(&served_in(25.0, 9e7), 10_000_000_000, 1.0), None);
    }
}
