//! The state of a virtual drive in a file, so that a used drive need not be aged again.
//!
//! ```text
//! magic, 8 bytes | form, u32 | length of the header, u32 | header | payload | SHA-256, 32 bytes
//! ```
//!
//! Numbers are little-endian. The header ([`Header`]) and the payload (a
//! [`SsdState`]) are in postcard's format, the payload in an LZ4 frame; the digest is of everything
//! before it. A state says where every page is in terms of this version's model, so no other
//! version reads it: ageing a drive again takes seconds, a wrong figure is worse.
//!
//! `fourcorners age` makes one. `review --state` tests that drive and leaves out the purges of the
//! methods, as on a device that cannot be purged, because the saved past is the reason for loading it.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Ssd, SsdState, StateError};
use fourcorners_machine::save::write_atomically_with;
use fourcorners_words::hex;
use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const MAGIC: [u8; 8] = *b"4cstate\n";

/// Raised whenever what a state consists of changes; a test notices.
const FORM: u32 = 13;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Two names and a hash are shorter.
const MOST_HEADER_BYTES: u32 = 4096;

const DIGEST_BYTES: u64 = 32;

/// What a state is of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Header {
    /// Version of fourcorners.
    version: String,
    /// Name of the profile.
    drive: String,
    /// [`Profile::hash`]: the same profile under another name is the same drive.
    profile_hash: String,
}

/// A drive from a file.
#[derive(Debug)]
pub struct Loaded {
    /// The drive, as it was when it was saved.
    pub ssd: Ssd,
    /// First 16 hexadecimal digits of the file's SHA-256: what a record names it by.
    pub id: String,
}

/// Why a state cannot be saved or loaded.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// The file system said no.
    #[error("{place}: {cause}")]
    Io {
        /// The file.
        place: String,
        /// What it said.
        cause: io::Error,
    },
    /// Something else altogether.
    #[error("{place} is not the state of a drive; `fourcorners age` makes one")]
    NotOne {
        /// The file.
        place: String,
    },
    /// Of another version of this program.
    #[error("{place} was made by fourcorners {found}, this is {VERSION}: age the drive again")]
    OtherVersion {
        /// The file.
        place: String,
        /// Which version, or which form of file.
        found: String,
    },
    /// Not what was written.
    #[error("{place} is damaged: {what}; age the drive again")]
    Damaged {
        /// The file.
        place: String,
        /// How that shows.
        what: String,
    },
    /// The state of another drive.
    #[error("{place} is the state of {drive}{how}, not of {given}")]
    OtherDrive {
        /// The file.
        place: String,
        /// Whose state it is.
        drive: String,
        /// How it differs, where the name does not tell.
        how: &'static str,
        /// The drive that was to take it.
        given: String,
    },
    /// A file with a right checksum that no drive was saved in.
    #[error("{place}: {cause}")]
    Content {
        /// The file.
        place: String,
        /// What is wrong with it.
        cause: StateError,
    },
    /// There is none to be had.
    #[error("{name} {why}")]
    None {
        /// The drive.
        name: String,
        /// Why not.
        why: &'static str,
    },
}

/// What a hard disk's state would be good for.
const HARD_DISK: &str =
    "is a hard disk: its figures do not depend on its past, so there is no state to keep";

/// The form has a page map and nothing else.
const LOG_BLOCKS: &str = "has a log-block map, and only the state of a page map can be kept";

/// Nor which pages of the map are in memory.
const LIMITED_MAP: &str = "has a map with limited memory (map.memory_kib), and only the state of a map that is all \
     in memory can be kept";

/// Nor what is hot.
const STREAMS: &str = "keeps hot and cold data apart ([streams]), and only the state of a drive that does not can be kept";

/// Writes what `ssd`, a drive of `profile`, remembers to `path`, whole or not at all. Nothing may be
/// in flight. An existing file is replaced if it is a state.
///
/// # Errors
/// When something is in flight, `path` is something else, or it cannot be written.
pub fn save(ssd: &Ssd, profile: &Profile, path: &Path) -> Result<(), StateFileError> {
    may_save(profile, path)?;
    let none = |why| StateFileError::None { name: profile.name.clone(), why };
    let state = ssd.state().ok_or_else(|| none("is at work: it has no state to keep"))?;
    let header = Header {
        version: VERSION.into(),
        drive: profile.name.clone(),
        profile_hash: profile.hash(),
    };
    write_atomically_with(path, &|file| write(file, &header, &state)).map_err(at(path))
}

