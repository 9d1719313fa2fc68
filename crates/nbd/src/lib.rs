//! The server side of the NBD fixed newstyle protocol, with the standard library alone.
//!
//! It knows nothing of what it exports: see [`Export`]. Numbers and rules are those of the public
//! protocol text (NetworkBlockDevice/nbd, `doc/proto.md`), whose sections comments name.

#[cfg(not(unix))]
compile_error!(
    "ftlab-nbd listens on Unix sockets and ftlab-drive locks its folders as Unix does: build them, \
     and the program ftlab with its `serve`, on Linux, macOS or a BSD"
);

pub mod export;
pub mod follower;
pub mod handshake;
pub mod server;
pub mod transmission;
pub mod wire;

#[doc(hidden)]
pub mod fuzzing;

pub use export::{Abilities, BlockSizes, Error, Export, Extent};
pub use follower::Follower;
pub use server::{Server, Shutdown};

use std::io::{self, BufReader, BufWriter, Read, Write};

/// Serves one client from its handshake to its end, over any pair of streams.
///
/// Returns the number of requests answered.
///
/// # Errors
///
/// The streams' own, and `InvalidData` where the protocol leaves only closing the connection.
pub fn serve<R: Read, W: Write>(reader: R, writer: W, export: &dyn Export) -> io::Result<u64> {
    let mut reader = BufReader::with_capacity(wire::BUFFER_BYTES, reader);
    let mut writer = BufWriter::with_capacity(wire::BUFFER_BYTES, writer);
    match handshake::negotiate(&mut reader, &mut writer, export, &())? {
        Some(session) => transmission::transmit(&mut reader, &mut writer, export, session, &()),
        None => Ok(0),
    }
}
