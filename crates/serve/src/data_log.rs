//! What was written, beside a recording: the format of the kernel's `dm-log-writes`, which file-system testers replay.
//!
//! A sector of 512 bytes says what the log is, and each entry has one, followed by its data: where, how many sectors, and
//! flags for flush, force unit access and discard, all little-endian (drivers/md/dm-log-writes.c). The kernel logs a write once it is
//! flushed; here it is logged when it arrives, as in the recording, and flushes say where they arrived.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use crate::recorder::{RecordError, new_file};
use crate::tally::RecordedData;

const MAGIC: u64 = 0x006a_7366_7773_6872;
const VERSION: u64 = 1;
const SECTOR: u64 = 512;
const FLUSH: u64 = 1;
const FUA: u64 = 2;
const DISCARD: u64 = 4;
const MARK: u64 = 8;

/// Data that may wait to be written: a quarter of a gigabyte.
const MOST_WAITING: u64 = 256 << 20;

/// What a log has an entry of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Logged {
    /// These data were stored.
    Write { offset: u64, fua: bool, data: Vec<u8> },
    /// A range was made to read as zero.
    Discard { offset: u64, length: u64 },
    /// A flush was asked for.
    Flush,
}

impl Logged {
    fn data(&self) -> &[u8] {
        match self {
            Logged::Write { data, .. } => data,
            Logged::Discard { .. } | Logged::Flush => &[],
        }
    }

    fn head(&self) -> [u8; SECTOR as usize] {
        let (offset, length, flags) = match self {
            Logged::Write { offset, fua, data } => {
                (*offset, data.len() as u64, if *fua { FUA } else { 0 })
            }
            Logged::Discard { offset, length } => (*offset, *length, DISCARD),
            Logged::Flush => (0, 0, FLUSH),
        };
        let mut sector = [0; SECTOR as usize];
        let numbers = [offset / SECTOR, length / SECTOR, flags, self.data().len() as u64];
        for (place, number) in sector.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        sector
    }
}

/// A log under way, written by a thread of its own; nobody waits for it.
#[derive(Debug)]
pub struct DataRecording {
    to_write: Option<Sender<Logged>>,
    waiting: Arc<AtomicU64>,
    writer: Option<JoinHandle<io::Result<()>>>,
    path: PathBuf,
    counted: RecordedData,
}

impl DataRecording {
    /// Begins a log in a new file.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn create(path: &Path) -> Result<DataRecording, RecordError> {
        let file = new_file(path)?;
        let failed = |error| RecordError::Io(path.into(), error);
        let (to_write, entries) = channel::<Logged>();
        let waiting = Arc::new(AtomicU64::new(0));
        let written = Arc::clone(&waiting);
        let write = move || {
            let mut file = BufWriter::with_capacity(1 << 20, file);
            file.write_all(&superblock(0))?;
            let mut count = 0;
            for entry in entries {
                file.write_all(&entry.head())?;
                file.write_all(entry.data())?;
                written.fetch_sub(entry.data().len() as u64, Ordering::Relaxed);
                count += 1;
            }
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&superblock(count))?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
        };
        let thread = std::thread::Builder::new().name("data recording".into()).spawn(write);
        Ok(DataRecording {
            to_write: Some(to_write),
            waiting,
            writer: Some(thread.map_err(failed)?),
            path: path.into(),
            counted: RecordedData::default(),
        })
    }

    /// Gives it an entry. After one that it had no room for it takes none: what follows would be another history.
    pub(crate) fn put(&mut self, entry: Logged) {
        let bytes = entry.data().len() as u64;
        let room = self.waiting.load(Ordering::Relaxed) + bytes <= MOST_WAITING;
        let sent = match &self.to_write {
            Some(to_write) if room => {
                self.waiting.fetch_add(bytes, Ordering::Relaxed);
                to_write.send(entry).is_ok()
            }
            _ => false,
        };
        if sent {
            self.counted.entries += 1;
            self.counted.bytes += bytes;
        } else {
            self.counted.lost += 1;
            self.to_write = None;
        }
    }

    pub(crate) fn counted(&self) -> RecordedData {
        self.counted.clone()
    }

    /// Writes what is left, and how many entries there are.
    pub(crate) fn finish(&mut self) -> RecordedData {
        self.to_write = None;
        if let Some(writer) = self.writer.take() {
            self.counted.error = match writer.join() {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some("the thread that writes the data has ended".into()),
            };
            if self.counted.error.is_some() {
                let (entries, bytes) =
                    DataLog::open(&self.path).map_or((0, 0), |log| log.readable());
                let taken = self.counted.entries + self.counted.lost;
                self.counted.entries = entries.min(self.counted.entries);
                self.counted.lost = taken - self.counted.entries;
                self.counted.bytes = bytes.min(self.counted.bytes);
            }
        }
        self.counted()
    }
}

