//! Queries of a database: lists by filter, records by id.

use fourcorners_record::{ClockName, Ended, Record, TargetInfo};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params_from_iter};
use serde::{Deserialize, Serialize};

use super::packed::unpack;
use super::{Store, StoreError};

/// Fewest digits of an abbreviated id, as git has them.
const FEWEST_DIGITS: usize = 7;
/// How many of the records are named that an id may be.
const MOST_NAMED: usize = 4;

/// Which records. What is `None` is not asked for; the default is all of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Part of the drive's name, title, model or serial number, upper and lower case alike.
    pub drive: Option<String>,
    /// The drive's whole name, as in the catalogue or as the path was given.
    pub name: Option<String>,
    /// The method's name.
    pub method: Option<String>,
    /// The firmware revision, upper and lower case alike.
    pub firmware: Option<String>,
    /// Begun at this time or later, seconds since 1970 in UTC.
    pub since: Option<i64>,
    /// Begun before this time.
    pub until: Option<i64>,
    /// In this time.
    pub clock: Option<ClockName>,
    /// At most so many, the latest.
    pub limit: Option<u64>,
}

impl Filter {
    /// The conditions in SQL, and their values.
    fn conditions(&self) -> (String, Vec<Value>) {
        let mut conditions: Vec<&str> = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        let mut ask = |condition, value: Value| {
            conditions.push(condition);
            values.push(value);
        };
        if let Some(part) = &self.drive {
            ask("instr(words, ?) > 0", part.to_lowercase().into());
        }
        if let Some(name) = &self.name {
            ask("drive = ?", name.clone().into());
        }
        if let Some(method) = &self.method {
            ask("method = ?", method.clone().into());
        }
        if let Some(firmware) = &self.firmware {
            ask("firmware = ? COLLATE NOCASE", firmware.clone().into());
        }
        if let Some(since) = self.since {
            ask("started_s >= ?", since.into());
        }
        if let Some(until) = self.until {
            ask("started_s < ?", until.into());
        }
        if let Some(clock) = &self.clock {
            ask("clock = ?", name_of(clock).into());
        }
        match conditions.is_empty() {
            true => (String::new(), values),
            false => (format!("WHERE {}", conditions.join(" AND ")), values),
        }
    }

    fn limit(&self) -> i64 {
        self.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
    }
}

/// What is listed of a record.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// The drive's name in the catalogue, or the path as it was given.
    pub drive: String,
    /// The name a reader knows it by.
    pub title: String,
    /// `virtual`, `device` or `file`.
    pub kind: String,
    /// Addressable bytes.
    pub capacity_bytes: u64,
    /// Model as the device tells it.
    pub model: Option<String>,
    /// Serial number as the device tells it.
    pub serial: Option<String>,
    /// Firmware revision as the device tells it.
    pub firmware: Option<String>,
    /// A virtual drive's profile.
    pub profile_hash: Option<String>,
    /// How a virtual drive differs from its profile (`--set`, `--host`, `--state`); else empty.
    pub set_up: String,
    /// `virtual` or `wall`.
    pub clock: String,
    /// The method's name.
    pub method: String,
    /// Whether it was measured with `--quick`.
    pub quick: bool,
    /// `complete`, `interrupted` or `failed`.
    pub ended: String,
    /// How many figures it has.
    pub figures: u64,
    /// Seed of the review.
    pub seed: u64,
    /// Version of fourcorners.
    pub version: String,
    /// Time of day at the start, RFC 3339.
    pub started_at: String,
}

const COLUMNS: &str = "id, drive, title, kind, capacity_bytes, model, serial, firmware, \
    profile_hash, set_up, clock, method, quick, ended, figures, seed, version, started_at";

