//! A device's flash and phase-change memory in a file: `--save-snapshot FILE` writes it,
//! `--precondition snapshot:FILE` starts from it.
//!
//! A snapshot holds what would be there after the power went: every programmed page with its
//! out-of-band area, the words of map, checkpoint and record pages, the wear of the blocks, and the
//! table in phase-change memory where the scheme has one. The scheme finds its map by its own
//! recovery, with cold caches. Before it was saved everything was flushed, so nothing is lost; what
//! only the cache of a table in phase-change memory knew, recovery corrects there.
//!
//! The file: [`MAGIC`], the header as JSON (its length first), the blocks and the words of
//! phase-change memory (`flash_image.rs`), and the SHA-256 of all that. Numbers are
//! little-endian.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use ftlab_engine::config::Config;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes::{Location, Row};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Lpn;
use ftlab_report::derive::json;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::files::{ResultFile, check_folder, refuse_existing};
use crate::flash_image;
use crate::observer::{Counts, Observer, Steps};
use crate::selection::Chosen;

/// The first bytes of every snapshot.
const MAGIC: &[u8; 16] = b"ftlab snapshot\n\0";
/// Of the format; another one is refused.
const VERSION: u64 = 2;
/// Bytes of a header are fewer.
const HEADER_BYTES_MAX: u32 = 1 << 20;
const DIGEST_BYTES: u64 = 32;

/// Settings beside `device.*`, `alloc.*` and those of the scheme that say what lies on the flash.
const BINDING_KEYS: &[&str] = &[
    "io.partial_write",
    "nand.factory_bad_blocks",
    "nand.factory_bad_rate",
    "nand.program_failure_rate",
    "rain.stripe",
];
/// Settings among those that say nothing about it: how much memory there is, what of the device is
/// in use, and when blocks die.
const FREE_KEYS: &[&str] = &[
    "device.name",
    "device.active_region",
    "device.ram_bytes",
    "device.endurance_cycles",
    "device.slc_endurance_cycles",
];

/// A snapshot that is complete and whose header was read.
pub struct Snapshot {
    path: PathBuf,
    header: Map<String, Value>,
    digest: String,
    /// Where the content begins and ends.
    body: (u64, u64),
}

impl Snapshot {
    /// Of its bytes, in hex.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Reads the header and checks the file from end to end, watched.
    pub fn open(path: &Path, observer: &dyn Observer) -> Result<Self> {
        let refuse =
            |why: &str| Error::usage(format!("--precondition snapshot:{} {why}", path.display()));
        let cannot = |error: std::io::Error| refuse(&format!("cannot be read ({error})"));
        let file = File::open(path).map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        let mut file = BufReader::new(file);
        let mut start = [0; 20];
        let foreign = "is no snapshot of ftlab; legal: a file that --save-snapshot wrote";
        file.read_exact(&mut start).map_err(|_| refuse(foreign))?;
        if &start[..16] != MAGIC {
            return Err(refuse(foreign));
        }
        let damaged = "is damaged or cut short: its content is not what the digest at its end says";
        let header_bytes = u32::from_le_bytes([start[16], start[17], start[18], start[19]]);
        let begins = 20 + u64::from(header_bytes);
        if header_bytes >= HEADER_BYTES_MAX || begins + DIGEST_BYTES > length {
            return Err(refuse(damaged));
        }
        let ends = length - DIGEST_BYTES;
        file.seek(SeekFrom::Start(0)).map_err(cannot)?;
        let label = format!("digest of {}", path.display());
        let steps = Steps::of(observer, Counts::Bytes, &label, Some(ends));
        let mut digest = Digesting { inner: steps.over(std::io::sink()), digest: Sha256::new() };
        let copied = std::io::copy(&mut (&mut file).take(ends), &mut digest);
        copied.map_err(|error| steps.why(cannot(error)))?;
        let mut expected = [0; DIGEST_BYTES as usize];
        file.read_exact(&mut expected).map_err(cannot)?;
        if digest.digest.finalize().as_slice() != expected {
            return Err(refuse(damaged));
        }
        file.seek(SeekFrom::Start(20)).map_err(cannot)?;
        let header = serde_json::from_reader((&mut file).take(u64::from(header_bytes)));
        let header: Map<String, Value> = header.map_err(|_| refuse(damaged))?;
        let version = header.get("version").and_then(Value::as_u64).unwrap_or(0);
        if version != VERSION {
            return Err(refuse(&format!(
                "is a snapshot of version {version}; this ftlab reads version {VERSION}"
            )));
        }
        let digest = hexadecimal(&expected);
        Ok(Snapshot { path: path.to_owned(), header, digest, body: (begins, ends) })
    }