fn superblock(entries: u64) -> [u8; SECTOR as usize] {
    let mut sector = [0; SECTOR as usize];
    for (place, number) in sector.chunks_exact_mut(8).zip([MAGIC, VERSION, entries, SECTOR]) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    sector
}

/// A log that is read.
#[derive(Debug)]
pub struct DataLog {
    file: File,
    entries: u64,
    writes: Vec<LoggedWrite>,
}

/// A write of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoggedWrite {
    /// Where it went.
    pub offset_bytes: u64,
    /// How much it was.
    pub bytes: u64,
    /// Where its data are in the log.
    at: u64,
}

/// Why a file is no log.
#[derive(Debug, thiserror::Error)]
pub enum DataLogError {
    /// It cannot be read.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    /// It does not begin as one.
    #[error("{0} is no log of written data: serve makes one with --record-data FILE")]
    NoLog(PathBuf),
    /// It goes wrong at an entry.
    #[error("{path}: entry {entry}, at byte {at}: {what}")]
    Entry {
        /// The file.
        path: PathBuf,
        /// Which entry, from 0.
        entry: u64,
        /// Where it begins.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
}

impl DataLog {
    /// Opens a log and finds its writes. A log whose end was not written (its writer was killed) is read as far as it goes.
    ///
    /// # Errors
    /// When it cannot be read, is none, or an entry is not one.
    pub fn open(path: &Path) -> Result<DataLog, DataLogError> {
        let failed = |error| DataLogError::Io(path.into(), error);
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut sector = [0; SECTOR as usize];
        if length < SECTOR {
            return Err(DataLogError::NoLog(path.into()));
        }
        file.read_exact_at(&mut sector, 0).map_err(failed)?;
        let (magic, version) = (number(&sector, 0), number(&sector, 1));
        let (entries, sector_size) = (number(&sector, 2), number(&sector, 3) & 0xffff_ffff);
        if (magic, version, sector_size) != (MAGIC, VERSION, SECTOR) {
            return Err(DataLogError::NoLog(path.into()));
        }
        let (mut at, mut writes) = (SECTOR, Vec::new());
        let mut entry = 0;
        // Whoever was killed has not said how many there are: the last may be there in part.
        let unfinished = entries == 0;
        while (entry < entries || unfinished) && at < length {
            let wrong = |what| DataLogError::Entry { path: path.into(), entry, at, what };
            if length - at < SECTOR {
                if unfinished {
                    break;
                }
                return Err(wrong("the file ends within it"));
            }
            file.read_exact_at(&mut sector, at).map_err(failed)?;
            let [first, sectors, flags] = [0, 1, 2].map(|place| number(&sector, place));
            let offset =
                first.checked_mul(SECTOR).ok_or_else(|| wrong("it is beyond any drive"))?;
            let bytes =
                sectors.checked_mul(SECTOR).ok_or_else(|| wrong("it is longer than any"))?;
            let has_data = flags & (DISCARD | MARK) == 0;
            let data = if has_data { bytes } else { 0 };
            if length - at - SECTOR < data {
                if unfinished {
                    break;
                }
                return Err(wrong("the file ends within its data"));
            }
            if has_data && bytes > 0 {
                writes.push(LoggedWrite { offset_bytes: offset, bytes, at: at + SECTOR });
            }
            at += SECTOR + data;
            entry += 1;
        }
        if entry < entries {
            let what = "the file ends before it";
            return Err(DataLogError::Entry { path: path.into(), entry, at, what });
        }
        Ok(DataLog { file, entries: entry, writes })
    }

    /// How many entries can be read, and the bytes of their data.
    fn readable(&self) -> (u64, u64) {
        (self.entries, self.writes.iter().map(|write| write.bytes).sum())
    }

    /// Its writes, in their order.
    pub fn writes(&self) -> &[LoggedWrite] {
        &self.writes
    }

