//! A published distribution: what somebody measured on which drive, in which test.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The largest block of an I/O, bytes: iocost's 128 MiB.
const MOST_BLOCK_BYTES: u64 = 128 << 20;

/// Why a file holds no published distributions.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ShapesError {
    /// It is no JSON, or has no list of entries.
    #[error("this is no file of distributions, an object with a list \"entries\": {cause}")]
    Form {
        /// What the parser says.
        cause: String,
    },
    /// A field of an entry is missing, or of another type.
    #[error("entry {place}: {field}: {cause}")]
    Field {
        /// Its number, from 1, and its id if it has one.
        place: String,
        /// The dotted path of the field.
        field: String,
        /// What the parser says.
        cause: String,
    },
    /// A value that no test can have.
    #[error("entry {place}: {field} = {value}: {must}")]
    Value {
        /// Its number, from 1, and its id.
        place: String,
        /// The dotted path of the field.
        field: String,
        /// What it is.
        value: String,
        /// What it must be.
        must: &'static str,
    },
    /// Two entries of one id.
    #[error("entry {place} is the second of that id: ids tell entries apart")]
    Second {
        /// Its number, from 1, and its id.
        place: String,
    },
}

/// A published distribution. Fields that are not known here are left alone.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Entry {
    /// What it is referred to by.
    pub id: String,
    /// The kind of test: `randread-qd`.
    pub kind: String,
    /// The drive as the source names it.
    pub drive: String,
    /// Its capacity in 10^9 bytes, if that is known.
    pub capacity_gb: Option<f64>,
    /// How it was measured.
    pub test: EntryTest,
    /// What was measured: numbers, objects and lists of them.
    pub result: Map<String, Value>,
    /// The file of the source.
    #[serde(default)]
    pub source: String,
    /// What else is known of it.
    pub note: Option<String>,
}

/// How a distribution was measured, as far as that is known.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct EntryTest {
    /// `randread`, `randwrite uniform`, or words.
    #[serde(default)]
    pub pattern: String,
    /// Bytes of an I/O.
    pub block_size: Option<u64>,
    /// I/Os that each job keeps in flight: a number, or words where it is not known.
    pub queue_depth: Option<Amount>,
    /// The most I/Os that each paced thread has in flight.
    pub queue_depth_max: Option<u64>,
    /// Jobs.
    pub jobs: Option<u64>,
    /// Threads of a tool whose depth is not told.
    pub threads: Option<u64>,
    /// Drives of one model behind one loop: a number, or words.
    pub drives: Option<Amount>,
    /// `whole drive`, or words with an amount.
    #[serde(default)]
    pub span: String,
    /// The state of the drive, in words.
    #[serde(default)]
    pub state: String,
    /// Seconds that were measured.
    pub duration_s: Option<f64>,
    /// What submitted the I/Os: `io_uring`, `spdk`, `libaio`.
    #[serde(default)]
    pub engine: String,
    /// Writes a second that all threads together offer.
    pub offered_write_iops: Option<f64>,
    /// Per cent of the I/Os that are reads.
    pub rwmix_read: Option<f64>,
    /// Of records that a database reads and writes (ACT): bytes of one, and how many are read and written a second.
    pub record_bytes: Option<u64>,
    /// Records read a second.
    pub reads_per_s: Option<f64>,
    /// Records written a second.
    pub writes_per_s: Option<f64>,
    /// KiB of the blocks that they are written in.
    pub large_block_kib: Option<u64>,
    /// What ran beside the test.
    pub background: Option<Background>,
}

/// Programs beside a test, over the same drives.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Background {
    /// How many.
    pub programs: u64,
    /// `randread` or `randwrite`.
    pub rw: String,
    /// `4k`, `64k`.
    pub block_size: String,
    /// I/Os that each keeps in flight.
    pub queue_depth_each: u64,
    /// What they reached together.
    pub total_iops: f64,
}

/// A number, or words where it is not known or not plain.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub enum Amount {
    /// A number.
    Number(u64),
    /// Anything else.
    Other(Value),
}

impl Amount {
    /// The number, if it is one.
    pub fn number(&self) -> Option<u64> {
        match self {
            Amount::Number(number) => Some(*number),
            Amount::Other(_) => None,
        }
    }
}

