//! Decompression by content: the first bytes of a file decide, never its name.
//!
//! Members, frames and streams that follow each other in one file are all read, as `zcat`,
//! `bzcat`, `zstdcat` and `xzcat` do.

use std::io::{self, BufRead, BufReader, Read};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// Plain text.
    None,
    /// gzip, any number of members.
    Gzip,
    /// bzip2, any number of streams.
    Bzip2,
    /// Zstandard, any number of frames.
    Zstandard,
    /// xz, any number of streams.
    Xz,
}

/// Bytes read at once from the stored file.
const BUFFER_BYTES: usize = 256 << 10;

impl Compression {
    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Zstandard => "zstd",
            Self::Xz => "xz",
        }
    }

    /// What the first bytes of a file say.
    pub(crate) fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstandard,
            // A skippable frame may come first: seekable and parallel compressors write one.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstandard,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => Self::None,
        }
    }
}

/// Largest window of a Zstandard frame that is accepted, as a power of two of bytes.
const WINDOW_LOG_MAX: u32 = 31;

/// Longest magic number above.
const MAGIC_BYTES: usize = 6;

/// The decompressed text of `stored`, and how it was compressed.
///
/// # Errors
/// Those of reading the first bytes; later ones come from the reader returned.
pub(crate) fn open(
    stored: Box<dyn Read + Send>,
) -> io::Result<(Compression, Box<dyn Read + Send>)> {
    let (head, stored) = peek(stored)?;
    let compression = Compression::of(&head);
    let text: Box<dyn Read + Send> = match compression {
        Compression::None => Box::new(buffered(stored)),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(stored))),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(stored))),
        Compression::Zstandard => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(buffered(stored))?;
            // Archives are made with `zstd --long=31`; the frame says what it needs.
            decoder.window_log_max(WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
        Compression::Xz => {
            Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(buffered(stored)))
        }
    };
    Ok((compression, text))
}

fn buffered(stored: Box<dyn Read + Send>) -> impl BufRead {
    BufReader::with_capacity(BUFFER_BYTES, stored)
}

/// The first bytes, and a reader that still yields all of them.
fn peek(mut stored: Box<dyn Read + Send>) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::with_capacity(MAGIC_BYTES);
    stored.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut head)?;
    let all = io::Cursor::new(head.clone()).chain(stored);
    Ok((head, Box::new(all)))
}
