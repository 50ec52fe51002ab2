//! `fourcorners tasks`: which tasks there are, what one is made of, and three of them for real.

use std::io::{Write, stdout};
use std::path::Path;

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, presets};
use fourcorners_lab::real_tasks::{Done, Outcome, Plan};
use fourcorners_machine::host;
use fourcorners_trace::{TASK_NAMES, Task, task_names};
use fourcorners_words::{count, size};
use serde_json::json;

use super::args::TasksArgs;
use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::size::parse_size;
use super::terminal::{columns, paragraph, say};

pub(super) fn run(args: &TasksArgs) -> Result<End, Failure> {
    match (&args.show, &args.real) {
        (Some(name), _) => show(name),
        (None, Some(folder)) => real(folder, args),
        (None, None) => list(args.json),
    }
}

/// Prints the file of a task.
fn show(name: &str) -> Result<End, Failure> {
    match Task::built_in_text(name) {
        Some(text) => write!(stdout().lock(), "{text}")?,
        None => {
            let names = task_names().collect::<Vec<_>>().join(", ");
            return Err(Failure::Usage(format!("--show {name}: there are: {names}")));
        }
    }
    Ok(End::Done)
}

fn list(as_json: bool) -> Result<End, Failure> {
    let named = task_names().map(|name| Task::named(name).map(|task| (name, task)));
    let tasks: Result<Vec<(&str, Task)>, _> = named.collect();
    let tasks = tasks.map_err(|error| Failure::Usage(error.to_string()))?;
    let mut out = stdout().lock();
    if as_json {
        let told = tasks.iter().map(|(name, task)| {
            let (read, written) = task.bytes();
            json!({
                "name": name, "title": task.title, "about": task.about, "sources": task.sources,
                "ios": task.ios(), "flushes": task.flushes(), "read_bytes": read,
                "written_bytes": written, "think_s": task.think_s(),
                "in_reviews": TASK_NAMES.contains(name),
            })
        });
        let tasks: Vec<_> = told.collect();
        writeln!(out, "{}", json!({ "schema": "fourcorners.tasks/1", "tasks": tasks }))?;
        return Ok(End::Done);
    }
    let mut table = empty(["task", "I/Os", "read", "written", "flushes", "think time"]);
    for (name, task) in &tasks {
        let (read, written) = task.bytes();
        let numbers = [
            count(task.ios() as f64),
            size(read),
            size(written),
            count(task.flushes() as f64),
            format!("{:.1} s", task.think_s()),
        ];
        let name = std::iter::once(Cell::new(name));
        table.add_row(name.chain(numbers.map(|text| right(&text))));
    }
    writeln!(out, "{table}")?;
    let more = format!(
        "I/Os are reads and writes; think time is that of all threads together. \
         fourcorners review DRIVE --methods tasks does the first {}; trace replay task:NAME does any of them, and \
         choose task:NAME ranks the catalogue. --show TASK prints one, to make another from: fourcorners trace info \
         task:./mine.toml, and trace replay.",
        TASK_NAMES.len()
    );
    writeln!(out, "\n{}", paragraph(&more))?;
    Ok(End::Done)
}

fn real(folder: &Path, args: &TasksArgs) -> Result<End, Failure> {
    let bytes = parse_size(&args.size).map_err(Failure::Usage)?;
    let plan = Plan::check(folder, bytes, args.seed);
    let plan = plan.map_err(|error| Failure::Usage(error.to_string()))?;
    let interrupt = Interrupt::listen()?;
    let outcome = plan.run(&mut || !interrupt.asked())?;
    let Outcome { done, in_memory, whole, left } = &outcome;
    let mut out = stdout().lock();
    if args.json {
        let host = host::describe();
        let document = json!({
            "schema": "fourcorners.real-tasks/1",
            "folder": folder.display().to_string(),
            "in_memory": in_memory,
            "whole": whole,
            "tree_bytes": bytes,
            "seed": args.seed,
            "version": env!("CARGO_PKG_VERSION"),
            "host": host,
            "tasks": done,
        });
        writeln!(out, "{document}")?;
    } else {
        writeln!(out, "{}", told(done))?;
        writeln!(
            out,
            "\nWall time on a file system, page cache and processor included. \"on the drive\" is when \
             all\nof it was there (syncfs). {}",
            match in_memory {
                true => "The folder is in memory: no drive was measured.",
                false => "What was read was taken out of the page cache before.",
            }
        )?;
    }
    if let Some(left) = left {
        say(&format!("fourcorners: {left}: remove it"));
    }
    if !whole {
        say("fourcorners: stopped; what was made is removed");
    }
    Ok(if *whole && left.is_none() { End::Done } else { End::Incomplete })
}

fn told(done: &[Done]) -> Table {
    let headings = ["", "takes", "on the drive", "files", "read", "written", "syncs"];
    let mut table = empty(headings);
    for task in done {
        let numbers = [
            format!("{:.2} s", task.seconds),
            format!("{:.2} s", task.durable_s),
            task.files.to_string(),
            megabytes(task.read_bytes),
            megabytes(task.written_bytes),
            task.syncs.to_string(),
        ];
        let title = std::iter::once(Cell::new(task.title));
        table.add_row(title.chain(numbers.map(|text| right(&text))));
    }
    table
}

/// A list for a terminal, with nothing but headings.
pub(super) fn empty<const N: usize>(headings: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table.set_header(headings);
    table
}

/// A number of such a list.
pub(super) fn right(text: &str) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
