//! A record as it is kept: its JSON, packed by zlib, whose checksum says when it is damaged.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use fourcorners_record::{Record, record_from_json};

/// What a record may unpack to, so that a damaged length cannot take all memory. The largest we make,
/// of a hundred figures and days of seconds, has some tens of MB.
const MOST_BYTES: u64 = 1 << 30;

/// The record, packed.
///
/// # Errors
///
/// A record that JSON cannot tell, because a number in it is infinite or none: what would be read back
/// is not what was kept.
pub(super) fn pack(record: &Record) -> Result<Vec<u8>, String> {
    let json = serde_json::to_vec(record).map_err(|error| error.to_string())?;
    let back: Record = serde_json::from_slice(&json).map_err(|error| {
        format!("it cannot be read back ({error}): a number in it is infinite, or none")
    })?;
    if back != *record {
        return Err("it is another one when it is read back".into());
    }
    let mut packer = ZlibEncoder::new(Vec::with_capacity(json.len() / 4), Compression::default());
    packer.write_all(&json).and_then(|()| packer.finish()).map_err(|error| error.to_string())
}

/// The JSON of a packed record.
///
/// # Errors
///
/// What is damaged.
pub(super) fn json(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut json = Vec::with_capacity(packed.len() * 4);
    let read = ZlibDecoder::new(packed).take(MOST_BYTES + 1).read_to_end(&mut json);
    read.map_err(|error| format!("it cannot be unpacked: {error}"))?;
    if json.len() as u64 > MOST_BYTES {
        return Err(format!("it unpacks to more than {MOST_BYTES} bytes"));
    }
    Ok(json)
}

/// The record that was packed.
///
/// # Errors
///
/// What is damaged.
pub(super) fn unpack(packed: &[u8]) -> Result<Record, String> {
    record_from_json(&json(packed)?).map_err(|error| format!("it is no record: {error}"))
}
