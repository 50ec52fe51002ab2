//! Running the binary in a folder of its own, and what came of it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use fourcorners_record::{Document, Ended, Record, from_json};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

pub(crate) const M4: &str = "crucial-m4-256gb";
pub(crate) const HDD: &str = "seagate-momentus-5400.6";

/// Where the results of all these tests are kept: never in the database of whoever runs them.
static DATA: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("data-of-cli-tests");
    let _ = std::fs::remove_dir_all(&folder);
    folder
});

/// The variable that says where results are kept, and the folder of these tests.
pub(crate) fn data_home() -> (&'static str, &'static Path) {
    ("XDG_DATA_HOME", &DATA)
}

/// Takes away the defaults of whoever runs the tests: a file that sets nothing, and no variable.
pub(crate) fn without_defaults(command: &mut Command) {
    command.env("FOURCORNERS_CONFIG", "/dev/null").env_remove("FOURCORNERS_DATABASE");
}

/// The binary, to be run in `dir`.
pub(crate) fn command<S: AsRef<OsStr>>(dir: &Path, args: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fourcorners"));
    command.args(args).current_dir(dir).stdin(Stdio::null()).env("RUST_BACKTRACE", "0");
    let (name, folder) = data_home();
    command.env(name, folder);
    without_defaults(&mut command);
    command
}

/// Runs it to its end.
pub(crate) fn run<S: AsRef<OsStr>>(dir: &Path, args: &[S]) -> Ran {
    start(dir, args).finish()
}

/// Starts it.
pub(crate) fn start<S: AsRef<OsStr>>(dir: &Path, args: &[S]) -> Started {
    Started::of(command(dir, args).stdout(Stdio::piped()).stderr(Stdio::piped()))
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one JSON document on stdout.
    pub(crate) fn document(&self) -> Document {
        from_json(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A run that goes on beside the test, and not beyond it.
pub(crate) struct Started(Option<Child>);

impl Started {
    pub(crate) fn of(command: &mut Command) -> Started {
        Started(Some(command.spawn().expect("the binary is there")))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("finish and kill take it with them")
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        let pid = Pid::from_child(self.child());
        // It was not waited for, so that the number is still its own even if it has ended.
        kill_process(pid, signal).expect("a child can be signalled");
    }

    /// Waits until it has a handler for Ctrl-C (proc(5), `SigCgt`), and no more is to be checked.
    pub(crate) fn wait_until_it_listens(&mut self) {
        let status = format!("/proc/{}/status", self.child().id());
        wait_for("a handler for Ctrl-C", || {
            let status = std::fs::read_to_string(&status).ok()?;
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
            let caught = u64::from_str_radix(mask.trim(), 16).ok()?;
            // SIGINT, SIGTERM and SIGHUP, a bit each from that of signal 1.
            [2, 15, 1].iter().all(|signal| caught & (1 << (signal - 1)) != 0).then_some(())
        });
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child().try_wait().expect("it is our child").is_none()
    }

    pub(crate) fn finish(mut self) -> Ran {
        let child = self.0.take().expect("finish and kill take it with them");
        let output = child.wait_with_output().expect("it is our child");
        let text = |bytes| String::from_utf8(bytes).expect("all output is UTF-8");
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until `what` is there; at most five minutes, for a busy machine takes one for what takes seconds.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(300), "five minutes passed without {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The document in a folder of results, once it is there.
pub(crate) fn saved(folder: &Path) -> Option<Document> {
    let text = std::fs::read_to_string(folder.join("review.json")).ok()?;
    Some(from_json(&text).unwrap_or_else(|error| panic!("{folder:?}: {error}")))
}

/// Everything below a folder, by path, with its size.
pub(crate) fn listing(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("it can be listed") {
            let path = entry.expect("it can be listed").path();
            let metadata = path.symlink_metadata().expect("it is there");
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path, if metadata.is_file() { metadata.len() } else { 0 });
        }
    }
    found
}

/// Runs what must be refused: exit code 2, one line on stderr, nothing on stdout, nothing made.
/// The line.
pub(crate) fn refused<S: AsRef<OsStr> + std::fmt::Debug>(dir: &Path, args: &[S]) -> String {
    let before = listing(dir);
    let ran = run(dir, args);
    assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
    assert_eq!(ran.stdout, "", "{args:?}");
    let line = ran.stderr.strip_suffix('\n').unwrap_or_else(|| panic!("{args:?}: {ran:?}"));
    assert!(line.starts_with("fourcorners: "), "{args:?}: {line}");
    assert!(!line.chars().any(char::is_control), "{args:?}: {line}");
    assert_eq!(listing(dir), before, "{args:?}");
    line.to_string()
}

/// What a command prints that succeeds and says nothing else.
pub(crate) fn printed(args: &[&str]) -> String {
    let dir = folder();
    let ran = run(dir.path(), args);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
    ran.stdout
}

/// The laws that hold for every record, however it ended.
pub(crate) fn obeys_the_laws(record: &Record) {
    let name = &record.target.name;
    let said = record.conclusions();
    let unfilled = said.iter().find(|note| note.text.contains(['{', '}']));
    assert!(unfilled.is_none(), "{name}: {unfilled:?}");
    for (figure_name, figure) in &record.figures {
        let place = format!("{name}, {figure_name}");
        let little = figure.iops * figure.latency_us.mean / 1e6;
        let error = (little / figure.mean_queue_depth - 1.0).abs();
        assert!(error < 1e-9, "{place}: {little} is not {}", figure.mean_queue_depth);
        let series = &record.series[figure_name];
        // A series has the whole seconds; what came after the last of them is in the totals only.
        assert_eq!(series.iops.len(), figure.duration_s as usize, "{place}");
        let after = figure.ios.checked_sub(series.iops.iter().sum()).expect(&place);
        let bytes: u64 = series.mb_per_s.iter().map(|mb| (mb * 1e6).round() as u64).sum();
        assert_eq!(bytes + after * u64::from(figure.job.block_bytes), figure.bytes, "{place}");
        let binned: u64 = figure.latency_bins_ns.iter().map(|(_, count)| count).sum();
        assert_eq!(binned, figure.ios, "{place}");
        if let Some(watts) = figure.mean_power_w {
            let joules = watts * figure.duration_s;
            let seconds: f64 = series.energy_j.iter().sum();
            // What came after the last whole second is again in the total only.
            let after = (joules - seconds) / joules;
            let part = figure.duration_s.fract() / figure.duration_s;
            assert!(after >= -1e-9 && after <= part * 3.0 + 1e-9, "{place}: {joules}, {seconds} J");
            assert_eq!(series.energy_j.len(), series.iops.len(), "{place}");
            let per_gb = joules / (figure.bytes as f64 / 1e9);
            let figure_per_gb = figure.joules_per_gb.unwrap_or_else(|| panic!("{place}"));
            assert!((per_gb / figure_per_gb - 1.0).abs() < 1e-9, "{place}: {per_gb} J/GB");
        } else {
            assert!(figure.joules_per_gb.is_none() && series.energy_j.is_empty(), "{place}");
        }
    }
    assert_eq!(record.figures.len(), record.series.len(), "{name}");
    // Only what was being measured when it ended may be cut short.
    let cut = record.figures.values().position(|figure| !figure.complete);
    match cut {
        None => {}
        Some(cut) => {
            assert_eq!(cut + 1, record.figures.len(), "{name}");
            assert_ne!(record.ended, Ended::Complete, "{name}");
        }
    }
}
