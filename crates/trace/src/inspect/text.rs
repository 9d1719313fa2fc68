//! An inspection as aligned text.

use std::fmt;

use crate::evidence::seconds_words;
use crate::size::human_bytes;

use super::curve::{MissCurve, SizeForHits};
use super::result::{FIGURE_2_POSITION, Inspection};
use super::sizes::{CommonSize, SizeClass};

/// Units listed one by one before the rest is summed up.
const UNITS_SHOWN: usize = 8;
/// Common sizes in the line of them.
const SIZES_SHOWN: usize = 5;
/// Windows in the line of the working set, in page accesses.
const WINDOWS_SHOWN: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// One aligned line.
fn line(out: &mut fmt::Formatter<'_>, label: &str, value: fmt::Arguments<'_>) -> fmt::Result {
    writeln!(out, "{label:<22}{value}")
}

fn bytes(count: u64) -> String {
    if count < 1024 { human_bytes(count) } else { format!("{} ({count} B)", human_bytes(count)) }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

impl fmt::Display for Inspection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_identity(out)?;
        self.write_requests(out)?;
        self.write_addresses(out)?;
        self.write_repairs(out)?;
        self.write_reuse(out)?;
        self.write_map_cache(out)
    }
}

impl Inspection {
    fn write_identity(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(out, "workload", format_args!("{}", self.name))?;
        if let Some(source) = &self.stand_in {
            line(
                out,
                "stand-in",
                format_args!(
                    "synthetic, generated to published statistics, not recorded: {source}"
                ),
            )?;
        }
        if self.files.len() > 1 {
            line(out, "parts", format_args!("{}", self.files.join(", ")))?;
        }
        line(out, "sha256", format_args!("{}", self.sha256))?;
        line(out, "format", format_args!("{} - {}", self.format, self.format_why))?;
        line(out, "compression", format_args!("{}", self.compression))?;
        line(out, "time unit", format_args!("{} - {}", self.time_unit, self.time_unit_why))?;
        line(out, "size unit", format_args!("{} - {}", self.size_unit, self.size_unit_why))
    }

    fn write_requests(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (self.prefix, &self.filter) {
            (false, None) => String::new(),
            (true, None) => " (a prefix: --head)".to_owned(),
            (false, Some(filter)) => format!(" (those that --filter {filter} lets through)"),
            (true, Some(filter)) => {
                format!(" (a prefix: --head, of those that --filter {filter} lets through)")
            }
        };
        line(out, "requests", format_args!("{}{what}", self.requests))?;
        for (name, count) in [
            ("  reads", self.reads),
            ("  writes", self.writes),
            ("  trims", self.trims),
            ("  flushes", self.flushes),
        ] {
            if count > 0 {
                line(out, name, format_args!("{count} ({:.2} %)", share(count, self.requests)))?;
            }
        }
        line(out, "read ratio", format_args!("{:.2} %", 100.0 * self.read_ratio))?;
        line(out, "bytes read", format_args!("{}", bytes(self.bytes_read)))?;
        line(out, "bytes written", format_args!("{}", bytes(self.bytes_written)))?;
        let sizes = &self.sizes;
        line(
            out,
            "sizes",
            format_args!(
                "{} to {}, mean {:.2} KiB",
                human_bytes(sizes.min_bytes),
                human_bytes(sizes.max_bytes),
                sizes.mean_bytes / 1024.0
            ),
        )?;
        let percent = |size: &CommonSize| share(size.requests, self.requests);
        let common = sizes.common.iter().take(SIZES_SHOWN);
        let shown =
            common.map(|size| format!("{} {:.2} %", human_bytes(size.bytes), percent(size)));
        line(out, "common sizes", format_args!("{}", list(shown)))?;
        let classes = |of: fn(&SizeClass) -> f64| {
            list(
                self.size_classes
                    .iter()
                    .map(|class| format!("{} {:.2} %", class.class, 100.0 * of(class))),
            )
        };
        let all = classes(|class| class.share);
        line(out, "size classes", format_args!("{all} (<= 4 KiB, < 16 KiB, the rest)"))?;
        if self.reads > 0 && self.writes > 0 {
            line(
                out,
                "  of the writes",
                format_args!("{}", classes(|class| class.share_of_writes)),
            )?;
        }
        line(out, "time span", format_args!("{}", seconds_words(self.span_ns as f64 / 1e9)))?;
        let (mean, gaps) = (seconds_words(self.interarrival_mean_ns / 1e9), &self.interarrival);
        let at_once = share(gaps.zero_gaps, gaps.gaps);
        line(
            out,
            "interarrival",
            format_args!("mean {mean}, CV {:.2}; {at_once:.2} % of the gaps are 0", gaps.cv),
        )?;
        let sequential = 100.0 * self.sequentiality;
        line(
            out,
            "sequential",
            format_args!("{sequential:.2} %: {}", self.sequentiality_definition),
        )
    }

