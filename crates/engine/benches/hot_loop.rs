//! Host page writes per second at steady state, as ratios against a bare page map in one run.
//!
//! The bare map is what a greedy page-mapped FTL costs with neither clock nor counts: the same
//! geometry, the same threshold and frontier rules, nothing but tables. The checksum (erases and
//! programs) shows that both did the same kind of work. `FTLAB_BENCH=full` runs the device of the
//! published aim (32 GiB of 4 KiB pages); the default is an eighth of it.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::time::Instant;

use ftlab_engine::config::Config;
use ftlab_engine::host::Driver;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;

const PAGES_PER_BLOCK: u32 = 64;
const SECTORS: u64 = 8;

/// A page map with greedy cleaning and nothing else.
struct Bare {
    map: Vec<u32>,
    reverse: Vec<u32>,
    valid: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    head: Vec<u32>,
    free: Vec<u32>,
    open: u32,
    offset: u32,
    erases: u64,
    programs: u64,
}

const NONE: u32 = u32::MAX;

impl Bare {
    fn new(logical: u32, blocks: u32) -> Self {
        let mut bare = Bare {
            map: vec![NONE; logical as usize],
            reverse: vec![NONE; (blocks * PAGES_PER_BLOCK) as usize],
            valid: vec![0; blocks as usize],
            next: vec![NONE; blocks as usize],
            previous: vec![NONE; blocks as usize],
            head: vec![NONE; PAGES_PER_BLOCK as usize + 1],
            free: (0..blocks).rev().collect(),
            open: 0,
            offset: 0,
            erases: 0,
            programs: 0,
        };
        bare.open = bare.free.pop().expect("there are blocks");
        bare
    }

    fn link(&mut self, block: u32) {
        let list = self.valid[block as usize] as usize;
        let head = self.head[list];
        self.next[block as usize] = head;
        self.previous[block as usize] = NONE - 1;
        if head != NONE {
            self.previous[head as usize] = block;
        }
        self.head[list] = block;
    }

    fn unlink(&mut self, block: u32) {
        let list = self.valid[block as usize] as usize;
        let (before, behind) = (self.previous[block as usize], self.next[block as usize]);
        if before == NONE - 1 {
            self.head[list] = behind;
        } else {
            self.next[before as usize] = behind;
        }
        if behind != NONE {
            self.previous[behind as usize] = before;
        }
        self.previous[block as usize] = NONE;
    }

    fn append(&mut self, lpn: u32) {
        if self.offset == PAGES_PER_BLOCK {
            self.link(self.open);
            self.open = self.free.pop().expect("the reserve holds");
            self.offset = 0;
        }
        let page = self.open * PAGES_PER_BLOCK + self.offset;
        self.offset += 1;
        self.programs += 1;
        self.reverse[page as usize] = lpn;
        self.valid[self.open as usize] += 1;
        self.map[lpn as usize] = page;
    }

    fn write(&mut self, lpn: u32) {
        if self.offset == PAGES_PER_BLOCK {
            while self.free.len() < 4 {
                self.clean();
            }
        }
        let old = self.map[lpn as usize];
        if old != NONE {
            let block = old / PAGES_PER_BLOCK;
            self.reverse[old as usize] = NONE;
            if self.previous[block as usize] == NONE {
                self.valid[block as usize] -= 1;
            } else {
                self.unlink(block);
                self.valid[block as usize] -= 1;
                self.link(block);
            }
        }
        self.append(lpn);
    }

    fn clean(&mut self) {
        let victim = *self.head.iter().find(|&&head| head != NONE).expect("a candidate");
        self.unlink(victim);
        let first = victim * PAGES_PER_BLOCK;
        for page in first..first + PAGES_PER_BLOCK {
            let lpn = self.reverse[page as usize];
            if lpn != NONE {
                self.append(lpn);
                self.reverse[page as usize] = NONE;
            }
        }
        self.valid[victim as usize] = 0;
        self.free.push(victim);
        self.erases += 1;
    }
}

fn config(gibibytes: u64, pairs: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    let common = [
        ("device.page_bytes", "4KiB"),
        ("device.over_provisioning", "0.25"),
        ("timing.read", "50us"),
        ("timing.program", "500us"),
    ];
    for (key, value) in common.iter().chain(pairs) {
        config.set(key, value).expect("legal settings");
    }
    config.device.set_capacity(gibibytes << 30, 0);
    config
}

/// Requests that go to the device at once, as those of a generated workload do.
const CHUNK: usize = 32;

