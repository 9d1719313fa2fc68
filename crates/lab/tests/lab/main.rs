//! The library from outside: its bundled files, and experiments as its users make them.

mod common;

mod calibration;
mod clocks;
mod devices;
mod experiments;
mod hints;
mod misled;
mod oracle;
mod runs;
mod sharing;
mod stand_ins;
mod starts;
mod table5;
