//! Addresses that a drive may listen on: those of this machine's loopback, unless its user says otherwise.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::Path;

use ftlab_lab::{Error, Result};
use ftlab_nbd::Server;

/// A server where it was asked for, and what clients call it.
pub fn listen(text: &str, anyone: bool) -> Result<(Server, String)> {
    let wrong = |why: &str| {
        Error::usage(format!(
            "--listen {text} {why}; legal: unix:PATH of a new socket, tcp:127.0.0.1:PORT, and with \
             --listen-anyone tcp:HOST:PORT"
        ))
    };
    let cannot = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AddrInUse => wrong("is taken"),
        _ => wrong(&format!("cannot be listened on ({error})")),
    };
    match text.split_once(':') {
        Some(("unix", path)) if !path.is_empty() => {
            let server = Server::unix(Path::new(path)).map_err(cannot)?;
            Ok((server, format!("nbd+unix:///?socket={path}")))
        }
        Some(("tcp", address)) => {
            let all = addresses(address).ok_or_else(|| wrong("names no address"))?;
            if !anyone && !is_local(&all) {
                return Err(wrong("would let other machines read and write the drive"));
            }
            let server = Server::tcp(all.as_slice()).map_err(cannot)?;
            let address = server.address().map_or_else(String::new, |found| found.to_string());
            Ok((server, format!("nbd://{address}")))
        }
        _ => Err(wrong("is no address")),
    }
}

/// What a name and a port stand for.
pub fn addresses(text: &str) -> Option<Vec<SocketAddr>> {
    text.to_socket_addrs().ok().map(Iterator::collect)
}

/// Whether only this machine reaches them.
pub fn is_local(addresses: &[SocketAddr]) -> bool {
    addresses.iter().all(|address| address.ip().is_loopback())
}
