//! Tasks: what a person waits for, as a list of steps in a file of TOML, drawn into a trace by seed.
//!
//! A step is a number of I/Os and the thought between them; steps of one thread follow each other, and
//! threads run side by side. The trace is what a plain drive would have recorded (a command takes
//! 60 µs and 250 MB/s), so that a replay with think time keeps both the thought and what had to wait
//! for what. The form is in docs/TASKS.md.

mod draw;
mod error;

use std::path::{Path, PathBuf};

use fourcorners_drive::Op;
use include_dir::{Dir, include_dir};
use serde::Deserialize;

pub use error::{StepError, TaskError};

pub(super) use draw::Drawn;

static TASKS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/tasks");

/// Built-in tasks that a review does, in the order a person would meet them.
pub const TASK_NAMES: [&str; 8] = [
    "boot",
    "application",
    "several-applications",
    "game-level",
    "photo-catalogue",
    "unpack",
    "copy-tree",
    "install",
];

/// Built-in tasks that a review does not do unless they are named: results of reviews stay comparable.
pub const MORE_TASK_NAMES: [&str; 4] = ["raw-photos", "video-project", "image-backup", "build"];

/// The names of all built-in tasks, those of a review first.
pub fn task_names() -> impl Iterator<Item = &'static str> {
    TASK_NAMES.into_iter().chain(MORE_TASK_NAMES)
}

/// A file larger than this is no task.
const MOST_FILE_BYTES: u64 = 1 << 20;
/// Offsets are whole units of this, bytes.
const UNIT: u64 = 4096;
/// Limits of a step, far beyond what a person waits for.
const MOST_STEPS: usize = 1000;
const MOST_IOS: u64 = 1_000_000_000;
const MOST_SIZE_KIB: u32 = 16_384;
const MOST_DEPTH: u32 = 1024;
const MOST_THINK_US: f64 = 3.6e9;

/// Most think time of all steps together, seconds: 31 years, less than half of what a trace's times can say.
const MOST_THINK_S: f64 = 1e9;
const MOST_AREA_GB: f64 = 1e6;
/// Shares of sizes are written by hand: they add up to 100 within this.
const PERCENT_SLACK: f64 = 0.01;

/// A task.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What a reader knows it by.
    pub title: String,
    /// What it stands for.
    pub about: String,
    /// Where its numbers come from, and which were chosen.
    pub sources: Vec<String>,
    /// The steps, each after the one before it of its thread.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

/// A number of I/Os of one kind.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What is done, for the reader.
    pub what: String,
    /// Steps of one thread follow each other; threads begin together.
    #[serde(default = "main_thread")]
    pub thread: String,
    /// I/Os, without flushes.
    pub ios: u64,
    /// Of these: reads; the others are writes.
    #[serde(default = "all")]
    pub read_percent: f64,
    /// Sizes in KiB, each with its share of the I/Os in percent.
    pub sizes_kib: Vec<(u32, f64)>,
    /// The same of the writes, where they differ.
    pub write_sizes_kib: Option<Vec<(u32, f64)>>,
    /// Share that begins where the last read, or write, of its thread ended.
    #[serde(default)]
    pub sequential_percent: f64,
    /// The same of the writes, where it differs.
    pub write_sequential_percent: Option<f64>,
    /// Most in flight of its thread.
    #[serde(default = "one")]
    pub depth: u32,
    /// I/Os between two thoughts; all of them where it is left out.
    pub burst: Option<u64>,
    /// Mean thought before each burst, microseconds (exponentially distributed).
    #[serde(default)]
    pub think_us: f64,
    /// A flush after so many writes; 0 is none.
    #[serde(default)]
    pub flush_every: u64,
    /// How far a drive that compresses shrinks what is written, percent of it, 0 to 100.
    #[serde(default)]
    pub compressible_percent: u8,
    /// Where it reads and writes: from and to, GB (10^9 bytes) from the first LBA.
    pub area_gb: [f64; 2],
}

fn main_thread() -> String {
    "main".into()
}

fn all() -> f64 {
    100.0
}

fn one() -> u32 {
    1
}

impl Task {
    /// The built-in task of a name, or the one in a file (`./mine.toml`).
    ///
    /// # Errors
    /// [`TaskError`]: what is wrong with the name, the file, or which value of it.
    pub fn named(name: &str) -> Result<Task, TaskError> {
        if let Some(path) = Task::file(name) {
            return Task::in_file(&path);
        }
        match Task::built_in_text(name) {
            Some(text) => Task::parse(text),
            None => Err(TaskError::Unknown),
        }
    }

