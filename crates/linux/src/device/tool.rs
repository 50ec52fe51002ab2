//! Other people's programs: found on PATH, run with an end, and never stopped half way by a Ctrl-C.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Most that is read of what a program says.
const MOST_OUTPUT: u64 = 4 << 20;
const POLL: Duration = Duration::from_millis(20);

/// What a program said.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// `None` when a signal ended it.
    pub(super) code: Option<i32>,
}

impl Said {
    /// The last line of either that is not empty: what a program complains with.
    pub(super) fn complaint(&self) -> String {
        let lines = self.stderr.lines().chain(self.stdout.lines());
        let last = lines.map(str::trim).rfind(|line| !line.is_empty());
        let text = last.map_or_else(|| format!("{:?}", self.code), str::to_string);
        text.chars().filter(|c| !c.is_control()).take(200).collect()
    }
}

/// A program by its name, where a shell would find it. System administrators' folders are looked
/// through as well: they are not on everybody's PATH.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let more = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    folders.into_iter().chain(more).map(|folder| folder.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Runs a program to its end. It is in a process group of its own: Ctrl-C asks us to stop, and would
/// otherwise end an erasure in the middle.
///
/// # Errors
/// When it cannot be run, or takes longer than `most`: it is then ended.
pub(super) fn run<S: AsRef<OsStr>>(program: &Path, args: &[S], most: Duration) -> io::Result<Said> {
    let mut child = Command::new(program)
        .args(args)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let stdout = child.stdout.take().map(listen);
    let stderr = child.stderr.take().map(listen);
    let code = wait(&mut child, most)?;
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    Ok(Said { stdout: text(stdout), stderr: text(stderr), code })
}

/// Reads all of it on a thread of its own, so that the program never waits for us.
fn listen(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What a program that was ended had not said yet is nothing.
        let _ = from.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
        let _ = io::copy(&mut from, &mut io::sink());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child, most: Duration) -> io::Result<Option<i32>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if began.elapsed() >= most {
            child.kill()?;
            child.wait()?;
            let message = format!("it did not end within {} s", most.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_run_to_its_end_or_ended() {
        let sh = find("sh").expect("there is a shell everywhere");
        let said = run(&sh, &["-c", "echo out; echo err >&2; exit 3"], Duration::from_secs(60));
        let said = said.expect("it can be run");
        assert_eq!((said.stdout.as_str(), said.code), ("out\n", Some(3)));
        assert_eq!(said.complaint(), "out");
        let late = run(&sh, &["-c", "sleep 600"], Duration::from_millis(100));
        assert_eq!(late.expect_err("it sleeps").kind(), io::ErrorKind::TimedOut);
        assert_eq!(find("no-such-program-anywhere"), None);
    }
}
