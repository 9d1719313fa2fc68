//! The simulator against closed forms: write amplification of FIFO and greedy cleaning under
//! uniform random writes, a naive model under skew, unloaded latency, peak bandwidth.

use crate::common::{config, open, pages, size};
use ftlab_engine::config::Config;
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};

const PAGES_PER_BLOCK: u32 = 64;
/// Free blocks at which `ideal_page` collects: three stay free while the fourth is written.
const THRESHOLD: u32 = 4;

/// A device of one plane with `logical` pages and `blocks` blocks.
fn device(logical: u32, blocks: u32, pairs: &[(&str, &str)]) -> Config {
    let mut config = config(pairs);
    let bytes = u64::from(logical) * config.device.page_bytes.0;
    config.device.set_capacity(bytes, 0);
    config.device.blocks_per_plane = blocks;
    config
}

/// Fills the device, writes `warm` random pages, then `count` measured ones; returns programs per
/// host write.
fn write_amplification(
    config: &Config,
    warm: u32,
    count: u32,
    mut next: impl FnMut(&mut Rng) -> u32,
) -> f64 {
    let mut device = open("ideal_page", config);
    let mut rng = Rng::new(3, Purpose::Workload);
    let logical = config.device.logical_pages() as u32;
    let write = |device: &mut Box<dyn ftlab_engine::ssd::Device>, page: u32| {
        device.submit(&pages(config, Op::Write, u64::from(page), 1)).expect("the device works");
    };
    (0..logical).for_each(|page| write(&mut device, page));
    (0..warm).for_each(|_| write(&mut device, next(&mut rng)));
    device.start_measuring();
    (0..count).for_each(|_| write(&mut device, next(&mut rng)));
    device.audit().expect("the audit passes");
    device.board().meter().total_programs() as f64 / f64::from(count)
}