    /// The file of a built-in task, as it stands in tasks/.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        let known = task_names().any(|known| known == name);
        let file = TASKS.get_file(format!("{name}.toml")).filter(|_| known);
        file.and_then(|file| file.contents_utf8())
    }

    /// The file that [`Task::named`] reads for this name, if it is not one of the built-in tasks.
    pub(super) fn file(name: &str) -> Option<PathBuf> {
        (name.ends_with(".toml") || name.contains('/')).then(|| name.into())
    }

    fn in_file(path: &Path) -> Result<Task, TaskError> {
        let metadata = path.metadata()?;
        // A pipe or a device by a slip of the hand would be read for ever.
        if !metadata.is_file() {
            return Err(TaskError::NoFile);
        }
        if metadata.len() > MOST_FILE_BYTES {
            return Err(TaskError::TooLong { bytes: metadata.len() });
        }
        Task::parse(&std::fs::read_to_string(path)?)
    }

    /// A task of this text.
    ///
    /// # Errors
    /// [`TaskError`], which names the place, the value and what is allowed.
    pub fn parse(text: &str) -> Result<Task, TaskError> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let message = error.message();
            let line = before.map(|before| before.matches('\n').count() + 1);
            TaskError::Toml { line, what: message.into() }
        })?;
        let task: Task =
            serde_path_to_error::deserialize(toml::Value::Table(table)).map_err(|error| {
                let what = error.inner().message().into();
                let path = Some(error.path().to_string()).filter(|path| path != ".");
                TaskError::Form { path, what }
            })?;
        task.check()?;
        Ok(task)
    }

    fn check(&self) -> Result<(), TaskError> {
        if self.title.trim().is_empty() || self.title.chars().any(char::is_control) {
            return Err(TaskError::Title(self.title.clone()));
        }
        if !(1..=MOST_STEPS).contains(&self.steps.len()) {
            return Err(TaskError::Steps(self.steps.len()));
        }
        for (index, step) in self.steps.iter().enumerate() {
            step.check().map_err(|error| TaskError::Step { number: index + 1, error })?;
        }
        match self.ios() {
            ios if ios > MOST_IOS => return Err(TaskError::Ios(ios)),
            _ => {}
        }
        match self.think_s() {
            seconds if seconds > MOST_THINK_S => Err(TaskError::Think { seconds }),
            _ => Ok(()),
        }
    }

    /// Reads and writes.
    pub fn ios(&self) -> u64 {
        self.steps.iter().map(|step| step.ios).sum()
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> (u64, u64) {
        let bytes = |quota: draw::Quota| quota.bytes();
        let of = |step: &Step| (bytes(step.read_quota()), bytes(step.write_quota()));
        self.steps
            .iter()
            .map(of)
            .fold((0, 0), |(reads, writes), (read, write)| (reads + read, writes + write))
    }

    /// Flushes.
    pub fn flushes(&self) -> u64 {
        let of = |step: &Step| (step.ios - step.reads()).checked_div(step.flush_every).unwrap_or(0);
        self.steps.iter().map(of).sum()
    }

    /// Mean think time of all steps together, seconds. Threads think side by side.
    pub fn think_s(&self) -> f64 {
        let of = |step: &Step| step.ios.div_ceil(step.burst()) as f64 * step.think_us / 1e6;
        self.steps.iter().map(of).sum()
    }
}

impl Step {
    fn check(&self) -> Result<(), StepError> {
        let within = |key: &'static str, value: f64, most: f64| match (0.0..=most).contains(&value)
        {
            true => Ok(()),
            false => Err(StepError::Range { key, value, most }),
        };
        if !(1..=MOST_IOS).contains(&self.ios) {
            return Err(StepError::Count { key: "ios", value: self.ios, most: MOST_IOS });
        }
        within("read_percent", self.read_percent, 100.0)?;
        within("sequential_percent", self.sequential_percent, 100.0)?;
        within("write_sequential_percent", self.write_sequential_percent.unwrap_or(0.0), 100.0)?;
        within("think_us", self.think_us, MOST_THINK_US)?;
        within("compressible_percent", self.compressible_percent.into(), 100.0)?;
        if !(1..=MOST_DEPTH).contains(&self.depth) {
            let (value, most) = (self.depth.into(), MOST_DEPTH.into());
            return Err(StepError::Count { key: "depth", value, most });
        }
        if self.burst == Some(0) {
            return Err(StepError::NoBurst);
        }
        check_sizes("sizes_kib", &self.sizes_kib)?;
        if let Some(sizes) = &self.write_sizes_kib {
            check_sizes("write_sizes_kib", sizes)?;
        }
        let [from, to] = self.area_gb;
        within("area_gb", from, MOST_AREA_GB)?;
        within("area_gb", to, MOST_AREA_GB)?;
        let (start, end) = self.area();
        let largest = self.sizes_kib.iter().chain(self.write_sizes_kib.iter().flatten());
        let largest = largest.map(|&(kib, _)| u64::from(kib) * 1024).max().unwrap_or(0);
        if end < start + largest {
            return Err(StepError::NoRoom { from, to, largest });
        }
        Ok(())
    }

