//! `fourcorners results list`: a line for each record.

use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use fourcorners_report::{plain, shortened};
use fourcorners_results::store::{Filter, Store, StoreError, Summary, inert};
use serde::Serialize;

use super::args::ListArgs;
use super::{failure, known_method};
use crate::cli::outcome::{End, Failure};
use crate::cli::terminal::{columns, say};

/// The name and version of the JSON document's form.
const SCHEMA: &str = "fourcorners.results/1";
/// Lines of the table when nobody says how many.
const LINES: u64 = 50;
/// "2026-03-01 10:00".
const TIME_CHARS: usize = 16;
/// Least room for a drive's name, whatever the terminal.
const LEAST_NAME: usize = 16;

/// The JSON document.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    database: String,
    /// Of these filters, whatever the limit.
    total: u64,
    results: &'a [Summary],
}

pub(super) fn run(path: &Path, args: &ListArgs) -> Result<End, Failure> {
    let mut filter = args.chosen.filter().map_err(Failure::Usage)?;
    let is_table = !args.json && !args.csv;
    if is_table && filter.limit.is_none() {
        filter.limit = Some(LINES);
    }
    let store = match Store::open_read_only(path) {
        Ok(store) => Some(store),
        Err(error @ StoreError::Missing { .. }) => {
            say(&format!("fourcorners: {error}; reviews and replays go there"));
            None
        }
        Err(error) => return Err(failure(error)),
    };
    let (total, found) = match &store {
        Some(store) => {
            known_method(store, &filter)?;
            let found = store.list(&filter).map_err(failure)?;
            // Only where the limit left some out is there anything to be counted.
            let is_cut = filter.limit.is_some_and(|limit| found.len() as u64 >= limit);
            let total = match is_cut {
                true => store.count(&filter).map_err(failure)?,
                false => found.len() as u64,
            };
            (total, found)
        }
        None => (0, Vec::new()),
    };
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        let database = path.display().to_string();
        let document = Document { schema: SCHEMA, database, total, results: &found };
        serde_json::to_writer(&mut out, &document).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else if args.csv {
        csv(&found, &mut out)?;
    } else if let Some(store) = &store {
        table(store, &filter, (total, &found), &mut out)?;
    }
    out.flush()?;
    Ok(End::Done)
}

fn csv(found: &[Summary], out: &mut dyn Write) -> std::io::Result<()> {
    // The names of the columns come with the first row.
    let mut plain = csv::Writer::from_writer(Vec::new());
    match found {
        [] => plain.serialize(Summary::default()),
        found => found.iter().try_for_each(|it| plain.serialize(it)),
    }
    .map_err(std::io::Error::from)?;
    let plain = plain.into_inner().map_err(|error| error.into_error())?;
    let rows = found.len() + 1;
    // Cells are as those of an export, so that the two can be put together.
    let mut read = csv::ReaderBuilder::new().has_headers(false).from_reader(&plain[..]);
    let mut csv = csv::Writer::from_writer(out);
    for row in read.records().take(rows) {
        let cells = row.map_err(std::io::Error::from)?;
        csv.write_record(cells.iter().map(|cell| inert(cell.into())))
            .map_err(std::io::Error::from)?;
    }
    csv.flush()
}

fn table(
    store: &Store,
    filter: &Filter,
    (total, found): (u64, &[Summary]),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if total == 0 {
        let every = Filter { limit: filter.limit, ..Filter::default() };
        writeln!(out, "No results{}.", if *filter == every { "" } else { " like that" })?;
        return Ok(());
    }
    if found.is_empty() {
        writeln!(out, "none of {total}; --limit {total} lists them")?;
        return Ok(());
    }
    let ids: Vec<String> = found
        .iter()
        .map(|it| store.abbreviated(&it.id))
        .collect::<Result<_, _>>()
        .map_err(failure)?;
    let width = |heading: &str, of: &dyn Fn(&Summary) -> usize| {
        found.iter().map(of).max().unwrap_or(0).max(heading.len())
    };
    let id = ids.iter().map(String::len).max().unwrap_or(0);
    let clock = width("clock", &|it| it.clock.len());
    let method = width("method", &|it| it.method.chars().count());
    let before = id + 2 + TIME_CHARS + 2 + clock + 2 + method + 2;
    let name = usize::from(columns()).saturating_sub(before).max(LEAST_NAME);
    let heading = format!(
        "{:id$}  {:TIME_CHARS$}  {:clock$}  {:method$}  drive",
        "id", "started", "clock", "method"
    );
    writeln!(out, "{heading}")?;
    for (it, short) in found.iter().zip(&ids) {
        let started: String = it.started_at.chars().take(TIME_CHARS).collect();
        let line = format!(
            "{short:id$}  {:TIME_CHARS$}  {:clock$}  {:method$}  {}",
            plain(&started).replace('T', " "),
            plain(&it.clock),
            plain(&it.method),
            shortened(&plain(&drive(it)), name)
        );
        writeln!(out, "{line}")?;
    }
    if total > found.len() as u64 {
        let (shown, more) = (found.len(), total - found.len() as u64);
        writeln!(out, "{shown} of {total}; --limit {total} lists the other {more}, too")?;
    }
    Ok(())
}

/// The drive, and what is unusual about the result.
fn drive(it: &Summary) -> String {
    let mut text = it.drive.clone();
    let unusual = [
        (it.ended == "interrupted").then_some("stopped"),
        (it.ended == "failed").then_some("failed"),
        it.quick.then_some("quick"),
        Some(it.set_up.as_str()).filter(|set_up| !set_up.is_empty()),
    ];
    for word in unusual.into_iter().flatten() {
        text += ", ";
        text += word;
    }
    text
}
