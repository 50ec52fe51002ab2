//! `fourcorners config`: which defaults count, and where each is from.

use std::io::{Write, stdout};

use clap::Args as ClapArgs;
use comfy_table::{ContentArrangement, LineStyle, Table, presets};
use fourcorners_lab::review::Method;
use fourcorners_results::store;
use serde_json::{Value, json};

use super::{Config, FILE_VARIABLE, Key, NamedBy};
use crate::cli::outcome::{End, Failure};
use crate::cli::terminal::columns;
use crate::cli::{out, print, python};

/// Show the defaults that count, and where each is from: the environment, the config file, or built in
///
/// What is typed on a command line counts more than the environment, that more than the config file, and the file more than what is
/// built in. Paths in the file are relative to its folder; ~/ is the home folder.
#[derive(Debug, ClapArgs)]
#[command(after_help = "A config file, with all keys that there are:
  database = \"~/lab/results.db\"         # --db of all commands
  results = \"~/lab/reviews\"             # where each review gets a folder
  python = \"~/lab/venv/bin/python\"      # which sweep runs in
  author = \"Ada Lovelace\"               # --author of review and quick
  [review]
  methods = [\"four-corners\", \"toms\"]    # --methods
  references = \"mine\"                   # --references, also of report

It is FILE of --config, or of FOURCORNERS_CONFIG, or fourcorners/config.toml in $XDG_CONFIG_HOME or ~/.config. \
Variables of the environment: FOURCORNERS_DATABASE, FOURCORNERS_PYTHON, FOURCORNERS_CONFIG, NO_COLOR.")]
pub(in crate::cli) struct ShowArgs {
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// A default that counts.
struct Row {
    key: Key,
    values: Vec<String>,
    from: String,
    line: Option<usize>,
}

pub(in crate::cli) fn run(args: &ShowArgs, config: &Config) -> Result<End, Failure> {
    let rows: Vec<Row> = Key::ALL.into_iter().map(|key| row(key, config)).collect();
    let text = if args.json { document(&rows, config).to_string() } else { words(&rows, config) };
    print::done(writeln!(stdout().lock(), "{text}"))?;
    Ok(End::Done)
}

fn row(key: Key, config: &Config) -> Row {
    if let Some((variable, value)) = key.in_environment() {
        let values = vec![value.to_string_lossy().into_owned()];
        return Row { key, values, from: variable.into(), line: None };
    }
    match config.settings.get(&key) {
        Some(setting) => Row {
            key,
            values: setting.texts.clone(),
            from: "file".into(),
            line: Some(setting.line),
        },
        None => Row { key, values: built_in(key), from: "built-in".into(), line: None },
    }
}

/// What counts where nothing is said.
fn built_in(key: Key) -> Vec<String> {
    match key {
        // None where there is no home folder.
        Key::Database => {
            store::built_in_path().iter().map(|path| path.display().to_string()).collect()
        }
        Key::Results => vec![format!("./{}", out::RESULTS)],
        Key::Python => vec![python::PYTHON.into()],
        Key::Author => Vec::new(),
        Key::Methods => Method::default_set().iter().map(|method| method.name().into()).collect(),
        Key::References => vec!["catalogue".into()],
    }
}

/// Which file, and whether it is there.
fn file(config: &Config) -> String {
    let Some(path) = &config.path else {
        return match config.named_by {
            NamedBy::Argument => "none (--no-config)".into(),
            NamedBy::Variable | NamedBy::Default => {
                "none: there is no home folder; --config FILE names one".into()
            }
        };
    };
    let by = match config.named_by {
        NamedBy::Argument => " (--config)".into(),
        NamedBy::Variable => format!(" ({FILE_VARIABLE})"),
        NamedBy::Default => String::new(),
    };
    let there = if config.exists { "" } else { ", which is not there" };
    format!("{}{by}{there}", path.display())
}

fn words(rows: &[Row], config: &Config) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table.set_header(["key", "value", "from"]);
    let from = |row: &Row| match row.line {
        Some(line) => format!("{}, line {line}", row.from),
        None => row.from.clone(),
    };
    let widest = |text: &dyn Fn(&Row) -> String| {
        rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0)
    };
    // Around each of the three is a blank on either side.
    let beside = widest(&|row| row.key.name().into()) + widest(&from) + 6;
    let room = usize::from(columns()).saturating_sub(beside);
    // A path is copied: one that would be broken over lines has a line of its own. Methods may be broken between them.
    let is_too_long = |row: &Row| {
        row.values.iter().any(|value| row.key != Key::Methods && value.chars().count() > room)
    };
    for row in rows {
        let value = if is_too_long(row) { "(below)".into() } else { row.values.join(", ") };
        table.add_row([row.key.name().to_string(), value, from(row)]);
    }
    let mut lines: Vec<String> = table.lines().map(|line| line.trim_end().to_string()).collect();
    for row in rows.iter().filter(|row| is_too_long(row)) {
        lines.push(format!("\n{}:\n{}", row.key.name(), row.values.join(", ")));
    }
    format!("config file: {}\n\n{}", file(config), lines.join("\n"))
}

fn document(rows: &[Row], config: &Config) -> Value {
    let values: Vec<Value> = rows
        .iter()
        .map(|row| {
            let value = match (row.key, row.values.as_slice()) {
                (Key::Methods, values) => json!(values),
                (_, [value]) => json!(value),
                _ => Value::Null,
            };
            json!({ "key": row.key.name(), "value": value, "from": row.from, "line": row.line })
        })
        .collect();
    let named_by = match config.named_by {
        NamedBy::Argument if config.path.is_none() => "--no-config",
        NamedBy::Argument => "--config",
        NamedBy::Variable => FILE_VARIABLE,
        NamedBy::Default => "default",
    };
    json!({
        "schema": "fourcorners.config/1",
        "file": config.path.as_ref().map(|path| path.display().to_string()),
        "named_by": named_by,
        "exists": config.exists,
        "values": values,
    })
}
