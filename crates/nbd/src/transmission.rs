//! Requests and their replies ("Transmission phase"), one after the other, through two buffers.
//!
//! Replies leave when no whole request header is waiting: at depth 16 one system call carries many.

use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write};

use crate::export::{Error, Export, Extent};
use crate::follower::Follower;
use crate::handshake::Session;
use crate::wire::{self, drain, take, wrong};

/// Bytes of a request's header.
const HEADER_BYTES: usize = 28;

/// Bytes of a payload buffer that a connection keeps between requests.
const KEPT_BYTES: usize = 1 << 20;

/// Room for a payload is made in steps of so many bytes, each when the one before it is full:
/// whoever says that he sends much gets room for what he sends.
const STEP_BYTES: usize = 1 << 20;

/// One request as it came.
struct Request {
    flags: u16,
    command: u16,
    cookie: u64,
    offset: u64,
    length: u32,
}

/// Buffers of a connection, reused: the payload at most [`wire::PAYLOAD_BYTES`], and while a write
/// comes never more than twice what has come and [`STEP_BYTES`].
#[derive(Default)]
struct Room {
    payload: Vec<u8>,
    extents: Vec<Extent>,
}

/// Serves requests until the client leaves; the number of them. Once the server is about to end
/// they are refused: what was answered before stays so, and the client hears why the rest is not.
///
/// # Errors
///
/// The streams' own, and `InvalidData` for a wrong magic or a write too long to be dropped.
pub fn transmit<R: Read, W: Write>(
    reader: &mut BufReader<R>,
    writer: &mut BufWriter<W>,
    export: &dyn Export,
    session: Session,
    follower: &dyn Follower,
) -> io::Result<u64> {
    let mut room = Room::default();
    let mut served = 0;
    loop {
        if reader.buffer().len() < HEADER_BYTES {
            writer.flush()?;
        }
        if reader.fill_buf()?.is_empty() {
            break;
        }
        follower.begun();
        let request = next(reader)?;
        if request.command == wire::CMD_DISC {
            break;
        }
        let outcome = if request.command == wire::CMD_WRITE {
            receive(reader, export, &request, &mut room)?
        } else {
            Ok(())
        };
        follower.arrived();
        let outcome = if follower.is_ending() { Err(Error::Shutdown) } else { outcome };
        let outcome = outcome.and_then(|()| check(export, session, &request));
        let outcome = outcome.and_then(|()| perform(export, &request, &mut room));
        answer(writer, session, &request, outcome, &room)?;
        if room.payload.len() > KEPT_BYTES {
            room.payload.truncate(KEPT_BYTES);
            room.payload.shrink_to(KEPT_BYTES);
        }
        served += 1;
        follower.answered();
    }
    writer.flush()?;
    Ok(served)
}

/// The header of a request.
fn next(reader: &mut impl Read) -> io::Result<Request> {
    if u32::from_be_bytes(take(reader)?) != wire::REQUEST {
        return Err(wrong("a request without its magic"));
    }
    Ok(Request {
        flags: u16::from_be_bytes(take(reader)?),
        command: u16::from_be_bytes(take(reader)?),
        cookie: u64::from_be_bytes(take(reader)?),
        offset: u64::from_be_bytes(take(reader)?),
        length: u32::from_be_bytes(take(reader)?),
    })
}

/// Takes the payload of a write, or drops it when it is not to be written.
fn receive(
    reader: &mut impl Read,
    export: &dyn Export,
    request: &Request,
    room: &mut Room,
) -> io::Result<Result<(), Error>> {
    if request.length > wire::DRAIN_BYTES {
        return Err(wrong("a write too long to be dropped"));
    }
    let fits = range(export, request).is_ok();
    if request.length > wire::PAYLOAD_BYTES || !fits || export.abilities().read_only {
        drain(reader, request.length)?;
        let long = request.length > wire::PAYLOAD_BYTES;
        return Ok(if long { Err(Error::Invalid) } else { Ok(()) });
    }
    let (mut filled, length) = (0, request.length as usize);
    while filled < length {
        let next = length.min(filled + STEP_BYTES);
        room.payload.resize(next, 0);
        reader.read_exact(&mut room.payload[filled..])?;
        filled = next;
    }
    Ok(Ok(()))
}

/// Whether a request's bytes are there and aligned.
fn range(export: &dyn Export, request: &Request) -> Result<(), Error> {
    let minimum = u64::from(export.block_sizes().minimum_bytes.max(1));
    let length = u64::from(request.length);
    let adds = matches!(request.command, wire::CMD_WRITE | wire::CMD_WRITE_ZEROES);
    match request.offset.checked_add(length) {
        Some(end) if end <= export.size() => {}
        _ if adds => return Err(Error::NoSpace),
        _ => return Err(Error::Invalid),
    }
    let aligned = request.offset.is_multiple_of(minimum) && length.is_multiple_of(minimum);
    if aligned && length > 0 { Ok(()) } else { Err(Error::Invalid) }
}

