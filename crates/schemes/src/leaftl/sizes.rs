//! How much of what LeaFTL has, known before any run.

use crate::leaftl::settings::{Config, SegmentBytes};
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::demand_mapped::{self, CACHE_BYTES};
use ftlab_ftl::parts::learned::{Group, Scale, Sizes as GroupSizes, compacted_at, packed};
use ftlab_ftl::parts::page_mapped;
use ftlab_ftl::parts::trim_records::TrimRecords;

/// Bytes of a buffer that fills in a device large enough for it.
const BUFFER_BYTES: u64 = 8 << 20;

/// Groups that are worked on at once: one that changes, and one in memory put together with what
/// flash has of it.
const SCRATCH: u64 = 3;

/// Least threshold of a device with one plane, as of any with its map on flash.
const GC_LOW: u32 = 3;

/// Groups, map pages and memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Pages of a group.
    pub(super) group_pages: u32,
    pub(super) groups: u32,
    /// Groups of a map page, and the words that each has there.
    pub(super) groups_per_part: u32,
    pub(super) group_words: u32,
    /// Map pages; 0 where memory holds all.
    pub(super) parts: u32,
    /// Bytes of segments that memory takes; none where it takes all.
    pub(super) map_bytes: Option<u64>,
    /// Pages of the buffer.
    pub(super) frames: u32,
    /// Pages of a block.
    block: u32,
    counted: SegmentBytes,
}

/// Most bytes that a page adds to the map: a segment of its own, in a level and in a group that
/// memory knew nothing of.
pub(super) const PAGE_BYTES: u64 = 8 + 1 + 4;

/// Most bytes of a group of so many pages, as it is when it has been compacted: each page a
/// segment, and listed; the group, its levels, its trims.
fn most_group_bytes(pages: u32) -> u64 {
    u64::from(pages) * 11 + 4 + 32
}

/// The same of a group of so many segments, which need not be compacted.
fn loose_group_bytes(pages: u32, segments: u32) -> u64 {
    9 * u64::from(segments) + u64::from(pages) + 4 + 32
}

impl Sizes {
    pub(super) fn new(config: &Config) -> Self {
        let geometry = Geometry::new(&config.device);
        let words = |pages: u32| packed::most_bytes(pages).div_ceil(4);
        let mut group_pages = config.own.group_pages;
        while words(group_pages) > geometry.entries_per_page() {
            group_pages /= 2;
        }
        let groups = geometry.logical_pages.div_ceil(group_pages);
        let group_words = words(group_pages);
        let groups_per_part = geometry.entries_per_page() / group_words;
        let frames = buffer_frames(config);
        let whole = u64::from(groups) * most_group_bytes(group_pages);
        let buffer = u64::from(frames) * config.device.unit_bytes();
        let left = config.map_budget().map(|budget| budget.saturating_sub(buffer));
        let given = config.own.map_bytes.0.map(|bytes| bytes.0);
        let map_bytes = given.unwrap_or_else(|| left.unwrap_or(CACHE_BYTES));
        let on_flash = config.own.map_on_flash && map_bytes < whole;
        Sizes {
            group_pages,
            groups,
            groups_per_part,
            group_words,
            parts: if on_flash { groups.div_ceil(groups_per_part) } else { 0 },
            map_bytes: on_flash.then_some(map_bytes.max(most_group_bytes(group_pages))),
            frames,
            block: geometry.pages_per_block,
            counted: config.own.bytes,
        }
    }

    /// Most bytes that segments take before others have left for them: those of a block of a flush
    /// and of a victim, and a group that was loaded. None where memory takes all.
    pub(super) fn most_bytes(&self) -> Option<u64> {
        self.map_bytes.map(|bytes| bytes + self.unfitted_bytes())
    }

    /// Most pages of a flush that are learned together.
    pub(super) fn run(&self) -> u32 {
        self.frames.min(self.block)
    }

    fn unfitted_bytes(&self) -> u64 {
        PAGE_BYTES * u64::from(self.run() + self.block) + self.most_loaded_bytes()
    }

    /// Most bytes of a group that was loaded.
    pub(super) fn most_loaded_bytes(&self) -> u64 {
        loose_group_bytes(self.group_pages, compacted_at(self.group_pages))
    }

    /// Bytes of the smallest group that has a page.
    pub(super) fn least_group_bytes(&self) -> u64 {
        match self.counted {
            SegmentBytes::Paper => PAGE_BYTES,
            SegmentBytes::Code => 5 + 4,
        }
    }

    /// What the segments of a group are counted with.
    pub(super) fn bytes_of(&self, group: &Group) -> u32 {
        if group.is_empty() {
            return 0;
        }
        let GroupSizes { accurate, approximate, lone, levels, trims, .. } = group.sizes();
        let trimmed = if trims { 32 } else { 0 };
        let segments = match self.counted {
            SegmentBytes::Paper => {
                8 * (accurate + approximate + lone) + conflict_bytes(&group.sizes()) + levels
            }
            SegmentBytes::Code => 5 * lone + 8 * (accurate + approximate) + group.changes(),
        };
        4 + segments + trimmed
    }

