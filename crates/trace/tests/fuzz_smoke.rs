//! The fuzz targets on the stable toolchain: a seeded mutator over valid and broken lines of each
//! format, for `FTLAB_FUZZ_SECONDS` seconds (default 2) in all. `FTLAB_FUZZ_SEED` picks the seed;
//! a failure names the target, the seed and the number of the input that replay it.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ftlab_trace::fuzzing;

const CORPUS: &[&str] = &[
    "0,303567,3584,w,0.000000\n1,55590,3072,R,0.026214,extra\n",
    "0,100,0,w,0.5\n0,-1,512,r,1\n4294967296,1,1,w,0\n0,36028797018963967,4096,w,0.5\n",
    "128166385295514663,hm,0,Write,9056014336,2048,2833\n128166385295514878,hm,0,Read,1,512,1\n",
    "18446744073709551615,h,0,Read,18446744073709551615,1,1\n1,h,0,Write,0,0,0\n",
    "26.214000\t0\t303574\t1\t0\n78.643000\t0\t55596\t1\t1\n117.964000 0 303581 1 11\n",
    "26214000 0 303574 7 0\n78643005 1 55596 6 1\n938513000 4 264719034 16 0\n",
    "time_us,op,offset_bytes,size_bytes\n0,read,0,512\n1.5,w,4096,4096\n2,trim,0,512\n",
    "3,flush,0,0\n4,flush,0,1\n5,READ,512,1\n",
    "# comment\n\n5,F,,\n6,T,0,99999999999999999999\n0.000000001,r,1,1\r\n",
    "8,0 3 2 0.6 77 D W 2048 + 8 [java]\n8,0 3 4 0.8 77 D FN [a b]\nCPU3 (8,0):\n8,0 1 1 1 1 m N x\n",
    "8,0 3 4 x 77 D R 16 + 8 [j]\n8,9999999 1 1 1 1 D R 1 + 1 [x]\n8,0 3 4 0.8 7 D R 36 (12 00) [x]\n",
    "fio version 2 iolog\n/dev/x add\n/dev/x write 4096 512\n/dev/x wait 250\n/dev/x datasync\n",
    "fio version 3 iolog\n10 /dev/x open\n500 /dev/x trim 4096 512\n900 /dev/x read 0 0\n",
    "419,W,8792731648,16384,1577808000000626\n725,R,-1,4096,1577808000001337\n1,R,1,1\n",
    "1538323200,4247200,128,1,1058\n1538323199,16,8,2,1063\n1,18446744073709551615,8,0,1\n",
    "Timestamp,Response,IOType,LUN,Offset,Size\n1456063200.003,0.0007,W,2,1024,4096\n1,,,2,0,512\n",
    "89966104003343 4253 nfsd 508455080 8 W 6 0 a2d8\n1 2 x 3 4 R 4096 1048576 ff\n",
    "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n128166372003061629,h,0,Read,1,512,1\n",
    "version,time,op,size,lbn\n1,33898,2a,512,42932745\n1,33898,28,0,1\n2,33899,zz,512,1\n1,1,35,0,0\n",
    "op=read+trim,process=java+77,action=q,from=1.5s,to=2min,every=10",
    "from=18446744073h,to=0ns,every=0,op=,process=+",
    "phases:(randread:bs=4k,span=1M),x=(mix:a+b)",
    "randwrite:bs=4k,span=80%,count=2x,seed=1",
    "randrw:bssplit=4k/60:8k/40,rwmixread=70,random_distribution=zipf:0.99,rate_iops=100",
    "rw:bs=512,offset=1M,span=1M,io_size=8M,iodepth=32",
    "randread:random_distribution=hotcold:30/70,scatter=0,seq_fraction=0.25",
    "randread:rate_process=poisson,rate_iops=1.5,count=0.25x",
    "randtrim:random_distribution=pareto:0.2,count=0.5x,bs=1.5k",
    "rw:bs=4k,span=8M,streams=4,wrap=1M,passes=2,count=0.5x",
    "randread:random_distribution=zipf,scatter=64k,stack=9/50,stack_unit=blocks",
    "blend:70/(randwrite:bs=4k,span=1M)+30/(read:span=2M),addresses=own,count=9,gaps=1ms",
];

const TOKENS: &[&str] = &[
    "0",
    "-1",
    "18446744073709551615",
    "18446744073709551616",
    "9999999999999999999999",
    ".",
    "1e9",
    ",",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "#",
    "w",
    "R",
    "trim",
    "flush",
    "%",
    "x",
    "k",
    "=",
    ":",
    "100%",
    "bs=",
    "span=",
    "zipf:",
    "0.0000000000000000001",
    "NaN",
    "inf",
];

/// SplitMix64: the same inputs on every platform.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(data).and_then(|()| out.finish()).expect("compression in memory")
}

/// Two records of each binary format.
fn binary_seeds() -> Vec<Vec<u8>> {
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    // blktrace: magic, sequence, time, sector (two words each), bytes, action, pid, device, cpu,
    // rest.
    let event = [0x6561_7407, 1, 9, 0, 8, 0, 4096, 7 | 1 << 17, 77, 8 << 20, 0, 0];
    let other_order: Vec<u32> = event.iter().map(|word: &u32| word.swap_bytes()).collect();
    let blktrace = [words(&event), words(&other_order)].concat();
    // vscsi: sequence, length, entries, command and version, block, time (two words each).
    let first = words(&[7, 4096, 1, 0x0100_0028, 24, 0, 1000, 0]);
    let second = words(&[0x0200_002a, 7, 512, 1, 40, 0, 2000, 0, 5, 0]);
    // compact: header, a block of one record whose checksum is wrong, the end mark.
    let mut compact = b"FTLTRACE".to_vec();
    compact.extend(words(&[
        1,
        16384,
        1,
        0xdead_beef,
        0,
        0,
        1,
        0,
        2,
        0,
        512,
        1 << 16,
        3,
        0,
        0,
        0,
        0,
    ]));
    let mut seeds = vec![blktrace, first.repeat(2), second.repeat(2), compact];
    seeds.extend(srt_seeds());
    seeds
}