impl Summary {
    fn of(row: &Row<'_>) -> rusqlite::Result<Summary> {
        let seed: String = row.get(15)?;
        Ok(Summary {
            id: row.get(0)?,
            drive: row.get(1)?,
            title: row.get(2)?,
            kind: row.get(3)?,
            capacity_bytes: row.get(4)?,
            model: row.get(5)?,
            serial: row.get(6)?,
            firmware: row.get(7)?,
            profile_hash: row.get(8)?,
            set_up: row.get(9)?,
            clock: row.get(10)?,
            method: row.get(11)?,
            quick: row.get(12)?,
            ended: row.get(13)?,
            figures: row.get(14)?,
            seed: seed.parse().unwrap_or_default(),
            version: row.get(16)?,
            started_at: row.get(17)?,
        })
    }
}

/// A figure of a record, without what makes a record large.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FigureRow {
    /// The record's id.
    pub id: String,
    /// The drive's name.
    pub drive: String,
    /// The method's name.
    pub method: String,
    /// `virtual` or `wall`.
    pub clock: String,
    /// The figure's name.
    pub figure: String,
    /// Average data rate, 10^6 bytes per second.
    pub mb_per_s: f64,
    /// I/Os per second; of a replay for each second that the drive was busy.
    pub iops: f64,
    /// Mean latency, microseconds.
    pub mean_us: f64,
    /// Its 99th percentile.
    pub p99_us: f64,
    /// Its 99.9th percentile.
    pub p999_us: f64,
    /// The longest.
    pub max_us: f64,
    /// False when it was cut short.
    pub complete: bool,
}

impl Store {
    /// The records of a filter, the latest first.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Summary>, StoreError> {
        let (conditions, mut values) = filter.conditions();
        values.push(filter.limit().into());
        self.rows(
            &format!(
                "SELECT {COLUMNS} FROM records {conditions}
                 ORDER BY started_s DESC, number DESC LIMIT ?"
            ),
            values,
            Summary::of,
        )
    }

    /// How many records a filter has; its limit does not count.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub fn count(&self, filter: &Filter) -> Result<u64, StoreError> {
        let (conditions, values) = filter.conditions();
        let query = format!("SELECT count(*) FROM records {conditions}");
        let count = self.connection.query_row(&query, params_from_iter(values), |row| row.get(0));
        count.map_err(|error| self.error(&error))
    }

    /// The figures of the records of a filter, the latest record first, in their order.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub fn figures(&self, filter: &Filter) -> Result<Vec<FigureRow>, StoreError> {
        let (conditions, mut values) = filter.conditions();
        values.push(filter.limit().into());
        let query = format!(
            "SELECT r.id, r.drive, r.method, r.clock, f.name, f.mb_per_s, f.iops, f.mean_us,
                f.p99_us, f.p999_us, f.max_us, f.complete
             FROM (SELECT number, id, drive, method, clock, started_s FROM records {conditions}
                   ORDER BY started_s DESC, number DESC LIMIT ?) AS r
             JOIN figures AS f ON f.number = r.number
             ORDER BY r.started_s DESC, r.number DESC, f.place"
        );
        self.rows(&query, values, |row| {
            Ok(FigureRow {
                id: row.get(0)?,
                drive: row.get(1)?,
                method: row.get(2)?,
                clock: row.get(3)?,
                figure: row.get(4)?,
                mb_per_s: row.get(5)?,
                iops: row.get(6)?,
                mean_us: row.get(7)?,
                p99_us: row.get(8)?,
                p999_us: row.get(9)?,
                max_us: row.get(10)?,
                complete: row.get(11)?,
            })
        })
    }

    /// The record of an id, or of the beginning of one that no other id has.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`], [`StoreError::Ambiguous`], [`StoreError::Damaged`], or what the
    /// database says.
    pub fn get(&self, id: &str) -> Result<Record, StoreError> {
        let id = self.resolve(id)?;
        let packed = self.packed(&id)?;
        let record = unpack(&packed).map_err(|why| self.damaged(&id, why))?;
        match record.id == id {
            true => Ok(record),
            false => Err(self.damaged(&id, format!("it is that of {}", record.id))),
        }
    }

    /// The whole id of the one record whose id begins like this.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`], [`StoreError::Ambiguous`], or what the database says.
    pub fn resolve(&self, id: &str) -> Result<String, StoreError> {
        let unknown = || StoreError::Unknown { path: self.path.clone(), id: id.into() };
        let start = id.trim().to_ascii_lowercase();
        if start.is_empty() || !start.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        // Every digit comes before the letter g.
        let query = format!(
            "SELECT id FROM records WHERE id >= ? AND id < ? ORDER BY id LIMIT {MOST_NAMED}"
        );
        let values = vec![start.clone().into(), format!("{start}g").into()];
        let found: Vec<String> = self.rows(&query, values, |row| row.get(0))?;
        match &found[..] {
            [] => Err(unknown()),
            [only] => Ok(only.clone()),
            [first, ..] if *first == start => Ok(start),
            _ => Err(StoreError::Ambiguous { id: id.into(), found }),
        }
    }

    /// The shortest beginning of an id that no other in the database has, seven digits at least.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub fn abbreviated(&self, id: &str) -> Result<String, StoreError> {
        let beside = |query: &str| -> Result<Option<String>, StoreError> {
            let mut query =
                self.connection.prepare_cached(query).map_err(|error| self.error(&error))?;
            query.query_row([id], |row| row.get(0)).map_err(|error| self.error(&error))
        };
        let others = [
            beside("SELECT max(id) FROM records WHERE id < ?1")?,
            beside("SELECT min(id) FROM records WHERE id > ?1")?,
        ];
        let alike = |other: &String| -> usize {
            id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
        };
        let most_alike = others.iter().flatten().map(alike).max().unwrap_or(0);
        Ok(id.chars().take((most_alike + 1).max(FEWEST_DIGITS)).collect())
    }

    /// The packed content of a record.
    pub(super) fn packed(&self, id: &str) -> Result<Vec<u8>, StoreError> {
        let packed: Option<Vec<u8>> = self
            .connection
            .prepare_cached("SELECT packed FROM records JOIN contents USING (number) WHERE id = ?1")
            .and_then(|mut query| query.query_row([id], |row| row.get(0)).optional())
            .map_err(|error| self.error(&error))?;
        packed.ok_or_else(|| StoreError::Unknown { path: self.path.clone(), id: id.into() })
    }

    /// All rows of a query.
    pub(super) fn rows<T>(
        &self,
        query: &str,
        values: Vec<Value>,
        of: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.connection.prepare_cached(query).and_then(|mut query| {
            query.query_map(params_from_iter(values), of)?.collect::<rusqlite::Result<Vec<T>>>()
        });
        rows.map_err(|error| self.error(&error))
    }
}

