//! A published figure: what somebody measured or promised, on which drive, in which test.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use super::names::Names;
use super::reading::Reading;
use super::words;

/// The figures that come with the tool.
const BUILT_IN: &str = include_str!("../../figures/published.json");

/// What we think makes some of them so far off, by id.
const REASONS: &str = include_str!("../../figures/reasons.json");

/// A published figure. Fields that are not known here are left alone: a file may carry more.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Figure {
    /// What it is referred to by.
    pub id: String,
    /// The drive as the publication names it.
    pub drive: String,
    /// Its capacity in 10^9 bytes, if the publication names one.
    pub capacity_gb: Option<f64>,
    /// How it was measured.
    pub test: PublishedTest,
    /// `MB/s`, `IOPS`, `avg_latency_ms`, `ratio`, `ordering`, ...
    pub metric: String,
    /// A number, two for a range, names for an ordering; nothing for what has no number.
    #[serde(default)]
    pub value: Value,
    /// The citation.
    #[serde(default)]
    pub source: String,
    /// `stated`, `datasheet` or `inferred`.
    #[serde(default)]
    pub confidence: String,
    /// `measured`, `spec`, `ordering`, `qualitative`, ...
    #[serde(default)]
    pub kind: String,
    /// `>`, `<`, `~`, `up to`, ...
    pub bound: Option<String>,
    /// What a ratio is relative to.
    pub relative_to: Option<String>,
    /// What an ordering is by.
    pub order: Option<String>,
    /// The link or the host controller, if not the drive's own.
    pub interface: Option<String>,
    /// Which statistic of the metric, if not its mean over the run.
    pub stat: Option<String>,
    /// What its words come to; a figure without is read from them.
    #[serde(default)]
    pub reading: Option<Reading>,
}

/// How a figure was measured, as far as it was published.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct PublishedTest {
    /// `random write`, `sequential read`, ...
    #[serde(default)]
    pub pattern: String,
    /// Bytes of an I/O.
    pub block_size: Option<u64>,
    /// A number, or a word for one: `1-16`, `>1`, `high`.
    #[serde(default)]
    pub queue_depth: Value,
    /// 10^9 bytes, or `full`.
    #[serde(default)]
    pub span_gb: Value,
    /// `repeating` or `incompressible`.
    pub data: Option<String>,
    /// `fresh`, `used`, `steady`, `trimmed`.
    pub state: Option<String>,
    /// Seconds.
    pub duration_s: Option<f64>,
    /// What measured it.
    pub tool: Option<String>,
    /// What was done to the drive before.
    pub precondition: Option<String>,
    /// Space left unmapped, of all: `25%`.
    pub extra_op: Option<String>,
    /// How many such jobs were run at a time; one unless given.
    pub jobs: Option<u32>,
    /// Whether the drive's volatile write cache was off: every write is answered as with FUA.
    #[serde(default)]
    pub sync: bool,
}

impl Figure {
    /// What its words come to.
    ///
    /// # Errors
    /// Words that are not clear.
    pub(super) fn read(&self, names: &Names) -> Result<Reading, String> {
        self.reading.clone().map_or_else(|| words::read(self, names), Ok)
    }

    /// Whether both were published alike, whatever is read from them.
    pub(super) fn is_published_as(&self, other: &Figure) -> bool {
        let unread = |figure: &Figure| Figure { reading: None, ..figure.clone() };
        self.id == other.id && unread(self) == unread(other)
    }

    /// What to call the drive in a table.
    pub fn drive_name(&self) -> String {
        match self.capacity_gb {
            Some(gb) => format!("{} {gb}", self.drive),
            None => self.drive.clone(),
        }
    }

    /// The published value as text.
    pub fn published(&self) -> String {
        let bound = self.bound.as_ref().map(|bound| format!("{bound} ")).unwrap_or_default();
        format!("{bound}{}", Plain(&self.value))
    }
}

impl PublishedTest {
    /// The test in a few words: what was published, and nothing that was filled in.
    pub fn words(&self) -> String {
        let mut words = vec![self.pattern.clone()];
        let kib = |bytes: u64| match bytes % 1024 {
            0 => format!("{} KiB", bytes / 1024),
            _ => format!("{bytes} B"),
        };
        words.extend(self.block_size.map(kib));
        let depth = Some(&self.queue_depth).filter(|depth| !depth.is_null());
        words.extend(depth.map(|depth| format!("QD {}", Plain(depth))));
        words.extend(self.jobs.filter(|&jobs| jobs > 1).map(|jobs| format!("{jobs} jobs")));
        words.extend(self.sync.then(|| "write cache off".to_string()));
        words.extend(match &self.span_gb {
            Value::Null => None,
            Value::Number(gb) => Some(format!("{gb} GB")),
            other => Some(Plain(other).to_string()),
        });
        words.extend(self.data.clone());
        words.extend(self.state.clone());
        words.extend(self.extra_op.as_ref().map(|spare| format!("{spare} spare")));
        words.extend(self.duration_s.map(|seconds| format!("{seconds} s")));
        words.extend(self.tool.clone());
        words.join(", ")
    }
}

