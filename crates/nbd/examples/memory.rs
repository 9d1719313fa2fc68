//! A memory disk: `memory SOCKET BYTES`, until it is killed.
#![allow(clippy::print_stderr, reason = "an example talks to its user")]

use std::sync::RwLock;

use ftlab_nbd::{Abilities, Error, Export, Server};

struct Memory(u64, RwLock<Vec<u8>>);

impl Export for Memory {
    fn size(&self) -> u64 {
        self.0
    }
    fn abilities(&self) -> Abilities {
        Abilities { read_only: false, trim: true, fast_zero: true, multi_connection: true }
    }
    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let disk = self.1.read().map_err(|_| Error::Io)?;
        bytes.copy_from_slice(&disk[offset as usize..][..bytes.len()]);
        Ok(())
    }
    fn write(&self, offset: u64, bytes: &[u8], _fua: bool) -> Result<(), Error> {
        let mut disk = self.1.write().map_err(|_| Error::Io)?;
        disk[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
    fn flush(&self) -> Result<(), Error> {
        Ok(())
    }
    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), Error> {
        self.zero(offset, length, true, fua)
    }
    fn zero(&self, offset: u64, length: u64, _trim: bool, _fua: bool) -> Result<(), Error> {
        let mut disk = self.1.write().map_err(|_| Error::Io)?;
        disk[offset as usize..][..length as usize].fill(0);
        Ok(())
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, bytes] = &arguments[..] else {
        eprintln!("memory SOCKET BYTES");
        std::process::exit(2);
    };
    let size: u64 = bytes.parse().expect("a size in bytes");
    let disk = Memory(size, RwLock::new(vec![0; size as usize]));
    Server::unix(path.as_ref())
        .and_then(|server| server.run(&disk))
        .expect("a socket to listen on");
}
