//! Memory of the machine, where it tells: Linux's /proc; zero or none elsewhere.

/// Largest resident memory of this process so far, in bytes; 0 where that is not known.
pub fn peak_rss_bytes() -> u64 {
    field("/proc/self/status", "VmHWM:").unwrap_or(0)
}

/// Memory that the machine could still give, in bytes.
pub fn available_bytes() -> Option<u64> {
    field("/proc/meminfo", "MemAvailable:")
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_running_process_has_memory() {
        assert!(peak_rss_bytes() > 1 << 16);
        assert!(available_bytes().is_some_and(|bytes| bytes > 1 << 20));
    }
}
