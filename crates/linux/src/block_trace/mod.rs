//! Recording a trace from a block device, by the kernel's blktrace.
//!
//! The kernel writes a record for each event of each I/O into a buffer for each CPU (relay, under
//! debugfs), and we copy them into files as blktrace(8) does: `NAME.blktrace.0` and so on, which its
//! own tools read, too.

mod kernel;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;

/// Where the kernel's buffers are.
const DEBUGFS: &str = "/sys/kernel/debug";

/// Size of a buffer, and how many a CPU has: what fits into them is lost if we are not there for so
/// long. Those of blktrace(8).
const BUFFER_BYTES: u32 = 512 << 10;
const BUFFERS: u32 = 4;

/// How often the buffers are emptied. At a million I/Os a second on one CPU they are full in 15 ms; at
/// what drives do they last for a second.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Why a device cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Nothing there, or nothing that may be opened.
    #[error("cannot open {path}: {source}")]
    Open {
        /// The device.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file or something else.
    #[error(
        "{path} is not a block device: name one (lsblk lists them); what is done to a file is recorded \
         from the device it is on"
    )]
    NoDevice {
        /// What was named.
        path: String,
    },
    /// The buffers cannot be reached.
    #[error(
        "the kernel hands out traces through debugfs, and {DEBUGFS} has none: mount it (as root: \
         mount -t debugfs none {DEBUGFS}), or give this container its host's"
    )]
    NoDebugfs,
    /// Not root.
    #[error("recording the I/O of a device takes CAP_SYS_ADMIN: run it as root")]
    Forbidden,
    /// The kernel cannot.
    #[error(
        "this kernel records no block I/O (BLKTRACESETUP: {errno}): it has to be built with \
         CONFIG_BLK_DEV_IO_TRACE, which most distributions' are"
    )]
    Absent {
        /// What it said.
        errno: Errno,
    },
    /// Not even root may look into the buffers.
    #[error(
        "this kernel is locked down (/sys/kernel/security/lockdown), so that not even root may read \
         its traces: start it without lockdown, which Secure Boot brings, or record elsewhere"
    )]
    LockedDown,
    /// Another trace of it goes on.
    #[error(
        "{path} is being traced already, by blktrace or another of us, or by one that was killed: \
         end that (blktrace -d {path} -k)"
    )]
    Busy {
        /// The device.
        path: String,
    },
    /// A file of that name is there.
    #[error("{path} already exists: name another trace, or move it away")]
    Exists {
        /// The file.
        path: String,
    },
    /// Something else failed.
    #[error("cannot {doing}: {source}")]
    Other {
        /// What was being done.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
}

/// What was recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// The files, one for each CPU.
    pub files: Vec<PathBuf>,
    /// Bytes in them together.
    pub bytes: u64,
    /// Events that the kernel had no room for.
    pub dropped: u64,
}

/// Records what is done to a block device into `STEM.blktrace.0` and so on, as long as `go_on` says so.
/// It is asked some fifty times a second.
///
/// # Errors
/// When the kernel does not grant it, or a file cannot be written; none of the files is left then.
pub fn record(
    device: &Path,
    stem: &Path,
    mut go_on: impl FnMut() -> bool,
) -> Result<Recorded, RecordError> {
    let path = device.display().to_string();
    let is_device = fs::metadata(device)
        .map_err(|source| RecordError::Open { path: path.clone(), source })?
        .file_type()
        .is_block_device();
    if !is_device {
        return Err(RecordError::NoDevice { path });
    }
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(nonblock).open(device);
    let file = file.map_err(|source| RecordError::Open { path: path.clone(), source })?;
    if !Path::new(DEBUGFS).join("block").is_dir() {
        return Err(RecordError::NoDebugfs);
    }
    let tracing = Tracing::begin(&file, &path)?;
    let mut channels = tracing.channels(stem)?;
    kernel::start(&file).map_err(|errno| other("start the trace", errno.into()))?;
    let mut result = Ok(());
    while result.is_ok() && go_on() {
        std::thread::sleep(LOOK_EVERY);
        result = copy_all(&mut channels);
    }
    // What is in the buffers when it stops is still to come.
    let stopped = kernel::stop(&file).map_err(|errno| other("stop the trace", errno.into()));
    result.and(stopped).and_then(|()| copy_all(&mut channels))?;
    let dropped = tracing.dropped();
    drop(tracing);
    let mut recorded = Recorded { files: Vec::new(), bytes: 0, dropped };
    for channel in channels {
        recorded.bytes += channel.bytes;
        recorded.files.push(channel.keep()?);
    }
    Ok(recorded)
}

