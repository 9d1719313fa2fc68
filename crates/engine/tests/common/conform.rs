//! What every scheme must do, as a function, so that deliberately wrong schemes can be put to it.

use ftlab_engine::request::Request;
use ftlab_engine::ssd::Device;

/// Runs the requests with a whole-device audit after each and every read compared; the error says
/// which promise was broken at which request.
pub fn conform(device: &mut dyn Device, requests: &[Request]) -> Result<(), String> {
    device.verify_reads();
    for (number, request) in requests.iter().enumerate() {
        let at = |error: String| format!("request {number} ({request:?}): {error}");
        device.submit(request).map_err(|error| at(error.to_string()))?;
        device.audit().map_err(at)?;
    }
    Ok(())
}
