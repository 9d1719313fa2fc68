//! A small HTTP/1.1 server for pages of this machine: it answers GET and HEAD, and knows nothing of
//! what.
//!
//! What a client sends is bounded in length and in time, and whoever sends anything else gets an
//! error of the protocol (RFC 9112) and is left. There are no bodies, no ranges and no encryption.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Connections at a time; for a further one another is closed: of those on which nothing was
/// answered yet, or else of all, the one that was silent for longest.
pub const CONNECTIONS: usize = 32;
/// Longest head of a request, in bytes.
pub const HEAD_BYTES: usize = 8 << 10;
/// From the first byte of a head to its last.
pub const HEAD: Duration = Duration::from_secs(10);
/// A connection on which nothing is asked is kept so long.
pub const IDLE: Duration = Duration::from_secs(30);
/// An answer is taken within this time, or its client is left.
pub const ANSWER: Duration = Duration::from_secs(30);
/// How often waiting threads look whether the server ends.
const LOOK: Duration = Duration::from_millis(50);

/// What is under a path.
pub struct Answer {
    /// Its media type.
    pub kind: &'static str,
    /// Its bytes.
    pub body: Cow<'static, [u8]>,
}

/// What pages a server has: path and query, or `None` where nothing is.
pub type Pages<'a> = dyn Fn(&str, &str) -> Option<Answer> + Sync + 'a;

/// What a page may do: what it carries itself, and ask where it came from.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Serves until `stop`; returns when the last connection has ended.
///
/// # Errors
/// The listener cannot be used.
pub fn serve(listener: &TcpListener, stop: &AtomicBool, pages: &Pages<'_>) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    // A page of another site may have its own name point here, and its scripts would read the
    // answers: who listens on the loopback alone answers to its names alone.
    let local = listener.local_addr()?.ip().is_loopback();
    let open = Connections::default();
    thread::scope(|scope| {
        for number in 0.. {
            let Some(stream) = accept(listener, stop) else { return };
            open.make_room();
            let Some(client) = open.enter(number, stream) else { continue };
            let entered = Entered { open: &open, number };
            // Where no thread can be had the stream is dropped, and with it the connection closed.
            let _ = thread::Builder::new().spawn_scoped(scope, move || {
                let _entered = entered;
                // How a client ended concerns nobody else.
                let _ = converse(&client, local, stop, pages);
            });
        }
    });
    Ok(())
}

/// The next client; `None` at the end.
fn accept(listener: &TcpListener, stop: &AtomicBool) -> Option<TcpStream> {
    while !stop.load(Ordering::SeqCst) {
        match listener.accept() {
            Ok((stream, _)) => return Some(stream),
            Err(_) => thread::sleep(LOOK),
        }
    }
    None
}

/// A connection, and how much it is worth to be kept.
struct Client {
    stream: TcpStream,
    worth: Mutex<Worth>,
}

/// Those of least worth go first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    /// Something was asked, and sent.
    answered: bool,
    /// When it last took or sent a byte.
    moved: Instant,
}

