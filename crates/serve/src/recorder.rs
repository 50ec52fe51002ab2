//! Recording beside the loop: I/Os go through a bounded ring to a thread that writes them. A full ring is counted and
//! never waited for.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use fourcorners_trace::{Recorder as Writer, TraceIo};

use crate::tally::Recorded;

/// I/Os that wait to be written: a second of the fastest client's, 4 MB.
const RING: usize = 65_536;

/// A recording under way.
#[derive(Debug)]
pub struct Recording {
    ring: Option<SyncSender<TraceIo>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    path: PathBuf,
    counted: Recorded,
}

/// Why nothing can be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file that is there is kept.
    #[error("{0} exists: a recording replaces nothing; give another name or remove it")]
    Exists(PathBuf),
    /// It cannot be created.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
}

/// A file that was not there.
pub(crate) fn new_file(path: &Path) -> Result<File, RecordError> {
    File::create_new(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => RecordError::Exists(path.into()),
        _ => RecordError::Io(path.into(), error),
    })
}

impl Recording {
    /// Begins a recording in a new file. `about` says where it is from.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn create(path: &Path, about: &str) -> Result<Recording, RecordError> {
        let file = new_file(path)?;
        let failed = |error| RecordError::Io(path.into(), error);
        let mut writer =
            Writer::new(BufWriter::with_capacity(64 << 10, file), about).map_err(failed)?;
        let (ring, ios) = sync_channel::<TraceIo>(RING);
        let write = move || {
            for io in ios {
                writer.put(&io)?;
            }
            writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
        };
        let thread = std::thread::Builder::new().name("recording".into()).spawn(write);
        let writer = Some(thread.map_err(failed)?);
        Ok(Recording { ring: Some(ring), writer, path: path.into(), counted: Recorded::default() })
    }

    /// Gives it an I/O, if there is room.
    pub(crate) fn put(&mut self, io: TraceIo) {
        let sent = self.ring.as_ref().map(|ring| ring.try_send(io));
        match sent {
            Some(Ok(())) => self.counted.ios += 1,
            Some(Err(TrySendError::Full(_))) | None => self.counted.lost += 1,
            Some(Err(TrySendError::Disconnected(_))) => {
                // Its thread ended early: only an error of the file does that.
                self.counted.lost += 1;
                self.ring = None;
                self.join();
            }
        }
    }

    /// What was counted so far.
    pub(crate) fn counted(&self) -> Recorded {
        self.counted.clone()
    }

    /// Writes what is left, and the end.
    pub(crate) fn finish(&mut self) -> Recorded {
        self.ring = None;
        self.join();
        if self.counted.error.is_some() {
            // What was taken and is not in the file, or in a part of it that cannot be read, is lost as well. Only now: it takes
            // as long as reading the recording.
            let taken = self.counted.ios + self.counted.lost;
            self.counted.ios = readable(&self.path).min(self.counted.ios);
            self.counted.lost = taken - self.counted.ios;
        }
        self.counted()
    }

    fn join(&mut self) {
        let Some(writer) = self.writer.take() else { return };
        self.counted.error = match writer.join() {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the recording's thread has ended".into()),
        };
    }
}

/// I/Os that a reader of a recording gets.
fn readable(path: &Path) -> u64 {
    match fourcorners_trace::open(path, &fourcorners_trace::Options::default()) {
        Ok(trace) => trace.take_while(Result::is_ok).count() as u64,
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::{Nanos, Op};
    use fourcorners_trace::IoFlags;

    use super::*;

    #[test]
    fn what_is_recorded_is_read_again_and_no_file_is_replaced() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("recording");
        let ios: Vec<TraceIo> = (0..10_000u64)
            .map(|n| TraceIo {
                at: Nanos(n * 1000),
                op: Op::Write,
                offset_bytes: n * 4096,
                bytes: 4096,
                duration: Some(Nanos(n)),
                device: 0,
                flags: IoFlags {
                    fua: n % 2 == 0,
                    zeroes: n % 3 == 0,
                    failed: n % 5 == 0,
                    ..IoFlags::default()
                },
            })
            .collect();
        let mut recording = Recording::create(&path, "a test").expect("it is new");
        ios.iter().for_each(|io| recording.put(*io));
        let counted = recording.finish();
        assert_eq!(counted, Recorded { ios: 10_000, lost: 0, error: None });
        let trace = fourcorners_trace::open(&path, &Default::default()).expect("it is a trace");
        let read: Vec<TraceIo> = trace.collect::<Result<_, _>>().expect("it is whole");
        assert_eq!(read, ios);
        assert!(matches!(Recording::create(&path, ""), Err(RecordError::Exists(_))));
    }

    #[test]
    fn of_a_recording_that_ends_within_it_only_what_can_be_read_counts() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("recording");
        let mut recording = Recording::create(&path, "a test").expect("it is new");
        let put = |recording: &mut Recording, n: u64| {
            recording.put(TraceIo {
                at: Nanos(n * n),
                op: Op::Read,
                offset_bytes: n * 8192,
                bytes: 4096,
                duration: Some(Nanos(n)),
                device: 0,
                flags: IoFlags::default(),
            });
        };
        (0..50_000).for_each(|n| put(&mut recording, n));
        assert_eq!(recording.finish().ios, 50_000);
        let length = std::fs::metadata(&path).expect("it is there").len();
        let file = File::options().write(true).open(&path).expect("it is there");
        file.set_len(length * 2 / 3).expect("it shrinks");
        let failed = || Err(io::Error::from(io::ErrorKind::StorageFull));
        recording.writer = Some(std::thread::spawn(failed));
        let counted = recording.finish();
        assert!((1..40_000).contains(&counted.ios), "{counted:?}");
        assert_eq!((counted.ios + counted.lost, counted.error.is_some()), (50_000, true));
        let trace = fourcorners_trace::open(&path, &Default::default()).expect("it is a trace");
        assert_eq!(trace.filter(Result::is_ok).count() as u64, counted.ios);
    }

    #[test]
    fn a_disk_that_is_full_is_said_and_stops_nobody() {
        let full = Path::new("/dev/full");
        let Ok(file) = File::options().write(true).open(full) else {
            return fourcorners_testing::skipped("dev-full", "there is no /dev/full");
        };
        let writer = Writer::new(BufWriter::with_capacity(64 << 10, file), "").expect("buffered");
        let (ring, ios) = sync_channel::<TraceIo>(16);
        let write = move || {
            let mut writer = writer;
            ios.into_iter().try_for_each(|io| writer.put(&io))?;
            writer.finish().map(|_| ())
        };
        let writer = Some(std::thread::spawn(write));
        let path = full.into();
        let mut recording =
            Recording { ring: Some(ring), writer, path, counted: Recorded::default() };
        let io = TraceIo {
            at: Nanos(0),
            op: Op::Read,
            offset_bytes: 0,
            bytes: 512,
            duration: None,
            device: 0,
            flags: IoFlags::default(),
        };
        // Far more than the ring and the buffers hold.
        for n in 0..1_000_000u64 {
            recording.put(TraceIo { at: Nanos(n * n), ..io });
        }
        let counted = recording.finish();
        // Nothing is in the file, however much was taken.
        assert_eq!((counted.ios, counted.lost), (0, 1_000_000));
        assert!(counted.error.is_some(), "{counted:?}");
    }
}
