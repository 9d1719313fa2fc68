//! Addresses that a drive may listen on: those of this machine's loopback, unless its user says
//! otherwise.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use ftlab_lab::{Error, Result};
use ftlab_nbd::Server;

/// Where a drive is to listen once it is there: nobody finds it before, and what cannot be listened
/// on is told before a drive is made for it.
pub struct Place<'a> {
    text: &'a str,
    address: Address<'a>,
}

enum Address<'a> {
    Unix(&'a Path),
    Tcp(Vec<SocketAddr>),
}

impl<'a> Place<'a> {
    /// A place that can be listened on, as far as can be seen.
    pub fn new(text: &'a str, anyone: bool) -> Result<Self> {
        let wrong = |why: &str| wrong(text, why);
        let address = match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Address::Unix(Path::new(path)),
            Some(("tcp", address)) => {
                let all = addresses(address).ok_or_else(|| wrong("names no address"))?;
                if !anyone && !is_local(&all) {
                    return Err(wrong("would let other machines read and write the drive"));
                }
                Address::Tcp(all)
            }
            _ => return Err(wrong("is no address")),
        };
        match &address {
            Address::Unix(path) => free(path),
            // Nobody is served there yet, and it is left at once.
            Address::Tcp(all) => TcpListener::bind(all.as_slice()).map(drop),
        }
        .map_err(|error| cannot(text, &error))?;
        Ok(Place { text, address })
    }

    /// A server there, and what clients call it.
    pub fn listen(self) -> Result<(Server, String)> {
        let server = match &self.address {
            Address::Unix(path) => Server::unix(path),
            Address::Tcp(all) => Server::tcp(all.as_slice()),
        };
        let server = server.map_err(|error| cannot(self.text, &error))?;
        let url = match self.address {
            Address::Unix(path) => format!("nbd+unix:///?socket={}", in_query(path)),
            Address::Tcp(_) => server
                .address()
                .map_or_else(|| "nbd://".to_owned(), |found| format!("nbd://{found}")),
        };
        Ok((server, url))
    }
}

/// Whether a socket can be made there: nothing of that name, or a socket that nobody answers.
fn free(path: &Path) -> io::Result<()> {
    let Ok(found) = path.symlink_metadata() else {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        return folder.unwrap_or(Path::new(".")).metadata().map(drop);
    };
    let left = || {
        let error = UnixStream::connect(path).err();
        error.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    };
    match found.file_type().is_socket() && left() {
        true => Ok(()),
        false => Err(io::ErrorKind::AddrInUse.into()),
    }
}

/// A path as the value of a URL's query (RFC 3986): what is not unreserved, nor a slash, is told as
/// its number, so that no client takes a space, a `&` or a `#` for the end of it.
fn in_query(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let bytes = path.as_os_str().as_bytes().iter();
    bytes
        .map(
            |&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") },
        )
        .collect()
}

fn wrong(text: &str, why: &str) -> Error {
    Error::usage(format!(
        "--listen {text} {why}; legal: unix:PATH of a new socket, tcp:127.0.0.1:PORT, and with \
         --listen-anyone tcp:HOST:PORT"
    ))
}

fn cannot(text: &str, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::AddrInUse => wrong(text, "is taken"),
        _ => wrong(text, &format!("cannot be listened on ({error})")),
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
