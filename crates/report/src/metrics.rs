//! Which numbers a reader compares, in which order, under which words: one table for the text
//! table and the page alike. Values are found in the result by path; nothing is computed here.

use crate::flatten::{Flat, flatten, number};
use crate::format::{NOT_APPLICABLE, Quantity};
use crate::result::RunResult;
use serde::Serialize;

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The lower number.
    Lower,
    /// The higher number.
    Higher,
    /// Neither by itself.
    Neither,
}

/// When a metric is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Always.
    Always,
    /// Only when some run has a value other than zero.
    WhenUsed,
}

/// One number of a result.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Where it is in the result, joined by dots.
    pub path: &'static str,
    /// Heading within its section.
    pub label: &'static str,
    /// How it is written.
    pub quantity: Quantity,
    /// Which direction is better.
    pub better: Better,
    /// When it is shown.
    pub shown: Shown,
}

impl Metric {
    /// The number as people read it.
    #[must_use]
    pub fn text(&self, flat: &Flat) -> String {
        self.value(flat)
            .map_or_else(|| NOT_APPLICABLE.to_owned(), |value| self.quantity.format(value))
    }

    /// The number, where there is one.
    #[must_use]
    pub fn value(&self, flat: &Flat) -> Option<f64> {
        number(flat, self.path).filter(|_| self.counts_something(flat))
    }

    /// A mean or percentile of no times is none, and so is an energy that nobody counts.
    fn counts_something(&self, flat: &Flat) -> bool {
        if self.path.starts_with("energy_uj.") {
            return flat.get(ENERGY_MODEL).is_none_or(|model| model != "none");
        }
        let of = self.path.strip_prefix("latency_ns.").and_then(|path| path.split('.').next());
        of.and_then(|which| number(flat, &format!("latency_ns.{which}.system.N"))) != Some(0.0)
    }

    /// Whether it is worth showing for these runs.
    pub fn is_used<'a>(&self, mut flats: impl Iterator<Item = &'a Flat>) -> bool {
        let used = |flat| number(flat, self.path).is_some_and(|value| value != 0.0);
        self.shown == Shown::Always || flats.any(used)
    }
}

/// The one setting that says whether metrics count something.
pub(crate) const ENERGY_MODEL: &str = "config.energy.model";

/// Metrics that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Heading.
    pub title: &'static str,
    /// What the numbers mean, in one sentence.
    pub note: &'static str,
    /// What to say when no run has anything to show here.
    pub absent: &'static str,
    /// The metrics.
    pub metrics: &'static [Metric],
}

impl Section {
    /// The metrics worth showing for these runs, in order.
    #[must_use]
    pub fn shown(&self, flats: &[Flat]) -> Vec<&'static Metric> {
        self.metrics.iter().filter(|metric| metric.is_used(flats.iter())).collect()
    }
}

/// Flattens every run once.
#[must_use]
pub fn flatten_all(runs: &[RunResult]) -> Vec<Flat> {
    runs.iter().map(flatten).collect()
}

const fn metric(
    path: &'static str,
    label: &'static str,
    quantity: Quantity,
    better: Better,
    shown: Shown,
) -> Metric {
    Metric { path, label, quantity, better, shown }
}

const fn time(path: &'static str, label: &'static str) -> Metric {
    metric(path, label, Quantity::Nanoseconds, Better::Lower, Shown::Always)
}

const fn stage(path: &'static str, label: &'static str) -> Metric {
    metric(path, label, Quantity::Nanoseconds, Better::Neither, Shown::WhenUsed)
}

const fn share(path: &'static str, label: &'static str) -> Metric {
    metric(path, label, Quantity::Ratio, Better::Neither, Shown::WhenUsed)
}

const fn tally(path: &'static str, label: &'static str, shown: Shown) -> Metric {
    metric(path, label, Quantity::Count, Better::Neither, shown)
}

const fn cost(path: &'static str, label: &'static str, shown: Shown) -> Metric {
    metric(path, label, Quantity::Count, Better::Lower, shown)
}

const fn memory(path: &'static str, label: &'static str, shown: Shown) -> Metric {
    metric(path, label, Quantity::Bytes, Better::Neither, shown)
}

const fn energy(path: &'static str, label: &'static str) -> Metric {
    metric(path, label, Quantity::Microjoules, Better::Neither, Shown::WhenUsed)
}

const RESPONSE: &[Metric] = &[
    time("latency_ns.all.system.mean", "mean"),
    time("latency_ns.all.system.percentile.50.000000", "p50"),
    time("latency_ns.all.system.percentile.99.000000", "p99"),
    time("latency_ns.all.system.percentile.99.900000", "p99.9"),
    time("latency_ns.all.system.max", "max"),
    time("latency_ns.read.system.mean", "reads mean"),
    time("latency_ns.write.system.mean", "writes mean"),
    time("latency_ns.all.device.mean", "device mean"),
    cost("host.longest_queue", "longest queue", Shown::WhenUsed),
    tally("host.split.requests", "requests split", Shown::WhenUsed),
    tally("host.split.pieces", "their pieces", Shown::WhenUsed),
];

