//! A group as it lies on flash: bytes in the words of a map page, in a place of fixed size.
//!
//! Number of segments (2 bytes) and of trimmed pages (1; 255: a bitmap of 32 bytes follows, fewer
//! than 33 are listed); two bits per segment, "lone" and "last of its level"; then the segments, a
//! lone one in 5 bytes (offset, physical page), others in their 8; an approximate one is followed
//! by the number of its other pages and these. A group that is compacted and has no approximate
//! segment of one page takes [`most_bytes`] at most: no kind takes more than 5 1/4 bytes a page.
//! The encoding is ours (`docs/papers/leaftl2023.md`).

use super::group::{Found, Group, Placed, has};
use super::members::Members;
use super::segment::{Scale, Segment};

/// Bytes of one group of so many pages at most, as [`fit`] leaves it.
pub fn most_bytes(pages: u32) -> u32 {
    4 + pages.div_ceil(4) + 5 * pages
}

/// Trimmed pages above which a bitmap is stored.
const LISTED_TRIMS: u32 = 32;

/// Bytes of a lone segment.
const LONE_BYTES: usize = 5;

/// Marks the bitmap.
const BITMAP: u8 = 255;

/// Bytes of a group as it is.
pub(super) fn bytes(group: &Group) -> u32 {
    let sizes = group.sizes();
    let trims = match group.trimmed().len() {
        count @ 0..=LISTED_TRIMS => count,
        _ => 32,
    };
    let others = 8 * sizes.accurate + 8 * sizes.approximate + sizes.listed;
    3 + trims + (group.len() as u32).div_ceil(4) + LONE_BYTES as u32 * sizes.lone + others
}

/// Makes a group of `pages` fit its place: it is compacted, and where that is not enough the place
/// of each approximate segment of one page is asked for, which makes it an accurate one. How many
/// were asked for.
pub fn fit(
    group: &mut Group,
    (pages, scale): (u32, Scale),
    mut place: impl FnMut(Segment) -> u32,
) -> u32 {
    if bytes(group) <= most_bytes(pages) {
        return 0;
    }
    group.compact();
    let mut asked = 0;
    if bytes(group) > most_bytes(pages) {
        for index in 0..group.len() {
            let segment = group.placed()[index].segment;
            if segment.length == 0 && !segment.is_accurate() {
                group.correct(index, place(segment), scale);
                asked += 1;
            }
        }
    }
    assert!(bytes(group) <= most_bytes(pages), "{} bytes of {pages} pages", bytes(group));
    asked
}

/// Writes bytes one behind the other into words.
struct Writer<'a> {
    words: &'a mut [u32],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, byte: u8) {
        let (word, shift) = (self.at / 4, 8 * (self.at % 4));
        self.words[word] |= u32::from(byte) << shift;
        self.at += 1;
    }

    fn put_all(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.put(byte));
    }
}

/// Reads them.
struct Reader<'a> {
    words: &'a [u32],
    at: usize,
}

impl Reader<'_> {
    #[inline]
    fn next_byte(&self) -> u8 {
        (self.words[self.at / 4] >> (8 * (self.at % 4))) as u8
    }

    #[inline]
    fn take(&mut self) -> u8 {
        let byte = self.next_byte();
        self.at += 1;
        byte
    }

    /// The next four bytes.
    #[inline]
    fn next_word(&self) -> [u8; 4] {
        let (word, shift) = (self.at / 4, 8 * (self.at % 4));
        let low = self.words[word] >> shift;
        let both = if shift == 0 { low } else { low | self.words[word + 1] << (32 - shift) };
        both.to_le_bytes()
    }

    #[inline]
    fn take_word(&mut self) -> [u8; 4] {
        let word = self.next_word();
        self.at += 4;
        word
    }
}

/// Writes a group that fits into its place.
pub fn pack(group: &Group, scale: Scale, words: &mut [u32]) {
    words.fill(0);
    let mut writer = Writer { words, at: 0 };
    let placed = group.placed();
    writer.put_all(&(placed.len() as u16).to_le_bytes());
    let trimmed = group.trimmed();
    if trimmed.len() > LISTED_TRIMS {
        writer.put(BITMAP);
        for byte in 0..32u8 {
            let bits = (0..8).filter(|bit| trimmed.has(8 * byte + bit)).map(|bit| 1 << bit);
            writer.put(bits.sum());
        }
    } else {
        writer.put(trimmed.len() as u8);
        trimmed.iter().for_each(|page| writer.put(page));
    }
    let ends =
        |index: usize| placed.get(index + 1).is_none_or(|next| next.level != placed[index].level);
    for (turn, four) in placed.chunks(4).enumerate() {
        let mut bits = 0;
        for (place, one) in four.iter().enumerate() {
            let pair = u8::from(one.segment.is_lone()) | u8::from(ends(4 * turn + place)) << 1;
            bits |= pair << (2 * place);
        }
        writer.put(bits);
    }
    for Placed { segment, .. } in placed {
        if segment.is_lone() {
            writer.put(segment.start);
            writer.put_all(&(segment.predict(segment.start, scale) as u32).to_le_bytes());
            continue;
        }
        writer.put_all(&segment.to_bytes());
        if !segment.is_accurate() {
            let members = group.members(*segment);
            writer.put((members.len() - 1) as u8);
            members.iter().skip(1).for_each(|page| writer.put(page));
        }
    }
}

