//! From the first byte to the choice of an export ("Newstyle negotiation", "Option types").

use std::io::{self, Read, Write};

use crate::export::Export;
use crate::follower::Follower;
use crate::wire::{self, drain, take, wrong};

/// What a client agreed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Session {
    /// Replies are structured.
    pub structured: bool,
    /// `base:allocation` was chosen: block status may be asked.
    pub allocation: bool,
}

/// Speaks until the client has chosen the export, or `None` when it left properly.
///
/// # Errors
///
/// The streams' own, and `InvalidData` for a client that breaks the protocol beyond answering.
pub fn negotiate<R: Read, W: Write>(
    reader: &mut R,
    writer: &mut W,
    export: &dyn Export,
    follower: &dyn Follower,
) -> io::Result<Option<Session>> {
    writer.write_all(&wire::NBDMAGIC.to_be_bytes())?;
    writer.write_all(&wire::IHAVEOPT.to_be_bytes())?;
    writer.write_all(&(wire::FIXED_NEWSTYLE | wire::NO_ZEROES).to_be_bytes())?;
    writer.flush()?;
    let flags = u32::from_be_bytes(take(reader)?);
    if flags & !u32::from(wire::FIXED_NEWSTYLE | wire::NO_ZEROES) != 0 {
        return Err(wrong("unknown client flags"));
    }
    let zeroes = flags & u32::from(wire::NO_ZEROES) == 0;
    let fixed = flags & u32::from(wire::FIXED_NEWSTYLE) != 0;
    let mut session = Session::default();
    for _ in 0..wire::OPTIONS {
        if u64::from_be_bytes(take(reader)?) != wire::IHAVEOPT {
            return Err(wrong("an option without its magic"));
        }
        let option = u32::from_be_bytes(take(reader)?);
        let length = u32::from_be_bytes(take(reader)?);
        if !fixed && option != wire::OPT_EXPORT_NAME {
            // Newstyle that is not fixed knows this one option, and no replies: "the server would
            // immediately close the connection when it saw an option it did not understand".
            return Err(wrong("an option other than EXPORT_NAME without FIXED_NEWSTYLE"));
        }
        if length > wire::OPTION_BYTES {
            if length > wire::DRAIN_BYTES || option == wire::OPT_EXPORT_NAME {
                return Err(wrong("an option too long to be dropped"));
            }
            drain(reader, length)?;
            reply(writer, option, wire::REP_ERR_TOO_BIG, &[])?;
            writer.flush()?;
            continue;
        }
        let mut data = vec![0; length as usize];
        reader.read_exact(&mut data)?;
        let ending = follower.is_ending();
        let done = match option {
            wire::OPT_EXPORT_NAME => {
                // This option alone has no reply that could say so.
                if ending || !data.is_empty() {
                    return Err(wrong(if ending { "the server ends" } else { "unknown export" }));
                }
                writer.write_all(&export.size().to_be_bytes())?;
                writer.write_all(&flags_of(export, session).to_be_bytes())?;
                writer.write_all(&[0; 124][..if zeroes { 124 } else { 0 }])?;
                true
            }
            wire::OPT_ABORT => {
                reply(writer, option, wire::REP_ACK, &[])?;
                // A client may leave without waiting for the answer.
                let _ = writer.flush();
                return Ok(None);
            }
            _ if ending => {
                reply(writer, option, wire::REP_ERR_SHUTDOWN, &[])?;
                false
            }
            _ => answer(writer, export, &mut session, option, &data)?,
        };
        writer.flush()?;
        if done {
            return Ok(Some(session));
        }
    }
    Err(wrong("too many options"))
}

/// Answers an option that keeps to the common form; true when transmission begins.
fn answer(
    writer: &mut impl Write,
    export: &dyn Export,
    session: &mut Session,
    option: u32,
    data: &[u8],
) -> io::Result<bool> {
    let kind = match option {
        wire::OPT_LIST if data.is_empty() => {
            reply(writer, option, wire::REP_SERVER, &0_u32.to_be_bytes())?;
            wire::REP_ACK
        }
        wire::OPT_STRUCTURED_REPLY if data.is_empty() => {
            session.structured = true;
            wire::REP_ACK
        }
        wire::OPT_STARTTLS if data.is_empty() => wire::REP_ERR_POLICY,
        wire::OPT_LIST | wire::OPT_STRUCTURED_REPLY | wire::OPT_STARTTLS => wire::REP_ERR_INVALID,
        wire::OPT_INFO | wire::OPT_GO => match infos(data) {
            None => wire::REP_ERR_INVALID,
            Some((name, _)) if !name.is_empty() => wire::REP_ERR_UNKNOWN,
            Some((_, wanted)) => {
                describe(writer, export, *session, option, wanted)?;
                wire::REP_ACK
            }
        },
        wire::OPT_LIST_META_CONTEXT | wire::OPT_SET_META_CONTEXT => {
            contexts(writer, session, option, data)?
        }
        _ => wire::REP_ERR_UNSUP,
    };
    reply(writer, option, kind, &[])?;
    Ok(option == wire::OPT_GO && kind == wire::REP_ACK)
}

