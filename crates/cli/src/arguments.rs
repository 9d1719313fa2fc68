//! What may be typed, as clap sees it. What it means is worked out elsewhere: every value that is
//! more than a flag or a path stays text here.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use reading::ReadingArguments;
pub use runs::{DeviceArguments, MeetingArguments, RecordingArguments, SimulationArguments, Until};
pub use trace::{
    CompareWorkloadsArguments, ConvertArguments, CountingArguments, FindSubsetArguments,
    FitArguments, InspectArguments, TraceCommand,
};

mod reading;
mod runs;
mod trace;

/// The version, and the commit that the command was built from.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("FTLAB_COMMIT"), ")");

/// Laboratory for flash translation layers: runs block workloads against simulated SSDs and says
/// what each scheme costs in time, wear, energy and memory, and why.
#[derive(Debug, Parser)]
#[command(name = "ftlab", version = VERSION, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 the run failed (audit, device full or worn out), \
                        2 usage or bad input, 130 Ctrl-C, 143 SIGTERM.")]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List what there is: schemes, devices, workloads, trace formats, settings
    List(ListArguments),
    /// Look into traces and convert them
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Run one scheme and print its result
    Run(RunArguments),
    /// Run several schemes on the same device and workload and compare them
    Compare(CompareArguments),
    /// Run every combination of schemes, settings, workloads and devices, into a folder that any
    /// number of processes may share
    Sweep(SweepArguments),
    /// Serve a simulated drive as a network block device (NBD), with real data behind it
    Serve(ServeArguments),
    /// Fit a device to what fio measured on a real drive: topology and times, each with its
    /// interval
    Calibrate(CalibrateArguments),
    /// Bytes of memory by structure, without a run
    Ram(RamArguments),
    /// Repeat the experiments of the papers and set measured beside published
    Reproduce(ReproduceArguments),
    /// Put any results on one page: filter, choose axes, pin runs, copy their commands
    Explore(ExploreArguments),
    /// Say what differs between two results: what was asked, and which metrics moved
    Diff(DiffArguments),
    /// Print the format of results as a JSON schema
    Schema(SchemaArguments),
    /// Print what completes commands in a shell
    Completions(CompletionsArguments),
    /// Write a man page for every command
    Man(ManArguments),
}

/// `ftlab schema`.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// Of what
    pub of: SchemaOf,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SchemaOf {
    /// Files of results: an object per run, or an array of them
    Results,
    /// A row of --requests-out
    Rows,
}

/// `ftlab completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    pub shell: Shell,
}

/// `ftlab man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// New or empty folder for ftlab.1, ftlab-run.1 and so on
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// `ftlab list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// What to list
    pub what: Listing,
    /// Only those whose name contains this
    pub word: Option<String>,
    /// As JSON, with all that is known
    #[arg(long, conflicts_with = "table")]
    pub json: bool,
    /// As a table of more columns, as wide as the terminal, at most 100 characters (schemes: the
    /// classification of DFTL 2014, Table 1)
    #[arg(long)]
    pub table: bool,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Listing {
    /// Flash translation layers
    Schemes,
    /// Families of schemes
    Families,
    /// Victim policies of garbage collection
    Victims,
    /// Placement policies: which write frontier takes a page of data
    Placements,
    /// Host write buffers, in front of any scheme
    Buffers,
    /// Schedulers of the driver's queue
    Schedulers,
    /// Bundled devices
    Devices,
    /// Bundled workloads
    Workloads,
    /// Trace formats
    Formats,
    /// Settings, with default, meaning, legal range and source
    Keys,
    /// Experiments of the papers, for `ftlab reproduce`
    Experiments,
}

/// `ftlab run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Scheme, with a preset if wanted: dftl, dftl:gtd
    #[arg(long, value_name = "NAME[:PRESET]")]
    pub scheme: String,
    /// Write the result to this new file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write flash and phase-change memory as they are after the run to this new file, for
    /// --precondition snapshot:FILE
    #[arg(long, value_name = "FILE")]
    pub save_snapshot: Option<PathBuf>,
    /// What is written down about single requests.
    #[command(flatten)]
    pub recording: RecordingArguments,
    /// What every run takes.
    #[command(flatten)]
    pub simulation: SimulationArguments,
}

