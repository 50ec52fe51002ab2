//! Changes to a database. Each call is one transaction.

use std::borrow::Cow;

use fourcorners_record::Record;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::packed::pack;
use super::query::{ended, name_of, set_up, words};
use super::{Store, StoreError};

/// What adding a record came to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Added {
    /// It is in the database now.
    New,
    /// It was there already.
    Known,
}

/// A record that may be kept, packed before anybody has to wait for us.
pub(super) struct Ready<'a> {
    record: &'a Record,
    started_s: i64,
    packed: Vec<u8>,
}

impl<'a> Ready<'a> {
    /// Checks that what will be read back is this record.
    pub(super) fn of(record: &'a Record) -> Result<Ready<'a>, StoreError> {
        let refused = |why: String| StoreError::Refused {
            from: None,
            id: record.id.clone(),
            drive: record.target.name.clone(),
            method: record.method.clone(),
            why,
        };
        if !record.is_as_sealed() {
            let mut sealed = record.clone();
            sealed.seal();
            return Err(refused(format!(
                "its content has the id {}: it was changed after it was measured, or is of a \
                 version that knows more",
                sealed.id
            )));
        }
        let packed = pack(record).map_err(|error| refused(error.to_string()))?;
        let started_s = started(record).map_err(refused)?.as_second();
        Ok(Ready { record, started_s, packed })
    }
}

/// When a record was begun, if its times are such. Its id does not tell: it is the same whenever the result was measured.
///
/// # Errors
///
/// What is wrong with them.
pub(super) fn started(record: &Record) -> Result<Timestamp, String> {
    let time = |key: &str, text: &str| {
        text.parse::<Timestamp>().map_err(|_| {
            format!("its {key} {text:?} is no time: it has to be like 2026-03-01T10:00:00Z")
        })
    };
    time("finished_at", &record.finished_at)?;
    time("started_at", &record.started_at)
}

impl Store {
    /// Keeps a record. What returns is on the disk.
    ///
    /// # Errors
    ///
    /// [`StoreError::Refused`] of a record whose id is not that of its content, or that JSON cannot
    /// tell; else what the database says, and nothing was kept.
    pub fn add(&self, record: &Record) -> Result<Added, StoreError> {
        Ok(self.add_all(std::slice::from_ref(record))?[0])
    }

    /// Keeps records, all or none of them.
    ///
    /// # Errors
    ///
    /// As [`add`](Store::add).
    pub fn add_all(&self, records: &[Record]) -> Result<Vec<Added>, StoreError> {
        let ready: Vec<Ready<'_>> = records.iter().map(Ready::of).collect::<Result<_, _>>()?;
        self.keep(&ready)
    }

    /// Keeps what may be kept, all or nothing.
    pub(super) fn keep(&self, ready: &[Ready<'_>]) -> Result<Vec<Added>, StoreError> {
        self.change(|connection| {
            ready.iter().map(|ready| insert(connection, ready)).collect::<Result<_, _>>()
        })
    }

    /// Removes the records of these ids, or of their beginnings: all or none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`], [`StoreError::Ambiguous`], or what the database says.
    pub fn remove<S: AsRef<str>>(&self, ids: &[S]) -> Result<usize, StoreError> {
        let ids: Vec<String> =
            ids.iter().map(|id| self.resolve(id.as_ref())).collect::<Result<_, _>>()?;
        self.change(|connection| {
            let mut removed = 0;
            for id in &ids {
                // What is beside it goes with it.
                removed += connection.execute("DELETE FROM records WHERE id = ?1", [id])?;
            }
            Ok(removed)
        })
    }

    /// Does it all or not at all.
    fn change<T>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        // Immediate: a transaction that begins by reading cannot wait for another writer later.
        let done = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .and_then(|transaction| {
                let done = change(&transaction)?;
                transaction.commit()?;
                Ok(done)
            });
        done.map_err(|error| self.error(&error))
    }
}

fn insert(connection: &Connection, ready: &Ready<'_>) -> rusqlite::Result<Added> {
    let record = ready.record;
    let known: Option<i64> = connection
        .prepare_cached("SELECT number FROM records WHERE id = ?1")?
        .query_row([&record.id], |row| row.get(0))
        .optional()?;
    if known.is_some() {
        return Ok(Added::Known);
    }
    let target = &record.target;
    let rows = rows(record);
    connection
        .prepare_cached(
            "INSERT INTO records (id, drive, title, kind, capacity_bytes, model, serial, firmware,
                profile_hash, set_up, words, clock, method, quick, ended, figures, seed, version,
                started_at, started_s)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                ?18, ?19, ?20)",
        )?
        .execute(params![
            record.id,
            target.name,
            target.title,
            name_of(&target.kind),
            i64::try_from(target.capacity_bytes).unwrap_or(i64::MAX),
            target.model,
            target.serial,
            target.firmware,
            target.profile_hash,
            set_up(target),
            words(target),
            name_of(&record.clock),
            record.method,
            record.quick,
            ended(&record.ended),
            rows.len() as i64,
            record.seed.to_string(),
            record.version,
            record.started_at,
            ready.started_s,
        ])?;
    let number = connection.last_insert_rowid();
    connection
        .prepare_cached("INSERT INTO contents (number, packed) VALUES (?1, ?2)")?
        .execute(params![number, ready.packed])?;
    let mut row = connection.prepare_cached(
        "INSERT INTO figures (number, place, name, mb_per_s, iops, mean_us, p99_us, p999_us,
            max_us, complete) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for (place, (name, [mb_per_s, iops, mean, p99, p999, max], complete)) in
        rows.into_iter().enumerate()
    {
        row.execute(params![
            number,
            place as i64,
            name,
            mb_per_s,
            iops,
            mean,
            p99,
            p999,
            max,
            complete
        ])?;
    }
    Ok(Added::New)
}

/// What of a record is in `figures`: name, MB/s, I/Os a second, latency, whether it is complete.
fn rows(record: &Record) -> Vec<(Cow<'_, str>, [f64; 6], bool)> {
    let measured = record.figures.iter().map(|(name, figure)| {
        let latency = &figure.latency_us;
        let numbers =
            [figure.mb_per_s, figure.iops, latency.mean, latency.p99, latency.p999, latency.max];
        (Cow::from(name), numbers, figure.complete)
    });
    let replayed = record.replayed().map(|(name, _, figure)| {
        let latency = &figure.all.latency_us;
        // Of a replay that kept the drive busy for no time none are listed.
        let iops = figure.iops().unwrap_or(0.0);
        let numbers = [figure.mb_per_s, iops, latency.mean, latency.p99, latency.p999, latency.max];
        (name, numbers, figure.complete)
    });
    measured.chain(replayed).collect()
}
