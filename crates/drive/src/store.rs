//! A drive in a folder, so that it outlives its process.
//!
//! `drive.json` says of which scheme and settings it is, `data` holds the bytes of pages in slots,
//! `flash.N` is a checkpoint of what lies on the flash and which version is in which slot, `log.N`
//! what requests changed since (`store/log.rs`), `flushed` how much of which log was flushed
//! (`store/flushed.rs`); whoever has `lock` locked may use them. A request is answered once its
//! group is in the log, which makes it survive the end of the process; a flush is answered once the
//! disk of the machine has data, log and `flushed`. What the memory of the device knew is not here:
//! the scheme finds it again, as after a power cut. Cuts within a request are simulated (crash
//! tests).
//!
//! Everything has a checksum. What was flushed, and every checkpoint is, must be as it was written;
//! what is not, or is missing, is refused by name. Behind the last flush a log counts up to the
//! first group that is not whole, or whose data is not: there the process was killed, or the
//! machine failed. So that what was flushed can be read whatever came behind it, a slot that is
//! given up is written again only once that is flushed (`payloads.rs`).
//!
//! A checkpoint: data is made stable; `log.N+1` is made; `flash.N+1` is written aside, made stable
//! and renamed; `flushed` is set to the beginning of `log.N+1`; all of other numbers is removed.
//! The folder is made stable behind each name. So `flash.N` without `log.N` is damage, and so is a
//! log, or a `flushed`, of a checkpoint that is not there, except for an empty `log.N+1`.

mod flushed;
mod image;
mod log;
mod names;
mod reading;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ftlab_engine::ssd::Device;
use ftlab_engine::units::Tag;
use ftlab_lab::{Result, flash_image};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub use flushed::Flush;
pub use image::Image;
pub use log::Group;
pub use reading::Shape;

use crate::files::{Kept, remove, sync_folder, write_aside};
use crate::payloads::Payloads;
use flushed::Flushed;
use names::{DATA, DESCRIPTION, FLASH, FLUSHED, LOCK, LOG, VERSION, named, refused};
use reading::Held;

/// A log of this length, and as long as the checkpoint before it, is followed by a checkpoint.
const LOG_BYTES: u64 = 32 << 20;

/// Where a drive is kept.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    /// A new or empty folder, or that of a drive.
    pub path: &'a Path,
    /// The length of a log that is followed by a checkpoint, in bytes; none: 32 MiB, or that of the
    /// checkpoint before it where that is longer.
    pub log_bytes: Option<u64>,
}

/// An open folder.
pub struct Store {
    path: PathBuf,
    /// Locked for as long as it is open.
    _lock: File,
    data: Arc<Kept>,
    generation: u64,
    log: Option<Arc<Kept>>,
    log_bytes: u64,
    /// As asked for, and as it is after the last checkpoint.
    asked_log_bytes: Option<u64>,
    log_bytes_max: u64,
    /// All that was appended since it was opened.
    appended: u64,
    flushed: Arc<Flushed>,
}

impl Store {
    /// Opens a folder that holds a drive of this shape, with what it holds; or makes a new one,
    /// with nothing.
    ///
    /// # Errors
    /// [`ftlab_lab::Error::Usage`]: a folder that holds something else, or another drive, or is in
    /// use, or is damaged. The error names the file.
    pub fn open(folder: Folder<'_>, shape: Shape<'_>) -> Result<(Self, Option<Image>)> {
        let path = folder.path;
        let cannot = |error: io::Error| refused(path, &format!("cannot be used ({error})"));
        let lock = locked(path)?;
        let description = path.join(DESCRIPTION);
        if Held::look(path).map_err(cannot)?.is_new {
            let text = described(shape);
            write_aside(&description, text.as_bytes()).map_err(cannot)?;
        } else {
            reading::check(&description, shape)?;
        }
        let held = Held::look(path).map_err(cannot)?;
        let flushed = reading::flushed(path, &held)?;
        let (file, marker) = (path.join(DATA), path.join(FLUSHED));
        let data = if held.newest() == 0 { Kept::create(&file) } else { Kept::open(&file) };
        let data = Arc::new(data.map_err(|error| refused(&file, &format!("is damaged: {error}")))?);
        if held.newest() == 0 {
            // It ended before it was served for the first time, or is new.
            flushed::begin(&marker).map_err(cannot)?;
        }
        let store = Store {
            path: path.to_owned(),
            _lock: lock,
            flushed: Flushed::open(&marker).map_err(cannot)?,
            data,
            generation: held.newest(),
            log: None,
            log_bytes: 0,
            asked_log_bytes: folder.log_bytes,
            log_bytes_max: 0,
            appended: 0,
        };
        match store.generation {
            0 => Ok((store, None)),
            newest => {
                let image = reading::image(path, (newest, flushed), shape, &store.data)?;
                Ok((store, Some(image)))
            }
        }
    }

