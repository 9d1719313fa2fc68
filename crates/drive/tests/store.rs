//! A drive outlives its process: what was flushed is there, what was trimmed and flushed is not,
//! and what is damaged is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use ftlab_drive::{Drive, Folder, Pace};
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

fn kept(path: &Path) -> Folder<'_> {
    Folder { path, log_bytes: None }
}

fn opened(scheme: &str, set: &[&str], folder: &Path) -> Result<Drive, String> {
    let serving = experiment(scheme, set).serving(&Silent).map_err(|error| error.to_string())?;
    let drive = Drive::open(serving, Pace::Off, (Some(kept(folder)), None), &Silent);
    drive.map_err(|error| error.to_string())
}

fn read(drive: &Drive) -> Vec<u8> {
    let mut bytes = vec![0xAA; drive.size() as usize];
    drive.read(0, &mut bytes).unwrap();
    bytes
}

/// Rounds of writes and trims, a flush, more writes, and the end of the process: dropped, as
/// nothing is written then. Of what came behind the flush each sector is as before or as after it.
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
    let drive =
        Drive::open(serving, Pace::Off, (Some(kept(folder.path())), None), &Silent).unwrap();
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

/// Names of the files of a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn only(folder: &Path, beginning: &str) -> PathBuf {
    let mut names = names(folder);
    names.retain(|name| name.starts_with(beginning));
    assert_eq!(names.len(), 1, "{names:?}");
    folder.join(&names[0])
}

/// Writes pages, and flushes.
fn flushed(drive: &Drive, pages: std::ops::Range<u64>, number: u8) {
    for page in pages {
        drive.write(page * PAGE as u64, &[number; PAGE], false).unwrap();
    }
    drive.flush().unwrap();
}

/// A drive that was opened twice, with what was flushed and nothing else.
fn twice(folder: &Path) {
    let drive = opened("fast", &[], folder).unwrap();
    flushed(&drive, 0..40, 1);
    drop(drive);
    let drive = opened("fast", &[], folder).unwrap();
    flushed(&drive, 20..60, 2);
}

/// What becomes of the bytes of a file; none: it is removed.
type Damage = fn(Vec<u8>) -> Option<Vec<u8>>;

#[test]
fn what_is_damaged_is_refused_by_name() {
    let damages: [(&str, Damage); 5] = [
        ("a changed byte", |mut bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x55;
            Some(bytes)
        }),
        ("half of it", |bytes| Some(bytes[..bytes.len() / 2].to_vec())),
        ("all but a byte", |bytes| Some(bytes[..bytes.len() - 1].to_vec())),
        ("nothing in it", |_| Some(Vec::new())),
        ("no file", |_| None),
    ];
    for file in ["data", "flash.", "log.", "drive.json", "flushed"] {
        for (what, damage) in damages {
            let folder = tempfile::tempdir().unwrap();
            twice(folder.path());
            let path = only(folder.path(), file);
            match damage(fs::read(&path).unwrap()) {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let before = names(folder.path());
            if (file, what) == ("drive.json", "all but a byte") {
                // The end of the last line.
                continue;
            }
            let error = opened("fast", &[], folder.path()).err();
            let error = error.unwrap_or_else(|| panic!("{file}: {what} was served"));
            assert!(error.contains("legal: "), "{error}");
            let of_data = error.contains("the data of page");
            let told = error.contains(path.to_str().unwrap()) || file == "data" && of_data;
            assert!(told, "{file}, {what}: {error}");
            assert_eq!(names(folder.path()), before, "{file}, {what}: all is as it was");
        }
    }
}

#[test]
fn what_is_missing_together_is_damage() {
    for gone in [&["flash.", "flushed"][..], &["flash.", "log."], &["flash.", "log.", "flushed"]] {
        let folder = tempfile::tempdir().unwrap();
        twice(folder.path());
        for file in gone {
            fs::remove_file(only(folder.path(), file)).unwrap();
        }
        let error = opened("fast", &[], folder.path()).err().expect("damage");
        assert!(error.contains("is missing"), "{gone:?}: {error}");
    }
}

