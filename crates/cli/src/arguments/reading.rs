//! Arguments of every command that reads a trace.

use std::path::PathBuf;

use clap::Args;

/// How a trace is read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading the trace")]
pub struct ReadingArguments {
    /// Folder with real traces: one whose stand-in is asked for is used in its place
    #[arg(long, value_name = "DIR")]
    pub trace_dir: Option<PathBuf>,
    /// With --trace-dir: only the units of the real trace that come nearest to what the stand-in's
    /// source prints
    #[arg(long)]
    pub find_subset: bool,
    /// Trace format (default: found out from the content)
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Unit of the time column: ns, filetime, us, ms, s
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<String>,
    /// Unit of the size column: bytes, sectors, kib, pages2k, pages4k, pages8k, pages16k
    #[arg(long, value_name = "UNIT")]
    pub size_unit: Option<String>,
    /// Several files: in_order (each follows on the one before; the default) or by_time (they
    /// overlap, as disks of a machine do; always so with vscsi, srt and blktrace)
    #[arg(long, value_name = "in_order|by_time")]
    pub parts: Option<String>,
    /// Which ASUs, volumes or disks: all, or numbers (devices: MAJOR:MINOR) with commas between
    /// them (compare: each runs every one apart on devices of its own)
    #[arg(long, value_name = "all|N,N", default_value = "all")]
    pub unit: String,
    /// Which requests count: op=read+write, process=NAME+PID, action=Q (block-layer traces; default
    /// D), from=10s, to=2h, every=10, with commas between them
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub filter: Option<String>,
    /// Only the first N requests
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub head: Option<u64>,
    /// Backward steps of time up to this are sorted, larger ones are errors
    #[arg(long, value_name = "DURATION", default_value = "1s")]
    pub reorder_window: String,
    /// Skip up to N malformed lines of a text trace, count them and show the first ones (default:
    /// the first one is an error)
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub skip_bad: u64,
}
