//! Why nothing was reclaimed in the measured part, in words, and what would change that: the
//! numbers of such a run are those of a device that is still young.

use ftlab_engine::buffer::BufferKind;
use ftlab_engine::config::GcMode;
use ftlab_engine::request::Op;
use ftlab_engine::schemes::Family;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::BlockId;
use ftlab_report::format::{Quantity, count};

use crate::options::precondition::Mode;
use crate::plan::plan::Plan;
use crate::plan::scheme_plan::SchemePlan;
use crate::sizing;

/// More passes over the workload than this are no advice.
const LOOPS_MAX: u64 = 1000;

/// A sentence or two, where nothing was erased. `reach_bytes` is where the workload's addresses end
/// on the device.
pub fn nothing_reclaimed(
    plan: &Plan,
    run: &SchemePlan,
    device: &dyn Device,
    reach_bytes: u64,
) -> Option<String> {
    let meter = device.board().meter();
    if meter.total_erases() > 0 {
        return None;
    }
    let look = Look { plan, run, device, reach_bytes };
    let what = match look.merges() {
        true => "No block was merged or reclaimed in the measured part",
        false => "GC did not run in the measured part",
    };
    if meter.host().pages[Op::Write as usize] == 0 {
        return Some(format!(
            "{what}: the workload writes nothing; only a workload with writes would start it."
        ));
    }
    if meter.total_programs() == 0 {
        return Some(format!("{what}: {}.", look.all_in_memory()));
    }
    let (why, more_pages) = match look.merges() {
        true => look.why_no_merge(),
        false => look.why_no_collection(),
    };
    let advice = look.advice(more_pages);
    Some(format!("{what}: {why}. These are the costs of a young device. {advice}"))
}

struct Look<'a> {
    plan: &'a Plan,
    run: &'a SchemePlan,
    device: &'a dyn Device,
    reach_bytes: u64,
}