/// Pages 0 to 39 as flushed, with as many as that written behind.
fn with_more_behind(folder: &Path) -> (PathBuf, u64) {
    let drive = opened("fast", &[], folder).unwrap();
    flushed(&drive, 0..40, 1);
    let log = only(folder, "log.");
    let length = fs::metadata(&log).unwrap().len();
    for page in 40..80 {
        drive.write(page * PAGE as u64, &[2; PAGE], false).unwrap();
    }
    assert!(fs::metadata(&log).unwrap().len() > length);
    (log, length)
}

/// What becomes of the bytes of a log, of which so many were flushed.
type DamageBehind = fn(&mut Vec<u8>, usize);

#[test]
fn what_is_damaged_behind_the_last_flush_is_left_out() {
    let damages: [(DamageBehind, bool); 4] = [
        (|bytes, flushed| bytes[flushed..].fill(0), false),
        (|bytes, flushed| bytes[flushed + 20] ^= 1, false),
        (|bytes, flushed| bytes.truncate(flushed + 30), false),
        (|bytes, _| bytes.resize(bytes.len() + 5000, 0), true),
    ];
    for (damage, is_all_there) in damages {
        let folder = tempfile::tempdir().unwrap();
        let (log, flushed) = with_more_behind(folder.path());
        let mut bytes = fs::read(&log).unwrap();
        damage(&mut bytes, flushed as usize);
        fs::write(&log, bytes).unwrap();
        let drive = opened("fast", &[], folder.path()).unwrap();
        let found = read(&drive);
        assert!(found[..40 * PAGE].iter().all(|&byte| byte == 1));
        let behind = if is_all_there { 2 } else { 0 };
        assert!(found[40 * PAGE..80 * PAGE].iter().all(|&byte| byte == behind));
        let result = drive.result("", true).unwrap();
        assert!(result.warnings.iter().any(|warning| warning.contains("were left out")));
    }
}

/// The machine may fail with the log on its disk and the data not.
#[test]
fn a_request_behind_the_last_flush_counts_with_its_data_only() {
    let folder = tempfile::tempdir().unwrap();
    with_more_behind(folder.path());
    let path = folder.path().join("data");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 30 * PAGE;
    bytes[last..].fill(0);
    fs::write(&path, bytes).unwrap();
    let found = read(&opened("fast", &[], folder.path()).unwrap());
    assert!(
        found[..50 * PAGE]
            .chunks(40 * PAGE)
            .zip([1, 2])
            .all(|(own, number)| { own.iter().all(|&byte| byte == number) })
    );
    assert!(found[50 * PAGE..].iter().all(|&byte| byte == 0));
}

/// Blocks are erased behind a flush, and what they held is superseded; none of that is on the disk
/// when the machine fails, and what was flushed is still there.
#[test]
fn what_was_flushed_is_not_written_over_before_the_next_flush() {
    for scheme in ["ideal_page", "fast", "dftl", "superblock"] {
        let folder = tempfile::tempdir().unwrap();
        let drive = opened(scheme, &[], folder.path()).unwrap();
        let pages = drive.size() / PAGE as u64;
        flushed(&drive, 0..pages, 1);
        let log = only(folder.path(), "log.");
        let length = fs::metadata(&log).unwrap().len();
        for turn in 2..8 {
            for page in 0..pages {
                drive.write(page * PAGE as u64, &[turn; PAGE], false).unwrap();
            }
        }
        let erases = drive.result("", false).unwrap().flash.total_erases;
        assert!(erases > 0, "{scheme}");
        drop(drive);
        fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(length).unwrap();
        let found = read(&opened(scheme, &[], folder.path()).unwrap());
        assert!(found.iter().all(|&byte| byte == 1), "{scheme}");
    }
}

/// Slots are used again all the same: the file grows no longer than flushes allow.
#[test]
fn what_was_given_up_before_a_flush_is_written_over_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let drive = opened("ideal_page", &[], folder.path()).unwrap();
    let pages = drive.size() / PAGE as u64;
    let mut sizes = Vec::new();
    for turn in 1..12 {
        flushed(&drive, 0..pages, turn);
        sizes.push(fs::metadata(folder.path().join("data")).unwrap().len());
    }
    assert_eq!(sizes[5], sizes[10], "{sizes:?}");
}

