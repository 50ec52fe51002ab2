//! Tasks done for real on a file system, by the clock on the wall: an archive unpacked, the tree of it
//! copied, and its files installed one by one, each made durable.
//!
//! Everything is done in a folder of its own that is removed in the end, inside of one that was named
//! and is empty or new. Nothing that was there before is touched.

mod tree;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use flate2::read::GzDecoder;
use fourcorners_machine::file_system;
use rustix::fs::Advice;
use serde::Serialize;
use tempfile::TempDir;
use tree::Tree;

/// Least and most bytes of the tree.
pub const LEAST_BYTES: u64 = 1_000_000;
/// Most bytes of the tree.
pub const MOST_BYTES: u64 = 1_000_000_000_000;
/// The archive, the tree, its copy and what is installed, over the bytes of the tree, with room for
/// what a file system needs for itself.
const SPACE_TIMES: f64 = 4.2;
/// How folders of ours are called.
const PREFIX: &str = "fourcorners-tasks-";

/// What is to be done, checked.
#[derive(Debug)]
pub struct Plan {
    folder: PathBuf,
    /// Whether the folder is to be made, and removed in the end.
    new: bool,
    bytes: u64,
    seed: u64,
}

/// A task that was done.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Done {
    /// Its name.
    pub name: &'static str,
    /// What a reader knows it by.
    pub title: &'static str,
    /// Until the program was done, seconds.
    pub seconds: f64,
    /// Until all of it was on the drive as well (syncfs), seconds.
    pub durable_s: f64,
    /// Files made.
    pub files: u64,
    /// Bytes read from files.
    pub read_bytes: u64,
    /// Bytes written to files.
    pub written_bytes: u64,
    /// Files and folders that were made durable one by one (fsync).
    pub syncs: u64,
}

/// What came of a plan.
#[derive(Debug)]
pub struct Outcome {
    /// The tasks that were done, in their order.
    pub done: Vec<Done>,
    /// Whether the folder is in memory, so that no drive was measured.
    pub in_memory: bool,
    /// False when it was stopped.
    pub whole: bool,
    /// What could not be removed again, and why.
    pub left: Option<String>,
}

/// Why there are no tasks, or why they ended in the middle.
#[derive(Debug, thiserror::Error)]
pub enum TasksError {
    /// A tree of another size.
    #[error("--size {0}: give {LEAST_BYTES} to {MOST_BYTES} bytes")]
    Size(u64),
    /// Something is in the folder.
    #[error(
        "{} is not empty, there is {entry:?} in it: name an empty folder, or one that does not exist yet",
        folder.display()
    )]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
        /// One thing in it.
        entry: OsString,
    },
    /// It is no folder.
    #[error(
        "{} is not a folder: name an empty folder, or one that does not exist yet",
        folder.display()
    )]
    NoFolder {
        /// What was named.
        folder: PathBuf,
    },
    /// It cannot be looked at.
    #[error("{} cannot be used: {error}", path.display())]
    Unusable {
        /// It, or the folder that it would be made in.
        path: PathBuf,
        /// What the file system answered.
        error: io::Error,
    },
    /// The tree would not fit.
    #[error(
        "{} has {:.2} GB free, and a tree of {:.2} GB needs {:.2}: give a smaller --size",
        folder.display(),
        *free as f64 / 1e9,
        *bytes as f64 / 1e9,
        *need as f64 / 1e9
    )]
    NoRoom {
        /// The folder.
        folder: PathBuf,
        /// Bytes that are free there.
        free: u64,
        /// Bytes of the tree.
        bytes: u64,
        /// Bytes that all tasks with it take.
        need: u64,
    },
    /// A file or a folder failed.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the file system answered.
        error: io::Error,
    },
}

/// Why it did not go on.
enum Stop {
    Asked,
    Failed(TasksError),
}