/// Whether a state of `profile` may be saved at `path`: what could be refused afterwards is refused
/// before a drive is aged for it.
///
/// # Errors
/// When the drive has no state, or something is there that is none.
pub fn may_save(profile: &Profile, path: &Path) -> Result<(), StateFileError> {
    has_state(profile)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if !folder.metadata().map_err(at(folder))?.is_dir() {
        return Err(at(folder)(io::ErrorKind::NotADirectory.into()));
    }
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(at(path)(error)),
        Ok(metadata) if metadata.is_dir() => Err(at(path)(io::ErrorKind::IsADirectory.into())),
        Ok(metadata) if !metadata.is_file() => Ok(()),
        Ok(_) => {
            let mut magic = [0; MAGIC.len()];
            let file = File::open(path).map_err(at(path))?;
            let there = (&file).read_exact(&mut magic).is_ok() && magic == MAGIC;
            let exists = "exists and is no state: it is not replaced";
            let name = path.display().to_string();
            there.then_some(()).ok_or(StateFileError::None { name, why: exists })
        }
    }
}

/// The drive of `profile` whose state is in the file at `path`.
///
/// # Errors
/// When it is not such a file, of another version, damaged, of another drive or what it says makes
/// no drive.
pub fn load(path: &Path, profile: &Profile) -> Result<Loaded, StateFileError> {
    load_as(path, profile, has_state(profile)?)
}

/// The same as a drive of `model`, which is `profile`'s but for the host in front of it.
///
/// # Errors
/// As [`load`].
pub fn load_as(
    path: &Path,
    profile: &Profile,
    model: &SsdConfig,
) -> Result<Loaded, StateFileError> {
    has_state(profile)?;
    let Opened { mut file, payload, digest } = open(path, profile)?;
    let damaged =
        |what: String| StateFileError::Damaged { place: path.display().to_string(), what };
    file.seek(SeekFrom::Start(payload.start)).map_err(at(path))?;
    let compressed = BufReader::new(file).take(payload.end - payload.start);
    // A frame may claim to hold anything. No state has more numbers than its map and a few times
    // its blocks and rows, and no number has more than ten bytes.
    let most_bytes = profile.memory_bytes().saturating_mul(4).saturating_add(256 << 20);
    let mut content = BufReader::new(FrameDecoder::new(compressed)).take(most_bytes);
    let state: SsdState<'static> = postcard::from_io((&mut content, &mut [0; 64]))
        .map_err(|error| damaged(error.to_string()))?
        .0;
    match content.read(&mut [0]) {
        Ok(0) => {}
        Ok(_) => return Err(damaged("it is longer than a state".into())),
        Err(error) => return Err(damaged(error.to_string())),
    }
    let ssd = Ssd::restore(model, state).map_err(|cause| {
        let place = path.display().to_string();
        StateFileError::Content { place, cause }
    })?;
    Ok(Loaded { ssd, id: hex(&digest[..8]) })
}

/// Whether the file at `path` is a whole state of `profile`: all that is known before it is loaded.
///
/// # Errors
/// As [`load`], but for what only the content tells.
pub fn check(path: &Path, profile: &Profile) -> Result<(), StateFileError> {
    has_state(profile).and_then(|_| open(path, profile)).map(|_| ())
}

/// The drive's model if it has a state that can be kept.
fn has_state(profile: &Profile) -> Result<&SsdConfig, StateFileError> {
    let why = match &profile.model {
        Model::Hdd(_) => HARD_DISK,
        Model::Ssd(model) if model.log_blocks.is_some() => LOG_BLOCKS,
        Model::Ssd(model) if model.map.as_ref().is_some_and(|map| map.memory_kib.is_some()) => {
            LIMITED_MAP
        }
        Model::Ssd(model) if model.streams.is_some() => STREAMS,
        Model::Ssd(model) => return Ok(model),
    };
    Err(StateFileError::None { name: profile.name.clone(), why })
}

/// A file that is a whole state of the drive it is wanted for.
struct Opened {
    file: File,
    payload: std::ops::Range<u64>,
    digest: [u8; DIGEST_BYTES as usize],
}

