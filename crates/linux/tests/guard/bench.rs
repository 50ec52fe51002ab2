//! Media to try the guard on: files in a temporary directory and loop devices over them, all
//! taken apart again when they go out of scope, also by a panic.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fourcorners_testing::skipped;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Ends a test that cannot be run here for want of a feature, and says why.
macro_rules! skip_unless {
    ($condition:expr, $feature:literal, $($reason:tt)+) => {
        if !$condition {
            return fourcorners_testing::skipped($feature, format!($($reason)+));
        }
    };
}
pub(crate) use skip_unless;

pub(crate) const MIB: u64 = 1 << 20;

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs a command; what it printed if it fails or is not there.
pub(crate) fn run(words: &[&str]) -> Result<String, String> {
    run_with(words, "")
}

/// Runs a command that reads `input`.
pub(crate) fn run_with(words: &[&str], input: &str) -> Result<String, String> {
    let mut child = command(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", words[0]))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A tool that reads no input closes it early.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{words:?}: {} {}", text(&output.stdout), text(&output.stderr)))
    }
}

/// Tools for disks are often not in a user's path.
pub(crate) fn command(words: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env("PATH", format!("{path}:/usr/sbin:/sbin")).env("LC_ALL", "C");
    // mdadm writes Intel metadata only with the firmware for it, unless told otherwise.
    command.env("IMSM_NO_PLATFORM", "1");
    command
}

/// A directory of its own with an image in it.
pub(crate) struct Image {
    pub(crate) dir: TempDir,
    pub(crate) path: PathBuf,
}

impl Image {
    /// A sparse file. Its name is its own too: names of backing files are compared.
    pub(crate) fn new(bytes: u64) -> Image {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let name = dir.path().file_name().expect("it has one").to_string_lossy().into_owned();
        let path = dir.path().join(format!("image-{name}"));
        File::create(&path).and_then(|file| file.set_len(bytes)).expect("a file");
        Image { dir, path }
    }

    pub(crate) fn text(&self) -> &str {
        self.path.to_str().expect("temporary paths are text")
    }

    pub(crate) fn sha256(&self) -> Vec<u8> {
        sha256(&self.path)
    }
}

pub(crate) fn sha256(path: &Path) -> Vec<u8> {
    let mut hash = Sha256::new();
    let mut file = File::open(path).expect("it can be read");
    let mut buffer = vec![0; 1 << 20];
    loop {
        match std::io::Read::read(&mut file, &mut buffer).expect("it can be read") {
            0 => return hash.finalize().to_vec(),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// A loop device over an image.
pub(crate) struct Loop {
    pub(crate) node: String,
    pub(crate) image: Image,
}

impl Loop {
    /// `None`, with the reason printed, where there can be none.
    pub(crate) fn over(image: Image, options: &[&str]) -> Option<Loop> {
        if !is_root() {
            skipped("root", "loop devices need root");
            return None;
        }
        let mut words = vec!["losetup", "--find", "--show"];
        words.extend(options);
        words.push(image.text());
        match run(&words) {
            Ok(node) => Some(Loop { node, image }),
            Err(error) => {
                skipped("loop-devices", error);
                None
            }
        }
    }

    pub(crate) fn blank(bytes: u64) -> Option<Loop> {
        Loop::over(Image::new(bytes), &[])
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.node)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // Partitions outlive their loop device if they are not deleted first.
        let name = self.node.trim_start_matches("/dev/");
        if Path::new(&format!("/sys/block/{name}/{name}p1")).exists() {
            let _ = run(&["partx", "--delete", &self.node]);
        }
        if let Err(error) = run(&["losetup", "--detach", &self.node]) {
            println!("{error}");
        }
    }
}

/// A command that undoes something.
pub(crate) struct Undo(Vec<String>);

impl Undo {
    pub(crate) fn with(words: &[&str]) -> Undo {
        Undo(words.iter().map(|word| (*word).to_owned()).collect())
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        let words: Vec<&str> = self.0.iter().map(String::as_str).collect();
        if let Err(error) = run(&words) {
            println!("{error}");
        }
    }
}

/// A program that runs beside the test.
pub(crate) struct Beside(Child);

impl Beside {
    /// Runs a shell script and waits until it has printed a line.
    pub(crate) fn script(script: &str) -> Option<Beside> {
        let mut child = command(&["sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        let read = std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line);
        let beside = Beside(child);
        (read.is_ok() && line.trim() == "ready").then_some(beside)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // The scripts end with their input; `wait` closes it.
        let _ = self.0.wait();
    }
}

/// A directory to mount at.
pub(crate) fn mount_point(image: &Image) -> String {
    let path = image.dir.path().join("mnt");
    fs::create_dir_all(&path).expect("it can be created");
    path.to_str().expect("temporary paths are text").to_owned()
}
