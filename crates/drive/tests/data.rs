//! What clients write is what they read, whatever the scheme does in between.

use ftlab_drive::{Drive, Pace};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::TABLE;
use ftlab_lab::{Capacity, Experiment, Silent};
use ftlab_nbd::Export as _;

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