fn open(path: &Path, profile: &Profile) -> Result<Opened, StateFileError> {
    let place = || path.display().to_string();
    let not_one = || StateFileError::NotOne { place: place() };
    let damaged = |what: &str| StateFileError::Damaged { place: place(), what: what.into() };
    // A pipe would be waited for and a device read without end.
    let length = path.metadata().map_err(at(path))?;
    if !length.is_file() {
        return Err(not_one());
    }
    let file = File::open(path).map_err(at(path))?;
    let length = file.metadata().map_err(at(path))?.len();
    let mut reader = BufReader::new(file);
    let mut magic = [0; MAGIC.len()];
    if reader.read_exact(&mut magic).is_err() || magic != MAGIC {
        return Err(not_one());
    }
    let mut number = || {
        let mut bytes = [0; 4];
        reader.read_exact(&mut bytes).map(|()| u32::from_le_bytes(bytes))
    };
    let short = |_: io::Error| damaged("it is cut short");
    let (form, header_bytes) = (number().map_err(short)?, number().map_err(short)?);
    if form != FORM {
        let found = format!("of another version (form {form}, this has {FORM})");
        return Err(StateFileError::OtherVersion { place: place(), found });
    }
    let begin = MAGIC.len() as u64 + 8 + u64::from(header_bytes);
    let end = length.saturating_sub(DIGEST_BYTES);
    if header_bytes > MOST_HEADER_BYTES || end < begin {
        return Err(damaged("it is cut short"));
    }
    let digest = digest_of(reader, end).map_err(at(path))?;
    let Digested { mut file, computed, stored } = digest;
    if computed != stored {
        return Err(damaged("its checksum is not that of its content"));
    }
    let mut header = vec![0; header_bytes as usize];
    file.seek(SeekFrom::Start(begin - u64::from(header_bytes))).map_err(at(path))?;
    file.read_exact(&mut header).map_err(short)?;
    let header: Header =
        postcard::from_bytes(&header).map_err(|_| damaged("its header cannot be read"))?;
    if header.version != VERSION {
        return Err(StateFileError::OtherVersion {
            place: place(),
            found: short_name(&header.version),
        });
    }
    if header.profile_hash != profile.hash() {
        let how = match header.drive == profile.name {
            true => " with other values (the same --set and --host are needed)",
            false => "",
        };
        let (drive, given) = (short_name(&header.drive), profile.name.clone());
        return Err(StateFileError::OtherDrive { place: place(), drive, how, given });
    }
    Ok(Opened { file, payload: begin..end, digest: computed })
}

struct Digested {
    file: File,
    computed: [u8; DIGEST_BYTES as usize],
    stored: [u8; DIGEST_BYTES as usize],
}

/// The digest of the first `end` bytes of a file, and the one that follows them.
fn digest_of(reader: BufReader<File>, end: u64) -> io::Result<Digested> {
    let mut file = reader.into_inner();
    file.seek(SeekFrom::Start(0))?;
    let mut hasher = Sha256::new();
    let mut content = (&file).take(end);
    let mut piece = vec![0; 1 << 20];
    loop {
        match content.read(&mut piece)? {
            0 => break,
            length => hasher.update(&piece[..length]),
        }
    }
    let mut stored = [0; DIGEST_BYTES as usize];
    (&file).read_exact(&mut stored)?;
    Ok(Digested { file, computed: hasher.finalize().into(), stored })
}

fn write(file: &File, header: &Header, state: &SsdState<'_>) -> io::Result<()> {
    let mut out = Hashing { file, hasher: Sha256::new() };
    let header = postcard::to_stdvec(header).map_err(io::Error::other)?;
    out.write_all(&MAGIC)?;
    out.write_all(&FORM.to_le_bytes())?;
    // A name may be as long as a profile, and then it is none to find a drive by.
    let length = u32::try_from(header.len()).map_err(io::Error::other)?;
    if length > MOST_HEADER_BYTES {
        return Err(io::Error::other("the name of the profile is too long for a state"));
    }
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&header)?;
    let frame = BufWriter::new(FrameEncoder::new(BufWriter::new(out)));
    let frame = postcard::to_io(state, frame).map_err(io::Error::other)?;
    let frame = frame.into_inner().map_err(|error| error.into_error())?;
    let buffer = frame.finish().map_err(io::Error::other)?;
    let Hashing { mut file, hasher } = buffer.into_inner().map_err(|error| error.into_error())?;
    file.write_all(&hasher.finalize())
}

/// Writes to a file and takes the digest of what is written.
struct Hashing<'a> {
    file: &'a File,
    hasher: Sha256,
}

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> StateFileError {
    move |cause| StateFileError::Io { place: path.display().to_string(), cause }
}

/// A name from a file, no longer than a line.
fn short_name(text: &str) -> String {
    text.chars().take(80).collect()
}
