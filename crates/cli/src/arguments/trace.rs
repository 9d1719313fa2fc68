//! Arguments of `ftlab trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::reading::ReadingArguments;

/// `ftlab trace`.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Say what is in a trace, before any run
    Inspect(InspectArguments),
    /// Convert a trace to ftlab's CSV, or to its compact binary when OUT ends in .ftb (compressed
    /// with .gz or .zst behind that)
    Convert(ConvertArguments),
    /// Search the units of a trace for those that together have a stand-in's statistics
    FindSubset(FindSubsetArguments),
    /// Learn a generator from a trace: a workload file whose requests have its statistics
    Fit(FitArguments),
    /// Statistics of two workloads side by side
    Compare(CompareWorkloadsArguments),
}

/// `ftlab trace fit`.
#[derive(Debug, Args)]
pub struct FitArguments {
    /// Trace file, folder or glob of parts, bundled workload, or inline spec
    pub file: String,
    /// New workload file, for --workload FILE.toml
    #[arg(short, long, value_name = "FILE.toml")]
    pub output: PathBuf,
    /// How the trace is read.
    #[command(flatten)]
    pub reading: ReadingArguments,
}

/// `ftlab trace compare`.
#[derive(Debug, Args)]
pub struct CompareWorkloadsArguments {
    /// Trace file, folder or glob of parts, bundled workload, workload file, or inline spec
    pub a: String,
    /// The same
    pub b: String,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Page of the footprint and of reuse: a multiple of 512 bytes up to 16 MiB (default: 4 KiB)
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    pub page_size: Option<String>,
    /// How those of the two are read that are traces.
    #[command(flatten)]
    pub reading: ReadingArguments,
}

/// `ftlab trace find-subset`.
#[derive(Debug, Args)]
pub struct FindSubsetArguments {
    /// Trace file, folder or glob of parts
    pub file: String,
    /// The stand-in whose published statistics are looked for
    #[arg(long, value_name = "NAME", default_value = "financial")]
    pub like: String,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// How the trace is read.
    #[command(flatten)]
    pub reading: ReadingArguments,
}

/// `ftlab trace inspect`.
#[derive(Debug, Args)]
pub struct InspectArguments {
    /// Trace file, folder or glob of parts, `-`, bundled workload, or inline spec
    pub file: String,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Write a page with charts to this new file; it opens offline
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// What is counted.
    #[command(flatten)]
    pub counting: CountingArguments,
    /// How the trace is read.
    #[command(flatten)]
    pub reading: ReadingArguments,
}

/// What an inspection counts in.
#[derive(Debug, Args)]
#[command(next_help_heading = "Counting")]
pub struct CountingArguments {
    /// Count in the pages and erase blocks of this device (default: 4 KiB and 256 KiB)
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub device: Option<String>,
    /// Page of the footprint, the LRU stack and the map: a multiple of 512 bytes up to 16 MiB
    /// (default: 4 KiB, or the device's)
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    pub page_size: Option<String>,
    /// Entries of a translation page (default: one per 4 bytes of a page; 1024 of 4 KiB)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub map_entries: Option<u32>,
    /// Also list these sizes of a cache of map entries, with the exact misses
    #[arg(long, value_name = "N,N", value_delimiter = ',',
          value_parser = clap::value_parser!(u64).range(1..))]
    pub cache_entries: Vec<u64>,
    /// Also list these sizes of a cache of whole translation pages, with the exact misses
    #[arg(long, value_name = "N,N", value_delimiter = ',',
          value_parser = clap::value_parser!(u64).range(1..))]
    pub cache_pages: Vec<u64>,
}

/// `ftlab trace convert`.
#[derive(Debug, Args)]
pub struct ConvertArguments {
    /// Trace file, folder or glob of parts, `-`, or inline spec
    #[arg(value_name = "IN")]
    pub input: String,
    /// New file
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// How the trace is read.
    #[command(flatten)]
    pub reading: ReadingArguments,
}
