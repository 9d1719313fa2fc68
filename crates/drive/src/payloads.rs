//! The data of pages, by the version that a page carries.
//!
//! A page of flash carries the number of the version that was programmed into it, and so does a
//! copy of it: these numbers are what the scheme moves about, and the only way to the bytes. The
//! bytes of a version are kept once, for as long as some page of flash carries it, or the device
//! holds it in memory; nothing here knows a logical address. So a page that is found where another
//! one lies reads as that other one, and what was erased is gone.

use std::collections::{HashMap, VecDeque};
use std::io;

use ftlab_engine::units::{Lpn, Ppn, Tag};

use crate::arena::Arena;

/// The slot of pages that are zero throughout: none is needed.
pub const ZEROES: u32 = u32::MAX;

/// Where the bytes of a version are.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// A slot of the arena, or [`ZEROES`].
    slot: u32,
    /// Of the bytes, where they are in a file.
    checksum: u32,
    /// Pages of flash that carry it.
    carriers: u32,
}

/// All versions that are somewhere.
pub struct Payloads {
    arena: Arena,
    versions: HashMap<u32, Kept>,
    /// Version of each physical page, 0 where it holds no data of the host.
    carried: Vec<u32>,
    /// A version for each page that carried it until now.
    released: Vec<u32>,
    /// What a store is still to be told.
    written: Vec<(u32, u32, u32)>,
    /// Slots that were used and are free.
    free: Vec<u32>,
    /// Of a file: slots that were given up since the last [`Payloads::settle`], and earlier ones,
    /// in order of the length of the log that must be flushed before they are free.
    given_up: Vec<u32>,
    waiting: VecDeque<(u64, u32)>,
    /// Slots that were used once.
    used: u32,
    /// Written, and on no page of flash yet.
    in_memory: HashMap<u32, Lpn>,
    /// As many of these may wait for a look at what became of them.
    look_at: usize,
}

/// Versions in memory that are looked through at least.
const LOOK_AT_LEAST: usize = 4096;

impl Payloads {
    /// Nothing yet, for so many physical pages.
    pub fn new(arena: Arena, pages: u32) -> Self {
        Payloads {
            arena,
            versions: HashMap::new(),
            carried: vec![0; pages as usize],
            released: Vec::new(),
            written: Vec::new(),
            free: Vec::new(),
            given_up: Vec::new(),
            waiting: VecDeque::new(),
            used: 0,
            in_memory: HashMap::new(),
            look_at: LOOK_AT_LEAST,
        }
    }

    /// The host wrote this version of a logical page.
    pub fn write(&mut self, version: Tag, lpn: Lpn, bytes: &[u8]) -> io::Result<()> {
        let slot = match bytes.iter().all(|&byte| byte == 0) {
            true => ZEROES,
            false => {
                let slot = self.free.pop().unwrap_or(self.used);
                self.arena.write(slot, bytes)?;
                self.used = self.used.max(slot + 1);
                slot
            }
        };
        let checksum = if self.arena.is_file() { crc32fast::hash(bytes) } else { 0 };
        if self.arena.is_file() {
            self.written.push((version.0, slot, checksum));
        }
        self.versions.insert(version.0, Kept { slot, checksum, carriers: 0 });
        self.in_memory.insert(version.0, lpn);
        Ok(())
    }

    /// Version, slot and checksum of what was written to a file since the last time.
    pub fn written(&mut self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        self.written.drain(..)
    }

    /// What a store holds: versions with slot and checksum, and the pages that carry them, with
    /// whether their data may be asked for. What none carries is forgotten, and everything else
    /// read once.
    ///
    /// # Errors
    /// Bytes that are not what their checksum says, or that are not there: of which page.
    pub fn restore(
        &mut self,
        versions: impl IntoIterator<Item = (u32, (u32, u32))>,
        carried: &[(u32, u32, bool)],
    ) -> Result<(), String> {
        self.versions = versions
            .into_iter()
            .map(|(version, (slot, checksum))| (version, Kept { slot, checksum, carriers: 0 }))
            .collect();
        let mut bytes = vec![0; self.arena.slot_bytes()];
        let mut taken = Vec::new();
        for &(ppn, version, needed) in carried {
            self.programmed(Ppn(ppn), Tag(version));
            let Some(kept) = self.versions.get(&version) else {
                if needed {
                    return Err(format!(
                        "page {ppn} carries version {version}, of which there is no data"
                    ));
                }
                continue;
            };
            if kept.carriers == 1 && kept.slot != ZEROES {
                let read = self.arena.read(kept.slot, 0, &mut bytes);
                read.map_err(|error| format!("the data of page {ppn} cannot be read ({error})"))?;
                if crc32fast::hash(&bytes) != kept.checksum {
                    return Err(format!("the data of page {ppn} is not what its checksum says"));
                }
                taken.push(kept.slot);
            }
        }
        self.versions.retain(|_, kept| kept.carriers > 0);
        taken.sort_unstable();
        self.used = taken.last().map_or(0, |last| last + 1);
        let mut taken = taken.into_iter().peekable();
        self.free = (0..self.used).filter(|slot| taken.next_if_eq(slot).is_none()).collect();
        Ok(())
    }

