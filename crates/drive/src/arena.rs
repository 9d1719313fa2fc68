//! Where the bytes of pages lie: slots of one size.

/// Slots of a chunk.
const CHUNK_SLOTS: usize = 256;

/// Slots, of which those that were never written have no place yet.
#[derive(Debug)]
pub struct Arena {
    slot_bytes: usize,
    chunks: Vec<Box<[u8]>>,
}

impl Arena {
    /// Grows as slots are used.
    pub fn new(slot_bytes: usize) -> Self {
        Arena { slot_bytes, chunks: Vec::new() }
    }

    /// Fills a slot with `bytes`, as many as it has.
    pub fn write(&mut self, slot: u32, bytes: &[u8]) {
        let (chunk, first) = self.within(slot);
        while self.chunks.len() <= chunk {
            self.chunks.push(vec![0; CHUNK_SLOTS * self.slot_bytes].into_boxed_slice());
        }
        self.chunks[chunk][first..first + self.slot_bytes].copy_from_slice(bytes);
    }

    /// A slot that was written.
    pub fn read(&self, slot: u32) -> &[u8] {
        let (chunk, first) = self.within(slot);
        &self.chunks[chunk][first..first + self.slot_bytes]
    }

    /// The chunk of a slot, and its first byte there.
    fn within(&self, slot: u32) -> (usize, usize) {
        (slot as usize / CHUNK_SLOTS, slot as usize % CHUNK_SLOTS * self.slot_bytes)
    }
}
