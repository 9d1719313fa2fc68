//! From an experiment to runs that can begin.

pub mod asked;
pub mod budget;
pub mod first_pass;
pub mod footprint;
pub mod future;
pub mod layout;
#[expect(clippy::module_inception, reason = "the plan itself, beside what it is made of")]
pub mod plan;
pub mod refusals;
pub mod repeat;
pub mod scheme_plan;
pub mod snapshot;
