//! A drive whose process or whose machine ends at any moment, and what each page may hold then.
//!
//! Flushed writes are there, each page as flushed or as written since. Of a page whose trim was not
//! flushed nothing is promised but one of its own versions, or zeroes
//! (crates/ftl/src/parts/trim_records.rs).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::TABLE;
use ftlab_lab::{Capacity, Experiment, Silent};
use ftlab_nbd::Export as _;

use crate::trail::{self, Survives};
use crate::{Drive, Folder, Pace};

const BYTES: u64 = 1 << 20;

fn opened(scheme: &str, path: &Path, log_bytes: Option<u64>) -> Result<Drive, String> {
    let experiment = Experiment {
        schemes: scheme.into(),
        device: "slc_small".to_owned(),
        capacity: Some(Capacity::Bytes(BYTES)),
        set: ["device.over_provisioning=50%", "device.oob_bytes=64"].into_iter().collect(),
        ..Experiment::default()
    };
    let serving = experiment.serving(&Silent).map_err(|error| error.to_string())?;
    let folder = Folder { path, log_bytes };
    let drive = Drive::open(serving, Pace::Off, (Some(folder), None), &Silent);
    drive.map_err(|error| error.to_string())
}

/// Of a page: versions that may be found, all that it ever had, whether a trim of it is not
/// flushed. 0 is a page of zeroes.
#[derive(Clone)]
struct Page {
    may: BTreeSet<u64>,
    ever: BTreeSet<u64>,
    trimmed: bool,
}

/// What a client asked for, or saw.
#[derive(Clone, Copy)]
enum Told {
    /// Pages from the first on, and the version.
    Wrote(usize, usize, u64),
    Trimmed(usize, usize),
    /// Behind a flush, or a restart, a page is found in this version, and stays so.
    Found(usize, u64),
}

struct Oracle {
    page: usize,
    pages: Vec<Page>,
}

impl Oracle {
    fn new(drive: &Drive) -> Self {
        let page = drive.block_sizes().preferred_bytes as usize;
        let blank = Page { may: [0].into(), ever: BTreeSet::new(), trimmed: false };
        Oracle { page, pages: vec![blank; BYTES as usize / page] }
    }

    fn content(&self, page: usize, version: u64) -> Vec<u8> {
        let word = if version == 0 { 0 } else { version << 16 | page as u64 };
        word.to_le_bytes().repeat(self.page / 8)
    }

    /// The version in which a page is found; none where it is no version of this page.
    fn version(&self, page: usize, bytes: &[u8]) -> Option<u64> {
        let version = u64::from_le_bytes(bytes[..8].try_into().unwrap()) >> 16;
        (bytes == self.content(page, version)).then_some(version)
    }

    fn hear(&mut self, told: Told) {
        match told {
            Told::Wrote(first, count, version) => {
                for page in &mut self.pages[first..first + count] {
                    page.may.insert(version);
                    page.ever.insert(version);
                }
            }
            Told::Trimmed(first, count) => {
                for page in &mut self.pages[first..first + count] {
                    page.may.insert(0);
                    page.trimmed = true;
                }
            }
            Told::Found(page, version) => {
                let page = &mut self.pages[page];
                page.may = [version].into();
                page.trimmed = false;
            }
        }
    }

    /// All that is found in a drive that was opened again is what it may be.
    fn look(&self, drive: &Drive, when: &str) -> Vec<Told> {
        let mut bytes = vec![0; BYTES as usize];
        drive.read(0, &mut bytes).unwrap();
        let mut found = Vec::new();
        for (number, page) in self.pages.iter().enumerate() {
            let own = &bytes[number * self.page..][..self.page];
            let now = self.version(number, own);
            let now = now.unwrap_or_else(|| panic!("{when}: page {number} is another one"));
            let explained = page.may.contains(&now) || page.trimmed && page.ever.contains(&now);
            assert!(explained, "{when}: page {number} is found in {now}, may be {:?}", page.may);
            found.push(Told::Found(number, now));
        }
        found
    }

    /// One request; what is known for certain behind it.
    fn ask(&self, drive: &Drive, rng: &mut Rng, version: u64) -> (Told, Vec<Told>) {
        let pages = self.pages.len();
        let span = if rng.below(2) == 0 { pages / 8 } else { pages };
        let first = rng.below(span as u32) as usize;
        let count = (1 + rng.below(32) as usize).min(pages - first);
        let (at, length) = ((first * self.page) as u64, (count * self.page) as u64);
        match rng.below(15) {
            0..12 => {
                let pages = first..first + count;
                let data: Vec<u8> = pages.flat_map(|page| self.content(page, version)).collect();
                drive.write(at, &data, false).unwrap();
                (Told::Wrote(first, count, version), Vec::new())
            }
            12 | 13 => {
                drive.flush().unwrap();
                let changed = self.pages.iter().enumerate().filter(|(_, page)| page.may.len() > 1);
                let mut bytes = vec![0; self.page];
                let settled = changed.map(|(number, page)| {
                    drive.read((number * self.page) as u64, &mut bytes).unwrap();
                    let now = self.version(number, &bytes).expect("a version of this page");
                    assert!(page.may.contains(&now));
                    Told::Found(number, now)
                });
                // Nothing is asked for but a flush.
                (Told::Wrote(0, 0, 0), settled.collect())
            }
            _ => {
                drive.trim(at, length, false).unwrap();
                (Told::Trimmed(first, count), Vec::new())
            }
        }
    }
}