    /// What of the bytes of its file is put onto a device.
    pub(crate) fn body_of<'a>(&self, file: &'a [u8]) -> &'a [u8] {
        &file[self.body.0 as usize..self.body.1 as usize]
    }

    /// Whether it is of this scheme on this device; the error names the settings that differ.
    pub fn check(&self, chosen: &Chosen, seed: u64) -> Result<()> {
        let refuse = |why: String| {
            Error::usage(format!(
                "--precondition snapshot:{} does not fit {}: {why}",
                self.path.display(),
                chosen.name
            ))
        };
        let scheme = self.header.get("scheme").and_then(Value::as_str).unwrap_or_default();
        if scheme != chosen.row.paper.name {
            return Err(refuse(format!(
                "it is the flash of {scheme}; a scheme reads its own only"
            )));
        }
        if chosen.config.device.ram_nonvolatile {
            return Err(refuse(NONVOLATILE.to_owned()));
        }
        let empty = Map::new();
        let saved = self.header.get("settings").and_then(Value::as_object).unwrap_or(&empty);
        let own = binding_settings(chosen.row, &chosen.config, seed);
        let keys: BTreeMap<&str, (Option<&Value>, Option<&Value>)> = own
            .keys()
            .chain(saved.keys())
            .map(|key| (key.as_str(), (saved.get(key), own.get(key))))
            .collect();
        let differing: Vec<String> = keys
            .into_iter()
            .filter(|(_, (saved, own))| saved != own)
            .map(|(key, (saved, own))| {
                format!("{key} was {}, this run has {}", shown(saved), shown(own))
            })
            .collect();
        match differing.is_empty() {
            true => Ok(()),
            false => Err(refuse(differing.join("; "))),
        }
    }

    /// Puts flash and phase-change memory onto a new device and lets the scheme recover.
    /// Every byte is a step.
    pub fn load(&self, device: &mut dyn Device, steps: &Steps<'_>) -> Result<()> {
        let damaged = |why: String| {
            Error::Run(format!("snapshot {} cannot be used: {why}", self.path.display()))
        };
        let unreadable = |error: std::io::Error| damaged(format!("it cannot be read ({error})"));
        let mut file = File::open(&self.path).map_err(unreadable)?;
        file.seek(SeekFrom::Start(self.body.0)).map_err(unreadable)?;
        let mut body = BufReader::new(steps.over(file)).take(self.body.1 - self.body.0);
        let read = flash_image::read(&mut body, device.board_mut().nand_mut())
            .and_then(|()| flash_image::read_pcm(body, device.pcm_mut()));
        read.map_err(|why| steps.why(damaged(why)))?;
        device.power_cycle().map_err(|error| damaged(format!("during recovery: {error}")))?;
        let found = live(device, || Ok(()))?;
        if Some(&Value::from(found.as_str())) != self.header.get("live") {
            return Err(damaged(
                "the scheme's recovery did not find every page that was there; a scheme that keeps \
                 its map in memory over a power cut (dftl.consistency) cannot start from flash \
                 alone"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// What the result calls it.
    pub fn title(&self) -> String {
        let path = self.path.display();
        let pcm = self.header.get("pcm_words").is_some_and(|words| words != 0);
        let held = if pcm { "flash and memory that outlives the power" } else { "flash" };
        let digest = &self.digest[..16];
        format!("snapshot:{path} (sha256 {digest}, {held}, rebuilt by recovery)")
    }
}

const NONVOLATILE: &str = "device.ram_nonvolatile = true keeps memory over a power cut, and a \
                           snapshot holds none";

/// Flushes the device and writes its flash and phase-change memory to a file that was claimed for
/// it, watched.
pub fn save(
    file: ResultFile,
    device: &mut dyn Device,
    (chosen, seed): (&Chosen, u64),
    observer: &dyn Observer,
) -> Result<()> {
    let row = chosen.row;
    let arrival = device.idle_from();
    let flush = Request {
        arrival,
        op: Op::Flush,
        first_sector: 0,
        sectors: 0,
        unit: 0,
        stream: None,
        content: None,
    };
    device
        .submit(&flush)
        .map_err(|error| Error::Run(format!("before the snapshot was saved: {error}")))?;
    let label = format!("{} (saving)", chosen.name);
    let pages = u64::from(device.board().geometry().logical_pages);
    let steps = Steps::of(observer, Counts::Pages, &label, Some(pages));
    let live = live(device, || steps.advance())?;
    drop(steps);
    let mut header = Map::new();
    header.insert("version".to_owned(), VERSION.into());
    header.insert("scheme".to_owned(), row.paper.name.into());
    header.insert("made_by".to_owned(), env!("CARGO_PKG_VERSION").into());
    let settings = binding_settings(row, &chosen.config, seed);
    header.insert("settings".to_owned(), Value::Object(settings));
    header.insert("live".to_owned(), live.into());
    header.insert("pcm_words".to_owned(), device.pcm().len().into());
    let text = Value::Object(header).to_string();
    let steps = Steps::of(observer, Counts::Bytes, &label, None);
    let written = || -> std::io::Result<()> {
        let handle = file.handle().map_err(|_| std::io::ErrorKind::Other)?;
        let mut out =
            Digesting { inner: BufWriter::new(steps.over(handle)), digest: Sha256::new() };
        out.write_all(MAGIC)?;
        out.write_all(&(text.len() as u32).to_le_bytes())?;
        out.write_all(text.as_bytes())?;
        flash_image::write(&mut out, device.board().nand())?;
        flash_image::write_pcm(&mut out, device.pcm())?;
        let Digesting { mut inner, digest } = out;
        inner.write_all(digest.finalize().as_slice())?;
        inner.flush()
    };
    written().map_err(|error| steps.why(file.cannot(&error)))?;
    file.persist()
}

/// Whether the snapshot of a device under these settings can be used later, and its file is new.
pub fn check_wanted(path: &Path, chosen: &Chosen) -> Result<()> {
    match chosen.config.device.ram_nonvolatile {
        true => Err(Error::usage(format!("--save-snapshot: {NONVOLATILE}"))),
        false => refuse_existing(path).and_then(|()| check_folder("--save-snapshot", path)),
    }
}

/// The settings that say what lies on the flash.
pub(crate) fn binding_settings(row: &Row, config: &Config, seed: u64) -> Map<String, Value> {
    let mut settings = Map::new();
    for described in config.describe() {
        let key = described.key;
        let group = key.split_once('.').map_or("", |(group, _)| group);
        let binds = matches!(group, "device" | "alloc")
            || row.reads(config, group)
            || BINDING_KEYS.contains(&key.as_str());
        if binds && !FREE_KEYS.contains(&key.as_str()) {
            settings.insert(key, json(&described.value));
        }
    }
    if config.nand.factory_bad_rate > 0.0 {
        settings.insert("seed".to_owned(), seed.into());
    }
    settings
}

/// Number and digest of the pages that the host would read, each with its version. `noted` is
/// called at each page, and may end it.
fn live(device: &dyn Device, noted: impl Fn() -> Result<()>) -> Result<String> {
    let state = device.board().nand().state();
    let mut digest = Sha256::new();
    let mut pages = 0u64;
    for lpn in (0..device.board().geometry().logical_pages).map(Lpn) {
        noted()?;
        let tag = match device.locate(lpn) {
            Location::Flash(ppn) => state.tag(ppn),
            Location::Ram(tag) => tag,
            Location::Nowhere => continue,
        };
        pages += 1;
        digest.update(lpn.0.to_le_bytes());
        digest.update(tag.0.to_le_bytes());
    }
    Ok(format!("{pages} pages, {}", hexadecimal(digest.finalize().as_slice())))
}

fn shown(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "absent".to_owned(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes every character");
        text
    })
}

/// Passes bytes on and digests them.
struct Digesting<W> {
    inner: W,
    digest: Sha256,
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.digest.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests;
