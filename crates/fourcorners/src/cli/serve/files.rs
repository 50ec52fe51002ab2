//! The files that serve is given. Each has one use; wrong options are refused before any file is made.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fourcorners_drive::Nanos;
use fourcorners_linux::guard::Permission;
use fourcorners_machine::host;
use fourcorners_serve::contents::{Contents, ContentsFile, Memory};
use fourcorners_serve::{Address, At, Pace, RecordError};

use super::door::DoorArg;
use super::{MEMORY_PERCENT, ServeArgs};
use crate::cli::outcome::Failure;
use crate::cli::replaced::folder_is_there;
use crate::cli::targets::{ALL_ARE_MODELS, nothing_to_destroy};

/// What `--contents` is where they are in no file.
const MEMORY: &str = "memory";

/// The file that the contents are in, if they are in one.
fn contents_file(args: &ServeArgs) -> Option<&PathBuf> {
    args.contents.as_ref().filter(|path| path.as_os_str() != MEMORY)
}

/// Looks at what is given.
///
/// # Errors
/// Two options with one file, a folder that is not there, a recording that would replace something, a time that is none.
pub(super) fn check(args: &ServeArgs) -> Result<(), String> {
    let socket = match &args.at {
        At::Socket(Address::Unix(path) | Address::VhostUser(path)) => Some(path),
        At::Socket(Address::Tcp(_)) | At::BlockDevice => None,
    };
    let given = [
        ("--at", socket),
        ("--contents", contents_file(args)),
        ("--record", args.record.as_ref()),
        ("--record-data", args.record_data.as_ref()),
        ("--control", args.control.as_ref()),
    ];
    let given: Vec<(&str, &PathBuf)> =
        given.into_iter().filter_map(|(option, path)| Some((option, path?))).collect();
    for (place, (option, path)) in given.iter().enumerate() {
        folder_is_there(path)?;
        if let Some((other, _)) = given[..place].iter().find(|(_, own)| is_same(own, path)) {
            let path = path.display();
            return Err(format!(
                "{other} and {option} are both {path}: give each a file of its own"
            ));
        }
    }
    for path in [&args.record, &args.record_data].into_iter().flatten() {
        if path.symlink_metadata().is_ok() {
            return Err(RecordError::Exists(path.clone()).to_string());
        }
    }
    match (args.pace(), &args.door) {
        (Pace::Virtual { .. }, Some(DoorArg::Fixed(door))) if *door > Nanos::ZERO => {
            Err("--door: with --time virtual no answer has a time to be early for: leave it out"
                .into())
        }
        _ => Ok(()),
    }
}

/// Whether two paths name the same place; neither need exist yet.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    one == other || place(one).is_some_and(|one| Some(one) == place(other))
}

/// Where the bytes of a model are.
pub(super) fn contents(args: &ServeArgs, bytes: u64) -> Result<Contents, Failure> {
    let Some(file) = contents_file(args) else {
        nothing_to_destroy(&args.destroy, &args.force, ALL_ARE_MODELS).map_err(Failure::Usage)?;
        let available = host::available_memory_bytes().unwrap_or(u64::MAX / 100);
        return Ok(Contents::Memory(Memory::new(available / 100 * MEMORY_PERCENT)));
    };
    let wrong = |why: &str| Err(Failure::Usage(format!("--contents {}: {why}", file.display())));
    match file.metadata() {
        Ok(there) if there.is_dir() => return wrong("it is a folder; name a file in it"),
        Err(error) if args.read_only && error.kind() == ErrorKind::NotFound => {
            return wrong(
                "it is not there, and with --read-only nothing would ever be in it; name one that holds something",
            );
        }
        _ => {}
    }
    let permission = Permission { destroy: args.destroy.clone(), force: args.force.clone() };
    let file = match args.read_only {
        true => ContentsFile::open_to_read(file, bytes),
        false => ContentsFile::open(file, bytes, &permission),
    };
    file.map(Contents::File).map_err(|error| Failure::Usage(error.to_string()))
}
