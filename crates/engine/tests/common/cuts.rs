//! Power cuts: what a host may find afterwards, and a run that is cut.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::rc::Rc;

use super::{mixed_contents, open, pages};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::config::Config;
use ftlab_engine::request::{Content, Op, Request};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::{Lpn, Nanos, Tag};

/// Logical blocks of the devices.
pub const LOGICAL_BLOCKS: u64 = 10;
/// Requests before the cut at most, and as many behind it.
const REQUESTS: usize = 90;
/// Requests from one gap to the next.
pub const GAP_EVERY: usize = 8;

/// A random mix with gaps of thirty milliseconds, so that idle work is cut too.
#[derive(Clone)]
pub struct Spread {
    requests: Rc<[Request]>,
    taken: usize,
    arrival: Nanos,
}

impl Spread {
    pub fn new(config: &Config, count: usize, seed: u64) -> Self {
        let requests = mixed_contents(config, count, seed).into();
        Spread { requests, taken: 0, arrival: 0 }
    }

    /// The next request; one in [`GAP_EVERY`] comes when the device has been idle for a while.
    pub fn take(&mut self, device: &dyn Device) -> Option<Request> {
        if self.taken.is_multiple_of(GAP_EVERY) {
            self.arrival = device.idle_from() + 30_000_000;
        }
        let next = self.requests.get(self.taken);
        self.taken += 1;
        next.map(|request| Request { arrival: self.arrival, ..*request })
    }
}

/// What a page may hold after a cut.
#[derive(Clone, Debug, Default)]
struct Page {
    /// Version of the last completed write, 0 for none or trimmed.
    newest: u32,
    /// Versions that an unflushed trim, an interrupted request or lost memory leaves possible.
    possible: Vec<u32>,
    /// Every version ever written, for schemes that may lose some.
    history: Vec<u32>,
}

/// What outlives a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Every completed write.
    Everything,
    /// What was flushed, and of what was written since any version or none of them.
    Flushed,
    /// Some version of every page, or none.
    Something,
}

/// The host's memory of what it wrote. Clones share what neither changed since.
#[derive(Clone)]
pub struct Host {
    pages: Vec<Rc<Page>>,
    keeps: Keeps,
    next_tag: u32,
    /// Version of every content, where the scheme is told of contents.
    contents: Option<BTreeMap<Content, u32>>,
    /// A trim that completed is final, because the scheme's memory keeps its content; behind
    /// buffers there are also schemes that rebuild their map from flash in any case.
    trims_stay: bool,
    sectors_per_page: u64,
}

impl Host {
    pub fn new((scheme, keeps): (&str, Keeps), config: &Config) -> Self {
        let reads_content = schemes::find(scheme).expect("a scheme of the table").0.reads_content;
        Host {
            keeps,
            contents: reads_content.then(BTreeMap::new),
            trims_stay: config.device.ram_nonvolatile && config.buffer.name.name() == "none",
            pages: vec![Rc::default(); config.device.logical_pages() as usize],
            next_tag: 0,
            sectors_per_page: config.device.unit_bytes() / 512,
        }
    }

    fn range(&self, request: &Request) -> std::ops::Range<usize> {
        let first = request.first_sector / self.sectors_per_page;
        let count = u64::from(request.sectors) / self.sectors_per_page;
        first as usize..(first + count) as usize
    }

    /// The version that a page gets which is written.
    fn version(&mut self, content: Option<Content>) -> u32 {
        let fresh = self.next_tag + 1;
        let tag = match (&mut self.contents, content) {
            (Some(contents), Some(content)) => *contents.entry(content).or_insert(fresh),
            _ => fresh,
        };
        self.next_tag = self.next_tag.max(tag);
        tag
    }

    /// The device came so far with a request that was interrupted: what would have followed was not
    /// written.
    pub fn came_to(&mut self, last: Tag) {
        self.next_tag = last.0;
        if let Some(contents) = &mut self.contents {
            contents.retain(|_, version| *version <= last.0);
        }
    }