fn other(doing: &str, source: io::Error) -> RecordError {
    RecordError::Other { doing: doing.into(), source }
}

fn copy_all(channels: &mut [Channel]) -> Result<(), RecordError> {
    channels.iter_mut().try_for_each(Channel::copy)
}

/// A trace that the kernel was told to make; it is taken down when this goes away.
struct Tracing<'a> {
    file: &'a File,
    /// Where its buffers are.
    folder: PathBuf,
}

impl<'a> Tracing<'a> {
    fn begin(file: &'a File, path: &str) -> Result<Tracing<'a>, RecordError> {
        let name = kernel::set_up(file, BUFFER_BYTES, BUFFERS).map_err(|errno| match errno {
            Errno::PERM | Errno::ACCESS => RecordError::Forbidden,
            Errno::BUSY => RecordError::Busy { path: path.into() },
            Errno::NOENT => RecordError::NoDebugfs,
            errno => RecordError::Absent { errno },
        })?;
        Ok(Tracing { file, folder: Path::new(DEBUGFS).join("block").join(name) })
    }

    /// The buffers of all CPUs, each with the file it is copied into.
    fn channels(&self, stem: &Path) -> Result<Vec<Channel>, RecordError> {
        let shown = self.folder.display();
        let entries = fs::read_dir(&self.folder)
            .map_err(|source| other(&format!("look into {shown}"), source))?;
        let mut cpus: Vec<u32> = entries
            .filter_map(|entry| {
                let name = entry.ok()?.file_name();
                name.to_str()?.strip_prefix("trace")?.parse().ok()
            })
            .collect();
        cpus.sort_unstable();
        cpus.into_iter().map(|cpu| Channel::open(&self.folder, stem, cpu)).collect()
    }

    fn dropped(&self) -> u64 {
        let text = fs::read_to_string(self.folder.join("dropped")).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }
}

impl Drop for Tracing<'_> {
    fn drop(&mut self) {
        // Whoever stopped it already did the first; without the second the device stays busy for
        // every other trace.
        let _ = kernel::stop(self.file);
        let _ = kernel::tear_down(self.file);
    }
}

/// The events of a CPU.
struct Channel {
    from: File,
    to: tempfile::NamedTempFile,
    path: PathBuf,
    buffer: Vec<u8>,
    bytes: u64,
}

impl Channel {
    fn open(folder: &Path, stem: &Path, cpu: u32) -> Result<Channel, RecordError> {
        let from = folder.join(format!("trace{cpu}"));
        let shown = from.display().to_string();
        let nonblock = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let from = OpenOptions::new().read(true).custom_flags(nonblock).open(from);
        let from = from.map_err(|source| match Errno::from_io_error(&source) {
            // The device was traced, so it is not that we are not root (security_locked_down).
            Some(Errno::PERM) => RecordError::LockedDown,
            _ => other(&format!("open {shown}"), source),
        })?;
        let mut name = stem.as_os_str().to_owned();
        name.push(format!(".blktrace.{cpu}"));
        let path = PathBuf::from(name);
        if path.symlink_metadata().is_ok() {
            return Err(RecordError::Exists { path: path.display().to_string() });
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let to = tempfile::Builder::new()
            .prefix(".fourcorners-")
            .tempfile_in(parent.unwrap_or(Path::new(".")))
            .map_err(|source| other(&format!("write beside {}", path.display()), source))?;
        Ok(Channel { from, to, path, buffer: vec![0; BUFFER_BYTES as usize], bytes: 0 })
    }

    /// Copies what is there by now.
    fn copy(&mut self) -> Result<(), RecordError> {
        loop {
            let read = match self.from.read(&mut self.buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(other("read the kernel's trace", error)),
            };
            self.to
                .write_all(&self.buffer[..read])
                .map_err(|error| other(&format!("write {}", self.path.display()), error))?;
            self.bytes += read as u64;
        }
    }

    /// Gives the file its name.
    fn keep(self) -> Result<PathBuf, RecordError> {
        let path = self.path;
        let failed = |source| other(&format!("write {}", path.display()), source);
        self.to.as_file().sync_all().map_err(failed)?;
        self.to.persist_noclobber(&path).map_err(|error| failed(error.error))?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_device_is_refused_and_nothing_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "x").expect("a file");
        let stem = folder.path().join("it");
        let refused = |path: &Path| record(path, &stem, || false).expect_err("refused").to_string();
        assert!(refused(&file).contains("is not a block device"));
        assert!(refused(&folder.path().join("absent")).contains("cannot open"));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}
