//! `fourcorners results`: what is in the database of results.

mod args;
mod list;

use std::fs::File;
use std::io::{self, BufWriter, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fourcorners_lab::review::Method;
use fourcorners_machine::save::write_atomically_with;
use fourcorners_record::Document;
use fourcorners_results::store::{Filter, Store, StoreError, dates, dates::DateError};
use fourcorners_words::counted;
use serde_json::{Value, json};

use super::keeper;
use super::outcome::{End, Failure};
use super::print;
use super::replaced::{Inputs, Kind};
use super::terminal::say;

pub(super) use args::ResultsArgs;
use args::{CheckArgs, Chosen, ExportArgs, ImportArgs, ResultsCommand, RmArgs, ShowArgs, SyncArgs};

/// How much of an export is made before it is written.
const BUFFER_BYTES: usize = 1 << 20;

pub(super) fn run(args: ResultsArgs) -> Result<End, Failure> {
    let path = database(args.db.as_ref())?;
    match args.command {
        ResultsCommand::List(args) => list::run(&path, &args),
        ResultsCommand::Show(args) => show(&path, &args),
        ResultsCommand::Export(args) => export(&path, &args),
        ResultsCommand::Import(args) => import(&path, &args),
        ResultsCommand::Sync(args) => sync(&path, &args),
        ResultsCommand::Rm(args) => rm(&path, &args),
        ResultsCommand::Check(args) => check(&path, &args),
    }
}

/// The database that is meant.
pub(super) fn database(named: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    keeper::path(named).ok_or_else(|| {
        Failure::Usage("there is no home folder: name the database with --db FILE".into())
    })
}

/// Whose fault it is: an id or a file that was typed wrong, or the database's.
pub(super) fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::Damaged { .. } => Failure::Failed(anyhow::anyhow!(
            "{error}; nothing was changed: the next review sets it aside and begins a new one, and \
             `fourcorners results import` takes over what can be read of it"
        )),
        StoreError::Missing { .. }
        | StoreError::Foreign { .. }
        | StoreError::Newer { .. }
        | StoreError::Unknown { .. }
        | StoreError::Ambiguous { .. }
        | StoreError::Refused { .. }
        | StoreError::Unreadable { .. }
        | StoreError::NoDocument { .. }
        | StoreError::NoTime { .. } => Failure::Usage(error.to_string()),
        // So that a reader that closed the pipe is known as one.
        StoreError::Export(error) => Failure::Failed(error.into()),
        other => Failure::Failed(other.into()),
    }
}

fn read(path: &Path) -> Result<Store, Failure> {
    Store::open_read_only(path).map_err(failure)
}

fn show(path: &Path, args: &ShowArgs) -> Result<End, Failure> {
    let store = read(path)?;
    let records =
        args.ids.iter().map(|id| store.get(id)).collect::<Result<Vec<_>, _>>().map_err(failure)?;
    print::document(&Document::new(records), args.json, args.pasted.form())?;
    Ok(End::Done)
}

fn export(path: &Path, args: &ExportArgs) -> Result<End, Failure> {
    let filter = args.chosen.filter().map_err(Failure::Usage)?;
    if !args.ids.is_empty() && filter != Filter::default() {
        return Err(Failure::Usage("give ids or filters, not both".into()));
    }
    if let Some(file) = &args.output {
        let kind = if args.csv { Kind::Csv } else { Kind::Json };
        let may = Inputs::of([path]).and_database(Some(path)).may_write(file, kind, args.overwrite);
        may.map_err(Failure::Usage)?;
    }
    let store = read(path)?;
    known_method(&store, &filter)?;
    let ids: Vec<String> = match args.ids.is_empty() {
        true => store.list(&filter).map(|found| found.into_iter().map(|it| it.id).collect()),
        false => args.ids.iter().map(|id| store.resolve(id)).collect(),
    }
    .map_err(failure)?;
    let write = |mut out: &mut dyn Write| match args.csv {
        true => store.export_csv(&ids, &mut out),
        false => store.export_json(&ids, &mut out),
    };
    match &args.output {
        None => {
            let mut out = BufWriter::with_capacity(BUFFER_BYTES, stdout().lock());
            write(&mut out).map_err(failure)?;
            out.flush()?;
        }
        Some(file) => {
            let mut failed = None;
            let place = std::cell::RefCell::new(&mut failed);
            let saved = write_atomically_with(file, &|out: &File| {
                let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
                let written = write(&mut out);
                let flushed = out.flush();
                match written {
                    Ok(()) => flushed,
                    Err(StoreError::Export(error)) => Err(error),
                    Err(error) => {
                        **place.borrow_mut() = Some(error);
                        Err(io::Error::other("the database cannot be read"))
                    }
                }
            });
            if let Some(error) = failed {
                return Err(failure(error));
            }
            saved.with_context(|| format!("cannot write {}", file.display()))?;
            say(&format!("{} in {}", counted(ids.len() as u64, "record"), file.display()));
        }
    }
    Ok(End::Done)
}

fn import(path: &Path, args: &ImportArgs) -> Result<End, Failure> {
    // What is not there is told before anything is taken in.
    for from in &args.from {
        if let Err(error) = from.metadata() {
            return Err(Failure::Usage(format!("cannot read {}: {error}", from.display())));
        }
    }
    let store = Store::open(path).map_err(failure)?;
    import_all(args.from.iter().map(|from| (&store, from.as_path())), args.json)
}

