//! Every drive of `drives/what-if` against the drive that it is like: the effect that docs/MECHANISMS.md shows of its
//! mechanism is there, and in the figures that stand there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What a mechanism changes.
struct Effect {
    drive: &'static str,
    /// A job file of `drives/what-if/jobs`; the figure is that of its last job.
    job: &'static str,
    options: &'static [&'static str],
    figure: Figure,
    becomes: Becomes,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Becomes {
    More,
    Less,
}

#[derive(Clone, Copy, Debug)]
enum Figure {
    WriteIops,
    WriteMbPerS,
    WrittenGb,
    WriteP999Ms,
    ReadMeanUs,
    ReadP99Us,
    TrimMeanUs,
}

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Figure::WriteIops => "writes a second",
            Figure::WriteMbPerS => "MB/s written",
            Figure::WrittenGb => "GB written",
            Figure::WriteP999Ms => "99.9 % of writes within ms",
            Figure::ReadMeanUs => "µs a read",
            Figure::ReadP99Us => "99 % of reads within µs",
            Figure::TrimMeanUs => "µs a TRIM",
        }
    }

    fn of(self, job: &Value) -> f64 {
        let (path, factor) = match self {
            Figure::WriteIops => ("/write/iops", 1.0),
            Figure::WriteMbPerS => ("/write/bw_bytes", 1e-6),
            Figure::WrittenGb => ("/write/io_bytes", 1e-9),
            Figure::WriteP999Ms => ("/write/clat_ns/percentile/99.900000", 1e-6),
            Figure::ReadMeanUs => ("/read/clat_ns/mean", 1e-3),
            Figure::ReadP99Us => ("/read/clat_ns/percentile/99.000000", 1e-3),
            Figure::TrimMeanUs => ("/trim/clat_ns/mean", 1e-3),
        };
        let value = job.pointer(path).and_then(Value::as_f64);
        value.unwrap_or_else(|| panic!("{path} of {job}")) * factor
    }
}

use Becomes::{Less, More};

const NONE: &[&str] = &[];

/// Drives that others are compared with, and that are like none with one mechanism less.
const COMMON: [&str; 1] = ["m4-4gb"];

