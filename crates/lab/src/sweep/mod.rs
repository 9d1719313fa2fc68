//! Sweeps: a grid of options and settings, run by run into a folder that many processes may share.
//! The plan is a list, a result is a file named by what decides it, resuming is looking.

mod axis;
mod column;
mod definition;
mod effects;
mod estimate;
mod folder;
mod merged;
mod page;
mod plan;
mod points;
mod range;
mod running;
mod turns;

pub use axis::{Axis, Name};
pub use definition::Definition;
pub use effects::Effects;
pub use estimate::Estimate;
pub use folder::{Contents, Failure, Folder};
pub use merged::Merged;
pub use plan::{Kept, Manifest, Run, Sweep};
pub use points::{POINTS_MAX, Point, Shard};
pub use running::{Asked, Running, Shared, Swept};
pub use turns::Wanted;