impl Plan {
    /// Tasks with a tree of so many bytes in `folder`, which is empty or is made. Changes nothing.
    ///
    /// # Errors
    /// [`TasksError`], which says what is in the way and what to do.
    pub fn check(folder: &Path, bytes: u64, seed: u64) -> Result<Plan, TasksError> {
        if !(LEAST_BYTES..=MOST_BYTES).contains(&bytes) {
            return Err(TasksError::Size(bytes));
        }
        let unusable = |path: &Path, error| TasksError::Unusable { path: path.into(), error };
        let folder_of = || folder.to_path_buf();
        let new = match fs::read_dir(folder) {
            Ok(mut entries) => match entries.next() {
                None => false,
                Some(Ok(entry)) => {
                    let entry = entry.file_name();
                    return Err(TasksError::NotEmpty { folder: folder_of(), entry });
                }
                Some(Err(error)) => return Err(unusable(folder, error)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(TasksError::NoFolder { folder: folder_of() });
            }
            Err(error) => return Err(unusable(folder, error)),
        };
        let there = if new { parent(folder) } else { folder };
        let space = rustix::fs::statvfs(there).map_err(|errno| unusable(there, errno.into()))?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        let need = (bytes as f64 * SPACE_TIMES) as u64;
        if free < need {
            return Err(TasksError::NoRoom { folder: folder_of(), free, bytes, need });
        }
        Ok(Plan { folder: folder.to_path_buf(), new, bytes, seed })
    }

    /// Does the tasks and removes all of it again. `go_on` is asked at every file.
    ///
    /// # Errors
    /// [`TasksError::File`]: what the file system answered, and where. What was made is removed then, too.
    pub fn run(&self, go_on: &mut dyn FnMut() -> bool) -> Result<Outcome, TasksError> {
        let words = |error: io::Error| TasksError::File { path: self.folder.clone(), error };
        if self.new {
            fs::create_dir(&self.folder).map_err(words)?;
        }
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&self.folder).map_err(words);
        let result = made.and_then(|own| {
            let on = rustix::fs::statfs(own.path());
            let in_memory = on.is_ok_and(|on| file_system::is_in_memory(&on));
            let mut done = Vec::new();
            let ended = Bench { own: own.path(), go_on }.run(self, &mut done);
            let left = removed(own);
            match ended {
                Ok(()) => Ok(Outcome { done, in_memory, whole: true, left }),
                Err(Stop::Asked) => Ok(Outcome { done, in_memory, whole: false, left }),
                Err(Stop::Failed(why)) => Err(why),
            }
        });
        if self.new {
            // What somebody else put there meanwhile is theirs, and keeps the folder.
            let _ = fs::remove_dir(&self.folder);
        }
        result
    }
}

/// Removes what was made; what could not be, and why.
fn removed(own: TempDir) -> Option<String> {
    let path = own.path().display().to_string();
    own.close().err().map(|error| format!("{path} could not be removed: {error}"))
}

fn parent(folder: &Path) -> &Path {
    folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

struct Bench<'a> {
    own: &'a Path,
    go_on: &'a mut dyn FnMut() -> bool,
}

/// What a task has done so far.
#[derive(Default)]
struct Count {
    files: u64,
    read: u64,
    written: u64,
    syncs: u64,
}