const STAGES: &[Metric] = &[
    stage("stages_ns.driver_queue", "driver queue"),
    stage("stages_ns.host_link", "host link"),
    stage("stages_ns.controller", "controller"),
    stage("stages_ns.buffer", "write buffer"),
    stage("stages_ns.map", "map"),
    stage("stages_ns.flash", "flash cells"),
    stage("stages_ns.channel", "channel"),
];

/// What the stages are called, in the order in which a request goes through them.
pub(crate) fn stage_labels() -> impl Iterator<Item = &'static str> {
    STAGES.iter().map(|metric| metric.label)
}

const WAF: &[Metric] = &[
    metric("waf", "WAF", Quantity::Ratio, Better::Lower, Shown::Always),
    share("waf_by_cause.host", "host"),
    share("waf_by_cause.translate", "translate"),
    share("waf_by_cause.gc", "gc"),
    share("waf_by_cause.gc_map_block", "gc map block"),
    share("waf_by_cause.gc_map_update", "gc map update"),
    share("waf_by_cause.merge", "merge"),
    share("waf_by_cause.migrate", "migrate"),
    share("waf_by_cause.convert", "convert"),
    share("waf_by_cause.pad", "pad"),
    share("waf_by_cause.read_modify_write", "read-modify-write"),
    share("waf_by_cause.trim", "trim"),
    share("waf_by_cause.checkpoint", "checkpoint"),
    share("waf_by_cause.wear", "wear"),
    share("waf_by_cause.recover", "recover"),
    share("waf_by_cause.fold", "fold"),
    share("waf_by_cause.parity", "parity"),
    share("waf_by_cause.rebuild", "rebuild"),
    share("waf_by_cause.refresh", "refresh"),
    share("waf_by_cause.dedup", "dedup"),
];

const FLASH: &[Metric] = &[
    cost("flash.total_reads", "page reads", Shown::Always),
    cost("flash.total_programs", "page programs", Shown::Always),
    cost("flash.total_erases", "block erases", Shown::Always),
    tally("flash.erases.data", "of data blocks", Shown::WhenUsed),
    tally("flash.erases.map", "of map blocks", Shown::WhenUsed),
    tally("flash.erases.log", "of log blocks", Shown::WhenUsed),
    tally("flash.oob_reads", "out-of-band reads", Shown::WhenUsed),
    tally("flash.oob_writes", "pages marked superseded", Shown::WhenUsed),
];

const MERGES: &[Metric] = &[
    tally("merges.switch", "switch", Shown::WhenUsed),
    tally("merges.partial", "partial", Shown::WhenUsed),
    tally("merges.full", "full", Shown::WhenUsed),
    tally("merges.full_data_blocks", "data blocks rebuilt", Shown::WhenUsed),
];

const CACHES: &[Metric] = &[
    tally("map_cache.lookups", "map lookups", Shown::WhenUsed),
    metric(
        "map_cache.hit_ratio",
        "map hit ratio",
        Quantity::Fraction,
        Better::Higher,
        Shown::WhenUsed,
    ),
    tally("map_cache.evict_clean", "clean evictions", Shown::WhenUsed),
    tally("map_cache.evict_dirty", "dirty evictions", Shown::WhenUsed),
    tally("buffer.lookups", "buffer lookups", Shown::WhenUsed),
    metric(
        "buffer.hit_ratio",
        "buffer hit ratio",
        Quantity::Fraction,
        Better::Higher,
        Shown::WhenUsed,
    ),
    tally("buffer.flushes", "pages the buffer wrote out", Shown::WhenUsed),
];

const MEMORY: &[Metric] = &[
    metric("ram_bytes.total", "total", Quantity::Bytes, Better::Lower, Shown::Always),
    memory("ram_bytes.sram", "SRAM", Shown::WhenUsed),
    memory("ram_bytes.dram", "DRAM", Shown::WhenUsed),
    memory("ram_bytes.pcm", "PCM", Shown::WhenUsed),
    memory("ram_bytes.host", "host memory", Shown::WhenUsed),
    memory("ram_bytes.over_budget", "above the budget", Shown::WhenUsed),
];

const ENERGY: &[Metric] = &[
    metric("iops", "requests", Quantity::PerSecond, Better::Higher, Shown::Always),
    metric(
        "bandwidth_bytes_per_s",
        "bandwidth",
        Quantity::BytesPerSecond,
        Better::Higher,
        Shown::Always,
    ),
    metric("simulated_s", "simulated time", Quantity::Seconds, Better::Neither, Shown::Always),
    metric(
        "service_time_ns.total",
        "service time",
        Quantity::Nanoseconds,
        Better::Lower,
        Shown::WhenUsed,
    ),
    metric("energy_uj.total", "energy", Quantity::Microjoules, Better::Lower, Shown::Always),
    energy("energy_uj.flash.read", "of flash reads"),
    energy("energy_uj.flash.program", "of flash programs"),
    energy("energy_uj.flash.erase", "of flash erases"),
    energy("energy_uj.dram.access", "of DRAM accesses"),
    energy("energy_uj.dram.refresh", "of DRAM refresh"),
    energy("energy_uj.pcm.read", "of PCM reads"),
    energy("energy_uj.pcm.write", "of PCM writes"),
];

