//! What a drive tells while it serves: counts over time, its blocks, and what it reclaimed lately,
//! as JSON. Counts are the device's own; whoever asks holds requests up for as long as copying them
//! takes. What is told is copied under the lock of requests, from the device's counts and from the
//! gate's record (`watched.rs`); the page (`report/live.rs`) asks for it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ftlab_engine::board::nand::Nand;
use ftlab_engine::board::nand::state::{OobRead, PageKind};
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::units::{BlockId, SECTOR_BYTES};
use serde_json::{Value, json};

use crate::drive::Drive;
use crate::watched::Reclaim;

/// How often counts are looked at.
pub const EVERY: Duration = Duration::from_millis(250);
/// Looks that are kept: ten minutes of them; then every second one goes, and twice that fits.
const LOOKS: usize = 2400;
/// Most cells of the map of blocks; of a larger device a cell is several blocks.
const CELLS: u32 = 4096;
/// Blocks that are looked at under one lock.
const UNDER_ONE_LOCK: u32 = 4096;
/// The map of blocks is made anew no more often.
const BLOCKS_EVERY: Duration = Duration::from_millis(100);
/// Pages of a block that are asked what it holds.
const ASKED: u32 = 8;

/// Counts at one moment, all since serving began.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    at_ms: u64,
    simulated_ns: u64,
    requests: [u64; 4],
    sectors: [u64; 3],
    written_pages: u64,
    programs: [u64; Cause::COUNT],
    reads: u64,
    erases: u64,
    lookups: u64,
    hits: u64,
    free_blocks: u64,
}

/// Follows a drive.
pub struct Live<'a> {
    drive: &'a Drive,
    title: String,
    looks: Mutex<Vec<Look>>,
    blocks: Mutex<Option<(Instant, Value)>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Live<'a> {
    /// Begins to write down what is reclaimed.
    #[must_use]
    pub fn new(drive: &'a Drive, title: &str) -> Self {
        drive.watch();
        let live = Live {
            drive,
            title: title.to_owned(),
            looks: Mutex::new(Vec::with_capacity(LOOKS)),
            blocks: Mutex::new(None),
        };
        live.look();
        live
    }

    /// Looks at the counts; called every [`EVERY`].
    pub fn look(&self) {
        let look = self.counts();
        let mut looks = locked(&self.looks);
        if looks.len() == LOOKS {
            let mut keep = false;
            looks.retain(|_| {
                keep = !keep;
                keep
            });
        }
        looks.push(look);
    }

    fn counts(&self) -> Look {
        let medium = self.drive.medium();
        let (device, meter) = (&medium.served.device, medium.served.device.board().meter());
        let (host, counts) = (meter.host(), meter.counts());
        Look {
            at_ms: medium.began.elapsed().as_millis() as u64,
            simulated_ns: medium.completed,
            requests: host.requests,
            sectors: host.sectors,
            written_pages: host.pages[Op::Write as usize],
            programs: counts.programs,
            reads: counts.total_reads(),
            erases: counts.total_erases(),
            lookups: meter.events(Event::MapLookups),
            hits: meter.events(Event::MapHits),
            free_blocks: u64::from(device.room().free_blocks),
        }
    }

    /// Counts of the looks behind a moment, and reclaims behind a number.
    #[must_use]
    pub fn now(&self, after_ms: Option<u64>, reclaim: u64) -> Value {
        let looks: Vec<Look> = {
            let looks = locked(&self.looks);
            looks.iter().filter(|look| after_ms.is_none_or(|ms| look.at_ms > ms)).copied().collect()
        };
        let medium = self.drive.medium();
        let reclaims = medium.watched.as_ref().map(|watched| watched.behind(reclaim));
        let (failure, threshold) = (medium.broken.clone(), medium.served.device.room().threshold);
        drop(medium);
        let column = |of: &dyn Fn(&Look) -> u64| looks.iter().map(of).collect::<Vec<u64>>();
        let causes: serde_json::Map<String, Value> = Cause::ALL
            .iter()
            .map(|cause| (cause.name().to_owned(), column(&|l| l.programs[*cause as usize]).into()))
            .collect();
        json!({
            "schema": "ftlab-live/1",
            "title": self.title,
            "timing": self.drive.pace().to_string(),
            "started": self.drive.started(),
            "failure": failure,
            "every_ms": EVERY.as_millis() as u64,
            "looks_max": LOOKS,
            "free_blocks_threshold": threshold,
            "looks": {
                "at_ms": column(&|l| l.at_ms),
                "simulated_ns": column(&|l| l.simulated_ns),
                "requests": {
                    "read": column(&|l| l.requests[0]), "write": column(&|l| l.requests[1]),
                    "trim": column(&|l| l.requests[2]), "flush": column(&|l| l.requests[3]),
                },
                "bytes": {
                    "read": column(&|l| l.sectors[0] * SECTOR_BYTES),
                    "write": column(&|l| l.sectors[1] * SECTOR_BYTES),
                    "trim": column(&|l| l.sectors[2] * SECTOR_BYTES),
                },
                "write_pages": column(&|l| l.written_pages),
                "programs": causes,
                "flash_reads": column(&|l| l.reads),
                "erases": column(&|l| l.erases),
                "map_lookups": column(&|l| l.lookups),
                "map_hits": column(&|l| l.hits),
                "free_blocks": column(&|l| l.free_blocks),
            },
            "reclaims": reclaims.unwrap_or_default().iter().map(|one| told(one)).collect::<Vec<_>>(),
        })
    }

    /// The blocks in order, cell by cell.
    #[must_use]
    pub fn blocks(&self) -> Value {
        let mut kept = locked(&self.blocks);
        let fresh = kept.as_ref().filter(|(when, _)| when.elapsed() < BLOCKS_EVERY);
        if let Some((_, known)) = fresh {
            return known.clone();
        }
        let made = self.make_blocks();
        *kept = Some((Instant::now(), made.clone()));
        made
    }

    fn make_blocks(&self) -> Value {
        let (blocks, pages_per_block) = {
            let medium = self.drive.medium();
            let geometry = medium.served.device.board().geometry();
            (geometry.blocks(), geometry.pages_per_block)
        };
        let per_cell = blocks.div_ceil(CELLS).max(1);
        let mut cells = Cells::default();
        let mut block = 0;
        while block < blocks {
            let medium = self.drive.medium();
            let nand = medium.served.device.board().nand();
            let end = blocks.min(block + UNDER_ONE_LOCK.next_multiple_of(per_cell));
            while block < end {
                let behind = blocks.min(block + per_cell);
                cells.add((block..behind).map(BlockId), nand);
                block = behind;
            }
        }
        let Cells { states, valid, stale, erases, erased, total_erases, most, least } = cells;
        json!({
            "schema": "ftlab-blocks/1",
            "blocks": blocks,
            "pages_per_block": pages_per_block,
            "per_cell": per_cell,
            "states": states,
            "valid": valid,
            "stale": stale,
            "erases": erases,
            "erased_blocks": erased,
            "wear": {
                "min": least, "max": most, "mean": total_erases as f64 / f64::from(blocks.max(1)),
            },
        })
    }
}

