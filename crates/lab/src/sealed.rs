//! JSON in a file with its SHA-256: a line with the digest of the rest, and the rest. What was not written whole, or was
//! changed since, is known.

use std::fs;
use std::io;
use std::path::Path;

use fourcorners_machine::save::write_atomically;
use fourcorners_words::hex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// Why the content of a file is not known.
#[derive(Debug)]
pub(crate) enum Unread {
    /// What the file system answered.
    Io(io::Error),
    /// It is not what was written.
    Damaged,
}

/// Writes it, whole or not at all.
pub(crate) fn write(path: &Path, content: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_string(content)?;
    write_atomically(path, format!("{}\n{json}", hex(&Sha256::digest(&json))).as_bytes())
}

/// The content of a file; none if there is no file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Unread> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Unread::Io(error)),
    };
    let text = String::from_utf8(bytes).map_err(|_| Unread::Damaged)?;
    let whole = text.split_once('\n').filter(|(sum, json)| *sum == hex(&Sha256::digest(json)));
    let content = whole.and_then(|(_, json)| serde_json::from_str(json).ok());
    content.map(Some).ok_or(Unread::Damaged)
}