impl Entry {
    /// The source's short name: what stands before the first colon.
    pub fn source_key(&self) -> &str {
        self.source.split(':').next().unwrap_or_default()
    }

    /// A number of the result by its dotted path.
    pub fn number(&self, path: &str) -> Option<f64> {
        let mut parts = path.split('.');
        let mut value = self.result.get(parts.next()?)?;
        // A key may have a dot of its own: `iops_at_drive_writes.0.5`.
        let rest = parts.collect::<Vec<_>>().join(".");
        if !rest.is_empty() {
            value = match value {
                Value::Array(list) => list.get(rest.parse::<usize>().ok()?)?,
                value => value.get(&rest)?,
            };
        }
        value.as_f64().filter(|number| number.is_finite())
    }

    /// All numbers of the result with their dotted paths, in alphabetical order of their keys.
    pub fn numbers(&self) -> Vec<(String, f64)> {
        fn walk(path: String, value: &Value, into: &mut Vec<(String, f64)>) {
            match value {
                Value::Number(number) => {
                    into.extend(number.as_f64().map(|number| (path, number)));
                }
                Value::Object(object) => {
                    object
                        .iter()
                        .for_each(|(key, value)| walk(format!("{path}.{key}"), value, into));
                }
                Value::Array(list) => {
                    let numbered = list.iter().enumerate();
                    numbered.for_each(|(at, value)| walk(format!("{path}.{at}"), value, into));
                }
                _ => {}
            }
        }
        let mut numbers = Vec::new();
        self.result.iter().for_each(|(key, value)| walk(key.clone(), value, &mut numbers));
        numbers
    }

    /// Refuses what no test can have.
    fn check(&self, place: &str) -> Result<(), ShapesError> {
        let wrong = |field: &str, value: String, must| {
            let (place, field) = (place.to_string(), field.to_string());
            Err(ShapesError::Value { place, field, value, must })
        };
        let test = &self.test;
        let block_bytes = test.large_block_kib.map(|kib| kib.saturating_mul(1024));
        for (field, bytes) in [
            ("test.block_size", test.block_size),
            ("test.record_bytes", test.record_bytes),
            ("test.large_block_kib", block_bytes),
        ] {
            if let Some(bytes) = bytes.filter(|&bytes| {
                bytes == 0 || bytes > MOST_BLOCK_BYTES || !bytes.is_multiple_of(512)
            }) {
                let must = "it must be a multiple of 512 bytes from 512 to 134217728";
                let given = if field.ends_with("kib") { bytes / 1024 } else { bytes };
                return wrong(field, given.to_string(), must);
            }
        }
        let amounts = [
            ("test.queue_depth", test.queue_depth.as_ref().and_then(Amount::number), 65_535),
            ("test.queue_depth_max", test.queue_depth_max, 65_535),
            ("test.jobs", test.jobs, 1024),
            ("test.threads", test.threads, 1024),
            ("test.drives", test.drives.as_ref().and_then(Amount::number), 16),
            ("test.background.programs", test.background.as_ref().map(|b| b.programs), 1024),
            (
                "test.background.queue_depth_each",
                test.background.as_ref().map(|b| b.queue_depth_each),
                65_535,
            ),
        ];
        for (field, amount, most) in amounts {
            if let Some(amount) = amount.filter(|&amount| amount == 0 || amount > most) {
                let must = match most {
                    16 => "it must be 1 to 16",
                    1024 => "it must be 1 to 1024",
                    _ => "it must be 1 to 65535",
                };
                return wrong(field, amount.to_string(), must);
            }
        }
        let rates = [
            ("capacity_gb", self.capacity_gb, 1e6),
            ("test.duration_s", test.duration_s, 1e8),
            ("test.offered_write_iops", test.offered_write_iops, 1e8),
            ("test.reads_per_s", test.reads_per_s, 1e8),
            ("test.writes_per_s", test.writes_per_s, 1e8),
            ("test.background.total_iops", test.background.as_ref().map(|b| b.total_iops), 1e9),
        ];
        for (field, rate, most) in rates {
            if let Some(rate) = rate.filter(|&rate| !(rate > 0.0 && rate <= most)) {
                return wrong(field, rate.to_string(), "it must be above 0, and of this world");
            }
        }
        match test.rwmix_read.filter(|percent| !(0.0..=100.0).contains(percent)) {
            Some(percent) => wrong("test.rwmix_read", percent.to_string(), "it must be 0 to 100"),
            None => Ok(()),
        }
    }
}