const WEAR: &[Metric] = &[
    tally("wear.erase_min", "fewest erases", Shown::Always),
    metric("wear.erase_mean", "mean erases", Quantity::Ratio, Better::Lower, Shown::Always),
    cost("wear.erase_max", "most erases", Shown::Always),
    metric("wear.erase_stddev", "deviation", Quantity::Ratio, Better::Lower, Shown::Always),
    cost("wear.retired_blocks", "retired blocks", Shown::WhenUsed),
    tally("wear.factory_bad_blocks", "bad from the start", Shown::WhenUsed),
    cost("host.unreadable_pages", "unreadable pages", Shown::WhenUsed),
    metric(
        "wear.until_worn_out.bytes_to_first_death",
        "host bytes to first death",
        Quantity::Bytes,
        Better::Higher,
        Shown::WhenUsed,
    ),
    metric(
        "wear.until_worn_out.bytes_to_end",
        "host bytes to the end",
        Quantity::Bytes,
        Better::Higher,
        Shown::WhenUsed,
    ),
    tally("wear.until_worn_out.loops", "passes over workload", Shown::WhenUsed),
    tally("wear.until_worn_out.dead_blocks", "dead blocks", Shown::WhenUsed),
    metric(
        "wear.projected_bytes_written",
        "host bytes to wear-out",
        Quantity::Bytes,
        Better::Higher,
        Shown::WhenUsed,
    ),
];

/// The sections of the summary, in order.
pub const SECTIONS: &[Section] = &[
    Section {
        title: "Response time",
        note: "From arrival to completion; device time leaves out the wait in the host's queue, in \
               which so many requests waited at most.",
        absent: "",
        metrics: RESPONSE,
    },
    Section {
        title: "Response time by stage",
        note: "Mean time of reads and writes in each stage, waits included: they sum to the mean \
               response time.",
        absent: "No time by stage was recorded.",
        metrics: STAGES,
    },
    Section {
        title: "Write amplification",
        note: "Pages programmed per page that the host wrote, and each cause's share of them.",
        absent: "",
        metrics: WAF,
    },
    Section {
        title: "Flash operations",
        note: "Everything the flash did, whoever caused it.",
        absent: "",
        metrics: FLASH,
    },
    Section {
        title: "Merges",
        note: "A switch merge copies nothing, a partial one some pages, a full one whole blocks.",
        absent: "No block was merged or collected during the measured part.",
        metrics: MERGES,
    },
    Section {
        title: "Caches",
        note: "Look-ups of the cached map and of the write buffer.",
        absent: "No scheme has a map cache or a write buffer.",
        metrics: CACHES,
    },
    Section {
        title: "Memory",
        note: "Bytes that the scheme's tables take.",
        absent: "",
        metrics: MEMORY,
    },
    Section {
        title: "Throughput and energy",
        note: "Per simulated second; energy of flash, memory and table searches together.",
        absent: "",
        metrics: ENERGY,
    },
    Section { title: "Wear", note: "Erases of single blocks.", absent: "", metrics: WEAR },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{CAUSE_NAMES, Split, WornOut};

    #[test]
    fn every_path_exists_in_a_result() {
        let mut run = RunResult::default();
        // Null unless the device was driven to its end.
        run.wear.until_worn_out = Some(WornOut::default());
        // Absent unless requests came in pieces.
        run.host.split = Some(Split::default());
        let flat = flatten(&run);
        for metric in SECTIONS.iter().flat_map(|section| section.metrics) {
            assert!(flat.contains_key(metric.path), "no such path: {}", metric.path);
        }
    }

    #[test]
    fn every_cause_has_its_share_of_the_write_amplification() {
        let shares: Vec<&str> =
            WAF.iter().filter_map(|metric| metric.path.strip_prefix("waf_by_cause.")).collect();
        assert_eq!(shares, CAUSE_NAMES);
    }

    #[test]
    fn unused_metrics_are_hidden_and_the_others_kept() {
        let mut run = RunResult::default();
        run.merges.switch = 2;
        let merges = SECTIONS.iter().find(|section| section.title == "Merges").unwrap();
        let shown = merges.shown(&[flatten(&RunResult::default()), flatten(&run)]);
        assert_eq!(shown.iter().map(|metric| metric.label).collect::<Vec<_>>(), ["switch"]);
        assert!(merges.shown(&[flatten(&RunResult::default())]).is_empty());
    }

    #[test]
    fn a_ratio_without_divisor_is_not_a_number() {
        let flat = flatten(&RunResult::default());
        assert_eq!(WAF[0].text(&flat), NOT_APPLICABLE);
    }
}
