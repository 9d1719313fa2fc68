//! What lies on the flash of a device as bytes: for each block that was ever used its number plus
//! one, erases, flags (those that ended SLC mode follow where there were any), how many of its
//! pages follow, and these; then a zero. Behind them the number of words in phase-change memory,
//! and these. Snapshots hold it, and the stores of served drives.
//!
//! A page is one byte, and what it calls for: erased, torn, or a kind of page (0 to 5) with flags;
//! then logical number, sequence number, and version (host data) or words without the zeroes at
//! their end; where not all sectors hold data, which do.

use std::io::{self, Read, Write};

use ftlab_engine::board::nand::Nand;
use ftlab_engine::board::nand::restore::{StoredBlock, StoredPage};
use ftlab_engine::board::nand::state::{Oob, PageKind};
use ftlab_engine::units::{BlockId, Tag};

const FREE: u8 = 0xFE;
const TORN: u8 = 0xFF;
const KIND: u8 = 7;
/// The data cannot be read.
const UNREADABLE: u8 = 8;
/// A mask of sectors follows.
const IN_PART: u8 = 16;
/// Words follow.
const HELD: u8 = 32;

/// Writes every block that was ever used.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, nand: &Nand) -> io::Result<()> {
    let geometry = nand.geometry();
    for block in (0..geometry.blocks()).map(BlockId) {
        let known = nand.state().block(block);
        if !known.touched && !known.retired {
            continue;
        }
        put(out, block.0 + 1)?;
        write_block(out, nand.stored_block(block))?;
        put(out, known.top)?;
        for offset in 0..known.top {
            write_page(out, nand.stored_page(geometry.page(block, offset)))?;
        }
    }
    put(out, 0)
}

/// Writes what a block is known by besides its pages.
///
/// # Errors
/// Those of `out`.
pub fn write_block(out: &mut impl Write, stored: StoredBlock) -> io::Result<()> {
    let in_slc = stored.slc_erases > 0;
    let bits = [stored.read_only, stored.retired, stored.undefined, stored.slc, in_slc];
    let flags = bits.iter().rev().fold(0, |flags, &bit| flags << 1 | u8::from(bit));
    put(out, stored.erases)?;
    out.write_all(&[flags])?;
    if in_slc { put(out, stored.slc_erases) } else { Ok(()) }
}

/// Reads it back.
///
/// # Errors
/// When the bytes end, or are none of these.
pub fn read_block(body: &mut impl Read) -> Result<StoredBlock, String> {
    let erases = number(body)?;
    let [flags] = bytes(body)?;
    if flags > 31 {
        return Err(format!("a block has the flags {flags}"));
    }
    let bit = |place: u8| flags >> place & 1 == 1;
    let (read_only, retired, undefined, slc) = (bit(0), bit(1), bit(2), bit(3));
    let slc_erases = if bit(4) { number(body)? } else { 0 };
    Ok(StoredBlock { erases, read_only, retired, undefined, slc, slc_erases })
}

/// Writes one page.
///
/// # Errors
/// Those of `out`.
pub fn write_page(out: &mut impl Write, page: StoredPage<'_>) -> io::Result<()> {
    let start = |out: &mut dyn Write, oob: Oob, flags: u8| {
        out.write_all(&[oob.kind as u8 | flags])?;
        out.write_all(&oob.logical.to_le_bytes())?;
        out.write_all(&oob.sequence.to_le_bytes())
    };
    match page {
        StoredPage::Free => out.write_all(&[FREE]),
        StoredPage::Torn => out.write_all(&[TORN]),
        StoredPage::Data { oob, tag, sectors, unreadable } => {
            let in_part = sectors != u64::MAX;
            let flags = if unreadable { UNREADABLE } else { 0 } | if in_part { IN_PART } else { 0 };
            start(out, oob, flags)?;
            put(out, tag.0)?;
            if in_part { out.write_all(&sectors.to_le_bytes()) } else { Ok(()) }
        }
        StoredPage::Parity { oob, parity } => {
            start(out, oob, 0)?;
            put(out, parity)
        }
        StoredPage::Words { oob, words: None } => start(out, oob, 0),
        StoredPage::Words { oob, words: Some(words) } => {
            start(out, oob, HELD)?;
            let length = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
            put(out, length as u32)?;
            words[..length].iter().try_for_each(|&word| put(out, word))
        }
    }
}

/// Writes what a scheme keeps in phase-change memory.
///
/// # Errors
/// Those of `out`.
pub fn write_pcm(out: &mut impl Write, words: &[u32]) -> io::Result<()> {
    put(out, words.len() as u32)?;
    words.iter().try_for_each(|&word| put(out, word))
}

fn put(out: &mut (impl Write + ?Sized), number: u32) -> io::Result<()> {
    out.write_all(&number.to_le_bytes())
}

/// Puts the blocks onto a device on which nothing was programmed.
///
/// # Errors
/// When the bytes are no blocks, or none of this device: which and why.
pub fn read(body: &mut impl Read, nand: &mut Nand) -> Result<(), String> {
    let mut words = Vec::new();
    while let Some(block) = number(body)?.checked_sub(1).map(BlockId) {
        nand.restore_block(block, read_block(body)?)?;
        let pages = number(body)?;
        if pages > nand.geometry().pages_per_block {
            return Err(format!("block {block} has {pages} pages"));
        }
        for offset in 0..pages {
            let ppn = nand.geometry().page(block, offset);
            let page = read_page(body, &mut words, nand.geometry().entries_per_page())?;
            nand.restore_page(ppn, page)?;
        }
    }
    Ok(())
}