impl Bench<'_> {
    fn run(&mut self, plan: &Plan, done: &mut Vec<Done>) -> Result<(), Stop> {
        let tree = Tree::new(plan.bytes, plan.seed);
        let archive = self.own.join("archive.tar.gz");
        tree.pack(&archive, self.go_on)
            .map_err(|error| failed(&archive, error))?
            .ok_or(Stop::Asked)?;
        let [unpacked, copy, installed] =
            ["unpacked", "copy", "installed"].map(|name| self.own.join(name));
        forget(&archive)?;
        done.push(self.timed("unpack", "Unpack", |bench, count| {
            bench.unpack(&archive, &unpacked, false, count)
        })?);
        forget(&unpacked)?;
        done.push(self.timed("copy-tree", "Copy a tree", |bench, count| {
            bench.copy(&unpacked, &copy, count)
        })?);
        forget(&archive)?;
        done.push(self.timed("install", "Install", |bench, count| {
            bench.unpack(&archive, &installed, true, count)
        })?);
        Ok(())
    }

    fn timed(
        &mut self,
        name: &'static str,
        title: &'static str,
        task: impl FnOnce(&mut Self, &mut Count) -> Result<(), Stop>,
    ) -> Result<Done, Stop> {
        let mut count = Count::default();
        let began = Instant::now();
        task(self, &mut count)?;
        let seconds = began.elapsed().as_secs_f64();
        flush(self.own)?;
        let durable_s = began.elapsed().as_secs_f64();
        let Count { files, read, written, syncs } = count;
        let (read_bytes, written_bytes) = (read, written);
        Ok(Done { name, title, seconds, durable_s, files, read_bytes, written_bytes, syncs })
    }

    fn ask(&mut self) -> Result<(), Stop> {
        if (self.go_on)() { Ok(()) } else { Err(Stop::Asked) }
    }

    /// Unpacks the archive; where it is installed, each file is made durable under another name, gets
    /// its own, and its folder is made durable (dpkg does so, and databases).
    fn unpack(
        &mut self,
        archive: &Path,
        to: &Path,
        install: bool,
        count: &mut Count,
    ) -> Result<(), Stop> {
        let packed = File::open(archive).map_err(|error| failed(archive, error))?;
        count.read = packed.metadata().map_err(|error| failed(archive, error))?.len();
        make_folder(to)?;
        let mut tar =
            tar::Archive::new(GzDecoder::new(io::BufReader::with_capacity(1 << 17, packed)));
        for entry in tar.entries().map_err(|error| failed(archive, error))? {
            self.ask()?;
            let mut entry = entry.map_err(|error| failed(archive, error))?;
            let path = to.join(entry.path().map_err(|error| failed(archive, error))?);
            let folder = parent(&path).to_path_buf();
            if !folder.is_dir() {
                make_folder(&folder)?;
            }
            let first = if install { path.with_extension("new") } else { path.clone() };
            let mut file = File::create_new(&first).map_err(|error| failed(&first, error))?;
            count.written +=
                io::copy(&mut entry, &mut file).map_err(|error| failed(&first, error))?;
            count.files += 1;
            if install {
                file.sync_all().map_err(|error| failed(&first, error))?;
                fs::rename(&first, &path).map_err(|error| failed(&path, error))?;
                let opened = File::open(&folder).and_then(|folder| folder.sync_all());
                opened.map_err(|error| failed(&folder, error))?;
                count.syncs += 2;
            }
        }
        Ok(())
    }

    fn copy(&mut self, from: &Path, to: &Path, count: &mut Count) -> Result<(), Stop> {
        make_folder(to)?;
        for path in entries(from)? {
            let name = path.file_name().unwrap_or_default();
            let target = to.join(name);
            if path.is_dir() {
                self.copy(&path, &target, count)?;
                continue;
            }
            self.ask()?;
            let mut source = File::open(&path).map_err(|error| failed(&path, error))?;
            let mut file = File::create_new(&target).map_err(|error| failed(&target, error))?;
            // Through this program, as a file manager does: a file system that only notes that both
            // are the same would have copied nothing.
            let mut buffer = vec![0; 1 << 17];
            loop {
                let read = source.read(&mut buffer).map_err(|error| failed(&path, error))?;
                if read == 0 {
                    break;
                }
                file.write_all(&buffer[..read]).map_err(|error| failed(&target, error))?;
                count.read += read as u64;
                count.written += read as u64;
            }
            count.files += 1;
        }
        Ok(())
    }
}

fn failed(path: &Path, error: io::Error) -> Stop {
    Stop::Failed(TasksError::File { path: path.into(), error })
}

fn make_folder(path: &Path) -> Result<(), Stop> {
    fs::create_dir_all(path).map_err(|error| failed(path, error))
}

/// What is in a folder, by name: the order of a directory is nobody's.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Stop> {
    let listed = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()
    });
    let mut paths = listed.map_err(|error| failed(folder, error))?;
    paths.sort_unstable();
    Ok(paths)
}

