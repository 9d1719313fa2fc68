//! What `--ram` and `--timing` do to the settings of the schemes, and who is left out.

use ftlab_engine::config::{Bytes, Optional, SettingError, Shown};

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::options::capacity::Capacity;
use crate::options::settings::Settings;
use crate::options::timing::Timing;
use crate::selection::Chosen;
use crate::sizing;

/// Whether a scheme can run on the device that it was given, of which the size is `fixed` or still
/// follows from what schemes need.
fn fits(one: &Chosen, fixed: bool) -> Result<(), SettingError> {
    (one.row.check)(&one.config)?;
    let minimum = (one.row.minimum_blocks)(&one.config);
    match fixed && one.config.usable_blocks() < minimum {
        false => Ok(()),
        true => Err(one.config.too_few_blocks(one.row.paper.name, minimum)),
    }
}

/// Leaves those out that nobody asked for by name, and for which nothing was set, where they cannot
/// run on this device; who they are, and why. The others must be able to.
fn leave_out_unfit(chosen: &mut Vec<Chosen>, asked: &Experiment) -> Result<Vec<String>> {
    let mut left_out = Vec::new();
    let mut kept = Vec::with_capacity(chosen.len());
    for one in chosen.drain(..) {
        one.config.check()?;
        match fits(&one, asked.capacity.is_none()) {
            Ok(()) => kept.push(one),
            Err(error) if one.by_name || has_own(&one, &asked.set) => {
                return Err(Error::unsuited(&one.name, &error));
            }
            Err(error) => left_out.push(format!("{} ({error})", one.name)),
        }
    }
    *chosen = kept;
    match chosen.is_empty() {
        false => Ok(left_out),
        true => Err(Error::usage(format!(
            "no scheme that was asked for can run on this device: {}",
            left_out.join("; ")
        ))),
    }
}

/// Whether a setting of the scheme itself was stated.
fn has_own(one: &Chosen, set: &Settings) -> bool {
    let group = |text: &String| text.trim().split('.').next().unwrap_or_default().to_owned();
    set.as_slice().iter().any(|text| one.row.reads(&one.config, &group(text)))
}

/// Bounds the SRAM; returns what was left out and why.
pub fn apply_budget(chosen: &mut Vec<Chosen>, asked: &Experiment) -> Result<Vec<String>> {
    if let Some(ram) = &asked.ram {
        if asked.set.state("device.ram_bytes") {
            return Err(Error::usage("--ram and --set device.ram_bytes exclude each other"));
        }
        let budget = sizing::budget(ram, chosen, &asked.set)?;
        for one in chosen.iter_mut() {
            one.config.device.ram_bytes = Optional(Some(Bytes(budget)));
        }
    }
    let mut left_out = leave_out_unfit(chosen, asked)?;
    let budget = chosen[0].config.device.ram_bytes.0.map(|Bytes(budget)| budget);
    if asked.ram_strict {
        let Some(budget) = budget else {
            return Err(Error::usage("--ram-strict needs a budget: --ram BYTES"));
        };
        chosen.iter_mut().for_each(|one| make_room(one, budget, &asked.set));
        chosen.retain(|one| {
            let sram = sram(one);
            if sram > budget {
                let name = &one.name;
                left_out.push(format!(
                    "{name} takes {sram} bytes of SRAM, --ram allows {budget} (--ram-strict), {} \
                     are missing",
                    sram - budget
                ));
            }
            sram <= budget
        });
        if chosen.is_empty() {
            return Err(Error::usage(format!("no scheme is left: {}", left_out.join("; "))));
        }
    }
    // What a scheme needs on flash can follow from its memory, and those that are left out need
    // nothing any more.
    if asked.capacity.is_some() && (budget.is_some() || !left_out.is_empty()) {
        let device = &chosen[0].config.device;
        let bytes = device.logical_pages() * device.unit_bytes();
        sizing::resize(chosen, bytes)?;
    }
    Ok(left_out)
}

fn sram(one: &Chosen) -> u64 {
    sizing::sram(&(one.row.ram_use)(&one.config))
}

/// The key that says whether the map's directory takes room from the cache, and what it says; none
/// for schemes without one.
pub fn directory_key(one: &Chosen) -> Option<(String, bool)> {
    const NAME: &str = ".gtd_in_budget";
    one.config.describe().into_iter().find_map(|described| {
        let group = described.key.strip_suffix(NAME)?;
        let inside = described.value == Shown::Bool(true);
        one.row.reads(&one.config, group).then(|| (described.key.clone(), inside))
    })
}

/// A cache may fill the budget, and its directory come on top, as papers count. Where nothing may
/// be above the budget the cache leaves room for it, unless it was said where it is to be.
fn make_room(one: &mut Chosen, budget: u64, set: &Settings) {
    let Some((key, false)) = directory_key(one) else { return };
    if sram(one) <= budget || set.state(&key) {
        return;
    }
    let mut smaller = one.config.clone();
    let done = smaller.set(&key, "true").and_then(|()| (one.row.check)(&smaller));
    if done.is_ok() && sizing::sram(&(one.row.ram_use)(&smaller)) <= budget {
        one.config = smaller;
    }
}

/// Says so when the schemes' needs made a device larger than its over-provisioning.
pub fn enlarged(one: &Chosen, capacity: Option<Capacity>) -> Option<String> {
    capacity?;
    let device = &one.config.device;
    let mut plain = device.clone();
    plain.set_capacity(device.logical_pages() * device.unit_bytes(), 0);
    let (given, asked) = (device.physical_blocks(), plain.physical_blocks());
    (given > asked).then(|| {
        let share = (given * u64::from(device.units_per_block())) as f64
            / device.logical_pages() as f64
            - 1.0;
        format!(
            "The device has {given} blocks instead of {asked}, because a scheme needs that many: \
             {:.1} % of spare space instead of the {:.1} % of device.over_provisioning.",
            100.0 * share,
            100.0 * device.over_provisioning.0
        )
    })
}

/// The device takes all requests of a closed loop, unless its own queue depth is asked for; then
/// the others wait in the driver's queue.
pub fn apply_timing(chosen: &mut [Chosen], timing: Timing, set: &Settings) {
    let own = set.state("host.queue_depth");
    if let (Timing::ClosedLoop { depth: Some(depth) }, false) = (timing, own) {
        for one in chosen {
            one.config.host.queue_depth = Optional(Some(depth));
        }
    }
}
