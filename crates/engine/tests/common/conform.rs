//! What every scheme must do, as a function, so that deliberately wrong schemes can be put to it.

use ftlab_engine::request::Request;
use ftlab_engine::ssd::Device;

/// Runs the requests with a whole-device audit after each and every read compared; the error says
/// which promise was broken at which request.
pub fn conform(device: &mut dyn Device, requests: &[Request]) -> Result<(), String> {
    conform_audited(device, requests, 1)
}

/// The same with an audit after every `stride`-th request and the last one: a larger device takes
/// its time to be audited, and little of what breaks is whole again a few requests later.
pub fn conform_audited(
    device: &mut dyn Device,
    requests: &[Request],
    stride: usize,
) -> Result<(), String> {
    device.verify_reads();
    for (number, request) in requests.iter().enumerate() {
        let at = |error: String| format!("request {number} ({request:?}): {error}");
        device.submit(request).map_err(|error| at(error.to_string()))?;
        if (number + 1) % stride == 0 || number + 1 == requests.len() {
            device.audit().map_err(at)?;
        }
    }
    Ok(())
}