    /// Every version with slot and checksum, in order.
    pub fn all(&self) -> Vec<(u32, u32, u32)> {
        let told = |(version, kept): (&u32, &Kept)| (*version, kept.slot, kept.checksum);
        let mut all: Vec<(u32, u32, u32)> = self.versions.iter().map(told).collect();
        all.sort_unstable();
        all
    }

    /// A page of flash carries this version now, and no longer what it carried.
    pub fn programmed(&mut self, ppn: Ppn, version: Tag) {
        let before = std::mem::replace(&mut self.carried[ppn.index()], version.0);
        self.released.extend((before != 0).then_some(before));
        if let Some(kept) = self.versions.get_mut(&version.0) {
            kept.carriers += 1;
            self.in_memory.remove(&version.0);
        }
    }

    /// A page of flash carries nothing any more.
    pub fn gone(&mut self, ppn: Ppn) {
        let before = std::mem::take(&mut self.carried[ppn.index()]);
        self.released.extend((before != 0).then_some(before));
    }

    /// Forgets versions that no page carries any more, once all is told that happened: what moved
    /// twice may have been gone in between.
    pub fn release(&mut self) {
        while let Some(version) = self.released.pop() {
            let Some(kept) = self.versions.get_mut(&version) else { continue };
            kept.carriers -= 1;
            if kept.carriers == 0 {
                self.forget(version);
            }
        }
    }

    /// Puts the bytes of a version there, from byte `from` of the page on; false: none are kept.
    pub fn read(&self, version: Tag, from: usize, bytes: &mut [u8]) -> io::Result<bool> {
        match self.versions.get(&version.0) {
            None => return Ok(false),
            Some(kept) if kept.slot == ZEROES => bytes.fill(0),
            Some(kept) => self.arena.read(kept.slot, from, bytes)?,
        }
        Ok(true)
    }

    /// Forgets versions that are on no page of flash and that the device does not hold either:
    /// overwritten in memory. `holds`: whether this version of this logical page is in its memory.
    pub fn look_through(&mut self, holds: impl Fn(Lpn, Tag) -> bool) {
        if self.in_memory.len() < self.look_at {
            return;
        }
        let mut lost: Vec<u32> = Vec::new();
        self.in_memory.retain(|&version, &mut lpn| {
            let held = holds(lpn, Tag(version));
            if !held {
                lost.push(version);
            }
            held
        });
        // In one order, whatever that of the table is.
        lost.sort_unstable();
        lost.into_iter().for_each(|version| self.forget(version));
        self.look_at = (2 * self.in_memory.len()).max(LOOK_AT_LEAST);
    }

    fn forget(&mut self, version: u32) {
        self.in_memory.remove(&version);
        let Some(kept) = self.versions.remove(&version) else { return };
        if kept.slot == ZEROES {
            return;
        }
        match self.arena.is_file() {
            true => self.given_up.push(kept.slot),
            false => self.free.push(kept.slot),
        }
    }

    /// What was given up is told in a log up to `appended`, which is flushed up to `flushed`: slots
    /// are written again once what was flushed last needs them no longer.
    pub fn settle(&mut self, appended: u64, flushed: u64) {
        self.waiting.extend(self.given_up.drain(..).map(|slot| (appended, slot)));
        while let Some(&(_, slot)) = self.waiting.front().filter(|(told, _)| *told <= flushed) {
            self.waiting.pop_front();
            self.free.push(slot);
        }
    }

    /// Bytes of slots that wait for a flush.
    pub fn waiting_bytes(&self) -> u64 {
        (self.waiting.len() * self.arena.slot_bytes()) as u64
    }