#[rustfmt::skip]
const EFFECTS: [Effect; 26] = [
    Effect { drive: "m4-coalescing", job: "rewrites", options: NONE, figure: Figure::WriteIops, becomes: More },
    Effect { drive: "m4-write-through", job: "writes", options: NONE, figure: Figure::WriteIops, becomes: Less },
    Effect { drive: "m4-page-kinds", job: "reads-among-writes", options: NONE, figure: Figure::ReadP99Us, becomes: More },
    Effect { drive: "m4-suspending", job: "reads-among-writes", options: NONE, figure: Figure::ReadMeanUs, becomes: Less },
    Effect { drive: "m4-reads-unwritten", job: "reads", options: &["--as-is"], figure: Figure::ReadMeanUs, becomes: More },
    Effect { drive: "m4-4gb-slow-bus", job: "sequential-writes", options: NONE, figure: Figure::WriteMbPerS, becomes: Less },
    Effect { drive: "m4-4gb-cache-registers", job: "sequential-writes", options: NONE, figure: Figure::WriteMbPerS, becomes: More },
    Effect { drive: "m4-4gb-coarse-map", job: "steady", options: NONE, figure: Figure::WriteIops, becomes: Less },
    Effect { drive: "m4-4gb-fifo", job: "skewed", options: NONE, figure: Figure::WriteIops, becomes: Less },
    Effect { drive: "m4-4gb-cost-benefit", job: "skewed", options: NONE, figure: Figure::WriteIops, becomes: More },
    Effect { drive: "m4-4gb-streams", job: "skewed", options: NONE, figure: Figure::WriteIops, becomes: More },
    Effect { drive: "m4-4gb-d-choices", job: "steady", options: NONE, figure: Figure::WriteIops, becomes: Less },
    Effect { drive: "m4-4gb-random", job: "steady", options: NONE, figure: Figure::WriteIops, becomes: Less },
    Effect { drive: "m4-4gb-delayed", job: "steady", options: NONE, figure: Figure::WriteP999Ms, becomes: More },
    Effect { drive: "m4-4gb-block-stalls", job: "steady", options: NONE, figure: Figure::WriteP999Ms, becomes: More },
    Effect { drive: "m4-4gb-idle", job: "after-a-pause", options: NONE, figure: Figure::WriteP999Ms, becomes: Less },
    Effect { drive: "m4-4gb-wear", job: "until-worn", options: NONE, figure: Figure::WrittenGb, becomes: Less },
    Effect { drive: "m4-4gb-static-levelling", job: "until-worn", options: NONE, figure: Figure::WrittenGb, becomes: More },
    Effect { drive: "m4-4gb-partial-trim", job: "after-trim", options: NONE, figure: Figure::WriteIops, becomes: Less },
    Effect { drive: "m4-4gb-deferred-trim", job: "after-trim", options: NONE, figure: Figure::WriteIops, becomes: Less },
    Effect { drive: "m4-4gb-queued-trim", job: "trims", options: NONE, figure: Figure::TrimMeanUs, becomes: More },
    Effect { drive: "m4-4gb-slow-trim", job: "trims", options: NONE, figure: Figure::TrimMeanUs, becomes: More },
    Effect { drive: "summit-reusing", job: "hot-and-cold", options: NONE, figure: Figure::WriteIops, becomes: More },
    Effect { drive: "m4-4gb-hot", job: "sustained-writes", options: NONE, figure: Figure::WriteMbPerS, becomes: Less },
    Effect { drive: "m4-4gb-hot-with-a-sink", job: "sustained-writes", options: NONE, figure: Figure::WriteMbPerS, becomes: More },
    Effect { drive: "840-evo-folding", job: "past-the-buffer", options: NONE, figure: Figure::WriteMbPerS, becomes: Less },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The name of the drive that one of `drives/what-if` is like.
fn like(drive: &str) -> String {
    let path = root().join(format!("drives/what-if/{drive}.toml"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut names = text.lines().filter_map(|line| line.strip_prefix("like = \""));
    names.next().expect("a line with like").trim_end_matches('"').to_string()
}

impl Effect {
    /// The last job's report on a drive. A drive that is worn out ends its job early, with code 1.
    fn report(&self, drive: &str) -> Value {
        let job = format!("drives/what-if/jobs/{}.fio", self.job);
        let ran = Command::new(env!("CARGO_BIN_EXE_fourcorners"))
            .current_dir(root())
            .env("FOURCORNERS_CONFIG", "/dev/null")
            .args(["run", &job, drive, "--output-format", "json"])
            .args(self.options)
            .output()
            .expect("it starts");
        let document: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| {
            panic!("{drive}: {error}: {}", String::from_utf8_lossy(&ran.stderr))
        });
        let jobs = document["jobs"].as_array().expect("jobs");
        let worn = matches!(self.figure, Figure::WrittenGb);
        assert!(ran.status.success() || worn, "{drive}: {}", String::from_utf8_lossy(&ran.stderr));
        jobs.last().expect("a job").clone()
    }

    /// Its line in the document.
    fn line(&self, [without, with]: [f64; 2]) -> String {
        let Effect { drive, job, figure, .. } = self;
        let options: String = self.options.iter().map(|option| format!(" {option}")).collect();
        let like = like(drive);
        format!(
            "| `{drive}` | `{job}.fio{options}` | {} | {} (`{like}`) | {} |",
            figure.name(),
            three_digits(without),
            three_digits(with)
        )
    }
}

fn three_digits(value: f64) -> String {
    let places = (2 - value.abs().log10().floor() as i32).max(0) as usize;
    let unit = 10f64.powi(2 - value.abs().log10().floor() as i32);
    format!("{:.places$}", (value * unit).round() / unit)
}

#[test]
fn what_a_mechanism_does_is_what_the_document_shows() {
    let document = fs::read_to_string(root().join("docs/MECHANISMS.md")).expect("a document");
    let mut reports: BTreeMap<(String, &str), Value> = BTreeMap::new();
    let mut wrong = Vec::new();
    for effect in &EFFECTS {
        let mut figure = |drive: String| {
            let report = reports.entry((drive.clone(), effect.job));
            effect.figure.of(report.or_insert_with(|| effect.report(&drive)))
        };
        let [without, with] = [like(effect.drive), effect.drive.to_string()].map(&mut figure);
        let line = effect.line([without, with]);
        let there = match effect.becomes {
            More => with > without * 1.05,
            Less => with < without * 0.95,
        };
        if !there {
            wrong.push(format!("no effect: {line}"));
        }
        if !document.lines().any(|shown| shown == line) {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "docs/MECHANISMS.md does not have\n{}", wrong.join("\n"));
}

#[test]
fn every_drive_and_every_job_there_is_shows_something() {
    let names = |folder: &str, ending: &str| -> Vec<String> {
        let files = fs::read_dir(root().join(folder)).expect("a folder");
        let names =
            files.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"));
        let mut names: Vec<String> =
            names.filter_map(|name| name.strip_suffix(ending).map(String::from)).collect();
        names.sort();
        names
    };
    let of = |name: fn(&Effect) -> &str| -> Vec<String> {
        let mut names: Vec<String> = EFFECTS.iter().map(|effect| name(effect).into()).collect();
        names.sort();
        names.dedup();
        names
    };
    let mut drives = names("drives/what-if", ".toml");
    drives.retain(|drive| !COMMON.contains(&drive.as_str()));
    assert_eq!(drives, of(|effect| effect.drive));
    assert_eq!(names("drives/what-if/jobs", ".fio"), of(|effect| effect.job));
}
