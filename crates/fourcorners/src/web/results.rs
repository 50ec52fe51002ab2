//! Results: lists, records and the page of a report.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use fourcorners_lab::review::Method;
use fourcorners_record::{ClockName, Document, Record};
use fourcorners_report as report;
use fourcorners_results::store::{Filter, Store, StoreError, Summary, dates, dates::DateError};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::error::Refused;
use super::shared::Shared;

/// Records of a list, unless fewer are asked for.
const MOST_LISTED: u64 = 200;
/// Records of a report: a page of more is of no use to anybody.
const MOST_REPORTED: usize = 64;

/// A method, and whether a review runs it that names none.
#[derive(Serialize)]
pub(super) struct MethodEntry {
    name: &'static str,
    /// What a person calls it.
    words: String,
    default: bool,
}

pub(super) async fn methods() -> Json<Vec<MethodEntry>> {
    let by_default = Method::default_set();
    let entry = |method: Method| MethodEntry {
        name: method.name(),
        words: report::method_words(method.name()),
        default: by_default.contains(&method),
    };
    Json(Method::ALL.into_iter().map(entry).collect())
}

/// A method that there are results of.
#[derive(Serialize)]
struct MeasuredMethod {
    words: String,
    name: String,
}

/// The methods of the database, those of plan files and replays among them.
pub(super) async fn measured_methods(
    State(shared): State<Arc<Shared>>,
) -> Result<Response, Refused> {
    let names = with_store(shared, Vec::new(), |store| store.methods()).await?;
    let entry = |name: String| MeasuredMethod { words: report::method_words(&name), name };
    Ok(Json(names.into_iter().map(entry).collect::<Vec<_>>()).into_response())
}

/// Which records.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    drive: Option<String>,
    name: Option<String>,
    method: Option<String>,
    firmware: Option<String>,
    /// As `results list --since` and `--until` have them.
    since: Option<String>,
    until: Option<String>,
    clock: Option<ClockName>,
    limit: Option<u64>,
}

#[derive(Serialize)]
struct Listed {
    /// How many there are, whatever the limit.
    total: u64,
    records: Vec<Summary>,
}

