//! Listening, a thread per connection, and the end of both.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::net::{self, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::export::Export;
use crate::{handshake, transmission, wire};

/// Connections at a time; further ones are closed at once.
pub const CONNECTIONS: usize = 64;
/// A handshake takes no longer.
pub const HANDSHAKE: Duration = Duration::from_secs(10);
/// A client that takes no byte of its replies for so long is left.
pub const WRITE: Duration = Duration::from_secs(30);
/// How often waiting threads look whether the server ends.
const LOOK: Duration = Duration::from_millis(20);

/// Where clients come in.
enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

/// One client's connection.
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// What the threads of a server share.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    open: AtomicUsize,
    connections: AtomicU64,
    requests: AtomicU64,
}

/// Ends a server from any thread, and tells its counts.
#[derive(Clone)]
pub struct Shutdown(Arc<Shared>);

impl Shutdown {
    /// No connection is accepted any more; requests that were begun are answered.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::SeqCst);
    }

    /// Connections accepted so far, without those closed at once.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.0.connections.load(Ordering::Relaxed)
    }

    /// Requests answered so far, on all connections.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.0.requests.load(Ordering::Relaxed)
    }
}

/// A server that listens.
pub struct Server {
    listener: Listener,
    shared: Arc<Shared>,
}

impl Server {
    /// Listens on a unix socket.
    ///
    /// # Errors
    ///
    /// `AddrInUse` for a path that exists, unless it is a socket that nobody answers.
    pub fn unix(path: &Path) -> io::Result<Self> {
        if let Ok(found) = path.symlink_metadata() {
            let refused = || {
                let error = UnixStream::connect(path).err();
                error.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
            };
            if !found.file_type().is_socket() || !refused() {
                return Err(io::ErrorKind::AddrInUse.into());
            }
            std::fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener: Listener::Unix(listener, path.into()), shared: Arc::default() })
    }

    /// Listens on a TCP address.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn tcp(address: impl ToSocketAddrs) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener: Listener::Tcp(listener), shared: Arc::default() })
    }

    /// The TCP address, when it is one.
    #[must_use]
    pub fn address(&self) -> Option<net::SocketAddr> {
        match &self.listener {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(..) => None,
        }
    }

    /// What ends this server.
    #[must_use]
    pub fn handle(&self) -> Shutdown {
        Shutdown(Arc::clone(&self.shared))
    }

    /// Serves until [`Shutdown::stop`]; returns when the last connection has ended.
    ///
    /// # Errors
    ///
    /// None at present: what fails ends its connection only.
    pub fn run(self, export: &dyn Export) -> io::Result<()> {
        let shared = &*self.shared;
        thread::scope(|scope| {
            while !shared.stop.load(Ordering::SeqCst) {
                let Ok(stream) = self.accept() else {
                    thread::sleep(LOOK);
                    continue;
                };
                if shared.open.load(Ordering::SeqCst) >= CONNECTIONS {
                    continue;
                }
                shared.open.fetch_add(1, Ordering::SeqCst);
                let started = thread::Builder::new().spawn_scoped(scope, move || {
                    let _open = Open(shared);
                    // How a client ended concerns nobody else.
                    let _ = converse(&stream, export, shared);
                });
                match started {
                    Ok(_) => _ = shared.connections.fetch_add(1, Ordering::Relaxed),
                    Err(_) => _ = shared.open.fetch_sub(1, Ordering::SeqCst),
                }
            }
        });
        Ok(())
    }

    fn accept(&self) -> io::Result<Stream> {
        Ok(match &self.listener {
            Listener::Unix(listener, _) => Stream::Unix(listener.accept()?.0),
            Listener::Tcp(listener) => Stream::Tcp(listener.accept()?.0),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = &self.listener {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Counts a connection down, also when an export panics.
struct Open<'a>(&'a Shared);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One client from its first byte to its last.
fn converse(stream: &Stream, export: &dyn Export, shared: &Shared) -> io::Result<u64> {
    match stream {
        Stream::Unix(stream) => {
            stream.set_nonblocking(false)?;
            stream.set_read_timeout(Some(LOOK * 5))?;
            stream.set_write_timeout(Some(WRITE))?;
        }
        Stream::Tcp(stream) => {
            stream.set_nonblocking(false)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(LOOK * 5))?;
            stream.set_write_timeout(Some(WRITE))?;
        }
    }
    let patient = Patient { stream, shared, until: Some(Instant::now() + HANDSHAKE) };
    let mut reader = BufReader::with_capacity(wire::BUFFER_BYTES, patient);
    let mut writer = BufWriter::with_capacity(wire::BUFFER_BYTES, stream);
    let Some(session) = handshake::negotiate(&mut reader, &mut writer, export)? else {
        return Ok(0);
    };
    reader.get_mut().until = None;
    let count = || _ = shared.requests.fetch_add(1, Ordering::Relaxed);
    transmission::transmit(&mut reader, &mut writer, export, session, &count)
}

/// Reads while the server runs and the time is not up; then it is the end of the stream.
struct Patient<'a> {
    stream: &'a Stream,
    shared: &'a Shared,
    until: Option<Instant>,
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let late = self.until.is_some_and(|until| Instant::now() >= until);
            if late || self.shared.stop.load(Ordering::SeqCst) {
                return Ok(0);
            }
            let read = match self.stream {
                Stream::Unix(stream) => (&mut &*stream).read(bytes),
                Stream::Tcp(stream) => (&mut &*stream).read(bytes),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).write(bytes),
            Stream::Tcp(stream) => (&mut &*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
