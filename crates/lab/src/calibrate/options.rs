//! Options of a job of fio: which probe they make, or why they make none.

use std::collections::BTreeMap;

use crate::calibrate::probe::{Pattern, Probe};

/// Options under other names.
const ALIASES: [(&str, &str); 3] =
    [("readwrite", "rw"), ("blocksize", "bs"), ("blocksize_range", "bsrange")];

/// Engines that have one request in flight whatever `iodepth` says; fio's own default is one.
const SYNCHRONOUS: [&str; 6] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"];
/// Engines that reach a drive past the page cache by themselves.
const DIRECT: [&str; 6] = ["nbd", "spdk", "io_uring_cmd", "sg", "libblkio", "vfio"];

/// Options under which requests are not what a probe is, and why; all but for the values that are
/// named.
const UNLIKE: [(&str, &[&str], &str); 22] = [
    ("bsrange", &[], "requests of several sizes"),
    ("bssplit", &[], "requests of several sizes"),
    ("bs_is_seq_rand", &["0"], "requests of several sizes"),
    ("rate", &[], "its rate is bounded"),
    ("rate_iops", &[], "its rate is bounded"),
    ("rate_min", &[], "its rate is bounded"),
    ("thinktime", &["0"], "it waits between requests"),
    ("latency_target", &["0"], "fio changes its depth"),
    ("flow", &["0"], "other jobs hold it up"),
    ("iodepth_batch", &["1"], "requests are sent in batches"),
    ("iodepth_batch_submit", &["1"], "requests are sent in batches"),
    ("iodepth_batch_complete", &["1"], "it waits for several requests at once"),
    ("iodepth_batch_complete_min", &["0", "1"], "it waits for several requests at once"),
    ("fsync", &["0"], "writes are flushed"),
    ("fdatasync", &["0"], "writes are flushed"),
    ("sync", &["0", "none"], "writes are flushed"),
    ("random_distribution", &["random"], "addresses are not uniform"),
    ("percentage_random", &["100"], "some addresses are in order"),
    ("zonemode", &["none"], "addresses lie in zones"),
    ("read_iolog", &[], "it replays a trace"),
    ("verify", &["0"], "contents are compared"),
    ("kb_base", &["1024"], "sizes in other units"),
];

/// Options that a reader must know of, but for values that are named, and why.
const TOLD: [(&str, &[&str], &str); 3] = [
    ("fill_device", &["0"], "it may have ended where there was no room left"),
    ("iodepth_batch_complete_max", &["1"], "fio may have answered several requests at once"),
    ("nrfiles", &["1"], "several files share its requests"),
];

/// Options that change nothing about what a probe is.
const NEUTRAL: &[&str] = &[
    "allow_mounted_write",
    "buffer_compress_percentage",
    "clat_percentiles",
    "cpus_allowed",
    "cpus_allowed_policy",
    "create_on_open",
    "description",
    "direct",
    "disable_slat",
    "end_fsync",
    "exitall",
    "file_service_type",
    "fallocate",
    "fixedbufs",
    "group_reporting",
    "hipri",
    "invalidate",
    "ioengine",
    "iodepth",
    "log_avg_msec",
    "loops",
    "lat_percentiles",
    "name",
    "new_group",
    "norandommap",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "number_ios",
    "numjobs",
    "percentile_list",
    "per_job_logs",
    "ramp_time",
    "random_generator",
    "randrepeat",
    "randseed",
    "refill_buffers",
    "registerfiles",
    "runtime",
    "scramble_buffers",
    "slat_percentiles",
    "sqthread_poll",
    "ss",
    "ss_dur",
    "ss_ramp",
    "steadystate",
    "steadystate_duration",
    "steadystate_ramp_time",
    "stonewall",
    "thread",
    "time_based",
    "unified_rw_reporting",
    "uri",
    "wait_for",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
    "zero_buffers",
];

/// Options by which requests reach a part of the drive only, and the values by which they do not.
const PARTIAL: [(&str, &[&str]); 5] = [
    ("size", &["0", "100%"]),
    ("filesize", &["0"]),
    ("io_size", &["0", "100%"]),
    ("offset", &["0", "0%"]),
    ("offset_increment", &["0", "0%"]),
];
/// Seconds that a probe takes at least, where its rate shall be that of the drive.
const RUNTIME_LEAST: f64 = 10.0;

/// A job that is a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    /// Which.
    pub probe: Probe,
    /// How many copies of it ran side by side; the depth is of all.
    pub jobs: u32,
    /// What a reader must know, without a full stop.
    pub notes: Vec<String>,
}