/// Refuses what this export or the protocol does not allow.
fn check(export: &dyn Export, session: Session, request: &Request) -> Result<(), Error> {
    let able = export.abilities();
    let legal = match request.command {
        wire::CMD_READ if session.structured => wire::FUA | wire::DF,
        wire::CMD_WRITE_ZEROES if able.fast_zero => wire::FUA | wire::NO_HOLE | wire::FAST_ZERO,
        wire::CMD_WRITE_ZEROES => wire::FUA | wire::NO_HOLE,
        wire::CMD_BLOCK_STATUS if session.allocation => wire::FUA | wire::REQ_ONE,
        wire::CMD_READ | wire::CMD_WRITE | wire::CMD_FLUSH | wire::CMD_TRIM | wire::CMD_CACHE => {
            wire::FUA
        }
        _ => return Err(Error::Invalid),
    };
    if request.flags & !legal != 0 {
        return Err(Error::Invalid);
    }
    let changes =
        matches!(request.command, wire::CMD_WRITE | wire::CMD_TRIM | wire::CMD_WRITE_ZEROES);
    if changes && able.read_only {
        return Err(Error::NotPermitted);
    }
    if request.command == wire::CMD_FLUSH {
        return if request.offset == 0 && request.length == 0 {
            Ok(())
        } else {
            Err(Error::Invalid)
        };
    }
    if request.command == wire::CMD_READ && request.length > wire::PAYLOAD_BYTES {
        return Err(if session.structured && request.flags & wire::DF != 0 {
            Error::Overflow
        } else {
            Error::Invalid
        });
    }
    range(export, request)?;
    // What was not offered is EINVAL; ENOTSUP is for a zeroing that would not be fast, alone.
    if request.command == wire::CMD_TRIM && !able.trim {
        return Err(Error::Invalid);
    }
    if request.command != wire::CMD_WRITE_ZEROES || request.flags & wire::FAST_ZERO == 0 {
        return Ok(());
    }
    let (may_trim, length) = (request.flags & wire::NO_HOLE == 0, u64::from(request.length));
    let fast = export.zeroes_fast(request.offset, length, may_trim);
    if fast { Ok(()) } else { Err(Error::NotSupported) }
}

/// Lets the export do it.
fn perform(export: &dyn Export, request: &Request, room: &mut Room) -> Result<(), Error> {
    let (offset, length) = (request.offset, u64::from(request.length));
    let fua = request.flags & wire::FUA != 0;
    match request.command {
        wire::CMD_READ => {
            room.payload.resize(request.length as usize, 0);
            export.read(offset, &mut room.payload)
        }
        wire::CMD_WRITE => export.write(offset, &room.payload, fua),
        wire::CMD_FLUSH => export.flush(),
        wire::CMD_TRIM => export.trim(offset, length, fua),
        wire::CMD_WRITE_ZEROES => {
            export.zero(offset, length, request.flags & wire::NO_HOLE == 0, fua)
        }
        wire::CMD_BLOCK_STATUS => {
            room.extents.clear();
            export.status(offset, request.length, &mut room.extents)?;
            let one = request.flags & wire::REQ_ONE != 0;
            room.extents.truncate(if one { 1 } else { wire::EXTENTS });
            if room.extents.is_empty() { Err(Error::Io) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

/// Writes the reply in the form that was agreed on.
fn answer(
    writer: &mut impl Write,
    session: Session,
    request: &Request,
    outcome: Result<(), Error>,
    room: &Room,
) -> io::Result<()> {
    let data = outcome.is_ok() && request.command == wire::CMD_READ;
    if !session.structured {
        writer.write_all(&wire::SIMPLE.to_be_bytes())?;
        writer.write_all(&outcome.map_or_else(Error::errno, |()| 0).to_be_bytes())?;
        writer.write_all(&request.cookie.to_be_bytes())?;
        return if data { writer.write_all(&room.payload) } else { Ok(()) };
    }
    let cookie = request.cookie;
    match outcome {
        Err(error) => {
            chunk(writer, cookie, wire::CHUNK_ERROR, 6)?;
            writer.write_all(&error.errno().to_be_bytes())?;
            writer.write_all(&0_u16.to_be_bytes())
        }
        Ok(()) if data => {
            chunk(writer, cookie, wire::CHUNK_OFFSET_DATA, 8 + request.length)?;
            writer.write_all(&request.offset.to_be_bytes())?;
            writer.write_all(&room.payload)
        }
        Ok(()) if request.command == wire::CMD_BLOCK_STATUS => {
            chunk(writer, cookie, wire::CHUNK_BLOCK_STATUS, 4 + 8 * room.extents.len() as u32)?;
            writer.write_all(&wire::ALLOCATION_ID.to_be_bytes())?;
            for extent in &room.extents {
                let state = u32::from(extent.hole) | u32::from(extent.zero) << 1;
                writer.write_all(&extent.length_bytes.to_be_bytes())?;
                writer.write_all(&state.to_be_bytes())?;
            }
            Ok(())
        }
        Ok(()) => chunk(writer, cookie, wire::CHUNK_NONE, 0),
    }
}

/// The header of the only, hence last, chunk of a structured reply.
fn chunk(writer: &mut impl Write, cookie: u64, kind: u16, length: u32) -> io::Result<()> {
    writer.write_all(&wire::STRUCTURED.to_be_bytes())?;
    writer.write_all(&wire::DONE.to_be_bytes())?;
    writer.write_all(&kind.to_be_bytes())?;
    writer.write_all(&cookie.to_be_bytes())?;
    writer.write_all(&length.to_be_bytes())
}
