//! What is exported: the one trait that a device behind the protocol implements.

/// Why an export did not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// Writing is not permitted (EPERM).
    NotPermitted,
    /// The device failed (EIO).
    Io,
    /// No memory (ENOMEM).
    NoMemory,
    /// The request makes no sense (EINVAL).
    Invalid,
    /// No space is left (ENOSPC).
    NoSpace,
    /// The answer does not fit (EOVERFLOW).
    Overflow,
    /// Not supported (ENOTSUP).
    NotSupported,
    /// The server is about to end (ESHUTDOWN).
    Shutdown,
}

impl Error {
    /// The number on the wire ("Error values").
    #[must_use]
    pub const fn errno(self) -> u32 {
        match self {
            Self::NotPermitted => 1,
            Self::Io => 5,
            Self::NoMemory => 12,
            Self::Invalid => 22,
            Self::NoSpace => 28,
            Self::Overflow => 75,
            Self::NotSupported => 95,
            Self::Shutdown => 108,
        }
    }
}

/// Block sizes in bytes ("Block size constraints").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSizes {
    /// Every offset and length is a multiple of it: a power of two, 1 to 65,536.
    pub minimum_bytes: u32,
    /// What is served best: a power of two, at least 512 and at least the minimum.
    pub preferred_bytes: u32,
}

/// What an export can do; the transmission flags follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Every write, trim and zeroing is answered with EPERM.
    pub read_only: bool,
    /// `trim` does something.
    pub trim: bool,
    /// There are stretches that [`Export::zeroes_fast`]: FAST_ZERO is offered.
    pub fast_zero: bool,
    /// A flush on one connection covers what was answered on all.
    pub multi_connection: bool,
}

/// A stretch of the export in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Length in bytes, more than 0.
    pub length_bytes: u32,
    /// Nothing is allocated.
    pub hole: bool,
    /// It reads as zeroes.
    pub zero: bool,
}

/// A device behind the protocol. Offsets and lengths are bytes, inside the export and aligned to
/// the minimum block size; the implementor locks. Errors are answered to the client as they are; a
/// panic closes the connection that it happened on, and no other.
#[allow(clippy::missing_errors_doc, reason = "stated once, for all of them, above")]
pub trait Export: Send + Sync {
    /// Size in bytes, constant while anybody is connected.
    fn size(&self) -> u64;
    /// A line for people, at most 4,096 bytes.
    fn description(&self) -> &str {
        ""
    }
    /// Constraints on requests.
    fn block_sizes(&self) -> BlockSizes {
        BlockSizes { minimum_bytes: 1, preferred_bytes: 4096 }
    }
    /// What it can do.
    fn abilities(&self) -> Abilities;
    /// Fills `bytes` from `offset` on.
    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error>;
    /// Writes `bytes` at `offset`; `fua`: they are stable before this returns.
    fn write(&self, offset: u64, bytes: &[u8], fua: bool) -> Result<(), Error>;
    /// Makes stable whatever was answered before.
    fn flush(&self) -> Result<(), Error>;
    /// The client needs these bytes no longer.
    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), Error>;
    /// These bytes read as zeroes from now on; `may_trim`: a hole will do.
    fn zero(&self, offset: u64, length: u64, may_trim: bool, fua: bool) -> Result<(), Error>;
    /// Whether `zero` would take less than writing as many zeroes; asked only where
    /// [`Abilities::fast_zero`] says that it may.
    fn zeroes_fast(&self, offset: u64, length: u64, may_trim: bool) -> bool {
        let _ = (offset, length, may_trim);
        true
    }
    /// The states from `offset` on, in order, appended to `extents`: at least one, and at most
    /// [`crate::wire::EXTENTS`] are told.
    fn status(&self, offset: u64, length: u32, extents: &mut Vec<Extent>) -> Result<(), Error> {
        let _ = offset;
        extents.push(Extent { length_bytes: length, hole: false, zero: false });
        Ok(())
    }
}