/// The entries in the text of a file, whose form is that of `figures/shapes.json`.
///
/// # Errors
/// Which entry is none, by its number, its id and the field, and why.
pub fn parse(text: &str) -> Result<Vec<Entry>, ShapesError> {
    #[derive(Deserialize)]
    struct Document {
        entries: Vec<Value>,
    }
    let document: Document = serde_json::from_str(text)
        .map_err(|error| ShapesError::Form { cause: error.to_string() })?;
    let mut entries: Vec<Entry> = Vec::with_capacity(document.entries.len());
    let mut ids = std::collections::BTreeSet::new();
    for (at, value) in document.entries.into_iter().enumerate() {
        let place = match value.get("id").and_then(Value::as_str) {
            Some(id) => format!("{} (\"{id}\")", at + 1),
            None => (at + 1).to_string(),
        };
        let entry: Entry = serde_path_to_error::deserialize(value).map_err(|error| {
            let field = error.path().to_string();
            ShapesError::Field { place: place.clone(), field, cause: error.inner().to_string() }
        })?;
        entry.check(&place)?;
        if !ids.insert(entry.id.clone()) {
            return Err(ShapesError::Second { place });
        }
        entries.push(entry);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(test: &str) -> String {
        format!(
            r#"{{"entries":[{{"id":"a","kind":"k","drive":"d","test":{test},"result":{{"p99":1}}}}]}}"#
        )
    }

    #[test]
    fn a_file_that_is_none_is_refused_by_entry_and_field() {
        for (text, told) in [
            ("[]".to_string(), "a list \"entries\""),
            ("{}".to_string(), "missing field `entries`"),
            (r#"{"entries":[3]}"#.to_string(), "entry 1: "),
            (r#"{"entries":[{"id":"a"}]}"#.to_string(), "entry 1 (\"a\"): .: missing field `kind`"),
            (one(r#"{"jobs":"many"}"#), "entry 1 (\"a\"): test.jobs: invalid type"),
            (one(r#"{"jobs":0}"#), "entry 1 (\"a\"): test.jobs = 0: it must be 1 to 1024"),
            (
                one(r#"{"block_size":1000}"#),
                "test.block_size = 1000: it must be a multiple of 512 bytes",
            ),
            (one(r#"{"record_bytes":1000}"#), "test.record_bytes = 1000: it must be a multiple"),
            (one(r#"{"large_block_kib":0}"#), "test.large_block_kib = 0: it must be a multiple"),
            (one(r#"{"reads_per_s":0}"#), "test.reads_per_s = 0: it must be above 0"),
            (one(r#"{"drives":17}"#), "test.drives = 17: it must be 1 to 16"),
            (one(r#"{"duration_s":-1}"#), "test.duration_s = -1: "),
            (one(r#"{"rwmix_read":101}"#), "test.rwmix_read = 101: it must be 0 to 100"),
        ] {
            let error = parse(&text).expect_err(&text).to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
        let twice = r#"{"entries":[{"id":"a","kind":"k","drive":"d","test":{},"result":{}},
            {"id":"a","kind":"k","drive":"d","test":{},"result":{}}]}"#;
        assert!(parse(twice).expect_err("twice").to_string().starts_with("entry 2 (\"a\") is the"));
    }

    #[test]
    fn what_is_no_number_is_words_and_every_number_has_its_path() {
        let entries = parse(&one(r#"{"queue_depth":"not told","drives":"2, striped"}"#));
        let test = &entries.expect("it is one")[0].test;
        assert_eq!(test.queue_depth.as_ref().and_then(Amount::number), None);
        let text = r#"{"entries":[{"id":"a","kind":"k","drive":"d","test":{},"result":
            {"p99":1,"at":{"0.5":2,"x":true},"list":[3,4]}}]}"#;
        let entry = parse(text).expect("it is one").remove(0);
        let numbers = entry.numbers();
        let paths: Vec<&str> = numbers.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["at.0.5", "list.0", "list.1", "p99"]);
        for (path, number) in &numbers {
            assert_eq!(entry.number(path), Some(*number), "{path}");
        }
        assert_eq!(entry.number("at.x"), None);
    }
}
