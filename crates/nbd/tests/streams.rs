//! Whole conversations in memory: a good client against a model, and everything malformed.

use std::io::{self, Cursor, Read};
use std::sync::Mutex;

use ftlab_nbd::{Abilities, Error, Export, serve};

const SIZE: usize = 1 << 16;

/// Bytes, whether they may not be written, and whether some zeroing is fast.
struct Memory(Mutex<Vec<u8>>, bool, bool);

impl Export for Memory {
    fn size(&self) -> u64 {
        SIZE as u64
    }
    fn abilities(&self) -> Abilities {
        Abilities { read_only: self.1, trim: true, fast_zero: self.2, multi_connection: true }
    }
    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.copy_from_slice(&self.0.lock().unwrap()[offset as usize..][..bytes.len()]);
        Ok(())
    }
    fn write(&self, offset: u64, bytes: &[u8], _fua: bool) -> Result<(), Error> {
        self.0.lock().unwrap()[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
    fn flush(&self) -> Result<(), Error> {
        Ok(())
    }
    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), Error> {
        self.zero(offset, length, true, fua)
    }
    fn zeroes_fast(&self, _offset: u64, length: u64, may_trim: bool) -> bool {
        may_trim && length >= 512
    }
    fn zero(&self, offset: u64, length: u64, _trim: bool, _fua: bool) -> Result<(), Error> {
        self.0.lock().unwrap()[offset as usize..][..length as usize].fill(0);
        Ok(())
    }
}

fn memory(read_only: bool) -> Memory {
    Memory(Mutex::new(vec![0; SIZE]), read_only, false)
}

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let head = [&0x4948_4156_454f_5054_u64.to_be_bytes()[..], &number.to_be_bytes()];
    [&head.concat()[..], &(data.len() as u32).to_be_bytes(), data].concat()
}

/// A handshake; its answer is `18 + 152` bytes simple, `20` for structured replies more.
fn hello(structured: bool) -> Vec<u8> {
    let mut bytes = 3_u32.to_be_bytes().to_vec();
    if structured {
        bytes.extend(option(8, &[]));
    }
    bytes.extend(option(1, &[]));
    bytes
}