/// Takes the results of places into databases until one fails, and says of each what came.
fn import_all<'a>(
    all: impl IntoIterator<Item = (&'a Store, &'a Path)>,
    json: bool,
) -> Result<End, Failure> {
    let mut came = Vec::new();
    let mut failed = None;
    for (store, from) in all {
        match import_into(store, from, json) {
            Ok(one) => came.push(one),
            Err(failure) => {
                failed = Some(failure);
                break;
            }
        }
    }
    // What was taken in before is there, and is told.
    if json && (failed.is_none() || !came.is_empty()) {
        let document = json!({ "schema": "fourcorners.imported/1", "imported": came });
        writeln!(stdout().lock(), "{document}")?;
    }
    failed.map_or(Ok(End::Done), Err)
}

/// Takes the results of a place, and says how many came, or returns it for a document.
fn import_into(store: &Store, from: &Path, json: bool) -> Result<Value, Failure> {
    let came = store.import(from).map_err(failure)?;
    let (new, known) = (came.new, came.known);
    if !json {
        let lost = match came.lost {
            0 => String::new(),
            lost => format!(", {lost} that cannot be read any more"),
        };
        writeln!(stdout().lock(), "{}: {new} new, {known} known{lost}", from.display())?;
    }
    let from = from.display().to_string();
    Ok(json!({ "from": from, "new": new, "known": known, "unreadable": came.lost }))
}

fn sync(path: &Path, args: &SyncArgs) -> Result<End, Failure> {
    let other = &args.other;
    // Opened to read first: a mistyped one is not made, and what is no database is not written to.
    drop(read(other)?);
    let is_same = |one: &Path| one.canonicalize().ok() == other.canonicalize().ok();
    if is_same(path) {
        let other = other.display();
        return Err(Failure::Usage(format!("{other} is the database itself: name another one")));
    }
    // Both are open before either is written to.
    let (mine, theirs) =
        (Store::open(path).map_err(failure)?, Store::open(other).map_err(failure)?);
    import_all([(&mine, other.as_path()), (&theirs, path)], args.json)
}

fn rm(path: &Path, args: &RmArgs) -> Result<End, Failure> {
    // Opened to read first: a database that is not there is not made for this.
    drop(read(path)?);
    let store = Store::open(path).map_err(failure)?;
    let removed = store.remove(&args.ids).map_err(failure)?;
    let text = match args.json {
        true => json!({ "schema": "fourcorners.removed/1", "removed": removed }).to_string(),
        false => format!("{removed} removed"),
    };
    writeln!(stdout().lock(), "{text}")?;
    Ok(End::Done)
}

fn check(path: &Path, args: &CheckArgs) -> Result<End, Failure> {
    let checked = read(path)?.check().map_err(failure)?;
    for line in &checked.damage {
        say(&format!("fourcorners: {line}"));
    }
    let text = match args.json {
        true => json!({
            "schema": "fourcorners.checked/1", "database": path.display().to_string(), "whole": checked.whole,
            "damage": checked.damage,
        })
        .to_string(),
        false => {
            let whole = match checked.whole {
                1 => "1 record is whole".into(),
                number => format!("{} are whole", counted(number, "record")),
            };
            let damage = match checked.damage.len() {
                0 => "no damage".into(),
                number => format!("damage in {}", counted(number as u64, "place")),
            };
            format!("{}: {whole}; {damage}", path.display())
        }
    };
    writeln!(stdout().lock(), "{text}")?;
    Ok(if checked.damage.is_empty() { End::Done } else { End::Incomplete })
}

/// Refuses the name of no method, unless there are results under it: plan files and earlier versions have names of their own.
fn known_method(store: &Store, filter: &Filter) -> Result<(), Failure> {
    let Some(method) = filter.method.as_deref() else { return Ok(()) };
    if names().any(|name| name == method) {
        return Ok(());
    }
    let kept = store.methods().map_err(failure)?;
    if kept.iter().any(|it| it == method) {
        return Ok(());
    }
    let mut all: Vec<&str> = names().collect();
    for method in &kept {
        if !all.contains(&method.as_str()) {
            all.push(method);
        }
    }
    Err(Failure::Usage(format!(
        "--method {method}: there is no such method, and no result of one; there are: {}",
        all.join(", ")
    )))
}

fn names() -> impl Iterator<Item = &'static str> {
    Method::ALL.iter().map(|method| method.name())
}

impl Chosen {
    /// What the arguments ask for.
    fn filter(&self) -> Result<Filter, String> {
        let named = |name, why: DateError| format!("{name} {why}");
        let since = self.since.as_deref().map(dates::since).transpose();
        let until = self.until.as_deref().map(dates::until).transpose();
        let since = since.map_err(|why| named("--since", why))?;
        let until = until.map_err(|why| named("--until", why))?;
        if let (Some(first), Some(end)) = (since, until)
            && first >= end
        {
            let typed = |time: &Option<String>| time.clone().unwrap_or_default();
            let (since, until) = (typed(&self.since), typed(&self.until));
            return Err(format!(
                "--since {since} --until {until}: there is no time between them; --since is the earlier one"
            ));
        }
        Ok(Filter {
            drive: self.drive.clone(),
            name: None,
            method: self.method.clone(),
            firmware: self.firmware.clone(),
            since,
            until,
            clock: self.clock.map(Into::into),
            limit: self.limit,
        })
    }
}
