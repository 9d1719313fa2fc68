//! Devices fitted to measurements: what was planted in a simulated drive comes back, with an
//! interval; what probes do not tell is said not to be told; a real drive's published figures.

mod bench;
mod errors;
mod planted;
mod real;
mod untold;
