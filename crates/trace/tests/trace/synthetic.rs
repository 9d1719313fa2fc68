//! Inline specs: their meaning, their errors, and that a seed gives the same requests everywhere.

use std::collections::BTreeMap;

use crate::common::read_all;
use ftlab_flash::request::Op;
use ftlab_trace::{Options, Record, Synthetic, SyntheticSpec, Workload};

const CAPACITY: u64 = 1 << 30;

fn records(text: &str) -> Vec<Record> {
    read_all(text, &Options::default()).unwrap()
}

fn error(text: &str) -> String {
    match SyntheticSpec::parse(text, CAPACITY) {
        Ok(spec) => panic!("{text} is taken as {spec}"),
        Err(error) => error.to_string(),
    }
}

/// FNV-1a over every field, so that any change of the stream shows.
fn checksum(records: &[Record]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for record in records {
        for value in [record.time_ns, record.op as u64, record.offset_bytes, record.size_bytes] {
            for byte in value.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    hash
}

#[test]
fn a_seed_gives_the_same_requests_on_every_platform() {
    // A changed number means that every published result with these specs changes: say so in the
    // changelog.
    for (text, golden) in [
        ("randwrite:bs=4k,span=80%,count=1000,seed=1", GOLDEN[0]),
        ("randrw:bs=4k,count=1000,rwmixread=70,seed=2", GOLDEN[1]),
        ("randwrite:count=1000,random_distribution=zipf:0.99,scatter=1,seed=3", GOLDEN[2]),
        ("randread:count=1000,random_distribution=pareto:0.2,scatter=1,seed=4", GOLDEN[3]),
        ("randwrite:count=1000,random_distribution=hotcold:30/70,scatter=1,seed=5", GOLDEN[4]),
        ("randwrite:count=1000,rate_iops=500,rate_process=poisson,seed=6", GOLDEN[5]),
        ("randrw:bssplit=4k/60:8k/40,count=1000,seq_fraction=0.2,seed=7", GOLDEN[6]),
    ] {
        let got = checksum(&records(text));
        assert_eq!(got, golden, "{text}: 0x{got:016x}");
        assert_eq!(got, checksum(&records(text)), "{text}: not repeatable");
    }
}

const GOLDEN: [u64; 7] = [
    0x68a9_2243_c7da_e5ca,
    0x49b7_2576_714a_88f9,
    0x2c14_5fbb_f668_40f9,
    0x1cc6_d716_42fe_69ce,
    0x7909_1187_ef78_659e,
    0x23a9_c785_dc4f_3490,
    0xc250_3117_d811_cfd0,
];

#[test]
fn stacks_gaps_and_alignment_have_a_seed_too() {
    let texts = [
        "randrw:bssplit=2k/60:8k/40,blockalign=4k,count=1000,stack=10/40:100/80,seed=8",
        "randwrite:count=1000,random_distribution=zipf:0.9,scatter=1,stack=50/60,seq_fraction=0.1",
        "randread:count=1000,gaps=0.3ms/80:40ms/20,gap_run=8,seed=9",
    ];
    let got = texts.map(|text| checksum(&records(text)));
    assert_eq!(got, NEW, "0x{:016x} 0x{:016x} 0x{:016x}", got[0], got[1], got[2]);
    for text in texts {
        let spec = SyntheticSpec::parse(text, CAPACITY).unwrap();
        assert_eq!(SyntheticSpec::parse(&spec.to_string(), CAPACITY).unwrap(), spec, "{spec}");
    }
    let aligned = records("randread:bssplit=2k/60:8k/40,blockalign=4k,count=1000");
    assert!(aligned.iter().all(|record| record.offset_bytes % 4096 == 0));
}

const NEW: [u64; 3] = [0xc138_0d56_0b7e_a768, 0xb953_470d_2407_2cc9, 0x8e96_8a47_a927_5cc1];

#[test]
fn keys_of_stacks_and_gaps_that_cannot_be_are_refused() {
    for (text, part) in [
        ("randread:stack=5000/80,span=1M", "span of at least 10000"),
        ("read:stack=50/80", "with a rand mode"),
        ("read:blockalign=4k", "with a rand mode"),
        ("randread:blockalign=1000", "multiple of 512"),
        ("randread:gaps=1ms,iodepth=4", "without gaps"),
        ("randread:gaps=1ms/50:2ms/40", "adding up to 100"),
        ("randread:gaps=1", "MEAN"),
        ("randread:gap_run=4,rate_iops=10", "with gaps"),
    ] {
        assert!(error(text).contains(part), "{text}: {}", error(text));
    }
}

#[test]
fn another_seed_gives_other_requests() {
    let one = checksum(&records("randwrite:count=100,seed=1"));
    let two = checksum(&records("randwrite:count=100,seed=2"));
    assert_ne!(one, two);
    assert_eq!(one, checksum(&records("randwrite:count=100")), "the default seed is 1");
}

#[test]
fn span_offset_and_count_bound_the_requests() {
    let all = records("randwrite:bs=8k,offset=25%,span=50%,count=2x");
    assert_eq!(all.len() as u64, 2 * (CAPACITY / 2) / 8192);
    let (low, high) = (CAPACITY / 4, CAPACITY / 4 * 3);
    assert!(all.iter().all(|r| r.offset_bytes >= low && r.end_bytes() <= high));
    assert!(all.iter().all(|r| r.offset_bytes % 8192 == 0 && r.op == Op::Write));
    assert_eq!(records("read:bs=1M,io_size=10M").len(), 10);
    assert_eq!(records("write:bs=1M,span=100M,count=0.5x").len(), 50);
    assert_eq!(records("write:bs=1M,count=7").len(), 7);
}

#[test]
fn sequential_modes_run_through_the_span_and_wrap_each_direction_by_itself() {
    let offsets: Vec<u64> =
        records("write:bs=4k,span=12k,count=5").iter().map(|r| r.offset_bytes / 4096).collect();
    assert_eq!(offsets, [0, 1, 2, 0, 1]);
    let mixed = records("rw:bs=4k,span=1M,count=200,rwmixread=50");
    for op in [Op::Read, Op::Write] {
        let own: Vec<u64> =
            mixed.iter().filter(|r| r.op == op).map(|r| r.offset_bytes / 4096).collect();
        assert!(own.len() > 50);
        assert!(own.iter().enumerate().all(|(index, &block)| block == index as u64 % 256));
    }
    assert!(records("trim:bs=4k,count=3").iter().all(|r| r.op == Op::Trim));
}

#[test]
fn mixes_sizes_and_sequential_shares_have_their_proportions() {
    let all =
        records("randrw:bssplit=4k/60:8k/40,rwmixread=70,seq_fraction=0.25,span=512M,count=100000");
    let share = |count: usize| count as f64 / all.len() as f64;
    let reads = share(all.iter().filter(|r| r.op == Op::Read).count());
    let small = share(all.iter().filter(|r| r.size_bytes == 4096).count());
    let pairs = all.windows(2).filter(|pair| pair[1].offset_bytes == pair[0].end_bytes()).count();
    assert!((reads - 0.7).abs() < 0.01, "{reads}");
    assert!((small - 0.6).abs() < 0.01, "{small}");
    assert!((share(pairs) - 0.25).abs() < 0.01, "{}", share(pairs));
}

/// Requests per block, most first.
fn hottest(text: &str) -> Vec<(u64, u64)> {
    let mut blocks = BTreeMap::new();
    for record in records(text) {
        *blocks.entry(record.offset_bytes / 4096).or_insert(0u64) += 1;
    }
    let mut counts: Vec<(u64, u64)> = blocks.into_iter().map(|(block, n)| (n, block)).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

#[test]
fn zipf_favours_few_blocks_which_lie_together_unless_they_are_scattered() {
    let span = "bs=4k,span=40M,count=200000";
    let scattered = hottest(&format!("randwrite:{span},random_distribution=zipf:1.2,scatter=1"));
    let total: f64 = (1..=10_240).map(|k| 1.0 / f64::from(k).powf(1.2)).sum();
    let first = scattered[0].0 as f64 / 200_000.0;
    assert!((first - 1.0 / total).abs() < 0.005, "{first} instead of {}", 1.0 / total);
    let hot: Vec<u64> = scattered[..10].iter().map(|(_, block)| *block).collect();
    assert!(hot.iter().any(|block| *block > 1000), "{hot:?}");
    let together = hottest(&format!("randwrite:{span},random_distribution=zipf:1.2"));
    assert_eq!(together[0].1, 0);
    assert!(together[..5].iter().all(|(_, block)| *block < 8));
    // Extents of 128 KiB: the hottest 32 blocks are the first extent, wherever it went.
    let extents = hottest(&format!("randwrite:{span},random_distribution=zipf:1.2,scatter=128k"));
    let first = extents[0].1;
    assert!(first >= 32 && first.is_multiple_of(32), "{first}");
    assert!(extents[..5].iter().all(|(_, block)| (first..first + 8).contains(block)));
}

#[test]
fn hotcold_sends_its_share_to_its_space() {
    let text = "randwrite:bs=4k,span=40M,count=200000,random_distribution=hotcold:30/70,scatter=0";
    let hot = records(text).iter().filter(|r| r.offset_bytes < 12 << 20).count();
    assert!((hot as f64 / 200_000.0 - 0.7).abs() < 0.005, "{hot}");
}

#[test]
fn open_loops_keep_their_rate_and_closed_loops_say_their_depth() {
    let times: Vec<u64> =
        records("randread:rate_iops=3,count=4").iter().map(|r| r.time_ns).collect();
    assert_eq!(times, [0, 333_333_333, 666_666_666, 1_000_000_000]);
    let poisson = records("randread:rate_iops=1000,rate_process=poisson,count=100000");
    let mean = poisson.last().unwrap().time_ns as f64 / 99_999.0;
    assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean} ns");
    let late = poisson.windows(2).filter(|p| p[1].time_ns - p[0].time_ns > 1_000_000).count();
    let share = late as f64 / 99_999.0;
    assert!((share - (-1.0f64).exp()).abs() < 0.01, "{share}: gaps are not exponential");
    let options = Options::default();
    let closed = Workload::parse("randread:iodepth=32,count=1", &options, CAPACITY).unwrap();
    assert_eq!(closed.closed_loop_depth(), Some(32));
    let open = Workload::parse("randread:rate_iops=3,count=1", &options, CAPACITY).unwrap();
    assert_eq!(open.closed_loop_depth(), None);
}

#[test]
fn the_description_names_the_canonical_spec_and_its_digest() {
    let options = Options::default();
    let short = Workload::parse("randwrite:bs=4k,span=50%", &options, CAPACITY).unwrap();
    let long = Workload::parse("randwrite:seed=1,span=512M,bs=4096", &options, CAPACITY).unwrap();
    let (short, long) = (short.describe().unwrap(), long.describe().unwrap());
    assert!(short.synthetic && short.format == "synthetic");
    assert_eq!(short.sha256, long.sha256);
    assert_eq!(
        short.canonical_spec.unwrap(),
        "randwrite:bs=4096,span=536870912,offset=0,count=131072,random_distribution=random,\
         iodepth=1,seed=1"
    );
}

#[test]
fn the_canonical_form_means_the_same() {
    for text in [
        "randrw:bssplit=4k/60:8k/40,rwmixread=12.5,rate_iops=7.5,rate_process=poisson,seed=9",
        "randtrim:random_distribution=hotcold:12.5%/99.9%,scatter=0,seq_fraction=0.125",
        "rw:offset=10%,span=20%,count=3x,iodepth=8",
        "randread:random_distribution=zipf,io_size=1G",
        "randread:random_distribution=zipf,scatter=1",
        "randread:random_distribution=zipf,scatter=128k,stack=9/50,stack_unit=blocks",
        "write:span=64M,streams=7",
        "rw:span=64M,wrap=1M,streams=3,passes=5",
        "blend:30/(randwrite:bs=4k,span=50%,scatter=64k,random_distribution=zipf)+70/(write:wrap=8M)",
        "blend:25/(read:span=8M)+75/randread:span=16M,addresses=own,count=2x,gaps=1ms,seed=5",
    ] {
        let spec = Synthetic::parse(text, CAPACITY).unwrap();
        assert_eq!(Synthetic::parse(&spec.to_string(), 0).unwrap(), spec, "{text}");
    }
}

#[test]
fn illegal_specs_say_what_is_legal() {
    for (text, part) in [
        ("randwrite:spann=1G", "did you mean 'span'"),
        ("randwrite:blocksize=4k", "unknown key"),
        ("randwrite:bs", "has no value"),
        ("randwrite:bs=4k,bs=8k", "given twice"),
        ("randwrite:bs=1000", "multiple of 512"),
        ("randwrite:bs=0", "multiple of 512"),
        ("randwrite:bs=4k,bssplit=4k/100", "exclude each other"),
        ("randwrite:bssplit=4k/50:8k/40", "does not add up"),
        ("randwrite:span=2G", "beyond the device"),
        ("randwrite:span=101%", "not a share"),
        ("randwrite:offset=100%", "offset is illegal"),
        ("randwrite:span=2k", "holds not one block"),
        ("randwrite:count=0", "count is out of range"),
        ("randwrite:count=-1x", "count is negative"),
        ("randwrite:rwmixread=50", "has no effect"),
        ("write:random_distribution=zipf:1", "has no effect"),
        ("randwrite:scatter=0", "has no effect"),
        ("randread:random_distribution=zipf,scatter=6k", "multiple of 4096 bytes, up to the span"),
        ("randread:random_distribution=zipf,scatter=2G", "multiple of 4096 bytes, up to the span"),
        ("randwrite:streams=2", "with read, write, trim or rw"),
        ("write:streams=0", "at least 1"),
        ("write:span=1M,streams=500", "streams are illegal"),
        ("write:wrap=1000", "multiple of 4096 bytes from 4096"),
        ("write:streams=4,wrap=512M", "to 268435456"),
        ("write:passes=3", "with wrap"),
        ("randread:stack_unit=blocks", "with stack"),
        ("randread:stack=9/50,stack_unit=pages", "legal: requests, blocks"),
        ("randrw:rwmixread=101", "percentage from 0 to 100"),
        ("randwrite:random_distribution=zipf:0", "above 0"),
        ("randwrite:random_distribution=zipf:NaN", "above 0"),
        ("randwrite:random_distribution=pareto:1", "below 1"),
        ("randwrite:random_distribution=zipff:1", "did you mean"),
        ("randwrite:random_distribution=hotcold:30", "hotcold:SPACE%/ACCESS%"),
        ("randwrite:rate_iops=0", "rate_iops is illegal"),
        ("randwrite:rate_iops=10,iodepth=4", "has no effect"),
        ("randwrite:rate_process=poisson", "has no effect"),
        ("randwrite:iodepth=0", "at least 1"),
        ("randwrite:seed=x", "seed is illegal"),
        ("randwrit:bs=4k", "did you mean 'randwrite'"),
    ] {
        let message = error(text);
        assert!(message.contains(part), "{text}: {message}");
    }
    let unknown = SyntheticSpec::parse("randwrite:bs=4k", 0).unwrap_err().to_string();
    assert!(unknown.contains("capacity that is not known"), "{unknown}");
}
