//! A device in the state that long random writing leads to, without the writing: how many valid
//! pages the blocks hold once cleaning has settled under uniform random writes, put onto the flash
//! at once; the scheme then finds its map by its own recovery.
//!
//! # Greedy cleaning
//! A block with i valid pages loses one at a rate proportional to i, and in the steady state as
//! many blocks leave each level as reach it: the share of blocks with i valid pages is c / i down
//! to a lowest level m. Blocks of level m are collected before they lose another page, all of them
//! or, as the space demands, a part. Source: Desnoyers, "Analytic modeling of SSD write
//! performance" (SYSTOR 2012); Van Houdt, "A mean field model for a class of garbage collection
//! algorithms in flash-based solid state drives" (SIGMETRICS 2013), in the limit of many
//! candidates.
//!
//! # FIFO cleaning
//! From one filled block to the next every page has the same chance q to stay valid: the k-th block
//! from the newest one holds b q^k valid pages, and q follows from their sum. In the limit of many
//! blocks this is the closed form with Lambert's W of Menon (1995) and Desnoyers (2012).
//!
//! # What it needs
//! A scheme whose whole page map memory holds, and which writes data only: [`SCHEMES`]. Pages of
//! maps on flash would take a share of the blocks that these analyses do not know.

use crate::config::SsdSettings;
use ftlab_flash::board::nand::geometry::PlacementOrder;
use ftlab_flash::board::nand::restore::StoredPage;
use ftlab_flash::board::nand::state::{Oob, PageKind};
use ftlab_flash::rng::{Purpose, Rng};
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Tag};
use ftlab_ftl::answers::Location;
use ftlab_ftl::parts::alloc::AllocUnit;
use ftlab_ftl::parts::page_space::settings::{GcMode, GcTrigger, GcUnit, ThresholdMode};
use ftlab_ftl::parts::placement::PlacementKind;
use ftlab_ftl::parts::victim::VictimKind;
use ftlab_ssd::ssd::{Device, DeviceError};

/// The schemes for which there is a model.
pub const SCHEMES: &[&str] = &["ideal_page", "hat"];

/// The victim policies for which there is a model.
pub const VICTIMS: &[VictimKind] = &[VictimKind::Greedy, VictimKind::Fifo];

/// Why a device could not be put into the state.
#[derive(Debug, PartialEq, Eq)]
pub enum OccupancyError {
    /// The settings are not those of an analysis.
    Settings(SettingError),
    /// The scheme could not recover.
    Device(DeviceError),
}

/// Whether there is a model for a scheme under its settings.
///
/// # Errors
/// The error names the schemes or values for which there is one.
pub fn check(scheme: &str, config: &SsdSettings) -> Result<(), SettingError> {
    if !SCHEMES.contains(&scheme) {
        return Err(SettingError::Conflict(format!(
            "there is no model of how {scheme} fills its blocks: the analyses are of page-mapped \
             data whose whole map memory holds ({})",
            SCHEMES.join(", ")
        )));
    }
    let unknown = |key: &str, value: &str, legal: &str| {
        Err(SettingError::Conflict(format!(
            "there is no model of the blocks under {key} = {value}, only under {legal}"
        )))
    };
    let gc = &config.gc;
    if !VICTIMS.contains(&gc.victim) {
        let legal: Vec<&str> = VICTIMS.iter().map(|victim| victim.name()).collect();
        return unknown("gc.victim", gc.victim.name(), &legal.join(" and "));
    }
    if gc.mode != GcMode::Foreground {
        return unknown("gc.mode", gc.mode.name(), GcMode::Foreground.name());
    }
    if gc.threshold_mode != ThresholdMode::Fixed {
        let legal = ThresholdMode::Fixed.name();
        return unknown("gc.threshold_mode", gc.threshold_mode.name(), legal);
    }
    if gc.placement != PlacementKind::None {
        let legal = PlacementKind::None.name();
        return unknown("gc.placement", gc.placement.name(), legal);
    }
    if gc.trigger != GcTrigger::FreeBlocks {
        return unknown("gc.trigger", gc.trigger.name(), GcTrigger::FreeBlocks.name());
    }
    if gc.unit != GcUnit::Plane {
        return unknown("gc.unit", gc.unit.name(), GcUnit::Plane.name());
    }
    if config.alloc.unit != AllocUnit::Plane {
        return unknown("alloc.unit", config.alloc.unit.name(), AllocUnit::Plane.name());
    }
    // The scheme would go on with the table in its memory, in which nothing was written yet.
    if config.device.ram_nonvolatile {
        return unknown("device.ram_nonvolatile", "true", "false");
    }
    Ok(())
}

