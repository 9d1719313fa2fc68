//! Where the bytes of pages lie: slots of one size, in memory or in a file.

use std::io;
use std::sync::Arc;

use crate::files::Kept;

/// Slots of a chunk of memory.
const CHUNK_SLOTS: usize = 256;

/// Slots, of which those that were never written have no place yet.
#[derive(Debug)]
pub struct Arena {
    slot_bytes: usize,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Memory(Vec<Box<[u8]>>),
    File(Arc<Kept>),
}

impl Arena {
    /// In a file, or in memory; either grows as slots are used.
    pub fn new(slot_bytes: usize, file: Option<Arc<Kept>>) -> Self {
        Arena { slot_bytes, place: file.map_or(Place::Memory(Vec::new()), Place::File) }
    }

    /// Bytes of a slot.
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// Whether what is here must be told from what is damaged.
    pub fn is_file(&self) -> bool {
        matches!(self.place, Place::File(_))
    }

    /// Fills a slot with `bytes`, as many as it has.
    pub fn write(&mut self, slot: u32, bytes: &[u8]) -> io::Result<()> {
        let slot_bytes = self.slot_bytes;
        match &mut self.place {
            Place::Memory(chunks) => {
                let (chunk, first) = within(slot, slot_bytes);
                while chunks.len() <= chunk {
                    chunks.push(vec![0; CHUNK_SLOTS * slot_bytes].into_boxed_slice());
                }
                chunks[chunk][first..first + slot_bytes].copy_from_slice(bytes);
                Ok(())
            }
            Place::File(file) => file.write_all_at(bytes, u64::from(slot) * slot_bytes as u64),
        }
    }

    /// Bytes of a slot that was written, from byte `from` of it on.
    pub fn read(&self, slot: u32, from: usize, bytes: &mut [u8]) -> io::Result<()> {
        match &self.place {
            Place::Memory(chunks) => {
                let (chunk, first) = within(slot, self.slot_bytes);
                bytes.copy_from_slice(&chunks[chunk][first + from..][..bytes.len()]);
                Ok(())
            }
            Place::File(file) => {
                file.read_exact_at(bytes, u64::from(slot) * self.slot_bytes as u64 + from as u64)
            }
        }
    }
}

/// The chunk of a slot, and its first byte there.
fn within(slot: u32, slot_bytes: usize) -> (usize, usize) {
    (slot as usize / CHUNK_SLOTS, slot as usize % CHUNK_SLOTS * slot_bytes)
}