fn request(flags: u16, command: u16, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(command.to_be_bytes());
    bytes.extend(7_u64.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}

/// The replies after the handshake.
fn talk(export: &Memory, structured: bool, requests: &[u8]) -> Vec<u8> {
    let (mut out, sent) = (Vec::new(), [hello(structured), requests.to_vec()].concat());
    serve(Cursor::new(sent), &mut out, export).expect("a proper conversation");
    out.split_off(18 + 10 + if structured { 20 } else { 0 })
}

fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

#[test]
fn random_operations_agree_with_a_vector() {
    for structured in [false, true] {
        let (mut seed, mut model) = (0x1234_5678_9abc_u64, vec![0_u8; SIZE]);
        let (export, mut sent, mut wanted) = (memory(false), Vec::new(), Vec::new());
        for _ in 0..2000 {
            let offset = (next(&mut seed) % 60_000) as usize;
            let length = 1 + (next(&mut seed) % 5000) as usize;
            let command = [0, 1, 4, 6, 3][(next(&mut seed) % 5) as usize];
            let (at, long) = if command == 3 { (0, 0) } else { (offset, length) };
            sent.extend(request(0, command, at as u64, long as u32));
            match command {
                1 => {
                    let data: Vec<u8> = (0..length).map(|_| next(&mut seed) as u8).collect();
                    model[offset..][..length].copy_from_slice(&data);
                    sent.extend(data);
                }
                4 | 6 => model[offset..][..length].fill(0),
                _ => {}
            }
            if structured {
                wanted.extend(0x668e_33ef_u32.to_be_bytes());
                wanted.extend(if command == 0 { [0, 1, 0, 1] } else { [0, 1, 0, 0] });
                wanted.extend(7_u64.to_be_bytes());
                wanted.extend(if command == 0 { 8 + length as u32 } else { 0 }.to_be_bytes());
            } else {
                wanted.extend(0x6744_6698_u32.to_be_bytes());
                wanted.extend([0; 4]);
                wanted.extend(7_u64.to_be_bytes());
            }
            if command == 0 {
                if structured {
                    wanted.extend((offset as u64).to_be_bytes());
                }
                wanted.extend(&model[offset..][..length]);
            }
        }
        assert!(talk(&export, structured, &sent) == wanted, "structured: {structured}");
    }
}

#[test]
fn wrong_requests_get_the_errors_of_the_protocol() {
    let size = SIZE as u64;
    let cases = [
        (request(0, 0, size, 1), 22),
        (request(0, 0, u64::MAX, 2), 22),
        (request(0, 0, 0, u32::MAX), 22),
        (request(0, 0, 0, 0), 22),
        (request(0x8000, 0, 0, 1), 22),
        (request(0, 99, 0, 1), 22),
        (request(0, 7, 0, 1), 22),
        // FAST_ZERO was not offered; no request is of no bytes.
        (request(16, 6, 0, 1), 22),
        (request(0, 1, 0, 0), 22),
        (request(0, 4, 0, 0), 22),
        (request(0, 6, 0, 0), 22),
        (request(0, 5, 0, 0), 22),
        (request(0, 6, size, 1), 28),
        ([request(0, 1, size, 1), vec![1]].concat(), 28),
        ([request(0, 1, 0, 33 << 20), vec![0; 33 << 20]].concat(), 22),
    ];
    for (sent, errno) in cases {
        // The read behind it shows that the stream is still in step.
        let replies = talk(&memory(false), false, &[sent, request(0, 0, 0, 1)].concat());
        assert_eq!(replies[4..8], u32::to_be_bytes(errno));
        assert_eq!((replies.len(), &replies[20..24]), (33, &[0; 4][..]));
    }
    let replies = talk(&memory(true), false, &[request(0, 1, 0, 1), vec![1]].concat());
    assert_eq!(replies[4..8], 1_u32.to_be_bytes());
}

#[test]
fn what_cannot_be_answered_closes_the_connection() {
    let too_long = [hello(false), request(0, 1, 0, u32::MAX)].concat();
    let half = [hello(false), request(0, 0, 0, 1)[..13].to_vec()].concat();
    let magic = [hello(false), vec![9; 28]].concat();
    for sent in [too_long, half, magic, vec![255; 4], vec![0, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8]] {
        assert!(serve(Cursor::new(sent), Vec::new(), &memory(false)).is_err());
    }
}

#[test]
fn thousands_of_random_and_mutated_streams_end() {
    let (mut seed, mut ended) = (99, 0);
    let set = [&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 15][..], b"base:allocation"].concat();
    let good = [
        3_u32.to_be_bytes().to_vec(),
        option(8, &[]),
        option(10, &set),
        option(7, &[0; 6]),
        request(0, 7, 0, 512),
        [request(0, 1, 0, 4), vec![1; 4]].concat(),
        request(4, 0, 0, 64),
    ]
    .concat();
    assert_eq!(serve(Cursor::new(&good), Vec::new(), &memory(false)).unwrap(), 3);
    for _ in 0..5000 {
        let mut sent = good.clone();
        for _ in 0..=next(&mut seed) % 6 {
            let at = next(&mut seed) as usize % sent.len();
            sent[at] = next(&mut seed) as u8;
        }
        sent.truncate(next(&mut seed) as usize % (2 * good.len()));
        ended += u32::from(serve(Cursor::new(sent), Vec::new(), &memory(false)).is_ok());
    }
    assert!(ended > 0 && ended < 5000, "{ended} of 5000 ended properly");
}

#[test]
fn zeroing_is_fast_where_it_is_and_refused_untouched_elsewhere() {
    let export = Memory(Mutex::new(vec![7; SIZE]), false, true);
    for (flags, length, errno) in [(16, 512, 0), (16 + 2, 512, 95), (16, 511, 95), (2, 511, 0)] {
        export.0.lock().unwrap().fill(7);
        let replies = talk(&export, false, &request(flags, 6, 0, length));
        assert_eq!(replies[4..8], u32::to_be_bytes(errno), "flags {flags}, {length} bytes");
        let zeroed = export.0.lock().unwrap().iter().filter(|&&byte| byte == 0).count();
        assert_eq!(zeroed, if errno == 0 { length as usize } else { 0 });
    }
    for (fast, flag) in [(true, 1 << 11), (false, 0)] {
        let export = Memory(Mutex::new(vec![0; SIZE]), false, fast);
        let mut out = Vec::new();
        serve(Cursor::new(hello(false)), &mut out, &export).unwrap();
        assert_eq!(u16::from_be_bytes([out[26], out[27]]) & 1 << 11, flag, "offered where true");
    }
}