/// `ftlab serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Scheme, with a preset if wanted: dftl, dftl:gtd
    #[arg(long, value_name = "NAME[:PRESET]")]
    pub scheme: String,
    /// The device and its settings.
    #[command(flatten)]
    pub device: DeviceArguments,
    /// Where clients find the drive: unix:PATH or tcp:127.0.0.1:PORT (port 0: any that is free)
    #[arg(long, value_name = "unix:PATH|tcp:HOST:PORT")]
    pub listen: String,
    /// Show the drive on a page while it serves, at http://127.0.0.1:PORT (port 0: any that is
    /// free)
    #[arg(long, value_name = "HOST:PORT")]
    pub http: Option<String>,
    /// Listen on addresses that other machines reach; whoever reaches them reads and writes the
    /// drive
    #[arg(long)]
    pub listen_anyone: bool,
    /// Keep the drive in this folder, new or that of a drive of the same scheme and settings, so
    /// that it outlives this process
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Length of the folder's log that is followed by a new checkpoint: more of it is read at a
    /// start, and less written while the drive serves (default: 32MiB, or the length of the last
    /// checkpoint where that is longer)
    #[arg(long, value_name = "BYTES", requires = "store", allow_negative_numbers = true)]
    pub store_log: Option<String>,
    /// Lose every Nth page that is written, to see whether a test finds out
    #[arg(long, value_name = "N", hide = true)]
    pub canary: Option<std::num::NonZero<u64>>,
    /// off: answer as fast as possible; real: when the simulated device would, real:SCALE (10 = ten
    /// times slower)
    #[arg(long, value_name = "off|real[:SCALE]", default_value = "off")]
    pub timing: String,
    /// What is done to the device before it is served: none | fill | random:Nx | wipc |
    /// steady[:Nx]; what that wrote reads as zeroes
    #[arg(long, value_name = "MODE", default_value = "none")]
    pub precondition: String,
    /// Seed of every random stream
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Write the result at the end to this new file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the result so far to this file every second, in the place of the one before
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Write the requests to this new trace, which ends in .ftb, so that any scheme can be run on
    /// them
    #[arg(long, value_name = "FILE.ftb")]
    pub record: Option<PathBuf>,
    /// No progress bar
    #[arg(long)]
    pub quiet: bool,
}

/// `ftlab compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Schemes with commas between them, all, or family:NAME
    #[arg(long, value_name = "NAME,NAME,...")]
    pub schemes: String,
    /// New or empty folder for results.json, results.csv and report.html (with --unit each: for
    /// unit-N with these three of every unit, and results.json and results.csv of all)
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Schemes that run side by side (default: as many as cores and memory allow)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Go on with the finished runs of this same command, which are kept in DIR.unfinished
    #[arg(long)]
    pub resume: bool,
    /// What is written down about single requests.
    #[command(flatten)]
    pub recording: RecordingArguments,
    /// What every run takes.
    #[command(flatten)]
    pub simulation: SimulationArguments,
}

/// `ftlab sweep`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(mut_arg("workload", |own| own.required(false).default_value("")))]
#[command(mut_arg("device", |own| own.required(false).default_value("")))]
pub struct SweepArguments {
    /// What is done with a sweep that was run.
    #[command(subcommand)]
    pub command: Option<SweepCommand>,
    /// A file with the options of all runs, [axes] and [[together]]
    #[arg(value_name = "FILE.toml", required_unless_present = "grid")]
    pub file: Option<PathBuf>,
    /// Axes with blanks between them: scheme=dftl,fast op=7%..28%+7%
    /// cache[family:cached_map]=16KiB..1MiB*2 seed=1..5. A name is an option of a run, a key
    /// (`ftlab list keys`), op (device.over_provisioning) or cache (ram); names that are varied
    /// together: capacity&op=1GiB&7%,2GiB&14%
    #[arg(long, value_name = "AXES", conflicts_with = "file")]
    pub grid: Option<String>,
    /// Schemes, where they are no axis
    #[arg(long, value_name = "NAME,NAME,...", default_value = "")]
    pub schemes: String,
    /// New or empty folder for sweep.json, results.csv, results.parquet and a file per run
    #[arg(long, value_name = "DIR", required = true)]
    pub out: Option<PathBuf>,
    /// Go on in a folder that holds a sweep: only what is not there is run
    #[arg(long)]
    pub resume: bool,
    /// Only every Nth point, from the Ith on (1/4, 2/4, ...): several processes share a folder
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// So many of the points, drawn by --seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample: Option<u32>,
    /// Say what would be run, how long it might take and what is refused, and end
    #[arg(long)]
    pub dry_run: bool,
    /// Runs side by side (default: as many as cores)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// What every run takes.
    #[command(flatten)]
    pub simulation: SimulationArguments,
}