/// A JSON value as a reader would write it.
struct Plain<'a>(&'a Value);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => write!(f, "-"),
            Value::String(text) => write!(f, "{text}"),
            Value::Array(list) => {
                let numbers = list.iter().all(Value::is_number);
                for (place, item) in list.iter().enumerate() {
                    let between = if numbers { " to " } else { " > " };
                    write!(f, "{}{}", if place > 0 { between } else { "" }, Plain(item))?;
                }
                Ok(())
            }
            other => write!(f, "{other}"),
        }
    }
}

/// The figures that come with the tool.
///
/// # Panics
/// Never: the tests read them, and they are compiled in.
pub fn built_in() -> Vec<Figure> {
    parse(BUILT_IN).expect("the built-in figures are figures")
}

/// The likely reasons, by id, why the catalogue misses some of the built-in figures.
///
/// # Panics
/// Never: the tests read them, and they are compiled in.
pub(super) fn reasons() -> BTreeMap<String, String> {
    serde_json::from_str(REASONS).expect("the built-in reasons are a table of texts")
}

/// The figures in the text of a file: a JSON list.
///
/// # Errors
/// Which figure is none, and why.
pub fn parse(text: &str) -> Result<Vec<Figure>, String> {
    let list: Vec<Value> = serde_json::from_str(text)
        .map_err(|error| format!("this is not a JSON list of figures: {error}"))?;
    let mut figures: Vec<Figure> = Vec::with_capacity(list.len());
    for (place, value) in list.into_iter().enumerate() {
        let name = match value.get("id").and_then(Value::as_str) {
            Some(id) => format!("figure {} (\"{id}\")", place + 1),
            None => format!("figure {}", place + 1),
        };
        let figure: Figure =
            serde_path_to_error::deserialize(value).map_err(|error| {
                match error.path().to_string().as_str() {
                    "." => format!("{name}: {}", error.inner()),
                    path => format!("{name}: {path}: {}", error.inner()),
                }
            })?;
        if let Some(why) = figure.reading.as_ref().and_then(|reading| reading.check().err()) {
            return Err(format!("{name}: reading.{why}"));
        }
        if figures.iter().any(|other| other.id == figure.id) {
            return Err(format!("{name} is the second of that id: ids tell figures apart"));
        }
        figures.push(figure);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_figures_are_read_and_cite_a_source() {
        let figures = built_in();
        assert!(figures.len() > 250, "{}", figures.len());
        assert!(figures.iter().all(|figure| !figure.source.is_empty()));
        let ids: Vec<&String> = figures.iter().map(|figure| &figure.id).collect();
        for (id, reason) in reasons() {
            assert!(ids.contains(&&id), "{id}");
            let other = reason.strip_prefix("as ").map(|rest| rest[..4].to_string());
            assert!(other.is_none_or(|other| reasons().contains_key(&other)), "{id}: {reason}");
        }
    }

    #[test]
    fn a_file_that_is_none_is_refused_by_figure_and_key() {
        for (text, told) in [
            ("{}", "not a JSON list"),
            ("[3]", "figure 1: "),
            (r#"[{"id":"a"}]"#, "figure 1 (\"a\"): missing field `drive`"),
            (
                r#"[{"id":"a","drive":"b","metric":"IOPS","test":{"duration_s":"long"}}]"#,
                "figure 1 (\"a\"): test.duration_s: ",
            ),
            (
                r#"[{"id":"a","drive":"b","metric":"c","test":{},"reading":{"depth":0}}]"#,
                "figure 1 (\"a\"): reading.depth = 0 must be 1 to 65536",
            ),
            (
                r#"[{"id":"a","drive":"b","metric":"c","test":{},"reading":{"deep":1}}]"#,
                "figure 1 (\"a\"): reading.deep: unknown field",
            ),
            (
                r#"[{"id":"a","drive":"b","metric":"c","test":{}},{"id":"a","drive":"b","metric":"c","test":{}}]"#,
                "figure 2 (\"a\") is the second of that id",
            ),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn a_figure_of_an_older_file_is_the_same_one() {
        let ours = built_in().remove(0);
        let older = Figure { reading: None, ..ours.clone() };
        assert!(ours.reading.is_some() && older.is_published_as(&ours));
        let names = Names::new();
        assert_eq!(older.read(&names), ours.read(&names));
        let another = Figure { value: serde_json::json!(201), ..older };
        assert!(!another.is_published_as(&ours));
    }

    #[test]
    fn a_published_value_reads_as_one() {
        let mut figure = built_in().remove(0);
        assert_eq!(figure.published(), "> 200");
        figure.bound = None;
        figure.value = serde_json::json!([30, 40]);
        assert_eq!(figure.published(), "30 to 40");
        figure.value = serde_json::json!(["a", "b"]);
        assert_eq!(figure.published(), "a > b");
    }
}