    fn reads(&self) -> u64 {
        ((self.ios as f64 * self.read_percent / 100.0).round() as u64).min(self.ios)
    }

    fn sequential_percent(&self, op: Op) -> f64 {
        let of_writes = self.write_sequential_percent.filter(|_| op == Op::Write);
        of_writes.unwrap_or(self.sequential_percent)
    }

    fn burst(&self) -> u64 {
        self.burst.unwrap_or(self.ios)
    }

    /// First byte, and the first behind.
    fn area(&self) -> (u64, u64) {
        let bytes = |gb: f64| (gb * 1e9) as u64 / UNIT * UNIT;
        (bytes(self.area_gb[0]), bytes(self.area_gb[1]))
    }

    fn read_quota(&self) -> draw::Quota {
        draw::Quota::new(&self.sizes_kib, self.reads())
    }

    fn write_quota(&self) -> draw::Quota {
        let sizes = self.write_sizes_kib.as_ref().unwrap_or(&self.sizes_kib);
        draw::Quota::new(sizes, self.ios - self.reads())
    }
}

fn check_sizes(key: &'static str, sizes: &[(u32, f64)]) -> Result<(), StepError> {
    if sizes.is_empty() {
        return Err(StepError::NoSizes { key });
    }
    for &(kib, share) in sizes {
        if !(1..=MOST_SIZE_KIB).contains(&kib) {
            return Err(StepError::Size { key, kib });
        }
        if !(0.0..=100.0).contains(&share) {
            return Err(StepError::Share { key, share });
        }
    }
    let sum: f64 = sizes.iter().map(|(_, share)| share).sum();
    match (sum - 100.0).abs() <= PERCENT_SLACK {
        true => Ok(()),
        false => Err(StepError::Shares { key, sum }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_drive::Nanos;
    use proptest::prelude::*;

    #[test]
    fn every_task_of_the_folder_is_known_and_none_is_missing() {
        let mut files: Vec<&str> =
            TASKS.files().filter_map(|file| file.path().file_stem()?.to_str()).collect();
        files.sort_unstable();
        let mut names: Vec<&str> = task_names().collect();
        names.sort_unstable();
        assert_eq!(files, names);
        for name in task_names() {
            let task = Task::named(name).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(!task.sources.is_empty() && !task.about.is_empty(), "{name}");
        }
    }

    #[test]
    fn what_is_drawn_is_what_the_file_says() {
        for name in task_names() {
            let task = Task::named(name).expect("it is built in");
            let [mut reads, mut writes, mut flushes] = [(0u64, 0u64); 3];
            let mut last = Nanos::ZERO;
            for io in Drawn::new(&task, 7) {
                assert!(io.at >= last, "{name}");
                last = io.at;
                let sum = match io.op {
                    Op::Read => &mut reads,
                    Op::Write => &mut writes,
                    Op::Flush => &mut flushes,
                    Op::Trim => panic!("{name} has no TRIM"),
                };
                *sum = (sum.0 + 1, sum.1 + io.bytes);
                assert!(io.bytes <= 131_072 && io.offset_bytes % 4096 == 0 && io.bytes % 4096 == 0);
            }
            assert_eq!((reads.0 + writes.0, flushes.0), (task.ios(), task.flushes()), "{name}");
            assert_eq!((reads.1, writes.1), task.bytes(), "{name}");
            let again: Vec<_> = Drawn::new(&task, 7).collect();
            assert!(again == Drawn::new(&task, 7).collect::<Vec<_>>());
            assert!(again != Drawn::new(&task, 8).collect::<Vec<_>>(), "{name}");
        }
    }

    const SMALL: &str = "title = \"A\"\nabout = \"B\"\nsources = []\n[[step]]\nwhat = \"C\"\n";

    fn step(more: &str) -> Result<Task, TaskError> {
        Task::parse(&format!("{SMALL}ios = 100\nsizes_kib = [[4, 100]]\narea_gb = [0, 1]\n{more}"))
    }

    #[test]
    fn a_wrong_value_is_named() {
        for (more, told) in [
            ("depth = 0", "step 1: depth = 0: give 1 to 1024"),
            ("read_percent = 101", "step 1: read_percent = 101"),
            ("think_us = nan", "step 1: think_us = NaN"),
            ("burst = 0", "burst = 0"),
            ("write_sizes_kib = [[4, 50]]", "add up to 50 %"),
            ("write_sizes_kib = []", "step 1: write_sizes_kib = []: give at least one size"),
            ("write_sizes_kib = [[0, 100]]", "has 0 KiB"),
            ("write_sizes_kib = [[4, -1], [8, 101]]", "a share of -1"),
            ("colour = 1", "unknown field `colour`"),
            ("depth = \"x\"", "step[0].depth"),
            ("depth = ", "line 9"),
        ] {
            let why = step(more).expect_err(more).to_string();
            assert!(why.contains(told) && !why.contains('\n'), "{more}: {why}");
        }
        let slow = |ios: u64| {
            let text = "burst = 1\nthink_us = 3.6e9\nsizes_kib = [[4, 100]]\narea_gb = [0, 1]\n";
            Task::parse(&format!("{SMALL}ios = {ios}\n{text}"))
        };
        assert!(slow(270_000).is_ok());
        let why = slow(280_000).expect_err("32 years").to_string();
        assert!(why.contains("1008000000 s in all"), "{why}");
        let tight = format!("{SMALL}ios = 1\nsizes_kib = [[128, 100]]\narea_gb = [0, 0.0001]\n");
        let no = |task: Result<Task, TaskError>| task.expect_err("there is none").to_string();
        assert!(no(Task::parse(&tight)).contains("no room for 131072"));
        assert!(Task::parse("title = 1").is_err());
        assert!(no(Task::named("boots")).contains("task:boot"));
        assert!(no(Task::named("./missing.toml")).contains("cannot read"));
        assert!(no(Task::named("/dev/null")).contains("and this is not"));
    }

    #[test]
    fn depth_flushes_and_thought_are_in_what_was_recorded() {
        let task = step("read_percent = 0\nburst = 10\nthink_us = 500\nflush_every = 5\ndepth = 3")
            .expect("it is sound");
        let ios: Vec<_> = Drawn::new(&task, 1).collect();
        assert_eq!((ios.len(), task.flushes(), task.think_s()), (120, 20, 0.005));
        let ends: Vec<u64> =
            ios.iter().map(|io| io.at.0 + io.duration.expect("all have one").0).collect();
        for (index, io) in ios.iter().enumerate() {
            let in_flight = ends[..index].iter().filter(|&&end| end > io.at.0).count();
            assert!(in_flight < 3, "no more than 3");
            let after_flush = index > 0 && ios[index - 1].op == Op::Flush;
            if io.op == Op::Flush || after_flush {
                assert_eq!(in_flight, 0, "a flush waits for all, and all for it");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_sound_step_is_drawn_to_its_end(
            ios in 1u64..500, reads in 0u32..=100, sequential in 0u32..=100, depth in 1u32..40,
            burst in 1u64..600, think in 0u32..2000, flush in 0u64..20, threads in 1usize..4,
            gb in 1u32..50, seed in any::<u64>(),
        ) {
            let steps: String = (0..threads).map(|thread| format!(
                "[[step]]\nwhat = \"x\"\nthread = \"{thread}\"\nios = {ios}\nread_percent = {reads}\n\
                 sizes_kib = [[4, 60], [64, 30], [128, 10]]\nsequential_percent = {sequential}\n\
                 depth = {depth}\nburst = {burst}\nthink_us = {think}\nflush_every = {flush}\n\
                 area_gb = [1, {}.5]\n", 1 + gb)).collect();
            let text = format!("title = \"A\"\nabout = \"\"\nsources = []\n{steps}");
            let task = Task::parse(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let drawn: Vec<_> = Drawn::new(&task, seed).collect();
            let bytes = |op| drawn.iter().filter(|io| io.op == op).map(|io| io.bytes).sum::<u64>();
            prop_assert_eq!((bytes(Op::Read), bytes(Op::Write)), task.bytes());
            prop_assert_eq!(drawn.len() as u64, task.ios() + task.flushes());
            let end = u64::from(1 + gb) * 1_000_000_000 + 500_000_000;
            for io in drawn.iter().filter(|io| io.op != Op::Flush) {
                prop_assert!(io.offset_bytes >= 999_000_000 && io.end_bytes() <= end);
            }
        }
    }
}