/// Puts a device on which nothing was written yet into the state that uniform random writes of its
/// whole logical space lead to, and lets its scheme recover. `seed` says which page lies where;
/// `noted` is told of the logical pages as they are placed, and may end it.
///
/// # Errors
/// When there is no model for the settings, or they leave no room for any cleaning; what `noted`
/// gives.
pub fn install<E: From<OccupancyError>>(
    device: &mut dyn Device,
    scheme: &str,
    seed: u64,
    mut noted: impl FnMut(u64) -> Result<(), E>,
) -> Result<(), E> {
    check(scheme, device.config()).map_err(OccupancyError::Settings)?;
    let mut rng = Rng::new(seed, Purpose::Occupancy);
    let pages = device.board().geometry().logical_pages;
    let mut logical: Vec<u32> = (0..pages).collect();
    shuffle(&mut logical, &mut rng);
    let planes = device.board().geometry().planes();
    let order = device.config().alloc.order;
    let mut of_plane: Vec<Vec<u32>> = vec![Vec::new(); planes as usize];
    for (turn, lpn) in logical.into_iter().enumerate() {
        let plane = match order {
            PlacementOrder::Dynamic => turn % planes as usize,
            _ => device.board().geometry().static_plane(order, Lpn(lpn).0).index(),
        };
        of_plane[plane].push(lpn);
    }
    for (plane, logical) in of_plane.iter().enumerate() {
        let plane = PlaneId(plane as u32);
        let plan = PlanePlan::new(device, plane, logical.len() as u32, &mut rng)
            .map_err(OccupancyError::Settings)?;
        plan.install(device, logical, &mut rng, &mut noted)?;
    }
    device.power_cycle().map_err(OccupancyError::Device)?;
    let found = (0..pages).filter(|&lpn| device.locate(Lpn(lpn)) != Location::Nowhere).count();
    assert_eq!(found, pages as usize, "{scheme} finds every page that was put onto the flash");
    device.start_measuring();
    Ok(())
}

/// The blocks of one plane, the newest first, and how many valid pages each shall hold.
struct PlanePlan {
    /// Open blocks, then full ones: block, pages programmed, valid pages.
    blocks: Vec<(BlockId, u32, u32)>,
}

impl PlanePlan {
    fn new(
        device: &dyn Device,
        plane: PlaneId,
        live: u32,
        rng: &mut Rng,
    ) -> Result<Self, SettingError> {
        let (nand, gc) = (device.board().nand(), &device.config().gc);
        let geometry = nand.geometry();
        let b = geometry.pages_per_block;
        let good = geometry.blocks_of(plane).map(BlockId);
        let good: Vec<BlockId> = good.filter(|&block| !nand.state().block(block).retired).collect();
        // Between two collections all but one of the blocks at the threshold are free; the frontier
        // is half written on average, and so is that of moved pages where it is another one.
        let open = 1 + usize::from(gc.separate_frontiers);
        let free = device.room().threshold as usize - 1;
        let full = good.len().saturating_sub(free + open);
        let half = (b / 2).next_multiple_of(geometry.units_per_flash_page);
        let begun = open as u32 * half;
        if live <= begun || u64::from(live - begun) >= full as u64 * u64::from(b) {
            return Err(SettingError::Conflict(format!(
                "there is no steady state of {live} pages in the {full} blocks of {b} that plane \
                 {plane} has beside {free} free and {open} open ones"
            )));
        }
        let valid = match gc.victim {
            VictimKind::Greedy => greedy(full, b, live - begun),
            _ => fifo(full, b, live - begun, rng),
        };
        let (open, full) = good[..open + full].split_at(open);
        let open = open.iter().map(|&block| (block, half, half));
        let full = full.iter().zip(valid).map(|(&block, valid)| (block, b, valid));
        Ok(PlanePlan { blocks: open.chain(full).collect() })
    }

