//! Records from elsewhere: documents of reviews and replays, folders of them, other databases.

use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use fourcorners_record::{Document, Record, from_json};
use rusqlite::OptionalExtension;

use super::packed::unpack;
use super::write::{Ready, started};
use super::{Added, Store, StoreError};

/// What `review --out` and `trace replay --out` call their document.
const DOCUMENTS: [&str; 2] = ["review.json", "replay.json"];
/// The longest document that is read: a review of a hundred drives is a tenth of it.
const MOST_BYTES: u64 = 1 << 30;
/// The largest number of a record that is looked for: a damaged page may name any.
const MOST_RECORDS: i64 = 2_000_000;
/// Records of another database that are kept in one go.
const AT_A_TIME: usize = 256;

/// What came of an import.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Imported {
    /// Records that were not there before.
    pub new: u64,
    /// Records that were.
    pub known: u64,
    /// Records of a damaged database that cannot be read any more.
    pub lost: u64,
}

impl Imported {
    fn count(&mut self, added: &[Added]) {
        let new = added.iter().filter(|&&it| it == Added::New).count() as u64;
        self.new += new;
        self.known += added.len() as u64 - new;
    }
}

impl Store {
    /// Adds the records of a document (`review --json`), of the documents in a folder of results, or
    /// of another database, also of one that was set aside: what can be read of it. A document is
    /// taken whole or not at all.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreadable`], [`StoreError::NoDocument`], [`StoreError::Lost`], and as [`add`](Store::add).
    pub fn import(&self, from: &Path) -> Result<Imported, StoreError> {
        if is_database(from) {
            let other = match Store::open_read_only(from) {
                Err(damage) if damage.is_damage() => Store::open_damaged(from),
                opened => opened,
            };
            return self.merge(&other.map_err(StoreError::of_source)?);
        }
        let read = |file: PathBuf| read_document(&file).map(|document| (file, document.records));
        let all = documents(from)?.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let all = all.iter().flat_map(|(file, records)| records.iter().map(move |it| (file, it)));
        let ready = all.map(|(file, it)| Ready::of(it).map_err(|error| error.of_file(file)));
        let mut imported = Imported::default();
        imported.count(&self.keep(&ready.collect::<Result<Vec<_>, _>>()?)?);
        Ok(imported)
    }

    /// Adds what can be read of another database.
    fn merge(&self, other: &Store) -> Result<Imported, StoreError> {
        let mut imported = Imported::default();
        let mut records: Vec<Record> = Vec::with_capacity(AT_A_TIME);
        let numbers = other.numbers().map_err(StoreError::of_source)?;
        let last = *numbers.end();
        for number in numbers {
            match other.unpacked(number) {
                Ok(record) => records.extend(record),
                Err(Lost) => imported.lost += 1,
            }
            if records.len() == AT_A_TIME || number == last {
                imported.count(&self.add_all(&records)?);
                records.clear();
            }
        }
        Ok(imported)
    }

    /// The numbers that contents may have: from the first to the last that are to be found anywhere,
    /// from either end, since a search ends where there is damage.
    ///
    /// # Errors
    ///
    /// None is to be found, and a search ended so.
    fn numbers(&self) -> Result<RangeInclusive<i64>, StoreError> {
        let mut found: Vec<i64> = Vec::new();
        let mut failed = None;
        for table in ["contents", "records", "figures"] {
            for order in ["ASC", "DESC"] {
                let query = format!("SELECT number FROM {table} ORDER BY number {order} LIMIT 1");
                match self.connection.query_row(&query, [], |row| row.get::<_, i64>(0)).optional() {
                    Ok(number) => found.extend(number),
                    Err(error) => failed = Some(error),
                }
            }
        }
        match (found.iter().min(), found.iter().max(), failed) {
            // Numbers are counted up from 1, whatever a damaged page says.
            (Some(&first), Some(&last), _) => Ok(first.max(1)..=last.min(MOST_RECORDS)),
            (_, _, Some(error)) => Err(self.error(&error)),
            _ => Ok(RangeInclusive::new(1, 0)),
        }
    }

    /// The record of a number; `None` if there never was one, or it was removed.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not what was kept.
    fn unpacked(&self, number: i64) -> Result<Option<Record>, Lost> {
        let query = "SELECT packed FROM contents WHERE number = ?1";
        let packed: Option<Vec<u8>> = self
            .connection
            .prepare_cached(query)
            .and_then(|mut query| query.query_row([number], |row| row.get(0)).optional())
            .map_err(|_| Lost)?;
        let Some(packed) = packed else { return Ok(None) };
        unpack(&packed).ok().filter(Record::is_as_sealed).map(Some).ok_or(Lost)
    }
}

/// A record of a damaged database.
struct Lost;

/// Whether it is an SQLite file.
fn is_database(path: &Path) -> bool {
    let mut magic = [0; 15];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && &magic == b"SQLite format 3"
}

/// The documents that a path names.
pub fn documents(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let found: Vec<PathBuf> =
        DOCUMENTS.iter().map(|name| path.join(name)).filter(|path| path.is_file()).collect();
    match found.is_empty() {
        true => Err(StoreError::Unreadable {
            path: path.into(),
            error: std::io::Error::other(format!("it has no {}", DOCUMENTS.join(" or "))),
        }),
        false => Ok(found),
    }
}

/// A document in a file, whose records have times that are such.
///
/// # Errors
///
/// [`StoreError::Unreadable`], [`StoreError::NoDocument`] and [`StoreError::NoTime`].
pub fn read_document(path: &Path) -> Result<Document, StoreError> {
    let unreadable = |error| StoreError::Unreadable { path: path.into(), error };
    let metadata = path.metadata().map_err(unreadable)?;
    let kind = metadata.file_type();
    // A pipe comes to an end; a device may not.
    if !kind.is_file() && !kind.is_fifo() {
        return Err(unreadable(std::io::Error::other("this is not a file; a result is one")));
    }
    if metadata.len() > MOST_BYTES {
        let why = format!("{} bytes is too long for a result", metadata.len());
        return Err(unreadable(std::io::Error::other(why)));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let document =
        from_json(&text).map_err(|error| StoreError::NoDocument { path: path.into(), error })?;
    // What a database would refuse is not shown either: nothing else of a record covers its times.
    for record in &document.records {
        started(record).map_err(|why| StoreError::NoTime {
            path: path.into(),
            id: record.id.clone(),
            why,
        })?;
    }
    Ok(document)
}
