//! How much of a log was flushed, in a file of its own: a log that is shorter lost something.
//!
//! Twenty bytes, always at the same place: number of the log (8), its length at the last flush (8),
//! CRC-32 of these sixteen. They are written once what they tell of stays, and a flush is answered
//! once they do too. They lie in one sector of a disk, which is written as a whole or not at all.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::files::{Kept, write_aside};

const BYTES: usize = 20;

/// The file, and how far the process got.
pub struct Flushed {
    marker: Mutex<Marker>,
    /// Of all that was appended since the store was opened, in bytes.
    until: AtomicU64,
}

pub struct Marker {
    file: Kept,
    /// A system tells of what it could not write once, and then never again.
    failed: bool,
}

impl Marker {
    fn sync(&mut self, files: &[&Kept]) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier flush failed"));
        }
        files.iter().try_for_each(|file| file.sync()).inspect_err(|_| self.failed = true)
    }
}

fn encoded(generation: u64, length: u64) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&generation.to_le_bytes());
    bytes[8..16].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32fast::hash(&bytes[..16]);
    bytes[16..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Number and flushed length of the log that a file tells of.
///
/// # Errors
/// It is none of these.
pub fn decoded(bytes: &[u8]) -> Result<(u64, u64), String> {
    let (words, []) = bytes.as_chunks::<4>() else { return Err("it has another length".into()) };
    let &[g0, g1, l0, l1, checksum] = words else { return Err("it has another length".into()) };
    if u32::from_le_bytes(checksum) != crc32fast::hash(&bytes[..16]) {
        return Err("it is not what its checksum says".into());
    }
    let word = |low: [u8; 4], high: [u8; 4]| {
        u64::from(u32::from_le_bytes(low)) | u64::from(u32::from_le_bytes(high)) << 32
    };
    Ok((word(g0, g1), word(l0, l1)))
}

/// Nothing is flushed yet.
pub fn begin(path: &Path) -> io::Result<()> {
    write_aside(path, &encoded(0, 0))
}

impl Flushed {
    /// The file, which is there.
    pub fn open(path: &Path) -> io::Result<Arc<Self>> {
        let marker = Mutex::new(Marker { file: Kept::open(path)?, failed: false });
        Ok(Arc::new(Flushed { marker, until: AtomicU64::new(0) }))
    }

    /// How much of all that was appended stays when the machine stops.
    pub fn until(&self) -> u64 {
        self.until.load(Ordering::SeqCst)
    }

    /// Whoever has it makes things stable; others wait.
    pub fn marker(&self) -> MutexGuard<'_, Marker> {
        self.marker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A checkpoint stays: of its log nothing is needed, and of what was appended before nothing
    /// either.
    pub fn start_log(&self, generation: u64, appended: u64) -> io::Result<()> {
        self.write(&mut self.marker(), (generation, 0), appended)
    }

    /// Makes data stable, before a checkpoint that counts on it.
    pub fn sync_data(&self, data: &Kept) -> io::Result<()> {
        self.marker().sync(&[data])
    }

    fn write(
        &self,
        marker: &mut Marker,
        (generation, length): (u64, u64),
        appended: u64,
    ) -> io::Result<()> {
        let written = marker.file.write_all_at(&encoded(generation, length), 0);
        written.and_then(|()| marker.file.sync()).inspect_err(|_| marker.failed = true)?;
        self.until.store(appended, Ordering::SeqCst);
        Ok(())
    }
}

/// What is to stay: taken from a store while nobody appends to it, and made stable while others do.
pub struct Flush {
    pub data: Arc<Kept>,
    pub log: Arc<Kept>,
    pub generation: u64,
    pub length: u64,
    /// All that was appended.
    pub appended: u64,
    pub flushed: Arc<Flushed>,
}

impl Flush {
    /// Returns once it stays when the machine stops. Whoever comes meanwhile waits, and finds most
    /// of the work done.
    pub fn run(&self) -> io::Result<()> {
        if self.flushed.until() >= self.appended {
            return Ok(());
        }
        let mut marker = self.flushed.marker();
        if self.flushed.until() >= self.appended {
            // Another flush did it, or a checkpoint.
            return Ok(());
        }
        marker.sync(&[&self.data, &self.log])?;
        self.flushed.write(&mut marker, (self.generation, self.length), self.appended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_that_is_wrong_is_found() {
        let bytes = encoded(3 << 40, 5 << 33);
        assert_eq!(decoded(&bytes), Ok((3 << 40, 5 << 33)));
        for bit in 0..BYTES * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decoded(&damaged).is_err(), "bit {bit}");
        }
        for length in 0..BYTES {
            assert!(decoded(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    /// A log, of which so much was appended in all, so much of it to this one.
    fn flush(folder: &Path, flushed: &Arc<Flushed>, appended: u64, length: u64) -> Flush {
        let file = |name: &str| Arc::new(Kept::create(&folder.join(name)).unwrap());
        let (data, log) = (file("data"), file("log"));
        Flush { data, log, generation: 1, length, appended, flushed: Arc::clone(flushed) }
    }

    /// Flushes run beside requests and checkpoints, and end in any order.
    #[test]
    fn a_flush_that_comes_late_takes_nothing_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flushed");
        begin(&path).unwrap();
        let told = || decoded(&std::fs::read(&path).unwrap()).unwrap();
        let flushed = Flushed::open(&path).unwrap();
        let [first, second, third, fourth] = [(100, 100), (150, 150), (180, 180), (200, 20)]
            .map(|(appended, length)| flush(folder.path(), &flushed, appended, length));
        second.run().unwrap();
        assert_eq!((told(), flushed.until()), ((1, 150), 150));
        first.run().unwrap();
        assert_eq!((told(), flushed.until()), ((1, 150), 150));
        flushed.start_log(2, 180).unwrap();
        third.run().unwrap();
        assert_eq!((told(), flushed.until()), ((2, 0), 180), "the checkpoint did it");
        Flush { generation: 2, ..fourth }.run().unwrap();
        assert_eq!((told(), flushed.until()), ((2, 20), 200));
    }

    /// A system tells of what it could not write once: whoever asks again must not hear that all is
    /// well.
    #[test]
    fn nothing_is_flushed_behind_a_flush_that_failed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flushed");
        begin(&path).unwrap();
        let flushed = Flushed::open(&path).unwrap();
        flushed.marker().failed = true;
        assert!(flush(folder.path(), &flushed, 100, 100).run().is_err());
        assert!(flushed.sync_data(&Kept::create(&folder.path().join("data")).unwrap()).is_err());
        assert_eq!(flushed.until(), 0);
    }
}
