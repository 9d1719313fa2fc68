//! Host page writes per second at steady state, as ratios against a bare page map in one run.
//!
//! The bare map is what a greedy page-mapped FTL costs with neither clock nor counts: the same
//! geometry, the same threshold and frontier rules, nothing but tables. The checksum (erases and
//! programs) shows that both did the same kind of work. All write by turns, a round each, and what
//! counts is the ratio within a turn: a machine that others share changes its pace from one second
//! to the next. A round begins with writes that are not timed, which bring back what the others
//! took of the caches; who is faster would lose more of a shorter round. `FTLAB_BENCH=full` runs
//! the device of the published aim (32 GiB of 4 KiB pages; 1.4 GiB of memory), the default is an
//! eighth of it.
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
/// Writes of a round, those before them that are not timed, and how many rounds everybody has.
const WRITES: u32 = 1 << 19;
const BEFORE: u32 = WRITES / 4;
const ROUNDS: usize = 15;

/// Somebody whose writes are measured.
trait Writer {
    fn write(&mut self, page: u32);

    /// How many erases and programs that took, and what else there is to tell.
    fn checksum(&mut self) -> String;

    /// So many writes of pages below `logical`.
    fn write_some(&mut self, rng: &mut Rng, logical: u32, writes: u32) {
        (0..writes).for_each(|_| self.write(rng.below(logical)));
    }
}

impl Writer for Bare {
    fn write(&mut self, page: u32) {
        Bare::write(self, page);
    }

    fn checksum(&mut self) -> String {
        format!("{} erases, {} programs", self.erases, self.programs)
    }
}

/// A host that keeps the queue of a device full.
struct Host {
    device: Box<dyn Device>,
    driver: Driver,
    chunk: Vec<Request>,
}

impl Host {
    fn new(name: &str, config: &Config) -> Self {
        let (row, _) = schemes::find(name).expect("a scheme of the table");
        let device = (row.open)(config, 1).unwrap_or_else(|error| panic!("{error}"));
        let driver = Driver::new(config, Some(config.queue_depth()));
        Host { device, driver, chunk: Vec::with_capacity(CHUNK) }
    }

    fn submit(&mut self) {
        self.driver.submit_all(self.device.as_mut(), &mut self.chunk).expect("it works");
        self.chunk.clear();
    }
}

impl Writer for Host {
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
            self.submit();
        }
    }

    fn checksum(&mut self) -> String {
        self.submit();
        self.driver.complete_all(self.device.as_mut());
        self.device.audit().expect("the audit passes");
        let meter = self.device.board().meter();
        format!(
            "{} erases, {} programs, p50 write {} ns",
            meter.total_erases(),
            meter.total_programs(),
            meter.latency().write()[0].percentile(50.0)
        )
    }
}

/// A writer at steady state, and how many seconds each of its rounds took.
struct Contestant {
    name: &'static str,
    writer: Box<dyn Writer>,
    rng: Rng,
    logical: u32,
    seconds: Vec<f64>,
}

impl Contestant {
    /// Fills, and overwrites once to reach steady state.
    fn new(name: &'static str, mut writer: Box<dyn Writer>, logical: u32) -> Self {
        let mut rng = Rng::new(1, Purpose::Workload);
        (0..logical).for_each(|page| writer.write(page));
        writer.write_some(&mut rng, logical, logical);
        Contestant { name, writer, rng, logical, seconds: Vec::with_capacity(ROUNDS) }
    }

    fn scheme(name: &'static str, scheme: &str, config: &Config) -> Self {
        let logical = config.device.logical_pages() as u32;
        Contestant::new(name, Box::new(Host::new(scheme, config)), logical)
    }

    fn round(&mut self) {
        self.writer.write_some(&mut self.rng, self.logical, BEFORE);
        let start = Instant::now();
        self.writer.write_some(&mut self.rng, self.logical, WRITES);
        self.seconds.push(start.elapsed().as_secs_f64());
    }

    fn tell(&mut self) {
        let rate = f64::from(WRITES) / median(self.seconds.clone()) / 1e6;
        let checksum = self.writer.checksum();
        println!("  {:<22} {rate:>7.2} M pages/s   checksum {checksum}", self.name);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// How many times as long the other takes as the one: the median of all turns, the least and the
/// most, and all of them together, where a stall in a few rounds would show.
fn compare(title: &str, aim: &str, one: &Contestant, other: &Contestant) {
    let turns = one.seconds.iter().zip(&other.seconds);
    let mut ratios: Vec<f64> = turns.map(|(one, other)| other / one).collect();
    ratios.sort_by(f64::total_cmp);
    let (middle, least, most) = (ratios[ROUNDS / 2], ratios[0], ratios[ROUNDS - 1]);
    let all = other.seconds.iter().sum::<f64>() / one.seconds.iter().sum::<f64>();
    println!("{title:<31} {middle:.2} ({least:.2} to {most:.2}, together {all:.2}){aim}");
}

fn main() {
    let dftl = [("dftl.cmt_entries", "8192")];
    // One scheme alone, for profilers: FTLAB_BENCH_ONLY=dftl.
    if let Ok(name) = std::env::var("FTLAB_BENCH_ONLY") {
        let config = config(4, if name == "dftl" { &dftl } else { &[] });
        let mut alone = Contestant::scheme("alone", &name, &config);
        (0..ROUNDS).for_each(|_| alone.round());
        alone.tell();
        return;
    }
    let full = std::env::var("FTLAB_BENCH").is_ok_and(|size| size == "full");
    let gibibytes = if full { 32 } else { 4 };
    let with = |pairs: &[(&str, &str)]| config(gibibytes, pairs);
    println!("{gibibytes} GiB of 4 KiB pages, over-provisioning 0.25, uniform random writes");
    let parallel = [("timing.profile", "parallel"), ("timing.page_transfer", "10us")];
    let board = [("device.channels", "4"), ("device.dies", "2"), ("device.planes", "2")];
    let advanced = [
        ("timing.copyback", "true"),
        ("timing.multi_plane_read", "true"),
        ("timing.multi_plane_program", "true"),
        ("timing.multi_plane_erase", "true"),
        ("timing.suspend", "program_erase"),
        ("timing.read_priority", "true"),
    ];
    let on_board = [&parallel[..], &board].concat();
    let plain = with(&[]);
    let logical = plain.device.logical_pages() as u32;
    let bare = Bare::new(logical, plain.device.physical_blocks() as u32);
    let mut all = [
        Contestant::new("bare loop", Box::new(bare), logical),
        Contestant::scheme("ideal_page", "ideal_page", &plain),
        Contestant::scheme("ideal_page, parallel", "ideal_page", &with(&parallel)),
        Contestant::scheme("ideal_page, 16 planes", "ideal_page", &with(&on_board)),
        Contestant::scheme(
            "the same, advanced",
            "ideal_page",
            &with(&[&on_board[..], &advanced].concat()),
        ),
        Contestant::scheme("dftl, 8192 entries", "dftl", &with(&dftl)),
    ];
    for _ in 0..ROUNDS {
        all.iter_mut().for_each(Contestant::round);
    }
    all.iter_mut().for_each(Contestant::tell);
    let [bare, serial, parallel, plain, advanced, dftl] = &all;
    compare("bare loop / ideal_page", ", aim: at most 2", bare, serial);
    compare("ideal_page serial / parallel", "", serial, parallel);
    compare("16 planes, plain / advanced", "", plain, advanced);
    compare("bare loop / dftl, 8192 entries", ", aim: at most 10", bare, dftl);
}