/// The probe of a job's options, which stand above those of all; else why it is none.
pub fn plain(
    global: &BTreeMap<String, String>,
    own: &BTreeMap<String, String>,
) -> Result<Plain, String> {
    let mut all: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, value) in global.iter().chain(own) {
        let alias = ALIASES.iter().find(|(other, _)| other == name);
        all.insert(alias.map_or(name, |(_, name)| name), value.trim());
    }
    let unlike = |(name, plain, why): &(&str, &[&str], &str)| {
        let value = all.get(name).filter(|value| !plain.contains(*value))?;
        Some(format!("{name}={value}: {why}"))
    };
    if let Some(why) = UNLIKE.iter().find_map(unlike) {
        return Err(why);
    }
    // Where nothing is said it is the depth.
    let depth = all.get("iodepth").copied().unwrap_or("1");
    if let Some(low) = all.get("iodepth_low").filter(|low| **low != depth) {
        return Err(format!("iodepth_low={low}: its depth sinks before it is filled again"));
    }
    if let Some(names) = all.get("filename").filter(|names| several(names)) {
        return Err(format!("filename={names}: several drives or files share its requests"));
    }
    let pattern = pattern(all.get("rw").copied().unwrap_or("read"))?;
    let bytes = bytes(all.get("bs").copied().unwrap_or("4k"), pattern)?;
    let number = |name: &str| match all.get(name) {
        None => Ok(1),
        Some(text) => text
            .parse()
            .ok()
            .filter(|count| (1..=65536).contains(count))
            .ok_or_else(|| format!("{name}={text} is no number of requests; legal: 1 to 65536")),
    };
    let (asked, jobs): (u32, u32) = (number("iodepth")?, number("numjobs")?);
    if jobs > 1 && !pattern.is_random() {
        return Err(format!("numjobs={jobs}: several streams in order, none of which is a probe"));
    }
    let engine = all.get("ioengine").copied().unwrap_or(SYNCHRONOUS[0]);
    let mut notes = Vec::new();
    let alone = SYNCHRONOUS.contains(&engine);
    if alone && asked > 1 {
        notes.push(format!("ioengine={engine} has one request in flight, not iodepth={asked}"));
    }
    if !is_direct(&all) && !DIRECT.contains(&engine) {
        notes.push("direct=1 is not set: what it measured may be the page cache".to_owned());
    }
    let is_file = |name: &&&str| !is_drive(name) && !DIRECT.contains(&engine);
    if let Some(file) = all.get("filename").filter(is_file) {
        notes.push(format!("filename={file}: it measured a file, not the drive itself"));
    }
    notes.extend(TOLD.iter().filter_map(unlike));
    notes.extend(where_and_how_long(&all, pattern));
    let known = |name: &str| {
        NEUTRAL.contains(&name)
            || ["directory", "filename", "buffered", "iodepth_low"].contains(&name)
            || TOLD.iter().any(|(told, ..)| *told == name)
            || PARTIAL.iter().any(|(partial, _)| *partial == name)
            || ["rw", "bs"].contains(&name)
            || UNLIKE.iter().any(|(unlike, ..)| *unlike == name)
    };
    let unknown: Vec<&str> = all.keys().copied().filter(|name| !known(name)).collect();
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        notes.push(format!("options that are not known, taken to change nothing: {names}"));
    }
    let depth = if alone { 1 } else { asked }.checked_mul(jobs).filter(|depth| *depth <= 65536);
    let depth = depth.ok_or_else(|| format!("iodepth={asked} of numjobs={jobs} is too deep"))?;
    Ok(Plain { probe: Probe { pattern, bytes, depth }, jobs, notes })
}

/// Whether requests pass the page cache: `buffered` says the contrary of `direct`.
fn is_direct(all: &BTreeMap<&str, &str>) -> bool {
    match (all.get("direct"), all.get("buffered")) {
        (direct, None) => direct == Some(&"1"),
        (direct, Some(&"0")) => direct != Some(&"0"),
        (_, Some(_)) => false,
    }
}

/// Whether fio takes a name for several: they have colons between them, and one of its own a
/// backslash.
fn several(names: &str) -> bool {
    let bytes = names.as_bytes();
    (0..bytes.len()).any(|at| bytes[at] == b':' && (at == 0 || bytes[at - 1] != b'\\'))
}