/// A host that keeps the queue of a device full.
struct Host {
    device: Box<dyn Device>,
    driver: Driver,
    chunk: Vec<Request>,
}

impl Host {
    fn write(&mut self, page: u32) {
        self.chunk.push(Request {
            arrival: 0,
            op: Op::Write,
            first_sector: u64::from(page) * SECTORS,
            sectors: SECTORS as u32,
            unit: 0,
            stream: None,
            content: None,
        });
        if self.chunk.len() == CHUNK {
            self.driver.submit_all(self.device.as_mut(), &mut self.chunk).expect("it works");
            self.chunk.clear();
        }
    }
}

/// Fills, overwrites once to reach steady state, then measures; returns pages per second.
fn measure(logical: u32, writes: u32, mut write: impl FnMut(u32)) -> f64 {
    let mut rng = Rng::new(1, Purpose::Workload);
    (0..logical).for_each(&mut write);
    (0..logical).for_each(|_| write(rng.below(logical)));
    let start = Instant::now();
    (0..writes).for_each(|_| write(rng.below(logical)));
    f64::from(writes) / start.elapsed().as_secs_f64()
}

fn scheme(name: &str, gibibytes: u64, writes: u32, pairs: &[(&str, &str)]) -> f64 {
    let config = config(gibibytes, pairs);
    let (row, _) = schemes::find(name).expect("a scheme of the table");
    let device = (row.open)(&config, 1).unwrap_or_else(|error| panic!("{error}"));
    let driver = Driver::new(&config, Some(config.queue_depth()));
    let mut host = Host { device, driver, chunk: Vec::with_capacity(CHUNK) };
    let logical = config.device.logical_pages() as u32;
    let rate = measure(logical, writes, |page| host.write(page));
    host.driver.submit_all(host.device.as_mut(), &mut host.chunk).expect("it works");
    let device = host.device;
    device.audit().expect("the audit passes");
    let meter = device.board().meter();
    println!(
        "  {name:<12} {:>7.2} M pages/s   checksum {} erases, {} programs, p50 write {} ns",
        rate / 1e6,
        meter.total_erases(),
        meter.total_programs(),
        meter.latency().write()[0].percentile(50.0),
    );
    rate
}

fn main() {
    // One scheme alone, for profilers: FTLAB_BENCH_ONLY=dftl.
    if let Ok(name) = std::env::var("FTLAB_BENCH_ONLY") {
        let logical = config(4, &[]).device.logical_pages() as u32;
        scheme(&name, 4, 3 * logical, &[]);
        return;
    }
    let full = std::env::var("FTLAB_BENCH").is_ok_and(|size| size == "full");
    let gibibytes = if full { 32 } else { 4 };
    let config = config(gibibytes, &[]);
    let logical = config.device.logical_pages() as u32;
    let writes = logical;
    println!("{gibibytes} GiB of 4 KiB pages, over-provisioning 0.25, uniform random writes");
    let mut bare = Bare::new(logical, config.device.physical_blocks() as u32);
    let rate = measure(logical, writes, |page| bare.write(page));
    println!(
        "  {:<12} {:>7.2} M pages/s   checksum {} erases, {} programs",
        "bare loop",
        rate / 1e6,
        bare.erases,
        bare.programs
    );
    let page = scheme("ideal_page", gibibytes, writes, &[]);
    let parallel = scheme(
        "ideal_page",
        gibibytes,
        writes,
        &[("timing.profile", "parallel"), ("timing.page_transfer", "10us")],
    );
    let board = [
        ("timing.profile", "parallel"),
        ("timing.page_transfer", "10us"),
        ("device.channels", "4"),
        ("device.dies", "2"),
        ("device.planes", "2"),
    ];
    let plain = scheme("ideal_page", gibibytes, writes, &board);
    let advanced = [
        ("timing.copyback", "true"),
        ("timing.multi_plane_read", "true"),
        ("timing.multi_plane_program", "true"),
        ("timing.multi_plane_erase", "true"),
        ("timing.suspend", "program_erase"),
        ("timing.read_priority", "true"),
    ];
    let advanced = scheme("ideal_page", gibibytes, writes, &[&board[..], &advanced].concat());
    let dftl = scheme("dftl", gibibytes, writes, &[("dftl.cmt_entries", "8192")]);
    println!("bare loop / ideal_page           {:.2} (aim: at most 2)", rate / page);
    println!("ideal_page serial / parallel     {:.2}", page / parallel);
    println!("16 planes, plain / advanced      {:.2}", plain / advanced);
    println!("bare loop / dftl, 8192 entries   {:.2} (aim: at most 10)", rate / dftl);
}