impl Look<'_> {
    /// Whether the scheme reclaims by merging blocks.
    fn merges(&self) -> bool {
        matches!(self.run.chosen.row.paper.family, Family::Block | Family::LogBlock)
    }

    fn all_in_memory(&self) -> String {
        let settings = self.device.config();
        let (holds, key) = match settings.buffer.name {
            BufferKind::None => (self.run.chosen.name.clone(), "--ram"),
            name => (format!("the write buffer ({})", name.name()), "buffer.bytes"),
        };
        format!(
            "{holds} held everything that the workload wrote, and no page reached the flash; a \
             workload with more distinct pages, or a smaller {key}, would let it"
        )
    }

    /// Free blocks against the threshold, and pages to be written before collection starts.
    fn why_no_collection(&self) -> (String, u64) {
        let (room, geometry) = (self.device.room(), self.device.board().geometry());
        let nand = self.device.board().nand();
        let blocks = (0..geometry.blocks()).map(|block| nand.state().block(BlockId(block)));
        let untouched = blocks.filter(|block| !block.touched && !block.retired).count() as u64;
        let of = u64::from(geometry.blocks());
        let planes = match geometry.planes() {
            1 => "",
            _ => " in the plane with fewest",
        };
        let gaps = match self.device.config().gc.mode {
            GcMode::Idle => ", or earlier in idle gaps between requests (gc.mode = idle)",
            GcMode::Foreground | GcMode::Both => "",
        };
        let why = format!(
            "{} of {} blocks were never written, {} are free{planes}, and collection starts below \
             {}{gaps}",
            count(untouched),
            count(of),
            count(u64::from(room.free_blocks)),
            count(u64::from(room.threshold)),
        );
        // The block that is open now, those above the threshold, and the one that falls below it.
        let blocks = u64::from(room.free_blocks.saturating_sub(room.threshold)) + 2;
        let pages = blocks * u64::from(geometry.planes()) * u64::from(geometry.pages_per_block);
        (why, pages)
    }

    /// Log blocks that are left, or nothing that would fill them.
    fn why_no_merge(&self) -> (String, u64) {
        let (room, geometry) = (self.device.room(), self.device.board().geometry());
        let block = u64::from(geometry.pages_per_block);
        let state = self.device.board().nand().state();
        let blocks = (0..geometry.blocks()).map(|block| state.block(BlockId(block)));
        let superseded: u64 =
            blocks.map(|block| u64::from(block.programmed.saturating_sub(block.valid))).sum();
        let free = u64::from(room.free_blocks);
        if superseded == 0 {
            let why = "nothing on the flash is superseded, because no page was written twice, and \
                       first writes need no merge";
            return (why.to_owned(), (free + 1) * block);
        }
        let blocks_free = match free {
            0 => "no block for updates is free".to_owned(),
            1 => "1 block for updates is free".to_owned(),
            _ => format!("{} blocks for updates are free", count(free)),
        };
        let why = format!("{blocks_free}, and merging starts when one is needed and none is");
        (why, (free + 1) * block)
    }

    fn advice(&self, more_pages: u64) -> String {
        let page_bytes = self.plan.layout.page_bytes;
        let bytes = Quantity::Bytes.format((more_pages * page_bytes) as f64);
        let mut ways = vec![match self.merges() {
            true => format!("At most about {bytes} more of overwrites"),
            false => format!("About {bytes} more of writes"),
        }];
        ways.extend(self.loops(more_pages));
        ways.extend(self.preconditioning().map(|mode| format!("--precondition {mode}")));
        ways.extend(self.capacity());
        let last = ways.pop().unwrap_or_default();
        let all = match ways.is_empty() {
            true => last,
            false => format!("{} or {last}", ways.join(", ")),
        };
        format!("{all} would start it.")
    }

    /// Passes over the workload that write as much.
    fn loops(&self, more_pages: u64) -> Option<String> {
        let plan = self.plan;
        let once = !plan.repeat.goes_on(1) && !plan.workload.is_standard_input();
        let prefix = matches!(self.run.mode, Mode::Prefix(_));
        // Writes of one pass that reach the flash: a buffer lets fewer through than come in.
        let programs = self.device.board().meter().total_programs();
        let loops = 1 + more_pages.div_ceil(programs);
        (once && !prefix && loops <= LOOPS_MAX).then(|| format!("--loop {loops}"))
    }

    /// A preparation after which a workload of this size makes the device reclaim.
    fn preconditioning(&self) -> Option<&'static str> {
        if matches!(self.run.mode, Mode::Steady(_) | Mode::Model | Mode::Snapshot(_)) {
            return None;
        }
        let geometry = self.device.board().geometry();
        let block = u64::from(geometry.pages_per_block);
        let threshold = u64::from(self.device.room().threshold) * u64::from(geometry.planes());
        let data = u64::from(geometry.logical_pages).div_ceil(block);
        let usable = self.device.config().usable_blocks();
        let left = usable.saturating_sub(data + threshold) * block;
        let programs = self.device.board().meter().total_programs();
        // Fewer pages may all find their place in the blocks that are open then.
        if programs < u64::from(geometry.planes()) * block {
            return None;
        }
        let fills = !self.merges() && self.run.mode == Mode::None && programs > left;
        Some(if fills { "fill" } else { "steady" })
    }

    /// A device that is small enough for what was written, and large enough for its addresses.
    fn capacity(&self) -> Option<String> {
        if self.merges() || !matches!(self.run.mode, Mode::None | Mode::Touch | Mode::Prefix(_)) {
            return None;
        }
        let geometry = self.device.board().geometry();
        let planes = u64::from(geometry.planes());
        let room = self.device.room();
        let written =
            self.device.board().meter().total_programs() / u64::from(geometry.pages_per_block);
        // Blocks that were written, less an open one per plane, and those that stay free.
        let held = planes * u64::from(room.threshold - 1);
        let blocks = (written + held).checked_sub(2 * planes)?;
        let config = &self.run.chosen.config;
        let extent = self.plan.layout.extent_bytes;
        let logical = (blocks as f64 / (1.0 + config.device.over_provisioning.0)) as u64;
        let bytes = logical * extent;
        if logical == 0 || bytes < self.reach_bytes || bytes >= self.plan.layout.capacity_bytes {
            return None;
        }
        let mut smaller = [self.run.chosen.clone()];
        sizing::resize(&mut smaller, bytes).ok()?;
        let fits = smaller[0].config.device.physical_blocks() <= blocks;
        fits.then(|| format!("--capacity {}KiB", bytes / 1024))
    }
}
