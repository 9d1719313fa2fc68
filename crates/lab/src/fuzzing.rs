//! Entry points for fuzzing, shared by the libFuzzer targets and by the tests on the stable
//! toolchain: files that users write, and files of ours that are read back. Whatever the bytes,
//! each is refused in words or means what it says; every function tells which of the two it was.
//! Nothing here is part of the interface.

use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use ftlab_engine::config::Config;
use ftlab_engine::schemes::{self, Row};
use ftlab_report::derive::json;
use ftlab_report::result::read_json;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::bundled::is_path;
use crate::devices;
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::flash_image;
use crate::observer::{Observer, Silent, Task, Work};
use crate::plan::snapshot::Snapshot;
use crate::selection::Chosen;

/// Experiments from TOML, and their plans. What is legal means the same when it is written and read
/// again. Nothing outside the program is opened: no device, workload or snapshot of a path.
pub fn fuzz_experiment(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let mut experiment = match Experiment::from_toml(text) {
        Ok(experiment) => experiment,
        Err(error) => {
            assert!(error.to_string().contains("line "), "{error}");
            return false;
        }
    };
    let written = experiment.to_toml().expect("what was read can be written");
    let again = Experiment::from_toml(&written);
    assert_eq!(again.as_ref().ok(), Some(&experiment), "{written}: {again:?}");
    let stated = serde_json::to_string(&experiment).expect("what was read has a JSON form");
    let again: Experiment = serde_json::from_str(&stated).expect("what was written is legal");
    assert_eq!(again, experiment, "{stated}");
    let reaches_out = |text: &str| text.contains(['/', '\\', '*', '?', '[']) || text.contains('-');
    let snapshot = experiment.precondition.to_string().contains("snapshot");
    if reaches_out(&experiment.workload) || is_path(&experiment.device) || snapshot {
        return false;
    }
    (experiment.trace_dir, experiment.save_snapshot) = (None, None);
    (experiment.requests_out, experiment.trace_out) = (None, None);
    let plan = experiment.plan_with(&Brief::default());
    match &plan {
        Ok(plan) => assert!(plan.schemes().len() > 0, "a plan of nothing"),
        Err(error) => assert!(!error.to_string().is_empty(), "refused without a word"),
    }
    plan.is_ok()
}

/// Ends what takes long.
#[derive(Default)]
struct Brief(AtomicU64);

/// What may be counted for one plan.
const COUNTED_MAX: u64 = 1 << 15;

impl Observer for Brief {
    fn begins<'a>(&'a self, _: &Work<'_>) -> Box<dyn Task + 'a> {
        Box::new(Counter(self))
    }
}

struct Counter<'a>(&'a Brief);