pub(super) async fn records(
    State(shared): State<Arc<Shared>>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Refused> {
    let Query(asked) = asked.map_err(|error| Refused::bad(error.body_text()))?;
    let named = |what: &'static str| move |why: DateError| Refused::bad(format!("{what}: {why}"));
    let filter = Filter {
        drive: asked.drive.filter(|part| !part.is_empty()),
        name: asked.name,
        method: asked.method,
        firmware: asked.firmware.map(|it| it.trim().into()).filter(|it: &String| !it.is_empty()),
        since: asked.since.as_deref().map(dates::since).transpose().map_err(named("since"))?,
        until: asked.until.as_deref().map(dates::until).transpose().map_err(named("until"))?,
        clock: asked.clock,
        limit: Some(asked.limit.unwrap_or(MOST_LISTED).min(MOST_LISTED)),
    };
    let none = Listed { total: 0, records: Vec::new() };
    let listed = with_store(shared, none, move |store| {
        Ok(Listed { total: store.count(&filter)?, records: store.list(&filter)? })
    });
    Ok(Json(listed.await?).into_response())
}

#[derive(Serialize)]
struct Shown {
    /// What its figures are called in words.
    words: IndexMap<String, String>,
    /// What was concluded of them, a sentence each.
    conclusions: Vec<String>,
    record: Record,
}

pub(super) async fn record(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let record = get(shared, id).await?;
    let named = record.figures.keys().chain(record.curves.keys());
    let words = named.map(|name| (name.clone(), report::figure_words(name))).collect();
    let conclusions = record.conclusions().into_iter().map(|concluded| concluded.text).collect();
    Ok(Json(Shown { words, conclusions, record }).into_response())
}

/// `?method=M&drive=A&drive=B`: for each drive the ids of the records that `compare` would take, repeats included, no more
/// than a report shows.
pub(super) async fn latest(
    State(shared): State<Arc<Shared>>,
    asked: Result<Pairs, QueryRejection>,
) -> Result<Response, Refused> {
    let Query(asked) = asked.map_err(|error| Refused::bad(error.body_text()))?;
    let of = |key: &str| -> Vec<String> {
        asked.iter().filter(|(own, _)| own == key).map(|(_, value)| value.clone()).collect()
    };
    let (drives, methods) = (of("drive"), of("method"));
    let known = asked.iter().all(|(key, _)| key == "drive" || key == "method");
    let [method] = &methods[..] else {
        return Err(Refused::bad("give one method, as /api/latest?method=METHOD&drive=DRIVE"));
    };
    if !known || drives.is_empty() || drives.len() > MOST_REPORTED {
        return Err(Refused::bad(format!("give a method and 1 to {MOST_REPORTED} drives")));
    }
    let (method, none) = (method.clone(), vec![Vec::<String>::new(); drives.len()]);
    let latest = with_store(shared, none, move |store| {
        let names: Vec<&str> = drives.iter().map(String::as_str).collect();
        let mut latest = store.latest_ids_alike(&names, &method)?;
        latest.iter_mut().for_each(|ids| ids.truncate(MOST_REPORTED / names.len()));
        Ok(latest)
    });
    Ok(Json(latest.await?).into_response())
}

/// A query whose keys may come several times.
type Pairs = Query<Vec<(String, String)>>;

/// The page of the records `?id=A&id=B`, the first the drive under test.
pub(super) async fn report(
    State(shared): State<Arc<Shared>>,
    asked: Result<Pairs, QueryRejection>,
) -> Result<Response, Refused> {
    made(shared, asked, report::page).await
}

/// What that page says of them, to be put into ours.
pub(super) async fn part(
    State(shared): State<Arc<Shared>>,
    asked: Result<Pairs, QueryRejection>,
) -> Result<Response, Refused> {
    made(shared, asked, report::part).await
}

async fn made(
    shared: Arc<Shared>,
    asked: Result<Pairs, QueryRejection>,
    make: fn(&Document) -> String,
) -> Result<Response, Refused> {
    let Query(asked) = asked.map_err(|error| Refused::bad(error.body_text()))?;
    let ids: Vec<String> =
        asked.into_iter().filter(|(key, _)| key == "id").map(|(_, id)| id).collect();
    if ids.is_empty() || ids.len() > MOST_REPORTED {
        return Err(Refused::bad(format!(
            "give 1 to {MOST_REPORTED} records, as /report?id=ID&id=ID"
        )));
    }
    let _turn = shared.made.acquire().await.map_err(Refused::ours)?;
    let mut records = Vec::new();
    for id in ids {
        records.push(get(Arc::clone(&shared), id).await?);
    }
    let page = tokio::task::spawn_blocking(move || make(&Document::new(records)));
    let page = page.await.map_err(Refused::ours)?;
    Ok(([(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response())
}

async fn get(shared: Arc<Shared>, id: String) -> Result<Record, Refused> {
    let unknown = id.clone();
    let found = with_store(shared, None, move |store| store.get(&id).map(Some)).await?;
    found.ok_or_else(|| {
        let why = format!("there is no result {unknown:?}");
        Refused::new(axum::http::StatusCode::NOT_FOUND, why)
    })
}

/// Asks the database, in a thread that may wait; `none` if there is no database yet.
///
/// It is opened for each question: that takes far less than a millisecond, and a database that was set
/// aside or brought here meanwhile is noticed.
pub(super) async fn with_store<T: Send + 'static>(
    shared: Arc<Shared>,
    none: T,
    ask: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Refused> {
    let asked = tokio::task::spawn_blocking(move || {
        match Store::open_read_only(&shared.options.database) {
            Err(StoreError::Missing { .. }) => Ok(none),
            Err(error) => Err(error),
            Ok(store) => ask(&store),
        }
    });
    Ok(asked.await.map_err(Refused::ours)??)
}