    /// The file of slots.
    pub fn data(&self) -> Arc<Kept> {
        Arc::clone(&self.data)
    }

    /// What lies on the flash now, and an empty log. Everything that was appended stays then.
    pub fn checkpoint(
        &mut self,
        device: &dyn Device,
        prepared: Tag,
        payloads: &Payloads,
    ) -> io::Result<()> {
        let bytes = checkpointed(device, prepared, payloads)?;
        self.flushed.sync_data(&self.data)?;
        let generation = self.generation + 1;
        let log = Kept::create(&named(&self.path, LOG, generation))?;
        sync_folder(&self.path)?;
        write_aside(&named(&self.path, FLASH, generation), &bytes)?;
        self.flushed.start_log(generation, self.appended)?;
        self.generation = generation;
        self.log = Some(Arc::new(log));
        self.log_bytes = 0;
        self.log_bytes_max = self.asked_log_bytes.unwrap_or(LOG_BYTES.max(bytes.len() as u64));
        Held::look(&self.path)?.others(generation).for_each(|name| remove(&self.path.join(name)));
        Ok(())
    }

    /// One request more.
    pub fn append(&mut self, group: &mut Group) -> io::Result<()> {
        let bytes = group.finished(self.generation, self.log_bytes);
        let log = self.log.as_ref().expect("begun with a checkpoint");
        log.write_all_at(bytes, self.log_bytes)?;
        self.log_bytes += bytes.len() as u64;
        self.appended += bytes.len() as u64;
        Ok(())
    }

    /// Whether a checkpoint is due.
    pub fn is_long(&self) -> bool {
        self.log_bytes > self.log_bytes_max
    }

    /// All that was appended since it was opened, in bytes, and how much of it is flushed.
    pub fn told(&self) -> (u64, u64) {
        (self.appended, self.flushed.until())
    }

    /// What makes all stable that was appended.
    pub fn flush(&self) -> Flush {
        Flush {
            data: Arc::clone(&self.data),
            log: Arc::clone(self.log.as_ref().expect("begun with a checkpoint")),
            generation: self.generation,
            length: self.log_bytes,
            appended: self.appended,
            flushed: Arc::clone(&self.flushed),
        }
    }
}

/// The lock of a folder, which is made where there is none.
fn locked(path: &Path) -> Result<File> {
    let cannot = |error: io::Error| refused(path, &format!("cannot be used ({error})"));
    match fs::create_dir(path) {
        Ok(()) => path.parent().map_or(Ok(()), |parent| match parent.as_os_str().is_empty() {
            true => sync_folder(Path::new(".")),
            false => sync_folder(parent),
        }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
    .map_err(cannot)?;
    // Nothing is left in a folder of somebody else. Whoever makes a drive begins with the
    // description.
    let held = Held::look(path).map_err(cannot)?;
    if held.has_others && !path.join(DESCRIPTION).exists() {
        return Err(refused(path, "holds something else than a drive"));
    }
    let lock = OpenOptions::new().create(true).append(true).open(path.join(LOCK));
    let lock = lock.map_err(cannot)?;
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| refused(path, "is in use by another process"))?;
    Ok(lock)
}

fn described(shape: Shape<'_>) -> String {
    let mut all = Map::new();
    all.insert("version".to_owned(), VERSION.into());
    all.insert("page_bytes".to_owned(), shape.page_bytes.into());
    all.insert("settings".to_owned(), Value::Object(shape.identity.clone()));
    format!("{:#}\n", Value::Object(all))
}

/// What lies on the flash as `flash.N` holds it ([`Image::read`]), and the digest of that.
fn checkpointed(device: &dyn Device, prepared: Tag, payloads: &Payloads) -> io::Result<Vec<u8>> {
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
    Ok(bytes)
}