/// Principal branch of Lambert's W for -1/e <= x < 0, by bisection of w * exp(w) = x.
fn lambert_w(x: f64) -> f64 {
    let (mut low, mut high) = (-1.0f64, 0.0f64);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if middle * middle.exp() < x {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Write amplification of FIFO cleaning under uniform random writes: a / (a + W(-a e^-a)).
fn fifo_closed_form(a: f64) -> f64 {
    a / (a + lambert_w(-a * (-a).exp()))
}

#[test]
fn fifo_meets_the_closed_form_and_greedy_stays_just_below() {
    for utilisation in [1.5, 1.25] {
        let logical = 1 << 18;
        let blocks = (f64::from(logical) * utilisation / f64::from(PAGES_PER_BLOCK)) as u32;
        // Held free: the blocks below the threshold, and half of the block being written.
        let held = (THRESHOLD - 1) * PAGES_PER_BLOCK + PAGES_PER_BLOCK / 2;
        let a = f64::from(blocks * PAGES_PER_BLOCK - held) / f64::from(logical);
        let expected = fifo_closed_form(a);
        let run = |victim| {
            let config = device(logical, blocks, &[("gc.victim", victim)]);
            write_amplification(&config, 4 * logical, 8 * logical, |rng| rng.below(logical))
        };
        let fifo = run("fifo");
        let error = fifo / expected - 1.0;
        println!("a = {a:.4}: FIFO {fifo:.4}, closed form {expected:.4} ({:+.2} %)", error * 100.0);
        assert!(error.abs() < 0.005, "FIFO {fifo} differs from {expected} by {error}");
        let greedy = run("greedy");
        let below = 1.0 - greedy / expected;
        println!("a = {a:.4}: greedy {greedy:.4}, {:.2} % below", below * 100.0);
        assert!((0.01..0.04).contains(&below), "greedy {greedy} is {below} below {expected}");
    }
}

/// Write amplification of FIFO cleaning of one log, of which share `r` of the writes goes uniformly
/// to share `f` of the pages: a page survives a turn of the log if nobody writes it meanwhile.
/// Every page is moved once a turn that it survives, so that A = r / (1 - exp(-r a / f A)) + the
/// same of the others; by iteration.
fn two_temperatures(a: f64, f: f64, r: f64) -> f64 {
    let part = |share: f64, pages: f64, w: f64| share / (1.0 - (-share * a / (pages * w)).exp());
    (0..10_000).fold(1.5, |w, _| part(r, f, w) + part(1.0 - r, 1.0 - f, w))
}

/// The form against the numbers that it was published with, and the device against the form; two
/// classes change nothing, since one queue empties all blocks in the order in which they were
/// filled, whatever is in them.
#[test]
fn a_mixed_log_meets_its_closed_form_and_two_classes_in_one_queue_change_nothing() {
    for (a, f, r, printed) in
        [(1.15, 0.2, 0.8, 4.370), (1.25, 0.1, 0.9, 3.533), (1.5, 0.05, 0.95, 2.66)]
    {
        let form = two_temperatures(a, f, r);
        assert!((form / printed - 1.0).abs() < 0.001, "{form} where {printed} is printed");
    }
    let logical = 1u32 << 17;
    for (utilisation, per_mille) in [(1.25, 200), (1.5, 100)] {
        let blocks = (f64::from(logical) * utilisation / f64::from(PAGES_PER_BLOCK)) as u32;
        let hot = logical / 1000 * per_mille;
        let skewed = |rng: &mut Rng| match rng.below(1000) >= per_mille {
            true => rng.below(hot),
            false => hot + rng.below(logical - hot),
        };
        let run = |placement, open: f64| {
            let held =
                f64::from((THRESHOLD - 1) * PAGES_PER_BLOCK) + open * f64::from(PAGES_PER_BLOCK);
            let a = (f64::from(blocks * PAGES_PER_BLOCK) - held) / f64::from(logical);
            let pairs = [("gc.victim", "fifo"), ("gc.placement", placement)];
            let config = device(logical, blocks, &pairs);
            let measured = write_amplification(&config, 8 * logical, 12 * logical, skewed);
            let f = f64::from(hot) / f64::from(logical);
            let form = two_temperatures(a, f, 1.0 - f64::from(per_mille) / 1000.0);
            println!("a = {a:.4}, {placement}: {measured:.4}, closed form {form:.4}");
            assert!((measured / form - 1.0).abs() < 0.01, "{placement}: {measured}, form {form}");
            measured
        };
        let (mixed, divided) = (run("none", 0.5), run("sep_gc", 1.0));
        assert!((divided / mixed - 1.0).abs() < 0.005, "{mixed} in one class, {divided} in two");
    }
}

/// A page map with greedy cleaning in the plainest form: the same geometry, free-block rule and
/// frontiers, a scan of all blocks per victim.
pub struct Naive {
    map: Vec<Option<u32>>,
    holds: Vec<Option<u32>>,
    valid: Vec<u32>,
    changed: Vec<u64>,
    closed: Vec<bool>,
    /// Frontier that filled each block.
    filled_by: Vec<usize>,
    free: Vec<u32>,
    /// Block and next offset of every frontier.
    frontiers: Vec<Option<(u32, u32)>>,
    /// Frontier of moved pages; none: that of the block which they leave.
    moved_to: Option<usize>,
    step: u64,
    /// Pages programmed.
    pub programs: u64,
}

impl Naive {
    /// An empty one with so many frontiers.
    pub fn new(logical: u32, blocks: u32, frontiers: usize, moved_to: Option<usize>) -> Self {
        Naive {
            map: vec![None; logical as usize],
            holds: vec![None; (blocks * PAGES_PER_BLOCK) as usize],
            valid: vec![0; blocks as usize],
            changed: vec![0; blocks as usize],
            closed: vec![false; blocks as usize],
            filled_by: vec![0; blocks as usize],
            free: (0..blocks).rev().collect(),
            frontiers: vec![None; frontiers],
            moved_to,
            step: 0,
            programs: 0,
        }
    }

    fn close_if_full(&mut self, which: usize) {
        if let Some((block, PAGES_PER_BLOCK)) = self.frontiers[which] {
            self.step += 1;
            self.changed[block as usize] = self.step;
            self.closed[block as usize] = true;
            self.frontiers[which] = None;
        }
    }

    fn append(&mut self, which: usize, lpn: u32) {
        self.close_if_full(which);
        let (block, offset) =
            self.frontiers[which].unwrap_or_else(|| (self.free.pop().expect("reserve"), 0));
        let page = block * PAGES_PER_BLOCK + offset;
        self.frontiers[which] = Some((block, offset + 1));
        self.filled_by[block as usize] = which;
        self.holds[page as usize] = Some(lpn);
        self.valid[block as usize] += 1;
        self.programs += 1;
        if let Some(old) = self.map[lpn as usize].replace(page) {
            self.holds[old as usize] = None;
            self.valid[(old / PAGES_PER_BLOCK) as usize] -= 1;
            self.step += 1;
            self.changed[(old / PAGES_PER_BLOCK) as usize] = self.step;
        }
    }

    /// The host writes a page to a frontier.
    pub fn write(&mut self, which: usize, lpn: u32) {
        self.close_if_full(which);
        let due = self.frontiers[which].is_none();
        if due && (self.free.len() as u32) < THRESHOLD {
            // Every full block is a candidate where something is collected.
            (0..self.frontiers.len()).for_each(|frontier| self.close_if_full(frontier));
        }
        while due && (self.free.len() as u32) < THRESHOLD {
            let victim = (0..self.valid.len())
                .filter(|&block| self.closed[block])
                .min_by_key(|&block| (self.valid[block], self.changed[block]))
                .expect("a candidate");
            self.closed[victim] = false;
            let first = victim as u32 * PAGES_PER_BLOCK;
            let target = self.moved_to.unwrap_or(self.filled_by[victim]);
            for page in first..first + PAGES_PER_BLOCK {
                if let Some(lpn) = self.holds[page as usize] {
                    self.append(target, lpn);
                }
            }
            self.free.insert(0, victim as u32);
        }
        self.append(which, lpn);
    }
}

#[test]
fn skewed_writes_match_a_naive_model_with_shared_and_with_separate_frontiers() {
    let logical = 1u32 << 15;
    let blocks = (f64::from(logical) * 1.25 / f64::from(PAGES_PER_BLOCK)) as u32;
    // 70 % of the writes go to 30 % of the pages.
    let skewed = |rng: &mut Rng| {
        let hot = logical * 3 / 10;
        if rng.below(10) < 7 { rng.below(hot) } else { hot + rng.below(logical - hot) }
    };
    let mut results = Vec::new();
    for separate in ["false", "true"] {
        let config = device(logical, blocks, &[("gc.separate_frontiers", separate)]);
        let ours = write_amplification(&config, 10 * logical, 40 * logical, skewed);
        let mut naive = Naive::new(logical, blocks, 2, Some(usize::from(separate == "true")));
        let mut rng = Rng::new(3, Purpose::Workload);
        (0..logical).for_each(|page| naive.write(0, page));
        (0..10 * logical).for_each(|_| naive.write(0, skewed(&mut rng)));
        let before = naive.programs;
        (0..40 * logical).for_each(|_| naive.write(0, skewed(&mut rng)));
        let model = (naive.programs - before) as f64 / f64::from(40 * logical);
        let error = ours / model - 1.0;
        println!("separate {separate}: {ours:.4} against {model:.4} ({:+.3} %)", error * 100.0);
        assert!(error.abs() < 0.002, "write amplification {ours} differs from the model's {model}");
        results.push(ours);
    }
    assert_ne!(results[0], results[1], "the frontiers must make a difference");
}

/// SSDsim's device: 4 channels of 4 dies of 4 planes.
fn parallel(pairs: &[(&str, &str)]) -> Config {
    let mut config = config(&[
        ("device.channels", "4"),
        ("device.dies", "4"),
        ("device.planes", "4"),
        ("timing.profile", "parallel"),
        ("timing.plane_parallel", "true"),
        ("timing.read", "20us"),
        ("timing.program", "200us"),
        ("timing.page_transfer", "52.8us"),
    ]);
    for (key, value) in pairs {
        config.set(key, value).expect("legal settings");
    }
    size("ideal_page", &mut config, 1024);
    config
}

#[test]
fn unloaded_latency_is_the_sum_of_cell_and_transfer() {
    let config = parallel(&[]);
    let mut device = open("ideal_page", &config);
    let write = device.submit(&pages(&config, Op::Write, 5, 1)).expect("works");
    assert_eq!(write.device(), 200_000 + 52_800);
    let mut read = pages(&config, Op::Read, 5, 1);
    read.arrival = 10_000_000;
    let read = device.submit(&read).expect("works");
    // HAT 2010: a page read takes 72.8 us.
    assert_eq!(read.device(), 72_800);
}

#[test]
fn two_pages_on_two_channels_take_no_longer_than_one_and_on_one_channel_share_it() {
    let config = parallel(&[]);
    let mut device = open("ideal_page", &config);
    // Channel first: pages 0 and 1 lie on two channels, 0 and 4 on two dies of one channel.
    let two_channels = device.submit(&pages(&config, Op::Write, 0, 2)).expect("works");
    assert_eq!(two_channels.device(), 252_800);
    let mut five = pages(&config, Op::Write, 0, 5);
    five.arrival = 10_000_000;
    let five = device.submit(&five).expect("works");
    assert_eq!(five.device(), 252_800 + 52_800, "the fifth page waits for the channel");
}

#[test]
fn reads_saturate_the_channels_at_their_bandwidth() {
    let config = parallel(&[("host.queue_depth", "256")]);
    let mut device = open("ideal_page", &config);
    let count = 20_000u64;
    for page in 0..4096 {
        let mut write = pages(&config, Op::Write, page, 1);
        write.arrival = device.next_slot();
        device.submit(&write).expect("works");
    }
    device.start_measuring();
    let mut rng = Rng::new(9, Purpose::Workload);
    let mut last = 0;
    for _ in 0..count {
        let mut read = pages(&config, Op::Read, u64::from(rng.below(4096)), 1);
        read.arrival = device.next_slot();
        last = last.max(device.submit(&read).expect("works").completed);
    }
    // Four channels, one page each 52.8 us.
    let ideal = count as f64 / 4.0 * 52_800.0;
    let share = ideal / last as f64;
    println!("channels busy {:.1} % of the time", share * 100.0);
    assert!((0.97..=1.0).contains(&share), "channels are busy {share} of the time");
}

/// What flash demands across requests: data is not read before it is programmed, whichever request
/// is booked into which gap.
#[test]
fn a_page_is_read_after_its_program_and_a_block_programmed_after_its_erase() {
    for scheme in ["ideal_page", "dftl"] {
        let mut config = parallel(&[]);
        size(scheme, &mut config, 1024);
        let mut device = open(scheme, &config);
        let write = device.submit(&pages(&config, Op::Write, 5, 1)).expect("works");
        let read = device.submit(&pages(&config, Op::Read, 5, 1)).expect("works");
        assert!(
            read.completed >= write.completed + 72_800,
            "{scheme}: read at {} of a page written at {}",
            read.completed,
            write.completed
        );
    }
    // Writes of one page each fill log and data blocks in order: none overtakes the one before it
    // in its block, and none its block's erase.
    let mut config = parallel(&[]);
    size("fast", &mut config, 256);
    let mut device = open("fast", &config);
    let mut rng = Rng::new(5, Purpose::Workload);
    let mut done_by_block = std::collections::BTreeMap::new();
    let logical = config.device.logical_pages() as u32;
    for round in 0..60_000u64 {
        let page = if round < u64::from(logical) { round as u32 } else { rng.below(logical) };
        let mut write = pages(&config, Op::Write, u64::from(page), 1);
        write.arrival = device.next_slot();
        let done = device.submit(&write).expect("works").completed;
        let ftlab_engine::schemes::Location::Flash(ppn) =
            device.locate(ftlab_engine::units::Lpn(page))
        else {
            panic!("page {page} was just written");
        };
        let block = device.board().geometry().block_of(ppn).0;
        let before = done_by_block.insert(block, done).unwrap_or(0);
        assert!(
            before < done,
            "a write to block {block} ends at {done}, an earlier one at {before}"
        );
    }
    assert!(device.board().meter().total_erases() > 1000, "blocks were reused");
}
