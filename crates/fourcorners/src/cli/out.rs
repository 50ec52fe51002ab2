//! The output folder of a review, with `review.html` and `review.json`.

use std::io;
use std::path::{Path, PathBuf};

use fourcorners_machine::save;
use fourcorners_record::{Document, to_json};
use fourcorners_report as report;

use super::args::ReviewArgs;
use super::planned::Planned;
use super::resume;

/// The folder of default folders.
const RESULTS: &str = "fourcorners-results";
/// Most characters of a target's name in a folder's name: a file name has 255 bytes.
const MOST_NAME: usize = 60;
const JSON: &str = "review.json";
const PAGE: &str = "review.html";
/// What is in it.
pub(super) const FILES: [&str; 2] = [JSON, PAGE];

/// The folder that results go into, if they are to be kept.
pub(super) struct Out {
    folder: Option<PathBuf>,
    /// The folders that were made for it, the innermost last.
    made: Vec<PathBuf>,
}

impl Out {
    /// Makes the folder, so that a place that cannot be written is known before hours of work.
    pub(super) fn open(args: &ReviewArgs, targets: &[Planned]) -> Result<Out, String> {
        let wanted = args.resume.as_ref().or(args.out.as_ref());
        if wanted.is_none() && args.json {
            return Ok(Out { folder: None, made: Vec::new() });
        }
        let mut out = Out { folder: None, made: Vec::new() };
        let made = match wanted {
            Some(folder) => out.make_all(folder).map(|()| folder.clone()),
            None => out.make_default(targets),
        };
        let ready = made.and_then(|folder| check_writable(&folder).map(|()| folder));
        match ready {
            Ok(folder) => {
                out.folder = Some(folder);
                Ok(out)
            }
            Err(error) => {
                out.undo();
                Err(format!(
                    "cannot write into {}: {error}; choose another --out",
                    wanted.map_or(Path::new(RESULTS), PathBuf::as_path).display()
                ))
            }
        }
    }

    /// A folder of its own for every review: an earlier one of a real drive cannot be had again.
    /// Making it is what claims its name, so that two reviews that begin within a second get two.
    fn make_default(&mut self, targets: &[Planned]) -> io::Result<PathBuf> {
        self.make_all(Path::new(RESULTS))?;
        let base = Path::new(RESULTS).join(default_name(targets));
        for number in 1.. {
            let folder = match number {
                1 => base.clone(),
                _ => PathBuf::from(format!("{}-{number}", base.display())),
            };
            match std::fs::create_dir(&folder) {
                Ok(()) => {
                    self.made.push(folder.clone());
                    return Ok(folder);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("there are always more numbers")
    }

    /// Makes `folder` and those above it that are missing, and remembers which.
    fn make_all(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = folder
            .ancestors()
            .filter(|above| !above.as_os_str().is_empty())
            .take_while(|above| !above.exists())
            .collect();
        for above in missing.into_iter().rev() {
            match std::fs::create_dir(above) {
                Ok(()) => self.made.push(above.to_path_buf()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && above.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        if folder.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// Removes the folders again that were made for a review that cannot begin.
    pub(super) fn undo(&self) {
        for folder in self.made.iter().rev() {
            // Only empty ones go: what somebody else put there meanwhile is theirs.
            let _ = std::fs::remove_dir(folder);
        }
    }

    /// The folder, if anything is kept.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The page, once it is saved.
    pub(super) fn page(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(PAGE))
    }

    /// Saves the figures.
    pub(super) fn save_json(&self, document: &Document) -> anyhow::Result<()> {
        match &self.folder {
            Some(folder) => write(&folder.join(JSON), to_json(document).as_bytes()),
            None => Ok(()),
        }
    }

    /// Saves the page.
    pub(super) fn save_page(&self, document: &Document) -> anyhow::Result<()> {
        match &self.folder {
            Some(folder) => write(&folder.join(PAGE), report::page(document).as_bytes()),
            None => Ok(()),
        }
    }
}

/// Makes a folder and those above it, and tries to write into it; `what` is what else to choose.
pub(super) fn make_writable(folder: &Path, what: &str) -> Result<(), String> {
    let made = std::fs::create_dir_all(folder);
    made.and_then(|()| tempfile::tempfile_in(folder).map(drop)).map_err(|error| {
        format!("cannot write into {}: {error}; choose another {what}", folder.display())
    })
}

/// Whether both files can be written there in the end.
fn check_writable(folder: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder)?;
    for name in [JSON, PAGE] {
        if folder.join(name).is_dir() {
            let message = format!("its {name} is a folder");
            return Err(io::Error::new(io::ErrorKind::IsADirectory, message));
        }
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    // While there is a folder for what `--resume` needs, that is where an unfinished file is ours.
    let way = path.with_file_name(resume::FOLDER);
    let written = match way.is_dir() {
        true => save::write_atomically_by(&way, path, content),
        false => save::write_atomically(path, content),
    };
    written.map_err(|error| anyhow::anyhow!("cannot write {}: {error}", path.display()))
}

/// When, and of what.
fn default_name(targets: &[Planned]) -> String {
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let first = targets.first().map(Planned::name).unwrap_or_default();
    let plain: String = first
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
        .collect();
    // The end of a long path tells more than its beginning.
    let name = &plain[plain.len().saturating_sub(MOST_NAME)..];
    let name = name.trim_matches(['-', '.']);
    let more = match targets.len() {
        0 | 1 => String::new(),
        count => format!("-and-{}-more", count - 1),
    };
    format!("{time}-{name}{more}")
}
