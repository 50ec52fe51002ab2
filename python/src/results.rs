//! The database of results, the same one that the commands keep theirs in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fourcorners_record::{ClockName, Record as LabRecord};
use fourcorners_results::store::dates::{self, DateError};
use fourcorners_results::store::{Added, Filter, Store, StoreError, default_path};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::ResultsError;
use crate::number::Whole;
use crate::record::Record;
use crate::summary::Summary;

/// Every result that was kept, by reviews of the command `fourcorners` or by `add`.
///
/// Nothing is open between two calls: other processes may read and write meanwhile, it may be used
/// from several threads, and a fork or a pickle takes nothing along but the path.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Results {
    path: PathBuf,
}

#[pymethods]
impl Results {
    /// `path` is the database, by default the one the commands use.
    #[new]
    #[pyo3(signature = (path=None))]
    fn new(path: Option<PathBuf>) -> PyResult<Results> {
        let path = path.or_else(default_path).ok_or_else(|| {
            ResultsError::new_err("there is no home folder: name the database, Results(path)")
        })?;
        Ok(Results { path })
    }

    /// The file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// What is listed of the records of a filter, the latest first.
    ///
    /// Filters are `drive` (part of the name, title, model or serial number), `name` (the whole name),
    /// `method`, `firmware`, `since` and `until` ("2026-03-01", "12h", "30d", a date or a datetime with
    /// a time zone), `clock` ("virtual" or "wall") and `limit`.
    #[pyo3(signature = (**filters))]
    fn list(&self, py: Python<'_>, filters: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Summary>> {
        let filter = filter_of(filters)?;
        let found = self.reading(py, |store| store.list(&filter))?;
        Ok(found.into_iter().map(Summary::from).collect())
    }

    /// How many records a filter has.
    #[pyo3(signature = (**filters))]
    fn count(&self, py: Python<'_>, filters: Option<&Bound<'_, PyDict>>) -> PyResult<u64> {
        let filter = filter_of(filters)?;
        let count = self.reading(py, |store| store.count(&filter))?;
        Ok(filter.limit.map_or(count, |limit| count.min(limit)))
    }

    /// The record of an id, or of the beginning of one that no other id has.
    fn get(&self, py: Python<'_>, id: &str) -> PyResult<Record> {
        let record = self.reading(py, |store| store.get(id))?;
        Ok(Record(Arc::new(record)))
    }

    /// The records of a filter, the latest first.
    #[pyo3(signature = (**filters))]
    fn records(
        &self,
        py: Python<'_>,
        filters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Record>> {
        let filter = filter_of(filters)?;
        let records = self.reading(py, |store| {
            store.list(&filter)?.iter().map(|it| store.get(&it.id)).collect::<Result<Vec<_>, _>>()
        })?;
        Ok(shared(records))
    }

    /// The results that stand for a drive: of each method the latest, with its repeats. Empty if it
    /// has none.
    fn latest(&self, py: Python<'_>, drive: &str) -> PyResult<Vec<Vec<Record>>> {
        let found = self.reading(py, |store| store.latest(drive))?;
        Ok(found.into_iter().map(shared).collect())
    }

    /// The names of all drives that have results.
    fn drives(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.reading(py, |store| store.drives())
    }

    /// Keeps a record, or a list of them, all or none; how many were not there before. The database is
    /// made if it is not there.
    fn add(&self, py: Python<'_>, records: &Bound<'_, PyAny>) -> PyResult<usize> {
        let records: Vec<Record> = match records.extract::<Record>() {
            Ok(one) => vec![one],
            Err(_) => records.extract()?,
        };
        let path = &self.path;
        let added = py.detach(|| {
            let records: Vec<LabRecord> =
                records.iter().map(|record| LabRecord::clone(&record.0)).collect();
            Store::open(path)?.add_all(&records)
        });
        let added = added.map_err(failed)?;
        Ok(added.into_iter().filter(|&it| it == Added::New).count())
    }

    /// Adds what a document of records, a folder of results or another database holds: how many records
    /// were new, how many known, and how many of a damaged database cannot be read any more.
    fn import_from(&self, py: Python<'_>, path: PathBuf) -> PyResult<(u64, u64, u64)> {
        let into = &self.path;
        let came = py.detach(|| Store::open(into)?.import(&path)).map_err(failed)?;
        Ok((came.new, came.known, came.lost))
    }

    /// Removes the records of these ids, or of their beginnings, all or none; how many.
    #[pyo3(signature = (*ids))]
    fn remove(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<usize> {
        let path = &self.path;
        let removed = py.detach(|| {
            // Read first: a database that is not there is not made for this.
            drop(Store::open_read_only(path)?);
            Store::open(path)?.remove(&ids)
        });
        removed.map_err(failed)
    }

    /// Reads all of it: how many records are whole, and what is damaged, a line each.
    fn check(&self, py: Python<'_>) -> PyResult<(u64, Vec<String>)> {
        let checked = self.reading(py, Store::check)?;
        Ok((checked.whole, checked.damage))
    }

    /// The figures of the records of a filter as a pandas DataFrame, a row each.
    #[pyo3(signature = (**filters))]
    fn to_pandas<'py>(
        slf: &Bound<'py, Results>,
        filters: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._results")?.call_method("to_pandas", (slf,), filters)
    }

    /// The same as a table of Arrow.
    #[pyo3(signature = (**filters))]
    fn to_arrow<'py>(
        slf: &Bound<'py, Results>,
        filters: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._results")?.call_method("to_arrow", (slf,), filters)
    }

