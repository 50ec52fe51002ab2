//! `fourcorners compare`: drives, results and files of results side by side.

mod grid;
mod shapes;
mod table;

use std::io::{Write, stdout};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args as ClapArgs;
use fourcorners_machine::save;
use fourcorners_report as report;
use fourcorners_results::compare::{
    Comparison, Side, distinct, document, only, shared, short_id, sides,
};
use fourcorners_words::counted;

use super::args::PastedArgs;
use super::named;
use super::outcome::{End, Failure};
use super::replaced::{Inputs, Kind};
use super::terminal::{columns, say};

/// Compare results side by side, with ratios; differences that do not matter are marked.
///
/// Ratios are to the first drive that has results in common with another. Several results of a drive that differ only in the seed (`review
/// --repeat`) are combined and give a confidence interval for each ratio.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  fourcorners compare crucial-m4-256gb intel-x25-m-g2-160gb
  fourcorners compare crucial-m4-256gb /dev/sdX --methods four-corners
  fourcorners compare 6287de5 0550938 -o page.html
  fourcorners compare before/review.json after/ --json")]
pub(super) struct CompareArgs {
    /// Drive name or serial number (its latest results, and of several drives those of one job), id of a
    /// result, or a file or folder of results
    #[arg(required = true, value_name = "WHAT")]
    what: Vec<String>,

    /// Only these methods, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    methods: Vec<String>,

    /// Write a page with charts into this file, replacing an earlier page
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace any other file of that name as well
    #[arg(long, requires = "output")]
    overwrite: bool,

    /// Print one JSON document instead of tables
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pasted: PastedArgs,

    /// Also show records of a file that were changed after they were measured; they are marked
    #[arg(long)]
    as_is: bool,

    /// Database [default: fourcorners/results.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    pub(super) db: Option<PathBuf>,
}

pub(super) fn run(args: &CompareArgs) -> Result<End, Failure> {
    if let Some(path) = &args.output {
        let inputs = Inputs::of_results(&args.what, named::database(args.db.as_ref())?);
        inputs.may_write(path, Kind::Page, args.overwrite).map_err(Failure::Usage)?;
    }
    let sides = find_all(args)?;
    let methods: Vec<String> = args.methods.iter().map(|name| name.trim().to_string()).collect();
    for method in &methods {
        let has = |side: &Side| side.records.iter().any(|record| record.method == *method);
        if !sides.iter().any(has) {
            return Err(Failure::Usage(format!(
                "--methods {method}: none of these has results of that method; there are: {}",
                all_methods(&sides).join(", ")
            )));
        }
    }
    let all_sides = sides.clone();
    let sides = only(sides, &methods);
    let comparison = Comparison::of(&sides);
    if comparison.is_empty() {
        let of = |side: &Side| {
            let methods = all_methods(std::slice::from_ref(side)).join(", ");
            format!("{} has {methods}", side.label)
        };
        let each: Vec<String> = all_sides.iter().map(of).collect();
        return Err(Failure::Usage(format!(
            "these have no figure and no curve in common: {}; review them with the same --methods",
            each.join("; ")
        )));
    }
    for left_out in all_sides.iter().filter(|all| sides.iter().all(|side| side.label != all.label))
    {
        say(&format!("left out: {} has no results of {}", left_out.label, methods.join(", ")));
    }
    for ([one, other], ids) in shared(&sides) {
        let ids: Vec<&str> = ids.iter().map(|id| short_id(id)).collect();
        say(&format!(
            "{} and {} have {} in common, which there is compared with itself: {}",
            sides[one].label,
            sides[other].label,
            counted(ids.len() as u64, "result"),
            ids.join(", ")
        ));
    }
    if let Some(path) = &args.output {
        let page = report::comparison_page(&document(&sides), &sides, &comparison);
        save::write_atomically(path, page.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let text = match (args.json, args.pasted.form()) {
        (true, _) => serde_json::to_string(&comparison)?,
        (false, Some(form)) => {
            let standings = report::standings_pasted(&sides, form);
            format!("{standings}\n{}", report::comparison_pasted(&comparison, form))
        }
        (false, None) => {
            let width = usize::from(columns());
            let standings = report::standings_table(&sides, width, false);
            summary(&comparison, standings) + &table::table(&comparison, width)
        }
    };
    writeln!(stdout().lock(), "{}", text.trim())?;
    if let Some(path) = &args.output {
        say(&format!("page: {}", path.display()));
    }
    Ok(End::Done)
}

/// The ranking and a sentence for each side, printed before the tables.
fn summary(comparison: &Comparison, standings: String) -> String {
    let lines = |said: &String| report::wrapped(&report::plain(said), columns().into());
    let sentences = report::comparison_sentences(comparison);
    let sentences: String =
        sentences.iter().flat_map(lines).map(|line| format!("{line}\n")).collect();
    let blocks = [standings, sentences].into_iter().filter(|block| !block.is_empty());
    blocks.map(|block| block + "\n").collect()
}

fn find_all(args: &CompareArgs) -> Result<Vec<Side>, Failure> {
    let store = named::store(args.db.as_ref())?;
    let mut groups = named::find_each(&args.what, store.as_ref(), args.as_is)?;
    // Only a file may be of several drives; each is to be a side of its own.
    for (group, name) in groups.iter_mut().zip(&args.what) {
        group.retain(|record| record.figure_count() > 0 || !record.curves.is_empty());
        // Left out, it would be missing without a word.
        if group.is_empty() {
            return Err(Failure::Usage(format!("{name}: no figures and no curves in there")));
        }
    }
    let (sides, again) = distinct(sides(groups));
    for side in &again {
        let first = &side.records[0];
        say(&format!(
            "{} ({}) is named twice, and taken once",
            first.target.title_or_name(),
            first.id
        ));
    }
    match &sides[..] {
        [] => Err(Failure::Usage("there is nothing to compare".into())),
        [only] => Err(Failure::Usage(format!(
            "there is only {} to compare: name another drive, result or file",
            only.label
        ))),
        _ => Ok(sides),
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
