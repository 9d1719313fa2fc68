//! A drive outlives its process: what was flushed is there, what was trimmed and flushed is not, and
//! what is damaged is refused.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use ftlab_drive::{Drive, Pace};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::TABLE;
use ftlab_lab::{Capacity, Experiment, Silent};
use ftlab_nbd::Export as _;

const PAGE: usize = 4096;

fn experiment(scheme: &str, set: &[&str]) -> Experiment {
    let shared = ["device.over_provisioning=50%", "device.oob_bytes=64"];
    Experiment {
        schemes: scheme.into(),
        device: "slc_small".to_owned(),
        capacity: Some(Capacity::Bytes(2 << 20)),
        set: set.iter().copied().chain(shared).collect(),
        ..Experiment::default()
    }
}

fn opened(scheme: &str, set: &[&str], folder: &Path) -> Result<Drive, String> {
    let serving = experiment(scheme, set).serving(&Silent).map_err(|error| error.to_string())?;
    let drive = Drive::open(serving, Pace::Off, (Some(folder), None), &Silent);
    drive.map_err(|error| error.to_string())
}

fn read(drive: &Drive) -> Vec<u8> {
    let mut bytes = vec![0xAA; drive.size() as usize];
    drive.read(0, &mut bytes).unwrap();
    bytes
}

/// Rounds of writes and trims, a flush, more writes, and the end of the process: dropped, as nothing
/// is written then. Of what came behind the flush each sector is as before or as after it.
fn survives(scheme: &str, set: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(3, Purpose::Workload);
    let mut known = vec![0u8; 2 << 20];
    for round in 0..3u32 {
        let drive = opened(scheme, set, folder.path()).unwrap();
        assert!(read(&drive) == known, "{scheme}: round {round}");
        assert_eq!(drive.recovered_in().is_some(), round > 0);
        let pages = (known.len() / PAGE) as u32;
        let mut write = |known: &mut [u8], number: u32| {
            let at = rng.below(pages) as usize * PAGE;
            let bytes = [(number % 251) as u8 + 1; PAGE];
            drive.write(at as u64, &bytes, false).unwrap();
            known[at..at + PAGE].copy_from_slice(&bytes);
        };
        for number in 0..800 {
            write(&mut known, round * 1000 + number);
        }
        let trimmed = rng.below(pages - 8) as usize * PAGE;
        drive.zero(trimmed as u64, 8 * PAGE as u64, true, false).unwrap();
        known[trimmed..trimmed + 8 * PAGE].fill(0);
        drive.flush().unwrap();
        let mut after = known.clone();
        // Each page once: of several writes any may be the last that is found.
        for number in 0..100u32 {
            let at = ((number * 5 + round) % pages) as usize * PAGE;
            let bytes = [(number + 7) as u8; PAGE];
            drive.write(at as u64, &bytes, false).unwrap();
            after[at..at + PAGE].copy_from_slice(&bytes);
        }
        assert!(read(&drive) == after);
        drop(drive);
        let again = opened(scheme, set, folder.path()).unwrap();
        let found = read(&again);
        for (sector, bytes) in found.chunks(512).enumerate() {
            let range = sector * 512..(sector + 1) * 512;
            assert!(
                bytes == &known[range.clone()] || bytes == &after[range],
                "{scheme}: round {round}, sector {sector} is neither as flushed nor as written then"
            );
        }
        let result = again.result("", true).unwrap();
        assert_eq!(result.audit, "passed");
        again.close().unwrap();
        known = found;
    }
}

#[test]
fn every_scheme_is_found_again() {
    for row in TABLE {
        println!("{}", row.paper.name);
        survives(row.paper.name, &[]);
    }
}

#[test]
fn what_was_only_in_a_buffer_may_be_lost_and_what_was_flushed_is_there() {
    survives("ideal_page", &["buffer.name=lru"]);
}

#[test]
fn what_preparing_wrote_reads_as_zeroes_ever_after() {
    let folder = tempfile::tempdir().unwrap();
    let own = Experiment { precondition: "fill".parse().unwrap(), ..experiment("dftl", &[]) };
    let serving = own.serving(&Silent).unwrap();
    let drive = Drive::open(serving, Pace::Off, (Some(folder.path()), None), &Silent).unwrap();
    drive.write(0, &[7; PAGE], false).unwrap();
    drive.flush().unwrap();
    drop(drive);
    let found = read(&opened("dftl", &[], folder.path()).unwrap());
    assert!(found[..PAGE] == [7; PAGE] && found[PAGE..].iter().all(|&byte| byte == 0));
}