    /// Loses a version, as no drive does.
    #[cfg(test)]
    pub fn lose(&mut self, version: Tag) {
        assert!(self.versions.remove(&version.0).is_some());
    }

    /// Versions that are kept.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.versions.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::files::Kept;

    fn read(payloads: &Payloads, version: u32) -> Option<[u8; 4]> {
        let mut bytes = [9; 4];
        payloads.read(Tag(version), 0, &mut bytes).unwrap().then_some(bytes)
    }

    #[test]
    fn bytes_live_as_long_as_a_page_carries_their_version() {
        let mut all = Payloads::new(Arena::new(4, None), 8);
        all.write(Tag(1), Lpn(0), b"abcd").unwrap();
        all.programmed(Ppn(3), Tag(1));
        all.programmed(Ppn(5), Tag(1));
        all.gone(Ppn(3));
        all.release();
        assert_eq!(read(&all, 1), Some(*b"abcd"));
        all.gone(Ppn(5));
        all.release();
        assert_eq!(read(&all, 1), None);
        all.write(Tag(2), Lpn(0), b"efgh").unwrap();
        assert_eq!((all.used, all.len()), (1, 1), "the slot is used again");
    }

    #[test]
    fn what_moves_twice_at_once_is_there() {
        let mut all = Payloads::new(Arena::new(4, None), 8);
        all.write(Tag(1), Lpn(0), b"abcd").unwrap();
        all.programmed(Ppn(0), Tag(1));
        all.write(Tag(2), Lpn(1), b"efgh").unwrap();
        // It moved to page 1 and from there to page 2; then page 0 was erased and used again.
        all.programmed(Ppn(0), Tag(2));
        all.gone(Ppn(1));
        all.programmed(Ppn(2), Tag(1));
        all.release();
        assert_eq!((read(&all, 1), read(&all, 2)), (Some(*b"abcd"), Some(*b"efgh")));
    }

    #[test]
    fn slots_of_a_file_are_written_again_once_it_is_flushed_that_they_are_free() {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(Kept::create(&folder.path().join("data")).unwrap());
        let mut all = Payloads::new(Arena::new(4, Some(file)), 8);
        let write = |all: &mut Payloads, version: u32, ppn: u32| {
            all.write(Tag(version), Lpn(0), &version.to_le_bytes()).unwrap();
            all.programmed(Ppn(ppn), Tag(version));
            all.release();
        };
        write(&mut all, 1, 0);
        all.settle(100, 0);
        write(&mut all, 2, 0);
        all.settle(200, 100);
        assert_eq!(
            all.waiting_bytes(),
            4,
            "that version 1 is gone is told at 200, not flushed yet"
        );
        write(&mut all, 3, 1);
        assert_eq!(all.used, 3, "the slot of version 1 is left alone");
        all.settle(300, 200);
        write(&mut all, 4, 2);
        assert_eq!((all.used, all.waiting_bytes()), (3, 0), "and used again now");
    }

    #[test]
    fn data_that_is_needed_and_not_there_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(Kept::create(&folder.path().join("data")).unwrap());
        let mut all = Payloads::new(Arena::new(4, Some(file)), 8);
        let there = [(1, (ZEROES, 0))];
        assert_eq!(all.restore(there, &[(0, 1, true), (1, 2, false)]), Ok(()));
        let error = all.restore(there, &[(0, 1, true), (1, 2, true)]).unwrap_err();
        assert_eq!(error, "page 1 carries version 2, of which there is no data");
    }

    #[test]
    fn zeroes_take_no_slot() {
        let mut all = Payloads::new(Arena::new(4, None), 8);
        all.write(Tag(1), Lpn(0), &[0; 4]).unwrap();
        all.programmed(Ppn(0), Tag(1));
        assert_eq!((read(&all, 1), all.used), (Some([0; 4]), 0));
    }

    #[test]
    fn what_was_overwritten_in_memory_is_forgotten() {
        let mut all = Payloads::new(Arena::new(4, None), 8);
        let last = LOOK_AT_LEAST as u32;
        for version in 1..=last {
            all.write(Tag(version), Lpn(version % 7), b"abcd").unwrap();
            all.look_through(|lpn, held| lpn.0 == last % 7 && held.0 == last);
        }
        assert_eq!((all.len(), all.in_memory.len()), (1, 1));
    }
}
