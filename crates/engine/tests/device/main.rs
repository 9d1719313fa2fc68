//! The device under any scheme: clocks, host path, faults, wear, settings, and what must come out
//! equal.

#[path = "../common/mod.rs"]
mod common;

mod canary;
mod collecting;
mod directory;
mod duplicate;
mod equivalence;
mod equivalence_ca_ssd;
mod equivalence_caftl;
mod equivalence_dac;
mod equivalence_hat;
mod equivalence_leaftl;
mod equivalence_learnedftl;
mod equivalence_map;
mod equivalence_zns;
mod faults;
mod garbage_share;
mod hints;
mod host;
mod host_faults;
mod host_limits;
mod law;
mod lines;
mod midas;
mod occupancy;
mod own;
mod parameters;
mod paused;
mod peers;
mod placement;
mod placement_blocks;
mod rain;
mod rain_faults;
mod refresh;
mod refresh_gaps;
mod regression;
mod short_way;
mod slc;
mod suspend;
mod theory;
mod timing;
mod units;
mod wear;
mod zns_link;
