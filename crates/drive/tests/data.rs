//! What clients write is what they read, whatever the scheme does in between.

use ftlab_drive::{Drive, Pace};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::TABLE;
use ftlab_lab::{Capacity, Experiment, Silent};
use ftlab_nbd::{Error, Export as _};

const BYTES: u64 = 4 << 20;

fn drive(scheme: &str, set: &[&str]) -> Drive {
    let experiment = Experiment {
        schemes: scheme.into(),
        device: "slc_small".to_owned(),
        capacity: Some(Capacity::Bytes(BYTES)),
        set: set
            .iter()
            .copied()
            .chain(["device.over_provisioning=50%", "device.oob_bytes=64"])
            .collect(),
        ..Experiment::default()
    };
    let serving = experiment.serving(&Silent).unwrap_or_else(|error| panic!("{scheme}: {error}"));
    Drive::open(serving, Pace::Off, (None, None), &Silent).unwrap()
}

/// Writes, reads, trims, zeroes and flushes of any bytes against a plain array of them.
fn against_an_array(drive: &Drive, requests: u32) {
    let size = drive.size();
    let mut model = vec![0u8; size as usize];
    let mut rng = Rng::new(7, Purpose::Workload);
    for number in 0..requests {
        let length = u64::from(match rng.below(4) {
            0 => 1 + rng.below(700),
            1 => 4096,
            2 => 512 * (1 + rng.below(40)),
            _ => 1 + rng.below(90_000),
        });
        // Half of the requests to an eighth of the drive, so that something is collected there.
        let span = if rng.below(2) == 0 { size / 8 } else { size };
        let offset = u64::from(rng.below((span - length) as u32));
        let offset = if rng.below(2) == 0 { offset } else { offset / 4096 * 4096 };
        let stretch = offset as usize..(offset + length) as usize;
        match rng.below(10) {
            0..=4 => {
                let bytes: Vec<u8> =
                    (0..length).map(|at| (at as u32 ^ number.wrapping_mul(37)) as u8).collect();
                drive.write(offset, &bytes, number % 50 == 0).unwrap();
                model[stretch].copy_from_slice(&bytes);
            }
            5..=7 => {
                let mut bytes = vec![0xAA; length as usize];
                drive.read(offset, &mut bytes).unwrap();
                assert!(bytes == model[stretch], "request {number}: {length} bytes at {offset}");
            }
            8 => {
                drive.zero(offset, length, number % 2 == 0, false).unwrap();
                model[stretch].fill(0);
            }
            _ => {
                drive.trim(offset, length, false).unwrap();
                // Trimmed bytes are zeroes or what they were; from now on they are what is read.
                let mut bytes = vec![0xAA; length as usize];
                drive.read(offset, &mut bytes).unwrap();
                for (byte, known) in bytes.iter().zip(&mut model[stretch]) {
                    assert!(*byte == 0 || byte == known, "request {number}");
                    *known = *byte;
                }
            }
        }
        if number % 200 == 0 {
            drive.flush().unwrap();
        }
    }
    let mut whole = vec![0xAA; size as usize];
    drive.read(0, &mut whole).unwrap();
    assert!(whole == model, "the whole drive at the end");
    let result = drive.result("ftlab serve", true).unwrap();
    assert_eq!(result.audit, "passed");
    let erases = result.flash.erases;
    assert!(erases.data + erases.map + erases.log > 0, "something was collected");
}

#[test]
fn every_scheme_gives_back_what_was_written() {
    for row in TABLE {
        let name = row.paper.name;
        println!("{name}");
        against_an_array(&drive(name, &[]), 3000);
    }
}

#[test]
fn holes_are_what_is_nowhere() {
    let drive = drive("dftl", &[]);
    drive.write(8192, &[1; 4096], false).unwrap();
    let mut extents = Vec::new();
    drive.status(0, 16384, &mut extents).unwrap();
    let told: Vec<(u32, bool)> = extents.iter().map(|one| (one.length_bytes, one.hole)).collect();
    assert_eq!(told, [(8192, true), (4096, false), (4096, true)]);
}

#[test]
fn what_a_buffer_holds_is_read_from_it() {
    against_an_array(&drive("ideal_page", &["buffer.name=lru"]), 3000);
}

/// FAST_ZERO promises less work than writing: what is trimmed must be nowhere, for every scheme.
#[test]
fn zeroing_whole_pages_is_fast_and_leaves_holes() {
    for row in TABLE {
        let (name, drive) = (row.paper.name, drive(row.paper.name, &[]));
        assert!(drive.abilities().fast_zero, "{name}");
        let page = u64::from(drive.block_sizes().preferred_bytes);
        let bytes = vec![1; 64 * page as usize];
        drive.write(0, &bytes, false).unwrap();
        for (offset, length, may_trim, fast) in [
            (0, 64 * page, true, true),
            (page, page, true, true),
            (0, 64 * page, false, false),
            (1, page, true, false),
            (0, page + 1, true, false),
        ] {
            assert_eq!(drive.zeroes_fast(offset, length, may_trim), fast, "{name}");
        }
        let writes = |drive: &Drive| drive.result("", false).unwrap().host.write_requests;
        let before = writes(&drive);
        drive.zero(0, 64 * page, true, false).unwrap();
        assert_eq!(writes(&drive), before, "{name}: nothing was written in the place of a trim");
    }
}

#[test]
fn a_question_about_all_of_a_drive_is_answered_from_its_beginning_on() {
    let drive = drive("ideal_page", &[]);
    let page = u64::from(drive.block_sizes().preferred_bytes);
    drive.write(3 * page, &vec![1; page as usize], false).unwrap();
    let (mut at, mut holes, mut data) = (0, 0, 0);
    while at < BYTES {
        let mut extents = Vec::new();
        drive.status(at, (BYTES - at) as u32, &mut extents).unwrap();
        assert!(!extents.is_empty());
        for extent in extents {
            let length = u64::from(extent.length_bytes);
            *if extent.hole { &mut holes } else { &mut data } += length;
            at += length;
        }
    }
    assert_eq!((at, holes, data), (BYTES, BYTES - page, page));
}

#[test]
fn after_a_bug_between_requests_everything_is_an_error_and_nobody_waits() {
    let drive = drive("ideal_page", &[]);
    drive.write(0, &[1; 4096], false).unwrap();
    // An offset that the trait forbids: it is met under the lock, as any bug of a scheme's
    // `locate`.
    let met = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        drive.status(16 * BYTES, 4096, &mut Vec::new())
    }));
    assert!(met.is_err(), "the test needs a panic while the device is locked");
    let (mut extents, mut bytes) = (Vec::new(), [0; 512]);
    assert_eq!(drive.status(0, 4096, &mut extents), Err(Error::Io));
    assert!(extents.is_empty(), "a broken device is not asked where its pages are");
    assert_eq!(drive.read(0, &mut bytes), Err(Error::Io));
    assert_eq!(drive.write(0, &bytes, false), Err(Error::Io));
    assert_eq!(drive.zero(0, 4096, true, false), Err(Error::Io));
    assert_eq!(drive.trim(0, 4096, false), Err(Error::Io));
    assert_eq!(drive.flush(), Err(Error::Io));
    assert!(drive.failure().is_some_and(|why| why.contains("a bug")), "it says so itself");
    assert!(drive.close().is_ok(), "a store is left as it is");
}