/// What is left where a process was killed while it made a drive.
#[test]
fn a_folder_in_which_a_drive_was_begun_is_as_a_new_one() {
    let whole = tempfile::tempdir().unwrap();
    drop(opened("dftl", &[], whole.path()).unwrap());
    let description = fs::read(whole.path().join("drive.json")).unwrap();
    let flushed = {
        // As `flushed` is before the first checkpoint: log 0, of no length.
        let mut bytes = vec![0; 16];
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    };
    let begun: [&[(&str, &[u8])]; 6] = [
        &[("lock", b"")],
        &[("lock", b""), ("drive.json.unfinished", b"{ \"ver")],
        &[("lock", b""), ("drive.json", &description)],
        &[("lock", b""), ("drive.json", &description), ("data", b""), ("flushed.unfinished", b"x")],
        &[("lock", b""), ("drive.json", &description), ("data", b""), ("flushed", &flushed)],
        &[
            ("lock", b""),
            ("drive.json", &description),
            ("data", b""),
            ("flushed", &flushed),
            ("log.1", b""),
            ("flash.1.unfinished", b"half of it"),
        ],
    ];
    for files in begun {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let drive = opened("dftl", &[], folder.path());
        let drive = drive.unwrap_or_else(|error| panic!("{files:?}: {error}"));
        assert_eq!(drive.recovered_in(), None);
        drop(drive);
        assert_eq!(names(folder.path()), names(whole.path()));
    }
}

#[test]
fn an_opened_folder_holds_one_checkpoint_and_nothing_that_is_left() {
    let folder = tempfile::tempdir().unwrap();
    twice(folder.path());
    for (from, to) in [("flash.2", "flash.1"), ("log.2", "log.1"), ("log.2", "flash.3.unfinished")]
    {
        fs::copy(folder.path().join(from), folder.path().join(to)).unwrap();
    }
    fs::write(folder.path().join("log.3"), "").unwrap();
    drop(opened("fast", &[], folder.path()).unwrap());
    assert_eq!(names(folder.path()), ["data", "drive.json", "flash.3", "flushed", "lock", "log.3"]);
    fs::write(folder.path().join("log.4"), "something").unwrap();
    let error = opened("fast", &[], folder.path()).err().unwrap();
    assert!(error.contains("flash.4 is missing"), "{error}");
}

#[test]
fn a_log_is_as_long_as_it_was_asked_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let own = Folder { path: folder.path(), log_bytes: Some(10_000) };
    let serving = experiment("dftl", &[]).serving(&Silent).unwrap();
    let drive = Drive::open(serving, Pace::Off, (Some(own), None), &Silent).unwrap();
    for turn in 0..5 {
        for page in 0..100 {
            drive.write(page * PAGE as u64, &[turn; PAGE], false).unwrap();
        }
        assert!(fs::metadata(only(folder.path(), "log.")).unwrap().len() < 20_000);
    }
    assert!(!folder.path().join("flash.1").exists(), "checkpoints while it served");
    drop(drive);
    assert!(
        read(&opened("dftl", &[], folder.path()).unwrap())[..100 * PAGE].iter().all(|&b| b == 4)
    );
}

/// The flush at the end of a drive in a folder is one of its requests.
#[test]
fn the_last_flush_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let drive = opened("dftl", &[], folder.path()).unwrap();
    assert!(drive.last_flush().is_ok());
    assert_eq!(drive.result("", false).unwrap().workload.requests, 0, "nobody asked for anything");
    drive.write(0, &[1; PAGE], false).unwrap();
    drive.last_flush().unwrap();
    assert_eq!(drive.result("", true).unwrap().workload.requests, 2);
    drive.close().unwrap();
    assert_eq!(drive.result("", true).unwrap().workload.requests, 2);
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
    let again = Drive::open(serving, Pace::Off, (Some(kept(folder.path())), None), &Silent);
    assert!(again.err().unwrap().to_string().contains("--precondition is for a new drive"));
    assert!(error("fast", &[]).contains("scheme is \"dftl\" there and \"fast\" here"));
    assert!(error("dftl", &["device.pages_per_block=64"]).contains("device.pages_per_block"));
    assert!(error("dftl:battery", &[]).contains("dftl.consistency=replay"));
    assert!(error("hat", &["device.ram_nonvolatile=true"]).contains("ram_nonvolatile"));
    let event = ["timing.profile=parallel", "timing.clock=event"];
    assert!(error("dftl", &event).contains("clients of a drive want each answer at once"));
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
    let drive = Drive::open(serving, pace, (Some(kept(folder.path())), None), &Silent).unwrap();
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
