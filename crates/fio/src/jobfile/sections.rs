//! A job file's lines: sections, options, comments, includes, variables.

use std::io;
use std::path::{Path, PathBuf};

use super::error::{JobFileError, Location};

/// Deepest nesting of includes.
const MOST_INCLUDES: usize = 16;
/// Largest job file; fio's own are a few KB.
const MOST_BYTES: u64 = 1 << 20;

/// Most files that includes may add up to.
const MOST_FILES: usize = 256;
/// Most sections; no more jobs can be run at once.
const MOST_SECTIONS: usize = 1024;
/// Most options in force in a section. fio knows some 250, and each section has those of `[global]`.
const MOST_OPTIONS: usize = 1000;

/// `key=value`, or a key alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Setting {
    /// The name as written.
    pub key: String,
    /// What follows the equals sign, if there is one, its variables filled in.
    pub value: Option<String>,
    /// Where it stands.
    pub at: Location,
    /// Why its variables could not be filled in. It is said when the job is described: what is refused as a whole
    /// needs none.
    pub lacks: Option<String>,
}

/// A section that is a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Section {
    /// The name in its brackets.
    pub name: String,
    /// Where it begins.
    pub at: Location,
    /// What the `[global]` sections before it say.
    pub globals: Vec<Setting>,
    /// What it says itself.
    pub own: Vec<Setting>,
}

/// What was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Read {
    /// All sections that are jobs.
    pub sections: Vec<Section>,
    /// The job file, and those that it includes.
    pub files: Vec<PathBuf>,
}

/// Where a variable's value comes from.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// All sections of a file and of those that it includes.
///
/// # Errors
/// For the first line that cannot be understood, and files that cannot be read.
pub(super) fn read(path: &Path, environment: Environment<'_>) -> Result<Read, JobFileError> {
    let mut reader = Reader::new(environment);
    reader.file(path, None, 0)?;
    reader.done(path)
}

/// The same of a text; errors name it `name`, and what it includes is looked for beside that.
///
/// # Errors
/// As [`read`].
pub(super) fn read_text(
    text: &str,
    name: &Path,
    environment: Environment<'_>,
) -> Result<Read, JobFileError> {
    let mut reader = Reader::new(environment);
    if text.len() as u64 > MOST_BYTES {
        return Err(JobFileError::whole(name, FileError::TooLong.to_string()));
    }
    reader.lines(text, name, 0)?;
    reader.done(name)
}

/// The sections of a command line's options and of the job files that follow them, which have its options for all
/// jobs as their own `[global]`.
///
/// # Errors
/// As [`read`].
pub(super) fn read_all(
    options: &[(String, Option<String>)],
    sources: &[JobSource],
    environment: Environment<'_>,
) -> Result<Read, JobFileError> {
    let mut reader = Reader::new(environment);
    let name = Path::new(COMMAND_LINE);
    reader.options(options, name)?;
    for source in sources {
        reader.within = Within::Nothing;
        match source {
            JobSource::File(path) => reader.file(path, None, 0)?,
            JobSource::Text { text, name } => {
                if text.len() as u64 > MOST_BYTES {
                    return Err(JobFileError::whole(name, FileError::TooLong.to_string()));
                }
                reader.lines(text, name, 0)?;
            }
        }
    }
    let place = match sources.first() {
        Some(JobSource::File(path)) => path,
        Some(JobSource::Text { name, .. }) => name.as_path(),
        None => name,
    };
    if sources.is_empty() && reader.sections.is_empty() {
        return Err(JobFileError::whole(name, "there is no job: --name=NAME begins one"));
    }
    reader.done(place)
}

/// How errors name the options of a command line.
const COMMAND_LINE: &str = "command line";

/// Where jobs are described.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobSource {
    /// A job file.
    File(PathBuf),
    /// A text, and what errors call it.
    Text {
        /// The lines.
        text: String,
        /// Its name; what it includes is looked for beside that.
        name: PathBuf,
    },
}

/// What the options that follow belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Global,
    Job,
}

struct Reader<'a> {
    environment: Environment<'a>,
    files: Vec<PathBuf>,
    sections: Vec<Section>,
    globals: Vec<Setting>,
    within: Within,
}