/// All that was written to the file system is on its drive after this.
fn flush(folder: &Path) -> Result<(), Stop> {
    let opened = File::open(folder).map_err(|error| failed(folder, error))?;
    rustix::fs::syncfs(&opened).map_err(|errno| failed(folder, errno.into()))
}

/// Takes a file, or all below a folder, out of the page cache, so that the next task reads the drive.
/// It is advice: a file system without it answers from memory, as it does for everybody.
fn forget(path: &Path) -> Result<(), Stop> {
    if path.is_dir() {
        return entries(path)?.iter().try_for_each(|below| forget(below));
    }
    let file = File::open(path).map_err(|error| failed(path, error))?;
    let _ = rustix::fs::fadvise(&file, 0, None, Advice::DontNeed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything_below(folder: &Path) -> usize {
        let listed = fs::read_dir(folder).expect("it can be listed");
        listed
            .map(|entry| entry.expect("it can be listed").path())
            .map(|path| if path.is_dir() { 1 + everything_below(&path) } else { 1 })
            .sum()
    }

    #[test]
    fn tasks_move_what_they_say_and_leave_nothing() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let new = dir.path().join("new");
        let outcome = Plan::check(&new, 3_000_000, 1)
            .and_then(|plan| plan.run(&mut || true))
            .unwrap_or_else(|why| panic!("{why}"));
        assert!(outcome.whole && outcome.left.is_none() && !new.exists());
        let names: Vec<&str> = outcome.done.iter().map(|done| done.name).collect();
        assert_eq!(names, ["unpack", "copy-tree", "install"]);
        for done in &outcome.done {
            assert_eq!((done.written_bytes, done.files), (3_000_000, 30), "{}", done.name);
            assert!(done.durable_s >= done.seconds && done.seconds > 0.0);
        }
        let [unpack, copy, install] = &outcome.done[..] else { panic!("three") };
        // The archive is packed to about half.
        assert!((1_000_000..2_000_000).contains(&unpack.read_bytes), "{}", unpack.read_bytes);
        assert_eq!((copy.read_bytes, copy.syncs, install.syncs), (3_000_000, 0, 60));
    }

    #[test]
    fn stopped_anywhere_it_cleans_up() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for asked in [0, 1, 17, 40, 75, 110] {
            let mut left = asked;
            let plan = Plan::check(dir.path(), 3_000_000, 1).unwrap_or_else(|why| panic!("{why}"));
            let outcome = plan.run(&mut || {
                left -= 1;
                left >= 0
            });
            let outcome = outcome.unwrap_or_else(|why| panic!("{why}"));
            assert!(!outcome.whole && outcome.done.len() < 3, "{asked}");
            assert_eq!(everything_below(dir.path()), 0, "{asked}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_made_ends_it_with_its_name_and_nothing_left() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let folder = dir.path().join("new");
        let plan = Plan::check(&folder, 3_000_000, 1).unwrap_or_else(|why| panic!("{why}"));
        // Somebody was there meanwhile.
        fs::write(&folder, "mine").expect("it can be written");
        let why = plan.run(&mut || true).expect_err("it is no folder").to_string();
        assert!(why.contains("new"), "{why}");
        assert_eq!(fs::read_to_string(&folder).expect("it is there"), "mine");
    }

    #[test]
    fn what_is_not_empty_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("letter");
        fs::write(&file, "Dear reader").expect("it can be written");
        let refused =
            |path: &Path, bytes| Plan::check(path, bytes, 1).expect_err("refused").to_string();
        assert!(refused(dir.path(), LEAST_BYTES).contains("letter"));
        assert!(refused(&file, LEAST_BYTES).contains("is not a folder"));
        assert!(refused(&dir.path().join("a/b"), LEAST_BYTES).contains("cannot be used"));
        assert!(refused(&dir.path().join("a"), 5).contains("--size 5"));
        assert!(refused(&dir.path().join("a"), MOST_BYTES).contains("free"));
    }
}
