//! What several tests share.

use std::path::Path;

/// A real trace beside the workspace, or `None` with the reason printed.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub fn real_trace(name: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let path = folder.join(name);
    if !path.exists() {
        eprintln!("skipped: ../shared/traces/{name} is absent");
        return None;
    }
    Some(path.display().to_string())
}
