//! Numbers of the protocol, limits of this server, and how integers cross. No behaviour.
#![allow(missing_docs, reason = "the names are those of the protocol text, section \"Values\"")]

use std::io::{self, Read};

/// Longest payload of a read or a write, in bytes; longer ones are EOVERFLOW or EINVAL.
pub const PAYLOAD_BYTES: u32 = 32 << 20;
/// Longest data of an option, in bytes.
pub const OPTION_BYTES: u32 = 64 << 10;
/// Too long data is read and dropped up to here, in bytes; beyond it the connection is closed.
pub const DRAIN_BYTES: u32 = 64 << 20;
/// Options that one client may send.
pub const OPTIONS: u32 = 1024;
/// Buffer per direction and connection, in bytes.
pub const BUFFER_BYTES: usize = 256 << 10;
/// Extents told in one answer.
pub const EXTENTS: usize = 4096;

pub const NBDMAGIC: u64 = 0x4e42_444d_4147_4943;
pub const IHAVEOPT: u64 = 0x4948_4156_454f_5054;
pub const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
pub const REQUEST: u32 = 0x2560_9513;
pub const SIMPLE: u32 = 0x6744_6698;
pub const STRUCTURED: u32 = 0x668e_33ef;

pub const FIXED_NEWSTYLE: u16 = 1;
pub const NO_ZEROES: u16 = 2;

pub const OPT_EXPORT_NAME: u32 = 1;
pub const OPT_ABORT: u32 = 2;
pub const OPT_LIST: u32 = 3;
pub const OPT_STARTTLS: u32 = 5;
pub const OPT_INFO: u32 = 6;
pub const OPT_GO: u32 = 7;
pub const OPT_STRUCTURED_REPLY: u32 = 8;
pub const OPT_LIST_META_CONTEXT: u32 = 9;
pub const OPT_SET_META_CONTEXT: u32 = 10;

pub const REP_ACK: u32 = 1;
pub const REP_SERVER: u32 = 2;
pub const REP_INFO: u32 = 3;
pub const REP_META_CONTEXT: u32 = 4;
pub const REP_ERR_UNSUP: u32 = (1 << 31) + 1;
pub const REP_ERR_POLICY: u32 = (1 << 31) + 2;
pub const REP_ERR_INVALID: u32 = (1 << 31) + 3;
pub const REP_ERR_UNKNOWN: u32 = (1 << 31) + 6;
pub const REP_ERR_SHUTDOWN: u32 = (1 << 31) + 7;
pub const REP_ERR_TOO_BIG: u32 = (1 << 31) + 9;

pub const INFO_EXPORT: u16 = 0;
pub const INFO_NAME: u16 = 1;
pub const INFO_DESCRIPTION: u16 = 2;
pub const INFO_BLOCK_SIZE: u16 = 3;

pub const HAS_FLAGS: u16 = 1;
pub const READ_ONLY: u16 = 1 << 1;
pub const SEND_FLUSH: u16 = 1 << 2;
pub const SEND_FUA: u16 = 1 << 3;
pub const SEND_TRIM: u16 = 1 << 5;
pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
pub const SEND_DF: u16 = 1 << 7;
pub const CAN_MULTI_CONN: u16 = 1 << 8;
pub const SEND_CACHE: u16 = 1 << 10;
pub const SEND_FAST_ZERO: u16 = 1 << 11;

pub const CMD_READ: u16 = 0;
pub const CMD_WRITE: u16 = 1;
pub const CMD_DISC: u16 = 2;
pub const CMD_FLUSH: u16 = 3;
pub const CMD_TRIM: u16 = 4;
pub const CMD_CACHE: u16 = 5;
pub const CMD_WRITE_ZEROES: u16 = 6;
pub const CMD_BLOCK_STATUS: u16 = 7;

pub const FUA: u16 = 1;
pub const NO_HOLE: u16 = 2;
pub const DF: u16 = 4;
pub const REQ_ONE: u16 = 8;
pub const FAST_ZERO: u16 = 16;

pub const DONE: u16 = 1;
pub const CHUNK_NONE: u16 = 0;
pub const CHUNK_OFFSET_DATA: u16 = 1;
pub const CHUNK_BLOCK_STATUS: u16 = 5;
pub const CHUNK_ERROR: u16 = (1 << 15) + 1;

/// The one metadata context, and the id that this server gives it.
pub const ALLOCATION: &[u8] = b"base:allocation";
pub const ALLOCATION_ID: u32 = 1;

/// The next `N` bytes.
pub(crate) fn take<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads and drops `length` bytes, all of which must come.
pub(crate) fn drain(reader: &mut impl Read, length: u32) -> io::Result<()> {
    let dropped = io::copy(&mut reader.take(u64::from(length)), &mut io::sink())?;
    if dropped == u64::from(length) { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// What leaves only closing the connection.
pub(crate) fn wrong(rule: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, rule)
}
