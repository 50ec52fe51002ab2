//! Scratch files, created by `--size`, recognised by the content we left in them.
//!
//! A scratch file carries the attribute [`MARK`]: its inode number and size, when it was written last, and a
//! digest of samples of what it holds. So a copy that kept its attributes is none, nor is a file that
//! anybody has written since, be it in place and with its times set back. While it is open for
//! writing its mark says so, and is made anew when it is closed. What a killed program leaves behind is a
//! scratch file as long as every sample is of data that we write.

use std::fs::File;

use fourcorners_words::hex;
use rustix::fs::{Advice, Stat, XattrFlags, fadvise};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::scan::{Medium, Opened};
use crate::ours::is_ours;

/// The extended attribute of a scratch file.
const MARK: &str = "user.fourcorners.scratch";
/// Places that are looked at, from the first to the last.
const SAMPLES: u64 = 64;
/// The same where nothing else tells.
const SAMPLES_OF_THE_KILLED: u64 = 512;
/// Bytes of each.
const SAMPLE_BYTES: u64 = 4096;
/// More than a mark has.
const MOST_BYTES: usize = 256;

/// Marks it as a scratch file with what it holds now.
///
/// # Errors
/// Where the file system has no attributes, or the file cannot be read.
pub(super) fn mark(file: &File) -> Result<(), Errno> {
    let text = mark_text(file)?;
    rustix::fs::fsetxattr(file, MARK, text.as_bytes(), XattrFlags::empty())
}

/// Marks it as one that is being written.
///
/// # Errors
/// When the attribute cannot be written.
pub(super) fn mark_in_use(file: &File) -> Result<(), Errno> {
    let text = in_use(&rustix::fs::fstat(file)?);
    rustix::fs::fsetxattr(file, MARK, text.as_bytes(), XattrFlags::empty())
}

/// Whether `--size` created it, whatever became of it.
pub(super) fn was_created(file: &File) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| value(file).starts_with(tag(&stat).as_bytes()))
}

/// Whether this is a scratch file of ours under its only name, holding what we left in it.
pub(super) fn is_scratch(file: &File) -> bool {
    let Ok(stat) = rustix::fs::fstat(file) else { return false };
    let value = value(file);
    let holds_what_it_did = || match value == in_use(&stat).as_bytes() {
        true => samples(file, &stat, SAMPLES_OF_THE_KILLED)
            .is_ok_and(|mut samples| samples.all(|sample| sample.is_ok_and(|it| is_ours(&it)))),
        // What its times tell already needs no reading.
        false => {
            value.starts_with(written(&stat).as_bytes())
                && mark_text(file).is_ok_and(|text| text.as_bytes() == value)
        }
    };
    stat.st_nlink == 1 && holds_what_it_did()
}

/// The mark; nothing where there is none.
fn value(file: &File) -> Vec<u8> {
    let mut value = [0; MOST_BYTES];
    let length = rustix::fs::fgetxattr(file, MARK, &mut value[..]).unwrap_or(0);
    value[..length].to_vec()
}

/// What a mark begins with.
fn tag(stat: &Stat) -> String {
    format!("2 inode {} ", stat.st_ino)
}

fn in_use(stat: &Stat) -> String {
    format!("{}bytes {} in use", tag(stat), stat.st_size)
}

fn written(stat: &Stat) -> String {
    let (seconds, nanoseconds) = (stat.st_mtime, stat.st_mtime_nsec);
    format!("{}bytes {} written {seconds}.{nanoseconds:09} ", tag(stat), stat.st_size)
}

fn mark_text(file: &File) -> Result<String, Errno> {
    let stat = rustix::fs::fstat(file)?;
    let mut digest = Sha256::new();
    for sample in samples(file, &stat, SAMPLES)? {
        digest.update(&sample?);
    }
    // What the page cache got of it is not to be measured. That it cannot be asked for changes nothing.
    let _ = fadvise(file, 0, None, Advice::DontNeed);
    let digest = hex(&digest.finalize());
    Ok(format!("{}samples {digest}", written(&stat)))
}

