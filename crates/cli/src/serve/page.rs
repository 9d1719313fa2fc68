//! `--http`: the page on which a drive is seen while it serves, and the JSON that it asks for.

use std::borrow::Cow;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ftlab_drive::http::{self, Answer};
use ftlab_drive::{Drive, EVERY, Live};
use ftlab_lab::{Error, Result};
use ftlab_report::live;
use serde_json::Value;

use super::listening::{addresses, is_local};

const JSON: &str = "application/json";

/// Listens where the page was asked for.
pub fn listen(text: &str, anyone: bool) -> Result<TcpListener> {
    let wrong = |why: &str| {
        Error::usage(format!(
            "--http {text} {why}; legal: 127.0.0.1:PORT, and with --listen-anyone HOST:PORT"
        ))
    };
    let all = addresses(text).ok_or_else(|| wrong("names no address"))?;
    if !anyone && !is_local(&all) {
        return Err(wrong("would show the drive to other machines"));
    }
    TcpListener::bind(all.as_slice()).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => wrong("is taken"),
        _ => wrong(&format!("cannot be listened on ({error})")),
    })
}

/// What of a drive does not change while it serves.
pub fn facts(size: &str, command: &str) -> Vec<(String, String)> {
    [("Capacity", size), ("Served by", command), ("As JSON", "/live.json, /blocks.json")]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec()
}

/// A page that follows a drive.
pub struct Page<'a> {
    listener: TcpListener,
    live: Live<'a>,
    html: Vec<u8>,
}

impl<'a> Page<'a> {
    /// Begins to follow.
    pub fn new(
        listener: TcpListener,
        drive: &'a Drive,
        title: &str,
        facts: Vec<(String, String)>,
    ) -> Self {
        Page { listener, live: Live::new(drive, title), html: live::write(title, &facts) }
    }

    /// Where browsers find it.
    pub fn url(&self) -> String {
        self.listener.local_addr().map_or_else(|_| String::new(), |at| format!("http://{at}/"))
    }

    /// Answers browsers until the end; the drive goes on without it where that fails.
    pub fn run(&self, end: &AtomicBool) {
        let pages = |path: &str, query: &str| self.answer(path, query);
        let _ = http::serve(&self.listener, end, &pages);
    }

    /// Looks at the drive's counts until the end.
    pub fn look(&self, end: &AtomicBool) {
        while !end.load(Ordering::SeqCst) {
            self.live.look();
            thread::sleep(EVERY);
        }
    }

    fn answer(&self, path: &str, query: &str) -> Option<Answer> {
        let json = |value: Value| {
            let body = Cow::Owned(value.to_string().into_bytes());
            Some(Answer { kind: JSON, body })
        };
        // What is no number is as if it was not asked for.
        let number = |name: &str| {
            let asked = query.split('&').filter_map(|part| part.split_once('='));
            asked.filter(|(key, _)| *key == name).find_map(|(_, text)| text.parse::<u64>().ok())
        };
        match path {
            "/" => {
                Some(Answer { kind: "text/html; charset=utf-8", body: self.html.clone().into() })
            }
            "/live.json" => json(self.live.now(number("after_ms"), number("reclaim").unwrap_or(0))),
            "/blocks.json" => json(self.live.blocks()),
            _ => None,
        }
    }
}