#[test]
fn failing_blocks_are_found_again() {
    survives("dftl", &["nand.program_failure_rate=0.0005"]);
}

#[test]
fn what_is_damaged_is_refused_by_name() {
    for file in ["data", "flash.", "log.", "drive.json"] {
        let folder = tempfile::tempdir().unwrap();
        let drive = opened("fast", &[], folder.path()).unwrap();
        for page in 0..40 {
            drive.write(page * PAGE as u64, &[page as u8 + 1; PAGE], false).unwrap();
        }
        drop(drive);
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let named = |path: &std::path::PathBuf| {
            path.file_name().unwrap().to_str().unwrap().starts_with(file)
        };
        let path = entries.into_iter().find(named).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        fs::write(&path, bytes).unwrap();
        let error = opened("fast", &[], folder.path()).err().unwrap();
        assert!(error.contains("legal: "), "{error}");
        let told = if file == "data" { "the data of page" } else { path.to_str().unwrap() };
        assert!(error.contains(told), "{file}: {error}");
    }
}

#[test]
fn a_group_that_was_cut_short_was_never_answered() {
    let folder = tempfile::tempdir().unwrap();
    let drive = opened("dftl", &[], folder.path()).unwrap();
    drive.write(0, &[1; PAGE], false).unwrap();
    drive.flush().unwrap();
    drive.write(0, &[2; PAGE], false).unwrap();
    drop(drive);
    let log = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let log = log.into_iter().find(|path| path.to_str().unwrap().contains("log.")).unwrap();
    let length = fs::metadata(&log).unwrap().len();
    fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(length - 3).unwrap();
    assert!(read(&opened("dftl", &[], folder.path()).unwrap()).starts_with(&[1; PAGE]));
}

#[test]
fn another_drive_a_folder_in_use_and_what_is_no_drive_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let drive = opened("dftl", &[], folder.path()).unwrap();
    let error = |scheme: &str, set: &[&str]| opened(scheme, set, folder.path()).err().unwrap();
    assert!(error("dftl", &[]).contains("is in use"));
    drop(drive);
    let prepared = Experiment { precondition: "fill".parse().unwrap(), ..experiment("dftl", &[]) };
    let serving = prepared.serving(&Silent).unwrap();
    let again = Drive::open(serving, Pace::Off, (Some(folder.path()), None), &Silent);
    assert!(again.err().unwrap().to_string().contains("--precondition is for a new drive"));
    assert!(error("fast", &[]).contains("scheme is \"dftl\" there and \"fast\" here"));
    assert!(error("dftl", &["device.pages_per_block=64"]).contains("device.pages_per_block"));
    assert!(error("dftl:battery", &[]).contains("dftl.consistency=replay"));
    assert!(error("hat", &["device.ram_nonvolatile=true"]).contains("ram_nonvolatile"));
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("mine"), "kept").unwrap();
    assert!(opened("dftl", &[], other.path()).err().unwrap().contains("something else"));
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
}

/// A write of a page takes more than a quarter of an hour here.
#[test]
fn the_end_waits_for_no_simulated_time() {
    let folder = tempfile::tempdir().unwrap();
    let serving = experiment("ideal_page", &[]).serving(&Silent).unwrap();
    let pace = Pace::Real(10_000_000_000_000);
    let drive = Drive::open(serving, pace, (Some(folder.path()), None), &Silent).unwrap();
    let begun = Instant::now();
    thread::scope(|scope| {
        let client = scope.spawn(|| drive.write(0, &[7; PAGE], false));
        thread::sleep(Duration::from_millis(300));
        assert!(!client.is_finished(), "an answer waits for its time");
        drive.end_waiting();
        client.join().unwrap().unwrap();
    });
    drive.close().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    drop(drive);
    let again = opened("ideal_page", &[], folder.path()).unwrap();
    assert!(read(&again)[..PAGE] == [7; PAGE]);
}