/// The process ends between any two requests, again and again.
fn killed(scheme: &str, kills: u32, log_bytes: Option<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(1, Purpose::Workload);
    let mut oracle: Option<Oracle> = None;
    let mut version = 0;
    for kill in 0..kills {
        let drive = opened(scheme, folder.path(), log_bytes).unwrap();
        let oracle = oracle.get_or_insert_with(|| Oracle::new(&drive));
        let found = oracle.look(&drive, &format!("{scheme}, kill {kill}"));
        found.into_iter().for_each(|told| oracle.hear(told));
        for _ in 0..rng.below(120) {
            version += 1;
            let (asked, certain) = oracle.ask(&drive, &mut rng, version);
            oracle.hear(asked);
            certain.into_iter().for_each(|told| oracle.hear(told));
        }
    }
}

#[test]
fn every_scheme_keeps_what_was_flushed_however_often_it_is_killed() {
    for row in TABLE {
        println!("{}", row.paper.name);
        // Every other drive makes checkpoints while it serves.
        let log_bytes = row.paper.name.len().is_multiple_of(2).then_some(20_000);
        killed(row.paper.name, 12, log_bytes);
    }
}

/// Requests on a new drive, its checkpoints among them, and then the machine or the process fails
/// at many of the steps in between: the drive is found again, with all that was flushed by then.
fn machine_fails(scheme: &str, seed: u64, failures: u32) {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(seed, Purpose::Workload);
    trail::follow();
    let log_bytes = Some(8_000);
    let drive = opened(scheme, folder.path(), log_bytes).unwrap();
    let mut oracle = Oracle::new(&drive);
    // What was told, and the steps before it was asked for or behind its answer.
    let mut story: Vec<(usize, Told)> = Vec::new();
    for version in 1..=150 {
        let begun = trail::length();
        let (asked, certain) = oracle.ask(&drive, &mut rng, version);
        oracle.hear(asked);
        story.push((begun, asked));
        for told in certain {
            oracle.hear(told);
            story.push((trail::length(), told));
        }
    }
    drop(drive);
    let steps = trail::end();
    let renamed: Vec<usize> = (1..=steps.len())
        .filter(|behind| matches!(steps[behind - 1], trail::Step::Rename(..)))
        .collect();
    assert!(renamed.len() > 6, "{scheme}: the drive made checkpoints while it served");
    for failure in 0..failures {
        // At the beginning, where folder and files are made; where a checkpoint got its name, and
        // nobody knows yet whether it stays; anywhere.
        let cut = match failure % 3 {
            0 => rng.below(17) as usize,
            1 => renamed[rng.below(renamed.len() as u32) as usize],
            _ => rng.below(steps.len() as u32 + 1) as usize,
        };
        for survives in [Survives::Everything, Survives::Stable, Survives::Some] {
            let when =
                format!("{scheme}, seed {seed}, step {cut} of {}, {survives:?}", steps.len());
            let left = tempfile::tempdir().unwrap();
            trail::leave(&steps[..cut], survives, &mut rng, left.path());
            let again = opened(scheme, left.path(), log_bytes);
            let again = again.unwrap_or_else(|error| panic!("{when}: {error}"));
            let mut oracle = Oracle::new(&again);
            let until = story.iter().filter(|(begun, _)| *begun <= cut);
            until.for_each(|(_, told)| oracle.hear(*told));
            oracle.look(&again, &when);
        }
    }
}

#[test]
fn what_was_flushed_survives_the_end_of_the_machine_at_any_moment() {
    for (scheme, seed) in [("ideal_page", 1), ("fast", 2), ("dftl", 3)] {
        machine_fails(scheme, seed, 40);
    }
}

/// The disk of the machine may take its time for a flush; others are served meanwhile.
#[test]
fn a_flush_that_waits_for_the_disk_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let drive = opened("dftl", folder.path(), None).unwrap();
    drive.write(0, &[1; 4096], false).unwrap();
    let other = drive.medium().flush().expect("a drive in a folder");
    // As if that one were at it.
    let disk = other.flushed.marker();
    let (tell, told) = mpsc::channel();
    let drive = &drive;
    thread::scope(|scope| {
        let flush = scope.spawn(|| drive.flush());
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(200));
            drive.write(4096, &[2; 4096], false).unwrap();
            tell.send(()).unwrap();
        });
        let served = told.recv_timeout(Duration::from_secs(20));
        let waits = !flush.is_finished();
        drop(disk);
        served.expect("a write is served while a flush waits");
        assert!(waits, "the flush waits for the disk");
        flush.join().unwrap().unwrap();
    });
}

/// Whatever lost them: who opens a drive is told, not who reads that page some day.
#[test]
fn a_page_whose_data_is_nowhere_is_refused_at_opening() {
    let folder = tempfile::tempdir().unwrap();
    let drive = opened("ideal_page", folder.path(), None).unwrap();
    let page = drive.block_sizes().preferred_bytes as usize;
    drive.write(0, &vec![7; 3 * page], false).unwrap();
    let mut medium = drive.medium();
    let last = medium.served.device.last_version();
    medium.payloads.lose(last);
    medium.checkpoint().unwrap();
    drop(medium);
    drop(drive);
    let error = opened("ideal_page", folder.path(), None).err().expect("damage");
    assert!(error.contains(&format!("carries version {last}, of which there is no")), "{error}");
}

#[test]
#[ignore = "a search of minutes, which `make test-long` runs"]
fn what_was_flushed_survives_the_end_of_the_machine_in_many_ways() {
    for row in TABLE {
        println!("{}", row.paper.name);
        for seed in 10..13 {
            machine_fails(row.paper.name, seed, 60);
        }
    }
}