/// Reads a group out of its place; words of a page that was never written are one that is empty.
pub fn unpack(words: &[u32], scale: Scale, group: &mut Group) {
    group.clear();
    let (trimmed, stored) = Stored::of(words, scale);
    stored.for_each(|(placed, members)| group.append(placed, members));
    group.set_trimmed(trimmed);
}

/// The newest segment that has a page, as [`Group::find`] would say it of the group unpacked.
pub fn find(words: &[u32], scale: Scale, offset: u8) -> Option<Found> {
    let (trimmed, stored) = Stored::of(words, scale);
    if trimmed.has(offset) {
        return None;
    }
    let placed = stored.newest_with(offset)?;
    Some(Found { segment: placed.segment, levels: u32::from(placed.level) + 1 })
}

/// The segments of a group in its place, newest first, each with the pages of an approximate one.
struct Stored<'a> {
    scale: Scale,
    reader: Reader<'a>,
    /// Two bits per segment, and those of the present four.
    kinds: Reader<'a>,
    bits: u8,
    next: usize,
    count: usize,
    level: u16,
}

impl<'a> Stored<'a> {
    /// The pages that were trimmed, and the segments.
    fn of(words: &'a [u32], scale: Scale) -> (Members, Self) {
        let mut reader = Reader { words, at: 0 };
        let count = usize::from(u16::from_le_bytes([reader.take(), reader.take()]));
        let mut trimmed = Members::NONE;
        match reader.take() {
            BITMAP => {
                for byte in 0..32u8 {
                    let bits = reader.take();
                    let set = (0..8).filter(|bit| bits >> bit & 1 == 1);
                    set.for_each(|bit| trimmed.insert(8 * byte + bit));
                }
            }
            listed => (0..listed).for_each(|_| trimmed.insert(reader.take())),
        }
        let kinds = Reader { words, at: reader.at };
        reader.at += count.div_ceil(4);
        (trimmed, Stored { scale, reader, kinds, bits: 0, next: 0, count, level: 0 })
    }

    /// Whether the next segment is a lone one, and its level.
    #[inline]
    fn kind(&mut self) -> Option<(bool, u16)> {
        if self.next == self.count {
            return None;
        }
        self.bits = if self.next.is_multiple_of(4) { self.kinds.take() } else { self.bits >> 2 };
        self.next += 1;
        let level = self.level;
        self.level += u16::from(self.bits >> 1 & 1);
        Some((self.bits & 1 == 1, level))
    }

    /// The first segment that has a page; lone ones before it are stepped over, not decoded.
    fn newest_with(mut self, offset: u8) -> Option<Placed> {
        while let Some((is_lone, level)) = self.kind() {
            if is_lone && self.reader.next_byte() != offset {
                self.reader.at += LONE_BYTES;
                continue;
            }
            let (segment, members) = self.segment(is_lone);
            let listed = members.has(offset).then_some(segment.start);
            if has(segment, offset, listed) {
                return Some(Placed { level, segment });
            }
        }
        None
    }

    /// The segment at the reader, and the pages of an approximate one.
    fn segment(&mut self, is_lone: bool) -> (Segment, Members) {
        let mut members = Members::NONE;
        if is_lone {
            let offset = self.reader.take();
            let place = u32::from_le_bytes(self.reader.take_word());
            return (Segment::lone(offset, place, self.scale), members);
        }
        let segment = Segment::of_words(self.reader.take_word(), self.reader.take_word());
        if !segment.is_accurate() {
            members.insert(segment.start);
            (0..self.reader.take()).for_each(|_| members.insert(self.reader.take()));
        }
        (segment, members)
    }
}

impl Iterator for Stored<'_> {
    type Item = (Placed, Members);

    fn next(&mut self) -> Option<(Placed, Members)> {
        let (is_lone, level) = self.kind()?;
        let (segment, members) = self.segment(is_lone);
        Some((Placed { level, segment }, members))
    }
}