    /// Free blocks per plane below which collection starts.
    pub(super) fn threshold(config: &Config) -> u32 {
        demand_mapped::threshold(config, GC_LOW)
    }

    /// Physical blocks: data, map, records, and a reserve per plane.
    pub(super) fn minimum_blocks(config: &Config) -> u64 {
        let geometry = Geometry::new(&config.device);
        let planes = config.device.plane_count();
        let pages = u64::from(config.device.units_per_block());
        let data = config.device.logical_pages().div_ceil(planes).div_ceil(pages);
        let map = Self::map_pages(config, &geometry).div_ceil(planes).div_ceil(pages);
        let reserve = config.blocks_beside_data(Self::threshold(config));
        planes * (data + map + 1 + reserve)
    }

    fn map_pages(config: &Config, geometry: &Geometry) -> u64 {
        u64::from(Self::new(config).parts + TrimRecords::segments(geometry))
    }

    /// Map pages and records, and those that replace them while both are alive.
    pub(super) fn payload_pages(config: &Config) -> u64 {
        let geometry = Geometry::new(&config.device);
        let map = Self::map_pages(config, &geometry);
        map + map / 8 + u64::from(geometry.pages_per_block)
    }

    pub(super) fn ram_use(config: &Config) -> Vec<RamUse> {
        let sizes = Self::new(config);
        let sram = |structure, bytes| RamUse { structure, bytes, memory: Memory::Sram };
        let (pages, segments) = (sizes.group_pages, compacted_at(sizes.group_pages));
        let groups = u64::from(sizes.groups);
        let whole = groups * loose_group_bytes(pages, segments);
        // A number, and a link in either direction.
        let order = 12 * groups.min(sizes.most_bytes().unwrap_or(0) / PAGE_BYTES);
        let (unfitted, marks) =
            if sizes.parts > 0 { (sizes.unfitted_bytes(), groups) } else { (0, 0) };
        let own = [
            sram("learned_map", sizes.map_bytes.unwrap_or(whole)),
            sram("unfitted_segments", unfitted),
            sram("group_scratch", SCRATCH * loose_group_bytes(pages, 2 * segments)),
            sram("group_order", order),
            sram("group_marks", marks),
            sram("gtd", 4 * u64::from(sizes.parts)),
            sram("data_buffer", u64::from(sizes.frames) * config.device.unit_bytes()),
            sram("flush_list", 4 * u64::from(sizes.frames) + 8 * u64::from(sizes.run())),
            sram("moved_list", 8 * u64::from(sizes.block)),
        ];
        let own: Vec<RamUse> = own.into_iter().filter(|used| used.bytes > 0).collect();
        page_mapped::ram_use(config, &own)
    }

    /// Whether neighbours fit into the out-of-band area, pages into an intercept, and sizes that
    /// were given into the budget.
    pub(super) fn check(config: &Config) -> Result<(), SettingError> {
        let (gamma, room) = (u64::from(config.own.gamma), config.device.oob_bytes.0);
        let conflict = |text: String| Err(SettingError::Conflict(text));
        let needed = 4 * (2 * gamma + 1);
        if gamma > 0 && needed > room {
            return conflict(format!(
                "leaftl.gamma = {gamma} needs {needed} bytes of the out-of-band area for the numbers \
                 of a page and of its neighbours, device.oob_bytes = {room}"
            ));
        }
        let pages = u64::from(Geometry::new(&config.device).pages());
        if pages > Scale::PAGES_MAX {
            return conflict(format!(
                "leaftl tells the places of {} pages at most, the device has {pages}",
                Scale::PAGES_MAX
            ));
        }
        let Some(budget) = config.map_budget() else { return Ok(()) };
        let sizes = Self::new(config);
        let buffer = u64::from(sizes.frames) * config.device.unit_bytes();
        let map = config.own.map_bytes.0.map_or(0, |bytes| bytes.0);
        if config.own.map_on_flash && map + buffer > budget {
            return conflict(format!(
                "leaftl.map_bytes and the write buffer take {map} and {buffer} bytes, \
                 device.ram_bytes allows {budget}"
            ));
        }
        Ok(())
    }
}

/// Bytes of a conflict buffer: its pages, and what is between those of two segments.
pub(super) fn conflict_bytes(sizes: &GroupSizes) -> u32 {
    sizes.listed + sizes.approximate
}

/// Pages of the buffer.
fn buffer_frames(config: &Config) -> u32 {
    let unit = config.device.unit_bytes();
    let capacity = config.device.logical_pages() * unit;
    let given = config.own.buffer_bytes.0.map(|bytes| bytes.0);
    let bytes = given.unwrap_or_else(|| {
        let block = u64::from(config.device.units_per_block()) * unit;
        let wanted = (capacity / 512).clamp(block, BUFFER_BYTES.max(block));
        config.map_budget().map_or(wanted, |budget| wanted.min(budget / 2))
    });
    (bytes / unit).clamp(1, config.device.logical_pages()) as u32
}