/// Whether a name is of a drive, not of a file or of memory.
fn is_drive(name: &str) -> bool {
    let is_memory = ["/dev/shm/", "/dev/ram", "/dev/zram"].iter().any(|one| name.starts_with(one));
    (name.starts_with("/dev/") && !is_memory) || name.starts_with(r"\\.\")
}

/// What a reader must know of a probe that does not reach the whole drive, or is brief.
fn where_and_how_long(all: &BTreeMap<&str, &str>, pattern: Pattern) -> Vec<String> {
    let mut notes = Vec::new();
    let partial = |(name, whole): &(&str, &[&str])| {
        let value = all.get(name).filter(|value| !whole.contains(*value))?;
        Some(format!("{name}={value}"))
    };
    let partial: Vec<String> = PARTIAL.iter().filter_map(partial).collect();
    if !partial.is_empty() {
        let steady = match pattern {
            Pattern::RandWrite => ", and random writes are not those of steady state",
            _ => "",
        };
        notes.push(format!(
            "{}: only a part of the drive may have been touched{steady}",
            partial.join(", ")
        ));
    }
    if let Some(folder) = all.get("directory") {
        notes.push(format!("directory={folder}: it measured files, not the drive itself"));
    }
    let runtime = all.get("runtime").and_then(|text| seconds(text));
    if let Some(brief) = runtime.filter(|time| *time > 0.0 && *time < RUNTIME_LEAST) {
        notes.push(format!("runtime: {brief} seconds are few, less than {RUNTIME_LEAST}"));
    }
    notes
}

/// Seconds of `60`, `90s`, `5m`, `500ms`; none where it is not understood.
fn seconds(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[end..].to_ascii_lowercase().as_str() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    text[..end].parse::<f64>().ok().map(|count| count * unit)
}

fn pattern(text: &str) -> Result<Pattern, String> {
    let names: Vec<&str> = Pattern::ALL.iter().map(|pattern| pattern.name()).collect();
    Pattern::named(text)
        .ok_or_else(|| format!("rw={text} is no probe; those are {}", names.join(", ")))
}

/// Bytes of `4k`, `128kb`, or of the part of `4k,8k` that is of this direction; fio's own 4 KiB
/// where that part is empty.
fn bytes(text: &str, pattern: Pattern) -> Result<u64, String> {
    let parts: Vec<&str> = text.split(',').collect();
    let own = match parts.as_slice() {
        [] => "",
        [one] => one,
        [read, ..] if !pattern.writes() => read,
        [_, write, ..] => write,
    };
    let own = if own.trim().is_empty() { "4k" } else { own };
    let lower = own.trim().to_ascii_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let unit = match &lower[end..] {
        "" | "b" => Some(1),
        "k" | "ki" | "kb" => Some(1 << 10),
        "m" | "mi" | "mb" => Some(1 << 20),
        // As fio has it where kb_base is 1024.
        "kib" => Some(1000),
        "mib" => Some(1_000_000),
        _ => None,
    };
    let count: Option<u64> = lower[..end].parse().ok();
    let found = count.zip(unit).and_then(|(count, unit)| count.checked_mul(unit));
    found.filter(|bytes| (512..=16 << 20).contains(bytes) && bytes.is_multiple_of(512)).ok_or_else(
        || match found {
            Some(bytes) if !bytes.is_multiple_of(512) => format!(
                "bs={text} is {bytes} bytes to fio, no multiple of 512; legal: 512 bytes to 16m"
            ),
            _ => format!("bs={text} is not understood; legal: 512 bytes to 16m, in sectors"),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Plain, String> {
        let pairs = text.split(' ').filter_map(|pair| pair.split_once('='));
        let own = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let direct = [("direct", "1"), ("ioengine", "libaio"), ("bs", "4k")];
        let global = direct.map(|(name, value)| (name.to_owned(), value.to_owned()));
        plain(&global.into_iter().collect(), &own)
    }

    #[test]
    fn sizes_depths_and_names_are_those_of_fio() {
        let probe = |text: &str| of(text).unwrap().probe.to_string();
        assert_eq!(probe("rw=randread iodepth=16"), "randread:bs=4096,iodepth=16");
        assert_eq!(probe("readwrite=write blocksize=128kb"), "write:bs=131072,iodepth=1");
        assert_eq!(probe("bs=128Ki"), "read:bs=131072,iodepth=1");
        assert_eq!(probe("bs=128KiB"), "read:bs=128000,iodepth=1", "with kb_base=1024");
        assert_eq!(
            probe("rw=randwrite bs=4k,8k iodepth=2 numjobs=4"),
            "randwrite:bs=8192,iodepth=8"
        );
        assert_eq!(probe("rw=read bs=1M,"), "read:bs=1048576,iodepth=1");
        assert_eq!(probe("rw=write bs=1M,"), "write:bs=4096,iodepth=1", "of reads alone");
        assert_eq!(probe("rw=read bs=,8k"), "read:bs=4096,iodepth=1");
        assert_eq!(probe("rw=write bs=,8k"), "write:bs=8192,iodepth=1");
        assert_eq!(probe(""), "read:bs=4096,iodepth=1");
    }

    #[test]
    fn what_is_no_probe_says_which_option_makes_it_none() {
        let why = |text: &str| of(text).unwrap_err();
        assert_eq!(
            why("rw=randrw"),
            "rw=randrw is no probe; those are randread, read, randwrite, write"
        );
        assert_eq!(why("rate_iops=100"), "rate_iops=100: its rate is bounded");
        assert!(why("rw=read numjobs=2").contains("several streams"));
        assert!(why("bs=4x").contains("bs=4x is not understood"));
        assert!(why("bs=100").contains("512 bytes to 16m"));
        assert!(why("bs=4KiB").contains("is 4000 bytes to fio, no multiple of 512"));
        assert!(why("iodepth=0").contains("legal: 1 to 65536"));
        assert!(of("sync=0 fsync=0 verify=0 thinktime=0").is_ok());
        assert!(
            why("filename=/dev/sda:/dev/sdb")
                .ends_with("several drives or files share its requests")
        );
        assert!(of(r"filename=\\.\PhysicalDrive1").unwrap().notes.is_empty());
        assert!(of(r"filename=/dev/by\:path").unwrap().notes.is_empty());
        assert!(why("iodepth=16 iodepth_low=4").starts_with("iodepth_low=4: its depth sinks"));
        assert!(of("iodepth=16 iodepth_low=16 iodepth_batch=1").unwrap().notes.is_empty());
        assert!(why("iodepth=16 iodepth_batch=8").contains("sent in batches"));
        assert!(why("iodepth_batch_complete_min=8").contains("several requests at once"));
        assert!(
            of("iodepth=16 iodepth_batch_complete_min=0").unwrap().notes.is_empty(),
            "it polls"
        );
    }

    #[test]
    fn what_may_mislead_is_told() {
        let notes = |text: &str| of(text).unwrap().notes;
        assert!(notes("rw=read").is_empty());
        assert_eq!(
            notes("direct=0"),
            ["direct=1 is not set: what it measured may be the page cache"]
        );
        let sync = of("ioengine=psync iodepth=8").unwrap();
        assert_eq!((sync.probe.depth, sync.notes.len()), (1, 1));
        assert_eq!(
            notes("colour=red"),
            ["options that are not known, taken to change nothing: colour"]
        );
        assert!(notes("ioengine=nbd direct=0").is_empty());
        assert!(notes("size=100% offset=0 runtime=60 io_size=0").is_empty());
        assert_eq!(
            notes("rw=randwrite size=1g io_size=4g"),
            ["size=1g, io_size=4g: only a part of the drive may have been touched, and random \
              writes are not those of steady state"]
        );
        assert!(notes("rw=read offset=10%")[0].ends_with("may have been touched"));
        assert!(notes("rw=read offset_increment=1g")[0].ends_with("may have been touched"));
        assert!(notes("filename=/dev/sda").is_empty());
        for file in ["/mnt/x", "x", "/dev/shm/x"] {
            let told = format!("filename={file}: it measured a file, not the drive itself");
            assert_eq!(notes(&format!("filename={file}")), [told]);
        }
        assert!(notes("ioengine=spdk filename=trtype=PCIe").is_empty());
        assert!(notes("fill_device=1")[0].starts_with("fill_device=1: it may have ended"));
        assert!(notes("nrfiles=4")[0].contains("several files"));
        assert!(notes("iodepth_batch_complete_max=8")[0].contains("answered several"));
        assert!(notes("fill_device=0 nrfiles=1 buffered=0").is_empty());
        assert!(notes("buffered=1")[0].contains("page cache"));
        assert!(notes("directory=/tmp")[0].contains("files, not the drive"));
        assert_eq!(notes("runtime=500ms"), ["runtime: 0.5 seconds are few, less than 10"]);
        assert!(notes("runtime=2m").is_empty());
    }
}