    /// Notes a request; `completed` is false for the one that the cut interrupted.
    pub fn note(&mut self, request: &Request, completed: bool) {
        let range = self.range(request);
        match request.op {
            Op::Write => {
                for (index, number) in range.enumerate() {
                    let sector = index as u64 * self.sectors_per_page;
                    let tag = self.version(request.content.map(|all| all.from_sector(sector)));
                    let page = Rc::make_mut(&mut self.pages[number]);
                    page.history.push(tag);
                    if completed {
                        match self.keeps {
                            Keeps::Flushed => page.possible.push(page.newest),
                            Keeps::Everything | Keeps::Something => page.possible.clear(),
                        }
                        page.newest = tag;
                    } else {
                        page.possible.push(tag);
                    }
                }
            }
            Op::Trim => {
                for page in self.pages[range].iter_mut().map(Rc::make_mut) {
                    if completed {
                        page.newest = 0;
                    }
                    if completed && self.trims_stay {
                        page.possible.clear();
                        continue;
                    }
                    let earlier = page.history.clone();
                    page.possible.extend(earlier);
                    page.possible.push(0);
                }
            }
            // Trims that completed before a flush are final, and so is what memory held.
            Op::Flush if completed => {
                let all = self.keeps == Keeps::Flushed;
                for page in self.pages.iter_mut().filter(|page| all || page.newest == 0) {
                    Rc::make_mut(page).possible.clear();
                }
            }
            Op::Flush | Op::Read => {}
        }
    }

    pub fn check(&self, device: &dyn Device, case: &str) {
        for (lpn, page) in self.pages.iter().enumerate() {
            let found = match device.locate(Lpn(lpn as u32)) {
                Location::Flash(ppn) => device.board().nand().state().tag(ppn),
                Location::Ram(tag) => tag,
                Location::Nowhere => Tag(0),
            }
            .0;
            let legal = match self.keeps {
                Keeps::Something => found == 0 || page.history.contains(&found),
                _ => found == page.newest || page.possible.contains(&found),
            };
            assert!(legal, "{case}: page {lpn} holds version {found}, legal is {page:?}");
        }
    }
}

/// Where the power is cut, and where the recovery's is.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub seed: u64,
    /// Requests that are done before operations are counted.
    pub warm_up: usize,
    pub cut: u64,
    pub outcome: CutOutcome,
    pub recut: Option<u64>,
}

/// What was cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Cuts of a workload.
    pub cuts: u64,
    /// Those of them that came in a gap before a write, in what the device does by itself. Gaps
    /// before other requests are cut as well, but cannot be told from these.
    pub in_gaps: u64,
    /// Cuts of a recovery.
    pub recuts: u64,
}

impl AddAssign for Cuts {
    fn add_assign(&mut self, other: Self) {
        self.cuts += other.cuts;
        self.in_gaps += other.in_gaps;
        self.recuts += other.recuts;
    }
}

/// A device, the host's memory of it, and what the host will still ask.
pub(super) struct Bench<'a> {
    pub device: Box<dyn Device>,
    host: Host,
    requests: Spread,
    /// What failures are called.
    name: &'a str,
    /// Requests behind a cut.
    behind: usize,
    /// What was cut of it so far; duplicates begin with none.
    pub cuts: Cuts,
}

/// A device whose programs count from the start where a die is to fail after so many.
fn open_to_fail(scheme: &str, config: &Config) -> Box<dyn Device> {
    let mut device = open(scheme, config);
    if config.nand.failing_die.0.is_some() {
        device.start_measuring();
    }
    device
}

impl<'a> Bench<'a> {
    /// With `requests` before a cut at most, and as many `behind` it.
    pub fn long(
        (scheme, keeps): (&str, Keeps),
        config: &Config,
        seed: u64,
        (requests, behind): (usize, usize),
        name: &'a str,
    ) -> Self {
        let mut device = open_to_fail(scheme, config);
        device.verify_reads();
        let host = Host::new((scheme, keeps), config);
        let requests = Spread::new(config, requests + behind, seed);
        Bench { device, host, requests, name, behind, cuts: Cuts::default() }
    }

    fn new(variant: (&str, Keeps), config: &Config, case: Case, name: &'a str) -> Self {
        let requests = (case.warm_up + REQUESTS, REQUESTS);
        let mut bench = Bench::long(variant, config, case.seed, requests, name);
        for _ in 0..case.warm_up {
            assert!(!bench.is_cut_in_next_request(), "{name}: nobody asked for a cut");
        }
        bench
    }