    /// Programs every page, from the newest to the oldest: valid ones take the next of `logical`,
    /// superseded ones are older versions of pages that lie in newer places.
    fn install<E>(
        &self,
        device: &mut dyn Device,
        logical: &[u32],
        rng: &mut Rng,
        noted: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let pages: u64 = self.blocks.iter().map(|&(_, pages, _)| u64::from(pages)).sum();
        let nand = device.board_mut().nand_mut();
        // Planes follow each other in age, which no scheme can tell from having been side by side.
        let mut sequence = nand.sequence() + pages + 1;
        let all_sectors = nand.geometry().all_sectors();
        let mut placed = 0usize;
        let mut content: Vec<u32> = Vec::new();
        for &(block, pages, valid) in &self.blocks {
            let mut left = (pages, valid);
            content.clear();
            for _ in 0..pages {
                let live = rng.below(left.0) < left.1;
                left = (left.0 - 1, left.1 - u32::from(live));
                if live {
                    content.push(logical[placed]);
                    placed += 1;
                } else {
                    // The open block is valid as a whole, so something newer is there.
                    content.push(logical[rng.below(placed as u32) as usize]);
                }
            }
            sequence -= u64::from(pages);
            for (offset, &logical) in content.iter().rev().enumerate() {
                let offset = offset as u32;
                let sequence = sequence + u64::from(offset);
                let page = StoredPage::Data {
                    oob: Oob { logical, kind: PageKind::Data, sequence },
                    tag: Tag((sequence as u32 % Tag::UNREADABLE.0).max(1)),
                    sectors: all_sectors,
                    unreadable: false,
                };
                let ppn = nand.geometry().page(block, offset);
                nand.restore_page(ppn, page).expect("an erased page of the device");
            }
            noted(u64::from(valid))?;
        }
        debug_assert_eq!(placed, logical.len(), "every page of the plane has its place");
        Ok(())
    }
}

/// Valid pages of `full` blocks of `b` pages under greedy cleaning, newest first; `live` in sum.
pub fn greedy(full: usize, b: u32, live: u32) -> Vec<u32> {
    let utilisation = f64::from(live) / full as f64;
    // The lowest level m, and the share of blocks in it: c (H_b - H_m) + x = 1 and
    // c (b - m) + m x = utilisation, with 0 <= x <= c / m.
    let mut harmonic = 0.0;
    let (mut m, mut c) = (b, 0.0);
    while m > 0 {
        m -= 1;
        harmonic += 1.0 / f64::from(m + 1);
        let (above, level) = (f64::from(b - m), f64::from(m));
        c = (utilisation - level) / (above - level * harmonic);
        let x = 1.0 - c * harmonic;
        if c > 0.0 && x * level <= c {
            break;
        }
    }
    let mut valid = Vec::with_capacity(full);
    let mut share = 0.0;
    for level in (m + 1..=b).rev() {
        share += c / f64::from(level);
        let up_to = ((share * full as f64).round() as usize).min(full);
        valid.resize(up_to.max(valid.len()), level);
    }
    valid.resize(full, m);
    settle(&mut valid, b, live, |turn| full - 1 - turn % full);
    valid.sort_unstable_by(|one, other| other.cmp(one));
    valid
}

/// The same under FIFO cleaning: each page of the k-th block stayed valid with the chance q^k.
fn fifo(full: usize, b: u32, live: u32, rng: &mut Rng) -> Vec<u32> {
    let q = survival(full, f64::from(live) / f64::from(b));
    let mut chance = 1.0;
    let mut valid = Vec::with_capacity(full);
    for _ in 0..full {
        chance *= q;
        let limit = (chance * f64::from(u32::MAX)) as u32;
        valid.push((0..b).filter(|_| rng.below(u32::MAX) < limit).count() as u32);
    }
    settle(&mut valid, b, live, |_| rng.below(full as u32) as usize);
    valid
}

/// The chance q with q + q^2 + ... + q^blocks = `sum`, below 1.
pub fn survival(blocks: usize, sum: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..64 {
        let q = (low + high) / 2.0;
        let mut chance = 1.0;
        let mut total = 0.0;
        for _ in 0..blocks {
            chance *= q;
            total += chance;
        }
        if total < sum {
            low = q;
        } else {
            high = q;
        }
    }
    (low + high) / 2.0
}

/// Rounding and chance leave the sum off by some pages: blocks of `next` gain or lose one each.
fn settle(valid: &mut [u32], b: u32, live: u32, mut next: impl FnMut(usize) -> usize) {
    let mut sum: i64 = valid.iter().map(|&pages| i64::from(pages)).sum();
    let mut turn = 0;
    while sum != i64::from(live) {
        let pages = &mut valid[next(turn)];
        turn += 1;
        if sum < i64::from(live) && *pages < b {
            *pages += 1;
            sum += 1;
        } else if sum > i64::from(live) && *pages > 0 {
            *pages -= 1;
            sum -= 1;
        }
    }
}

fn shuffle(numbers: &mut [u32], rng: &mut Rng) {
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, rng.below(last as u32 + 1) as usize);
    }
}