/// A string with its length in front, and what follows.
fn string(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_be_bytes(*length) as usize)
}

/// The name and the list of kinds of an INFO or GO.
fn infos(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, rest) = string(data)?;
    let (count, kinds) = rest.split_first_chunk::<2>()?;
    (kinds.len() == usize::from(u16::from_be_bytes(*count)) * 2).then_some((name, kinds))
}

/// All that a client should know; what may be told only when asked, when asked.
fn describe(
    writer: &mut impl Write,
    export: &dyn Export,
    session: Session,
    option: u32,
    wanted: &[u8],
) -> io::Result<()> {
    let asked = |kind: u16| wanted.chunks_exact(2).any(|pair| pair == kind.to_be_bytes());
    let mut info = wire::INFO_EXPORT.to_be_bytes().to_vec();
    info.extend(export.size().to_be_bytes());
    info.extend(flags_of(export, session).to_be_bytes());
    reply(writer, option, wire::REP_INFO, &info)?;
    if asked(wire::INFO_NAME) {
        reply(writer, option, wire::REP_INFO, &wire::INFO_NAME.to_be_bytes())?;
    }
    if asked(wire::INFO_DESCRIPTION) && !export.description().is_empty() {
        let mut info = wire::INFO_DESCRIPTION.to_be_bytes().to_vec();
        info.extend(export.description().bytes().take(4096));
        reply(writer, option, wire::REP_INFO, &info)?;
    }
    let sizes = export.block_sizes();
    let mut info = wire::INFO_BLOCK_SIZE.to_be_bytes().to_vec();
    for size in [sizes.minimum_bytes, sizes.preferred_bytes, wire::PAYLOAD_BYTES] {
        info.extend(size.to_be_bytes());
    }
    reply(writer, option, wire::REP_INFO, &info)
}

/// Listing and choosing metadata contexts; the kind of the last reply.
fn contexts(
    writer: &mut impl Write,
    session: &mut Session,
    option: u32,
    data: &[u8],
) -> io::Result<u32> {
    let set = option == wire::OPT_SET_META_CONTEXT;
    if set {
        session.allocation = false;
    }
    let parsed = string(data).and_then(|(name, rest)| {
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let (count, mut rest, mut found) = (u32::from_be_bytes(*count), rest, false);
        for _ in 0..count {
            let (query, after) = string(rest)?;
            found |= query == wire::ALLOCATION || (!set && query == b"base:");
            rest = after;
        }
        rest.is_empty().then_some((name, found || (!set && count == 0)))
    });
    match parsed {
        _ if !session.structured => Ok(wire::REP_ERR_INVALID),
        None => Ok(wire::REP_ERR_INVALID),
        Some((name, _)) if !name.is_empty() => Ok(wire::REP_ERR_UNKNOWN),
        Some((_, found)) => {
            if found {
                session.allocation |= set;
                let id = if set { wire::ALLOCATION_ID } else { 0 };
                let told = [&id.to_be_bytes(), wire::ALLOCATION].concat();
                reply(writer, option, wire::REP_META_CONTEXT, &told)?;
            }
            Ok(wire::REP_ACK)
        }
    }
}

/// The transmission flags of an export.
fn flags_of(export: &dyn Export, session: Session) -> u16 {
    let able = export.abilities();
    let when = |condition: bool, flag: u16| if condition { flag } else { 0 };
    let always = wire::HAS_FLAGS | wire::SEND_FLUSH | wire::SEND_FUA | wire::SEND_CACHE;
    always
        | when(able.read_only, wire::READ_ONLY)
        | when(able.trim && !able.read_only, wire::SEND_TRIM)
        | when(!able.read_only, wire::SEND_WRITE_ZEROES)
        | when(able.fast_zero && !able.read_only, wire::SEND_FAST_ZERO)
        | when(session.structured, wire::SEND_DF)
        | when(able.multi_connection, wire::CAN_MULTI_CONN)
}

/// One reply to an option.
fn reply(writer: &mut impl Write, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    writer.write_all(&wire::OPTION_REPLY.to_be_bytes())?;
    writer.write_all(&option.to_be_bytes())?;
    writer.write_all(&kind.to_be_bytes())?;
    writer.write_all(&(data.len() as u32).to_be_bytes())?;
    writer.write_all(data)
}
