//! Schemes compared under the same requests: every flash operation, every count, the place of every
//! page and the time of every request.

use super::{mixed, open, pages, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{BlockRole, Cause, Event, Merges};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Nanos};

/// Settings as key and value.
pub type Pairs<'a> = &'a [(&'a str, &'a str)];

/// Logical blocks of the devices.
pub const BLOCKS: u64 = 24;

/// Devices under which the schemes are compared.
pub const DEVICES: &[Pairs<'_>] = &[
    &[],
    &[("device.planes", "2"), ("device.channels", "2"), ("timing.profile", "parallel")],
    &[("nand.enforce_order", "strict")],
    &[("nand.enforce_order", "ascending_gaps_ok"), ("io.partial_write", "rmw")],
    &[("wear.policy", "static"), ("wear.spread", "2")],
    &[("nand.program_failure_rate", "0.003"), ("device.over_provisioning", "4x")],
];

/// Everything that a run leaves to compare.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub operations: Vec<Operation>,
    pub reads: Vec<u64>,
    pub programs: Vec<u64>,
    pub erases: Vec<u64>,
    pub erases_by_cause: Vec<u64>,
    pub merges: Merges,
    pub events: Vec<u64>,
    pub places: Vec<Location>,
    /// How long the device took over each request.
    pub times: Vec<Nanos>,
}

/// Runs requests on a device as large as `like`.
pub fn run(
    (scheme, pairs): (&str, Pairs<'_>),
    like: &Config,
    requests: impl Fn(&Config) -> Vec<Request>,
) -> Outcome {
    let mut config = tiny(scheme, BLOCKS, pairs);
    config.device = like.device.clone();
    let mut device = open(scheme, &config);
    device.board_mut().nand_mut().record_mut().start();
    let submit = |request| device.submit(&request).expect("the device works").device();
    let times = requests(&config).into_iter().map(submit).collect();
    device.audit().expect("the device is sound");
    outcome(device.as_mut(), &config, times)
}

/// What a device leaves, with the times of its requests.
pub fn outcome(device: &mut dyn Device, config: &Config, times: Vec<Nanos>) -> Outcome {
    let operations = device.board_mut().nand_mut().record_mut().take();
    let meter = device.board().meter();
    let causes = || Cause::ALL.iter().copied();
    Outcome {
        operations,
        reads: causes().map(|cause| meter.reads(cause)).collect(),
        programs: causes().map(|cause| meter.programs(cause)).collect(),
        erases: BlockRole::ALL.iter().map(|&role| meter.erases(role)).collect(),
        erases_by_cause: causes().map(|cause| meter.erases_by_cause(cause)).collect(),
        merges: meter.merges().clone(),
        events: Event::ALL.iter().map(|&event| meter.events(event)).collect(),
        places: (0..config.device.logical_pages() as u32)
            .map(|page| device.locate(Lpn(page)))
            .collect(),
        times,
    }
}

/// Random single pages over a filled device.
pub fn random(config: &Config) -> Vec<Request> {
    let logical = config.device.logical_pages() as u32;
    let mut rng = Rng::new(5, Purpose::Workload);
    let fill = (0..logical).map(|page| pages(config, Op::Write, u64::from(page), 1));
    let mut all: Vec<Request> = fill.collect();
    all.extend((0..3000).map(|_| pages(config, Op::Write, u64::from(rng.below(logical)), 1)));
    all
}

/// Whole blocks in order, over and over, a page of a neighbour now and then.
pub fn sequential(config: &Config) -> Vec<Request> {
    let blocks = config.device.logical_pages() / 4;
    let block = |turn: u64| pages(config, Op::Write, turn % blocks * 4, 4);
    let stray = |turn: u64| pages(config, Op::Write, turn * 7 % (blocks * 4), 1);
    let turns = (0..500).flat_map(|turn| match turn % 5 {
        0 => vec![block(turn), stray(turn)],
        _ => vec![block(turn)],
    });
    turns.collect()
}

/// Writes, reads, trims and flushes.
pub fn mix(config: &Config) -> Vec<Request> {
    mixed(config, 3000, 3)
}

/// Requests of up to two blocks, half of them where the last one ended, some from the beginning of
/// a block.
pub fn streams(config: &Config) -> Vec<Request> {
    let logical = config.device.logical_pages();
    let mut rng = Rng::new(6, Purpose::Workload);
    let mut cursor = 0;
    let mut request = |_| {
        let first = match rng.below(8) {
            0..4 => cursor,
            4 => u64::from(rng.below((logical / 4) as u32)) * 4,
            _ => u64::from(rng.below(logical as u32)),
        };
        let run = (1 + u64::from(rng.below(8))).min(logical - first);
        cursor = (first + run) % logical;
        pages(config, Op::Write, first, run)
    };
    (0..1200).map(&mut request).collect()
}

/// Requests for a device.
pub type Workload = fn(&Config) -> Vec<Request>;

/// By name.
pub const WORKLOADS: [(&str, Workload); 4] =
    [("random", random), ("sequential", sequential), ("streams", streams), ("mixed", mix)];

/// Compares two schemes on every device and workload; both have as many blocks as the first asks
/// for. Events in `left_out` are not compared.
pub fn same(left: (&str, Pairs<'_>), right: (&str, Pairs<'_>), left_out: &[Event]) {
    same_on(BLOCKS, left, right, left_out);
}

/// The same on devices of so many logical blocks.
pub fn same_on(blocks: u64, left: (&str, Pairs<'_>), right: (&str, Pairs<'_>), left_out: &[Event]) {
    let mut merged = 0;
    for device in DEVICES {
        for (name, requests) in WORKLOADS {
            let outcomes = [left, right].map(|(scheme, pairs)| {
                let like = tiny(left.0, blocks, &[*device, left.1].concat());
                let mut outcome = run((scheme, &[*device, pairs].concat()), &like, requests);
                left_out.iter().for_each(|&event| outcome.events[event as usize] = 0);
                outcome
            });
            let case = format!("{left:?} and {right:?} on {device:?}, {name}");
            let [one, other] = outcomes;
            let differs = one.operations.iter().zip(&other.operations).position(|(a, b)| a != b);
            assert_eq!(differs, None, "{case}: first different operation");
            assert!(one == other, "{case}: {one:?}\n{other:?}");
            assert!(one.operations.len() > 1000, "{case}: hardly anything happened");
            merged += one.merges.full + one.merges.switch + one.merges.partial;
        }
    }
    assert!(merged > 1000, "{left:?}: {merged} merges");
}
