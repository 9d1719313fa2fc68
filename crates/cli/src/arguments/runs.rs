//! Arguments that every command with a run in it takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::reading::ReadingArguments;

/// The device and its settings.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Device")]
pub struct DeviceArguments {
    /// Bundled device, or a TOML file of your own
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub device: String,
    /// Exported capacity, such as 512MiB, 16GiB or 1TiB (powers of 1024; GB and TB: of 1000); auto:
    /// what the workload needs
    #[arg(long, value_name = "BYTES|auto", allow_negative_numbers = true)]
    pub capacity: Option<String>,
    /// Host write buffer in front of the scheme (see `ftlab list buffers`)
    #[arg(long, value_name = "NAME")]
    pub buffer: Option<String>,
    /// Override any setting (see `ftlab list keys`); repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// What every run takes.
#[derive(Clone, Debug, Args)]
pub struct SimulationArguments {
    /// Trace file, folder or glob of parts, `-`, bundled workload, or inline spec such as
    /// randwrite:bs=4k,span=80%,count=2x
    #[arg(long, value_name = "WORKLOAD")]
    pub workload: String,
    /// The device and its settings.
    #[command(flatten)]
    pub device: DeviceArguments,
    /// How the workload meets the device.
    #[command(flatten)]
    pub meeting: MeetingArguments,
    /// How the trace is read.
    #[command(flatten)]
    pub reading: ReadingArguments,
}

/// How the workload meets the device.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Run")]
pub struct MeetingArguments {
    /// Trace addresses on the device: strict | modulo | dense
    #[arg(long, value_name = "MODE", default_value = "strict")]
    pub address: String,
    /// none | fill | touch | wipc | prefix:N | warmup:N | random:Nx | steady[:Nx] | model |
    /// snapshot:FILE, per scheme: touch,SCHEME=fill, and for map caches cache=clean|warm|cold
    /// (clean unless the workload itself prepared: prefix, warmup)
    #[arg(long, value_name = "MODE", default_value = "none")]
    pub precondition: String,
    /// trace | trace:SCALE (0.5 = twice as fast) | asap | closed:DEPTH
    #[arg(long, value_name = "MODE")]
    pub timing: Option<String>,
    /// SRAM of the controller, or as much as another scheme takes: like:SCHEME[.structure]
    #[arg(long, value_name = "BYTES|like:SCHEME", allow_negative_numbers = true)]
    pub ram: Option<String>,
    /// Leave out schemes that need more than --ram
    #[arg(long)]
    pub ram_strict: bool,
    /// Compare every read with what was written last
    #[arg(long)]
    pub verify: bool,
    /// Repeat the workload until so many blocks died of age that the device cannot go on
    /// (device.endurance_cycles, wear.policy)
    #[arg(long, value_name = "END")]
    pub until: Option<Until>,
    /// Run the workload N times, each pass when the one before is done; it ends early if the device
    /// is worn out
    #[arg(long = "loop", value_name = "N", conflicts_with = "until",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub passes: Option<u64>,
    /// Seed of every random stream (an inline spec has its own)
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// No progress bar
    #[arg(long)]
    pub quiet: bool,
    /// Equal runs are equal bytes: time and memory are 0, machine and date empty
    #[arg(long)]
    pub reproducible: bool,
}

/// What is written down about single requests.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Single requests")]
pub struct RecordingArguments {
    /// A row per request, to a new file that ends in .csv or .parquet (compare: a file per scheme,
    /// FILE-SCHEME.csv, with --unit each FILE-unit-N-SCHEME.csv)
    #[arg(long, value_name = "FILE")]
    pub requests_out: Option<PathBuf>,
    /// COUNT requests from the one numbered FROM (first: 0) under the microscope, in results.json
    /// and the report (run: in --json)
    #[arg(long, value_name = "FROM:COUNT", allow_negative_numbers = true)]
    pub probe: Option<String>,
    /// Why the slowest are slow: what the time of the slowest 1 % and 0.1 % went into, and the ten
    /// worst requests one by one (simulating takes up to three times as long)
    #[arg(long)]
    pub tail: bool,
    /// What the device did for the requests of --probe, else for the first 2000, as trace events
    /// for Perfetto (ui.perfetto.dev), to a new file that ends in .json (compare:
    /// FILE-SCHEME.json); at most 30,000 operations
    #[arg(long, value_name = "FILE")]
    pub trace_out: Option<PathBuf>,
}

/// When a run ends, if not with its workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Until {
    /// When the device is worn out
    WornOut,
}