    fn write_addresses(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let page = human_bytes(self.page_bytes);
        for (label, pages) in [
            ("footprint", self.footprint_pages),
            ("written footprint", self.written_footprint_pages),
        ] {
            let size = human_bytes(pages.saturating_mul(self.page_bytes));
            line(out, label, format_args!("{pages} pages of {page} ({size})"))?;
        }
        line(out, "units", format_args!("{}", self.units.len()))?;
        for unit in self.units.iter().take(UNITS_SHOWN) {
            let label = format!("  unit {}", unit.unit);
            let end = human_bytes(unit.end_bytes);
            line(out, &label, format_args!("{} requests, up to {end}", unit.requests))?;
        }
        if self.units.len() > UNITS_SHOWN {
            line(out, "  ...", format_args!("{} more", self.units.len() - UNITS_SHOWN))?;
        }
        line(out, "capacity, strict", format_args!("{}", bytes(self.strict_capacity_bytes)))?;
        let extent = human_bytes(self.extent_bytes);
        let dense = bytes(self.dense_capacity_bytes);
        line(out, "capacity, dense", format_args!("{dense}, extents of {extent}"))
    }

    fn write_repairs(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first_out_of_order_line {
            None => line(out, "out-of-order lines", format_args!("none"))?,
            Some(first) => {
                let step = seconds_words(self.backward_step_ns_max as f64 / 1e9);
                let count = self.out_of_order_lines;
                line(
                    out,
                    "out-of-order lines",
                    format_args!("{count}, sorted; first at line {first}, largest step {step}"),
                )?;
            }
        }
        if self.dropped.is_empty() {
            line(out, "dropped lines", format_args!("none"))?;
        }
        for drop in &self.dropped {
            line(
                out,
                "dropped lines",
                format_args!(
                    "{} - {}; first at {}:{}",
                    drop.lines, drop.reason, drop.first_file, drop.first_line
                ),
            )?;
        }
        for warning in &self.warnings {
            line(out, "warning", format_args!("{warning}"))?;
        }
        Ok(())
    }

    fn write_reuse(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let updates = &self.update_frequency;
        if updates.written_pages > 0 {
            let hottest = updates.hottest.iter().find(|row| row.share_of_written_pages == 0.1);
            line(
                out,
                "updates",
                format_args!(
                    "{:.2} % of the written pages are rewritten; {:.2} writes a page, at most {}; \
                     the hottest 10 % take {:.2} %",
                    share(updates.rewritten_pages, updates.written_pages),
                    updates.writes_per_page_mean,
                    updates.writes_per_page_max,
                    100.0 * hottest.map_or(0.0, |row| row.share_of_page_writes),
                ),
            )?;
        }
        let windows = self.working_set.by_accesses.iter();
        let shown = windows.filter(|row| WINDOWS_SHOWN.contains(&row.page_accesses));
        let words =
            list(shown.map(|row| format!("{:.0} in {}", row.pages_mean, row.page_accesses)));
        if !words.is_empty() {
            line(out, "working set", format_args!("distinct pages in page accesses: {words}"))?;
        }
        let stack = &self.lru_stack;
        let within = 100.0 * stack.share_within(FIGURE_2_POSITION);
        let first = share(stack.first_touches, stack.page_accesses);
        line(
            out,
            "LRU stack",
            format_args!(
                "{within:.2} % of {} page accesses within {FIGURE_2_POSITION} positions, \
                 {first:.2} % first touches",
                stack.page_accesses
            ),
        )
    }

    fn write_map_cache(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (entries, pages) = (&self.map_cache.entries, &self.map_cache.translation_pages);
        let best = |curve: &MissCurve| share(curve.compulsory_misses, curve.lookups);
        line(
            out,
            "map cache, LRU",
            format_args!(
                "whatever its size, {:.2} % miss by entries, {:.2} % by map pages of {} entries",
                best(entries),
                best(pages),
                self.map_cache.entries_per_page
            ),
        )?;
        let words = |row: &SizeForHits, one: &str, many: &str| {
            let what = if row.size == 1 { one } else { many };
            format!("{} {what} ({:.2} % miss)", row.size, 100.0 * row.miss_ratio)
        };
        let (by_entries, by_pages) = (&entries.sizes_for_hits, &pages.sizes_for_hits);
        let longer = if by_entries.len() < by_pages.len() { by_pages } else { by_entries };
        let none = || "none is hit again".to_owned();
        for (index, row) in longer.iter().enumerate() {
            let label = format!("  for {:.0} % of hits", 100.0 * row.share_of_possible_hits);
            let entry =
                by_entries.get(index).map_or_else(none, |row| words(row, "entry", "entries"));
            let page =
                by_pages.get(index).map_or_else(none, |row| words(row, "map page", "map pages"));
            line(out, &label, format_args!("{entry:<36}{page}"))?;
        }
        for (curve, what) in [(entries, "entries"), (pages, "map pages")] {
            for &size in &curve.sizes_asked {
                let missed = share(curve.misses_at(size).unwrap_or_default(), curve.lookups);
                line(out, "  asked for", format_args!("{size} {what}: {missed:.2} % miss"))?;
            }
        }
        Ok(())
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}
