//! SHA-256 of a trace as it is stored, so that a result names exactly what it was measured on.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};

use crate::error::TraceError;
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

/// Digest of all parts of a source, one after the other. `noted` is told of the bytes as they are
/// read, and may end it.
pub(crate) fn of_source<E: From<TraceError>>(
    source: &Source,
    noted: &mut impl FnMut(u64) -> std::result::Result<(), E>,
) -> std::result::Result<String, E> {
    let digest = SharedDigest::default();
    for (part, name) in source.names().iter().enumerate() {
        drain(&mut digest.tee(source.open_stored(part)?), name, noted)?;
    }
    Ok(digest.finish())
}

/// Reads what is called `name` to its end. `noted` is told of the bytes as they are read, and may
/// end it.
pub(crate) fn drain<E: From<TraceError>>(
    stored: &mut dyn Read,
    name: &str,
    noted: &mut impl FnMut(u64) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut buffer = vec![0; 256 << 10];
    loop {
        match stored.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => noted(count as u64)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let error = TraceError::new(format!("cannot be read ({error})"));
                return Err(error.at(name, None).into());
            }
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
        let mut bytes = Vec::new();
        for text in [&b"a"[..], &b"bc"[..]] {
            let mut noted = |count| {
                bytes.push(count);
                Ok::<(), TraceError>(())
            };
            drain(&mut shared.tee(Box::new(text)), "-", &mut noted).unwrap();
        }
        assert_eq!(shared.finish(), of_text("abc"));
        assert_eq!(bytes, [1, 2]);
    }
}