    /// The same as a Parquet file, which it replaces; how many rows.
    #[pyo3(signature = (file, **filters))]
    fn to_parquet<'py>(
        slf: &Bound<'py, Results>,
        file: PathBuf,
        filters: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._results")?.call_method("to_parquet", (slf, file), filters)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.reading(py, |store| store.count(&Filter::default()))? as usize)
    }

    /// Whether a record is there, by itself or by its id.
    fn __contains__(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = match record.cast::<Record>() {
            Ok(record) => record.get().0.id.clone(),
            Err(_) => record.extract()?,
        };
        self.reading(py, |store| match store.resolve(&id) {
            Ok(_) => Ok(true),
            Err(StoreError::Unknown { .. }) => Ok(false),
            Err(error) => Err(error),
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Results>) -> (Bound<'py, PyAny>, (PathBuf,)) {
        (slf.get_type().into_any(), (slf.get().path.clone(),))
    }

    fn __repr__(&self) -> String {
        format!("Results({:?})", self.path)
    }
}

impl Results {
    /// Reads while Python goes on.
    fn reading<T: Send>(
        &self,
        py: Python<'_>,
        read: impl Send + FnOnce(&Store) -> Result<T, StoreError>,
    ) -> PyResult<T> {
        let path: &Path = &self.path;
        py.detach(|| read(&Store::open_read_only(path)?)).map_err(failed)
    }
}

fn shared(records: Vec<LabRecord>) -> Vec<Record> {
    records.into_iter().map(|record| Record(Arc::new(record))).collect()
}

fn failed(error: StoreError) -> PyErr {
    ResultsError::new_err(error.to_string())
}

/// Which records the keywords ask for.
fn filter_of(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Filter> {
    let mut filter = Filter::default();
    for (key, value) in keywords.into_iter().flatten() {
        let key: String = key.extract()?;
        if value.is_none() {
            continue;
        }
        match key.as_str() {
            "drive" => filter.drive = Some(value.extract()?),
            "name" => filter.name = Some(value.extract()?),
            "method" => filter.method = Some(value.extract()?),
            "firmware" => filter.firmware = Some(value.extract()?),
            "since" => filter.since = Some(time(&key, &value, dates::since)?),
            "until" => filter.until = Some(time(&key, &value, dates::until)?),
            "clock" => filter.clock = Some(clock(&value)?),
            "limit" => {
                let limit: Whole = value.extract()?;
                filter.limit = Some(limit.within("limit", 0..=u64::MAX)?);
            }
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "there is no filter {key}: there are drive, name, method, firmware, since, until, \
                     clock and limit"
                )));
            }
        }
    }
    Ok(filter)
}

/// A time as a text, a date, or a datetime, of which the time zone has to be known.
fn time(
    key: &str,
    value: &Bound<'_, PyAny>,
    seconds: impl Fn(&str) -> Result<i64, DateError>,
) -> PyResult<i64> {
    let is_local = value.hasattr("tzinfo")? && value.getattr("tzinfo")?.is_none();
    if is_local {
        let message =
            format!("{key}={value}: it has no time zone; give it one, timezone.utc perhaps");
        return Err(PyValueError::new_err(message));
    }
    let text: String = match value.extract() {
        Ok(text) => text,
        Err(_) if value.hasattr("isoformat")? => value.call_method0("isoformat")?.extract()?,
        Err(error) => return Err(error),
    };
    seconds(&text).map_err(|why| PyValueError::new_err(format!("{key}={why}")))
}

fn clock(value: &Bound<'_, PyAny>) -> PyResult<ClockName> {
    match value.extract::<String>().as_deref() {
        Ok("virtual") => Ok(ClockName::Virtual),
        Ok("wall") => Ok(ClockName::Wall),
        _ => {
            let shown = value.repr()?;
            Err(PyValueError::new_err(format!("clock={shown}: it is \"virtual\" or \"wall\"")))
        }
    }
}
