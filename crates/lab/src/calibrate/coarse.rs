//! What a probe comes to without a simulation: a closed queueing network of dies, channels and the
//! link, good enough to say from where a fit may start and which topologies are not worth one.
//!
//! A request of several pages takes as many dies and channels at once as it has pages; these banks
//! are the stations of a mean value analysis (Reiser and Lavenberg 1980), with half of a service
//! for the rest of the one in progress, since service times hardly vary. Programs pay for
//! collection, whose copies follow from the blocks to spare.

use ftlab_engine::config::{Config, Durations};

use crate::calibrate::parameters::Parameter;
use crate::calibrate::probe::Probe;

/// Depth up to which the network is followed request by request; beyond, its bound holds.
const DEPTH_MOST: u32 = 512;

/// Stations that are alike.
struct Stations {
    /// How many there are.
    count: f64,
    /// How long a request is at one of them, ns.
    service: f64,
    /// Requests at each.
    queue: f64,
}

impl Stations {
    /// `servers` that share `work` of a request, of which it occupies `width` at once.
    fn of(servers: f64, width: f64, work: f64) -> Self {
        let width = width.clamp(1.0, servers);
        Stations { count: servers / width, service: work / width, queue: 0.0 }
    }
}

/// Mean response time (ns) and rate (requests a second) of a probe on a device in its topology,
/// whose parameters have these values.
pub fn estimate(config: &Config, value: impl Fn(Parameter) -> f64, probe: Probe) -> (f64, f64) {
    let device = &config.device;
    let [units, pages] = [device.unit_bytes(), device.page_bytes.0].map(|size| {
        let exact = probe.bytes as f64 / size as f64;
        if probe.pattern.writes() { exact } else { exact.ceil() }
    });
    let channels = f64::from(device.channels);
    let dies = channels * f64::from(device.packages * device.dies);
    let planes = f64::from(device.planes);
    let timing = &config.timing;
    let transfer = value(Parameter::Transfer);
    let unit_transfer = transfer / f64::from(device.units_per_page());
    let read = by_type(value(Parameter::Read), Parameter::Read.base(config), &timing.read_pages);
    let program = value(Parameter::Program);
    let program = by_type(program, Parameter::Program.base(config), &timing.program_pages);
    let erase = value(Parameter::Erase) / f64::from(device.pages_per_block);
    let link = value(Parameter::Link);
    let link = if link > 0.0 { 1e9 * probe.bytes as f64 / link } else { 0.0 };
    let overhead = value(Parameter::Overhead);

    let (servers, work, moved) = if probe.pattern.writes() {
        let together =
            if timing.plane_parallel || timing.multi_plane_program { planes } else { 1.0 };
        let copies = if probe.pattern.is_random() { copies(config) } else { 0.0 };
        let programs = pages * (1.0 + copies) * (program + erase) / together;
        let copied = units * copies * (read / f64::from(device.units_per_page()) + unit_transfer);
        let servers = if timing.plane_parallel { dies * planes } else { dies };
        let each = if timing.plane_parallel { programs * together } else { programs };
        (servers, each + copied, pages * transfer * (1.0 + copies) + units * copies * unit_transfer)
    } else {
        let servers = if timing.plane_parallel { dies * planes } else { dies };
        (servers, pages * read, units * unit_transfer)
    };
    let cells = Stations::of(servers, pages, work);
    let channel = Stations::of(channels, pages, moved);
    let host = Stations::of(1.0, 1.0, link.max(overhead));
    let delay = (link + overhead - host.service).max(0.0);
    network(&mut [cells, channel, host], delay, probe.depth)
}

/// Mean time of a page whose types keep the base's ratios.
fn by_type(value: f64, base: f64, list: &Durations) -> f64 {
    let mean = list.0.iter().map(|one| one.0 as f64).sum::<f64>() / list.0.len().max(1) as f64;
    if list.0.is_empty() || base <= 0.0 { value } else { value * mean / base }
}

/// Pages copied for each that the host writes at random, by the share of the data to spare: what
/// cleaning in turn would leave (Desnoyers 2012), at most ten.
fn copies(config: &Config) -> f64 {
    let device = &config.device;
    let logical = device.logical_pages() as f64 / f64::from(device.units_per_block());
    let spare = (device.physical_blocks() as f64 / logical - 1.0).max(0.01);
    ((1.0 + spare) / (2.0 * spare) - 1.0).clamp(0.0, 10.0)
}

fn network(stations: &mut [Stations], delay: f64, depth: u32) -> (f64, f64) {
    let mut rate = 0.0;
    for inside in 1..=depth.min(DEPTH_MOST) {
        let times: Vec<f64> = stations
            .iter()
            .map(|station| {
                let busy = (rate * station.service / station.count).min(1.0);
                station.service * (1.0 + (station.queue - busy / 2.0).max(0.0))
            })
            .collect();
        let whole = delay + times.iter().sum::<f64>();
        rate = f64::from(inside) / whole.max(1.0);
        for (station, time) in stations.iter_mut().zip(times) {
            station.queue = rate * time / station.count;
        }
    }
    (f64::from(depth) / rate, 1e9 * rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::probe::Pattern;
    use crate::devices;

    fn of(probe: Probe) -> (f64, f64) {
        let config = devices::find("ssdsim2010").unwrap().config;
        let value = |parameter: Parameter| parameter.base(&config);
        estimate(&config, value, probe)
    }

    /// A read alone: cells and channel, 20 us and 52.8 us for each page of 2 KiB; two pages of a
    /// request lie on two planes and two channels.
    #[test]
    fn one_request_alone_waits_for_nobody() {
        let (mean, iops) = of(Probe { pattern: Pattern::RandRead, bytes: 4096, depth: 1 });
        assert!((mean - 72_800.0).abs() < 1.0, "{mean}");
        assert!((iops - 1e9 / 72_800.0).abs() < 1.0, "{iops}");
    }

    /// Four channels of 52.8 us a page bound many requests of two pages each.
    #[test]
    fn many_requests_are_bound_by_what_is_scarcest() {
        let (_, iops) = of(Probe { pattern: Pattern::RandRead, bytes: 4096, depth: 512 });
        let bound = 4.0 * 1e9 / 52_800.0 / 2.0;
        assert!(iops < bound * 1.01 && iops > bound * 0.9, "{iops} {bound}");
    }
}
