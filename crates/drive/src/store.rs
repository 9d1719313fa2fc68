//! A drive in a folder, so that it outlives its process.
//!
//! `drive.json` says of which scheme and settings it is, `data` holds the bytes of pages in slots,
//! `flash.N` is a checkpoint of what lies on the flash and which version is in which slot, `log.N` what
//! requests changed since (`store/log.rs`). A request is answered once its group is in the log, which
//! makes it survive the end of the process; a flush also asks the system to write both files. What the
//! memory of the device knew is not here: the scheme finds it again, as after a power cut.
//!
//! Everything has a checksum. A group that was cut short at the end of the log is a request that was
//! never answered; what else is wrong is damage, and refused by name. After a crash of the whole
//! machine that may be so for requests behind the last flush.

mod image;
mod log;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ftlab_engine::ssd::Device;
use ftlab_engine::units::Tag;
use ftlab_lab::{Error, Result, flash_image};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub use image::Image;
pub use log::Group;

use crate::payloads::Payloads;

const DESCRIPTION: &str = "drive.json";
const VERSION: u64 = 1;
const DIGEST_BYTES: usize = 32;
/// A log of this length is followed by a checkpoint.
const LOG_BYTES: u64 = 32 << 20;

/// An open folder.
pub struct Store {
    path: PathBuf,
    /// Locked for as long as it is open.
    _lock: File,
    generation: u64,
    log: Option<File>,
    log_bytes: u64,
}

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

impl Store {
    /// Opens a folder that holds a drive of this shape, with what it holds; or makes a new one, with
    /// nothing.
    ///
    /// # Errors
    /// [`Error::Usage`]: a folder that holds something else, or another drive, or is in use, or is
    /// damaged. The error names the file.
    pub fn open(path: &Path, shape: Shape<'_>) -> Result<(Self, Option<Image>)> {
        let cannot = |error: io::Error| refused(path, &format!("cannot be used ({error})"));
        let is_new = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(path).map_err(cannot)?;
                true
            }
            Err(error) => return Err(cannot(error)),
        };
        let description = path.join(DESCRIPTION);
        if !is_new && !description.exists() {
            return Err(refused(path, "holds something else than a drive"));
        }
        let lock = OpenOptions::new().create(true).append(true).open(path.join("lock"));
        let lock = lock.map_err(cannot)?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| refused(path, "is in use by another process"))?;
        if is_new {
            let mut all = Map::new();
            all.insert("version".to_owned(), VERSION.into());
            all.insert("page_bytes".to_owned(), shape.page_bytes.into());
            all.insert("settings".to_owned(), Value::Object(shape.identity.clone()));
            let text = format!("{:#}\n", Value::Object(all));
            write_aside(&description, text.as_bytes()).map_err(cannot)?;
        } else {
            check(&description, shape)?;
        }
        let mut store =
            Store { path: path.to_owned(), _lock: lock, generation: 0, log: None, log_bytes: 0 };
        store.generation = store.newest().map_err(cannot)?;
        if store.generation == 0 {
            // It ended before it was served for the first time.
            return Ok((store, None));
        }
        let image = store.read(shape)?;
        Ok((store, Some(image)))
    }

    /// The file of slots.
    pub fn data(&self) -> Result<File> {
        let path = self.path.join("data");
        let file =
            OpenOptions::new().create(true).read(true).write(true).truncate(false).open(&path);
        file.map_err(|error| refused(&path, &format!("cannot be used ({error})")))
    }

    fn named(&self, what: &str, generation: u64) -> PathBuf {
        self.path.join(format!("{what}.{generation}"))
    }

    /// The last checkpoint, 0 where there is none.
    fn newest(&self) -> io::Result<u64> {
        let mut newest = 0;
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("flash."));
            newest = newest.max(number.and_then(|number| number.parse().ok()).unwrap_or(0));
        }
        Ok(newest)
    }

    fn read(&self, shape: Shape<'_>) -> Result<Image> {
        let path = self.named("flash", self.generation);
        let damaged = |path: &Path, why: &str| refused(path, &format!("is damaged: {why}"));
        let bytes = fs::read(&path).map_err(|error| damaged(&path, &error.to_string()))?;
        let split = bytes.len().checked_sub(DIGEST_BYTES).map(|length| bytes.split_at(length));
        let (body, digest) = split.ok_or_else(|| damaged(&path, "it is too short"))?;
        if Sha256::digest(body).as_slice() != digest {
            return Err(damaged(&path, "it is not what its digest says"));
        }
        let image = Image::read(body, shape.pages_per_block, shape.words_max);
        let mut image = image.map_err(|why| damaged(&path, &why))?;
        let path = self.named("log", self.generation);
        let bytes = match fs::read(&path) {
            // It ended between checkpoint and log.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| damaged(&path, &error.to_string()))?,
        };
        log::read(&bytes, |entry| image.change(entry)).map_err(|why| refused(&path, &why))?;
        Ok(image)
    }

    /// What lies on the flash now, and an empty log.
    pub fn checkpoint(
        &mut self,
        device: &dyn Device,
        prepared: Tag,
        payloads: &Payloads,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        flash_image::write(&mut bytes, device.board().nand())?;
        flash_image::write_pcm(&mut bytes, device.pcm())?;
        let versions = payloads.all();
        let mut put = |number: u32| bytes.extend_from_slice(&number.to_le_bytes());
        put(prepared.0);
        put(versions.len() as u32);
        for (version, slot, checksum) in versions {
            [version, slot, checksum].into_iter().for_each(&mut put);
        }
        let digest = Sha256::digest(&bytes);
        bytes.extend_from_slice(&digest);
        payloads.sync()?;
        let before = self.generation;
        self.generation += 1;
        write_aside(&self.named("flash", self.generation), &bytes)?;
        let path = self.named("log", self.generation);
        self.log = Some(OpenOptions::new().create_new(true).append(true).open(path)?);
        self.log_bytes = 0;
        for what in ["flash", "log"] {
            // What is older is read by nobody.
            let _ = fs::remove_file(self.named(what, before));
        }
        Ok(())
    }

    /// One request more.
    pub fn append(&mut self, group: &mut Group) -> io::Result<()> {
        let bytes = group.finished();
        self.log_bytes += bytes.len() as u64;
        self.log.as_mut().expect("begun with a checkpoint").write_all(bytes)
    }

    /// Whether a checkpoint is due.
    pub fn is_long(&self) -> bool {
        self.log_bytes > LOG_BYTES
    }

    /// What was appended stays when the machine stops.
    pub fn sync(&self) -> io::Result<()> {
        self.log.as_ref().map_or(Ok(()), File::sync_data)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether the folder holds a drive of this shape.
fn check(description: &Path, shape: Shape<'_>) -> Result<()> {
    let damaged = |why: &str| refused(description, &format!("is damaged: {why}"));
    let bytes = fs::read(description).map_err(|error| damaged(&error.to_string()))?;
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

/// A file that is there as a whole or not at all, and stays when the machine stops.
fn write_aside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".unfinished");
    let mut file = File::create(&aside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&aside, path)
}

fn refused(path: &Path, why: &str) -> Error {
    Error::usage(format!(
        "--store: {} {why}; legal: a new or empty folder, or that of a drive of this scheme and these \
         settings",
        path.display()
    ))
}
