//! The bytes that are left after a cut.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fourcorners_drive::{Op, SECTOR_BYTES};
use fourcorners_words::hex;
use sha2::{Digest, Sha256};

use super::{Cut, Event, History};
use crate::contents::{Contents, Memory};
use crate::data_log::{DataLog, LoggedWrite};

/// Copied at once.
const PIECE: u64 = 1 << 20;

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The log is of another recording.
    #[error(
        "write {write} of the recording is {bytes} bytes at {offset}, the log of data has {logged}: they are not of one \
         run of serve, or the log lost what came after"
    )]
    Unlike {
        /// The number of the write.
        write: usize,
        /// Its place, bytes.
        offset: u64,
        /// Its length.
        bytes: u64,
        /// What the log has in its place.
        logged: String,
    },
    /// Reading data or writing an image failed.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    /// Reading the log failed, or there is no memory left.
    #[error("the data that are left: {0}")]
    Contents(#[from] io::Error),
}

/// Makes the images of cuts of one history, in the order of time.
#[derive(Debug)]
pub struct Images<'a> {
    history: &'a History,
    log: &'a DataLog,
    /// By event: its data.
    data: Vec<Option<LoggedWrite>>,
    /// What all events before `settled` have left.
    base: Memory,
    settled: usize,
}

/// What a drive holds after a cut.
#[derive(Debug)]
pub struct Image {
    contents: Contents,
    bytes: u64,
}

impl<'a> Images<'a> {
    /// Images of a history, with the data of its log, on a drive that held `base` before.
    ///
    /// # Errors
    /// When the log is of another recording.
    pub fn new(
        history: &'a History,
        log: &'a DataLog,
        base: Memory,
    ) -> Result<Images<'a>, ImageError> {
        let mut logged = log.writes().iter();
        let mut data = Vec::with_capacity(history.events.len());
        let mut write = 0;
        for event in &history.events {
            if event.op != Op::Write || event.zeroes {
                data.push(None);
                continue;
            }
            let offset = event.sectors.start * SECTOR_BYTES;
            let bytes = (event.sectors.end - event.sectors.start) * SECTOR_BYTES;
            let found = logged.next();
            match found {
                Some(found) if (found.offset_bytes, found.bytes) == (offset, bytes) => {
                    data.push(Some(*found));
                }
                other => {
                    let logged = match other {
                        None => "nothing more".into(),
                        Some(other) => format!("{} bytes at {}", other.bytes, other.offset_bytes),
                    };
                    return Err(ImageError::Unlike { write, offset, bytes, logged });
                }
            }
            write += 1;
        }
        Ok(Images { history, log, data, base, settled: 0 })
    }

    /// The image of a cut of this history that is no earlier than those asked for before.
    ///
    /// # Errors
    /// When data cannot be read, or memory is full.
    pub fn image(&mut self, cut: &Cut) -> Result<Image, ImageError> {
        while self.settled < cut.settled {
            let event = &self.history.events[self.settled];
            let (whole, data) = (event.sectors.clone(), self.data[self.settled]);
            put(&mut self.base, self.log, event, data, whole)?;
            self.settled += 1;
        }
        let mut contents = self.base.clone();
        for left in &cut.left {
            let event = &self.history.events[left.event];
            for sectors in &left.sectors {
                put(&mut contents, self.log, event, self.data[left.event], sectors.clone())?;
            }
        }
        if let Some(wiped) = &cut.wiped {
            contents.discard(wiped.start * SECTOR_BYTES, (wiped.end - wiped.start) * SECTOR_BYTES);
        }
        for flip in &cut.flips {
            let (at, mut byte) = (flip.sector * SECTOR_BYTES + u64::from(flip.bit / 8), [0]);
            contents.read(at, &mut byte);
            contents.write(at, &[byte[0] ^ 1 << (flip.bit % 8)])?;
        }
        let bytes = self.history.sectors * SECTOR_BYTES;
        Ok(Image { contents: Contents::Memory(contents), bytes })
    }
}

/// Does to the contents what is left of an event.
fn put(
    contents: &mut Memory,
    log: &DataLog,
    event: &Event,
    data: Option<LoggedWrite>,
    sectors: Range<u64>,
) -> io::Result<()> {
    let (mut at, end) = (sectors.start * SECTOR_BYTES, sectors.end * SECTOR_BYTES);
    let Some(logged) = data else {
        if matches!(event.op, Op::Write | Op::Trim) {
            contents.discard(at, end - at);
        }
        return Ok(());
    };
    while at < end {
        let mut piece = vec![0; (end - at).min(PIECE) as usize];
        log.read(logged, at - logged.offset_bytes, &mut piece)?;
        contents.write(at, &piece)?;
        at += piece.len() as u64;
    }
    Ok(())
}

impl Image {
    /// Its SHA-256, over the place and the bytes of every page of 4 KiB that is not zero.
    ///
    /// # Errors
    /// Never, of contents in memory.
    pub fn hash(&self) -> io::Result<String> {
        let mut hash = Sha256::new();
        self.for_each_page(|at, page| {
            if page.iter().any(|byte| *byte != 0) {
                hash.update(at.to_le_bytes());
                hash.update(page);
            }
            Ok(())
        })?;
        Ok(hex(&hash.finalize()))
    }

    /// Writes it to a new sparse file of the drive's size.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ImageError> {
        let failed = |error| ImageError::Io(path.into(), error);
        let file = File::create_new(path).map_err(failed)?;
        file.set_len(self.bytes).map_err(failed)?;
        self.for_each_page(|at, page| {
            let length = page.len().min((self.bytes - at) as usize);
            file.write_all_at(&page[..length], at)
        })
        .map_err(failed)
    }

    /// Bytes that are stored.
    pub fn stored_bytes(&self) -> u64 {
        self.contents.stored_bytes()
    }

    /// Reads a range of it.
    ///
    /// # Errors
    /// Never, of contents in memory.
    pub fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.contents.read(offset, data).map(|_| ())
    }

    fn for_each_page(&self, mut each: impl FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut at = 0;
        while at < self.bytes {
            for extent in self.contents.extents(at, self.bytes - at)? {
                let end = at + extent.length;
                let mut page = at;
                while !extent.hole && page < end {
                    let mut bytes = [0; 4096];
                    self.contents.read(page, &mut bytes)?;
                    each(page, &bytes)?;
                    page += 4096;
                }
                at = end;
            }
        }
        Ok(())
    }
}