/// The kinds of the replies to options, of a client with these flags; `None` where the server left.
fn haggled(flags: u32, options: &[Vec<u8>]) -> Option<Vec<u32>> {
    let sent = [flags.to_be_bytes().to_vec(), options.concat(), option(2, &[])].concat();
    let mut out = Vec::new();
    let ended = serve(Cursor::new(sent), &mut out, &memory(false));
    let kind_of = |one: &[u8]| {
        assert_eq!(one[16..], [0; 4], "a reply without data");
        u32::from_be_bytes(one[12..16].try_into().unwrap())
    };
    let kinds: Vec<u32> = out[18..].chunks_exact(20).map(kind_of).collect();
    assert!(ended.is_ok() || kinds.is_empty(), "it left before it said anything");
    ended.ok().map(|_| kinds)
}

#[test]
fn options_are_refused_with_the_errors_of_the_protocol() {
    let (acknowledged, policy, invalid, unknown) = (1, 1 << 31 | 2, 1 << 31 | 3, 1 << 31 | 1);
    // "an error reply explicitly permitted (for example, NBD_REP_ERR_INVALID if the client included
    // data)"; a server without TLS refuses one without data by its policy.
    for (sent, wanted) in [
        (option(5, &[]), policy),
        (option(5, b"x"), invalid),
        (option(3, b"x"), invalid),
        (option(8, b"x"), invalid),
        (option(99, b"x"), unknown),
    ] {
        assert_eq!(haggled(3, &[sent]), Some(vec![wanted, acknowledged]));
    }
}

#[test]
fn a_client_without_fixed_newstyle_has_one_option_and_no_replies() {
    for flags in [0_u32, 2] {
        for other in [2, 3, 5, 7, 8, 99] {
            let data: &[u8] = if other == 7 { &[0; 6] } else { &[] };
            assert_eq!(haggled(flags, &[option(other, data)]), None, "option {other}");
        }
        let mut out = Vec::new();
        let sent = [flags.to_be_bytes().to_vec(), option(1, &[]), request(0, 0, 0, 1)].concat();
        assert_eq!(serve(Cursor::new(sent), &mut out, &memory(false)).unwrap(), 1);
        // Without NO_ZEROES 124 of them follow size and flags.
        assert_eq!(out.len(), 18 + 10 + if flags == 0 { 124 } else { 0 } + 17);
        assert_eq!(out[18..26], (SIZE as u64).to_be_bytes());
    }
}

/// What a client sent, and how much was asked of it at once.
struct Measured(Cursor<Vec<u8>>, usize);

impl Read for &mut Measured {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1.max(bytes.len());
        self.0.read(bytes)
    }
}

#[test]
fn room_for_a_long_write_is_made_as_its_bytes_come() {
    /// Takes writes of any length, and counts their bytes.
    struct Large(Mutex<(u64, bool)>);
    impl Export for Large {
        fn size(&self) -> u64 {
            1 << 30
        }
        fn abilities(&self) -> Abilities {
            Abilities { read_only: false, trim: true, fast_zero: false, multi_connection: true }
        }
        fn read(&self, _offset: u64, _bytes: &mut [u8]) -> Result<(), Error> {
            Ok(())
        }
        fn write(&self, _offset: u64, bytes: &[u8], _fua: bool) -> Result<(), Error> {
            let right = bytes.iter().enumerate().all(|(at, byte)| *byte == (at / 1000) as u8);
            *self.0.lock().unwrap() = (bytes.len() as u64, right);
            Ok(())
        }
        fn flush(&self) -> Result<(), Error> {
            Ok(())
        }
        fn trim(&self, _offset: u64, _length: u64, _fua: bool) -> Result<(), Error> {
            Ok(())
        }
        fn zero(&self, _offset: u64, _length: u64, _trim: bool, _fua: bool) -> Result<(), Error> {
            Ok(())
        }
    }
    let export = Large(Mutex::new((0, false)));
    let payload = |length: usize| (0..length).map(|at| (at / 1000) as u8).collect::<Vec<u8>>();
    for length in [1, 1 << 20, (1 << 20) + 1, 32 << 20, 4096] {
        let sent = [hello(false), request(0, 1, 0, length as u32), payload(length)].concat();
        let mut client = Measured(Cursor::new(sent), 0);
        assert_eq!(serve(&mut client, Vec::new(), &export).unwrap(), 1);
        assert_eq!(*export.0.lock().unwrap(), (length as u64, true));
        assert!(client.1 <= 1 << 20, "{} bytes of room for a write of {length}", client.1);
    }
}
