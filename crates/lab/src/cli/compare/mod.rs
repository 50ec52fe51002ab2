//! `fourcorners compare`: drives, results and files of results side by side.

mod table;

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args as ClapArgs;

use super::results::{database, failure};
use super::terminal::{columns, say};
use super::{End, Failure};
use crate::compare::{Comparison, Side, document, sides};
use crate::record::Record;
use crate::report;
use crate::store::{self, Store, StoreError};

/// Fewest digits that are taken for the beginning of an id.
const FEWEST_DIGITS: usize = 4;
/// From here on a name is like another, 0 to 1 (Jaro and Winkler).
const ALIKE: f64 = 0.8;

/// Compare drives: their results side by side, with ratios and what does not matter.
///
/// Ratios are to the first one. Several results of a drive that differ in the seed only (`review
/// --repeat`) are taken together, and say how far a ratio is to be trusted.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  fourcorners compare crucial-m4-256gb intel-x25-m-g2-160gb
  fourcorners compare crucial-m4-256gb /dev/sdX --methods four-corners
  fourcorners compare 6287de5 0550938 -o page.html
  fourcorners compare before/review.json after/ --json")]
pub(super) struct CompareArgs {
    /// A drive by its name or serial number (its latest results), the id of a result, or a file or
    /// folder of results
    #[arg(required = true, value_name = "WHAT")]
    what: Vec<String>,

    /// Only these methods, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    methods: Vec<String>,

    /// Write a page with charts into this file, replacing it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print one JSON document instead of tables
    #[arg(long)]
    json: bool,

    /// The database [default: fourcorners/results.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
}

pub(super) fn run(args: &CompareArgs) -> Result<End, Failure> {
    let sides = find_all(args)?;
    let methods: Vec<String> = args.methods.iter().map(|name| name.trim().to_string()).collect();
    for method in &methods {
        let has = |side: &Side| side.records.iter().any(|record| record.method == *method);
        if !sides.iter().any(has) {
            return Err(Failure::Usage(format!(
                "--methods {method}: none of them has results of it; there are: {}",
                all_methods(&sides).join(", ")
            )));
        }
    }
    let comparison = Comparison::of(&sides, &methods);
    if comparison.figures.is_empty() {
        let of = |side: &Side| {
            let methods = all_methods(std::slice::from_ref(side)).join(", ");
            format!("{} has {methods}", side.label)
        };
        let each: Vec<String> = sides.iter().map(of).collect();
        return Err(Failure::Usage(format!(
            "they have no figure in common: {}; review them with the same --methods",
            each.join("; ")
        )));
    }
    if let Some(path) = &args.output {
        let page = report::page(&document(&sides, &methods));
        report::write_atomically(path, page.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let text = match args.json {
        true => serde_json::to_string(&comparison)?,
        false => table::table(&comparison, usize::from(columns())),
    };
    writeln!(stdout().lock(), "{}", text.trim_end())?;
    if let Some(path) = &args.output {
        say(&format!("page: {}", path.display()));
    }
    Ok(End::Done)
}

fn find_all(args: &CompareArgs) -> Result<Vec<Side>, Failure> {
    let path = match &args.db {
        Some(_) => Some(database(args.db.as_ref())?),
        None => store::default_path(),
    };
    let store = match path.as_deref().map(Store::open_read_only) {
        Some(Ok(store)) => Some(store),
        // Files can be compared without.
        None | Some(Err(StoreError::Missing { .. })) => None,
        Some(Err(error)) => return Err(failure(error)),
    };
    let found = args.what.iter().map(|what| find(what, store.as_ref()));
    let mut groups: Vec<Vec<Record>> = Vec::new();
    for mut group in found.collect::<Result<Vec<_>, _>>()? {
        // Only a file may be of several drives; each is to be a side of its own.
        group.retain(|record| !record.figures.is_empty() || record.replay.is_some());
        groups.push(group);
    }
    let sides = sides(groups);
    match &sides[..] {
        [] => Err(Failure::Usage("there are no figures in any of them".into())),
        [only] => Err(Failure::Usage(format!(
            "there is only {} to compare: name another drive, result or file",
            only.label
        ))),
        _ => Ok(sides),
    }
}

/// The records of what was named: a drive first, since its name may be the path of a file, too.
fn find(what: &str, store: Option<&Store>) -> Result<Vec<Record>, Failure> {
    if let Some(store) = store {
        let latest = store.latest(what).map_err(failure)?;
        if !latest.is_empty() {
            return Ok(latest.into_iter().flatten().collect());
        }
    }
    let path = Path::new(what);
    if path.exists() {
        let documents = store::documents(path).map_err(failure)?;
        let mut records = Vec::new();
        for document in documents {
            records.extend(store::read_document(&document).map_err(failure)?.records);
        }
        return Ok(records);
    }
    let may_be_id = what.len() >= FEWEST_DIGITS && what.bytes().all(|it| it.is_ascii_hexdigit());
    match store.filter(|_| may_be_id).map(|store| store.get(what)) {
        Some(Ok(record)) => Ok(vec![record]),
        Some(Err(error)) if !matches!(error, StoreError::Unknown { .. }) => Err(failure(error)),
        _ => Err(Failure::Usage(unknown(what, store))),
    }
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
            "{none}: it is no drive that was reviewed, no id and no file; `fourcorners results list` \
             lists what there is"
        ),
    }
}

fn all_methods(sides: &[Side]) -> Vec<&str> {
    let mut methods: Vec<&str> = Vec::new();
    for record in sides.iter().flat_map(|side| &side.records) {
        if !methods.contains(&record.method.as_str()) {
            methods.push(&record.method);
        }
    }
    methods
}