    pub fn duplicate(&self) -> Self {
        let Bench { device, host, requests, name, behind, cuts: _ } = self;
        let (device, host, requests) = (device.duplicate(), host.clone(), requests.clone());
        Bench { device, host, requests, name, behind: *behind, cuts: Cuts::default() }
    }

    pub fn cut_after(&mut self, operations: u64, outcome: CutOutcome) {
        self.device.board_mut().nand_mut().faults_mut().cut_power_after(operations, outcome);
    }

    /// One request more; whether the power went.
    pub fn is_cut_in_next_request(&mut self) -> bool {
        let request = self.requests.take(self.device.as_ref()).expect("so many were asked for");
        let before = self.device.last_version();
        match self.device.submit(&request) {
            Ok(_) => {
                self.host.note(&request, true);
                false
            }
            Err(DeviceError::Fault(Fault::PowerCut)) => {
                self.host.note(&request, false);
                let last = self.device.last_version();
                self.host.came_to(last);
                self.cuts.cuts += 1;
                // Before anything else, a write gives its first page a version.
                let writes_anew = request.op == Op::Write && request.content.is_none();
                self.cuts.in_gaps += u64::from(writes_anew && last == before);
                true
            }
            Err(error) => panic!("{}: {error}", self.name),
        }
    }

    /// After a cut: recovers, and takes what is there for what was written. How many blocks are
    /// free.
    pub fn recover_and_adopt(&mut self) -> u32 {
        let device = self.device.as_mut();
        device.power_cycle().unwrap_or_else(|error| panic!("{}: recovery: {error}", self.name));
        self.host.adopt(device);
        device.room().free_blocks
    }

    /// After a cut: recovers, checks what is there, and goes on for as many requests as may come
    /// before a cut. Whether the recovery was cut as well.
    pub fn go_on(mut self, case: Case) -> bool {
        let line = format!(
            "{}, seed {}, {} requests, then cut at {} ({:?}), recovery cut at {:?}",
            self.name, case.seed, case.warm_up, case.cut, case.outcome, case.recut
        );
        let device = self.device.as_mut();
        let recut = recover(device, case, &line);
        if let Err(error) = device.audit() {
            panic!("{line}: after recovery: {error}");
        }
        self.host.check(device, &line);
        for _ in 0..self.behind {
            let request = self.requests.take(device).expect("so many were asked for");
            if let Err(error) = device.submit(&request) {
                panic!("{line}: after recovery: {error}");
            }
        }
        if let Err(error) = device.audit() {
            panic!("{line}: at the end: {error}");
        }
        recut
    }
}

/// Runs one case; whether its cut happened.
pub fn run(variant: (&str, Keeps), number: usize, config: &Config, case: Case) -> bool {
    let name = format!("{}, number {number}", variant.0);
    let mut bench = Bench::new(variant, config, case, &name);
    bench.cut_after(case.cut, case.outcome);
    let interrupted = (0..REQUESTS).any(|_| bench.is_cut_in_next_request());
    if interrupted {
        let _ = bench.go_on(case);
    }
    interrupted
}

/// Recovers, the first time with a cut at operation `recut` of the recovery.
fn recover(device: &mut dyn Device, case: Case, line: &str) -> bool {
    if let Some(recut) = case.recut {
        device.board_mut().nand_mut().faults_mut().cut_recovery_after(recut, case.outcome);
        match device.power_cycle() {
            Ok(_) => {
                device.board_mut().nand_mut().faults_mut().forget_cut();
                return false;
            }
            Err(DeviceError::Fault(Fault::PowerCut)) => {}
            Err(error) => panic!("{line}: recovery: {error}"),
        }
    }
    if let Err(error) = device.power_cycle() {
        panic!("{line}: recovery: {error}");
    }
    case.recut.is_some()
}

/// Which operations of a workload are cut.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    /// Each with these outcomes.
    pub outcomes: &'a [CutOutcome],
    /// Every so many; which of them are the first differs from workload to workload.
    pub every: u64,
    /// The workload must have more operations than this.
    pub least: u64,
}

