//! The fuzz target on the stable toolchain: a seeded mutator over conversations, for
//! `FTLAB_FUZZ_SECONDS` seconds (default 2). `FTLAB_FUZZ_SEED` picks the seed; a failure names the
//! seed and the number of the input that replay it.

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use ftlab_nbd::fuzzing::{SIZE, fuzz_conversation};

/// xorshift64*: small, seeded, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

fn option(bytes: &mut Vec<u8>, number: u32, data: &[u8]) {
    bytes.extend(b"IHAVEOPT");
    bytes.extend(number.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
}

/// A client that knows the protocol, with options and requests of any kind.
fn conversation(random: &mut Random) -> Vec<u8> {
    let mut bytes = 3u32.to_be_bytes().to_vec();
    for _ in 0..random.below(4) {
        let context = b"\0\0\0\0\0\0\0\x01\0\0\0\x0fbase:allocation";
        match random.below(5) {
            0 => option(&mut bytes, 8, &[]),
            1 => option(&mut bytes, 10, context),
            2 => option(&mut bytes, 3, &[]),
            3 => option(&mut bytes, 6, b"\0\0\0\0\0\x01\0\x03"),
            _ => option(&mut bytes, random.below(12) as u32, b"some data"),
        }
    }
    match random.below(2) {
        0 => option(&mut bytes, 1, &[]),
        _ => option(&mut bytes, 7, &[0; 6]),
    }
    for _ in 0..random.below(12) {
        let command = random.below(9) as u16;
        let length = random.below(5000) as u32;
        bytes.extend(0x2560_9513u32.to_be_bytes());
        bytes.extend((random.below(64) as u16).to_be_bytes());
        bytes.extend(command.to_be_bytes());
        bytes.extend(random.next().to_be_bytes());
        bytes.extend(random.below(SIZE as u64 + 100).to_be_bytes());
        bytes.extend(length.to_be_bytes());
        if command == 1 {
            bytes.extend((0..length).map(|at| at as u8));
        }
    }
    bytes
}

fn mutated(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..random.below(5) {
        let at = random.below(bytes.len() as u64) as usize;
        match random.below(5) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = 0xFF,
            2 => bytes.truncate(at + 1),
            3 => drop(bytes.remove(at)),
            _ => bytes.insert(at, random.next() as u8),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
    bytes
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_conversation_panics_or_is_answered_without_end() {
    let (seed, seconds) = (number("FTLAB_FUZZ_SEED", 1), number("FTLAB_FUZZ_SECONDS", 2));
    let begun = Instant::now();
    let mut inputs = 0u64;
    while begun.elapsed() < Duration::from_secs(seconds) {
        let mut random = Random((seed << 32 | inputs) + 1);
        for _ in 0..4 {
            random.next();
        }
        let whole = conversation(&mut random);
        let bytes = mutated(whole, &mut random);
        assert!(
            catch_unwind(|| fuzz_conversation(&bytes)).is_ok(),
            "FTLAB_FUZZ_SEED={seed}, input {inputs}"
        );
        inputs += 1;
    }
    assert!(inputs > 100, "only {inputs} conversations in {seconds} s");
}
