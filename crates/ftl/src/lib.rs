//! What a flash translation layer is made of: the parts that schemes are composed of, what every
//! scheme sees of the settings, and the trait that it implements.
//!
//! No part knows a scheme, and nothing here knows the device around one.

pub mod answers;
mod forward;
pub mod future;
pub mod own;
pub mod parts;
pub mod scheme;
pub mod settings;

/// For the macros of this crate.
#[doc(hidden)]
pub use ftlab_flash as flash;