    /// The data of a write from `from` bytes on, as many as fit.
    ///
    /// # Errors
    /// What the file system says.
    pub fn read(&self, write: LoggedWrite, from: u64, data: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(data, write.at + from)
    }
}

/// The number at a place of eight bytes.
fn number(sector: &[u8; SECTOR as usize], place: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&sector[place * 8..][..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(path: &Path) -> RecordedData {
        let mut recording = DataRecording::create(path).expect("it is new");
        recording.put(Logged::Write { offset: 4096, fua: false, data: vec![7; 1024] });
        recording.put(Logged::Flush);
        recording.put(Logged::Discard { offset: 0, length: 1 << 40 });
        recording.put(Logged::Write { offset: 512, fua: true, data: vec![9; 512] });
        recording.finish()
    }

    #[test]
    fn what_is_logged_is_read_again() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("data");
        assert_eq!(logged(&path), RecordedData { entries: 4, bytes: 1536, lost: 0, error: None });
        let log = DataLog::open(&path).expect("it is a log");
        let places: Vec<(u64, u64)> =
            log.writes().iter().map(|write| (write.offset_bytes, write.bytes)).collect();
        assert_eq!(places, [(4096, 1024), (512, 512)]);
        let mut data = [0; 100];
        log.read(log.writes()[1], 412, &mut data).expect("it is there");
        assert_eq!(data, [9; 100]);
        assert!(matches!(DataRecording::create(&path), Err(RecordError::Exists(_))));
    }

    #[test]
    fn the_first_bytes_are_those_of_the_kernels_log() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("data");
        logged(&path);
        let bytes = std::fs::read(&path).expect("it is there");
        // Super: "rhswfsj", version 1, four entries, 512; then sector 8, two sectors, no flag, 1024 bytes.
        assert_eq!(&bytes[..28], b"rhswfsj\0\x01\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\0\x02\0\0");
        assert_eq!((bytes[512], bytes[520], bytes[528], bytes[537]), (8, 2, 0, 4));
        assert_eq!(bytes.len(), 512 * (1 + 4) + 1536);
    }

    #[test]
    fn a_log_that_is_cut_or_none_is_refused_by_entry_and_place() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("data");
        logged(&path);
        let whole = std::fs::read(&path).expect("it is there");
        let open = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("it is ours");
            DataLog::open(&path).map(|log| log.writes().len()).map_err(|error| error.to_string())
        };
        for length in 0..whole.len() {
            let found = open(&whole[..length]);
            assert!(found.is_err(), "{length}: {found:?}");
        }
        let told = open(&whole[..1200]).expect_err("it is cut");
        assert!(told.ends_with("entry 0, at byte 512: the file ends within its data"), "{told}");
        let mut unfinished = whole.clone();
        unfinished[16] = 0;
        assert_eq!(open(&unfinished), Ok(2));
        assert_eq!(open(&unfinished[..whole.len() - 1]), Ok(1));
        let mut beyond = whole;
        beyond[512..520].fill(0xff);
        assert!(open(&beyond).expect_err("no drive").contains("entry 0"), "beyond any drive");
    }

    #[test]
    fn of_a_log_that_ends_within_it_only_what_can_be_read_counts() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("data");
        let mut recording = DataRecording::create(&path).expect("it is new");
        for n in 0..10 {
            recording.put(Logged::Write { offset: n * 4096, fua: false, data: vec![7; 4096] });
            recording.put(Logged::Flush);
        }
        assert_eq!(recording.finish().entries, 20);
        // As where the disk was full: cut within the third write, and nobody has said how many there are.
        let file = File::options().write(true).open(&path).expect("it is there");
        file.set_len(512 + 2 * (512 + 4096 + 512) + 1000).expect("it shrinks");
        file.write_all_at(&[0; 8], 16).expect("it is ours");
        let failed = || Err(io::Error::from(io::ErrorKind::StorageFull));
        recording.writer = Some(std::thread::spawn(failed));
        let counted = recording.finish();
        assert_eq!((counted.entries, counted.bytes, counted.lost), (4, 8192, 16));
        assert!(counted.error.is_some());
    }

    #[test]
    fn after_a_loss_nothing_is_logged() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("data");
        let mut recording = DataRecording::create(&path).expect("it is new");
        recording.put(Logged::Flush);
        recording.waiting.store(MOST_WAITING, Ordering::Relaxed);
        recording.put(Logged::Write { offset: 0, fua: false, data: vec![1; 512] });
        recording.waiting.store(0, Ordering::Relaxed);
        recording.put(Logged::Flush);
        let counted = recording.finish();
        assert_eq!(counted, RecordedData { entries: 1, bytes: 0, lost: 2, error: None });
        assert!(DataLog::open(&path).expect("what there is, is whole").writes().is_empty());
    }
}
