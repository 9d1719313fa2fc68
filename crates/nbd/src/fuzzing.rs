//! The entry point for fuzzing, shared by the libFuzzer target and by the smoke test on the stable
//! toolchain.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use crate::{Abilities, Error, Export, serve};

/// Bytes of the export behind it.
pub const SIZE: usize = 1 << 16;

struct Memory(Mutex<Vec<u8>>);

impl Memory {
    fn with(&self, change: impl FnOnce(&mut [u8])) -> Result<(), Error> {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}

impl Export for Memory {
    fn size(&self) -> u64 {
        SIZE as u64
    }

    fn abilities(&self) -> Abilities {
        Abilities { read_only: false, trim: true, fast_zero: true, multi_connection: true }
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.with(|own| bytes.copy_from_slice(&own[offset as usize..][..bytes.len()]))
    }

    fn write(&self, offset: u64, bytes: &[u8], _fua: bool) -> Result<(), Error> {
        self.with(|own| own[offset as usize..][..bytes.len()].copy_from_slice(bytes))
    }

    fn flush(&self) -> Result<(), Error> {
        Ok(())
    }

    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), Error> {
        self.zero(offset, length, true, fua)
    }

    fn zero(&self, offset: u64, length: u64, _may_trim: bool, _fua: bool) -> Result<(), Error> {
        self.with(|own| own[offset as usize..][..length as usize].fill(0))
    }
}

/// Counts what is written.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A client that sends these bytes and goes: whatever they are, the conversation ends, no request
/// reaches beyond the export (which would panic), and what is answered is bounded by what was sent.
pub fn fuzz_conversation(data: &[u8]) {
    let mut answered = Counted(0);
    // How it ends is the client's business.
    let _ = serve(data, &mut answered, &Memory(Mutex::new(vec![0; SIZE])));
    // A request of 28 bytes may read the export as a whole, or ask for all of its extents.
    let most = (data.len() as u64 / 16 + 8) * 2 * SIZE as u64;
    assert!(answered.0 <= most, "{} bytes answered to {}", answered.0, data.len());
}
