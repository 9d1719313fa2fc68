//! The out-of-band area of a page: what a program leaves beside the data, and recovery reads.

/// What a programmed page says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// Host data in a data block.
    Data = 0,
    /// Host data under a number that is not its place: in a log block; shared by several pages.
    Log = 1,
    /// Part of a map.
    Map = 2,
    /// Part of a checkpoint.
    Checkpoint = 3,
    /// A record of trims.
    TrimRecord = 4,
    /// Nothing: a page that had to be programmed because the next one was wanted.
    Pad = 5,
    /// Parity of the pages of a stripe.
    Parity = 6,
}

/// The kinds that hold words of the scheme, one bit each by their numbers.
const WORDS: u64 =
    1 << PageKind::Map as u64 | 1 << PageKind::Checkpoint as u64 | 1 << PageKind::TrimRecord as u64;

impl PageKind {
    /// Every kind, in the order of the numbers that pages are stored with.
    pub const ALL: [PageKind; 7] = [
        PageKind::Data,
        PageKind::Log,
        PageKind::Map,
        PageKind::Checkpoint,
        PageKind::TrimRecord,
        PageKind::Pad,
        PageKind::Parity,
    ];

    /// The kind of this number, unless it is parity; any other was never stored.
    #[inline]
    pub(super) fn of(number: u64) -> Self {
        // Written out, so that no table is looked at: the number is the kind.
        match number {
            0 => PageKind::Data,
            1 => PageKind::Log,
            2 => PageKind::Map,
            3 => PageKind::Checkpoint,
            4 => PageKind::TrimRecord,
            5 => PageKind::Pad,
            _ => unreachable!("no page is stored as kind {number}"),
        }
    }

    /// Whether it holds host data.
    #[inline]
    pub fn is_host_data(self) -> bool {
        matches!(self, PageKind::Data | PageKind::Log)
    }

    /// Whether it holds words of the scheme.
    #[inline]
    pub fn holds_words(self) -> bool {
        Self::number_holds_words(self as u64)
    }

    /// The same of the kind of this number, which is looked up and not made a kind first.
    #[inline]
    pub(super) fn number_holds_words(number: u64) -> bool {
        WORDS >> number & 1 == 1
    }

    /// Whether a page of the kind of this number keeps a payload: words, or none of them, as a pad.
    #[inline]
    pub(super) fn number_keeps_payload(number: u64) -> bool {
        const PAYLOAD: u64 = WORDS | 1 << PageKind::Pad as u64;
        PAYLOAD >> number & 1 == 1
    }
}

/// The out-of-band area of a programmed page: all that recovery may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oob {
    /// Logical number: of the page for data (of what several share, the number under which they
    /// do), of the part for maps, checkpoints and trim records.
    pub logical: u32,
    /// What the page is.
    pub kind: PageKind,
    /// Number of the program, ascending over the life of the device, never 0.
    pub sequence: u64,
}

/// What a look at a page's out-of-band area finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OobRead {
    /// Erased.
    Free,
    /// A program that did not finish, or failed: unreadable.
    Torn,
    /// A programmed page.
    Written(Oob),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_host_data_nor_parity_keeps_a_payload_and_a_pad_no_words() {
        let said = PageKind::ALL.map(|kind| {
            let number = kind as u64;
            (PageKind::number_keeps_payload(number), PageKind::number_holds_words(number))
        });
        let [data, words, pad, parity] =
            [(false, false), (true, true), (true, false), (false, false)];
        assert_eq!(said, [data, data, words, words, words, pad, parity]);
    }
}
