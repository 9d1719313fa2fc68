//! The experiments of the papers, run again and judged: measured beside published.
//!
//! A [`Request`] names them, its [plan](Request::plan) refuses what can be refused, and
//! [`Studies::run`] makes the runs, keeps each in a [`Folder`] as soon as it is done, and judges.

pub(crate) mod bundle;
pub(crate) mod decided;
pub(crate) mod definition;
pub(crate) mod evaluate;
pub(crate) mod expression;
pub(crate) mod folder;
pub(crate) mod jobs;
pub(crate) mod judge;
pub(crate) mod manifest;
pub(crate) mod metrics;
pub(crate) mod options;
pub(crate) mod outcome;
pub(crate) mod readings;
pub(crate) mod request;
pub(crate) mod running;
pub(crate) mod studies;
pub(crate) mod study;
pub(crate) mod under;
pub(crate) mod words;
pub(crate) mod worlds;

pub use bundle::{EXPERIMENTS, find, sha256};
pub use definition::{
    Claim, ClaimKind, Definition, Figure, Form, InspectionBlock, Paper, Place, RunBlock,
    SchemeLabel, Stated, Tolerance, Variant, WorkloadLabel,
};
pub use folder::Folder;
pub use jobs::{Job, Work};
pub use options::{OptionValue, Options};
pub use outcome::Outcome;
pub use readings::{Apply, Candidate, Choice, Ground, READINGS, Reading, Readings};
pub use request::{Request, Under};
pub use studies::Studies;
