//! What a folder holds, and whether that is a drive as it was left.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use ftlab_lab::{Error, Result};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::flushed as marker;
use super::image::Image;
use super::log::{self, Told};
use super::names::{DATA, DESCRIPTION, FLASH, FLUSHED, LOCK, LOG, VERSION, named, refused};
use crate::files::{Kept, UNFINISHED};
use crate::payloads::ZEROES;

const DIGEST_BYTES: usize = 32;

/// What a store was asked to be, or is.
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    /// Scheme and settings that say what lies on the flash.
    pub identity: &'a Map<String, Value>,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Words of a page of a map.
    pub words_max: u32,
}

/// The names in a folder.
pub struct Held {
    /// Nothing, or what is left where a process was killed before a drive was described.
    pub is_new: bool,
    /// Names that no drive has.
    pub has_others: bool,
    flash: BTreeSet<u64>,
    logs: BTreeSet<u64>,
    unfinished: Vec<String>,
}

impl Held {
    pub fn look(path: &Path) -> io::Result<Self> {
        let mut held = Held {
            is_new: true,
            has_others: false,
            flash: BTreeSet::new(),
            logs: BTreeSet::new(),
            unfinished: Vec::new(),
        };
        for entry in fs::read_dir(path)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name == LOCK {
                continue;
            }
            if name.ends_with(UNFINISHED) {
                held.unfinished.push(name);
                continue;
            }
            held.is_new = false;
            let number = |what: &str| {
                let number = name.strip_prefix(what)?.strip_prefix('.')?;
                // As it is written here, and not as `01`.
                number.parse().ok().filter(|own: &u64| *own > 0 && own.to_string() == number)
            };
            match (number(FLASH), number(LOG)) {
                (Some(number), _) => drop(held.flash.insert(number)),
                (_, Some(number)) => drop(held.logs.insert(number)),
                _ => held.has_others |= ![DESCRIPTION, DATA, FLUSHED].contains(&name.as_str()),
            }
        }
        Ok(held)
    }

    /// The number of the last checkpoint, 0 where there is none.
    pub fn newest(&self) -> u64 {
        self.flash.last().copied().unwrap_or(0)
    }

    /// What is left of other checkpoints than this one.
    pub fn others(&self, own: u64) -> impl Iterator<Item = String> {
        let of = |what: &'static str, numbers: &BTreeSet<u64>| {
            let others = numbers.iter().filter(move |number| **number != own);
            others.map(|number| format!("{what}.{number}")).collect::<Vec<_>>()
        };
        let all = of(FLASH, &self.flash).into_iter().chain(of(LOG, &self.logs));
        all.chain(self.unfinished.clone())
    }
}

fn damaged(path: &Path, why: &str) -> Error {
    refused(path, &format!("is damaged: {why}"))
}

fn missing(path: &Path) -> Error {
    refused(path, "is missing: the drive is damaged")
}

fn length(path: &Path) -> Result<u64> {
    let found = fs::metadata(path);
    found.map(|found| found.len()).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(path),
        _ => damaged(path, &error.to_string()),
    })
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(path),
        _ => damaged(path, &error.to_string()),
    })
}

/// Looks whether everything is there that belongs to the last checkpoint; how much of its log was
/// flushed.
pub fn flushed(path: &Path, held: &Held) -> Result<u64> {
    let (newest, marker) = (held.newest(), path.join(FLUSHED));
    let data = path.join(DATA);
    if newest == 0 && !marker.exists() && held.logs.is_empty() {
        return match data.exists() && length(&data)? > 0 {
            true => Err(missing(&marker)),
            false => Ok(0),
        };
    }
    let told = marker::decoded(&bytes_of(&marker)?).map_err(|why| damaged(&marker, &why))?;
    let (generation, flushed) = told;
    // It is told last of a checkpoint.
    if generation > newest {
        return Err(missing(&named(path, FLASH, generation)));
    }
    for log in held.logs.range(newest + 1..) {
        if *log > newest + 1 || length(&named(path, LOG, *log))? > 0 {
            return Err(missing(&named(path, FLASH, *log)));
        }
    }
    let has_data = length(&data);
    if newest == 0 {
        // Nobody wrote anything yet, and `data` may come still.
        return if has_data.is_ok_and(|bytes| bytes > 0) {
            Err(missing(&named(path, FLASH, 1)))
        } else {
            Ok(0)
        };
    }
    has_data?;
    let log = named(path, LOG, newest);
    let log_bytes = length(&log)?;
    if generation == newest {
        return Ok(flushed);
    }
    if generation + 1 < newest || log_bytes > 0 {
        return Err(damaged(&marker, &format!("it tells of log {generation}, before {newest}")));
    }
    Ok(0)
}

/// What the last checkpoint holds, and its log behind it.
pub fn image(
    path: &Path,
    (newest, flushed): (u64, u64),
    shape: Shape<'_>,
    data: &Kept,
) -> Result<Image> {
    let file = named(path, FLASH, newest);
    let bytes = bytes_of(&file)?;
    let split = bytes.len().checked_sub(DIGEST_BYTES).map(|length| bytes.split_at(length));
    let (body, digest) = split.ok_or_else(|| damaged(&file, "it is too short"))?;
    if Sha256::digest(body).as_slice() != digest {
        return Err(damaged(&file, "it is not what its digest says"));
    }
    let image = Image::read(body, shape.pages_per_block, shape.words_max);
    let mut image = image.map_err(|why| damaged(&file, &why))?;
    let is_there = |slot: u32, checksum: u32| {
        let mut page = vec![0; shape.page_bytes as usize];
        slot == ZEROES
            || (data.read_exact_at(&mut page, u64::from(slot) * shape.page_bytes).is_ok()
                && crc32fast::hash(&page) == checksum)
    };
    let file = named(path, LOG, newest);
    let told = Told { generation: newest, flushed };
    let read = log::read(&bytes_of(&file)?, told, is_there, |entry| image.change(entry));
    image.left_out = read.map_err(|why| refused(&file, &why))?;
    Ok(image)
}

/// Whether the folder holds a drive of this shape.
pub fn check(description: &Path, shape: Shape<'_>) -> Result<()> {
    let damaged = |why: &str| damaged(description, why);
    let bytes = bytes_of(description)?;
    let told: Value =
        serde_json::from_slice(&bytes).map_err(|error| damaged(&error.to_string()))?;
    if told["version"] != VERSION {
        return Err(refused(description, &format!("is of another version than {VERSION}")));
    }
    let held = told["settings"].as_object().ok_or_else(|| damaged("it has no settings"))?;
    let mut differing: Vec<String> = Vec::new();
    let keys =
        shape.identity.keys().chain(held.keys().filter(|key| !shape.identity.contains_key(*key)));
    for key in keys {
        let (own, asked) = (held.get(key), shape.identity.get(key));
        if own != asked {
            let word = |value: Option<&Value>| value.map_or("absent".to_owned(), Value::to_string);
            differing.push(format!("{key} is {} there and {} here", word(own), word(asked)));
        }
    }
    match differing.is_empty() {
        true => Ok(()),
        false => {
            Err(refused(description, &format!("is of another drive: {}", differing.join("; "))))
        }
    }
}
