//! A record as it is kept: its JSON, packed by zlib, whose checksum says when it is damaged.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use fourcorners_record::{Record, record_from_json};

/// What a record may unpack to, so that a damaged length cannot take all memory. The largest we make,
/// of a hundred figures and days of seconds, has some tens of MB.
const MOST_BYTES: u64 = 1 << 30;

/// Why a record cannot be kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum PackError {
    #[error("{0}")]
    Json(serde_json::Error),
    #[error("it cannot be read back ({0}): a number in it is infinite, or none")]
    Back(serde_json::Error),
    #[error("it is another one when it is read back")]
    Other,
    #[error("{0}")]
    Zlib(io::Error),
}

/// What is damaged of a record that was kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnpackError {
    #[error("it cannot be unpacked: {0}")]
    Zlib(io::Error),
    #[error("it unpacks to more than {MOST_BYTES} bytes")]
    TooLong,
    #[error("it is no record: {0}")]
    Json(serde_json::Error),
}

/// The record, packed.
///
/// # Errors
///
/// A record that JSON cannot tell, because a number in it is infinite or none: what would be read back
/// is not what was kept.
pub(super) fn pack(record: &Record) -> Result<Vec<u8>, PackError> {
    let json = serde_json::to_vec(record).map_err(PackError::Json)?;
    let back: Record = serde_json::from_slice(&json).map_err(PackError::Back)?;
    if back != *record {
        return Err(PackError::Other);
    }
    let mut packer = ZlibEncoder::new(Vec::with_capacity(json.len() / 4), Compression::default());
    packer.write_all(&json).and_then(|()| packer.finish()).map_err(PackError::Zlib)
}

/// The JSON of a packed record.
///
/// # Errors
///
/// What is damaged.
pub(super) fn json(packed: &[u8]) -> Result<Vec<u8>, UnpackError> {
    let mut json = Vec::with_capacity(packed.len() * 4);
    let read = ZlibDecoder::new(packed).take(MOST_BYTES + 1).read_to_end(&mut json);
    read.map_err(UnpackError::Zlib)?;
    if json.len() as u64 > MOST_BYTES {
        return Err(UnpackError::TooLong);
    }
    Ok(json)
}

/// The record that was packed.
///
/// # Errors
///
/// What is damaged.
pub(super) fn unpack(packed: &[u8]) -> Result<Record, UnpackError> {
    record_from_json(&json(packed)?).map_err(UnpackError::Json)
}