impl Task for Counter<'_> {
    fn advance(&self, count: u64) -> ControlFlow<()> {
        match self.0.0.fetch_add(count, Ordering::Relaxed) > COUNTED_MAX {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Files of devices. What a legal one says is what its settings say, key by key.
pub fn fuzz_device(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let device = match devices::parse("fuzz.toml", "fuzz", text) {
        Ok(device) => device,
        Err(error) => {
            assert!(error.to_string().starts_with("fuzz.toml:"), "{error}");
            return false;
        }
    };
    let described = device.config.describe();
    let mut again = Config::default();
    for one in &described {
        let text = match json(&one.value) {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let set = again.set(&one.key, &text);
        assert!(set.is_ok(), "{} = {text}, as it is told, is refused: {set:?}", one.key);
    }
    assert_eq!(again.describe(), described);
    true
}

/// Devices whose snapshots are read: a scheme and its settings. They are a few dozen blocks.
const DEVICES: [(&str, &[(&str, &str)]); 4] = [
    ("ideal_page", &[]),
    ("dftl", &[("dftl.cmt_entries", "8")]),
    ("fast", &[]),
    ("hat", &[("hat.qmt_entries", "8")]),
];

/// One of [`DEVICES`].
///
/// # Panics
/// When there is no device of that number.
fn chosen(number: usize) -> Chosen {
    let (name, pairs) = DEVICES[number];
    let (row, _): (&'static Row, _) = schemes::find(name).expect("it is in the table");
    let mut config = Config::default();
    let small = [("device.pages_per_block", "8"), ("device.page_bytes", "512")];
    for (key, value) in small.iter().chain(pairs) {
        config.set(key, value).expect("legal settings");
    }
    let bytes = 12 * 8 * 512;
    config.device.set_capacity(bytes, 0);
    let minimum = (row.minimum_blocks)(&config);
    config.device.set_capacity(bytes, minimum);
    Chosen { name: name.to_owned(), by_name: true, row, config }
}

/// A snapshot in the input of [`fuzz_snapshot`]: the file, and the device that it is read for.
/// Where the first byte says so the digest at its end is made right.
fn snapshot_of(data: &[u8]) -> Option<(Vec<u8>, Chosen)> {
    let (&choice, rest) = data.split_first()?;
    let mut bytes = rest.to_vec();
    if choice & 1 == 1 && bytes.len() > DIGEST {
        let ends = bytes.len() - DIGEST;
        let digest = Sha256::digest(&bytes[..ends]);
        bytes[ends..].copy_from_slice(&digest);
    }
    Some((bytes, chosen(usize::from(choice >> 1) % DEVICES.len())))
}

/// Bytes of the digest at the end of a snapshot.
const DIGEST: usize = 32;

/// The file, opened as a snapshot.
fn opened(bytes: &[u8]) -> Result<Snapshot> {
    let file = tempfile::NamedTempFile::new().expect("a file can be made");
    fs::write(file.path(), bytes).expect("a file can be written");
    Snapshot::open(file.path(), &Silent)
}

/// Whether the input of [`fuzz_snapshot`] is a whole snapshot for its device.
#[must_use]
pub fn is_snapshot(data: &[u8]) -> bool {
    let read = snapshot_of(data).map(|(bytes, chosen)| {
        let snapshot = opened(&bytes)?;
        snapshot.check(&chosen, 1)?;
        image_of(snapshot.body_of(&bytes), &chosen).map_err(Error::Run)
    });
    matches!(read, Some(Ok(_)))
}

/// Puts an image onto a new device, and what lies there as an image again.
fn image_of(mut body: &[u8], chosen: &Chosen) -> Result<Vec<u8>, String> {
    let mut device = (chosen.row.open)(&chosen.config, 1).expect("sized for the scheme");
    flash_image::read(&mut body, device.board_mut().nand_mut())?;
    flash_image::read_pcm(body, device.pcm_mut())?;
    let mut written = Vec::new();
    flash_image::write(&mut written, device.board().nand()).expect("written to memory");
    flash_image::write_pcm(&mut written, device.pcm()).expect("written to memory");
    Ok(written)
}

/// Files of snapshots, as [`snapshot_of`] finds them: what is no snapshot is refused, and what is
/// put onto the flash lies there as it was said, so that it is the same when it is saved and put
/// back.
///
/// The scheme's recovery is none of it: a digest that is right says that the content is what
/// `ftlab` wrote.
pub fn fuzz_snapshot(data: &[u8]) -> bool {
    let Some((bytes, chosen)) = snapshot_of(data) else { return false };
    let Ok(snapshot) = opened(&bytes) else { return false };
    if let Err(error) = snapshot.check(&chosen, 1) {
        assert!(!error.to_string().is_empty(), "refused without a word");
    }
    let Ok(written) = image_of(snapshot.body_of(&bytes), &chosen) else { return false };
    let again = image_of(&written, &chosen).expect("what was written is legal");
    assert!(written == again, "what lies on flash changes when it is read back");
    true
}

/// Files of results and of kept runs: what is legal is the same when it is written and read again.
pub fn fuzz_results(data: &[u8]) -> bool {
    let Ok(runs) = read_json(data) else { return false };
    let written = serde_json::to_vec(&runs).expect("what was read has a JSON form");
    let again = read_json(&written).expect("what was written is legal");
    let again = serde_json::to_vec(&again).expect("what was read has a JSON form");
    assert!(written == again, "a result changes when it is read back");
    true
}

/// Bytes of a snapshot file of each of the devices behind [`fuzz_snapshot`], as its input.
///
/// # Panics
/// When one cannot be made.
#[must_use]
pub fn snapshots() -> Vec<Vec<u8>> {
    use crate::files::ResultFile;
    use crate::plan::snapshot::save;
    use crate::unfinished::Unfinished;
    use ftlab_engine::request::{Op, Request};

    let made = |number: usize| {
        let chosen = chosen(number);
        let mut device = (chosen.row.open)(&chosen.config, 1).expect("sized for the scheme");
        for turn in 0..60u64 {
            let request = Request {
                arrival: 0,
                op: if turn % 11 == 10 { Op::Trim } else { Op::Write },
                first_sector: turn * 7 % 90,
                sectors: 1 + (turn % 4) as u32,
                unit: 0,
                stream: None,
                content: None,
            };
            device.submit(&request).expect("the device works");
        }
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("s");
        let file = ResultFile::claim(&path, &Unfinished::default()).expect("it is new");
        save(file, device.as_mut(), (&chosen, 1), &Silent).expect("a file can be written");
        let bytes = fs::read(&path).expect("it is there");
        [&[1 | (number as u8) << 1], &bytes[..]].concat()
    };
    (0..DEVICES.len()).map(made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the fuzzer begins with is whole, and with one byte wrong it is refused.
    #[test]
    fn snapshots_to_begin_with_are_whole() {
        for mut bytes in snapshots() {
            assert!(is_snapshot(&bytes));
            assert!(fuzz_snapshot(&bytes));
            // Nobody makes the digest right.
            bytes[0] &= !1;
            assert!(is_snapshot(&bytes));
            bytes[40] ^= 1;
            assert!(!is_snapshot(&bytes));
        }
    }
}