/// Blocks, several to a cell where there are many.
#[derive(Default)]
struct Cells {
    /// A letter each: `.` erased, `d` data, `l` log, `m` map and the like, `x` out of use; of
    /// several blocks what most are.
    states: String,
    valid: Vec<u32>,
    stale: Vec<u32>,
    /// Most of any block of the cell.
    erases: Vec<u32>,
    erased: u32,
    total_erases: u64,
    most: u32,
    least: Option<u32>,
}

impl Cells {
    fn add(&mut self, blocks: impl Iterator<Item = BlockId>, nand: &Nand) {
        const LETTERS: [char; 5] = ['.', 'd', 'l', 'm', 'x'];
        let (mut count, mut valid, mut stale, mut erases) = ([0; LETTERS.len()], 0, 0, 0);
        for block in blocks {
            let state = nand.state().block(block);
            let letter = state_of(nand, block);
            count[letter] += 1;
            self.erased += u32::from(letter == 0);
            valid += state.valid;
            stale += state.programmed.saturating_sub(state.valid);
            erases = state.erases.max(erases);
            self.total_erases += u64::from(state.erases);
            self.most = self.most.max(state.erases);
            self.least = Some(self.least.map_or(state.erases, |least| least.min(state.erases)));
        }
        let best = (0..LETTERS.len()).rev().max_by_key(|place| count[*place]).unwrap_or(0);
        self.states.push(LETTERS[best]);
        self.valid.push(valid);
        self.stale.push(stale);
        self.erases.push(erases);
    }
}

/// What a block is, as its first pages say.
fn state_of(nand: &Nand, block: BlockId) -> usize {
    let (state, geometry) = (nand.state(), nand.geometry());
    let known = state.block(block);
    if known.retired {
        return 4;
    }
    if known.programmed == 0 {
        return 0;
    }
    let asked = (0..known.top.min(geometry.pages_per_block)).take(ASKED as usize);
    let kind =
        asked.map(|offset| state.oob(geometry.page(block, offset))).find_map(|oob| match oob {
            OobRead::Written(oob) => Some(oob.kind),
            _ => None,
        });
    match kind {
        Some(PageKind::Log) => 2,
        Some(PageKind::Map | PageKind::Checkpoint | PageKind::TrimRecord) => 3,
        _ => 1,
    }
}

fn told(reclaim: &Reclaim) -> Value {
    let op = match reclaim.op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "flush",
    };
    let victims: Vec<Value> = reclaim
        .victims
        .iter()
        .map(|victim| {
            let to: Vec<[u32; 2]> = victim.to.iter().map(|(to, pages)| [to.0, *pages]).collect();
            json!({
                "block": victim.block.0, "cause": victim.cause.name(), "pages": victim.pages, "to": to,
            })
        })
        .collect();
    json!({
        "number": reclaim.number, "request": reclaim.request, "op": op, "offset": reclaim.offset,
        "bytes": reclaim.bytes, "at_ns": reclaim.at, "response_ns": reclaim.response,
        "copied": reclaim.copied, "erased": reclaim.erased, "victims": victims,
    })
}
