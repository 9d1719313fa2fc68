//! What a drive tells while it serves is what its device counted, and what its flash holds.

use std::borrow::Cow;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ftlab_drive::http::{self, Answer};
use ftlab_drive::{Drive, Live, Pace};
use ftlab_engine::schemes::TABLE;
use ftlab_lab::{Capacity, Experiment, Silent};
use ftlab_nbd::Export as _;
use serde_json::Value;

const PAGE: u64 = 4096;

fn drive(scheme: &str, precondition: &str) -> Drive {
    let experiment = Experiment {
        schemes: scheme.into(),
        device: "slc_small".to_owned(),
        capacity: Some(Capacity::Bytes(4 << 20)),
        precondition: precondition.parse().unwrap(),
        set: ["device.over_provisioning=50%", "device.oob_bytes=64"].into_iter().collect(),
        ..Experiment::default()
    };
    let serving = experiment.serving(&Silent).unwrap_or_else(|error| panic!("{scheme}: {error}"));
    Drive::open(serving, Pace::Off, (None, None), &Silent).unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect()
}

/// Scattered writes of a page each, `count` of them.
fn write(drive: &Drive, count: u64) {
    for number in 0..count {
        // Fibonacci's hash: no two blocks grow old alike, so that something must be moved.
        let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let page = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33;
        let page = page % (drive.size() / PAGE);
        drive.write(page * PAGE, &[number as u8; PAGE as usize], false).unwrap();
    }
}

/// Totals, sums over blocks and reclaims against the result of the same drive.
fn agrees(scheme: &str) {
    let drive = drive(scheme, "none");
    let live = Live::new(&drive, "title");
    write(&drive, 4000);
    drive.trim(0, 64 * PAGE, false).unwrap();
    drive.flush().unwrap();
    live.look();
    let (now, blocks) = (live.now(None, 0), live.blocks());
    let result = drive.result("", true).unwrap();
    let last = |column: &Value| numbers(column).last().copied().unwrap();
    let looks = &now["looks"];
    assert_eq!(numbers(&looks["at_ms"]).len(), 2);
    assert_eq!(last(&looks["requests"]["write"]), 4000);
    assert_eq!(last(&looks["requests"]["write"]), result.host.write_requests);
    assert_eq!(last(&looks["bytes"]["write"]), result.host.bytes_written);
    assert_eq!(last(&looks["requests"]["flush"]), 1);
    let programs: u64 = looks["programs"].as_object().unwrap().values().map(&last).sum();
    assert_eq!(programs, result.flash.total_programs, "{scheme}");
    assert_eq!(last(&looks["erases"]), result.flash.total_erases, "{scheme}");
    assert_eq!(last(&looks["map_hits"]), result.map_cache.hits, "{scheme}");
    assert_eq!(last(&looks["map_lookups"]), result.map_cache.lookups, "{scheme}");
    assert!(result.flash.total_erases > 0, "{scheme}");

    let sum = |name: &str| numbers(&blocks[name]).iter().sum::<u64>();
    let states = blocks["states"].as_str().unwrap();
    assert_eq!(states.len() as u64, blocks["blocks"].as_u64().unwrap());
    assert_eq!(sum("erases"), result.flash.total_erases, "{scheme}: each block tells its erases");
    let erased = states.chars().filter(|state| *state == '.').count() as u64;
    assert_eq!(erased, blocks["erased_blocks"].as_u64().unwrap());
    let pages = states.len() as u64 * blocks["pages_per_block"].as_u64().unwrap();
    assert!(sum("valid") + sum("stale") <= pages && sum("valid") > 0);

    let reclaims = now["reclaims"].as_array().unwrap();
    assert!(!reclaims.is_empty() && reclaims.len() <= 24, "{scheme}");
    for reclaim in reclaims {
        let victims = reclaim["victims"].as_array().unwrap();
        assert!(!victims.is_empty() && reclaim["erased"].as_u64().unwrap() >= victims.len() as u64);
        for victim in victims {
            let letters = victim["pages"].as_str().unwrap();
            assert_eq!(letters.len() as u64, blocks["pages_per_block"].as_u64().unwrap());
            let moved = letters.chars().filter(|letter| *letter == 'm').count() as u64;
            let told = victim["to"].as_array().unwrap();
            assert_eq!(moved, told.iter().map(|pair| pair[1].as_u64().unwrap()).sum::<u64>());
        }
    }
    let newest = reclaims.last().unwrap()["number"].as_u64().unwrap();
    assert_eq!(live.now(None, newest)["reclaims"].as_array().unwrap().len(), 0);
    let behind = live.now(Some(numbers(&looks["at_ms"])[1]), newest);
    assert_eq!(behind["looks"]["erases"].as_array().unwrap().len(), 0);
}

#[test]
fn every_scheme_is_told_as_it_is() {
    for row in TABLE {
        println!("{}", row.paper.name);
        agrees(row.paper.name);
    }
}