/// Records of the compact form, half a second apart: time, offset, size and operation, unit.
fn compact_records(count: u64) -> Vec<u8> {
    let record = |n: u64| {
        let longs = [n * 500_000_000, n << 12, 512 | (n % 4) << 48].map(u64::to_le_bytes);
        [&longs.concat()[..], &(n as u32 % 3).to_le_bytes()].concat()
    };
    (0..count).flat_map(record).collect()
}

/// SRT: records of every version, with and without header, and broken ones.
fn srt_seeds() -> Vec<Vec<u8>> {
    let record = |bytes: u32, id: u32, size: u32| {
        let mut words = vec![0; bytes as usize / 4];
        words[..3].copy_from_slice(&[bytes, id, 1]);
        words[6..9].copy_from_slice(&[size, 8, 0x1f01_0200]);
        words.iter().flat_map(|word: &u32| word.to_be_bytes()).collect::<Vec<u8>>()
    };
    let plain = [record(52, 1 << 16 | 1, 4096), record(60, 4 << 16 | 4, 512)].concat();
    let header = |date: &str| format!("host = \"x\";\ntracedate\t= \"{date}\";\n\x0c").into_bytes();
    let dated = [header("Thu Dec 31 23:59:59 1998"), plain.clone()].concat();
    vec![
        // Cut within the second record, and within its size.
        plain[..80].to_vec(),
        plain[..54].to_vec(),
        // A size too small, one too large, a version and a date that are not.
        [plain.clone(), record(52, 1 << 16 | 1, 512)[4..].to_vec()].concat(),
        [record(52, 1 << 16 | 1, 1000), vec![0xff; 52]].concat(),
        [record(52, 2 << 16 | 2, 512), record(64, 3 << 16 | 9, 0), vec![0, 0, 0, 4]].concat(),
        [header("Thu Feb 30 25:59:59 98"), plain.clone()].concat(),
        dated[..60].to_vec(),
        dated,
        plain,
    ]
}

/// All seeds of the corpus, plain and in every compression.
fn corpus() -> Vec<Vec<u8>> {
    let mut corpus = Vec::new();
    for plain in CORPUS.iter().map(|text| text.as_bytes().to_vec()).chain(binary_seeds()) {
        let plain = &plain[..];
        corpus.push(plain.to_vec());
        corpus.push(plain.repeat(20));
        corpus.push(gzip(plain));
        corpus.push(zstd::encode_all(plain, 1).expect("compression in memory"));
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
        corpus.push(xz.write_all(plain).and_then(|()| xz.finish()).expect("compression"));
        let mut bz = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        corpus.push(bz.write_all(plain).and_then(|()| bz.finish()).expect("compression"));
    }
    corpus
}

fn mutate(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut data = corpus[random.below(corpus.len())].clone();
    for _ in 0..random.below(6) {
        let place = random.below(data.len() + 1);
        match random.below(6) {
            0 if place < data.len() => data[place] ^= 1 << random.below(8),
            1 if place < data.len() => data[place] = random.next() as u8,
            2 => data.truncate(place),
            3 => {
                let token = TOKENS[random.below(TOKENS.len())];
                data.splice(place..place, token.bytes());
            }
            4 => {
                let end = (place + random.below(8)).min(data.len());
                data.drain(place..end);
            }
            _ => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len());
                let to = (from + random.below(64)).min(other.len());
                data.splice(place..place, other[from..to].iter().copied());
            }
        }
    }
    data
}

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 7] = [
    ("fuzz_lines", fuzzing::fuzz_lines),
    ("fuzz_trace", fuzzing::fuzz_trace),
    ("fuzz_spec", fuzzing::fuzz_spec),
    ("fuzz_filter", fuzzing::fuzz_filter),
    ("fuzz_combination", fuzzing::fuzz_combination),
    ("fuzz_compression", fuzzing::fuzz_compression),
    ("fuzz_compact", fuzzing::fuzz_compact),
];

fn number_from(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => default,
    }
}

#[test]
fn no_target_panics_on_mutated_input() {
    let seconds = number_from("FTLAB_FUZZ_SECONDS", 2);
    let seed = number_from("FTLAB_FUZZ_SEED", 1);
    let (corpus, records) = (corpus(), vec![compact_records(2), compact_records(40)]);
    let share = Duration::from_secs(seconds) / TARGETS.len() as u32;
    for (name, target) in TARGETS {
        let mut random = Random(seed);
        let start = Instant::now();
        let mut inputs = 0u64;
        while inputs < 100 || start.elapsed() < share {
            let corpus = if name == "fuzz_compact" { &records } else { &corpus };
            let mut data = mutate(&mut random, corpus);
            let choices = match name {
                "fuzz_trace" => 1,
                "fuzz_compact" => 4,
                _ => 0,
            };
            data.splice(0..0, random.next().to_le_bytes().into_iter().take(choices));
            let outcome = catch_unwind(AssertUnwindSafe(|| target(&data)));
            assert!(
                outcome.is_ok(),
                "{name}: FTLAB_FUZZ_SEED={seed}, input {inputs}: {}",
                data.escape_ascii()
            );
            inputs += 1;
        }
    }
}
