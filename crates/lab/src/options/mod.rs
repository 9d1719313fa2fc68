//! The values of single options, each read from the text that the command line takes, and told as
//! such a text.

pub mod capacity;
pub mod precondition;
pub mod probe;
pub mod ram;
pub mod reading;
pub mod schemes;
pub mod settings;
pub mod text;
pub mod timing;
pub mod until;
