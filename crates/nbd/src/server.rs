//! Listening, a thread per connection, and the end of both.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::net::{self, Shutdown as Both, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::export::Export;
use crate::follower::Follower;
use crate::{handshake, transmission, wire};

/// Connections at a time; further ones are closed at once. Each holds at most a payload
/// ([`wire::PAYLOAD_BYTES`], for a write in steps of 1 MiB as it comes, at most twice what has
/// come), two buffers ([`wire::BUFFER_BYTES`]) and the data of an option or [`wire::EXTENTS`]: less
/// than 33 MiB, all of them together 2.1 GiB; between requests 1.6 MiB, 100 MiB together.
pub const CONNECTIONS: usize = 64;
/// A handshake takes no longer.
pub const HANDSHAKE: Duration = Duration::from_secs(10);
/// A client that takes no byte of its replies for so long is left.
pub const WRITE: Duration = Duration::from_secs(30);
/// From the first byte of a request to its last: a client that takes longer is left. Between two
/// requests it may wait as long as it likes.
pub const REQUEST: Duration = Duration::from_secs(60);
/// From the moment at which a server is told to end: whoever is still there then is cut off.
pub const GRACE: Duration = Duration::from_secs(3);
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

impl Stream {
    /// Whoever waits for it waits no longer.
    fn end(&self) {
        // Where the client closed it first there is nothing left to end.
        let _ = match self {
            Stream::Unix(stream) => stream.shutdown(Both::Both),
            Stream::Tcp(stream) => stream.shutdown(Both::Both),
        };
    }
}

/// What the threads of a server share.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    /// Connections that are open, by their number.
    streams: Mutex<BTreeMap<u64, Arc<Stream>>>,
    connections: AtomicU64,
    requests: AtomicU64,
}

impl Shared {
    fn streams(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Stream>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a server from any thread, and tells its counts.
#[derive(Clone)]
pub struct Shutdown(Arc<Shared>);

impl Shutdown {
    /// No connection is accepted any more; the request that is served is answered, later ones are
    /// refused with ESHUTDOWN. Clients that do not leave by themselves are cut off after [`GRACE`].
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
    request: Duration,
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
        let listener = listening(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self::new(Listener::Unix(listener, path.into())))
    }

    /// Listens on a TCP address.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn tcp(address: impl ToSocketAddrs) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self::new(Listener::Tcp(listener)))
    }

    fn new(listener: Listener) -> Self {
        Self { listener, shared: Arc::default(), request: REQUEST }
    }

    /// Waits for the rest of a request no longer than this, in the place of [`REQUEST`].
    #[must_use]
    pub fn waiting(mut self, request: Duration) -> Self {
        self.request = request;
        self
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
        let (shared, request) = (&*self.shared, self.request);
        thread::scope(|scope| {
            while !shared.stop.load(Ordering::SeqCst) {
                let Ok(stream) = self.accept() else {
                    thread::sleep(LOOK);
                    continue;
                };
                if shared.streams().len() >= CONNECTIONS {
                    continue;
                }
                let number = shared.connections.fetch_add(1, Ordering::Relaxed);
                let stream = Arc::new(stream);
                shared.streams().insert(number, Arc::clone(&stream));
                let open = Open { shared, number };
                // Where no thread can be had, what it would have owned is dropped: it is closed.
                let _ = thread::Builder::new().spawn_scoped(scope, move || {
                    let _open = open;
                    // How a client ended concerns nobody else; nor does a bug that it met, the
                    // connection of which is closed. Buffers and session are its own, and an
                    // export must know by itself what a panic left behind: its locks are poisoned.
                    let _ = catch_unwind(AssertUnwindSafe(|| {
                        converse(&stream, export, (shared, request))
                    }));
                });
            }
            // Looks are counted: a clock may stand still, and this is to end.
            for _ in 0..GRACE.as_millis() / LOOK.as_millis() {
                if shared.streams().is_empty() {
                    break;
                }
                thread::sleep(LOOK);
            }
            shared.streams().values().for_each(|stream| stream.end());
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

/// A socket that listens. The system names it before it does: whoever finds it then is refused. So it
/// has a name beside the wanted one first, where that can be.
fn listening(path: &Path) -> io::Result<UnixListener> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!("~{}", std::process::id()));
    let Ok(listener) = UnixListener::bind(&beside) else {
        // What is too long beside may be short enough by itself.
        return UnixListener::bind(path);
    };
    let named = std::fs::hard_link(&beside, path);
    std::fs::remove_file(&beside)?;
    match named {
        Ok(()) => Ok(listener),
        Err(_) => UnixListener::bind(path),
    }
}

/// A connection while it is open, also when an export panics.
struct Open<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.shared.streams().remove(&self.number);
    }
}

/// One client from its first byte to its last.
fn converse(
    stream: &Stream,
    export: &dyn Export,
    (shared, request): (&Shared, Duration),
) -> io::Result<u64> {
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
    let until = Cell::new(Some(Instant::now() + HANDSHAKE));
    let patience = Patience { shared, request, until };
    let mut reader =
        BufReader::with_capacity(wire::BUFFER_BYTES, Patient { stream, patience: &patience });
    let mut writer = BufWriter::with_capacity(wire::BUFFER_BYTES, stream);
    let Some(session) = handshake::negotiate(&mut reader, &mut writer, export, &patience)? else {
        return Ok(0);
    };
    patience.until.set(None);
    transmission::transmit(&mut reader, &mut writer, export, session, &patience)
}

/// How long a connection is waited for.
struct Patience<'a> {
    shared: &'a Shared,
    request: Duration,
    until: Cell<Option<Instant>>,
}

impl Follower for Patience<'_> {
    fn is_ending(&self) -> bool {
        self.shared.stop.load(Ordering::SeqCst)
    }

    fn begun(&self) {
        self.until.set(Some(Instant::now() + self.request));
    }

    fn arrived(&self) {
        self.until.set(None);
    }

    fn answered(&self) {
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
    }
}

/// Reads while the time is not up, and, once the server ends, what comes while it looks once more:
/// what a client sent before it could know is answered. Then it is the end of the stream.
struct Patient<'a> {
    stream: &'a Stream,
    patience: &'a Patience<'a>,
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.patience.until.get().is_some_and(|until| Instant::now() >= until) {
                return Ok(0);
            }
            let was_ending = self.patience.is_ending();
            let read = match self.stream {
                Stream::Unix(stream) => (&mut &*stream).read(bytes),
                Stream::Tcp(stream) => (&mut &*stream).read(bytes),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if was_ending {
                        return Ok(0);
                    }
                }
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