/// Runs the cases of a seed. They share what comes before their cut: each begins with a duplicate
/// of the device as the last request before it left it. What was cut in all.
pub fn every_cut(
    variant: (&str, Keeps),
    number: usize,
    config: &Config,
    Points { outcomes, every, least }: Points<'_>,
) -> Cuts {
    let mut all = Cuts::default();
    let seed = 11 + number as u64;
    let name = format!("{}, number {number}", variant.0);
    for &outcome in outcomes {
        let mut case = Case { seed, warm_up: 0, cut: 0, outcome, recut: None };
        let mut bench = Bench::new(variant, config, case, &name);
        for _ in 0..REQUESTS {
            let before = case.cut;
            loop {
                let mut one = bench.duplicate();
                one.cut_after(case.cut - before, outcome);
                if !one.is_cut_in_next_request() {
                    // No operation more in this request.
                    one.device.board_mut().nand_mut().faults_mut().forget_cut();
                    bench = one;
                    break;
                }
                let here = case;
                case.cut += 1;
                if !(here.cut + number as u64).is_multiple_of(every) {
                    continue;
                }
                // Every seventh cut: the recovery is cut at each of its operations as well.
                if (here.cut / every).is_multiple_of(7) {
                    let recuts = (0..).map(|again| Case { recut: Some(again), ..here });
                    let recuts = recuts.take_while(|&again| one.duplicate().go_on(again)).count();
                    all.recuts += recuts as u64;
                }
                all += one.cuts;
                let _ = one.go_on(here);
            }
        }
        assert!(case.cut > least, "{name}: the workload hardly touched flash");
    }
    all
}

impl Host {
    /// Reads every page through the device: recovered state that would misread later is found here.
    pub fn read_all(&self, device: &mut dyn Device, config: &Config, line: &str) {
        for page in 0..self.pages.len() as u64 {
            if let Err(error) = device.submit(&pages(config, Op::Read, page, 1)) {
                panic!("{line}: {error}");
            }
        }
    }

    /// After a cut, what is there is what counts from now on.
    pub fn adopt(&mut self, device: &dyn Device) {
        for (lpn, page) in self.pages.iter_mut().enumerate() {
            let found = match device.locate(Lpn(lpn as u32)) {
                Location::Flash(ppn) => device.board().nand().state().tag(ppn).0,
                Location::Ram(tag) => tag.0,
                Location::Nowhere => 0,
            };
            let page = Rc::make_mut(page);
            page.newest = found;
            // An unflushed trim may still come back after the next cut.
            if found != 0 || self.trims_stay {
                page.possible.clear();
            }
        }
    }
}

/// Cuts the power a hundred times on one device; what one recovery leaves half done the next one
/// finds. `number` seeds the workload.
pub fn hundred_cuts((scheme, keeps): (&str, Keeps), number: usize, config: &Config) {
    let mut device = open_to_fail(scheme, config);
    device.verify_reads();
    let mut host = Host::new((scheme, keeps), config);
    let mut requests = Spread::new(config, 6000, number as u64);
    for round in 0..100u64 {
        let line = format!("{scheme}, number {number}, round {round}");
        let outcome = CutOutcome::ALL[(round % 3) as usize];
        let faults = device.board_mut().nand_mut().faults_mut();
        faults.cut_power_after(round * 7 % 61, outcome);
        while let Some(request) = requests.take(device.as_ref()) {
            match device.submit(&request) {
                Ok(_) => host.note(&request, true),
                Err(DeviceError::Fault(Fault::PowerCut)) => {
                    host.note(&request, false);
                    host.came_to(device.last_version());
                    break;
                }
                Err(error) => panic!("{line}: {error}"),
            }
        }
        if let Err(error) = device.power_cycle() {
            panic!("{line}: {error}");
        }
        device.board_mut().nand_mut().faults_mut().forget_cut();
        if let Err(error) = device.audit() {
            panic!("{line}: {error}");
        }
        host.check(device.as_ref(), &line);
        host.adopt(device.as_ref());
        host.read_all(device.as_mut(), config, &line);
    }
    let failed = device.board().nand().failed_die();
    assert_eq!(failed, config.nand.failing_die.0, "{scheme}, number {number}: the die failed");
}
