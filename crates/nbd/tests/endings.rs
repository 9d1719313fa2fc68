//! How conversations end that do not end by themselves: requests that stop in the middle, and
//! servers.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ftlab_nbd::{Abilities, Error, Export, Server};

/// A read from here on meets a bug.
const BUG: u64 = 1 << 19;

/// Reads take a while once somebody said so.
#[derive(Default)]
struct Slow(AtomicBool);

impl Export for Slow {
    fn size(&self) -> u64 {
        1 << 20
    }
    fn abilities(&self) -> Abilities {
        Abilities { read_only: false, trim: true, fast_zero: true, multi_connection: true }
    }
    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        assert!(offset < BUG, "a bug of the export, met on purpose");
        if self.0.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(300));
        }
        bytes.fill(1);
        Ok(())
    }
    fn write(&self, _offset: u64, _bytes: &[u8], _fua: bool) -> Result<(), Error> {
        Ok(())
    }
    fn flush(&self) -> Result<(), Error> {
        Ok(())
    }
    fn trim(&self, _offset: u64, _length: u64, _fua: bool) -> Result<(), Error> {
        Ok(())
    }
    fn zero(&self, _offset: u64, _length: u64, _trim: bool, _fua: bool) -> Result<(), Error> {
        Ok(())
    }
}

/// A client past its handshake.
fn client(path: &Path) -> UnixStream {
    let mut stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    let option = [&3_u32.to_be_bytes()[..], b"IHAVEOPT", &1_u32.to_be_bytes(), &[0; 4]].concat();
    stream.write_all(&option).unwrap();
    stream.read_exact(&mut [0; 10]).unwrap();
    stream
}

fn request(command: u16, length: u32) -> Vec<u8> {
    let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
    bytes.extend([0; 2]);
    bytes.extend(command.to_be_bytes());
    bytes.extend([0; 16]);
    bytes.extend(length.to_be_bytes());
    bytes
}

/// The error of the next reply; none where the server left.
fn error(stream: &mut UnixStream) -> Option<u32> {
    let mut reply = [0; 16];
    stream.read_exact(&mut reply).ok()?;
    Some(u32::from_be_bytes(reply[4..8].try_into().unwrap()))
}

#[test]
fn a_request_that_stops_in_the_middle_is_waited_for_so_long_and_an_idle_client_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let server = Server::unix(&path).unwrap().waiting(Duration::from_millis(400));
    let end = server.handle();
    let export = Slow::default();
    thread::scope(|scope| {
        scope.spawn(|| server.run(&export));
        let (mut idle, mut half, mut payload) = (client(&path), client(&path), client(&path));
        half.write_all(&request(0, 1)[..13]).unwrap();
        payload.write_all(&request(1, 4096)).unwrap();
        payload.write_all(&[1; 100]).unwrap();
        let begun = Instant::now();
        assert_eq!((error(&mut half), error(&mut payload)), (None, None));
        let waited = begun.elapsed();
        assert!(waited > Duration::from_millis(300) && waited < Duration::from_secs(5));
        idle.write_all(&request(3, 0)).unwrap();
        assert_eq!(error(&mut idle), Some(0));
        end.stop();
    });
}

#[test]
fn a_server_that_ends_answers_what_it_began_and_refuses_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let server = Server::unix(&path).unwrap();
    let end = server.handle();
    let export = Slow::default();
    thread::scope(|scope| {
        let serving = scope.spawn(|| server.run(&export));
        let (mut busy, mut idle) = (client(&path), client(&path));
        let mut greeted = UnixStream::connect(&path).unwrap();
        greeted.read_exact(&mut [0; 18]).unwrap();
        export.0.store(true, Ordering::SeqCst);
        busy.write_all(&[request(0, 1), request(3, 0), request(4, 512)].concat()).unwrap();
        thread::sleep(Duration::from_millis(100));
        end.stop();
        let option = [&3_u32.to_be_bytes()[..], b"IHAVEOPT", &3_u32.to_be_bytes(), &[0; 4]];
        greeted.write_all(&option.concat()).unwrap();
        assert_eq!(error(&mut busy), Some(0), "it was being served");
        busy.read_exact(&mut [0]).unwrap();
        assert_eq!((error(&mut busy), error(&mut busy)), (Some(108), Some(108)));
        let mut reply = [0; 20];
        greeted.read_exact(&mut reply).unwrap();
        assert_eq!(reply[12..16], (1_u32 << 31 | 7).to_be_bytes(), "ERR_SHUTDOWN");
        assert_eq!(error(&mut idle), None, "who waits for nothing is let go");
        let begun = Instant::now();
        drop((busy, idle, greeted));
        serving.join().unwrap().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(5));
    });
    assert!(!path.exists());
}

#[test]
fn a_client_that_never_takes_its_replies_does_not_keep_a_server_from_ending() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let server = Server::unix(&path).unwrap();
    let end = server.handle();
    let export = Slow::default();
    thread::scope(|scope| {
        let serving = scope.spawn(|| server.run(&export));
        let mut deaf = client(&path);
        for _ in 0..8 {
            deaf.write_all(&request(0, 1 << 20)).unwrap();
        }
        thread::sleep(Duration::from_millis(100));
        let begun = Instant::now();
        end.stop();
        serving.join().unwrap().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10), "it took {:?}", begun.elapsed());
    });
}

#[test]
fn a_bug_of_the_export_ends_the_connection_that_met_it_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let server = Server::unix(&path).unwrap();
    let end = server.handle();
    let export = Slow::default();
    thread::scope(|scope| {
        let serving = scope.spawn(|| server.run(&export));
        let mut other = client(&path);
        let mut bad = request(0, 1);
        bad[16..24].copy_from_slice(&BUG.to_be_bytes());
        // More of them than there is room for at a time: each is counted out again.
        for _ in 0..ftlab_nbd::server::CONNECTIONS + 6 {
            let mut unlucky = client(&path);
            unlucky.write_all(&bad).unwrap();
            assert_eq!(error(&mut unlucky), None, "its connection is closed");
        }
        other.write_all(&request(0, 1)).unwrap();
        assert_eq!(error(&mut other), Some(0));
        end.stop();
        serving.join().expect("no panic leaves the server").unwrap();
    });
}

#[test]
fn whoever_finds_the_socket_is_answered_and_nothing_stands_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..300 {
        let path = folder.path().join(format!("s{round}"));
        thread::scope(|scope| {
            let finding = scope.spawn(|| {
                while !path.exists() {
                    std::hint::spin_loop();
                }
                UnixStream::connect(&path).map(drop)
            });
            let server = Server::unix(&path).unwrap();
            finding.join().unwrap().unwrap_or_else(|error| panic!("round {round}: {error}"));
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            drop(server);
        });
    }
}

#[test]
fn a_socket_may_have_the_longest_name_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s".repeat(106 - folder.path().as_os_str().len()));
    assert_eq!(path.as_os_str().len(), 107, "sun_path has 108 bytes, the last is 0");
    drop(Server::unix(&path).unwrap());
    assert!(!path.exists());
}
