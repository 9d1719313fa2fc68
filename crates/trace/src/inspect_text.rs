//! An inspection as aligned text.

use std::fmt;

use crate::evidence::seconds_words;
use crate::inspect::Inspection;
use crate::size::human_bytes;

/// Units listed one by one before the rest is summed up.
const UNITS_SHOWN: usize = 16;

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
        self.write_repairs(out)
    }
}

impl Inspection {
    fn write_identity(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(out, "workload", format_args!("{}", self.name))?;
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
        let prefix = if self.prefix { " (a prefix: --head)" } else { "" };
        line(out, "requests", format_args!("{}{prefix}", self.requests))?;
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
        for size in &sizes.common {
            let percent = share(size.requests, self.requests);
            let label = format!("  {}", human_bytes(size.bytes));
            line(out, &label, format_args!("{} ({percent:.2} %)", size.requests))?;
        }
        line(out, "time span", format_args!("{}", seconds_words(self.span_ns as f64 / 1e9)))?;
        let mean = seconds_words(self.interarrival_mean_ns / 1e9);
        line(out, "interarrival mean", format_args!("{mean}"))?;
        line(out, "sequential", format_args!("{:.2} % of requests", 100.0 * self.sequentiality))
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
        Ok(())
    }
}