/// A clock or a kind as a record spells it.
pub(super) fn name_of(name: &impl Serialize) -> String {
    match serde_json::to_value(name) {
        Ok(serde_json::Value::String(name)) => name,
        // Only enums without content come here.
        other => unreachable!("{other:?} is no name"),
    }
}

/// How a record ended, without the reason.
pub(super) fn ended(ended: &Ended) -> &'static str {
    match ended {
        Ended::Complete => "complete",
        Ended::Interrupted => "interrupted",
        Ended::Failed(_) => "failed",
    }
}

/// How a virtual drive differs from its profile.
pub(super) fn set_up(target: &TargetInfo) -> String {
    let host = target.host_controller.iter().map(|host| format!("--host {host}"));
    let state = target.loaded_state.iter().map(|state| format!("--state {state}"));
    let set = target.set.iter().cloned();
    set.chain(host).chain(state).collect::<Vec<_>>().join(" ")
}

/// What a part of a drive's name is looked for in.
pub(super) fn words(target: &TargetInfo) -> String {
    let told = [&target.model, &target.serial].into_iter().flatten();
    let words: Vec<&str> =
        [&target.name, &target.title].into_iter().chain(told).map(String::as_str).collect();
    // The separator is in no text that a person types, so that nothing is found across two.
    words.join("\u{1f}").to_lowercase()
}