impl<'a> Reader<'a> {
    fn new(environment: Environment<'a>) -> Reader<'a> {
        Reader {
            environment,
            files: Vec::new(),
            sections: Vec::new(),
            globals: Vec::new(),
            within: Within::Nothing,
        }
    }

    fn done(self, path: &Path) -> Result<Read, JobFileError> {
        match self.sections.is_empty() {
            true => {
                Err(JobFileError::whole(path, "it has no job: a job begins with a line [name]"))
            }
            false => Ok(Read { sections: self.sections, files: self.files }),
        }
    }

    fn file(
        &mut self,
        path: &Path,
        included_at: Option<&Location>,
        depth: usize,
    ) -> Result<(), JobFileError> {
        let text = text(path).map_err(|why| match included_at {
            Some(at) => JobFileError::new(at, format!("cannot include {}: {why}", path.display())),
            None => JobFileError::whole(path, why.to_string()),
        })?;
        self.files.push(path.to_path_buf());
        self.lines(&text, path, depth)
    }

    fn lines(&mut self, text: &str, path: &Path, depth: usize) -> Result<(), JobFileError> {
        for (number, line) in (1..).zip(text.lines()) {
            let at = Location { file: path.to_path_buf(), line: number };
            self.line(line, &at, depth)?;
        }
        Ok(())
    }

    fn line(&mut self, line: &str, at: &Location, depth: usize) -> Result<(), JobFileError> {
        // As fio has it, a comment begins anywhere, so no value holds one of these.
        let line = line.split([';', '#']).next().unwrap_or_default().trim();
        if line.is_empty() {
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix('[') {
            return self.begin(rest, at);
        }
        if let Some(rest) = line.strip_prefix("include")
            && rest.starts_with(char::is_whitespace)
        {
            let name = self.filled_in(rest.trim(), at)?;
            if depth == MOST_INCLUDES {
                let what = format!("more than {MOST_INCLUDES} includes within each other");
                return Err(JobFileError::new(at, what));
            }
            if self.files.len() >= MOST_FILES {
                let what = format!("more than {MOST_FILES} includes in all");
                return Err(JobFileError::new(at, what));
            }
            let beside = at.file.parent().unwrap_or(Path::new("")).join(&name);
            let path = if beside.exists() { beside } else { PathBuf::from(name) };
            return self.file(&path, Some(at), depth + 1);
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (line, None),
        };
        if key.is_empty() || key.contains(char::is_whitespace) {
            let what = format!("\"{line}\" is neither a section [name] nor an option name=value");
            return Err(JobFileError::new(at, what));
        }
        let (value, lacks) = match value.map(|value| self.filled_in(value, at)) {
            Some(Err(error)) => (value.map(String::from), Some(error.what)),
            Some(Ok(filled)) => (Some(filled), None),
            None => (None, None),
        };
        self.set(Setting { key: key.into(), value, at: at.clone(), lacks })
    }

    /// Takes the options of a command line, in which `name` begins a job.
    fn options(
        &mut self,
        options: &[(String, Option<String>)],
        name: &Path,
    ) -> Result<(), JobFileError> {
        let at = Location { file: name.to_path_buf(), line: 0 };
        self.within = Within::Global;
        for (key, value) in options {
            match (key.as_str(), value) {
                ("name", Some(name)) => self.section(name, &at)?,
                _ => {
                    let (key, value) = (key.clone(), value.clone());
                    self.set(Setting { key, value, at: at.clone(), lacks: None })?;
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, setting: Setting) -> Result<(), JobFileError> {
        let at = setting.at.clone();
        let in_force = self.globals.len()
            + match self.within {
                Within::Job => self.sections.last().map_or(0, |section| section.own.len()),
                Within::Global | Within::Nothing => 0,
            };
        if in_force >= MOST_OPTIONS {
            let what = format!("more than {MOST_OPTIONS} options in force in a section");
            return Err(JobFileError::new(&at, what));
        }
        match (self.within, self.sections.last_mut()) {
            (Within::Global, _) => self.globals.push(setting),
            (Within::Job, Some(section)) => section.own.push(setting),
            _ => {
                let key = setting.key;
                let what = format!("{key} stands before the first section: begin with [global]");
                return Err(JobFileError::new(&at, what));
            }
        }
        Ok(())
    }

    fn begin(&mut self, rest: &str, at: &Location) -> Result<(), JobFileError> {
        let Some((name, "")) = rest.rsplit_once(']').map(|(name, rest)| (name, rest.trim())) else {
            return Err(JobFileError::new(at, format!("the section [{rest} has no ] at its end")));
        };
        self.section(name, at)
    }

    fn section(&mut self, name: &str, at: &Location) -> Result<(), JobFileError> {
        if name.is_empty() {
            return Err(JobFileError::new(at, "a section needs a name: [name]"));
        }
        if name == "global" {
            self.within = Within::Global;
            return Ok(());
        }
        if self.sections.len() == MOST_SECTIONS {
            return Err(JobFileError::new(at, format!("more than {MOST_SECTIONS} sections")));
        }
        self.within = Within::Job;
        self.sections.push(Section {
            name: name.into(),
            at: at.clone(),
            globals: self.globals.clone(),
            own: Vec::new(),
        });
        Ok(())
    }

    /// `value` with its `${VARIABLES}` and fio's `$pagesize`, `$mb_memory` and `$ncpus` filled in.
    fn filled_in(&self, value: &str, at: &Location) -> Result<String, JobFileError> {
        let mut filled = String::with_capacity(value.len());
        let mut rest = value;
        while let Some(start) = rest.find("${") {
            filled.push_str(&rest[..start]);
            let Some(length) = rest[start..].find('}') else {
                return Err(JobFileError::new(
                    at,
                    format!("{value}: a variable has no }} at its end"),
                ));
            };
            let name = &rest[start + 2..start + length];
            let Some(found) = (self.environment)(name) else {
                let what = format!("the environment has no variable {name}: export {name}=...");
                return Err(JobFileError::new(at, what));
            };
            filled.push_str(&found);
            rest = &rest[start + length + 1..];
        }
        filled.push_str(rest);
        for (keyword, amount) in [
            ("$pagesize", rustix::param::page_size() as u64),
            ("$mb_memory", fourcorners_machine::host::available_memory_bytes().unwrap_or(0) >> 20),
            ("$ncpus", std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64)),
        ] {
            if filled.contains(keyword) {
                filled = filled.replace(keyword, &amount.to_string());
            }
        }
        Ok(filled)
    }
}

/// Why a file is no job file.
#[derive(Debug, thiserror::Error)]
enum FileError {
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("it is not a regular file")]
    NoFile,
    #[error("it has more than {MOST_BYTES} bytes, which no job file has")]
    TooLong,
    /// From this byte on.
    #[error("byte {at} is not UTF-8: it is no job file")]
    NoText { at: usize },
}

fn text(path: &Path) -> Result<String, FileError> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(FileError::NoFile);
    }
    if metadata.len() > MOST_BYTES {
        return Err(FileError::TooLong);
    }
    let bytes = std::fs::read(path)?;
    String::from_utf8(bytes)
        .map_err(|error| FileError::NoText { at: error.utf8_error().valid_up_to() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Section>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("job.fio");
        std::fs::write(&path, text).expect("a file");
        std::fs::write(folder.path().join("more.inc"), "iodepth=7\n[second]\n").expect("a file");
        std::fs::write(folder.path().join("itself.inc"), "include itself.inc\n").expect("a file");
        let environment = |name: &str| (name == "BS").then(|| "8k".to_string());
        read(&path, &environment)
            .map(|read| read.sections)
            .map_err(|error| error.to_string().replace(&folder.path().display().to_string(), ""))
    }

    fn pairs(settings: &[Setting]) -> Vec<(&str, Option<&str>)> {
        settings.iter().map(|one| (one.key.as_str(), one.value.as_deref())).collect()
    }

    #[test]
    fn sections_take_the_globals_before_them() {
        let text = "; a comment\n[global]\nrw = read ; and another\nbs=${BS}\n\n[one two]\n\
                    stonewall\n[global]\nbs=4k\n[three]\nsize=1g # x\n";
        let sections = read_text(text).expect("a job file");
        assert_eq!(sections.len(), 2);
        assert_eq!(sections[0].name, "one two");
        assert_eq!(pairs(&sections[0].globals), [("rw", Some("read")), ("bs", Some("8k"))]);
        assert_eq!(pairs(&sections[0].own), [("stonewall", None)]);
        assert_eq!(sections[1].globals.len(), 3);
        assert_eq!(pairs(&sections[1].own), [("size", Some("1g"))]);
        assert_eq!(sections[1].own[0].at.line, 11);
    }

    #[test]
    fn an_include_goes_on_where_it_stands() {
        let sections = read_text("[first]\ninclude more.inc\nbs=1k\n").expect("a job file");
        assert_eq!(pairs(&sections[0].own), [("iodepth", Some("7"))]);
        assert_eq!(
            (sections[1].name.as_str(), pairs(&sections[1].own)),
            ("second", vec![("bs", Some("1k"))])
        );
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        let many_options = format!("[global]\n{}[a]\n", "bs=4k\n".repeat(1001));
        let own_options = format!("[global]\n{0}[a]\n{0}", "bs=4k\n".repeat(501));
        let many_files = format!("[a]\n{}", "include more.inc\n".repeat(256));
        for (text, said) in [
            (many_options.as_str(), "line 1002: more than 1000 options"),
            (own_options.as_str(), "line 1003: more than 1000 options"),
            (&"[a]\n".repeat(1025), "line 1025: more than 1024 sections"),
            (&many_files, "line 257: more than 256 includes"),
            ("", "has no job"),
            ("[global]\nbs=4k\n", "has no job"),
            ("bs=4k\n", "line 1: bs stands before the first section"),
            ("[a\n", "line 1: the section [a has no ]"),
            ("[]\n", "line 1: a section needs a name"),
            ("[a]\nread write\n", "line 2: \"read write\" is neither"),
            ("[a]\n=4k\n", "line 2: \"=4k\" is neither"),
            ("[a]\ninclude ${NONE}\n", "line 2: the environment has no variable NONE"),
            ("[a]\ninclude nowhere.inc\n", "line 2: cannot include"),
            ("[a]\ninclude itself.inc\n", "more than 16 includes"),
        ] {
            let error = read_text(text).expect_err(text);
            assert!(error.contains(said), "{text:?}: {error}");
        }
    }
}