impl Client {
    fn moves(&self) {
        locked(&self.worth).moved = Instant::now();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Those that are open, by their number.
#[derive(Default)]
struct Connections(Mutex<BTreeMap<u64, Arc<Client>>>);

impl Connections {
    /// Where all places are taken the connection of least worth ends: whoever opens connections and
    /// asks nothing keeps nobody out.
    fn make_room(&self) {
        let silent = {
            let open = locked(&self.0);
            if open.len() < CONNECTIONS {
                return;
            }
            open.values().min_by_key(|client| *locked(&client.worth)).cloned()
        };
        if let Some(silent) = silent {
            // Its thread hears of it where it waits, and leaves its place.
            let _ = silent.stream.shutdown(Shutdown::Both);
        }
        // Counted, since a clock may stand still.
        for _ in 0..2 * LOOK.as_millis() {
            if locked(&self.0).len() < CONNECTIONS {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Takes a place, if there is one.
    fn enter(&self, number: u64, stream: TcpStream) -> Option<Arc<Client>> {
        let mut open = locked(&self.0);
        if open.len() >= CONNECTIONS {
            return None;
        }
        let worth = Mutex::new(Worth { answered: false, moved: Instant::now() });
        let client = Arc::new(Client { stream, worth });
        open.insert(number, Arc::clone(&client));
        Some(client)
    }
}

/// A place, left also when a page panics.
struct Entered<'a> {
    open: &'a Connections,
    number: u64,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        locked(&self.open.0).remove(&self.number);
    }
}

/// One client, request by request.
fn converse(client: &Client, local: bool, stop: &AtomicBool, pages: &Pages<'_>) -> io::Result<()> {
    let stream = &client.stream;
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LOOK))?;
    stream.set_write_timeout(Some(LOOK))?;
    let mut received = Vec::new();
    loop {
        let Some(head) = receive(client, &mut received, stop)? else { return Ok(()) };
        let reply = respond(&head, local, pages);
        send(client, &reply.bytes, stop)?;
        locked(&client.worth).answered = true;
        if reply.closes {
            return Ok(());
        }
    }
}

/// The next head, without the empty line behind it; `None` where the client left, or nothing came
/// in time. A head that is too long is told as it is.
fn receive(
    client: &Client,
    received: &mut Vec<u8>,
    stop: &AtomicBool,
) -> io::Result<Option<Vec<u8>>> {
    let (mut stream, mut until) = (&client.stream, Instant::now() + IDLE);
    let mut begun = false;
    let mut part = [0; 4096];
    loop {
        if let Some(length) = end_of_head(received) {
            let behind = received.split_off(length);
            return Ok(Some(std::mem::replace(received, behind)));
        }
        if received.len() > HEAD_BYTES {
            return Ok(Some(std::mem::take(received)));
        }
        if !begun && !received.is_empty() {
            (begun, until) = (true, Instant::now() + HEAD);
        }
        if stop.load(Ordering::SeqCst) || Instant::now() >= until {
            return Ok(None);
        }
        match stream.read(&mut part) {
            Ok(0) => return Ok(None),
            Ok(length) => {
                client.moves();
                received.extend_from_slice(&part[..length]);
            }
            Err(error) if waits(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

fn waits(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// The length of the head, if all of it is there.
fn end_of_head(received: &[u8]) -> Option<usize> {
    received.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

fn send(client: &Client, mut bytes: &[u8], stop: &AtomicBool) -> io::Result<()> {
    let mut stream = &client.stream;
    let until = Instant::now() + ANSWER;
    while !bytes.is_empty() {
        if Instant::now() >= until || stop.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => {
                client.moves();
                bytes = &bytes[length..];
            }
            Err(error) if waits(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Bytes of a reply, and whether it is the last on its connection.
struct Reply {
    bytes: Vec<u8>,
    closes: bool,
}

/// What is asked for.
struct Asked<'a> {
    head_only: bool,
    /// Path and query, without what names the server.
    target: &'a str,
    closes: bool,
}

/// The status line of what cannot be answered.
type Refusal = &'static str;

fn respond(head: &[u8], local: bool, pages: &Pages<'_>) -> Reply {
    let asked = match parse(head, local) {
        Ok(asked) => asked,
        Err(status) => return refuse(status, true, false),
    };
    let (path, query) = asked.target.split_once('?').unwrap_or((asked.target, ""));
    let path = if path.is_empty() { "/" } else { path };
    // A bug in a page ends its answer, not the server.
    let answer = match catch_unwind(AssertUnwindSafe(|| pages(path, query))) {
        Ok(Some(answer)) => answer,
        Ok(None) => return refuse("404 Not Found", asked.closes, asked.head_only),
        Err(_) => return refuse("500 Internal Server Error", true, asked.head_only),
    };
    reply("200 OK", answer.kind, &answer.body, asked.closes, asked.head_only)
}

fn refuse(status: Refusal, closes: bool, head_only: bool) -> Reply {
    reply(status, "text/plain; charset=utf-8", format!("{status}\n").as_bytes(), closes, head_only)
}

fn reply(status: &str, kind: &str, body: &[u8], closes: bool, head_only: bool) -> Reply {
    let connection = if closes { "close" } else { "keep-alive" };
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: \
         {connection}\r\n{allow}Cache-Control: no-store\r\nX-Content-Type-Options: \
         nosniff\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: {POLICY}\r\n\r\n",
        body.len()
    );
    let body = if head_only { &[] } else { body };
    Reply { bytes: [head.as_bytes(), body].concat(), closes }
}

/// Reads a head, as strictly as the few things that are asked here need it.
fn parse(head: &[u8], local: bool) -> Result<Asked<'_>, Refusal> {
    if head.len() > HEAD_BYTES {
        return Err("431 Request Header Fields Too Large");
    }
    let text = std::str::from_utf8(head).map_err(|_| "400 Bad Request")?;
    let mut lines = text.strip_suffix("\r\n\r\n").ok_or("400 Bad Request")?.split("\r\n");
    let mut words = lines.next().unwrap_or("").split(' ');
    let (method, whole, version) = match (words.next(), words.next(), words.next(), words.next()) {
        (Some(method), Some(whole), Some(version), None) => (method, whole, version),
        _ => return Err("400 Bad Request"),
    };
    let (authority, target) = target_of(whole).ok_or("400 Bad Request")?;
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err("505 HTTP Version Not Supported");
    }
    let mut closes = version == "HTTP/1.0";
    let mut host = None;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or("400 Bad Request")?;
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if name.is_empty() || !name.bytes().all(legal) {
            return Err("400 Bad Request");
        }
        let value = value.trim_matches([' ', '\t']);
        match name.to_ascii_lowercase().as_str() {
            "host" if host.is_some() => return Err("400 Bad Request"),
            "host" => host = Some(value),
            "connection" => {
                let mut options = value.split(',').map(|option| option.trim_matches([' ', '\t']));
                closes |= options.any(|option| option.eq_ignore_ascii_case("close"));
            }
            "transfer-encoding" => return Err("413 Content Too Large"),
            "content-length" if value != "0" => return Err("413 Content Too Large"),
            _ => {}
        }
    }
    if host.is_none() && version == "HTTP/1.1" {
        return Err("400 Bad Request");
    }
    // A target with a host of its own stands in the place of the field (RFC 9112, section 3.2.2).
    if local && authority.or(host).is_some_and(|name| !is_local(name)) {
        return Err("421 Misdirected Request");
    }
    match method {
        "GET" | "HEAD" => Ok(Asked { head_only: method == "HEAD", target, closes }),
        _ => Err("405 Method Not Allowed"),
    }
}

/// The host that a target names, if it does (RFC 9112: absolute form and origin form), and path and
/// query, which may be empty.
fn target_of(whole: &str) -> Option<(Option<&str>, &str)> {
    if whole.starts_with('/') {
        return Some((None, whole));
    }
    let (scheme, rest) = whole.split_at_checked(7)?;
    let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let legal = scheme.eq_ignore_ascii_case("http://") && !authority.is_empty();
    // A name in front of a host has no place here, and would make a wrong one look right.
    (legal && !authority.contains('@')).then_some((Some(authority), target))
}

/// Whether this is a name of the loopback, with or without a port.
fn is_local(host: &str) -> bool {
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.ip().is_loopback();
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(head: &str) -> String {
        let pages = |path: &str, query: &str| {
            let body = Cow::Owned(query.as_bytes().to_vec());
            matches!(path, "/" | "/there").then_some(Answer { kind: "text/plain", body })
        };
        let reply = respond(head.as_bytes(), true, &pages);
        let text = String::from_utf8(reply.bytes).unwrap();
        assert!(text.contains("\r\nContent-Length: ") && text.contains("\r\n\r\n"));
        format!("{} {}", &text[9..12], if reply.closes { "close" } else { "stay" })
    }

    #[test]
    fn every_wrong_request_has_its_status_and_what_is_right_its_answer() {
        let host = "Host: 127.0.0.1:8080\r\n";
        for (head, wanted) in [
            (format!("GET /there?a=1 HTTP/1.1\r\n{host}\r\n"), "200 stay"),
            (format!("HEAD /there HTTP/1.1\r\n{host}Connection: close\r\n\r\n"), "200 close"),
            (format!("GET /there HTTP/1.1\r\n{host}Connection: keep-alive\r\n\r\n"), "200 stay"),
            (format!("GET /there HTTP/1.1\r\n{host}Connection: a,\tClose \r\n\r\n"), "200 close"),
            (
                format!("GET /there HTTP/1.1\r\n{host}Connection: keep-alive, close\r\n\r\n"),
                "200 close",
            ),
            (
                format!("GET / HTTP/1.1\r\n{host}Connection: close\r\nConnection: a\r\n\r\n"),
                "200 close",
            ),
            (format!("GET / HTTP/1.1\r\n{host}Connection: enclose, closed\r\n\r\n"), "200 stay"),
            (format!("GET http://localhost:8080/there?a HTTP/1.1\r\n{host}\r\n"), "200 stay"),
            (format!("GET HTTP://[::1] HTTP/1.1\r\n{host}\r\n"), "200 stay"),
            (format!("GET http://127.0.0.1?a HTTP/1.1\r\n{host}\r\n"), "200 stay"),
            ("GET http://localhost/ HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(), "200 stay"),
            (format!("GET http://evil.example/there HTTP/1.1\r\n{host}\r\n"), "421 close"),
            (format!("GET http://a@localhost/there HTTP/1.1\r\n{host}\r\n"), "400 close"),
            ("GET http://localhost/there HTTP/1.1\r\n\r\n".to_owned(), "400 close"),
            (format!("GET https://localhost/there HTTP/1.1\r\n{host}\r\n"), "400 close"),
            (format!("GET http:///there HTTP/1.1\r\n{host}\r\n"), "400 close"),
            (format!("GET there HTTP/1.1\r\n{host}\r\n"), "400 close"),
            ("GET /there HTTP/1.0\r\n\r\n".to_owned(), "200 close"),
            ("GET /there HTTP/1.1\r\nhost: LocalHost\r\n\r\n".to_owned(), "200 stay"),
            ("GET /there HTTP/1.1\r\nHost: [::1]:9\r\n\r\n".to_owned(), "200 stay"),
            (format!("GET /nowhere HTTP/1.1\r\n{host}\r\n"), "404 stay"),
            (format!("GET /../etc/passwd HTTP/1.1\r\n{host}\r\n"), "404 stay"),
            ("GET /there HTTP/1.1\r\n\r\n".to_owned(), "400 close"),
            (format!("GET /there HTTP/1.1\r\n{host}{host}\r\n"), "400 close"),
            ("GET /there HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(), "421 close"),
            ("GET /there HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n".to_owned(), "421 close"),
            (format!("POST /there HTTP/1.1\r\n{host}\r\n"), "405 close"),
            (format!("GET /there HTTP/1.1\r\n{host}Content-Length: 5\r\n\r\n"), "413 close"),
            (
                format!("GET /there HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n"),
                "413 close",
            ),
            (format!("GET /there HTTP/2\r\n{host}\r\n"), "505 close"),
            (format!("GET  /there HTTP/1.1\r\n{host}\r\n"), "400 close"),
            (format!("GET /there HTTP/1.1\r\n{host}no colon\r\n\r\n"), "400 close"),
            (format!("GET /there HTTP/1.1\r\n{host} folded: x\r\n\r\n"), "400 close"),
            ("\r\n\r\n".to_owned(), "400 close"),
            ("\u{fffd}".repeat(10), "400 close"),
            ("x".repeat(HEAD_BYTES + 1), "431 close"),
        ] {
            assert_eq!(status(&head), wanted, "{head:?}");
        }
    }

    #[test]
    fn no_head_panics_or_is_answered_with_what_it_did_not_ask_for() {
        let good = b"GET /there?a=1 HTTP/1.1\r\nHost: localhost:80\r\nConnection: close\r\n\r\n";
        let pages = |path: &str, _: &str| {
            (path == "/there").then_some(Answer { kind: "text/plain", body: Cow::Borrowed(b"x") })
        };
        let (mut seed, mut right) = (0x9e37_79b9_7f4a_7c15_u64, 0);
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed as usize
        };
        for _ in 0..20_000 {
            let mut head = good.to_vec();
            for _ in 0..next() % 4 {
                let at = next() % head.len();
                head[at] = next() as u8;
            }
            let reply = respond(&head, true, &pages);
            assert!(reply.bytes.starts_with(b"HTTP/1.1 ") && reply.bytes.len() < 1000);
            right += u32::from(reply.bytes.starts_with(b"HTTP/1.1 200"));
        }
        assert!(right > 2000 && right < 18_000, "{right} of 20,000 were answered");
    }

    #[test]
    fn a_head_ends_with_an_empty_line_and_the_next_one_begins_there() {
        assert_eq!(end_of_head(b"GET / HTTP/1.1\r\n"), None);
        assert_eq!(end_of_head(b"a\r\n\r\nb\r\n\r\n"), Some(5));
    }

    #[test]
    fn who_listens_to_everybody_takes_any_name() {
        let head = b"GET / HTTP/1.1\r\nHost: drive.example\r\n\r\n";
        assert!(parse(head, false).is_ok() && parse(head, true).is_err());
    }
}