#[test]
fn a_collection_is_told_page_by_page() {
    let drive = drive("ideal_page", "fill");
    let live = Live::new(&drive, "title");
    let before = live.blocks();
    write(&drive, 2000);
    let told = live.now(None, 0);
    let reclaims = told["reclaims"].as_array().unwrap();
    let copied: u64 = reclaims.iter().map(|one| one["copied"].as_u64().unwrap()).sum();
    let moved: usize = reclaims
        .iter()
        .flat_map(|one| one["victims"].as_array().unwrap())
        .map(|victim| victim["pages"].as_str().unwrap().matches('m').count())
        .sum();
    // A page-mapped collection moves what is valid of its victim and erases that, at once.
    assert!(copied > 0);
    assert_eq!(copied as usize, moved);
    for victim in reclaims.iter().flat_map(|one| one["victims"].as_array().unwrap()) {
        let pages = victim["pages"].as_str().unwrap();
        assert!(pages.contains('s') && !pages.contains('.'), "a full block with something to gain");
        assert_eq!(victim["cause"], "gc");
    }
    thread::sleep(Duration::from_millis(150));
    assert_ne!(before["erases"], live.blocks()["erases"]);
}

#[test]
fn ten_minutes_are_kept_and_longer_ones_thinner() {
    let drive = drive("ideal_page", "none");
    let live = Live::new(&drive, "title");
    for _ in 0..6000 {
        live.look();
    }
    let now = live.now(None, 0);
    let looks = now["looks"]["at_ms"].as_array().unwrap().len();
    assert!(looks > 1000 && looks <= 2400, "{looks}");
    assert_eq!(now["looks_max"], 2400, "what the page says of it");
}

/// A server of one page, to be talked to by `client`, which ends it.
fn with_server(client: impl FnOnce(SocketAddr)) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), AtomicBool::new(false));
    let pages = |path: &str, _: &str| {
        let body = Cow::Owned(vec![b'x'; 3 << 20]);
        (path == "/").then_some(Answer { kind: "text/plain", body })
    };
    thread::scope(|scope| {
        let server = scope.spawn(|| http::serve(&listener, &stop, &pages));
        // The server ends too where the client finds something wrong.
        let found = catch_unwind(AssertUnwindSafe(|| client(address)));
        stop.store(true, Ordering::SeqCst);
        found.unwrap_or_else(|why| resume_unwind(why));
        let begun = Instant::now();
        server.join().unwrap().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(3), "it ends soon, whoever is connected");
    });
}

fn answered(address: SocketAddr) -> usize {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let head = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    assert!(bytes.starts_with(b"HTTP/1.1 200 OK\r\n"));
    bytes.len()
}

#[test]
fn clients_that_send_nonsense_hold_no_other_up() {
    with_server(|address| {
        let mut kept = Vec::new();
        let mut sent = |bytes: &[u8]| {
            let mut stream = TcpStream::connect(address).unwrap();
            // It may be left before all of it is sent.
            let _ = stream.write_all(bytes);
            kept.push(stream);
        };
        sent(b"");
        sent(b"GET / HTTP/1.1\r\nHo");
        sent(&[0xFF; 100]);
        sent(&vec![b'a'; 1 << 20]);
        sent(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n");
        // Answers that nobody takes, one after the other.
        sent(&b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(50));
        assert!(answered(address) > 3 << 20);
        // More connections than there is room for: those before them are closed, and room comes
        // again.
        let many: Vec<TcpStream> =
            (0..200).filter_map(|_| TcpStream::connect(address).ok()).collect();
        drop((many, kept));
        thread::sleep(Duration::from_millis(500));
        assert!(answered(address) > 3 << 20);
    });
}

#[test]
fn requests_on_one_connection_are_answered_in_turn() {
    with_server(|address| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let one = b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let last = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(&[&one[..], one, last].concat()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2);
        assert_eq!(text.matches("Content-Length: 3145728").count(), 2);
        assert_eq!(text.matches("HTTP/1.1 404 Not Found").count(), 1);
    });
}

#[test]
fn connections_on_which_nothing_is_asked_keep_nobody_out() {
    with_server(|address| {
        // Of a browser that goes on asking, on one connection, while others come and ask nothing.
        let mut browser = TcpStream::connect(address).unwrap();
        browser.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut ask = || {
            browser.write_all(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            let mut bytes = [0; 1024];
            let length = browser.read(&mut bytes).unwrap();
            assert!(bytes[..length].starts_with(b"HTTP/1.1 200 OK\r\n"), "it is still connected");
        };
        let mut idle: Vec<TcpStream> = Vec::new();
        for number in 0..3 * http::CONNECTIONS {
            ask();
            let mut stream = TcpStream::connect(address).unwrap();
            // Every second one has begun, and says no more.
            if number % 2 == 0 {
                stream.write_all(b"GET / HT").unwrap();
                // Who was silent for longest goes by when the server heard of a byte, not by when
                // it was sent: it hears of this one before others come, on a busy machine as well.
                thread::sleep(Duration::from_millis(100));
            }
            idle.push(stream);
        }
        let begun = Instant::now();
        assert!(answered(address) > 3 << 20);
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        ask();
        // So many are kept, and no more: the first to come were the first to go.
        let closed = |stream: &TcpStream| {
            stream.set_nonblocking(true).unwrap();
            matches!((&mut &*stream).read(&mut [0]), Ok(0))
        };
        let left: Vec<bool> = idle.iter().map(closed).collect();
        let first_kept = left.iter().position(|closed| !closed).unwrap();
        assert!(first_kept >= 2 * http::CONNECTIONS, "{first_kept} were closed first");
        assert!(left[first_kept..].iter().all(|closed| !closed), "{left:?}");
    });
}
