//! SHA-256 of a trace as it is stored, so that a result names exactly what it was measured on.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};

use crate::error::{Result, TraceError};
use crate::source::Source;

/// A digest that several readers feed.
#[derive(Clone, Default)]
pub(crate) struct SharedDigest(Arc<Mutex<Sha256>>);

impl SharedDigest {
    /// A reader that passes `stored` on and digests what passes.
    pub(crate) fn tee(&self, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(Tee { stored, digest: self.clone() })
    }

    fn update(&self, bytes: &[u8]) {
        self.0.lock().expect("no digest update panics").update(bytes);
    }

    /// The digest of everything that passed, as 64 hexadecimal digits.
    pub(crate) fn finish(&self) -> String {
        hexadecimal(self.0.lock().expect("no digest update panics").clone())
    }
}

struct Tee {
    stored: Box<dyn Read + Send>,
    digest: SharedDigest,
}

impl Read for Tee {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stored.read(buffer)?;
        self.digest.update(&buffer[..count]);
        Ok(count)
    }
}

/// Digest of all parts of a source, one after the other.
pub(crate) fn of_source(source: &Source) -> Result<String> {
    let digest = SharedDigest::default();
    for (part, name) in source.names().iter().enumerate() {
        let mut stored = digest.tee(source.open_stored(part)?);
        drain(&mut stored)
            .map_err(|error| TraceError::new(format!("cannot be read ({error})")).at(name, None))?;
    }
    Ok(digest.finish())
}

/// Reads to the end.
pub(crate) fn drain(stored: &mut dyn Read) -> io::Result<()> {
    let mut buffer = vec![0; 256 << 10];
    loop {
        match stored.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Digest of a text, such as the canonical form of an inline spec.
pub(crate) fn of_text(text: &str) -> String {
    hexadecimal(Sha256::new_with_prefix(text.as_bytes()))
}

fn hexadecimal(digest: Sha256) -> String {
    digest.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_sha256() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(of_text(""), empty);
        let shared = SharedDigest::default();
        drain(&mut shared.tee(Box::new(&b"a"[..]))).unwrap();
        drain(&mut shared.tee(Box::new(&b"bc"[..]))).unwrap();
        assert_eq!(shared.finish(), of_text("abc"));
    }
}
