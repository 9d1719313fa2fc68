//! What is no trace but holds one, or stands for one: archives and the pointers that git leaves in
//! place of large files. Such a file is named for what it is; the formats never see it.

use crate::error::{Result, TraceError};

/// Where a tar archive says that it is one.
const TAR_MAGIC_AT: usize = 257;

/// What a file is, and what to do about it, by its first (decompressed) bytes.
fn of(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const UNPACK_ZIP: &str = "the trace within it, unpacked with unzip: plain, or compressed with \
                              gzip, bzip2, zstd or xz";
    let tar = head.get(TAR_MAGIC_AT..).is_some_and(|rest| rest.starts_with(b"ustar"));
    if tar {
        let unpack = "the trace within it, unpacked with tar -x: plain, or compressed with gzip, \
                      bzip2, zstd or xz";
        return Some(("is a tar archive and no trace", unpack));
    }
    match head {
        [b'P', b'K', 3, 4, ..] => Some(("is a zip archive and no trace", UNPACK_ZIP)),
        [b'P', b'K', 5, 6, ..] => Some(("is an empty zip archive and no trace", UNPACK_ZIP)),
        _ if head.starts_with(b"version https://git-lfs.github.com/spec/") => Some((
            "is a pointer of git LFS and no trace: git has not fetched the file",
            "the file itself, fetched with git lfs pull",
        )),
        _ => None,
    }
}

/// Refuses a file that is no trace itself.
pub(crate) fn refuse(file: &str, head: &[u8]) -> Result<()> {
    match of(head) {
        None => Ok(()),
        Some((problem, legal)) => Err(TraceError::new(problem).with_legal(legal).at(file, Some(1))),
    }
}