/// `ftlab sweep merge`.
#[derive(Debug, Subcommand)]
pub enum SweepCommand {
    /// Write results.csv and results.parquet of a folder that processes have filled
    Merge {
        /// The folder of a sweep
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

impl CompareArguments {
    /// Schemes that run side by side, where it was said.
    pub fn jobs(&self) -> Option<NonZero<usize>> {
        self.jobs.and_then(|jobs| NonZero::new(usize::from(jobs)))
    }
}

/// `ftlab calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// What fio wrote with --output-format=json+ (or json); several files are taken together
    #[arg(value_name = "FIO.json", required_unless_present = "job_file")]
    pub files: Vec<String>,
    /// Print the job file that measures a drive, and end; running it destroys what the drive holds
    #[arg(long, conflicts_with_all = ["files", "base", "out", "html", "json", "buffer", "set",
          "channels", "dies", "planes", "precondition", "requests", "seed", "jobs", "quiet"])]
    pub job_file: bool,
    /// The device to begin with: bundled, or a TOML file; what is not fitted is taken from it
    #[arg(long, value_name = "NAME|FILE.toml", required_unless_present = "job_file")]
    pub base: Option<String>,
    /// Write the device to this new file, for --device FILE.toml
    #[arg(long, value_name = "FILE.toml", required_unless_present = "job_file")]
    pub out: Option<PathBuf>,
    /// Write a page with measured against simulated curves to this new file; it opens offline
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Write buffer of the drive (see `ftlab list buffers`)
    #[arg(long, value_name = "NAME")]
    pub buffer: Option<String>,
    /// Override any setting of the base (see `ftlab list keys`); repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Channels to try (default: powers of two from a quarter to four times the base's)
    #[arg(long, value_name = "N,N", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=256))]
    pub channels: Vec<u32>,
    /// Dies of a package to try, alike
    #[arg(long, value_name = "N,N", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=64))]
    pub dies: Vec<u32>,
    /// Planes of a die to try, alike
    #[arg(long, value_name = "N,N", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=16))]
    pub planes: Vec<u32>,
    /// State of the drive before probes that write, as of `run` (default: as the job file leaves
    /// it: full before writes in order, steady before random ones)
    #[arg(long, value_name = "MODE")]
    pub precondition: Option<String>,
    /// Requests of a probe that are simulated (large ones: fewer); more take longer and err less
    #[arg(long, value_name = "N", default_value_t = 4000,
          value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    pub requests: u64,
    /// Seed of the simulated devices
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Simulations side by side (default: as many as cores)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// No progress bar
    #[arg(long)]
    pub quiet: bool,
}

/// `ftlab ram`.
#[derive(Debug, Args)]
pub struct RamArguments {
    /// The device and its settings.
    #[command(flatten)]
    pub device: DeviceArguments,
    /// Schemes with commas between them, all, or family:NAME
    #[arg(long, value_name = "NAME,NAME,...", default_value = "all")]
    pub schemes: String,
    /// Prices of memory (default: those of HAT 2010, in config/prices.toml)
    #[arg(long, value_name = "FILE.toml")]
    pub prices: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `ftlab reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArguments {
    /// Experiments (see `ftlab list experiments`), files of your own, or all
    #[arg(value_name = "NAME|FILE.toml|all", required = true)]
    pub names: Vec<String>,
    /// New or empty folder for report.html, claims.json, claims.md and the results of each
    /// experiment
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Minutes instead of hours: the experiments that have a quick form, with shortened runs
    #[arg(long)]
    pub quick: bool,
    /// Runs side by side (default: as many as cores)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Go on in a folder that this same command began
    #[arg(long)]
    pub resume: bool,
    /// Folder with real traces: used in the place of their stand-ins, and magnitudes are judged
    #[arg(long, value_name = "DIR")]
    pub trace_dir: Option<PathBuf>,
    /// What is chosen where a paper leaves something open: its text to the letter, the best reading
    /// of the whole paper, or the best but for the candidates in a file (default: the best, and
    /// verdicts of the literal one beside it)
    #[arg(long, value_name = "literal|best|FILE.toml")]
    pub reading: Option<String>,
    /// Judge printed statements in N worlds of each paper, of plausible readings, starts and seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub worlds: Option<u32>,
    /// No progress bars
    #[arg(long)]
    pub quiet: bool,
}

/// `ftlab explore`.
#[derive(Debug, Args)]
pub struct ExploreArguments {
    /// Folders with results, at any depth, or files of results
    #[arg(value_name = "DIR|FILE.json", required = true)]
    pub results: Vec<PathBuf>,
    /// New file for the page; it opens offline
    #[arg(long, value_name = "FILE.html")]
    pub out: PathBuf,
    /// No progress bar
    #[arg(long)]
    pub quiet: bool,
}

/// `ftlab diff`.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// A file of results, or a folder with such files at any depth
    pub a: PathBuf,
    /// The same: runs are matched by scheme and workload
    pub b: PathBuf,
    /// Metrics that did not move as well, and every other number that did
    #[arg(long)]
    pub all: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
