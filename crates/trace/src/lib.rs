//! Block traces for the ftlab simulator: readers, detection of formats and units, decompression,
//! address layout and synthetic workloads.
//!
//! The straight line: [`Workload::parse`] finds out what the text after `--workload` means,
//! [`Workload::records`] yields [`Record`]s in order of time, and an [`AddressMap`] turns each into
//! engine requests. [`inspect`] says what is in a trace before any run. Every reader streams:
//! memory grows with the footprint of a trace, never with its length.

mod bad_lines;
mod combination;
mod combined;
mod compression;
mod container;
mod convert;
mod decoded;
mod detect;
mod digest;
mod error;
mod events;
mod evidence;
mod filter;
mod footprint;
pub mod formats;
pub mod inspect;
mod layout;
mod lines;
mod merged;
mod mixed;
mod number;
mod options;
mod order;
mod ordered;
mod profile;
mod reader;
mod record;
mod record_stream;
mod records;
mod requests;
mod size;
mod source;
mod stand_in;
mod statistics;
mod subset;
mod summary;
mod survey;
pub mod synthetic;
mod text;
mod trace;
mod workload;
mod writing;

#[doc(hidden)]
pub mod fuzzing;

pub use combination::{Combination, How, PartText};
pub use convert::{Conversion, convert, keep_records};
pub use decoded::Decoded;
pub use detect::{Detection, Guess};
pub use error::{Result, TraceError};
pub use filter::{EventFilter, Filter};
pub use footprint::PageSet;
pub use inspect::{Inspection, InspectionOptions, inspect, inspect_workload};
pub use layout::{AddressMap, AddressMode, LayoutCounts};
pub use options::{Options, Parts, SizeUnit, TimeUnit, UnitSelection};
pub use profile::{Compared, Measure, Profile, Unit, side_by_side};
pub use record::{Place, Record};
pub use records::Records;
pub use requests::{InPieces, Requests};
pub use size::{parse_bytes, parse_share_or_bytes};
pub use stand_in::{Published, RealTrace, Reported, WorkloadFile};
pub use statistics::{Statistic, Statistics};
pub use subset::{
    SUBSET_UNITS_MAX, Subset, SubsetSearch, SubsetTarget, UnitStatistics, find_subset,
};
pub use summary::{Drop, DropReason, Summary};
pub use survey::{Farthest, Largest, Survey, UnitSpans};
pub use synthetic::{Model, Synthetic, SyntheticSpec, TwinFit};
pub use workload::{Description, Workload};
pub use writing::TraceWriter;
