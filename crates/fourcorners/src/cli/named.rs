//! Results by what they are called on the command line: a drive, the id of a result, a file, or a
//! folder that a review or a replay has written.

use std::path::{Path, PathBuf};

use fourcorners_record::{Document, Record};
use fourcorners_results::store::{self, Store, StoreError};

use super::outcome::Failure;
use super::results::failure;

/// From here on a name is like another, 0 to 1 (Jaro and Winkler).
const ALIKE: f64 = 0.8;

/// Where the database is, if there is a place for one.
pub(super) fn database(named: Option<&PathBuf>) -> Result<Option<PathBuf>, Failure> {
    match named {
        Some(_) => super::results::database(named).map(Some),
        None => Ok(store::default_path()),
    }
}

/// The database to look in; none if there is none yet and nobody named one: files can be read without.
pub(super) fn store(named: Option<&PathBuf>) -> Result<Option<Store>, Failure> {
    match database(named)?.as_deref().map(Store::open_read_only) {
        Some(Ok(store)) => Ok(Some(store)),
        None | Some(Err(StoreError::Missing { .. })) => Ok(None),
        Some(Err(error)) => Err(failure(error)),
    }
}

/// The records of all of these in one document, in the order they are named. A record that is there
/// twice is taken once.
pub(super) fn find_all(
    names: &[String],
    store: Option<&Store>,
    as_is: bool,
) -> Result<Document, Failure> {
    let mut records: Vec<Record> = Vec::new();
    for record in find_each(names, store, as_is)?.into_iter().flatten() {
        if records.iter().all(|known| known.id != record.id) {
            records.push(record);
        }
    }
    Ok(Document::new(records))
}

/// The records of each of those that were named; of drives that are compared, those of one job where
/// they have such.
pub(super) fn find_each(
    names: &[String],
    store: Option<&Store>,
    as_is: bool,
) -> Result<Vec<Vec<Record>>, Failure> {
    let Some(store) = store else {
        return names.iter().map(|name| find(name, Vec::new(), None, as_is)).collect();
    };
    let drives: Vec<&str> = names.iter().map(String::as_str).collect();
    let latest = store.latest_alike(&drives).map_err(failure)?;
    names.iter().zip(latest).map(|(name, latest)| find(name, latest, Some(store), as_is)).collect()
}

/// The records of what was named. A drive, whose `latest` results these are, goes before a file of that
/// name. A record of a file that is not as it was measured is refused, or with `as_is` marked in its
/// title.
fn find(
    what: &str,
    latest: Vec<Vec<Record>>,
    store: Option<&Store>,
    as_is: bool,
) -> Result<Vec<Record>, Failure> {
    if !latest.is_empty() {
        // As they were run.
        return Ok(latest.into_iter().rev().flatten().collect());
    }
    let path = Path::new(what);
    if path.exists() {
        let documents = store::documents(path).map_err(failure)?;
        let mut records = Vec::new();
        for document in documents {
            for mut record in store::read_document(&document).map_err(failure)?.records {
                if !record.is_as_sealed() {
                    if !as_is {
                        return Err(Failure::Usage(changed(&document, &record)));
                    }
                    record.target.title.push_str(CHANGED);
                }
                records.push(record);
            }
        }
        // One among others would be left out without a word.
        if records.is_empty() {
            return Err(Failure::Usage(format!("{what}: no records in there")));
        }
        return Ok(records);
    }
    let may_be_id = !what.is_empty() && what.bytes().all(|it| it.is_ascii_hexdigit());
    match store.filter(|_| may_be_id).map(|store| store.get(what)) {
        Some(Ok(record)) => Ok(vec![record]),
        Some(Err(error)) if !matches!(error, StoreError::Unknown { .. }) => Err(failure(error)),
        _ => Err(Failure::Usage(unknown(what, store))),
    }
}

/// What is put behind the title of a record that is not as it was measured.
const CHANGED: &str = " (changed since it was measured)";

fn changed(document: &Path, record: &Record) -> String {
    format!(
        "{}: the record {} of {} ({}) is not what was measured: its content does not go with its id; \
         --as-is shows it with a mark",
        document.display(),
        record.id,
        record.target.name,
        record.method
    )
}

fn unknown(what: &str, store: Option<&Store>) -> String {
    let none = format!("there are no results of {what:?}");
    let Some(store) = store else {
        return format!(
            "{none}: there is no database yet, and no such file; `fourcorners review {what}` makes \
             some, if it is a drive"
        );
    };
    let names = store.drives().unwrap_or_default();
    let likeness = |name: &String| strsim::jaro_winkler(what, name);
    let nearest = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match nearest.filter(|name| likeness(name) >= ALIKE) {
        Some(name) => format!("{none}: did you mean {name:?}?"),
        None => format!(
            "{none}, and it is no file: `fourcorners review {what}` makes some, if it is a drive, and \
             `fourcorners results list` lists what there is"
        ),
    }
}