/// Puts back what the scheme keeps in phase-change memory: the end of a snapshot.
///
/// # Errors
/// When it holds another number of words than the scheme, or something follows: which and why.
pub fn read_pcm(mut body: impl Read, words: &mut [u32]) -> Result<(), String> {
    let held = number(&mut body)?;
    if held as usize != words.len() {
        return Err(format!(
            "it holds {held} words of phase-change memory, the scheme has {}",
            words.len()
        ));
    }
    for word in words {
        *word = number(&mut body)?;
    }
    match body.read(&mut [0]) {
        Ok(0) => Ok(()),
        _ => Err("something follows its last word".to_owned()),
    }
}

/// Reads one page; words of maps are put into `words`, of which a page holds `words_max` at most.
///
/// # Errors
/// When the bytes end, or are no page.
pub fn read_page<'a>(
    body: &mut impl Read,
    words: &'a mut Vec<u32>,
    words_max: u32,
) -> Result<StoredPage<'a>, String> {
    let [first] = bytes(body)?;
    if first >= FREE {
        return Ok(if first == FREE { StoredPage::Free } else { StoredPage::Torn });
    }
    let known = PageKind::ALL.get(usize::from(first & KIND)).copied();
    let kind = known.ok_or_else(|| format!("there is no page of kind {first}"))?;
    let logical = number(body)?;
    let oob = Oob { logical, kind, sequence: u64::from_le_bytes(bytes(body)?) };
    let flags = first & !KIND;
    if kind == PageKind::Parity && flags == 0 {
        return Ok(StoredPage::Parity { oob, parity: number(body)? });
    }
    if !kind.holds_words() && flags & !(UNREADABLE | IN_PART) == 0 {
        let tag = Tag(number(body)?);
        let in_part = flags & IN_PART != 0;
        let sectors = if in_part { u64::from_le_bytes(bytes(body)?) } else { u64::MAX };
        return Ok(StoredPage::Data { oob, tag, sectors, unreadable: flags & UNREADABLE != 0 });
    }
    if !kind.holds_words() || flags & !HELD != 0 {
        return Err(format!("a page of kind {kind:?} has the flags {flags}"));
    }
    if flags == 0 {
        return Ok(StoredPage::Words { oob, words: None });
    }
    let length = number(body)?;
    if length > words_max {
        return Err(format!("a page of kind {kind:?} holds {length} words"));
    }
    words.clear();
    for _ in 0..length {
        words.push(number(body)?);
    }
    Ok(StoredPage::Words { oob, words: Some(words) })
}

fn number(body: &mut impl Read) -> Result<u32, String> {
    bytes(body).map(u32::from_le_bytes)
}

fn bytes<const N: usize>(body: &mut impl Read) -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    body.read_exact(&mut bytes).map_err(|error| format!("it ends too early ({error})"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_engine::config::Config;
    use ftlab_engine::request::{Op, Request};
    use ftlab_engine::schemes;

    /// Blocks in SLC mode, some of them erased in it before: modes and erases come back, and the
    /// flash of a part whose cells hold one bit refuses them.
    #[test]
    fn modes_of_cells_are_kept() {
        let mut config = Config::default();
        for (key, value) in [
            ("device.bits_per_cell", "3"),
            ("device.blocks_per_plane", "64"),
            ("device.over_provisioning", "1x"),
            ("slc.static_blocks", "4"),
            ("slc.full", "fold_first"),
        ] {
            config.set(key, value).unwrap();
        }
        let (row, _) = schemes::find("ideal_page").unwrap();
        let mut device = (row.open)(&config, 1).unwrap();
        for page in 0..500u64 {
            let first_sector = page * 4;
            let request = Request {
                arrival: 0,
                op: Op::Write,
                first_sector,
                sectors: 4,
                unit: 0,
                stream: None,
                content: None,
            };
            device.submit(&request).unwrap();
        }
        let mut image = Vec::new();
        write(&mut image, device.board().nand()).unwrap();
        let mut other = (row.open)(&config, 1).unwrap();
        read(&mut image.as_slice(), other.board_mut().nand_mut()).unwrap();
        let stored = |nand: &Nand| -> Vec<StoredBlock> {
            (0..64).map(|block| nand.stored_block(BlockId(block))).collect()
        };
        let kept = stored(other.board().nand());
        assert_eq!(kept, stored(device.board().nand()));
        assert!(kept.iter().any(|block| block.slc && block.slc_erases > 0), "{kept:?}");
        config.set("device.bits_per_cell", "1").unwrap();
        config.set("slc.static_blocks", "0").unwrap();
        let mut dense = (row.open)(&config, 1).unwrap();
        let refused = read(&mut image.as_slice(), dense.board_mut().nand_mut()).unwrap_err();
        assert!(refused.contains("one bit of several"), "{refused}");
    }
}