/// Blocks at `count` places, whole ones from the first to the last.
fn samples<'a>(
    file: &'a File,
    stat: &Stat,
    count: u64,
) -> Result<impl Iterator<Item = Result<Vec<u8>, Errno>> + use<'a>, Errno> {
    let bytes = u64::try_from(stat.st_size).map_err(|_| Errno::INVAL)?;
    let last = (bytes / SAMPLE_BYTES).checked_sub(1).ok_or(Errno::INVAL)?;
    Ok((0..count).map(move |at| {
        let block = u128::from(last) * u128::from(at) / u128::from(count - 1);
        let mut sample = vec![0; SAMPLE_BYTES as usize];
        let medium = Opened { file, bytes };
        medium.read_at(&mut sample, block as u64 * SAMPLE_BYTES)?;
        Ok(sample)
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;
    use std::path::Path;

    use super::super::create::create_file;
    use super::super::target::LEAST_BYTES;
    use super::*;
    use crate::ours::{mixed, sign};

    /// A scratch file in `dir`, open; `None` where files have no attributes.
    fn scratch(dir: &Path) -> Option<File> {
        let path = dir.join("scratch");
        create_file(&path, LEAST_BYTES).expect("it can be created");
        let file = File::options().read(true).write(true).open(&path).expect("it is there");
        if rustix::fs::fgetxattr(&file, MARK, &mut [0; MOST_BYTES][..]).is_err() {
            let why = "the file system has no extended attributes";
            fourcorners_testing::skipped("extended-attributes", why);
            return None;
        }
        assert!(is_scratch(&file));
        Some(file)
    }

    #[test]
    fn a_mark_is_void_on_a_copy_after_a_change_of_size_and_under_a_second_name() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let Some(file) = scratch(dir.path()) else { return };
        let copy = File::create_new(dir.path().join("copy")).expect("it can be created");
        copy.set_len(LEAST_BYTES).expect("it can be sized");
        let mut value = [0; MOST_BYTES];
        let length = rustix::fs::fgetxattr(&file, MARK, &mut value[..]).expect("it is marked");
        rustix::fs::fsetxattr(&copy, MARK, &value[..length], XattrFlags::empty())
            .expect("it can be marked");
        assert!(!is_scratch(&copy));

        let path = dir.path().join("scratch");
        std::fs::hard_link(&path, dir.path().join("second")).expect("it can be linked");
        assert!(!is_scratch(&file));
        std::fs::remove_file(dir.path().join("second")).expect("it is ours");
        assert!(is_scratch(&file));
        file.set_len(LEAST_BYTES + 1).expect("it can be sized");
        assert!(!is_scratch(&file));
    }

    #[test]
    fn a_mark_is_void_once_its_owner_has_written_whatever_the_times_say() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let Some(file) = scratch(dir.path()) else { return };
        let written = file.metadata().and_then(|it| it.modified()).expect("it has times");
        // Between two samples: only the time tells.
        file.write_all_at(b"letter", SAMPLE_BYTES + 10).expect("it can be written");
        assert!(!is_scratch(&file));
        mark(&file).expect("it can be marked");
        assert!(is_scratch(&file));
        // All of it, with its times set back: only the samples tell.
        let written_since = file.metadata().and_then(|it| it.modified()).expect("it has times");
        assert!(written_since > written);
        file.write_all_at(&vec![7; LEAST_BYTES as usize], 0).expect("it can be written");
        file.set_modified(written_since).expect("it can be set");
        assert!(!is_scratch(&file));
    }

    #[test]
    fn what_a_killed_program_leaves_is_a_scratch_file_as_long_as_it_is_all_ours() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let Some(file) = scratch(dir.path()) else { return };
        mark_in_use(&file).expect("it can be marked");
        assert!(is_scratch(&file), "zeros");
        let mut data: Vec<u8> = (0..1u64 << 20).map(|at| mixed(at) as u8).collect();
        sign(&mut data);
        file.write_all_at(&data, 3 << 20).expect("it can be written");
        assert!(is_scratch(&file), "what a test writes");
        file.write_all_at(&[7; 1 << 20], 8 << 20).expect("it can be written");
        assert!(!is_scratch(&file) && was_created(&file), "somebody's data");
        mark(&file).expect("it can be marked");
        assert!(is_scratch(&file), "its owner has named it");
    }
}
